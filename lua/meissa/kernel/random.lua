-- SPDX-License-Identifier: MIT
--- Random numbers of loop bodies: meissa.random, meissa.normal, meissa.seed.
--
-- Each number is a pure function of the seed, the ordinal of the loop among those that the driver
-- has executed since the seed was set, the iteration's indices, and how many numbers the iteration
-- has drawn before (csrc/kernel/emit/draws.h). So it does not matter which process runs an
-- iteration, in which order, or how often. Outside of loops the numbers follow each other in one
-- sequence.
--
-- Whoever runs iterations opens a place for them, says which iteration begins, and puts back the
-- place that was open before.
-- @module meissa.kernel.random
local c_core = require "meissa.base.c_core"
local errors = require "meissa.base.errors"
local ffi = require "ffi"
local generators = require "meissa.sync.generators"
local make = require "meissa.array.make"

local M = {}

local lib, draws = c_core.lib, ffi.typeof "ms_draws"

-- A place without draws.
local function new()
  local place = draws()
  place.normal = lib.ms_random_normal_pieces()
  return place
end

local outside = new() -- the place of draws outside of loops; its seed is the session's
local present = outside
local seed = 0
-- How many loops the driver has executed, and the seed again: launches look there.
local loops = ffi.new "ms_draws_loops[1]"

--- The loops that have been executed: an ms_draws_loops, which stays.
M.loops = loops

local function word(number)
  return ffi.cast("int64_t", number)
end

--- Counts a loop that is about to be executed: what `open` must be told of it, in any process.
-- @treturn table {seed =, ordinal =}
function M.next_loop()
  loops[0].executed = loops[0].executed + 1
  return {seed = seed, ordinal = loops[0].executed % 2 ^ 32}
end

--- Counts one that needs not be told.
function M.count_loop()
  loops[0].executed = loops[0].executed + 1
end

--- Calls fn, whose loops the program does not count as its own.
-- @return what it returns
function M.uncounted(fn, ...)
  local before = loops[0].executed
  local results = {fn(...)}
  loops[0].executed = before
  return unpack(results)
end

--- Opens a place for the iterations of a loop.
-- @tab loop what next_loop gave
-- @return what `close` is to put back
function M.open(loop)
  local before = present
  present = new()
  present.seed, present.ordinal = word(loop.seed), loop.ordinal
  return before
end

--- A place for draws of its own, for `swap`: that of index `i` of a loop.
-- @tab loop what next_loop gave
function M.place_of(loop, i)
  local place = new()
  place.seed, place.ordinal = word(loop.seed), loop.ordinal
  place.index[0] = i
  return place
end

--- A whole number that is as random, for the seed of another generator.
-- @tab loop what next_loop gave
function M.seed_of(loop, i)
  local place = M.place_of(loop, i)
  place.index[1] = 1
  return lib.ms_random_whole(place, 1, 2 ^ 31)
end

--- Opens a place.
-- @return the one that was open
function M.swap(place)
  local before = present
  present = place
  return before
end

--- Puts back the place that was open before.
function M.close(before)
  present = before
end

--- The place that is open, for a native kernel: a pointer, valid until it is closed.
function M.place()
  return present
end

--- Says which iteration begins: its indices. One with the indices of the last (entries with equal
-- subscripts) goes on with its numbers.
function M.at(i1, i2, i3, i4, i5, i6, i7, i8)
  local index = present.index
  i2, i3, i4, i5 = i2 or 0, i3 or 0, i4 or 0, i5 or 0
  i6, i7, i8 = i6 or 0, i7 or 0, i8 or 0
  if index[0] == i1 and index[1] == i2 and index[2] == i3 and index[3] == i4 and index[4] == i5
    and index[5] == i6 and index[6] == i7 and index[7] == i8 then
    return
  end
  index[0], index[1], index[2], index[3] = i1, i2, i3, i4
  index[4], index[5], index[6], index[7] = i5, i6, i7, i8
  present.draw = 0
end

local at = M.at

--- The same for an iteration that is run once more: it begins with its first number.
function M.restart(...)
  at(...)
  present.draw = 0
end

