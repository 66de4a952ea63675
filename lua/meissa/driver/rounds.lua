-- SPDX-License-Identifier: MIT
--- Running rounds: a loop of meissa.iterate from its first round to its last, or to where it stops.
--
-- Rounds are run in jobs, as many rounds at a time as there are before the next stop test (or some
-- tests, see round_tests.lua) and as their blocks can be scheduled. A job begins with the last
-- version of the one before; so nothing of a round is to be undone when the loop stops after
-- another one, and the user's arrays are what they were until the last version is copied into them.
-- @module meissa.driver.rounds

local environment = require "meissa.base.environment"
local errors = require "meissa.base.errors"
local ffi = require "ffi"
local interrupt = require "meissa.base.interrupt"
local job = require "meissa.driver.job"
local kernel = require "meissa.kernel"
local lags = require "meissa.driver.lags"
local loop = require "meissa.driver.loop"
local nesting = require "meissa.base.nesting"
local plans = require "meissa.plan"
local pool = require "meissa.driver.pool"
local random = require "meissa.kernel.random"
local ready = require "meissa.driver.ready"
local replay = require "meissa.driver.replay"
local round_checks = require "meissa.driver.round_check"
local round_reads = require "meissa.driver.round_reads"
local round_tests = require "meissa.driver.round_tests"
local snapshots = require "meissa.driver.snapshot"
local speculate = require "meissa.driver.speculate"
local system = require "meissa.base.system"
local tables = require "meissa.base.tables"
local version_memory = require "meissa.driver.version_memory"
local versioned = require "meissa.plan.versioned"
local waits = require "meissa.sync.waits"

local M = {}

-- Whether rounds are run on workers: in the body of another loop they are run where it is.
local function on_workers()
  return not nesting.in_body and pool.workers() > 0
end

-- The record that these rounds are to be run along, if there is one.
local function recorded()
  return not nesting.in_body and replay.record()
end

-- Rounds that are worth finding out what a round really reads, which takes about as long as one.
local WORTH = 4

-- Blocks that are planned at once, and that are run in one job: what each leaves is kept until its
-- end.
local MOST_PLANNED, MOST_RUN = 2 ^ 22, version_memory.MOST_ROUNDS

--- Raises DEP for a loop whose ranges are not also ranges of what it writes.
function M.check(run)
  local k = versioned.stranger(run)
  if not k then return end
  local index = run.plan.dims[2]
  errors.raise("DEP", "the loop writes array %d of meissa.iterate in another way than one " ..
    "element, or row, for each '%s', such as at several places in turn: a range of '%s' then " ..
    "makes no range of the array, which those who read it could wait for. Write A[%s + c] = " ..
    "... once, with a constant c, and tell elements apart by conditions: if %s %% 2 == 0 then",
    k, index, index, index, index)
end

-- Runs the blocks in this process, one after the other; loops in the body run plainly, as on a
-- worker.
local function run_here(run)
  local by_value, images = run.by_value, run.rounds.images
  if on_workers() and not run.along then run.rounds.images = nil end -- every read is exact here
  run.by_value, run.inner = false, nesting.in_body
  run.measured = {launch = system.clock() - run.called, workers = 0, moved = 0, deaths = 0,
                  redone = 0, repeated = 0, shares = {}}
  local ok, assigned, left = nesting.pcall(job.run_here, run)
  run.measured.seconds = system.clock() - run.called
  run.by_value, run.rounds.images = by_value, images
  if not ok then error(assigned, 0) end
  run.left = left
  return assigned
end

local function run_on_workers(run)
  local assigned, measured, left = job.run(run)
  run.left, run.measured = left, measured
  local record, volume = run.record, run.part.volume
  local pace = measured.seconds / volume -- its launch is a part of that
  record.pace_away = math.min(record.pace_away or math.huge, pace)
  record.jobs_away = (record.jobs_away or 0) + 1
  return assigned
end

-- Rounds so short, in seconds, that handing over between workers costs more than it gains; and for
-- how long such are run in this process without looking up.
local SHORT, WHILE = 2e-5, 0.05

-- How much longer they may have taken on workers, which have other things to do for each block and
-- may have lost their cores meanwhile, for it to be tried here.
local TOLERANCE = 8

-- After rounds took too long here they are tried again later, each time after twice as many jobs: a
-- core that was lost to others says nothing about the loop.
local FIRST_WAIT, LONGEST_WAIT = 8, 1024

-- Longer rounds run here where they take no longer than this part of their time on workers, by the
-- best of some jobs; after so many jobs here the time on workers is measured anew.
local PART, SOME, AGREED = 0.9, 4, 256

-- How long a round takes, as far as that is known, here or on workers; and how long it may.
local function seconds_of(run)
  local volume, record = run.grid.volume / run.grid.ranges[1], run.record
  if record.pace_here then
    local away = (record.jobs_away or 0) >= SOME and PART * record.pace_away * volume or 0
    return record.pace_here * volume, math.max(SHORT, away)
  end
  if record.learned then return record.learned.pace * volume, TOLERANCE * SHORT end
