-- SPDX-License-Identifier: MIT
--- The programs of bench/users.lua on sparse arrays, tables and texts: see programs_dense.lua.
local meissa = require "meissa"

local function round(x) return math.floor(x + 0.5) end

local M = {}

-- `each` entries in each of n rows, at m columns drawn at random, in ascending order.
local function draw_sparse(n, m, each, seed, value)
  local lists = {i = {}, j = {}, v = {}}
  local places = meissa.rand({n, each}, {seed = seed, scale = m})
  for i = 1, n do
    local columns = {}
    for k = 1, each do columns[k] = math.floor(places[i][k]) + 1 end
    table.sort(columns)
    for k = 1, each do
      if columns[k] ~= columns[k - 1] then
        table.insert(lists.i, i)
        table.insert(lists.j, columns[k])
        table.insert(lists.v, value(i, k))
      end
    end
  end
  return meissa.sparse({n, m}, lists)
end

M[#M + 1] = {name = "pegasos", written = {"w"}, loose = true,
buffers = {wb = {"w", {max_delay = 1000}}}, make = function(N)
  local n, d = round(10000 * N), 1000
  local function value(i, k) return (i + k) % 7 - 3 end
  return {{"n", n}, {"d", d}, {"X", draw_sparse(n, d, 30, 1, value)},
    {"y", meissa.rand({n}, {seed = 2}):map(function(u) return u < 0.5 and -1 or 1 end)},
    {"w", meissa.zeros(d)}}
end, text = [[
  for pass = 1, 3 do
    local rate = 0.01 / pass
    for i in parallel(n) do
      local m = 0
      for j, v in X[i]:nonzeros() do m = m + w[j] * v end
      if y[i] * m < 1 then
        for j, v in X[i]:nonzeros() do wb[j] = wb[j] + rate * y[i] * v end
      end
    end
    for j = 1, d do w[j] = (1 - 0.1 * rate) * w[j] end
  end
  return w[1] + w[d]
]]}

M[#M + 1] = {name = "mf", written = {"W", "H"}, loose = true, make = function(N)
  local users, items, K = 943, 1682, 16
  local function rating(i, k) return (i * 7 + k) % 5 + 1 end
  local R = draw_sparse(users, items, round(110 * N), 1, rating)
  return {{"K", K}, {"users", users}, {"R", R},
    {"W", meissa.rand({users, K}, {seed = 2, scale = 0.5})},
    {"H", meissa.rand({items, K}, {seed = 3, scale = 0.5})}}
end, text = [[
  local Model = {}
  Model.__index = Model
  function Model:predict(i, j)
    local w, h, sum = self.W[i], self.H[j], 0
    for k = 1, K do sum = sum + w[k] * h[k] end
    return sum
  end
  local model = setmetatable({W = W, H = H}, Model)
  local sse = 0
  for i, j, r in parallel(R) do
    local e = r - model:predict(i, j)
    sse = sse + e * e
    for k = 1, K do
      local w = W[i][k]
      W[i][k] = w + 0.01 * (e * H[j][k] - 0.05 * w)
      H[j][k] = H[j][k] + 0.01 * (e * w - 0.05 * H[j][k])
    end
  end
  return sse + W[1][1]
]]}

M[#M + 1] = {name = "naive_bayes", written = {"count", "prior"},
buffers = {cb = {"count"}, pb = {"prior"}}, make = function(N)
  local n, d, classes = round(5000 * N), 2000, 4
  local function times(_, k) return k % 3 + 1 end
  return {{"n", n}, {"X", draw_sparse(n, d, 50, 1, times)},
    {"y", meissa.rand({n}, {seed = 2, scale = classes}):map(math.floor):add(1)},
    {"count", meissa.zeros(classes, d)}, {"prior", meissa.zeros(classes)}}
end, text = [[
  for i in parallel(n) do
    local c = y[i]
    pb[c] = pb[c] + 1
    for j, v in X[i]:nonzeros() do cb[c][j] = cb[c][j] + v end
  end
  return prior[1] + count[1][1] + count[4][2000]
]]}

