-- SPDX-License-Identifier: MIT
--
-- Random programs with a parallel loop: conditionals, inner loops, rows and views, aliases, several
-- arrays, scalars, helper functions, sparse and collapsed spaces. A program is a tree of
-- statements, so that it can be made smaller.
--
-- Subscripts stay in range by construction: indices lie in 5..14, offsets in -4..4, all extents
-- are at least 34. Numbers are whole and small, so sums are exact in any order.

local Maker = require "spec.check.programs_expressions"
local draws = require "spec.support.draws"
local tables = require "meissa.base.tables"
local M = {}

--- Draws of its own for a seed.
function M.random(seed) return draws.new(draws.skip(draws.of_number(seed), 5)) end

-- ---- what the programs work on ----

local EXTENT, DEEP = 40, 20

--- What each name is: its number of dimensions, and the line that makes it from others.
local ARRAYS = {
  { name = "A", dims = 1 }, { name = "B", dims = 1 }, { name = "C", dims = 2 },
  { name = "D", dims = 2 }, { name = "E", dims = 3, deep = true },
  { name = "V", dims = 1, from = "A" }, { name = "N", dims = 1, from = "A:narrow(1, 3, 36)" },
  { name = "T", dims = 2, from = "C:transpose()" },
  { name = "L", dims = 1, from = "C:select(1, 9)" },
  { name = "Q", dims = 2, from = "C:narrow(2, 2, 36)" }, { name = "R", dims = 1, from = "D[7]" },
  { name = "G", dims = 1, from = "C[{{}, 8}]" },
}

local function array_of(meissa, dims, first, extent)
  local X = meissa.zeros(dims == 1 and extent or dims == 2 and { extent, extent }
    or { extent, extent, extent })
  local data = X:data()
  for e = 0, extent ^ dims - 1 do data[e] = (e * 7 + first) % 23 end
  return X
end

