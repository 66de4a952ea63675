-- SPDX-License-Identifier: MIT
--- Verdicts that claim what is not so, for tests of those who must notice.
local core = require "meissa.core"

local M = {}

local analyse = core.plan

-- A loop over `count` dimensions whose iterations are apart but for those along the others than
-- `dims`.
local function text_of(count, dims)
  local names, body = {}, {}
  for d = 1, count do names[d] = "i" .. d end
  for k, d in ipairs(dims) do body[k] = ("A%d[i%d] = A%d[i%d] + 1"):format(k, d, k, d) end
  return ("for %s in parallel(n) do %s end"):format(table.concat(names, ", "),
                                                    table.concat(body, " "))
end

-- The verdict of a loop that is partitioned along one dimension, rotated along several, or of
-- iterations that are independent.
local function verdict_of(plan, dims)
  local loop = assert(core.loop(text_of(#plan.indices, dims), "=claim"))
  local ranges, bindings = {}, {}
  for d, extent in ipairs(plan.extents) do ranges[d] = {extent[1], extent[2], extent[3]} end
  for c in ipairs(loop:captures()) do
    bindings[c] = {kind = "array", depth = 0, array = c, storage = c, dims = {2 ^ 30}}
  end
  return assert(analyse(loop, bindings, {ranges = ranges, ordered = false, collapse = 1}))
end

--- Makes a plan that core.plan gave claim that it has a strategy.
-- @string strategy independent, partition or rotate @tab dims that are cut
function M.strategy(plan, strategy, dims)
  local other = verdict_of(plan, strategy == "independent" and {} or dims)
  assert(core.follow(plan, other))
  if #plan.indices > 1 then assert(other.strategy == strategy, other.strategy) end
  plan.strategy, plan.verdict, plan.cut_dims = strategy, "parallel", dims
  plan.row, plan.sequential = nil, nil
end

return M
