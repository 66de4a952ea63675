-- SPDX-License-Identifier: MIT
--
-- Arrays as sets of elements: map, filter, reduce, group_by, randomize. Methods of arrays of numbers
-- and of objects.
--
-- The functions that they call get the subscripts and the value, as the variables of a loop over
-- the array; one with a single parameter gets the value alone. They run on the workers, block by
-- block, where that is possible (see meissa.spread), and the result is the same in either case.
-- @module meissa.array.sets

local ffi = require("ffi")
local core = require("meissa.array.core")
local element = require("meissa.array.element")
local errors = require("meissa.errors")
local make = require("meissa.array.make")
local objects = require("meissa.array.objects")
local subscript = require("meissa.array.subscript")

local lib = core.lib
local floor = math.floor
local M = {}

-- Fewer elements than this are not worth sending.
local FEW = 4096
local MOST_BLOCKS = 64

-- Callers: call(e) gives fn the subscripts and the value of element e. Elements are counted from 1,
-- row-major; entries of a sparse array in their order. Plain closures over arrays, so that the
-- analyser sees what they read.
local function caller_by_value(fn, values)
  return function(e) return fn(values[e]) end
end

local sparse_callers = {
  function(fn, values, at)
    local i = at[1]
    return function(e) return fn(i[e] + 1, values[e]) end
  end,
  function(fn, values, at)
    local i, j = at[1], at[2]
    return function(e) return fn(i[e] + 1, j[e] + 1, values[e]) end
  end,
}

local function sparse_caller(fn, values, at, rank)
  if sparse_callers[rank] then return sparse_callers[rank](fn, values, at) end
  return function(e)
    local keys = {}
    for d = 1, rank do keys[d] = at[d][e] + 1 end
    keys[rank + 1] = values[e]
    return fn(unpack(keys, 1, rank + 1))
  end
end

local function dense_caller(fn, values, extents)
  local rank, columns = #extents, extents[2]
  if rank == 1 then return function(e) return fn(e, values[e]) end end
  if rank == 2 then
    return function(e)
      return fn(floor((e - 1) / columns) + 1, (e - 1) % columns + 1, values[e])
    end
  end
  return function(e)
    local keys, rest = {}, e - 1
    for d = rank, 1, -1 do
      keys[d] = rest % extents[d] + 1
      rest = floor(rest / extents[d])
    end
    keys[rank + 1] = values[e]
    return fn(unpack(keys, 1, rank + 1))
  end
end

-- A set: {array =, count =, rank =, extents =, values = vector of the elements, at = for sparse
-- arrays the vectors of subscripts from 0, keep = what must live as long}.
local function set_of_objects(O)
  local items, first, values = rawget(O, "items"), rawget(O, "first"), {}
  if items == nil then errors.raise("ARR", "the array was freed") end
  local count = O:nnz()
  for k = 1, count do values[k] = items[first + k] end
  return { array = O, objects = true, count = count, rank = O:dim(), extents = O:size(),
    values = values }
end

local function set_of(self)
  if objects.is(self) then return set_of_objects(self) end
  local handle = subscript.to_handle(self)
  local raw = handle.array
  local set = { array = handle, count = tonumber(raw.count), rank = raw.dim_count,
    extents = handle:size(), sparse = raw.sparse ~= 0 }
  if set.sparse then
    set.values = element.wrap(core.call(lib.ms_array_values, raw))
    local coords = element.wrap(core.call(lib.ms_array_coords, raw))
    set.at = {}
    for d = 1, set.rank do set.at[d] = coords:select(1, d) end
  else
    if lib.ms_array_contiguous(raw) == 0 then set.array = handle:clone() end
    raw = set.array.array
    local one = ffi.new("int64_t[8]", set.count)
    set.values = element.wrap(core.call(lib.ms_array_view, raw, 1, one, ffi.new("int64_t[8]", 1),
      raw.data))
  end
  return set
end

-- Whether a function takes at most so many arguments. Builtins, which do not tell, do.
local function takes(fn, count)
  local info = debug.getinfo(fn, "Su")
  return info.what == "C" or info.nparams <= count and not info.isvararg
end

local function caller_of(set, fn)
  if takes(fn, 1) then return caller_by_value(fn, set.values) end
  if set.sparse then return sparse_caller(fn, set.values, set.at, set.rank) end
  return dense_caller(fn, set.values, set.extents)
end

