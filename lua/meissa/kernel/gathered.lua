-- SPDX-License-Identifier: MIT
--- Gathered tables: what a block has put into a list, counted by key, marked or assigned by key, on
-- its way to the driver's table.
--
-- Numbers travel as packed doubles, other plain values as string.buffer has them; so do sums by key
-- and sets, whose keys C brings together (csrc/sync/key_sums.h). A table of anything else stays
-- with the rest of the block's results. The merged table has the elements in
-- the order in which the blocks come or, where blocks run in another order than the loop, in the
-- order of the iterations that appended them: such a block also tells its *runs*, how long its list
-- was after each iteration that appended to it, and the subscripts of the iteration.
-- @module meissa.kernel.gathered
local buffer = require "string.buffer"
local encoded = require "meissa.base.encoded"
local errors = require "meissa.base.errors"
local ffi = require "ffi"
local order = require "meissa.kernel.order"
local tables = require "meissa.base.tables"

local lib = require("meissa.base.c_core").lib

local M = {}

--- How a table travels.
M.NUMBERS, M.PLAIN, M.OTHER, M.KEYED = "n", "p", "o", "k"

-- -------------------------------------------------------------------------------------- packing

local doubles = ffi.typeof("double[?]")
local numbers_of = ffi.typeof("const double *")
local bits_of = ffi.typeof("const int64_t *")

-- Numbers beyond which memory for them is not kept.
local KEPT = 131072

local kept

local function room_for(count)
  if count > KEPT then return doubles(count) end
  kept = kept or doubles(KEPT)
  return kept
end

-- A list of numbers as bytes; nil if it has anything else.
local function pack_numbers(list)
  local count = #list
  local room = room_for(count)
  for k = 1, count do
    local value = list[k]
    if type(value) ~= "number" then return nil end
    room[k - 1] = value
  end
  return ffi.string(room, 8 * count)
end

-- Numbers by number as bytes: key, value, ... of so many keys.
local function pack_pairs(part, count)
  local room, at = room_for(2 * count), 0
  for key, value in tables.each(part) do
    room[at], room[at + 1] = key, value
    at = at + 2
  end
  return ffi.string(room, 16 * count)
end

local PLAIN = { number = true, string = true, boolean = true }

local function are_plain(list)
  for k = 1, #list do
    if not PLAIN[type(list[k])] then return false end
  end
  return true
end

--- A block's list on its way.
-- @tab list without holes
-- @return string, or the list itself if it goes with other results
-- @treturn string which of these: NUMBERS PLAIN OTHER
function M.pack_list(list)
  local bytes = pack_numbers(list)
  if bytes then return bytes, M.NUMBERS end
  if are_plain(list) then return buffer.encode(list), M.PLAIN end
  return list, M.OTHER
end

--- A block's sums by key, or its set, on their way; as pack_list, with KEYED.
-- @tab part of one block @bool sums whether it has sums
function M.pack_keyed(part, sums)
  local bytes = encoded.plain(part, sums)
  if bytes then return bytes, M.KEYED end
  return M.pack_keys(part)
end

--- A block's values by key on their way; as pack_list.
-- @tab part of one block
function M.pack_keys(part)
  local count, numbers = 0, true
  for key, value in tables.each(part) do
    count = count + 1
    numbers = type(key) == "number" and type(value) == "number"
    if not numbers then break end
  end
  if numbers then return pack_pairs(part, count), M.NUMBERS end
  if encoded.is_plain(part) then return buffer.encode(part), M.PLAIN end
  return part, M.OTHER
end

