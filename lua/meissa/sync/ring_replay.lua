-- SPDX-License-Identifier: MIT
--- Replays of rings: replicas hear of each other what a record says that they have heard.
--
-- Who may go on is then not the gate's to say: a replica may once all that it is to hear has been
-- posted. Since others may be far ahead by then, each version is kept until all have heard it.
-- @module meissa.sync.ring_replay

local array = require "meissa.array"
local ffi = require "ffi"
local tables = require "meissa.base.tables"

local M = {}

local Replay = {}
Replay.__index = Replay

-- How often each version is heard by others, by replica.
local function count_readers(reads)
  local readers = {}
  for k in ipairs(reads) do readers[k] = {} end
  for k, rounds in ipairs(reads) do
    for _, versions in tables.each(rounds) do
      for j, version in tables.each(versions) do
        if j ~= k then readers[j][version] = (readers[j][version] or 0) + 1 end
      end
    end
  end
  return readers
end

--- A replay of a ring.
-- @tab recorded `reads`: by replica and block's round, the versions that it hears, by replica, both
-- counted from 0, which is the ring's round `first`; `missing(k)` and `other(k)` raise what there
-- is to say where the record has no more of replica k, or does not go with it; `ended`: whether the
-- run that was recorded came to its end @number size doubles of a row
function M.new(recorded, first, size)
  local kept = {}
  for k, rounds in ipairs(recorded.reads) do
    kept[k], rounds[1] = {}, nil -- what is heard first all meet for
  end
  return setmetatable({recorded = recorded, readers = count_readers(recorded.reads), first = first,
                       size = size, kept = kept}, Replay)
end

-- What replica k hears after a round; nil: the record does not say.
local function heard_by(self, k, round)
  return self.recorded.reads[k][round - self.first + 1]
end

--- Keeps a row that a replica posts, if others are to hear it.
function Replay:keep(k, round, row)
  local version = round - self.first
  if not self.readers[k][version] then return end
  local copy = array.zeros {self.size}
  ffi.copy(array.core(copy).data, row, 8 * self.size)
  self.kept[k][version] = copy
end

--- Whether replica k may go on after a round.
function Replay:is_open(k, round)
  local versions = heard_by(self, k, round)
  for j, version in tables.each(versions or {}) do
    if j ~= k and not self.kept[j][version] then return false end
  end
  return versions ~= nil
end

--- Raises OPT where the record has no more of replica k.
function Replay:check(k, round)
  if not heard_by(self, k, round) then self.recorded.missing(k) end
end

--- Of which round replica k hears j, and where that lies; nil of itself.
-- Errors: OPT where the record does not say.
function Replay:heard(k, round, j)
  if j == k then return round, nil end
  local version = heard_by(self, k, round)[j]
  if not version then self.recorded.missing(k) end
  return self.first + version, ffi.cast("double *", array.core(self.kept[j][version]).data)
end

--- Replica k has heard those versions after a round, by replica.
-- Errors: OPT where the record has more.
function Replay:release(k, round, versions)
  for j, version in tables.each(heard_by(self, k, round)) do
    if j ~= k and not versions[j] then self.recorded.other(k) end
    local left = j ~= k and self.readers[j][version] - 1
    if left then self.readers[j][version] = left end
    if left == 0 then
      self.kept[j][version]:free()
      self.kept[j][version] = nil
    end
  end
  self.recorded.reads[k][round - self.first + 1] = nil
end

--- Raises OPT where the record has more of some replica.
function Replay:check_end()
  for k, rounds in ipairs(self.recorded.ended and self.recorded.reads or {}) do
    if tables.next(rounds) ~= nil then self.recorded.other(k) end
  end
end

return M
