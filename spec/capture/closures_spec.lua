-- SPDX-License-Identifier: MIT
-- Closures of one function text: each has its own upvalues and environment, on both engines and
-- from one launch to the next. Every text runs once more with a plain iterator in place of
-- `parallel`.
local child = require "spec.support.child"

-- {name, text of a chunk that gets `parallel` and an array `A` of 20 numbers, engine of its last
-- loop where the native one is asked for}
local CASES = {
  {"numbers", [[
    local function mk(k) return function(i) return k * i end end
    local a, b = mk(2), mk(3)
    for i in parallel(20) do A[i] = a(i) + 100 * b(i) end]], "native"},
  {"a loop's variable", [[
    local fs = {}
    for q = 1, 3 do fs[q] = function(i) return q * i end end
    local x, y, z = fs[1], fs[2], fs[3]
    for i in parallel(20) do A[i] = x(i) * 10000 + y(i) * 100 + z(i) end]], "native"},
  {"arrays", [[
    local function mk(W) return function(i) return W[i] end end
    local a, b = mk(meissa.from {1, 2, 3}), mk(meissa.from {4, 5, 6})
    for i in parallel(3) do A[i] = a(i) + 10 * b(i) end]], "native"},
  {"stores", [[
    local U, V = meissa.zeros(20), meissa.zeros(20)
    local function mk(W) return function(i) W[i] = W[i] + i end end
    local a, b = mk(U), mk(V)
    for i in parallel(19) do a(i) b(i) end
    for i = 1, 20 do A[i] = U[i] + 100 * V[i] end]], "native"},
  {"booleans and nil", [[
    local function mk(s) return function(i) if s then return i end return -i end end
    local a, b, c = mk(true), mk(false), mk(nil)
    for i in parallel(20) do A[i] = a(i) + 100 * b(i) + 10000 * c(i) end]], "native"},
  {"strings", [[
    local function mk(s) return function(i) if s == "up" then return i end return -i end end
    local a, b = mk "up", mk "down"
    for i in parallel(20) do A[i] = a(i) + 100 * b(i) end]]},
  {"environments", [[
    local function mk() return function(i) return rate * i end end
    local f, g = mk(), mk()
    setfenv(f, {rate = 2}) setfenv(g, {rate = 3})
    for i in parallel(20) do A[i] = f(i) + 100 * g(i) end]], "native"},
  {"fields of tables", [[
    local function mk(o) return {at = function(i) return o.k * i end} end
    local x, y = mk {k = 2}, mk {k = 3}
    for i in parallel(20) do A[i] = x.at(i) + 100 * y.at(i) end]], "native"},
  {"compositions", [[
    local function comp(f, g) return function(i) return f(g(i)) end end
    local function p(i) return i + 1 end
    local function q(i) return i * 2 end
    local x, y = comp(p, q), comp(q, p)
    for i in parallel(20) do A[i] = x(i) + 100 * y(i) end]], "native"},
  {"a closure in one of the same text", [[
    local function chain(f) return function(i) return f(i) + 1 end end
    local f = function(i) return 3 * i end
    for _ = 1, 5 do f = chain(f) end
    for i in parallel(20) do A[i] = f(i) end]], "native"},
  {"closures of nested functions", [[
    local function mk(k) return function() return function(i) return k * i end end end
    local x, y = mk(2)(), mk(3)()
    for i in parallel(20) do A[i] = x(i) + 100 * y(i) end]], "native"},
  {"locals of the body", [[
    local function mk(k) return function(i) return k * i end end
    local a, b = mk(2), mk(3)
    for i in parallel(20) do
      local f, g = a, b
      A[i] = f(i) + 100 * g(i)
    end]], "native"},
  {"one local for both", [[
    local function mk(k) return function(i) return k * i end end
    local a, b = mk(2), mk(3)
    for i in parallel(20) do
      local f = a
      if i > 7 then f = b end
      A[i] = f(i)
    end]], "lua"},
  {"a choice", [[
    local function mk(k) return function(i) return k * i end end
    local a, b = mk(2), mk(3)
    for i in parallel(20) do A[i] = (i > 7 and a or b)(i) end]], "lua"},
  {"arguments", [[
    local function mk(k) return function(i) return k * i end end
    local a, b = mk(2), mk(3)
    local function apply(f, i) return f(i) end
    for i in parallel(20) do A[i] = apply(a, i) + 100 * apply(b, i) end]], "native"},
  {"made by the body", [[
    local function mk(k) return function(i) return k * i end end
    for i in parallel(20) do A[i] = mk(2)(i) + 100 * mk(3)(i) end]], "lua"},
  {"one that becomes another", [[
    local function mk(k) return function(i) return k * i end end
    local a = mk(2)
    local b = a
    for q = 1, 3 do
      for i in parallel(20) do A[i] = A[i] * 10 + a(i) - 3 * b(i) end
      b = mk(q + 5)
    end]], "native"},
  {"equal values that differ later", [[
    local function mk(k)
      return function(i) return k * i end, function(v) k = v end
    end
    local a, set = mk(2)
    local b = mk(2)
    for q = 1, 3 do
      for i in parallel(20) do A[i] = A[i] * 10 + a(i) - 3 * b(i) end
      set(q + 5)
    end]], "native"},
  {"two that become one", [[
    local function mk(k) return function(i) return k * i end end
    local a, b = mk(2), mk(3)
    for _ = 1, 2 do
      for i in parallel(20) do A[i] = A[i] * 10 + a(i) - 3 * b(i) end
      a = b
    end]], "native"},
  {"subscripts", [[
    local W = meissa.zeros(60)
    for i = 1, 60 do W[i] = i * i end
    local function mk(by) return function(i) return W[i + by] end end
    local a, b = mk(1), mk(1)
    for q = 1, 3 do
      for i in parallel(20) do A[i] = A[i] + a(i) - 3 * b(i) end
      b = mk(10 * q)
    end]], "native"},
}

