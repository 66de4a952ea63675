-- SPDX-License-Identifier: MIT
--- Messages: values with the arrays that they lead to, as bytes.
--
-- Elsewhere values travel with a loop, whose arrays are its operands. A message goes by itself,
-- from the driver to a worker or back, and holds copies of its arrays and of Torch's tensors.
-- @module meissa.kernel.message

local array = require "meissa.array"
local array_bytes = require "meissa.kernel.array_bytes"
local buffer = require "string.buffer"
local encoded = require "meissa.base.encoded"
local naming = require "meissa.kernel.naming"
local serialize = require "meissa.kernel.serialize"
local tensor = require "meissa.array.tensor"
local unpack_values = require "meissa.kernel.unpack"

local M = {}

--- Bytes of values[1..count] (nil allowed).
-- @tab options `code`, `whither` and `remedy` of errors; `path(n)`: what the user calls value n;
-- `named`: {module, name} of what stands where they go for values, by these; `row` of a mailbox,
-- where large arrays are put, `mailbox`, on which some may lie; `apart`: each array by itself;
-- `free`: copies of arrays that somebody holds can be written
-- @treturn string the bytes @treturn table the arrays, in the order in which `open` numbers them
-- Errors: `code` for what cannot travel, naming it.
function M.pack(values, count, options)
  local arrays, tensors, numbers = {}, {}, {}
  -- The number of what goes beside the values: arrays count up from 1, tensors down from -1.
  local function find_array(value)
    local is_tensor = tensor.is_object(value)
    if not is_tensor then
      if not array.is_any(value) then return nil end
      local is_dense = array.is(value) and array.core(value).sparse == 0
      if not is_dense and not array.is_handle(value) then return false end
    end
    if not numbers[value] then
      local list = is_tensor and tensors or arrays
      list[#list + 1] = value
      numbers[value] = is_tensor and -#list or #list
    end
    return numbers[value]
  end
  local bytes = serialize.encode(values, count, {
    find_array = find_array, named = options.named, index = naming.recent_index,
    path = options.path, code = options.code, whither = options.whither,
    remedy = options.remedy, array_remedy = options.remedy,
    array_words = "an array of objects, or a row of a sparse array",
  })
  local told = array_bytes.pack(arrays, options)
  local packed_tensors = #tensors > 0 and tensor.pack(tensors) or nil
  return buffer.encode {values = bytes, arrays = told, tensors = packed_tensors}, arrays
end

--- The values of a message, by number, and its arrays, by number.
-- @tab[opt] mailbox where its large arrays lie: they stay there
-- Errors: WRK for modules that cannot be loaded here, Torch among them.
function M.open(bytes, mailbox)
  local told = encoded.from_message(bytes)
  local tensors = told.tensors and tensor.unpack(told.tensors)
  local arrays, array_of = array_bytes.unpack(told.arrays, mailbox)
  local values = unpack_values.decode(told.values, {globals = _G, array = function(number)
    if number < 0 then return tensors[-number] end
    return array_of(number)
  end})
  return values, arrays
end

return M
