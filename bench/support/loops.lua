-- SPDX-License-Identifier: MIT
--- The loops that bench/kernels.lua measures, each as a user writes it.
--
-- A loop is {name = (of the C function), file = (that has it), title, ranks, element, make}.
-- make(rank, element, size) gives a case: `pass(options, done)` runs it once, calls done(numbers)
-- after each parallel loop with the numbers that the C function takes, and returns the loop's sum;
-- `arrays` are what the C function takes (for buffers, a vector of what is pending); `written`
-- those that the pass changes; `after`, if there is one, what is to be done after each loop;
-- `updates`, how many a pass makes.
local c_api = require "meissa.array.c_api"
local meissa = require "meissa"
local parallel = meissa.parallel

local M = {}

local function ratings_of(size)
  return require("ratings").generate {users = size.users or 6040, items = size.items or 3706,
                                      ratings = size.ratings, seed = 1}
end

local shared = {}

-- The ratings that all matrix factorizations share.
local function ratings_for(size)
  shared.ratings = shared.ratings or ratings_of(size)
  return shared.ratings
end

local function factors(ratings, K, element)
  return meissa.randn({ratings:size(1), K}, {scale = 0.1, seed = 1, type = element}),
    meissa.randn({ratings:size(2), K}, {scale = 0.1, seed = 2, type = element})
end

local function mf_sgd(K, element, size)
  local ratings = ratings_for(size)
  local W, H = factors(ratings, K, element)
  local mu, lr, reg = ratings:mean(), 0.01, 0.05
  local function pass(options, done)
    local sse = 0
    for i, j, r in parallel(ratings, options) do
      local w, h = W[i], H[j]
      local e = r - mu - w:dot(h)
      sse = sse + e * e
      for k = 1, K do
        local wk = w[k]
        w[k] = wk + lr * (e * h[k] - reg * wk)
        h[k] = h[k] + lr * (e * wk - reg * h[k])
      end
    end
    done {mu, lr, reg}
    return sse
  end
  return {pass = pass, arrays = {W, H}, written = {W, H}, updates = ratings:nnz()}
end

local function mf_adagrad(K, element, size)
  local ratings = ratings_for(size)
  local W, H = factors(ratings, K, element)
  local sums_w = meissa.full({ratings:size(1)}, 1, {type = element})
  local sums_h = meissa.full({ratings:size(2)}, 1, {type = element})
  local mu, rate, reg = ratings:mean(), 0.1, 0.05
  local function pass(options, done)
    local sse = 0
    for i, j, r in parallel(ratings, options) do
      local w, h = W[i], H[j]
      local e = r - mu - w:dot(h)
      sse = sse + e * e
      local step_w, step_h = rate / math.sqrt(sums_w[i]), rate / math.sqrt(sums_h[j])
      local sum_w, sum_h = 0, 0
      for k = 1, K do
        local wk, hk = w[k], h[k]
        local gw, gh = reg * wk - e * hk, reg * hk - e * wk
        sum_w = sum_w + gw * gw
        sum_h = sum_h + gh * gh
        w[k] = wk - step_w * gw
        h[k] = hk - step_h * gh
      end
      sums_w[i] = sums_w[i] + sum_w / K
      sums_h[j] = sums_h[j] + sum_h / K
    end
    done {mu, rate, reg}
    return sse
  end
  return {pass = pass, arrays = {W, H, sums_w, sums_h}, written = {W, H, sums_w, sums_h},
          updates = ratings:nnz()}
end

-- Entries at random places; the values do not matter for speed.
local function random_tensor(extents, count, element)
  local columns = {}
  local places = meissa.rand({3, count}, {seed = 4})
  for d, name in ipairs {"i", "j", "k"} do
    local column, place = meissa.zeros({count}, {type = "int32"}), places[d]
    local extent = extents[d]
    for e = 1, count do column[e] = 1 + math.floor(extent * place[e]) end
    columns[name] = column
  end
  columns.v = meissa.randn({count}, {seed = 5, type = element})
  return meissa.sparse(extents, columns, {type = element})
end

local function cp(R, element, size)
  local tensor = random_tensor({600, 500, 400}, size.ratings, element)
  local A = meissa.randn({600, R}, {scale = 0.3, seed = 1, type = element})
  local B = meissa.randn({500, R}, {scale = 0.3, seed = 2, type = element})
  local C = meissa.randn({400, R}, {scale = 0.3, seed = 3, type = element})
  local lr, reg = 0.01, 0.001
  local function pass(options, done)
    local sse = 0
    for i, j, k, v in parallel(tensor, options) do
      local a, b, c = A[i], B[j], C[k]
      local e = v
      for r = 1, R do e = e - a[r] * b[r] * c[r] end
      sse = sse + e * e
      for r = 1, R do
        local ar, br, cr = a[r], b[r], c[r]
        a[r] = ar + lr * (e * br * cr - reg * ar)
        b[r] = br + lr * (e * ar * cr - reg * br)
        c[r] = cr + lr * (e * ar * br - reg * cr)
      end
    end
    done {lr, reg}
    return sse
  end
  return {pass = pass, arrays = {A, B, C}, written = {A, B, C}, updates = tensor:nnz()}
end

