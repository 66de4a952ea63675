-- SPDX-License-Identifier: MIT
--- How often, how stale, how much: the lasso by coordinate descent on replicas (Alt, "Adaptive
-- consistency management for distributed machine learning", 2017, chapters 4 and 5, figures 5-1 to
-- 5-5), on few features that are all there and correlated, and on many of which a point has a few.
--
-- Coordinates are shared out; a replica descends along its own on a copy of the predictions, and an
-- exchange adds what all have changed (CoCoA+). A row is a setting: the objective of the merged
-- model after all passes, how far the predictions that replicas hold are from its own, and how many
-- rounds, bytes and seconds it took until it was within --target of the optimum, which a long run
-- of the serial baseline finds; "s at MB/s" is for how long cores have worked, with what the bytes
-- would take at the bandwidth that is printed: neither depends on what else the machine does. The
-- baselines, hand-written C and one replica, go through the coordinates in one order and come to
-- the same bits. The step size is sigma, the factor by which a replica's own change counts
-- meanwhile: of each setting that does not give one the best of the same three. Parts:
--   figure5-1   a replica on each worker beside the serial baseline
--   figure5-2   H, the part of a share between two exchanges
--   figure5-3   how replicas wait; and where all passes are one loop, or messages are late
--   figure5-4   what is sent under a quota of bytes, with what stays behind kept and dropped
--   figure5-5   adding and averaging: gamma with its sigma
--   auto        `every` and `staleness` = "auto" against all of H by waiting, on other seeds and on
--               the example's own data
--   luajit bench/adaptive.lua [--only auto] [--data a9a.gz --lambda 100] [--json] [--png FILE]
local directory = arg[0]:match("^(.*/)") or "./"
package.path = directory .. "support/?.lua;" .. directory .. "../examples/?.lua;" .. directory ..
  "../examples/support/?.lua;" .. package.path
local argparse = require "argparse"
local curves = require "curves"
local descent = require "descent"
local median = require "median"
local meissa = require "meissa"
local one_loop = require "one_loop"
local run = require "run"

-- LuaJIT throws all machine code away where there are a thousand traces: ten ways to loop, in turn,
-- have more than a program has, and which of them would have to be compiled again is chance.
require("jit.opt").start("maxtrace=20000", "maxmcode=65536")

local PARTS = {"figure5-1", "figure5-2", "figure5-3", "figure5-4", "figure5-5", "auto"}

local parser = argparse("adaptive.lua", "The lasso on replicas: how often, how stale, how much.")
local function text(words) return words end
parser:option("--only", "Only these parts, with commas between.")
local complete = curves.options(parser, {
  {"data", "A file in LIBSVM's form (gz); without, two sets of its own.", convert = text},
  {"points", "How many points to generate, in place of what a set has."},
  {"features", "How many features to generate."},
  {"lambda", "Weight of the sum of absolutes, in place of what a set has."},
  {"replicas", "Copies of the predictions.", "4"},
  {"passes", "Passes over the coordinates.", "40", quick = "12"},
  {"target", "How near to the optimum, as a factor.", "1.01", quick = "2"},
  {"bandwidth", "MB a second that bytes are counted at.", "100"},
  {"quota", "Bytes that a replica sends in a round where there is a quota.", "3072"},
  {"runs", "Runs of each setting, of which the one in the middle counts.", "3", quick = "1"},
  {"seeds", "Data sets of each kind on which auto is compared.", "3", quick = "1"},
  {"workers", "Worker processes.", "2"},
  {"png", "Draw the objectives to this file.", convert = text},
})
local asked = complete(parser:parse())
local wanted = curves.parts(parser, asked.only, PARTS)

local K = asked.replicas
local WAITS = {{"bsp", {sync = "bsp"}}, {"ssp 2", {sync = "ssp", staleness = 2}},
               {"async", {sync = "async"}}}
local BASELINES = {{name = "C by hand", by_hand = true},
                   {name = "one replica", replicas = 1, H = 1}}

-- Settings by name, so that one that several figures have is run once.
local by_name = {}

local function setting(name, more)
  more.name = name
  by_name[name] = by_name[name] or more
  return by_name[name]
end

local fixed = {}
for _, H in ipairs {0.1, 0.2, 1} do
  for _, wait in ipairs(WAITS) do
    fixed[#fixed + 1] = setting(("H %g, %s"):format(H, wait[1]), {H = H, options = wait[2]})
  end
end
local AUTO = setting("auto, auto", {H = "auto", options = {
  staleness = "auto", bandwidth = 1e6 * asked.bandwidth}})
local SSP = WAITS[2][2]

-- What is not told stays with the replicas from pass to pass: nothing is merged for good.
local filtered = {setting("all is sent", {H = 0.2, options = {
  sync = SSP.sync, staleness = SSP.staleness, final = "none"}})}
for _, order in ipairs {"random", "round-robin", "magnitude", "relative"} do
  for _, residual in ipairs {"keep", "drop"} do
    filtered[#filtered + 1] = setting(("%s, %s"):format(order, residual), {H = 0.2, options = {
      sync = SSP.sync, staleness = SSP.staleness, final = "none", quota = asked.quota,
      residual = residual,
      filter = {priority = order, seed = order == "random" and 1 or nil}}})
  end
