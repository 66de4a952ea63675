-- SPDX-License-Identifier: MIT
--
-- Random programs with two names for everything: variables that are locals, globals, fields, fields
-- of classes and of environments, and arrays with views of views, each read and assigned by any of
-- its names in the body of one loop. A program is a text, made from its number alone; it is given
-- `parallel`, `each`, `zeros` and `list`, and returns lists of numbers. It computes integers.

local random_text = require "spec.support.random_text"

local M = {}

local N = 12 -- iterations, and the extent of most arrays

local Gen = random_text.class()

-- A variable: `reads` and `writes` are names of it, `rare` names by which it is looked up while the
-- loop runs, `final` what is compared. It is of the kind that was begun last.
function Gen:variable(variable)
  variable.rare = variable.rare or {}
  table.insert(self.kinds[#self.kinds], variable)
  variable.final = variable.final or variable.reads[1]
  self.variables[#self.variables + 1] = variable
end

function Gen:begin_kind() self.kinds[#self.kinds + 1] = {} end

-- What a variable is before the loop: some are nan, which is not equal to itself.
function Gen:initial() return self:chance(33) and "0 / 0" or tostring(self:random(9)) end

function Gen:locals()
  self:begin_kind()
  for k = 1, 2 do
    self:add("local s%d = %s", k, self:initial())
    self:add("local function get_s%d() return s%d end", k, k)
    self:add("local box%d = {get = function(...) return s%d end}", k, k)
    self:variable { reads = { "s" .. k, ("get_s%d()"):format(k),
      ("box%d.get()"):format(k) }, writes = { "s" .. k },
      rare = k == 1 and { "acts()" } or nil }
  end
end

function Gen:globals()
  self:begin_kind()
  self:add("local env_of_other = {g1 = 7, g2 = 8}")
  self:add("local hold = {env = %s}", not self.again and self:chance(50) and "_G" or
    "env_of_other")
  self:add("local through = setmetatable({}, {__index = _G})")
  for k = 1, 2 do
    local name = "g" .. k
    self:add("%s = %s", name, self:initial())
    self:add("local function get_%s() return %s end", name, name)
    self:add("local function far_%s(...) return _G.%s or 0 end", name, name)
    self:variable { reads = { name, name, "_G." .. name, "hold.env." .. name, "through." .. name,
      "package.loaded._G." .. name, "get_" .. name .. "()" },
      writes = { name, name, "_G." .. name, "hold.env." .. name },
      rare = { k == 1 and "(acts + 1)" or "(_G[key_of_g2])",
        "(_G[key_of_" .. name .. "] or 0)", "getfenv(1)." .. name,
        "getfenv(0)." .. name,
        "rawget(_G, key_of_" .. name .. ")", "far_" .. name .. "()" } }
    self:add("local key_of_%s = '%s'", name, name)
  end
end

-- A class, an instance that inherits its field, and two that have their own, one by two names.
function Gen:classes()
  self:begin_kind()
  self:add("local Class = {n = %s, m = 2}", self:initial())
  self:add("Class.__index = Class")
  self:add("function Class:get() return self.n end")
  self:add("function Class.of_class() return Class.n end")
  self:add("local heir = setmetatable({}, Class)")
  self:add("local late = setmetatable({}, {__index = heir})")
  self:add("local own = setmetatable({n = %s}, Class)", self:initial())
  self:add("local other = setmetatable({n = %s}, Class)", self:initial())
  self:add("local same = %s", not self.again and self:chance(60) and "own" or "other")
  self:add("local deep = {tables = {own = own, class = Class}}")
  self:add("local key_n = 'n'")
  self:variable { reads = { "Class.n", "Class.n", "heir.n", "late.n", "deep.tables.class.n",
    "Class.of_class()" }, writes = { "Class.n", "deep.tables.class.n" },
    rare = { "acts.any", "heir:get()", "Class[key_n]", "heir[key_n]" } }
  self:variable { reads = { "own.n", "own.n", "same.n", "deep.tables.own.n" },
    writes = { "own.n", "same.n", "deep.tables.own.n" }, rare = { "own:get()", "own[key_n]" } }
  self:variable { reads = { "other.n", "other.n", "same.n" }, writes = { "other.n" },
    rare = { "other:get()" } }
end

-- A table that is the environment of functions.
function Gen:environments()
  self:begin_kind()
  self:add("local space = {h = %s}", self:initial())
  self:add("local in_space = setfenv(function() return h end, space)")
  self:add("local any_space = setfenv(function(...) return h end, setmetatable({}, "
    .. "{__index = space}))")
  self:variable { reads = { "space.h", "space.h", "in_space()", "any_space()" },
    writes = { "space.h" }, rare = { "getfenv(in_space).h" } }
end

-- An array, or a view: `element` is the format of an element of it, by a subscript up to `extent`.
function Gen:array(element, extent)
  self.arrays[#self.arrays + 1] = { element = element, extent = extent }
end

function Gen:view(format, ...)
  local name = "v" .. self.views
  self.views = self.views + 1
  self:add("local %s = " .. format, name, ...)
  return name
end

-- An array of one dimension with names for it, and views of it and of these.
function Gen:vector(name)
  self:add("local %s = zeros(%d)", name, N + 4)
  self:add("for k = 1, %d do %s[k] = (k * %d) %% 13 end", N + 4, name, self:random(12))
  self:array(name .. "[%s]", N + 4)
  self:array(name .. "[%s]", N + 4)
  if self:chance(50) then
    self:add("local tab_%s = setmetatable({}, {__index = {at = %s}})", name, name)
    self:array("tab_" .. name .. ".at[%s]", N + 4)
  end
  if self:chance(40) then
    self:add("G_%s = %s", name, name)
    self:array("G_" .. name .. "[%s]", N + 4)
    self:array("_G.G_" .. name .. "[%s]", N + 4)
  end
  if self:chance(50) then
    local outer = self:view("%s:narrow(1, %d, %d)", name, self:random(3), N + 1)
    self:array(outer .. "[%s]", N + 1)
    self:array(self:view("%s:narrow(1, %d, %d)", outer, self:random(6), 6) .. "[%s]", 6)
  end
  self.writers[#self.writers + 1] = "put_" .. name
  self:add("local function put_%s(k, x) %s[k] = x end", name, name)
end

function Gen:matrix()
  self:add("local P = zeros(%d, 5)", N)
  self:add("for k = 1, %d do for l = 1, 5 do P[k][l] = (k * l) %% 11 end end", N)
  self:array(("P[%%s][%d]"):format(self:random(5)), N)
  self:array(("P[%d][%%s]"):format(self:random(N)), 5)
  if self:chance(60) then
    self:array(self:view("P:select(2, %d)", self:random(5)) .. "[%s]", N)
  end
  if self:chance(40) then
    local turned = self:view("P:transpose()")
    self:array(("%s[%d][%%s]"):format(turned, self:random(5)), N)
    self:array(self:view("%s:narrow(1, 2, 3)", turned) .. "[1][%s]", N)
  end
end

-- Tables that are output by slices, appended to, and counted in, with other names for them.
local OUTPUTS = {
  { "out[i] = %s", "(outs[1][2] or 0)", "peek(3)", "(out_heir[4] or 0)", "#out" },
  { "items[#items + 1] = %s", "#items_too", "#boxes.items", "(boxes.items[2] or 0)", "#outs" },
  { "local k = keys[i %% 3 + 1] counts[k] = (counts[k] or 0) + %s", "heir_of_counts.a",
    "in_counts()", "boxes.counts.b", "counts.a", "boxes.counts[keys[1]]", "#keys" },
}

function Gen:tables()
  self:add("local out, items, counts, keys = {}, {5}, {a = 1, b = 2}, {'a', 'b', 'c'}")
  self:add("for k = 1, %d do out[k] = k end", N + 2)
  self:add("local outs, items_too = {out}, items")
  self:add("local out_heir = setmetatable({}, {__index = out})")
  self:add("local boxes = {items = items, counts = counts}")
  self:add("local function peek(k) return out[k] or 0 end")
  self:add("local heir_of_counts = setmetatable({}, {__index = counts})")
  self:add("local in_counts = setfenv(function() return a end, counts)")
  self:add("local function two(k) if k %% 2 == 0 then return k end return k, k + 1 end")
  self:add("local function one(k) return k end")
  self:add("local acts = setmetatable({}, {__add = function(_, x) return x + g1 end,")
  self:add("  __call = function() return s1 end, __index = function() return Class.n end})")
end

-- A subscript within an extent.
function Gen:subscript(extent, simply)
  if extent >= N and (simply or self:chance(60)) then return "i" end
  local forms = { tostring(self:random(extent)), ("(i * %d) %% %d + 1"):format(self:random(5),
    extent) }
  if extent >= N then
    forms[3] = ("%d - i"):format(N + 1)
    forms[4] = extent > N and ("i + %d"):format(self:random(extent - N)) or "i"
  end
  return self:pick(forms)
end

function Gen:element(simply)
  local array = self:pick(self.arrays)
  return array.element:format(self:subscript(array.extent, simply))
end

function Gen:read()
  local variable = self:pick(self.variables)
  return self:pick(self:chance(6) and #variable.rare > 0 and variable.rare or variable.reads)
end

-- A term of an expression.
function Gen:term()
  local choice = self:random(100)
  if choice <= 30 then return "i" end
  if choice <= 45 then return tostring(self:random(20)) end
  if choice <= 75 then return self:element() end
  if choice <= 95 then return self:read() end
  if choice <= 97 then return "outs[1][" .. self:random(N) .. "]" end
  return "#out"
end

function Gen:expression()
  local text = self:term()
  for _ = 1, self:random(2) do
    text = ("%s %s %s"):format(text, self:pick { "+", "-", "+" }, self:term())
  end
  return ("(%s) %% 97"):format(text)
end

local STATEMENTS = {
  function(self) return ("%s = %s"):format(self:element(self:chance(80)), self:expression()) end,
  function(self)
    local name = self:pick(self:pick(self.variables).writes)
    return ("%s = %s + %s"):format(name, name, self:expression())
  end,
  function(self) return ("%s = %s"):format(self:pick(self:pick(self.variables).writes),
    self:expression()) end,
  function(self) return ("if i %% 3 == 0 then %s = %s end"):format(self:element(true),
    self:expression()) end,
  function(self) return ("%s(i, %s)"):format(self:pick(self.writers), self:expression()) end,
  function(self) return ("out[i] = %s"):format(self:expression()) end,
  function(self)
    return ("do local a, b = %s(i) if not b then b = %d end %s = (a + b + %s) %% 97 end"):format(
      self:pick { "one", "two" }, self:random(9), self:element(true), self:term())
  end,
}

-- Arrays are assigned more often than variables are.
local WEIGHTS = { 1, 1, 1, 2, 2, 2, 3, 4, 5, 6, 7 }

-- Fields that are assigned otherwise than by sums are refused, whatever their names.
function Gen:change(name)
  local text = ("(i * %d + %s) %% 97"):format(self:random(9), self:pick { "i", "B[i]", "P[i][2]" })
  if self:chance(name:find(".", 1, true) and 5 or 60) then return ("%s = %s"):format(name, text) end
  return ("%s = %s + %s"):format(name, name, text)
end

local function use(name) return ("A[i] = (i + %s) %% 97"):format(name) end

-- Bodies of two to three statements, as lists.
local THEMES = {
  any = function(self)
    local list = {}
    for k = 1, self:random(3) do list[k] = STATEMENTS[self:pick(WEIGHTS)](self) end
    return list
  end,
  -- One variable, assigned and used by any of its names.
  one = function(self)
    local variable = self:pick(self:pick(self.kinds))
    local names = self:chance(25) and #variable.rare > 0 and variable.rare or variable.reads
    return { self:change(self:pick(variable.writes)), use(self:pick(names)) }
  end,
  two = function(self)
    local names = self:pick(self:pick(self.kinds)).writes
    return { self:change(self:pick(names)), self:change(self:pick(names)) }
  end,
  -- Two variables, most often.
  other = function(self)
    local assigned = self:pick(self:pick(self.kinds))
    return { self:change(self:pick(assigned.writes)), use(self:read()) }
  end,
  tables = function(self)
    local output = self:pick(OUTPUTS)
    local statement = output[1]:format(("(i * %d) %% 7"):format(self:random(6)))
    local name = self:chance(60) and output[self:random(#output - 1) + 1] or self:read()
    return self:chance(50) and { statement, use(name) } or { use(name), statement }
  end,
  -- The second of two executions finds another table at the same path.
  again = function(self)
    local names = self:pick { { "g1", "hold.env.g1" }, { "g2", "hold.env.g2" },
      { "own.n", "same.n" } }
    return { self:change(names[1]), use(names[2]) }
  end,
}

local OFTEN = { "any", "any", "any", "any", "one", "one", "one", "two", "other", "other", "other",
  "tables", "tables", "again" }

-- What the program compares.
function Gen:result()
  self:add("local result = {}")
  for k, variable in ipairs(self.variables) do
    self:add("result[%d] = %s", k, variable.final)
  end
  self:add("return {result, list(A), list(B), list(P), list(out), list(items),")
  self:add("  {counts.a, counts.b, counts.c or 0}}")
end

--- The text of a program.
-- @number number of the program
function M.text(number)
  local self = random_text.new(Gen, number, { variables = {}, kinds = {}, arrays = {},
    writers = {}, views = 1 })
  local theme = self:pick(OFTEN)
  self.again = theme == "again"
  self:add("-- program %d", number)
  self:add("local parallel, each, zeros, list = ...")
  self:locals()
  self:globals()
  self:classes()
  self:environments()
  self:vector("A")
  self:vector("B")
  self:matrix()
  self:tables()
  local closure = self:chance(25)
  self:add("for pass = 1, %d do", self.again and 2 or 1)
  self:add(closure and "  each(%d, function(i)" or "  for i in parallel(%d) do", N)
  for _, statement in ipairs(THEMES[theme](self)) do self:add("    %s", statement) end
  self:add(closure and "  end)" or "  end")
  self:add("  hold.env, same = _G, own")
  self:add("end")
  self:result()
  return table.concat(self.lines, "\n")
end

return M
