#!/usr/bin/env luajit
-- SPDX-License-Identifier: MIT
-- Gradient boosted regression trees: each tree fits what the trees before it leave over, level by
-- level, from histograms of the residuals over binned features. With --data it reads a table of
-- numbers whose last column is the target (CSV or blanks, gz); without, Friedman's first function.
-- The histograms of a level are added up through buffers: nothing reads them before the level ends.
package.path = (arg[0]:match("^(.*/)") or "./") .. "support/?.lua;" .. package.path
local meissa = require "meissa"
local run = require "run"
local parallel = meissa.parallel

local parser = run.parser("gbt.lua", "Gradient boosted regression trees.",
  {rank = true, test = true})
parser:option("--rate", "Shrinkage of each tree."):convert(tonumber):default "0.2"
parser:option("--depth", "Levels of a tree."):convert(tonumber):default "6"
parser:option("--bins", "Bins of a feature."):convert(tonumber):default "64"
parser:option("--least", "Least points of a leaf."):convert(tonumber):default "10"
parser:option("--points", "How many points to generate."):convert(tonumber):default "20000"
parser:option("--save", "Save the predictions for the test points to this file.")
local options = run.options(parser)
local depth, bins, engine = options.depth, options.bins, options.engine

-- Friedman (1991): five features matter, five do not.
local function generate(points)
  local X = meissa.rand({points, 11}, {seed = options.seed})
  local noise = meissa.randn({points}, {seed = options.seed + 1})
  for i in parallel(points) do
    local x = X[i]
    x[11] = 10 * math.sin(math.pi * x[1] * x[2]) + 20 * (x[3] - 0.5) * (x[3] - 0.5) + 10 * x[4] +
      5 * x[5] + noise[i]
  end
  return X
end

local X = options.data and run.read(meissa.read.csv, options.data) or generate(options.points)
local n, F = X:size(1), X:size(2) - 1
local target = X:select(2, F + 1):clone() -- side by side

-- Every fifth point is for testing.
local testing = meissa.zeros {n}
for i in parallel(n) do testing[i] = i % 5 == 0 and 1 or 0 end

-- Bins of equal weight: cuts[f][b] is the greatest value of bin b of feature f.
local cuts = meissa.zeros {F, bins}
for f = 1, F do
  local sorted, column = {}, X:select(2, f)
  for i = 1, n do sorted[i] = column[i] end
  table.sort(sorted)
  for b = 1, bins do cuts[f][b] = sorted[math.ceil(b * n / bins)] end
end
local bin = meissa.zeros({n, F}, {type = "int32"})
for i in parallel(n, {engine = engine}) do
  local x, own = X[i], bin[i]
  for f = 1, F do
    local cut, low, high = cuts[f], 1, bins
    while low < high do
      local middle = math.floor((low + high) / 2)
      if x[f] <= cut[middle] then high = middle else low = middle + 1 end
    end
    own[f] = low
  end
end

-- Of the tree under way: where each point is, its residual, each node's split and value.
local nodes = 2 ^ depth
local node, residual = meissa.zeros({n}, {type = "int32"}), meissa.zeros {n}
local feature = meissa.zeros({nodes}, {type = "int32"})
local split = meissa.zeros({nodes}, {type = "int32"})
local value, prediction = meissa.zeros {nodes}, meissa.zeros {n}
local sums, counts = meissa.zeros {nodes, F, bins}, meissa.zeros {nodes, F, bins}
local sums_of, counts_of = meissa.buffer(sums), meissa.buffer(counts)

-- Finds the splits of so many nodes that lessen the squared error the most; feature 0: none does.
local function find_splits(width)
  local least = options.least
  for at in parallel(width, {engine = engine}) do
    local best, best_feature, best_bin = 0, 0, 0
    for f = 1, F do
      local sum, count, total, number = sums[at][f], counts[at][f], 0, 0
      for b = 1, bins do total, number = total + sum[b], number + count[b] end
      local left, few = 0, 0
      for b = 1, bins - 1 do
        left, few = left + sum[b], few + count[b]
        local right, many = total - left, number - few
        if few >= least and many >= least then
          local gain = left * left / few + right * right / many - total * total / number
          if gain > best + 1e-9 then best, best_feature, best_bin = gain, f, b end
        end
      end
    end
    feature[at], split[at] = best_feature, best_bin
  end
