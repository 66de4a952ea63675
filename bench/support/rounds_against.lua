-- SPDX-License-Identifier: MIT
--- Problems in rounds beside the fastest driver loop that there is: two arrays that change places,
-- one parallel loop a round.
local meissa = require "meissa"
local parallel = meissa.parallel

local M = {}

-- Each gives a function that runs so many rounds, one that does so by a driver loop, and the
-- elements of a round. Both return the array that they leave.

--- Jacobi's method on a grid.
function M.jacobi(n)
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

--- PageRank over pages of ten links each.
function M.pagerank(n)
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

return M
