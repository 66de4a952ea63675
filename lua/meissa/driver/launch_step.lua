-- SPDX-License-Identifier: MIT
--- Steps: how the numbers of a loop move from one launch to the next in a driver loop.
-- @module meissa.driver.launch_step

local M = {}

-- Lines reach so many steps in both directions, with numbers up to this.
local REACH, LARGEST = 2 ^ 20, 2 ^ 31

--- How one list of numbers differs from another, and how many such steps all numbers stay small;
-- nil if that is no step.
function M.between(last, numbers)
  local each, reach, moves = {}, REACH, false
  for k, number in ipairs(numbers) do
    local by = number - last[k]
    if by ~= math.floor(by) or math.abs(by) > REACH then return nil end
    if by ~= 0 then
      moves, reach = true, math.min(reach, math.floor((LARGEST - math.abs(number)) / math.abs(by)))
    end
    each[k] = by
  end
  return moves and reach > 0 and each or nil, reach
end

--- Whether two steps are as long, be it there and back.
function M.are_same(one, other)
  for k, by in ipairs(one) do
    if math.abs(by) ~= math.abs(other[k]) then return false end
  end
  return true
end

return M