M[#M + 1] = {name = "word_count", written = {}, make = function(N)
  local lines, words = {}, meissa.rand({round(20000 * N), 10}, {seed = 1, scale = 500})
  for l = 1, words:size(1) do
    local line = {}
    for k = 1, 10 do line[k] = "word" .. math.floor(words[l][k]) end
    lines[l] = table.concat(line, " ")
  end
  return {{"lines", lines}}
end, text = [[
  local count = {}
  for i in parallel(#lines) do
    for word in lines[i]:gmatch("%w+") do count[word] = (count[word] or 0) + 1 end
  end
  return count.word1 + count.word499
]]}

M[#M + 1] = {name = "pagerank", written = {"rank", "other"}, make = function(N)
  local n = round(20000 * N)
  return {{"n", n}, {"into", draw_sparse(n, n, 10, 1, function() return 1 end)},
    {"links", meissa.full({n}, 10)}, {"rank", meissa.full({n}, 1 / n)}, {"other", meissa.zeros(n)}}
end, text = [[
  for pass = 1, 10 do
    for i in parallel(n) do
      local sum = 0
      for j, v in into[i]:nonzeros() do sum = sum + v * rank[j] / links[j] end
      other[i] = 0.15 / n + 0.85 * sum
    end
    for i in parallel(n) do rank[i] = other[i] end
  end
  return rank[1] + rank[n]
]]}

M[#M + 1] = {name = "bfs", written = {"level", "next"}, make = function(N)
  local n = round(50000 * N)
  local level = meissa.full({n}, -1)
  level[1] = 0
  return {{"n", n}, {"into", draw_sparse(n, n, 6, 1, function() return 1 end)}, {"level", level},
    {"next", level:clone()}}
end, text = [[
  local depth, found = 0, 1
  while found > 0 do
    found = 0
    for i in parallel(n) do
      local reached = level[i]
      if reached < 0 then
        for j, v in into[i]:nonzeros() do
          if level[j] == depth then reached = depth + 1 end
        end
        if reached > 0 then found = found + 1 end
      end
      next[i] = reached
    end
    for i in parallel(n) do level[i] = next[i] end
    depth = depth + 1
  end
  return depth + level[n]
]]}

M[#M + 1] = {name = "cg", written = {"x", "r", "p", "q"}, make = function(N)
  local side = round(100 * N ^ 0.5)
  local n, lists = side * side, {i = {}, j = {}, v = {}}
  local function put(i, j, v)
    table.insert(lists.i, i)
    table.insert(lists.j, j)
    table.insert(lists.v, v)
  end
  for i = 1, n do
    if i > side then put(i, i - side, -1) end
    if i % side ~= 1 then put(i, i - 1, -1) end
    put(i, i, 4)
    if i % side ~= 0 then put(i, i + 1, -1) end
    if i <= n - side then put(i, i + side, -1) end
  end
  local b = meissa.rand({n}, {seed = 1})
  return {{"n", n}, {"A", meissa.sparse({n, n}, lists)}, {"x", meissa.zeros(n)}, {"r", b},
    {"p", b:clone()}, {"q", meissa.zeros(n)}}
end, text = [[
  local rr = 0
  for i = 1, n do rr = rr + r[i] * r[i] end
  for pass = 1, 20 do
    local pq = 0
    for i in parallel(n) do
      local sum = 0
      for j, v in A[i]:nonzeros() do sum = sum + v * p[j] end
      q[i] = sum
      pq = pq + p[i] * sum
    end
    local alpha, new = rr / pq, 0
    for i in parallel(n) do
      x[i] = x[i] + alpha * p[i]
      local left = r[i] - alpha * q[i]
      r[i] = left
      new = new + left * left
    end
    local beta = new / rr
    rr = new
    for i in parallel(n) do p[i] = r[i] + beta * p[i] end
  end
  return x[1] + x[n] + rr
]]}

return M
