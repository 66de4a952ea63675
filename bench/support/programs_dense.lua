-- SPDX-License-Identifier: MIT
--- The programs of bench/users.lua on dense arrays, as a researcher writes them first.
--
-- A program is {name, make, text, written, buffers, bound, random, loose}. make(N) gives what the
-- text is given, a list of {name, value}, for N times the usual work; `text` is the body of a
-- function that returns a number made of its results, which it looks at. Its plain form has `for
-- i = 1, n do` in place of `for i in parallel(n) do` (support/plain_program.lua has all rules) and
-- arrays of LuaJIT's FFI. `written`: names of the arrays that it changes, which are as they were
-- before each run. `buffers`: by name the arrays that buffers stand for, {array, options}; plain
-- programs have the array itself. `bound`: what limits its speed on two workers, if it is not how
-- fast they compute. `random`: it draws numbers. `loose`: its result depends on the order of
-- iterations.
local meissa = require "meissa"

local function rand(dims, seed, scale) return meissa.rand(dims, {seed = seed, scale = scale}) end
local function round(x) return math.floor(x + 0.5) end

local M = {}

M[#M + 1] = {name = "matvec", written = {"y"}, bound = "memory", make = function(N)
  local n = round(1000 * N)
  return {{"n", n}, {"A", rand({n, n}, 1)}, {"x", rand({n}, 2)}, {"y", meissa.zeros(n)}}
end, text = [[
  for i in parallel(n) do
    local sum = 0
    for j = 1, n do sum = sum + A[i][j] * x[j] end
    y[i] = sum
  end
  return y[1] + y[n]
]]}

M[#M + 1] = {name = "matmul", written = {"C"}, make = function(N)
  local n = round(250 * N)
  return {{"n", n}, {"A", rand({n, n}, 1)}, {"B", rand({n, n}, 2)}, {"C", meissa.zeros(n, n)}}
end, text = [[
  for i in parallel(n) do
    for j = 1, n do
      local sum = 0
      for k = 1, n do sum = sum + A[i][k] * B[k][j] end
      C[i][j] = sum
    end
  end
  return C[1][1] + C[n][n]
]]}

M[#M + 1] = {name = "knn", written = {"label"}, make = function(N)
  local n, m, d = round(200 * N), 2000, 32
  return {{"n", n}, {"m", m}, {"d", d}, {"Q", rand({n, d}, 1)}, {"X", rand({m, d}, 2)},
    {"y", rand({m}, 3, 10):map(math.floor)}, {"label", meissa.zeros(n)}}
end, text = [[
  for i in parallel(n) do
    local best, at = math.huge, 0
    for j = 1, m do
      local sum = 0
      for k = 1, d do
        local off = Q[i][k] - X[j][k]
        sum = sum + off * off
      end
      if sum < best then best, at = sum, j end
    end
    label[i] = y[at]
  end
  local total = 0
  for i = 1, n do total = total + label[i] end
  return total
]]}

M[#M + 1] = {name = "logistic", written = {"w", "g"}, buffers = {gb = {"g"}},
make = function(N)
  local n, d = round(20000 * N), 50
  return {{"n", n}, {"d", d}, {"X", rand({n, d}, 1)}, {"y", rand({n}, 2, 2):map(math.floor)},
    {"w", meissa.zeros(d)}, {"g", meissa.zeros(d)}}
end, text = [[
  for pass = 1, 5 do
    for j = 1, d do g[j] = 0 end
    for i in parallel(n) do
      local z = 0
      for j = 1, d do z = z + w[j] * X[i][j] end
      local off = 1 / (1 + math.exp(-z)) - y[i]
      for j = 1, d do gb[j] = gb[j] + off * X[i][j] end
    end
    for j = 1, d do w[j] = w[j] - 0.1 / n * g[j] end
  end
  return w[1] + w[d]
]]}

M[#M + 1] = {name = "heat", written = {"U", "V"}, make = function(N)
  local n = round(400 * N)
  local U = rand({n, n}, 1)
  return {{"n", n}, {"U", U}, {"V", U:clone()}}
end, text = [[
  for step = 1, 10 do
    for i in parallel({2, n - 1}) do
      for j = 2, n - 1 do
        local around = U[i - 1][j] + U[i + 1][j] + U[i][j - 1] + U[i][j + 1]
        V[i][j] = U[i][j] + 0.2 * (around - 4 * U[i][j])
      end
    end
    for i in parallel({2, n - 1}) do
      for j = 2, n - 1 do
        local around = V[i - 1][j] + V[i + 1][j] + V[i][j - 1] + V[i][j + 1]
        U[i][j] = V[i][j] + 0.2 * (around - 4 * V[i][j])
      end
    end
  end
  return U[2][2] + U[n - 1][n - 1]
]]}

M[#M + 1] = {name = "life", written = {"A", "B"}, make = function(N)
  local n = round(400 * N)
  local A = meissa.rand({n, n}, {seed = 1, scale = 2, type = "int32"})
  return {{"n", n}, {"A", A}, {"B", A:clone()}}
end, text = [[
  local from, to = A, B
  for step = 1, 20 do
    for i in parallel({2, n - 1}) do
      for j = 2, n - 1 do
        local near = from[i - 1][j - 1] + from[i - 1][j] + from[i - 1][j + 1] + from[i][j - 1] +
          from[i][j + 1] + from[i + 1][j - 1] + from[i + 1][j] + from[i + 1][j + 1]
        if near == 3 or near == 2 and from[i][j] == 1 then to[i][j] = 1 else to[i][j] = 0 end
      end
    end
    from, to = to, from
  end
  local alive = 0
  for i = 2, n - 1 do alive = alive + A[i][i] end
  return alive
]]}