-- The text of another file: its functions have more variables than the loop's.
local MODULE = [[
local a, b, c, d, e, f, g, h = 1, 2, 3, 4, 5, 6, 7, 8
local function other(u, v, w) local x, y, z = u, v, w return a + b + c + d + e + f + g + h + x end
return function(k)
  return function(i)
    local x, y, z = i, k, i * k
    for q = 1, 2 do local r = q + x z = z + r - y end
    return z, other
  end
end]]

local SCRIPT = [[
local meissa = require "meissa"
local function plain(n) return function(_, i) if i < n then return i + 1 end end, nil, 0 end
local function run(text, parallel)
  local A = meissa.zeros(20)
  local globals = setmetatable({meissa = meissa, parallel = parallel, A = A}, {__index = _G})
  setfenv(assert(loadstring(text)), globals)()
  return table.concat(A:totable(), " ")
end
for n, case in ipairs(CASES) do
  local wanted = run(case, plain)
  local got = run(case, meissa.parallel)
  print(n, got == wanted and "same" or got, meissa.last().engine)
end
]]

local function script()
  local texts = {}
  for n, case in ipairs(CASES) do texts[n] = string.format("%q", case[2]) end
  return "local CASES = {" .. table.concat(texts, ",\n") .. "}\n" .. SCRIPT
end

local function expected(native)
  local lines = {}
  for n, case in ipairs(CASES) do
    lines[n] = string.format("%s: same %s", case[1], native and case[3] or "lua")
  end
  return table.concat(lines, "\n")
end

describe("closures of one text", function()
  for _, env in ipairs {"MEISSA_ENGINE=native MEISSA_WORKERS=1",
                        "MEISSA_ENGINE=native MEISSA_WORKERS=2", "MEISSA_ENGINE=lua"} do
    it("have their own upvalues, " .. env, function()
      local output = child.script(script(), {env = env})
      local told = string.gsub(output, "(%d+)\t([^\t\n]*)\t([^\n]*)\n?", function(n, same, engine)
        return string.format("%s: %s %s\n", CASES[tonumber(n)][1], same, engine)
      end)
      assert.equal(expected(string.find(env, "native", 1, true)) .. "\n", told)
    end)
  end

  it("of other files, named by a local, too", function()
    local text = [[
      local meissa = require "meissa"
      local mk = assert(loadstring(MODULE, "@other.lua"))()
      local A, a, b = meissa.zeros(20), mk(2), mk(3)
      for i in meissa.parallel(20) do
        local f, g = a, b
        A[i] = f(i) + 100 * g(i)
      end
      for i = 1, 20 do assert(A[i] == a(i) + 100 * b(i)) end
      print "same"]]
    local output = child.script("local MODULE = " .. string.format("%q", MODULE) .. "\n" .. text,
                                {env = "MEISSA_ENGINE=native MEISSA_WORKERS=1"})
    assert.equal("same\n", output)
  end)
end)
