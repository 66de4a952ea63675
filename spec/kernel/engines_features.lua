-- SPDX-License-Identifier: MIT
-- More statements and expressions for the random bodies of engines_random.lua: values that may be
-- nil or false, functions with early returns and several results that change what is around them,
-- scratch arrays, rows of sparse matrices, lists of subscripts, nested loops with computed ends,
-- shadowing, wide integers.

local function text_of(...) return string.format(...) end

-- Each statement gives its text and declares what it makes; see engines_random.lua.
local statements = {}

--- A local that may be nil, or false, where it is tested; bodies with errors may compute with it.
function statements.maybe(self, depth)
  local name = self:fresh("q")
  local first = self:pick { "", "", " = nil", " = false", " = " .. self:condition(0) }
  local text = text_of("local %s%s\nif %s then %s = %s end", name, first, self:condition(1), name,
    self:number(depth))
  if self.errors and self:chance(10) then table.insert(self.locals, name) end
  table.insert(self.maybes, name)
  return text
end

function statements.use_maybe(self, depth)
  if #self.maybes == 0 then return statements.maybe(self, depth) end
  local name, other = self:pick(self.maybes), self:pick(self.maybes)
  return self:pick {
    text_of("if %s then O[i][%d] = %s end", name, self:random(12), self:number(1)),
    text_of("if %s == %s then hits = hits + 1 end", name, other),
    text_of("if %s ~= %s then hits = hits + 1 end", name,
      self:pick { "nil", "false", "true", self:number(1) }),
    text_of("%s = %s and %s", name, name, self:condition(0)),
    text_of("%s = %s or %s", name, other, self:number(1)),
    text_of("%s = not %s", name, other),
    text_of("%s = %s and %s or %s", name, self:condition(0), other, self:number(1)),
  }
end

--- A function that assigns to a local around it, with results in several places.
function statements.changer(self, depth)
  local name, state = self:fresh("g"), self:fresh("v")
  local parameter = self:fresh("p")
  local saved_functions, saved_locals = self.functions, self.locals
  self.functions, self.locals = {}, { parameter, state }
  local early = text_of("if %s then %s = %s return %s, %s end", self:condition(1), state,
    self:number(1), self:number(1), self:number(0))
  if self:chance(40) then
    early = text_of("for %s = 1, 3 do\n%s\nend", self:fresh("k"), early)
  end
  local last = self:chance(70) and text_of("return %s, %s", self:number(depth), state)
    or text_of("return %s", self:number(depth))
  local text = text_of("local %s = %s\nlocal function %s(%s)\n%s\n%s = %s + 1 %s\nend", state,
    self:number(1), name, parameter, early, state, state, last)
  self.functions, self.locals = saved_functions, saved_locals
  table.insert(self.locals, state)
  table.insert(self.changers, name)
  return text
end

function statements.call_changer(self, depth)
  if #self.changers == 0 then return statements.changer(self, depth) end
  local name, a = self:pick(self.changers), self:number(math.min(depth, 1))
  local column = #self.locals > 0 and self:chance(30) and self:pick(self.locals) .. " % 6 + 1"
    or self:column(0)
  local choice = self:random(6)
  if choice == 1 then
    local one, two = self:fresh("v"), self:fresh("v")
    table.insert(self.locals, one)
    return text_of("local %s, %s = %s(%s)\nO[i][%d] = %s or 1", one, two, name, a, self:random(12),
      two)
  elseif choice == 2 then
    return text_of("E[i][%s] = %s(%s)", column, name, a)
  elseif choice == 3 then
    return text_of("E[i][%s], S[i][%s] = %s(%s), %s", column, self:column(0), name, a,
      self:number(1))
  elseif choice == 4 then
    return text_of("T[{i, 2, %s}] = %s + (%s(%s))", column, self:number(1), name, a)
  elseif choice == 5 then
    return text_of("%s(%s)", name, a)
  end
  return text_of("O[i][%d] = %s + %s(%s) * %s", self:random(12), self:number(0), name, a,
    self:number(0))
end

--- The iteration's own working space. What it holds when an iteration begins is not defined.
function statements.scratch(self, depth)
  local text = text_of("Z:fill(%s)", self:number(1))
  local k = self:fresh("k")
  return text_of("%s\nfor %s = 1, 6 do Z[%s] = Z[7 - %s] + %s end\nO[i][%d] = Z:%s", text, k, k, k,
    self:number(math.min(depth, 1)), self:random(12),
    self:pick { "sum()", "norm()", "norm(1)", "dot(E[i])", "dot(F[i])" })
end

--- The entries of a row of a sparse matrix of 6 columns.
function statements.entries(self, depth)
  local f, v = self:fresh("k"), self:fresh("v")
  local body = self:scope({ columns = { f }, locals = { f, v } }, depth - 1, 2)
  return text_of("for %s, %s in X[%s]:nonzeros() do\n%s\nend", f, v, self:pick { "i", "n + 1 - i" },
    body)
end

function statements.entry(self)
  return text_of("O[i][%d] = X[%s][%s]", self:random(12), self:pick { "i", "1", "n" },
    self:column(1))
end

