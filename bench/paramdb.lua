-- SPDX-License-Identifier: MIT
--- Parameters that are shared out, under all ways of keeping rounds together: linear regression by
-- gradient descent, each worker with a range of features of its own (Goel et al., "Parameter
-- Database: Data-centric Synchronization for Scala", section 8).
--
-- A row is a batch, a number of workers and a setting. "gain" is the time saved against "bsp" at
-- the same number of workers, "of driver" against a parallel loop a round, which is the process
-- barrier of the paper: all begin together and all are waited for. "waited" is by worker, in a
-- round, and "used" how many of them had blocks: what is too short for all is given to fewer, and
-- what is much too short is run in the driver's process. With more workers than cores ranges sleep
-- in place of computing, as long as they would compute, but for half as much more or less, which
-- differs from round to round: marked "asleep".
-- All settings run in turns, the trimmed mean of their times counts, and those that promise the
-- bits of the driver loop are held to it.
--
-- With `--set sparse` there are 16,087 examples of 150,360 features (and 200 of these each, some of
-- which are in most of them), a round takes one example or a hundred, and most of it is making the
-- weights. With `--losses PREFIX` curves of the loss against rounds and seconds are told, and
-- drawn to PREFIX-METHOD-rounds.png and PREFIX-METHOD-seconds.png.
--   luajit bench/paramdb.lua [--runs 3] [--workers 6] [--set sparse] [--method batch] [--json]
--     [--png FILE] [--losses PREFIX]
local directory = arg[0]:match("^(.*/)") or "./"
package.path = directory .. "support/?.lua;" .. directory .. "../examples/support/?.lua;" ..
  package.path
local argparse = require "argparse"
local figure = require "figure"
local meissa = require "meissa"
local run = require "run"

local parser = argparse("paramdb.lua", "Rounds of shared out parameters, by ways of waiting.")
parser:option("--runs", "Runs of each setting; of 3 and more the best and worst do not count.")
  :convert(tonumber):default "3"
parser:option("--rounds", "Rounds of a run (full batches: a fifth)."):convert(tonumber)
  :default "100"
parser:option("--workers", "Most workers."):convert(tonumber):default "6"
parser:option("--set", "Which data."):choices {"dense", "sparse"}:default "dense"
parser:option("--method", "Which batches: some examples, all (dense) or one (sparse).")
  :choices {"batch", "full", "one", "both"}:default "both"
parser:option("--features", "Features of the data (default: 960, sparse 150360)."):convert(tonumber)
parser:option("--examples", "Examples of the data (default: 5000, sparse 16087).")
  :convert(tonumber)
parser:option("--entries", "Features of a sparse example."):convert(tonumber):default "200"
parser:option("--batch", "Examples of a batch."):convert(tonumber):default "100"
parser:option("--rate", "Step size times the greatest curvature."):convert(tonumber)
  :default "0.3"
parser:option("--cores", "Cores; with more workers they sleep (default: as nproc tells).")
  :convert(tonumber)
parser:option("--png", "Draw the gains to this file.")
parser:option("--losses", "Tell losses by rounds and seconds, and draw them to files so named.")
parser:flag("--json", "Print one JSON object a line and nothing else.")
local asked = parser:parse()
local is_sparse = asked.set == "sparse"
local partitioned = require(is_sparse and "partitioned_sparse" or "partitioned")
asked.features = asked.features or is_sparse and 150360 or 960
asked.examples = asked.examples or is_sparse and 16087 or 5000

-- Exact ones have the bits of the driver loop.
local SETTINGS = {
  {name = "driver", exact = true},
  {name = "bsp-2barrier", exact = true, options = {sync = "bsp-2barrier"}},
  {name = "bsp", exact = true, options = {sync = "bsp"}},
  {name = "data-centric 1", exact = true, options = {depth = 1}},
  {name = "data-centric 2", exact = true, options = {depth = 2}},
  {name = "staleness 1", options = {staleness = 1}},
  {name = "staleness 3", options = {staleness = 3}},
  {name = "pd-delay 1", options = {sync = "pd-delay", staleness = 1}},
  {name = "async", options = {sync = "async"}},
}

local PUBLISHED = [[
Published (24 cores and more, Scala; process barriers against data-centric synchronization):
  2a  960 features x 5,000 examples, full batches: 20 % less time at 6 workers, almost 55 % at 40
  2b  speed-up: flat with barriers, significantly better without
  2c  more features, 16 workers: 75 % falling to 25 %; 40 workers: about 50 %
  2d  150,360 features, one example a round, 6 workers: 65 % to almost 75 %
  2e  the same, 6 to 40 workers: 70-75 % falling to 40-50 %
  2f  batches of 100: falls less than in 2e]]

local report = run.report({json = asked.json, quiet = true}, {
  {key = "method", title = "batch", format = "%s", width = 6},
  {key = "workers", title = "workers", format = "%d", width = 8},
  {key = "asleep", title = "", format = "%s", width = 8},
  {key = "setting", title = "setting", format = "%s", width = 16},
  {key = "used", title = "used", format = "%d", width = 6},
  {key = "microseconds", title = "us a round", format = "%.1f"},
  {key = "gain", title = "gain %", format = "%.1f", width = 8},
  {key = "gain_of_driver", title = "of driver %", format = "%.1f"},
  {key = "loss", title = "loss", format = "%.3g", width = 10},
  {key = "moved", title = "MB", format = "%.2f", width = 7},
  {key = "waited", title = "waited, us", format = "%s", width = 38},
})

local function cores()
  local pipe = io.popen "nproc"
  local count = tonumber(pipe:read "*l")
  pipe:close()
  return assert(count, "nproc does not tell how many cores there are")
end

-- The mean without the least and the greatest, where there are three and more.
local function trimmed_mean(list)
  table.sort(list)
  local from, to, sum = 1, #list, 0
  if #list > 2 then from, to = 2, #list - 1 end
  for k = from, to do sum = sum + list[k] end
  return sum / (to - from + 1)
end

local function options_of(setting, workers, engine)
  local options = {by = "range", ranges = workers, engine = engine, impure = engine == "lua"}
  for name, value in pairs(setting.options) do options[name] = value end
  return options
end

-- One run: the weights, seconds, and what each worker waited, in seconds.
local function run_once(problem, case, setting)
  local engine, started, waited = case.nap and "lua" or "native", meissa.clock(), {}
  local arguments = {problem, case.rounds, case.nap or case.size, case.rate}
  if not setting.options then
    local driver = case.nap and partitioned.sleeping_driver or partitioned.driver
    arguments[5] = case.workers
    local w, busy = driver(unpack(arguments))
    local seconds = meissa.clock() - started
    for k, each in ipairs(busy) do waited[k] = math.max(0, seconds - each) end
    return w, seconds, waited, meissa.last().moved * case.rounds
  end
  arguments[5] = options_of(setting, case.workers, engine)
  local rounds = case.nap and partitioned.sleeping_rounds or partitioned.rounds
  local w = rounds(unpack(arguments))
  local last = meissa.last()
  for k, share in ipairs(last.shares or {}) do waited[k] = share.waited end
  return w, last.seconds, waited, last.moved
end

local function same_bits(a, b)
  for f = 1, a:size(1) do
    if a[f] ~= b[f] then return false end
  end
  return true
end

-- How many workers had blocks in the last loop; 0 if it was run in this process.
local function used_workers()
  local count = 0
  for _, share in ipairs(meissa.last().shares or {}) do
    if share.blocks > 0 then count = count + 1 end
  end
  return count
end

-- Runs all settings in turns; of each {seconds = {...}, waited = {...} of the last run, w =}.
local function race(problem, case)
  local found = {}
  for round = 0, asked.runs do -- the first is for compilers
    for s, setting in ipairs(SETTINGS) do
      local w, seconds, waited, moved = run_once(problem, case, setting)
      found[s] = found[s] or {seconds = {}}
      if round > 0 then table.insert(found[s].seconds, seconds) end
      found[s].w, found[s].waited, found[s].moved = w, waited, moved
      found[s].used = used_workers()
      if setting.exact and not same_bits(w, found[1].w) then
        error(("%s has other bits than the driver loop (%d workers)"):format(
          setting.name, case.workers))
      end
    end
  end
  return found
end

local function in_words(waited, rounds)
  local list = {}
  for k, seconds in ipairs(waited) do list[k] = ("%.0f"):format(seconds / rounds * 1e6) end
  return table.concat(list, " ")
end

local curves = {} -- of each setting the gain by workers, of the first method

local function add_point(case, s, gain)
  curves[s] = curves[s] or {name = SETTINGS[s].name, points = {}, method = case.method}
  if curves[s].method == case.method then
    table.insert(curves[s].points, {case.workers, gain})
  end
end

-- Runs and shows a case; the weights of exact settings.
local function show(problem, case)
  local found, times = race(problem, case), {}
  for s, each in ipairs(found) do times[s] = trimmed_mean(each.seconds) end
  for s, setting in ipairs(SETTINGS) do
    local waited = {}
    for k, seconds in ipairs(found[s].waited) do waited[k] = seconds / case.rounds * 1e6 end
    local gain = 100 * (1 - times[s] / times[3])
    add_point(case, s, gain)
    report:row {
      method = case.method, workers = case.workers, asleep = case.nap and "asleep" or "",
      setting = setting.name, used = found[s].used,
      microseconds = times[s] / case.rounds * 1e6, gain = gain,
      gain_of_driver = 100 * (1 - times[s] / times[1]), moved = found[s].moved / 1e6,
      loss = not case.nap and partitioned.loss(problem, found[s].w) or nil,
      waited = asked.json and waited or in_words(found[s].waited, case.rounds),
      exact = setting.exact or false, runs = asked.runs, rounds = case.rounds,
    }
  end
  return found[1].w, times[3] / case.rounds * 1e6
end

-- Microseconds that a worker computes in a round, with one of so many ranges: what all ranges do,
-- the residuals, and what they share out.
local function pace(problem, case)
  local least = {math.huge, math.huge}
  meissa.init {workers = 1, quiet = true}
  for _ = 1, 3 + asked.runs do
    for ranges = 1, 2 do
      partitioned.rounds(problem, case.rounds, case.size, case.rate,
                         options_of({options = {}}, ranges, "native"))
      least[ranges] = math.min(least[ranges], meissa.last().seconds / case.rounds * 1e6)
    end
  end
  local one, two = unpack(least)
  local all = math.min(one, math.max(0, two - one))
  return function(workers) return all + (one - all) / workers end, all, one - all
end

-- What waiting and reading cost by themselves, in microseconds a round.
local function costs(problem, workers)
  meissa.init {workers = workers, quiet = true}
  local list = {}
  for _ = 1, 1 + asked.runs do
    for _, name in ipairs {"bsp", "data-centric", "async"} do
      for _, all in ipairs {true, false} do
        local key = name .. (all and " all" or " own")
        local took = partitioned.empty(problem, 20 * asked.rounds, all,
          options_of({options = {sync = name}}, workers, "lua"))
        list[key] = math.min(list[key] or math.huge, took)
      end
    end
  end
  return list
end

local function explain(cost, shortest, workers)
  if asked.json then return report:summary {costs_of = workers, cost = cost} end
  print(([[

Measured on %d workers, in microseconds: a round that computes nothing takes %.1f with a barrier,
%.1f where ranges wait for those that they read, %.1f without waiting; %.1f, %.1f and %.1f if it
reads all weights. A round with a barrier that computes takes %.1f and more. All ranges read all
weights here, so an exact round waits for everybody in any case: it can save what a barrier costs
by itself, at most %.1f %% of the shortest. The paper's barriers are two a round, of processes,
around one copy of the parameters. Here a round makes a new version: bsp waits once, bsp-2barrier
and depth 1 wait no more than bsp and depth 2 do, and the driver loop is what comes nearest to the
paper's baseline. What staleness gains is the time for which workers would wait for one that is
late.
]]):format(workers, cost["bsp own"], cost["data-centric own"], cost["async own"], cost["bsp all"],
    cost["data-centric all"], cost["async all"], shortest,
    math.min(100, cost["bsp own"] / shortest * 100)))
  print(PUBLISHED)
end

-- ------------------------------------------------------------------------------------- losses

local POINTS = 20

-- Losses of one run: {{round, seconds}, ...} and losses; what telling them takes does not count.
local function losses_of(problem, case, setting)
  local options, list = options_of(setting, case.workers, "native"), {}
  local started, telling = meissa.clock(), 0
  options.test = math.max(1, math.floor(case.rounds / POINTS))
  function options.stop(t, w)
    local began = meissa.clock()
    list[#list + 1] = {round = t, seconds = began - started - telling,
                       loss = partitioned.loss(problem, w)}
    telling = telling + meissa.clock() - began
  end
  partitioned.rounds(problem, case.rounds, case.size, case.rate, options)
  return list
end

local function draw_losses(lists, case)
  for _, by in ipairs {"round", "seconds"} do
    local drawn = {}
    for k, each in ipairs(lists) do
      drawn[k] = {name = each.name, points = {}}
      for p, point in ipairs(each.list) do drawn[k].points[p] = {point[by], point.loss} end
    end
    local axis = by == "round" and "rounds" or by
    figure(("%s-%s-%s.png"):format(asked.losses, case.method, axis), {
      title = ("loss, batches of %d, %d workers"):format(case.size, case.workers), x = axis,
      y = "loss", logarithmic = "y"}, drawn)
  end
end

-- Tells and draws the losses of all settings that take versions.
local function show_losses(problem, case)
  local lists = {}
  for _, setting in ipairs(SETTINGS) do
    if setting.options then
      losses_of(problem, case, setting) -- for compilers
      local list = losses_of(problem, case, setting)
      lists[#lists + 1] = {name = setting.name, list = list}
      for _, point in ipairs(list) do
        if asked.json then
          report:row {curve = true, method = case.method, setting = setting.name,
                      workers = case.workers, round = point.round, seconds = point.seconds,
                      loss = point.loss}
        end
      end
      if not asked.json then
        local last = list[#list]
        print(("%-16s loss %.3g after %d rounds, %.3f s"):format(setting.name, last.loss,
          last.round, last.seconds))
      end
    end
  end
  draw_losses(lists, case)
end

local METHODS = is_sparse and {"one", "batch"} or {"batch", "full"}
local SIZES = {one = 1, batch = asked.batch, full = asked.examples}
local problem = partitioned.new(asked.features, asked.examples, asked.entries)
local available, shortest = asked.cores or cores(), math.huge
for _, method in ipairs(METHODS) do
  if asked.method == method or asked.method == "both" then
    local case = {method = method, size = SIZES[method], rounds = asked.rounds}
    if method == "full" then case.rounds = math.max(1, math.floor(asked.rounds / 5)) end
    case.rate = partitioned.rate(problem, asked.rate, case.size)
    local microseconds, everyone, shared = pace(problem, case)
    if not asked.json then
      print(("\n%s: a range computes %.0f us by itself, and %.0f us shared out to all ranges")
        :format(method, everyone, shared))
    end
    local weights
    for workers = 1, asked.workers do
      meissa.init {workers = workers, quiet = true}
      case.workers, case.nap = workers, nil
      if workers > available then
        case.nap, case.rate = microseconds(workers), partitioned.rate(problem, asked.rate, 1)
      end
      local w, took = show(problem, case)
      if not case.nap then
        assert(same_bits(w, weights or w), "the number of workers changes bits")
        weights, shortest = w, math.min(shortest, took)
      end
    end
    if asked.losses then
      case.workers, case.nap = math.min(available, asked.workers), nil
      case.rate = partitioned.rate(problem, asked.rate, case.size)
      meissa.init {workers = case.workers, quiet = true}
      show_losses(problem, case)
    end
  end
end
local least = math.max(1, math.min(2, asked.workers))
explain(costs(problem, least), shortest, least)
if asked.png then
  figure(asked.png, {title = "time saved against bsp, %", x = "workers", y = "%"}, curves)
end
