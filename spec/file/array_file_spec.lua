-- SPDX-License-Identifier: MIT
--
-- Saving and loading: arrays of all kinds, models, and files that must be refused.

local array = require "meissa.array"
local ffi = require "ffi"
local file = require "meissa.file"
local read = require "meissa.read"
local expect = require "spec.support.expect"
local raises, with_directory = expect.raises, expect.with_directory
local put, get = expect.put, expect.get

-- A version 1 .npy file as NumPy writes it.
local function npy(description, order, shape, data, version)
  local header = ("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }"):format(description, order,
    shape)
  local length = #header + 1
  local pad = -(10 + length) % 64
  header = header .. (" "):rep(pad) .. "\n"
  local size = #header
  local mark = version == 2 and "\2\0" .. string.char(size % 256, math.floor(size / 256), 0, 0)
    or "\1\0" .. string.char(size % 256, math.floor(size / 256))
  return "\147NUMPY" .. mark .. header .. data
end

local function doubles(...)
  local list = ffi.new("double[?]", select("#", ...), ...)
  return ffi.string(list, ffi.sizeof(list))
end

describe("dense arrays", function()
  for _, kind in ipairs { "float", "double", "int32", "int64" } do
    it("come back from .npy files, type " .. kind, function()
      with_directory(function(dir)
        local path = dir .. "/A.npy"
        local A = array.rand({ 7, 5, 3 }, { type = kind, seed = 1, scale = 1000 })
        A:save(path)
        local B = file.load(path)
        assert.same(A:size(), B:size())
        assert.equal(kind, B:type())
        assert.same(A:totable(), B:totable())
        A:transpose(1, 3):save(path)
        assert.same(A:transpose(1, 3):totable(), file.load(path):totable())
        A[2][3]:save(path)
        assert.same(A[2][3]:totable(), file.load(path):totable())
      end)
    end)
  end

  it("are written so that NumPy reads them", function()
    with_directory(function(dir)
      array.from({ { 1, 2 }, { 3, 4 } }):save(dir .. "/A.npy")
      local text = get(dir .. "/A.npy")
      local expected = npy("<f8", "False", "(2, 2)", doubles(1, 2, 3, 4))
      assert.equal(expected, text:sub(1, #expected))
      assert.equal(0, (#expected - 32) % 64)
      array.from({ 5 }):save(dir .. "/v.npy")
      assert.truthy(get(dir .. "/v.npy"):find("'shape': (1,), }", 1, true))
    end)
  end)

  it("are read as NumPy writes them", function()
    with_directory(function(dir)
      local path = dir .. "/A.npy"
      put(path, npy("<f8", "False", "(2, 3)", doubles(1, 2, 3, 4, 5, 6)))
      assert.same({ { 1, 2, 3 }, { 4, 5, 6 } }, file.load(path):totable())
      put(path, npy("<f8", "True", "(2, 3)", doubles(1, 4, 2, 5, 3, 6)))
      assert.same({ { 1, 2, 3 }, { 4, 5, 6 } }, file.load(path):totable())
      put(path, npy("<f8", "False", "(3,)", doubles(7, 8, 9), 2))
      assert.same({ 7, 8, 9 }, file.load(path):totable())
      put(path, npy("<i4", "True", "(1, 2)", "\1\0\0\0\254\255\255\255"))
      assert.same({ { 1, -2 } }, file.load(path):totable())
    end)
  end)

  local bad = {
    { "'>f8'", npy(">f8", "False", "(1,)", doubles(1)) },
    { "'<c16'", npy("<c16", "False", "(1,)", doubles(1, 2)) },
    { "'|b1'", npy("|b1", "False", "(1,)", "\1") },
    { "plain element type", npy("x", "False", "(1,)", "12345678"):gsub("'x'", "[('a', 1)]") },
    { "0 dimensions", npy("<f8", "False", "()", doubles(1)) },
    { "9 dimensions", npy("<f8", "False", "(1, 1, 1, 1, 1, 1, 1, 1, 1)", doubles(1)) },
    { "truncated", npy("<f8", "False", "(2,)", doubles(1)) },
    { "truncated", npy("<f8", "False", "(99999999, 99999999, 99999999)", doubles(1)) },
    { "an extent of 9999999999 is out", npy("<f8", "True", "(9999999999, 0)", "") },
    { "8 bytes more", npy("<f8", "False", "(1,)", doubles(1, 2)) },
    { "fortran_order", npy("<f8", "Maybe", "(1,)", doubles(1)) },
    { "version 9", (npy("<f8", "False", "(1,)", doubles(1)):gsub("NUMPY\1", "NUMPY\9")) },
    { "truncated", "\147NUMPY\1" },
    { "not a file of", "\147NUMPX\1\0 and so on and so on" },
    { "not a file of", "PK\3\4 a zip file" },
    { "not a file of", "x" },
    { "empty", "" },
  }
  for k, case in ipairs(bad) do
    it("refuses malformed or foreign files, case " .. k, function()
      with_directory(function(dir)
        put(dir .. "/x.npy", case[2])
        local err = raises("FIL", case[1], function() file.load(dir .. "/x.npy") end)
        assert.equal(dir .. "/x.npy", err.file)
      end)
    end)
  end
end)

-- Elements with the bits of Lua values that are no numbers: nil, false, true, pointers of each
-- kind, and NaNs of both signs with and without the quiet bit; as doubles and as floats.
local function forged()
  local high = { 0xffffffff, 0xfffeffff, 0xfffdffff, 0xfff90000, 0xfffa0000, 0xfffb8000, 0xfffd8000,
    0xffff0000, 0xfff80000, 0x7ff80000, 0x7ff00000, 0xfff00000, 0x7fffffff }
  local wide, narrow = {}, {}
  for k, bits in ipairs(high) do
    wide[k] = string.char(16, 0, 0, 0, bits % 256, bit.band(bit.rshift(bits, 8), 255),
      bit.band(bit.rshift(bits, 16), 255), bit.rshift(bits, 24))
    local byte = math.floor(bits / 2 ^ 16) % 256
    narrow[k] = string.char(255, 255, byte % 128 + 128, k % 2 == 0 and 255 or 127)
  end
  return table.concat(wide), table.concat(narrow), #high
end

describe("NaNs of a file", function()
  local wide, narrow, count = forged()

  local function check(A, n)
    for k = 1, n do
      assert.equal("number", type(A[k]))
      assert.is_true(A[k] ~= A[k])
    end
  end

  for _, order in ipairs { "False", "True" } do
    it("are numbers in NumPy's, fortran_order " .. order, function()
      with_directory(function(dir)
        local path = dir .. "/A.npy"
        put(path, npy("<f8", order, ("(%d,)"):format(count), wide))
        check(file.load(path), count)
        put(path, npy("<f4", order, ("(%d,)"):format(count), narrow))
        check(file.load(path), count)
        put(path, npy("<f4", order, "(1, 2)", ("\255"):rep(8)))
        check(file.load(path)[1], 2)
        put(path, npy("<f8", order, "(2, 20000)", ("\255"):rep(320000)))
        local A = file.load(path)
        check(A[2], 20000)
        assert.is_true(A:sum() ~= A:sum())
        put(path, npy("<i4", order, "(1, 2)", ("\255"):rep(8)))
        assert.same({ { -1, -1 } }, file.load(path):totable())
      end)
    end)
  end

  it("are numbers in models, sparse values included", function()
    with_directory(function(dir)
      local whole = {}
      for k = 1, count do whole[k] = k end
      for name, bytes in pairs { double = wide, float = narrow } do
        local model = { dense = array.zeros({ count }, { type = name }),
          sparse = array.sparse({ count }, { i = whole }, { type = name }) }
        for _, A in pairs(model) do ffi.copy((A:data()), bytes, #bytes) end
        file.save(dir .. "/m", model)
        local M = file.load(dir .. "/m")
        check(M.dense, count)
        for _, v in M.sparse:each() do
          assert.equal("number", type(v))
          assert.is_true(v ~= v)
        end
        model.sparse:save(dir .. "/s")
        local values = file.load(dir .. "/s"):totable().v
        for k = 1, count do assert.equal("number", type(values[k])) end
      end
    end)
  end)

  it("leave other elements' bits as they were", function()
    with_directory(function(dir)
      local list = { -0.0, 0, 1 / 0, -1 / 0, 5e-324, 1.7976931348623157e308, -1 }
      array.from(list):save(dir .. "/A.npy")
      local loaded = file.load(dir .. "/A.npy")
      for k, value in ipairs(list) do
        assert.equal(value, loaded[k])
        assert.equal(1 / value, 1 / loaded[k])
      end
    end)
  end)
end)

local function ratings(dir)
  put(dir .. "/r.csv", "ann,10,5\nbob,-3,2.5\nann,-3,1\nzoë,7,0\n")
  return read.triples(dir .. "/r.csv")
end

describe("sparse arrays", function()
  it("come back with their ids", function()
    with_directory(function(dir)
      local R = ratings(dir)
      R:save(dir .. "/R")
      local S = file.load(dir .. "/R")
      assert.same(R:totable(), S:totable())
      assert.equal("zoë", S:label(1, 3))
      assert.equal(10, S:label(2, 3))
      assert.equal(2, S:index(1, "bob"))
      assert.equal(1, S:index(2, -3))
      put(dir .. "/g", "5 7\n7 9\n")
      local G = read.triples(dir .. "/g", { square = true, type = "int64" })
      G:save(dir .. "/G")
      local H = file.load(dir .. "/G")
      assert.equal("int64", H:type())
      assert.equal(9, H:label(1, 3))
      assert.equal(9, H:label(2, 3))
      array.sparse({ 5, 5, 5 }, { i = {}, j = {}, k = {} }):save(dir .. "/E")
      assert.same({ 5, 5, 5 }, file.load(dir .. "/E"):size())
    end)
  end)
end)

describe("models", function()
  it("hold arrays and plain values at any depth", function()
    with_directory(function(dir)
      local W, R = array.randn({ 6, 2 }, { seed = 1, type = "float" }), ratings(dir)
      local path = dir .. "/model"
      file.save(path, { W = W, deep = { again = W, list = { 1, "two", true, R } }, rank = 16,
        row = W[2], empty = {}, [7] = "seven", text = "\0 bytes \255" })
      local M = file.load(path)
      assert.same(W:totable(), M.W:totable())
      assert.equal(M.W, M.deep.again)
      assert.same(W[2]:totable(), M.row:totable())
      assert.equal("ann", M.deep.list[4]:label(1, 1))
      assert.same({ 16, "seven", "\0 bytes \255", "two", true },
        { M.rank, M[7], M.text, M.deep.list[2], M.deep.list[3] })
      assert.same({}, M.empty)
    end)
  end)

  local cyclic = {}
  cyclic.inner = { cyclic }
  local deep = {}
  for _ = 1, 100 do deep = { deep } end
  local bad = {
    { "f is a function", { f = print } },
    { "a.b is a thread", { a = { b = coroutine.create(print) } } },
    { "contains itself", cyclic }, { "nested more than", deep }, { "a key", { [print] = 1 } },
    { "not a number", 5 }, { "not a nil", nil }, { "not a string", "x" },
  }
  for k, case in ipairs(bad) do
    it("refuse what cannot be saved, case " .. k, function()
      with_directory(function(dir)
        raises("OPT", case[1], function() file.save(dir .. "/m", case[2]) end)
        assert.is_nil(io.open(dir .. "/m"))
      end)
    end)
  end
end)

describe("damaged files", function()
  local seed = require "spec.support.seed"

  it("are refused by name, wherever the bit or the cut is (seed " .. seed .. ")", function()
    math.randomseed(seed)
    with_directory(function(dir)
      local R = ratings(dir)
      array.randn({ 9, 4 }, { seed = 1 }):save(dir .. "/dense")
      R:save(dir .. "/sparse")
      file.save(dir .. "/model", { W = array.ones(3), R = R, rank = 3 })
      local path = dir .. "/damaged"
      for _, name in ipairs { "dense", "sparse", "model" } do
        local text = get(dir .. "/" .. name)
        local complete = name == "dense" and #text - 16 -- a .npy file without our checksum
        for k = 1, 400 do
          local at = k <= #text and k or math.random(#text)
          local flipped = bit.bxor(text:byte(at), 2 ^ math.random(0, 7))
          put(path, text:sub(1, at - 1) .. string.char(flipped) .. text:sub(at + 1))
          raises("FIL", "damaged", function() file.load(path) end)
          if at - 1 ~= complete then
            put(path, text:sub(1, at - 1))
            raises("FIL", "damaged", function() file.load(path) end)
          end
        end
        put(path, text .. "x")
        raises("FIL", "damaged", function() file.load(path) end)
        assert.truthy(file.load(dir .. "/" .. name))
      end
    end)
  end)

  it("are refused if of a later version", function()
    with_directory(function(dir)
      file.save(dir .. "/m", { 1 })
      local text = get(dir .. "/m")
      put(dir .. "/m", text:sub(1, 8) .. "\9" .. text:sub(10))
      raises("FIL", "version 9", function() file.load(dir .. "/m") end)
    end)
  end)
end)

describe("writing", function()
  it("fails by name and keeps the old file", function()
    with_directory(function(dir)
      local A = array.ones(3)
      raises("FIL", "No such file", function() A:save(dir .. "/none/A.npy") end)
      raises("FIL", "directory", function() A:save(dir) end)
      raises("FIL", "regular", function() A:save("/dev/full") end)
      raises("OPT", "path", function() A:save(5) end)
      raises("OPT", "path", function() file.load("a\0b") end)
      raises("FIL", "No such file", function() file.load(dir .. "/none") end)
      A:save(dir .. "/A.npy")
      array.mark_invalid(A, "the loop at x.lua:1")
      raises("ARR", "x.lua:1", function() A:save(dir .. "/A.npy") end)
      assert.equal(3, file.load(dir .. "/A.npy"):sum())
      local names = io.popen("ls -A " .. dir):read("*a")
      assert.equal("A.npy\n", names)
    end)
  end)

  it("survives a full disk", function()
    with_directory(function(dir)
      array.ones(3):save(dir .. "/A.npy")
      put(dir .. "/fill.lua", [[
        local array, file = require("meissa.array"), require("meissa.file")
        local arrays = {}
        for k = 1, 40 do arrays[k] = array.ones(100000) end
        local ok, err = pcall(file.save, arg[1], arrays)
        os.exit(not ok and tostring(err):find("FIL") and 0 or 1)
      ]])
      -- A limit of 20 MB on files stands in for the disk. (It binds shared memory, too: hence many
      -- small arrays.)
      local status = os.execute(("trap '' XFSZ; ulimit -f 40000; exec luajit %s/fill.lua %s/A.npy")
        :format(dir, dir))
      assert.equal(0, status)
      assert.equal(3, file.load(dir .. "/A.npy"):sum())
      assert.equal("A.npy\nfill.lua\n", io.popen("ls -A " .. dir):read("*a"))
    end)
  end)
end)
