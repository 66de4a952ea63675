-- SPDX-License-Identifier: MIT
--
-- Arrays as sets: map, filter, reduce, group_by, randomize against plain Lua, for few elements (in
-- this process) and many (on workers).

local meissa = require "meissa"
local expect = require "spec.support.expect"
local raises = expect.raises

local seed = require "spec.support.seed"

local function random_sparse(count)
  local c = { i = {}, j = {}, v = {} }
  for e = 1, count do
    c.i[e], c.j[e], c.v[e] = math.random(20), math.random(9), math.random(100)
  end
  return meissa.sparse({ 20, 9 }, c), c
end

setup(function()
  print("array_sets seed " .. seed)
  math.randomseed(seed)
  meissa.init { workers = 2 }
end)
teardown(function() meissa.init {} end)

for _, count in ipairs { 50, 9000 } do
  describe(("with %d elements"):format(count), function()
    it("map gives the function's values", function()
      local S, c = random_sparse(count)
      local M = S:map(function(v) return v * 2 end)
      local N = S:map(function(i, j, v) return i * 1000 + j * 100 + v end)
      assert.same({ 20, 9 }, M:size())
      local twice, mixed = M:totable().v, N:totable().v
      for e = 1, count do
        assert.equal(2 * c.v[e], twice[e])
        assert.equal(c.i[e] * 1000 + c.j[e] * 100 + c.v[e], mixed[e])
      end
      local A = meissa.rand({ count / 10, 10 }, { seed = 1 })
      local B = A:map(function(i, j, v) return i + 2 * j + v end)
      for i = 1, count / 10 do
        for j = 1, 10 do assert.equal(i + 2 * j + A[i][j], B[i][j]) end
      end
      local T = A:transpose():map(function(i, j, v) return i * 0 + j * 0 + v end)
      assert.same({ 10, count / 10 }, T:size())
      assert.equal(A[5][7], T[7][5])
    end)

    it("filter keeps what it is told", function()
      local S, c = random_sparse(count)
      local F = S:filter(function(i, _, v) return v > 50 and i > 3 end)
      local wanted = { i = {}, j = {}, v = {} }
      for e = 1, count do
        if c.v[e] > 50 and c.i[e] > 3 then
          local n = #wanted.i + 1
          wanted.i[n], wanted.j[n], wanted.v[n] = c.i[e], c.j[e], c.v[e]
        end
      end
      assert.same(wanted, F:totable())
      local V = meissa.rand({ count }, { seed = 2 })
      local long = V:filter(function(v) return v > 0.25 end)
      local k = 0
      for e = 1, count do
        if V[e] > 0.25 then
          k = k + 1
          assert.equal(V[e], long[k])
        end
      end
      assert.equal(k, long:size(1))
    end)

    it("reduce folds in order, or in blocks", function()
      local V = meissa.rand({ count }, { seed = 3 })
      local sum, text = 0, 7
      for e = 1, count do
        sum = sum + V[e]
        text = (text * 31 + math.floor(V[e] * 1000)) % 65521
      end
      assert.equal(sum, V:reduce(function(acc, v) return acc + v end, 0))
      assert.equal(text, V:reduce(function(acc, v)
        return (acc * 31 + math.floor(v * 1000)) % 65521
      end, 7))
      assert.equal(V:max(), V:reduce(math.max))
      local blocks = V:reduce(function(acc, v) return acc + v end, 0,
        { combine = function(a, b) return a + b end })
      assert.is_true(math.abs(blocks - sum) < 1e-9 * count)
      local counts = V:reduce(function(acc, v)
        local bin = math.floor(v * 4) + 1
        acc[bin] = (acc[bin] or 0) + 1
        return acc
      end, function() return {} end, { combine = function(a, b)
        for bin, n in pairs(b) do a[bin] = (a[bin] or 0) + n end
        return a
      end })
      assert.equal(count, counts[1] + counts[2] + counts[3] + counts[4])
      local S, c = random_sparse(count)
      local weighted = 0
      for e = 1, count do weighted = weighted + c.v[e] * c.i[e] end
      assert.equal(weighted, S:reduce(function(acc, v, i) return acc + v * i end, 0))
    end)

    it("group_by makes lists by key", function()
      local S, c = random_sparse(count)
      local groups, keys = S:group_by(function(_, j, v) return (j + v) % 5 end)
      assert.same({ 0, 1, 2, 3, 4 }, keys)
      local wanted = {}
      for e = 1, count do
        local key = (c.j[e] + c.v[e]) % 5
        wanted[key] = wanted[key] or {}
        table.insert(wanted[key], { c.i[e], c.j[e], c.v[e] })
      end
      for k, key in ipairs(keys) do
        assert.same(wanted[key], groups[k])
        assert.equal(key, groups:label(1, k))
        assert.equal(k, groups:index(1, key))
      end
      local rows = S:group_by(1, { values = true })
      assert.equal(20, rows:size(1))
      local n = 0
      for i = 1, 20 do n = n + #rows[i] end
      assert.equal(count, n)
    end)
  end)
