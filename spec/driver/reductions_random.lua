-- SPDX-License-Identifier: MIT
--
-- Random loops that reduce: sums, extremes alone and in tuples, bits, logic, last values, lists and
-- counts, under conditions, in inner loops and beside dependences, over ranges of each direction,
-- two dimensions and entries of sparse arrays. Values have ties, zeros of both signs, nan and
-- infinities. Sums are of whole numbers, so that they are exact in any order.

local draws = require "spec.support.draws"

local M = {}

local ROWS, COLUMNS = 90, 11

-- ------------------------------------------------------------------------------------- generator

local Maker = draws.class()

-- A number of the iteration that may be nan; a whole one; a condition.
function Maker:value()
  return (self:pick {"%s", "%s", "-%s", "%s * 2", "math.abs(%s)", "%s + 0"}):format(
    self:pick(self.elements))
end

function Maker:whole()
  local index = self:pick(self.indices)
  return ((self:pick {"X", "-X", "X % 5", "3 * X", "X * X"}):gsub("X", index))
end

function Maker:condition()
  return (self:pick {"%s > %d", "%s <= %d", "not (%s < %d)", "%s == %d"}):format(
    self:pick(self.elements), self:int(-2, 2))
end

-- A variable of the loop's surroundings.
function Maker:variable(start)
  self.count = self.count + 1
  local name = "v" .. self.count
  self.starts[#self.starts + 1] = ("%s = %s"):format(name, start)
  self.names[#self.names + 1] = name
  return name
end

local EXTREMES = {"0", "-0", "1", "-2", "math.huge", "-math.huge", "0 / 0"}

-- What goes with an extreme: " , p, q" and its values.
function Maker:followers(first)
  local names, values = {first}, {}
  for k = 1, self:int(0, 2) do
    names[k + 1] = self:variable(self:pick {"nil", "7", "'none'"})
    values[k] = self:chance(70) and self:whole() or self:value()
  end
  return table.concat(names, ", "), #values > 0 and ", " .. table.concat(values, ", ") or ""
end

function Maker:test(name, value, operator)
  if self:chance(30) then
    local turned = {["<"] = ">", [">"] = "<", ["<="] = ">=", [">="] = "<="}
    return ("%s %s %s"):format(name, turned[operator], value)
  end
  return ("%s %s %s"):format(value, operator, name)
end

local statements = {}

function statements:sum()
  local nothing = self:chance(25)
  local s = self:variable(nothing and "nil" or self:int(-3, 3))
  local old = (nothing or self:chance(25)) and ("(%s or 0)"):format(s) or s
  return ("%s = %s %s %s"):format(s, old, self:pick {"+", "-"}, self:whole())
end

function statements:product()
  local s = self:variable(self:pick {"1", "-3", "0", "-0"})
  return ((self:pick {"S = -S", "S = S * -1", "S = 2 * S", "S = S / 2", "S = -(S / 4 * 2)"}):gsub(
    "S", s))
end

function statements:choice()
  local s, e, o = self:variable(self:pick(EXTREMES)), self:value(), self:pick {"<", ">", "<=", ">="}
  return ("%s = %s %s %s and %s or %s"):format(s, e, o, s, e, s)
end

-- A test among other conditions.
function Maker:among(test)
  local others = {T = test, C = self:condition(), D = self:condition()}
  return ((self:pick {"T", "T", "C and T", "T and C", "C and T and D", "C and (T and D)",
                      "(C or D) and (T)", "T then if C"}):gsub("[TCD]", others))
end

-- `if test then body end`, where the test may be the first of two.
local function under(test, body)
  local _, more = test:gsub("then if", "")
  return ("if %s then %s%s"):format(test, body, (" end"):rep(1 + more))
end

function statements:tuple()
  local s, e = self:variable(self:pick(EXTREMES)), self:value()
  local names, values = self:followers(s)
  local test = self:among(self:test(s, e, self:pick {"<", ">", "<=", ">="}))
  return under(test, ("%s = %s%s"):format(names, e, values))
end

function statements:first()
  local s = self:variable(self:pick {"nil", "nil", "7", "false"})
  local names, values = self:followers(s)
  local asks = self.starts[#self.starts - select(2, names:gsub(",", ""))]:find("false") and
    "not %s" or self:pick {"not %s", "%s == nil"}
  return under(self:among(asks:format(s) .. " and " .. self:condition()),
               ("%s = %s%s"):format(names, self:whole(), values))
end

-- A number of the iteration that descends from the loop's beginning on, for so many iterations.
function Maker:descending()
  local terms, weight = {}, {i = 36, j = 3, k = 1}
  for n, index in ipairs(self.indices) do terms[n] = ("%d * %s"):format(weight[index], index) end
  return ("(%s) %% %d"):format(table.concat(terms, " + "), self:pick {20, 100, 700, 10^6})
end

function statements:both()
  local s, t = self:variable(self:pick(EXTREMES)), self:variable(self:pick(EXTREMES))
  local e, least = self:value(), self:chance(50)
  if self:chance(50) then e = ("%s(%s)"):format(least and "-" or "", self:descending()) end
  local names, values = self:followers(s)
  local others, more = self:followers(t)
  local less, more_than = self:pick {"<", "<="}, self:pick {">", ">="}
  return ("if %s then %s = %s%s elseif %s then %s = %s%s end"):format(
    self:test(s, e, least and less or more_than), names, e, values,
    self:test(t, e, least and more_than or less), others, e, more)
end

function statements:unset()
  local s, e = self:variable(self:pick {"nil", "nil", "nil", "0"}), self:value()
  local names, values = self:followers(s)
  local test = ("(%s or %s)"):format((self:pick {"not %s", "%s == nil"}):format(s),
    self:test(s, e, self:pick {"<", ">", "<=", ">="}))
  return under(self:among(test), ("%s = %s%s"):format(names, e, values))
end

function statements:bits()
  local s = self:variable(self:pick {"0", "-1", "12", "2^32 + 9"})
  return ("%s = bit.%s(%s, %s)"):format(s, self:pick {"bor", "band", "bxor"}, s, self:whole())
end

function statements:last()
  local s = self:variable(self:pick {"nil", "3"})
  return ("%s = %s"):format(s, self:pick {self:whole(), self:value(), "nil"})
end

function statements:logic()
  local s = self:variable(self:pick {"nil", "false", "true", "5"})
  local e = self:pick {self:condition(), self:condition(),
                       ("(%s and %s)"):format(self:condition(), self:whole()),
                       ("(%s or nil)"):format(self:condition())}
  local parts = {S = s, E = e}
  return ((self:pick {"S = S or E", "S = S and E", "S = E or S"}):gsub("[SE]", parts))
end

function statements:mark()
  local s = self:variable(self:pick {"nil", "false"})
  return ("if %s and not %s then %s = true end"):format(self:condition(), s, s)
end

function statements:list()
  local t = self:variable(self:pick {"{}", "{'a'}", "{1, nil, 3, nil, 5}"})
  local v = self:pick {self:whole(), self:value(), ("'w' .. %s"):format(self:whole()),
                       ("{%s}"):format(self:whole())}
  if self:chance(30) then return ("table.insert(%s, (%s))"):format(t, v) end
  return ("%s[#%s + 1] = %s"):format(t, t, v)
end

function statements:sums()
  local t, key = self:variable(self:pick {"{}", "{[1] = 2}"}), self:whole()
  return ("%s[%s] = (%s[%s] or 0) + %s"):format(t, key, t, key, self:pick {"1", self:whole()})
end

-- What goes with the extreme tells whether there is one.
function statements:asked()
  local s, at, e = self:variable(self:pick {"nil", "0", "'x'"}), self:variable("nil"), self:value()
  local test = ("(%s or %s)"):format((self:pick {"not %s", "%s == nil"}):format(at),
    self:test(s, e, self:pick {"<", ">", "<=", ">="}))
  return under(self:among(test), ("%s, %s = %s, %s"):format(s, at, e, self:pick(self.indices)))
end

local INFINITE = {"0", "5", "30", "math.huge", "-math.huge", "0 / 0"}

-- Of equal ones the index decides, or several do, one after the other.
function statements:tie()
  local s, e = self:variable(self:pick {"0", "-0", "1", "math.huge", "-math.huge", "nil"}),
    self:value()
  local unset = self.starts[#self.starts]:find("nil") and ("not %s or "):format(s) or ""
  local names, values, test = {s}, {e}, nil
  for k = 2, self:int(2, 3) do
    names[k] = self:variable(self:pick(unset == "" and INFINITE or {"nil", "3"}))
    values[k] = (self:pick {"%s", "%s", "-%s", "3 - %s", "2 * %s"}):format(self:pick(self.indices))
    if self:chance(2) then values[k] = self:pick(self.elements) end -- data, which may be nan
  end
  for k = #names, 2, -1 do
    local operators = test and {"<", ">"} or {"<", ">", "<=", ">="}
    local goes_before = self:test(names[k], values[k], self:pick(operators))
    if test then goes_before = ("(%s or %s)"):format(goes_before, test) end
    test = ("%s == %s and %s"):format(values[k - 1], names[k - 1], goes_before)
  end
  test = ("(%s%s or %s)"):format(unset, self:test(s, e, self:pick {"<", ">"}), test)
  if self:chance(40) then
    names[#names + 1], values[#values + 1] = self:variable("nil"), self:value()
  end
  return under(self:among(test), ("%s = %s"):format(table.concat(names, ", "),
                                                    table.concat(values, ", ")))
end

local KINDS = {"sum", "product", "choice", "tuple", "tuple", "both", "unset", "bits", "last",
               "logic", "first", "mark", "list", "sums", "asked", "tie"}

-- What the order of blocks decides about most.
local TIES = {"tuple", "last", "unset", "asked", "list", "tie", "tie", "both", "both"}

-- What a function of the body may do as well.
local CALLED = {sum = true, product = true, choice = true, tuple = true, both = true, unset = true,
                bits = true, first = true, mark = true, tie = true}

function Maker:statement(kinds)
  local kind = self:pick(kinds)
  if self:chance(20) then
    self.indices[#self.indices + 1] = "k"
    local text = ("for k = 1, %d do %s end"):format(self:int(1, 3), statements[kind](self))
    self.indices[#self.indices] = nil
    return text
  end
  local text = statements[kind](self)
  if CALLED[kind] and self:chance(25) then
    self.functions = (self.functions or 0) + 1
    text = ("local function f%d() %s end f%d()"):format(self.functions, text, self.functions)
    if self:chance(40) then text = ("%s if %s then f%d() end"):format(text, self:condition(),
                                                                      self.functions) end
  end
  if self:chance(35) then return ("if %s then %s end"):format(self:condition(), text) end
  return text
end

-- The spaces: a head, what the plain loop's head is, its end; nothing plain: the plan's order.
local function range(maker)
  local lo, hi, step = maker:int(1, 30), maker:int(50, ROWS), maker:int(1, 3)
  if maker:chance(25) then lo, hi, step = hi, lo, -step end
  return {indices = {"i"}, elements = {"A[i]", "Z[i]"}, head =
    ("for i in parallel({%d, %d, %d}, options) do"):format(lo, hi, step),
    plain = ("for i = %d, %d, %d do"):format(lo, hi, step), tail = "end"}
end

local BESIDE = {"", "R[i + 1][j + 1] = R[i][j + 1] + R[i + 1][j]", "R[i + 1][j] = R[i][j] + 1",
                "R[i + 1][j] = R[i][j + 1] + 1", "R[i][j + 1] = R[i][j] + 1",
                "R[i + 1][j + 1] = R[i][j] + R[i][j + 2]"}

local function rectangle(maker)
  local n, m = maker:int(20, ROWS), maker:int(3, COLUMNS)
  local collapsed = maker:chance(30)
  local head = "for i, j in parallel(%d, %d, options) do"
  if collapsed then head = "for i in parallel(%d, collapsing) do for j = 1, %d do" end
  return {indices = {"i", "j"}, elements = {"Q[i][j]", "A[i]", "P[i][j]"}, head = head:format(n, m),
          plain = ("for i = 1, %d do for j = 1, %d do"):format(n, m), beside = maker:pick(BESIDE),
          tail = "end end", own_tail = collapsed and "end end" or "end"}
end

local function entries(maker)
  local ordered = maker:chance(50)
  return {indices = {"i", "j"}, elements = {"r", "A[i]", "r"},
          head = ("for i, j, r in parallel(S, {ordered = %s, engine = engine}) do"):format(
            tostring(ordered)), tail = "end"}
end

--- The program of a number: {head =, plain =, tail =, body =, declarations =, names =}.
function M.program(number)
  local maker = setmetatable({draw = draws.skip(draws.of_number(number), 5), count = 0,
                              starts = {}, names = {}}, Maker)
  -- Every fourth one is about ties, in blocks of another order than the loop.
  local ties = number % 4 == 0
  local program = maker:pick(ties and {rectangle} or {range, range, rectangle, entries})(maker)
  maker.indices, maker.elements = program.indices, program.elements
  local lines = {program.beside}
  for _ = 1, maker:int(1, 3) do lines[#lines + 1] = maker:statement(ties and TIES or KINDS) end
  program.body = table.concat(lines, "\n  ")
  program.ordered = ties or maker:chance(80)
  program.grid = program.indices[2] == nil and maker:chance(50) and maker:int(1, 40) or nil
  program.names = maker.names
  program.declarations = "local " .. table.concat(maker.starts, "\nlocal ")
  return program
end

-- ------------------------------------------------------------------------------------------ runs

-- Arrays with ties and special values; the same for all programs.
local function world(meissa)
  local maker = draws.new(draws.park_miller(20261120))
  local A, Z = meissa.zeros(ROWS), meissa.zeros(ROWS)
  local P, Q = meissa.zeros(ROWS, COLUMNS), meissa.zeros(ROWS, COLUMNS)
  local R = meissa.zeros(ROWS + 1, COLUMNS + 2)
  local function special()
    local roll = maker:int(1, 12)
    if roll == 1 then return 0 / 0 end
    if roll == 2 then return -0 end
    if roll == 3 and maker:chance(30) then return maker:pick {math.huge, -math.huge} end
    return maker:int(-3, 3)
  end
  local list = {i = {}, j = {}, v = {}}
  for i = 1, ROWS do
    A[i], Z[i] = i < 4 and 0 / 0 or special(), maker:chance(50) and 0 or -0
    for j = 1, COLUMNS do
      Q[i][j], P[i][j] = special(), maker:chance(50) and 0 or -0
      if maker:chance(15) then
        local at = #list.i + 1
        list.i[at], list.j[at], list.v[at] = i, j, special()
      end
    end
  end
  return {A = A, Z = Z, P = P, Q = Q, R = R, S = meissa.sparse({ROWS, COLUMNS}, list)}
end

local function text_of(value)
  if value ~= value then return "nan" end
  if value == 0 then return 1 / value > 0 and "0" or "-0" end
  if type(value) ~= "table" then return tostring(value) end
  local parts = {}
  for key, each in pairs(value) do parts[#parts + 1] = tostring(key) .. ":" .. text_of(each) end
  table.sort(parts)
  return "{" .. table.concat(parts, " ") .. "}"
end

--- The whole text of a program, by `parallel` or as the plain loop.
function M.text(program, plainly)
  return ("%s\n%s\n  %s\n%s\nreturn {%s}"):format(
    program.declarations, plainly and program.plain or program.head, program.body,
    plainly and program.tail or program.own_tail or program.tail,
    table.concat(program.names, ", "))
end

local made

--- What a program's variables are in the end, as text, or nil and the error.
-- @tab meissa the module @tab program @bool plainly as the plain loop
-- @string engine "lua" or "native"
function M.run(meissa, program, plainly, engine)
  made = made or world(meissa)
  local grid = program.grid and {program.grid} or nil
  local env = setmetatable({
    parallel = meissa.parallel, engine = engine,
    options = {ordered = program.ordered, engine = engine, grid = grid},
    collapsing = {collapse = 2, ordered = program.ordered, engine = engine},
  }, {__index = function(_, name) return made[name] or _G[name] end})
  made.R:fill(1)
  local text = M.text(program, plainly)
  local ok, result = pcall(setfenv(assert(loadstring(text)), env))
  if not ok then return nil, tostring(result) end
  local words = {}
  for k = 1, #program.names do words[k] = program.names[k] .. "=" .. text_of(result[k]) end
  return table.concat(words, " ")
end

return M
