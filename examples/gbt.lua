#!/usr/bin/env luajit
-- SPDX-License-Identifier: MIT
-- Gradient boosted regression trees: each tree fits what the trees before it leave over, level by
-- level, from histograms of the residuals over binned features. With --data it reads a table of
-- numbers whose last column is the target (CSV or blanks, gz); without, Friedman's first function.
-- The histograms of a level are added up through a buffer, which nothing reads before the level
-- ends.
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
parser:option("--fits", "Train so often, from the beginning; the last training is reported.")
  :convert(tonumber):default "1"
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

-- Bins of equal weight: the greatest value of bin b of a feature is that at b * n / bins in order.
local function find_bins()
  local sorted, places = X:narrow(2, 1, F):transpose():clone():sort(2)
  local bin = meissa.zeros({F, n}, {type = "int32"})
  for f in parallel(F, {engine = engine}) do
    local values, place, own = sorted[f], places[f], bin[f]
    local b, greatest = 1, values[math.ceil(n / bins)]
    for k = 1, n do
      -- a nan goes to the last bin
      while b < bins and (values[k] > greatest or values[k] ~= values[k]) do
        b = b + 1
        greatest = values[math.ceil(b * n / bins)]
      end
      own[place[k]] = b
    end
  end
  return bin:transpose():clone()
end
local bin -- of each point's features

-- The tree under way, numbered as heaps are: nodes 2k and 2k + 1 are the children of k. A histogram
-- has the sum of the residuals and the number of the training points of each bin. Of two siblings
-- only the one with fewer points is `counted`; the other has what is left of their parent's.
local inner = 2 ^ depth - 1
local node, residual = meissa.zeros({n}, {type = "int32"}), meissa.zeros {n}
local feature = meissa.zeros({inner}, {type = "int32"}) -- 0: all points go to the left
local split = meissa.zeros({inner}, {type = "int32"})
local counted = meissa.zeros({2 * inner + 1}, {type = "int32"})
local value, prediction = meissa.zeros {2 * inner + 1}, meissa.zeros {n}
local histogram = meissa.zeros {inner, F, bins, 2}
local histogram_of = meissa.buffer(histogram)

-- Adds a training point to the histogram of a node.
local function add_point(i, at)
  local sums, own, r = histogram_of[at], bin[i], residual[i]
  for f = 1, F do
    local b = own[f]
    sums[f][b][1] = sums[f][b][1] + r
    sums[f][b][2] = sums[f][b][2] + 1
  end
end

-- Finds the split of a node that lessens the squared error the most, and what its children say.
local function find_split(at)
  local best, best_feature, best_bin, best_left, best_few = 1e-9, 0, 0, 0, 0
  local total, number = 0, 0
  for b = 1, bins do
    total, number = total + histogram[at][1][b][1], number + histogram[at][1][b][2]
  end
  local around = total * total / math.max(number, 1)
  for f = 1, F do
    local left, few = 0, 0
    for b = 1, bins - 1 do
      left, few = left + histogram[at][f][b][1], few + histogram[at][f][b][2]
      local right, many = total - left, number - few
      if few >= options.least and many >= options.least then
        local gain = left * left / few + right * right / many - around
        if gain > best then
          best, best_feature, best_bin, best_left, best_few = gain, f, b, left, few
        end
      end
    end
  end
  if best_feature == 0 then best_left, best_few = total, number end
  local left, right, many = 2 * at, 2 * at + 1, number - best_few
  feature[at], split[at] = best_feature, best_bin
  value[left] = options.rate * best_left / math.max(best_few, 1)
  value[right] = options.rate * (total - best_left) / math.max(many, 1)
  counted[left] = best_few <= many and 1 or 0
  counted[right] = best_few <= many and 0 or 1
end

-- Where a point goes from its node.
local function next_node(i)
  local f = feature[node[i]]
  return 2 * node[i] + (f > 0 and bin[i][f] > split[node[i]] and 1 or 0)
end

-- Sends all points one level down, and finds the splits of the nodes that they come to.
local function grow_level(level)
  local first = 2 ^ (level - 2) -- the first of the parents
  for i in parallel(n, {engine = engine}) do
    local at = next_node(i)
    node[i] = at
    if testing[i] == 0 and counted[at] == 1 then add_point(i, at) end
  end
  local plan = meissa.last()
  for parent in parallel({first, 2 * first - 1}, {engine = engine}) do
    local all, left, right = histogram[parent], histogram[2 * parent], histogram[2 * parent + 1]
    local is_left = counted[2 * parent] == 1
    for f = 1, F do
      for b = 1, bins do
        for k = 1, 2 do
          if is_left then
            right[f][b][k] = all[f][b][k] - left[f][b][k]
          else
            left[f][b][k] = all[f][b][k] - right[f][b][k]
          end
        end
      end
    end
    find_split(2 * parent)
    find_split(2 * parent + 1)
  end
  return plan
end

-- One more tree; the errors left on both parts of the data.
local function grow_tree(mean)
  histogram:fill(0)
  for i in parallel(n, {engine = engine}) do
    node[i], residual[i] = 1, target[i] - mean - prediction[i]
    if testing[i] == 0 then add_point(i, 1) end
  end
  local plan = meissa.last()
  for root in parallel(1, {engine = engine}) do find_split(root) end
  for level = 2, depth do plan = grow_level(level) end
  local trained, tested = 0, 0
  for i in parallel(n, {engine = engine}) do
    prediction[i] = prediction[i] + value[next_node(i)]
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
local trees, binning, total, train_r2, test_r2, plan = options.epochs or 50, 0, 0, nil, nil, nil
local function fit(is_last)
  local started = meissa.clock()
  prediction:fill(0)
  bin = find_bins()
  binning, total = meissa.clock() - started, 0
  for tree = 1, trees do
    report:progress(tree - 1, trees, "boosting")
    started = meissa.clock()
    local trained, tested
    trained, tested, plan = grow_tree(mean)
    local seconds = meissa.clock() - started
    total = total + seconds
    train_r2, test_r2 = 1 - trained / trained_around, 1 - tested / tested_around
    if is_last then
      report:row {epoch = tree, train_r2 = train_r2, test_r2 = test_r2, seconds = seconds}
    end
  end
end
for k = 1, options.fits do fit(k == options.fits) end

if options.save then meissa.save(options.save, {prediction = prediction, mean = mean}) end
report:summary({
  train_r2 = train_r2, test_r2 = test_r2, seconds = total, binning = binning,
  updates_per_second = trees * depth * n / total,
}, plan)
if not options.json then
  print "\nThe plan of the histograms:\n"
  print(plan)
end
