-- SPDX-License-Identifier: MIT
-- The three faces of a parallel loop: the generic for, each, run; what they capture, where their
-- text comes from, and what is refused.
local child = require "spec.support.child"
local meissa = require "meissa"
local parallel = meissa.parallel

local function filled(n)
  local A = meissa.zeros(n)
  for i = 1, n do A[i] = i end
  return A
end

local function message_of(fn, ...)
  local ok, err = pcall(fn, ...)
  assert.is_false(ok)
  return tostring(err), err
end

describe("the generic for", function()
  setup(function() meissa.init {workers = 2} end)
  teardown(function() meissa.init {} end)

  it("reads captured locals and writes reductions back", function()
    local A, factor, sum, count = filled(100), 3, 10, 0
    for i in parallel(100) do
      sum = sum + factor * A[i]
      count = count + 1
    end
    assert.equal(10 + 3 * 5050, sum)
    assert.equal(100, count)
  end)

  it("reads and writes upvalues", function()
    local A, sum = filled(10), 0
    local function add()
      for i in parallel(10) do sum = sum + A[i] end
    end
    add()
    add()
    assert.equal(110, sum)
  end)

  it("reads and writes globals of the function's environment", function()
    local env = setmetatable({parallel = parallel, A = filled(10), total = 1}, {__index = _G})
    local text = "for i in parallel(10) do total = total + A[i] end"
    setfenv(assert(loadstring(text)), env)()
    assert.equal(56, env.total)
  end)

  it("writes arrays", function()
    local A, B = filled(50), meissa.zeros(50)
    for i in parallel(50) do B[i] = 2 * A[i] end
    for i = 1, 50 do assert.equal(2 * i, B[i]) end
  end)

  it("works in methods, on fields", function()
    local Model = {}
    Model.__index = Model
    function Model:step()
      self.loss = 0
      for i in parallel(20) do
        self.W[i] = self.W[i] + self.rate
        self.loss = self.loss + self.W[i]
      end
    end
    local model = setmetatable({W = filled(20), rate = 1}, Model)
    model:step()
    assert.equal(230, model.loss)
    assert.equal(21, model.W[20])
  end)

  it("works in coroutines", function()
    local A = filled(10)
    local co = coroutine.wrap(function()
      for _ = 1, 3 do
        local sum = 0
        for i in parallel(10) do sum = sum + A[i] end
        coroutine.yield(sum)
      end
    end)
    assert.equal(55, co())
    assert.equal(55, co())
  end)

  it("works in nested driver loops and repeat until a reduction", function()
    local A, rounds, sum = filled(10), 0, nil
    repeat
      for _ = 1, 2 do
        sum = 0
        for i in parallel(10) do
          A[i] = A[i] + 1
          sum = sum + A[i]
        end
      end
      rounds = rounds + 1
    until sum >= 95
    assert.equal(2, rounds)
  end)

  it("understands goto continue", function()
    local sum = 0
    for i in parallel(10) do
      if i % 2 == 0 then goto continue end
      sum = sum + i
      ::continue::
    end
    assert.equal(25, sum)
  end)

  it("takes ranges with first, last and step, and empty ones", function()
    local sum, pairs_seen = 0, 0
    for i in parallel({2, 10, 4}) do sum = sum + i end
    assert.equal(2 + 6 + 10, sum)
    for i, j in parallel(3, {5, 7}) do pairs_seen = pairs_seen + i * j end
    assert.equal(6 * 18, pairs_seen)
    for _ in parallel(0) do sum = sum + 1000 end
    assert.equal(18, sum)
    assert.equal(0, meissa.last().workers)
  end)

  it("reads and writes sparse arrays by subscript", function()
    local S = meissa.sparse({3, 4}, {i = {1, 2, 3, 3}, j = {1, 2, 3, 4}, v = {1, 2, 3, 4}})
    local D, r = meissa.zeros(3, 4), meissa.zeros(3)
    for i, j, v in parallel(S) do S[i][j] = 10 * v end
    for i, j in parallel(3, 4) do D[i][j] = S[i][j] end
    assert.same({{10, 0, 0, 0}, {0, 20, 0, 0}, {0, 0, 30, 40}}, D:totable())
    for i in parallel(3) do
      local sum = 0
      for j, v in S[i]:nonzeros() do sum = sum + j * v end
      r[i] = sum
    end
    assert.same({10, 40, 250}, r:totable())
    local sum = 0
    for _, _, v in parallel(S) do sum = sum + v end
    assert.equal(100, sum)
    local _, err = message_of(function()
      for i in parallel(3) do S[i][4] = 5 end
    end)
    assert.equal("ARR", err.code)
    for i in parallel(3) do r[i] = S[i][4] end -- the loop above was undone
    assert.same({0, 0, 40}, r:totable())
  end)

  it("visits the keys of a table in the same order on every worker", function()
    local t, A = {}, meissa.zeros(8)
    for k = 1, 40 do t["key" .. k * k] = 1 / k end
    for i in parallel(8) do
      local sum = 0
      for _, v in pairs(t) do sum = sum * 1.1 + v end
      A[i] = sum
    end
    for i = 2, 8 do assert.equal(A[1], A[i]) end
  end)

  it("has shadowed names right", function()
    local x = 1
    local sum = 0
    do
      local x = 100 -- luacheck: ignore
      for i in parallel(5) do sum = sum + x * i end
    end
    assert.equal(1500, sum)
    assert.equal(1, x)
  end)

  it("gives the same with the compiler off", function()
    local A, off, on = filled(100), 0, 0
    jit.off()
    for i in parallel(100) do off = off + A[i] / 3 end
    jit.on()
    for i in parallel(100) do on = on + A[i] / 3 end
    assert.equal(off, on)
  end)

  it("calls captured helper functions", function()
    local function sigmoid(x) return 1 / (1 + math.exp(-x)) end
    local sum, expected = 0, 0
    for i in parallel(1) do sum = sum + sigmoid(i) end
    for i = 1, 1 do expected = expected + sigmoid(i) end
    assert.equal(expected, sum)
  end)
end)

