-- SPDX-License-Identifier: MIT
--
-- sort, topk, argmax, argmin, reshape, cat against table.sort and plain loops.
local meissa = require "meissa"
local draws = require "spec.support.draws"
local raises = require("spec.support.expect").raises
local seed = require "spec.support.seed"

local told = "MEISSA_TEST_SEED=" .. seed
local kinds = { "float", "double", "int32", "int64" }

-- Values with many equal ones, and of floating types some that compare in an odd way.
local function draw_values(random, dims, kind)
  local A = meissa.rand(dims, { seed = random(10 ^ 6), scale = 9, type = "int32" })
  local B = meissa.from(A, { type = kind })
  if kind == "int32" or kind == "int64" then return B:add(-4) end
  local odd = { 0 / 0, -0, 0, 1 / 0, -1 / 0, -3, -1e-30 }
  return B:map(function(value) return odd[value] or value / 4 end)
end

-- A lane's values and their places in the order that sort promises.
local function sorted(lane, descending)
  local places = {}
  for k = 1, #lane do places[k] = k end
  local function rank(value) return value ~= value and math.huge or 0, value end
  table.sort(places, function(a, b)
    local nan_a, value_a = rank(lane[a])
    local nan_b, value_b = rank(lane[b])
    if nan_a ~= nan_b then return (nan_a < nan_b) ~= descending end
    if value_a == value_b or nan_a > 0 then return a < b end
    return (value_a < value_b) ~= descending
  end)
  return places
end

-- Lanes of a matrix along d, as lists.
local function lane(A, d, at)
  local list = {}
  for k = 1, A:size(d) do list[k] = d == 1 and A[k][at] or A[at][k] end
  return list
end

local function same(a, b)
  return a == b and (a ~= 0 or 1 / a == 1 / b) or a ~= a and b ~= b
end

