#!/usr/bin/env luajit
-- SPDX-License-Identifier: MIT
-- Matrix factorization by stochastic gradient descent: rating ~ mean + biases + W[i] . H[j], with
-- a constant step size or AdaGrad's.
-- With --data it reads user, item, rating triples (MovieLens, tab, "::", gz); without, it plants a
-- low-rank model and finds it again.
local here = (arg[0] or ""):match("^(.*/)") or "./"
package.path = here .. "support/?.lua;" .. package.path
local meissa = require "meissa"
local parallel = meissa.parallel

local M = {} -- the model, for other scripts too: require "train_mf"

--- A model of so many numbers a row and a column, before it has seen anything.
function M.new(train, rank, seed)
  local users, items = train:size(1), train:size(2)
  return {
    K = rank, mu = train:mean(), bu = meissa.zeros(users), bi = meissa.zeros(items),
    W = meissa.randn({users, rank}, {scale = 0.1, seed = seed, type = "float"}),
    H = meissa.randn({items, rank}, {scale = 0.1, seed = seed + 1, type = "float"}),
    -- AdaGrad's sums of squares: LIBMF's rule. A sum starts at 1; a row's is the mean over its
    -- elements.
    sums_w = meissa.full({users}, 1, {type = "float"}),
    sums_h = meissa.full({items}, 1, {type = "float"}),
  }
end

--- A pass with steps of one size; the training error on the way.
function M.sgd(model, train, lr, reg, how)
  local W, H, bu, bi, mu, K = model.W, model.H, model.bu, model.bi, model.mu, model.K
  local sse = 0
  for i, j, r in parallel(train, how) do
    local w, h = W[i], H[j]
    local e = r - mu - bu[i] - bi[j] - w:dot(h)
    sse = sse + e * e
    bu[i] = bu[i] + lr * (e - reg * bu[i])
    bi[j] = bi[j] + lr * (e - reg * bi[j])
    for k = 1, K do
      local wk = w[k]
      w[k] = wk + lr * (e * h[k] - reg * wk)
      h[k] = h[k] + lr * (e * wk - reg * h[k])
    end
  end
  return math.sqrt(sse / train:nnz())
end

--- A pass with a step size for every row and column (AdaGrad); the training error on the way.
function M.adagrad(model, train, lr, reg, how)
  local W, H, bu, bi, mu, K = model.W, model.H, model.bu, model.bi, model.mu, model.K
  local sums_w, sums_h, sse = model.sums_w, model.sums_h, 0
  for i, j, r in parallel(train, how) do
    local w, h = W[i], H[j]
    local e = r - mu - bu[i] - bi[j] - w:dot(h)
    sse = sse + e * e
    local step_w, step_h = lr / math.sqrt(sums_w[i]), lr / math.sqrt(sums_h[j])
    bu[i] = bu[i] + step_w * (e - reg * bu[i])
    bi[j] = bi[j] + step_h * (e - reg * bi[j])
    local sum_w, sum_h = 0, 0
    for k = 1, K do
      local wk, hk = w[k], h[k]
      local gw, gh = reg * wk - e * hk, reg * hk - e * wk
      sum_w = sum_w + gw * gw
      sum_h = sum_h + gh * gh
      w[k] = wk - step_w * gw
      h[k] = hk - step_h * gh
    end
    sums_w[i] = sums_w[i] + sum_w / K
    sums_h[j] = sums_h[j] + sum_h / K
  end
  return math.sqrt(sse / train:nnz())
end

--- The root of the mean squared error.
function M.rmse(model, data, how)
  local W, H, bu, bi, mu, sse = model.W, model.H, model.bu, model.bi, model.mu, 0
  for i, j, r in parallel(data, how) do
    local e = r - mu - bu[i] - bi[j] - W[i]:dot(H[j])
    sse = sse + e * e
  end
  return math.sqrt(sse / data:nnz())
end

if ... == "train_mf" then return M end

local run = require "run"
local parser = run.parser("train_mf.lua", "Matrix factorization on explicit ratings.")
parser:option("--update", "How rows are updated: with one step size, or with one a row that\n" ..
  "shrinks with the root of the sum of its squared gradients (AdaGrad)."):choices {
  "sgd", "adagrad"}:default "sgd"
parser:option("--numeric", "Arithmetic in double, or fast: in the arrays' precision, reordered.")
  :choices {"strict", "fast"}:default "strict"
parser:option("--rate", "Step size (default: 0.02, for AdaGrad 0.1)."):convert(tonumber)
parser:option("--reg", "L2 regularisation."):convert(tonumber):default "0.05"
parser:option("--skip", "Header lines of the data file."):convert(tonumber)
parser:option("--ratings", "How many ratings to generate."):convert(tonumber):default "1000000"
parser:option("--save", "Save the model to this file.")
local options = run.options(parser)
local seed, epochs = options.seed, options.epochs or 20
local lr, reg = options.rate or (options.update == "sgd" and 0.02 or 0.1), options.reg
local how = {engine = options.engine, numeric = options.numeric}

local function read(path, like)
  local skip = options.skip or (path:find("%.csv") and 1 or 0)
  return run.read(meissa.read.triples, path, {skip = skip, like = like, type = "float"})
end

local train, test
if options.data and options.test then
  train = read(options.data)
  test = read(options.test, train)
else
  local all = options.data and read(options.data) or require("ratings").generate {
    users = 6040, items = 3706, ratings = options.ratings, seed = seed}
  train, test = all:split(0.9, {seed = seed})
end

local model = M.new(train, options.rank or 16, seed)

local report = run.report(options, {
  {key = "epoch", title = "epoch", format = "%d"},
  {key = "train_rmse", title = "train RMSE", format = "%.4f"},
  {key = "test_rmse", title = "test RMSE", format = "%.4f"},
  {key = "seconds", title = "seconds", format = "%.3f"},
})
if not options.json then
  print(("training on %d ratings of %d users and %d items, testing on %d ratings"):format(
    train:nnz(), train:size(1), train:size(2), test:nnz()))
end
local plan, train_rmse, test_rmse, total = nil, nil, nil, 0
for epoch = 1, epochs do
  report:progress(epoch - 1, epochs, "training")
  local started = meissa.clock()
  train_rmse = M[options.update](model, train, lr, reg, how)
  plan = meissa.last()
  local seconds = meissa.clock() - started
  total = total + seconds
  test_rmse = M.rmse(model, test, how)
  report:row {epoch = epoch, train_rmse = train_rmse, test_rmse = test_rmse, seconds = seconds}
end

if options.save then
  local W, H, bu, bi, mu = model.W, model.H, model.bu, model.bi, model.mu
  meissa.save(options.save, {W = W, H = H, bu = bu, bi = bi, mu = mu, rank = model.K})
end
report:summary({
  train_rmse = train_rmse, test_rmse = test_rmse, seconds = total,
  updates_per_second = epochs * train:nnz() / total,
}, plan)
if not options.json then
  print(("\n%.1f million updates a second on %d workers. The plan that was used:\n")
    :format(epochs * train:nnz() / total / 1e6, plan.workers))
  print(plan)
  print [[

Try next:
  luajit examples/train_mf.lua --workers 1                 the same bits from one worker
  luajit examples/train_mf.lua --update adagrad            a step size for every row
  luajit examples/train_mf.lua --data ratings.csv          your own ratings
  MEISSA_EXPLAIN=1 luajit examples/train_mf.lua            what was decided for every loop
  MEISSA_WORKERS=0 luajit examples/train_mf.lua            the loops in this process, to debug]]
end
