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

--- Goes `passes` times through the points, in batches of `size`; the mean loss.
function M.pass(replicas, X, y, passes, size, rate, decay, how)
  local W1, b1, W2, b2 = unpack(replicas)
  local V1, v1, V2, v2 = unpack(replicas.momentum)
  local hidden, classes = how.hidden, how.classes
  local H, O = meissa.scratch(size, hidden), meissa.scratch(size, classes)
  local D = meissa.scratch(size, hidden)
  local batches, loss = math.floor(X:size(1) / size), 0
  local step = -rate / size
  for _, batch in parallel(passes, batches, {engine = how.engine, serial = how.serial}) do
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

local classifier = require "classifier"
local parser = classifier.parser("train_mlp.lua", "A multilayer network on replicas.",
                                 {every = "4", rate = "0.1"})
parser:option("--hidden", "Units of the hidden layer."):convert(tonumber):default "64"
local options = require("run").options(parser)
local data = classifier.data(options)
local net = M.new(data.X:size(2), options.hidden, data.classes, options.seed)

classifier.train(parser, options, data, net, {"W1", "b1", "W2", "b2"}, function(replicas)
  return M.pass(replicas, data.X, data.y, 1, options.batch, options.rate, options.momentum,
                {engine = options.engine, hidden = options.hidden, classes = data.classes})
end, function() return M.accuracy(net, data.T, data.ty) end)