-- Random entries of a sparse array.
local function entries_of(rng)
  local rows, columns, values = {}, {}, {}
  for i = 5, 12 do
    for j = 5, 12 do
      if rng:chance(35) then
        rows[#rows + 1], columns[#rows + 1], values[#rows + 1] = i, j, rng:int(1, 9)
      end
    end
  end
  if #rows == 0 then rows[1], columns[1], values[1] = 5, 6, 7 end
  return { i = rows, j = columns, v = values }
end

--- The arguments of a program's chunk: A, B, C, D, E, S, p.
function M.arguments(meissa, seed)
  local rng, p = M.random(seed), {}
  local entries = entries_of(rng)
  for k = 1, EXTENT do p[k] = rng:int(1, 12) end
  return array_of(meissa, 1, 1, EXTENT), array_of(meissa, 1, 2, EXTENT),
    array_of(meissa, 2, 3, EXTENT), array_of(meissa, 2, 4, EXTENT),
    array_of(meissa, 3, 5, DEEP), meissa.sparse({ 20, 20 }, entries), p
end

-- ---- statements: {text =} or {open =, body =, close =, middle =, other =} ----

function Maker:fresh(prefix)
  self.made = self.made + 1
  return prefix .. self.made
end

-- A block whose names end with it; `more` are names that only it sees.
function Maker:block(depth, most, more)
  local saved = {}
  for _, field in ipairs { "locals", "views", "rows", "indices" } do
    saved[field] = self[field]
    self[field] = { unpack(saved[field]) }
    for _, name in ipairs(more and more[field] or {}) do table.insert(self[field], name) end
  end
  local list = {}
  for k = 1, self.rng:int(1, most) do list[k] = self:statement(depth) end
  for field, names in tables.each(saved) do self[field] = names end
  return list
end

local kinds = {}

function kinds.assign(self)
  return { text = ("%s = %s"):format(self:element(), self:value()) }
end

function kinds.update(self)
  local element = self:element()
  return { text = ("%s = (%s + %s) %% 31"):format(element, element, self:number(1)) }
end

function kinds.declare(self)
  local name = self:fresh("x")
  local statement = { text = ("local %s = %s"):format(name, self:number(1)) }
  table.insert(self.locals, name)
  return statement
end

function kinds.view(self)
  local name = self:fresh("w")
  local row, extent = self:row()
  table.insert(self.views, name)
  if not extent then table.insert(self.rows, name) end
  return { text = ("local %s = %s"):format(name, row) }
end

function kinds.method(self)
  local rng = self.rng
  local target, extent = self:row()
  local source, other = self:row()
  if extent ~= other or rng:chance(40) then
    return { text = ("%s:fill(%s)"):format(target, self:value()) }
  end
  local call = rng:pick { "copy(%s)", "axpy(1, %s)", "add(-1, %s)" }
  return { text = ("%s:%s"):format(target, call:format(source)) }
end

function kinds.reduce(self)
  local rng = self.rng
  local roll = rng:int(1, 10)
  local x = self:number(1)
  if roll <= 2 then return { text = ("s = s + %s"):format(x) } end
  if roll == 3 then
    return { text = ("if %s %s m then m = %s end"):format(x, rng:pick { ">", ">=" }, x) }
  end
  if roll == 4 then return { text = ("m = math.max(m, %s)"):format(x) } end
  if roll == 5 then return { text = ("ok = ok and %s"):format(self:condition()) } end
  if roll == 6 then return { text = ("s, n = s - %s, n + 1"):format(x) } end
  if roll == 7 then
    return { text = ("m = math.max(%s, m, %s)"):format(x, self:number(0)) }
  end
  if roll == 8 then return { text = ("m = %s > m and %s or m"):format(x, x) } end
  if roll == 9 then return { text = ("if %s then ok = false end"):format(self:condition()) } end
  return { text = "n = n + 1" }
end

function kinds.scalar(self)
  local rng = self.rng
  local roll = rng:int(1, 6)
  if roll <= 3 then
    table.insert(self.locals, "q")
    return { text = ("q = %s"):format(self:value()) }
  end
  if roll == 4 then
    return { text = ("%s = (q + %s) %% 31"):format(self:element(), self:number(0)) }
  end
  if roll == 5 then return { text = ("s = %s - s"):format(self:number(0)) } end
  return { text = ("if %s then q = %s end"):format(self:condition(), self:value()) }
end

function kinds.branch(self, depth)
  local statement = { open = ("if %s then"):format(self:condition()),
    body = self:block(depth - 1, 2), close = "end" }
  if self.rng:chance(30) then
    statement.middle, statement.other = "else", self:block(depth - 1, 2)
  end
  return statement
end

function kinds.inner(self, depth)
  local rng, name = self.rng, self:fresh("k")
  local index = rng:pick(self.outer)
  local bounds = rng:pick { "5, 7", "6, 9, 2", index .. ", 14", ("5, %s"):format(index),
    ("%s, 5, -2"):format(index), ("%s, %s + 1"):format(index, index) }
  if rng:chance(10) then bounds = ("%s, 12"):format("p[" .. index .. "] + 4") end
  return { open = ("for %s = %s do"):format(name, bounds),
    body = self:block(depth - 1, 2, { indices = { name } }), close = "end" }
end

function kinds.again(self, depth)
  local name = self:fresh("c")
  local index = ("(%s + %d)"):format(name, self.rng:int(5, 9))
  local body = self:block(depth - 1, 1, { indices = { index } })
  local begin = ("local %s = 0"):format(name)
  local step = ("%s = %s + 1"):format(name, name)
  if self.rng:chance(50) then
    return { open = ("do %s repeat"):format(begin), body = body,
      close = ("%s until %s >= 2 end"):format(step, name) }
  end
  return { open = ("do %s while %s < 2 do"):format(begin, name), body = body,
    close = step .. " end end" }
end

function kinds.skip(self)
  self.skips = true
  return { text = ("if %s then goto continue end"):format(self:condition()) }
end

function kinds.help(self)
  if self.helpers.model and self.rng:chance(60) then
    return { text = ("model:write(%s, %s)"):format(self:subscript(), self:value()) }
  end
  if self.helpers.put then
    return { text = ("put(%s, %s)"):format(self:subscript(), self:value()) }
  end
  return kinds.assign(self)
end

function kinds.own(self)
  self.helpers.mine = true
  return { text = ("local function mine(x) return x + %s end"):format(self:element()) }
end

local WEIGHTS = { { "assign", 26 }, { "update", 10 }, { "declare", 8 }, { "view", 9 },
  { "method", 7 }, { "reduce", 10 }, { "scalar", 4 }, { "branch", 9 }, { "inner", 9 },
  { "again", 3 }, { "skip", 2 }, { "help", 4 }, { "own", 2 } }

function Maker:statement(depth)
  local roll = self.rng:int(1, 103)
  for _, entry in ipairs(WEIGHTS) do
    roll = roll - entry[2]
    if roll <= 0 then
      local kind = entry[1]
      local nested = kind == "branch" or kind == "inner" or kind == "again"
      local outer_only = kind == "skip" or kind == "own"
      if (self.tidy and kind == "scalar") or (nested and depth <= 0) or (outer_only and depth < 2)
        or (kind == "own" and self.helpers.mine) then
        kind = "assign"
      end
      return kinds[kind](self, depth)
    end
  end
end

-- ---- loops ----

local NAMES = { "i", "j", "l" }

local function range_text(rng, most)
  local count, step = rng:int(2, most), rng:pick { 1, 1, 1, 1, 2, -1 }
  if step == 2 then count = math.min(count, 5) end
  local lo = rng:int(5, 14 - (count - 1) * math.abs(step))
  local hi = lo + (count - 1) * math.abs(step)
  if step < 0 then lo, hi = hi, lo end
  if step == 1 then return ("{%d, %d}"):format(lo, hi) end
  return ("{%d, %d, %d}"):format(lo, hi, step)
end

-- What precedes the loop: views that the body may use, and helper functions.
local function head_of(rng, maker)
  local head = { "local A, B, C, D, E, S, p = ...", "local s, m, n, ok, q = 0, -1, 0, true, 3" }
  maker.arrays, maker.helpers = {}, {}
  for _ = 1, rng:int(1, 3) do
    local about = ARRAYS[rng:int(1, maker.tidy and 5 or #ARRAYS)]
    local base = about.from and about.from:match("^%a") or about.name
    maker.arrays[#maker.arrays + 1] = about
    if about.from then
      head[#head + 1] = ("local %s = %s"):format(about.name, about.from)
      for _, each in ipairs(ARRAYS) do
        if each.name == base then maker.arrays[#maker.arrays + 1] = each end
      end
    end
  end
  maker.opaque = rng:chance(30)
  if rng:chance(15) then
    maker.helpers.at = true
    head[#head + 1] = ("local function at(x) return x %% %d + 2 end"):format(rng:int(3, 9))
  end
  if rng:chance(12) then
    maker.helpers.get = true
    head[#head + 1] = "local function get(x) return A[x] end"
  end
  if rng:chance(8) then
    maker.helpers.put = true
    head[#head + 1] = "local function put(x, v) B[x] = v end"
  end
  if rng:chance(10) then
    maker.helpers.near = true
    head[#head + 1] =
      "local function near(x) local t = 0 for d = 0, 1 do t = t + B[x + d] end return t end"
  end
  if rng:chance(12) then
    maker.helpers.model = true
    head[#head + 1] = ("local model = {W = %s, read = function(self, x) return self.W[x] end, " ..
      "write = function(self, x, v) self.W[x] = v end, pick = function(self, x) " ..
      "if x %% 2 == 0 then return 1 end return self:read(x) end}"):format(rng:pick { "A", "B" })
  end
  return head
end

local function space_of(rng, program)
  local options = { "check = true" }
  local roll = rng:int(1, 100)
  if roll <= 22 then
    program.names, program.space = { "i", "j", "r" }, "S"
    if rng:chance(30) then options[#options + 1] = "ordered = true" end
  else
    local dims = rng:pick { 1, 1, 2, 2, 2, 3 }
    program.names = { unpack(NAMES, 1, dims) }
    local ranges = {}
    for d = 1, dims do ranges[d] = range_text(rng, ({ 10, 7, 4 })[dims]) end
    if rng:chance(60) then options[#options + 1] = "ordered = false" end
    if dims > 1 and rng:chance(12) then
      program.collapse = true
      options[#options + 1] = "collapse = " .. dims
      program.headers = {}
      for d = 2, dims do
        program.headers[d - 1] = ("for %s = %s do"):format(NAMES[d], rng:pick { "5, 8",
          NAMES[d - 1] .. ", 10", "5, " .. NAMES[d - 1], NAMES[d - 1] .. ", 5, -1" })
      end
      ranges = { ranges[1] }
    end
    program.space = table.concat(ranges, ", ")
  end
  program.options = table.concat(options, ", ")
end

--- A random program from a seed.
function M.program(seed)
  local rng = M.random(seed)
  local maker = setmetatable({ rng = rng, made = 0, locals = {}, views = {}, rows = {},
    tidy = rng:chance(60) and {} or nil, stencil = rng:chance(15) }, Maker)
  local program = { seed = seed, head = head_of(rng, maker) }
  space_of(rng, program)
  maker.indices = {}
  for k, name in ipairs(program.names) do
    if name ~= "r" then maker.indices[k] = name else maker.locals[1] = "r" end
  end
  maker.outer = { unpack(maker.indices) }
  if program.space == "S" and rng:chance(40) then
    maker.arrays[#maker.arrays + 1] = { name = "W", dims = 2 }
    program.head[#program.head + 1] = "local W = C"
  end
  program.body = maker:block(2, 4)
  if program.space == "S" and rng:chance(40) then
    table.insert(program.body, { text = "S[i][j] = (r + 1) % 31" })
  end
  program.skips = maker.skips
  return program
end

return M
