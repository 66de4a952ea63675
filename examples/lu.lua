#!/usr/bin/env luajit
-- SPDX-License-Identifier: MIT
-- LU factorization in place, without pivoting, of a diagonally dominant matrix: as a driver loop
-- over k whose inner loops are parallel, or as one nest that runs as a wavefront.
package.path = (arg[0]:match("^(.*/)") or "./") .. "support/?.lua;" .. package.path
local meissa = require "meissa"
local run = require "run"
local parallel = meissa.parallel

local parser = run.parser("lu.lua", "LU factorization.",
  {data = true, test = true, rank = true, epochs = true})
parser:option("--method", "How the loops are written."):choices {"driver", "nest"}:default "driver"
parser:option("--size", "Rows of the matrix."):convert(tonumber):default "300"
parser:option("--save", "Save the matrix and its factors to this file.")
local options = run.options(parser)
local n, engine = options.size, options.engine

local A = meissa.rand({n, n}, {seed = options.seed})
for i in parallel(n) do A[i][i] = A[i][i] + n end
local original = A:clone()

local methods = {}

-- The row k that all read is written before, and not in, the loop: no two iterations meet.
function methods.driver()
  for k = 1, n - 1 do
    for i in parallel({k + 1, n}, {engine = engine}) do
      local row, pivot = A[i], A[k]
      local factor = row[k] / pivot[k]
      row[k] = factor
      for j = k + 1, n do row[j] = row[j] - factor * pivot[j] end
    end
  end
end

-- Iteration (k, i) needs what (k - 1, i) and (k - 1, k) wrote: a wavefront over k and i.
function methods.nest()
  for k in parallel(n - 1, {collapse = 2, engine = engine}) do
    for i = k + 1, n do
      A[i][k] = A[i][k] / A[k][k]
      for j = k + 1, n do A[i][j] = A[i][j] - A[i][k] * A[k][j] end
    end
  end
end

local started = meissa.clock()
methods[options.method]()
local seconds, plan = meissa.clock() - started, meissa.last()

-- The largest element of A - L U, each formed by one iteration.
local residual = 0
for i, j in parallel(n, n) do
  local sum = i <= j and A[i][j] or 0
  for k = 1, math.min(i - 1, j) do sum = sum + A[i][k] * A[k][j] end
  residual = math.max(residual, math.abs(sum - original[i][j]))
end

if options.save then meissa.save(options.save, {A = original, LU = A}) end
run.report(options, {}):summary({
  method = options.method, residual = residual, seconds = seconds,
  updates_per_second = n ^ 3 / 3 / seconds,
}, plan)
if not options.json then
  print(("%d x %d in %.3f s; |A - LU| is at most %.2g. The last plan:\n"):format(n, n, seconds,
    residual))
  print(plan)
end
