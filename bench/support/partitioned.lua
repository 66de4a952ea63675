-- SPDX-License-Identifier: MIT
--- Linear regression whose parameters are parted by features, as rounds and as a driver loop.
--
-- Each range of features reads all weights of the round before, takes the residuals of a batch, and
-- makes its own weights (Goel et al., "Parameter Database", section 3). With `nap` a range sleeps
-- that many microseconds, half as long to half as long again, and takes one example alone: many
-- workers on few cores wait for each other then, not for cores.
local meissa = require "meissa"
local iterate, parallel = meissa.iterate, meissa.parallel
local sleeping = require "sleeping"

local sleep = sleeping.sleep

local M = {}

-- Examples of unit variance, and what weights that are known make of them.
local function make_data(self)
  self.X = meissa.randn({self.examples, self.features}, {seed = 1})
  self.y = meissa.zeros(self.examples)
  local known = meissa.randn({self.features}, {seed = 2})
  for e = 1, self.examples do self.y[e] = self.X[e]:dot(known) end
end

--- A problem. @int features @int examples
function M.new(features, examples)
  local self = {features = features, examples = examples}
  make_data(self)
  return self
end

--- The step size of batches of so many examples, whose greatest curvature is about
-- (1 + sqrt(features / size))^2: a share of what that lets be.
function M.rate(self, rate, size) return rate / (1 + math.sqrt(self.features / size)) ^ 2 end

--- The mean square error of weights.
function M.loss(self, w)
  local X, y, sum = self.X, self.y, 0
  for e = 1, self.examples do sum = sum + (X[e]:dot(w) - y[e]) ^ 2 end
  return sum / self.examples
end

--- Rounds by meissa.iterate, of `size` examples each, on new weights, which it returns.
-- @tab options of iterate
function M.rounds(self, rounds, size, rate, options)
  local X, y, examples, w = self.X, self.y, self.examples, meissa.zeros(self.features)
  for t, lo, hi in iterate(w, rounds, options) do
    local first = (t - 1) * size % examples
    local residual = {}
    for b = 1, size do
      local e = (first + b - 1) % examples + 1
      residual[b] = X[e]:dot(w) - y[e]
    end
    for f = lo, hi do
      local gradient = 0
      for b = 1, size do
        gradient = gradient + residual[b] * X[(first + b - 1) % examples + 1][f]
      end
      w[f] = w[f] - rate / size * gradient
    end
  end
  return w
end

--- The same with naps.
function M.sleeping_rounds(self, rounds, nap, rate, options)
  local X, y, examples, w = self.X, self.y, self.examples, meissa.zeros(self.features)
  for t, lo, hi in iterate(w, rounds, options) do
    sleep(nap, t, lo)
    local e = (t - 1) % examples + 1
    local residual = X[e]:dot(w) - y[e]
    for f = lo, hi do w[f] = w[f] - rate * residual * X[e][f] end
  end
  return w
end

--- The same rounds, each a parallel loop over the ranges from one array to another: all begin
-- together, and all are waited for. Also gives the seconds that each worker was busy.
function M.driver(self, rounds, size, rate, ranges)
  local X, y, examples, features = self.X, self.y, self.examples, self.features
  local one = {grid = {ranges}, assume = "independent", engine = "native"}
  return sleeping.by_driver(features, rounds, function(t, a, b)
    local first = (t - 1) * size % examples
    for r in parallel(ranges, one) do
      local lo, hi = math.floor((r - 1) * features / ranges) + 1, math.floor(r * features / ranges)
      local residual = {}
      for k = 1, size do
        local e = (first + k - 1) % examples + 1
        residual[k] = X[e]:dot(a) - y[e]
      end
      for f = lo, hi do
        local gradient = 0
        for k = 1, size do
          gradient = gradient + residual[k] * X[(first + k - 1) % examples + 1][f]
        end
        b[f] = a[f] - rate / size * gradient
      end
    end
  end)
end

--- The same with naps.
function M.sleeping_driver(self, rounds, nap, rate, ranges)
  local X, y, examples, features = self.X, self.y, self.examples, self.features
  local one = {grid = {ranges}, assume = "independent", engine = "lua", impure = true}
  return sleeping.by_driver(features, rounds, function(t, a, b)
    local e = (t - 1) % examples + 1
    for r in parallel(ranges, one) do
      local lo, hi = math.floor((r - 1) * features / ranges) + 1, math.floor(r * features / ranges)
      sleep(nap, t, lo)
      local residual = X[e]:dot(a) - y[e]
      for f = lo, hi do b[f] = a[f] - rate * residual * X[e][f] end
    end
  end)
end

M.empty = sleeping.empty

return M
