-- SPDX-License-Identifier: MIT
--
-- Making arrays, their shapes, printing, random contents.

local array = require "meissa.array"
local raises = require("spec.support.expect").raises

describe("constructors", function()
  it("take extents as a table or as integers, options last", function()
    assert.same({ 2, 3 }, array.zeros({ 2, 3 }):size())
    assert.same({ 2, 3 }, array.zeros(2, 3):size())
    assert.equal("float", array.zeros(2, 3, { type = "float" }):type())
    assert.equal("int64", array.ones({ 2 }, { type = "int64" }):type())
    assert.equal("double", array.zeros(4):type())
    assert.equal(3, array.zeros(1, 2, 3):dim())
    assert.equal(8, array.zeros(1, 1, 1, 1, 1, 1, 1, 2):dim())
    assert.equal(0, array.zeros(0, 5):nnz())
    assert.equal(6, array.ones(2, 3):sum())
    assert.equal(1.5, array.full({ 2, 2 }, 0.375):sum())
    assert.same({ 7, 7 }, array.full(2, 7):totable())
  end)

  local bad = {
    { "ARR", "1 to 8 dimensions", function() array.zeros() end },
    { "ARR", "1 to 8 dimensions", function() array.zeros(1, 1, 1, 1, 1, 1, 1, 1, 1) end },
    { "ARR", "extent -1", function() array.zeros(-1) end },
    { "ARR", "extent 1.5", function() array.zeros({ 3, 1.5 }) end },
    { "ARR", "dimension 1", function() array.zeros(2 ^ 31) end },
    { "ARR", "extent nan", function() array.zeros(0 / 0) end },
    { "ARR", "extent x", function() array.zeros("x") end },
    { "OPT", "did you mean 'scale'", function() array.randn({ 3 }, { sclae = 1 }) end },
    { "OPT", "did you mean 'float'", function() array.zeros({ 3 }, { type = "flaot" }) end },
    { "OPT", "type", function() array.zeros({ 3, type = "float" }) end },
    { "OPT", "seed must be a whole number", function() array.rand({ 3 }, { seed = 1.5 }) end },
    { "OPT", "scale must be a finite", function() array.rand({ 3 }, { scale = 0 / 0 }) end },
    { "OPT", "options must be a table", function() array.zeros({ 3 }, 5) end },
    { "ARR", "int32", function() array.full({ 3 }, 0.5, { type = "int32" }) end },
    { "ARR", "normal numbers", function() array.randn({ 3 }, { type = "int32" }) end },
    { "ARR", "available", function() array.zeros(2 ^ 24, 2 ^ 20) end },
    { "ARR", "memory", function() array.zeros(2 ^ 30, 2 ^ 30, 2 ^ 30) end },
  }
  for k, case in ipairs(bad) do
    it("refuse bad arguments, case " .. k, function() raises(case[1], case[2], case[3]) end)
  end

  it("ask the collector when much memory was taken", function()
    for _ = 1, 200 do array.zeros(2 ^ 20) end -- 1.6 GB if nothing were freed
    assert.is_true(array.bytes_held() < 400 * 2 ^ 20)
  end)

  it("make thousands of small arrays with few descriptors", function()
    local all = {}
    for k = 1, 5000 do all[k] = array.full({ 10 }, k) end
    local descriptors = 0
    for _ in io.popen("ls /proc/" .. io.open("/proc/self/stat"):read("*n") .. "/fd"):lines() do
      descriptors = descriptors + 1
    end
    assert.is_true(descriptors < 100)
    for k = 1, 5000, 97 do assert.equal(k, all[k][10]) end
  end)
end)

describe("random arrays", function()
  it("depend on the seed alone", function()
    local A = array.randn({ 50, 40 }, { seed = 7, scale = 0.1 })
    local B = array.randn({ 2000 }, { seed = 7, scale = 0.1 })
    assert.equal(A[2][1], B[41])
    assert.equal(A[50][40], B[2000])
    assert.not_equal(A[1][1], array.randn({ 1 }, { seed = 8, scale = 0.1 })[1])
    assert.not_equal(array.rand(3)[1], array.rand(3)[1])
    array.seed(5)
    local first = array.rand(3)[1]
    array.seed(5)
    assert.equal(first, array.rand(3)[1])
  end)

  it("are distributed as promised", function()
    local U = array.rand({ 100000 }, { seed = 1, scale = 4 })
    assert.is_true(U:min() >= 0 and U:max() < 4)
    assert.is_true(math.abs(U:mean() - 2) < 0.02)
    local N = array.randn({ 100000 }, { seed = 1, scale = 3 })
    assert.is_true(math.abs(N:mean()) < 0.05)
    assert.is_true(math.abs(N:norm() ^ 2 / 1e5 - 9) < 0.2)
    local F = array.rand({ 100000 }, { seed = 1, type = "float" })
    assert.is_true(F:max() < 1)
    local I = array.rand({ 1000 }, { seed = 1, scale = 3, type = "int32" })
    assert.equal(0, I:min())
    assert.equal(2, I:max())
  end)
end)

