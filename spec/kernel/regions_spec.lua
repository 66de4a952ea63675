-- SPDX-License-Identifier: MIT
-- numeric = "fast": which numbers are floats and which doubles, of each region of a body, against
-- the same numbers worked out here one operation at a time.
local ffi = require "ffi"
local array = require "meissa.array"
local native = dofile("spec/kernel/native.lua")

local FLAGS = "-O2"
local third, big = 1 / 3, 16777217 -- no float is either

local function f(x) return tonumber(ffi.new("float", x)) end

local F1, D1, V1 = f(0.7), 0.7, 0.3 -- F[1], also T[1][1]; D[1], also S[1][1] and E[1]; V[1][1]

local function world(entry)
  local function row(length, value, type)
    return array.full({ 2, length }, value, { type = type or "float" })
  end
  local function sparse(type)
    return array.sparse({ 2, 3 }, { i = { 1 }, j = { 1 }, v = { 0.7 } }, { type = type })
  end
  local floats = array.full({ 4 }, 0.7, { type = "float" })
  floats[2] = 1
  return {
    third = third, big = big, tiny = 1e-50, small = 1e-30, s = 0, t = 0, one = 1,
    F = floats, D = array.full({ 4 }, 0.7), Q = array.full({ 4 }, 3, { type = "int32" }),
    L = array.full({ 4 }, 3, { type = "int64" }), E = array.full({ 1 }, entry or 0.7),
    W = row(3, 0.7), V = row(3, 0.3, "double"), X = row(1, 0.7), Y = row(1, 0.3, "double"),
    G = row(4095, 16383), H = row(4095, 1), P = row(1, 1e38), Z = row(1, 0),
    T = sparse "float", S = sparse "double",
  }
end

