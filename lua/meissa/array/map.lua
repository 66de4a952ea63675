-- SPDX-License-Identifier: MIT
--
-- Functions of every element: map, filter, reduce. Methods of arrays of numbers and of objects.
--
-- The functions that they call get the subscripts and the value, as the variables of a loop over
-- the array; one with a single parameter gets the value alone.
-- @module meissa.array.map

local ffi = require "ffi"
local c_api = require "meissa.array.c_api"
local element = require "meissa.array.element"
local errors = require "meissa.base.errors"
local make = require "meissa.array.make"
local objects = require "meissa.array.objects"
local sets = require "meissa.array.set"
local spread = require "meissa.base.spread"
local subscript = require "meissa.array.subscript"
local valid = require "meissa.array.valid"
local tables = require "meissa.base.tables"

local lib = c_api.lib
local floor = math.floor
local M = {}

-- map ----------------------------------------------------------------------------------------

-- Results with new subscripts, or in lists.
local function map_anew(set, call, opts)
  local gather = require "meissa.array.gather"
  local rank = opts.dims
  if type(rank) == "table" then rank = #rank end
  local refuse = sets.refusal("map")
  local bunch = gather.bunch(refuse, rank, opts.flatten)
  local results, size = sets.call_all(set, call, "all")
  for b, list in ipairs(results) do
    for k, given in ipairs(list) do
      bunch:take((b - 1) * size + k, unpack(given, 1, table.maxn(given)))
    end
  end
  local extents = type(opts.dims) == "table" and opts.dims or nil
  return gather.array({ bunch:pack() }, { type = opts.type, rank = rank, extents = extents },
    function(_, ...) refuse(...) end)
end

local function map_objects(set, list)
  for e = 1, set.count do objects.check_value(list[e]) end
  return objects.new({ unpack(set.extents) }, list)
end

local function map_numbers(set, list, type_name)
  if not type_name then
    local own = set.objects and "double" or set.array:type()
    type_name = own == "float" and "float" or "double"
  end
  local number = make.type_number("map", type_name)
  local result
  if set.objects then
    result = make.dense(set.extents, number)
  else
    result = element.wrap(c_api.call(lib.ms_array_retyped, set.array.array, number))
  end
  local raw = result.array
  local data = ffi.cast(c_api.pointer_ctypes[number], raw.data)
  for e = 1, set.count do data[e - 1] = valid.storable(raw, list[e]) end
  return result
end

--- What a function gives for every element, as an array of the same extents (of a sparse array:
-- with the same entries). Numbers give numbers, float if the array is, else double; other values of
-- a dense array give objects.
-- @func fn fn(i, j, ..., value), or fn(value)
-- @tab[opt] opts `type`; `flatten` (fn returns a list; the lists follow each other in a vector);
-- `new_keys` (fn returns subscripts and a value, or nothing: the result is sparse; with `flatten` a
-- list of {subscripts..., value}), `dims` (its number of dimensions, or a table of its extents)
-- @usage local squares = A:map(function(v) return v * v end)
function M.map(self, fn, opts)
  sets.check_function("map", fn)
  opts = errors.check_options("map", opts, { "type", "flatten", "new_keys", "dims" })
  local set = sets.of(self)
  local call = sets.caller(set, fn)
  if opts.new_keys or opts.flatten or opts.dims then
    local dims = opts.dims
    if opts.new_keys and dims == nil then dims = set.rank end
    return map_anew(set, call, { type = opts.type, flatten = opts.flatten, dims = dims })
  end
  local results, size = sets.call_all(set, call, "one")
  local list, numbers = sets.join(results, size, set.count, "map")
  if numbers and opts.type ~= "object" then return map_numbers(set, list, opts.type) end
  if set.sparse then
    errors.raise("BDY", "map: the elements of a sparse array are numbers; use new_keys or A:each()")
  end
  if opts.type ~= nil and opts.type ~= "object" then
    errors.raise("BDY", "map: the function returned values that are no numbers")
  end
  return map_objects(set, list)
end

-- filter -------------------------------------------------------------------------------------

