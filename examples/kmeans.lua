#!/usr/bin/env luajit
-- SPDX-License-Identifier: MIT
-- k-means by Lloyd's algorithm: each point goes to its nearest centre, each centre to the mean of
-- its points. With --data it reads a table of numbers (CSV, gz); without, it draws points around
-- planted centres. Sums and counts are added up through buffers: they do not change in a pass.
package.path = (arg[0]:match("^(.*/)") or "./") .. "support/?.lua;" .. package.path
local meissa = require "meissa"
local run = require "run"
local parallel = meissa.parallel

local parser = run.parser("kmeans.lua", "Clusters of points.", {test = true})
parser:option("--points", "How many points to generate."):convert(tonumber):default "20000"
parser:option("--columns", "Columns of the data file that are coordinates, from the first.")
  :convert(tonumber)
parser:option("--save", "Save centres and labels to this file.")
local options = run.options(parser)
local K, seed, engine = options.rank or 10, options.seed, options.engine

local function generate(points)
  local m = 16
  local X = meissa.randn({points, m}, {seed = seed})
  local centres = meissa.randn({K, m}, {seed = seed + 1, scale = 4})
  for i in parallel(points) do X[i]:add(centres[(i - 1) % K + 1]) end
  return X
end

local X = options.data and run.read(meissa.read.csv, options.data) or generate(options.points)
if options.columns then X = X:narrow(2, 1, options.columns) end
local n, m = X:size(1), X:size(2)
local C = meissa.zeros {K, m}
local label, distance = meissa.zeros({n}, {type = "int32"}), meissa.full({n}, math.huge)

-- Centres far apart: each next one is a point drawn with a chance that grows with its squared
-- distance from the nearest centre so far (k-means++).
local function begin()
  local draws = meissa.rand({K}, {seed = seed + 2})
  for c = 1, K do
    local target, at = draws[c] * distance:sum(), 1
    if c == 1 then at, target = 1 + math.floor(draws[c] * n), 0 end
    while target > distance[at] and at < n do
      target = target - distance[at]
      at = at + 1
    end
    local chosen = C[c]
    chosen:copy(X[at])
    for i in parallel(n, {engine = engine}) do
      local x, d = X[i], 0
      for k = 1, m do d = d + (x[k] - chosen[k]) * (x[k] - chosen[k]) end
      if d < distance[i] then distance[i] = d end
    end
  end
end

local sums, counts = meissa.zeros {K, m}, meissa.zeros(K)
local sums_of, counts_of = meissa.buffer(sums), meissa.buffer(counts)

local function pass()
  local inertia, moved = 0, 0
  sums:fill(0)
  counts:fill(0)
  for i in parallel(n, {engine = engine}) do
    local x, nearest, least = X[i], 1, math.huge
    for c = 1, K do
      local centre, d = C[c], 0
      for k = 1, m do d = d + (x[k] - centre[k]) * (x[k] - centre[k]) end
      if d < least then nearest, least = c, d end
    end
    inertia = inertia + least
    if label[i] ~= nearest then moved = moved + 1 end
    label[i] = nearest
    counts_of[nearest] = counts_of[nearest] + 1
    local sum = sums_of[nearest]
    for k = 1, m do sum[k] = sum[k] + x[k] end
  end
  for c = 1, K do
    if counts[c] > 0 then -- else it stays where it is
      C[c]:copy(sums[c])
      C[c]:scal(1 / counts[c])
    end
  end
  return inertia, moved, meissa.last()
end

local report = run.report(options, {
  {key = "epoch", title = "pass", format = "%d"},
  {key = "loss", title = "inertia", format = "%.6g"},
  {key = "moved", title = "moved", format = "%d"},
  {key = "seconds", title = "seconds", format = "%.3f"},
})
if not options.json then print(("%d centres for %s"):format(K, tostring(X):match("^[^\n]*"))) end
begin()
local total, epoch, inertia, moved, plan = 0, 0, nil, n, nil
while epoch < (options.epochs or 100) and moved > 0 do
  epoch = epoch + 1
  local started = meissa.clock()
  inertia, moved, plan = pass()
  local seconds = meissa.clock() - started
  total = total + seconds
  report:row {epoch = epoch, loss = inertia, moved = moved, seconds = seconds}
end

if options.save then meissa.save(options.save, {C = C, label = label}) end
report:summary({
  loss = inertia, passes = epoch, seconds = total, updates_per_second = epoch * n / total,
}, plan)
if not options.json then
  local sizes = {}
  for c = 1, K do sizes[c] = ("%d"):format(counts[c]) end
  print(("\nPoints of each centre: %s\nThe plan of a pass:\n"):format(table.concat(sizes, " ")))
  print(plan)
end
