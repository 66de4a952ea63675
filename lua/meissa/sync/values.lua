-- SPDX-License-Identifier: MIT
--- Values that replicas exchange: numbers, arrays, tensors, and tables of these in one another.
--
-- Keys are visited in one order, numbers before strings, so that sums are formed alike in every
-- process. Arrays and tensors change in place; numbers are replaced in the tables that hold them.
-- @module meissa.sync.values

local array = require "meissa.array"
local c_api = require "meissa.array.c_api"
local errors = require "meissa.base.errors"
local ffi = require "ffi"
local nesting = require "meissa.base.nesting"
local tables = require "meissa.base.tables"
local thrown = require "meissa.base.thrown"

local lib = c_api.lib

local M = {}

-- Whether a value is visited as a whole: everything but plain tables.
local function is_leaf(value)
  return type(value) ~= "table" or array.is_any(value)
end

-- Whether a table is reached from within itself is seen by the tables on the way to it.
local function walk(t, fn, way)
  way = way or {}
  if way[t] then
    errors.raise("OPT", "values to be exchanged are in tables that do not contain themselves: " ..
                 "this one is cyclic")
  end
  way[t] = true
  for _, key in ipairs(tables.keys(t)) do
    local value = t[key]
    if is_leaf(value) then
      local new = fn(value)
      if new ~= nil then t[key] = new end
    else
      walk(value, fn, way)
    end
  end
  way[t] = nil
end

--- Calls fn for each value in a table and the tables in it, in the order of the keys; what it
-- returns, but nil, takes the value's place.
-- @return the table
function M.walk(t, fn)
  if is_leaf(t) then
    errors.raise("OPT", "walkTable goes through a table, not a %s", type(t))
  end
  walk(t, fn)
  return t
end

