-- SPDX-License-Identifier: MIT
-- Functions that call themselves and name variables of the body, or of functions around them: they
-- see what these hold when they are called, and what they assign is seen.
local compiler = require "meissa.kernel.compiler"
local meissa = require "meissa"
local tables = require "meissa.base.tables"

-- A spec's environment looks globals up by a metatable, which the analyser does not.
local bit, math, parallel = bit, math, meissa.parallel

local N = 24

local W = meissa.zeros { 100 }
for k = 1, 100 do W[k] = k * k / 64 % 5 end

-- Bodies that fill a row of A.
local loops = {
  ["are seen as they are at the call"] = function(A, o)
    for i in parallel(N, o) do
      local row, scale, flag, none = A[i], 1, i % 3 == 0, i > 4 and i or nil
      local other = W[i] - 40
      local function double(x) return x * scale + (none or -1) end
      local function walk(k)
        if k > 7 then return flag and row[1] or other end
        return walk(k + 1) * 0.5 + double(row[k]) + i
      end
      row[8] = walk(1)
      scale, flag, row = scale + 1, not flag, A[i]
      row[7] = walk(2) - row[8]
      for k = 1, 3 do
        local near = k * i
        local function far(n) if n == 0 then return near end return far(n - 1) + walk(5) end
        row[k] = far(k) + (k < 2 and 1 or 0)
      end
    end
  end,
  ["are assigned, also by functions that they call"] = function(A, o)
    for i in parallel(N, o) do
      local sum, count, best, flag, none = 0, 0, -1, false, nil
      local function note(x)
        count = count + 1
        if x > best then
          best = x
          flag = not flag
        end
        none = count > 3 and x or nil
      end
      local function walk(k)
        if k > 60 then return k end
        sum = sum + W[k] * walk(2 * k) - sum / 3
        note(W[k])
        return sum + walk(2 * k + 1) * 0.001 + count
      end
      A[i][1] = sum + walk(i) + sum
      A[i][2], A[i][3], A[i][4] = sum, count, best
      A[i][5], A[i][6] = flag and 1 or 2, none or -1
      count = 5
      A[i][7] = walk(i + 9) * count
    end
  end,
  ["count what is found"] = function(A, o)
    local function queens(n)
      local count, all = 0, bit.lshift(1, n) - 1
      local function place(columns, left, right)
        if columns == all then
          count = count + 1
          return
        end
        local free = bit.band(bit.bnot(bit.bor(columns, left, right)), all)
        while free ~= 0 do
          local one = bit.band(free, -free)
          free = bit.bxor(free, one)
          place(bit.bor(columns, one), bit.lshift(bit.bor(left, one), 1),
            bit.rshift(bit.bor(right, one), 1))
        end
      end
      place(0, 0, 0)
      return count
    end
    for i in parallel(N, o) do A[i][1] = queens(i % 7 + 1) end
  end,
  ["are those of functions that are given"] = function(A, o)
    local function sum(fn, low, high)
      if low == high then return fn(low) end
      local middle = math.floor((low + high) / 2)
      return sum(fn, low, middle) + sum(fn, middle + 1, high)
    end
    for i in parallel(N, o) do
      for k = 1, 3 do
        local function square(e) return W[e] * W[e] * i + k end
        A[i][1] = A[i][1] * 2 + sum(square, k, 7)
      end
    end
  end,
  ["are those of other functions"] = function(A, o)
    local function power_sum(base, n)
      local rest, terms = 1 / base, 0
      local function term(k)
        terms = terms + 1
        if k == 0 then return rest end
        return term(k - 1) * base
      end
      local function sum(k)
        if k > n then return 0 end
        return term(k) + sum(k + 1)
      end
      return sum(1) + terms * 1e6
    end
    for i in parallel(N, o) do A[i][1] = power_sum(i / 8, 5) - power_sum(2, i % 4) end
  end,
  ["are each call's own"] = function(A, o)
    local function outer(n, x)
      local y = x + n
      local function inner(k)
        if k == 0 then return y end
        y = y + 1
        return inner(k - 1) + x
      end
      if n == 0 then return inner(2) end
      local before = inner(1)
      return outer(n - 1, x * 2) + inner(3) - before
    end
    for i in parallel(N, o) do A[i][1] = outer(i % 5, i) end
  end,
}

describe("variables in functions that call themselves", function()
  if compiler.missing() then
    pending("native kernels: " .. compiler.missing())
    return
  end
  setup(function() meissa.init { workers = 1 } end)

  local function outcome(loop, options)
    local A, bits = meissa.rand({ N, 8 }, { seed = 1 }), {}
    loop(A, options)
    for e = 0, A:nnz() - 1 do bits[e + 1] = ("%a"):format(A:data()[e]) end
    return bits
  end

  for _, name in ipairs(tables.keys(loops)) do
    it(name, function()
      local native = outcome(loops[name], { engine = "native" })
      assert.equal("native", meissa.last().engine)
      assert.same(outcome(loops[name], { engine = "lua" }), native)
      assert.same(outcome(loops[name], { serial = true }), native)
    end)
  end
end)
