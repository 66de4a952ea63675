#!/usr/bin/env luajit
-- SPDX-License-Identifier: MIT
-- CP factorization of a sparse tensor by stochastic gradient descent: value ~ sum over r of
-- A[i][r] B[j][r] C[k][r]. An entry changes a row of each of three matrices, so blocks run together
-- when they differ in i, in j and in k. With --data it reads lines "i j k value", indices from 1;
-- without, it plants a tensor of low rank and finds it again.
package.path = (arg[0]:match("^(.*/)") or "./") .. "support/?.lua;" .. package.path
local meissa = require "meissa"
local run = require "run"
local parallel = meissa.parallel

local parser = run.parser("cp_tensor.lua", "CP factorization of a sparse tensor.", {test = true})
parser:option("--rate", "Step size."):convert(tonumber):default "0.05"
parser:option("--reg", "L2 regularisation."):convert(tonumber):default "0.001"
parser:option("--entries", "How many entries to generate."):convert(tonumber):default "200000"
parser:option("--save", "Save the model to this file.")
local options = run.options(parser)
local R, seed, epochs = options.rank or 8, options.seed, options.epochs or 20
local lr, reg, engine = options.rate, options.reg, options.engine

local function read(path)
  local columns, extents = {i = {}, j = {}, k = {}, v = {}}, {0, 0, 0}
  for line in io.lines(path) do
    local at = {line:match("^%s*(%d+)%s+(%d+)%s+(%d+)%s+(%S+)")}
    for d, name in ipairs {"i", "j", "k", "v"} do
      local number = tonumber(at[d]) or error(("%s: not 'i j k value': %s"):format(path, line), 0)
      table.insert(columns[name], number)
      if d <= 3 then extents[d] = math.max(extents[d], number) end
    end
  end
  return meissa.sparse(extents, columns)
end

-- Entries at random places of the sum of four outer products, with a little noise.
local function plant(extents, count)
  local factors, columns = {}, {i = {}, j = {}, k = {}, v = {}}
  for d = 1, 3 do factors[d] = meissa.randn({extents[d], 4}, {seed = seed + d, scale = 0.7}) end
  local place = meissa.rand({count, 3}, {seed = seed + 4})
  local noise = meissa.randn({count}, {seed = seed + 5, scale = 0.05})
  for e = 1, count do
    local at, sum = {}, noise[e]
    for d = 1, 3 do at[d] = 1 + math.floor(extents[d] * place[e][d]) end
    local a, b, c = factors[1][at[1]], factors[2][at[2]], factors[3][at[3]]
    for r = 1, 4 do sum = sum + a[r] * b[r] * c[r] end
    columns.i[e], columns.j[e], columns.k[e], columns.v[e] = at[1], at[2], at[3], sum
  end
  return meissa.sparse(extents, columns)
end

local tensor = options.data and read(options.data) or plant({120, 100, 80}, options.entries)
local function factor(d)
  return meissa.randn({tensor:size(d), R}, {scale = 0.5, seed = seed + 5 + d})
end
local A, B, C = factor(1), factor(2), factor(3)

local function epoch_of_sgd()
  local sse = 0
  for i, j, k, v in parallel(tensor, {engine = engine}) do
    local a, b, c = A[i], B[j], C[k]
    local e = v
    for r = 1, R do e = e - a[r] * b[r] * c[r] end
    sse = sse + e * e
    for r = 1, R do
      local ar, br, cr = a[r], b[r], c[r]
      a[r] = ar + lr * (e * br * cr - reg * ar)
      b[r] = br + lr * (e * ar * cr - reg * br)
      c[r] = cr + lr * (e * ar * br - reg * cr)
    end
  end
  return math.sqrt(sse / tensor:nnz()), meissa.last()
end

local report = run.report(options, {
  {key = "epoch", title = "epoch", format = "%d"},
  {key = "train_rmse", title = "train RMSE", format = "%.4f"},
  {key = "seconds", title = "seconds", format = "%.3f"},
})
if not options.json then print("factorizing " .. tostring(tensor)) end
local total, rmse, plan = 0, nil, nil
for epoch = 1, epochs do
  report:progress(epoch - 1, epochs, "training")
  local started = meissa.clock()
  rmse, plan = epoch_of_sgd()
  local seconds = meissa.clock() - started
  total = total + seconds
  report:row {epoch = epoch, train_rmse = rmse, seconds = seconds}
end

if options.save then meissa.save(options.save, {A = A, B = B, C = C, rank = R}) end
report:summary({
  train_rmse = rmse, seconds = total, updates_per_second = epochs * tensor:nnz() / total,
}, plan)
if not options.json then
  print(("\n%.1f million updates a second. The plan and its schedule:\n")
    :format(epochs * tensor:nnz() / total / 1e6))
  print(plan)
  print(plan:picture())
end
