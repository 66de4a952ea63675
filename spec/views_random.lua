-- SPDX-License-Identifier: MIT
--- Random loops over views of views of one array, and arrays of plain Lua tables to run them on.
--
-- program(seed) is {made = how the views are made, names = theirs, text = the loop, exact = whether
-- all that it touches is affine}. All subscripts are inside, all numbers are small integers.
local M = {}

-- ------------------------------------------------------------------------------- plain arrays

local Plain = {}
local methods = {}

local function plain(memory, first, dims, strides)
  return setmetatable({memory = memory, first = first, dims = dims, strides = strides}, Plain)
end

local function copy(list) return {unpack(list)} end

local function touch(memory, at, write)
  assert(at >= 1 and at <= memory.count, "outside of the memory")
  if memory.touched then memory.touched(at, write) end
end

local function place(A, d, at)
  assert(at >= 1 and at <= A.dims[d] and at % 1 == 0, "outside of the array")
  return (at - 1) * A.strides[d]
end

local function element_of(A, keys)
  local at = A.first
  for d, key in ipairs(keys) do at = at + place(A, d, key) end
  return at
end

function methods.narrow(A, d, first, length)
  local dims = copy(A.dims)
  dims[d] = length
  return plain(A.memory, A.first + (first - 1) * A.strides[d], dims, A.strides)
end

function methods.select(A, d, at)
  local dims, strides = copy(A.dims), copy(A.strides)
  table.remove(dims, d)
  table.remove(strides, d)
  return plain(A.memory, A.first + place(A, d, at), dims, strides)
end

function methods.transpose(A, one, other)
  local dims, strides = copy(A.dims), copy(A.strides)
  one, other = one or 1, other or 2
  dims[one], dims[other] = dims[other], dims[one]
  strides[one], strides[other] = strides[other], strides[one]
  return plain(A.memory, A.first, dims, strides)
end

-- Calls fn with the place of each element.
local function each(A, fn)
  local function walk(d, at)
    if d > #A.dims then return fn(at) end
    for k = 0, A.dims[d] - 1 do walk(d + 1, at + k * A.strides[d]) end
  end
  walk(1, A.first)
end

function methods.sum(A)
  local sum = 0
  each(A, function(at)
    touch(A.memory, at, false)
    sum = sum + A.memory[at]
  end)
  return sum
end

function methods.fill(A, value)
  each(A, function(at)
    touch(A.memory, at, true)
    A.memory[at] = value
  end)
end

function Plain.__index(A, key)
  if type(key) == "string" then return methods[key] end
  if type(key) == "number" and #A.dims > 1 then return methods.select(A, 1, key) end
  local at = element_of(A, type(key) == "table" and key or {key})
  touch(A.memory, at, false)
  return A.memory[at]
end

function Plain.__newindex(A, key, value)
  local at = element_of(A, type(key) == "table" and key or {key})
  touch(A.memory, at, true)
  A.memory[at] = value
end

