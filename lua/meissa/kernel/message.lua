-- SPDX-License-Identifier: MIT
--- Messages: values with the arrays that they lead to, as bytes.
--
-- Elsewhere values travel with a loop, whose arrays are its operands. A message goes by itself,
-- from the driver to a worker or back, and holds copies of its arrays, dense ones, and of Torch's
-- tensors. Large arrays lie in a mailbox (meissa.kernel.mailbox) where both ends have one.
-- @module meissa.kernel.message

local array = require "meissa.array"
local buffer = require "string.buffer"
local encoded = require "meissa.base.encoded"
local ffi = require "ffi"
local naming = require "meissa.kernel.naming"
local serialize = require "meissa.kernel.serialize"
local tensor = require "meissa.array.tensor"
local unpack_values = require "meissa.kernel.unpack"

local M = {}

-- Bytes of an array that is worth a place in a mailbox.
local LARGE = 1024

-- Where a dense array lies in the mailbox, if it does, or is put there; and its stamp.
local function place_of(value, options)
  if array.describe(value).bytes < LARGE then return nil end
  if options.row then return options.row:put(value) end
  if options.mailbox then return options.mailbox:place_of(value) end
  return nil
end

-- A dense array as plain data.
local function packed(value, options)
  local about = array.describe(value)
  local frozen = array.is_frozen(value) and array.core(value).held or nil
  local told = {type = about.type, dims = about.dims, frozen = frozen}
  told.at, told.stamp = place_of(value, options)
  if told.at then return told end
  local now = value:clone()
  told.bytes = ffi.string(ffi.cast("char *", array.core(now).data), about.bytes)
  return told
end

local function unpacked(told, mailbox)
  if told.at then return mailbox:array(told) end
  local made = array.zeros(told.dims, {type = told.type})
  ffi.copy(ffi.cast("char *", array.core(made).data), told.bytes, #told.bytes)
  if told.frozen then array.core(made).writable, array.core(made).held = 0, told.frozen end
  return made
end

--- Bytes of values[1..count] (nil allowed).
-- @tab options `code`, `whither` and `remedy` of errors; `path(n)`: what the user calls value n;
-- `named`: values for which a module stands where they go, with its name; `row` of a mailbox, where
-- large arrays are put, `mailbox`, on which some may lie
-- @treturn string the bytes @treturn table the arrays, in the order in which `open` numbers them
-- Errors: `code` for what cannot travel, naming it.
function M.pack(values, count, options)
  local arrays, tensors, numbers, told = {}, {}, {}, {}
  -- The number of what goes beside the values: arrays count up from 1, tensors down from -1.
  local function find_array(value)
    local is_tensor = tensor.is_object(value)
    if not is_tensor then
      if not array.is_any(value) then return nil end
      if not array.is(value) or array.describe(value).sparse then return false end
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
    array_words = "an array that is not dense",
  })
  for n, each in ipairs(arrays) do told[n] = packed(each, options) end
  local packed_tensors = #tensors > 0 and tensor.pack(tensors) or nil
  return buffer.encode {values = bytes, arrays = told, tensors = packed_tensors}, arrays
end

--- The values of a message, by number, and its arrays, by number.
-- @tab[opt] mailbox where its large arrays lie: they stay there
-- Errors: WRK for modules that cannot be loaded here, Torch among them.
function M.open(bytes, mailbox)
  local told, arrays = encoded.from_message(bytes), {}
  local tensors = told.tensors and tensor.unpack(told.tensors)
  local values = unpack_values.decode(told.values, {globals = _G, array = function(number)
    if number < 0 then return tensors[-number] end
    arrays[number] = arrays[number] or unpacked(told.arrays[number], mailbox)
    return arrays[number]
  end})
  return values, arrays
end

return M
