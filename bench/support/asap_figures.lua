-- SPDX-License-Identifier: MIT
--- Contests of bench/asap.lua: its figures 5, 6, 7, 9 and 10 with the numbers of replicas that the
-- paper has, on data of this repository or generated; published figures beside ours as text.
local averaging = require "averaging"
local classifier = require "classifier"
local contest = require "contest"
local curves = require "curves"
local learners = require "learners"
local meissa = require "meissa"
local points = require "points"
local ratings = require "ratings"
local run = require "run"

local M = {}

local function say(asked, ...)
  if not asked.json then print((...):format(select(2, ...))) end
end

local function svm_on(asked, data, count)
  local X, y = points.take({data = data, points = count, seed = 1}, points.mostly_right)
  return learners.svm(X, points.signs(y), asked.reg)
end

-- The iterations from one exchange to the next for so many rounds a pass.
local function every_for(learner, replicas, rounds)
  return math.max(1, math.ceil(learner.samples / (learner.unit or 1) / replicas / rounds))
end

local function topology(name) return {name = name, options = {topology = name}} end

local function waiting(name, over, options)
  options.topology = over
  return {name = name, options = options}
end

-- A contest with what is asked for in place of what it leaves out.
local function hold(asked, own)
  own.asked, own.passes = asked, own.passes or asked.passes
  own.rates, own.replicas = own.rates or asked.rates, own.replicas or asked.replicas
  own.every, own.target = own.every or asked.every, own.target or asked.target
  return contest.run(own)
end

-- What two settings took until the merged model, and the worst replica, reached the goal.
local function compare(asked, report, found, goal, names, replicas, published)
  for _, whose in ipairs {"loss", "worst_replica"} do
    local words, row = {}, {comparison = published.figure, whose = whose, goal = goal,
                            experiment = published.experiment, published = published.words}
    for k, name in ipairs(names) do
      local point = found[name] and curves.within(found[name].curve, goal, whose) or {}
      local each = point.megabytes and point.megabytes / replicas
      row[name .. " megabytes"], row[name .. " rounds"] = each, point.rounds
      words[k] = name .. " not reached"
      if each then
        words[k] = ("%s %.2f MB a replica in %d rounds"):format(name, each, point.rounds)
      end
    end
    if asked.json then
      report:row(row)
    else
      print(("to a loss of %.4f of %s: %s"):format(
        goal, whose == "loss" and "the merged model" or "the worst replica",
        table.concat(words, "; ")))
    end
  end
  say(asked, "published, figure %d: %s", published.figure, published.words)
end

--- All topologies and ways of waiting.
function M.topologies(asked)
  local over = "root-expander"
  hold(asked, {
    name = "topologies", title = "Topologies and ways of waiting",
    learner = svm_on(asked, asked.data, asked.points),
    settings = {
      topology "all", topology "ring-allreduce", topology "tree-allreduce", topology "server",
      topology(over), topology "ring",
      {name = "ring, push-sum", options = {topology = "ring", push_sum = true}},
      topology "ring-both", topology "chain",
      {name = "one-peer-exp.", options = {topology = "one-peer-exponential"}},
      waiting("r-exp, notify-ack", over, {sync = "notify-ack"}),
      waiting("r-exp, barrier", over, {sync = "barrier"}),
      waiting("r-exp, stale 2", over, {staleness = 2}),
      waiting("r-exp, async", over, {sync = "async"}),
      waiting("all, backup 1", "all", {backup = 1}),
      waiting("at ends of passes", "all", {every = math.huge}),
    }})
  say(asked, [[
"there" is the share of messages of the round before that were there when a replica merged: all of
them where replicas wait for each other. Workers share one host, where a message is there when it is
sent: what is late here is a replica, not the network.]])
end

--- Averaging alone.
function M.averaging(asked)
  local report = run.report({json = asked.json, quiet = true}, {
    {key = "topology", title = "topology", format = "%s", width = 22},
    {key = "replicas", title = "replicas", format = "%d", width = 10},
    {key = "gap", title = "gap", format = "%.4f", width = 9},
    {key = "second", title = "second sv", format = "%.6f", width = 12},
    {key = "first", title = "slowest", format = "%.6f", width = 12},
    {key = "random", title = "drawn", format = "%.4f", width = 9},
    {key = "rounds", title = "to 1e-6", format = "%d", width = 9},
    {key = "bound", title = "at most", format = "%d", width = 9},
    {key = "published", title = "published gap", format = "%s", width = 16},
  })
  local most = asked.quick and 200 or 400
  say(asked, "\nAveraging with a step size of 0: the first round's factor, of the slowest " ..
    "direction and of\na drawn one, and rounds until replicas are a millionth as far apart, of %d",
    most)
  local published = {["all 6"] = "1", ["all 25"] = "1", ["server 6"] = "0.75",
                     ["server 25"] = "0.68", ["root-expander 6"] = "0.38",
                     ["root-expander 25"] = "0.2", ["ring 6"] = "0.1", ["ring 25"] = "0.002, 0.008"}
  for _, n in ipairs(asked.quick and {6} or {6, 25}) do
    for _, what in ipairs {"all", "tree-allreduce", "server", "root-expander", "ring", "ring-both",
                           "chain", "one-peer-exponential"} do
      local row = averaging.measure(what, n, most)
      row.averaging, row.topology, row.replicas, row.gap = true, what, n, 1 - row.second
      row.published = published[("%s %d"):format(what, n)]
      report:row(row)
    end
  end
  say(asked, [[
Published, figure 2: gaps, of which those of all-reduce and, in the text, 0.008 of the directed ring
of 25 are what the weight matrix has. Of one-peer-exponential the second singular value is that of a
whole cycle of rounds, by the round; its first round is one of a ring.]])
end