local function chosen_of(results)
  local chosen = {}
  for _, list in ipairs(results) do
    for _, e in ipairs(list) do chosen[#chosen + 1] = e end
  end
  return chosen
end

-- A vector of the chosen elements.
local function shorter(set, chosen)
  if set.objects then
    local items = {}
    for k, e in ipairs(chosen) do items[k] = set.values[e] end
    return objects.new({ #chosen }, items)
  end
  local result = make.dense({ #chosen }, set.array.array.type)
  for k, e in ipairs(chosen) do result[k] = set.values[e] end
  return result
end

-- The chosen elements of a dense array with several dimensions, as entries.
local function chosen_entries(set, chosen)
  local result = require("meissa.array.sparse").empty(set.extents, #chosen,
    { type = set.array:type() })
  local raw = result.array
  local data = ffi.cast(c_api.pointer_ctypes[raw.type], raw.data)
  for k, e in ipairs(chosen) do
    local rest = e - 1
    for d = set.rank, 1, -1 do
      raw.coords[d - 1][k - 1] = rest % set.extents[d]
      rest = floor(rest / set.extents[d])
    end
    data[k - 1] = set.values[e]
  end
  lib.ms_array_share_labels(raw, set.array.array)
  return result
end

--- The elements for which a function gives true: of a vector a shorter vector, of a sparse array
-- one with fewer entries and the same extents and ids, of a dense one with several dimensions a
-- sparse array.
-- @func fn fn(i, j, ..., value), or fn(value)
-- @usage local good = ratings:filter(function(r) return r >= 4 end)
function M.filter(self, fn)
  sets.check_function("filter", fn)
  local set = sets.of(self)
  local chosen = chosen_of(sets.call_all(set, sets.caller(set, fn), "pick"))
  if not set.sparse and set.rank == 1 then return shorter(set, chosen) end
  if set.objects then
    errors.raise("ARR", "filter: an array of objects must have one dimension")
  end
  if not set.sparse then return chosen_entries(set, chosen) end
  local entries = ffi.new("uint32_t[?]", #chosen + 1)
  for k, e in ipairs(chosen) do entries[k - 1] = e - 1 end
  return element.wrap(c_api.call(lib.ms_array_pick, set.array.array, entries, #chosen))
end

-- reduce -------------------------------------------------------------------------------------

-- A start of its own for every block.
local function start_of(initial)
  if type(initial) == "function" then return initial() end
  return initial
end

local function fold(acc, fn, call, first, last)
  for e = first, last do acc = fn(acc, call(e)) end
  return acc
end

local last_of = sets.last_of

local function reduce_blocks(set, fn, initial, combine, call)
  local count = set.count
  local blocks, size, few = sets.blocks(count)
  local results = {}
  spread.run(blocks, few, function(b)
    local acc = initial
    if type(initial) == "function" then acc = initial() end
    for e = (b - 1) * size + 1, last_of(b, size, count) do acc = fn(acc, call(e)) end
    results[b] = acc
  end)
  local acc = start_of(initial)
  for b = 1, blocks do acc = combine(acc, results[b]) end
  return acc
end

--- Folds the elements, in their order: acc = fn(acc, value, i, j, ...) from `initial` on, or from
-- the first element. With `combine` blocks of elements are folded on the workers, each from
-- `initial`, and acc = combine(acc, block's) puts them together in order.
-- @func fn
-- @param[opt] initial a value, or a function that gives a fresh one (a table)
-- @tab[opt] opts `combine`
-- @usage local longest = words:reduce(function(best, w) return math.max(best, #w) end, 0)
function M.reduce(self, fn, initial, opts)
  sets.check_function("reduce", fn)
  opts = errors.check_options("reduce", opts, { "combine" })
  local set = sets.of(self)
  local call
  if sets.takes(fn, 2) then
    local values = set.values
    call = function(e) return values[e] end
  else
    local function value_first(...)
      local n = select("#", ...)
      return (select(n, ...)), ...
    end
    call = sets.caller(set, value_first)
  end
  if opts.combine ~= nil then
    sets.check_function("reduce: combine", opts.combine)
    if initial == nil then errors.raise("OPT", "reduce: combine needs an initial value") end
    if type(initial) == "table" then
      errors.raise("OPT", "reduce: with combine every block begins from 'initial', and all " ..
        "would change one table; give a function that makes one: function() return {} end")
    end
    return reduce_blocks(set, fn, initial, opts.combine, call)
  end
  if initial ~= nil then return fold(start_of(initial), fn, call, 1, set.count) end
  if set.count == 0 then return nil end
  return fold(set.values[1], fn, call, 2, set.count)
end

for name, method in tables.each(M) do
  subscript.methods[name], objects.methods[name] = method, method
end

return M
