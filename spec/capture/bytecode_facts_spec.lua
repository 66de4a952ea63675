-- SPDX-License-Identifier: MIT
--
-- What the bytecode of a function tells of its parameters.
local facts = require "meissa.capture.bytecode_facts"

describe("bytecode facts", function()
  it("tell which parameters a function may have a use for", function()
    local unused = {
      "function(t, _, s) return s.change < 1 end", "function(t) return t == 3 end",
      "function(t, _, s) print(t, s.change) if t > 9 then return end return s end",
      "function(t, _, s) local x, y for k = 1, t do x, y = k, s end return x .. y end",
      "function(t, _, s) return math.max(t, s[1], s[t]) > 2 end", "function() return false end",
      "function(t, _, s) local l = {t, s} l[t] = s return l end",
    }
    for _, text in ipairs(unused) do
      assert.is_false(facts.names_parameter(assert(loadstring("return " .. text))(), 2), text)
    end
    local used = {
      "return a", "return a[1]", "return a:sum()", "return a.x", "local b = a", "a = nil",
      "return t .. a", "return a .. t", "f(a)", "f(t, a)", "return f(a)", "return t, a",
      "return function() return a end", "return {a}", "t[1] = a", "t.x = a", "a[1] = t",
      "t[a] = 1", "return t[a]", "return -a", "return #a", "return a + t", "return t + a",
      "return a == t", "if a then return 1 end", "return a and t", "x = a", "t, a = nil",
      "for k = 1, a do end", "for k in a do end", "return (a)", "return 2 ^ a",
    }
    for _, body in ipairs(used) do
      local fn = assert(loadstring("return function(t, a, s) " .. body .. " end"))()
      assert.is_true(facts.names_parameter(fn, 2), body)
    end
    assert.is_true(facts.names_parameter(print, 2))
    assert.is_true(facts.names_parameter(function(...) return ... end, 2))
  end)
end)
