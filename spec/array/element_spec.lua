-- SPDX-License-Identifier: MIT
--
-- Element access: subscripts, rows, ranges, bounds, types, lifetimes.

local array = require "meissa.array"
local raises = require("spec.support.expect").raises

local function numbered(...)
  local A = array.zeros(...)
  local n = 0
  local function walk(view, dims, d)
    for i = 1, dims[d] do
      if d == #dims then
        n = n + 1
        view[i] = n
      else
        walk(view[i], dims, d + 1)
      end
    end
  end
  walk(A, A:size(), 1)
  return A
end

describe("elements", function()
  for _, kind in ipairs { "float", "double", "int32", "int64" } do
    it("are read and written in arrays of type " .. kind, function()
      local V = array.zeros({ 5 }, { type = kind })
      local M = array.zeros({ 3, 4 }, { type = kind })
      local T = array.zeros({ 2, 3, 4 }, { type = kind })
      for i = 1, 5 do V[i] = 10 * i end
      M[2][3] = 7
      M[{ 3, 4 }] = 8
      T[2][3][4] = 9
      T[{ 1, 1, 1 }] = -1
      assert.equal(30, V[3])
      assert.equal(7, M[{ 2, 3 }])
      assert.equal(8, M[3][4])
      assert.equal(0, M[1][1])
      assert.equal(9, T[{ 2, 3, 4 }])
      assert.equal(9, T[{ 2, 3 }][4])
      assert.equal(-1, T[1][1][1])
      assert.equal("number", type(V[1]))
      assert.equal(5, #V)
      assert.equal(4, #M[1])
      assert.equal(3, #T[1])
    end)
  end

  it("are as before in compiled code", function()
    local A = array.zeros(50, 60)
    local sum, expected = 0, 0
    for _ = 1, 20 do
      for i = 1, 50 do
        for j = 1, 60 do
          A[i][j] = A[i][j] + i * j
          expected = expected + i * j
        end
      end
    end
    for i = 1, 50 do
      local row = A[i]
      for j = 1, 60 do sum = sum + row[j] end
    end
    assert.equal(expected, sum)
  end)

  it("are checked in compiled code", function()
    local A = array.zeros(100)
    local err = raises("ARR", "subscript 101 is outside 1..100", function()
      for i = 1, 200 do A[i] = i end
    end)
    assert.equal(100, A[100])
    assert.truthy(err.file:find("element_spec", 1, true))
    assert.is_number(err.line)
  end)

  local bad = {
    { "0", 0 }, { "-1", -1 }, { "4", 4 }, { "1.5", 1.5 }, { "nan", 0 / 0 }, { "inf", 1 / 0 },
    { "1e+300", 1e300 },
  }
  for _, case in ipairs(bad) do
    it("refuse subscript " .. case[1], function()
      local M, V = array.zeros(3, 3), array.zeros(3)
      for _, fn in ipairs {
        function() return V[case[2]] end, function() V[case[2]] = 1 end,
        function() return M[case[2]] end, function() return M[1][case[2]] end,
        function() M[1][case[2]] = 1 end, function() return M[{ 1, case[2] }] end,
        function() M[{ case[2], 1 }] = 1 end, function() M[case[2]] = 1 end,
      } do
        raises("ARR", case[1], fn)
      end
    end)
  end

  it("refuse subscripts that are no numbers", function()
    local M = array.zeros(3, 3)
    raises("ARR", "a boolean", function() return M[true] end)
    raises("ARR", "'x'", function() M[1].x = 2 end)
    raises("ARR", "did you mean 'sum'", function() return M:smu() end)
    raises("ARR", "3 subscripts for the 2 dimensions", function() return M[{ 1, 2, 3 }] end)
    raises("ARR", "a function", function() return M[{ 1, print }] end)
  end)

  it("name the dimension and the extent as the user counts", function()
    local M = array.zeros(3, 7)
    raises("ARR", "subscript 8 is outside 1..7 (dimension 2 of DistArray<double>[3x7])",
      function() return M[2][8] end)
    raises("ARR", "subscript 4 is outside 1..3 (dimension 1", function() return M[4][1] end)
    local T = array.zeros(2, 3, 4)
    raises("ARR", "subscript 5 is outside 1..4 (dimension 3", function() return T[1][1][5] end)
    raises("ARR", "subscript 9 is outside 1..3 (dimension 2", function() return T[1][9] end)
  end)
end)

describe("integer arrays", function()
  it("refuse fractions, nan and what is out of range", function()
    local A, B = array.zeros({ 3 }, { type = "int32" }), array.zeros({ 3 }, { type = "int64" })
    for _, value in ipairs { 1.5, 0 / 0, 1 / 0, -1 / 0, 2 ^ 31, -2 ^ 31 - 1, 1e300 } do
      raises("ARR", "int32", function() A[1] = value end)
    end
    for _, value in ipairs { 0.5, 0 / 0, 1 / 0, 1e300 } do
      raises("ARR", "int64", function() B[1] = value end)
    end
    A[1], A[2] = 2 ^ 31 - 1, -2 ^ 31
    B[1], B[2] = 2 ^ 53, -2 ^ 53
    assert.equal(2 ^ 31 - 1, A[1])
    assert.equal(-2 ^ 31, A[2])
    assert.equal(2 ^ 53, B[1])
    raises("ARR", "cannot store a string", function() A[1] = "1" end)
    raises("ARR", "cannot store a nil", function() A[1] = nil end)
  end)

  it("raise when an int64 is no exact number", function()
    local B = array.zeros({ 2, 2 }, { type = "int64" })
    B[1][2] = 9007199254740993LL
    raises("ARR", "9007199254740993", function() return B[1][2] end)
    raises("ARR", "2^53", function() return B:sum() end)
    local C = B:clone()
    C:fill(0)
    C:copy(B) -- copies bits
    raises("ARR", "9007199254740993", function() return C[{ 1, 2 }] end)
  end)
end)

describe("tables of subscripts", function()
  it("select views as Torch does", function()
    local A = numbered(4, 5)
    local part = A[{ { 2, 3 }, { 1, 2 } }]
    assert.same({ { 6, 7 }, { 11, 12 } }, part:totable())
    assert.same({ 3, 8, 13, 18 }, A[{ {}, 3 }]:totable())
    assert.same({ { 5 }, { 10 }, { 15 }, { 20 } }, A[{ {}, { -1 } }]:totable())
    assert.same({ { 8, 9, 10 } }, A[{ { 2 }, { 3, -1 } }]:totable())
    assert.same({ { 6, 7, 8, 9, 10 } }, A[{ { 2, 2 } }]:totable())
    part[1][1] = 100
    assert.equal(100, A[2][1])
  end)

  it("assign numbers, arrays and tables to them", function()
    local A = array.zeros(3, 3)
    A[2] = 5
    A[{ { 1, 2 }, 3 }] = 7
    A[3] = A[2]
    A[{ {}, 1 }] = { 1, 2, 3 }
    assert.same({ { 1, 0, 7 }, { 2, 5, 7 }, { 3, 5, 7 } }, A:totable())
    A[{ { 1, 2 }, { 1, 2 } }] = array.from { { -1, -2 }, { -3, -4 } }
    assert.same({ { -1, -2, 7 }, { -3, -4, 7 }, { 3, 5, 7 } }, A:totable())
  end)

  it("refuse ranges outside, backwards, or of the wrong shape", function()
    local A = array.zeros(3, 3)
    raises("ARR", "{2, 4}", function() return A[{ { 2, 4 }, {} }] end)
    raises("ARR", "{0, 1}", function() return A[{ { 0, 1 } }] end)
    raises("ARR", "{3, 1}", function() return A[{ { 3, 1 } }] end)
    raises("ARR", "{1.5, 2}", function() return A[{ { 1.5, 2 } }] end)
    raises("ARR", "match", function() A[1] = array.zeros(4) end)
    raises("ARR", "match", function() A[{ { 1, 2 }, {} }] = array.zeros(3, 2) end)
  end)
end)

describe("rows", function()
  it("outlive their array as an error, not a crash", function()
    local rows = {}
    for i = 1, 50 do
      rows[i] = array.full({ 3, 3 }, i)[2]
      if i % 5 == 0 then collectgarbage() end
    end
    collectgarbage()
    collectgarbage()
    local replacements = {}
    for i = 1, 100 do replacements[i] = array.full({ 3, 3 }, -i) end
    for i = 1, 50 do
      raises("ARR", "freed", function() return rows[i][1] end)
      raises("ARR", "freed", function() rows[i][1] = 1 end)
      raises("ARR", "freed", function() return rows[i]:sum() end)
      raises("ARR", "freed", function() return rows[i]:dot(rows[i]) end)
      assert.equal("DistArray (freed)", tostring(rows[i]))
    end
    for i = 1, 100 do assert.equal(-i, replacements[i][2][2]) end
  end)

  it("are read and written while the collector runs", function()
    local pause = collectgarbage("setpause", 1)
    local step = collectgarbage("setstepmul", 10000)
    for k = 1, 300 do
      local row = array.full({ 40, 700 }, k, { type = "int64" }):transpose()[3]
      -- Either the right number or the error; the array itself is garbage by now.
      local ok, sum = pcall(function()
        local total = 0
        for i = 1, 40 do
          row[i] = row[i] + 1
          total = total + row[i]
        end
        assert(row:sum() == total)
        return total
      end)
      if ok then
        assert.equal(40 * (k + 1), sum)
      else
        assert.equal("ARR", sum.code)
      end
    end
    collectgarbage("setpause", pause)
    collectgarbage("setstepmul", step)
  end)

  it("and everything else refuse a freed array", function()
    local A = array.zeros(3, 3)
    local row, part = A[1], A:narrow(1, 1, 2)
    A:free()
    A:free()
    for _, fn in ipairs {
      function() return A[1] end, function() A[1] = 2 end, function() return A:sum() end,
      function() return A:size() end, function() return row[1] end, function() row[1] = 2 end,
      function() return A[{ 1, 1 }] end, function() return A:clone() end,
      function() return A:narrow(1, 1, 1) end, function() return A:data() end,
    } do
      raises("ARR", "freed", fn)
    end
    part[1][1] = 4 -- a view holds the memory
    assert.equal(4, part:sum())
  end)

  it("do arithmetic like whole arrays", function()
    local A = array.from { { 1, 2, 3 }, { 4, 5, 6 } }
    local w, h = A[1], A[2]
    assert.equal(32, w:dot(h))
    assert.equal(6, w:sum())
    assert.equal(3, w:max())
    assert.equal(4, h:min())
    assert.equal(2, w:mean())
    assert.equal(math.sqrt(14), w:norm())
    assert.equal(3, w:size(1))
    assert.equal(1, w:dim())
    w:axpy(2, h)
    assert.same({ 9, 12, 15 }, w:totable())
    w:fill(1)
    h:scal(2):add(1)
    assert.same({ { 1, 1, 1 }, { 9, 11, 13 } }, A:totable())
    w:copy(h)
    w:cmul(h)
    assert.same({ 81, 121, 169 }, w:totable())
    assert.equal(81 + 121, w:narrow(1, 1, 2):sum())
    raises("ARR", "match", function() w:dot(array.zeros(4)) end)
    raises("ARR", "expected an array", function() w:dot(5) end)
  end)

  it("of a transposed array are strided", function()
    local A = numbered(3, 4):transpose()
    assert.equal(4, A:size(1))
    assert.equal(10, A[2][3])
    A[2][3] = 0
    assert.equal(2 + 6, A[2]:sum())
    assert.same({ 2, 6, 0 }, A[2]:totable())
    assert.equal(4 + 36, A[2]:dot(A[2]))
  end)
end)

describe("lost contents", function()
  it("raise, naming the loop, until wholly overwritten", function()
    local A = array.ones(3, 3)
    local row = A[1]
    local view = A:narrow(1, 1, 1)
    array.mark_invalid(A, "the loop at train.lua:14 lost a worker")
    for _, fn in ipairs {
      function() return A[1][1] end, function() return row[1] end, function() return A:sum() end,
      function() return row:sum() end, function() return view[1][1] end,
      function() return A:clone() end, function() return A:totable() end,
      function() A:scal(2) end, function() A:axpy(1, A) end, function() return A:each() end,
    } do
      raises("ARR", "train.lua:14", fn)
    end
    assert.truthy(tostring(A):find("contents lost", 1, true))
    A[1][1] = 1
    view:fill(2)
    raises("ARR", "train.lua:14", function() return A[1][1] end)
    A:fill(3)
    assert.equal(27, A:sum())
    assert.equal(3, row[1])
    assert.equal(9, view:sum())
    array.mark_invalid(A, "x")
    A:copy(array.ones(3, 3))
    assert.equal(9, A:sum())
  end)
end)

describe("slices of many dimensions", function()
  for _, dims in ipairs {{3, 4, 5}, {2, 3, 4, 5}, {3, 2, 2, 3, 2}, {2, 2, 2, 2, 2, 2, 2, 2}} do
    it(("lead to the elements (%d dimensions)"):format(#dims), function()
      local A, count = array.rand(dims, {seed = 1}), 0
      local function walk(part, keys, d)
        if d > #dims then
          count = count + 1
          if part ~= A[keys] then error(table.concat(keys, " ")) end
          return
        end
        for k = 1, dims[d] do
          keys[d] = k
          walk(part[k], keys, d + 1)
        end
        keys[d] = nil
      end
      walk(A, {}, 1)
      assert.equal(A:nnz(), count)
      count, A = 0, A:transpose(1, #dims)
      dims[1], dims[#dims] = dims[#dims], dims[1]
      walk(A, {}, 1)
      assert.equal(A:nnz(), count)
    end)
  end

  it("are refused outside of the array, and when it is gone", function()
    local A = array.zeros(3, 4, 5)
    local slice = A[2]
    for _, key in ipairs {0, 5, 1.5, math.huge, 0 / 0} do
      local ok, err = pcall(function() return slice[key] end)
      assert.is_false(ok)
      assert.equal("ARR", err.code)
    end
    A:free()
    local ok, err = pcall(function() return slice[1] end)
    assert.is_false(ok)
    assert.truthy(err.message:find("freed", 1, true))
  end)
end)
