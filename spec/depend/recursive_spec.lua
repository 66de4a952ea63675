-- SPDX-License-Identifier: MIT
-- Captured functions that call themselves: what all of their calls do and give is known from one
-- walk, whatever they hand on.
local compiler = require "meissa.kernel.compiler"
local meissa = require "meissa"
local small = require "meissa.driver.small"
local parallel = meissa.parallel

-- Specs run in an environment that finds globals by a function, which the analyser never calls.
local math, setmetatable, tostring = math, setmetatable, tostring

local N = 24
local left = meissa.zeros({N}, {type = "int32"})
local right = meissa.zeros({N}, {type = "int32"})
local P = meissa.rand({N}, {seed = 3})
local A, B, C = meissa.zeros(N), meissa.zeros(N), meissa.zeros(N, 3)
local log = {n = 0, next = {n = 0}}
for k = 1, N do
  left[k], right[k] = 2 * k <= N and 2 * k or 0, 2 * k < N and 2 * k + 1 or 0
end

-- What functions give that hand on what they have got: bodies, and the functions' texts.
local GOOD = {
  ["its own result"] = {"local function f(k, best) if k == 0 then return best end " ..
    "return f(right[k], f(left[k], best) + P[k]) end", "A[i] = f(i, 1)"},
  ["its own result as it is"] = {"local function f(k, best) if k == 0 then return best end " ..
    "return f(right[k], f(left[k], best)) end", "A[i] = f(i, P[i])"},
  ["two results"] = {"local function f(k, best, at) if k == 0 then return best, at end " ..
    "if P[k] < best then best, at = P[k], k end best, at = f(left[k], best, at) " ..
    "return f(right[k], best, at) end", "local best, at = f(i, 2, 0) A[i] = best + 10 * at"},
  ["what another gives"] = {"local g local function f(k, best) if k == 0 then return best end " ..
    "return g(left[k], best) end g = function(k, best) if k == 0 then return best end " ..
    "best = f(right[k], best) return f(left[k], math.min(best, P[k])) end", "A[i] = f(i, 1)"},
  ["Ackermann's"] = {"local function f(m, n) if m == 0 then return n + P[1] - P[1] + 1 end " ..
    "if n == 0 then return f(m - 1, 1) end return f(m - 1, f(m, n - 1)) end", "A[i] = f(2, i)"},
  ["a row"] = {"local function f(row, k) if k == 0 then return 0 end " ..
    "return row[k] + f(row, k - 1) end", "C[i][2] = i A[i] = f(C[i], 3)"},
  ["where to store"] = {"local function f(k, n) if n > 0 then A[k] = A[k] + n f(k, n - 1) end end",
    "f(i, 5)"},
  ["parts of a row"] = {"local function f(part, k) if k == 1 then return part[1] end " ..
    "return part[k] + f(part:narrow(1, 1, k - 1), k - 1) end", "C[i][2] = i A[i] = f(C[i], 3)"},
  ["from object to object, of a class that stores"] = {"local T = {} T.__index = T " ..
    "function T:f(x) if not self.left then return self.value * x end " ..
    "return self.left:f(x) - self.right:f(x / 2) end function T:fit(v) self.value = v end " ..
    "local function tree(d) return setmetatable({value = d, left = d > 0 and tree(d - 1), " ..
    "right = d > 0 and tree(d - 1)}, T) end local t = tree(3)", "A[i] = t:f(P[i])"},
  ["a method's own"] = {"local M = {} M.__index = M function M:f(k, best) " ..
    "if k == 0 then return best end best = self:f(left[k], math.min(best, P[k])) " ..
    "return self:f(right[k], best) end local m = setmetatable({}, M)", "A[i] = m:f(i, 1)"},
}

-- What stores, or gives what is stored into, in a later call: the refusal's code.
local BAD = {
  ["at a place that moves"] = {"local function f(k, n) if n > 0 then A[k] = n " ..
    "f(k + 1, n - 1) end end", "f(i, 2)", "DEP10"},
  ["at the first call's place, read by others"] = {"local function f(k, n) if n == 0 then " ..
    "return 0 end A[k] = n return f(k, n - 1) + A[k + 1] end", "B[i] = f(i, 2)", "DEP10"},
  ["where a condition of the first does not hold"] = {"local function f(k, n) if n == 7 then " ..
    "A[1] = A[1] * k + 1 end if n > 0 then f(k, n - 1) end end", "f(i, 9)", "DEP10"},
  ["into what a later call is given"] = {"local function f(X, n) if n == 0 then X[1] = 2 " ..
    "return end f(B, n - 1) end", "f(C[i], 2)", "DEP10"},
  ["into a table that is handed on"] = {"local function f(t, n) if n == 0 then t.n = 1 return 0 " ..
    "end return f(t, n - 1) end", "A[i] = f(log, 3)", "DEP112"},
  ["into a table that only later calls are given"] = {"local function f(t, n) if n == 0 then " ..
    "t.n = 1 return 0 end return f(log, n - 1) end", "A[i] = f({}, 3)", "DEP112"},
  ["into one that is in it"] = {"local function f(t, n) if n == 0 then t.n = 1 return 0 end " ..
    "return f(t.next, n - 1) end", "A[i] = f(log, 1)", "DEP112"},
  ["into what it gives"] = {"local function f(t, n) if n == 0 then return t end " ..
    "return f(log, n - 1) end", "f({}, 3).n = i A[i] = 1", "DEP1"},
  ["into what it gives, handed on"] = {"local function f(n) if n == 0 then return log end " ..
    "return f(n - 1) end", "local t = f(3) t.n = i A[i] = 1", "DEP1"},
  ["into what it gives as its second"] = {"local function f(t, n) " ..
    "if n == 0 then return 1, t end local _, u = f(log, n - 1) return 1, u end",
    "local _, t = f({}, 3) t.n = i A[i] = 1", "DEP1"},
  ["into an array that it gives"] = {"local function f(n) if n == 0 then return B end " ..
    "return f(n - 1) end", "f(3)[1] = i", "DEP10"},
  ["by a method of what it gives"] = {"local function f(n) if n == 0 then return B end " ..
    "f(n - 1):fill(n) return B end", "f(2)", "DEP10"},
  ["what another closure of its text reads"] = {"local function make(h, X) return function(k) " ..
    "return X[k % 24 + 1] + (h and h(k) or 0) end end local f = make(make(nil, A), P)",
    "A[i] = f(i)", "DEP10"},
  ["by another function"] = {"local g local function f(t, n) if n == 0 then return 0 end " ..
    "return g(t, n - 1) end g = function(t, n) if n == 0 then t.n = 1 return 0 end " ..
    "return f(log, n) end", "A[i] = f({}, 2)", "DEP112"},
  ["by a function that it is given"] = {"local function put() log.n = 1 return 0 end " ..
    "local function none() return 0 end local function f(g, n) if n == 0 then return g() end " ..
    "return f(put, n - 1) end", "A[i] = f(none, 2)", "DEP112"},
  ["by one of two closures of a text"] = {"local function make(h, t) return function(n) " ..
    "if t then t.n = n end return h and h(n) or 0 end end " ..
    "local f = make(make(nil, log), false)", "A[i] = f(2)", "DEP112"},
}

