-- SPDX-License-Identifier: MIT
--
-- NumPy's .npy format for dense arrays: versions 1 to 3 are read, version 1.0 is written.
--
-- Files that we write end with 16 bytes more, a checksum, which NumPy does not look at.
-- @module meissa.file.npy

local ffi = require "ffi"
local c_api = require "meissa.array.c_api"
local element = require "meissa.array.element"
local make = require "meissa.array.make"
local stream = require "meissa.file.stream"

local lib = c_api.lib
local M = { MAGIC = "\147NUMPY" }

local descriptions = { [0] = "<f4", "<f8", "<i4", "<i8" }
local numbers = { ["<f4"] = 0, ["<f8"] = 1, ["<i4"] = 2, ["<i8"] = 3 }

--- Writes a dense array (an ms_array).
function M.write(path, array)
  local dims = {}
  for d = 1, array.dim_count do dims[d] = string.format("%d", tonumber(array.dims[d - 1])) end
  local shape = "(" .. table.concat(dims, ", ") .. (#dims == 1 and ",)" or ")")
  local header = string.format("{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
    descriptions[array.type], shape)
  -- Data begins at a multiple of 64, after a line feed.
  local padding = -(#M.MAGIC + 4 + #header + 1) % 64
  header = header .. string.rep(" ", padding) .. "\n"
  stream.write(path, function(writer)
    writer:bytes(M.MAGIC .. "\1\0" .. string.char(#header % 256, math.floor(#header / 256)))
    writer:bytes(header)
    writer:elements(array)
    writer:footer()
  end)
end

local function read_header(reader)
  local version = string.byte(reader:string(2))
  local length
  if version == 1 then
    local low, high = string.byte(reader:string(2), 1, 2)
    length = low + 256 * high
  elseif version == 2 or version == 3 then
    length = reader:uint32()
  else
    reader:fail("version %d of NumPy's format is not known", version)
  end
  if length > 2 ^ 20 then reader:fail("the header of %d bytes is too long", length) end
  return reader:string(length)
end

local function read_shape(reader, header)
  local list = string.match(header, "['\"]shape['\"]%s*:%s*%(([%d%s,L]*)%)")
  if not list then reader:fail("the header has no shape") end
  local dims = {}
  for digits in string.gmatch(list, "%d+") do
    dims[#dims + 1] = tonumber(digits)
    if tonumber(digits) >= 2 ^ 31 then reader:fail("an extent of %s is out of range", digits) end
  end
  if #dims < 1 or #dims > 8 then
    reader:fail("the array has %d dimensions; 1 to 8 can be loaded", #dims)
  end
  return dims
end

local function read_description(reader, header)
  local description = string.match(header, "['\"]descr['\"]%s*:%s*['\"]([^'\"]*)['\"]")
  if not description then reader:fail("the header has no plain element type") end
  local number = numbers[description]
  if not number then
    reader:fail("elements of type '%s' cannot be loaded; f4, f8, i4 and i8 in little-endian "
      .. "order can", description)
  end
  return number
end

-- An array whose elements were read in the opposite order of dimensions.
local function from_fortran(array, dims)
  local extents, strides = ffi.new("int64_t[8]", dims), ffi.new("int64_t[8]")
  local stride = 1
  for d = 1, #dims do
    strides[d - 1] = stride
    stride = stride * dims[d]
  end
  local view = c_api.call(lib.ms_array_view, array, #dims, extents, strides, array.data)
  local handle = element.wrap(view)
  return element.wrap(c_api.call(lib.ms_array_clone, handle.array))
end

--- Reads what follows the magic bytes.
function M.read(reader)
  local header = read_header(reader)
  local dims, number = read_shape(reader, header), read_description(reader, header)
  local order = string.match(header, "['\"]fortran_order['\"]%s*:%s*(%a+)")
  if order ~= "True" and order ~= "False" then reader:fail("the header has no fortran_order") end
  local count = 1
  for d = 1, #dims do count = count * dims[d] end
  local size = count * ffi.sizeof(c_api.element_ctypes[number])
  reader:expect(size)
  local shape = dims
  if order == "True" then
    shape = {}
    for d = 1, #dims do shape[d] = dims[#dims + 1 - d] end
  end
  local A = make.dense(shape, number)
  reader:elements(A.array)
  if reader:left() > 0 then
    if reader:left() ~= stream.FOOTER_SIZE then
      reader:fail("the file has %d bytes more than its header says", reader:left())
    end
    reader:footer()
  end
  return order == "True" and from_fortran(A.array, dims) or A
end

return M
