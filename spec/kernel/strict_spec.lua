-- SPDX-License-Identifier: MIT
-- Arithmetic gives the same bits interpreted and compiled, on special values and random ones; the
-- block loop of a typical body compiles.
local ffi = require "ffi"
local child = require "spec.support.child"
local strict = require "meissa.base.strict"

local seed = require "spec.support.seed"

local values = { 0, -0.0, 0.5, -0.5, -0.96, 1, -1, 2, -2, 3, -3, 1.5, -2.5, 0.1, 7, 1e300, -1e300,
  1e-310, -1e-310, 1 / 0, -1 / 0, 0 / 0, 2 ^ 31, -2 ^ 31, 2 ^ 53, 2 ^ 31 - 0.5, 2 ^ 63, 2 ^ 32 }
math.randomseed(seed)
for _ = 1, 40 do values[#values + 1] = (math.random() - 0.5) * 10 ^ math.random(-5, 12) end

local function bits(x)
  if type(x) ~= "number" then return tostring(x) end
  if x ~= x then return "nan" end
  return ffi.string(ffi.new("double[1]", x), 8)
end

-- Results of an expression in a and b over all pairs of values.
local function table_of(expression, setting)
  local fn = assert(loadstring("local values, strict, out = ... " ..
    "local math, bit = strict.math, strict.bit for _, a in ipairs(values) do " ..
    "for _, b in ipairs(values) do out[#out + 1] = " .. expression .. " end end"))
  local out = {}
  jit.flush()
  setting()
  fn(values, strict, out)
  jit.on()
  jit.opt.start("hotloop=56", "hotexit=10")
  return out
end

local function eager()
  jit.opt.start("hotloop=2", "hotexit=2")
end

-- What bodies may use that LuaJIT computes itself, and what strict.lua replaces.
local expressions = { "a + b", "a - b", "a * b", "a / b", "a % b", "-a", "a % 7", "a % -2.5",
  "a / 4",
  "0 - a", "math.floor(a)", "math.ceil(a)", "math.abs(a)", "math.sqrt(a)", "math.exp(a)",
  "math.log(a)", "math.log10(a)", "math.log(a, 2)", "math.sin(a)", "math.cos(a)", "math.tan(a)",
  "math.asin(a)", "math.acos(a)", "math.atan(a)", "math.atan2(a, b)", "math.sinh(a)",
  "math.cosh(a)",
  "math.tanh(a)", "math.fmod(a, b)", "math.pow(a, b)", "math.max(a, b)", "math.min(a, b)",
  "math.max(a, b, 0)", "math.min(a, 1, b)", "math.max(a)", "math.deg(a)", "math.rad(a)",
  "math.ldexp(a, 3)", "(math.frexp(a))", "(math.modf(a))", "strict.pow(a, 2)", "strict.pow(a, b)",
  "strict.pow(a, 0.5)", "math.floor(a / 3)", "math.floor(a + 0.5)", "tostring(a)",
  "a < b and a or b", "a == b", "bit.band(a, 255)", "bit.tobit(a)",
  "bit.tobit(a + 1)", "bit.tobit(a - b)", "bit.band(a + b, 255)", "bit.bor(a - 2, 1, b + 1)",
  "bit.lshift(1, a + 1)", "bit.bnot(b + 3)" }

describe("arithmetic (MEISSA_TEST_SEED=" .. seed .. ")", function()
  for _, expression in ipairs(expressions) do
    it("agrees interpreted and compiled: " .. expression, function()
      local interpreted = table_of(expression, jit.off)
      local compiled = table_of(expression, eager)
      for n = 1, #interpreted do
        if bits(interpreted[n]) ~= bits(compiled[n]) then
          local a, b = values[math.floor((n - 1) / #values) + 1], values[(n - 1) % #values + 1]
          error(("a = %.17g, b = %.17g: %s, compiled %s"):format(a, b, tostring(interpreted[n]),
            tostring(compiled[n])))
        end
      end
    end)
  end

  it("keeps the interpreter's max and min, and squares exactly", function()
    jit.off()
    for _, a in ipairs(values) do
      assert.equal(bits(a * a), bits(strict.pow(a, 2)))
      for _, b in ipairs(values) do
        assert.equal(bits(math.max(a, b)), bits(strict.max(a, b)))
        assert.equal(bits(math.min(a, b)), bits(strict.min(a, b)))
        assert.equal(bits(math.max(a, b, 1)), bits(strict.max(a, b, 1)))
      end
    end
    jit.on()
  end)

  it("converts strings, calls metamethods and refuses the rest at the caller", function()
    assert.equal(8, strict.pow("2", 3))
    assert.equal(9, strict.pow(3, "2"))
    assert.equal(3, strict.max("3", 2))
    assert.equal(-1, strict.ceil("-1.5"))
    local power = setmetatable({}, { __pow = function(_, b) return b end })
    assert.equal(4, strict.pow(power, 4))
    local calls = {
      { function() return strict.pow(nil, 2) end, "attempt to perform arithmetic on a nil value" },
      { function() return strict.pow(2, {}) end, "attempt to perform arithmetic on a table value" },
      { function() return strict.max(1, nil) end,
          "bad argument #2 to 'max' (number expected, got nil)" },
      { function() return strict.min() end,
          "bad argument #1 to 'min' (number expected, got no value)" },
      { function() return strict.pow(2, nil) end, "attempt to perform arithmetic on a nil value" },
      { function() return strict.bit.band(3, nil) end,
          "bad argument #2 to 'band' (number expected, got nil)" },
      { function() return strict.bit.bor() end,
          "bad argument #1 to 'bor' (number expected, got no value)" },
      { function() return strict.ceil({}) end,
          "bad argument #1 to 'ceil' (number expected, got table)" },
    }
    for _, call in ipairs(calls) do
      local ok, message = pcall(function()
        local result = call[1]()
        return result
      end)
      assert.is_false(ok)
      assert.truthy(message:find(call[2], 1, true), message)
    end
  end)
end)

describe("a block loop", function()
  -- In a process of its own, where nothing else has been compiled.
  it("compiles without anything that LuaJIT gives up on", function()
    local output, status = child.shell("luajit spec/support/watch_kernel.lua")
    assert.equal(0, status, output)
    local loops, aborts = output:match("^loops (%d+) aborts ([^\n]*)\n$")
    assert.is_true(tonumber(loops) > 0)
    assert.equal("", aborts)
  end)
end)
