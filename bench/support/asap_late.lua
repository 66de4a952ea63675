-- SPDX-License-Identifier: MIT
--- What is late, on purpose: rounds to a target by injected lags, steps beyond what theory allows
-- at a lag, and messages that are held back, with time-outs (bench/asap.lua).
local contest = require "contest"
local history_of = require "history_of"
local learners = require "learners"
local meissa = require "meissa"
local points = require "points"
local run = require "run"
local staleness = require "staleness"
local timeouts = require "timeouts"

local M = {}

local function show_rounds(asked)
  local X, y = points.take({points = math.ceil(asked.points / 4), seed = 1}, points.mostly_right)
  local learner = learners.svm(X, points.signs(y), asked.reg)
  local settings = {}
  for _, over in ipairs {"all", "root-expander"} do
    for _, lag in ipairs(asked.quick and {0, 2} or {0, 1, 2, 4, 8}) do
      settings[#settings + 1] = {name = ("%s, %d rounds old"):format(over, lag),
                                 options = {topology = over, lags = lag > 0 and {{lag, 1}} or nil}}
    end
  end
  settings[#settings + 1] = {name = "all, 0 to 4 rounds old", options = {
    lags = {{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}}}}
  contest.run {
    name = "lags", title = "Rounds to the target by the age of what is heard", asked = asked,
    learner = learner, settings = settings, replicas = asked.replicas,
    rates = asked.rates, passes = 2 * asked.passes, target = 1.5 * asked.target,
    every = math.max(1, math.ceil(learner.samples / asked.replicas / 40)), nothing_missing = true}
end

-- Steps below and beyond the bound of a lag, of replicas and of the sequence that theory follows.
local function show_steps(asked)
  local replicas, rounds = 4, 600
  local report = run.report({json = asked.json, quiet = true}, {
    {key = "lag", title = "lag", format = "%d", width = 6},
    {key = "bound", title = "largest step", format = "%.3f", width = 14},
    {key = "step", title = "step", format = "%.3f", width = 9},
    {key = "theory", title = "theory", format = "%.6g", width = 15},
    {key = "value", title = "replicas", format = "%.6g", width = 15},
    {key = "verdict", title = "", format = "%s", width = 12},
  })
  if not asked.json then
    print(("\nGradient descent on |x|^2 / 2 by %d replicas that add changes, %d rounds from 1 on")
      :format(replicas, rounds))
  end
  for _, lag in ipairs {0, 1, 2, 4, 8} do
    local bound = staleness.bound(replicas, lag)
    for _, factor in ipairs {0.75, 1.25} do
      local step = factor * bound
      local theory = staleness.follow(step, replicas, lag, rounds)
      local value = staleness.run(step, replicas, rounds, lag)
      report:row {steps = true, lag = lag, bound = bound, step = step, theory = theory,
                  value = value, beyond = factor > 1, rounds = rounds,
                  verdict = math.abs(value) < 1 and "converges" or "diverges"}
    end
  end
end

--- Injected lags: rounds to the target, and the largest steps.
function M.lags(asked)
  show_rounds(asked)
  show_steps(asked)
  if asked.json then return end
  print [[
A lag that is not bounded, as async's, leaves no step that is small enough in theory: the largest
one falls as 1 / (lag + 1).]]
end

-- ---- messages that are held back

-- Naps long enough that workers that are more than the cores wait for each other, not for cores.
local function held_back(asked)
  return timeouts.draw {rounds = asked.quick and 24 or 80, replicas = 6, nap = 2000, slower = 6,
                        late = 8, often = 0.03}
end

--- What a child runs whose history is looked at: with a time-out, 0 for none.
function M.child(asked)
  meissa.init {workers = 6, quiet = true}
  local naps, timeout = held_back(asked), asked.time_out > 0 and asked.time_out or nil
  local seconds, off = timeouts.run(naps, timeout)
  print(("%.17g %.17g"):format(seconds, off))
end

-- A run of its own: seconds, distance, and the shares of messages that were left out.
local function measure(asked, factor, rounds)
  return history_of(asked, "--time-out " .. (factor or 0), function(lines, said)
    local seconds, off = said:match "(%S+) (%S+)"
    return {seconds = tonumber(seconds), off = tonumber(off),
            missing = timeouts.count(lines, rounds)}
  end)
end

--- Messages that are held back: time-outs that follow what is usual, and fixed ones.
function M.timeouts(asked)
  local report = run.report({json = asked.json, quiet = true}, {
    {key = "setting", title = "setting", format = "%s", width = 34},
    {key = "model", title = "model s", format = "%.3f", width = 9},
    {key = "seconds", title = "seconds", format = "%.3f", width = 9},
    {key = "model_first", title = "left out", format = "%.1f %%", width = 10},
    {key = "first", title = "measured", format = "%.1f %%", width = 10},
    {key = "model_second", title = "2nd half", format = "%.1f %%", width = 10},
    {key = "second", title = "measured", format = "%.1f %%", width = 10},
    {key = "off", title = "off by", format = "%.4f", width = 9},
  })
  local naps = held_back(asked)
  local exact = timeouts.predict(naps, {})
  if not asked.json then
    print(("\nMessages that are held back: 6 replicas on 6 workers, %d rounds; waits take %.1f " ..
      "ms, in the\nsecond half %.1f; what is left out, and how far the mean is off"):format(
      #naps, exact.waits[1] / 1e3, exact.waits[2] / 1e3))
  end
  local function show(name, way, found)
    local model = timeouts.predict(naps, way)
    report:row {
      timeouts = true, setting = name, model = model.microseconds / 1e6,
      model_first = 100 * model.missing[1], model_second = 100 * model.missing[2],
      seconds = found and found.seconds, first = found and 100 * found.missing[1],
      second = found and 100 * found.missing[2], off = found and found.off}
  end
  show("all are waited for", {}, measure(asked, nil, #naps))
  for _, factor in ipairs {1.5, 3} do
    show(("time-out %g times the usual"):format(factor), {timeout = factor},
         measure(asked, factor, #naps))
    for half, name in ipairs {"the first half's", "the second half's"} do
      show(("fixed, %g times %s"):format(factor, name), {fixed = factor * exact.waits[half]})
    end
  end
  if asked.json then return end
  print [[
The model takes the same draws and waits that cost nothing; a fixed time-out, which Meissa has none
of, is the model's alone. Long enough for the second half it waits in the first one for whatever is
late; fit for the first one it leaves out what is merely usual in the second.]]
end

return M