describe("serial = true", function()
  it("runs a refused loop as written, whatever its body does", function()
    local A, last, t = filled(10), 0, {}
    for i in parallel({2, 10}, {serial = true}) do A[i] = A[i - 1] * 2 end
    assert.equal(512, A[10])
    for i in parallel(10, {serial = true}) do
      if i == 5 then break end
      t[i], last = last, i
    end
    assert.same({0, 1, 2, 3}, t)
    local function early()
      for i in parallel(10, {serial = true}) do
        if i == 3 then return "early", i end
      end
    end
    assert.same({"early", 3}, {early()})
    assert.equal("serial", meissa.last().strategy)
    assert.equal(0, meissa.last().workers)
  end)

  it("forms sums as written where reduce = \"serial\" asks for it", function()
    local sum = 0
    local text, err = message_of(function()
      for i in parallel(10, {reduce = "serial"}) do sum = sum + 1 / i end
    end)
    assert.equal("DEP", err.code, text)
    for i in parallel(10, {reduce = "serial", serial = true}) do sum = sum + 1 / i end
    local expected = 0
    for i = 1, 10 do expected = expected + 1 / i end
    assert.equal(expected, sum)
  end)

  it("holds for loops that could run in parallel as well", function()
    local sum, plain = 0, 0
    for i in parallel(1000, {serial = true}) do sum = sum + 1 / i end
    for i = 1, 1000 do plain = plain + 1 / i end
    assert.equal(plain, sum)
    assert.truthy(tostring(meissa.last()):find("runs serially", 1, true))
  end)

  it("is refused for reductions that do not start from a number", function()
    local sum
    local text, err = message_of(function()
      for i in parallel(3) do sum = sum + i end
    end)
    assert.equal("BDY", err.code)
    assert.truthy(text:find("'sum' is nil before the loop", 1, true), text)
  end)
end)

describe("in this process", function()
  setup(function() meissa.init {workers = 0} end)
  teardown(function() meissa.init {} end)

  it("keeps the forms, reductions and refusals", function()
    local A, sum, product = filled(20), 5, 1
    for i in parallel(20, {ordered = false}) do
      sum = sum + A[i]
      product = product * (1 + 0 * i)
    end
    assert.equal(215, sum)
    assert.equal(1, product)
    meissa.each(A, function(_, v) sum = sum + v end)
    assert.equal(425, sum)
    for i in parallel(3) do
      for j in parallel(2) do sum = sum + i * j end
    end
    assert.equal(443, sum)
    local _, err = message_of(function()
      for i in parallel({2, 20}) do A[i] = A[i - 1] end
    end)
    assert.equal("DEP", err.code)
  end)

  it("tells that no workers ran", function()
    local A = filled(20)
    for _, options in ipairs {{}, {ordered = false}, {ordered = false, engine = "native"}} do
      for i in parallel(20, options) do A[i] = i end
      assert.equal(0, meissa.last().workers)
    end
    for _, i in meissa.iterate(A, 3, {2, 19}) do A[i] = A[i - 1] + A[i + 1] end
    assert.equal(0, meissa.last().workers)
  end)

  it("recovers from an error in the body", function()
    assert.is_false((pcall(function()
      for i in parallel(5, {ordered = false}) do if i > 0 then error("stop") end end
    end)))
    local sum = 0
    for i in parallel(5, {ordered = false}) do sum = sum + i end
    assert.equal(15, sum)
  end)
end)

