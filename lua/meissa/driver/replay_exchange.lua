-- SPDX-License-Identifier: MIT
--- Replays of exchanges in functions of replicas: what a recorded history says that these heard
-- where they did not all meet (meissa.sync.exchange_history tells it).
--
-- A record of exchanges goes by its name, which says in which call of meissa.replicas it was, and
-- of what; where a call was begun again, because a worker died, its last run counts.
-- @module meissa.driver.replay_exchange

local errors = require "meissa.base.errors"
local events = require "meissa.driver.history_event"

local M = {}

local expect, field = events.expect, events.field

-- ---- reading

--- A record of exchanges, none yet.
-- @string name as the history has it @number number of its job
function M.new(name, number)
  local call = string.match(name, "^(%d+)%.%d+%.%d+$")
  expect(call)
  return {exchange = name, call = tonumber(call), number = number,
          sets = {}, reads = {}, past = {}, begun = {}}
end

--- What events mean for it, by their kind: each is given the record, the line and the block.
M.handlers = {}

function M.handlers.block(job, line, block)
  expect(block == #job.reads and events.word(line, "reads"))
  job.sets[block + 1] = events.set_of(events.word(line, "reads"))
  job.reads[block + 1], job.past[block + 1] = {}, 0
end

function M.handlers.begin(job, line, block)
  local round, k = field(line, "round"), block + 1
  expect(job.reads[k] and not job.begun[k] and round == job.past[k] + 1)
  job.begun[k], job.reads[k][round] = round, {}
end

function M.handlers.read(job, line, block)
  local range, version = field(line, "range"), field(line, "version")
  local versions = job.begun[block + 1] and job.reads[block + 1][field(line, "round")]
  expect(versions and job.sets[block + 1][range] and not versions[range + 1])
  expect(job.past[range + 1] and version <= job.past[range + 1])
  versions[range + 1] = version
end

function M.handlers.commit(job, _, block)
  local k = block + 1
  expect(job.begun[k])
  job.past[k], job.begun[k] = job.begun[k], nil
end

-- ---- running

--- What replicas are to hear, as meissa.sync.ring_replay takes it.
-- @tab record of the history (meissa.driver.replay) @string name of the exchanges
-- @number replicas how many there are
-- @treturn table that
-- Errors: OPT if the record is of others.
function M.recorded(record, name, replicas)
  local job = record.exchanges[name]
  local call, slot = string.match(name, "^(%d+)%.(%d+)")
  local function other(...)
    errors.raise("OPT", "MEISSA_REPLAY: call %s of meissa.replicas in '%s' has %s: the record " ..
                 "is of another program, or of other data", call, record.path,
                 string.format(...))
  end
  if not job or #job.reads ~= replicas then
    other("no exchanges of %d replicas that do not all meet, of array %s", replicas, slot)
  end
  local function differs(k) other("other exchanges than replica %d", k) end
  return {reads = job.reads, ended = not job.why, other = differs, missing = function(k)
    if not job.why then differs(k) end
    errors.raise("OPT", "MEISSA_REPLAY: the record in '%s' ends in call %s of meissa.replicas, " ..
                 "which %s: all that it has was run again, and replica %d goes on", record.path,
                 call, job.why, k)
  end}
end

return M
