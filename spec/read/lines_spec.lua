-- SPDX-License-Identifier: MIT
--
-- read.lines: what a function makes of every line, on workers and in this process.

local meissa = require "meissa"
local lines = require "meissa.read.lines"
local expect = require "spec.support.expect"
local raises, with_directory, put = expect.raises, expect.with_directory, expect.put

-- Reads a text with small ranges, so that a few lines make several blocks.
local function reading(text, fn, opts)
  local result
  with_directory(function(dir)
    put(dir .. "/data", text)
    result = meissa.read.lines(dir .. "/data", fn, opts)
  end)
  return result
end

describe("read.lines", function()
  local range = lines.RANGE_BYTES
  setup(function()
    meissa.init { workers = 2 }
    lines.RANGE_BYTES = 40
  end)
  teardown(function()
    lines.RANGE_BYTES = range
    meissa.init {}
  end)

  it("gives a vector of doubles for numbers", function()
    local L = reading("a\nbbb\n\ncc", function(line) return #line end)
    assert.equal("double", L:type())
    assert.same({ 1, 3, 0, 2 }, L:totable())
    assert.equal("int32", (reading("a\n", function() return 5 end, { type = "int32" })):type())
  end)

  it("gives objects for anything else", function()
    local L = reading("a b\r\nc\r\n", function(line)
      local words = {}
      for word in line:gmatch("%a") do words[#words + 1] = word end
      return words
    end)
    assert.equal("object", L:type())
    assert.same({ { "a", "b" }, { "c" } }, L:totable())
    assert.same({ 1, "x" }, (reading("1\nx\n", function(l) return tonumber(l) or l end)):totable())
    local O = reading("7\n", function(l) return tonumber(l) end, { type = "object" })
    assert.same({ 7 }, O:totable())
    assert.same({ false }, (reading("7\n", function() return false end)):totable())
  end)

  it("gives entries for subscripts and a value", function()
    local function parse(line)
      local i, j, v = line:match("^(%d+) (%d+) (%S+)$")
      if i then return tonumber(i), tonumber(j), tonumber(v) end
    end
    local S = reading("# x\n2 3 1.5\n1 1 -2\n", parse)
    assert.same({ 2, 3 }, S:size())
    assert.same({ i = { 2, 1 }, j = { 3, 1 }, v = { 1.5, -2 } }, S:totable())
    assert.same({ 9, 9 }, (reading("2 3 4\n", parse, { dims = { 9, 9 } })):size())
    assert.same({ 9, 9 }, (reading("", parse, { dims = { 9, 9 } })):size())
    raises("ARR", "subscript 3 of dimension 2", function()
      reading("2 3 4\n", parse, { dims = { 9, 2 } })
    end)
    local T = reading("1 2 3\n", function() return 4, 3, 2, 1, 0.5 end)
    assert.same({ 4, 3, 2, 1 }, T:size())
    assert.equal(0.5, T[{ 4, 3, 2, 1 }])
  end)

  it("flattens lists", function()
    local function words(line)
      local list = {}
      for word in line:gmatch("%a+") do list[#list + 1] = word end
      return list
    end
    assert.same({ "a", "b", "c" }, (reading("a b\n1\nc\n", words, { flatten = true })):totable())
    local S = reading("1:5 2:6\n3:7\n", function(line, _, number)
      local list = {}
      for id, value in line:gmatch("(%d+):(%d+)") do
        list[#list + 1] = { number, tonumber(id), tonumber(value) }
      end
      return list
    end, { flatten = true, dims = 2 })
    assert.same({ i = { 1, 1, 2 }, j = { 1, 2, 3 }, v = { 5, 6, 7 } }, S:totable())
    raises("BDY", ":1: BDY: lines: flatten = true expects a list, not a number",
      function() reading("1\n", function() return 5 end, { flatten = true }) end)
    raises("BDY", "a number where {subscripts..., value} was expected", function()
      reading("1\n", function() return { 5 } end, { flatten = true, dims = 1 })
    end)
  end)

  it("passes file and line number, in the order of files and lines", function()
    with_directory(function(dir)
      local text = {}
      for k = 1, 100 do text[k] = "line " .. k end
      put(dir .. "/b", table.concat(text, "\n") .. "\n")
      put(dir .. "/a", "x\ny\n")
      put(dir .. "/c", "z")
      assert.equal(0, os.execute("gzip " .. dir .. "/c"))
      local L = meissa.read.lines(dir, function(line, file, number)
        return file:match("[^/]+$") .. ":" .. number .. ":" .. line
      end)
      local wanted = { "a:1:x", "a:2:y" }
      for k = 1, 100 do wanted[k + 2] = ("b:%d:line %d"):format(k, k) end
      wanted[103] = "c.gz:1:z"
      assert.same(wanted, L:totable())
    end)
  end)

  it("gives the same on workers, in this process, and in plain Lua", function()
    local seed = require "spec.support.seed"
    print("read_lines seed " .. seed)
    math.randomseed(seed)
    for _ = 1, 10 do
      local text, wanted = {}, {}
      for k = 1, math.random(200) do
        text[k] = ("x"):rep(math.random(0, 60))
        if #text[k] % 3 > 0 then wanted[#wanted + 1] = #text[k] * k end
      end
      local function fn(line, _, number)
        if #line % 3 > 0 then return #line * number end
      end
      local body = table.concat(text, math.random(2) == 1 and "\n" or "\r\n")
      assert.same(wanted, (reading(body, fn)):totable())
      assert.same(wanted, (reading(body, fn, { serial = true })):totable())
    end
  end)

  it("runs on the workers, or here if the function changes what is outside", function()
    local text = ("line\n"):rep(100)
    local pids = {}
    reading(text, function() return require "meissa.base.spread" and 1 end)
    assert.equal("independent", meissa.last().strategy)
    local count = 0
    local L = reading(text, function()
      count = count + 1
      return count
    end)
    assert.equal(100, count)
    assert.equal(100, L[100])
    local M = reading(text, function(line) pids[#pids + 1] = line return 1 end)
    assert.equal(100, #pids)
    assert.equal(100, M:sum())
    local A = meissa.ones(3)
    assert.equal(300, (reading(text, function() return A:sum() end)):sum())
  end)

  local bad = {
    { "2 values where 1 were expected",
      function(_, _, n) if n == 3 then return 1, 2 end return 1 end },
    { "subscript 1 is 0, not a whole number", function(_, _, n) return n % 3, 1 end },
    { "subscript 2 is x", function(_, _, n) return n, n == 3 and "x" or 1, 1 end },
    { "the last value is nil", function(_, _, n) if n == 3 then return 1, nil end return 1, 1 end },
    { "kaputt", function(_, _, n) if n == 3 then error("kaputt") end end },
    { "kaputt", function(_, _, n) if n == 3 then error("kaputt", 0) end end },
    { "arithmetic", function(_, _, n) local t = n == 3 and {} or 1 return t + 1 end },
  }
  for k, case in ipairs(bad) do
    it("places what the function does wrong, case " .. k, function()
      for _, serial in ipairs { true, false } do
        local err = raises("BDY", case[1], function()
          reading(("a\n"):rep(3), case[2], { serial = serial })
        end)
        assert.equal(3, err.line)
        assert.truthy(err.file:find("/data$"))
      end
    end)
  end

  it("names what files have wrong", function()
    raises("FIL", ":2: FIL: byte 1 of the line is NUL",
      function() reading("a\n\0\n", function() return 1 end) end)
    raises("FIL", "No such file", function() meissa.read.lines("/nowhere/at/all", print) end)
    raises("ARR", "numbers for an array of type int32",
      function() reading("a\n", function(l) return l end, { type = "int32" }) end)
    raises("ARR", "the values of a sparse array are numbers",
      function() reading("a\n", function(l) return 1, l end) end)
    raises("ARR", "cannot store 0.5",
      function() reading("a\n", function() return 0.5 end, { type = "int32" }) end)
  end)

  it("refuses bad arguments", function()
    raises("OPT", "a function of a line", function() meissa.read.lines("x") end)
    raises("OPT", "did you mean 'flatten'",
      function() meissa.read.lines("x", print, { flaten = true }) end)
    raises("OPT", "dims must be", function() meissa.read.lines("x", print, { dims = 9 }) end)
    raises("OPT", "dims must be", function() meissa.read.lines("x", print, { dims = { -1 } }) end)
    raises("OPT", "flatten must be", function() meissa.read.lines("x", print, { flatten = 1 }) end)
    raises("OPT", "no element type", function() meissa.read.lines("x", print, { type = "x" }) end)
    raises("OPT", "type object",
      function() meissa.read.lines("x", print, { type = "object", dims = 2 }) end)
    raises("OPT", "path", function() meissa.read.lines(5, print) end)
  end)
end)