-- What it is about, the body of `for i in parallel(1)`, s and perhaps t after it.
local bodies = {
  { "an element of a float array", "s = s + F[i] * third", f(F1 * f(third)) },
  { "one of a double array beside it", "D[i] = 1 s = s + F[i] * third", F1 * third },
  { "one of an int64 array", "L[i] = 1 s = s + F[i] * third", F1 * third },
  { "one of an int32 array alone", "s = s + Q[i] * third", 3 * third },
  { "one of an int32 array beside it", "Q[i] = 1 s = s + F[i] * third", f(F1 * f(third)) },
  { "no element", "s = s + third * third", third * third },
  { "only one that stands still", "s = s + F[3] * third", F1 * third },
  { "a double one that stands still", "s = s + F[i] * D[3]", f(F1 * f(D1)) },
  { "one in a local that stands still", "local k = 3 s = s + F[i] * D[k]", f(F1 * f(D1)) },
  { "one that stands still, of an array that is written", "D[i] = 1 s = s + F[i] * D[3]",
    F1 * D1 },
  { "one that an inner loop writes", "for k = 3, 3 do D[k] = 0.7 end s = s + F[i] * D[3]",
    F1 * D1 },
  { "one that a function reads", "local function g(k) return V[k][1] end s = s + F[i] * g(i)",
    F1 * V1 },
  { "a variable set outside", "local e = D[i] * third for k = 1, 1 do s = s + W[i][k] * e end",
    f(F1 * f(D1 * third)) },
  { "an inner loop beside a body of floats",
    "local x = F[i] * third for k = 1, 1 do t = t + V[i][k] * third end s = s + x",
    f(F1 * f(third)), V1 * third },
  { "an inner loop of floats beside a body of doubles",
    "for k = 1, 1 do s = s + W[i][k] * third end t = t + D[i] * third", f(F1 * f(third)),
    D1 * third },
  { "a function where it is called", [[local function g(x) return x * third end
    for k = 1, 1 do s = s + g(W[i][k]) end t = t + g(D[i])]], f(F1 * f(third)), D1 * third },
  { "a parameter that stands still", [[local function g(k) return D[k] * third end
    s = s + F[i] * g(3)]], f(F1 * f(D1 * third)) },
  { "an inner loop in a function", [[local function g(r) local x = 0
      for k = 1, 1 do x = x + r[k] * third end return x end
    s = s + g(W[i]) t = t + g(W[i + 1]) * D[i] ]], f(F1 * f(third)), f(F1 * f(third)) * D1 },
  { "a while loop", "D[i] = 1 local k = 1 while k < 2 do s = s + W[i][k] * third k = k + 1 end",
    f(F1 * f(third)) },
  { "a while loop of doubles beside a body of floats", "local k = 1 while k < 2 do " ..
    "t = t + V[i][k] * third k = k + 1 end s = s + F[i] * third", f(F1 * f(third)), V1 * third },
  { "a repeat loop", "D[i] = 1 local k = 1 repeat s = s + W[i][k] * third k = k + 1 until k > 1",
    f(F1 * f(third)) },
  { "float entries of a row", "D[i] = 1 for c, v in T[i]:nonzeros() do s = s + W[i][c] * v end",
    f(F1 * F1) },
  { "double entries of a row", "F[i] = 1 for c, v in S[i]:nonzeros() do s = s + W[i][c] * v end",
    F1 * D1 },
  { "the columns of a row with double entries",
    "D[i] = 1 for c in S[i]:nonzeros() do s = s + W[i][c] * third end", f(F1 * f(third)) },
  { "a dot of float rows in a body of doubles", "D[i] = 1 s = s + X[i]:dot(X[i])", f(F1 * F1) },
  { "a dot of two types in a body of floats", "F[i] = 1 s = s + X[i]:dot(Y[i])", F1 * V1 },
  { "an update of float rows", "D[i] = 1 Z[i]:axpy(third, X[i]) s = s + Z[i][1]",
    f(f(third) * F1) },
  { "whole numbers", "s = s + F[i + 1] * (i * 16777217 - 16777216)", 1 },
  { "whole numbers and captured ones", "s = s + F[i + 1] * (big - i * 16777216)", 1 },
  { "whole numbers in a local", "local z = i * 16777217 z = z + 0 s = s + z t = t + F[i] * third",
    big, f(F1 * f(third)) },
  { "whole numbers in a function that takes floats, too",
    [[local function g(x) local y = x if y < 0 then y = 0 end return y end
    s = s + g(i * 16777217) t = t + g(F[i])]], big, F1 },
  { "a subscript", "s = s + F[math.floor(F[i] * 0 + i * 16777217 - 16777215)]", 1 },
  { "an end of a loop", "for k = F[i] * 0 + i * 16777217, big do s = s + F[i] end", F1 },
  { "operands of bit", "s = s + F[i + 1] * bit.band(i * 16777217 + F[i + 1] - 1, 3)", 1 },
  { "comparisons", "if F[i] == 0.7 then s = s + 1 end if F[i] >= 0.7 then t = t + 1 end", 1, 1 },
  { "comparisons of doubles", "D[i] = 1 if F[i] == 0.7 then s = s + 1 end", 0 },
  { "math.max", "s = s + math.max(F[i] - F[i + 1], third)", f(third) },
  { "and, or", "s = s + (F[i] > 5 and F[i] or third)", f(third) },
  { "a math function", "s = s + math.sqrt(F[i])", f(math.sqrt(F1)) },
  { "a power", "s = s + F[i] ^ 2", f(F1 * F1) },
  { "a local", "local x = F[i] * third local y = x s = s + y", f(F1 * f(third)) },
  { "a local that is assigned", "local x = F[i] if x > 0 then x = x * third end s = s + x",
    f(F1 * f(third)) },
  { "the index of a loop from a captured number", [[for k = one, 2 do W[i][k] = W[i][k] - k end
    s = s + W[i][1] ]], f(F1 - 1) },
  { "the index of a loop with steps that are no integers",
    [[for k = 1 + third, 1.5, third do s = s + W[i][math.floor(k)] * k end]],
    f(F1 * f(1 + third)) },
  { "what a loop carries", "local x = 1 for k = 1, 2 do W[i][1] = k x = x * third end s = s + x",
    third * third },
  { "a sum of floats", "local x = 0 for k = 1, 4095 do x = x + G[i][k] end s = s + x",
    4095 * 16383 },
  { "a difference of floats", "local x = 0 for k = 4095, 1, -1 do x = x - G[i][k] end s = s + x",
    -4095 * 16383 },
  { "a sum of products", "local x = 0 for k = 1, 4095 do x = x + G[i][k] * H[i][k] end s = s + x",
    4095 * 16383 },
  { "a sum that a break ends", "local x = 0 for k = 1, 4095 do x = x + G[i][k] " ..
    "if k > 4095 then break end end s = s + x", 4095 * 16383 },
  { "a count beside floats", "local x = big for k = 1, 3 do H[i][k] = 2 x = x + 1 end s = s + x",
    big + 3 },
  { "dot, sum and norm", "s = s + G[i]:dot(H[i]) + G[i]:sum() t = t + H[i]:norm()",
    2 * 4095 * 16383, math.sqrt(4095) },
  { "a constant too small for floats", "s = s + F[i] * 1e-50", F1 * 1e-50 },
  { "a constant too large for floats", "s = s + F[i] * 1e39", F1 * 1e39 },
  { "a captured number too small for floats", "s = s + F[i] * tiny", F1 * 1e-50 },
  { "a variable too small for floats",
    "local e = D[i] * tiny for k = 1, 1 do s = s + W[i][k] * e end", F1 * (D1 * 1e-50) },
  { "an argument too small for floats",
    "local function g(x, a) return x * a end s = s + g(F[i], tiny)", F1 * 1e-50 },
  { "a factor too small for float rows", "Z[i]:axpy(tiny, P[i]) s = s + Z[i][1]",
    f(1e-50 * f(1e38)) },
  { "its negative", "s = s + F[i] * -tiny", F1 * -1e-50 },
  { "a function of it", "s = s + F[i] * math.abs(tiny)", F1 * 1e-50 },
  { "the larger of two", "s = s + F[i] * math.max(tiny, -third)", F1 * 1e-50 },
  { "a product with it", "s = s + F[i] * (tiny * third)", F1 * (1e-50 * third) },
  { "a choice of it", "s = s + F[i] * (F[i] > 5 and third or tiny)", F1 * 1e-50 },
  { "a local that may be it", "local q = third if F[i] > 0 then q = tiny end s = s + F[i] * q",
    F1 * 1e-50 },
  { "a local that is nil else", "local q if F[i] > 0 then q = tiny end s = s + F[i] * q",
    F1 * 1e-50 },
  { "a local that an inner loop gives it",
    "local q = third for k = 1, 1 do W[i][k] = 1 q = tiny end s = s + F[i] * q", F1 * 1e-50 },
  { "a local that an inner loop gives what is made of it", [[local q = third
      for k = 1, 1 do local e = Q[i] * 0 + tiny for l = 1, 1 do W[i][l] = 1 q = e end end
      s = s + F[i] * q]], F1 * 1e-50 },
  { "what a function gives", [[local function g(x) if F[i] > 5 then return third end return x end
      s = s + F[i] * g(tiny)]], F1 * 1e-50 },
  { "a product of captured numbers", "s = s + F[i] * (small * small)", F1 * (1e-30 * 1e-30) },
  { "a power of one", "s = s + F[i] * small ^ 3", F1 * (1e-30) ^ 3 },
  { "a product in a local", "local q = small * small s = s + F[i] * math.abs(-q)",
    F1 * (1e-30 * 1e-30) },
  { "a product in a function",
    "local function g(x) return x * x end s = s + F[i] * math.max(g(small), -third)",
    F1 * (1e-30 * 1e-30) },
  { "a product with a variable",
    "local e = D[i] * small for k = 1, 1 do s = s + W[i][k] * (e * small) end",
    F1 * (D1 * 1e-30 * 1e-30) },
  { "a product with an index",
    "local e = D[i] * small for k = 1, 1 do s = s + W[i][k] * (i / 1e30 * e) end",
    F1 * (1 / 1e30 * (D1 * 1e-30)) },
  { "a product that floats hold", "s = s + F[i] * (third * -third)", f(F1 * f(third * -third)) },
  { "what meets no float", "t = t + tiny * third s = s + F[i] * third", f(F1 * f(third)),
    1e-50 * third },
  { "a captured 0", "local z = third - third s = s + (F[i] * third + z)", f(F1 * f(third)) },
}

