-- SPDX-License-Identifier: MIT
--- Coordinate descent on a set of the lasso by a setting: as hand-written C, or on replicas; the
-- optimum; the one in the middle of a few runs (bench/adaptive.lua).
--
-- A setting is {name =, by_hand = true} or {H = part of a share between two exchanges, replicas =,
-- gamma =, sigma =, every =, options = of meissa.replicate}; a set {name =, words =, columns =,
-- y =, lambda =}. The time `at` which a curve has come to a point is for how long cores have worked
-- (cores.lua), and what the bytes take at a bandwidth.
local cores = require "cores"
local curves = require "curves"
local ffi = require "ffi"
local hand = require "hand"
local lasso = require "lasso_cocoa"
local lasso_sets = require "lasso_sets"
local median = require "median"
local meissa = require "meissa"

local M = {
  --- Step sizes that are tried, as parts of the sigma that is always safe.
  PARTS = {0.5, 0.75, 1},
  PARTS_AS_WORDS = "0.5, 0.75 and 1 of what is always safe",
}

ffi.cdef [[
void bench_lasso_pass(int64_t columns, const int64_t *first, const int32_t *row,
                      const double *value, const double *squares, const double *y, double lambda,
                      double *alpha, double *v);
]]

--- A set by name, "data" for the file that was asked for; `seed` is that of generated ones, `times`
-- by what factor they have more points and features.
function M.set(asked, name, seed, times)
  local set = {name = name, lambda = asked.lambda}
  if name == "data" then
    local X, y = meissa.read.libsvm(asked.data)
    set.columns, set.y, set.lambda = lasso.transpose(X), y, set.lambda or 10
  else
    local points, features, lambda = unpack(lasso_sets.sizes[name])
    times = times or 1
    set.columns, set.y = lasso_sets.take(name, asked.points or times * points,
                                         asked.features or times * features, seed)
    set.lambda = set.lambda or lambda
  end
  set.words = ("%s, %d features of %d points, lambda %g"):format(
    name, set.columns:size(1), set.columns:size(2), set.lambda)
  return set
end

-- A pass in C: its columns are those of the problem.
local function by_hand(problem)
  local library = hand.compile("lasso.c", 1, "double", "strict")
  local columns, count = problem.columns, 0
  local n = columns:size(1)
  local first = ffi.new("int64_t[?]", n + 1)
  for _ in columns:each() do count = count + 1 end
  local row, value = ffi.new("int32_t[?]", count), ffi.new("double[?]", count)
  for j in columns:each() do first[j] = first[j] + 1 end
  for j = 1, n do first[j] = first[j] + first[j - 1] end
  local at = ffi.new("int64_t[?]", n + 1)
  ffi.copy(at, first, 8 * (n + 1))
  for j, e, x in columns:each() do
    row[at[j - 1]], value[at[j - 1]] = e - 1, x
    at[j - 1] = at[j - 1] + 1
  end
  return function()
    library.bench_lasso_pass(n, first, row, value, (problem.squares:data()), (problem.y:data()),
                             problem.lambda, (problem.alpha:data()), (problem.v:data()))
  end
end

--- The least objective: what the serial baseline comes to, until a hundred passes gain less than a
-- millionth.
function M.optimum(set)
  local problem = lasso.new(set.columns, set.y, set.lambda)
  local pass, last = by_hand(problem), math.huge
  for _ = 1, 100 do
    for _ = 1, 100 do pass() end
    local objective = lasso.objective(problem, problem.v)
    if last - objective < 1e-6 * objective then return objective end
    last = objective
  end
  return last
end

-- The objective of the weights, and how far what replicas hold of the predictions is from theirs.
local function look(problem, r, count)
  local drift, objective = 0, nil
  for k = 1, count do
    local own = setmetatable({v = r:replica(k)}, {__index = problem})
    local _, _, off, merged = lasso.measure(own)
    drift, objective = math.max(drift, off), merged
  end
  return drift, objective
end

-- How many replicas a setting has.
local function count_of(asked, setting) return setting.replicas or asked.replicas end

-- Replicas of a problem's predictions, and the sigma of a setting.
local function replicate(asked, setting, problem)
  local count, gamma = count_of(asked, setting), setting.gamma or 1
  local sigma = setting.sigma or gamma * count
  local damp = gamma ~= 1 and {problem.alpha} or nil
  local every = setting.every or setting.H == 1 and math.huge or setting.H
  local options = {replicas = count, every = every,
                   merge = {add = gamma, sigma = sigma, damp = damp}}
  for name, value in pairs(setting.options or {}) do options[name] = value end
  return meissa.replicate(problem.v, options), sigma
