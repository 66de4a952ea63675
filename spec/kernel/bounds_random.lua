-- SPDX-License-Identifier: MIT
-- Random loops that aim at the checks of subscripts: one off an extent in the first or the last
-- iteration only, under conditions, in inner loops with computed ends, by captured numbers near the
-- limits of integers, through views; wrong, fractional, nan and huge subscripts. Every array is a
-- view into a larger one, so that whatever is written beside it shows. The same loops everywhere
-- for a seed.
local array = require "meissa.array"
local c_api = require "meissa.array.c_api"
local draws = require "spec.support.draws"
local worlds = dofile("spec/kernel/engines_world.lua")

local M = {}

-- ------------------------------------------------------------------------------------ the world

local MARGIN = 5

-- A view of these extents in the middle of a larger array, every element of which is a number of
-- its own: any read or write beside it is seen.
local function embedded(dims, options, first)
  local outer = {}
  for d, extent in ipairs(dims) do outer[d] = extent + 2 * MARGIN end
  local A = array.zeros(outer, options)
  local data = A:data()
  for k = 0, tonumber(A.array.count) - 1 do data[k] = first + k end
  for d, extent in ipairs(dims) do
    if extent > 0 then A = A:narrow(d, MARGIN + 1, extent) end
  end
  return A
end

-- The same with the rows following each other, as in an array of its own.
local function packed(rows, columns, options, first)
  local A = array.zeros({ rows + 2 * MARGIN, columns }, options)
  local data = A:data()
  for k = 0, tonumber(A.array.count) - 1 do data[k] = first + k end
  return A:narrow(1, MARGIN + 1, rows)
end

local function transposed(A)
  return array.wrap(c_api.call(c_api.lib.ms_array_transpose, A.array, 0, 1))
end

