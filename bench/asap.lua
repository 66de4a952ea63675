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
-- Below, as in the paper's figure 8: of 8 replicas on 8 workers that all hear all, which part of
-- merges had the messages of the round before of 7, and of 5 or more, of the others, and which part
-- something new of 5 or more; counted in histories of runs of their own.
--   luajit bench/asap.lua [--data a9a.gz] [--replicas 8] [--every 500] [--json] [--png FILE]
local directory = arg[0]:match("^(.*/)") or "./"
package.path = directory .. "support/?.lua;" .. directory .. "../examples/?.lua;" .. directory ..
  "../examples/support/?.lua;" .. package.path
local argparse = require "argparse"
local curves = require "curves"
local figure = require "figure"
local meissa = require "meissa"
local points = require "points"
local reduces = require "reduces"
local run = require "run"
local svm = require "train_svm"

local parser = argparse("asap.lua", "SVM by SGD on replicas, by topologies.")
parser:option("--merge-by", "Only run 8 replicas that wait in this way."):hidden(true)
local asked = curves.ask(parser, "8", "0.0001", "loss against megabytes")

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
  {name = "r-exp, notify-ack", topology = "root-expander", sync = "notify-ack"},
  {name = "r-exp, barrier", topology = "root-expander", sync = "barrier"},
  {name = "r-exp, async", topology = "root-expander", sync = "async"},
  {name = "r-exp, stale 2", topology = "root-expander", staleness = 2},
}

local PUBLISHED = [[

Published, on other data and machines:
  fig. 2   gap of the expander 0.38 at 6 workers, 0.2 at 25; chain 0.1 and 0.002 (0.008 in the text)
  fig. 5   RCV1, 4 machines: root expander 56 MB a machine to the accuracy, all-reduce 84 MB
  fig. 6   splice-site, 64 processes: 219 GB a process against 2.08 TB a worker
  fig. 7   webspam, 25 processes: chain 50,433 MB a node to converge, root expander 44,351 MB
  fig. 9   images a second: NOTIFY-ACK 229.3, BSP 217.8, ASYNC 246
  fig. 10  webspam: NOTIFY-ACK about 3 times as fast as BSP; ASYNC does not converge
"there" is the share of messages of the round before that were there when a replica merged: all of
them where replicas wait for each other. Workers share one host, where a message is there when it is
sent: what is late here is a replica, not the network.]]

-- Ways of waiting, as the paper calls them, and the part of reduces with 5 or more in its figure 8.
local WAYS = {{"notify-ack", "NOTIFY-ACK", 100}, {"barrier", "BSP", 77}, {"async", "ASYNC", 39}}

local NODES = 8

local report = run.report({json = asked.json, quiet = true}, {
  {key = "setting", title = "setting", format = "%s", width = 19},
  {key = "gap", title = "gap", format = "%.4f", width = 8},
  {key = "rate", title = "rate", format = "%g", width = 7},
  {key = "rounds", title = "rounds", format = "%d", width = 8},
  {key = "loss", title = "loss", format = "%.4f", width = 9},
  {key = "mean_replica", title = "mean one", format = "%.4f", width = 10},
  {key = "worst_replica", title = "worst", format = "%.4f", width = 9},
  {key = "accuracy", title = "accuracy", format = "%.4f", width = 10},
  {key = "there", title = "there", format = "%.1f %%", width = 9},
  {key = "samples_per_second", title = "samples/s", format = "%.0f", width = 11},
  {key = "seconds", title = "seconds", format = "%.3f", width = 9},
  {key = "megabytes", title = "MB", format = "%.2f", width = 8},
  unpack(curves.TARGET)
})

meissa.init {workers = asked.merge_by and NODES or asked.workers, quiet = true}
local X, y = points.take({data = asked.data, points = asked.points, seed = 1}, points.mostly_right)
y = points.signs(y)

if asked.merge_by then
  local r = meissa.replicate(meissa.zeros(X:size(2)), {
    replicas = NODES, every = asked.every, topology = "all", sync = asked.merge_by})
  for pass = 1, asked.passes do svm.pass(r, X, y, asked.rates[1] / pass, asked.reg, {}) end
  return
end

local unordered = {ordered = false}

-- What replicas hold at the end of a pass, before they are merged for good.
local function look(group, count, s)
  group.merged, group.each, group.disagreement = s.value(), {}, s.disagreement
  for k = 1, count do group.each[k] = s.replica(k) end
end

