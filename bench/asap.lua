-- SPDX-License-Identifier: MIT
--- Who hears whom: a support vector machine by SGD on replicas, by topologies (Kadav and Kruus,
-- "ASAP: Asynchronous Approximate Data-Parallel Computation", sections 3 and 6).
--
-- A row is a setting after all passes, with the best of the step sizes that all have tried: the
-- mean hinge loss of the merged model, of the worst and the mean replica before a merge, what was
-- sent in all rounds without the final merge, and what it took until the merged model's loss was
-- within --target of that of one serial pass after the other. "serial" is plain SGD by a loop in
-- this process, "one replica" the same on a worker: held to the same bits. Curves, loss against
-- rounds, samples, bytes and time, are in the objects that --json prints, and in the figure.
--   luajit bench/asap.lua [--data a9a.gz] [--replicas 8] [--every 500] [--json] [--png FILE]
local directory = arg[0]:match("^(.*/)") or "./"
package.path = directory .. "support/?.lua;" .. directory .. "../examples/?.lua;" .. directory ..
  "../examples/support/?.lua;" .. package.path
local argparse = require "argparse"
local figure = require "figure"
local meissa = require "meissa"
local points = require "points"
local run = require "run"
local svm = require "train_svm"

-- Positive numbers, commas between them.
local function numbers(text)
  local list = {}
  for each in text:gmatch "[^,]+" do
    local number = tonumber(each)
    if not number or number <= 0 then return nil, "not a positive number: " .. each end
    list[#list + 1] = number
  end
  if #list == 0 then return nil, "no number" end
  return list
end

local parser = argparse("asap.lua", "SVM by SGD on replicas, by topologies.")
parser:option("--data", "A file in LIBSVM's form (gz); default: 20,000 points of its own.")
parser:option("--points", "How many points to generate."):convert(tonumber):default "20000"
parser:option("--replicas", "Copies of the weights."):convert(tonumber):default "8"
parser:option("--every", "Examples of a replica between exchanges."):convert(tonumber)
  :default "100"
parser:option("--passes", "Passes over the data."):convert(tonumber):default "8"
parser:option("--rates", "Step sizes that are tried; that of pass k is a k-th."):convert(numbers)
  :default "0.02,0.1,0.5"
parser:option("--reg", "Weight of the squared norm."):convert(tonumber):default "0.0001"
parser:option("--target", "How near to the serial loss, as a factor."):convert(tonumber)
  :default "1.02"
parser:option("--workers", "Worker processes."):convert(tonumber):default "2"
parser:option("--png", "Draw loss against megabytes to this file.")
parser:flag("--json", "Print one JSON object a line and nothing else.")
local asked = parser:parse()

local rates = asked.rates

local SETTINGS = {
  {name = "serial"},
  {name = "one replica", replicas = 1, topology = "all"},
  {name = "all", topology = "all"},
  {name = "ring-allreduce", topology = "ring-allreduce"},
  {name = "tree-allreduce", topology = "tree-allreduce"},
  {name = "root-expander", topology = "root-expander"},
  {name = "ring", topology = "ring"},
  {name = "ring, push-sum", topology = "ring", push_sum = true},
  {name = "one-peer-exp.", topology = "one-peer-exponential"},
}

local PUBLISHED = [[

Published, on other data and machines:
  fig. 2   gap of the expander 0.38 at 6 workers, 0.2 at 25; chain 0.1 and 0.002 (0.008 in the text)
  fig. 5   RCV1, 4 machines: root expander 56 MB a machine to the accuracy, all-reduce 84 MB
  fig. 6   splice-site, 64 processes: 219 GB a process against 2.08 TB a worker
  fig. 7   webspam, 25 processes: chain 50,433 MB a node to converge, root expander 44,351 MB
  fig. 8   consistent reduces with 5 and more of 7: NOTIFY-ACK 100 %, BSP 77 %, ASYNC 39 %
  fig. 9   images a second: NOTIFY-ACK 229.3, BSP 217.8, ASYNC 246
  fig. 10  webspam: NOTIFY-ACK about 3 times as fast as BSP; ASYNC does not converge
Replicas merge what is of the same round here, all of it, as with NOTIFY-ACK: 100 % of reduces are
consistent, and what the figures from 8 on compare that with is not run.]]

local report = run.report({json = asked.json, quiet = true}, {
  {key = "setting", title = "setting", format = "%s", width = 16},
  {key = "gap", title = "gap", format = "%.4f", width = 8},
  {key = "rate", title = "rate", format = "%g", width = 7},
  {key = "rounds", title = "rounds", format = "%d", width = 8},
  {key = "loss", title = "loss", format = "%.4f", width = 9},
  {key = "mean_replica", title = "mean one", format = "%.4f", width = 10},
  {key = "worst_replica", title = "worst", format = "%.4f", width = 9},
  {key = "accuracy", title = "accuracy", format = "%.4f", width = 10},
  {key = "samples_per_second", title = "samples/s", format = "%.0f", width = 11},
  {key = "seconds", title = "seconds", format = "%.3f", width = 9},
  {key = "megabytes", title = "MB", format = "%.2f", width = 8},
  {key = "target_rounds", title = "to target", format = "%d rounds", width = 14},
  {key = "target_samples", title = "", format = "%d", width = 9},
  {key = "target_megabytes", title = "", format = "%.2f MB", width = 11},
  {key = "target_seconds", title = "", format = "%.3f s", width = 10},
})

meissa.init {workers = asked.workers, quiet = true}
local X, y = points.take({data = asked.data, points = asked.points, seed = 1}, points.mostly_right)
y = points.signs(y)

local unordered = {ordered = false}

-- What replicas hold at the end of a pass, before they are merged for good.
local function look(group, count, s)
  group.merged, group.each, group.disagreement = s.value(), {}, s.disagreement
  for k = 1, count do group.each[k] = s.replica(k) end
end

-- The points of a curve, one a pass, with one step size.
local function learn(setting, rate)
  local w, seen, list = meissa.zeros(X:size(2)), {}, {}
  local count, r, how = setting.replicas or asked.replicas, w, {serial = true}
  if setting.topology then
    how = {}
    r = meissa.replicate(w, {
      replicas = count, every = asked.every, topology = setting.topology,
      push_sum = setting.push_sum, final = "none", cut = 2 ^ 31,
      on_round = function(s) look(seen, count, s) end})
  end
  local rounds, bytes, seconds = 0, 0, 0
  for pass = 1, asked.passes do
    local started = meissa.clock()
    svm.pass(r, X, y, rate / pass, asked.reg, how)
    seconds = seconds + meissa.clock() - started
    if setting.topology then
      local last = meissa.last()
      rounds, bytes = rounds + last.rounds, bytes + last.exchanged
    else
      seen.merged, seen.each = w, {w}
    end
    local point = {pass = pass, rounds = rounds, samples = pass * X:size(1), seconds = seconds,
                   megabytes = bytes / 1e6, disagreement = seen.disagreement,
                   worst_replica = 0, mean_replica = 0}
    point.loss, point.accuracy = svm.measure(seen.merged, X, y, unordered)
    for _, each in ipairs(seen.each) do
      local loss = svm.measure(each, X, y, unordered)
      point.worst_replica = math.max(point.worst_replica, loss)
      point.mean_replica = point.mean_replica + loss / #seen.each
    end
    list[pass] = point
  end
  return list, seen.merged
end

-- The curve of the best step size.
local function tune(setting)
  local best, rate, weights
  learn(setting, rates[1]) -- compilers
  for _, each in ipairs(rates) do
    local curve, w = learn(setting, each)
    if not best or curve[#curve].loss < best[#best].loss then
      best, rate, weights = curve, each, w
    end
  end
  return best, rate, weights
end

-- The first point of a curve that reaches a loss.
local function first_within(curve, loss)
  for _, point in ipairs(curve) do
    if point.loss <= loss then return point end
  end
  return {}
end

local function show(setting, curve, rate, target)
  local last, first = curve[#curve], first_within(curve, target)
  local count = setting.replicas or asked.replicas
  local gap = setting.topology and meissa.topology(setting.topology, count):spectral_gap()
  if asked.json then
    for _, point in ipairs(curve) do
      point.setting, point.curve, point.rate = setting.name, true, rate
      report:row(point)
    end
  end
  report:row {
    setting = setting.name, gap = gap, rate = rate, loss = last.loss,
    rounds = gap and last.rounds or nil,
    mean_replica = last.mean_replica, worst_replica = last.worst_replica,
    accuracy = last.accuracy, samples_per_second = last.samples / last.seconds,
    seconds = last.seconds, megabytes = last.megabytes,
    target_rounds = gap and first.rounds or nil,
    target_samples = first.samples, target_megabytes = first.megabytes,
    target_seconds = first.seconds,
  }
end

if not asked.json then
  print(("%s; %d replicas on %d workers, rates %s"):format(tostring(X):match("^[^\n]*"),
    asked.replicas, asked.workers, table.concat(rates, " ")))
end
local serial, target
local curves = {}
for _, setting in ipairs(SETTINGS) do
  local curve, rate, w = tune(setting)
  target = target or asked.target * curve[#curve].loss
  serial = serial or w
  if setting.replicas == 1 then
    for f = 1, X:size(2) do assert(w[f] == serial[f], "one replica has other bits than serial") end
  end
  show(setting, curve, rate, target)
  if setting.topology and setting.replicas ~= 1 then
    local list = {}
    for k, point in ipairs(curve) do list[k] = {point.megabytes, point.loss} end
    curves[#curves + 1] = {name = setting.name, points = list}
  end
end
if not asked.json then print(PUBLISHED) end
if asked.png then
  figure(asked.png, {title = "hinge loss of the merged model", x = "MB sent", y = "loss",
                     logarithmic = "x"}, curves)
end
