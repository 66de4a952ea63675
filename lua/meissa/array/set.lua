-- SPDX-License-Identifier: MIT
--
-- Sets: the elements of an array, of numbers or objects, as map and its kin see them.
--
-- Elements are counted from 1: row-major, entries of a sparse array in their order. Functions of
-- the user's run on the workers, block by block, where that is possible (see meissa.base.spread),
-- and the result is the same in either case.
-- @module meissa.array.set

local ffi = require "ffi"
local c_api = require "meissa.array.c_api"
local element = require "meissa.array.element"
local errors = require "meissa.base.errors"
local objects = require "meissa.array.objects"
local spread = require "meissa.base.spread"
local subscript = require "meissa.array.subscript"

local lib = c_api.lib
local floor = math.floor
local M = {}

-- Fewer elements than this are not worth sending.
local FEW = 4096
local MOST_BLOCKS = 64

-- Callers are plain closures over arrays, so that the analyser sees what they read.
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

local function set_of_objects(O)
  return { array = O, objects = true, count = O:nnz(), rank = O:dim(), extents = O:size(),
    values = objects.elements(O) }
end

--- An array as a set: {array =, count =, rank =, extents =, values = a vector of the elements,
-- sparse =, at = of sparse arrays the vectors of subscripts from 0, objects =}.
function M.of(self)
  if objects.is(self) then return set_of_objects(self) end
  local handle = subscript.to_handle(self)
  local raw = handle.array
  local set = { array = handle, count = tonumber(raw.count), rank = raw.dim_count,
    extents = handle:size(), sparse = raw.sparse ~= 0 }
  if set.sparse then
    set.values = element.wrap(c_api.call(lib.ms_array_values, raw))
    local coords = element.wrap(c_api.call(lib.ms_array_coords, raw))
    set.at = {}
    for d = 1, set.rank do set.at[d] = coords:select(1, d) end
  else
    if lib.ms_array_contiguous(raw) == 0 then set.array = handle:clone() end
    raw = set.array.array
    set.values = element.wrap(c_api.call(lib.ms_array_view, raw, 1,
      ffi.new("int64_t[8]", set.count), ffi.new("int64_t[8]", 1), raw.data))
  end
  return set
end

--- Whether a function takes at most so many arguments. Builtins, which do not tell, do.
function M.takes(fn, count)
  local info = debug.getinfo(fn, "Su")
  return info.what == "C" or info.nparams <= count and not info.isvararg
end

--- call(e) gives fn the subscripts and the value of element e, or the value alone.
function M.caller(set, fn)
  if M.takes(fn, 1) then return caller_by_value(fn, set.values) end
  if set.sparse then return sparse_caller(fn, set.values, set.at, set.rank) end
  return dense_caller(fn, set.values, set.extents)
end

--- Raises OPT unless it is a function.
function M.check_function(where, fn)
  if type(fn) ~= "function" then
    errors.raise("OPT", "%s: expected a function, not a %s", where, type(fn))
  end
end

--- The blocks of `count` elements: how many, how long one is, and whether they are not worth
-- sending.
function M.blocks(count)
  local size = math.max(math.ceil(count / MOST_BLOCKS), FEW / 4)
  return math.ceil(count / size), size, count < FEW
end

--- The last element of block b. Without math.min, of which a loop in this process would give
-- notice.
function M.last_of(b, size, count)
  return b * size < count and b * size or count
end
local last_of = M.last_of

-- An error about what a block has to give, in terms of the elements.
local function reword(err, size)
  if errors.is(err) then
    err.message = string.gsub(err.message, "^results%[(%d+)%]%[(%d+)%]", function(b, k)
      return string.format("the result for element %d", (b - 1) * size + k)
    end)
  end
  return err
end

--- What call(e) gives for all elements, as a list of lists, block by block, and the size of a
-- block. `kind`: "one" result a call, "all" results of a call as a list, "pick" the numbers of the
-- elements for which it is true.
function M.call_all(set, call, kind)
  local count = set.count
  local blocks, size, few = M.blocks(count)
  local results = {}
  local bodies = {
    one = function(b)
      local list, before = {}, (b - 1) * size
      for e = before + 1, last_of(b, size, count) do list[e - before] = call(e) end
      results[b] = list
    end,
    all = function(b)
      local list, before = {}, (b - 1) * size
      for e = before + 1, last_of(b, size, count) do list[e - before] = { call(e) } end
      results[b] = list
    end,
    pick = function(b)
      local list, n = {}, 0
      for e = (b - 1) * size + 1, last_of(b, size, count) do
        if call(e) then
          n = n + 1
          list[n] = e
        end
      end
      results[b] = list
    end,
  }
  local ok, err = pcall(spread.run, blocks, few, bodies[kind])
  if not ok then error(reword(err, size), 0) end
  return results, size
end

--- A function refuse(e, format, ...) that raises BDY about element e.
function M.refusal(where)
  return function(e, format, ...)
    errors.raise("BDY", "%s, for element %d: %s", where, e, string.format(format, ...))
  end
end

--- The results of "one" as one list, which must have one for every element; and whether all are
-- numbers.
function M.join(results, size, count, where)
  local list, numbers = {}, true
  for b, part in ipairs(results) do
    local before = (b - 1) * size
    for k = 1, last_of(1, size, count - before) do
      local value = part[k]
      if value == nil then
        M.refusal(where)(before + k, "the function returned nothing")
      end
      list[before + k] = value
      numbers = numbers and type(value) == "number"
    end
  end
  return list, numbers
end

return M
