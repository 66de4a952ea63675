-- SPDX-License-Identifier: MIT
--- Replays: rounds that are run along a recorded history (MEISSA_REPLAY), in this process.
--
-- Which versions the blocks of stale or unsynchronised rounds read is a matter of luck; recorded
-- (docs/formats.md), it can be had again, with the same bits. Blocks are run in the order in which
-- they were finished, so all that one has read is there; how many versions are kept is what the
-- record's reads need. The n-th job of rounds that came to its end is for the n-th one of the run.
-- @module meissa.driver.replay

local environment = require "meissa.base.environment"
local errors = require "meissa.base.errors"
local tables = require "meissa.base.tables"

local M = {}

local HEADER = "meissa-history 1"

-- ---- reading

local function field(line, name)
  return tonumber((string.match(line, " " .. name .. "=(%d+)%f[%D]")))
end

local handlers = {}

-- Jobs whose blocks read versions of one age, whoever is how fast, need no record.
function handlers.rounds(record, line)
  if field(line, "read_lag") == 0 and field(line, "read_ahead") == 0 then return end
  record.open[field(line, "job")] = {rounds = field(line, "rounds"), ranges = 0, begun = {},
                                     order = {}, place = {}, reads = {}}
end

local function of_job(handle)
  return function(record, line)
    local job = record.open[field(line, "job")]
    if job then handle(job, line, field(line, "block")) end
  end
end

handlers.block = of_job(function(job) job.ranges = job.ranges + 1 end)
handlers.begin = of_job(function(job, line, block)
  job.begun[block] = {round = field(line, "round"), reads = {}}
end)
handlers.read = of_job(function(job, line, block)
  job.begun[block].reads[field(line, "range")] = field(line, "version")
end)
handlers.pin = handlers.read

-- A block that was run again, since its worker died as it ended, counts as it was the last time.
handlers.commit = of_job(function(job, _, block)
  local begun = job.begun[block]
  local number = (begun.round - 1) * job.ranges + block
  if job.place[number] then job.order[job.place[number]] = false end
  job.order[#job.order + 1] = number
  job.place[number], job.reads[number] = #job.order, begun.reads
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

handlers["end"] = function(record, line)
  local job = record.open[field(line, "job")]
  if not job then return end
  record.jobs[#record.jobs + 1] = job
  record.depth = math.max(record.depth, depth_of(job))
end

function handlers.decide(record, line)
  local function value(name) return tonumber((string.match(line, " " .. name .. "=(%S+)"))) end
  record.decisions[#record.decisions + 1] = {rounds = field(line, "rounds"), every = value "every",
                                             staleness = value "staleness", eps = value "eps",
                                             lambda = value "lambda"}
end

local function read(path)
  local file, problem = io.open(path)
  if not file then errors.raise("FIL", "MEISSA_REPLAY: %s", problem) end
  local record = {path = path, open = {}, jobs = {}, depth = 2, next = 1, decisions = {},
                  decided = 0}
  local header = file:read()
  if header ~= HEADER then
    file:close()
    errors.raise("FIL", "MEISSA_REPLAY: '%s' is no history: record one with MEISSA_HISTORY", path)
  end
  for line in file:lines() do
    local handle = handlers[string.match(line, "^%d+ %S+ %S+ %d+ (%S+)")]
    if handle and not pcall(handle, record, line) then
      file:close()
      errors.raise("FIL", "MEISSA_REPLAY: '%s' is damaged: meissa check-history says where", path)
    end
  end
  file:close()
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

--- The next job of the record, for so many rounds of so many ranges.
-- Errors: OPT if it is of others.
function M.next(rounds, ranges)
  if not record.jobs[1] then
    errors.raise("OPT", "MEISSA_REPLAY: '%s' has no rounds: the record is of another program, " ..
                 "or of a run without workers (MEISSA_WORKERS=0), whose rounds are recorded as " ..
                 "plain loops; record a run with workers", record.path)
  end
  local job = record.jobs[record.next]
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