-- The first `dims` of these values begin the iteration.
local begin = {
  function(i1) at(i1) end,
  function(i1, i2) at(i1, i2) end,
  function(i1, i2, i3) at(i1, i2, i3) end,
  function(i1, i2, i3, i4) at(i1, i2, i3, i4) end,
  function(i1, i2, i3, i4, i5) at(i1, i2, i3, i4, i5) end,
  function(i1, i2, i3, i4, i5, i6) at(i1, i2, i3, i4, i5, i6) end,
  function(i1, i2, i3, i4, i5, i6, i7) at(i1, i2, i3, i4, i5, i6, i7) end,
  at,
}

-- The iterator below. One for all loops, not a closure for each: LuaJIT compiles a loop for the
-- function that it calls.
local function advance(places)
  present = places.own -- a loop in the body may have been left by break
  local i1, i2, i3, i4, i5, i6, i7, i8, i9 = places.step(places.state)
  if i1 == nil then
    present = places.before
    return nil
  end
  local start = places.start
  if start then
    start(i1, i2, i3, i4, i5, i6, i7, i8)
  elseif places.count then
    places.count = places.count + 1
    at(places.count)
  end
  return i1, i2, i3, i4, i5, i6, i7, i8, i9
end

--- An iterator's iterations, each with its place.
-- @number[opt] dims how many values are indices; 0: the iterations are numbered in the order that
-- step gives them; nil: step itself says which begins
-- @tab loop what next_loop gave
-- @func step gives an iteration's indices and value, nil at the end @param state what it takes
-- @treturn func the iterator @treturn tab its state
function M.iterate(dims, loop, step, state)
  local before = M.open(loop)
  return advance, { own = present, before = before, step = step, state = state,
                    start = begin[dims], count = dims == 0 and 0 or nil }
end

--- Raises the error for limits that meissa.random does not take.
function M.refuse(lo, hi, more)
  local given = {tostring(lo)}
  if hi ~= nil or more ~= nil then given[2] = tostring(hi) end
  if more ~= nil then given[3] = tostring(more) end
  errors.raise("BDY", "meissa.random takes nothing, a whole number n from 1 on, or two whole " ..
               "numbers lo <= hi, not (%s)", table.concat(given, ", "))
end

local refuse = M.refuse

--- A random number: in [0, 1); with n, a whole one from 1 to n; with lo and hi, a whole one from lo
-- to hi. In a loop it depends on the seed, the loop and the iteration, never on the worker.
-- @number[opt] lo the greatest number, or the least
-- @number[opt] hi the greatest number
-- Errors: BDY for limits that are no whole numbers, or have none between them.
-- @usage for i in parallel(n) do if meissa.random() < 0.5 then A[i] = meissa.random(6) end end
function M.random(lo, hi, more)
  if more ~= nil then refuse(lo, hi, more) end
  if lo == nil then
    if hi ~= nil then refuse(lo, hi) end
    return lib.ms_random_unit(present)
  end
  if type(lo) ~= "number" or hi ~= nil and type(hi) ~= "number" then refuse(lo, hi) end
  local value
  if hi == nil then
    value = lib.ms_random_whole(present, 1, lo)
  else
    value = lib.ms_random_whole(present, lo, hi)
  end
  if value ~= value then refuse(lo, hi) end
  return value
end

--- A normal random number of mean 0 and deviation 1, by inversion.
-- @usage for i in parallel(n) do A[i] = A[i] + 0.1 * meissa.normal() end
function M.normal()
  return lib.ms_random_deviate(present)
end

-- A seed for a random array, drawn where numbers are drawn now.
local function draw_seed() return lib.ms_random_whole(present, 0, 2 ^ 53 - 1) end

generators.draws = {next_loop = M.next_loop, place_of = M.place_of, swap = M.swap,
                    seed = draw_seed}

--- Sets the seed of meissa.random, meissa.normal and of random arrays without one of their own, and
-- begins their sequences anew; loops are counted from here. A session begins with seed 0.
-- @number value a whole number
-- Errors: OPT.
function M.seed(value)
  if value == nil then errors.raise("OPT", "meissa.seed takes a whole number, not nil") end
  if make.in_body() then
    errors.raise("OPT", "meissa.seed is for the driver, outside of loops: in a body the numbers " ..
                 "depend on the iteration already")
  end
  make.seed(value)
  seed, loops[0].seed, loops[0].executed = value, word(value), 0
  outside.seed, outside.draw, outside.index[7] = word(value), 0, 0
end

return M
