#!/usr/bin/env luajit
-- SPDX-License-Identifier: MIT
-- A sweep over step sizes and regularisations of matrix factorization: meissa.map trains one model
-- for each pair, on all workers at once. What it calls is train_mf.lua's own training, parallel
-- loop and all: on a worker that is the plain loop.
local here = arg[0]:match("^(.*/)") or "./"
package.path = here .. "?.lua;" .. here .. "support/?.lua;" .. package.path
local meissa = require "meissa"
local mf = require "train_mf"
local run = require "run"

local parser = run.parser("sweep.lua", "The best step size and regularisation of train_mf.lua.")
parser:option("--rates", "Step sizes."):args "+":convert(tonumber)
parser:option("--regs", "Regularisations."):args "+":convert(tonumber)
parser:option("--ratings", "How many ratings to generate."):convert(tonumber):default "100000"
local options = run.options(parser)
local rates, regs = options.rates or {0.005, 0.01, 0.02, 0.04}, options.regs or {0.02, 0.05, 0.1}
local rank, epochs, seed = options.rank or 8, options.epochs or 10, options.seed

local function read(path, like)
  return run.read(meissa.read.triples, path, {skip = path:find("%.csv") and 1 or 0, like = like,
                                              type = "float"})
end

local train, test
if options.data and options.test then
  train = read(options.data)
  test = read(options.test, train)
else
  local all = options.data and read(options.data) or require("ratings").generate {
    users = 2000, items = 1500, ratings = options.ratings, seed = seed}
  train, test = all:split(0.9, {seed = seed})
end

local pairs_of = {}
for _, rate in ipairs(rates) do
  for _, reg in ipairs(regs) do pairs_of[#pairs_of + 1] = {rate = rate, reg = reg} end
end

local started = meissa.clock()
local errors = meissa.map(pairs_of, function(each)
  local model = mf.new(train, rank, seed)
  for _ = 1, epochs do mf.sgd(model, train, each.rate, each.reg) end
  return mf.rmse(model, test)
end)
local total, plan = meissa.clock() - started, meissa.last()

local report = run.report(options, {
  {key = "rate", title = "rate", format = "%g"},
  {key = "reg", title = "reg", format = "%g"},
  {key = "test_rmse", title = "test RMSE", format = "%.4f"},
})
local best = 1
for k, each in ipairs(pairs_of) do
  report:row {rate = each.rate, reg = each.reg, test_rmse = errors[k]}
  if errors[k] < errors[best] then best = k end
end
report:summary({
  rate = pairs_of[best].rate, reg = pairs_of[best].reg, test_rmse = errors[best], seconds = total,
  updates_per_second = #pairs_of * epochs * train:nnz() / total,
}, plan)
if not options.json then
  print(("\n%d models in %.1f s on %d workers. The best: --rate %g --reg %g"):format(
    #pairs_of, total, plan.workers, pairs_of[best].rate, pairs_of[best].reg))
end
