-- SPDX-License-Identifier: MIT
--
-- Whole arrays and rows: fill, copy, sums, dot products, and arithmetic. Methods; those that
-- change the array return it.
--
-- A row takes the short way: one call of the core with its address. Everything else becomes a
-- handle first.
-- @module meissa.array.arith

local ffi = require "ffi"
local along = require "meissa.array.along"
local c_api = require "meissa.array.c_api"
local element = require "meissa.array.element"
local make = require "meissa.array.make"
local method = require "meissa.array.method"
local subscript = require "meissa.array.subscript"
local valid = require "meissa.array.valid"
local errors = require "meissa.base.errors"

local lib, err = c_api.lib, c_api.err
local methods, row_methods = subscript.methods, subscript.row_methods
local to_handle, kind = subscript.to_handle, element.kind
local reduction = c_api.reduction

local FILL, COPY = method.of.fill.operation, method.of.copy.operation
local ADD, AXPY = method.of.add.operation, method.of.axpy.operation
local SCAL = method.of.scal.operation

local function number_argument(where, value)
  if type(value) ~= "number" then
    errors.raise("ARR", "%s: expected a number, not a %s", where, type(value))
  end
  return value
end

local function array_argument(where, value)
  if not kind(value) then
    errors.raise("ARR", "%s: expected an array, not a %s", where, type(value))
  end
  return to_handle(value)
end

