#!/usr/bin/env luajit
-- SPDX-License-Identifier: MIT
-- Linear regression by gradient descent whose *parameters* are shared out: each range of features
-- reads all weights of the round before, and makes its own (feature partitioning: Goel et al.,
-- "Parameter Database"). A round uses all examples, a batch of them, or a single one.
package.path = (arg[0]:match("^(.*/)") or "./") .. "support/?.lua;" .. package.path
local meissa = require "meissa"
local run = require "run"

local parser = run.parser("linreg.lua", "Linear regression with shared out parameters.",
  {data = true, test = true, rank = true})
parser:option("--method", "Examples of a round."):choices {"full", "batch", "sample"}:default "full"
parser:option("--features", "Features of the data to make."):convert(tonumber):default "96"
parser:option("--examples", "Examples of the data to make."):convert(tonumber):default "2000"
parser:option("--batch", "Examples of a batch."):convert(tonumber):default "100"
parser:option("--ranges", "Ranges that the features are cut into."):convert(tonumber):default "8"
parser:option("--staleness", "How many rounds old weights may be."):convert(tonumber):default "0"
parser:option("--rate", "Step size."):convert(tonumber):default "0.1"
parser:option("--save", "Save the weights to this file.")
local options = run.options(parser)
local features, examples, rate = options.features, options.examples, options.rate
local rounds = options.epochs or 200
local size = ({full = examples, batch = options.batch, sample = 1})[options.method]
if options.method == "sample" then rate = rate / features end

-- Examples of unit variance, and what weights that are known make of them.
local X = meissa.randn({examples, features}, {seed = options.seed})
local known = meissa.randn({features}, {seed = options.seed + 1})
local y = meissa.zeros(examples)
for e = 1, examples do y[e] = X[e]:dot(known) end

local w = meissa.zeros(features)
local report = run.report(options, {
  {key = "epoch", title = "round", format = "%d"},
  {key = "loss", title = "loss", format = "%.3g"},
  {key = "seconds", title = "seconds", format = "%.3f"},
})
local started, loss, shown = meissa.clock(), nil, 0

-- The mean square error of weights.
local function loss_of(weights)
  local sum = 0
  for e = 1, examples do sum = sum + (X[e]:dot(weights) - y[e]) ^ 2 end
  return sum / examples
end

local function stop(t, weights)
  loss, shown = loss_of(weights), t
  report:row {epoch = t, loss = loss, seconds = meissa.clock() - started}
  return false
end

for t, lo, hi in meissa.iterate(w, rounds, {by = "range", ranges = options.ranges, stop = stop,
    test = math.max(1, math.floor(rounds / 10)), staleness = options.staleness,
    engine = options.engine}) do
  local first = (t - 1) * size % examples -- the batch of this round
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
local last, seconds = meissa.last(), meissa.clock() - started
if shown < rounds then stop(rounds, w) end

if options.save then meissa.save(options.save, w) end
report:summary({
  method = options.method, loss = loss, seconds = seconds, rounds = last.rounds,
  updates_per_second = rounds * size / seconds,
}, last)
if not options.json then
  print(("\n%.0f examples a second. The plan:\n"):format(rounds * size / seconds))
  print(last)
end
