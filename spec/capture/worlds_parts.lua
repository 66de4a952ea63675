-- SPDX-License-Identifier: MIT
--
-- What programs of spec/capture/worlds_random.lua are made of: functions of libraries, and modules.

local M = {}

-- Functions of libraries: what a call is given, whether it gives a text, and texts of what
-- replaces it, with `own`, the function that was there, and `k`, a number. Where LuaJIT has none:
-- `added`.
M.functions = {
  { "string", "len", "(word(i))", "function(s) return own(s) + k end",
    "function(s) return #s * k end" },
  { "string", "rep", "(word(i), 2)", "function(s, n) return own(s, n + 1) end",
    "function(s, n) return s .. k .. n end", text = true },
  { "string", "upper", "(word(i))", "string.lower", "function(s) return s .. s end", text = true },
  { "string", "byte", "(word(i), 1)", "function(s, n) return own(s, n) + k end",
    "function(s, n) return #s * k + n end" },
  { "string", "sub", "(word(i), 2)", "function(s) return s end",
    "function(s, n) return own(s, n) .. k end", text = true },
  { "string", "twice", "(word(i))", "function(s) return s .. s end",
    "function(s) return s:rep(2) .. 'x' end", text = true, added = true },
  { "string", "weight", "(word(i))", "function(s) return s:len() * k + s:byte(1) end",
    "function(s) return #s:upper() + k end", added = true },
  { "math", "floor", "(i / 2)", "math.ceil", "function(x) return own(x) + k end" },
  { "math", "abs", "(i - 6)", "function(x) return own(x) * k end",
    "function(x) return x * x end" },
  { "math", "max", "(i, 5)", "math.min", "function(a, b) return own(a, b) + k end" },
  { "math", "sign", "(i - 6)", "function(x) return x < 0 and -k or k end",
    "function(x) return math.max(x, 0) end", added = true },
  { "table", "concat", "(three)", "function(t) return #t .. 'k' end",
    "function(t) return own(t, ', ') .. k end", text = true },
  { "table", "total", "(three)", "function(t) return t[1] + t[#t] + k end",
    "function(t) local s = 0 for n = 1, #t do s = s + math.abs(t[n]) end return s end",
    added = true },
  { "bit", "bor", "(i, 8)", "bit.bxor", "function(a, b) return own(a, b) + k end" },
  { "bit", "pairs", "(i)", "function(a) return bit.bor(a, 1) * k end", added = true },
}

-- Functions that may be gone: nothing that programs call.
M.gone = { { "string", "reverse" }, { "math", "fmod" }, { "table", "maxn" } }

-- What replaces any function: these find variables and arrays of the program.
M.with_state = { "function(...) k = k + 1 return k end",
  "function(...) A[1] = A[1] + 1 return k end", "function(...) A[2] = k return A[7] + k end",
  "function(...) return total + k end", "function(...) return shared.n + k end" }

-- Modules: texts with numbers, and how bodies use what they give.
M.modules = {
  { "one", [[
    local M, private = {scale = %d, n = %d, list = {1, 2}}, %d
    function M.twice(x) return 2 * x * M.scale + private end
    function M.size(s) return s:len() + math.floor(private / 2) end
    function M.set(value) private = value end
    function M.next() M.n = M.n + 1 return M.n end
    function M.bump(...) private = private + select("#", ...) return private end
    return M]], "%s.twice(i)", "%s.scale", "%s.n + %s.list[2]", "%s.size(word(i))",
    "(%s.added or zero)(i)", rare = { "%s.next()", "%s.bump(i)", "%s.bump()" } },
  { "two", [[
    local one = require "one"
    local M = {one = one, k = %d}
    function M.of(x) return one.twice(x) + one.n * M.k end
    function M.late(x) return require "one".scale * x + %d end
    function M.third(x) return require("three")(x) + %d end
    return M]], "%s.of(i)", "%s.late(i)", "%s.third(i)", "%s.one.scale", "%s.k" },
  { "three", [[
    local k, at = %d, %d
    return function(x) return x * k + at - %d end]], "%s(i)" },
  { "four", [[
    local Class = {count = %d}
    Class.__index = Class
    function Class.new(x) return setmetatable({x = x}, Class) end
    function Class:get() return self.x * self.count + %d end
    function Class:more() self.x = self.x + %d return self end
    return Class]], "%s.new(i):get()", "%s.new(i):more():get()", "%s.count" },
}

return M
