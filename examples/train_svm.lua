#!/usr/bin/env luajit
-- SPDX-License-Identifier: MIT
-- A linear support vector machine by stochastic gradient descent on replicas: the examples are
-- shared out to --replicas copies of the weights, which are exchanged every so many examples over a
-- topology. With --data it reads a file in LIBSVM's form (gz); without, it plants a model and finds
-- it again. The result depends on the number of replicas, not on that of workers.
local here = (arg[0] or ""):match("^(.*/)") or "./"
package.path = here .. "support/?.lua;" .. package.path
local meissa = require "meissa"
local parallel = meissa.parallel

local M = {} -- the model, for other scripts too: require "train_svm"

--- One pass over the examples, with replicas r of the weights.
function M.pass(r, X, y, rate, reg, how)
  for e in parallel(X:size(1), how) do
    local margin = 0
    for f, x in X[e]:nonzeros() do margin = margin + r[f] * x end
    margin = margin * y[e]
    for f, x in X[e]:nonzeros() do
      local g = reg * r[f]
      if margin < 1 then g = g - y[e] * x end
      r[f] = r[f] - rate * g
    end
  end
end

--- The mean hinge loss of the weights, and the share of points that are classified correctly.
function M.measure(w, X, y, how)
  local loss, right = 0, 0
  for e in parallel(X:size(1), how) do
    local margin = 0
    for f, x in X[e]:nonzeros() do margin = margin + w[f] * x end
    margin = margin * y[e]
    if margin < 1 then loss = loss + 1 - margin end
    if margin > 0 then right = right + 1 end
  end
  return loss / X:size(1), right / X:size(1)
end

if ... == "train_svm" then return M end

local points = require "points"
local run = require "run"
local parser = run.parser("train_svm.lua", "A support vector machine by SGD on replicas.",
                          {rank = true})
parser:epilog [[
LIBSVM's a9a:           --data a9a --test a9a.t
its rcv1.binary:        --data rcv1_train.binary --test rcv1_test.binary --rate 0.5 --reg 1e-5]]
parser:option("--replicas", "How many copies of the weights learn."):convert(tonumber):default "8"
parser:option("--every", "Examples of a replica from one exchange to the next."):convert(
  tonumber):default "500"
parser:option("--topology", "Who hears whom (meissa.topology)."):default "all"
parser:option("--rate", "Step size; that of epoch k is a k-th of it."):convert(
  tonumber):default "0.05"
parser:option("--reg", "Weight of the squared norm."):convert(tonumber):default "0.0001"
parser:option("--features", "How many features there are (default: as the data tell)."):convert(
  tonumber)
parser:option("--points", "How many points to generate."):convert(tonumber):default "20000"
parser:option("--save", "Save the weights to this file.")
local options = run.options(parser)
local how = {engine = options.engine, ordered = false}

local X, y, T, ty = points.take(options, points.mostly_right)
y, ty = points.signs(y), points.signs(ty)

local w = meissa.zeros(X:size(2))
local made, r = pcall(meissa.replicate, w, {
  replicas = options.replicas, every = options.every, topology = options.topology})
if not made then parser:error(r.message or tostring(r)) end

local report = run.report(options, {
  {key = "epoch", title = "epoch", format = "%d"},
  {key = "loss", title = "loss", format = "%.4f"},
  {key = "accuracy", title = "accuracy", format = "%.4f"},
  {key = "exchanges", title = "exchanges", format = "%d"},
  {key = "megabytes", title = "MB sent", format = "%.2f"},
  {key = "seconds", title = "seconds", format = "%.3f"},
})
if not options.json then
  print(("learning from %s, testing on %d points"):format(tostring(X):match("^[^\n]*"), T:size(1)))
end
local epochs, total, loss, right, plan = options.epochs or 10, 0, nil, nil, nil
for epoch = 1, epochs do
  report:progress(epoch - 1, epochs, "learning")
  local started = meissa.clock()
  M.pass(r, X, y, options.rate / epoch, options.reg, {engine = options.engine})
  plan = meissa.last()
  local seconds = meissa.clock() - started
  total = total + seconds
  loss, right = M.measure(w, T, ty, how)
  report:row {epoch = epoch, loss = loss, accuracy = right, exchanges = plan.rounds,
              megabytes = plan.exchanged / 1e6, seconds = seconds}
end

if options.save then meissa.save(options.save, {w = w}) end
report:summary({
  loss = loss, accuracy = right, seconds = total, guarantee = plan.guarantee,
  replicas = options.replicas, updates_per_second = epochs * X:size(1) / total,
}, plan)
if not options.json then
  print "\nThe plan of a pass:\n"
  print(plan)
end
