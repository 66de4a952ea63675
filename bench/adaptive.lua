-- SPDX-License-Identifier: MIT
--- How often, how stale, how much: the lasso by coordinate descent on replicas (Alt, "Adaptive
-- consistency management for distributed machine learning", 2017, chapters 4 and 5, figures 5-1 to
-- 5-5), on few features that are all there and correlated, and on many of which a point has a few.
--
-- Coordinates are shared out; a replica descends along its own on a copy of the predictions, and an
-- exchange adds what all have changed (CoCoA+). A row is a setting: the objective of the merged
-- model after all passes, how far the predictions that replicas hold are from its own, and how many
-- rounds, bytes and seconds it took until it was within --target of the optimum, which a long run
-- of the serial baseline finds; "s at MB/s" adds to the seconds what the bytes would take at the
-- bandwidth that is printed. The baselines, hand-written C and one replica, go through the
-- coordinates in one order and come to the same bits. Step sizes are given by sigma, the factor by
-- which a replica's own change counts meanwhile. Parts:
--   figure5-1   replicas beside the serial baseline
--   figure5-2   H, the part of a share between two exchanges
--   figure5-3   how replicas wait
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
local meissa = require "meissa"
local run = require "run"

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
  {"quota", "Bytes a message where there is a quota.", "1024"},
  {"runs", "Runs of each setting, of which the fastest counts.", "3", quick = "1"},
  {"seeds", "Data sets of each kind on which auto is compared.", "2", quick = "1"},
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

local TABLES = {
  {name = "figure5-1", title = "replicas beside the serial baseline", settings = {
    by_name["H 1, bsp"], by_name["H 0.1, bsp"], by_name["H 0.1, ssp 2"], AUTO},
   published = [[
5-1: on epsilon all distributed ones beat the baseline, and Spark, which bsp stands in for here, is
slower than the framework; on URL the baseline is as fast. Its sets are 1,000 times as large. Here
what an exchange takes counts beside a pass of a millisecond, and replicas whose own changes count
sigma times take shorter steps.]]},
  {name = "figure5-2", title = "how often replicas exchange", settings = {
    by_name["H 0.1, ssp 2"], by_name["H 0.2, ssp 2"], by_name["H 1, ssp 2"]},
   published = [[
5-2: H 0.1 is the best on epsilon, 1 on URL, whose messages are large.]]},
  {name = "figure5-3", title = "how replicas wait", settings = fixed,
   published = [[
5-3: bsp and ssp (threshold 3, our 2) alike on epsilon, async far slower; on URL no difference. What
is old there is a message between machines that differ; here one is there when it is sent.]]},
  {name = "figure5-4", title = ("a quota of %g bytes a message"):format(asked.quota),
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

-- What of a figure is to be said in numbers, and what was published.
local function show_table(each, set, known, goal)
  if not asked.json then
    print(("\nFigure %s, %s: %s; %d replicas on %d workers, to the objective %.6g"):format(
      each.name:sub(7), set.words, each.title, K, asked.workers, goal))
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
    curves.show(report, asked, what, curve, nil, goal, {
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
  if not asked.json then print("published, figure " .. each.published) end
end

for _, name in ipairs(asked.data and {"data"} or {"dense", "sparse"}) do
  local set = descent.set(asked, name, 1)
  local goal, known = asked.target * descent.optimum(set), {}
  for _, each in ipairs(TABLES) do
    if wanted[each.name] then show_table(each, set, known, goal) end
  end
end

-- Auto on data that nothing was chosen by.
local function compare_auto(name, seed)
  local set, order = descent.set(asked, name, seed), {unpack(fixed)}
  local goal = asked.target * descent.optimum(set)
  local found, times = descent.race(asked, {AUTO, unpack(fixed)}, set, goal)
  table.sort(order, function(a, b) return times[a] < times[b] end)
  local best, worst, any = order[1], order[#order], order[math.random(#order)]
  local ratio = times[best] < math.huge and times[AUTO] / times[best] or math.huge
  for _, what in ipairs {AUTO, best, worst, any} do -- JSON has no infinity
    if times[what] == math.huge then times[what] = nil end
  end
  if asked.json then
    report:row {auto = true, set = name, seed = seed, seconds = times[AUTO], best = times[best],
                best_is = best.name, worst = times[worst], random = times[any],
                ratio = ratio < math.huge and ratio or nil,
                bandwidth = asked.bandwidth}
  else
    local function told(what)
      return ("%s s (%s)"):format(times[what] and ("%.4f"):format(times[what]) or "-", what.name)
    end
    print(("%-7s seed %d: %s; best %s, worst %s, random %s: %.2f of the best"):format(
      name, seed, told(AUTO), told(best), told(worst), told(any), ratio))
    for _, what in ipairs {AUTO, best} do -- what the time went into
      local at = curves.within(found[what], goal)
      if at.pass then
        print(("  %s: %d samples, %d rounds, %.2f MB, %.4f s of computing and waiting"):format(
          what.name, at.samples, at.rounds, at.megabytes, at.seconds))
      end
    end
  end
  return ratio
end

if wanted.auto and not asked.data then
  if not asked.json then
    print(("\nauto against fixed settings on other data, in time with bytes at %g MB/s; the " ..
      "goal is 1.15 of the best"):format(asked.bandwidth))
  end
  math.randomseed(7)
  local ratios = {}
  for _, name in ipairs {"planted", "dense", "sparse"} do
    for seed = 2, asked.seeds + 1 do ratios[#ratios + 1] = compare_auto(name, seed) end
  end
  table.sort(ratios)
  if not asked.json then
    print(("of %d: %.2f to %.2f of the best, median %.2f"):format(
      #ratios, ratios[1], ratios[#ratios], ratios[math.ceil(#ratios / 2)]))
  end
end