end

-- Whether rounds that took too long here are to be tried again.
local function tries_again(record, volume)
  local learned = record.learned
  if not record.pace_here or not learned or learned.pace * volume >= TOLERANCE * SHORT then
    return false
  end
  record.jobs_since = (record.jobs_since or 0) + 1
  if record.jobs_since < (record.jobs_until or FIRST_WAIT) then return false end
  record.jobs_since = 0
  record.jobs_until = math.min(2 * (record.jobs_until or FIRST_WAIT), LONGEST_WAIT)
  return true
end

-- Whether rounds are run in this process although there are workers: not where a history is to be
-- recorded, or followed.
local function is_short(run)
  if recorded() or environment.get "MEISSA_HISTORY" then return false end
  local seconds, most = seconds_of(run)
  if not seconds or not run.native or not run.native.object then return false end
  return seconds < most or tries_again(run.record, run.grid.volume / run.grid.ranges[1])
end

-- The same as run_on_workers for short rounds.
local function run_short(run)
  local began, share = system.clock(), run.last - run.first
  local assigned = run_here(run)
  local took, record = system.clock() - began, run.record
  -- A core that was lost to others says nothing about the loop.
  record.pace_here = math.min(2 * (record.pace_here or math.huge), took / run.part.volume)
  if record.pace_here * run.part.volume < SHORT * share / run.grid.ranges[2] then
    record.jobs_until = nil
  end
  record.jobs_here = (record.jobs_here or 0) + 1
  if record.jobs_here % AGREED == 0 then record.pace_away, record.jobs_away = nil, 0 end
  run.measured = {seconds = took, moved = 0, workers = 0, launch = 0, deaths = 0, redone = 0,
                  repeated = 0, shares = {}}
  return assigned
end

-- ------------------------------------------------------------------------------------------ jobs

