-- SPDX-License-Identifier: MIT
--- History of exchanges in functions of replicas: the posts that these make without all meeting,
-- and what each hears, told as blocks of rounds (docs/formats.md has the format).
--
-- The job's version 0 of a replica is its post of the round in which all have met last, its block
-- of round a begins when it merges after a - 1 more, and ends with its next post. What it hears
-- last begins a block that has no end.
-- @module meissa.sync.exchange_history

local c_core = require "meissa.base.c_core"
local tables = require "meissa.base.tables"
local trace = require "meissa.base.trace"

local M = {}

local tell = trace.tell

local Told = {}
Told.__index = Told

--- Those of a job.
-- @number job its number in the history @number first the round of its versions 0
function M.new(job, first) return setmetatable({job = job, first = first}, Told) end

--- Begins a job; nil where nobody wants a history.
-- @param gate of its replicas (csrc/sync/replica_gate.h) @string exchange what it is called there
-- @bool chosen whether replicas hear what was chosen, whoever is how fast
function M.begin(gate, exchange, chosen, first)
  local job = tonumber(c_core.lib.ms_replica_gate_tell(gate, chosen, exchange))
  return job > 0 and M.new(job, first) or nil
end

--- Replica k goes on after a round.
-- @tab versions which rounds of which others it has heard, by replica
function Told:hears(k, round, versions)
  local about = string.format("job=%.0f block=%d round=%d", self.job, k - 1, round - self.first + 1)
  tell("begin %s", about)
  for _, j in ipairs(tables.keys(versions)) do
    tell("read %s range=%d version=%d", about, j - 1, versions[j] - self.first)
  end
  tell("fill %s range=%d", about, k - 1)
end

--- It is about to post that round.
function Told:posts(k, round)
  tell("write job=%.0f block=%d round=%d range=%d", self.job, k - 1, round - self.first, k - 1)
  tell("commit job=%.0f block=%d", self.job, k - 1)
end

--- The job has come to its end, or has failed.
-- @number[opt] round the last one that all have posted
function Told:over(round)
  if round then
    tell("end job=%.0f round=%d", self.job, round - self.first)
  else
    tell("fail job=%.0f", self.job)
  end
end

return M
