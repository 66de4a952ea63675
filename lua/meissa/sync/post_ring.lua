-- SPDX-License-Identifier: MIT
--- Rings of posts: where replicas that exchange without all meeting leave what they post.
--
-- A ring has the newest `depth` versions of each replica's row (meissa.sync.post), one after the
-- other, and before these the round of each one's newest post. Who may go on and sees which version
-- a gate says (csrc/sync/replica_gate.h), as of loops. A replica builds its next row in its place
-- there, which nobody reads before it is posted. A ring begins with a round in which all have met.
-- The memory may be that of several processes; each has a ring of its own over it. Where there is
-- none all go on meeting, and the ring is there for the history.
-- @module meissa.sync.post_ring

local c_api = require "meissa.array.c_api"
local exchange_histories = require "meissa.sync.exchange_history"
local ffi = require "ffi"
local ring_replays = require "meissa.sync.ring_replay"
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
  local sets = posts:sets(replicas)
  return setmetatable({replicas = replicas, size = posts.at.size, depth = open.versions,
                       oldest = open.oldest, began = began, workers = workers, sets = sets,
                       gate = waits.gate(settings.waits, workers, replicas, waits.found(sets))},
                      Ring)
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

--- Whether it has memory.
function Ring:is_placed() return self.rows ~= nil end

--- Begins with a round in which all have met.
-- @tab rows a list of pointers
-- @string[opt] exchange what the history calls it, if it is to tell of it
-- @tab[opt] recorded what replicas are to hear (meissa.sync.ring_replay)
function Ring:begin(rows, round, exchange, recorded)
  self.first = round
  local chosen = recorded and true or false
  self.told = exchange and exchange_histories.begin(self.gate, exchange, chosen, round) or nil
  self.replay = recorded and ring_replays.new(recorded, round, self.size) or nil
  for k, row in ipairs(self:is_placed() and rows or {}) do
    ffi.copy(self:row(k, round), row, 8 * self.size)
    self:post(k, round)
  end
end

--- The same as `begin` in another process, where it is a job of that number in the history; nil:
-- there is none.
function Ring:join(job, round)
  self.first, self.told = round, job and exchange_histories.new(job, round) or nil
end

--- Says that a replica has posted that version.
function Ring:post(k, version)
  if self.told and version > self.first then self.told:posts(k, version) end
  if self.replay then self.replay:keep(k, version, self:row(k, version)) end
  if self:is_placed() then lib.ms_replica_gate_post(self.counts, k - 1, version) end
  self.last = version
end

--- Tells that replica k goes on after a round, having heard those versions; nil: all of that round.
function Ring:tell(k, round, versions)
  if not self.told then return end
  if not versions then
    versions = {}
    for j in tables.each(self.sets[k]) do versions[j] = round end
  end
  self.told:hears(k, round, versions)
end

--- Nobody exchanges in it any more; `failed`: because something has.
-- Errors: OPT where a replay has more of some replica.
function Ring:over(failed)
  if self.replay and not failed then self.replay:check_end() end
  if not self.told then return end
  local least = self.last -- as far as it is known here what was posted
  if self:is_placed() then
    least = math.huge
    for k = 1, self.replicas do least = math.min(least, tonumber(self.counts[(k - 1) * LINE])) end
  end
  self.told:over(not failed and least or nil)
  self.told = nil
end

--- Whether replica k may go on with the exchange of that round; `late`: only once it sees all that
-- others have posted up to it.
function Ring:is_open(k, round, late)
  if self.replay and not late then return self.replay:is_open(k, round) end
  local ask = late and lib.ms_replica_gate_settled or lib.ms_replica_gate_open
  return ask(self.gate, self.counts, k - 1, round)
end

--- Raises OPT where a replay has no more of replica k, which waits to go on.
function Ring:check_recorded(k, round, late)
  if self.replay and not late then self.replay:check(k, round) end
end

--- What replica k hears in a round, as Posts:merge takes it; each version is chosen once.
-- @bool late whether all have posted that round, which is heard
function Ring:heard(k, round, late)
  local versions, rows, replay = {}, {}, not late and self.replay
  local function seen(j)
    if late then return round end
    if replay and not versions[j] then
      versions[j], rows[j] = replay:heard(k, round, j)
      local may = lib.ms_replica_gate_allows(self.gate, k - 1, j - 1, round, versions[j])
      if not may then replay.recorded.other(k) end
    end
    versions[j] = versions[j] or
      tonumber(lib.ms_replica_gate_sees(self.gate, self.counts, k - 1, j - 1, round))
    return versions[j]
  end
  return {own = self:row(k, round), seen = seen, versions = versions, last = round,
          of = function(j)
            local version = seen(j)
            return rows[j] or self:row(j, version)
          end,
          oldest = self.oldest and round - self.oldest or 0}
end

--- Whether what was heard was not overwritten meanwhile; if so replica k is through with it.
-- @number round after which it goes on; nil: it has heard what came late
function Ring:take(k, round, heard)
  for j, version in tables.each(not self.replay and heard.versions or {}) do
    if not lib.ms_replica_gate_intact(self.gate, self.counts, j - 1, version) then return false end
  end
  if round then self:tell(k, round, heard.versions) end
  if round and self.replay then self.replay:release(k, round, heard.versions) end
  return true
end

return M
