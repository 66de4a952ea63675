-- SPDX-License-Identifier: MIT
--
-- The proof that a function is part of a text: it holds whatever became of the function since it
-- was compiled, on every LuaJIT, and for nothing but that text.
local dumps = require "meissa.capture.dump"

-- Chunks that return a function, which `run` runs hot.
local CHUNKS = {
  loop = "return function(n) local s = 0 for i = 1, n do s = s + i end return s end",
  ["while"] = "return function(n) local s = 0 while s < n do s = s + 1 end return s end",
  ["repeat"] = "return function(n) local s = 0 repeat s = s + 1 until s > n return s end",
  pairs = "return function(n, t) local s = 0 for k, v in pairs(t) do s = s + v end return s end",
  next = "return function(n, t) local s = 0 for k, v in next, t do s = s + v end return s end",
  ipairs = "return function(n, t) local s = 0 for k, v in ipairs(t) do s = s + v end return s end",
  ["other pairs"] = [[
    local pairs = ipairs
    return function(n, t) local s = 0 for k, v in pairs(t) do s = s + v end return s end]],
  ["pairs that become others"] = [[
    local pairs = pairs
    return function(n, t)
      local s = 0
      for k, v in pairs(t) do s = s + v end
      pairs = ipairs
      for k, v in pairs(t) do s = s + v end
      return s
    end]],
  nested = [[
    return function(n, t)
      local s = 0
      for i = 1, 3 do for k, v in pairs(t) do for j = 1, n do s = s + v * j end end end
      return s
    end]],
  closures = [[
    return function(n)
      local s = 0
      for i = 1, n do s = s + (function(x) return x + s end)(i) end
      return s
    end]],
  method = [[
    local o = {}
    function o:add(x) self.sum = (self.sum or 0) + x return self end
    return function(n) for i = 1, n do o:add(i) end return o.sum end]],
  recursion = [[
    local function f(n) if n < 2 then return n end return f(n - 1) + f(n - 2) end
    return function(n) return f(n % 12) end]],
  ["tail calls"] = [[
    local function f(n, s) if n == 0 then return s end return f(n - 1, s + n) end
    return function(n) return f(n, 0) end]],
  varargs = "return function(...) local s = 0 for i = 1, ... do s = s + select('#', ...) end end",
  templates = [[
    return function(n)
      local s
      for i = 1, n do
        s = {1, 2, nil, 4, a = 1, b = i, c = "c", [7] = true, [0.5] = -1e300, d = nil, [-3] = 3}
      end
      return s.b
    end]],
  constants = [[
    return function(n)
      return 1e300, -0.5, 2^31, 4294967296, -2147483648, 12LL, 7ULL, 2i, "\0", "\255", nil, true
    end]],
  errors = [[
    return function(n)
      local s = 0
      for i = 1, n do if not pcall(error, i) then s = s + i end end
      return s
    end]],
}

local ENTRIES = {1, 2, 3, a = 4, b = 5}

local function run(fn)
  for _ = 1, 100 do fn(60, ENTRIES) end
end

local function records(fn) return dumps.records(string.dump(fn)) end
local function compiled(text) return records(assert(loadstring(text, "=text"))) end

-- What a chunk becomes: dumps before and after it ran, of the function and of what is around it.
local function each_dump(text, visit)
  local chunk = assert(loadstring(text, "=text"))
  visit(records(chunk), "a chunk")
  local fn = chunk()
  visit(records(fn), "a function")
  run(fn)
  visit(records(fn), "a function that has run")
  local last = fn
  for _ = 1, 20 do last = chunk() end
  visit(records(last), "one of many functions")
  visit(records(chunk), "a chunk that has run")
  jit.off(fn, true)
  visit(records(fn), "a function that is not compiled any more")
  local loaded = assert(loadstring(string.dump(chunk), "=text"))
  visit(records(loaded), "a chunk from bytecode")
  visit(records(loaded()), "a function from bytecode")
  jit.off()
  run(loaded())
  jit.on()
  visit(records(loaded()), "a function from bytecode that has run")
end

