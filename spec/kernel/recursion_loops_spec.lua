-- SPDX-License-Identifier: MIT
-- Functions that call themselves in loops of all kinds, and what such functions read and write: the
-- bits of the plain loop and of the Lua engine.
local child = require "spec.support.child"
local compiler = require "meissa.kernel.compiler"
local meissa = require "meissa"
local tables = require "meissa.base.tables"

-- A spec's environment looks globals up by a metatable, which the analyser does not.
local ipairs, math, parallel = ipairs, math, meissa.parallel

local N, M = 20, 8

local list = { 3, 1, 4, 1, 5, 9, 2, 6 }

local function sum(k)
  if k > #list or k < 1 then return 0 end
  return list[k] + sum(k + 1)
end

local function of_all(k)
  if k == 0 then return 0 end
  local got = 0
  for _, v in ipairs(list) do got = got + v * k end
  return got + of_all(k - 1)
end

local model = {
  W = meissa.randn({ N, M }, { seed = 1 }),
  H = meissa.randn({ N, M }, { seed = 2, type = "float" }),
  mu = 0.5, options = { rate = 0.25, weights = { 1, 2, 3, 4 } },
}

function model:score(i, d)
  if d == 0 then return self.W[i]:dot(self.W[i]) * self.options.rate + self.mu end
  return self:score(i, d - 1) + self.W[i]:sum() * self.options.weights[d] + self.H[i][d]
end

local X

local function of_row(i, d)
  if d == 0 then return 0 end
  local got = 0
  for j, v in X[i]:nonzeros() do got = got + v * j end
  return got + of_row(i, d - 1) + X[i][3] * d
end

-- Loops that fill A, or give a number.
local loops = {
  ["lists and numbers of tables"] = function(A, o)
    o.assume = not o.serial and "independent" or nil
    for i in parallel(N, o) do A[i] = sum(i % 9) + of_all(i % 3) + model:score(i, i % 5) end
  end,
  ["rows of sparse arrays"] = function(A, o)
    for i in parallel(N, o) do A[i] = of_row(i, i % 4) end
  end,
  ["entries"] = function(A, o)
    for i, j, v in parallel(X, o) do A[i] = A[i] + v * sum(j) end
  end,
  ["two dimensions"] = function(A, o)
    for i, j in parallel(N, 5, o) do if j == 3 then A[i] = sum(j) + i end end
  end,
  ["buffers"] = function(A, o)
    local buffer = meissa.buffer(A)
    local function put(k, x)
      if k > N then return end
      buffer[k] = buffer[k] + x
      put(2 * k, x / 2)
      put(2 * k + 1, x)
    end
    for i in parallel(N, o) do put(i, i) end
  end,
  ["tables of the body beside them"] = function(A, o)
    for i in parallel(N, o) do
      local t = { 0, 0, 0 }
      for k = 1, i do t[k] = sum(k % 9) end
      A[i] = (t[i] or 0) + sum(3)
    end
  end,
  ["reductions"] = function(_, o)
    local all, most = 0, -1 / 0
    for i in parallel(N, o) do
      local x = sum(i % 9)
      all = all + x
      if x > most then most = x end
    end
    return all * 100 + most
  end,
  ["the last value"] = function(_, o)
    local last
    for i in parallel(N, o) do last = sum(i % 9) end
    return last
  end,
  ["random numbers beside them"] = function(A, o)
    meissa.seed(5)
    for i in parallel(N, o) do A[i] = meissa.random() * sum(i % 9) end
  end,
  ["other names, and fields of fields"] = function(A, o)
    local all = { of = { sum = sum } }
    for i in parallel(N, o) do
      local f = sum
      A[i] = f(i % 9) - all.of.sum(i % 5)
    end
  end,
  ["returns out of loops"] = function(A, o)
    for i in parallel(N, o) do
      local function down(k)
        if k > 3 then return i end
        for q = 1, 2 do
          local y = down(k + 1)
          if y > 1 then return y + q end
        end
        return k
      end
      A[i] = down(1)
    end
  end,
  ["goto, repeat and break"] = function(A, o)
    for i in parallel(N, o) do
      local function down(k)
        local n = 0
        repeat
          n = n + 1
          if n > 5 then break end
        until k < n
        if k < 1 then goto over end
        while n > 1 do n = n - 1 end
        do return down(k - 1) * 2 + n end
        ::over::
        return n + math.max(k, 0)
      end
      A[i] = down(i % 7)
    end
  end,
}

describe("functions that call themselves, with", function()
  if compiler.missing() then
    pending("native kernels: " .. compiler.missing())
    return
  end

  setup(function()
    meissa.init { workers = 1 }
    local where = child.directory()
    local lines = {}
    for i = 1, N do
      for j = 1, M do
        if i * j % 3 == 0 then lines[#lines + 1] = ("%d %d %g\n"):format(i, j, i + j / 8) end
      end
    end
    child.write(where .. "/entries", table.concat(lines))
    X = meissa.read.triples(where .. "/entries")
    child.remove(where)
  end)

  local function outcome(loop, options)
    local A = meissa.zeros { N }
    local bits = { ("%a"):format(loop(A, options) or 0) }
    for i = 1, N do bits[i + 1] = ("%a"):format(A[i]) end
    return bits
  end

  for _, name in ipairs(tables.keys(loops)) do
    it(name .. " give what LuaJIT gives", function()
      local native = outcome(loops[name], { engine = "native" })
      assert.equal("native", meissa.last().engine)
      assert.same(outcome(loops[name], { engine = "lua" }), native)
      assert.same(outcome(loops[name], { serial = true }), native)
      assert.is_true(native[10] ~= native[11] or native[1] ~= "0x0p+0")
    end)
  end
end)
