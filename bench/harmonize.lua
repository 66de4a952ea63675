-- SPDX-License-Identifier: MIT
--- What is sent, and how it is merged: logistic regression on replicas that are harmonized (Herb,
-- Jungnickel, Alt, "Harmonization of replicated machine learning models", section 4; the paper
-- promises experiments and has none).
--
-- A row is a setting after all passes, with the best of the step sizes that all have tried: the
-- mean logistic loss of the merged model, of the worst and the mean replica before a merge, what
-- was sent without the final merge, and what it took until the loss was within --target of that of
-- one serial pass after the other. "serial" is a loop in this process, "one replica" the same on a
-- worker: held to the same bits. Curves, loss against rounds, samples, bytes and time, are in the
-- objects that --json prints, and in the figures. Parts:
--   grid         thresholds by weights by forms of the merge, and one average at the end of a pass
--   ages         messages that are older or newer than the receiver; how many, from a history
--   residuals    what becomes of changes that stay behind, over a sparse graph
--   floors       what a small value counts as where its change is judged
--   sketches     changes in a stated memory
--   auto         `every` = "auto", which chooses threshold and weight, too
--   luajit bench/harmonize.lua [--only grid] [--data a9a.gz] [--quick] [--json] [--png FILE]
local directory = arg[0]:match("^(.*/)") or "./"
package.path = directory .. "support/?.lua;" .. directory .. "../examples/?.lua;" .. directory ..
  "../examples/support/?.lua;" .. package.path
local argparse = require "argparse"
local contest = require "contest"
local curves = require "curves"
local history_of = require "history_of"
local learners = require "learners"
local logreg = require "logreg_harmonized"
local meissa = require "meissa"
local points = require "points"
local reduces = require "reduces"
local run = require "run"

local PARTS = {"grid", "ages", "residuals", "floors", "sketches", "auto"}

local parser = argparse("harmonize.lua", "Logistic regression on harmonized replicas.")
parser:option("--hear-by", "Only run replicas that wait in this way."):hidden(true)
parser:option("--only", "Only these parts, with commas between.")
local options = curves.linear("6", "0.00001", "the losses")
options[#options + 1] = {"eps", "Thresholds of the grid.", "0.01,0.1,0.5", quick = "0.1",
                         convert = curves.numbers}
options[#options + 1] = {"lambda", "Weights of the grid.", "0.5,1", quick = "0.5",
                         convert = curves.numbers}
local complete = curves.options(parser, options)
local asked = complete(parser:parse())
asked.script = arg[0]
local wanted = curves.parts(parser, asked.only, PARTS)

meissa.init {workers = asked.workers, quiet = true}
local X, y = points.take({data = asked.data, points = asked.points, seed = 1}, points.mostly_right)
y = points.signs(y)
local learner = learners.logreg(X, y, asked.reg)
learner.costly = true

local AGES = {
  ["ssp 2"] = {sync = "ssp", staleness = 2},
  barrier = {sync = "barrier"},
  async = {sync = "async"},
}

local function relative(eps, floor) return {relative = eps, floor = floor or 0.01} end

-- What a child runs whose history is looked at.
if asked.hear_by then
  local r = meissa.replicate(meissa.zeros(X:size(2)), {
    replicas = asked.replicas, every = asked.every, sync = AGES[asked.hear_by].sync,
    staleness = AGES[asked.hear_by].staleness, merge = {weighted = 1}})
  logreg.pass(r, X, y, asked.rates[1], asked.reg, {})
  return
end

-- A setting has a name and what replicate is told; one of a pass only is merged at its end.
local settings = {}
for _, part in ipairs(PARTS) do settings[part] = {} end

local function add(part, name, more)
  table.insert(settings[part], {name = name, options = more})
end

local ONCE = "averaged once a pass"
add("grid", ONCE, {every = math.huge, final = "mean"})
add("grid", "mean, all is sent", {})
for _, eps in ipairs(asked.eps) do
  add("grid", ("mean, eps %g"):format(eps), {filter = relative(eps)})
end
for _, lambda in ipairs(asked.lambda) do
  for _, form in ipairs {"shifted", "normalised", "printed"} do
    local merge = {weighted = lambda, form = form}
    add("grid", ("%s %g, all is sent"):format(form, lambda), {merge = merge})
    for _, eps in ipairs(asked.eps) do
      add("grid", ("%s %g, eps %g"):format(form, lambda, eps),
          {merge = merge, filter = relative(eps)})
    end
  end
end
for _, form in ipairs {"shifted", "normalised", "printed"} do
  local merge = {weighted = 1, form = form}
  add("ages", form .. " 1, 1 round old", {merge = merge, lags = {{1, 1}}})
  add("ages", form .. " 1, 0 to 3 old", {merge = merge, lags = {{0, 1}, {1, 1}, {2, 1}, {3, 1}}})
  for _, age in ipairs {"ssp 2", "barrier", "async"} do
    add("ages", ("%s 1, %s"):format(form, age),
        {merge = merge, sync = AGES[age].sync, staleness = AGES[age].staleness})
  end
