-- SPDX-License-Identifier: MIT
--
-- Labels that travel: the id maps of an array, as bytes in arrays of their own for workers.
--
-- Numbers are int64, one a position. Strings are count + 1 offsets of 8 bytes, then the bytes.
-- @module meissa.array.labels

local ffi = require "ffi"
local c_api = require "meissa.array.c_api"
local make = require "meissa.array.make"
local subscript = require "meissa.array.subscript"
local tables = require "meissa.base.tables"

local lib = c_api.lib

local M = {}

local function release(labels)
  lib.ms_labels_release(ffi.new("ms_labels *[1]", labels))
end

-- A reference of Lua's own: while it is held, no other labels are at this address.
local function retain(labels)
  labels.references = labels.references + 1
  return ffi.gc(labels, release)
end

local function pack(labels)
  local count = tonumber(labels.count)
  local strings = labels.numbers == nil
  local head = strings and (count + 1) * 8 or count * 8
  local size = strings and head + tonumber(labels.offsets[count]) or head
  local holder = make.zeros(math.max(math.ceil(size / 8), 1))
  local memory = ffi.cast("char *", holder.array.data)
  ffi.copy(memory, strings and labels.offsets or labels.numbers, head)
  if strings then ffi.copy(memory + head, labels.bytes, size - head) end
  return { array = holder, count = count, strings = strings, labels = retain(labels) }
end

-- What was packed, by the address of the labels, which several arrays may share; and by array.
local by_address = setmetatable({}, { __mode = "v" })
local by_array = setmetatable({}, { __mode = "k" })

local function packed_once(labels)
  local address = tostring(ffi.cast("void *", labels))
  local known = by_address[address] or pack(labels)
  by_address[address] = known
  return known
end

--- The labels of an array, packed: by dimension {array = what holds their bytes, count =, strings =
-- whether they are strings}; nil for an array without. They live as long as the array or the list.
function M.packed(value)
  local handle = subscript.to_handle(value, true)
  local known = by_array[handle]
  if known == nil then
    known = {}
    for d = 1, handle.array.dim_count do
      local labels = handle.array.labels[d - 1]
      if labels ~= nil then known[d] = packed_once(labels) end
    end
    known = tables.next(known) and known or false
    by_array[handle] = known
  end
  return known or nil
end

local function copy(pointer, size)
  local memory = c_api.call(lib.ms_file_memory, size)
  ffi.copy(memory, pointer, size)
  return memory
end

local function unpack_labels(about)
  local memory, count = ffi.cast("char *", about.pointer), about.count
  if not about.strings then
    return c_api.call(lib.ms_labels_numbers, ffi.cast("int64_t *", copy(memory, count * 8)), count)
  end
  local head = (count + 1) * 8
  local offsets = ffi.cast("uint64_t *", copy(memory, head))
  local bytes = ffi.cast("char *", copy(memory + head, tonumber(offsets[count])))
  return c_api.call(lib.ms_labels_distinct, bytes, offsets, count)
end

-- Labels of earlier jobs, by the number of what held them.
local kept, kept_count = {}, 0
local MOST_KEPT = 32

local function unpacked_once(about)
  if not about.id then return ffi.gc(unpack_labels(about), release) end
  if not kept[about.id] then
    if kept_count >= MOST_KEPT then kept, kept_count = {}, 0 end
    kept[about.id], kept_count = ffi.gc(unpack_labels(about), release), kept_count + 1
  end
  return kept[about.id]
end

--- Gives an array without labels those that were packed.
-- @tab packed by dimension {id = of the array that held them, if others may have them, pointer = to
-- the bytes, count =, strings =}
function M.attach(A, packed)
  for d, about in tables.each(packed) do
    local labels = unpacked_once(about)
    labels.references = labels.references + 1
    A.array.labels[d - 1] = labels
  end
end

return M
