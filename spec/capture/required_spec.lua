-- SPDX-License-Identifier: MIT
--
-- `require` in a body: what it gives is judged and copied as if it were captured.
local child = require "spec.support.child"

local MODULES = [==[
local function write(name, text)
  local file = assert(io.open(name .. ".lua", "w"))
  file:write(text)
  file:close()
end
write("counter", [[
  local M, private = {scale = 1, n = 0}, 0
  function M.next() M.n = M.n + 1 return M.n end
  function M.bump(...) private = private + select("#", ...) return private end
  function M.twice(x) return 2 * x * M.scale + private end
  function M.set(value) private = value end
  return M
]])
write("conf", "return {rate = 3, limits = {low = 1}}")
write("late", [[
  LOADED = (LOADED or 0) + 1
  local conf = require "conf"
  return function(x) return x * conf.rate end
]])
write("point", [[
  local Point = {}
  Point.__index = Point
  function Point.new(x) return setmetatable({x = x}, Point) end
  return Point
]])
write("model", [[
  local meissa = require "meissa"
  local M = {W = meissa.ones(8)}
  function M.step(i) M.W[i] = M.W[i] + i end
  function M.back(i) M.W[i + 1] = M.W[i] end
  return M
]])
]==]

local HEAD = MODULES .. [==[
local meissa = require "meissa"
local parallel = meissa.parallel
local n, out, plain = 8, {}, {}
local A = meissa.zeros(n)

-- Whether what the parallel loop gave is what the plain one did.
local function same(what)
  for i = 1, n do
    if out[i] ~= plain[i] then
      error(("%s: out[%d] is %s, not %s"):format(what, i, out[i], plain[i]), 2)
    end
  end
end
local function refused(code, words, fn)
  local ok, err = pcall(fn)
  if ok or err.code ~= code or not tostring(err):find(words, 1, true) then
    error(("not refused by %s, %s: %s"):format(code, words, tostring(err)), 2)
  end
end
]==]

local function run(text, env)
  local output, status = child.script(HEAD .. text .. "\nprint 'done'", {env = env})
  assert.equal("done\n", output)
  assert.equal(0, status)
end