end
for _, residual in ipairs {"keep", "drop", "invalidate"} do
  for _, eps in ipairs(asked.eps) do
    add("residuals", ("both ways, eps %g, %s"):format(eps, residual),
        {filter = relative(eps), residual = residual, topology = "ring-both"})
  end
end
for _, floor in ipairs {0, 0.001, 0.01, 0.1, 1} do
  add("floors", ("mean, eps 0.1, floor %g"):format(floor), {filter = relative(0.1, floor)})
end
for _, width in ipairs {64, 256, 1024} do
  local bytes = 3 * width * 8
  add("sketches", ("changes, sketch 3x%d, %g kB"):format(width, bytes / 1e3),
      {merge = {add = 1 / asked.replicas}, filter = {sketch = "count", width = width, depth = 3}})
end
for _, more in ipairs {{"asked for", asked.every}, {"auto", "auto"}} do
  for _, eps in ipairs(asked.eps) do
    add("auto", ("mean, eps %g, every %s"):format(eps, more[1]),
        {every = more[2], filter = relative(eps)})
  end
  for _, lambda in ipairs(asked.lambda) do
    add("auto", ("shifted %g, ssp 2, every %s"):format(lambda, more[1]),
        {every = more[2], merge = {weighted = lambda}, sync = "ssp", staleness = 2})
  end
end
add("sketches", "changes, all are sent", {merge = {add = 1 / asked.replicas}})

local TITLES = {
  grid = "Thresholds by weights by forms", ages = "Messages older and newer than the receiver",
  residuals = "What becomes of changes that stay behind", floors = "Floors", sketches = "Sketches",
  auto = "Send buffers, thresholds and weights that follow what is measured",
}

-- Harmonized replicas beside ones that are averaged at the end of a pass.
local function against_once(found, goal)
  local once = found[ONCE].curve
  local least, name
  for _, setting in ipairs(settings.grid) do
    local each = found[setting.name]
    local at = each and setting.options.filter and curves.within(each.curve, goal)
    if at and at.megabytes and (not least or at.megabytes < least.megabytes) then
      least, name = at, setting.name
    end
  end
  local at = curves.within(once, goal)
  local function told(point)
    return point and point.megabytes and ("%d samples and %.2f MB"):format(
      point.samples, point.megabytes) or "no number of passes"
  end
  print(("to the loss %.4f: averaged once a pass takes %s; harmonized with the fewest bytes%s %s"):
    format(goal, told(at), name and " (" .. name .. ")" or "", told(least)))
end

-- How old and how new what is merged is, from the histories of runs of their own.
local function show_differences(report)
  if not asked.json then
    print "\nMessages by the sender's round less the receiver's, in percent of all that were read"
  end
  for _, way in ipairs {"ssp 2", "barrier", "async"} do
    local counts = history_of(asked, ("--hear-by '%s'"):format(way), reduces.differences)
    local total, list, behind, ahead = 0, {}, 0, 0
    for difference, count in pairs(counts) do
      total, list[#list + 1] = total + count, difference
    end
    table.sort(list)
    local words = {}
    for _, d in ipairs(list) do
      if d < 0 then behind = behind + counts[d] end
      if d > 0 then ahead = ahead + counts[d] end
      if #list <= 12 then
        words[#words + 1] = ("%+d: %.1f"):format(d, 100 * counts[d] / total)
      end
    end
    if asked.json then
      report:row {differences = way, messages = total, behind = behind, ahead = ahead,
                  least = list[1], most = list[#list]}
    else
      print(("  %-8s from %+d to %+d, behind %.1f %%, ahead %.1f %%  %s"):format(
        way, list[1], list[#list], 100 * behind / total, 100 * ahead / total,
        table.concat(words, "  ")))
    end
  end
end

local report = run.report({json = asked.json, quiet = true}, {})
for _, part in ipairs(PARTS) do
  if wanted[part] then
    local found, goal = contest.run {
      name = part, title = TITLES[part], asked = asked, learner = learner,
      settings = settings[part], rates = asked.rates,
      passes = asked.passes, replicas = asked.replicas, every = asked.every,
      target = asked.target, nothing_missing = part ~= "ages"}
    if part == "grid" and not asked.json then against_once(found, goal) end
    if part == "ages" then show_differences(report) end
  end
end
if not asked.json then
  print [[

A row without numbers: no step size gives a finite loss. Exchanges of the same round have a distance
of 0 rounds, at which the form "printed" halves a value, so that replicas forget what they learn,
and "normalised" gives what is heard no weight, so that they learn by themselves. Of what is behind
"printed" takes the opposite. Published: nothing; the paper's section 5 promises it.]]
end
