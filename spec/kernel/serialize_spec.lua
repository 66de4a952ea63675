-- SPDX-License-Identifier: MIT
-- Values travel to workers and back with their shape; what cannot is named before anything runs.
local array = require "meissa.array"
local serialize = require "meissa.kernel.serialize"
local errors = require "meissa.base.errors"
local strict = require "meissa.base.strict"
local unpack_values = require "meissa.kernel.unpack"
local run = dofile("spec/kernel/run.lua")

local world_of_worker = setmetatable({ math = strict.math }, { __index = _G })

local function encode(value, options)
  options = options or {}
  return serialize.encode({ value }, 1, { path = function() return "it" end,
    find_array = options.find_array or function() return nil end })
end

local function travel(value, options)
  return unpack_values.decode(encode(value, options),
    { globals = world_of_worker, array = options and options.array })[1]
end

describe("carried values", function()
  it("keep plain values", function()
    for _, value in ipairs { 1, -0.5, 1 / 0, "text\0with zero", true, false, 2 ^ 53 } do
      assert.equal(value, travel(value))
    end
    assert.is_nil(travel(nil))
    assert.equal(1 / -0, 1 / travel(-0))
    assert.is_true(travel(7LL) == 7LL)
    local values = unpack_values.decode(serialize.encode({ nil, 2, nil, 4 }, 4, { path = tostring,
      find_array = function() end }), { globals = _G })
    assert.same({ nil, 2, nil, 4 }, values)
  end)

  it("keep tables, shared references, cycles and metatables", function()
    assert.same({ 1, 2, { x = { "deep" } } }, travel { 1, 2, { x = { "deep" } } })
    local shared = { 1 }
    local got = travel { a = shared, b = shared, [true] = 2, [1.5] = 3 }
    assert.equal(got.a, got.b)
    assert.equal(2, got[true])
    assert.equal(3, got[1.5])
    local ring = { name = "ring" }
    ring.self, ring[ring] = ring, "key"
    got = travel(ring)
    assert.equal(got, got.self)
    assert.equal("key", got[got])
    local class = { area = function(self) return self.w * self.h end }
    class.__index = class
    got = travel(setmetatable({ w = 2, h = 3 }, class))
    assert.equal(6, got:area())
    local list = false
    for n = 1, 20000 do list = { n, list } end
    assert.equal(19999, travel(list)[2][1])
  end)

  it("keep functions, their upvalues and the globals that they read", function()
    local count, step = 10, 2
    local function bump() count = count + step return count end
    local function read() return count end
    local got = travel { bump = bump, read = read }
    assert.equal(12, got.bump())
    assert.equal(12, got.read())
    assert.equal(10, count)
    local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
    assert.equal(55, travel(fib)(10))
    local env = { factor = 3, helper = function(x) return x * 7 end }
    local scaled = setfenv(assert(loadstring(
      "local x = ... return (function() return helper(x) * factor end)()")), env)
    setfenv(env.helper, env)
    assert.equal(42, travel(scaled)(2))
    assert.equal(3, travel(function(...) return select("#", ...) end)(1, 2, 3))
  end)

  it("keep functions from run to run while nothing that they reach changes", function()
    local memory = {}
    local function again(value)
      return unpack_values.decode(encode(value), { globals = world_of_worker, memory = memory })[1]
    end
    local scale, state = 3, 0
    local function twice(x) return math.floor(x) * 2 end
    local function helper(x) return twice(x) * scale end
    local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
    local function count() state = state + 1 return state end
    local function seen() return state end
    local list = { 5 }
    local function first() return list[1] end
    local all = { helper, fib, count, first, seen }
    local one, two = again(all), again(all)
    assert.equal(one[1], two[1])
    assert.equal(one[2], two[2])
    assert.equal(55, two[2](10))
    assert.equal(1, one[3]())
    assert.equal(1, two[3]())
    assert.equal(1, two[5]())
    assert.not_equal(one[4], two[4])
    scale, list[1] = 4, 6
    local three = again(all)
    assert.not_equal(one[1], three[1])
    assert.equal(12, one[1](2))
    assert.equal(16, three[1](2))
    assert.equal(6, three[4]())
    local function world(factor)
      return setfenv(assert(loadstring("return factor")), { factor = factor })
    end
    local five = again(world(5))
    assert.equal(five, again(world(5)))
    assert.equal(6, again(world(6))())
  end)

  it("name modules and C functions", function()
    local got = travel { f = string.rep, m = string, p = print, t = table.concat }
    assert.equal(string.rep, got.f)
    assert.equal(string, got.m)
    assert.equal(table.concat, got.t)
    assert.equal(strict.math, travel(math))
    assert.equal(strict.max, travel(math.max))
    local kept = math
    assert.equal(strict.max(1, 2), travel(function() return kept.max(1, 2) end)())
    local loaded = { tag = "module", stream = io.stdout } -- as modules in C have
    package.loaded["kernel_spec.module"] = loaded
    assert.equal(loaded, travel(loaded))
    package.loaded["kernel_spec.module"] = nil
  end)

  it("copy modules that are written in Lua", function()
    local loaded = { tag = "module" }
    package.loaded["kernel_spec.module"] = loaded
    loaded.tag = "changed"
    assert.same({ tag = "changed" }, travel(loaded))
    assert.not_equal(loaded, travel(loaded))
    package.loaded["kernel_spec.module"] = nil
  end)

  it("number the arrays that a loop knows", function()
    local A = array.zeros({ 2 })
    local known = { find_array = function(v) if v == A then return 3 end end,
      array = function(n) return "array " .. n end }
    assert.same({ a = "array 3", { "array 3" } }, travel({ a = A, { A } }, known))
    assert.equal("array 3", travel(function() return A end, known)())
  end)

  local handle = io.tmpfile()
  local coded = coroutine.create(function() end)
  local refused = {
    { "a file", { deep = { handle = handle } }, "it.deep.handle is a userdata" },
    { "a coroutine in a list", { 1, { coded } }, "it[2][1] is a coroutine" },
    { "an upvalue", function() return handle end, "it (upvalue handle) is a userdata" },
    { "an upvalue of a method", { run = function() return coded end },
        "it.run (upvalue coded) is a coroutine" },
    { "a C function without a name", { next = coroutine.wrap(function() end) },
      "it.next is a C function that no loaded module names" },
    { "a key", { [coded] = 1 }, "it (a key) is a coroutine" },
    { "an odd key", { ["a b"] = coded }, 'it["a b"] is a coroutine' },
  }
  for _, case in ipairs(refused) do
    it("refuse " .. case[1], function()
      local ok, err = pcall(encode, case[2])
      assert.is_false(ok)
      assert.is_true(errors.is(err))
      assert.truthy(err.message:find(case[3] ..
          ": it cannot be sent to the workers", 1, true), err.message)
    end)
  end

  it("refuse an array that the loop does not name", function()
    local ok, err = pcall(encode, { w = array.zeros({ 2 }) }, { find_array = function(v)
      if type(v) == "cdata" then return false end
    end })
    assert.is_false(ok)
    assert.truthy(err.message:find("it.w is an array that the loop does not name itself", 1, true))
  end)

  it("have one `^`, interpreted and compiled", function()
    -- LuaJIT's compiler takes x ^ 2 for x * x, its interpreter for pow, which differs from that for
    -- one number in a thousand.
    local function square(x) return x ^ 2 end
    local carried, different = travel(square), 0
    for n = 1, 50000 do
      local x = n / 7 * 1e-5
      if carried(x) ~= x * x then different = different + 1 end
    end
    assert.equal(0, different)
  end)
end)

