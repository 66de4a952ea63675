#!/usr/bin/env luajit
-- SPDX-License-Identifier: MIT
-- Poisson's equation -(u_xx + u_yy) = f on the unit square, u = 0 at its border, on an n x n grid:
-- Jacobi's method from one array into another, and Gauss and Seidel's in place, where every point
-- needs the new values of its upper and left neighbours (a wavefront). The solution is known:
-- u = sin(pi x) sin(pi y).
package.path = (arg[0]:match("^(.*/)") or "./") .. "support/?.lua;" .. package.path
local meissa = require "meissa"
local run = require "run"
local parallel = meissa.parallel

local parser = run.parser("stencil.lua", "Poisson's equation by relaxation.",
  {data = true, test = true, rank = true, seed = true})
parser:option("--method", "How to relax."):choices {"jacobi", "gauss-seidel"}:default "jacobi"
parser:option("--size", "Grid points along a side."):convert(tonumber):default "130"
parser:option("--save", "Save the solution to this file.")
local options = run.options(parser)
local n, epochs, engine = options.size, options.epochs or 1000, options.engine
local h = 1 / (n - 1)

local U, V, F = meissa.zeros(n, n), meissa.zeros(n, n), meissa.zeros(n, n)
for i, j in parallel(n, n) do
  F[i][j] = 2 * math.pi ^ 2 * math.sin(math.pi * (i - 1) * h) * math.sin(math.pi * (j - 1) * h)
end

-- Each returns the sum of squares of what changed.
local methods = {}

function methods.jacobi()
  local change = 0
  for i, j in parallel({2, n - 1}, {2, n - 1}, {engine = engine}) do
    local u = 0.25 * (U[i-1][j] + U[i+1][j] + U[i][j-1] + U[i][j+1] + h * h * F[i][j])
    change = change + (u - U[i][j]) * (u - U[i][j])
    V[i][j] = u
  end
  U, V = V, U
  return change
end

methods["gauss-seidel"] = function()
  local change = 0
  for i, j in parallel({2, n - 1}, {2, n - 1}, {engine = engine}) do
    local u = 0.25 * (U[i-1][j] + U[i+1][j] + U[i][j-1] + U[i][j+1] + h * h * F[i][j])
    change = change + (u - U[i][j]) * (u - U[i][j])
    U[i][j] = u
  end
  return change
end

local function error_of_solution()
  local most = 0
  for i, j in parallel(n, n) do
    local exact = math.sin(math.pi * (i - 1) * h) * math.sin(math.pi * (j - 1) * h)
    most = math.max(most, math.abs(U[i][j] - exact))
  end
  return most
end

local report = run.report(options, {
  {key = "epoch", title = "sweep", format = "%d"},
  {key = "change", title = "change", format = "%.3g"},
  {key = "error", title = "error", format = "%.3g"},
  {key = "seconds", title = "seconds", format = "%.3f"},
})
local relax, total, change, wrong, plan = methods[options.method], 0, nil, nil, nil
local shown = math.max(1, math.floor(epochs / 10))
local started = meissa.clock()
for epoch = 1, epochs do
  change = math.sqrt(relax())
  plan = meissa.last()
  if epoch % shown == 0 or epoch == epochs then
    local seconds = meissa.clock() - started
    total, wrong = total + seconds, error_of_solution()
    report:row {epoch = epoch, change = change, error = wrong, seconds = seconds}
    started = meissa.clock()
  end
end

if options.save then meissa.save(options.save, U) end
report:summary({
  method = options.method, change = change, error = wrong, seconds = total,
  updates_per_second = epochs * (n - 2) ^ 2 / total,
}, plan)
if not options.json then
  print(("\n%.1f million points a second. The plan and its schedule:\n")
    :format(epochs * (n - 2) ^ 2 / total / 1e6))
  print(plan)
  print(plan:picture())
end
