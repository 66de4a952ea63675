-- SPDX-License-Identifier: MIT
-- Expressions of the random bodies in engines_random.lua: numbers, whole ones, conditions, elements
-- and subscripts. Lists of the names that a body may use lie in its fields.
local bodies = require "spec.kernel.random_body"
local row_methods = require "spec.support.row_methods"

local M = {}

local Body = bodies.class()
M.Body = Body

--- Arrays with 6 columns, whose rows are this iteration's own.
M.floating = { "P", "N", "E", "F", "S", "U", "T[i][1]", "T[i][2]" }
M.whole = { "C", "L" }

--- The text of a row of one.
function M.row_text(name)
  return name:find("[", 1, true) and name or name .. "[i]"
end

-- A whole number that is small for sure.
function Body:whole(depth)
  if depth <= 0 or self:chance(25) then
    local choices = { "i", "z", "m", "y", tostring(self:random(12) - 4), "D[i] % 9", "C[i][2] % 7" }
    for _, name in ipairs(self.columns) do choices[#choices + 1] = name end
    return self:pick(choices)
  end
  local a, b = self:whole(depth - 1), self:whole(depth - 1)
  local roll = self:random(8)
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
  local choices = { tostring(self:random(6)) }
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
    ("G[i][%s * 3 - 2]"):format(k), ("T[{i, %d, %s}]"):format(self:random(2), k) }
  for _, name in ipairs(M.floating) do
    choices[#choices + 1] = ("%s[%s]"):format(M.row_text(name), k)
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
  return M.row_text(self:pick(M.floating))
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
    return ("%s:%s()"):format(self:row(long), self:pick(row_methods.measures))
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
  local roll = self:random(total_weight)
  for _, each in ipairs(numbers) do
    roll = roll - each[1]
    if roll <= 0 then return each[2](self, depth - 1) end
  end
end

function Body:condition(depth)
  local roll = self:random(10)
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

return M
