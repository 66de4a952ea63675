-- SPDX-License-Identifier: MIT
--- What bench/peers.lua has Meissa and its peers do, on the same data.
--
-- A task is {name, goal, quality (what its number is), make}. make(size) gives {arrays = what is
-- saved for the peers by name, numbers = for them, run = function(options) that runs it by Meissa
-- and returns the quality, reset = function() that makes all as it was before a run, per = passes
-- that a run's time is divided by}.
local meissa = require "meissa"
local parallel = meissa.parallel

local function round(x) return math.floor(x + 0.5) end

local M = {}

-- Compressed rows of a sparse matrix, for scipy: vectors of starts, columns and values, from 0.
local function rows_of(S)
  local starts = meissa.zeros({S:size(1) + 1}, {type = "int32"})
  local columns = meissa.zeros({S:nnz()}, {type = "int32"})
  local values, at = meissa.zeros(S:nnz()), 0
  for i = 1, S:size(1) do
    for j, v in S[i]:nonzeros() do
      at = at + 1
      columns[at], values[at] = j - 1, v
    end
    starts[i + 1] = at
  end
  return {starts = starts, columns = columns, values = values}
end

-- `each` entries in each of n rows, at columns drawn at random.
local function draw_sparse(n, m, each, value)
  local lists = {i = {}, j = {}, v = {}}
  local places = meissa.rand({n, each}, {seed = 1, scale = m})
  for i = 1, n do
    local seen = {}
    for k = 1, each do
      local j = math.floor(places[i][k]) + 1
      if not seen[j] then
        seen[j] = true
        table.insert(lists.i, i)
        table.insert(lists.j, j)
        table.insert(lists.v, value(i, j))
      end
    end
  end
  return meissa.sparse({n, m}, lists)
end

M[#M + 1] = {name = "kmeans", goal = 1, quality = "inertia", make = function(size)
  local n, d, K, passes = round(20000 * size), 64, 10, 10
  local X = meissa.rand({n, d}, {seed = 1})
  local start = meissa.rand({K, d}, {seed = 2})
  local C, sums, counts = start:clone(), meissa.zeros(K, d), meissa.zeros(K)
  local sb, cb = meissa.buffer(sums), meissa.buffer(counts)
  local function run(options)
    local inertia
    for _ = 1, passes do
      sums:fill(0)
      counts:fill(0)
      inertia = 0
      for i in parallel(n, options) do
        local x, best, at = X[i], math.huge, 1
        for c = 1, K do
          local sum, centre = 0, C[c]
          for j = 1, d do
            local off = x[j] - centre[j]
            sum = sum + off * off
          end
          if sum < best then best, at = sum, c end
        end
        inertia = inertia + best
        cb[at] = cb[at] + 1
        for j = 1, d do sb[at][j] = sb[at][j] + x[j] end
      end
      for c = 1, K do
        if counts[c] > 0 then C[c]:copy(sums[c]):scal(1 / counts[c]) end
      end
    end
    return inertia
  end
  return {arrays = {points = X, centres = start}, numbers = {passes = passes}, run = run,
          reset = function() C:copy(start) end, per = passes}
end}

M[#M + 1] = {name = "svm", goal = 1.5, quality = "accuracy", make = function(size)
  local n, features, passes = round(50000 * size), 1000, 5
  local truth = meissa.randn({features}, {seed = 3})
  local X = draw_sparse(n, features, 30, function(i, j) return (i + j) % 9 / 4 - 1 end)
  local y = meissa.zeros(n)
  for i in parallel(n) do
    local sum = 0
    for j, v in X[i]:nonzeros() do sum = sum + truth[j] * v end
    y[i] = sum > 0 and 1 or -1
  end
  local w = meissa.zeros(features)
  local r = meissa.replicate(w, {replicas = 2, every = 5000})
  local reg = 1e-4
  local function run(options)
    for pass = 1, passes do
      local rate = 1 / (reg * n * pass)
      for i in parallel(n, options) do
        local m = 0
        for j, v in X[i]:nonzeros() do m = m + r[j] * v end
        if y[i] * m < 1 then
          for j, v in X[i]:nonzeros() do r[j] = r[j] + rate * y[i] * v end
        end
      end
      w:scal(1 - 1 / (pass + 1))
    end
    local right = 0
    for i in parallel(n, options) do
      local m = 0
      for j, v in X[i]:nonzeros() do m = m + w[j] * v end
      if y[i] * m > 0 then right = right + 1 end
    end
    return right / n
  end
  local arrays = rows_of(X)
  arrays.labels = y
  return {arrays = arrays, numbers = {n = n, features = features, passes = passes}, run = run,
          reset = function() w:fill(0) end}
end}

M[#M + 1] = {name = "pagerank", goal = 1, quality = "sum", make = function(size)
  local n, passes = round(100000 * size), 20
  local into = draw_sparse(n, n, 10, function() return 0.1 end)
  local rank, other = meissa.zeros(n), meissa.zeros(n)
  local function run(options)
    for _ = 1, passes do
      for i in parallel(n, options) do
        local sum = 0
        for j, v in into[i]:nonzeros() do sum = sum + v * rank[j] end
        other[i] = 0.15 / n + 0.85 * sum
      end
      rank, other = other, rank
    end
    return rank:sum()
  end
  return {arrays = rows_of(into), numbers = {n = n, passes = passes}, run = run,
          reset = function() rank:fill(1 / n) end}
end}

M[#M + 1] = {name = "factorization", goal = 1.5, quality = "RMSE", make = function(size)
  local users, items, K, passes = 6040, 3706, 32, 3
  local R = draw_sparse(users, items, round(160 * size), function(i, j)
    return (i * 7 + j * 3) % 5 + 1
  end)
  local single = {type = "float"}
  local W0 = meissa.from(meissa.rand({users, K}, {seed = 2, scale = 0.5}), single)
  local H0 = meissa.from(meissa.rand({items, K}, {seed = 3, scale = 0.5}), single)
  local W, H = W0:clone(), H0:clone()
  local function run(options)
    local sse
    for _ = 1, passes do
      sse = 0
      for i, j, r in parallel(R, options) do
        local w, h = W[i], H[j]
        local e = r - w:dot(h)
        sse = sse + e * e
        for k = 1, K do
          local wk = w[k]
          w[k] = wk + 0.01 * (e * h[k] - 0.05 * wk)
          h[k] = h[k] + 0.01 * (e * wk - 0.05 * h[k])
        end
      end
    end
    return math.sqrt(sse / R:nnz())
  end
  local arrays = rows_of(R)
  arrays.W, arrays.H = W0, H0
  return {arrays = arrays, numbers = {passes = passes}, run = run, reset = function()
    W:copy(W0)
    H:copy(H0)
  end}
end}

M[#M + 1] = {name = "stencil", goal = 1, quality = "sum", make = function(size)
  local n, passes = round(1000 * size ^ 0.5), 20
  local grid = meissa.rand({n, n}, {seed = 1})
  local A, B = grid:clone(), grid:clone()
  local function run(options)
    local U, V = A, B
    for _ = 1, passes do
      for i in parallel({2, n - 1}, options) do
        for j = 2, n - 1 do
          V[i][j] = U[i][j] + 0.2 * (U[i - 1][j] + U[i + 1][j] + U[i][j - 1] + U[i][j + 1] -
            4 * U[i][j])
        end
      end
      U, V = V, U
    end
    return U:sum()
  end
  return {arrays = {grid = grid}, numbers = {n = n, passes = passes}, run = run, reset = function()
    A:copy(grid)
    B:copy(grid)
  end}
end}

M[#M + 1] = {name = "monte_carlo", goal = 1, quality = "pi", make = function(size)
  local n = round(10000000 * size)
  local function run(options)
    local inside = 0
    for _ in parallel(n, options) do
      local x, y = meissa.random(), meissa.random()
      if x * x + y * y < 1 then inside = inside + 1 end
    end
    return 4 * inside / n
  end
  return {arrays = {}, numbers = {n = n}, run = run, reset = function() end}
end}

return M