end

describe("map", function()
  it("chooses the element type", function()
    local function half(v) return v / 2 end
    assert.equal("float", meissa.ones({ 3 }, { type = "float" }):map(half):type())
    assert.equal("double", meissa.ones({ 3 }, { type = "int32" }):map(half):type())
    local I = meissa.ones({ 3 }):map(function() return 2 end, { type = "int64" })
    assert.equal("int64", I:type())
    local O = meissa.ones({ 2 }):map(function(i, v) return { i, v } end)
    assert.same({ { 1, 1 }, { 2, 1 } }, O:totable())
    assert.equal(0.5, O:map(function(e) return e[2] / 2 end)[1])
    assert.equal(2, meissa.full({ 2 }, 4):map(math.sqrt)[1])
  end)

  it("keeps ids, makes new subscripts, and flattens", function()
    local S = meissa.sparse({ 2, 3 }, { i = { 1, 2 }, j = { 3, 1 }, v = { 5, 6 } })
    local T = S:map(function(i, j, v) return j, i, v * 10 end, { new_keys = true })
    assert.same({ i = { 3, 1 }, j = { 1, 2 }, v = { 50, 60 } }, T:totable())
    assert.same({ 9, 9 }, S:map(function(i, j, v) return j, i, v end, { dims = { 9, 9 } }):size())
    local V = S:map(function(v) return { v, -v } end, { flatten = true })
    assert.same({ 5, -5, 6, -6 }, V:totable())
    local few = S:map(function(i, j, v) if v > 5 then return i, j, v end end, { new_keys = true })
    assert.equal(1, few:nnz())
  end)

  it("calls a function that changes what is outside in this process", function()
    local seen = {}
    local V = meissa.rand({ 9000 }, { seed = 1 })
    V:map(function(i, v)
      seen[#seen + 1] = v
      return i
    end)
    assert.equal(9000, #seen)
    assert.equal(V[9000], seen[9000])
  end)

  it("takes views and more dimensions", function()
    local A = meissa.rand({ 3, 4, 5 }, { seed = 1 })
    local B = A:map(function(i, j, k, v) return i * 100 + j * 10 + k + v end)
    assert.equal(234 + A[2][3][4], B[2][3][4])
    assert.equal(3 * 4 * 5, A:filter(function() return true end):nnz())
    assert.equal(A[2][3][4], A:filter(function(v) return v == A[2][3][4] end):totable().v[1])
    local C = meissa.sparse({ 2, 2, 2 }, { i = { 1, 2 }, j = { 2, 1 }, k = { 1, 2 }, v = { 3, 4 } })
    assert.same({ 121 + 3, 212 + 4 }, C:map(function(i, j, k, v)
      return i * 100 + j * 10 + k + v
    end):totable().v)
    assert.same({ { 2, 1, 2, 4 } }, C:group_by(3)[2])
  end)
end)

describe("randomize", function()
  it("exchanges subscripts, and labels with them", function()
    local S, c = random_sparse(200)
    local R = S:randomize({ 1, 2 }, { seed = 5 })
    local t = R:totable()
    assert.not_same(c.i, t.i)
    for e = 1, 200 do
      assert.equal(c.i[e], R:label(1, t.i[e]))
      assert.equal(c.j[e], R:label(2, t.j[e]))
      assert.equal(t.i[e], R:index(1, c.i[e]))
      assert.equal(c.v[e], t.v[e])
    end
    assert.same(t, S:randomize(nil, { seed = 5 }):totable())
    assert.same(c.i, S:randomize(2, { seed = 5 }):totable().i)
    assert.is_nil(R:index(1, 21))
  end)

  it("keeps ids of files, and dimensions with one id map alike", function()
    expect.with_directory(function(dir)
      expect.put(dir .. "/g", "10 20\n20 30\n30 10\nx 10\n")
      local G = meissa.read.triples(dir .. "/g", { square = true })
      local R = G:randomize(nil, { seed = 1 })
      local t, names = R:totable(), {}
      for e = 1, 4 do names[e] = R:label(1, t.i[e]) .. " " .. R:label(2, t.j[e]) end
      assert.same({ "10 20", "20 30", "30 10", "x 10" }, names)
      for k = 1, 4 do assert.equal(R:label(1, k), R:label(2, k)) end
      meissa.save(dir .. "/saved", R)
      local L = meissa.load(dir .. "/saved")
      for k = 1, 4 do assert.equal(R:label(1, k), L:label(1, k)) end
      local D = meissa.read.triples(dir .. "/g", { like = R })
      assert.same(t, D:totable())
    end)
  end)

  it("saves and loads ids that are numbers in any order", function()
    expect.with_directory(function(dir)
      local R = meissa.sparse({ 50, 2 }, { i = { 1 }, j = { 1 } }):randomize(1, { seed = 2 })
      meissa.save(dir .. "/saved", R)
      local L = meissa.load(dir .. "/saved")
      for k = 1, 50 do
        assert.equal(R:label(1, k), L:label(1, k))
        assert.equal(k, L:index(1, R:label(1, k)))
      end
    end)
  end)

  it("takes dense arrays and objects", function()
    local A = meissa.rand({ 6, 5 }, { seed = 1 })
    local R = A:randomize(1, { seed = 2 })
    for i = 1, 6 do
      for j = 1, 5 do assert.equal(A[R:label(1, i)][j], R[i][j]) end
    end
    local O = meissa.objects(6)
    for i = 1, 6 do O[i] = "x" .. i end
    local P, same = O:randomize(1, { seed = 2 }), true
    for i = 1, 6 do
      assert.equal("x" .. P:label(1, i), P[i])
      same = same and P[i] == O[i]
    end
    assert.is_false(same)
  end)
end)

describe("sets", function()
  local V, S = meissa.ones(3), meissa.sparse({ 2, 2 }, { i = { 1 }, j = { 1 } })
  local bad = {
    { "OPT", "expected a function", function() V:map(5) end },
    { "OPT", "expected a function", function() V:filter() end },
    { "OPT", "expected a function", function() V:reduce(0) end },
    { "OPT", "expected a function", function() V:group_by("x") end },
    { "OPT", "unknown option", function() V:map(print, { to = 1 }) end },
    { "BDY", "element 2: the function returned nothing",
      function() V:map(function(i, _) if i ~= 2 then return i end end) end },
    { "BDY", "no numbers", function() V:map(tostring, { type = "double" }) end },
    { "BDY", "elements of a sparse array are numbers", function() S:map(tostring) end },
    { "ARR", "cannot store 0.5",
      function() V:map(function() return 0.5 end, { type = "int32" }) end },
    { "ARR", "cannot store a function", function() V:map(function() return print end) end },
    { "BDY", "the key is a table", function() V:group_by(function() return {} end) end },
    { "BDY", "the key is nan", function() V:group_by(function() return 0 / 0 end) end },
    { "ARR", "dimension 3", function() S:group_by(3) end },
    { "ARR", "dimension 1 of an array with 1", function() V:group_by(1) end },
    { "OPT", "combine needs an initial value",
      function() V:reduce(math.max, nil, { combine = math.max }) end },
    { "ARR", "dimension 5", function() S:randomize(5) end },
    { "OPT", "a list of dimensions", function() S:randomize("all") end },
    { "OPT", "seed", function() S:randomize(1, { seed = 0.5 }) end },
    { "ARR", "one dimension", function() meissa.objects(2, 2):filter(function() end) end },
    { "ARR", "freed", function()
      local A = meissa.ones(2)
      A:free()
      A:map(math.sqrt)
    end },
  }
  for k, case in ipairs(bad) do
    it("names what is wrong, case " .. k, function() raises(case[1], case[2], case[3]) end)
  end

  it("tell nothing of the module's own loops", function()
    local output = require("spec.support.child").script([[
      local ones = require("meissa").ones(5000)
      local function add(a, b) return a + b end
      print(ones:reduce(add, 0, {combine = add}), ones:map(function(x) return x end):sum())
    ]], {env = "MEISSA_WORKERS=0"})
    assert.equal("5000\t5000\n", output)
  end)

  it("have nothing to fold in empty arrays", function()
    local E = meissa.zeros(0)
    assert.is_nil(E:reduce(math.max))
    assert.equal(5, E:reduce(math.max, 5))
    assert.equal(0, E:map(math.sqrt):size(1))
    assert.equal(0, E:filter(function() return true end):size(1))
    assert.equal(0, (E:group_by(function(v) return v end)):size(1))
  end)

  for _, case in ipairs { { 9000, 2 }, { 9000, 0 }, { 100, 2 } } do
    it(("place the errors of functions, %d elements, %d workers"):format(unpack(case)), function()
      meissa.init { workers = case[2] }
      local A, last = meissa.ones(case[1]), case[1]
      local err = raises("BDY", "kaputt", function()
        A:map(function(i, _) if i == last then error("kaputt") end return i end)
      end)
      assert.truthy(err.file:find("sets_spec"))
      assert.is_nil(err.iteration)
      assert.equal(last, A:map(function(i, _) return i end):max())
      meissa.init { workers = 2 }
    end)
  end
end)