M[#M + 1] = {name = "floyd_warshall", written = {"D"}, make = function(N)
  local n = round(300 * N)
  return {{"n", n}, {"D", rand({n, n}, 1, 100)}}
end, text = [[
  for k = 1, n do
    for i in parallel(n) do
      if i ~= k then
        local first = D[i][k]
        for j = 1, n do
          local through = first + D[k][j]
          if through < D[i][j] then D[i][j] = through end
        end
      end
    end
  end
  return D[1][n] + D[n][1]
]]}

M[#M + 1] = {name = "monte_carlo", written = {}, random = true, make = function(N)
  return {{"n", round(2000000 * N)}}
end, text = [[
  local inside = 0
  for i in parallel(n) do
    local x, y = random(), random()
    if x * x + y * y < 1 then inside = inside + 1 end
  end
  return 4 * inside / n
]]}

M[#M + 1] = {name = "histogram", written = {"bins"}, buffers = {count = {"bins"}},
make = function(N)
  local n = round(1000000 * N)
  return {{"n", n}, {"x", rand({n}, 1)}, {"bins", meissa.zeros(64)}}
end, text = [[
  for i in parallel(n) do
    local bin = math.floor(64 * x[i]) + 1
    count[bin] = count[bin] + 1
  end
  return bins[1] + bins[64]
]]}

M[#M + 1] = {name = "gaussian_mixture", written = {"mean", "weight", "sums"},
buffers = {wb = {"weight"}, sb = {"sums"}}, make = function(N)
  local n, d, K = round(5000 * N), 8, 5
  return {{"n", n}, {"d", d}, {"K", K}, {"X", rand({n, d}, 1)}, {"mean", rand({K, d}, 2)},
    {"weight", meissa.zeros(K)}, {"sums", meissa.zeros(K, d)}, {"p", meissa.scratch(K)}}
end, text = [[
  for pass = 1, 3 do
    for c = 1, K do
      weight[c] = 0
      for j = 1, d do sums[c][j] = 0 end
    end
    for i in parallel(n) do
      local total = 0
      for c = 1, K do
        local off = 0
        for j = 1, d do
          local t = X[i][j] - mean[c][j]
          off = off + t * t
        end
        p[c] = math.exp(-off / 0.2)
        total = total + p[c]
      end
      for c = 1, K do
        local share = p[c] / total
        wb[c] = wb[c] + share
        for j = 1, d do sb[c][j] = sb[c][j] + share * X[i][j] end
      end
    end
    for c = 1, K do
      for j = 1, d do mean[c][j] = sums[c][j] / weight[c] end
    end
  end
  return mean[1][1] + mean[K][d]
]]}

M[#M + 1] = {name = "mlp", written = {"G1", "G2"},
buffers = {g1 = {"G1"}, g2 = {"G2"}}, make = function(N)
  local n, d, h = round(2000 * N), 32, 16
  return {{"n", n}, {"d", d}, {"h", h}, {"X", rand({n, d}, 1)}, {"y", rand({n}, 2)},
    {"W1", meissa.randn({h, d}, {seed = 3, scale = 0.2})},
    {"W2", meissa.randn({h}, {seed = 4, scale = 0.2})},
    {"G1", meissa.zeros(h, d)}, {"G2", meissa.zeros(h)}, {"a", meissa.scratch(h)}}
end, text = [[
  for i in parallel(n) do
    local out = 0
    for k = 1, h do
      local z = 0
      for j = 1, d do z = z + W1[k][j] * X[i][j] end
      a[k] = math.tanh(z)
      out = out + W2[k] * a[k]
    end
    local off = out - y[i]
    for k = 1, h do
      g2[k] = g2[k] + off * a[k]
      local back = off * W2[k] * (1 - a[k] * a[k])
      for j = 1, d do g1[k][j] = g1[k][j] + back * X[i][j] end
    end
  end
  return G1[1][1] + G1[h][d] + G2[1]
]]}

M[#M + 1] = {name = "lcs", written = {"L"}, bound = "wavefront", make = function(N)
  local n = round(1500 * N)
  return {{"n", n}, {"a", rand({n}, 1, 4):map(math.floor)}, {"b", rand({n}, 2, 4):map(math.floor)},
    {"L", meissa.zeros(n + 1, n + 1)}}
end, text = [[
  for i, j in parallel({2, n + 1}, {2, n + 1}) do
    if a[i - 1] == b[j - 1] then
      L[i][j] = L[i - 1][j - 1] + 1
    else
      L[i][j] = math.max(L[i - 1][j], L[i][j - 1])
    end
  end --2
  return L[n + 1][n + 1]
]]}

M[#M + 1] = {name = "smith_waterman", written = {"H"}, bound = "wavefront",
make = function(N)
  local n = round(1000 * N)
  return {{"n", n}, {"a", rand({n}, 1, 4):map(math.floor)}, {"b", rand({n}, 2, 4):map(math.floor)},
    {"H", meissa.zeros(n + 1, n + 1)}}
end, text = [[
  local best = 0
  for i, j in parallel({2, n + 1}, {2, n + 1}) do
    local score = -1
    if a[i - 1] == b[j - 1] then score = 2 end
    local h = math.max(0, H[i - 1][j - 1] + score, H[i - 1][j] - 1, H[i][j - 1] - 1)
    H[i][j] = h
    best = math.max(best, h)
  end --2
  return best + H[n + 1][n + 1]
]]}

return M