describe("captured values of a loop", function()
  local space = { ranges = { { 1, 5 } } }

  it("are refused by their path before anything runs", function()
    local env = { n = 5, B = array.zeros({ 5 }), opts = { model = { handle = io.stdout } } }
    local ok, err = pcall(run.prepare, "for i in parallel(n) do B[i] = use(opts.model.handle) end",
      setmetatable({ use = function() return 1 end }, { __index = env }), space)
    assert.is_false(ok)
    assert.equal("BDY", err.code)
    assert.truthy(err.message:find("opts.model.handle is a userdata", 1, true))
    assert.equal(0, env.B:sum())
  end)

  it("may be functions over the loop's arrays and tables that hold them", function()
    local function world()
      local env = { n = 5, A = array.rand({ 5 }, { seed = 1 }), B = array.zeros({ 5 }) }
      local A = env.A
      env.get = function(i) return A[i] * 2 end
      env.model = { A = A }
      return env
    end
    assert.is_nil(run.compare("for i in parallel(n) do local m = A B[i] = get(i) + m[i] end", world,
      function() return space end))
  end)

  it("print where the host says", function()
    local lines = {}
    local env = { n = 5, say = function(i) print("helper", i) end }
    assert(run.kernel("for i in parallel(n) do if i == 3 then print('body', i) say(i) end end", env,
      space, { host = { print = function(...)
        lines[#lines + 1] = table.concat({ ... }, " ")
      end } }))
    assert.same({ "body 3", "helper 3" }, lines)
  end)
end)
