-- SPDX-License-Identifier: MIT
--- Streaks: what the first branch of `if x < lo then ... elseif x > hi then ... end` took before a
-- block's other values, on its way to the driver, which finds out there how much of it the loop as
-- written would have taken; the rest is for the second branch. Why that is exact stands in
-- csrc/depend/branch_gate.h.
-- @module meissa.kernel.streaks
local ffi = require "ffi"
local order = require "meissa.kernel.order"

local M = {}

local doubles = ffi.typeof("double[?]")

--- Whether a result leads a tuple whose blocks leave streaks.
-- @tab result of a kernel
function M.has(result)
  return result.role == "reduction" and result.ranked and result.gate ~= nil
end

--- Which member of an entry a result is; and how many it has, the leader and what goes with it, in
-- the order of the results.
-- @tab info of the kernel @tab result one of its results
-- @treturn number|nil @treturn number
function M.member(info, result)
  local count, at = 0, nil
  for _, each in ipairs(info.results) do
    if each.role == "reduction" and each.leader == result.leader then
      count = count + 1
      if each == result then at = count end
    end
  end
  return at, count
end

--- A block's streak on its way.
-- @tab flat what the block function returned: of each entry its values, the last value that it
-- stands for, and the numbers that tell its iteration @number length of it
-- @number members values of an entry @number width numbers of an iteration
-- @func place place(flat, at): the subscripts of the iteration whose numbers stand from `at` on, as
-- a table that ascends in loop order
-- @treturn table {columns = by member, a list of `count` values, of which any may be nil, ends =
-- the last values, places = the subscripts, entry by entry, count =}; false: the streak is empty
function M.pack(flat, length, members, width, place)
  if length == 0 then return false end
  local streak = { columns = {}, ends = {}, places = {}, count = 0 }
  for member = 1, members do streak.columns[member] = {} end
  for at = 0, length - 1, members + 1 + width do
    streak.count = streak.count + 1
    for member = 1, members do streak.columns[member][streak.count] = flat[at + member] end
    streak.ends[streak.count] = flat[at + members + 1]
    for _, subscript in ipairs(place(flat, at + members + 2)) do
      streak.places[#streak.places + 1] = subscript
    end
  end
  return streak
end

-- The entries of all blocks in the loop's order: {block's streak, number in it}.
local function in_order(waiting, width)
  local entries, count = {}, 0
  for _, streak in ipairs(waiting) do
    for k = 1, streak.count do
      entries[count], count = { streak, k }, count + 1
    end
  end
  local places = doubles(count * width)
  for n = 0, count - 1 do
    local streak, k = entries[n][1], entries[n][2]
    for d = 0, width - 1 do places[n * width + d] = streak.places[(k - 1) * width + d + 1] end
  end
  local sorted, list = order.sorted(places, width, count), {}
  for n = 1, count do list[n] = entries[sorted[n - 1]] end
  return list
end

--- Keeps a block's streak.
-- @tab out what is known of the tuple's leader after the blocks before
-- @param before what the first branch's variable is then @param streak what pack gave
function M.take(out, before, streak)
  if not out.streaks then out.streaks, out.gate_start = {}, before end
  if streak then out.streaks[#out.streaks + 1] = streak end
end

-- Stands behind the iteration of what a block has taken for the second branch, which came after all
-- of the block's streak, also in an iteration in which both are.
local BEHIND = ",1e15"

--- Gives the second branch what the loop's own streak leaves of those of the blocks.
-- @tab info of the kernel @tab final see merge.lua @number leader which result
-- @func takes takes(last, value): whether the first branch takes it then
-- @func put put(value, position): value(n) tells what result n is to be, at the iteration "3,-2",
-- behind which there is the number in the streak
function M.finish(info, final, leader, takes, put)
  local out, going = final[leader], true
  local waiting, last = out.streaks, out.gate_start
  if #waiting == 0 then return end
  out.position = out.position and out.position .. BEHIND
  local members = {}
  for n, result in ipairs(info.results) do
    if result.leader == info.results[leader].leader then members[n] = M.member(info, result) end
  end
  for _, entry in ipairs(in_order(waiting, info.dim_count)) do
    local streak, k = entry[1], entry[2]
    local function value(n) return streak.columns[members[n]][k], true end
    going = going and takes(last, streak.columns[members[leader]][k])
    if going then
      last = streak.ends[k]
    else
      local last_subscript = k * info.dim_count
      put(value, table.concat(streak.places, ",", last_subscript - info.dim_count + 1,
                              last_subscript) .. "," .. k)
    end
  end
end

return M
