-- SPDX-License-Identifier: MIT
--
-- Sparse arrays: entries, reading and writing them, iteration, splits, partitions.

local array = require "meissa.array"
local ffi = require "ffi"
local raises = require("spec.support.expect").raises

local function sample()
  return array.sparse({ 4, 5 }, { i = { 3, 1, 3, 4 }, j = { 5, 2, 1, 4 }, v = { 0.5, 2, -1, 8 } })
end

describe("sparse arrays", function()
  it("read 0 where there is no entry, and write only entries", function()
    local S = sample()
    assert.equal(0.5, S[3][5])
    assert.equal(-1, S[{ 3, 1 }])
    assert.equal(0, S[2][2])
    assert.equal(0, S[3][2])
    S[1][2] = 7
    S[{ 4, 4 }] = 9
    assert.equal(7, S[1][2])
    assert.equal(9, S[4][4])
    raises("ARR", "no entry at [2][2]", function() S[2][2] = 1 end)
    raises("ARR", "no entry at [1][1]", function() S[{ 1, 1 }] = 1 end)
    raises("ARR", "subscript 6 is outside 1..5", function() return S[1][6] end)
    raises("ARR", "subscript 0 is outside 1..4", function() return S[0] end)
    raises("ARR", "cannot be assigned", function() S[1] = 0 end)
    raises("ARR", "range {1, 9} is outside 1..4", function() return S[{ { 1, 9 }, {} }] end)
  end)

  it("know their shape and their sums", function()
    local S = sample()
    assert.equal(4, S:nnz())
    assert.same({ 4, 5 }, S:size())
    assert.equal(9.5, S:sum())
    assert.equal(9.5 / 4, S:mean())
    assert.equal(8, S:max())
    assert.equal(-1, S:min())
    assert.equal(math.sqrt(0.25 + 4 + 1 + 64), S:norm())
    assert.equal(11.5, S:norm(1))
    assert.equal(8, S:norm(math.huge))
    S:scal(2)
    assert.equal(19, S:sum())
    S:fill(1)
    assert.equal(4, S:sum())
    S:add(1)
    assert.equal(8, S:sum())
    raises("ARR", "dense", function() S:dot(S) end)
    raises("ARR", "dense", function() S:axpy(1, S) end)
    raises("ARR", "views", function() S:narrow(1, 1, 1) end)
  end)

  it("iterate in the order in which they were given", function()
    local S = sample()
    local seen = {}
    for i, j, v in S:each() do seen[#seen + 1] = { i, j, v } end
    assert.same({ { 3, 5, 0.5 }, { 1, 2, 2 }, { 3, 1, -1 }, { 4, 4, 8 } }, seen)
    local row = {}
    for j, v in S[3]:nonzeros() do row[#row + 1] = { j, v } end
    assert.same({ { 1, -1 }, { 5, 0.5 } }, row)
    for _ in S[2]:nonzeros() do error("row 2 is empty") end
    raises("ARR", "X[i]:nonzeros()", function() S:nonzeros() end)
    raises("ARR", "freed", function()
      for _ in S:each() do S:free() end
    end)
  end)

  it("are cloned and made again from tables", function()
    local S = sample()
    local C = S:clone()
    C:scal(0)
    assert.equal(9.5, S:sum())
    local T = array.sparse(S:size(), S:totable())
    assert.same(S:totable(), T:totable())
    local ones = array.sparse({ 9 }, { i = array.from { 9, 1 } }, { type = "int32" })
    assert.same({ i = { 9, 1 }, v = { 1, 1 } }, ones:totable())
    local entries = { i = { 2, 2 }, j = { 3, 3 }, k = { 4, 1 }, v = { 5, 6 } }
    local cube = array.sparse({ 2, 3, 4 }, entries)
    assert.equal(5, cube[2][3][4])
    assert.equal(6, cube[{ 2, 3, 1 }])
    local seen = {}
    for j, k, v in cube[2]:nonzeros() do seen[#seen + 1] = { j, k, v } end
    assert.same({ { 3, 1, 6 }, { 3, 4, 5 } }, seen)
    for i, j, k, v in cube:each() do assert.same({ 2, 3 }, { i, j }, k + v) end
  end)

  it("keep duplicates, which have no single element", function()
    local S = array.sparse({ 2, 2 }, { i = { 1, 1 }, j = { 2, 2 }, v = { 3, 4 } })
    assert.equal(7, S:sum())
    assert.equal(2, S:nnz())
    raises("ARR", "2 entries", function() return S[1][2] end)
  end)

  local bad = {
    { "outside 1..2", { i = { 3 }, j = { 1 } } },
    { "whole number", { i = { 1.5 }, j = { 1 } } },
    { "j has 1 numbers, i has 2", { i = { 1, 2 }, j = { 1 } } },
    { "v has 2 numbers, i has 1", { i = { 1 }, j = { 1 }, v = { 1, 2 } } },
    { "j must be a table", { i = { 1 } } },
    { "not a number", { i = { 1 }, j = { "1" } } },
    { "cannot store a string", { i = { 1 }, j = { 1 }, v = { "x" } } },
  }
  for k, case in ipairs(bad) do
    it("refuse bad columns, case " .. k, function()
      raises("ARR", case[1], function() array.sparse({ 2, 2 }, case[2]) end)
    end)
  end
  it("refuse unknown columns", function()
    raises("OPT", "'k'", function() array.sparse({ 2, 2 }, { i = {}, j = {}, k = {} }) end)
  end)

  it("may be empty", function()
    local S = array.sparse({ 5, 5 }, { i = {}, j = {} })
    assert.equal(0, S:sum())
    assert.equal(0, S[3][3])
    assert.equal("DistArray<double>[5x5] sparse, 0 entries, 0 blocks, 0 bytes", tostring(S))
    for _ in S:each() do error("there is no entry") end
    raises("ARR", "empty", function() S:mean() end)
    raises("ARR", "empty", function() S:max() end)
  end)

  it("print like dense ones", function()
    local lists = { i = {}, j = {} }
    for k = 1, 1000 do lists.i[k], lists.j[k] = k % 100 + 1, k end
    local S = array.sparse({ 100, 1000 }, lists)
    assert.equal("DistArray<double>[100x1000] sparse, 1000 entries, 64 blocks, 16 KB", tostring(S))
    assert.truthy(tostring(sample()):find("0  -1\n", 1, true) or tostring(sample()):find("0.5"))
  end)
end)

describe("dense arrays", function()
  it("iterate row-major", function()
    local seen = {}
    for i, j, v in array.from({ { 1, 2 }, { 3, 4 } }):transpose():each() do
      seen[#seen + 1] = { i, j, v }
    end
    assert.same({ { 1, 1, 1 }, { 1, 2, 3 }, { 2, 1, 2 }, { 2, 2, 4 } }, seen)
    for i, v in array.from({ 5 }):each() do assert.same({ 1, 5 }, { i, v }) end
    for _ in array.zeros(0, 3):each() do error("there is no element") end
  end)
end)

describe("split", function()
  local function big()
    local lists = { i = {}, j = {}, v = {} }
    for k = 1, 5000 do
      lists.i[k], lists.j[k], lists.v[k] = k % 70 + 1, k % 61 + 1, k
    end
    return array.sparse({ 70, 61 }, lists, { type = "int32" })
  end

  it("divides all entries at random, the same way for a seed", function()
    local S = big()
    local train, test = S:split(0.9, { seed = 1 })
    assert.equal(4500, train:nnz())
    assert.equal(500, test:nnz())
    assert.equal(S:sum(), train:sum() + test:sum())
    local seen = {}
    for _, _, v in train:each() do seen[v] = true end
    for _, _, v in test:each() do
      assert.is_nil(seen[v])
      seen[v] = true
    end
    for k = 1, 5000 do assert.is_true(seen[k]) end
    local again = select(2, S:split(0.9, { seed = 1 }))
    assert.same(test:totable(), again:totable())
    assert.are_not.same(test:totable(), select(2, S:split(0.9, { seed = 2 })):totable())
    assert.same({ 70, 61 }, test:size())
    assert.equal("int32", test:type())
  end)

  it("takes the ends, and refuses what is no fraction", function()
    local S = sample()
    local all, none = S:split(1)
    assert.equal(4, all:nnz())
    assert.equal(0, none:nnz())
    raises("ARR", "0..1", function() S:split(1.5) end)
    raises("ARR", "0..1", function() S:split(0 / 0) end)
    raises("ARR", "number", function() S:split("half") end)
    raises("ARR", "sparse", function() array.zeros(3):split(0.5) end)
    raises("OPT", "did you mean 'seed'", function() S:split(0.5, { sed = 1 }) end)
  end)
end)

describe("partition", function()
  it("puts every entry in its block, with subscripts as loops have them", function()
    local lists = { i = {}, j = {}, v = {} }
    for k = 1, 3000 do
      lists.i[k], lists.j[k], lists.v[k] = (k * 7919) % 50 + 1, (k * 104729) % 40 + 1, k
    end
    local S = array.sparse({ 50, 40 }, lists)
    local made = array.partition(S, { dims = { 1, 2 }, ranges = { 4, 5 } })
    assert.equal(20, tonumber(made.blocks))
    local lib = require("meissa.array.c_api").lib
    local rows, columns = lib.ms_partition_coords(made, 0), lib.ms_partition_coords(made, 1)
    local values = ffi.cast("double *", lib.ms_partition_values(made))
    local sum = 0
    for a = 0, 3 do
      for b = 0, 4 do
        local block = a * 5 + b
        for e = tonumber(made.start[block]), tonumber(made.start[block + 1]) - 1 do
          local k = values[e]
          assert.equal(lists.i[k], rows[e])
          assert.equal(lists.j[k], columns[e])
          assert.is_true(rows[e] >= made.bounds[0][a] and rows[e] < made.bounds[0][a + 1])
          assert.is_true(columns[e] >= made.bounds[1][b] and columns[e] < made.bounds[1][b + 1])
          sum = sum + k
        end
      end
    end
    assert.equal(3000 * 3001 / 2, sum)
    local again = array.partition(S, { dims = { 1, 2 }, ranges = { 4, 5 } })
    assert.equal(made.id, again.id)
    S:scal(2)
    local scaled = array.partition(S, { dims = { 1, 2 }, ranges = { 4, 5 } })
    assert.not_equal(made.id, scaled.id)
    array.mark_written(S)
    assert.not_equal(scaled.id, array.partition(S, { dims = { 1, 2 }, ranges = { 4, 5 } }).id)
  end)
end)
