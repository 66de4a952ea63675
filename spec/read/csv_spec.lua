-- SPDX-License-Identifier: MIT
--
-- read.csv: tables against a parser in plain Lua, headers, missing values, and errors that name
-- file and line.

local read = require "meissa.read"
local expect = require "spec.support.expect"
local raises, with_directory, put = expect.raises, expect.with_directory, expect.put

local function reading(text, opts) return expect.reading(read.csv, text, opts) end

describe("read.csv", function()
  it("reads numbers in rows and columns, with any separator", function()
    for _, sep in ipairs { ",", "\t", ";", " ", "::" } do
      local text = ("1|2.5\n-3|4e2\n"):gsub("|", sep)
      local A, names = reading(text)
      assert.same({ { 1, 2.5 }, { -3, 400 } }, A:totable())
      assert.is_nil(names)
    end
    assert.same({ { 1, 2 } }, (reading("1|2\n", { sep = "|" })):totable())
    assert.same({ { 1, 2 }, { 3, 4 } }, (reading("  1   2 \r\n\r\n# no\r\n3\t4")):totable())
    assert.same({ { 5 }, { 6 } }, (reading("5\n6\n")):totable())
  end)

  it("finds a header, whose names are labels", function()
    local A, names = reading('"size","price, in ""EUR""",rooms\n1,2,3\n4,"5",6\n')
    assert.same({ "size", 'price, in "EUR"', "rooms" }, names)
    assert.same({ { 1, 2, 3 }, { 4, 5, 6 } }, A:totable())
    assert.equal(2, A:index(2, 'price, in "EUR"'))
    assert.equal("rooms", A:label(2, 3))
    local B, others = reading("1,2\n3,4\n", { header = true })
    assert.same({ "1", "2" }, others)
    assert.same({ { 3, 4 } }, B:totable())
    raises("FIL", ":1: FIL: expected a finite number in field 1, found 'a'; if this is a header",
      function() reading("a,b\n1,2\n", { header = false }) end)
    local C, same = reading("x,x\n1,2\n")
    assert.same({ "x", "x" }, same)
    assert.equal(2, C:label(2, 2))
    assert.same({ "a" }, select(2, reading("# c\nskipped\na\n1\n", { skip = 2 })))
  end)

  it("reads the columns that are asked for", function()
    local A, names = reading("id,name,age\n1,Ann,50\n2,Bob,40\n", { columns = { "age", "id" } })
    assert.same({ "age", "id" }, names)
    assert.same({ { 50, 1 }, { 40, 2 } }, A:totable())
    assert.same({ { 3 }, { 6 } }, (reading("1,2,3\n4,5,6\n", { columns = { 3 } })):totable())
    local long, twice = reading("name,n\n1,2\n", { columns = { "name", 1, "name" } })
    assert.same({ "name", "name", "name" }, twice)
    assert.same({ { 1, 1, 1 } }, long:totable())
    raises("OPT", "no column 'ages' in the header",
      function() reading("id,age\n1,2\n", { columns = { "ages" } }) end)
    raises("OPT", "no column 4: the table has 2",
      function() reading("id,age\n1,2\n", { columns = { 4 } }) end)
    raises("OPT", "the table has no header", function() reading("1,2\n", { columns = { "a" } }) end)
  end)

  it("refuses missing values or replaces them", function()
    for _, mark in ipairs { "", "NA", "n/a", "NaN", "null", "?", '""' } do
      local text = "1,2\n3," .. mark .. "\n"
      raises("FIL", ":2: FIL: expected a finite number in field 2", function() reading(text) end)
      raises("FIL", 'missing = "nan"', function() reading(text, { missing = "error" }) end)
      local A = reading(text, { missing = "nan" })
      assert.is_true(A[2][2] ~= A[2][2])
      assert.equal(-1, (reading(text, { missing = -1 }))[2][2])
      assert.equal(0, (reading(text, { missing = 0, type = "int32" }))[2][2])
    end
    raises("FIL", "found 'x'", function() reading("1,2\n3,x\n", { missing = "nan" }) end)
    raises("FIL", "found 'inf'", function() reading("1,2\n3,inf\n", { missing = "nan" }) end)
    raises("OPT", "int32 have no nan",
      function() reading("1,2\n", { missing = "nan", type = "int32" }) end)
  end)

  it("reads several files with one header", function()
    with_directory(function(dir)
      put(dir .. "/1.csv", "a,b\n1,2\n")
      put(dir .. "/2.csv", "a,b\r\n3,4\n5,6")
      assert.equal(0, os.execute("gzip " .. dir .. "/2.csv"))
      local A, names = read.csv(dir)
      assert.same({ { 1, 2 }, { 3, 4 }, { 5, 6 } }, A:totable())
      assert.same({ "a", "b" }, names)
      put(dir .. "/3.csv", "a,c\n7,8\n")
      raises("FIL", "3.csv:1: FIL: expected a finite number in field 1, found 'a'",
        function() read.csv(dir .. "/*.csv*") end)
    end)
  end)

  it("gives what a parser in plain Lua gives", function()
    local seed = require "spec.support.seed"
    print("read_csv seed " .. seed)
    math.randomseed(seed)
    for _ = 1, 100 do
      local rows, columns, wanted, lines = math.random(20), math.random(12), {}, {}
      for i = 1, rows do
        local fields = {}
        wanted[i] = {}
        for j = 1, columns do
          wanted[i][j] = (math.random() - 0.5) * 10 ^ math.random(-300, 300)
          local text = ("%.17g"):format(wanted[i][j])
          fields[j] = math.random(5) == 1 and '"' .. text .. '"' or text
        end
        lines[i] = table.concat(fields, ", ")
      end
      assert.same(wanted, (reading(table.concat(lines, "\n"), { sep = "," })):totable())
    end
  end)

  local malformed = {
    { "", "expected rows of numbers, found none" }, { "a,b\n", "found none" },
    { "1,2\n3\n", ":2: FIL: expected 2 fields separated by ',', found 1" },
    { "1,2\n3,4,5\n", ":2: FIL: expected 2 fields separated by ',', found 3 or more" },
    { "1 2\n3 4 5\n", "separated by blanks" },
    { "1,2\n3,4\nx,5\n", ":3: FIL: expected a finite number in field 1, found 'x'" },
    { "1,a\n2,3\n", ":1: FIL: expected numbers or a header, found both: field 2 is 'a'" },
    { "a,b\n1,2\n1,1e999\n", ":3: FIL: expected a finite number in field 2" },
    { "1,\"2\n3\",4\n", "found both", }, { "1.5\n", "number of type int32", { type = "int32" } },
    { "3.5e38\n", "expected a finite number of type float in field 1, found '3.5e38'",
      { type = "float" } },
  }
  for k, case in ipairs(malformed) do
    it("names what is wrong in malformed text " .. k, function()
      raises("FIL", case[2], function() reading(case[1], case[3]) end)
    end)
  end

  local bad = {
    { "did you mean 'columns'", { column = { 1 } } }, { "header must be", { header = "yes" } },
    { "skip must be", { skip = -1 } }, { "missing must be", { missing = "zero" } },
    { "columns must be a list", { columns = "a" } }, { "columns must be a list", { columns = {} } },
    { "columns must be names", { columns = { 0 } } }, { "columns must be", { columns = { {} } } },
    { "sep must be", { sep = "" } }, { "comment must be", { comment = 1 } },
    { "no element type", { type = "text" } },
  }
  for k, case in ipairs(bad) do
    it("refuses bad options, case " .. k, function()
      raises("OPT", case[1], function() reading("1,2\n", case[2]) end)
    end)
  end
end)