local function check(A, d, k, descending, values, places)
  for at = 1, A:size(3 - d) do
    local list = lane(A, d, at)
    local want = sorted(list, descending)
    local got, stood = lane(values, d, at), lane(places, d, at)
    assert.equal(k, #got)
    for n = 1, k do
      assert.equal(want[n], stood[n], told)
      assert.is_true(same(list[want[n]], got[n]), told)
    end
  end
end

describe("Sorting along a dimension", function()
  it("gives what table.sort gives, equal ones in their order", function()
    local random = draws.whole(draws.of_number(seed))
    for _, shape in ipairs { { 5, 7 }, { 1, 40 }, { 33, 3 }, { 2, 500 }, { 1030, 2 } } do
      for _, kind in ipairs(kinds) do
        local A = draw_values(random, shape, kind)
        for d = 1, 2 do
          for _, descending in ipairs { false, true } do
            local values, places = A:sort(d, descending)
            assert.equal(kind, values:type())
            assert.equal("int64", places:type())
            check(A, d, A:size(d), descending, values, places)
            local k = random(A:size(d))
            values, places = A:topk(k, d, descending)
            check(A, d, k, descending, values, places)
          end
        end
      end
    end
  end)

  it("goes by all bits of many elements, wherever they differ", function()
    local random = draws.whole(draws.of_number(seed))
    for _, kind in ipairs(kinds) do
      for _, count in ipairs { 1024, 3000, kind == "double" and 132000 or nil } do
        local A, whole = meissa.zeros({ count }, { type = kind }), kind:find "int"
        for n = 1, count do
          local value = random(60) - 30 + (random(40) - 1) * 2 ^ -45
          if random(9) == 1 then value = value * 2 ^ -90 end
          A[n] = whole and math.floor(value * 2 ^ 25) or value
        end
        for _, descending in ipairs { false, true } do
          local values, places = A:sort(1, descending)
          local seen = {}
          for n = 1, count do
            local value, place = values[n], places[n]
            assert(value == A[place] and not seen[place], told)
            seen[place] = true
            local last = n > 1 and values[n - 1]
            assert(n == 1 or last == value and places[n - 1] < place or
              last ~= value and (last < value) ~= descending, told)
          end
        end
      end
    end
  end)

  it("takes the last dimension, ascending, and the largest, when nothing is said", function()
    local A = meissa.from { { 3, 1, 2 }, { 5, 9, 7 } }
    assert.same({ { 1, 2, 3 }, { 5, 7, 9 } }, (A:sort()):totable())
    assert.same({ { 3, 2 }, { 9, 7 } }, (A:topk(2)):totable())
    assert.same({ 1, 2 }, (A[1]:topk(2, nil, false)):totable())
  end)

  it("sorts views, many lanes and long ones alike", function()
    local A = meissa.rand({ 3, 30000 }, { seed = 2 })
    local values, places = A:transpose():sort(1)
    local other, stood = A:sort(2)
    assert.equal(0, values:transpose():clone():add(-1, other):norm(1))
    for j = 1, 30000, 997 do
      assert.equal(places[j][2], stood[2][j])
      assert.equal(A[2][stood[2][j]], other[2][j])
      assert.is_true(j == 1 or other[2][j - 1] <= other[2][j])
    end
    local B = meissa.rand({ 20000, 4 }, { seed = 3 })
    local rows = B:sort(2)
    for i = 1, 20000, 501 do assert.same((B[i]:sort()):totable(), rows[i]:totable()) end
    assert.equal(0, #meissa.zeros(0, 3):sort(1))
  end)

  it("keeps int64 beyond 2^53 apart", function()
    local A = meissa.full({ 3 }, 2 ^ 53, { type = "int64" })
    local data = A:data()
    data[0], data[1] = data[0] + 2, data[1] + 1
    local _, places = A:sort()
    assert.same({ 3, 2, 1 }, places:totable())
  end)

  it("says what is wrong", function()
    local A, S = meissa.ones(2, 3), meissa.sparse({ 2, 2 }, { i = { 1 }, j = { 1 } })
    raises("ARR", "sort: the dimension must be a whole number in 1..2, not 3",
      function() A:sort(3) end)
    raises("ARR", "`descending` must be true or false", function() A:sort(1, 1) end)
    raises("ARR", "is sparse; sort(d)", function() S:sort() end)
    raises("ARR", "k must be a whole number in 1..3, not 4", function() A:topk(4) end)
    raises("ARR", "k must be a whole number in 1..2, not 0", function() A:topk(0, 1) end)
    raises("ARR", "k must be a whole number", function() A:topk() end)
    raises("ARR", "`largest` must be", function() A:topk(1, 1, "no") end)
    A:free()
    raises("ARR", "freed", function() A:sort() end)
  end)
end)

describe("Where the extremes stand", function()
  it("is their first place, row-major", function()
    local A = meissa.from { { 3, 9, -1 }, { 9, -1, 4 } }
    assert.same({ 1, 2 }, { A:argmax() })
    assert.same({ 1, 3 }, { A:argmin() })
    assert.same({ 1, 2 }, { A:transpose():argmax() })
    assert.equal(1, A[2]:argmax())
    A[2][2] = 0 / 0
    assert.same({ 2, 2 }, { A:argmax() })
    assert.same({ 2, 2 }, { A:argmin() })
    local long = meissa.zeros(10000)
    long[9001], long[9002] = 5, 5
    assert.equal(9001, long:argmax())
    assert.equal(1, long:argmin())
    local S = meissa.sparse({ 5, 5 }, { i = { 4, 2, 3 }, j = { 1, 2, 5 }, v = { 1, 8, 8 } })
    assert.same({ 2, 2 }, { S:argmax() })
    assert.same({ 4, 1 }, { S:argmin() })
    raises("ARR", "an empty array has no", function() meissa.zeros(0):argmax() end)
  end)

  it("is the same in bodies, on both engines", function()
    local A = meissa.rand({ 40, 7 }, { seed = 4, type = "float" })
    A[3][5], A[3][6] = 0 / 0, 0 / 0
    A[9]:fill(-1 / 0)
    for _, engine in ipairs { "lua", "native" } do
      local most, least = meissa.zeros(40), meissa.zeros(40)
      for i in meissa.parallel(40, { engine = engine }) do
        most[i], least[i] = A[i]:argmax(), A[i]:argmin()
      end
      for i = 1, 40 do
        assert.equal(A[i]:argmax(), most[i])
        assert.equal(A[i]:argmin(), least[i])
      end
      local none, found = meissa.zeros(3, 0), 0
      local err = raises("ARR", "an empty array has no least", function()
        for i in meissa.parallel(3, { engine = engine }) do found = found + none[i]:argmin() end
      end)
      assert.truthy(err)
    end
  end)
end)

describe("reshape", function()
  it("copies the elements row-major", function()
    local A = meissa.from { { 1, 2, 3 }, { 4, 5, 6 } }
    assert.same({ { 1, 2 }, { 3, 4 }, { 5, 6 } }, A:reshape(3, 2):totable())
    assert.same({ 1, 4, 2, 5, 3, 6 }, A:transpose():reshape({ 6 }):totable())
    assert.same({ { { 4 } }, { { 5 } }, { { 6 } } }, A[2]:reshape(3, 1, 1):totable())
    A:reshape(6):fill(0)
    assert.equal(21, A:sum())
    raises("ARR", "reshape: DistArray<double>[2x3] has 6 elements, 4x2 has 8",
      function() A:reshape(4, 2) end)
    raises("ARR", "1 to 8 dimensions", function() A:reshape() end)
    raises("ARR", "is sparse", function()
      meissa.sparse({ 2, 2 }, { i = { 1 }, j = { 1 } }):reshape(4)
    end)
  end)
end)

describe("meissa.cat", function()
  local A, B = meissa.from { { 1, 2 }, { 3, 4 } }, meissa.from { { 5, 6 } }
  it("puts arrays one after the other", function()
    assert.same({ { 1, 2 }, { 3, 4 }, { 5, 6 } }, meissa.cat({ A, B }, 1):totable())
    assert.same({ { 1, 2, 1, 3 }, { 3, 4, 2, 4 } }, meissa.cat({ A, A:transpose() }):totable())
    assert.same({ 1, 2, 5, 6 }, meissa.cat({ A[1], B[1] }):totable())
    assert.same({ { 1, 5 }, { 2, 6 } }, meissa.cat({ A[1], B[1] }, 2):totable())
    assert.same({ { { 1, 1 }, { 2, 2 } }, { { 3, 3 }, { 4, 4 } } },
      meissa.cat({ A, A }, 3):totable())
    assert.equal("int32", meissa.cat({ meissa.ones({ 2 }, { type = "int32" }) }):type())
    assert.equal(2, #meissa.cat({ meissa.zeros(0), A[1] }))
    meissa.cat({ A }, 1):fill(0)
    assert.equal(10, A:sum())
  end)

  it("says what does not match", function()
    local S = meissa.sparse({ 2, 2 }, { i = { 1 }, j = { 1 } })
    raises("ARR", "array 2, DistArray<double>[1x2], does not match the first, " ..
      "DistArray<double>[2x2], in dimension 1", function() meissa.cat({ A, B }, 2) end)
    raises("ARR", 'meissa.from(A, {type = "double"}) converts it',
      function() meissa.cat({ A, meissa.ones({ 2, 2 }, { type = "float" }) }) end)
    raises("ARR", "a list of arrays, not an empty one", function() meissa.cat({}) end)
    raises("ARR", "a list of arrays, not a cdata", function() meissa.cat(A, B) end)
    raises("ARR", "element 2 of the list is a number", function() meissa.cat { A, 7 } end)
    raises("ARR", "is sparse", function() meissa.cat { S } end)
    raises("ARR", "in 1..3, not 4", function() meissa.cat({ A }, 4) end)
  end)
end)
