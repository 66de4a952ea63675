-- SPDX-License-Identifier: MIT
--- Where the parameters of a replica's model are, as its option `params` tells, and how they are
-- taken and given (meissa.sync.models): one vector, which is the model's own memory.
-- @module meissa.sync.model_parameters

local array = require "meissa.array"
local c_api = require "meissa.array.c_api"
local errors = require "meissa.base.errors"
local ffi = require "ffi"
local tables = require "meissa.base.tables"
local interrupt = require "meissa.base.interrupt"

local M = {}

local TYPES = {float = ffi.typeof "float *", double = ffi.typeof "double *"}

local function refuse(format, ...) errors.raise("OPT", format, ...) end

-- Where an array's elements are. Those of a view need not lie one behind the other.
local function vector_of_array(value)
  if array.core(value).sparse ~= 0 or not TYPES[array.describe(value).type] then
    refuse("option 'params' of meissa.replicate gives a dense array of floats or doubles, not %s",
           errors.shown(value))
  end
  local handle = array.to_handle(value)
  local about = array.describe(handle)
  if array.is_frozen(handle) then
    refuse("option 'params' of meissa.replicate gives an array that %s",
           array.held_words(handle))
  end
  return {pointer = ffi.cast(TYPES[about.type], array.core(handle).data), count = about.count,
          type = about.type, keep = handle, array = handle}
end

-- Whether a value is a pointer to numbers of a type, or an array of such in C.
local function points_to(value, name, ctype)
  if type(value) ~= "cdata" then return false end
  return ffi.istype(ctype, value) or
    string.find(tostring(ffi.typeof(value)), "^ctype<" .. name .. " [^*]*%[[%d?]*%]>$") ~= nil
end

-- Where the parameters of a model are: {pointer =, count =, type =, keep =}, for arrays with
-- `array`.
local function vector_of(value)
  if array.is(value) then return vector_of_array(value) end
  local kind = type(value)
  local has = (kind == "table" or kind == "userdata" or kind == "cdata") and
    interrupt.pcall(function() return value.data, value.nElement end) and value.data and
    value.nElement
  if not has then
    refuse("option 'params' of meissa.replicate is a function that gives a model's parameters, " ..
           "one vector of floats or doubles with data() and nElement(), or a DistArray (several " ..
           "arrays may be views of one), not %s", tostring(value))
  end
  local pointer, count = value:data(), tonumber(value:nElement())
  for name, ctype in tables.each(TYPES) do
    if points_to(pointer, name, ctype) then
      return {pointer = ffi.cast(ctype, pointer), count = count, type = name,
              keep = {value, pointer}}
    end
  end
  refuse("the parameters of a replica's model must be floats or doubles: data() gave %s",
         tostring(pointer))
end

--- The parameters that `params` gives, which are to be the model's own memory: what is written to
-- them is there when it is asked again. Who asks may have moved them, as Torch's getParameters
-- does, so what the last call has given is what is used.
-- @treturn table {pointer =, count =, type =, keep =}, for arrays with `array`
-- Errors: OPT, and what `params` raises.
function M.of(model, params)
  local first = vector_of(params(model))
  if first.count < 1 then return first end
  local before = first.pointer[0]
  local mark = before == 1 and 2 or 1
  first.pointer[0] = mark
  local vector = vector_of(params(model))
  local is_own = vector.count == first.count and vector.pointer[0] == mark
  first.pointer[0] = before
  if not is_own then
    refuse("option 'params' of meissa.replicate gives a copy of a model's parameters, which " ..
           "would be trained without the model: give the model's own array or tensor, or a view " ..
           "of it, not a clone()")
  end
  vector.pointer[0] = before
  return vector
end

-- An array over a vector's numbers, of the extents that an array of parameters has.
local function array_over(vector, numbers)
  local about = array.describe(vector.array)
  return array.wrap_foreign {type = about.type, dims = about.dims,
                             data = ffi.cast("void *", numbers)}
end

--- Whether all parameters of a vector lie one behind the other in memory.
function M.is_one_piece(vector)
  return not vector.array or c_api.lib.ms_array_contiguous(array.core(vector.array)) ~= 0
end

--- Gives numbers what a model's parameters are.
-- @tab vector of the model @param numbers a pointer to so many of their type
function M.take(vector, numbers)
  if M.is_one_piece(vector) then
    ffi.copy(numbers, vector.pointer, vector.count * ffi.sizeof(vector.type))
  else
    array_over(vector, numbers):copy(vector.array)
  end
end

--- Makes a model's parameters what numbers are.
function M.give(vector, numbers)
  if M.is_one_piece(vector) then
    ffi.copy(vector.pointer, numbers, vector.count * ffi.sizeof(vector.type))
  else
    vector.array:copy(array_over(vector, numbers))
  end
end

return M
