-- SPDX-License-Identifier: MIT
--
-- read.libsvm: examples against a parser in plain Lua, options, several files, and errors that name
-- file and line.

local array = require "meissa.array"
local read = require "meissa.read"
local expect = require "spec.support.expect"
local raises, with_directory, put = expect.raises, expect.with_directory, expect.put

local function reading(text, opts) return expect.reading(read.libsvm, text, opts) end

-- The same in plain Lua, for well-formed texts.
local function parse(text)
  local X, y = { i = {}, j = {}, v = {} }, {}
  for line in text:gmatch("[^\r\n]+") do
    line = line:gsub("#.*", "")
    local label = line:match("^%s*(%S+)")
    if label then
      y[#y + 1] = tonumber(label)
      for id, value in line:gmatch("(%d+):(%S+)") do
        X.i[#X.i + 1], X.j[#X.j + 1] = #y, tonumber(id)
        X.v[#X.v + 1] = tonumber(value)
      end
    end
  end
  return X, y
end

local function random_text()
  local lines = {}
  for k = 1, math.random(1, 30) do
    local parts, id = { ("%g"):format(math.random(-3, 3) / 2) }, 0
    for _ = 1, math.random(0, 8) do
      id = id + math.random(1, 9)
      parts[#parts + 1] = ("%d:%.17g"):format(id, math.random() * 10 ^ math.random(-30, 5))
    end
    lines[k] = table.concat(parts, (" "):rep(math.random(1, 2)))
    if math.random(9) == 1 then lines[k] = lines[k] .. " # note" end
    if math.random(9) == 1 then lines[k] = lines[k] .. "\n" end
  end
  return table.concat(lines, math.random(2) == 1 and "\r\n" or "\n")
end

describe("read.libsvm", function()
  it("reads labels and features", function()
    local X, y = reading("+1 1:0.5 3:2\n-1 2:1e-3\n0.5\n")
    assert.same({ i = { 1, 1, 2 }, j = { 1, 3, 2 }, v = { 0.5, 2, 1e-3 } }, X:totable())
    assert.same({ 3, 3 }, X:size())
    assert.same({ 1, -1, 0.5 }, y:totable())
    assert.equal("double", y:type())
  end)

  it("gives what a parser in plain Lua gives", function()
    local seed = require "spec.support.seed"
    print("read_libsvm seed " .. seed)
    math.randomseed(seed)
    for _ = 1, 200 do
      local text = random_text()
      local X, y = reading(text)
      local wanted, labels = parse(text)
      assert.same(wanted, X:totable())
      assert.same(labels, y:totable())
    end
  end)

  it("takes ids in any order, and leaves query ids out", function()
    local X = reading("1 qid:7 9:1 2:3\n")
    assert.same({ j = { 9, 2 }, i = { 1, 1 }, v = { 1, 3 } }, X:totable())
  end)

  it("has the number of features that it is told", function()
    assert.same({ 1, 7 }, (reading("1 2:1\n", { features = 7 })):size())
    local X = reading("1 5:1\n")
    assert.same({ 1, 5 }, (reading("1 2:1\n", { like = X })):size())
    assert.same({ 1, 9 }, (reading("1 2:1\n", { like = array.zeros(2, 9) })):size())
    raises("FIL", ":2: FIL: expected a feature id of at most 7, found 8",
      function() reading("1 7:1\n1 8:1\n", { features = 7 }) end)
    raises("FIL", "at most 5", function() reading("1 6:1\n", { like = X }) end)
  end)

  it("gives the element type asked for", function()
    assert.equal("float", (reading("1 2:0.5\n", { type = "float" })):type())
    assert.equal(3, (reading("1 2:3\n", { type = "int32" }))[1][2])
    raises("FIL", "number of type int32 as the value of feature 2, found '0.5'",
      function() reading("1 2:0.5\n", { type = "int32" }) end)
    raises("FIL", ":1: FIL: expected a finite number of type float as the value of feature 2",
      function() reading("1 2:1e39\n", { type = "float" }) end)
  end)

  it("reads directories, patterns and lists, gzipped or not, in the order of names", function()
    with_directory(function(dir)
      put(dir .. "/b.txt", "2 2:2\n")
      put(dir .. "/a.txt", "1 1:1\r\n")
      put(dir .. "/.hidden", "9 9:9\n")
      put(dir .. "/c.txt", "3 3:3")
      assert.equal(0, os.execute("gzip " .. dir .. "/c.txt && mkdir " .. dir .. "/deeper"))
      for _, what in ipairs { dir, dir .. "/*", { dir .. "/[ab].txt", dir .. "/c.txt.gz" } } do
        local X, y = read.libsvm(what)
        assert.same({ 1, 2, 3 }, y:totable())
        assert.same({ i = { 1, 2, 3 }, j = { 1, 2, 3 }, v = { 1, 2, 3 } }, X:totable())
      end
      local _, y = read.libsvm({ dir .. "/b.txt", dir .. "/a.txt" })
      assert.same({ 2, 1 }, y:totable())
      put(dir .. "/d.txt", "4 4:x\n")
      raises("FIL", "/d.txt:1: FIL: expected", function() read.libsvm(dir) end)
      raises("FIL", "no file matches", function() read.libsvm(dir .. "/*.csv") end)
      raises("FIL", "no files", function() read.libsvm(dir .. "/deeper") end)
    end)
  end)

  local malformed = {
    { "", "found none" }, { "\n# only a comment\n", "found none" },
    { "1 1:1\nx 1:1\n", ":2: FIL: expected a number as the label, found 'x'" },
    { "1,2 1:1\n", "as the label, found '1,2'" },
    { "1 1:1 2\n", ":1: FIL: expected id:value, found '2'" },
    { "1 a:1\n", "expected id:value, found 'a:1'" },
    { "1 0:1\n", "a feature id from 1 to 2147483647, found '0:1'" },
    { "1 99999999999:1\n", "expected id:value" }, { "1 2147483648:1\n", "from 1 to 2147483647" },
    { "1 -3:1\n", "expected id:value, found '-3:1'" },
    { "1 1:\n", "the value of feature 1, found ''" }, { "1 1: 5\n", "feature 1, found ''" },
    { "1 1:nan\n", "found 'nan'" }, { "1 1:1e999\n", "found '1e999'" },
    { "1 1:2:3\n", "found '2:3'" }, { "1 1:0x10\n", "found '0x10'" },
    { "nan 1:2\n", "found 'nan'" },
    { "1 1:1\n1 4:1 2:1 4:2\n", ":2: FIL: expected every feature id once in a line, found 4" },
    { "1 3:1 3:2\n", "found 3 twice" },
  }
  for k, case in ipairs(malformed) do
    it("names what is wrong in malformed text " .. k, function()
      raises("FIL", case[2], function() reading(case[1]) end)
    end)
  end

  it("names truncated and missing files", function()
    with_directory(function(dir)
      local lines = {}
      for k = 1, 5000 do lines[k] = ("1 %d:%.17g"):format(k, math.random()) end
      put(dir .. "/data", table.concat(lines, "\n"))
      assert.equal(0, os.execute(("gzip %s/data; head -c 9999 %s/data.gz > %s/cut.gz"):format(dir,
        dir, dir)))
      raises("FIL", ": FIL: the gzip file is truncated",
        function() read.libsvm(dir .. "/cut.gz") end)
    end)
    raises("FIL", "No such file", function() read.libsvm("/nowhere/at/all") end)
  end)

  local bad = {
    { "did you mean 'features'", { feature = 5 } }, { "features must be", { features = 0 } },
    { "features must be", { features = 1.5 } }, { "features must be", { features = "5" } },
    { "features or like", { features = 5, like = array.zeros(2, 2) } },
    { "2 dimensions", { like = array.zeros(2) } }, { "like must be", { like = 5 } },
    { "no element type", { type = "complex" } },
  }
  for k, case in ipairs(bad) do
    it("refuses bad options, case " .. k, function()
      raises("OPT", case[1], function() reading("1 1:1\n", case[2]) end)
    end)
  end
  it("refuses paths that are none", function()
    raises("OPT", "path", function() read.libsvm(nil) end)
    raises("OPT", "path", function() read.libsvm("") end)
    raises("OPT", "path", function() read.libsvm({ "a", 5 }) end)
    raises("OPT", "empty", function() read.libsvm({}) end)
  end)
end)
