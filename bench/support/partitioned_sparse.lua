-- SPDX-License-Identifier: MIT
--- The problem of partitioned.lua over sparse examples with many features, of which few are in
-- most of them: an example has `entries` features, drawn so that feature f is about as frequent as
-- 1 / f, and is of norm 1.
--
-- A range takes the residuals of a batch, adds up its own features' gradients, and makes its
-- weights.
local meissa = require "meissa"
local iterate, parallel = meissa.iterate, meissa.parallel
local sleeping = require "sleeping"

local sleep = sleeping.sleep

local M = {}

local function make_data(self, entries)
  local n, at = self.examples, {i = {}, j = {}, v = {}}
  local draws = meissa.rand({n, entries}, {seed = 1})
  local logarithm, count = math.log(self.features), 0
  for e = 1, n do
    local seen = {}
    for k = 1, entries do
      local f = math.min(self.features, math.floor(math.exp(draws[e][k] * logarithm)))
      if not seen[f] then
        count, seen[f] = count + 1, true
        at.i[count], at.j[count] = e, f
      end
    end
    local first = count
    while first > 0 and at.i[first] == e do first = first - 1 end
    for k = first + 1, count do at.v[k] = 1 / math.sqrt(count - first) end
  end
  self.X = meissa.sparse({n, self.features}, at)
  self.y = meissa.zeros(n)
  local known = meissa.randn({self.features}, {seed = 2})
  for e = 1, n do
    local sum = 0
    for f, x in self.X[e]:nonzeros() do sum = sum + x * known[f] end
    self.y[e] = sum
  end
end

-- About the greatest curvature of the loss of all examples, by powers of its second derivative.
local function curvature(self)
  local X, v, norm = self.X, meissa.ones(self.features), 0
  for _ = 1, 6 do
    v:mul(1 / v:norm())
    local next_v = meissa.zeros(self.features)
    for e = 1, self.examples do
      local s = 0
      for f, x in X[e]:nonzeros() do s = s + x * v[f] end
      for f, x in X[e]:nonzeros() do next_v[f] = next_v[f] + s * x / self.examples end
    end
    v, norm = next_v, next_v:norm()
  end
  return norm
end

--- A problem. @int features @int examples @int entries of an example
function M.new(features, examples, entries)
  local self = {features = features, examples = examples}
  make_data(self, entries)
  self.curvature = curvature(self)
  return self
end

--- The step size of batches of so many examples: a share of what the curvature lets be, that of one
-- example is 1.
function M.rate(self, rate, size) return rate / (self.curvature + 1 / size) end

--- The mean square error of weights.
function M.loss(self, w)
  local X, y, sum = self.X, self.y, 0
  for e = 1, self.examples do
    local r = -y[e]
    for f, x in X[e]:nonzeros() do r = r + x * w[f] end
    sum = sum + r ^ 2
  end
  return sum / self.examples
end

--- Rounds by meissa.iterate, of `size` examples each, on new weights, which it returns.
-- @tab options of iterate
function M.rounds(self, rounds, size, rate, options)
  local X, y, examples, w = self.X, self.y, self.examples, meissa.zeros(self.features)
  local gradient = meissa.scratch(self.features)
  for t, lo, hi in iterate(w, rounds, options) do
    local first = (t - 1) * size % examples
    for f = lo, hi do gradient[f] = 0 end
    for b = 1, size do
      local e = (first + b - 1) % examples + 1
      local residual = -y[e]
      for f, x in X[e]:nonzeros() do residual = residual + x * w[f] end
      for f, x in X[e]:nonzeros() do
        if f >= lo and f <= hi then gradient[f] = gradient[f] + residual * x end
      end
    end
    for f = lo, hi do
      local g = gradient[f]
      w[f] = w[f] - rate / size * g
    end
  end
  return w
end

--- The same with naps and one example.
function M.sleeping_rounds(self, rounds, nap, rate, options)
  local X, y, examples, w = self.X, self.y, self.examples, meissa.zeros(self.features)
  for t, lo, hi in iterate(w, rounds, options) do
    sleep(nap, t, lo)
    local e = (t - 1) % examples + 1
    local residual = -y[e]
    for f, x in X[e]:nonzeros() do residual = residual + x * w[f] end
    w[lo] = w[lo] - rate * residual * hi / (hi + lo)
  end
  return w
end

--- The same rounds, each a parallel loop over the ranges from one array to another. Also gives the
-- seconds that each worker was busy.
function M.driver(self, rounds, size, rate, ranges)
  local X, y, examples, features = self.X, self.y, self.examples, self.features
  local one = {grid = {ranges}, assume = "independent", engine = "native"}
  local gradient = meissa.scratch(features)
  return sleeping.by_driver(features, rounds, function(t, a, b)
    local first = (t - 1) * size % examples
    for r in parallel(ranges, one) do
      local lo, hi = math.floor((r - 1) * features / ranges) + 1, math.floor(r * features / ranges)
      for f = lo, hi do gradient[f] = 0 end
      for k = 1, size do
        local e = (first + k - 1) % examples + 1
        local residual = -y[e]
        for f, x in X[e]:nonzeros() do residual = residual + x * a[f] end
        for f, x in X[e]:nonzeros() do
          if f >= lo and f <= hi then gradient[f] = gradient[f] + residual * x end
        end
      end
      for f = lo, hi do
        local g = gradient[f]
        b[f] = a[f] - rate / size * g
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
      local residual = -y[e]
      for f, x in X[e]:nonzeros() do residual = residual + x * a[f] end
      b[lo] = a[lo] - rate * residual * hi / (hi + lo)
    end
  end)
end

M.empty = sleeping.empty

return M