local function check_function(where, fn)
  if type(fn) ~= "function" then
    errors.raise("OPT", "%s: expected a function, not a %s", where, type(fn))
  end
end

-- The blocks of `count` elements: how many, and how long one is.
local function blocks_of(count)
  local size = math.max(math.ceil(count / MOST_BLOCKS), FEW / 4)
  return math.ceil(count / size), size
end

-- What call(e) gives for all elements, as a list of lists, block by block. `collect(list, e, ...)`
-- is not used, so that the body stays a plain loop: `pick` keeps the numbers of the elements for
-- which it is true instead, `all` all results of a call as a list.
local function call_all(set, call, kind)
  local count = set.count
  local blocks, size = blocks_of(count)
  local results = {}
  local bodies = {
    one = function(b)
      local list, before = {}, (b - 1) * size
      for e = before + 1, math.min(b * size, count) do list[e - before] = call(e) end
      results[b] = list
    end,
    all = function(b)
      local list, before = {}, (b - 1) * size
      for e = before + 1, math.min(b * size, count) do list[e - before] = { call(e) } end
      results[b] = list
    end,
    pick = function(b)
      local list, n = {}, 0
      for e = (b - 1) * size + 1, math.min(b * size, count) do
        if call(e) then
          n = n + 1
          list[n] = e
        end
      end
      results[b] = list
    end,
  }
  require("meissa.spread").run(blocks, count < FEW, bodies[kind])
  return results, size
end

-- "entry 5", and so on, for messages.
local function refuse_element(where)
  return function(e, format, ...)
    errors.raise("BDY", "%s, for element %d: %s", where, e, format:format(...))
  end
end

-- map ----------------------------------------------------------------------------------------

-- Results with new subscripts, or in lists.
local function map_anew(set, call, opts)
  local gather = require("meissa.read.gather")
  local rank = opts.dims
  if type(rank) == "table" then rank = #rank end
  local refuse = refuse_element("map")
  local bunch = gather.bunch(refuse, rank, opts.flatten)
  local results, size = call_all(set, call, "all")
  for b, list in ipairs(results) do
    for k, given in ipairs(list) do
      bunch:take((b - 1) * size + k, unpack(given, 1, table.maxn(given)))
    end
  end
  local extents = type(opts.dims) == "table" and opts.dims or nil
  return gather.array({ bunch:pack() }, { type = opts.type, rank = rank, extents = extents },
    function(_, ...) refuse(...) end)
end

-- The results as one list, which must have one for every element; and whether all are numbers.
local function join(results, size, count, where)
  local list, numbers = {}, true
  for b, part in ipairs(results) do
    local before = (b - 1) * size
    for k = 1, math.min(size, count - before) do
      local value = part[k]
      if value == nil then
        refuse_element(where)(before + k, "the function returned nothing")
      end
      list[before + k] = value
      numbers = numbers and type(value) == "number"
    end
  end
  return list, numbers
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
    result = element.wrap(core.call(lib.ms_array_retyped, set.array.array, number))
  end
  local raw = result.array
  local data = ffi.cast(core.pointer_ctypes[number], raw.data)
  for e = 1, set.count do data[e - 1] = subscript.storable(raw, list[e]) end
  return result
end

--- What a function gives for every element, as an array of the same extents (of a sparse array: with
-- the same entries). Numbers give numbers, float if the array is, else double; other values of a
-- dense array give objects.
-- @func fn fn(i, j, ..., value), or fn(value)
-- @tab[opt] opts `type`; `flatten` (fn returns a list; the lists follow each other in a vector);
-- `new_keys` (fn returns subscripts and a value, or nothing: the result is sparse; with `flatten` a
-- list of {subscripts..., value}), `dims` (its number of dimensions, or a table of its extents)
-- @usage local squares = A:map(function(v) return v * v end)
function M.map(self, fn, opts)
  check_function("map", fn)
  opts = errors.check_options("map", opts, { "type", "flatten", "new_keys", "dims" })
  local set = set_of(self)
  local call = caller_of(set, fn)
  if opts.new_keys or opts.flatten or opts.dims then
    local dims = opts.dims
    if opts.new_keys and dims == nil then dims = set.rank end
    return map_anew(set, call, { type = opts.type, flatten = opts.flatten, dims = dims })
  end
  local results, size = call_all(set, call, "one")
  local list, numbers = join(results, size, set.count, "map")
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
  local data = ffi.cast(core.pointer_ctypes[raw.type], raw.data)
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

