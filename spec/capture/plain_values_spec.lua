-- SPDX-License-Identifier: MIT
--
-- Plain values lead to what the program has put into their metatables: what a body changes is seen
-- that way, too, or refused, and functions that may change something are not called so.
-- luacheck: globals string.peek string.tally string.put string.shout math.tally n_of_spec
local meissa = require "meissa"
local parallel = meissa.parallel

local strings = getmetatable ""
local A, B = meissa.zeros(12), meissa.zeros(12)

local function restore()
  strings.__index, strings.__add = string, nil
  debug.setmetatable(nil, nil)
end

local function refused(code, words, fn)
  local ok, err = pcall(fn)
  restore()
  assert.is_false(ok)
  assert.equal(code, err.code)
  assert.matches(words, tostring(err), 1, true)
  assert.equal(0, A:sum())
end

describe("plain values", function()
  setup(function() meissa.init {workers = 2} end)
  teardown(function() meissa.init {} end)

  after_each(function()
    string.peek, string.tally, string.put, string.shout = nil, nil, nil, nil
    A:fill(0)
  end)

  it("lead to locals, globals and fields that the body assigns", function()
    local s, t = 0, {n = 0}
    n_of_spec = 0
    finally(function() n_of_spec = nil end)
    for _, method in ipairs {
      function() return s end, function() return n_of_spec end, function() return t.n end,
    } do
      string.peek = method
      refused("DEP", "[DEP10", function()
        for i in parallel(12) do
          s = s + i
          n_of_spec = n_of_spec + i
          t.n = t.n + i
          A[i] = ("x"):peek()
        end
      end)
    end
    string.peek = nil
    debug.setmetatable(nil, {__index = function() return s end})
    refused("DEP", "[DEP10", function()
      for i in parallel(12) do
        s = s + i
        A[i] = (nil).any
      end
    end)
    strings.__add = function() return t.n end
    refused("DEP", "[DEP10", function()
      for i in parallel(12) do
        t.n = t.n + i
        A[i] = "a" + "b"
      end
    end)
    local own = string
    strings.__index = function(_, key) return own[key] end
    refused("DEP", "[DEP10", function()
      for i in parallel(12) do
        string.tally = (string.tally or 0) + i
        A[i] = ("x").tally or 0
      end
    end)
  end)

  it("lead through several tables to functions that may not be called", function()
    string.put = function() A[1] = A[1] + 1 return 1 end
    for _, index in ipairs {
      string, setmetatable({size = 8}, {__index = string}),
      setmetatable({}, {__index = setmetatable({}, {__index = string})}),
    } do
      strings.__index = index
      refused("DEP", "put, which the program has given plain values, may use arrays", function()
        for i in parallel(12) do B[i] = ("x"):put() end
      end)
    end
    strings.__index = {deep = {put = string.put}}
    refused("DEP", "deep, which the program has given plain values, may use arrays", function()
      for i in parallel(12) do B[i] = ("x").deep.put() end
    end)
  end)

  it("do not lead to functions that the body may call by a name", function()
    string.put = function(s, k) A[k or 1] = A[k or 1] + 1 return #s end
    refused("DEP", "put, which the program has given plain values, may use arrays", function()
      for i in parallel(12) do B[i] = string.put("x", i) + ("ab"):put() end
    end)
    local put = string.put
    refused("DEP", "put, which the program has given plain values, may use arrays", function()
      for i in parallel(12) do B[i] = put("x", i) + ("ab"):put() end
    end)
    for i in parallel(12) do B[i] = string.put("x", i) + #("ab"):rep(2) end
    for i in parallel(12) do B[i] = B[i] + put("x", i) end
    assert.equal(24, A:sum())
    assert.equal(12 * 6, B:sum())
  end)
end)

describe("a method that the program has given strings", function()
  local words, stuck, remove, random = {}, coroutine.create(print), os.remove, math.random
  for k = 1, 12 do words[k] = string.rep("x", k) end
  local methods = {
    DEP116 = function(s) remove "" return #s end,
    DEP121 = function(s) return stuck and #s end,
    ["DEP121 method of plain values"] = function(s) A[1] = A[1] + 1 return #s end,
  }
  local function ask(s) return s:shout() end
  local loops = {
    function(opts) for i in parallel(12, opts) do B[i] = ("x"):shout() end end,
    function(opts) for i in parallel(12, opts) do B[i] = words[i]:shout() end end,
    function(opts) for i in parallel(12, opts) do local s = words[i] B[i] = ask(s) end end,
    function(opts) for i in parallel(12, opts) do B[i] = ("x").shout("x") end end,
  }

  after_each(function() string.shout = nil meissa.init {} end)

  for _, workers in ipairs {0, 1, 2} do
    it("and that no loop may call is refused before anything runs on " .. workers, function()
      meissa.init {workers = workers}
      B:fill(0)
      for code, method in pairs(methods) do
        for _, loop in ipairs(loops) do
          string.shout = method
          refused("DEP", "[" .. code, function() loop({}) end)
          assert.equal(0, B:sum())
        end
      end
    end)

    it("is called where it may be, also by its name, and where files are meant, on " .. workers,
       function()
      meissa.init {workers = workers}
      local object, list = {shout = function() return 3 end}, {"a", "bb"}
      string.shout = methods.DEP116
      for i in parallel(12) do B[i] = object:shout() + #list[1]:rep(i) end
      assert.equal(3 * 12 + 78, B:sum())
      for i in parallel(12, {impure = true}) do B[i] = words[i]:shout() end
      assert.equal(78, B:sum())
      string.shout = function(s) return #s + 1 end
      for _, loop in ipairs(loops) do loop({}) end
      assert.equal(12 * 2, B:sum())
      string.shout = function() return random() end
      refused("DEP", "uses math.random", function() loops[1]({impure = true}) end)
    end)
  end
end)

describe("a library without changes", function()
  it("may get a field that the body assigns and functions find", function()
    meissa.init {workers = 2}
    finally(function() meissa.init {} end)
    local own, key = math, "tally"
    for _, find in ipairs {
      function() return math.tally end, function() return own.tally end,
      function(...) return own[key], ... end,
    } do
      refused("DEP", "[DEP10", function()
        for i in parallel(12) do
          math.tally = (math.tally or 0) + i
          A[i] = find() or 0
        end
      end)
    end
  end)
end)

describe("functions in tables", function()
  it("are asked for files and computed modules, however they are called", function()
    local remove, load = os.remove, require
    local function writes(_, i) remove "" return i end
    local function requires(_, i) return load(i) end
    for _, fn in ipairs {writes, requires} do
      local list, key = {fn}, "at"
      local object = setmetatable({}, {__index = {at = fn}, __add = fn, __call = fn})
      for _, body in ipairs {
        function() for i in parallel(12) do A[i] = list[1](0, i) end end,
        function() for i in parallel(12) do A[i] = object[key](0, i) end end,
        function() for i in parallel(12) do A[i] = object + i end end,
        function() for i in parallel(12) do A[i] = object(i) end end,
      } do
        refused("DEP", "[DEP116", body)
      end
    end
  end)
end)