-- Over the entries of E.
local entries = {
  { "the entry's value", "s = s + F[i] * v", f(F1 * f(D1)), value = 0.7 },
  { "an entry's value too small for floats", "s = s + F[i] * v", F1 * 1e-50, value = 1e-50 },
  { "an entry's value too large for floats", "s = s + F[i] * v", F1 * 1e39, value = 1e39 },
  { "the largest float", "s = s + F[i] * v", f(F1 * 0x1.fffffep127), value = 0x1.fffffep127 },
  { "what rounds to a larger one", "s = s + F[i] * v", F1 * 0x1.ffffffp127,
    value = 0x1.ffffffp127 },
  { "the smallest normal float", "s = s + F[i] * v", f(F1 * -0x1p-126), value = -0x1p-126 },
  { "what rounds to it", "s = s + F[i] * v", f(F1 * 0x1p-126), value = 0x1.ffffffp-127 },
  { "the largest subnormal float", "s = s + F[i] * v", F1 * 0x1.fffffcp-127,
    value = 0x1.fffffcp-127 },
  { "infinity", "s = s + F[i] * v", math.huge, value = math.huge },
  { "an entry's value that inner loops use", "local e = v - D[i] + 1 for k = 1, 1 do " ..
    "s = s + W[i][k] * e end", F1, value = 0.7 },
}

