#!/usr/bin/env luajit
-- SPDX-License-Identifier: MIT
-- Sparse logistic regression. With --data it reads a file in LIBSVM's form (gz); without, it plants
-- a model and finds it again. Every point adds to the weights of its own features through a buffer,
-- so all points of a stage see the weights as they were when it began: --delay says how many points
-- that are. --update adarevision corrects each step for what came in between (McMahan and Streeter,
-- 2014); sgd takes steps of one size.
local here = (arg[0] or ""):match("^(.*/)") or "./"
package.path = here .. "support/?.lua;" .. package.path
local meissa = require "meissa"
local parallel = meissa.parallel

local M = {} -- the model, for other scripts too: require "train_slr"

--- Weights of so many features, all 0, with `update` "sgd" or "adarevision" and its step size.
function M.new(features, update, rate)
  local w = meissa.zeros(features)
  if update == "sgd" then
    return {w = w, gradient = meissa.buffer(w, {
      apply = function(old, g) return old + rate * g end})}
  end
  -- Per feature the sum of gradients, what it was when the stage began, the revised sum of squares,
  -- and the greatest value that has had.
  local sum, start = meissa.zeros(features), meissa.zeros(features)
  local squares, greatest = meissa.full({features}, 1), meissa.full({features}, 1)
  local function revise(old, g, z, most, total, before)
    local between = total - before
    local step = rate / math.sqrt(most)
    z = z + g * g + 2 * g * between
    if z > most then most = z end
    local smaller = rate / math.sqrt(most)
    return old + smaller * g - (step - smaller) * between, z, most, total + g, before
  end
  return {w = w, sum = sum, start = start, gradient = meissa.buffer(w, {
    apply = revise, with = {squares, greatest, sum, start}})}
end

--- Learns from the points first to last, which all see the weights as they are now; their loss.
function M.stage(model, X, y, first, last, how)
  local w, gradient, loss = model.w, model.gradient, 0
  for i in parallel({first, last}, how) do
    local margin = 0
    for f, v in X[i]:nonzeros() do margin = margin + w[f] * v end
    local label = y[i] > 0 and 1 or 0
    local p = 1 / (1 + math.exp(-margin))
    local g = label - p -- of the log-likelihood, uphill
    loss = loss - math.log(label == 1 and p + 1e-12 or 1 - p + 1e-12)
    for f, v in X[i]:nonzeros() do gradient[f] = gradient[f] + g * v end
  end
  return loss
end

--- What a model remembers of the weights when a stage begins: to be called after each.
function M.settle(model)
  if model.start then model.start:copy(model.sum) end
end

--- The share of points that are classified correctly.
function M.accuracy(model, X, y, how)
  local w, right = model.w, 0
  for i in parallel(X:size(1), how) do
    local margin = 0
    for f, v in X[i]:nonzeros() do margin = margin + w[f] * v end
    if (margin > 0) == (y[i] > 0) then right = right + 1 end
  end
  return right / X:size(1)
end

if ... == "train_slr" then return M end

local points = require "points"
local run = require "run"
local parser = run.parser("train_slr.lua", "Sparse logistic regression.", {rank = true})
parser:epilog [[
LIBSVM's a9a:           --data a9a --test a9a.t
its rcv1.binary:        --data rcv1_train.binary --test rcv1_test.binary --delay 200]]
parser:option("--update", "The rule."):choices {"sgd", "adarevision"}:default "adarevision"
parser:option("--rate", "Step size (default 0.05, of adarevision 0.3)."):convert(tonumber)
parser:option("--delay", "Most points of a stage, which all see the same weights. Fewer learn\n" ..
  "more from a pass, but take longer: a hundredth of the points\n" ..
  "is a good start."):convert(tonumber):default "500"
parser:option("--features", "How many features there are (default: as the data tell)."):convert(
  tonumber)
parser:option("--points", "How many points to generate."):convert(tonumber):default "20000"
parser:option("--save", "Save the weights to this file.")
local options = run.options(parser)
local delay, how = options.delay, {engine = options.engine, ordered = false}
local rate = options.rate or (options.update == "sgd" and 0.05 or 0.3)

local X, y, T, ty = points.take(options, function(sum, draw)
  return sum > 2 * math.log(1 / draw - 1)
end)
local n = X:size(1)
local model = M.new(X:size(2), options.update, rate)

local report = run.report(options, {
  {key = "epoch", title = "epoch", format = "%d"},
  {key = "loss", title = "loss", format = "%.4f"},
  {key = "accuracy", title = "accuracy", format = "%.4f"},
  {key = "seconds", title = "seconds", format = "%.3f"},
})
if not options.json then
  print(("learning from %s, testing on %d points"):format(tostring(X):match("^[^\n]*"), T:size(1)))
end
local epochs, total, loss, right, plan = options.epochs or 20, 0, nil, nil, nil
for epoch = 1, epochs do
  report:progress(epoch - 1, epochs, "learning")
  local started = meissa.clock()
  loss = 0
  for first = 1, n, delay do
    loss = loss + M.stage(model, X, y, first, math.min(first + delay - 1, n), how)
    M.settle(model)
  end
  plan = meissa.last()
  local seconds = meissa.clock() - started
  total = total + seconds
  right = M.accuracy(model, T, ty, how)
  report:row {epoch = epoch, loss = loss / n, accuracy = right, seconds = seconds}
end

if options.save then meissa.save(options.save, {w = model.w}) end
report:summary({
  loss = loss / n, accuracy = right, seconds = total, updates_per_second = epochs * n / total,
}, plan)
if not options.json then
  print "\nThe plan of a stage:\n"
  print(plan)
end
