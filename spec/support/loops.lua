-- SPDX-License-Identifier: MIT
--- Loops of every class for specs: {name =, ordered =, strategy =, world = function(meissa),
-- text =}.
local entries_of = require("meissa.base.tables").each
local M = {list = {}}

local N = 37 -- no multiple of anything that the grids like

local function matrix(name)
  return function(meissa) return {[name] = meissa.rand({N, N}, {seed = 1})} end
end

local function worlds(...)
  local makers = {...}
  return function(meissa)
    local env = {n = N}
    for _, make in ipairs(makers) do
      for name, value in entries_of(make(meissa)) do env[name] = value end
    end
    return env
  end
end

local function vector(name, length, options)
  return function(meissa) return {[name] = meissa.rand({length}, options or {seed = 2})} end
end

-- A seeded sparse array: every entry whose hash falls below a share, some of them twice.
local function sparse(dims, share)
  return function(meissa)
    local i, state = {v = {}}, 12345
    for d = 1, #dims do i[d] = {} end
    local total = 1
    for d = 1, #dims do total = total * dims[d] end
    for cell = 0, total - 1 do
      state = (state * 1103515245 + 12345) % 2 ^ 31
      local times = state / 2 ^ 31 < share and (cell % 11 == 0 and 2 or 1) or 0
      for _ = 1, times do
        local rest = cell
        for d = #dims, 1, -1 do
          i[d][#i.v + 1] = rest % dims[d] + 1
          rest = math.floor(rest / dims[d])
        end
        i.v[#i.v + 1] = (state % 1000) / 250 - 2
      end
    end
    return {S = meissa.sparse(dims, {i = i[1], j = i[2], k = i[3], v = i.v})}
  end
end

-- Adds a loop in the orders that have a strategy.
local function add(name, strategy, world, text)
  if type(strategy) == "string" then strategy = {[true] = strategy} end
  for _, order in ipairs {true, false} do
    local own = text:gsub("ORDER", "ordered = " .. tostring(order))
    M.list[#M.list + 1] = strategy[order] and {
      name = name .. (order and " ordered" or " unordered"), ordered = order,
      strategy = strategy[order], world = world, text = own,
    }
  end
end

local A = worlds(matrix "A")

add("jacobi", "independent", worlds(matrix "A", matrix "B"), [[
for sweep = 1, 3 do
  for i, j in parallel({2, n - 1}, {2, n - 1}) do
    B[i][j] = (A[i-1][j] + A[i+1][j] + A[i][j-1] + A[i][j+1]) / 4
  end
  A, B = B, A
end]])

add("gauss-seidel", {[true] = "wavefront", [false] = "rotate"}, A, [[
for i, j in parallel({2, n - 1}, {2, n - 1}, {ORDER}) do
  A[i][j] = (A[i-1][j] + A[i+1][j] + A[i][j-1] + A[i][j+1]) / 4
end]])

add("gauss-seidel on a grid", {[true] = "wavefront", [false] = "rotate"}, A, [[
for i, j in parallel({2, n - 1}, {2, n - 1}, {ORDER, grid = {3, 7}}) do
  A[i][j] = (A[i-1][j] + A[i+1][j] + A[i][j-1] + A[i][j+1]) / 4
end]])

add("gauss-seidel in 3-D", {[true] = "wavefront", [false] = "rotate"},
    function(meissa) return {A = meissa.rand({20, 18, 9}, {seed = 3, type = "float"})} end, [[
for i, j, k in parallel({2, 19}, {2, 17}, {2, 8}, {ORDER}) do
  A[i][j][k] = (A[i-1][j][k] + A[i+1][j][k] + A[i][j-1][k] + A[i][j+1][k] + A[i][j][k-1]
    + A[i][j][k+1]) / 6
end]])

add("rows and columns beside a stencil", {[true] = "wavefront", [false] = "rotate"},
    worlds(matrix "P", vector("W", N), vector("H", N)), [[
for i, j in parallel({2, n}, n, {ORDER}) do
  W[i] = W[i] * 0.5 + P[i-1][j]
  H[j] = H[j] * 0.25 + W[i]
  P[i][j] = P[i-1][j] * 0.5 + H[j]
end]])

add("nine points", {[true] = "hyperplane", [false] = "hyperplane"}, A, [[
for i, j in parallel({2, n - 1}, {2, n - 1}, {ORDER}) do
  A[i][j] = (A[i-1][j-1] + A[i-1][j] + A[i-1][j+1] + A[i][j-1] + A[i][j+1] + A[i+1][j-1]
    + A[i+1][j] + A[i+1][j+1]) / 8
end]])

add("nine points, other steps", {[true] = "hyperplane", [false] = "hyperplane"}, A, [[
for i, j in parallel({n - 2, 3, -2}, {4, n - 3, 3}, {ORDER}) do
  A[i][j] = (A[i+2][j-3] + A[i+2][j] + A[i+2][j+3] + A[i][j-3]) / 4
end]])

add("two neighbours", {[true] = "hyperplane", [false] = "hyperplane"}, A, [[
for i, j in parallel({2, n}, {2, n - 1}, {ORDER}) do
  A[i][j] = A[i][j-1] * 0.5 + A[i-1][j+1]
end]])

add("stencil in time", {[true] = "hyperplane"}, A, [[
for t, i in parallel({1, n - 1}, {2, n - 1}, {ORDER}) do
  A[t+1][i] = (A[t][i-1] + A[t][i] + A[t][i+1]) / 3
end]])

add("plane in time", {[true] = "hyperplane", [false] = "rotate"},
    function(meissa) return {A = meissa.rand({6, 21, 19}, {seed = 3})} end, [[
for t, i, j in parallel({1, 5}, {2, 20}, {2, 18}, {ORDER}) do
  A[t+1][i][j] = (A[t][i-1][j] + A[t][i+1][j] + A[t][i][j-1] + A[t][i][j+1] + A[t][i][j]) / 5
end]])

add("diagonals", {[true] = "skew", [false] = "skew"}, A, [[
for i, j in parallel({2, n}, {2, n}, {ORDER}) do A[i][j] = A[i-1][j-1] * 0.5 + A[i][j] end]])

add("diagonals, other steps", {[true] = "skew", [false] = "skew"}, A, [[
for i, j in parallel({n - 2, 1, -2}, {4, n, 3}, {ORDER}) do
  A[i][j] = A[i+2][j-3] * 0.5 + A[i][j]
end]])

add("antidiagonals", {[true] = "skew", [false] = "skew"}, worlds(matrix "A", vector("d", 2 * N)), [[
for i, j in parallel(n, n, {ORDER}) do d[i+j] = d[i+j] * 0.5 + A[i][j] end]])

add("linear subscripts", {[true] = "skew", [false] = "skew"}, worlds(vector("A", 800)), [[
for i, j in parallel({0, 30}, {0, 12}, {ORDER}) do
  A[12*i+j+1] = A[12*i+j+1] * 0.5 + j
end]])

add("three coupled dimensions", {[true] = "skew", [false] = "skew"},
    function(meissa) return {A = meissa.rand({12, 13, 14}, {seed = 4})} end, [[
for i, j, k in parallel({2, 12}, {2, 13}, {2, 14}, {ORDER}) do
  A[i][j][k] = A[i-1][j-1][k] * 0.5 + A[i][j-1][k-1] * 0.25
end]])

add("lu, k on the driver", "independent", worlds(matrix "A"), [[
for i = 1, n do A[i][i] = A[i][i] + n end
for k = 1, n - 1 do
  for i in parallel({k + 1, n}) do A[i][k] = A[i][k] / A[k][k] end
  for i, j in parallel({k + 1, n}, {k + 1, n}) do A[i][j] = A[i][j] - A[i][k] * A[k][j] end
end]])

add("lu, collapsed", {[true] = "wavefront", [false] = "rotate"}, worlds(matrix "A"), [[
for k in parallel(n - 1, {collapse = 3, ORDER}) do
  for i = k + 1, n do
    for j = k + 1, n do A[i][j] = A[i][j] - A[i][k] * A[k][j] * 0.01 end
  end
end]])

add("floyd-warshall, k on the driver", {[true] = "wavefront", [false] = "rotate"}, A, [[
for k = 1, n do
  for i, j in parallel(n, n, {ORDER}) do
    local d = A[i][k] + A[k][j]
    if d < A[i][j] then A[i][j] = d end
  end
end]])

add("triangular solve", {[true] = "wavefront", [false] = "wavefront"},
    worlds(matrix "L", vector("x", N)), [[
for i in parallel(n, {collapse = 2, ORDER}) do
  for j = 1, i - 1 do x[i] = x[i] - L[i][j] * x[j] * 0.1 end
end]])

add("triangle, stencil", {[true] = "wavefront", [false] = "rotate"}, A, [[
for i in parallel(n - 1, {collapse = 2, ORDER}) do
  for j = i + 1, n do A[i][j] = A[i][j-1] + A[i+1][j] * 0.5 end
end]])

add("triangle, downwards", {[true] = "hyperplane", [false] = "hyperplane"}, A, [[
for i in parallel({2, n - 1}, {collapse = 2, ORDER}) do
  for j = i, 2, -1 do A[i][j] = A[i][j+1] * 0.5 + A[i-1][j-1] * 0.25 + A[i-1][j+1] end
end]])

add("band", {[true] = "skew", [false] = "skew"}, A, [[
for i in parallel({5, n - 5}, {collapse = 2, ORDER}) do
  for j = i - 3, i + 4 do A[i][j] = A[i-1][j-1] * 0.5 + A[i][j] end
end]])

add("band, rows", {[true] = "partition", [false] = "partition"},
    worlds(matrix "A", vector("x", N), vector("y", N)), [[
for i in parallel({4, n - 3}, {collapse = 2, ORDER}) do
  for j = i - 3, i + 3 do y[i] = y[i] + A[i][j] * x[j] end
end]])

add("band, cut at both ends", {[true] = "partition", [false] = "partition"},
    worlds(matrix "A", vector("x", N), vector("y", N)), [[
for i in parallel(n, {collapse = 2, ORDER}) do
  for j = math.max(1, i - 3), math.min(n, i + 3) do y[i] = y[i] + A[i][j] * x[j] end
end]])

add("band, stencil", {[true] = "wavefront", [false] = "rotate"}, A, [[
for i in parallel({2, n}, {collapse = 2, ORDER}) do
  for j = math.max(2, i - 5), math.min(n, i + 4, 3 * n / 3) do
    A[i][j] = A[i][j-1] * 0.5 + A[i-1][j] * 0.25
  end
end]])

add("band, downwards", {[true] = "hyperplane", [false] = "hyperplane"}, A, [[
for i in parallel({2, n - 1}, {collapse = 2, ORDER}) do
  for j = math.min(n - 1, i + 6), math.max(2, i - 2), -1 do
    A[i][j] = A[i][j+1] * 0.5 + A[i-1][j-1] * 0.25 + A[i-1][j+1]
  end
end]])

add("collapsed box with a step", {[true] = "wavefront", [false] = "rotate"}, A, [[
for i in parallel({2, n}, {collapse = 2, ORDER}) do
  for j = 3, n, 2 do A[i][j] = A[i-1][j] + A[i][j-2] * 0.5 end
end]])

add("nothing to do in most rows", {[true] = "wavefront", [false] = "rotate"}, A, [[
for i in parallel({2, n}, {collapse = 2, ORDER}) do
  for j = 30, i do A[i][j] = A[i-1][j] + A[i][j-1] * 0.5 end
end]])

add("tensor", {[false] = "rotate"},
    function(meissa)
      local env = sparse({23, 19, 29}, 0.15)(meissa)
      for at, name in ipairs {"U", "V", "W"} do
        env[name] = meissa.rand({({23, 19, 29})[at], 3}, {seed = at})
      end
      env.sse = 0
      return env
    end, [[
for i, j, k, x in parallel(S, {ORDER, grid = {4, 5, 3}}) do
  local u, v, w = U[i], V[j], W[k]
  local e = x
  for r = 1, 3 do e = e - u[r] * v[r] * w[r] end
  sse = sse + e * e
  for r = 1, 3 do
    local ur, vr, wr = u[r], v[r], w[r]
    u[r] = ur + 0.01 * e * vr * wr
    v[r] = vr + 0.01 * e * ur * wr
    w[r] = wr + 0.01 * e * ur * vr
  end
end]])

add("four dimensions", {[false] = "rotate"},
    function(meissa)
      local env = {}
      for at, name in ipairs {"P", "Q", "R", "T"} do
        env[name] = meissa.rand({5 + at}, {seed = at})
      end
      return env
    end, [[
for a, b, c, d in parallel(6, 7, 8, 9, {ORDER, grid = {2, 3, 3, 4}}) do
  P[a] = P[a] * 0.5 + Q[b]
  Q[b] = Q[b] * 0.5 + R[c]
  R[c] = R[c] * 0.5 + T[d]
  T[d] = T[d] * 0.5 + P[a]
end]])

-- Three entries of each row of a lower triangular matrix.
local function triangle(meissa)
  local to, state = meissa.zeros({600}, {type = "int32"}), 12345
  for k = 1, 600 do
    state = (state * 1103515245 + 12345) % 2 ^ 31
    to[k] = math.max(1, math.ceil(k / 3) - 1 - state % 40)
  end
  return {to = to}
end

add("a sparse triangular solve", {[true] = "levels"},
    worlds(vector("B", 200), vector("X", 200), triangle), [[
for i in parallel({2, 200}, {ORDER}) do
  local s = B[i]
  for k = 3 * i - 2, 3 * i do
    local j = to[k]
    s = s - 0.25 * X[j]
  end
  X[i] = s * 0.5
end]])

local factors = worlds(sparse({41, 33}, 0.3), vector("W", 41), vector("H", 33, {seed = 5}))

add("factors of entries", {[true] = "wavefront", [false] = "rotate"}, factors, [[
for i, j, v in parallel(S, {ORDER}) do
  local w = W[i]
  W[i] = w * 0.5 + H[j] * v
  H[j] = H[j] * 0.25 + w
end]])

add("entries that look at the row above", {[true] = "hyperplane", [false] = "hyperplane"},
    worlds(sparse({N, N}, 0.4), matrix "A"), [[
for i, j, v in parallel(S, {ORDER}) do
  if i > 1 and j > 1 and j < n then
    A[i][j] = A[i][j] * v + A[i-1][j+1] * 0.5 + A[i-1][j-1] * 0.25
  end
end]])

add("entries with inner loops", {[true] = "wavefront", [false] = "rotate"},
    worlds(sparse({21, 33}, 0.3), function(meissa)
      return {W = meissa.rand({21, 5}, {seed = 5}), H = meissa.rand({33, 5}, {seed = 6})}
    end), [[
for i, j, v in parallel(S, {collapse = 2, ORDER}) do
  for k = 1, 4 do
    W[i][k] = W[i][k] * 0.5 + H[j][k] * v
    H[j][k+1] = H[j][k+1] * 0.25 + W[i][k]
  end
end]])

add("entries of a dense array", {[true] = "wavefront", [false] = "rotate"},
    worlds(matrix "B", matrix "A"), [[
for i, j, v in parallel(B, {ORDER}) do
  if i > 1 and j > 1 then A[i][j] = (A[i-1][j] + A[i][j-1]) * v end
end]])

local scalars = worlds(matrix "A", function()
  return {last = -1, some = -2, most = -1, count = 0}
end)

add("scalars of diagonals", {[true] = "skew", [false] = "skew"}, scalars, [[
for i, j in parallel({n, 2, -1}, {2, n}, {ORDER}) do
  A[i][j] = A[i+0][j] + 1 + A[i][j] * 0
  if i < n then A[i][j] = A[i+1][j-1] * 0.5 end
  last = i * 100 + j
  if (i + 2 * j) % 7 == 3 then some = i * 100 + j else some = i end
  if A[i][j] > most then most = A[i][j] end
  count = count + 1
end]])

add("scalars of a triangle", {[true] = "wavefront"}, scalars, [[
for i in parallel({2, n - 1}, {collapse = 2, ORDER}) do
  for j = 2, n - i + 1 do
    A[i][j] = A[i-1][j] + A[i][j-1] * 0.5
    last = i * 100 + j
    if (i + j) % 5 == 0 then some = i * 100 + j else some = j end
    if A[i][j] > most then most = A[i][j] end
    count = count + 1
  end
end]])

add("scalars of a sweep", {[true] = "hyperplane"}, scalars, [[
for i, j in parallel({2, n}, {2, n - 1}, {ORDER}) do
  A[i][j] = A[i][j-1] * 0.5 + A[i-1][j+1] * 0.25
  last = i * 100 + j
  if i + j == 30 then some = i else some = -j end
  count = count + 1
end]])

add("whole numbers", {[true] = "wavefront", [false] = "rotate"}, function(meissa)
  local C = meissa.zeros({N, N}, {type = "int32"})
  for i = 1, N do C[i][1], C[1][i] = i, 2 * i end
  return {n = N, C = C, D = meissa.ones({N, N}, {type = "int64"})}
end, [[
for i, j in parallel({2, n}, {2, n}, {ORDER}) do
  C[i][j] = (C[i-1][j] + C[i][j-1]) % 1009
  D[i][j] = (D[i-1][j] + D[i][j-1] + C[i][j]) % 1000003
end]])

return M
