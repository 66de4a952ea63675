-- SPDX-License-Identifier: MIT
-- Small loops of all kinds, for small_spec.lua.
local meissa = require "meissa"
local parallel = meissa.parallel

local N = 40
local NATIVE = {engine = "native"}
local UNORDERED = {engine = "native", ordered = false}

local M = {N = N, NATIVE = NATIVE}

-- Each runs one loop over fresh arrays, and gives what it has left: arrays and numbers.
M.list = {
  ["an independent loop"] = function(A, B)
    for i in parallel(N, NATIVE) do A[i][1] = B[i][2] * 0.3 + i end
    return A
  end,
  ["sums, products and extremes"] = function(A, B, k)
    local s, p, least, most = 0.1 * k, 1 + k, 1e300, -1e300
    for i in parallel({2, N - k}, NATIVE) do
      s = s + A[i][1] * B[1][i]
      p = p * (1 + 0.01 * A[i][k])
      least, most = math.min(least, A[i][3]), math.max(most, B[i][3])
    end
    return s, p, least, most
  end,
  ["what is assigned with extremes"] = function(A, B, k)
    local most, at, least, from, row = A[k][k], nil, 0.5, "none", B[k][1] > 0.5
    for i in parallel(N, NATIVE) do
      if A[i][k] > most then most, at = A[i][k], i end
      if B[i][k] <= least then least, from, row = B[i][k], -i, i % 2 == 0 end
    end
    return most, tostring(at), least, from, row
  end,
  ["whether all are, and whether one is"] = function(A, B, k)
    local all, one, no, last = k > 1, k == 3, 0, false
    for i in parallel(N, NATIVE) do
      all = all and A[i][k] < 0.99
      one = one or B[i][k] > 0.97
      if A[i][3] > 0.9 then no = no and false end
      last = A[i][k] > 0.98 or last
    end
    return all, one, no, last
  end,
  ["the first that is, and what goes with it"] = function(A, B, k)
    local one, at, last, value
    for i in parallel(N, NATIVE) do
      if not one and A[i][k] > 0.3 then one, at = A[i][k], i end
      if last == nil and B[i][k] > 2 then last, value = i, B[i][k] end
    end
    return one, at, last, value
  end,
  ["a step size that a method has in a local"] = function(A, B, k)
    local model = {rate = 0.5 * k}
    function model:step(i)
      local row, rate = A[i], self.rate
      row[1] = row[1] + rate * B[i][k]
    end
    for i in parallel(N, NATIVE) do model:step(i) end
    return A
  end,
  ["a variable that the last iteration assigns"] = function(A, _, k)
    local last = k
    for i in parallel(N, NATIVE) do last = A[i][k] end
    return last
  end,
  ["a variable that no iteration assigns"] = function(A, _, k)
    local last = k
    for i in parallel({1, N}, NATIVE) do
      if A[i][1] > 1e9 then last = i end
    end
    return last
  end,
  ["a sweep"] = function(A)
    for i, j in parallel({2, N}, {2, N}, NATIVE) do
      A[i][j] = 0.5 * (A[i - 1][j] + A[i][j - 1])
    end
    return A
  end,
  ["a rotation"] = function(A, B)
    local rows, columns = meissa.zeros(N), meissa.zeros(N)
    for i, j in parallel(N, N, UNORDERED) do
      rows[i] = rows[i] + A[i][j] * columns[j]
      columns[j] = columns[j] + B[i][j] * rows[i] + 1
    end
    return rows, columns
  end,
  ["working space"] = function(A, B)
    local room = meissa.scratch(N)
    for i in parallel(N, NATIVE) do
      for j = 1, N do room[j] = A[i][j] * B[j][1] end
      for j = 1, N do A[i][j] = room[N + 1 - j] end
    end
    return A
  end,
  ["random numbers"] = function(A)
    meissa.seed(3)
    for i in parallel(N, NATIVE) do A[i][i] = meissa.random() + meissa.normal() end
    return A
  end,
  ["buffers that are merged in stages"] = function(A, B, k)
    local w, s = meissa.zeros(N), 0.1
    local wb = meissa.buffer(w, {max_delay = 7})
    for i in parallel(N, NATIVE) do
      local e = math.floor(N * A[i][k]) + 1
      s = s + w[e]
      wb[e] = wb[e] + 0.3 * (B[i][k] - w[e])
      B[i][2] = w[e]
    end
    return w, s, B
  end,
  ["buffers of floats, whole numbers and views, and two of one array"] = function(A, B, k)
    local F, I = meissa.ones({N}, {type = "float"}), meissa.zeros({N}, {type = "int32"})
    local f, n, t = meissa.buffer(F), meissa.buffer(I), meissa.buffer(A:transpose(1, 2))
    local one, two = meissa.buffer(B), meissa.buffer(B)
    for i in parallel(N, NATIVE) do
      f[i % 7 + 1] = f[i % 7 + 1] + i / 3
      n[i % 5 + 1] = n[i % 5 + 1] + i
      t[1][i % 3 + 1] = t[1][i % 3 + 1] + 0.1 * i
      two[k][i % 4 + 1] = two[k][i % 4 + 1] + 0.7 * i
      one[k][i % 4 + 1] = one[k][i % 4 + 1] + 0.01 * i
    end
    return F, I, A, B
  end,
  ["entries and rows of a sparse array"] = function(A, B, k)
    local list = {i = {}, j = {}, v = {}}
    for e = 1, 3 * N do
      list.i[e], list.j[e], list.v[e] = (e - 1) % N + 1, (7 * e) % N + 1, A[1][(e - 1) % N + 1]
    end
    local X, s, y, total = meissa.sparse({N, N}, list), 0.1, meissa.zeros(N), meissa.zeros(1)
    local b = meissa.buffer(total)
    for i, j, v in parallel(X, NATIVE) do
      s = s + v * B[i][j] * k
      b[1] = b[1] + v
    end
    for i in parallel(N, NATIVE) do
      local sum = 0
      for j, v in X[i]:nonzeros() do sum = sum + v * B[k][j] end
      y[i] = sum
    end
    return s, y, total
  end,
  ["floats, whole numbers and a strided view"] = function(A, _, k)
    local F, I = meissa.ones({N}, {type = "float"}), meissa.zeros({N}, {type = "int32"})
    local C = A:transpose(1, 2)
    for i in parallel({N, 1, -1}, NATIVE) do
      F[i] = F[i] + C[i][k] / 3
      C[k][i] = F[i]
    end
    for i in parallel(N, NATIVE) do I[i] = i end
    return F, I, A
  end,
}

return M