end

-- Adds up the histograms of a level's nodes, and sends every point to a node of the next.
local function grow_level(level)
  local width = 2 ^ (level - 1)
  sums:narrow(1, 1, width):fill(0)
  counts:narrow(1, 1, width):fill(0)
  for i in parallel(n, {engine = engine}) do
    if testing[i] == 0 then
      local at, own, r = node[i], bin[i], residual[i]
      local sum, count = sums_of[at], counts_of[at]
      for f = 1, F do
        local b = own[f]
        sum[f][b] = sum[f][b] + r
        count[f][b] = count[f][b] + 1
      end
    end
  end
  local plan = meissa.last()
  find_splits(width)
  for i in parallel(n, {engine = engine}) do
    local at = node[i]
    local f = feature[at]
    local right = f > 0 and bin[i][f] > split[at]
    node[i] = 2 * at - 1 + (right and 1 or 0)
  end
  return plan
end

local leaf_sums, leaf_counts = meissa.zeros {nodes}, meissa.zeros {nodes}
local leaf_sums_of, leaf_counts_of = meissa.buffer(leaf_sums), meissa.buffer(leaf_counts)

-- One more tree; the errors left on both parts of the data.
local function grow_tree(mean, rate)
  for i in parallel(n, {engine = engine}) do
    node[i], residual[i] = 1, target[i] - mean - prediction[i]
  end
  local plan
  for level = 1, depth do plan = grow_level(level) end
  leaf_sums:fill(0)
  leaf_counts:fill(0)
  for i in parallel(n, {engine = engine}) do
    if testing[i] == 0 then
      local at = node[i]
      leaf_sums_of[at] = leaf_sums_of[at] + residual[i]
      leaf_counts_of[at] = leaf_counts_of[at] + 1
    end
  end
  for at = 1, nodes do
    value[at] = leaf_counts[at] > 0 and rate * leaf_sums[at] / leaf_counts[at] or 0
  end
  local trained, tested = 0, 0
  for i in parallel(n, {engine = engine}) do
    prediction[i] = prediction[i] + value[node[i]]
    local e = target[i] - mean - prediction[i]
    if testing[i] == 0 then trained = trained + e * e else tested = tested + e * e end
  end
  return trained, tested, plan
end

-- Mean of the training targets, sums of squares around it on both parts.
local function spread()
  local sum, count, trained, tested = 0, 0, 0, 0
  for i in parallel(n) do
    if testing[i] == 0 then sum, count = sum + target[i], count + 1 end
  end
  local mean = sum / count
  for i in parallel(n) do
    local e = target[i] - mean
    if testing[i] == 0 then trained = trained + e * e else tested = tested + e * e end
  end
  return mean, trained, tested
end

local report = run.report(options, {
  {key = "epoch", title = "tree", format = "%d"},
  {key = "train_r2", title = "train R2", format = "%.4f"},
  {key = "test_r2", title = "test R2", format = "%.4f"},
  {key = "seconds", title = "seconds", format = "%.3f"},
})
if not options.json then print(("boosting on %d points, %d features"):format(n, F)) end
local mean, trained_around, tested_around = spread()
local trees, total, train_r2, test_r2, plan = options.epochs or 50, 0, nil, nil, nil
for tree = 1, trees do
  report:progress(tree - 1, trees, "boosting")
  local started = meissa.clock()
  local trained, tested
  trained, tested, plan = grow_tree(mean, options.rate)
  local seconds = meissa.clock() - started
  total = total + seconds
  train_r2, test_r2 = 1 - trained / trained_around, 1 - tested / tested_around
  report:row {epoch = tree, train_r2 = train_r2, test_r2 = test_r2, seconds = seconds}
end

if options.save then meissa.save(options.save, {prediction = prediction, mean = mean}) end
report:summary {
  train_r2 = train_r2, test_r2 = test_r2, seconds = total, workers = plan.workers,
  engine = plan.engine, strategy = plan.strategy,
  updates_per_second = trees * depth * n / total,
}
if not options.json then
  print "\nThe plan of the histograms:\n"
  print(plan)
end
