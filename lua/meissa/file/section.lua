-- SPDX-License-Identifier: MIT
--
-- Array sections: an array inside one of our own files, with its id maps. The layout is in
-- docs/formats.md.
-- @module meissa.file.section

local ffi = require "ffi"
local c_api = require "meissa.array.c_api"
local element = require "meissa.array.element"
local encoded = require "meissa.base.encoded"
local make = require "meissa.array.make"
local objects = require "meissa.array.objects"
local tables = require "meissa.base.tables"
local buffer = require "string.buffer"
local interrupt = require "meissa.base.interrupt"

local lib = c_api.lib
local M = {}

local DENSE, SPARSE = 1, 2
local OBJECT = 4 -- number of the element type
local NO_LABELS, NUMBERS, STRINGS, SHARED = 0, 1, 2, 3

local function write_labels(writer, array, d)
  local labels = array.labels[d]
  if labels == nil then return writer:uint32(NO_LABELS) end
  for earlier = 0, d - 1 do
    if array.labels[earlier] == labels then
      writer:uint32(SHARED)
      return writer:uint32(earlier)
    end
  end
  local count = tonumber(labels.count)
  if labels.numbers ~= nil then
    writer:uint32(NUMBERS)
    return writer:bytes(labels.numbers, count * 8)
  end
  writer:uint32(STRINGS)
  writer:bytes(labels.offsets, (count + 1) * 8)
  writer:bytes(labels.bytes, tonumber(labels.offsets[count]))
end

local function write_head(writer, kind, number, dims, count)
  writer:uint32(kind)
  writer:uint32(number)
  writer:uint32(#dims)
  writer:uint32(0)
  for d = 1, #dims do writer:uint64(dims[d]) end
  writer:uint64(count)
end

local function write_objects(writer, O)
  objects.check(O)
  local bytes = buffer.encode { items = objects.elements(O), labels = rawget(O, "labels") }
  write_head(writer, DENSE, OBJECT, O:size(), O:nnz())
  for _ = 1, O:dim() do writer:uint32(NO_LABELS) end
  writer:uint64(#bytes)
  writer:bytes(bytes)
end

--- Writes an array (an ms_array, or an array of objects).
function M.write(writer, array)
  if objects.is(array) then return write_objects(writer, array) end
  local count = tonumber(array.count)
  local dims = {}
  for d = 1, array.dim_count do dims[d] = array.dims[d - 1] end
  write_head(writer, array.sparse ~= 0 and SPARSE or DENSE, array.type, dims, count)
  for d = 0, array.dim_count - 1 do write_labels(writer, array, d) end
  if array.sparse ~= 0 then
    for d = 0, array.dim_count - 1 do writer:bytes(array.coords[d], count * 4) end
  end
  writer:elements(array)
end

local function read_strings(reader, count)
  local offsets = reader:memory((count + 1) * 8)
  local list = ffi.cast("uint64_t *", offsets)
  local sorted = list[0] == 0
  for k = 1, count do sorted = sorted and list[k] >= list[k - 1] end
  if not sorted or list[count] > reader:left() then
    lib.ms_file_forget(offsets)
    reader:fail("the id map is damaged")
  end
  local ok, bytes = pcall(reader.memory, reader, tonumber(list[count]))
  if not ok then
    lib.ms_file_forget(offsets)
    error(bytes, 0)
  end
  return c_api.call(lib.ms_labels_strings, bytes, list, count)
end

local function read_labels(reader, labels, d, count)
  local kind = reader:uint32()
  if kind == NUMBERS then
    local numbers = ffi.cast("int64_t *", reader:memory(count * 8))
    labels[d] = c_api.call(lib.ms_labels_numbers, numbers, count)
  elseif kind == STRINGS then
    labels[d] = read_strings(reader, count)
  elseif kind == SHARED then
    local earlier = reader:uint32()
    if earlier >= d or labels[earlier] == nil or labels[earlier].count ~= count then
      reader:fail("the id map is damaged")
    end
    labels[d] = labels[earlier]
    labels[d].references = labels[d].references + 1
  elseif kind ~= NO_LABELS then
    reader:fail("the id map is of an unknown kind (%d)", kind)
  end
end

local function read_head(reader)
  local kind, number, rank = reader:uint32(), reader:uint32(), reader:uint32()
  reader:uint32()
  if kind ~= DENSE and kind ~= SPARSE then reader:fail("the array is of an unknown kind") end
  if number > OBJECT or number == OBJECT and kind == SPARSE then
    reader:fail("the element type is unknown")
  end
  if rank < 1 or rank > 8 then reader:fail("the array has %d dimensions", rank) end
  local dims, elements = {}, 1
  for d = 1, rank do
    dims[d] = reader:count()
    if dims[d] >= 2 ^ 31 then reader:fail("an extent of %d is out of range", dims[d]) end
    elements = elements * dims[d]
  end
  local count = reader:count()
  if kind == DENSE and count ~= elements then reader:fail("extents and size disagree") end
  return kind, number, dims, count
end

local function make_array(reader, kind, number, dims, count)
  local size = count * ffi.sizeof(c_api.element_ctypes[number])
  if kind == DENSE then
    reader:expect(size)
    return make.dense(dims, number)
  end
  local bytes = reader:expect(size + count * 4 * #dims)
  return element.wrap(make.take(bytes, lib.ms_array_sparse, number, #dims,
    ffi.new("int64_t[8]", dims), count))
end

local function fill_array(reader, A, kind)
  local array = A.array
  if kind == SPARSE then
    for d = 0, array.dim_count - 1 do reader:into(array.coords[d], array.count * 4) end
    local ok = interrupt.pcall(c_api.call, lib.ms_array_check_coords, array)
    if not ok then reader:fail("a coordinate lies outside the extents") end
  end
  reader:elements(array)
end

-- An array of objects whose elements M.finish decodes.
local function read_objects(reader, dims)
  for _ = 1, #dims do
    if reader:uint32() ~= NO_LABELS then reader:fail("the id map is of an unknown kind") end
  end
  local O = objects.new(dims)
  rawset(O, "encoded", reader:string(reader:expect(reader:count())))
  return O
end

--- Decodes the elements of an array that read gave, once the checksum is known to match.
function M.finish(reader, array)
  if not objects.is(array) then return end
  local content, fault = encoded.from_file(rawget(array, "encoded"))
  if fault then reader:fail("the encoding of the elements %s", fault) end
  if type(content) ~= "table" or type(content.items) ~= "table"
    or content.labels ~= nil and type(content.labels) ~= "table" then
    reader:fail("the elements are no table")
  end
  rawset(array, "encoded", nil)
  rawset(array, "labels", content.labels)
  local items, count = objects.content(array), array:nnz()
  for k, item in tables.each(content.items) do -- most may be nil
    if type(k) ~= "number" or k < 1 or k > count or k % 1 ~= 0 then
      reader:fail("an element lies outside the extents")
    end
    rawset(items, k, item)
  end
end

--- Reads an array; M.finish is to be called before it is used.
function M.read(reader)
  local kind, number, dims, count = read_head(reader)
  if number == OBJECT then return read_objects(reader, dims) end
  local labels = ffi.new("ms_labels *[8]")
  local ok, result = pcall(function()
    for d = 1, #dims do read_labels(reader, labels, d - 1, dims[d]) end
    local A = make_array(reader, kind, number, dims, count)
    fill_array(reader, A, kind)
    return A
  end)
  if not ok then
    for d = 0, 7 do lib.ms_labels_release(labels + d) end
    error(result, 0)
  end
  for d = 0, 7 do result.array.labels[d] = labels[d] end
  return result
end

return M
