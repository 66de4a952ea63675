-- SPDX-License-Identifier: MIT
--- What a native block leaves in its results, as the Lua engine has it: values, and memory that is
-- given back here.
-- @module meissa.kernel.native_left
local c_core = require "meissa.base.c_core"
local ffi = require "ffi"
local helpers = require "meissa.kernel.helpers"

local M = {}

local slot_pointer = ffi.typeof("ms_native_slot *")

-- ms_native_tag.
local NONE, NUMBER, TRUE, FALSE = 0, 1, 2, 3
M.NONE, M.NUMBER, M.TRUE, M.FALSE = NONE, NUMBER, TRUE, FALSE

--- A slot's number. Of NaNs with bits that LuaJIT takes for other values, which memory written
-- through data() may hold, it is a NaN.
function M.number(slot)
  local bits = slot.whole
  if bits < 0 and bits > -0x8000000000000LL then return 0 / 0 end
  return slot.number
end

--- A value that stands in two slots, as the Lua engine has it.
function M.value(slots)
  local tag = tonumber(slots[1].whole)
  if tag == NONE then return helpers.none end
  if tag == NUMBER then return M.number(slots[0]) end
  if tag == TRUE or tag == FALSE then return tag == TRUE end
  return nil
end

--- Reads what a block has left of a streak, and frees it: the flat list, and how long it is.
function M.streak(at, members, positions)
  local slots, used = ffi.cast(slot_pointer, at[0].pointer), tonumber(at[1].whole)
  local flat, length = {}, 0
  for first = 0, used - 1, 2 * members + 1 + positions do
    for member = 0, members - 1 do
      flat[length + member + 1] = M.value(slots + first + 2 * member)
    end
    flat[length + members + 1] = M.number(slots[first + 2 * members])
    for d = 1, positions do
      flat[length + members + 1 + d] = tonumber(slots[first + 2 * members + d].whole)
    end
    length = length + members + 1 + positions
  end
  c_core.lib.ms_combine_free_streak(slots)
  return flat, length
end

-- Whether all keys and values of assignments are numbers.
local function are_numbers(slots, used)
  for first = 0, used - 1, 2 do
    if slots[first + 1].whole ~= NUMBER then return false end
  end
  return true
end

-- Assignments as meissa.kernel.gathered packs numbers by number, in their order.
local function pack(slots, used)
  for first = 2, used - 1, 2 do slots[first / 2].number = slots[first].number end
  return ffi.string(slots, used / 2 * ffi.sizeof(slots[0]))
end

--- Reads what a block has assigned to elements of a table, and frees it: numbers as bytes, else
-- what the Lua engine has in place of the table.
function M.slice(at)
  local slots, used = ffi.cast(slot_pointer, at[0].pointer), tonumber(at[1].whole)
  local slice
  if are_numbers(slots, used) then
    slice = used > 0 and pack(slots, used) or ""
  else
    slice = helpers.slice()
    for first = 0, used - 1, 4 do
      slice[M.value(slots + first)] = M.value(slots + first + 2)
    end
  end
  c_core.lib.ms_combine_free_streak(slots)
  return slice
end

return M