--- RCV1 on 4 replicas.
function M.figure5(asked, report)
  local learner = svm_on(asked, asked.directory .. "../spec/data/rcv1_small.gz")
  local found, goal = hold(asked, {
    name = "figure5", title = "Figure 5: RCV1", learner = learner, replicas = 4,
    rates = asked.quick and {4} or {1, 4, 16}, every = every_for(learner, 4, 10),
    goal = 0.03, settings = {topology "all", topology "root-expander"}})
  compare(asked, report, found, goal, {"root-expander", "all"}, 4, {
    figure = 5,
    words = "RCV1 on 4 machines, 56 MB a machine over the root expander, 84 over all"})
  say(asked, [[
Of 4 replicas the root expander's two edges are two thirds of the three that all-reduce has, which
is the published ratio too.]])
end

--- 64 replicas.
function M.figure6(asked, report)
  local learner = svm_on(asked, nil, asked.points)
  local found, goal = hold(asked, {
    name = "figure6", title = "Figure 6: 64 replicas", learner = learner, replicas = 64,
    rates = asked.quick and {4} or {0.1, 1, 4}, every = every_for(learner, 64, 10),
    target = 1.15 * asked.target,
    settings = {topology "all", topology "ring-allreduce", topology "root-expander"}})
  compare(asked, report, found, goal, {"root-expander", "ring-allreduce", "all"}, 64, {
    figure = 6,
    words = "splice-site on 64 processes, 219 GB a process over the expander, 2.08 TB over all"})
  say(asked, [[
All-reduce sends 63 messages a replica and round, the root expander 2: 31.5 times fewer, of which a
part goes into the further rounds that it needs. "ring-allreduce" is the same mean for two models a
replica and round.]])
end

