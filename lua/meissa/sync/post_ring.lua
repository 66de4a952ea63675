-- SPDX-License-Identifier: MIT
--- Rings of posts: where replicas that exchange without all meeting leave what they post.
--
-- A ring has the newest `depth` versions of each replica's row (meissa.sync.post), one after the
-- other, and before these the round of each one's newest post. Who may go on and sees which version
-- a gate says (csrc/sync/replica_gate.h), as of loops. A replica builds its next row in its place
-- there, which nobody reads before it is posted. A ring begins with a round in which all have met.
-- The memory may be that of several processes; each has a ring of its own over it.
-- @module meissa.sync.post_ring

local c_api = require "meissa.array.c_api"
local ffi = require "ffi"
local tables = require "meissa.base.tables"
local waits = require "meissa.sync.waits"

local M = {}

local lib = c_api.lib

-- Numbers to a count: a line of the cache.
local LINE = 8

local Ring = {}
Ring.__index = Ring

--- A ring without memory.
-- @tab posts of meissa.sync.post @number workers how many processes may be reading a version
-- @number began the number of exchanges before its first round
function M.new(posts, workers, began)
  local settings = posts.settings
  local open, replicas = waits.open(settings.waits, workers), settings.replicas
  return setmetatable({replicas = replicas, size = posts.at.size, depth = open.versions,
                       oldest = open.oldest, began = began, workers = workers,
                       gate = waits.gate(settings.waits, workers, replicas,
                                         waits.found(posts:sets(replicas)))}, Ring)
end

--- How many doubles its memory has.
function Ring:room() return self.replicas * (LINE + self.depth * self.size) end

--- Gives it memory, or its memory's place by now.
-- @param address of the memory @param keep what keeps that alive
function Ring:place(address, keep)
  self.counts = ffi.cast("uint64_t *", address)
  self.rows, self.keep = ffi.cast("double *", address) + LINE * self.replicas, keep
end

--- Gives its memory back: no replica goes on in it any more.
function Ring:free()
  if self.keep then self.keep:free() end
end

--- Where a version of a replica's row lies.
function Ring:row(k, version)
  return self.rows + ((k - 1) * self.depth + version % self.depth) * self.size
end

--- Says that a replica has posted that version.
function Ring:post(k, version) lib.ms_replica_gate_post(self.counts, k - 1, version) end

--- Begins it with the rows of a round in which all have met, a list of pointers.
function Ring:begin(rows, round)
  for k, row in ipairs(rows) do
    ffi.copy(self:row(k, round), row, 8 * self.size)
    self:post(k, round)
  end
end

--- Whether replica k may go on with the exchange of that round; `late`: only once it sees all that
-- others have posted up to it.
function Ring:is_open(k, round, late)
  local ask = late and lib.ms_replica_gate_settled or lib.ms_replica_gate_open
  return ask(self.gate, self.counts, k - 1, round)
end

--- What replica k hears in a round, as Posts:merge takes it; each version is chosen once.
-- @bool late whether all have posted that round, which is heard
function Ring:heard(k, round, late)
  local versions = {}
  local function seen(j)
    if late then return round end
    versions[j] = versions[j] or
      tonumber(lib.ms_replica_gate_sees(self.gate, self.counts, k - 1, j - 1, round))
    return versions[j]
  end
  return {own = self:row(k, round), of = function(j) return self:row(j, seen(j)) end, seen = seen,
          last = round, oldest = self.oldest and round - self.oldest or 0, versions = versions}
end

--- Whether what was heard was not overwritten meanwhile.
function Ring:is_intact(heard)
  for j, version in tables.each(heard.versions) do
    if not lib.ms_replica_gate_intact(self.gate, self.counts, j - 1, version) then return false end
  end
  return true
end

return M