describe("each and run", function()
  it("runs a closure", function()
    local A, sum = filled(30), 0
    meissa.each(30, function(i) sum = sum + A[i] end)
    assert.equal(465, sum)
    meissa.each(A, {ordered = false}, function(_, v) sum = sum + v end)
    assert.equal(930, sum)
  end)

  it("runs a text with the caller's environment and arguments", function()
    local A = filled(30)
    meissa.run([[
      local A, k = ...
      for i in parallel(30) do A[i] = A[i] * k end
    ]], A, 2)
    assert.equal(60, A[30])
    local env = setmetatable({}, {__index = _G})
    local caller = setfenv(function()
      total = 0 -- luacheck: ignore
      meissa.run "for i in parallel(4) do total = total + i end"
    end, env)
    caller()
    assert.equal(10, env.total)
  end)
end)

describe("where the text comes from", function()
  it("a chunk string", function()
    local f = assert(loadstring([[
      local parallel, A = ...
      local s = 0
      for i in parallel(10) do s = s + A[i] end
      return s]]))
    assert.equal(55, f(parallel, filled(10)))
  end)

  it("the command line", function()
    local output = child.shell([[luajit -e 'local m = require "meissa" local s = 0 ]] ..
      [[for i in m.parallel(10) do s = s + i end print(s)']])
    assert.equal("55\n", output)
  end)

  it("a file, found from another directory, with a shebang line", function()
    local output = child.script([[#!/usr/bin/env luajit
      local meissa = require "meissa"
      local ffi = require "ffi"
      ffi.cdef "int chdir(const char *);"
      ffi.C.chdir "/"
      local s = 0
      for i in meissa.parallel(10) do s = s + i end
      print(s)]])
    assert.equal("55\n", output)
  end)

  it("refuses a file that was edited since it was loaded", function()
    local output = child.script([[
      local meissa = require "meissa"
      local s = 0
      local text = io.open("script.lua"):read("*a"):gsub("s = s %+ i", "s = s - i")
      io.open("script.lua", "w"):write(text)
      local function again() for i in meissa.parallel(11) do s = s + i end end
      print(pcall(again))]])
    assert.truthy(output:find("SRC", 1, true), output)
    assert.truthy(output:find("edited since", 1, true), output)
  end)

  it("refuses a prompt line, a stripped and a named chunk, and says what works", function()
    local output = child.shell([[echo 'meissa = require "meissa" for i in ]] ..
      [[meissa.parallel(3) do x = i end' | luajit -]])
    assert.truthy(output:find("meissa.run", 1, true), output)
    assert.truthy(output:find("a program that comes through a pipe is not kept", 1, true), output)
    assert.truthy(output:find("(each, iterate and plan may stand in", 1, true), output)
    local text = "local p = ... for i in p(3) do local x = i end"
    local named = assert(loadstring(text, "=(load)"))
    assert.truthy(message_of(named, parallel):find("meissa.run", 1, true))
    local stripped = assert(loadstring(string.dump(assert(loadstring(text)), true)))
    assert.truthy(message_of(stripped, parallel):find("SRC", 1, true))
  end)
end)

describe("calls that cannot be understood", function()
  it("a wrapper", function()
    local function wrapper(n)
      local iterator = parallel(n)
      return iterator
    end
    local text, err = message_of(function() for _ in wrapper(3) do local _ = 1 end end)
    assert.equal("SRC", err.code, text)
  end)

  it("a tail call", function()
    local function wrapper(n) return parallel(n) end
    local text, err = message_of(function() for _ in wrapper(3) do local _ = 1 end end)
    assert.equal("SRC", err.code, text)
    assert.truthy(text:find("wrapper", 1, true), text)
  end)

  it("two loops on a line", function()
    local text, err = message_of(assert(loadstring(
      "local p = ... local s = 0 for i in p(2) do s = s + i end for i in p(3) do s = s + i end")),
      parallel)
    assert.equal("SRC", err.code, text)
    assert.truthy(text:find("line", 1, true), text)
  end)

  it("wrong arguments, each named", function()
    for _, case in ipairs {
      {function() for _ in parallel() do local _ = 1 end end, "something to run over"},
      {function() for _ in parallel("x") do local _ = 1 end end, "argument 1"},
      {function() for _ in parallel(3, 2.5) do local _ = 1 end end, "argument 2"},
      {function() for _ in parallel({1, 5, 0}) do local _ = 1 end end, "step"},
      {function() for _ in parallel(3, {orderd = true}) do local _ = 1 end end, "'ordered'"},
      {function() for _ in parallel(3, {grid = 0}) do local _ = 1 end end, "grid"},
    } do
      local text, err = message_of(case[1])
      assert.equal("OPT", err.code, text)
      assert.truthy(text:find(case[2], 1, true), text)
    end
  end)
end)