-- Points in the order of their labels, so that the shares of replicas differ.
local function by_label(X, y)
  local order, place, i, j, v = {}, {}, {}, {}, {}
  for e = 1, y:size(1) do order[e] = e end
  table.sort(order, function(a, b)
    if y[a] ~= y[b] then return y[a] < y[b] end
    return a < b
  end)
  local sorted = y:clone()
  for k, e in ipairs(order) do place[e], sorted[k] = k, y[e] end
  for e, f, x in X:each() do i[#i + 1], j[#j + 1], v[#v + 1] = place[e], f, x end
  return meissa.sparse({X:size(1), X:size(2)}, {i = i, j = j, v = v}), sorted
end

--- 25 replicas over graphs with small gaps, whose shares are alike, and differ.
function M.figure7(asked, report)
  local X, y = points.take({points = asked.points, seed = 1}, points.mostly_right)
  y = points.signs(y)
  local published = {
    figure = 7,
    words = "webspam on 25 processes, 44,351 MB a node over the expander, 50,433 over the chain"}
  local names = {"root-expander", "ring", "all"}
  local function over_graphs(more)
    more.replicas, more.every = 25, every_for(more.learner, 25, 20)
    more.settings = {topology "all", topology "root-expander", topology "ring"}
    local found, goal = hold(asked, more)
    published.experiment = more.name
    compare(asked, report, found, goal, names, 25, published)
    local ring, expander = found.ring, found["root-expander"]
    local function apart(each) return each.curve[#each.curve].disagreement end
    if ring and expander then
      say(asked, "In the end replicas are %.3f of the mean's norm apart over the ring, %.3f " ..
        "over the expander.", apart(ring), apart(expander))
    end
    return goal
  end
  local goal = over_graphs {
    name = "figure7", title = "Figure 7: 25 replicas", learner = learners.svm(X, y, asked.reg),
    rates = asked.quick and {2} or {0.1, 0.5, 2, 4}, target = 1.15 * asked.target}
  X, y = by_label(X, y)
  over_graphs {
    name = "figure7-labels", learner = learners.svm(X, y, asked.reg), goal = 1.15 * goal,
    title = "Figure 7: 25 replicas, points in the order of their labels",
    passes = asked.quick and asked.passes or 3 * asked.passes,
    rates = asked.quick and {2} or {0.5, 2, 4}}
  say(asked, [[
The ring sends half as much a round, so it sends more to the target only where it takes more than
twice the rounds. Where shares are alike it does not: the mean of all evens out how far replicas are
apart. Where one replica has one label, and another one the other, a small gap costs what the paper
says. (Serial passes are through one label after the other there.)]])
end

-- Samples a second, beside the published ones.
local function throughput(found, names, workers)
  local words = {}
  for _, name in ipairs(names) do
    local last = found[name] and found[name].curve[#found[name].curve]
    if last then
      words[#words + 1] = ("%s %.0f (waits take %.0f %% of workers' time)"):format(
        name, last.samples / last.seconds, 100 * last.waited / last.seconds / workers)
    end
  end
  return table.concat(words, ", ")
end

-- Handwritten digits, as many as asked for to learn.
local function digits(asked)
  local data = classifier.data {data = asked.directory .. "../spec/data/optdigits.tra.gz",
                                test = asked.directory .. "../spec/data/optdigits.tes.gz"}
  local count = math.min(asked.pictures, data.X:size(1))
  data.X, data.y = data.X:narrow(1, 1, count):clone(), data.y:narrow(1, 1, count):clone()
  return data
end

--- A convolutional network on 8 replicas that all hear all.
function M.figure9(asked)
  local learner = learners.cnn(digits(asked), 8, 4, 0.9)
  meissa.init {workers = asked.nodes, quiet = true}
  local names = {"notify-ack", "barrier", "async"}
  local settings = {topology "all"}
  for _, way in ipairs(names) do settings[#settings + 1] = waiting(way, "all", {sync = way}) end
  local found = hold(asked, {
    name = "figure9", title = ("Figure 9: digits, loss: the share of errors, on %d workers"):format(
      asked.nodes), learner = learner, replicas = asked.nodes, every = 2,
    passes = asked.quick and 2 or 8, rates = asked.quick and {0.05} or {0.02, 0.05},
    goal = 0.02, settings = settings})
  meissa.init {workers = asked.workers, quiet = true}
  say(asked, [[
pictures a second: %s
published, figure 9: NOTIFY-ACK 229.3, BSP 217.8, ASYNC 246, of which ASYNC converges worst; there
each machine has its own cores, here 8 workers share those of one host.]],
    throughput(found, names, asked.nodes))
end

--- A multilayer network over topologies.
function M.network(asked)
  hold(asked, {
    name = "network", title = "A multilayer network on digits, loss: the share of errors",
    learner = learners.mlp(digits(asked), 32, 4, 0.9), every = 2,
    passes = asked.quick and 2 or 8, rates = asked.quick and {0.05} or {0.02, 0.05, 0.1},
    goal = 0.02, settings = {topology "all", topology "root-expander", topology "ring",
                             topology "one-peer-exponential"}})
end

--- An SVM on 25 replicas over the root expander.
function M.figure10(asked, report)
  local learner, over = svm_on(asked, nil, asked.points), "root-expander"
  local found, goal = hold(asked, {
    name = "figure10", title = "Figure 10: 25 replicas over the root expander", learner = learner,
    rates = asked.quick and {2} or {0.1, 0.5, 2}, replicas = 25,
    every = every_for(learner, 25, 20), target = 1.05 * asked.target,
    settings = {waiting("notify-ack", over, {sync = "notify-ack"}),
                waiting("bsp", over, {sync = "bsp"}),
                waiting("barrier", over, {sync = "barrier"}),
                waiting("async", over, {sync = "async"}),
                waiting("at ends of passes", over, {every = math.huge, topology = "all"})}})
  for _, sync in ipairs {"notify-ack", "barrier", "async"} do
    local least, most = averaging.influence(over, 25, 100, sync)
    if asked.json then
      report:row {influence = sync, least = least, most = most}
    else
      print(("influence of a replica on the mean of all, of what is its share: %.3f to %.3f, %s")
        :format(least, most, sync))
    end
  end
  if asked.json then return end
  local function seconds(name)
    return found[name] and curves.within(found[name].curve, goal).seconds
  end
  local ack, bsp = seconds "notify-ack", seconds "bsp"
  local last = found.async and found.async.curve[#found.async.curve]
  local gain = ack and bsp and ("is %.2f times as fast as bsp"):format(bsp / ack)
  print(("notify-ack %s, async %s; published: 3 times as fast as BSP, async does not converge"):
    format(gain or "is not at the target",
           last and last.loss <= goal and "reaches the target" or "does not reach the target"))
  print [[
The paper's appendix asks for weights that give all replicas the same influence. Where nobody waits
it goes by who is ahead.]]
end

--- Matrix factorization: columns are replicated.
function M.factors(asked)
  local count = math.min(asked.points * 4, 80000)
  local data = ratings.generate {
    users = math.ceil(count / 20) + 50, items = math.ceil(count / 40) + 50, ratings = count,
    seed = 1}
  local learner = learners.mf(data, 8, 0.05)
  hold(asked, {
    name = "factors", title = "Matrix factorization", learner = learner,
    every = every_for(learner, asked.replicas, 10), passes = asked.quick and 2 or 8,
    rates = asked.quick and {0.02} or {0.01, 0.02, 0.05},
    settings = {topology "all", topology "root-expander", topology "ring",
                waiting("r-exp, async", "root-expander", {sync = "async"})}})
end

return M