local function text_of(body, dense)
  return ("for i%s in parallel(x) do\n%s\nend"):format(dense and ", v" or "", body)
end

local function space_of(env, dense)
  return { ranges = { { 1, 1 } }, array = dense and env.E or nil }
end

describe("regions in fast mode", function()
  local options = { fast = true, flags = FLAGS, pieces = 1 }

  setup(function()
    local texts = {}
    for kind, list in ipairs { bodies, entries } do
      for _, each in ipairs(list) do
        local env, dense = world(each.value), kind == 2
        local text, why = native.emit(text_of(each[2], dense), env, space_of(env, dense), options)
        texts[#texts + 1] = assert(text, why)
      end
    end
    native.load_all(texts, true, FLAGS)
  end)
  teardown(native.finish)

  for kind, list in ipairs { bodies, entries } do
    for _, each in ipairs(list) do
      it("know " .. each[1], function()
        local env, dense = world(each.value), kind == 2
        assert(native.kernel(text_of(each[2], dense), env, space_of(env, dense), options))
        assert.equal(each[3], env.s)
        if each[4] then assert.equal(each[4], env.t) end
      end)
    end
  end

  it("keep what blocks sum up in double", function()
    local env = world()
    env.F[1], env.F[2], env.F[3] = 2 ^ 24, 1, 1
    assert(native.kernel(text_of "s = s + F[i]", env, { ranges = { { 1, 3 } } },
      { fast = true, pieces = 1 }))
    assert.equal(2 ^ 24 + 2, env.s)
  end)

  it("give unordered loops the same bits on any number of workers, none included", function()
    local meissa = require "meissa"
    local S = meissa.sparse({ 50, 40 }, { i = { 1, 2, 7, 50, 50 }, j = { 1, 2, 2, 40, 1 },
      v = { 1, 2, 3, 4, 5 } })
    local function factors(workers, of_sparse)
      meissa.init { workers = workers }
      local W = meissa.rand({ 50, 37 }, { type = "float", seed = 1 })
      local H, sum = meissa.rand({ 40, 37 }, { type = "float", seed = 2 }), 0
      local function step(i, j, v)
        local w, h, s = W[i], H[j], 0
        for k = 1, 37 do s = s + w[k] * h[k] end
        for k = 1, 37 do w[k], h[k] = w[k] + (v - s) * 0.01 * h[k], h[k] + (v - s) * 0.01 * w[k] end
      end
      if of_sparse then
        for i, j, v in meissa.parallel(S, { numeric = "fast" }) do step(i, j, v) end
      else
        for i in meissa.parallel(40, { numeric = "fast", ordered = false }) do step(i, i, i) end
      end
      for i = 1, 40 do
        for k = 1, 37 do sum = sum + W[i][k] * (i + k) + H[i][k] * (i - k) end
      end
      return sum
    end
    for _, of_sparse in ipairs { false, true } do
      local none = factors(0, of_sparse)
      assert.equal(none, factors(1, of_sparse))
      assert.equal(none, factors(2, of_sparse))
    end
  end)

  it("look at the numbers of captured lists", function()
    local meissa = require "meissa"
    local one, out = meissa.ones({ 8 }, { type = "float" }), meissa.zeros({ 8 }, { type = "float" })
    local list, lists = { 3, 1e39 }, { { { 3 }, {} }, { { 4, 1e39 } } }
    local native_fast = { numeric = "fast", engine = "native" }
    for i in meissa.parallel(8, native_fast) do out[i] = one[i] * list[2] * 1e-30 end
    assert.equal(1e9, out[5])
    for i in meissa.parallel(8, native_fast) do out[i] = one[i] * list[i % 2 + 1] * 1e-30 end
    assert.equal(1e9, out[5])
    for i in meissa.parallel(8, native_fast) do
      for _, v in ipairs(list) do out[i] = one[i] * v * 1e-30 end
    end
    assert.equal(1e9, out[5])
    for i in meissa.parallel(8, native_fast) do
      out[i] = one[i] * lists[2][1][i % 2 + 1] * 1e-30
    end
    assert.equal(1e9, out[5])
    for i in meissa.parallel(8, native_fast) do
      for _, v in ipairs(lists[2][1]) do out[i] = one[i] * v * 1e-30 end
    end
    assert.equal(1e9, out[5])
  end)

  it("are what reports propose", function()
    local meissa = require "meissa"
    local W, c, b = meissa.ones({ 4, 8 }, { type = "float" }), meissa.zeros(8), meissa.zeros(4)
    local f8 = meissa.ones({ 8 }, { type = "float" })
    local function report(numeric, scale)
      return tostring(meissa.plan(4, { numeric = numeric }, function(i)
        local w = W[i]
        for k = 1, 8 do w[k] = w[k] * scale[k] end
        b[i] = w:sum()
      end))
    end
    local line = debug.getinfo(report, "S").linedefined + 3
    assert.is_nil(report("strict", c):find("faster", 1, true))
    assert.is_nil(report("fast", f8):find("faster", 1, true))
    assert.is_truthy(report("fast", c):find(
      ('\n  faster, if that is exact enough:  type = "float" for scale (line %d in float)')
        :format(line), 1, true))
    assert.is_truthy(report("strict", f8):find(
      ('\n  faster, if that is exact enough:  {numeric = "fast"} (line %d in float)')
        :format(line), 1, true))
  end)

  it("are what reports propose where they take less time", function()
    local meissa = require "meissa"
    local W, f8 = meissa.ones({ 4, 8 }, { type = "float" }), meissa.ones({ 8 }, { type = "float" })
    local s = meissa.zeros({ 4 }, { type = "float" })
    local function proposes(body)
      local report = tostring(meissa.plan(4, body))
      assert.is_truthy(report:find("engine native", 1, true), report)
      return report:find('{numeric = "fast"}', 1, true) ~= nil
    end
    assert.is_true(proposes(function(i) s[i] = s[i] * 3 end))
    assert.is_true(proposes(function(i) for k = 1, 8 do W[i][k] = math.exp(f8[k]) end end))
    assert.is_true(proposes(function(i) W[i]:axpy(2, f8) end))
    local function sum(row)
      local x = 0
      for k = 1, 8 do x = x + row[k] end
      return x
    end
    assert.is_true(proposes(function(i) s[i] = sum(W[i]) end))
    local function third_of(x) return x * third end
    assert.is_true(proposes(function(i) s[i] = third_of(s[i]) end))
    assert.is_false(proposes(function(i) W[i]:add(f8) end))
    assert.is_false(proposes(function(i) W[i]:cmul(f8) end))
    assert.is_false(proposes(function(i) s[i] = W[i]:dot(f8) / 8 end))
    assert.is_false(proposes(function(i) for k = 1, 8 do W[i][k] = f8[k] end end))
    assert.is_false(proposes(function(i) for k = 1, 8 do W[i][k] = math.tanh(f8[k]) end end))
  end)

  it("leave strict texts alone", function()
    local text = assert(native.emit(text_of "s = s + F[i] * third", world(), space_of(world())))
    assert.is_nil(text:match("ms_quick%(const.*"):find "float%)")
  end)
end)
