-- SPDX-License-Identifier: MIT
--
-- Rows, elements and ranges of sparse arrays: in this process and in loops, against plain lists of
-- entries, on every road.

local array = require "meissa.array"
local meissa = require "meissa"
local expect = require "spec.support.expect"
local parallel, raises = meissa.parallel, expect.raises

local seed = require "spec.support.seed"

-- Entries without equal subscripts unless `twice`.
local function random_entries(n, m, count, twice)
  local c, seen = { i = {}, j = {}, v = {} }, {}
  while #c.i < count do
    local i, j = math.random(n), math.random(m)
    if twice or not seen[i * m + j] then
      seen[i * m + j] = true
      local e = #c.i + 1
      c.i[e], c.j[e], c.v[e] = i, j, math.random(1000)
    end
  end
  return c
end

-- The entries of row i as nonzeros gives them: by column, equal ones in their order.
local function row_of(c, i)
  local list = {}
  for e = 1, #c.i do
    if c.i[e] == i then list[#list + 1] = { c.j[e], c.v[e], e } end
  end
  table.sort(list, function(a, b)
    if a[1] ~= b[1] then return a[1] < b[1] end
    return a[3] < b[3]
  end)
  return list
end

local function check_row(c, X, i)
  local k, wanted = 0, row_of(c, i)
  for j, v in X[i]:nonzeros() do
    k = k + 1
    assert.equal(wanted[k][1], j)
    assert.equal(wanted[k][2], v)
  end
  assert.equal(#wanted, k)
end

describe("rows of a sparse matrix", function()
  setup(function()
    print("sparse_rows seed " .. seed)
    math.randomseed(seed)
  end)

  it("are walked through in the order of their subscripts", function()
    for _, type_name in ipairs { "float", "double", "int32", "int64" } do
      local c = random_entries(12, 9, 60, true)
      local X = meissa.sparse({ 12, 9 }, c, { type = type_name })
      for i = 1, 12 do check_row(c, X, i) end
      assert.is_truthy(array.rows(X))
      for i = 1, 12 do check_row(c, X, i) end
    end
  end)

  it("show values that were written since", function()
    local X = meissa.sparse({ 2, 2 }, { i = { 1, 2 }, j = { 2, 1 }, v = { 3, 4 } })
    array.rows(X)
    X[1][2] = 30
    local function first()
      local list = {}
      for j, v in X[1]:nonzeros() do list[#list + 1] = { j, v } end
      return list[1]
    end
    assert.same({ 2, 30 }, first())
    assert.equal(30, X[1][2])
    array.rows(X)
    assert.same({ 2, 30 }, first())
    X:scal(2)
    assert.equal(60, X[1][2])
    array.rows(X)
    assert.equal(60, X[1][2])
  end)

  it("end when the array is freed", function()
    local X = meissa.sparse({ 2, 3 }, { i = { 1, 1 }, j = { 1, 2 } })
    array.rows(X)
    raises("ARR", "freed", function()
      for _ in X[1]:nonzeros() do X:free() end
    end)
  end)

  it("are refused for dense arrays and whole ones", function()
    raises("ARR", "sparse", function() meissa.zeros(2, 2)[1]:nonzeros() end)
    local X = meissa.sparse({ 2, 2 }, { i = {}, j = {} })
    raises("ARR", "X[i]:nonzeros()", function() X:nonzeros() end)
  end)

  it("have duplicates that cannot be read by subscript", function()
    local X = meissa.sparse({ 2, 2 }, { i = { 1, 1 }, j = { 2, 2 }, v = { 3, 4 } })
    raises("ARR", "there are 2 entries", function() return X[1][2] end)
    array.rows(X)
    raises("ARR", "there are 2 entries", function() return X[1][2] end)
    assert.equal(0, X[1][1])
  end)
end)

local roads = {
  { "in this process", { workers = 0 } }, { "on one worker", { workers = 1 } },
  { "on three workers", { workers = 3 } }, { "by value", { workers = 2, shm = false } },
}
for _, road in ipairs(roads) do
  describe("in loops " .. road[1] .. ", a sparse array", function()
    setup(function() meissa.init(road[2]) end)
    teardown(function() meissa.init {} end)

    it("is read by rows and by elements", function()
      local n, m = 40, 15
      local c = random_entries(n, m, 200)
      for _, type_name in ipairs { "float", "double", "int32", "int64" } do
        local X = meissa.sparse({ n, m }, c, { type = type_name })
        local sums, D = meissa.zeros(n), meissa.zeros(n, m)
        for i in parallel(n) do
          local sum = 0
          for j, v in X[i]:nonzeros() do sum = sum + j * v end
          sums[i] = sum
        end
        for i, j in parallel(n, m) do D[i][j] = X[i][j] + X[{ i, j }] end
        for i = 1, n do
          local sum = 0
          for _, entry in ipairs(row_of(c, i)) do
            sum = sum + entry[1] * entry[2]
            assert.equal(2 * entry[2], D[i][entry[1]])
          end
          assert.equal(sum, sums[i])
        end
        assert.equal(2 * X:sum(), D:sum())
      end
    end)

    it("is read with three dimensions, and with many more rows than entries", function()
      local T = meissa.sparse({ 3, 2, 4 }, { i = { 3, 1, 3 }, j = { 2, 1, 2 }, k = { 4, 2, 1 },
        v = { 5, 6, 7 } })
      local out = meissa.zeros(3)
      for i in parallel(3) do
        for j, k, v in T[i]:nonzeros() do out[i] = out[i] + 100 * j + 10 * k + v end
      end
      assert.same({ 126, 0, 245 + 217 }, out:totable())
      for i in parallel(3) do out[i] = T[i][2][4] + T[{ i, 1, 2 }] end
      assert.same({ 6, 0, 5 }, out:totable())
      local tall = meissa.sparse({ 1000000, 2 }, { i = { 999999, 7 }, j = { 1, 2 }, v = { 8, 9 } })
      assert.is_nil(array.rows(tall))
      for i in parallel(3) do
        for j, v in tall[999996 + i]:nonzeros() do out[i] = 10 * j + v end
      end
      assert.same({ 6, 0, 18 }, out:totable())
    end)

    it("is seen as it is at each loop", function()
      local X = meissa.sparse({ 3, 3 }, { i = { 1, 2, 3 }, j = { 1, 2, 3 }, v = { 1, 2, 3 } })
      local out = meissa.zeros(3)
      for round = 1, 3 do
        for i in parallel(3) do
          for _, v in X[i]:nonzeros() do out[i] = v + X[i][i] end
        end
        assert.same({ 2 * round, 4 * round, 6 * round }, out:totable())
        if round == 1 then
          X:scal(2)
        elseif round == 2 then
          for i, j, v in parallel(X) do X[i][j] = v / 2 * 3 end
        end
      end
    end)

    it("raises its own errors", function()
      local X = meissa.sparse({ 3, 3 }, { i = { 1, 1 }, j = { 2, 2 } })
      local out = meissa.zeros(3)
      raises("ARR", "there are 2 entries", function()
        for i in parallel(3, { engine = "lua" }) do out[i] = X[i][2] end
      end)
      raises("ARR", "outside 1..3", function()
        for i in parallel(3) do
          for _, v in X[i + 1]:nonzeros() do out[i] = v end
        end
      end)
    end)
  end)
end

describe("ranges of a sparse array", function()
  it("are copies of the entries there", function()
    math.randomseed(seed)
    for _ = 1, 50 do
      local n, m = math.random(10), math.random(10)
      local c = random_entries(n, m, math.random(0, 40), true)
      local X = meissa.sparse({ n, m }, c)
      local a, p = math.random(n), math.random(m)
      local b, q = math.random(a, n), math.random(p, m)
      local wanted = { i = {}, j = {}, v = {} }
      for e = 1, #c.i do
        if c.i[e] >= a and c.i[e] <= b and c.j[e] >= p and c.j[e] <= q then
          local k = #wanted.i + 1
          wanted.i[k], wanted.j[k], wanted.v[k] = c.i[e] - a + 1, c.j[e] - p + 1, c.v[e]
        end
      end
      local R = X[{ { a, b }, { p, q } }]
      assert.same({ b - a + 1, q - p + 1 }, R:size())
      assert.same(wanted, R:totable())
      assert.equal(b - a + 1, X[{ { a, b } }]:size(1))
      local row = X[{ a, { p, q } }]
      assert.same({ q - p + 1 }, row:size())
      X[{ { a, b }, { p, q } }] = -1
      assert.equal(-#wanted.i, X[{ { a, b }, { p, q } }]:sum())
      local rest = 0
      for e = 1, #c.i do rest = rest + c.v[e] end
      for _, v in ipairs(wanted.v) do rest = rest - v end
      assert.equal(rest - #wanted.i, X:sum())
    end
  end)

  it("take their ids along", function()
    expect.with_directory(function(dir)
      expect.put(dir .. "/t", "7 a\n5 b\n9 c\n5 a\n")
      local R = meissa.read.triples(dir .. "/t")[{ { 2, 3 }, { 1, 2 } }]
      assert.equal("7", tostring(R:label(1, 1)))
      assert.equal("b", R:label(2, 2))
      assert.is_nil(R:index(2, "c"))
    end)
  end)

  it("are refused outside, and for arrays", function()
    local X = meissa.sparse({ 2, 2 }, { i = { 1 }, j = { 1 } })
    raises("ARR", "outside 1..2", function() return X[{ { 1, 3 } }] end)
    raises("ARR", "outside 1..2", function() return X[{ 3, {} }] end)
    raises("ARR", "set to a number", function() X[{ { 1, 2 } }] = meissa.zeros(2, 2) end)
    raises("ARR", "set to a number", function() X[{ { 1, 2 } }] = "x" end)
  end)
end)
