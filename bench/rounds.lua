-- SPDX-License-Identifier: MIT
--- Rounds against driver loops with a barrier: Jacobi's method on a grid and PageRank, seconds a
-- round on two workers.
--   luajit bench/rounds.lua [rounds] [repeats] [workers]
--
-- Both run in turns, and the shortest time of each counts. The driver loop is the fastest that
-- there is: two arrays that change places, one parallel loop a round. Where a round takes longer
-- than a launch, what rounds gain is the launch and the barrier; where it is shorter than 200 us
-- the driver loop may run in the driver's process alone.
package.path = (arg[0]:match("^(.*/)") or "./") .. "support/?.lua;" .. package.path
local meissa = require "meissa"
local arguments = require "arguments"
local parallel = meissa.parallel

local ROUNDS, repeats, workers = arguments("rounds.lua", "Rounds against driver loops.",
  {"rounds", "How many in one run.", 200}, {"repeats", "Runs of each.", 5},
  {"workers", "Worker processes.", 2})
meissa.init {workers = workers}

-- Each gives a function that runs so many rounds, and the array that it leaves.
local function jacobi(n)
  local u = meissa.rand({n, n}, {seed = 1})
  local a, b = u:clone(), u:clone()
  local function in_rounds(rounds)
    for _, i, j in meissa.iterate(u, rounds, {2, n - 1}, {2, n - 1}) do
      u[i][j] = 0.25 * (u[i-1][j] + u[i+1][j] + u[i][j-1] + u[i][j+1])
    end
    return u
  end
  local function by_barrier(rounds)
    for _ = 1, rounds do
      for i, j in parallel({2, n - 1}, {2, n - 1}) do
        b[i][j] = 0.25 * (a[i-1][j] + a[i+1][j] + a[i][j-1] + a[i][j+1])
      end
      a, b = b, a
    end
    return a
  end
  return in_rounds, by_barrier
end

local function pagerank(n)
  local at = {i = {}, j = {}}
  local draws = meissa.rand({n, 10}, {seed = 1})
  for node = 1, n do
    for k = 1, 10 do
      at.i[#at.i + 1], at.j[#at.j + 1] = node, 1 + math.floor(n * draws[node][k] ^ 2)
    end
  end
  local into, rank = meissa.sparse({n, n}, at), meissa.full(n, 1 / n)
  local a, b = rank:clone(), rank:clone()
  local function in_rounds(rounds)
    for _, j in meissa.iterate(rank, rounds) do
      local s = 0
      for i in into[j]:nonzeros() do s = s + rank[i] / 10 end
      rank[j] = 0.15 / n + 0.85 * s
    end
    return rank
  end
  local function by_barrier(rounds)
    for _ = 1, rounds do
      for j in parallel(n) do
        local s = 0
        for i in into[j]:nonzeros() do s = s + a[i] / 10 end
        b[j] = 0.15 / n + 0.85 * s
      end
      a, b = b, a
    end
    return a
  end
  return in_rounds, by_barrier
end

local function time(run)
  local started = meissa.clock()
  run(ROUNDS)
  return (meissa.clock() - started) / ROUNDS
end

local function compare(name, in_rounds, by_barrier)
  local left, right = in_rounds(ROUNDS):clone(), by_barrier(ROUNDS):clone()
  left:axpy(-1, right)
  assert(left:norm() == 0, "other bits")
  local best, barrier = math.huge, math.huge
  for _ = 1, repeats do
    barrier = math.min(barrier, time(by_barrier))
    best = math.min(best, time(in_rounds))
  end
  print(("%-24s %10.1f us  %10.1f us  %6.2f"):format(name, best * 1e6, barrier * 1e6,
    barrier / best))
end

print(("%-24s %13s  %13s  %6s"):format("a round of", "rounds", "barrier", "gain"))
for _, n in ipairs {66, 258, 1026} do compare(("Jacobi, %d x %d"):format(n, n), jacobi(n)) end
for _, n in ipairs {2000, 20000, 100000} do
  compare(("PageRank, %d pages"):format(n), pagerank(n))
end
