-- SPDX-License-Identifier: MIT
--- Averaging alone, with a step size of 0: how much nearer to their mean an exchange takes replicas
-- that begin apart, beside the second singular value of the topology's weights.
--
-- Replicas begin once with the direction that a round shrinks least, found by power iteration in
-- this file from `topology:weights()`, and once with what was drawn at random. Rounds are those of
-- a loop over replicas whose body does nothing after the first one.
local meissa = require "meissa"
local parallel = meissa.parallel

local M = {}

-- The rows' distance from their mean, by column of a list of lists.
local function deviation(values, column)
  local mean, sum = 0, 0
  for _, row in ipairs(values) do mean = mean + row[column] / #values end
  for _, row in ipairs(values) do sum = sum + (row[column] - mean) ^ 2 end
  return math.sqrt(sum)
end

-- x without its mean, of length 1.
local function center(x)
  local mean, sum = 0, 0
  for _, each in ipairs(x) do mean = mean + each / #x end
  for k = 1, #x do
    x[k] = x[k] - mean
    sum = sum + x[k] * x[k]
  end
  for k = 1, #x do x[k] = sum > 0 and x[k] / math.sqrt(sum) or 0 end
  return x, math.sqrt(sum)
end

local function product(P, x, transposed)
  local y = {}
  for i = 1, #x do
    y[i] = 0
    for j = 1, #x do y[i] = y[i] + (transposed and P[j][i] or P[i][j]) * x[j] end
  end
  return y
end

-- The direction across all ones that weights shrink least, and the factor by which.
local function shrunk_least(P)
  local x, factor = {}, 0
  for k = 1, #P do x[k] = math.sin(1 + 7 * k * k) end
  x = center(x)
  for _ = 1, 4000 do
    local squared
    x, squared = center(product(P, product(P, x), true))
    if squared == 0 then return x, 0 end
    if math.abs(math.sqrt(squared) - factor) < 1e-15 then break end
    factor = math.sqrt(squared)
  end
  return x, factor
end

-- What n replicas hold after each of so many rounds of averaging, from rows of `starts` on:
-- a list from round 0 on, of lists of rows.
local function average(what, starts, rounds)
  local n, width = #starts, #starts[1]
  local start, w = meissa.from(starts), meissa.zeros(width)
  local began, held = meissa.zeros(n), {[0] = starts}
  local r = meissa.replicate(w, {
    replicas = n, every = 1, topology = what, final = "none", on_round = function(s)
      local rows = {}
      for k = 1, n do rows[k] = s.replica(k):totable() end
      held[s.round] = rows
    end})
  for round, k in parallel(rounds, n) do
    began[k] = round
    if round == 1 then
      for f = 1, width do r[f] = start[k][f] end
    end
  end
  return held
end

-- The first round in which a column is within a millionth of its distance in round 0.
local function within(held, column, rounds)
  local first = deviation(held[0], column)
  for t = 1, rounds do
    if deviation(held[t], column) <= 1e-6 * first then return t end
  end
end

--- Averages over a topology.
-- @treturn table {second = the second singular value of the first round's weights, power = the same
-- by power iteration, first = by what the first round shrinks the slowest direction, random = a
-- drawn one, rounds = until a millionth, bound = the most rounds that the second singular value
-- lets that take}
function M.measure(what, n, most)
  local topology = meissa.topology(what, n)
  local second = 1 - topology:spectral_gap()
  local slowest, factor = shrunk_least(topology:weights(1))
  local drawn, starts = meissa.randn({n}, {seed = n}), {}
  if factor < 1e-12 then slowest = center(drawn:totable()) end
  for k = 1, n do starts[k] = {slowest[k], drawn[k]} end
  local bound = second > 1e-12 and math.ceil(math.log(1e-6) / math.log(second)) or nil
  local rounds = math.min(bound or most, most)
  local held = average(what, starts, rounds)
  return {
    second = second, power = factor, bound = bound, rounds = within(held, 2, rounds),
    first = deviation(held[1], 1) / deviation(held[0], 1),
    random = deviation(held[1], 2) / deviation(held[0], 2),
  }
end

--- How much of what the mean of all comes to is each replica's doing: all add 1 to an element of
-- their own in each round, which is a `rounds`-th of its value in the mean, over 1 / n.
-- @string what topology @string sync who waits for whom
-- @treturn number the least @treturn number the most
function M.influence(what, n, rounds, sync)
  local w, began, mean = meissa.zeros(n), meissa.zeros(n), nil
  local r = meissa.replicate(w, {
    replicas = n, every = 1, topology = what, final = "none", cut = 2 ^ 31, sync = sync,
    on_round = function(s) mean = s.value() end})
  for round, k in parallel(rounds, n) do
    began[k] = round
    r[k] = r[k] + 1
  end
  return mean:min() * n / rounds, mean:max() * n / rounds
end

return M