--- A block's runs: how long its list was after an iteration, and where that was, number by number.
-- @tab flat as the block function returned it
-- @number width numbers that the block function tells an iteration by
-- @func place place(flat, at): the subscripts of the iteration whose numbers stand from `at` on, as
-- a table that ascends in loop order
-- @treturn string
function M.pack_runs(flat, width, place)
  local list = {}
  for at = 1, #flat, 1 + width do
    list[#list + 1] = flat[at]
    for _, subscript in ipairs(place(flat, at + 1)) do list[#list + 1] = subscript end
  end
  return pack_numbers(list)
end

-- -------------------------------------------------------------------------------------- merging

-- The number at a place of a packed list. Of NaNs with bits that LuaJIT takes for other values it
-- is a NaN.
local function number_at(numbers, bits, k)
  local bit = bits[k]
  if bit < 0 and bit > -0x8000000000000LL then return 0 / 0 end
  return numbers[k]
end

-- The elements of a block's list from `first` to `last`, put to the end of the whole, which is
-- sought anew for each: of a table with holes it is where the body's own statement finds it.
local function append(whole, part, kind, first, last)
  if kind ~= M.NUMBERS then
    for k = first, last do whole[#whole + 1] = part[k] end
    return
  end
  local numbers, bits = ffi.cast(numbers_of, part), ffi.cast(bits_of, part)
  for k = first, last do whole[#whole + 1] = number_at(numbers, bits, k - 1) end
end

-- A block's list as append takes it, and its length.
local function unpack_list(part, kind)
  if kind == M.NUMBERS then return part, #part / 8 end
  if kind == M.PLAIN then part = encoded.from_message(part) end
  return part, #part
end

--- Puts a block's list to the end of those of the blocks before it.
-- @tab whole the driver's table @param part what pack_list gave @string kind likewise
function M.append(whole, part, kind)
  local list, count = unpack_list(part, kind)
  append(whole, list, kind, 1, count)
end

-- A block's runs, put behind `at` others: the places of the iterations, where in the list each run
-- ends, and the number of the block. How many runs there are then.
local function spread(runs, width, block, at, places, ends, of)
  local numbers = ffi.cast(numbers_of, runs)
  for k = 0, #runs / 8 - 1, 1 + width do
    ends[at], of[at] = numbers[k], block
    for d = 1, width do places[at * width + d - 1] = numbers[k + d] end
    at = at + 1
  end
  return at
end

local function add(whole, key, value)
  local before = whole[key]
  whole[key] = before and before + value or value
end

-- What blocks have by key is noted by C until M.finish_keyed, unless it is of another kind. What
-- stands for one of them is {value = the driver's table, exact = whether it has sums that no order
-- changes, noted =, others = {keys, sums} of those what C has not noted, constant = of a set}.

local function out_of_memory()
  errors.raise("WRK", "out of memory for what blocks have by key, or what they sent is broken")
end

local function note(out, part, sums)
  local noted = out.noted
  if not noted then
    noted = lib.ms_key_sums_new()
    if noted == nil then out_of_memory() end
    noted = ffi.gc(noted, lib.ms_key_sums_free)
    out.noted = noted
  end
  if lib.ms_key_sums_note(noted, part, #part, sums) ~= 0 then out_of_memory() end
end

-- Gives C what the driver's table has for keys; false where it has other things than numbers, which
-- a block may have left there.
local function give_before(noted, whole, keys)
  local values = lib.ms_key_sums_values(noted)
  for k = 1, #keys do
    local before = whole[keys[k]]
    if before then
      if type(before) ~= "number" then return false end
      values[k - 1] = before
    end
  end
  return true
end

local size_type = ffi.typeof("size_t[1]")

-- Adds what is noted, as C does, but in Lua.
local function add_plainly(noted, whole, keys)
  local count = size_type()
  local pairs_of = lib.ms_key_sums_noted(noted, count)
  for k = 0, tonumber(count[0]) - 1 do
    add(whole, keys[tonumber(pairs_of[k].key) + 1], pairs_of[k].value)
  end
end

-- Adds what is noted to sums by key.
local function add_noted(noted, whole, keys)
  if not give_before(noted, whole, keys) then return add_plainly(noted, whole, keys) end
  lib.ms_key_sums_add(noted)
  local values = lib.ms_key_sums_values(noted)
  for k = 1, #keys do whole[keys[k]] = values[k - 1] end
end

local function keys_of(noted)
  local size = size_type()
  local list = lib.ms_key_sums_keys(noted, size)
  if list == nil then out_of_memory() end
  return buffer.decode(ffi.string(list, size[0]))
end

-- Calls put(whole, key, value) for what is noted, in the order of the keys.
local function each_noted(noted, whole, put)
  lib.ms_key_sums_add(noted)
  if lib.ms_key_sums_arrange(noted) ~= 0 then out_of_memory() end
  local keys, values = keys_of(noted), lib.ms_key_sums_values(noted)
  for k = 1, #keys do put(whole, keys[k], values[k - 1]) end
end

-- Exact sums are those of all blocks before they are added to what the table had: how many blocks
-- told theirs together is seen nowhere.
local function finish_exact(out)
  if out.noted then each_noted(out.noted, out.value, add) end
  local keys, sums = unpack(out.others or { {} })
  for _, key in ipairs(keys) do add(out.value, key, sums[key]) end
end

--- Puts what is noted into the driver's table, if anything is.
-- @tab out see M.add
function M.finish_keyed(out)
  local noted, constant = out.noted, out.constant
  if out.exact and (noted or out.others) then
    finish_exact(out)
  elseif noted and constant == nil then
    add_noted(noted, out.value, keys_of(noted))
  elseif noted then
    each_noted(noted, out.value, function(whole, key) whole[key] = constant end)
  end
  out.noted, out.others = nil, nil
end

-- Calls put(whole, key, value) for what a block has by key.
local function each_key(whole, part, kind, put)
  if kind == M.NUMBERS then
    local numbers, bits = ffi.cast(numbers_of, part), ffi.cast(bits_of, part)
    for k = 0, #part / 8 - 1, 2 do
      put(whole, number_at(numbers, bits, k), number_at(numbers, bits, k + 1))
    end
    return
  end
  if kind == M.PLAIN then part = encoded.from_message(part) end
  for key, value in tables.each(part) do put(whole, key, value) end
end

-- Exact sums that came with other results: C notes those that it can, as if they had come alone.
local function add_others(out, part, kind)
  out.others = out.others or { {}, {} }
  local keys, sums = unpack(out.others)
  local plain = {}
  each_key(plain, part, kind, function(_, key, value)
    if PLAIN[type(key)] then
      plain[key] = value
    else
      if not sums[key] then keys[#keys + 1] = key end
      add(sums, key, value)
    end
  end)
  note(out, encoded.plain(plain, true), true)
end

--- Puts a block's sums by key to those of the blocks before it.
-- @tab out `value` is the driver's table, `exact` says whether no order changes the sums; the rest
-- belongs to these functions
-- @param part what pack_keyed gave @string kind likewise
function M.add(out, part, kind)
  if kind == M.KEYED then return note(out, part, true) end
  if out.exact then return add_others(out, part, kind) end
  M.finish_keyed(out)
  each_key(out.value, part, kind, add)
end

local function set(whole, key, value) whole[key] = value end

--- Puts values by key to those of the blocks before it.
-- @tab whole the driver's table @param part what pack_keys gave @string kind likewise
function M.mark(whole, part, kind) each_key(whole, part, kind, set) end

--- Puts a block's set, all of whose keys have one constant in all blocks, to those of the blocks
-- before it; as M.add.
function M.unite(out, part, kind)
  if kind ~= M.KEYED then return M.mark(out.value, part, kind) end
  if out.constant == nil then
    local _, constant = tables.next(encoded.from_message(part))
    if constant == nil then return end
    out.constant = constant
  end
  note(out, part, false)
end

--- Puts lists of blocks that run in another order than the loop to the end of the driver's table.
-- @tab whole the table
-- @tab waiting {{part =, kind =, runs =}, ...}, see append and pack_runs
-- @number width subscripts of an iteration
function M.append_in_order(whole, waiting, width)
  local count, at = 0, 0
  for _, each in ipairs(waiting) do count = count + #each.runs / 8 / (1 + width) end
  local places, ends, of = doubles(count * width), doubles(count), doubles(count)
  for b, each in ipairs(waiting) do
    each.list = unpack_list(each.part, each.kind)
    at = spread(each.runs, width, b, at, places, ends, of)
  end
  local sorted = order.sorted(places, width, count)
  for k = 0, count - 1 do
    local run = sorted[k]
    local block = waiting[of[run]]
    local first = run > 0 and of[run - 1] == of[run] and ends[run - 1] + 1 or 1
    append(whole, block.list, block.kind, first, ends[run])
  end
end

return M
