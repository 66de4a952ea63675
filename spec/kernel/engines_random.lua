-- SPDX-License-Identifier: MIT
-- Random numeric bodies for the differential test of the engines: all operators on nan, infinities,
-- signed zeros and denormals, integer arrays, math and bit, loops of every kind, functions, views,
-- row builtins, reductions, and, in some, errors. The same bodies on every machine for a seed.
local entries_of = require("meissa.base.tables").each
local row_methods = require("spec.support.row_methods")
local features = dofile("spec/kernel/engines_features.lua")
local worlds = dofile("spec/kernel/engines_world.lua")

local M = {}

-- ---------------------------------------------------------------------------------- expressions

local Body = {}
Body.__index = Body

function Body:pick(list)
  return list[self.random(#list)]
end

function Body:chance(percent)
  return self.random(100) <= percent
end

function Body:fresh(prefix)
  self.made = self.made + 1
  return prefix .. self.made
end

-- Arrays with 6 columns, whose rows are this iteration's own.
local floating = { "P", "N", "E", "F", "S", "U", "T[i][1]", "T[i][2]" }
local whole = { "C", "L" }

local function row_text(name)
  return name:find("[", 1, true) and name or name .. "[i]"
end

-- A whole number that is small for sure.
function Body:whole(depth)
  if depth <= 0 or self:chance(25) then
    local choices = { "i", "z", "m", "y", tostring(self.random(12) - 4), "D[i] % 9", "C[i][2] % 7" }
    for _, name in ipairs(self.columns) do choices[#choices + 1] = name end
    return self:pick(choices)
  end
  local a, b = self:whole(depth - 1), self:whole(depth - 1)
  local roll = self.random(8)
  if roll <= 3 then return ("(%s %s %s)"):format(a, self:pick { "+", "-", "*" }, b) end
  if roll == 4 then return ("(%s) %% %s"):format(a, self:pick { "5", "-3", "8", "z" }) end
  if roll == 5 then return ("math.floor(%s / %s)"):format(a, self:pick { "2", "3", "4" }) end
  if roll == 6 then
    return ("bit.%s(%s, %s)"):format(self:pick { "band", "bor", "bxor" }, a, b)
  end
  if roll == 7 then return ("-(%s)"):format(a) end
  return ("math.%s(%s, %s)"):format(self:pick { "max", "min" }, a, b)
end

-- A subscript for an extent of 6; in bodies with errors not always in range.
function Body:column(depth)
  if self.errors and self:chance(8) then
    return self:pick { "7", "0", "i", "1.5", "x", "undefined", "-1", "infinite", self:whole(1),
      self:number(1) }
  end
  local choices = { tostring(self.random(6)) }
  for _, name in ipairs(self.columns) do
    choices[#choices + 1] = name
    choices[#choices + 1] = ("7 - %s"):format(name)
    choices[#choices + 1] = ("(%s %% 6 + 1)"):format(name)
  end
  if depth > 0 then
    choices[#choices + 1] = ("(%s) %% 6 + 1"):format(self:whole(depth - 1))
    choices[#choices + 1] = ("Q[%s]"):format(self:column(0))
    choices[#choices + 1] = ("bit.band(%s, 3) + 1"):format(self:number(depth - 1))
    choices[#choices + 1] = ("math.floor(%s / 2 + 0.5)"):format(self:column(0))
  end
  return self:pick(choices)
end

-- An element to read or, of an array of floating type, to write.
function Body:element(depth, own)
  local k = self:column(depth)
  local choices = { "B[i]", "V[i]", ("A[i][%s + 2]"):format(k), ("A[{i, %s}]"):format(k),
    ("G[i][%s * 3 - 2]"):format(k), ("T[{i, %d, %s}]"):format(self.random(2), k) }
  for _, name in ipairs(floating) do
    choices[#choices + 1] = ("%s[%s]"):format(row_text(name), k)
  end
  for _, name in ipairs(self.views) do choices[#choices + 1] = ("%s[%s]"):format(name, k) end
  if not own then
    choices[#choices + 1] = ("C[i][%s]"):format(k)
    choices[#choices + 1] = ("L[i][%s]"):format(k)
    choices[#choices + 1] = "D[i]"
    choices[#choices + 1] = ("R[%s * 2]"):format(k)
    choices[#choices + 1] = ("R[(%s) %% 12 + 1]"):format(self:whole(1))
  end
  return self:pick(choices)
end

-- A row; `long` ones have 19 columns, others 6.
function Body:row(long)
  if long then return self:pick { "G[i]", "H[i]" } end
  if #self.views > 0 and self:chance(40) then return self:pick(self.views) end
  return row_text(self:pick(floating))
end

local leaves = { "x", "y", "z", "i", "half", "0.5", "3", "1e-3", "2", "0", "-0.0", "big", "tiny",
  "zero", "negative", "infinite", "undefined", "math.huge", "math.pi", "1e308",
  "0x7fffffff", "4294967296" }

local functions_of_one = { "abs", "abs", "floor", "floor", "ceil", "ceil", "sqrt", "sqrt", "exp",
  "log", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "deg",
  "rad" }

function Body:leaf()
  if #self.locals > 0 and self:chance(45) then return self:pick(self.locals) end
  if #self.columns > 0 and self:chance(15) then return self:pick(self.columns) end
  return self:pick(leaves)
end

-- What gives a number, each with its weight.
local numbers = {
  { 22, function(self, d)
    return ("(%s %s %s)"):format(self:number(d), self:pick { "+", "-", "*", "/" }, self:number(d))
  end },
  { 8, function(self, d)
    -- As compilers like to contract it.
    return ("(%s * %s + %s)"):format(self:number(d), self:number(d), self:number(d))
  end },
  { 7, function(self, d) return ("(%s %% %s)"):format(self:number(d), self:number(d)) end },
  { 4, function(self, d)
    return ("(%s ^ %s)"):format(self:number(d), self:pick { "2", "2", "0.5", "3", "-1", "x",
      self:number(0) })
  end },
  { 5, function(self, d) return ("(- %s)"):format(self:number(d)) end },
  { 2, function(self)
    return ("(1 / (- %s))"):format(self:pick { "zero", "negative", "infinite", self:leaf() })
  end },
  { 2, function(self)
    local zeros = { "zero", "negative", "-0.0", "0" }
    return ("(1 / math.%s(%s, %s))"):format(self:pick { "max", "min" }, self:pick(zeros),
      self:pick(zeros))
  end },
  { 12, function(self, d)
    return ("math.%s(%s)"):format(self:pick(functions_of_one), self:number(d))
  end },
  { 4, function(self, d)
    return ("math.%s(%s, %s)"):format(self:pick { "atan2", "fmod", "pow", "log" }, self:number(d),
      self:number(d))
  end },
  { 1, function(self, d) return ("math.ldexp(%s, %s)"):format(self:number(d), self:whole(1)) end },
  { 6, function(self, d)
    local third, name = self:chance(25) and ", " .. self:number(0) or "", self:pick { "max", "min" }
    if self:chance(40) then
      local edges = { "zero", "negative", "undefined", "-0.0", "0", self:number(0) }
      return ("math.%s(%s, %s%s)"):format(name, self:pick(edges), self:pick(edges), third)
    end
    return ("math.%s(%s, %s%s)"):format(name, self:number(d), self:number(d), third)
  end },
  { 5, function(self, d)
    return ("bit.%s(%s, %s)"):format(self:pick { "band", "bor", "bxor", "lshift", "rshift",
      "arshift", "rol", "ror" }, self:number(d), self:number(0))
  end },
  { 2, function(self, d)
    return ("bit.%s(%s)"):format(self:pick { "tobit", "bnot", "bswap" }, self:number(d))
  end },
  { 5, function(self, d)
    return ("(%s and %s or %s)"):format(self:condition(d), self:number(d), self:number(d))
  end },
  { 5, function(self)
    local long = self:chance(35)
    if self:chance(50) then return ("%s:dot(%s)"):format(self:row(long), self:row(long)) end
    return ("%s:%s()"):format(self:row(long), self:pick { "sum", "norm" })
  end },
  { 2, function(self)
    return self:pick { "random()", "random(6)", "random(-3, 90)", "normal()" }
  end },
  { 6, function(self, d) return self:whole(d) end },
  { 4, function(self, d)
    if #self.functions == 0 then return self:element(d) end
    return ("(%s(%s, %s))"):format(self:pick(self.functions), self:number(d), self:number(0))
  end },
  { 18, function(self, d) return self:element(d) end },
}
local total_weight = 0
for _, each in ipairs(numbers) do total_weight = total_weight + each[1] end

function Body:number(depth)
  if depth <= 0 then return self:leaf() end
  local roll = self.random(total_weight)
  for _, each in ipairs(numbers) do
    roll = roll - each[1]
    if roll <= 0 then return each[2](self, depth - 1) end
  end
end

function Body:condition(depth)
  local roll = self.random(10)
  if depth > 0 and roll <= 2 then
    return ("(%s %s %s)"):format(self:condition(depth - 1), self:pick { "and", "or" },
      self:condition(depth - 1))
  elseif roll == 3 then
    return ("not (%s)"):format(self:condition(0))
  elseif roll == 4 then
    local choices = { "flag", "off", "flag ~= off" }
    for _, name in ipairs(self.booleans) do choices[#choices + 1] = name end
    return self:pick(choices)
  end
  return ("%s %s %s"):format(self:number(depth), self:pick { "<", ">", "<=", ">=", "==", "~=" },
    self:number(depth))
end

-- ----------------------------------------------------------------------------------- statements

local KEPT = { "locals", "views", "columns", "booleans", "functions", "maybes", "changers" }

-- Statements that see more names than the rest of the body.
function Body:scope(more, depth, most)
  local saved = {}
  for _, field in ipairs(KEPT) do
    saved[field] = self[field]
    self[field] = {}
    for _, name in ipairs(saved[field]) do table.insert(self[field], name) end
    for _, name in ipairs(more[field] or {}) do table.insert(self[field], name) end
  end
  local text = self:block(depth, most)
  for field, list in entries_of(saved) do self[field] = list end
  return text
end

local statements = {}

function statements.declare(self, depth)
  local again = #self.locals > 0 and self:chance(15)
  local name = again and self:pick(self.locals) or self:fresh("v")
  local text = ("local %s = %s"):format(name, self:number(depth))
  table.insert(self.locals, name)
  return text
end

function statements.declare_two(self, depth)
  local one, two = self:fresh("v"), self:fresh("v")
  local text = ("local %s, %s = %s, %s"):format(one, two, self:number(depth), self:number(1))
  table.insert(self.locals, one)
  table.insert(self.locals, two)
  return text
end

function statements.boolean(self, depth)
  local name = self:fresh("b")
  local text = ("local %s = %s"):format(name, self:condition(depth))
  table.insert(self.booleans, name)
  return text
end

function statements.view(self)
  local name = self:fresh("w")
  local text = ("local %s = %s"):format(name, row_text(self:pick(floating)))
  table.insert(self.views, name)
  return text
end

function statements.store(self, depth)
  return ("%s = %s"):format(self:element(1, true), self:number(depth + 1))
end

function statements.store_whole(self, depth)
  local value = self:chance(50) and self:whole(depth)
    or ("bit.%s(%s, 1023)"):format(self:pick { "band", "band", "bxor" }, self:number(depth))
  if self.errors and self:chance(20) then value = self:number(depth) end
  if self:chance(30) then return ("D[i] = %s"):format(value) end
  return ("%s[i][%s] = %s"):format(self:pick(whole), self:column(1), value)
end

function statements.swap(self, depth)
  return ("%s, %s = %s, %s"):format(self:element(0, true), self:element(0, true),
    self:number(depth), self:number(depth))
end

function statements.assign(self, depth)
  if #self.locals == 0 then return statements.declare(self, depth) end
  return ("%s = %s"):format(self:pick(self.locals), self:number(depth))
end

-- Each scalar is a reduction of one kind; some only where they run in every iteration.
function statements.reduce(self, depth)
  local a = self:number(depth)
  return self:pick {
    ("sum = sum + %s"):format(a), ("sum = sum - %s"):format(a),
    ("product = product * %s"):format(a), "hits = hits + 1",
    ("if %s then hits = hits + 1 end"):format(self:condition(depth)),
    ("most = math.max(most, %s)"):format(a), ("least = math.min(least, %s)"):format(a),
    ("all = all and %s"):format(self:condition(0)), ("some = some or %s"):format(self:condition(0)),
  }
end

function statements.rows(self, depth)
  local long = self:chance(35)
  local y, x, a = self:row(long), self:row(long), self:number(math.min(depth, 1))
  return row_methods.draw(self.random, y, x, a)
end

function statements.condition(self, depth)
  local text = ("if %s then\n%s\n"):format(self:condition(depth), self:scope({}, depth - 1, 2))
  if self:chance(30) then
    text = ("%selseif %s then\n%s\n"):format(text, self:condition(1), self:scope({}, depth - 1, 2))
  end
  if self:chance(40) then text = text .. "else " .. self:scope({}, depth - 1, 2) .. "\n" end
  return text .. "end"
end

function statements.loop(self, depth)
  local name = self:fresh("k")
  local bounds = self:pick { "1, m", "m, 1, -1", "2, 5", "1, 6, 2", "1, z", "1, D[i] % 7", "i, 6",
    "1, 6.5", "6, 1.5, -2" }
  local body = self:scope({ columns = bounds ~= "i, 6" and { name } or {}, locals = { name } },
    depth - 1, 3)
  return ("for %s = %s do %s\nend"):format(name, bounds, body)
end

-- Loops whose variable is no whole number, whose bounds are known when it begins, or that would
-- never end.
function statements.fractional(self, depth)
  local name, count = self:fresh("t"), self:fresh("c")
  local bounds = self:pick { "0, 1, 0.25", "x, 2", "0.1, 0.7, 0.1", "1, -1, -0.5", "zero, x * 3, x",
    "1, undefined", "3, infinite, 1e308", "1, 0", "-0.0, 0", "-infinite, 0",
    ("%s, %s, 1e9"):format(self:number(1), self:number(0)),
    ("%s, %s"):format(self:number(0), self:number(1)) }
  return ("local %s = 0\nfor %s = %s do %s = %s + 1 if %s > 5 then break end\n%s\nend"):format(
    count, name, bounds, count, count, count, self:scope({ locals = { name } }, depth - 1, 2))
end

function statements.whiled(self, depth)
  local name = self:fresh("c")
  return ("local %s = 0\nwhile %s < %d and %s do %s = %s + 1 %s\nend"):format(name, name,
    self.random(4), self:condition(1), name, name, self:scope({}, depth - 1, 2))
end

function statements.repeated(self, depth)
  local name, inner = self:fresh("c"), self:fresh("v")
  return ("local %s = 0\nrepeat local %s = %s %s = %s + 1 %s until %s > 2 or %s > %s"):format(
    name, inner, self:number(1), name, name, self:scope({ locals = { inner } }, depth - 1, 2), name,
    inner, self:number(0))
end

-- A loop with its own label to go on with.
function statements.continued(self, depth)
  local name, label = self:fresh("k"), self:fresh("next")
  local inside = { columns = { name } }
  return ("for %s = 1, 6 do\nif %s then goto %s end\ndo %s end\n::%s::\nend"):format(name,
    self:condition(1), label, self:scope(inside, depth - 1, 2), label)
end

function statements.leave(self)
  if self.depth > 1 then return "do end" end
  self.continues = true
  return ("if %s then goto continue end"):format(self:condition(1))
end

function statements.helper(self, depth)
  local name, first, second = self:fresh("f"), self:fresh("p"), self:fresh("p")
  local saved = self.functions
  self.functions = {} -- calls of calls grow fast
  local more = { locals = { first, second } }
  local inner = self:chance(50) and self:scope(more, 0, 2) or ""
  local locals = self.locals
  self.locals = { first, second }
  local text = ("local function %s(%s, %s) %s\nif %s then return %s end return %s end"):format(name,
    first, second, inner, self:condition(1), self:number(depth), self:number(1))
  self.locals, self.functions = locals, saved
  table.insert(self.functions, name)
  return text
end

local kinds = { "declare", "declare", "declare", "declare_two", "boolean", "view", "view", "store",
  "store", "store", "store", "store_whole", "store_whole", "swap", "assign", "assign", "reduce",
  "reduce", "rows", "rows", "condition", "condition", "loop", "loop", "loop", "fractional",
  "whiled", "repeated", "continued", "leave", "helper" }
local nesting = { condition = true, loop = true, fractional = true, whiled = true, repeated = true,
  continued = true, helper = true }
for name, statement in entries_of(features.statements) do statements[name] = statement end
for name in entries_of(features.nesting) do nesting[name] = true end
local all_kinds = {}
for _, list in ipairs { kinds, features.kinds } do
  for _, name in ipairs(list) do all_kinds[#all_kinds + 1] = name end
end

function Body:block(depth, most)
  local lines = {}
  self.depth = self.depth + 1
  for _ = 1, self.random(most) do
    local kind = self:pick(self.kinds)
    if depth <= 0 and nesting[kind] then kind = "store" end
    lines[#lines + 1] = statements[kind](self, math.min(depth, 2))
  end
  self.depth = self.depth - 1
  -- What was computed is to be seen.
  if #self.locals > 0 and self:chance(60) then
    lines[#lines + 1] = ("O[i][%d] = %s"):format(self.random(12), self.locals[#self.locals])
  end
  return table.concat(lines, self:chance(70) and "\n" or "; ")
end

local sizes = { 1, 2, 3, 7, 9, 16, 33 }

--- A random loop: {text =, n = iterations, pieces = blocks, seed =}.
-- @bool[opt] narrow without the statements of engines_features.lua
function M.loop(seed, narrow)
  local random = worlds.generator(seed * 7919 + 17)
  local self = setmetatable({ random = random, made = 0, depth = 0 }, Body)
  for _, field in ipairs(KEPT) do self[field] = {} end
  self.kinds = narrow and kinds or all_kinds
  self.errors = self:chance(12)
  local n = self:pick(sizes)
  local long = self:chance(2)
  if long then n = self:pick { 1000, 10000 } end
  local body = self:block(long and 1 or 3, long and 3 or 6)
  if self.continues then body = "do\n" .. body .. "\nend\n::continue::" end
  if self:chance(30) then
    for _, field in ipairs(KEPT) do self[field] = {} end
    body = ("do\n%s\nend\nlast = %s"):format(body, self:number(1))
  end
  local pieces = self:pick { 1, 2, 3, n }
  return { text = "for i in parallel(n) do\n" .. body .. "\nend", n = n, seed = seed,
    pieces = math.min(n, pieces), errors = self.errors }
end

return M
