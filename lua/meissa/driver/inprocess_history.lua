-- SPDX-License-Identifier: MIT
--- History of this process: loops and rounds whose blocks the driver runs itself, told as workers
-- tell of theirs (csrc/worker/block_history.c; docs/formats.md has the format).
--
-- One block runs after the other, so each has finished before the next one begins, and rounds read
-- what the round before has made, unless they are run along chosen or recorded reads.
-- @module meissa.driver.inprocess_history

local c_core = require "meissa.base.c_core"
local tables = require "meissa.base.tables"
local trace = require "meissa.base.trace"

local M = {}

local lib, tell = c_core.lib, trace.tell

local Job = {}
Job.__index = Job

-- In place of a job where nobody wants a history.
local Nothing = {}
for _, name in ipairs {"begin", "commit", "over"} do Nothing[name] = function() end end

local function new()
  local number = lib.ms_history_own_job()
  if number == 0 then return nil end
  local job = setmetatable({number = tonumber(number), sentinel = newproxy(true)}, Job)
  -- The plain loop that runs the blocks may be left by an error, which nobody else sees.
  local state = {number = job.number}
  job.state = state
  debug.getmetatable(job.sentinel).__gc = function()
    if not state.over then tell("fail job=%.0f", state.number) end
  end
  return job
end

--- A loop, or a stage of one, of so many blocks; `ordered`: it is run as it is written.
-- @treturn table a job with `begin(block)`, `commit(block)`, `over(ok)`
function M.loop(blocks, ordered)
  local job = new()
  if not job then return Nothing end
  tell("loop job=%.0f blocks=%d ordered=%d", job.number, blocks, ordered and 1 or 0)
  return job
end

--- What the controllers of a loop over replicas have decided after so many rounds: a table with
-- what governs from now on of `every`, `staleness`, `eps` and `lambda`.
function M.decided(rounds, chosen)
  local words = {}
  for _, name in ipairs {"every", "staleness", "eps", "lambda"} do
    if chosen[name] then words[#words + 1] = string.format(" %s=%.17g", name, chosen[name]) end
  end
  tell("decide rounds=%.0f%s", rounds, table.concat(words))
end

-- Members of a set of numbers from 1, as numbers from 0.
local function list_of(set)
  local list = tables.keys(set)
  for k, member in ipairs(list) do list[k] = string.format("%d", member - 1) end
  return #list > 0 and table.concat(list, ",") or "-"
end

-- Reads that are chosen or recorded go where they like; else each block reads the round before, and
-- has read before its readers write again.
local CHOSEN = "sync=%s read_lag=inf write_lag=inf read_ahead=inf depth=0 scope=nobody injected=%d"
local EXACT = "sync=%s read_lag=0 write_lag=1 read_ahead=0 depth=2 scope=range injected=%d"

--- A job of rounds.
-- @tab run see meissa.driver.rounds: its blocks `first` to `last`, which read along `along`; those
-- of rounds in the body of a loop (`inner`) are that loop's matter
function M.rounds(run)
  local job = not run.inner and new()
  if not job then return Nothing end
  local sets = run.rounds.sets
  job.first, job.sets, job.reads = run.first, sets, run.along and run.along.reads
  tell("rounds job=%.0f rounds=%d " .. (job.reads and CHOSEN or EXACT), job.number,
       (run.last - run.first) / #sets, run.rounds.sync or "data-centric", run.lags and 1 or 0)
  for r, set in ipairs(sets) do
    tell("block job=%.0f block=%d reads=%s writes=%d", job.number, r - 1, list_of(set), r - 1)
  end
  return job
end

function Job:begin_round(block)
  local number, n = self.number, block - self.first
  local own = n % #self.sets
  local round = (n - own) / #self.sets + 1
  local reads, kind = self.reads and self.reads[n], self.reads and "read" or "pin"
  tell("begin job=%.0f block=%d round=%d", number, own, round)
  for _, range in ipairs(tables.keys(self.sets[own + 1])) do
    local version = reads and reads[range - 1] or round - 1
    tell("%s job=%.0f block=%d round=%d range=%d version=%d", kind, number, own, round, range - 1,
         version)
  end
  tell("fill job=%.0f block=%d round=%d range=%d", number, own, round, own)
  self.own, self.round = own, round
end

--- A block begins.
function Job:begin(block)
  if self.sets then return self:begin_round(block) end
  tell("begin job=%.0f block=%d", self.number, block)
end

--- It has ended.
function Job:commit(block)
  if self.sets then
    tell("write job=%.0f block=%d round=%d range=%d", self.number, self.own, self.round, self.own)
    block = self.own
  end
  tell("commit job=%.0f block=%d", self.number, block)
end

--- The job has come to its end, or has failed.
function Job:over(ok)
  if self.state.over then return end
  self.state.over = true
  tell("%s job=%.0f", ok and "end" or "fail", self.number)
end

return M
