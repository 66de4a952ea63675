-- SPDX-License-Identifier: MIT
--- Versions: the memory of the arrays that a loop makes anew in each round (csrc/job/version.h).
--
-- The first round reads the user's array, which nothing writes before all is over; the versions of
-- further rounds are in fresh memory, `depth` pieces of it in turn. Rounds may be run in several
-- jobs: the last version of one is what the next one begins with, and nothing writes that meanwhile
-- either, so a job can always be begun again.
-- @module meissa.driver.version_memory

local array = require "meissa.array"
local c_api = require "meissa.array.c_api"
local errors = require "meissa.base.errors"
local interrupt = require "meissa.base.interrupt"
local make = require "meissa.array.make"
local show = require "meissa.array.show"
local tables = require "meissa.base.tables"

local M = {}

local lib = c_api.lib

--- Rounds that are run in one job at most.
M.MOST_ROUNDS = 2 ^ 16

-- Versions that are kept at most: each is an array of its own.
local MOST_VERSIONS = 4096

local Versions = {}
Versions.__index = Versions

-- Memory for one array; `last` is what the analyser takes for the last version, which the body
-- cannot write.
local function memory_of(value, depth)
  local start, own = array.to_handle(value, true), false
  if lib.ms_array_contiguous(array.core(start)) == 0 then start, own = start:clone(), true end
  local last = start:narrow(1, 1, start:size(1))
  array.freeze(last)
  local ring = {}
  for slot = 1, depth do
    if interrupt.seen() then break end
    ring[slot] = start:clone()
  end
  return {value = value, start = start, own = own, ring = ring, last = last}
end

-- Runs a function, which looks out for Ctrl-C; what it returns, and whether that was pressed.
local function shield(fn, ...)
  interrupt.begin()
  local ok, result = pcall(fn, ...)
  local seen = interrupt.seen()
  interrupt.finish(seen)
  if not ok then error(result, 0) end
  return result, seen
end

-- The same; Ctrl-C raises INT.
local function interruptible(fn, ...)
  local result, seen = shield(fn, ...)
  if seen then errors.raise("INT", "interrupted while memory for rounds was taken") end
  return result
end

-- The option that says how many versions are kept, as it is written.
local function option_of(sync)
  if sync.depth then return string.format("depth = %g", sync.depth) end
  if sync.lags then return string.format("lags of up to %d rounds", sync.lags.most) end
  if sync.staleness then return string.format("staleness = %g", sync.staleness) end
  return string.format("sync = \"%s\"", sync.sync or "data-centric")
end

--- Gives a request no more versions than its rounds can tell apart: those of a job, and the one it
-- begins with; `bounded`, whether further rounds than up to the next stop test could.
-- Errors: OPT, if these are more than there may be.
function M.limit(request)
  local most = math.min(request.rounds, M.MOST_ROUNDS)
  if request.stop then most = math.min(most, request.test) end
  request.bounded = request.sync.versions > math.max(1, most) + 1
  M.limit_to(request.sync, most)
end

--- The same for so many rounds in a job.
-- Errors: OPT.
function M.limit_to(sync, most)
  sync.versions = math.min(sync.versions, math.max(1, most) + 1)
  if sync.versions <= MOST_VERSIONS then return end
  errors.raise("OPT", "%s: %s makes %d versions of the arrays, and %d are kept at most", sync.where,
               option_of(sync), sync.versions, MOST_VERSIONS)
end

-- Raises ARR, before any memory is taken, where there is too little for all versions.
local function check_memory(values, depth, sync)
  local bytes = 0
  for _, value in ipairs(values) do bytes = bytes + array.describe(value).bytes * depth end
  local why = make.why_not(bytes)
  if not why then return end
  errors.raise("ARR", "%s: %s makes %d versions, %s: %s", sync.where, option_of(sync), depth,
               show.bytes(bytes), why)
end

local function memory_for(values, depth)
  local arrays = {}
  for k, value in ipairs(values) do arrays[k] = memory_of(value, depth) end
  return arrays
end

--- Memory for the versions of arrays, with what they hold now.
-- @tab values the arrays @number depth how many versions are kept beside the first
-- @tab sync of the request
-- Errors: ARR INT.
function M.new(values, depth, sync)
  for _, value in ipairs(values) do array.checked(array.to_handle(value, true)) end
  check_memory(values, depth, sync)
  local arrays = interruptible(memory_for, values, depth)
  return setmetatable({arrays = arrays, depth = depth, rounds = 0}, Versions)
end

--- The bytes of all versions.
function Versions:bytes()
  local bytes = 0
  for _, each in ipairs(self.arrays) do
    bytes = bytes + array.describe(each.start).bytes * self.depth
  end
  return bytes
end

local function advance(self, rounds, ends)
  for _, each in ipairs(self.arrays) do
    local slot = (rounds - 1) % self.depth + 1
    local last = each.ring[slot]
    -- What was the start is free now, unless it is the user's.
    local next_one = each.own and each.start
    if not next_one and not ends then next_one = array.to_handle(each.value, true):clone() end
    each.ring[slot] = next_one
    each.start, each.own = last, true
  end
  self.rounds = self.rounds + rounds
end

--- A job has made so many rounds: the last version is the next job's first, unless the job is the
-- last one (`ends`); whether Ctrl-C was pressed.
-- Errors: ARR.
function Versions:advance(rounds, ends) return select(2, shield(advance, self, rounds, ends)) end

local function copy_back(self)
  for _, each in ipairs(self.arrays) do
    array.to_handle(each.value, true):copy(each.start)
  end
end

--- Gives the arrays the last version, all of them whatever is pressed; whether Ctrl-C was.
-- Errors: ARR for arrays that cannot be written.
function Versions:finish() return select(2, shield(copy_back, self)) end

--- Frees the memory: the next loop in rounds takes the same again, and waits for no collection.
function Versions:close()
  for _, each in ipairs(self.arrays) do
    for _, memory in tables.each(each.ring) do
      if memory then memory:free() end
    end
    if each.own then each.start:free() end
  end
end

--- Calls a function, which cannot write the arrays, nor others, meanwhile; what it returns first.
-- @tab others a list of arrays
-- Errors: what the function raises.
function Versions:ask(others, fn, ...)
  local list = {unpack(others)}
  for _, each in ipairs(self.arrays) do list[#list + 1] = each.value end
  local release = array.hold_all(list, "rounds")
  local results = {pcall(fn, ...)}
  release()
  if not results[1] then error(results[2], 0) end
  return results[2]
end

--- Raises ARR for an array that cannot be made in rounds. `name` is its place among the arguments.
function M.check(value, name)
  local why
  if not array.is(value) then
    why = "is no DistArray: local A = meissa.from(...) makes one"
  elseif array.describe(value).sparse then
    why = "is sparse; rounds are over dense arrays"
  elseif array.is_frozen(value) then
    why = array.held_words(value)
  end
  if why then errors.raise("ARR", "meissa.iterate: %s %s", name, why) end
end

return M
