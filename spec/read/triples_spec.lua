-- SPDX-License-Identifier: MIT
--
-- read.triples: options, ids, and errors that name file and line. (The formats themselves are
-- tested in csrc/read/triples_test.c.)

local array = require "meissa.array"
local read = require "meissa.read"
local expect = require "spec.support.expect"
local raises, with_directory, put = expect.raises, expect.with_directory, expect.put

local function reading(text, opts)
  local result
  with_directory(function(dir)
    put(dir .. "/data", text)
    result = read.triples(dir .. "/data", opts)
  end)
  return result
end

describe("read.triples", function()
  it("remaps integer ids in ascending order", function()
    local R = reading("userId,movieId,rating,timestamp\n20,7,4.5,1\n3,7,2,1\n20,1000,1,1\n",
      { skip = 1 })
    assert.same({ i = { 2, 1, 2 }, j = { 1, 1, 2 }, v = { 4.5, 2, 1 } }, R:totable())
    assert.equal(3, R:label(1, 1))
    assert.equal(1000, R:label(2, 2))
    assert.equal(2, R:index(1, 20))
    assert.is_nil(R:index(1, 4))
    assert.is_nil(R:index(1, "20"))
    raises("ARR", "outside 1..2", function() R:label(1, 3) end)
    raises("ARR", "1..2", function() R:label(3, 1) end)
  end)

  it("remaps other ids in the order of appearance", function()
    local R = reading("b|x\na|x\n007|y\n7|x\n", { sep = "|" })
    assert.same({ i = { 1, 2, 3, 4 }, j = { 1, 1, 2, 1 }, v = { 1, 1, 1, 1 } }, R:totable())
    assert.equal("b", R:label(1, 1))
    assert.equal("7", R:label(1, 4))
    assert.equal(3, R:index(1, "007"))
    assert.is_nil(R:index(1, 7))
  end)

  it("turns numbers seen so far into strings when it meets another id", function()
    local lines = {}
    for k = 1, 3000 do lines[k] = ("%d %d 1"):format(k * 3, k) end
    lines[3001] = "x 1 1"
    lines[3002] = "300 1 1"
    local R = reading(table.concat(lines, "\n"))
    assert.equal(3001, R:size(1))
    assert.equal("300", R:label(1, 100))
    assert.equal("x", R:label(1, 3001))
    assert.equal(100, select(1, R:totable().i[3002]))
  end)

  it("uses one map for both dimensions, or that of another array", function()
    local G = reading("30 1412\n1412 5\n", { square = true })
    assert.same({ 3, 3 }, G:size())
    assert.equal(3, G:index(1, 1412))
    assert.equal(3, G:index(2, 1412))
    local H = reading("5 30\n", { like = G })
    assert.same({ 3, 3 }, H:size())
    assert.equal(1, H[1][2])
    raises("FIL", ":2: FIL: the id '99'", function() reading("5 30\n5 99\n", { like = G }) end)
    local plain = reading("2 3 9\n", { like = array.zeros(4, 4) })
    assert.equal(9, plain[2][3])
    raises("FIL", "'5'", function() reading("2 5 9\n", { like = array.zeros(4, 4) }) end)
    raises("ARR", "2 dimensions", function() reading("1 1\n", { like = array.zeros(4) }) end)
  end)

  it("deals with duplicates as told", function()
    local text = "1,1,3\n2,2,5\n1,1,4\n"
    assert.equal(3, reading(text):nnz())
    assert.equal(7, reading(text, { duplicates = "sum" })[1][1])
    assert.equal(4, reading(text, { duplicates = "last" })[1][1])
    raises("FIL", ":3: FIL: the same two ids as in line 1",
      function() reading(text, { duplicates = "error" }) end)
  end)

  it("reads several files as if they were one", function()
    with_directory(function(dir)
      put(dir .. "/1", "from,to,n\n7,3,1\n")
      put(dir .. "/2", "from,to,n\n3,9,2\n7,9,3\n")
      assert.equal(0, os.execute("gzip " .. dir .. "/2"))
      for _, what in ipairs { dir, dir .. "/*", { dir .. "/1", dir .. "/2.gz" } } do
        local R = read.triples(what, { skip = 1 })
        assert.same({ i = { 2, 1, 2 }, j = { 1, 2, 2 }, v = { 1, 2, 3 } }, R:totable())
      end
      put(dir .. "/3", "from,to,n\n3,9,x\n")
      raises("FIL", "/3:2: FIL: expected a finite number", function()
        read.triples(dir, { skip = 1 })
      end)
      put(dir .. "/3", "from,to,n\n7,3,4\n")
      assert.equal(5, read.triples(dir, { skip = 1, duplicates = "sum" })[2][1])
      raises("FIL", "/3:2: FIL: the same two ids as in line 2 of " .. dir .. "/1", function()
        read.triples(dir, { skip = 1, duplicates = "error" })
      end)
    end)
  end)

  it("gives the element type asked for", function()
    assert.equal("float", reading("1,1,2.5\n", { type = "float" }):type())
    assert.equal(7, reading("1,1,7\n", { type = "int32" })[1][1])
    raises("FIL", ":1: FIL: expected a value of type int32",
      function() reading("1,1,2.5\n", { type = "int32" }) end)
    assert.equal(2 ^ 128 - 2 ^ 104, reading("1,1,3.4028235e38\n", { type = "float" })[1][1])
    assert.equal(1e39, reading("1,1,1e39\n")[1][1])
    raises("FIL", ":2: FIL: expected a value of type float in field 3, found '-1e39'",
      function() reading("1,1,2.5\n1,2,-1e39\n", { type = "float" }) end)
    raises("FIL", ":1: FIL: expected a finite number in field 3, found '1e400'",
      function() reading("1,1,1e400\n", { type = "float" }) end)
  end)

  it("names file, line and what was expected", function()
    local err = raises("FIL", "expected 3 fields separated by ',', found 2",
      function() reading("1,2,3\n4,5\n") end)
    assert.equal(2, err.line)
    assert.truthy(err.file:find("/data$"))
    raises("FIL", "skip = 1", function() reading("user,item,rating\n1,2,3\n") end)
    raises("FIL", "No such file", function() read.triples("/nowhere/at/all") end)
    raises("FIL", "no file matches", function() read.triples("/nowhere/*") end)
    raises("FIL", "empty", function() reading("") end)
  end)

  it("asks whether a first line of two columns is a header", function()
    for column, text in ipairs { "user,tag\n1,red\n2,blue\n", "tag,user\nred,1\nblue,2\n" } do
      raises("FIL", (":1: FIL: the only id of column %d that is no integer"):format(column),
        function() reading(text) end)
      raises("FIL", "then use skip = 1, else skip = 0", function() reading(text) end)
      assert.equal(2, reading(text, { skip = 1 }):nnz())
      local R = reading(text, { skip = 0 })
      assert.equal(3, R:nnz())
      assert.equal(1, R:index(1, column == 1 and "user" or "tag"))
      assert.equal(3, R:size(column))
      raises("FIL", "skip = 1", function() reading(text, { square = true }) end)
    end
    -- The pieces of a large file, and those of several, agree.
    local lines = { "user,tag" }
    for k = 1, 200000 do lines[k + 1] = k .. ",t" .. k % 7 end
    raises("FIL", "column 1", function() reading(table.concat(lines, "\n")) end)
    lines[150000] = "x,t1"
    assert.equal(200001, reading(table.concat(lines, "\n")):nnz())
    with_directory(function(dir)
      put(dir .. "/1", "user,tag\n1,red\n")
      put(dir .. "/2", "user,tag\n2,red\n")
      raises("FIL", "/1:1: FIL: the only id of column 1", function() read.triples(dir) end)
    end)
  end)

  it("takes names for ids where a header is none", function()
    for _, text in ipairs { "ann,bob\ncid,dan\n", "ann,1\n2,3\n", "ann,bob\n", "1,bob\n2,3\n",
      "ann,bob,1\n1,2,3\n", "ann,bob\n1,x\ny,2\n" } do
      assert.is_true(reading(text):nnz() > 0)
    end
  end)

  it("takes comments off, with any prefix or none", function()
    assert.equal(1, reading("# x\n1 2\n"):nnz())
    assert.equal(1, reading("%% x\n1 2\n", { comment = "%%" }):nnz())
    assert.equal(2, reading("#1,a\n2,b\n", { comment = false, skip = 0 }):nnz())
  end)

  local bad = {
    { "did you mean 'skip'", { skp = 1 } },
    { "did you mean 'sep'", { seperator = "," } }, { "did you mean 'dup", { dup = "sum" } },
    { "skip must be", { skip = -1 } },
    { "skip must be", { skip = 1.5 } }, { "duplicates must be", { duplicates = "first" } },
    { "like must be", { like = 5 } }, { "sep must be", { sep = "" } },
    { "comment must be", { comment = 5 } }, { "did you mean 'double'", { type = "duble" } },
    { "options must be a table", "," },
  }
  for k, case in ipairs(bad) do
    it("refuses bad options, case " .. k, function()
      raises("OPT", case[1], function() reading("1,2,3\n", case[2]) end)
    end)
  end
  it("refuses a path that is none", function()
    raises("OPT", "path", function() read.triples(nil) end)
  end)
end)
