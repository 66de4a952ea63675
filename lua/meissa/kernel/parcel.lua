-- SPDX-License-Identifier: MIT
--- Parcels: values with the arrays that they lead to, as bytes.
--
-- Elsewhere values travel with a loop, whose arrays are its operands. A parcel goes by itself, from
-- the driver to a worker or back, and holds copies of its arrays, dense ones.
-- @module meissa.kernel.parcel

local array = require "meissa.array"
local buffer = require "string.buffer"
local encoded = require "meissa.base.encoded"
local ffi = require "ffi"
local serialize = require "meissa.kernel.serialize"
local unpack_values = require "meissa.kernel.unpack"

local M = {}

-- A dense array as plain data.
local function packed(value)
  local now = value:clone()
  local about = array.describe(now)
  return {type = about.type, dims = about.dims, frozen = array.is_frozen(value),
          bytes = ffi.string(ffi.cast("char *", array.core(now).data), about.bytes)}
end

local function unpacked(told)
  local made = array.zeros(told.dims, {type = told.type})
  ffi.copy(ffi.cast("char *", array.core(made).data), told.bytes, #told.bytes)
  if told.frozen then array.core(made).writable = 0 end
  return made
end

--- Bytes of values[1..count] (nil allowed).
-- @tab options `code`, `whither` and `remedy` of errors; `path(n)`: what the user calls value n;
-- `named`: values for which a module stands where they go, with its name
-- @treturn string the bytes @treturn table the arrays, in the order in which `open` numbers them
-- Errors: `code` for what cannot travel, naming it.
function M.pack(values, count, options)
  local arrays, numbers, told = {}, {}, {}
  local function find_array(value)
    if not array.is_any(value) then return nil end
    if not array.is(value) or array.describe(value).sparse then return false end
    if not numbers[value] then
      arrays[#arrays + 1] = value
      numbers[value] = #arrays
    end
    return numbers[value]
  end
  local bytes = serialize.encode(values, count, {
    find_array = find_array, named = options.named,
    path = options.path, code = options.code, whither = options.whither,
    remedy = options.remedy, array_remedy = options.remedy,
    array_words = "an array that is not dense",
  })
  for n, each in ipairs(arrays) do told[n] = packed(each) end
  return buffer.encode {values = bytes, arrays = told}, arrays
end

--- The values of a parcel, by number, and its arrays, by number.
-- Errors: WRK for modules that cannot be loaded here.
function M.open(bytes)
  local told, arrays = encoded.from_message(bytes), {}
  local values = unpack_values.decode(told.values, {globals = _G, array = function(number)
    arrays[number] = arrays[number] or unpacked(told.arrays[number])
    return arrays[number]
  end})
  return values, arrays
end

return M