--- The iterations over all elements of a plain array, as functions that give subscripts and value.
function M.iterations(A)
  local list = {}
  local function walk(B, keys)
    for k = 1, B.dims[1] do
      local here = copy(keys)
      here[#here + 1] = k
      if #B.dims > 1 then
        walk(B[k], here)
      else
        list[#list + 1] = function()
          local entry = copy(here)
          entry[#entry + 1] = B[k]
          return unpack(entry)
        end
      end
    end
  end
  walk(A, {})
  return list
end

--- A plain array of these extents; its elements are 1, 2, 3...
function M.plain(dims)
  local strides, count = {}, 1
  for d = #dims, 1, -1 do strides[d], count = count, count * dims[d] end
  local memory = {count = count}
  for k = 1, count do memory[k] = k end
  return plain(memory, 1, dims, strides)
end

-- -------------------------------------------------------------------------------- programs

local Program = {}
Program.__index = Program

function Program:int(lo, hi) return lo + math.floor(self.draw() * (hi - lo + 1)) end

function Program:pick(list) return list[self:int(1, #list)] end

function Program:chance(percent) return self:int(1, 100) <= percent end

local SHAPES = {{24}, {24}, {8, 7}, {7, 7}, {7, 7}, {5, 4, 4}, {3, 4, 5}}

-- A view of a view, by a method or as a row; nil where there is none.
function Program:part(from)
  local dims, how = copy(from.dims), self:int(1, 10)
  local d = self:int(1, #dims)
  if how <= 4 then
    local length = self:int(1, dims[d])
    local first = self:int(1, dims[d] - length + 1)
    dims[d] = length
    return {dims = dims, from = from, make = {"narrow", d, first, length}}
  elseif #dims == 1 then
    return nil
  elseif how <= 6 then
    local other = d % #dims + 1
    dims[d], dims[other] = dims[other], dims[d]
    return {dims = dims, from = from, make = {"transpose", d, other}}
  end
  local row = how >= 9
  local extent = table.remove(dims, row and 1 or d)
  return {dims = dims, from = from, make = {row and "row" or "select", row and 1 or d,
                                            self:int(1, extent)}}
end

local NAMES = {"a", "b", "c", "d"}

function Program:draw_views()
  local all = {{dims = self:pick(SHAPES)}}
  self.shape = all[1].dims
  for _ = 1, self:int(2, 7) do all[#all + 1] = self:part(self:pick(all)) end
  self.names, self.dims = {}, {}
  for k = 1, self:int(2, 4) do
    local view = self:chance(15) and all[1] or self:pick(all)
    self.names[k] = NAMES[k]
    self.dims[NAMES[k]], self.made[NAMES[k]] = view.dims, view
  end
end

-- A subscript within 1..extent: an affine form of the indices, seldom a look-up.
function Program:subscript(extent)
  local index = self:pick(self.indices)
  local lo, hi, how = index.lo, index.hi, self:int(1, 100)
  if how <= 6 and extent >= 4 then
    self.exact = false
    return ("p[%s]"):format(index.name)
  elseif how <= 50 and hi - lo < extent then
    local shift = self:chance(50) and lo >= 1 and hi <= extent and 0 or
      self:int(1 - lo, extent - hi)
    return shift == 0 and index.name or ("%s %s %d"):format(index.name, shift < 0 and "-" or "+",
                                                            math.abs(shift))
  elseif how <= 65 and hi - lo < extent then
    return ("%d - %s"):format(self:int(hi + 1, extent + lo), index.name)
  elseif how <= 75 and 2 * (hi - lo) < extent then
    return ("2 * %s %+d"):format(index.name, self:int(1 - 2 * lo, extent - 2 * hi))
  end
  return tostring(self:int(1, extent))
end

-- What a view is called: by its name, or as a field.
function Program:name(name)
  return self:chance(20) and "fields." .. name or name
end

function Program:element(name)
  local keys = {}
  for d, extent in ipairs(self.dims[name]) do keys[d] = self:subscript(extent) end
  name = self:name(name)
  local listed = #keys > 1 and self:chance(30)
  if listed then return ("%s[{%s}]"):format(name, table.concat(keys, ", ")) end
  return name .. "[" .. table.concat(keys, "][") .. "]"
end

-- A view with fewer subscripts than it has dimensions.
function Program:rows(name)
  local keys = ""
  for d = 1, self:int(0, #self.dims[name] - 1) do
    keys = keys .. "[" .. self:subscript(self.dims[name][d]) .. "]"
  end
  return self:name(name) .. keys
end

-- An element that a function reads, by an upvalue or from what it is given; nil for matrices.
function Program:call(name)
  if #self.dims[name] > 1 then return nil end
  local key = self:subscript(self.dims[name][1])
  local row = self.made[name].make and self.made[name].make[1] == "row"
  if row or self:chance(50) then return ("take(%s, %s)"):format(self:name(name), key) end
  return ("take_%s(%s)"):format(name, key)
end

function Program:value()
  local how = self:int(1, 10)
  if how <= 1 then return self:rows(self:pick(self.names)) .. ":sum()" end
  if how == 2 then return self:call(self:pick(self.names)) or "1" end
  if how <= 8 then return self:element(self:pick(self.names)) end
  if how == 9 and #self.indices > 0 and self.over then return "v" end
  return self:pick(self.indices).name
end

function Program:statement(depth)
  local how, name = self:int(1, 100), self:pick(self.names)
  if how <= 12 and depth < 2 then
    local index = {name = "k" .. depth, lo = 1, hi = self:int(1, 4)}
    self.indices[#self.indices + 1] = index
    local inner = self:statement(depth + 1)
    self.indices[#self.indices] = nil
    return ("for %s = 1, %d do %s end"):format(index.name, index.hi, inner)
  elseif how <= 20 and depth < 2 then
    self.exact = false
    return ("if %s %% 2 == 0 then %s end"):format(self.indices[1].name, self:statement(depth + 1))
  elseif how <= 26 then
    return ("%s:fill(%s %% 97)"):format(self:rows(name), self:value())
  elseif how <= 30 and #self.dims[name] == 1 then
    local key = self:subscript(self.dims[name][1])
    return ("put(%s, %s, %s %% 97)"):format(self:name(name), key, self:value())
  elseif how <= 34 and #self.dims[name] > 1 then
    local row = self.dims[name]
    self.row = (self.row or 0) + 1
    local text, keys = ("local r%d = %s[%s] "):format(self.row, name, self:subscript(row[1])), ""
    for d = 2, #row do keys = keys .. "[" .. self:subscript(row[d]) .. "]" end
    local element = "r" .. self.row .. keys
    return ("%s%s = (%s + %s) %% 97"):format(text, element, self:value(), element)
  end
  return ("%s = (%s + %s) %% 97"):format(self:element(name), self:value(), self:value())
end

-- The head of a loop over all elements of a view.
function Program:elements()
  local name, indices, names = self:pick(self.names), {}, {}
  for d, extent in ipairs(self.dims[name]) do
    indices[d] = {name = ("ijl"):sub(d, d), lo = 1, hi = extent}
    names[d] = indices[d].name
  end
  self.indices, self.over = indices, true
  return ("for %s, v in parallel(%s, {ordered = %s}) do"):format(table.concat(names, ", "), name,
                                                              tostring(self.ordered))
end

-- The head of a loop over ranges.
function Program:ranges()
  local ranges, indices = {}, {}
  for d = 1, self:chance(60) and 1 or 2 do
    local lo = self:chance(70) and 1 or self:int(1, 3)
    local hi = self:chance(15) and lo or lo + self:int(1, 4)
    indices[d] = {name = d == 1 and "i" or "j", lo = lo, hi = hi}
    ranges[d] = ("{%d, %d}"):format(lo, hi)
  end
  self.indices = indices
  return ("for %s in parallel(%s, {ordered = %s}) do"):format(
    #indices == 1 and "i" or "i, j", table.concat(ranges, ", "), tostring(self.ordered))
end

function Program:loop()
  self.ordered = self:chance(75)
  local head, body = self:chance(15) and self:elements() or self:ranges(), {}
  for k = 1, self:int(1, 3) do body[k] = "  " .. self:statement(1) end
  return head .. "\n" .. table.concat(body, "\n") .. "\nend"
end

-- Numbers from 0 to below 1.
local function generator(seed)
  local state = (seed * 7919 + 12345) % 2147483647
  return function()
    state = state * 16807 % 2147483647
    return state / 2147483647
  end
end

function M.program(seed)
  local program = setmetatable({draw = generator(seed), exact = true, made = {}}, Program)
  for _ = 1, 5 do program.draw() end
  program:draw_views()
  program.text = program:loop()
  return program
end

local function rows_of(X, count)
  local rows = {}
  for k = 1, count do rows[k] = X:select(1, k) end
  return rows
end

--- Loops over views that users write: the extents of the base, the names with the views that they
-- are, the loop, and how it runs in parallel, or that it meets itself.
M.examples = {
  {shape = {2, 50}, names = {"a", "b"}, runs = "independent",
   views = function(X) return {a = X[1], b = X[2]} end,
   text = "for i in parallel(50) do a[i] = a[i] + b[51 - i] end"},
  {shape = {100}, names = {"a", "b"}, runs = "independent",
   views = function(X) return {a = X:narrow(1, 1, 50), b = X:narrow(1, 51, 50)} end,
   text = "for i in parallel(50) do a[i] = b[51 - i] + b[1] end"},
  {shape = {30, 5}, names = {"f", "y"}, runs = "independent",
   views = function(X) return {f = X:select(2, 1), y = X:select(2, 5)} end,
   text = "for i in parallel(30) do y[i] = f:sum() + f[31 - i] end"},
  {shape = {30, 5}, names = {"F", "y"}, runs = "independent",
   views = function(X) return {F = X:narrow(2, 1, 4), y = X:select(2, 5)} end,
   text = "for i in parallel(30) do y[i] = F[31 - i]:sum() + F[1][4] end"},
  {shape = {20}, names = {"A", "w"}, runs = "independent",
   views = function(A) return {A = A, w = A:narrow(1, 1, 2)} end,
   text = "for j in parallel(1) do w[2] = j + 5; A[3] = A[2] + w[1]; w[1] = A[3] end"},
  {shape = {20}, names = {"A", "w"}, runs = "partition",
   views = function(A) return {A = A, w = A:narrow(1, 1, 2)} end,
   text = "for j, i in parallel(1, 10) do w[1] = A[1] + i; A[2] = w[1] * j end"},
  {shape = {6, 6}, names = {"E", "T"}, runs = "independent",
   views = function(E) return {E = E, T = E:transpose()} end,
   text = "for i in parallel(6) do for j = 1, 6 do E[i][j] = E[i][j] + T[j][i] end end"},
  {shape = {6, 6}, names = {"E", "T"}, runs = "independent",
   views = function(E) return {E = E, T = E:transpose()} end,
   text = "for i in parallel(6) do for j = 1, i - 1 do E[i][j] = T[i][j] end end"},
  {shape = {6, 6}, names = {"E", "T"},
   views = function(E) return {E = E, T = E:transpose()} end,
   text = "for i in parallel(6) do for j = 1, 6 do E[i][j] = T[i][j] end end"},
  {shape = {100}, names = {"a", "b"}, runs = "independent",
   views = function(X) return {a = X:narrow(1, 1, 60), b = X:narrow(1, 41, 60)} end,
   text = "for i in parallel(20) do a[i + 40] = a[i] + b[i + 20] end"},
  {shape = {100}, names = {"a", "b"},
   views = function(X) return {a = X:narrow(1, 1, 60), b = X:narrow(1, 41, 60)} end,
   text = "for i in parallel(60) do a[i] = b[i] end"},
  {shape = {20, 8}, names = {"S", "r", "c"}, runs = "independent",
   views = function(S) return {S = S:transpose(), r = S[1], c = S:select(2, 3)} end,
   text = "for i in parallel({2, 20}) do S[5][i] = c[i] + r[3] + r[1] end"},
  {shape = {71, 70}, names = {"rows", "last"}, runs = "independent",
   views = function(X) return {rows = rows_of(X, 70), last = X:select(1, 71)} end,
   text = "for i in parallel(70) do last[i] = rows[i]:sum() end"},
  {shape = {71, 70}, names = {"rows", "X"}, inexact = true,
   views = function(X) return {rows = rows_of(X, 70), X = X} end,
   text = "for i in parallel(70) do X[71][i] = rows[i]:sum() end"},
}
for _, example in ipairs(M.examples) do
  example.ordered, example.exact = true, not example.inexact
end

-- The view on an array, or on a plain one.
local function make(view, base)
  if not view.from then return base end
  local from, how = make(view.from, base), view.make
  if how[1] == "row" then return from[how[3]] end
  return from[how[1]](from, how[2], how[3], how[4])
end

--- The views by their names, made of `base`; two names for one view are one value.
function M.views(program, base)
  if program.views then return program.views(base) end
  local env, known = {p = {}}, {}
  for k = -20, 40 do env.p[k] = k % 4 + 1 end
  for _, name in ipairs(program.names) do
    local view = program.made[name]
    known[view] = known[view] or make(view, base)
    env[name] = known[view]
  end
  return env
end

return M
