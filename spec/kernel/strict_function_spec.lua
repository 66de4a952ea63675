-- SPDX-License-Identifier: MIT
--
-- Functions with `^` as workers have them: compiled, with the `^` of all engines, and else what
-- they are: upvalues, lines, errors.
local bytecode_facts = require "meissa.capture.bytecode_facts"
local meissa = require "meissa"
local strict = require "meissa.base.strict"
local strict_function = require "meissa.kernel.strict_function"
local parallel = meissa.parallel

-- A function with its own upvalues, as it arrives.
local function strictly(fn)
  local code = assert(strict_function.of(fn))
  local made = assert(loadstring(code.dump))
  for n, from in ipairs(code.upvalues) do
    if from > 0 then
      debug.upvaluejoin(made, n, fn, from)
    else
      debug.setupvalue(made, n, strict.pow)
    end
  end
  assert.is_nil(bytecode_facts.about(made).power)
  return setfenv(made, getfenv(fn))
end

describe("strict functions", function()
  local scale, meissa_pow, holder = 3, 4, {}

  function holder.plain(x) return scale * x ^ 2 end
  function holder:method(x, ...) return self.k ^ select("#", ...) + (x + 1) ^ -x ^ 2 end
  holder.nested = function(x)
    local function inner(y) return y ^ scale end
    local t = {}
    function t.f(y) return (y ^ 0.5) ^ x end -- a line of its own
    return inner(x) + t.f(x)
  end
  holder.named = function(x) return meissa_pow ^ x end
  holder.split = function(
    a,
    b)
    local c = a
      ^ -- over lines
      b
    return c, debug.getinfo(1, "l").currentline
  end
  holder.k = 1.5

  it("give the same, by the one `^`", function()
    for _, name in ipairs { "plain", "nested", "named" } do
      assert.equal(holder[name](2), strictly(holder[name])(2))
    end
    assert.equal(holder:method(1.25, 1, 2, 3), strictly(holder.method)(holder, 1.25, 1, 2, 3))
    local numbers = 0
    local plain = strictly(holder.plain)
    scale = 1
    for n = 1, 50000 do numbers = numbers + (plain(n / 7e5) == n / 7e5 * (n / 7e5) and 1 or 0) end
    assert.equal(50000, numbers)
    scale = 3
  end)

  it("keep their lines and are compiled", function()
    local power, line = strictly(holder.split)(2, 3)
    assert.equal(8, power)
    assert.equal(select(2, holder.split(2, 3)), line)
    for _, name in ipairs { "plain", "nested", "split", "method" } do
      local code = debug.getinfo(holder[name], "S")
      local made = debug.getinfo(strictly(holder[name]), "S")
      assert.equal(code.linedefined, made.linedefined)
      assert.equal(code.lastlinedefined, made.lastlinedefined)
      assert.equal(code.source, made.source)
    end
    local _, message = pcall(strictly(holder.plain), {})
    local _, plain = pcall(holder.plain, {})
    assert.equal(plain:match("^.-:%d+: "), message:match("^.-:%d+: "))
    assert.truthy(message:find("attempt to perform arithmetic on", 1, true))
  end)

  it("are what workers run, with the bits of machine code", function()
    local function square(x) return x ^ 2 end
    local n = 20000
    local a, b = meissa.zeros(n), meissa.zeros(n)
    for i in parallel(n, {engine = "lua"}) do a[i] = square(i / 7e5) end
    for i in parallel(n, {engine = "native"}) do b[i] = square(i / 7e5) end
    local different = 0
    for i = 1, n do different = different + (a[i] == b[i] and 0 or 1) end
    assert.equal(0, different)
  end)

  it("have no text where there is none", function()
    assert.is_false(strict_function.of(assert(loadstring(string.dump(holder.plain, true)))))
  end)
end)