-- A text with something else in it, that a proof must tell apart from the text: {name, from, to}.
local EDITS = {
  {"a number", "local n = 10", "local n = 11"}, {"a large number", "1e10", "2e10"},
  {"a string", "'one'", "'two'"}, {"the sign of zero", "-0.25", "0.25"},
  {"an operator", "a + n", "a - n"}, {"operands", "a / n", "n / a"},
  {"a comparison", "a < n", "a <= n"}, {"a global's name", "print", "error"},
  {"a field's name", "t.first", "t.second"}, {"a local's name", "local flag", "local plug"},
  {"a parameter", "function(a, b)", "function(a, b, c)"},
  {"varargs", "function(a, b)", "function(a, b, ...)"},
  {"a condition", "not a", "a"}, {"an upvalue", "return outer", "return inner"},
  {"a value of a table", "x = 1", "x = 2"}, {"a key of a table", "y = 3", "z = 3"},
  {"values that change places", "x = 1, y = 3", "x = 3, y = 1"},
  {"an element of a table", "{5, 6}", "{6, 5}"}, {"a field more", "{5, 6}", "{5, 6, 7}"},
  {"a field less", "x = 1, y = 3", "x = 1"}, {"a boolean", "true", "false"},
  {"an integer of 64 bits", "9LL", "9ULL"}, {"an imaginary number", "4i", "5i"},
  {"the iterated function", "in pairs(t)", "in ipairs(t)"},
  {"a line more", "local n", "\nlocal n"},
  {"a bound", "i = 1, a", "i = 2, a"}, {"a step", "1, a do", "1, a, 2 do"},
}
local EDITED = [[
local outer, inner = 1, 2
return function(a, b)
  local n = 10
  local t = {x = 1, y = 3, 5LL, {5, 6}, 'one', print, 1e10, -0.25, true, 9LL, 4i, [inner] = outer}
  local flag = not a
  for i = 1, a do t.first = a + n end
  for k, v in pairs(t) do if a < n then n = a / n end end
  return outer, function() return outer, inner, flag end
end]]

describe("a function's bytecode", function()
  for name, text in pairs(CHUNKS) do
    it("is found in its text: " .. name, function()
      local whole = compiled(text)
      local around = compiled("do " .. text .. " end return {...}")
      each_dump(text, function(list, what)
        assert.is_truthy(#list > 0 and dumps.find(whole, list), what)
        if #list < #whole then assert.is_truthy(dumps.find(around, list), what) end
      end)
    end)
  end

  it("is found whatever the order of a table's fields", function()
    local fields = {}
    for k = 1, 40 do fields[k] = ("f%d = %d"):format(k * 7919, k) end
    local text = "return {" .. table.concat(fields, ", ") .. "}"
    local one = compiled(text)
    -- Fields read in another order may collide otherwise.
    local again = compiled(text)
    for _ = 1, 5 do again = records(assert(loadstring(string.dump(loadstring(text, "=text"))))) end
    assert.is_truthy(dumps.find(one, again))
  end)

  for _, edit in ipairs(EDITS) do
    it("is not that of a text with another: " .. edit[1], function()
      local from, to = EDITED:find(edit[2], 1, true)
      local other = EDITED:sub(1, from - 1) .. edit[3] .. EDITED:sub(to + 1)
      assert.is_true(loadstring(other) ~= nil)
      local whole = compiled(other)
      each_dump(EDITED, function(list, what)
        assert.is_nil(dumps.find(whole, list), what)
      end)
    end)
  end

  -- Only flags that mean nothing may hide a change.
  it("is not that of any other bytes", function()
    -- Without jumps, two of which are one bit apart and mean the same: see "other pairs".
    local whole, unnoticed, tried = compiled((EDITED:gsub("  for k, v in.-\n", ""))), {}, 0
    for number, record in ipairs(whole) do
      for at = 1, #record do
        for _, bit in ipairs {1, 2, 4, 8, 16, 32, 64, 128} do
          local byte = record:byte(at)
          local flipped = byte % (2 * bit) >= bit and byte - bit or byte + bit
          local changed = {unpack(whole)}
          changed[number] = record:sub(1, at - 1) .. string.char(flipped) .. record:sub(at + 1)
          tried = tried + 1
          if dumps.find(whole, changed) then
            unnoticed[#unnoticed + 1] = ("%d.%d"):format(at, bit)
          end
        end
      end
    end
    assert.is_true(tried > 2000)
    -- All flags but the second are in the first byte of each record.
    for _, place in ipairs(unnoticed) do
      local at, bit = place:match("(%d+)%.(%d+)")
      assert.is_true(at == "1" and bit ~= "2", place)
    end
    assert.equal(7 * #whole, #unnoticed)
  end)

  it("is not looked for where there is none", function()
    assert.is_nil(dumps.records("return 1"))
    assert.is_nil(dumps.records(""))
    assert.is_nil(dumps.records(string.dump(loadstring("return 1"), true)))
    local dump = string.dump(loadstring(EDITED, "=text"))
    assert.is_nil(dumps.records(dump:sub(1, 3) .. "\3" .. dump:sub(5))) -- another format
    for length = 0, #dump - 1 do assert.is_nil(dumps.records(dump:sub(1, length))) end
    assert.is_truthy(dumps.records(dump))
  end)

  it("is not found because a string looks like it", function()
    local inner = records(loadstring("return function() return 1 end", "=text")())
    local quoted = ("return %q"):format(inner[1])
    assert.is_nil(dumps.find(compiled(quoted), inner))
  end)
end)
