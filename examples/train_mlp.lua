#!/usr/bin/env luajit
-- SPDX-License-Identifier: MIT
-- A multilayer network by stochastic gradient descent with momentum, data-parallel: batches are
-- shared out to --replicas copies of the weights, which are averaged every so many batches; each
-- replica keeps a momentum of its own. A batch is five matrix products (BLAS). With --data it
-- reads lines of numbers, the class last (gz); without, it makes clusters of points.
local here = (arg[0] or ""):match("^(.*/)") or "./"
package.path = here .. "support/?.lua;" .. package.path
local meissa = require "meissa"
local parallel = meissa.parallel

local M = {} -- the model, for other scripts too: require "train_mlp"

--- A network of random weights: {W1, b1, W2, b2}.
function M.new(inputs, hidden, classes, seed)
  return {meissa.randn({inputs, hidden}, {seed = seed, scale = 1 / math.sqrt(inputs)}),
          meissa.zeros(hidden),
          meissa.randn({hidden, classes}, {seed = seed + 1, scale = 1 / math.sqrt(hidden)}),
          meissa.zeros(classes)}
end

--- Replicas of a network and of its momentum, for M.pass.
function M.replicate(net, options)
  local zeros = {}
  for k, each in ipairs(net) do zeros[k] = each:clone():fill(0) end
  local self = {meissa.replicate(net, options)}
  self.momentum = {meissa.replicate(zeros, {replicas = options.replicas, exchange = false})}
  return self
end

--- Goes `passes` times through the points, in batches of `size`; the mean loss.
function M.pass(replicas, X, y, passes, size, rate, decay, how)
  local W1, b1, W2, b2 = unpack(replicas)
  local V1, v1, V2, v2 = unpack(replicas.momentum)
  local hidden, classes = how.hidden, how.classes
  local H, O = meissa.scratch(size, hidden), meissa.scratch(size, classes)
  local D = meissa.scratch(size, hidden)
  local batches, loss = math.floor(X:size(1) / size), 0
  local step = -rate / size
  for _, batch in parallel(passes, batches, {engine = how.engine}) do
    local first = (batch - 1) * size
    local x = X[{{first + 1, first + size}}]
    for i = 1, size do
      for k = 1, hidden do H[i][k] = b1[k] end
      for k = 1, classes do O[i][k] = b2[k] end
    end
    H:gemm(1, 1, x, W1)
    H:tanh()
    O:gemm(1, 1, H, W2)
    for i = 1, size do -- O becomes the slope of the loss: softmax less what is right
      local most, sum, right = O[i][1], 0, y[first + i]
      for k = 2, classes do
        if O[i][k] > most then most = O[i][k] end
      end
      for k = 1, classes do
        O[i][k] = math.exp(O[i][k] - most)
        sum = sum + O[i][k]
      end
      for k = 1, classes do O[i][k] = O[i][k] / sum end
      loss = loss - math.log(O[i][right] + 1e-300)
      O[i][right] = O[i][right] - 1
    end
    D:gemm(0, 1, O, W2:transpose())
    for i = 1, size do
      for k = 1, hidden do D[i][k] = D[i][k] * (1 - H[i][k] * H[i][k]) end
    end
    V2:gemm(decay, step, H:transpose(), O)
    V1:gemm(decay, step, x:transpose(), D)
    for k = 1, classes do
      local sum = 0
      for i = 1, size do sum = sum + O[i][k] end
      v2[k] = decay * v2[k] + step * sum
      b2[k] = b2[k] + v2[k]
    end
    for k = 1, hidden do
      local sum = 0
      for i = 1, size do sum = sum + D[i][k] end
      v1[k] = decay * v1[k] + step * sum
      b1[k] = b1[k] + v1[k]
    end
    W2:add(V2)
    W1:add(V1)
  end
  return loss / (passes * batches * size)
end

--- The share of points that a network puts into their class.
function M.accuracy(net, X, y)
  local W1, b1, W2, b2 = unpack(net)
  local n, hidden, classes = X:size(1), b1:size(1), b2:size(1)
  local H, O, right = meissa.zeros(n, hidden), meissa.zeros(n, classes), 0
  for i, k in parallel(n, hidden) do H[i][k] = b1[k] end
  for i, k in parallel(n, classes) do O[i][k] = b2[k] end
  H:gemm(1, 1, X, W1)
  H:tanh()
  O:gemm(1, 1, H, W2)
  for i in parallel(n) do
    local best = 1
    for k = 2, classes do
      if O[i][k] > O[i][best] then best = k end
    end
    if best == y[i] then right = right + 1 end
  end
  return right / n
