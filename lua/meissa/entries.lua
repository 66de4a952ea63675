-- SPDX-License-Identifier: MIT
--- Captured sparse arrays on their way to workers: the vectors of their entries as items of a job,
-- and back.
-- @module meissa.entries

local array = require "meissa.array"
local ffi = require "ffi"

local M = {}

local ELEMENT = {float = 4, double = 8, int32 = 4, int64 = 8}

-- Coordinate vectors are numbered after their array, far above arrays and partitions.
local COORDINATES, MOST_DIMS = 2 ^ 50, 8

--- The items of a sparse array: its values and, in a list, its coordinates.
-- @param value the array
-- @bool written whether the loop writes entries
function M.items(value, written)
  local about, raw, coordinates = array.describe(value), array.core(value), {}
  local function vector(pointer, store, element)
    return {pointer = pointer, segment = store.block.segment, element = element,
            dims = {about.count}, strides = {1}, version = 0}
  end
  local values = vector(raw.data, raw.store, ELEMENT[about.type])
  values.id, values.written = about.id, written
  values.movement = written and "scattered" or "broadcast"
  for d = 1, #about.dims do
    local item = vector(raw.coords[d - 1], raw.coord_store, 4)
    item.id, item.movement = COORDINATES + about.id * MOST_DIMS + d - 1, "cached"
    coordinates[d] = item
  end
  return values, coordinates
end

--- On a worker: an array as the kernel takes it, made sparse again.
-- @tab given {pointer =, dims =, strides =, type =} of the values
-- @tab|nil sparse {dims =, numbers of the items with coordinates}; nil for a dense array
-- @tab items what the worker has got
function M.rebuild(given, sparse, items)
  if not sparse then return given end
  given.coords, given.count, given.dims = {}, given.dims[1], sparse.dims
  for d, number in ipairs(sparse) do
    given.coords[d] = ffi.cast("int32_t *", items[number].pointer)
  end
  return given
end

return M
