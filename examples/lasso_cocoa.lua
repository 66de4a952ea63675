#!/usr/bin/env luajit
-- SPDX-License-Identifier: MIT
-- The lasso by CoCoA+ (Ma et al., "Adding vs. averaging in distributed primal-dual optimization",
-- 2015): coordinates are shared out to replicas, each of which descends along its own on a copy of
-- the predictions v = X alpha. What a replica adds to its copy counts sigma times, for what the
-- others do meanwhile; an exchange adds gamma of all changes. With --data it reads a file in
-- LIBSVM's form (gz); without, it plants a few weights and finds them again.
local here = (arg[0] or ""):match("^(.*/)") or "./"
package.path = here .. "support/?.lua;" .. package.path
local meissa = require "meissa"
local parallel = meissa.parallel

local M = {} -- the model, for other scripts too: require "lasso_cocoa"

--- A problem: `columns` has a row for each coordinate; half the squared distance of v = X alpha
-- from y, and lambda times the sum of |alpha|, is to be least.
function M.new(columns, y, lambda)
  local self = {columns = columns, y = y, lambda = lambda, alpha = meissa.zeros(columns:size(1)),
                v = meissa.zeros(columns:size(2)), squares = meissa.zeros(columns:size(1))}
  local squares = self.squares
  for j in parallel(columns:size(1)) do
    local sum = 0
    for _, x in columns[j]:nonzeros() do sum = sum + x * x end
    squares[j] = sum
  end
  return self
end

--- Goes through all coordinates, on replicas r of v, with this sigma: once, or so many times.
function M.pass(problem, r, sigma, how, times)
  local columns, y, alpha = problem.columns, problem.y, problem.alpha
  local squares, lambda = problem.squares, problem.lambda
  for _, j in parallel(times or 1, columns:size(1), how) do
    local scale = sigma * squares[j]
    if scale > 0 then
      local slope = 0
      for e, x in columns[j]:nonzeros() do slope = slope + x * (y[e] - r[e]) end
      local old = alpha[j]
      local new = old + slope / scale
      local shrink = lambda / scale
      if new > shrink then
        new = new - shrink
      elseif new < -shrink then
        new = new + shrink
      else
        new = 0
      end
      local change = new - old
      alpha[j] = new
      if change ~= 0 then
        for e, x in columns[j]:nonzeros() do r[e] = r[e] + sigma * change * x end
      end
    end
  end
end

--- What is to be least, with these predictions.
function M.objective(problem, v)
  local y, alpha, loss, size = problem.y, problem.alpha, 0, 0
  for e = 1, y:size(1) do loss = loss + (v[e] - y[e]) * (v[e] - y[e]) end
  for j = 1, alpha:size(1) do size = size + math.abs(alpha[j]) end
  return loss / 2 + problem.lambda * size
end

--- What is to be least, how many weights are not 0, how far v is from X alpha, and what is to be
-- least with X alpha in place of v.
function M.measure(problem)
  local columns, y, alpha, v = problem.columns, problem.y, problem.alpha, problem.v
  local count, drift = 0, 0
  local exact = meissa.zeros(y:size(1))
  for j, e, x in columns:each() do exact[e] = exact[e] + x * alpha[j] end
  for e = 1, y:size(1) do drift = math.max(drift, math.abs(v[e] - exact[e])) end
  for j = 1, alpha:size(1) do
    if alpha[j] ~= 0 then count = count + 1 end
  end
  return M.objective(problem, v), count, drift, M.objective(problem, exact)
end

