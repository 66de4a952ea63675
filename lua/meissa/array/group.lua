-- SPDX-License-Identifier: MIT
--
-- Elements in another order: group_by, randomize. Methods of arrays of numbers and of objects.
-- @module meissa.array.group

local c_api = require "meissa.array.c_api"
local element = require "meissa.array.element"
local errors = require "meissa.base.errors"
local make = require "meissa.array.make"
local objects = require "meissa.array.objects"
local sets = require "meissa.array.set"
local subscript = require "meissa.array.subscript"
local valid = require "meissa.array.valid"
local tables = require "meissa.base.tables"

local lib = c_api.lib
local floor = math.floor
local M = {}

-- group_by -----------------------------------------------------------------------------------

local function is_whole(key)
  return type(key) == "number" and floor(key) == key and math.abs(key) <= 2 ^ 53
end

-- The different keys: ascending if all are whole numbers, else in the order of first appearance.
local function distinct(keys)
  local list, place, whole = {}, {}, true
  for e, key in ipairs(keys) do
    if type(key) ~= "number" and type(key) ~= "string" and type(key) ~= "boolean" then
      sets.refusal("group_by")(e, "the key is a %s, not a number, string or boolean", type(key))
    elseif key ~= key then
      sets.refusal("group_by")(e, "the key is nan")
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
-- @return an array of objects, a list for each key: the values (of a vector), or {i, j, ...,
-- value}; `groups:label(1, k)` is the key of group k, `groups:index(1, key)` the reverse
-- @return the list of keys: ascending if all are whole numbers, else in the order of appearance
-- @usage local groups, words = tokens:group_by(function(w) return w end)
function M.group_by(self, by, opts)
  opts = errors.check_options("group_by", opts, { "values" })
  local set = sets.of(self)
  local keys, list, place
  if type(by) == "number" then
    if set.rank == 1 or by < 1 or by > set.rank or floor(by) ~= by then
      errors.raise("ARR", "group_by: dimension %s of an array with %d dimension%s", tostring(by),
        set.rank, set.rank == 1 and "" or "s")
    end
    keys, list, place = keys_of_dimension(set, by)
  else
    sets.check_function("group_by", by)
    local results, size = sets.call_all(set, sets.caller(set, by), "one")
    keys = sets.join(results, size, set.count, "group_by")
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
  local numbers = make.dense({ set.count }, c_api.type_numbers.int32)
  for e = 1, set.count do numbers[e] = e end
  local order = element.wrap(c_api.call(lib.ms_array_shuffle, numbers.array, 1, seed))
  local items, labels = {}, {}
  for e = 1, set.count do
    items[e], labels[e] = set.values[order[e]], set.array:label(1, order[e])
  end
  local result = objects.new({ set.count }, items)
  rawset(result, "labels", labels)
  return result
end

--- A copy with the subscripts of some dimensions exchanged at random, so that heavy ones do not lie
-- together. Labels go along: `label` gives the old subscript, or the id that it had. Dimensions
-- with one id map (square = true) are exchanged alike.
-- @param[opt] dims a dimension or a list; nil: all
-- @tab[opt] opts `seed`
-- @usage local R = ratings:randomize({1, 2}, {seed = 1})
function M.randomize(self, dims, opts)
  opts = errors.check_options("randomize", opts, { "seed" })
  local set = sets.of(self)
  local mask, seed = dimensions_of(set, dims), make.seed_number("randomize", opts.seed)
  if set.objects then return shuffled_objects(set, seed) end
  local raw = set.array.array
  local copy = element.wrap(make.take(tonumber(lib.ms_array_bytes(raw)), lib.ms_array_shuffle, raw,
    mask, seed))
  valid.check(raw, set.array.generation) -- holds the handle until here
  return copy
end

for name, method in tables.each(M) do
  subscript.methods[name], objects.methods[name] = method, method
end

return M