-- Where ranges begin, as a job takes it.
local function starts_of(list)
  if not list then return nil end
  local starts = ffi.new("int64_t[?]", #list, list)
  return ffi.cast("int64_t *", starts), starts
end

--- How the blocks of a run wait for each other, as its job takes it; tells the plan of it.
function M.describe(self, run)
  local asked = self.request.sync
  ready.cut(run)
  local found = versioned.read_sets(run)
  if found.most > 2 and self.request.rounds >= WORTH then
    local sets, known = round_reads.find(run)
    if sets then found = versioned.read_sets(run, sets, known) end
  end
  self.found = found
  run.plan.notes = versioned.words(found, asked, self.versions.memory:bytes())
  run.plan.readers, run.plan.diameter = found.most, versioned.diameter(found)
  local first, reads = waits.packed(found)
  return waits.of_job(asked, first, reads, found.sets,
                      asked.images and (asked.lags or on_workers() or recorded()))
end

-- How many of the rounds after `done` can be planned at once, of so many ranges; of one, where
-- these are not known.
local function size_of(request, done, ranges)
  if not ranges then return 1 end
  return math.max(1, math.min(request.rounds - done, math.floor(MOST_PLANNED / ranges)))
end

-- Plans as many rounds as can be planned at once, after `done`.
local function begin_chunk(self, plan, done)
  local request, record = self.request, self.record
  local known = record.round_ranges -- as the last time, if that was of as many elements
  local same = known and known.count == request.space.count
  local size = size_of(request, done, same and known.ranges)
  local run = plan(self, done + 1, done + size)
  if size > 1 and not interrupt.pcall(ready.cut, run) then -- there are more of them now
    size, run = 1, plan(self, done + 1, done + 1)
  end
  ready.cut(run)
  record.round_ranges = {count = request.space.count, ranges = run.grid.ranges[2]}
  local fitting = size_of(request, done, run.grid.ranges[2])
  if size ~= fitting then
    size = fitting
    run = plan(self, done + 1, done + size)
  end
  run.rounds = M.describe(self, run)
  run.starts, run.starts_memory = starts_of(self.versions.starts)
  plans.check_scalars(run.plan, run.values)
  run.draws, run.called = self.draws, request.called
  ready.make(run, on_workers() and pool.session or nil)
  run.session = on_workers() and pool.session() or nil
  run.base, run.size = done, size
  if done == 0 then round_tests.check(self, run) end
  if request.check and done == 0 then round_checks.check(run, self.found) end
  return run
end

-- Adds what a job took to what earlier ones did.
local function add_measured(total, measured)
  if not total.shares then
    for name, value in tables.each(measured) do total[name] = value end
    return
  end
  for _, name in ipairs {"seconds", "moved", "deaths", "redone", "repeated"} do
    total[name] = total[name] + measured[name]
  end
  total.workers = math.max(total.workers, measured.workers)
  for w, share in ipairs(measured.shares) do
    local sum = total.shares[w]
    if not sum then
      total.shares[w] = share
    else
      for _, name in ipairs {"busy", "waited", "moved", "blocks"} do
        sum[name] = sum[name] + share[name]
      end
    end
  end
end

-- What a job runs of its grid, the same table for as many blocks.
local function part_of(run, blocks)
  run.parts = run.parts or {}
  if not run.parts[blocks] then
    local share = blocks / run.grid.blocks
    run.parts[blocks] = setmetatable({blocks = blocks, volume = run.grid.volume * share},
                                     {__index = run.grid})
  end
  return run.parts[blocks]
end

-- Has the rounds after `done` up to `last` read versions of the ages that are asked for.
local function add_lags(self, run, done, last)
  local ranges = run.grid.ranges[2]
  run.lags = lags.table(self.request.sync.lags, self.draws, done + 1, last, ranges)
  run.along = {reads = lags.reads(run.lags, run.rounds.sets, ranges)}
end

-- Runs the blocks here, each with what reductions have become.
local function run_following(run)
  run.given = nil
  return run_here(run)
end

-- Runs the rounds after `done` up to `last`, in one job.
local function run_job(self, run, done, last)
  local ranges = run.grid.ranges[2]
  run.first, run.last = (done - run.base) * ranges, (last - run.base) * ranges
  run.part, run.left, run.measured = part_of(run, run.last - run.first), nil, nil
  run.called = system.clock()
  for c, value in tables.each(self.scalars) do run.values[c] = value end
  local along = recorded() and self.request.sync.images and replay.next(last - done, ranges)
  run.along, run.lags = along or nil, nil
  local attempt = run_here
  if on_workers() and not run.along then
    attempt = run.short and run_short or run_on_workers
  end
  if self.request.sync.lags and not run.along then add_lags(self, run, done, last) end
  -- A test is told what its own round has formed.
  run.given = self.request.stop and kernel.anew(run.kernel.info, run.values) or nil
  local ok, assigned = pcall(speculate.run, run, attempt, run_following)
  if not ok then
    if errors.is(assigned) and assigned.iteration then assigned.in_round = true end
    error(assigned, 0)
  end
  for _, each in ipairs(assigned) do
    self.scalars[each.capture] = each.value
  end
end

-- Makes what the last job has left what the next one begins with. The last one is done.
local function accept(self, run, rounds, is_last)
  if run.measured then add_measured(self.measured, run.measured) end
  local seen = self.versions.memory:advance(rounds, is_last)
  if seen and not is_last then errors.raise("INT", "interrupted between two rounds") end
  self.interrupted = seen
end

-- Runs the rounds after `done` up to `last`, or to where a test in between stops the loop.
-- @return the round that is done; whether the loop stops
local function run_tested(self, run, done, last)
  local kept, began = tables.copy(self.scalars), system.clock()
  local ok, err = pcall(run_job, self, run, done, last)
  if not ok and not round_tests.may_be_of_later(self, err) then error(err, 0) end
  if not ok then
    self.scalars = kept
    return done, false
  end
  local seconds = system.clock() - began
  if self.shows then accept(self, run, last - done, false) end
  local stopped = round_tests.ask(self, run, done, last, seconds)
  if stopped and stopped < last then
    self.scalars = kept
    run_job(self, run, done, stopped)
  end
  local ends = stopped ~= nil or last == self.request.rounds
  if not self.shows then accept(self, run, (stopped or last) - done, ends) end
  return stopped or last, stopped ~= nil
end

-- Runs the jobs of a loop; its run, and how many rounds there were.
local function run_all(self, plan)
  local request, done, run, stopped = self.request, 0, nil, false
  while done < request.rounds and not stopped do
    if not run or done == run.base + run.size then run = begin_chunk(self, plan, done) end
    local most = math.max(1, math.floor(MOST_RUN / run.grid.ranges[2]))
    run.short = on_workers() and not request.sync.lags and is_short(run)
    if run.short then
      most = math.min(most, math.ceil(WHILE / seconds_of(run)))
    end
    local last = math.min(round_tests.target(self, done), run.base + run.size, done + most)
    -- Each job is undone by itself; what else than versions they have made, by these, also where
    -- Ctrl-C comes behind the last one.
    if done == 0 then self.kept = snapshots.take(run, {}) end
    done, stopped = run_tested(self, run, done, last)
  end
  self.held = interrupt.hold()
  self.interrupted = self.versions.memory:finish() or self.interrupted
  return run, done
end

--- Runs a loop in rounds. `held` of `self` says whether Ctrl-C is held, from the time on when the
-- arrays get the last version.
-- @tab self see iterate.lua @func plan plan(self, first, last) plans rounds of it
-- @treturn table the scalars to assign, by capture
-- Errors: DEP BDY ARR WRK INT NET, and what `stop` raises.
function M.run(self, plan)
  self.scalars, self.measured, self.draws, self.kept = {}, {}, random.next_loop(), {}
  round_tests.begin(self)
  local run, done
  snapshots.attempt(self, function() run, done = run_all(self, plan) end)
  self.versions.memory:close()
  self.measured.seconds = system.clock() - self.request.called
  self.measured.rounds, self.measured.workers = done, self.measured.workers or 0
  loop.remember(plans.measured(run.plan, self.measured))
  return self.scalars
end

return M