end

local function merged(gamma, sigma)
  return setting(("gamma %g, sigma %g"):format(gamma, sigma),
                 {H = 0.2, gamma = gamma, sigma = sigma, options = SSP})
end

-- A replica on each worker, as the thesis has it.
local function alone(name, H, options)
  return {name = name, H = H, options = options, replicas = math.max(2, asked.workers)}
end

local TABLES = {
  {name = "figure5-1", title = "a replica on each worker beside the serial baseline",
   of = {dense = "wide"}, settings = {
    alone("H 1, bsp", 1, WAITS[1][2]), alone("H 0.1, bsp", 0.1, WAITS[1][2]),
    alone("H 1, ssp 2", 1, SSP), alone("auto, auto", "auto", AUTO.options)},
   published = [[
5-1: on epsilon all distributed ones beat the baseline, and Spark, which bsp stands in for here, is
slower than the framework; on URL the baseline is as fast. In the sparse set here a pass in C takes
some 15 microseconds, and to launch a loop over replicas and to exchange takes a millisecond.]]},
  {name = "figure5-2", title = "how often replicas exchange", settings = {
    by_name["H 0.1, ssp 2"], by_name["H 0.2, ssp 2"], by_name["H 1, ssp 2"]},
   published = [[
5-2: H 0.1 is the best on epsilon, 1 on URL, whose messages are large. Here the samples to the
target are in that order; the bytes of ten exchanges a pass cost more than that saves.]]},
  {name = "figure5-3", title = "how replicas wait", settings = fixed,
   published = [[
5-3: bsp and ssp (threshold 3, our 2) alike on epsilon, async far slower; on URL no difference. Here
a message is there when it is sent, and each pass ends in an exchange for which all wait, so that
its objective can be told. The next table has neither: messages that are 8 rounds old stand for
machines that differ; what async comes to there depends on who had a core.]]},
  {name = "figure5-4", title = ("a quota of %g bytes a round"):format(asked.quota),
   settings = filtered, published = [[
5-4: for URL only, without numbers in the text: filters save bytes. What is not sent in time is
missing in the predictions (drift), for good where residuals are dropped.]]},
  {name = "figure5-5", title = "adding and averaging", settings = {
    merged(1, K), merged(0.5, K / 2), merged(1 / K, 1), merged(1, 1)},
   published = [[
5-5: adding is far better than averaging on epsilon, alike on URL. With their sigmas averaging takes
a K-th of whole steps, adding all of K-th ones; gamma 1 with sigma 1 is what adding gains where
shares hardly meet, and what may diverge where they do.]]},
}

local report = run.report({json = asked.json, quiet = true}, {
  {key = "setting", title = "setting", format = "%s", width = 20},
  {key = "rate", title = "sigma", format = "%g", width = 7},
  {key = "rounds", title = "rounds", format = "%d", width = 8},
  {key = "loss", title = "objective", format = "%.6g", width = 13},
  {key = "drift", title = "drift", format = "%.0e", width = 8},
  {key = "seconds", title = "seconds", format = "%.3f", width = 9},
  {key = "waited", title = "waited s", format = "%.3f", width = 10},
  {key = "megabytes", title = "MB", format = "%.2f", width = 8},
  {key = "target_at", title = ("s at %g MB/s"):format(asked.bandwidth), format = "%.4f",
   width = 14},
  unpack(curves.TARGET)
})

meissa.init {workers = asked.workers, quiet = true}

-- How often the replicas' time to the target is in that of the baseline.
local function show_gain(each, known)
  local function seconds(what, goal) return curves.within(known[what], goal).at end
  local words = {}
  for _, what in ipairs(each.settings) do
    local here, there = seconds(what, known.goal), seconds(BASELINES[1], known.goal)
    words[#words + 1] = ("%s %s"):format(
      what.name, here and there and ("%.2f"):format(there / here) or "-")
  end
  print("times as fast as C by hand: " .. table.concat(words, "; "))
end