--- Points of which a tenth of the entries are there; 20 features matter.
function M.generate(points, features, seed)
  local there = meissa.rand({points, features}, {seed = seed})
  local value = meissa.randn({points, features}, {seed = seed + 1})
  local noise = meissa.randn({points}, {seed = seed + 2, scale = 0.1})
  local i, j, v, y = {}, {}, {}, meissa.zeros(points)
  for p = 1, points do
    y[p] = noise[p]
    for f = 1, features do
      if there[p][f] < 0.1 then
        i[#i + 1], j[#j + 1], v[#v + 1] = p, f, value[p][f]
        if f % math.ceil(features / 20) == 0 then y[p] = y[p] + (f % 2 * 2 - 1) * value[p][f] end
      end
    end
  end
  return meissa.sparse({points, features}, {i = i, j = j, v = v}), y
end

--- The rows of a sparse matrix as columns.
function M.transpose(X)
  local i, j, v = {}, {}, {}
  for e, f, x in X:each() do i[#i + 1], j[#j + 1], v[#v + 1] = f, e, x end
  return meissa.sparse({X:size(2), X:size(1)}, {i = i, j = j, v = v})
end

if ... == "lasso_cocoa" then return M end

local run = require "run"
local parser = run.parser("lasso_cocoa.lua", "The lasso by CoCoA+ on replicas.",
                          {rank = true, test = true})
parser:epilog [[
LIBSVM's a9a:           --data a9a --lambda 100]]
parser:option("--replicas", "How many replicas share out the coordinates."):convert(
  tonumber):default "4"
parser:option("--every", "Coordinates of a replica from one exchange to the next; up to 1 a\n" ..
  "part of its share."):convert(tonumber):default "1"
parser:option("--gamma", "How much of all changes an exchange adds."):convert(
  tonumber):default "1"
parser:option("--sigma", "How often a replica's own change counts meanwhile (default: gamma\n" ..
  "times the replicas, which always converges)."):convert(tonumber)
parser:option("--lambda", "Weight of the sum of absolutes."):convert(tonumber):default "10"
parser:option("--points", "How many points to generate."):convert(tonumber):default "2000"
parser:option("--features", "How many features to generate, or that the file has."):convert(
  tonumber)
parser:option("--save", "Save the weights to this file.")
local options = run.options(parser)

local X, y
if options.data then
  X, y = run.read(meissa.read.libsvm, options.data, {features = options.features})
else
  X, y = M.generate(options.points, options.features or 400, options.seed)
end
local problem = M.new(M.transpose(X), y, options.lambda)
local sigma = options.sigma or options.gamma * options.replicas
local made, r = pcall(meissa.replicate, problem.v, {
  replicas = options.replicas, every = options.every < 1 and options.every or
    options.every == 1 and math.huge or options.every, shuffle = options.seed,
  merge = {add = options.gamma, sigma = sigma, damp = {problem.alpha}}})
if not made then parser:error(r.message or tostring(r)) end

local report = run.report(options, {
  {key = "epoch", title = "epoch", format = "%d"},
  {key = "objective", title = "objective", format = "%.6g"},
  {key = "nonzeros", title = "nonzeros", format = "%d"},
  {key = "drift", title = "drift", format = "%.1e"},
  {key = "seconds", title = "seconds", format = "%.3f"},
})
if not options.json then
  print(("%d coordinates of %d points, gamma %g, sigma %g"):format(X:size(2), X:size(1),
                                                                  options.gamma, sigma))
end
local epochs, total, objective, count, plan = options.epochs or 20, 0, nil, nil, nil
for epoch = 1, epochs do
  report:progress(epoch - 1, epochs, "descending")
  local started = meissa.clock()
  M.pass(problem, r, sigma, {engine = options.engine})
  plan = meissa.last()
  local seconds = meissa.clock() - started
  total = total + seconds
  local drift
  objective, count, drift = M.measure(problem)
  report:row {epoch = epoch, objective = objective, nonzeros = count, drift = drift,
              seconds = seconds}
end

if options.save then meissa.save(options.save, {alpha = problem.alpha, v = problem.v}) end
report:summary({
  objective = objective, nonzeros = count, seconds = total, guarantee = plan.guarantee,
  replicas = options.replicas, updates_per_second = epochs * X:size(2) / total,
}, plan)
if not options.json then
  print "\nThe plan of a pass:\n"
  print(plan)
end
