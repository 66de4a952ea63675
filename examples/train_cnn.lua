#!/usr/bin/env luajit
-- SPDX-License-Identifier: MIT
-- A small convolutional network by stochastic gradient descent with momentum, data-parallel: 3 x 3
-- filters over pictures of 8 x 8 points, the largest of each 2 x 2 of what they see, and a layer
-- that tells ten classes apart. Batches are shared out to --replicas copies of the weights, which
-- are averaged every so many batches, or, with --staleness, without waiting for the slowest; each
-- replica keeps a momentum of its own. The body is plain loops, run as machine code. With --data it
-- reads lines of numbers, the class last (gz); without, it makes clusters of points.
local here = (arg[0] or ""):match("^(.*/)") or "./"
package.path = here .. "support/?.lua;" .. package.path
local meissa = require "meissa"
local parallel = meissa.parallel

local M = {} -- the model, for other scripts too: require "train_cnn"

local SIDE, FILTER = 8, 3
local SEEN = SIDE - FILTER + 1  -- places of a filter along a side
local POOLED = SEEN / 2         -- and what is left of them
local TAPS, PLACES, LEFT = FILTER * FILTER, SEEN * SEEN, POOLED * POOLED

--- A network of random weights: {K, b, W, c}: filters, their offsets, the layer behind and its.
function M.new(filters, classes, seed)
  return {meissa.randn({filters, TAPS}, {seed = seed, scale = 1 / FILTER}),
          meissa.zeros(filters),
          meissa.randn({filters * LEFT, classes},
                       {seed = seed + 1, scale = 1 / math.sqrt(filters * LEFT)}),
          meissa.zeros(classes)}
end

-- What each filter sees at each place of a picture x, cut off below 0; P gets the largest of each
-- 2 x 2 places, `from` where that was.
local function look(x, K, b, A, P, from, filters)
  for f = 1, filters do
    for i = 1, SEEN do
      for j = 1, SEEN do
        local sum = b[f]
        for a = 1, FILTER do
          for d = 1, FILTER do
            sum = sum + K[f][(a - 1) * FILTER + d] * x[(i + a - 2) * SIDE + j + d - 1]
          end
        end
        A[f][(i - 1) * SEEN + j] = math.max(sum, 0)
      end
    end
    for i = 1, POOLED do
      for j = 1, POOLED do
        local first = (2 * i - 2) * SEEN + 2 * j - 1
        local best, place = A[f][first], first
        if A[f][first + 1] > best then best, place = A[f][first + 1], first + 1 end
        if A[f][first + SEEN] > best then best, place = A[f][first + SEEN], first + SEEN end
        if A[f][first + SEEN + 1] > best then
          best, place = A[f][first + SEEN + 1], first + SEEN + 1
        end
        local p = (f - 1) * LEFT + (i - 1) * POOLED + j
        P[p], from[p] = best, place
      end
    end
  end
end

-- O = c + P W.
local function judge(P, W, c, O, inputs, classes)
  for k = 1, classes do O[k] = c[k] end
  for p = 1, inputs do
    for k = 1, classes do O[k] = O[k] + P[p] * W[p][k] end
  end
end

--- Goes `passes` times through the pictures, in batches of `size`; the mean loss.
-- @tab how {filters =, classes =, engine =}
function M.pass(replicas, X, y, passes, size, rate, decay, how)
  local K, b, W, c = unpack(replicas)
  local VK, vb, VW, vc = unpack(replicas.momentum)
  local filters, classes = how.filters, how.classes
  local inputs = filters * LEFT
  local A, P, from = meissa.scratch(filters, PLACES), meissa.scratch(inputs), meissa.scratch(inputs)
  local O = meissa.scratch(classes)
  local batches, loss = math.floor(X:size(1) / size), 0
  local step = -rate / size
  for _, batch in parallel(passes, batches, {engine = how.engine, serial = how.serial}) do
    for f = 1, filters do -- the momentum of the last step, to which the batch's slopes are added
      vb[f] = decay * vb[f]
      for t = 1, TAPS do VK[f][t] = decay * VK[f][t] end
    end
    for p = 1, inputs do
      for k = 1, classes do VW[p][k] = decay * VW[p][k] end
    end
    for k = 1, classes do vc[k] = decay * vc[k] end
    for e = (batch - 1) * size + 1, batch * size do
      local x = X[e]
      look(x, K, b, A, P, from, filters)
      judge(P, W, c, O, inputs, classes)
      local most, sum, right = O[1], 0, y[e]
      for k = 2, classes do most = math.max(most, O[k]) end
      for k = 1, classes do
        O[k] = math.exp(O[k] - most)
        sum = sum + O[k]
      end
      for k = 1, classes do O[k] = O[k] / sum end
      loss = loss - math.log(O[right] + 1e-300)
      O[right] = O[right] - 1 -- the slope of the loss: softmax less what is right
      for k = 1, classes do vc[k] = vc[k] + step * O[k] end
      for f = 1, filters do
        for l = 1, LEFT do
          local p = (f - 1) * LEFT + l
          local slope = 0
          for k = 1, classes do
            slope = slope + O[k] * W[p][k]
            VW[p][k] = VW[p][k] + step * P[p] * O[k]
          end
          if P[p] > 0 then
            local i, j = math.floor((from[p] - 1) / SEEN), (from[p] - 1) % SEEN
            vb[f] = vb[f] + step * slope
            for a = 1, FILTER do
              for d = 1, FILTER do
                local t = (a - 1) * FILTER + d
                VK[f][t] = VK[f][t] + step * slope * x[(i + a - 1) * SIDE + j + d]
              end
            end
          end
        end
      end
    end
    for f = 1, filters do
      b[f] = b[f] + vb[f]
      for t = 1, TAPS do K[f][t] = K[f][t] + VK[f][t] end
    end
    for p = 1, inputs do
      for k = 1, classes do W[p][k] = W[p][k] + VW[p][k] end
    end
    for k = 1, classes do c[k] = c[k] + vc[k] end
  end
  return loss / (passes * batches * size)
end

--- The share of pictures that a network puts into their class.
function M.accuracy(net, X, y)
  local K, b, W, c = unpack(net)
  local filters, classes = b:size(1), c:size(1)
  local inputs, right = filters * LEFT, 0
  local A, P, from = meissa.scratch(filters, PLACES), meissa.scratch(inputs), meissa.scratch(inputs)
  local O = meissa.scratch(classes)
  for i in parallel(X:size(1)) do
    look(X[i], K, b, A, P, from, filters)
    judge(P, W, c, O, inputs, classes)
    local best = 1
    for k = 2, classes do
      if O[k] > O[best] then best = k end
    end
    if best == y[i] then right = right + 1 end
  end
  return right / X:size(1)
end

if ... == "train_cnn" then return M end

local classifier = require "classifier"
local parser = classifier.parser("train_cnn.lua", "A small convolutional network on replicas.",
                                 {every = "4", rate = "0.05"})
parser:option("--filters", "Filters of the convolution."):convert(tonumber):default "12"
local options = require("run").options(parser)
local data = classifier.data(options)
if data.X:size(2) ~= SIDE * SIDE then
  parser:error(("pictures are of %d x %d points, and these have %d numbers"):format(
    SIDE, SIDE, data.X:size(2)))
end
local net = M.new(options.filters, data.classes, options.seed)

classifier.train(parser, options, data, net, {"K", "b", "W", "c"}, function(replicas)
  return M.pass(replicas, data.X, data.y, 1, options.batch, options.rate, options.momentum,
                {engine = options.engine, filters = options.filters, classes = data.classes})
end, function() return M.accuracy(net, data.T, data.ty) end)
