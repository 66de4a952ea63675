-- SPDX-License-Identifier: MIT
--- Steps: how the numbers of a loop move from one launch to the next in a driver loop, and whether
-- its verdict holds for those to come.
-- @module meissa.driver.launch_step

local core = require "meissa.core"
local ffi = require "ffi"
local grids = require "meissa.plan.grid"
local tables = require "meissa.base.tables"

local M = {}

-- Lines reach so many steps in both directions, with numbers up to this.
local REACH, LARGEST = 2 ^ 20, 2 ^ 31

-- How one list of numbers differs from another, and how many such steps all numbers stay small;
-- nil if that is no step.
local function between(last, numbers)
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

-- Whether two steps are as long, be it there and back.
local function are_same(one, other)
  for k, by in ipairs(one) do
    if math.abs(by) ~= math.abs(other[k]) then return false end
  end
  return true
end

-- After so many lines in vain no more are tried for a launch.
local MOST_FAILED = 4

-- Whether a run's verdict holds for all numbers on the line from its own by steps of `each`.
local function is_steady(run, parameters, each, reach)
  local space, at, lo, hi = run.space, 0, {}, {}
  local first = #each - 2 * #space.ranges
  for d in ipairs(space.ranges) do
    lo[d], hi[d] = each[first + 2 * d - 1], each[first + 2 * d]
    if (hi[d] - lo[d]) % space.ranges[d][3] ~= 0 then return false end
  end
  for c, binding in ipairs(run.bindings) do
    if parameters[c] then
      at = at + 1
      binding.each = each[at]
    end
  end
  space.steady = {least = -reach, most = reach, lo = lo, hi = hi}
  local steady = core.is_steady(run.record.loop, run.bindings, space, run.plan)
  space.steady = nil
  for _, binding in ipairs(run.bindings) do binding.each = nil end
  return steady
end

--- Where a driver loop moves numbers by the same step twice, finds out whether it may go on
-- so: then the launch follows such steps by itself.
-- @param launch the launch @tab kept what is kept of it; `last`, `each`, `failed` and `line` change
-- @tab run its run with these numbers @tab numbers the list of them
function M.look_ahead(launch, kept, run, numbers)
  local last, before = kept.last, kept.each
  kept.last = numbers
  if not last or kept.failed == MOST_FAILED or run.space.array then return end
  local each, reach = between(last, numbers)
  kept.each = each
  if not each or not before or not are_same(each, before) then return end
  if not is_steady(run, kept.parameters, each, reach) then
    kept.failed = kept.failed + 1
    return
  end
  local space, bindings = tables.copy(run.space), tables.copy(run.bindings)
  for c, binding in ipairs(run.bindings) do
    bindings[c] = tables.copy(binding)
    bindings[c].value = nil
  end
  kept.line = {space = space, bindings = bindings, plan = run.plan}
  launch:set_line(numbers, each, -reach, reach,
                  ffi.cast("void *", grids.terms(run.plan, run.space)))
end

return M
