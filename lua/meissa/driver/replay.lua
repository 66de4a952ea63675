-- SPDX-License-Identifier: MIT
--- Replays: rounds that are run along a recorded history (MEISSA_REPLAY), in this process.
--
-- Which versions the blocks of stale or unsynchronised rounds read is a matter of luck; recorded
-- (docs/formats.md), it can be had again, with the same bits. Blocks are run in the order in which
-- they were finished, so all that one has read is there; how many versions are kept is what the
-- record's reads need. The n-th job of rounds is for the n-th one of the run; one that was begun
-- again, because a worker died, does not count. Of a job that failed, or was never over, what it
-- has is run, at last the blocks that had begun: one of them has the error.
-- @module meissa.driver.replay

local environment = require "meissa.base.environment"
local errors = require "meissa.base.errors"
local events = require "meissa.driver.history_event"
local exchanges = require "meissa.driver.replay_exchange"
local tables = require "meissa.base.tables"

local M = {}

local expect, word, field, set_of = events.expect, events.word, events.field, events.set_of

-- ---- reading

local handlers = {}

-- Jobs whose blocks read versions of one age, whoever is how fast, need no record. Of each block
-- `past` is the last round that is over, `newest` the last one that can be run again.
function handlers.rounds(record, line)
  local exchange = word(line, "exchange")
  if word(line, "read_lag") == "0" and word(line, "read_ahead") == "0" then return end
  if exchange then
    local job = exchanges.new(exchange, field(line, "job"))
    record.exchanges[exchange], record.open[job.number] = job, job
    record.calls[job.call] = true
    return
  end
  local number = field(line, "job")
  expect(word(line, "read_lag") and word(line, "read_ahead") and not record.open[number])
  record.lost = nil -- it is begun again
  record.open[number] = {number = number, rounds = field(line, "rounds"), ranges = 0, sets = {},
                         counts = {}, past = {}, newest = {}, begun = {}, order = {}, place = {},
                         reads = {}}
end

-- Has an event of a block mean for its job what it means for rounds, or for exchanges.
local function of_job(kind, handle)
  local of_exchange = exchanges.handlers[kind]
  handlers[kind] = function(record, line)
    local job = record.open[field(line, "job")]
    local take = job and (job.exchange and of_exchange or not job.exchange and handle)
    if take then take(job, line, field(line, "block")) end
  end
end

of_job("block", function(job, line, block)
  expect(not job.sets[block] and word(line, "reads"))
  job.sets[block], job.counts[block] = set_of(word(line, "reads"))
  job.past[block], job.newest[block], job.ranges = 0, 0, job.ranges + 1
end)

-- A block may be run again if its process was lost as it ended.
of_job("begin", function(job, line, block)
  local round = field(line, "round")
  expect(job.sets[block] and (round == job.past[block] + 1 or
                              job.fenced and round == job.past[block]))
  job.begun[block] = {round = round, reads = {}, count = 0}
end)

-- After a failure in a job counts say that blocks are over which were left out.
local function read_version(job, line, block)
  local begun, range, version = job.begun[block], field(line, "range"), field(line, "version")
  expect(begun and not begun.over and job.sets[block][range] and not begun.reads[range])
  begun.count, begun.reads[range] = begun.count + 1, version
  begun.lost = begun.lost or version > job.newest[range]
end
of_job("read", read_version)
of_job("pin", read_version)

