-- SPDX-License-Identifier: MIT
--- Rows of skews and sweeps in words.
-- @module meissa.plan.row

local M = {}

-- A plan's row as a sum of index values. The plan's own is one of ordinals, which steps divide;
-- collapsed loops have none but 1 and -1.
local function row_of_values(plan)
  local row, common = {}, 1
  local function gcd(a, b)
    while b ~= 0 do a, b = b, a % b end
    return math.abs(a)
  end
  local function step_of(d) return plan.extents and plan.extents[d][3] or 1 end
  for d, factor in ipairs(plan.row) do
    local step = math.abs(step_of(d))
    if factor ~= 0 then common = common * step / gcd(common, step) end
  end
  local shared = 0
  for d, factor in ipairs(plan.row) do
    row[d] = factor * common / step_of(d)
    shared = gcd(shared, row[d])
  end
  for d, factor in ipairs(row) do row[d] = factor / shared end
  return row
end

--- What a plan's row sums up, by the indices' names: "i", "2*i - j".
function M.name(plan)
  local name = ""
  for d, factor in ipairs(row_of_values(plan)) do
    if factor ~= 0 then
      local size = math.abs(factor)
      local term = size == 1 and plan.indices[d] or string.format("%d*%s", size, plan.indices[d])
      local sign = factor < 0 and " - " or " + "
      name = name == "" and (factor < 0 and "-" or "") .. term or name .. sign .. term
    end
  end
  return name
end

return M
