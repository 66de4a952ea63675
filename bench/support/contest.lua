-- SPDX-License-Identifier: MIT
--- A contest of settings: what a learner (learners.lua) comes to on replicas that exchange in
-- different ways, each with the best of the same step sizes, beside one pass after the other in
-- this process and one replica on a worker. Those two are held to the same bits.
local curves = require "curves"
local meissa = require "meissa"
local run = require "run"

local M = {}

-- The baselines that stand first in every table.
local BASELINES = {{name = "serial"}, {name = "one replica", replicas = 1, options = {}}}

local function with_baselines(settings)
  local list = {unpack(BASELINES)}
  for _, setting in ipairs(settings) do list[#list + 1] = setting end
  return list
end

local COLUMNS = {
  {key = "setting", title = "setting", format = "%s", width = 36},
  {key = "gap", title = "gap", format = "%.4f", width = 8},
  {key = "rate", title = "rate", format = "%g", width = 7},
  {key = "rounds", title = "rounds", format = "%d", width = 7},
  {key = "loss", title = "loss", format = "%.5g", width = 10},
  {key = "mean_replica", title = "mean one", format = "%.5g", width = 10},
  {key = "worst_replica", title = "worst", format = "%.5g", width = 10},
  {key = "accuracy", title = "accuracy", format = "%.4f", width = 10},
  {key = "there", title = "there", format = "%.1f %%", width = 9},
  {key = "samples_per_second", title = "samples/s", format = "%.0f", width = 11},
  {key = "seconds", title = "seconds", format = "%.3f", width = 9},
  {key = "megabytes", title = "MB", format = "%.2f", width = 9},
  unpack(curves.TARGET)
}

-- Replicas of a setting, which tell `seen` what they hold at the end of a pass, before they are
-- merged for good.
local function replicate(contest, setting, arrays, seen)
  local count = setting.replicas or contest.replicas
  local options = {replicas = count, every = contest.every, final = "none", cut = 2 ^ 31}
  for name, value in pairs(setting.options) do options[name] = value end
  function options.on_round(s)
    seen.merged, seen.each, seen.disagreement = {s.value()}, {}, s.disagreement
    for k = 1, count do seen.each[k] = {s.replica(k)} end
  end
  return contest.learner.replicate(arrays, options)
end

-- The points of a curve, one a pass, with one step size; and what was learned.
local function learn(contest, setting, rate, passes)
  local learner = contest.learner
  local arrays, seen, replicas = learner.new(), {}, nil
  if setting.options then
    replicas = replicate(contest, setting, arrays, seen)
  else
    seen.merged, seen.each = arrays, {arrays}
  end
  local curve = curves.learn(passes or contest.passes, function(pass)
    local how = replicas and {} or {serial = true}
    learner.pass(replicas or arrays, learner.constant_rate and rate or rate / pass, how)
  end, function(point)
    point.samples, point.disagreement = point.pass * learner.samples, seen.disagreement
    point.loss, point.accuracy = learner.measure(seen.merged, arrays)
    if learner.costly and point.pass < (passes or contest.passes) then return end
    point.worst_replica, point.mean_replica = 0, 0
    for _, each in ipairs(seen.each) do
      local loss = learner.measure(each, arrays, true)
      point.worst_replica = math.max(point.worst_replica, loss)
      point.mean_replica = point.mean_replica + loss / #seen.each
    end
  end, replicas ~= nil)
  return curve, seen.merged
end

-- The share of messages of the round before that were there when replicas merged, in percent; nil
-- where that is no question.
local function there(setting, topology, point)
  local options = setting.options
  if #topology:edges() == 0 then return nil end
  if not (options.sync or options.staleness or options.backup) then return 100 end
  return 100 * (1 - point.missed / (#topology:edges() * point.rounds))
end

local function show(contest, report, setting, curve, rate)
  local last, count = curve[#curve], setting.replicas or contest.replicas
  local options = setting.options
  local topology = options and meissa.topology(options.topology or "all", count)
  local all = contest.nothing_missing
  curves.show(report, contest.asked, setting, curve, rate, contest.goal, {
    experiment = contest.name, gap = topology and topology:spectral_gap(),
    rounds = topology and last.rounds or false,
    there = topology and not all and there(setting, topology, last) or false,
    mean_replica = last.mean_replica, worst_replica = last.worst_replica,
    samples_per_second = last.samples / last.seconds,
    target_rounds = topology and curves.within(curve, contest.goal).rounds or false})
end

-- One replica goes through the samples as a serial loop does.
local function compare(serial, one, name)
  for k, array in ipairs(serial) do
    local apart = array:clone():add(-1, one[k])
    assert(apart:min() == 0 and apart:max() == 0,
           name .. ": one replica has other bits than serial")
  end
end

--- Runs the baselines and all settings, and reports them.
-- @tab contest {name =, title =, asked =, learner =, settings = a list of {name =, options = of
-- meissa.replicate, replicas =}, rates =, passes =, every =, replicas =, target = how near to the
-- serial loss, as a factor, or goal = a loss, nothing_missing = whether no table says how many
-- messages were there}
-- @treturn table of each setting's name {curve =, rate =}, or false: no step size gives a finite
-- loss; and the loss that had to be reached
function M.run(contest)
  local asked = contest.asked
  local report = run.report({json = asked.json, quiet = true}, COLUMNS)
  if not asked.json then
    print(("\n%s: %s; %d replicas, rates %s"):format(contest.title, contest.learner.words,
      contest.replicas, table.concat(contest.rates, " ")))
  end
  local found, drawn, serial = {}, {}, nil
  for _, setting in ipairs(with_baselines(contest.settings)) do
    local curve, rate, merged = curves.tune(setting, contest.rates, function(_, each, passes)
      return learn(contest, setting, each, passes)
    end)
    if curve then
      contest.goal = contest.goal or contest.target * curve[#curve].loss
      serial = serial or merged
      if setting.replicas == 1 then compare(serial, merged, contest.name) end
      show(contest, report, setting, curve, rate)
      if setting.options and setting.replicas ~= 1 then
        drawn[#drawn + 1] = {name = setting.name, points = curve}
      end
    else
      report:row {experiment = contest.name, setting = setting.name, diverged = true}
    end
    found[setting.name] = curve and {curve = curve, rate = rate} or false
  end
  if asked.png then
    curves.draw(asked.png, contest.name, contest.title .. "; " .. contest.learner.words,
                "loss of the merged model", drawn)
  end
  return found, contest.goal
end

return M
