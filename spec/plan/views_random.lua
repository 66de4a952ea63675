-- SPDX-License-Identifier: MIT
--- Random loops over views of views of one array.
--
-- program(seed) is {made = how the views are made, names = theirs, text = the loop, exact = whether
-- all that it touches is affine}. All subscripts are inside, all numbers are small integers.
local draws = require "spec.support.draws"

local M = {}

local Program = draws.class()

local SHAPES = {{24}, {24}, {8, 7}, {7, 7}, {7, 7}, {5, 4, 4}, {3, 4, 5}}

-- A view of a matrix that leaves out two rows or columns at most, or is the transposed one.
function Program:large_part(from)
  local dims, d = {unpack(from.dims)}, self:int(1, 2)
  if self:chance(40) then
    return {dims = {dims[2], dims[1]}, from = from, make = {"transpose", 1, 2}}
  end
  local length = self:int(math.max(dims[d] - 2, 5), dims[d])
  local first = self:int(1, dims[d] - length + 1)
  dims[d] = length
  return {dims = dims, from = from, make = {"narrow", d, first, length}}
end

-- A row, a column, or some of them, of a large matrix: the box around two is much more than they
-- are.
function Program:crossing(from)
  local d, dims = self:int(1, 2), {unpack(from.dims)}
  if self:chance(60) then
    local extent = table.remove(dims, d)
    return {dims = dims, from = from, make = {"select", d, self:int(1, extent)}}
  end
  local length = self:int(4, 6)
  local first = self:int(1, dims[d] - length + 1)
  dims[d] = length
  return {dims = dims, from = from, make = {"narrow", d, first, length}}
end

-- A view of a view, by a method or as a row; nil where there is none.
function Program:part(from)
  local dims, how = {unpack(from.dims)}, self:int(1, 10)
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
  local all = {{dims = self.relaxes and {7, 7} or self:pick(SHAPES)}}
  self.shape = all[1].dims
  for _ = 1, self:int(2, 7) do
    local from = self:pick(all)
    all[#all + 1] = self.relaxes and self:large_part(from) or self:part(from)
  end
  if self.crosses then
    all = {{dims = {20, 30}}}
    self.shape = all[1].dims
    for k = 2, 5 do all[k] = self:crossing(all[1]) end
    table.remove(all, 1)
  end
  self.names, self.dims = {}, {}
  for k = 1, self:int(2, 4) do
    local view = not self.crosses and self:chance(15) and all[1] or self:pick(all)
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
  if self:chance(50) then return ("take(%s, %s)"):format(self:name(name), key) end
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

-- Two rows of equal length: the last dimension of views; nil where there are none.
function Program:pair()
  local one, other = self:pick(self.names), self:pick(self.names)
  local a, b = self.dims[one], self.dims[other]
  if a[#a] ~= b[#b] then return nil end
  local function row(name, dims)
    local text = self:name(name)
    for d = 1, #dims - 1 do text = text .. "[" .. self:subscript(dims[d]) .. "]" end
    return text
  end
  return row(one, a), row(other, b), #a == 2
end

-- Rows at once.
function Program:whole_rows(depth)
  local one, other, assigned = self:pair()
  if not one then return self:statement(depth) end
  local few = self.iterations <= 6 and depth == 1
  if assigned and self:chance(40) then return ("%s = %s"):format(one, other) end
  if few and self:chance(40) then return ("%s:axpy(2, %s)"):format(one, other) end
  if self:chance(60) then return ("%s:copy(%s)"):format(one, other) end
  return ("%s = %s:dot(%s) %% 97"):format(self:element(self:pick(self.names)), one, other)
end

-- An element computed from neighbours.
function Program:stencil()
  local i, j = self.indices[1], self.indices[2]
  local function neighbour(dims, name)
    local keys = {}
    for d, index in ipairs {i, j} do
      local lo, hi = math.max(-1, 1 - index.lo), math.min(1, dims[d] - index.hi)
      if lo > hi then return nil end
      local shift = self:int(lo, hi)
      keys[d] = shift == 0 and index.name or ("%s %+d"):format(index.name, shift)
    end
    return ("%s[%s][%s]"):format(name, keys[1], keys[2])
  end
  local found = {}
  for k = 1, 3 do
    local name = self:pick(self.names)
    found[k] = j and #self.dims[name] == 2 and neighbour(self.dims[name], name)
    if not found[k] then return self:statement(1) end
  end
  return ("%s = (%s + %s + i) %% 97"):format(unpack(found))
end

function Program:statement(depth)
  local how, name = self:int(1, 100), self:pick(self.names)
  if how >= 92 then return self:whole_rows(depth) end
  if how >= 82 and depth == 1 then return self:stencil() end
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
  self.indices, self.over, self.iterations = indices, true, math.huge
  return ("for %s, v in parallel(%s, {ordered = %s}) do"):format(table.concat(names, ", "), name,
                                                              tostring(self.ordered))
end

-- The head of a loop over ranges.
function Program:ranges()
  local ranges, indices, count = {}, {}, 1
  for d = 1, not self.relaxes and self:chance(60) and 1 or 2 do
    local lo = self.relaxes and 2 or self:chance(70) and 1 or self:int(1, 3)
    local hi = self.relaxes and 4 or self:chance(15) and lo or lo + self:int(1, 4)
    indices[d] = {name = d == 1 and "i" or "j", lo = lo, hi = hi}
    ranges[d], count = ("{%d, %d}"):format(lo, hi), count * (hi - lo + 1)
  end
  self.indices, self.iterations = indices, count
  return ("for %s in parallel(%s, {ordered = %s}) do"):format(
    #indices == 1 and "i" or "i, j", table.concat(ranges, ", "), tostring(self.ordered))
end

function Program:loop()
  self.ordered = self:chance(75)
  local over = not self.relaxes and self:chance(15)
  local head, body = over and self:elements() or self:ranges(), {}
  for k = 1, self:int(1, self.relaxes and 2 or 3) do
    body[k] = "  " .. (self.relaxes and self:stencil() or self:statement(1))
  end
  return head .. "\n" .. table.concat(body, "\n") .. "\nend"
end

function M.program(seed)
  local draw = draws.skip(draws.park_miller((seed * 7919 + 12345) % 2147483647), 5)
  local program = setmetatable({draw = draw, exact = true, made = {}}, Program)
  program.relaxes = program:chance(15)
  program.crosses = not program.relaxes and seed % 6 == 0
  program:draw_views()
  program.text = program:loop()
  return program
end

local function rows_of(X, count)
  local rows = {}
  for k = 1, count do rows[k] = X[k] end
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

-- The view on an array, or on a plain one. `known` keeps it, and those that it is made of: a row
-- does not keep its array from being collected.
local function make(view, base, known)
  if not view.from then return base end
  if not known[view] then
    local from, how = make(view.from, base, known), view.make
    if how[1] == "row" then
      known[view] = from[how[3]]
    else
      known[view] = from[how[1]](from, how[2], how[3], how[4])
    end
  end
  return known[view]
end

--- The views by their names, made of `base`; two names for one view are one value.
function M.views(program, base)
  if program.views then return program.views(base) end
  local known = {}
  local env = {p = {}, kept = known}
  for k = -20, 40 do env.p[k] = k % 4 + 1 end
  for _, name in ipairs(program.names) do
    local view = program.made[name]
    env[name] = make(view, base, known)
  end
  return env
end

return M