describe("from", function()
  it("takes nested tables, arrays and tensors", function()
    local A = array.from({ { 1, 2, 3 }, { 4, 5, 6 } }, { type = "int32" })
    assert.same({ 2, 3 }, A:size())
    assert.equal("int32", A:type())
    assert.same({ { 1, 2, 3 }, { 4, 5, 6 } }, A:totable())
    local F = array.from(A, { type = "float" })
    assert.equal("float", F:type())
    assert.equal(6, F[2][3])
    assert.same({ 2, 5 }, array.from(A:select(2, 2)):totable())
    local tensor = setmetatable({}, { __index = { totable = function() return { 1, 2 } end } })
    local proxy = newproxy(true)
    getmetatable(proxy).__index = getmetatable(tensor).__index
    assert.same({ 1, 2 }, array.from(proxy):totable())
    assert.same({ { { 1 } } }, array.from({ { { 1 } } }):totable())
  end)

  local bad = {
    { "[2]", { { 1, 2 }, { 3 } } },
    { "[2]", { { 1, 2 }, 3 } },
    { "[1][2] is a string", { { 1, "x" } } },
    { "[2] is a table", { 1, { 2 } } },
    { "string", "hello" },
    { "nil", nil },
  }
  for k, case in ipairs(bad) do
    it("refuses what is no rectangle of numbers, case " .. k, function()
      raises("ARR", case[1], function() array.from(case[2]) end)
    end)
  end
  it("refuses fractions for integer types", function()
    raises("ARR", "1.5", function() array.from({ 1.5 }, { type = "int64" }) end)
  end)
end)

describe("print", function()
  it("says shape, type and size in one line", function()
    local W = array.zeros({ 6040, 32 }, { type = "float" })
    assert.equal("DistArray<float>[6040x32] dense, 64 blocks, 773 KB", tostring(W))
    assert.equal("DistArray<double>[11] dense, 11 blocks, 88 bytes", tostring(array.zeros(11)))
    assert.equal("DistArray<double>[0] dense, 0 blocks, 0 bytes", tostring(array.zeros(0)))
  end)

  it("shows small arrays and rows", function()
    local A = array.from { { 1, -2.5 }, { 1e10, 0 } }
    local text = tostring(A)
    assert.truthy(text:find("DistArray<double>[2x2] dense, 2 blocks, 32 bytes", 1, true))
    assert.truthy(text:find("1e+10", 1, true))
    assert.truthy(text:find("-2.5", 1, true))
    assert.equal("[1  -2.5]", tostring(A[1]))
    assert.truthy(tostring(array.zeros(3, 3, 3)[2]):find("row [2] of DistArray", 1, true))
    assert.truthy(tostring(array.ones(100)[{ { 1, 3 } }]):find("1  1  1", 1, true))
  end)
end)

describe("describe and friends", function()
  it("tell other rooms about an array", function()
    local A = array.zeros({ 4, 6 }, { type = "float" })
    local V = A:narrow(2, 3, 2)
    local a, v = array.describe(A), array.describe(V)
    assert.equal(a.store, v.store)
    assert.not_equal(a.id, v.id)
    assert.same({ 4, 2 }, v.dims)
    assert.same({ 6, 1 }, v.strides)
    assert.equal(8, v.offset - a.offset)
    assert.equal("float", v.type)
    assert.is_false(v.sparse)
    assert.is_true(array.is(A) and array.is(A[1]) and array.is_handle(V))
    assert.is_false(array.is(5) or array.is({}) or array.is(nil) or array.is_handle(A[1]))
  end)

  it("wrap memory of somebody else", function()
    local ffi = require "ffi"
    local memory = ffi.new("float[12]")
    for k = 0, 11 do memory[k] = k end
    local A = array.wrap_foreign { type = "float", dims = { 3, 2 }, strides = { 4, 1 },
      data = memory, keep = memory }
    assert.same({ { 0, 1 }, { 4, 5 }, { 8, 9 } }, A:totable())
    A[3][2] = -1
    assert.equal(-1, memory[9])
    assert.equal(17, A:sum())
    local rows, columns = ffi.new("int32_t[2]", 0, 1), ffi.new("int32_t[2]", 2, 0)
    local values = ffi.new("double[2]", 5, 6)
    local S = array.wrap_foreign { type = "double", dims = { 2, 3 }, data = values,
      coords = { rows, columns }, count = 2, keep = { rows, columns, values } }
    assert.equal(5, S[1][3])
    assert.equal(0, S[1][1])
    assert.equal(0, array.describe(S).store)
  end)

  it("give raw pointers", function()
    local A = array.from { { 1, 2 }, { 3, 4 } }
    local pointer, strides = A:transpose():data()
    assert.equal(3, pointer[strides[2]])
    assert.equal(2, pointer[strides[1]])
  end)
end)