end

-- The curve of a setting; with `goal` it ends there.
local function learn(asked, setting, set, passes, goal)
  collectgarbage() -- what others have left
  local problem = lasso.new(set.columns, set.y, set.lambda)
  local count = count_of(asked, setting)
  local pass, r, sigma
  if setting.by_hand then
    pass = by_hand(problem)
  else
    r, sigma = replicate(asked, setting, problem)
    pass = function() lasso.pass(problem, r, sigma, {}) end
  end
  local worked = 0
  local curve = curves.learn(passes, function()
    local begun = cores.clock()
    pass()
    worked = worked + cores.clock() - begun
  end, function(point)
    local last = point.pass == passes
    local unmerged = r and setting.options and setting.options.final == "none"
    point.samples = point.pass * set.columns:size(1)
    if unmerged then
      point.drift, point.loss = look(problem, r, last and count or 1)
    elseif last then
      local _
      _, _, point.drift, point.loss = lasso.measure(problem)
    else
      point.loss = lasso.objective(problem, problem.v)
    end
    point.at = worked + point.megabytes / asked.bandwidth
    return goal and point.loss <= goal
  end, not setting.by_hand)
  curve.sigma = sigma
  return curve
end

-- A setting with the best of the step sizes that all try, M.PARTS of gamma times the replicas:
-- which comes to the goal in the fewest passes, or else the farthest; and what that gave.
-- @func run run(setting) gives the passes to the goal or nil, and the objective
local function tune(asked, setting, run)
  if setting.by_hand or setting.sigma or count_of(asked, setting) == 1 then
    return setting, {run(setting)}
  end
  local best, least, result = nil, {}, nil
  for _, part in ipairs(M.PARTS) do
    local sigma = part * (setting.gamma or 1) * count_of(asked, setting)
    local tried = setmetatable({sigma = sigma}, {__index = setting})
    local got = {run(tried)}
    local passes, loss = got[1] or math.huge, got[2]
    if loss ~= loss then loss = math.huge end
    if not best or passes < least.passes or passes == least.passes and loss < least.loss then
      best, least, result = tried, {passes = passes, loss = loss}, got
    end
  end
  return best, result
end

--- What a setting comes to if all passes are one loop, in which nobody waits for all between two
-- passes: of so many passes each a run from the beginning, with the best step size.
-- @tab list numbers of passes @treturn number sigma @treturn number the first of them that comes to
-- the goal, nil: none does @treturn table by number the objective, up to that one
function M.at_once(asked, setting, set, list, goal)
  local best, result = tune(asked, setting, function(tried)
    local losses = {}
    for _, passes in ipairs(list) do
      local problem = lasso.new(set.columns, set.y, set.lambda)
      local r, sigma = replicate(asked, tried, problem)
      lasso.pass(problem, r, sigma, {}, passes)
      losses[passes] = lasso.objective(problem, problem.v)
      if losses[passes] <= goal then return passes, losses[passes], losses end
    end
    return nil, losses[list[#list]], losses
  end)
  return best.sigma, result[1], result[3]
end

-- Puts a list in another order.
local function shuffle(list)
  for n = #list, 2, -1 do
    local other = math.random(n)
    list[n], list[other] = list[other], list[n]
  end
end

--- Of --runs runs of each setting the one in the middle by the time to a target, and those times:
-- by setting, each with the best of the step sizes that all have tried. The settings take turns,
-- each turn in another order, so that neither what else the machine does nor what the one before
-- has left is one setting's. With `ends` a curve ends at the target. The runs that choose step
-- sizes are the compilers', LuaJIT's among them.
function M.race(asked, settings, set, goal, ends)
  local runs, tuned, middle, times, turn = {}, {}, {}, {}, {unpack(settings)}
  for _, setting in ipairs(settings) do
    runs[setting] = {}
    tuned[setting] = tune(asked, setting, function(tried)
      local curve = learn(asked, tried, set, asked.passes, goal)
      return curves.within(curve, goal).pass, curve[#curve].loss
    end)
  end
  for _ = 1, asked.runs do
    shuffle(turn)
    for _, setting in ipairs(turn) do
      local curve = learn(asked, tuned[setting], set, asked.passes, ends and goal)
      table.insert(runs[setting], {curve = curve,
                                   at = curves.within(curve, goal).at or math.huge})
    end
  end
  for setting, list in pairs(runs) do
    local run = median(list, function(a, b) return a.at < b.at end)
    middle[setting], times[setting] = run.curve, run.at
  end
  return middle, times
end

return M