-- What of a figure is to be said in numbers, and what was published. `known` has curves by setting,
-- and the goal.
local function show_table(each, set, known)
  local goal = known.goal
  if not asked.json then
    print(("\nFigure %s, %s: %s; %d replicas on %d workers, to the objective %.6g, sigma the " ..
      "best of %s"):format(each.name:sub(7), set.words, each.title, each.settings[1].replicas or K,
                           asked.workers, goal, descent.PARTS_AS_WORDS))
  end
  report.rows = 0
  local settings, anew, drawn = {BASELINES[1], BASELINES[2], unpack(each.settings)}, {}, {}
  for _, what in ipairs(settings) do
    if not known[what] then anew[#anew + 1] = what end
  end
  for what, curve in pairs(descent.race(asked, anew, set, goal)) do known[what] = curve end
  for _, what in ipairs(settings) do
    local curve = known[what]
    local last, at = curve[#curve], curves.within(curve, goal)
    curves.show(report, asked, what, curve, curve.sigma, goal, {
      experiment = ("%s %s"):format(set.name, each.name), drift = last.drift,
      waited = last.waited, rounds = not what.by_hand and last.rounds,
      target_rounds = not what.by_hand and at.rounds or false, target_at = at.at})
    if not what.by_hand and last.loss < 100 * goal then
      drawn[#drawn + 1] = {name = what.name, points = curve}
    end
  end
  if asked.png then
    curves.draw(asked.png, ("%s-%s"):format(set.name, each.name), set.words .. ": " .. each.title,
                "objective", drawn)
  end
  if asked.json then return end
  if each.of then show_gain(each, known) end
  print("published, figure " .. each.published)
end

-- A set by name with the goal on it, in which curves are kept by setting.
local function open(name)
  local set = descent.set(asked, name, 1)
  return set, {goal = asked.target * descent.optimum(set)}
end

for _, name in ipairs(asked.data and {"data"} or {"dense", "sparse"}) do
  local set, known = open(name)
  for _, each in ipairs(TABLES) do
    if wanted[each.name] then
      local other = each.of and each.of[name]
      if other then show_table(each, open(other)) else show_table(each, set, known) end
    end
  end
  if wanted["figure5-3"] then one_loop.run(asked, report, set, known.goal) end
end

-- By what factor the sets of `auto` have more points and features: a pass over those of the figures
-- takes no longer than to launch it, which is a time that no setting changes.
local LARGER = 2

-- Auto and what is fixed, with the step size that is always safe: whoever leaves the rest to auto
-- has tuned nothing.
local function safe(what)
  return {name = what.name, H = what.H, options = what.options, sigma = K}
end
local auto, others = safe(AUTO), {}
for n, what in ipairs(fixed) do others[n] = safe(what) end

-- Auto on data that nothing was chosen by: by setting the times to the target, one a data set.
local function times_of(name)
  local all = {}
  for seed = 2, asked.seeds + 1 do
    local set = descent.set(asked, name, seed, LARGER)
    local goal = asked.target * descent.optimum(set)
    local found, times = descent.race(asked, {auto, unpack(others)}, set, goal, true)
    for what, seconds in pairs(times) do
      all[what] = all[what] or {}
      table.insert(all[what], {seconds = seconds, at = curves.within(found[what], goal)})
    end
  end
  return all
end

-- Which fixed setting is the best is itself chosen by what is measured: the fewer figures stand
-- for a setting, the better the luckiest looks. So it is chosen by medians over all data sets.
local function compare_auto(name)
  local middle, order = {}, {unpack(others)}
  for what, list in pairs(times_of(name)) do
    middle[what] = median(list, function(a, b) return a.seconds < b.seconds end)
  end
  table.sort(order, function(a, b) return middle[a].seconds < middle[b].seconds end)
  local best, worst, any = order[1], order[#order], order[math.random(#order)]
  local function seconds_of(what) -- JSON has no infinity
    return middle[what].seconds < math.huge and middle[what].seconds or nil
  end
  local ratio = seconds_of(best) and seconds_of(auto) and seconds_of(auto) / seconds_of(best)
  if asked.json then
    report:row {auto = true, set = name, seeds = asked.seeds, seconds = seconds_of(auto),
                best = seconds_of(best), best_is = best.name, worst = seconds_of(worst),
                random = seconds_of(any), ratio = ratio, bandwidth = asked.bandwidth}
    return
  end
  local function told(what)
    local seconds = seconds_of(what)
    return ("%s s (%s)"):format(seconds and ("%.4f"):format(seconds) or "-", what.name)
  end
  print(("%-7s %s; best %s, worst %s, random %s: %s of the best"):format(
    name, told(auto), told(best), told(worst), told(any), ratio and ("%.2f"):format(ratio) or "-"))
  for _, what in ipairs {auto, best} do -- what the time went into
    local at = middle[what].at
    if at.pass then
      print(("  %s: %d samples, %d rounds, %.2f MB, %.4f s of cores"):format(
        what.name, at.samples, at.rounds, at.megabytes, at.at - at.megabytes / asked.bandwidth))
    end
  end
end

if wanted.auto and not asked.data then
  if not asked.json then
    print(("\nauto against fixed settings on other data, medians of %d seeds, in seconds of " ..
      "cores with bytes at %g MB/s, sigma %g; the goal is 1.15 of the best"):format(
        asked.seeds, asked.bandwidth, K))
  end
  math.randomseed(7)
  for _, name in ipairs {"planted", "dense", "sparse"} do compare_auto(name) end
end
