-- SPDX-License-Identifier: MIT
--- Versions: the memory of the arrays that a loop makes anew in each round (csrc/job/version.h).
--
-- The first round reads the user's array, which nothing writes before all is over; the versions of
-- further rounds are in fresh memory, `depth` pieces of it in turn. Rounds may be run in several
-- jobs: the last version of one is what the next one begins with, and nothing writes that meanwhile
-- either, so a job can always be begun again.
-- @module meissa.driver.versions

local array = require "meissa.array"
local errors = require "meissa.base.errors"

local M = {}

local Versions = {}
Versions.__index = Versions

-- Whether the elements lie one behind the other, the last subscript fastest.
local function is_row_major(about)
  local stride = 1
  for d = #about.dims, 1, -1 do
    if about.dims[d] > 1 and about.strides[d] ~= stride then return false end
    stride = stride * about.dims[d]
  end
  return true
end

-- Memory for one array; `last` is what the analyser takes for the last version, which the body
-- cannot write.
local function memory_of(value, depth)
  local start = array.to_handle(value, true)
  if not is_row_major(array.describe(start)) then start = start:clone() end
  local last = start:narrow(1, 1, start:size(1))
  array.freeze(last)
  local ring = {}
  for slot = 1, depth do ring[slot] = start:clone() end
  return {value = value, start = start, ring = ring, last = last}
end

--- Memory for the versions of arrays, with what they hold now.
-- @tab values the arrays @number depth how many versions are kept beside the first
-- Errors: ARR.
function M.new(values, depth)
  local self = setmetatable({arrays = {}, depth = depth, rounds = 0}, Versions)
  for k, value in ipairs(values) do
    array.checked(array.to_handle(value, true))
    self.arrays[k] = memory_of(value, depth)
  end
  return self
end

--- The bytes of all versions.
function Versions:bytes()
  local bytes = 0
  for _, each in ipairs(self.arrays) do
    bytes = bytes + array.describe(each.start).bytes * self.depth
  end
  return bytes
end

--- A job has made so many rounds: the last version is the next job's first.
function Versions:advance(rounds)
  for _, each in ipairs(self.arrays) do
    local slot = (rounds - 1) % self.depth + 1
    local last = each.ring[slot]
    -- What was the start is free now, unless it is the user's.
    each.ring[slot] = each.own and each.start or array.to_handle(each.value, true):clone()
    each.start, each.own = last, true
  end
  self.rounds = self.rounds + rounds
end

--- Gives the arrays the last version, if there is one.
-- Errors: ARR for arrays that cannot be written.
function Versions:finish()
  if self.rounds == 0 then return end
  for _, each in ipairs(self.arrays) do
    array.to_handle(each.value, true):copy(each.start)
  end
end

--- Raises ARR for an array that cannot be made in rounds. `name` is its place among the arguments.
function M.check(value, name)
  local why
  if not array.is(value) then
    why = "is no DistArray: local A = meissa.from(...) makes one"
  elseif array.describe(value).sparse then
    why = "is sparse; rounds are over dense arrays"
  elseif array.is_frozen(value) then
    why = "is a snapshot, which cannot be written; clone() it"
  end
  if why then errors.raise("ARR", "meissa.iterate: %s %s", name, why) end
end

return M