local function filled(type_name, values, count, random)
  local A = array.zeros({ count }, { type = type_name })
  for k = 1, count do A[k] = values[random(#values)] end
  return A
end

local huge = { 2 ^ 31, 2 ^ 31 + 1, -2 ^ 31, 2 ^ 53, -2 ^ 53, 2 ^ 32 + 1, 0, 1, 2, 3 }
local odd = { 0 / 0, 1 / 0, -1 / 0, 1.5, 0.5, -0.0, 2 ^ 53, 1e300, 1, 2, 3, 4 }

-- Written arrays are named O1, O2, ...; the others are only read.
local function make_world(seed, n)
  local random = worlds.generator(seed)
  local int32, int64, float = { type = "int32" }, { type = "int64" }, { type = "float" }
  return {
    A = packed(n, 6, nil, 100), B = embedded({ n }, nil, 1000), E = embedded({ n, 6 }, nil, 2000),
    F = packed(n, 10, float, 3000), G = packed(n, 100, nil, 4000),
    S = transposed(embedded({ 6, n }, nil, 9000)), T = embedded({ n, 2, 6 }, nil, 11000),
    C = embedded({ n, 6 }, int32, 50), L = embedded({ n, 6 }, int64, 70),
    Z = array.zeros({ n, 0 }), Y = array.zeros({ 0 }),
    O1 = packed(n, 6, nil, 1), O2 = embedded({ n, 6 }, nil, 1), O3 = embedded({ n }, nil, 1),
    O4 = packed(n, 10, int32, 1), O5 = transposed(embedded({ 6, n }, float, 1)),
    O6 = embedded({ n, 2, 6 }, nil, 1), O7 = packed(n, 100, int64, 1),
    O8 = embedded({ 6, n, 2 }, nil, 1):select(3, 2),
    I = filled("int32", { 1, 2, 3, 4, 5, 6, 6, 7, 0 }, n + 12, random),
    J = filled("int64", huge, n + 12, random), D = filled("double", odd, n + 12, random),
    n = n, m = 6, one = 1, zero = 0, two = 2, five = 5, seven = 7, ten = 10, hundred = 100,
    half = 0.5, frac = 6.5, less = -1, undefined = 0 / 0, infinite = 1 / 0,
    word = 2 ^ 31, below = 2 ^ 31 - 1, lowest = -2 ^ 31, exact = 2 ^ 53, wide = 2 ^ 52,
  }
end

-- ------------------------------------------------------------------------------------ the loops

local Body = draws.class()

function Body:fresh(prefix)
  self.made = self.made + 1
  return prefix .. self.made
end

-- Subscripts for an extent of `width`; most of them right.
function Body:subscript(width)
  local near = #self.loops > 0 and self:chance(75)
  local k = near and self:pick(self.loops) or tostring(self:random(6))
  if not self:chance(self.wrong) then
    if self:chance(70) then return k end
    return self:pick { k .. " + zero", "m + one - " .. k, k .. " % m + 1", "(" .. k .. ")",
      ("math.min(%s, m)"):format(k), ("math.max(%s, 1)"):format(k), "m", "1",
      ("math.floor(%s / 2) + 1"):format(k), ("math.min(math.max(%s, one), m)"):format(k),
      ("%s * one"):format(k), ("I[%s] %% 6 + 1"):format(k), tostring(width), "#E[1]",
      ("%s > 1 and %s - 1 or m"):format(k, k), ("(%s - 2) %% m + 1"):format(k),
      ("%s < m and %s + 1 or 1"):format(k, k) }
  end
  if self:chance(65) then
    return self:pick { k .. " + 1", k .. " - 1", k .. " + one", k .. " - one", "m - " .. k,
      k .. " % m", ("2 * %s - 1"):format(k), k .. " * two", ("I[%s]"):format(k), "m + one", "zero",
      ("-%s"):format(k), tostring(width + 1), ("math.min(%s, seven)"):format(k),
      ("math.floor(%s / 2)"):format(k), k .. " + i - i", "i", "n", "n - i", "seven - " .. k,
      ("%s + five"):format(k), ("%s * ten - 9"):format(k), ("%s * %s"):format(k, k),
      ("%s > zero and %s - 1 or m"):format(k, k), ("%s <= m and %s + one or 1"):format(k, k),
      ("3 ~= %s and %s or seven"):format(k, k), ("%s == 2 and %s or zero"):format(k, k),
      ("%s < half and 1 or %s"):format(k, k), ("(%s - 2) %% m"):format(k) }
  end
  return self:pick { k .. " + half", k .. " * half", "undefined", "infinite", "D[i]", "J[i]",
    ("D[%s]"):format(k), k .. " + word", k .. " + word - word", k .. " + below", "exact + " .. k,
    k .. " * below", ("(%s + exact) - exact"):format(k), k .. " * wide", "-word", "frac", "lowest",
    k .. " + undefined", ("%s / %s"):format(k, k), "hundred", ("bit.band(%s, 7)"):format(k),
    k .. " % zero", k .. " % less", k .. " * word * word", ("(%s - half) * 2"):format(k),
    "word * 2",
    ("math.floor(%s * half)"):format(k), ("math.max(%s, undefined)"):format(k), "nothing" }
end

-- Arrays that are read: the name and the extents behind the first.
local read = { { "A", 6 }, { "E", 6 }, { "F", 10 }, { "G", 100 }, { "S", 6 }, { "C", 6 },
  { "L", 6 }, { "T", 2, 6 }, { "B" }, { "A", 6 }, { "E", 6 }, { "T", 2, 6 } }
local empty = { { "Z", 0 }, { "Y" } }
local written = { { "O1", 6 }, { "O2", 6 }, { "O3" }, { "O4", 10 }, { "O5", 6 }, { "O6", 2, 6 },
  { "O7", 100 } }

-- An element with a row and further subscripts, in one way of writing it.
function Body:element(about, row)
  local keys = { row }
  for d = 2, #about do
    keys[d] = about[d] == 2 and self:chance(85) and tostring(self:random(2))
      or self:subscript(about[d])
  end
  if #keys > 1 and self:chance(25) then
    return ("%s[{%s}]"):format(about[1], table.concat(keys, ", "))
  end
  return about[1] .. "[" .. table.concat(keys, "][") .. "]"
end

local right_rows = { "i", "i", "n + 1 - i", "i + zero", "i + one - 1", "i % n + 1",
  "math.min(i, n)", "math.min(i + 1, n)", "i > 1 and i - 1 or n", "n > i and i + 1 or 1" }
local rows = { "i + 1", "i - 1", "n - i", "2 * i", "D[i]", "J[i]", "I[i]", "i + half" }

function Body:a_row()
  return self:pick(self:chance(self.wrong) and rows or right_rows)
end

function Body:value()
  if self:chance(70) then
    local view = #self.views > 0 and self:chance(30) and self:pick(self.views)
    if view then return ("%s[%s]"):format(view, self:subscript(6)) end
    local about = self:pick(self:chance(self.wrong / 4) and empty or read)
    return self:element(about, self:a_row())
  end
  return self:pick { "i", "1", "n", "i * 2", #self.loops > 0 and self:pick(self.loops) or "7" }
end

-- Each written array has one row of its own in every iteration, so that nothing depends.
local own_rows = { "i + 1", "i - 1", "n - i", "2 * i - 1", "i + one" }

function Body:own(name)
  if not self.row[name] then
    self.row[name] = self:chance(self.wrong) and self:pick(own_rows)
      or self:pick { "i", "i", "n + 1 - i" }
  end
  return self.row[name]
end

function Body:target()
  local about = self:pick(written)
  return self:element(about, self:own(about[1]))
end

function Body:condition()
  local k = #self.loops > 0 and self:pick(self.loops) or "i"
  return self:pick { k .. " < m", k .. " == m", "i == 1", "i == n", "i < n", k .. " > 1",
    k .. " ~= seven", "D[i] > 1", k .. " <= m", "I[i] < 7", "i > 1" }
end

local statements = {}

function statements.store(self)
  return ("%s = %s"):format(self:target(), self:value())
end

function statements.update(self)
  local target = self:target()
  return ("%s = %s %% 99 + 1"):format(target, target)
end

function statements.add(self)
  return ("acc = acc + %s"):format(self:value())
end

function statements.view(self)
  local name = self:fresh("w")
  local text = ("local %s = %s[%s]"):format(name, self:pick { "A", "E", "S" }, self:a_row())
  if self:chance(25) then
    text = ("local %s = T[%s][%d]"):format(name, self:a_row(), self:random(2))
  end
  table.insert(self.views, name)
  return text
end

function statements.condition(self, depth)
  return ("if %s then\n%s\nend"):format(self:condition(), self:block(depth - 1, 2))
end

function statements.loop(self, depth)
  local name, count = self:fresh("k"), self:fresh("c")
  local outer = #self.loops > 0 and self:pick(self.loops) or "i"
  local bounds = self:pick { "1, m", "2, m", outer .. ", m", "1, frac", "1, 6, two", "m, 1, -1" }
  if self:chance(3 * self.wrong) then bounds = self:pick { "1, m + 1", "0, m", "1, seven",
    "1, frac", "1, m, two", "m, 0, -1", "1, I[i]", "I[i], m", "D[i], m", "1, D[i]",
    "1, 1 + D[i] % 6",
    outer .. ", m", "1, " .. outer, "one, m - 1", "zero, m - one", "1, #E[1]", "seven, 1, -two",
    "1, zero", "m, 1", "half, m", "word, word + 2", "exact - 2, exact", "-exact, 2 - exact",
    "1, ten",
    "1, hundred", "less, m", "lowest, lowest + 1", "J[i], J[i] + 1", "1, 100, 33",
    "math.max(1, " .. outer .. " - 1), math.min(m, " .. outer .. " + 1)", "1, undefined",
    "1, infinite", "-infinite, 1", "m, one, less" }
  end
  table.insert(self.loops, name)
  local inner = self:block(depth - 1, 2)
  table.remove(self.loops)
  return ("local %s = 0\nfor %s = %s do\n%s = %s + 1 if %s > 101 then break end\n%s\nend"):format(
    count, name, bounds, count, count, count, inner)
end

-- The same without a counter, as people write it; its ends are known to be near.
function statements.plain_loop(self, depth)
  local name = self:fresh("k")
  local bounds = self:pick { "1, m", "1, 6", "m, 1, -1", "2, m", "1, #E[1]", "1, I[i] % 7",
    "one, five + one", "1, m, two", "math.max(1, i), m" }
  if self:chance(2 * self.wrong) then
    bounds = self:pick { "1, m + 1", "0, m", "1, seven", "m, 0, -1", "zero, m - one", "1, ten",
      "1, hundred", "1, I[i]", "i, m" }
  end
  table.insert(self.loops, name)
  local inner = self:block(depth - 1, 2)
  table.remove(self.loops)
  return ("for %s = %s do\n%s\nend"):format(name, bounds, inner)
end

function statements.count(self, depth)
  local name = self:fresh("c")
  table.insert(self.loops, name)
  local inner = self:block(depth - 1, 2)
  table.remove(self.loops)
  return ("local %s = %d\nwhile %s < %s do\n%s = %s + 1\n%s\nend"):format(name, self:random(2) - 1,
    name, self:pick(self:chance(self.wrong) and { "seven", "m + 1" } or { "m", "m - 1" }), name,
    name, inner)
end

function statements.computed(self)
  local name = self:fresh("s")
  return ("local %s = %s\nO1[%s][%s] = %s"):format(name, self:subscript(6), self:own("O1"), name,
    name)
end

-- A local that conditions bound once more, or seem to, and what is written by it.
function statements.settled(self, depth)
  local name = self:fresh("s")
  local lines = { ("local %s = %s"):format(name, self:subscript(6)) }
  local function assign() return ("%s = %s"):format(name, self:subscript(6)) end
  local function condition()
    return self:pick { name .. " < 1", name .. " > m", name .. " < one", "6 < " .. name,
      name .. " >= seven", name .. " == zero", name .. " ~= 3", self:condition() }
  end
  for _ = 1, self:random(2) do
    local text = ("if %s then %s"):format(condition(), assign())
    if self:chance(30) then text = ("%s elseif %s then %s"):format(text, condition(), assign()) end
    if self:chance(15) then text = ("%s else %s"):format(text, assign()) end
    if self:chance(10) then text = text .. "\n" .. self:block(depth - 1, 1) end
    lines[#lines + 1] = text .. " end"
    if self:chance(10) then lines[#lines + 1] = ("acc = acc + %s"):format(name) end
  end
  table.insert(self.loops, name)
  lines[#lines + 1] = self:block(depth - 1, 2)
  table.remove(self.loops)
  if self:chance(15) then lines[#lines + 1] = assign() end
  return "do\n" .. table.concat(lines, "\n") .. "\nend"
end

local kinds = { "store", "store", "store", "update", "add", "add", "view", "condition", "loop",
  "loop", "plain_loop", "plain_loop", "plain_loop", "plain_loop", "count", "computed", "settled",
  "settled" }
local nesting = { condition = true, loop = true, plain_loop = true, count = true, settled = true }

function Body:block(depth, most)
  local lines, views = {}, #self.views
  for _ = 1, self:random(most) do
    local kind = self:pick(kinds)
    if depth <= 0 and nesting[kind] then kind = "store" end
    lines[#lines + 1] = statements[kind](self, depth)
  end
  while #self.views > views do table.remove(self.views) end
  return table.concat(lines, "\n")
end

local spaces = { { 1, 3, 1 }, { 1, 7, 1 }, { 1, 1, 1 }, { 1, 12, 1 }, { 7, 1, -1 }, { 2, 8, 2 },
  { 1, 10, 3 } }
local all_spaces = { { 0, 4, 1 }, { -1, 3, 1 }, { 5, 0, -1 } }

--- A random loop: {text =, n = extent of the rows, ranges =, pieces =, seed =, world = makes it}.
function M.loop(seed)
  local self = setmetatable({ draw = worlds.draw(seed * 104729 + 5), made = 0, loops = {},
    views = {}, row = {} }, Body)
  self.wrong = self:pick { 0, 1, 3, 3, 8, 20 }
  local range = self:pick(self:chance(self.wrong) and all_spaces or spaces)
  local count = (range[2] - range[1]) / range[3] + 1
  local n = math.max(range[1], range[2]) - (self:chance(self.wrong) and 1 or 0)
  n = math.max(n, 1)
  local text = ("for i in parallel(n) do\nlocal acc = 0\ndo\n%s\nend\nO8[1][%s] = acc\nend"):format(
    self:block(3, 3), self:own("O8"))
  return { text = text, n = n, ranges = { range }, seed = seed,
    pieces = math.min(self:pick { 1, 2, 3, count }, count),
    world = function() return make_world(seed, n) end }
end

return M