-- The values of a table in order.
local function leaves(t)
  local list = {}
  walk(t, function(value) list[#list + 1] = value end)
  return list
end

M.leaves = leaves

local function is_number(value)
  return type(value) == "number"
end

-- Values are added and copied by their methods, as Torch has them.
local function has_methods(value)
  return array.is(value) or type(value) == "userdata" and value.add ~= nil and value.copy ~= nil
end

--- Raises OPT for what cannot be exchanged, ARR for arrays that cannot be written.
function M.check(where, t)
  for _, value in ipairs(leaves(t)) do
    if not is_number(value) and not has_methods(value) then
      errors.raise("OPT", "%s takes numbers, arrays and tensors, and tables of these, not a %s",
                   where, type(value))
    end
    if array.is(value) and array.core(value).sparse ~= 0 then
      errors.raise("OPT", "%s takes dense arrays, not sparse ones: exchange a dense vector, " ..
                   "meissa.zeros(A:nnz()) for the values of its entries", where)
    end
    if array.is(value) and array.is_frozen(value) then
      errors.raise("ARR", "%s changes arrays in place, and one %s", where,
                   array.held_words(value))
    end
  end
end

--- Whether two values are of one kind, type and size, as far as that can be seen.
function M.fit(a, b)
  if is_number(a) or is_number(b) then return is_number(a) and is_number(b) end
  if array.is(a) ~= array.is(b) then return false end
  if not array.is(a) then return true end
  local left, right = array.describe(a), array.describe(b)
  if left.type ~= right.type or #left.dims ~= #right.dims then return false end
  for d, extent in ipairs(left.dims) do
    if extent ~= right.dims[d] then return false end
  end
  return true
end

local fit = M.fit

-- Whether tables have values of one kind under keys that are the same.
local function alike(a, b)
  local keys = tables.keys(a)
  if #keys ~= #tables.keys(b) then return false end
  for _, key in ipairs(keys) do
    local one, other = a[key], b[key]
    if other == nil or is_leaf(one) ~= is_leaf(other) then return false end
    if not (is_leaf(one) and fit or alike)(one, other) then return false end
  end
  return true
end

--- Raises OPT unless the replicas give values of one form.
-- @tab all by replica, a list of tables
function M.check_alike(where, all)
  for k = 2, #all do
    if not alike(all[1], all[k]) then
      errors.raise("OPT", "%s: replica %d gives values of another form than replica 1", where, k)
    end
  end
end

local function form_of_key(key)
  if type(key) == "string" then return #key .. ":" .. key end
  if type(key) == "number" then return string.format("%.17g", key) end
  return type(key) == "boolean" and tostring(key) or nil
end

local function form_of_leaf(value)
  if is_number(value) then return "n" end
  if not array.is(value) then return nil end
  local about, core = array.describe(value), array.core_of_part(value)
  local usable = core.readable == core.generation and core.writable == core.generation
  return usable and not about.sparse and about.type .. table.concat(about.dims, "x") or nil
end

--- What a table's values are like, as text that is the same for those of one form; nil where there
-- is something in it but numbers and dense arrays that can be written.
function M.form(t)
  local words = {}
  for n, key in ipairs(tables.keys(t)) do
    local of_key, value = form_of_key(key), t[key]
    local of_value = (is_leaf(value) and form_of_leaf or M.form)(value)
    if not of_key or not of_value then return nil end
    words[n] = of_key .. "=" .. of_value
  end
  return "{" .. table.concat(words, ",") .. "}"
end

local function plus(a, b)
  if is_number(a) then return a + b end
  a:add(b)
  return a
end

local function copy_of(value)
  return is_number(value) and value or value:clone()
end

-- Whether an array can be written, its elements one behind the other.
local function is_plain(value)
  local core = array.core_of_part(value)
  return lib.ms_array_contiguous(core) ~= 0 and core.readable == core.generation and
    core.writable == core.generation
end

--- Whether all arrays of a list can be written, their elements one behind the other, and no two
-- share memory.
function M.are_apart(list)
  local spans = {}
  for _, value in ipairs(list) do
    if not is_number(value) then
      if not array.is(value) or not is_plain(value) then return false end
      local first = tonumber(ffi.cast("uintptr_t", array.core_of_part(value).data))
      spans[#spans + 1] = {first = first, last = first + array.describe(value).bytes}
    end
  end
  table.sort(spans, function(a, b) return a.first < b.first end)
  for n = 2, #spans do
    if spans[n].first < spans[n - 1].last then return false end
  end
  return true
end

--- Gives a table's values others, in order.
function M.assign(t, values)
  local e = 0
  walk(t, function(old)
    e = e + 1
    local new = values[e]
    if is_number(old) then return new end
    old:copy(new)
    return nil
  end)
end

-- Extents in words, without those of 1, which arrays need not share to be copied.
local function extents_of(value)
  local words = {}
  for _, extent in ipairs(array.describe(value).dims) do
    if extent ~= 1 then words[#words + 1] = extent end
  end
  return #words > 0 and table.concat(words, "x") or "1"
end

-- Raises BDY where an operation has made of an array one of other extents.
local function check_extents(value, result)
  if not array.is(value) or not array.is(result) then return end
  local own, given = extents_of(value), extents_of(result)
  if own == given then return end
  errors.raise("BDY", "the operation of an allReduce gave an array of %s for two of %s: " ..
               "op(a, b) gives what a becomes with b", given, own)
end

-- What a value becomes with another one. An operation on arrays may change the first in place.
-- Errors: BDY for what can take the value's place nowhere.
local function combine(op, value, other)
  local ok, result = pcall(nesting.complete, "the operation of an allReduce", op, value, other)
  if not ok then
    thrown.raise(result, "the operation of an allReduce failed on two " ..
                 (is_number(value) and "numbers" or "arrays"))
  end
  if result == nil and not is_number(value) then return value end
  if result ~= nil and is_number(result) == is_number(value) and
     (is_number(result) or has_methods(result)) then
    check_extents(value, result)
    return result
  end
  errors.raise("BDY", "the operation of an allReduce gave %s for two %s: op(a, b) gives what a " ..
               "becomes with b", tostring(result), is_number(value) and "numbers" or "arrays")
end

-- Whether no value is met twice, in one table or another.
local function are_distinct(lists)
  local seen = {}
  for _, list in ipairs(lists) do
    for _, value in ipairs(list) do
      if not is_number(value) then
        if seen[value] then return false end
        seen[value] = true
      end
    end
  end
  return true
end

-- What the values with a number become; own(value) gives one that may be changed.
local function combined(lists, e, op, own)
  local sum = own(lists[1][e])
  for k = 2, #lists do
    local other = lists[k][e]
    sum = op and combine(op, sum, own(other)) or plus(sum, other)
  end
  return sum
end

--- Reduces the replicas' values in the order of the replicas.
-- @tab all by replica, a list of tables of one form
-- @func[opt] op op(a, b) gives what a becomes with b, of which it may change a (their sum)
-- @bool owned arrays may be changed, which share no memory
-- @treturn table the results in order, for `assign`
-- Errors: BDY for what op gives.
function M.reduce(all, op, owned)
  local results, lists = {}, {}
  for k, t in ipairs(all) do lists[k] = leaves(t) end
  owned = owned and are_distinct(lists)
  local function own(value) return owned and array.is(value) and value or copy_of(value) end
  for e = 1, #(lists[1] or {}) do
    results[e] = combined(lists, e, op, own)
  end
  return results
end

local function bytes_of(value)
  if array.is(value) then return array.describe(value).bytes end
  if is_number(value) or not value.elementSize then return 8 end
  return value:nElement() * value:elementSize()
end

--- Bytes of a table's values.
function M.bytes(t)
  local bytes = 0
  for _, value in ipairs(leaves(t)) do bytes = bytes + bytes_of(value) end
  return bytes
end

return M