local function stencil(n, element)
  local U = meissa.randn({n, n}, {seed = 1, type = element})
  local F = meissa.randn({n, n}, {seed = 2, type = element})
  local V, h = meissa.zeros({n, n}, {type = element}), 1 / (n - 1)
  local function pass(options, done)
    local change = 0
    for i, j in parallel({2, n - 1}, {2, n - 1}, options) do
      local u = 0.25 * (U[i-1][j] + U[i+1][j] + U[i][j-1] + U[i][j+1] + h * h * F[i][j])
      change = change + (u - U[i][j]) * (u - U[i][j])
      V[i][j] = u
    end
    done {h}
    return change
  end
  return {pass = pass, arrays = {U, V, F}, written = {V}, updates = (n - 2) ^ 2}
end

local function pagerank(_, element, size)
  local n, count = 100000, size.ratings
  local places = meissa.rand({2, count}, {seed = 1})
  local from, to = meissa.zeros({count}, {type = "int32"}), meissa.zeros({count}, {type = "int32"})
  for e = 1, count do
    from[e] = 1 + math.floor(n * places[1][e])
    to[e] = 1 + math.floor(n * places[2][e] ^ 2)
  end
  local edges = meissa.sparse({n, n}, {i = from, j = to})
  local rank = meissa.full({n}, 1 / n, {type = element})
  local links = meissa.full({n}, count / n, {type = element})
  local fresh, d = meissa.zeros({n}, {type = element}), 0.85
  local function pass(options, done)
    for i, j in parallel(edges, options) do fresh[j] = fresh[j] + d * rank[i] / links[i] end
    done {d}
    return 0
  end
  return {pass = pass, arrays = {rank, links, fresh}, written = {fresh}, updates = count}
end

local function lu(n, element)
  local A = meissa.rand({n, n}, {seed = 1, type = element})
  for i = 1, n do A[i][i] = A[i][i] + n end
  local function pass(options, done)
    for k = 1, n - 1 do
      for i in parallel({k + 1, n}, options) do
        local row, pivot = A[i], A[k]
        local factor = row[k] / pivot[k]
        row[k] = factor
        for j = k + 1, n do row[j] = row[j] - factor * pivot[j] end
      end
      done {k}
    end
    return 0
  end
  return {pass = pass, arrays = {A}, written = {A}, updates = n ^ 3 / 3}
end

local function kmeans(D, element, size)
  local n, count = math.min(100000, size.ratings), 16
  local points = meissa.randn({n, D}, {seed = 1, type = element})
  local centres = meissa.randn({count, D}, {seed = 2, type = element})
  local label = meissa.zeros({n}, {type = "int32"})
  local function pass(options, done)
    local cost = 0
    for i in parallel(n, options) do
      local x, best, at = points[i], math.huge, 0
      for m = 1, count do
        local y, sum = centres[m], 0
        for k = 1, D do
          local t = x[k] - y[k]
          sum = sum + t * t
        end
        if sum < best then best, at = sum, m end
      end
      label[i] = at
      cost = cost + best
    end
    done {count}
    return cost
  end
  return {pass = pass, arrays = {points, centres, label}, written = {label}, updates = n * count}
end

--- What a C function takes of a sparse array: its rows' starts, columns from 1, and values.
function M.rows_of(X)
  local rows = c_api.call(c_api.lib.ms_csr_get, X.array)
  return rows.start, rows.columns[1], rows.values
end

local function logistic(columns, element, size)
  local n, width = math.floor(size.ratings / 20), 20
  local place = meissa.rand({n * width}, {seed = 1})
  local i, j = meissa.zeros({n * width}, {type = "int32"}), meissa.zeros({n * width},
    {type = "int32"})
  for e = 1, n * width do
    i[e], j[e] = math.ceil(e / width), 1 + math.floor(columns * place[e] ^ 2)
  end
  local v = meissa.rand({n * width}, {seed = 2, type = element})
  local X = meissa.sparse({n, columns}, {i = i, j = j, v = v}, {type = element})
  local w = meissa.randn({columns}, {scale = 0.1, seed = 3, type = element})
  local y, residual = meissa.zeros({n}, {type = element}), meissa.zeros({n}, {type = element})
  for e = 1, n, 2 do y[e] = 1 end
  local bias = 0.1
  local function pass(options, done)
    local squares = 0
    for row in parallel(n, options) do
      local z = bias
      for f, x in X[row]:nonzeros() do z = z + w[f] * x end
      local r = y[row] - 1 / (1 + math.exp(-z))
      residual[row] = r
      squares = squares + r * r
    end
    done {bias}
    return squares
  end
  local start, column, values = M.rows_of(X)
  return {pass = pass, arrays = {start, column, values, w, y, residual}, written = {residual},
          updates = n * width, keep = X}
end

M.list = {
  {name = "mf_sgd", title = "MF SGD", ranks = {8, 16, 32, 64, 128, 1000}, element = "float",
   make = mf_sgd},
  {name = "mf_adagrad", title = "MF AdaGrad", ranks = {8, 32, 128}, element = "float",
   make = mf_adagrad},
  {name = "cp", title = "CP", ranks = {16}, element = "float", make = cp},
  {name = "stencil", title = "Jacobi stencil", ranks = {1500}, element = "double", make = stencil},
  {name = "pagerank", title = "PageRank", ranks = {1}, element = "double", make = pagerank},
  {name = "lu", title = "LU", ranks = {1000}, element = "double", make = lu},
  {name = "kmeans", title = "k-means", ranks = {16}, element = "float", make = kmeans},
  {name = "logistic", title = "logistic", ranks = {10000}, element = "float", make = logistic},
}

for _, loop in ipairs(M.list) do loop.file = "kernels.c" end

return M