-- The points of a curve, one a pass, with one step size.
local function learn(setting, rate)
  local w, seen = meissa.zeros(X:size(2)), {}
  local count, r, how = setting.replicas or asked.replicas, w, {serial = true}
  if setting.topology then
    how = {}
    r = meissa.replicate(w, {
      replicas = count, every = asked.every, topology = setting.topology,
      push_sum = setting.push_sum, final = "none", cut = 2 ^ 31, sync = setting.sync,
      staleness = setting.staleness, on_round = function(s) look(seen, count, s) end})
  end
  local curve = curves.learn(asked.passes, function(pass)
    svm.pass(r, X, y, rate / pass, asked.reg, how)
    if not setting.topology then seen.merged, seen.each = w, {w} end
  end, function(point)
    point.samples, point.disagreement = point.pass * X:size(1), seen.disagreement
    point.worst_replica, point.mean_replica = 0, 0
    point.loss, point.accuracy = svm.measure(seen.merged, X, y, unordered)
    for _, each in ipairs(seen.each) do
      local loss = svm.measure(each, X, y, unordered)
      point.worst_replica = math.max(point.worst_replica, loss)
      point.mean_replica = point.mean_replica + loss / #seen.each
    end
  end, setting.topology ~= nil)
  return curve, seen.merged
end

-- The share of messages that were there, in percent.
local function there(setting, topology, point)
  if not setting.sync and not setting.staleness then return 100 end
  return 100 * (1 - point.missed / (#topology:edges() * point.rounds))
end

local function show(setting, curve, rate, target)
  local last, count = curve[#curve], setting.replicas or asked.replicas
  local topology = setting.topology and meissa.topology(setting.topology, count)
  curves.show(report, asked, setting, curve, rate, target, {
    gap = topology and topology:spectral_gap(), rounds = topology and last.rounds,
    there = topology and count > 1 and there(setting, topology, last),
    mean_replica = last.mean_replica, worst_replica = last.worst_replica,
    samples_per_second = last.samples / last.seconds,
    target_rounds = topology and curves.within(curve, target).rounds})
end

if not asked.json then
  print(("%s; %d replicas on %d workers, rates %s"):format(tostring(X):match("^[^\n]*"),
    asked.replicas, asked.workers, table.concat(rates, " ")))
end
local serial, target
local drawn = {}
for _, setting in ipairs(SETTINGS) do
  local curve, rate, w = curves.tune(setting, rates, learn)
  target = target or asked.target * curve[#curve].loss
  serial = serial or w
  if setting.replicas == 1 then
    for f = 1, X:size(2) do assert(w[f] == serial[f], "one replica has other bits than serial") end
  end
  show(setting, curve, rate, target)
  if setting.topology and setting.replicas ~= 1 then
    drawn[#drawn + 1] = curves.points(setting, curve, "megabytes", "loss")
  end
end
-- The merges of a way of waiting, in a process of its own, whose history has them.
local function count_reduces(way)
  local path = os.tmpname()
  local words = {"MEISSA_HISTORY=" .. path, "luajit", arg[0], "--merge-by", way,
                 "--points", asked.points, "--every", asked.every, "--passes", asked.passes,
                 "--rates", rates[1], "--reg", ("%.17g"):format(asked.reg)}
  if asked.data then
    words[#words + 1] = ("--data '%s'"):format(asked.data:gsub("'", "'\\''"))
  end
  local failed = os.execute(table.concat(words, " ")) ~= 0
  local found = not failed and reduces.count(io.lines(path), NODES - 1)
  os.remove(path)
  return found or error("a run of " .. way .. " failed")
end

if not asked.json then
  print(("\nConsistent reduces, %d replicas on %d workers; with messages of the round before, new"):
    format(NODES, NODES))
  print(("  %-12s%10s%10s%12s%14s%12s"):format("", "reduces", "all 7", "5 or more", "5 or more new",
                                               "published"))
end
for _, way in ipairs(WAYS) do
  local found = count_reduces(way[1])
  local function percent(what, least) return reduces.percent(found[what], found.total, least) end
  local row = {reduces = way[1], count = found.total, all = percent("before", NODES - 1),
               most = percent("before", 5), new = percent("new", 5), published = way[3]}
  if asked.json then
    report:row(row)
  else
    print(("  %-12s%10d%8.1f %%%10.1f %%%12.1f %%%10.0f %%  %s"):format(way[1], row.count, row.all,
      row.most, row.new, way[3], way[2]))
  end
end
if not asked.json then print(PUBLISHED) end
if asked.png then
  figure(asked.png, {title = "hinge loss of the merged model", x = "MB sent", y = "loss",
                     logarithmic = "x"}, drawn)
end