end

if ... == "train_mlp" then return M end

local run = require "run"
local parser = run.parser("train_mlp.lua", "A multilayer network on replicas.", {rank = true})
parser:epilog [[
UCI's optdigits:        --data optdigits.tra --test optdigits.tes]]
parser:option("--replicas", "How many copies of the network learn."):convert(
  tonumber):default "4"
parser:option("--every", "Batches of a replica from one exchange to the next."):convert(
  tonumber):default "4"
parser:option("--topology", "Who hears whom (meissa.topology)."):default "all"
parser:option("--hidden", "Units of the hidden layer."):convert(tonumber):default "64"
parser:option("--batch", "Points of a batch."):convert(tonumber):default "16"
parser:option("--rate", "Step size."):convert(tonumber):default "0.1"
parser:option("--momentum", "How much of the last step goes into the next."):convert(
  tonumber):default "0.9"
parser:option("--points", "How many points to generate."):convert(tonumber):default "4000"
parser:option("--save", "Save the weights to this file.")
local options = run.options(parser)

-- Points around the centers of ten classes.
local function generate(points, seed)
  local X, y = meissa.randn({points, 64}, {seed = seed}), meissa.zeros(points)
  local centers = meissa.randn({10, 64}, {seed = 1})
  for p in parallel(points) do
    y[p] = (p - 1) % 10 + 1
    for f = 1, 64 do X[p][f] = (X[p][f] + centers[(p - 1) % 10 + 1][f]) / 2 end
  end
  return X, y
end

-- Features scaled by the largest one, and classes from 1.
local function read(path, scale)
  local table_of = run.read(meissa.read.csv, path)
  local n, columns = table_of:size(1), table_of:size(2)
  local X, y = meissa.zeros(n, columns - 1), meissa.zeros(n)
  scale = scale or 1 / table_of:narrow(2, 1, columns - 1):max()
  for p in parallel(n) do
    for f = 1, columns - 1 do X[p][f] = table_of[p][f] * scale end
    y[p] = table_of[p][columns] + 1
  end
  return X, y, scale
end

local X, y, T, ty, scale
if options.data then
  X, y, scale = read(options.data)
  T, ty = X, y
  if options.test then T, ty = read(options.test, scale) end
else
  X, y = generate(options.points, options.seed + 1)
  T, ty = generate(math.ceil(options.points / 4), options.seed + 2)
end
local classes = y:max()
local net = M.new(X:size(2), options.hidden, classes, options.seed)
local made, replicas = pcall(M.replicate, net, {
  replicas = options.replicas, every = options.every, topology = options.topology,
  shuffle = options.seed})
if not made then parser:error(replicas.message or tostring(replicas)) end

local report = run.report(options, {
  {key = "epoch", title = "epoch", format = "%d"},
  {key = "loss", title = "loss", format = "%.4f"},
  {key = "accuracy", title = "accuracy", format = "%.4f"},
  {key = "exchanges", title = "exchanges", format = "%d"},
  {key = "seconds", title = "seconds", format = "%.3f"},
})
if not options.json then
  print(("learning from %d points of %d numbers, testing on %d"):format(X:size(1), X:size(2),
                                                                       T:size(1)))
end
local epochs, total, loss, right, plan = options.epochs or 30, 0, nil, nil, nil
for epoch = 1, epochs do
  report:progress(epoch - 1, epochs, "learning")
  local started = meissa.clock()
  loss = M.pass(replicas, X, y, 1, options.batch, options.rate, options.momentum,
                {engine = options.engine, hidden = options.hidden, classes = classes})
  plan = meissa.last()
  local seconds = meissa.clock() - started
  total = total + seconds
  right = M.accuracy(net, T, ty)
  report:row {epoch = epoch, loss = loss, accuracy = right, exchanges = plan.rounds,
              seconds = seconds}
end

if options.save then
  meissa.save(options.save, {W1 = net[1], b1 = net[2], W2 = net[3], b2 = net[4]})
end
report:summary {
  loss = loss, accuracy = right, seconds = total, workers = plan.workers, engine = plan.engine,
  strategy = plan.strategy, guarantee = plan.guarantee, replicas = options.replicas,
  updates_per_second = epochs * X:size(1) / total,
}
if not options.json then
  print "\nThe plan of a pass:\n"
  print(plan)
end
