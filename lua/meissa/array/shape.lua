-- SPDX-License-Identifier: MIT
--
-- What an array is like: extents, type, ids, memory. Methods.
-- @module meissa.array.shape

local ffi = require "ffi"
local c_api = require "meissa.array.c_api"
local subscript = require "meissa.array.subscript"
local valid = require "meissa.array.valid"
local errors = require "meissa.base.errors"

local lib = c_api.lib
local methods = subscript.methods
local to_handle = subscript.to_handle

-- Shape may be asked of an array whose contents are lost.
local function shape_of(self)
  return to_handle(self, true).array
end

--- The extent of a dimension, or a table of all.
-- @usage A:size(1), #A:size()
function methods.size(self, d)
  local array = shape_of(self)
  if d == nil then
    local dims = {}
    for k = 1, array.dim_count do dims[k] = tonumber(array.dims[k - 1]) end
    return dims
  end
  return tonumber(array.dims[valid.dimension(array, d)])
end

--- The number of dimensions.
function methods.dim(self)
  return shape_of(self).dim_count
end

--- The number of entries of a sparse array, of elements of a dense one: how many iterations a loop
-- over it has.
function methods.nnz(self)
  return tonumber(shape_of(self).count)
end

--- "float", "double", "int32" or "int64".
function methods.type(self)
  return c_api.type_names[shape_of(self).type]
end

--- The id that position i of dimension d had in the file; i itself where ids were not remapped.
function methods.label(self, d, i)
  local array = shape_of(self)
  local dim = valid.dimension(array, d)
  local position = valid.position(array, d, i)
  local labels = array.labels[dim]
  if labels == nil then return i end
  if labels.numbers ~= nil then return tonumber(labels.numbers[position]) end
  local begin = labels.offsets[position]
  return ffi.string(labels.bytes + begin, labels.offsets[position + 1] - begin)
end

--- The position of an id in dimension d, or nil.
function methods.index(self, d, label)
  local array = shape_of(self)
  local labels = array.labels[valid.dimension(array, d)]
  local whole = type(label) == "number" and math.floor(label) == label
    and math.abs(label) <= 2 ^ 53
  local at = -1
  if labels == nil then
    if whole and label >= 1 and label <= array.dims[d - 1] then at = label - 1 end
  elseif type(label) == "string" then
    at = tonumber(lib.ms_labels_find_string(labels, label, #label))
  elseif whole then
    at = tonumber(lib.ms_labels_find_number(labels, label))
  end
  return at >= 0 and at + 1 or nil
end

--- Frees the memory at once; whatever still refers to the array raises ARR from now on.
-- Errors: ARR for rows, and for an array that `apply` of its buffer is merging into.
function methods.free(self)
  if not subscript.is_part(self) and self.array.pinned > 0 then
    errors.raise("ARR", "free: %s is being merged into, by 'apply' of its buffer; free it after " ..
                 "the loop", valid.name_of(self.array))
  end
  if subscript.is_part(self) then errors.raise("ARR", "a row cannot be freed, only its array") end
  lib.ms_array_free(self.array)
end

--- The address of the elements and their distances, for code of your own with LuaJIT's FFI. The
-- address is good as long as the array is held.
-- Unsafe: nothing checks what is read or written there. NaNs with bits that no arithmetic makes,
-- written there, are other Lua values when they are read as elements, or crash the process.
-- Errors: ARR for snapshots, which cannot be written.
-- @treturn cdata a pointer to the element type: element [1]...[1], or a sparse array's values
-- @treturn table dense: strides in elements; sparse: pointers to int32 coordinates, from 0
function methods.data(self)
  local array = to_handle(self).array
  valid.check_writable(array, "data")
  local more = {}
  for d = 1, array.dim_count do
    if array.sparse ~= 0 then
      more[d] = array.coords[d - 1]
    else
      more[d] = tonumber(array.strides[d - 1])
    end
  end
  return ffi.cast(c_api.pointer_ctypes[array.type], array.data), more
end
