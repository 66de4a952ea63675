-- SPDX-License-Identifier: MIT
--- What it takes to go on: from a block's end on one worker to its successor's begin on another,
-- from a call to the end of an empty job, and from a loop's call to its end.
--
-- Hand-overs are those of a sweep of two blocks a phase: whoever ends a phase last releases the
-- other. Times are read on one clock in both processes. Prints a table, then one JSON object.
--   luajit bench/token.lua [phases]
package.path = (arg[0]:match("^(.*/)") or "./") .. "support/?.lua;" .. package.path
local arguments = require "arguments"
local buffer = require "string.buffer"
local core = require "meissa.core"
local ffi = require "ffi"
local json = require "dkjson"
local median = require "median"
local meissa = require "meissa"
local system = require "meissa.base.system"
local interpreter = require "meissa.base.interpreter"
local parallel = meissa.parallel

local phases = arguments("token.lua", "What it takes to go on: hand-overs, jobs, short loops.",
  {"phases", "Phases of the sweep that hands over.", 5000})
local JOBS, ROUNDS = 500, 300

-- Blocks that only say when they began and ended.
local STAMP = [[
local ffi, system = require "ffi", require "meissa.base.system"
require("meissa.worker").prepare = function()
  local stamp = ffi.new("double[2]")
  return function()
    stamp[0] = system.clock()
    stamp[1] = system.clock()
    return ffi.string(stamp, 16)
  end
end
require("meissa.worker").main(3)
]]

local function run(session, ranges)
  local outcome, err = session:run {key = "stamp", kernel = "", run = buffer.encode {},
                                    strategy = "hyperplane", sequential = 1, ranges = ranges}
  return outcome or error(err.message)
end

-- From the end of the last block of each phase to the begin, in the next, of the other worker's.
local function hand_overs(session)
  local outcome, waits = run(session, {phases, 2}), {}
  local before = {}
  for phase = 0, phases - 1 do
    local now = {}
    for r = 1, 2 do
      local stamp = ffi.cast("const double *", outcome.results[phase * 2 + r - 1])
      now[r] = {stamp[0], stamp[1]}
    end
    if phase > 0 then
      local late = before[1][2] > before[2][2] and 1 or 2
      waits[phase] = (now[3 - late][1] - before[late][2]) * 1e6
    end
    before = now
  end
  local middle = median(waits)
  return middle, waits[math.ceil(#waits * 0.99)]
end

local function empty_jobs(session)
  local times = {}
  for k = 1, JOBS do
    local before = system.clock()
    run(session, {1, 2})
    times[k] = (system.clock() - before) * 1e6
  end
  return median(times)
end

local figures = {phases = phases}
for _, road in ipairs {{"shared", "ipc", true}, {"messages", "tcp", true}} do
  local session = assert(core.session {workers = 2, transport = road[2], shm = road[3],
                                       command = interpreter.command(STAMP)})
  run(session, {10, 2})
  figures[road[1] .. "_median_us"], figures[road[1] .. "_p99_us"] = hand_overs(session)
  figures[road[1] .. "_job_us"] = empty_jobs(session)
  session:stop()
end

-- A whole loop that is met again, with hardly any work.
local function loops()
  meissa.init {workers = 2}
  local x, times, launches, scale = meissa.zeros({1000}), {}, {}, 1
  for round = 1, ROUNDS do
    scale = scale + 1
    local before = system.clock()
    for i in parallel(1000) do x[i] = x[i] + scale end
    times[round] = (system.clock() - before) * 1e6
    launches[round] = meissa.last().launch * 1e6
  end
  return median(times), median(launches)
end

-- A sweep: microseconds a phase.
local function sweep()
  local n, times = 400, {}
  local A = meissa.rand({n, 64}, {seed = 1})
  for round = 1, 20 do
    local before = system.clock()
    for t, i in parallel({2, n}, {2, 63}) do
      A[t][i] = 0.25 * A[t - 1][i - 1] + 0.5 * A[t - 1][i] + 0.25 * A[t - 1][i + 1]
    end
    times[round] = (system.clock() - before) * 1e6 / n
  end
  return median(times), meissa.last().strategy
end

-- Passes of a loop of `n` iterations: seconds in all and seconds in blocks, medians.
local function passes(n)
  local x, y, all, busy = meissa.rand({n}, {seed = 1}), meissa.zeros({n}), {}, {}
  for round = 1, 60 do
    local before = system.clock()
    for i in parallel(n) do y[i] = y[i] * 0.5 + math.sqrt(x[i]) / (1 + x[i] * x[i]) end
    all[round], busy[round] = system.clock() - before, 0
    for _, share in ipairs(meissa.last().shares) do busy[round] = busy[round] + share.busy end
  end
  return median(all), median(busy)
end

-- The shortest pass, in microseconds on one core without any launch, that takes less time on two
-- workers with it.
local function break_even()
  local serial, both = {}, {}
  local sizes = {}
  for k = 0, 18 do sizes[k + 1] = math.floor(2000 * 1.4 ^ k) end
  for workers, times in ipairs {serial, both} do
    meissa.init {workers = workers}
    for k, n in ipairs(sizes) do
      local all, busy = passes(n)
      times[k] = workers == 1 and busy or all
    end
  end
  local from = #sizes + 1
  while from > 1 and both[from - 1] < serial[from - 1] do from = from - 1 end
  return (serial[from] or math.huge) * 1e6, meissa.last().engine
end

figures.loop_us, figures.launch_us = loops()
figures.break_even_us, figures.engine = break_even()
figures.phase_us, figures.sweep = sweep()
local ROWS = {
  {"shared_median_us", "hand-over, shared memory, median"},
  {"shared_p99_us", "hand-over, shared memory, 99 of 100"},
  {"messages_median_us", "hand-over, messages, median"},
  {"shared_job_us", "empty job"}, {"messages_job_us", "empty job, messages"},
  {"loop_us", "loop of 1,000 additions, met again"}, {"launch_us", "its launch"},
  {"break_even_us", "shortest pass that gains from a second one"},
  {"phase_us", "a phase of a sweep over 62 points"},
}
for _, row in ipairs(ROWS) do print(("%-40s %9.1f us"):format(row[2], figures[row[1]])) end
print(json.encode(figures))
