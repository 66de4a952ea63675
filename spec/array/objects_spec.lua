-- SPDX-License-Identifier: MIT
--
-- Arrays of objects: elements, methods, loops that read and write them.

local meissa = require "meissa"
local expect = require "spec.support.expect"
local parallel, raises = meissa.parallel, expect.raises

describe("an array of objects", function()
  it("holds plain values and tables of them", function()
    local O = meissa.objects(4)
    assert.is_nil(O[1])
    O[1], O[2], O[3], O[4] = 5, "text", { list = { 1, { 2 } } }, false
    assert.same({ 5, "text", { list = { 1, { 2 } } }, false }, { O[1], O[2], O[3], O[4] })
    O[1] = nil
    assert.is_nil(O[1])
    O[3].list[1] = 7
    assert.equal(7, O[3].list[1])
  end)

  it("is made of a list", function()
    local O = meissa.from({ "a", { 1 }, false }, { type = "object" })
    assert.same({ "a", { 1 }, false }, O:totable())
    raises("ARR", "cannot store", function() meissa.from({ print }, { type = "object" }) end)
    raises("ARR", "a list of objects", function() meissa.from(5, { type = "object" }) end)
    raises("OPT", "meissa.objects", function() meissa.zeros({ 2 }, { type = "object" }) end)
  end)

  it("is a list for Lua's functions", function()
    local O = meissa.from({ "c", "a", "b" }, { type = "object" })
    assert.equal(3, #O)
    local seen = {}
    for k, v in ipairs(O) do seen[k] = v end
    assert.same({ "c", "a", "b" }, seen)
    table.sort(O)
    assert.equal("abc", table.concat(O))
    assert.equal("a b c", table.concat({ unpack(O) }, " "))
  end)

  it("has positions to loop over", function()
    raises("OPT", "for i in parallel(O:size(1))", function()
      for _ in parallel(meissa.objects(3)) do end
    end)
  end)

  it("has extents, a type and a text", function()
    local O = meissa.objects({ 2, 3 })
    assert.same({ 2, 3 }, O:size())
    assert.equal(3, O:size(2))
    assert.equal(2, O:dim())
    assert.equal(6, O:nnz())
    assert.equal("object", O:type())
    assert.equal("DistArray<object>[2x3] dense", tostring(O))
    assert.equal("x DistArray<object>[2x3] dense", "x " .. O)
    assert.is_true(meissa.is_array(O))
    assert.equal(2, O:label(1, 2))
    assert.equal(2, O:index(2, 2))
    assert.is_nil(O:index(2, 4))
  end)

  it("has rows that share its elements", function()
    local O = meissa.objects(2, 3)
    O[1][2], O[{ 2, 3 }] = "a", "b"
    assert.equal("a", O[{ 1, 2 }])
    assert.equal("b", O[2][3])
    local row = O[2]
    row[1] = "c"
    assert.equal("c", O[2][1])
    assert.same({ { nil, "a" }, { "c", nil, "b" } }, O:totable())
    local seen = {}
    for i, j, v in O:each() do seen[#seen + 1] = i .. j .. tostring(v) end
    assert.equal("11nil 12a 13nil 21c 22nil 23b", table.concat(seen, " "))
  end)

  it("fills, clones and frees", function()
    local O = meissa.objects(2):fill({ n = 1 })
    assert.is_true(O[1] == O[2])
    local copy = O:clone()
    copy[1].n = 2
    assert.equal(1, O[1].n)
    assert.equal(1, copy[2].n)
    O:free()
    raises("ARR", "freed", function() return O[1] end)
    raises("ARR", "freed", function() O[1] = 1 end)
    assert.equal("DistArray (freed)", tostring(O))
  end)

  local cyclic = {}
  cyclic[1] = cyclic
  local bad = { print, cyclic, setmetatable({}, {}), { { print } }, { [print] = 1 },
    coroutine.create(print), meissa.zeros(2), meissa.objects(2), io.stdout, newproxy(), 5LL, 5ULL,
    require("ffi").new("complex", 1, 2), { 5LL }, { [5LL] = 1 },
    require("string.buffer").decode("\3") }
  for k, value in ipairs(bad) do
    it("refuses what cannot be carried, case " .. k, function()
      local O = meissa.objects(2)
      raises("ARR", "cannot store", function() O[1] = value end)
      raises("ARR", "cannot store", function() O:fill(value) end)
    end)
  end

  it("refuses wrong subscripts, methods and extents", function()
    local O = meissa.objects(2, 2)
    raises("ARR", "outside 1..2", function() return O[3] end)
    raises("ARR", "outside 1..2", function() O[1][0] = 1 end)
    raises("ARR", "not a whole number", function() return O[1.5] end)
    raises("ARR", "3 subscripts", function() return O[{ 1, 1, 1 }] end)
    raises("ARR", "cannot be assigned", function() O[1] = {} end)
    raises("ARR", "no field 'x'", function() O.x = 1 end)
    raises("ARR", "did you mean 'size'", function() return O:sizes() end)
    raises("ARR", "not in 1..2", function() return O:size(3) end)
    raises("ARR", "extent", function() meissa.objects(-1) end)
    raises("OPT", "unknown option", function() meissa.objects(2, { type = "double" }) end)
  end)

  for _, workers in ipairs { 0, 1, 2 } do
    it(("is read and written by loops, with %d workers"):format(workers), function()
      meissa.init { workers = workers }
      local n = 30
      local O, P, out = meissa.objects(n), meissa.objects(n), meissa.zeros(n)
      for i = 1, n do O[i] = { id = i, name = ("x"):rep(i % 7) } end
      for i in parallel(n) do out[i] = #O[i].name + O[i].id end
      for i in parallel(n) do P[i] = { O[i].name .. "!", i } end
      for i = 1, n do
        assert.equal(i % 7 + i, out[i])
        assert.same({ ("x"):rep(i % 7) .. "!", i }, P[i])
      end
      local total = 0
      for i in parallel(n) do total = total + P[i][2] end
      assert.equal(n * (n + 1) / 2, total)
      raises("ARR", "outside 1..30", function()
        for i in parallel(n + 1) do P[i] = i end
      end)
      local Q = meissa.objects(n)
      raises("ARR", "cannot store a function", function()
        for i in parallel(n) do Q[i] = print end
      end)
      meissa.init {}
    end)
  end

  it("is not written where another name shows its elements", function()
    meissa.init { workers = 2 }
    local O = meissa.objects(2, 3)
    local row, same = O[1], O[1]
    raises("DEP", "DEP120", function()
      for i in parallel(3) do row[i] = { same[i] } end
    end)
    for i in parallel(3) do row[i] = i end
    assert.equal(3, O[1][3])
    meissa.init {}
  end)

  it("is not sent with elements that it may not have", function()
    local O = meissa.from({ 1, 2, 3 }, { type = "object" })
    local A, out = meissa.zeros(3), meissa.zeros(3)
    O[2] = { A }
    raises("ARR", "element 2 of DistArray<object>[3] is a cdata", function()
      for i in parallel(3) do out[i] = O[i] and A[i] or 0 end
    end)
    raises("ARR", "element 2", function() O:save(os.tmpname()) end)
  end)

  it("is read in loops with any number of elements", function()
    local n = 30000
    local O, out = meissa.objects(n), meissa.zeros(n)
    for i = 1, n do O[i] = { i } end
    for i in parallel(n) do out[i] = O[i][1] end
    assert.equal(n * (n + 1) / 2, out:sum())
  end)
end)
