-- SPDX-License-Identifier: MIT
-- Random numeric bodies for the differential test of the engines: all operators on nan, infinities,
-- signed zeros and denormals, integer arrays, math and bit, loops of every kind, functions, views,
-- row builtins, reductions, and, in some, errors. The same bodies on every machine for a seed.
local entries_of = require("meissa.base.tables").each
local bodies = require "spec.kernel.random_body"
local expressions = require "spec.kernel.engines_expressions"
local features = dofile("spec/kernel/engines_features.lua")
local worlds = dofile("spec/kernel/engines_world.lua")

local M = {}

-- ----------------------------------------------------------------------------------- statements

local Body = expressions.Body
local KEPT = { "locals", "views", "columns", "booleans", "functions", "maybes", "changers" }

local statements = { assign = bodies.statements.assign, leave = bodies.statements.leave }

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
  local text = ("local %s = %s"):format(name, expressions.row_text(self:pick(expressions.floating)))
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
  return ("%s[i][%s] = %s"):format(self:pick(expressions.whole), self:column(1), value)
end

function statements.swap(self, depth)
  return ("%s, %s = %s, %s"):format(self:element(0, true), self:element(0, true),
    self:number(depth), self:number(depth))
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
  return self:on_rows(y, x, a)
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
    self:random(4), self:condition(1), name, name, self:scope({}, depth - 1, 2))
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
  for _ = 1, self:random(most) do
    local kind = self:pick(self.kinds)
    if depth <= 0 and nesting[kind] then kind = "store" end
    lines[#lines + 1] = statements[kind](self, math.min(depth, 2))
  end
  self.depth = self.depth - 1
  -- What was computed is to be seen.
  if #self.locals > 0 and self:chance(60) then
    lines[#lines + 1] = ("O[i][%d] = %s"):format(self:random(12), self.locals[#self.locals])
  end
  return table.concat(lines, self:chance(70) and "\n" or "; ")
end

local sizes = { 1, 2, 3, 7, 9, 16, 33 }

--- A random loop: {text =, n = iterations, pieces = blocks, seed =}.
-- @bool[opt] narrow without the statements of engines_features.lua
function M.loop(seed, narrow)
  local self = setmetatable({ draw = worlds.draw(seed * 7919 + 17), made = 0, depth = 0,
    kept = KEPT, statements = statements }, Body)
  for _, field in ipairs(KEPT) do self[field] = {} end
  self.kinds = narrow and kinds or all_kinds
  self.errors = self:chance(12)
  local n = self:pick(sizes)
  local long = self:chance(2)
  if long then n = self:pick { 1000, 10000 } end
  local body = self:whole_body(self:block(long and 1 or 3, long and 3 or 6))
  if self:chance(30) then
    for _, field in ipairs(KEPT) do self[field] = {} end
    body = ("do\n%s\nend\nlast = %s"):format(body, self:number(1))
  end
  local pieces = self:pick { 1, 2, 3, n }
  return { text = "for i in parallel(n) do\n" .. body .. "\nend", n = n, seed = seed,
    pieces = math.min(n, pieces), errors = self.errors }
end

return M