describe("require in a body", function()
  for _, env in ipairs {"MEISSA_WORKERS=0", "MEISSA_WORKERS=1", "MEISSA_WORKERS=2 MEISSA_SHM=0",
                        "MEISSA_WORKERS=5"} do
    it("gives modules as they are on the driver, " .. env, function()
      run([[
        local c = require "counter"
        c.scale, c.added = 5, {7}
        c.set(100)
        for i = 1, n do plain[i] = c.twice(i) + c.added[1] end
        for i in parallel(n) do local c = require "counter" out[i] = c.twice(i) + c.added[1] end
        same "of the body"
        for i in parallel(n) do out[i] = c.twice(i) + c.added[1] end
        same "captured"
        local k = "added"
        for i in parallel(n) do out[i] = c.twice(i) + c[k][1] end
        same "captured whole"
        local function f(i) local c = require "counter" return c.twice(i) + c.added[1] end
        for i in parallel(n) do out[i] = f(i) end
        same "of a function"
        local own = require
        local function g(...) return own "conf".rate * ... end
        for round = 1, 3 do
          c.scale, own "conf".rate = round, round
          for i = 1, n do plain[i] = g(i) + c.twice(i) end
          for i in parallel(n) do out[i] = g(i) + require "counter".twice(i) end
          same "changed between loops"
        end
      ]], env)
    end)

    it("counts with what modules change, " .. env, function()
      run([[
        local function f(...) return require "counter".next(...) end
        refused("DEP", "each worker has its own copy", function()
          for i in parallel(n) do local c = require "counter" A[i] = c.next() end
        end)
        refused("DEP", "each worker has its own copy", function()
          for i in parallel(n) do A[i] = require "counter".bump(i, i) end
        end)
        refused("DEP", "each worker has its own copy", function()
          for i in parallel(n) do A[i] = f(i) end
        end)
        refused("DEP", "each worker has its own copy", function()
          for i in parallel(n) do local c = require "counter" c.n = i end
        end)
        assert(require "counter".n == 0 and A:sum() == 0)
      ]], env)
    end)

    it("reaches arrays of modules, " .. env, function()
      run([[
        for i in parallel(n) do require "model".step(i) end
        for i in parallel(n) do local m = require "model" m.W[i] = m.W[i] * 2 end
        assert(require "model".W:sum() == 2 * (n + n * (n + 1) / 2))
        refused("DEP", "carried dependence", function()
          for i in parallel(n - 1, {ordered = false}) do require "model".back(i) end
        end)
      ]], env)
    end)

    it("gives objects of the driver's classes, " .. env, function()
      run([[
        local Point = require "point"
        Point.added = function(self) return self.x + 1 end
        point = "not the module"
        for i in parallel(n) do out[i] = Point.new(i) end
        for i in parallel(n) do plain[i] = require "point".new(out[i]:added()) end
        for i = 1, n do
          assert(getmetatable(out[i]) == Point and getmetatable(plain[i]) == Point)
          assert(plain[i]:added() == i + 2)
        end
      ]], env)
    end)

    it("loads what is not loaded yet, once, on the driver, " .. env, function()
      run([[
        assert(not package.loaded.late)
        for i in parallel(n) do out[i] = require "late"(i) end
        assert(LOADED == 1 and package.loaded.conf.rate == 3)
        for i = 1, n do plain[i] = 3 * i end
        same "late"
        package.loaded.conf.rate = 4
        for i in parallel(n) do out[i] = require "late"(i) end
        for i = 1, n do plain[i] = 4 * i end
        same "changed since"
        rate = 1
        write("setting", "rate = 5")
        refused("DEP", "loading the module 'setting', which the loop requires, changes 'rate'",
          function() for i in parallel(n) do out[i] = rate require "setting" end end)
        for i in parallel(n) do require "setting" out[i] = rate * i end
        for i = 1, n do plain[i] = 5 * i end
        same "what a module has set"
        local wanted, text = false, "module 'nowhere' not found"
        local function get(i) if i < 0 then return require "nowhere".x end return i end
        for i in parallel(n) do
          if wanted then out[i] = require "nowhere".x end
          if A[i] > 9 then out[i] = require "nowhere".x end
          out[i] = get(i)
        end
        assert(out[n] == n)
        write("broken", "error 'no luck'")
        for name, words in pairs {nowhere = text, broken = "no luck"} do
          local load = ("for i in parallel(8) do if i > 5 then x = require %q end end"):format(name)
          local ok, err = pcall(meissa.run, load)
          assert(not ok and tostring(err):find(words, 1, true), tostring(err))
          assert(os.getenv "MEISSA_WORKERS" == "0" or err.code == "BDY" and err.iteration[1] == 6)
        end
        package.preload.nowhere = function() return {x = 3} end
        for i in parallel(n) do out[i] = require "nowhere".x end
        assert(out[n] == 3)
        package.loaded.made = {x = 7}
        package.preload.pre = function() return {y = 8} end
        for i in parallel(n) do out[i] = require "made".x + require "pre".y end
        assert(out[n] == 15)
      ]], env)
    end)

    it("needs impure = true for files and for computed names, " .. env, function()
      run([[
        local name = "conf"
        local function write(...) require "io".write(...) end
        local function computed(...) return require(name).rate, ... end
        local function passed(...) return pcall(require, "conf"), ... end
        local bodies = {
          ["io may reach files"] = {
            function() for i in parallel(n) do require "io".write "x" end end,
            function() for i in parallel(n) do local f = require "io" f.stdout:write "x" end end,
            function() for i in parallel(n) do local f = require "io" A[i] = f and 1 or 0 end end,
          },
          ["it uses io"] = {function() for i in parallel(n) do write(i) end end},
          ["require other than in a call with a constant name, require \"name\","] = {
            function() for i in parallel(n) do local ok = pcall(require, "conf") A[i] = 1 end end,
            function() for i in parallel(n) do A[i] = require(name).rate end end,
            function() for i in parallel(n) do A[i] = require("con" .. "f").rate end end,
            function() for i in parallel(n) do local r = require A[i] = r "conf".rate end end,
          },
          ["require"] = {
            function() for i in parallel(n) do A[i] = computed(i) end end,
            function() for i in parallel(n) do A[i] = passed(i) and 1 or 0 end end,
            function() for i in parallel(n) do local ok = pcall(require, name) A[i] = 1 end end,
          },
        }
        for words, list in pairs(bodies) do
          for _, body in ipairs(list) do refused("DEP", words, body) end
        end
        for i in parallel(n, {impure = true}) do A[i] = require(name).rate end
        for i in parallel(n, {impure = true}) do local f = require "io" A[i] = f and 1 or 0 end
        assert(A:sum() == n)
      ]], env)
    end)

    it("gives libraries, and is the program's own, " .. env, function()
      run([[
        math.sign = function(x) return x < 0 and -1 or 1 end
        for i in parallel(n) do
          local ffi, buffer = require "ffi", require "string.buffer"
          local m = require "math"
          out[i] = require "bit".bor(i, 8) + m.sign(4 - i) * m.floor(i / 2) + ffi.sizeof "int" +
            buffer.decode(buffer.encode(i))
        end
        for i = 1, n do
          plain[i] = bit.bor(i, 8) + math.sign(4 - i) * math.floor(i / 2) + 4 + i
        end
        same "libraries"
        local own, asked = require, 0
        function require(name) return own(name) end
        for i in parallel(n) do out[i] = require "conf".rate * i end
        for i = 1, n do plain[i] = 3 * i end
        same "wrapped"
      ]], env)
    end)
  end

  it("finds modules where package.path leads after the workers have started", function()
    run([[
      for i in parallel(n) do A[i] = i end
      os.execute "mkdir elsewhere"
      write("elsewhere/far", "return {z = 9}")
      package.path = "elsewhere/?.lua;" .. package.path
      for i in parallel(n) do A[i] = require "far".z end
      assert(A:sum() == 9 * n)
      local name = "far"
      for i in parallel(n, {impure = true}) do A[i] = require(name).z + i end
      assert(A[n] == 9 + n)
      write("elsewhere/near", "return {z = 1}")
      package.path = package.path:gsub("^elsewhere/%?%.lua;", "")
      name = "near"
      refused("BDY", "module 'near' not found", function()
        for i in parallel(n, {impure = true}) do A[i] = require(name).z end
      end)
    ]], "MEISSA_WORKERS=2")
  end)

  it("is seen by check = true", function()
    run([[
      local c = require "counter"
      c.scale = 2
      for i in parallel(n, {check = true}) do A[i] = require "counter".twice(i) end
      assert(A[n] == 4 * n and c.n == 0)
    ]], "MEISSA_WORKERS=2")
  end)
end)