--- The elements for which a function gives true: of a vector a shorter vector, of a sparse array one
-- with fewer entries and the same extents and ids, of a dense one with several dimensions a sparse
-- array.
-- @func fn fn(i, j, ..., value), or fn(value)
-- @usage local good = ratings:filter(function(r) return r >= 4 end)
function M.filter(self, fn)
  check_function("filter", fn)
  local set = set_of(self)
  local chosen = chosen_of(call_all(set, caller_of(set, fn), "pick"))
  if not set.sparse and set.rank == 1 then return shorter(set, chosen) end
  if set.objects then
    errors.raise("ARR", "filter: an array of objects must have one dimension")
  end
  if not set.sparse then return chosen_entries(set, chosen) end
  local entries = ffi.new("uint32_t[?]", #chosen + 1)
  for k, e in ipairs(chosen) do entries[k - 1] = e - 1 end
  return element.wrap(core.call(lib.ms_array_pick, set.array.array, entries, #chosen))
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

local function reduce_blocks(set, fn, initial, combine, call)
  local count = set.count
  local blocks, size = blocks_of(count)
  local results = {}
  require("meissa.spread").run(blocks, count < FEW, function(b)
    local acc = initial
    if type(initial) == "function" then acc = initial() end
    for e = (b - 1) * size + 1, math.min(b * size, count) do acc = fn(acc, call(e)) end
    results[b] = acc
  end)
  local acc = start_of(initial)
  for b = 1, blocks do acc = combine(acc, results[b]) end
  return acc
end

--- Folds the elements, in their order: acc = fn(acc, value, i, j, ...) from `initial` on, or from the
-- first element. With `combine` blocks of elements are folded on the workers, each from `initial`,
-- and acc = combine(acc, block's) puts them together in order.
-- @func fn
-- @param[opt] initial a value, or a function that gives a fresh one (a table)
-- @tab[opt] opts `combine`
-- @usage local longest = words:reduce(function(best, w) return math.max(best, #w) end, 0)
function M.reduce(self, fn, initial, opts)
  check_function("reduce", fn)
  opts = errors.check_options("reduce", opts, { "combine" })
  local set = set_of(self)
  local call
  if takes(fn, 2) then
    local values = set.values
    call = function(e) return values[e] end
  else
    local function value_first(...)
      local n = select("#", ...)
      return (select(n, ...)), ...
    end
    call = caller_of(set, value_first)
  end
  if opts.combine ~= nil then
    check_function("reduce: combine", opts.combine)
    if initial == nil then errors.raise("OPT", "reduce: combine needs an initial value") end
    return reduce_blocks(set, fn, initial, opts.combine, call)
  end
  if initial ~= nil then return fold(start_of(initial), fn, call, 1, set.count) end
  if set.count == 0 then return nil end
  return fold(set.values[1], fn, call, 2, set.count)
end

-- group_by -----------------------------------------------------------------------------------

local function is_whole(key)
  return type(key) == "number" and floor(key) == key and math.abs(key) <= 2 ^ 53
end

-- The different keys: ascending if all are whole numbers, else in the order of first appearance.
local function distinct(keys)
  local list, place, whole = {}, {}, true
  for e, key in ipairs(keys) do
    if type(key) ~= "number" and type(key) ~= "string" and type(key) ~= "boolean" then
      refuse_element("group_by")(e, "the key is a %s, not a number, string or boolean", type(key))
    elseif key ~= key then
      refuse_element("group_by")(e, "the key is nan")
    end
    if not place[key] then
      list[#list + 1] = key
      place[key] = #list
      whole = whole and is_whole(key)
    end
  end
  if whole then
    table.sort(list)
    for k, key in ipairs(list) do place[key] = k end
  end
  return list, place
end

-- An element as groups have it: the value, or {subscripts..., value}.
local function element_of(set, e, values_only)
  if set.rank == 1 or values_only then return set.values[e] end
  local entry, rest = { [set.rank + 1] = set.values[e] }, e - 1
  for d = set.rank, 1, -1 do
    if set.sparse then
      entry[d] = set.at[d][e] + 1
    else
      entry[d] = rest % set.extents[d] + 1
      rest = floor(rest / set.extents[d])
    end
  end
  return entry
end

-- The subscripts of one dimension as keys, and their labels.
local function keys_of_dimension(set, d)
  local keys, list, place = {}, {}, {}
  for e = 1, set.count do keys[e] = element_of(set, e)[d] end
  for i = 1, set.extents[d] do list[i], place[i] = set.array:label(d, i), i end
  return keys, list, place
end

--- Groups the elements by a key.
-- @param by fn(i, j, ..., value) or fn(value), which gives a number, string or boolean; or a
-- dimension, whose subscripts are the keys
-- @tab[opt] opts `values = true`: the groups hold values alone
-- @return an array of objects, a list for each key: the values (of a vector), or {i, j, ..., value};
-- `groups:label(1, k)` is the key of group k, `groups:index(1, key)` the reverse
-- @return the list of keys: ascending if all are whole numbers, else in the order of appearance
-- @usage local groups, words = tokens:group_by(function(w) return w end)
function M.group_by(self, by, opts)
  opts = errors.check_options("group_by", opts, { "values" })
  local set = set_of(self)
  local keys, list, place
  if type(by) == "number" then
    if set.rank == 1 or by < 1 or by > set.rank or floor(by) ~= by then
      errors.raise("ARR", "group_by: dimension %s of an array with %d dimension%s", tostring(by),
        set.rank, set.rank == 1 and "" or "s")
    end
    keys, list, place = keys_of_dimension(set, by)
  else
    check_function("group_by", by)
    local results, size = call_all(set, caller_of(set, by), "one")
    keys = join(results, size, set.count, "group_by")
    list, place = distinct(keys)
  end
  local groups = {}
  for k = 1, #list do groups[k] = {} end
  for e = 1, set.count do
    local group = groups[place[keys[e]]]
    group[#group + 1] = element_of(set, e, opts.values)
  end
  local result = objects.new({ #list }, groups)
  rawset(result, "labels", list)
  return result, list
end

-- randomize ----------------------------------------------------------------------------------

local function dimensions_of(set, dims)
  if dims == nil then
    dims = {}
    for d = 1, set.rank do dims[d] = d end
  elseif type(dims) == "number" then
    dims = { dims }
  end
  if type(dims) ~= "table" then
    errors.raise("OPT", "randomize: expected a dimension or a list of dimensions")
  end
  local mask = 0
  for _, d in ipairs(dims) do
    if type(d) ~= "number" or floor(d) ~= d or d < 1 or d > set.rank then
      errors.raise("ARR", "randomize: dimension %s is not in 1..%d", tostring(d), set.rank)
    end
    mask = bit.bor(mask, bit.lshift(1, d - 1))
  end
  return mask
end

-- The order of a vector of `count` objects that a vector of numbers would get.
local function shuffled_objects(set, seed)
  if set.rank > 1 then
    errors.raise("ARR", "randomize: an array of objects must have one dimension")
  end
  local numbers = make.dense({ set.count }, core.type_numbers.int32)
  for e = 1, set.count do numbers[e] = e end
  local order = element.wrap(core.call(lib.ms_array_shuffle, numbers.array, 1, seed))
  local items, labels = {}, {}
  for e = 1, set.count do
    items[e], labels[e] = set.values[order[e]], set.array:label(1, order[e])
  end
  local result = objects.new({ set.count }, items)
  rawset(result, "labels", labels)
  return result
end

--- A copy with the subscripts of some dimensions exchanged at random, so that heavy ones do not lie
-- together. Labels go along: `label` gives the old subscript, or the id that it had. Dimensions with
-- one id map (square = true) are exchanged alike.
-- @param[opt] dims a dimension or a list; nil: all
-- @tab[opt] opts `seed`
-- @usage local R = ratings:randomize({1, 2}, {seed = 1})
function M.randomize(self, dims, opts)
  opts = errors.check_options("randomize", opts, { "seed" })
  local set = set_of(self)
  local mask, seed = dimensions_of(set, dims), make.seed_number("randomize", opts.seed)
  if set.objects then return shuffled_objects(set, seed) end
  local raw = set.array.array
  local copy = element.wrap(make.take(tonumber(lib.ms_array_bytes(raw)), lib.ms_array_shuffle, raw,
    mask, seed))
  subscript.check(raw, set.array.generation) -- holds the handle until here
  return copy
end

for _, name in ipairs { "map", "filter", "reduce", "group_by", "randomize" } do
  subscript.methods[name] = M[name]
  objects.methods[name] = M[name]
end

return M