local HEAD = "local left, right, P, A, B, C, log, math, setmetatable, parallel, n = ... "

local function run(case, loop)
  local text = HEAD .. case[1] .. "\n" .. loop .. "\n" .. case[2] .. "\nend"
  A:fill(1)
  assert(loadstring(text))(left, right, P, A, B, C, log, math, setmetatable, parallel, N)
  local bits = {}
  for k = 1, N do bits[k] = ("%a"):format(A[k]) end
  return table.concat(bits, " ")
end

-- A k-d tree in arrays: the places in the order of the nodes, the children's nodes, and the search.
local function tree_of(points)
  local lower, upper = meissa.zeros({N}, {type = "int32"}), meissa.zeros({N}, {type = "int32"})
  local function build(list, axis)
    if #list == 0 then return 0 end
    table.sort(list, function(a, b) return points[a][axis] < points[b][axis] end)
    local middle = math.ceil(#list / 2)
    local node, below, above = list[middle], {}, {}
    for k = 1, middle - 1 do below[k] = list[k] end
    for k = middle + 1, #list do above[k - middle] = list[k] end
    lower[node], upper[node] = build(below, 3 - axis), build(above, 3 - axis)
    return node
  end
  local all = {}
  for k = 1, N do all[k] = k end
  return lower, upper, build(all, 1)
end

describe("captured functions that call themselves", function()
  local most
  setup(function() most, small.most[0] = small.most[0], 0 end)
  teardown(function() small.most[0] = most end)
  after_each(function() meissa.init {} end)

  for _, workers in ipairs {0, 1, 2} do
    it(("give the bits of plain Lua with %d workers"):format(workers), function()
      meissa.init {workers = workers}
      for what, case in pairs(GOOD) do
        local expected = run(case, "for i = 1, n do")
        assert.equal(expected, run(case, "for i in parallel(n) do"), what)
        assert.equal("independent", meissa.last().strategy, what)
      end
    end)
  end

  for what, case in pairs(BAD) do
    it("are refused that store " .. what, function()
      local ok, err = pcall(run, case, "for i in parallel(n) do")
      assert.is_false(ok)
      assert.is_truthy(tostring(err):find(case[3], 1, true), tostring(err))
    end)
  end

  it("find the nearest of points in a k-d tree on all workers and engines", function()
    local points, places = meissa.rand({N, 2}, {seed = 4}), meissa.rand({50, 2}, {seed = 5})
    local lower, upper, root = tree_of(points)
    local function nearest(node, x, y, level, best, at)
      if node == 0 then return best, at end
      local dx, dy = points[node][1] - x, points[node][2] - y
      local d = dx * dx + dy * dy
      if d < best then best, at = d, node end
      local delta = level % 2 == 0 and dx or dy
      local near, far = lower[node], upper[node]
      if delta < 0 then near, far = far, near end
      best, at = nearest(near, x, y, level + 1, best, at)
      if delta * delta < best then best, at = nearest(far, x, y, level + 1, best, at) end
      return best, at
    end
    local expected = {}
    for i = 1, 50 do
      local least, at = math.huge, 0
      for k = 1, N do
        local dx, dy = points[k][1] - places[i][1], points[k][2] - places[i][2]
        if dx * dx + dy * dy < least then least, at = dx * dx + dy * dy, k end
      end
      expected[i] = {least, at}
    end
    for _, engine in ipairs {"lua", not compiler.missing() and "native" or nil} do
      for _, workers in ipairs {0, 1, 2} do
        meissa.init {workers = workers}
        local distance, found = meissa.zeros(50), meissa.zeros(50)
        for i in parallel(50, {engine = engine}) do
          distance[i], found[i] = nearest(root, places[i][1], places[i][2], 0, math.huge, 0)
        end
        assert.equal(workers > 0 and engine or "lua", meissa.last().engine)
        for i = 1, 50 do
          assert.equal(expected[i][1], distance[i])
          assert.equal(expected[i][2], found[i])
        end
      end
    end
  end)
end)
