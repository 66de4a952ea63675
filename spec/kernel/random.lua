-- SPDX-License-Identifier: MIT
-- Random bodies and the world that they run in. Used by the kernel specs.
local array = require "meissa.array"
local bodies = require "spec.kernel.random_body"
local draws = require "spec.support.draws"
local run = dofile("spec/kernel/run.lua")

local function world()
  return {
    A = array.rand({ 9, 6 }, { seed = 1 }), B = array.rand({ 9 }, { seed = 2 }),
    F = array.rand({ 9, 6 }, { seed = 3, type = "float" }),
    C = array.zeros({ 9, 6 }, { type = "int32" }),
    T = array.rand({ 9, 2, 6 }, { seed = 4 }),
    S = run.transposed(array.rand({ 6, 9 }, { seed = 5 })),
    n = 9, m = 6, x = 0.37, y = -2, z = 3, name = "abc", flag = true, sum = 0.5, hits = 0,
    opts = { p = { q = 1.25 }, r = -0.5 }, list = { 3, 1, 2, 6, 5, 4 },
    twice = function(v) return v * 2 end,
    mix = function(a, b) if a > b then return a - b, a end return b, a end,
  }
end

local Generator = bodies.class()

-- A subscript for an extent of 6 that is sure to be in range.
function Generator:column(depth)
  local choices = { tostring(self:random(6)) }
  for _, name in ipairs(self.columns) do choices[#choices + 1] = name end
  if depth > 0 then
    choices[#choices + 1] = ("(%s) %% 6 + 1"):format(self:integer(depth - 1))
    if not self.numeric then choices[#choices + 1] = ("list[%s]"):format(self:column(0)) end
    choices[#choices + 1] = ("7 - %s"):format(self:column(0))
    choices[#choices + 1] = ("math.floor(%s / 2 + 0.5)"):format(self:column(0))
  end
  return self:pick(choices)
end

function Generator:integer(depth)
  if depth <= 0 then
    return self:pick { "i", tostring(self:random(9)), "z", "m", self:column(0) }
  end
  return ("(%s %s %s)"):format(self:integer(depth - 1), self:pick { "+", "-", "*" },
    self:integer(depth - 1))
end

-- An element; `own` ones belong to this iteration and may be written.
function Generator:element(depth)
  local k = self:column(depth)
  local choices = {
    "B[i]", ("A[i][%s]"):format(k), ("A[{i, %s}]"):format(k), ("F[i][%s]"):format(k),
    ("C[i][%s]"):format(k), ("T[i][%d][%s]"):format(self:random(2), k), ("S[i][%s]"):format(k),
    ("T[{i, %d, %s}]"):format(self:random(2), k),
  }
  for _, view in ipairs(self.views) do choices[#choices + 1] = ("%s[%s]"):format(view, k) end
  return self:pick(choices)
end

-- A row that belongs to this iteration; `floating` ones only for what writes.
function Generator:row(floating)
  local choices = { "A[i]", "F[i]", "S[i]", ("T[i][%d]"):format(self:random(2)) }
  for _, view in ipairs(self.views) do
    if not floating or not self.integers[view] then choices[#choices + 1] = view end
  end
  return self:pick(choices)
end

local leaves = { "x", "y", "z", "opts.p.q", "opts.r", "0.5", "3", "1e-3", "i" }

function Generator:number(depth)
  if depth <= 0 then
    if #self.locals > 0 and self:chance(50) then return self:pick(self.locals) end
    return self:pick(leaves)
  end
  local roll = self:random(13)
  if roll == 13 then
    if self:chance(50) then return ("%s:dot(%s)"):format(self:row(), self:row()) end
    return ("%s:%s()"):format(self:row(), self:pick(self.measures))
  end
  local a = self:number(depth - 1)
  if roll <= 4 then
    return ("(%s %s %s)"):format(a, self:pick { "+", "-", "*", "/" }, self:number(depth - 1))
  elseif roll == 5 then
    return ("(%s %% %s)"):format(a, self:pick { "7", "2.5", "z", "-3" })
  elseif roll == 6 then
    return ("math.%s(%s)"):format(self:pick { "abs", "floor", "ceil" }, a)
  elseif roll == 7 then
    return ("(%s and %s or %s)"):format(self:condition(depth - 1), a, self:number(depth - 1))
  elseif roll == 8 then
    return ("(-%s)"):format(a)
  elseif roll == 9 then
    return ("twice(%s)"):format(a)
  elseif roll == 10 then
    return ("(mix(%s, %s))"):format(a, self:number(depth - 1))
  end
  return self:element(depth - 1)
end

function Generator:condition(depth)
  local roll = self:random(5)
  if roll == 1 and depth > 0 then
    return ("(%s %s %s)"):format(self:condition(depth - 1), self:pick { "and", "or" },
      self:condition(depth - 1))
  elseif roll == 2 then
    return ("not (%s)"):format(self:condition(0))
  elseif roll == 3 then
    return self:pick(self.numeric and { "flag", "z > 2" }
      or { "flag", "name == 'abc'", "#name > 2" })
  end
  return ("%s %s %s"):format(self:number(depth), self:pick { "<", ">", "<=", ">=", "==", "~=" },
    self:number(depth))
end

local statements = { assign = bodies.statements.assign, leave = bodies.statements.leave }

function statements.declare(self, depth)
  local name = self:chance(20) and #self.locals > 0 and self:pick(self.locals) or self:fresh("v")
  local text = ("local %s = %s"):format(name, self:number(depth))
  table.insert(self.locals, name)
  return text
end

function statements.view(self)
  local name = self:fresh("w")
  local text = ("local %s = %s"):format(name,
    self:pick { "A[i]", "F[i]", "T[i][1]", "S[i]", "C[i]", "T[i][2]" })
  if text:find("C%[") then self.integers[name] = true end
  table.insert(self.views, name)
  return text
end

function Generator:writable()
  local target = self:element(1)
  local whole = target:find("^C") or self.integers[target:match("^%w+")]
  return target, whole
end

function Generator:storable(whole, depth)
  if whole then return self:integer(depth) end
  return self:number(depth)
end

function statements.store(self, depth)
  local target, whole = self:writable()
  return ("%s = %s"):format(target, self:storable(whole, depth))
end

function statements.swap(self, depth)
  local one, first = self:writable()
  local two, second = self:writable()
  return ("%s, %s = %s, %s"):format(one, two, self:storable(first, depth),
    self:storable(second, depth))
end

function statements.reduce(self, depth)
  if self:chance(30) then return "hits = hits + 1" end
  return ("sum = sum + %s"):format(self:integer(depth))
end

function statements.rows(self, depth)
  local y, x = self:row(true), self:row(true)
  local a = self:number(math.min(depth, 1))
  return self:on_rows(y, x, a)
end

function statements.condition(self, depth)
  local text = ("if %s then\n%s\n"):format(self:condition(depth), self:scope({}, depth - 1, 3))
  if self:chance(40) then text = text .. "else " .. self:scope({}, depth - 1, 2) end
  return text .. " end"
end

function statements.loop(self, depth)
  local name = self:fresh("k")
  local bounds = self:pick { "1, m", "m, 1, -1", "2, 5", "1, 6, 2", "1, z" }
  return ("for %s = %s do %s\nend"):format(name, bounds,
    self:scope({ columns = { name }, locals = {} }, depth - 1, 3))
end

function statements.repeated(self, depth)
  local name = self:fresh("c")
  return ("local %s = 0\nrepeat %s = %s + 1 %s until %s > 2"):format(name, name, name,
    self:scope({}, depth - 1, 2), name)
end

function statements.nested(self, depth)
  local name = self:fresh("f")
  local text = ("local function %s(p) local q = p * %s return q + %s end"):format(name,
    self:number(depth - 1), self:element(0))
  return text .. (" B[i] = %s(%s)"):format(name, self:number(depth - 1))
end

local kinds = { "declare", "declare", "view", "store", "store", "store", "swap", "reduce", "assign",
  "rows",
  "condition", "loop", "repeated", "leave", "nested" }

function Generator:block(depth, most)
  local lines = {}
  self.depth = self.depth + 1
  for _ = 1, self:random(most) do
    local kind = self:pick(kinds)
    if depth <= 0 and (kind == "condition" or kind == "loop" or kind == "repeated") then
      kind = "store"
    end
    lines[#lines + 1] = statements[kind](self, math.min(depth, 2))
  end
  self.depth = self.depth - 1
  return table.concat(lines, self:chance(50) and "\n" or "; ")
end

-- What bodies without strings and tables call.
local HELPERS = [[
local function twice(v) return v * 2 end
local function mix(a, b) if a > b then return a - b, a end return b, a end
]]

--- A random body as a loop over i from 1 to n. Those for the native engine are numeric: they have
-- no strings and tables, and the text of the functions that they call stands before the loop.
local function generate(number, numeric)
  local self = setmetatable({ locals = {}, views = {}, columns = {}, integers = {}, made = 0,
    depth = 0, numeric = numeric, kept = { "locals", "views", "columns" }, statements = statements,
    measures = numeric and { "sum", "norm" } or { "sum", "norm", "max" },
    draw = draws.skip(draws.numerical_recipes(number), 5) }, Generator)
  local body = self:whole_body(self:block(3, 6))
  return (numeric and HELPERS or "") .. "for i in parallel(n) do\n" .. body .. "\nend"
end

return { world = world, generate = generate }