--- Loops whose ends and steps are computed, inside each other.
function statements.nest(self, depth)
  local a, b = self:fresh("k"), self:fresh("k")
  local first = self:pick { "1, z", "z, 1, -1", "1, 6, z - 1", "6, 1, -z", "1, m, half * 4" }
  local second = self:pick { a .. ", 6", "1, " .. a, a .. ", 1, -1", "6, " .. a .. ", -1",
    "7 - " .. a .. ", 6", text_of("math.max(1, %s - 1), math.min(6, %s + 1)", a, a),
    text_of("%s, %s + Q[%s] %% 2", a, a, a) }
  local columns = second:find("Q", 1, true) and { a } or { a, b }
  local body = self:scope({ columns = columns, locals = { a, b } }, depth - 1, 2)
  return text_of("for %s = %s do\nfor %s = %s do\n%s\nend\nend", a, first, b, second, body)
end

--- A counter that a loop uses, and goes on with.
function statements.counter(self, depth)
  local name, k = self:fresh("c"), self:fresh("k")
  local text = text_of("local %s = %d\nfor %s = %s do\n%s\nif %s < 6 then %s = %s + 1 end\nend",
    name, self:random(4), k, self:pick { "1, " .. name, name .. ", 6", name .. ", 1, -1" },
    self:scope({ columns = { k, name } }, depth - 1, 2), name, name, name)
  table.insert(self.columns, name)
  return text
end

function statements.shadow(self, depth)
  local outer = #self.locals > 0 and self:pick(self.locals) or "x"
  local inner = self:scope({ locals = { outer } }, depth - 1, 2)
  return text_of("do local %s = %s\n%s\nend", outer, self:number(1), inner)
end

function statements.endless(self, depth)
  local name = self:fresh("c")
  return text_of("local %s = 0\nwhile true do\n%s = %s + 1\nif %s > %d then break end\n%s\nend",
    name, name, name, name, self:random(4), self:scope({}, depth - 1, 2))
end

--- Whole numbers near the ends of their types.
function statements.wide(self)
  local edge = self:pick { "2147483647", "-2147483648", "0x7fffffff - i", "-0x7fffffff - 1" }
  if self:chance(50) then return text_of("C[i][%s] = %s", self:column(0), edge) end
  if self.errors and self:chance(40) then edge = self:pick { "2^53 + 2", "2^31", "-2^31 - 1" } end
  return text_of("%s[i][%s] = %s", self:pick { "C", "L" }, self:column(0),
    self:pick { edge, "L[i][" .. self:column(0) .. "] % 1000", "i - n" })
end

function statements.three(self, depth)
  local name = #self.locals > 0 and self:pick(self.locals) or "last"
  if name == "last" then return statements.wide(self) end
  return text_of("%s, %s, %s = %s, %s, %s", self:element(1, true), name, self:element(0, true),
    self:number(depth), self:number(1), name)
end

--- A view of a part with two dimensions left.
function statements.part(self, depth)
  local name = self:fresh("u")
  return text_of("local %s = T[i]\n%s[%d][%s], %s[{%d, %s}] = %s, %s", name, name, self:random(2),
    self:column(0), name, self:random(2), self:column(0), self:number(depth),
    text_of("%s[2][%s]", name, self:column(0)))
end

--- A table of the iteration's own, with keys that may be anything.
function statements.map(self, depth)
  local name, key = self:fresh("h"), self:fresh("v")
  local made = text_of("local %s, %s = {%s}, %s", name, key, self:number(0), self:number(depth))
  if not self.errors then
    made = text_of("%s\nif %s ~= %s then %s = %s end", made, key, key, key, self:number(0))
    made = text_of("%s\nif %s ~= %s then %s = 0 end", made, key, key, key)
  end
  table.insert(self.locals, key)
  return text_of("%s\n%s[%s] = %s\n%s[%s - 1] = %s\nO[i][%d] = %s[%s] + (%s[%s] or %s)", made,
    name, key, self:number(0), name, key, self:number(0), self:random(12), name, key, name,
    self:number(0), self:number(0))
end

--- A list that grows and shrinks at its end.
function statements.list(self, depth)
  local name, turn, top = self:fresh("h"), self:fresh("k"), self:fresh("v")
  local text = text_of("local %s = {%s}\nfor %s = 1, %d do", name,
    self:chance(50) and self:number(0) or "", turn, self:random(9))
  text = text_of("%s\nif %s then %s[#%s + 1] = %s end", text, self:condition(0), name, name,
    self:number(math.min(depth, 1)))
  text = text_of("%s\nif %s then %s[#%s] = %s end\nend", text, self:condition(0), name, name,
    self:pick {"nil", self:number(0)})
  table.insert(self.locals, top)
  return text_of("%s\nlocal %s = #%s > 0 and %s[#%s] or #%s\nO[i][%d] = %s + #%s", text, top,
    name, name, name, name, self:random(12), top, name)
end

--- A small table of the iteration's own.
function statements.small(self, depth)
  local name, at = self:fresh("h"), self:random(3)
  local one, two = self:fresh("v"), self:fresh("v")
  local made = text_of("local %s, %s = %s, %s\nlocal %s = {%s, %s, %s}", one, two,
    self:number(math.min(depth, 1)), self:number(1), name, one, self:number(0), two)
  return text_of("%s\n%s[%d] = %s[2] + %s\nO[i][%d] = %s[%d] * %s[3]", made, name, at, name,
    self:number(0), self:random(12), name, at, name)
end

local kinds = { "small", "map", "list", "maybe", "use_maybe", "use_maybe", "changer",
  "call_changer", "call_changer", "scratch", "entries", "entry", "nest", "nest", "counter",
  "shadow", "endless", "wide", "three", "part" }

-- Which make no sense without statements inside.
local nesting = { entries = true, nest = true, counter = true, shadow = true, endless = true,
  changer = true }

return { statements = statements, kinds = kinds, nesting = nesting }
