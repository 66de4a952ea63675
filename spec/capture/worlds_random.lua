-- SPDX-License-Identifier: MIT
--
-- Random programs that change what every program has: functions of libraries replaced, added and
-- gone, metatables of libraries and of plain values, modules that are loaded before the loop, in
-- its body or in functions that it calls. Bodies reach all that by any of its names. A program is a
-- text, made from its number alone; it is given `parallel`, `each`, `zeros`, `list` and `tools`,
-- and returns lists. Programs of one group share a text that is run before the module is loaded.

local parts = require "spec.capture.worlds_parts"
local random_text = require "spec.support.random_text"

local FUNCTIONS, GONE, MODULES = parts.functions, parts.gone, parts.modules

local M = {}

local N = 12

--- So many programs are a group, those whose numbers share all but the remainder by it.
M.group = 30

local Gen = random_text.class()

-- Replaces, or adds, a function, by one that finds something of the program if `state`.
function Gen:replace(entry, state)
  local name = entry[1] .. "." .. entry[2]
  local body = entry[3 + self:random(#entry - 3)]
  if state then body = self:pick(parts.with_state) end
  if entry.text and body:find "^function%(%.%.%.%)" then
    body = body:gsub("return (.*) end", "return %1 .. 'x' end")
  end
  self:add("do local own, k = %s, %d %s = %s end", name, self:random(9), name, body)
  self.present[entry] = true
  self.last = self:chance(50) and entry or self.last
end

local CHANGES = {
  function(self) self:replace(self:pick(FUNCTIONS), not self.early and self:chance(15)) end,
  function(self) self:add("%s.%s = nil", unpack(self:pick(GONE))) end,
  function(self)
    self:add("setmetatable(%s, {__index = {cube = function(x) return x * x * %d end}})",
      self:pick { "math", "string", "table" }, self:random(5))
  end,
  function(self)
    self:add("getmetatable('').__%s = function(a, b) return #(a .. b) + %d end",
      self:pick { "add", "sub", "mul" }, self:random(9))
    self:add("getmetatable('').__call = function(s, x) return #s * x end")
  end,
  function(self)
    self:add("local own, k = string, %d", self:random(9))
    self:add("getmetatable('').__index = function(s, key)")
    self:add("  if type(key) == 'number' then return #s + key + k end")
    self:add("  return %s[key] end", self:pick { "own", "string" })
  end,
  function(self)
    self:add("getmetatable('').__index = setmetatable({size = %d}, {__index = string})",
      self:random(9))
  end,
  function(self)
    self:add("debug.setmetatable(0, {__index = {any = %d,", self:random(9))
    self:add("  half = function(x) return (x - x %% 2) / 2 + %d end}})", self:random(9))
  end,
  function(self)
    self:add("local k = %d debug.setmetatable(%s, {__index = function(_, key) return #key + k "
      .. "end})", self:random(9), self:pick { "nil", "true", "print" })
  end,
  function(self) self:add("string.tally = %d", self:random(9)) end,
}

-- Functions are replaced more often than anything else is changed.
function Gen:change()
  self:add "do"
  CHANGES[self:chance(60) and 1 or self:random(#CHANGES)](self)
  self:add "end"
end

local function early(number)
  local group = math.floor(number / M.group)
  local self = random_text.new(Gen, group + 7777, { present = {}, early = true })
  for _ = 1, self:random(4) - 1 do self:change() end
  return table.concat(self.lines, "\n"), self.present
end

--- What a group's programs run before the module is loaded.
function M.early(number) return (early(number)) end

-- Ways to call a function of a library; %s is "library.name", then the library, the name.
local WAYS = { "%s", "%s", "%s", "_G.%s", "kept_%2$s_%3$s", "taken.%3$s", "own_%2$s.%3$s",
  "far.%3$s_of", "via_%2$s.%3$s", "require '%2$s'.%3$s", "%2$s['%3$s']",
  "own_%2$s[key_of.%3$s]" }

-- Lua's format knows no %2$s.
local function with(way, library, name)
  return (way:gsub("%%2%$s", library):gsub("%%3%$s", name):gsub("%%s", library .. "." .. name))
end

-- A call of a library's function, as a number.
function Gen:call()
  local entry
  repeat entry = self:pick(FUNCTIONS) until not entry.added or self.present[entry]
  if self.last and self:chance(50) then entry = self.last end
  local library, name, given = entry[1], entry[2], entry[3]
  local call
  if library == "string" and self:chance(50) then -- as a method
    call = self:pick { "word(i)", "words[i % 3 + 1]", "('ab')", "via_word(i)" }
      .. ":" .. name .. (given:find(",", 1, true) and "(" .. given:match ", (.*)$" or "()")
  else
    call = with(self:pick(WAYS), library, name) .. given
  end
  if self:chance(38) then call = self:function_of(call) end
  return entry.text and "#" .. call or call
end

-- A function of the program, or a method, that gives what an expression does.
function Gen:function_of(call)
  local n = self.functions + 1
  self.functions = n
  local alone = call:find "^%(?require" and not (call:find "word" or call:find "[%(%s]three%)"
    or call:find "zero" or call:find "key_of")
  if alone and self:chance(50) then -- without its text
    self:add("local f%d = loadstring(string.dump(loadstring('local i = ... return %s'), true))",
      n, (call:gsub("'", '"')))
    return ("f%d(i)"):format(n)
  end
  local form = self:random(4)
  if form == 1 then
    self:add("local function f%d(i) return %s end", n, call)
    return ("f%d(i)"):format(n)
  elseif form == 2 then
    self:add("local function f%d(i, ...) return %s end", n, call)
    return ("f%d(i, i)"):format(n)
  elseif form == 3 then
    self:add("local class%d = {at = function(self, i) return %s end}", n, call)
    self:add("local object%d = setmetatable({}, {__index = class%d})", n, n)
    return ("object%d:at(i)"):format(n)
  end
  self:add("local inner%d = {list = {function(i) return %s end}}", n, call)
  return ("inner%d.list[1](i)"):format(n)
end

-- What the other changes may be seen by: each gives a number whatever is changed.
local SEEN = {
  function(self)
    local library = self:pick { "math", "string", "table" }
    return ("(%s.cube or zero)(i)"):format(self:pick { library, "own_" .. library })
  end,
  function(self)
    return ("((getmetatable('').__%s or zero)('x', 'yz'))"):format(self:pick { "add", "sub" })
  end,
  function(self)
    return ("(has_%s and word(i) %s 'b' or 1)"):format(self:pick { "add", "sub", "mul" },
      self:pick { "+", "-", "*" })
  end,
  function() return "(has_call and word(i)(i) or 2)" end,
  function(self) return ("(word(i)[%d] or 3)"):format(self:random(3)) end,
  function() return "(word(i).size or 4)" end,
  function() return "(has_number and i:half() or 6)" end,
  function() return "(has_number and (7).any + (i + 1):half() or 6)" end,
  function() return "(has_nil and none.abc or 7)" end,
  function() return "(has_boolean and (i > 4).ab or 8)" end,
  function() return "(has_function and zero.abcd or 9)" end,
  function(self)
    return ("(%s or 0)"):format(self:pick { "string.tally", "word(i).tally", "own_string.tally",
      "('x').tally", "rawget(string, 'tally')" })
  end,
}

-- The operators that strings have decide which expressions may be written.
local OPERATORS = { ["+"] = "add", ["-"] = "sub", ["*"] = "mul" }

function Gen:seen()
  local text = SEEN[self:random(#SEEN)](self)
  local operator = text:match "word%(i%) (.) 'b'"
  if operator then text = text:gsub("has_%a+", "has_" .. OPERATORS[operator]) end
  return self:chance(30) and self:function_of(text) or text
end

function Gen:modules()
  self:add("package.path = tools.path .. package.path")
  for _, module in ipairs(MODULES) do
    local text = module[2]:gsub("%s+", " "):format(self:random(9), self:random(9), self:random(9))
    if self:chance(25) then
      self:add("package.preload[%q] = loadstring(%q)", module[1], text)
    else
      self:add("tools.write(%q, %q)", module[1], text)
    end
  end
  if self.impure then -- no worker has loaded it
    self:add("key_of.own = 'own_%d'", self.number)
    self:add("tools.write(key_of.own, 'return function(x) return x * %d end')", self:random(9))
  end
  for _, module in ipairs(MODULES) do -- what is captured; others are loaded late
    local name = module[1]
    if self:chance(50) then
      self:add("local m_%s = require '%s'", name, name)
      self.loaded[name] = true
    end
  end
  local has_one = self.loaded.one or self.loaded.two
  for _ = 1, has_one and self:random(3) - 1 or 0 do
    self:add(self:pick { "require 'one'.scale = %d", "require 'one'.set(%d)",
      "require 'one'.n = %d", "require 'one'.added = function(x) return x * %d end",
      "package.loaded.one.list = {3, %d}" }, self:random(9))
  end
  if self.loaded.four and self:chance(50) then
    self:add("m_four.count = m_four.count + %d", self:random(9))
  end
end

function Gen:module_use()
  local module = self:pick(MODULES)
  local name, forms = module[1], module
  local form = module.rare and self:chance(12) and self:pick(module.rare)
    or forms[2 + self:random(#forms - 2)]
  local path = ("require '%s'"):format(name)
  if self.loaded[name] and self:chance(40) then path = "m_" .. name end
  if self.impure and self:chance(60) then return "require(key_of.own)(i)" end
  if self:chance(5) and not self.impure then path = ("require(key_of.%s)"):format(name) end
  local text = form:gsub("%%s", (path:find "^require" and "(" .. path .. ")" or path))
  return self:chance(35) and self:function_of(text) or text
end

-- A term of an expression.
function Gen:term()
  local choice = self:random(100)
  if choice <= 8 then return "i" end
  if choice <= 14 then return "A[i]" end
  if choice <= 20 then return "B[i]" end
  if choice <= 58 then return self:call() end
  if choice <= 78 then return self:seen() end
  return self:module_use()
end

function Gen:expression()
  local text = self:term()
  for _ = 1, self:random(3) - 1 do
    text = ("%s %s %s"):format(text, self:pick { "+", "-", "+" }, self:term())
  end
  return ("(%s) %% 97"):format(text)
end

local STATEMENTS = {
  function(self) return ("A[i] = %s"):format(self:expression()) end,
  function(self) return ("B[i] = %s"):format(self:expression()) end,
  function(self) return ("total = total + %s"):format(self:expression()) end,
  function(self) return ("out[i] = %s"):format(self:expression()) end,
  function(self)
    return ("do local m = require '%s' A[i] = (%s + m.scale) %% 97 end"):format("one", self:term())
  end,
  function(self)
    return ("string.tally = (string.tally or 0) + %d A[i] = %s"):format(self:random(5),
      self:expression())
  end,
  function() return "require 'one'.n = i" end,
  function(self)
    return ("%s A[i] = %s"):format(self:pick { "shared.n = shared.n + i", "total = total + i" },
      self:expression())
  end,
}

local OFTEN = { 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 6, 7, 8, 8 }

-- Names that programs have for what they use.
function Gen:names()
  self:add "local words, three = {'ab', 'cde', 'Xyz1'}, {4, 5, -6}"
  self:add "local function zero(...) return 0 end"
  self:add "local function word(i) return words[i %% 3 + 1] end"
  self:add "local function via_word(i, ...) return word(i + 1) end"
  self:add "local none, key_of, far, kept, taken = nil, {}, {}, {}, {}"
  self:add "local A, B, out, total, shared = zeros(16), zeros(16), {}, 0, {n = 1}"
  for _, library in ipairs { "string", "math", "table", "bit" } do
    self:add("local own_%s, via_%s = %s, setmetatable({}, {__index = %s})", library, library,
      library, library)
  end
  for _, entry in ipairs(FUNCTIONS) do
    self:add("local kept_%s_%s = %s.%s", entry[1], entry[2], entry[1], entry[2])
    self:add("key_of.%s = '%s'", entry[2], entry[2])
  end
  for _, module in ipairs(MODULES) do self:add("key_of.%s = '%s'", module[1], module[1]) end
end

-- Names of what the program has changed.
function Gen:new_names()
  for _, entry in ipairs(FUNCTIONS) do
    local library, name = entry[1], entry[2]
    self:add("taken.%s = %s.%s", name, library, name)
    self:add("far.%s_of = function(...) return %s.%s(...) end", name, library, name)
    if entry.added then
      self:add("kept_%s_%s = kept_%s_%s or %s.%s", library, name, library, name, library, name)
    end
  end
  self:add "local function has(value, event) local m = debug.getmetatable(value)"
  self:add "  return m and m[event] ~= nil end"
  for _, event in ipairs { "add", "sub", "mul", "call" } do
    self:add("local has_%s = has('', '__%s')", event, event)
  end
  for _, each in ipairs { { "number", "0" }, { "nil", "nil" }, { "boolean", "true" },
    { "function", "print" } } do
    self:add("local has_%s = has(%s, '__index')", each[1], each[2])
  end
end

-- Bodies about one change.
local THEMES = {
  function(self) -- methods that find what the body assigns
    local entry = FUNCTIONS[self:random(7)]
    self:replace(entry, true)
    local call = ("%sword(i):%s(2)"):format(entry.text and "#" or "", entry[2])
    return { self:pick { "shared.n = shared.n + i", "total = total + i", "A[i] = i" },
      ("B[i] = (%s + i) %% 97"):format(self:chance(50) and self:function_of(call) or call) }
  end,
  function(self)
    local gone = self:pick(GONE)
    local name = gone[1] .. "." .. gone[2]
    self:add("%s = nil", name)
    return { ("A[i] = %s + i"):format(self:function_of(("(%s and 3 or 5)"):format(name))) }
  end,
}

--- The text of a program.
-- @number number of the program
function M.text(number)
  local _, present = early(number)
  local self = random_text.new(Gen, number, { present = present, functions = 0, loaded = {},
    number = number })
  self.impure = self:chance(8)
  self:add("-- program %d, of group %d", number, math.floor(number / M.group))
  self:add "local parallel, each, zeros, list, tools = ..."
  self:names()
  for _ = 1, self:random(4) do self:change() end
  self:new_names()
  self:modules()
  local closure, body = not self.impure and self:chance(25), {}
  if self:chance(15) then
    body = self:pick(THEMES)(self)
  else
    for k = 1, self:random(2) do body[k] = STATEMENTS[self:pick(OFTEN)](self) end
  end
  self:add(closure and "each(%d, function(i)" or "for i in parallel(%d%s) do", N,
    self.impure and ", {impure = true}" or "")
  for _, statement in ipairs(body) do self:add("  %s", statement) end
  self:add(closure and "end)" or "end")
  self:add "total = {total, shared.n, string.tally or 0, require 'one'.n}"
  self:add "return {list(A), list(B), list(out), total}"
  return table.concat(self.lines, "\n")
end

return M
