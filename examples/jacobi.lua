#!/usr/bin/env luajit
-- SPDX-License-Identifier: MIT
-- Laplace's equation on an n x n grid whose left border is at 1 and whose others are at 0, by
-- Jacobi's method: in rounds, where a block waits for its neighbours only, or by a driver loop over
-- two arrays, where everybody waits for everybody after each sweep. Both give the same bits.
package.path = (arg[0]:match("^(.*/)") or "./") .. "support/?.lua;" .. package.path
local meissa = require "meissa"
local run = require "run"
local parallel = meissa.parallel

local parser = run.parser("jacobi.lua", "Laplace's equation by Jacobi's method.",
  {data = true, test = true, rank = true, seed = true})
parser:option("--method", "How sweeps follow each other."):choices {"rounds", "barrier"}
  :default "rounds"
parser:option("--size", "Grid points along a side."):convert(tonumber):default "130"
parser:option("--staleness", "How many rounds old neighbours may be."):convert(tonumber):default "0"
parser:option("--tolerance", "Stop when no point changes by more."):convert(tonumber)
  :default "1e-4"
parser:option("--save", "Save the solution to this file.")
local options = run.options(parser)
local n, epochs, engine = options.size, options.epochs or 2000, options.engine
local TEST = 50 -- sweeps between looks at what changed

local u = meissa.zeros(n, n)
for i = 1, n do u[i][1] = 1 end

local report = run.report(options, {
  {key = "epoch", title = "sweep", format = "%d"},
  {key = "change", title = "change", format = "%.3g"},
  {key = "seconds", title = "seconds", format = "%.3f"},
})
local started, change, shown = meissa.clock(), math.huge, 0

-- Shows how far it is; whether that is far enough.
local function stop(t, most)
  change, shown = most, t
  report:row {epoch = t, change = change, seconds = meissa.clock() - started}
  return change <= options.tolerance
end

local function in_rounds()
  local most, last = 0, 0 -- of each round, as `stop` is told; of the last one
  for t, i, j in meissa.iterate(u, epochs, {2, n - 1}, {2, n - 1}, {engine = engine, test = TEST,
      staleness = options.staleness, stop = function(t, _, sums) return stop(t, sums.most) end}) do
    local new = 0.25 * (u[i-1][j] + u[i+1][j] + u[i][j-1] + u[i][j+1])
    local by = math.abs(new - u[i][j])
    if by > most then most = by end
    if t == epochs and by > last then last = by end
    u[i][j] = new
  end
  local rounds = meissa.last().rounds
  if shown < rounds then stop(rounds, last) end
  return rounds
end

local function by_barrier()
  local old, sweeps = u:clone(), 0
  repeat
    local most = 0
    old, u = u, old
    for i, j in parallel({2, n - 1}, {2, n - 1}, {engine = engine}) do
      local new = 0.25 * (old[i-1][j] + old[i+1][j] + old[i][j-1] + old[i][j+1])
      local by = math.abs(new - old[i][j])
      if by > most then most = by end
      u[i][j] = new
    end
    sweeps = sweeps + 1
  until (sweeps % TEST == 0 or sweeps == epochs) and stop(sweeps, most) or sweeps == epochs
  return sweeps
end

local sweeps = options.method == "rounds" and in_rounds() or by_barrier()
local last = meissa.last()
local seconds = meissa.clock() - started

if options.save then meissa.save(options.save, u) end
report:summary({
  method = options.method, sweeps = sweeps, change = change, seconds = seconds,
  updates_per_second = sweeps * (n - 2) ^ 2 / seconds,
}, last)
if not options.json then
  print(("\n%d sweeps, %.1f million points a second. The plan:\n"):format(sweeps,
    sweeps * (n - 2) ^ 2 / seconds / 1e6))
  print(last)
end