-- A block that was run again counts as it was the last time.
of_job("commit", function(job, _, block)
  local begun = job.begun[block]
  expect(begun and not begun.over and begun.count == job.counts[block])
  begun.over, job.lost, job.past[block] = true, job.lost or begun.lost, begun.round
  if begun.lost then return end
  local number = (begun.round - 1) * job.ranges + block
  if job.place[number] then job.order[job.place[number]] = false end
  job.order[#job.order + 1] = number
  job.place[number], job.reads[number] = #job.order, begun.reads
  job.newest[block] = begun.round
end)

-- How many versions a job's reads need, in the order in which its blocks are run.
local function depth_of(job)
  local newest, depth = {}, 2
  for _, number in ipairs(job.order) do
    if number then
      local range = number % job.ranges
      newest[range] = (number - range) / job.ranges + 1
      for other, version in tables.each(job.reads[number]) do
        if version > 0 then depth = math.max(depth, (newest[other] or 0) - version + 1) end
      end
    end
  end
  return depth
end

local function close(record, job)
  for block = 0, job.ranges - 1 do
    expect(job.sets[block])
    for range in tables.each(job.sets[block]) do expect(range < job.ranges) end
  end
  record.open[job.number] = nil
  record.jobs[#record.jobs + 1] = job
  record.depth = math.max(record.depth, depth_of(job))
end

-- Adds the blocks that had begun and all read, in the order in which a job has errors.
local function add_begun(job)
  local last = {}
  for _, block in ipairs(tables.keys(job.begun)) do
    local begun = job.begun[block]
    if not begun.over and not begun.lost and begun.count == job.counts[block] then
      local number = (begun.round - 1) * job.ranges + block
      last[#last + 1], job.reads[number] = number, begun.reads
    end
  end
  table.sort(last)
  for _, number in ipairs(last) do job.order[#job.order + 1] = number end
end

-- A job has not come to its end.
local function give_up(record, job, why)
  job.why, record.open[job.number] = why, nil
  if job.exchange then return end
  add_begun(job)
  close(record, job)
end

handlers["end"] = function(record, line)
  local job = record.open[field(line, "job")]
  if not job then return end
  if job.exchange then
    record.open[job.number] = nil
    return
  end
  expect(not job.lost)
  for _, newest in tables.each(job.newest) do expect(newest == job.rounds) end
  close(record, job)
end

-- Where a process was lost the job was begun again, if another one comes.
function handlers.fail(record, line)
  local job = record.open[field(line, "job")]
  if not job then return end
  if job.exchange or not job.fenced then return give_up(record, job, "failed") end
  record.open[job.number], record.lost = nil, job
end

function handlers.fence(record)
  for _, job in tables.each(record.open) do job.fenced = true end
end

function handlers.decide(record, line)
  local function value(name) return tonumber(word(line, name)) end
  record.decisions[#record.decisions + 1] = {rounds = field(line, "rounds"), every = value "every",
                                             staleness = value "staleness", eps = value "eps",
                                             lambda = value "lambda"}
end

local function read_events(record, lines)
  for line in lines do
    local kind = string.match(line, "^%d+ %S+ %S+ %d+ (%l+)")
    expect(kind)
    local handle = handlers[kind]
    if handle then handle(record, line) end
  end
  if record.lost then give_up(record, record.lost, "failed") end
  for _, number in ipairs(tables.keys(record.open)) do
    give_up(record, record.open[number], "was never over")
  end
end

local function read(path)
  local record = {path = path, open = {}, jobs = {}, depth = 2, next = 1, decisions = {},
                  decided = 0, exchanges = {}, calls = {}}
  local ok, err = pcall(read_events, record, events.lines_of(path))
  if not ok and err ~= events.DAMAGED then error(err, 0) end
  if not ok then
    errors.raise("FIL", "MEISSA_REPLAY: '%s' is damaged: meissa check-history says where", path)
  end
  return record
end

local record

--- The record that rounds are to be run along, or nil.
-- Errors: FIL for a file that is none.
function M.record()
  if record == nil then
    local path = environment.get "MEISSA_REPLAY"
    record = path and read(path) or false
  end
  return record or nil
end

-- ---- running

-- The record ends in the job that was run last.
local function raise_end(rest)
  local number = record.next - 1
  errors.raise("OPT", "MEISSA_REPLAY: the record in '%s' ends in its job %d of rounds, which " ..
               "%s: %s", record.path, number, record.jobs[number].why, rest)
end

--- The next job of the record, for so many rounds of so many ranges.
-- Errors: OPT if it is of others.
function M.next(rounds, ranges)
  if not record.jobs[1] then
    errors.raise("OPT", "MEISSA_REPLAY: '%s' has no rounds: the record is of another program, " ..
                 "or of a run without workers (MEISSA_WORKERS=0), whose rounds are recorded as " ..
                 "plain loops; record a run with workers", record.path)
  end
  local job, last = record.jobs[record.next], record.jobs[record.next - 1]
  if not job and last and last.why then raise_end("the program goes on") end
  if not job or job.rounds ~= rounds or job.ranges ~= ranges then
    errors.raise("OPT", "MEISSA_REPLAY: job %d of rounds in '%s' %s, where the program has %d " ..
      "rounds of %d ranges: the record is of another program, or of other data", record.next,
      record.path, job and string.format("has %d rounds of %d ranges", job.rounds, job.ranges) or
      "is missing", rounds, ranges)
  end
  record.next = record.next + 1
  return job
end

--- What controllers of replicas had decided, where they decide now, after so many rounds.
-- Errors: OPT if the record is of others.
function M.decision(rounds)
  local number = record.decided + 1
  local decision = record.decisions[number]
  if not decision or decision.rounds ~= rounds then
    errors.raise("OPT", "MEISSA_REPLAY: decision %d in '%s' %s, where the program has \"auto\" " ..
      "decide after round %d: the record is of another program, or of other data", number,
      record.path, decision and string.format("was made after round %d", decision.rounds) or
      "is missing", rounds)
  end
  record.decided = number
  return decision
end

--- After the blocks of a job: raises OPT where the recorded job had no end.
-- @tab job what `next` gave
function M.check_end(job)
  if job and job.why then raise_end("all that it has of it was run again, and nothing failed") end
end

--- The blocks of a job in the order in which they are to be run, as an iterator.
-- @tab job what `next` gave @number first the job's first block
function M.order(job, first)
  local k = 0
  return function()
    repeat k = k + 1 until job.order[k] ~= false
    return job.order[k] and first + job.order[k]
  end
end

return M