-- Extents without those of 1: what must agree between two arrays.
local function extents(array)
  local dims = {}
  for d = 0, array.dim_count - 1 do
    if array.dims[d] ~= 1 then dims[#dims + 1] = tostring(tonumber(array.dims[d])) end
  end
  return table.concat(dims, "x")
end

local function check_match(where, y, x)
  if y.sparse ~= 0 or x.sparse ~= 0 then
    errors.raise("ARR", "%s is for dense arrays", where)
  end
  if extents(y) ~= extents(x) then
    errors.raise("ARR", "%s: %s does not match %s", where, valid.name_of(x),
      valid.name_of(y))
  end
end

-- y = op(y, x, a) for whole arrays; x may be nil.
local function apply(where, op, self, x, a)
  local y = to_handle(self, op == FILL or op == COPY)
  local other
  if x ~= nil then
    other = array_argument(where, x)
    check_match(where, y.array, other.array)
  end
  valid.check_writable(y.array)
  c_api.call(lib.ms_arith_array, op, y.array, other and other.array or nil, a)
  return self
end

--- Sets every element (of a sparse array: every entry) to a number.
function methods.fill(self, value)
  valid.storable(to_handle(self, true).array, value)
  return apply("fill", FILL, self, nil, tonumber(value))
end

--- Copies another array's elements, which must have the same extents; types may differ.
function methods.copy(self, other)
  if type(other) == "table" then other = make.from(other) end
  return apply("copy", COPY, self, other, 0)
end

--- self = a * self, as tensors call it.
function methods.mul(self, a)
  return apply("mul", SCAL, self, nil, number_argument("mul", a))
end

--- self = self + number, self + x, self + a * x, or x + a * y: add(number), add(x), add(a, x),
-- add(x, a, y)
function methods.add(self, a, x, y)
  if kind(a) and y ~= nil then
    number_argument("add", x)
    y = y:clone() -- it may share memory with this
    apply("add", COPY, self, a, 1)
    return apply("add", AXPY, self, y, x)
  elseif kind(a) then
    if x ~= nil then errors.raise("ARR", "add: a number comes before the array: add(a, X)") end
    return apply("add", AXPY, self, a, 1)
  end
  number_argument("add", a)
  if x == nil then return apply("add", ADD, self, nil, a) end
  return apply("add", AXPY, self, x, a)
end

-- Methods that are one operation of the core, by what they take. Those of rows take the short way
-- to the same bits.
local makers, row_makers = {}, {}

function makers.none(name, op)
  return function(self) return apply(name, op, self, nil, 0) end
end

function makers.number(name, op)
  return function(self, a) return apply(name, op, self, nil, number_argument(name, a)) end
end

function makers.other(name, op)
  return function(self, x) return apply(name, op, self, x == nil and 0 or x, 0) end
end

function makers.both(name, op)
  return function(self, a, x)
    return apply(name, op, self, x == nil and 0 or x, number_argument(name, a))
  end
end

local function reduce(self, op)
  return c_api.call(lib.ms_reduce_array, to_handle(self).array, op)
end

--- The arithmetic mean of all elements, or entries.
function methods.mean(self, d)
  if d ~= nil then return along.mean(self, d) end
  local array = to_handle(self).array
  if array.count == 0 then errors.raise("ARR", "an empty array has no mean") end
  return reduce(self, reduction.sum) / tonumber(array.count)
end

local function variance(where, self, biased)
  return along.variance_of(where, tonumber(to_handle(self).array.count),
    reduce(self, reduction.spread), biased)
end

--- The variance of all elements, or entries: their squared differences from the mean, divided by
-- one less than their number (nan for one), or with `biased` by their number.
function methods.var(self, d, biased)
  if d ~= nil then return along.var("var", self, d, biased) end
  return variance("var", self, biased)
end

--- The standard deviation, the root of the variance.
function methods.std(self, d, biased)
  if d ~= nil then return along.var("std", self, d, biased) end
  return math.sqrt(variance("std", self, biased))
end

--- The largest element; nan if there is one. With a dimension also where it stands (first).
function methods.max(self, d)
  if d ~= nil then return along.extreme("max", self, d) end
  return reduce(self, reduction.most)
end

--- The least element; nan if there is one. With a dimension also where it stands (first).
function methods.min(self, d)
  if d ~= nil then return along.extreme("min", self, d) end
  return reduce(self, reduction.least)
end

-- The subscripts of the element (entry) that stands first of those with the largest, or the least,
-- value.
local function place(self, op)
  local handle = to_handle(self)
  local array = handle.array
  local number = tonumber(c_api.call(lib.ms_reduce_place, array, op))
  local at = {}
  for d = array.dim_count - 1, 0, -1 do
    if array.sparse ~= 0 then
      at[d + 1] = array.coords[d][number] + 1
    else
      local extent = tonumber(array.dims[d])
      at[d + 1] = number % extent + 1
      number = math.floor(number / extent)
    end
  end
  valid.check(array, handle.generation) -- holds the handle until here
  return unpack(at)
end

--- The subscripts of the largest element, of the first nan if there is one: as many numbers as the
-- array has dimensions. Of equal ones the first, row-major; of a sparse array's entries in their
-- order.
-- @usage local i, j = A:argmax()
function methods.argmax(self)
  return place(self, reduction.most)
end

--- The same for the least element.
function methods.argmin(self)
  return place(self, reduction.least)
end

local function refuse_norm(p)
  errors.raise("OPT", "norm: p must be 1, 2 or math.huge, not %s", tostring(p))
end

local function norm(self, p, reducer)
  if p == nil or p == 2 then return math.sqrt(reducer(self, reduction.squares)) end
  if p == 1 then return reducer(self, reduction.magnitudes) end
  if p == math.huge then
    return math.max(math.abs(reducer(self, reduction.least)), math.abs(reducer(self,
      reduction.most)))
  end
  refuse_norm(p)
end

--- The norm: p = 2 (default), 1 or math.huge.
function methods.norm(self, p, d)
  if d == nil then return norm(self, p, reduce) end
  if p ~= nil and p ~= 2 and p ~= 1 and p ~= math.huge then refuse_norm(p) end
  return along.norm(self, p or 2, d)
end

--- The sum of products of the elements of two arrays of equal extents.
function methods.dot(self, other)
  local x, y = to_handle(self), array_argument("dot", other)
  check_match("dot", x.array, y.array)
  return c_api.call(lib.ms_reduce_dot, x.array, y.array)
end

-- Rows ---------------------------------------------------------------------------------------

local void = ffi.typeof("void *")

local function check_row(row, writing)
  local array = row.array
  if array.generation ~= row.generation or (array.readable == 0 and not writing) then
    valid.check(array, row.generation, writing)
  end
  return array.type
end

-- The row on the other side of an operation, or nil when it is not one that fits.
local function fitting_row(row, other)
  if type(other) ~= "cdata" then return nil end
  for number = 0, 3 do
    if ffi.istype(element.rows[number], other) and other.extent == row.extent then
      return number
    end
  end
end

local function row_reduce(row, op)
  local number = check_row(row)
  local result = lib.ms_reduce_row(number, ffi.cast(void, row.elements), row.stride, row.extent, op,
    err)
  if err.code ~= 0 then c_api.raise_pending() end
  return result
end

function row_methods.max(row, d)
  if d ~= nil then return along.extreme("max", row, d) end
  return row_reduce(row, reduction.most)
end

function row_methods.min(row, d)
  if d ~= nil then return along.extreme("min", row, d) end
  return row_reduce(row, reduction.least)
end

function row_methods.mean(row, d)
  if d ~= nil then return along.mean(row, d) end
  if row.extent == 0 then errors.raise("ARR", "an empty array has no mean") end
  return row_reduce(row, reduction.sum) / row.extent
end

function row_methods.var(row, d, biased)
  if d ~= nil then return along.var("var", row, d, biased) end
  return along.variance_of("var", row.extent, row_reduce(row, reduction.spread), biased)
end

function row_methods.std(row, d, biased)
  if d ~= nil then return along.var("std", row, d, biased) end
  return math.sqrt(along.variance_of("std", row.extent, row_reduce(row, reduction.spread), biased))
end

function row_methods.norm(row, p, d)
  if d ~= nil then return methods.norm(row, p, d) end
  return norm(row, p, row_reduce)
end

function row_methods.dot(row, other)
  local y_number = fitting_row(row, other)
  if not y_number then return methods.dot(row, other) end
  local x_number = check_row(row)
  check_row(other)
  local result = lib.ms_reduce_dot_row(x_number, row.elements, row.stride, y_number, other.elements,
    other.stride, row.extent, err)
  if err.code ~= 0 then c_api.raise_pending() end
  return result
end

local function row_apply(op, row, number, other, a)
  local y_number = check_row(row, true)
  valid.check_writable(row.array)
  if other then
    check_row(other)
    lib.ms_arith_row(op, y_number, row.elements, row.stride, number, other.elements, other.stride,
      row.extent, a, err)
  else
    lib.ms_arith_row(op, y_number, row.elements, row.stride, 0, nil, 0, row.extent, a, err)
  end
  if err.code ~= 0 then c_api.raise_pending() end
  return row
end

function row_methods.fill(row, value)
  valid.storable(row.array, value)
  return row_apply(FILL, row, nil, nil, tonumber(value))
end

function row_methods.copy(row, other)
  local number = fitting_row(row, other)
  if not number then return methods.copy(row, other) end
  return row_apply(COPY, row, number, other, 0)
end

function row_makers.none(_, op)
  return function(row) return row_apply(op, row, nil, nil, 0) end
end

function row_makers.number(name, op)
  return function(row, a)
    check_row(row)
    return row_apply(op, row, nil, nil, number_argument(name, a))
  end
end

function row_makers.other(name, op)
  return function(row, other)
    local number = fitting_row(row, other)
    if not number then return methods[name](row, other) end
    check_row(row)
    return row_apply(op, row, number, other, 0)
  end
end

function row_makers.both(name, op)
  return function(row, a, other)
    local number = fitting_row(row, other)
    if not number then return methods[name](row, a, other) end
    check_row(row)
    return row_apply(op, row, number, other, number_argument(name, a))
  end
end

-- Numbers from all elements, or entries; with a dimension an array of those along it.
function makers.read(name, op, filled)
  return function(self, d)
    if d ~= nil then return along[name](self, d) end
    if filled then along.need_elements(name, to_handle(self).array.count) end
    return reduce(self, op)
  end
end

function row_makers.read(name, op, filled)
  return function(row, d)
    if d ~= nil then return along[name](row, d) end
    if filled then along.need_elements(name, row.extent) end
    return row_reduce(row, op)
  end
end

-- What the table of methods has and nothing here does in its own way: sum, scal, axpy, cmul, exp,
-- ...
for k = 1, #method.list do
  local entry = method.list[k]
  local name, op = entry.name, entry.operation
  if entry.rowwise then
    local maker = entry.effect == "read" and "read" or entry.takes
    methods[name] = methods[name] or makers[maker](name, op, entry.filled)
    row_methods[name] = row_methods[name] or row_makers[maker](name, op, entry.filled)
  end
end
