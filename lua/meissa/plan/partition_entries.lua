-- SPDX-License-Identifier: MIT
--- Partitions of sparse arrays: the entries, copied block by block into shared memory.
-- @module meissa.plan.partition_entries

local array = require "meissa.array"
local c_api = require "meissa.array.c_api"
local ffi = require "ffi"

local M = {}

local lib = c_api.lib

--- The partition of a sparse array cut along `dims` (from 1) into about `ranges` ranges each; from
-- the array's cache if it is there. Collected with its last use.
-- Errors: ARR.
function M.get(value, dims, ranges, ordered)
  return array.partition(value, {dims = dims, ranges = ranges, ordered = ordered})
end

--- The same for an ms_cut.
M.find = array.find_partition

--- The vector of 1-based coordinates in dimension `d` (from 1); entry e is at index e - 1.
function M.coords(partition, d)
  return lib.ms_partition_coords(partition, d - 1)
end

--- The vector of values.
function M.values(partition)
  return ffi.cast(c_api.pointer_ctypes[partition.type], lib.ms_partition_values(partition))
end

--- The entries from `first` to `last` (from 1): a function that gives the next one's subscripts and
-- value, then nil.
-- @func[opt] at is told the number of each, before it is given
function M.entries(partition, first, last, at)
  local dims, values = partition.dim_count, M.values(partition)
  local coords = {of = partition} -- which lives as long as what it has is read
  for d = 1, dims do coords[d] = M.coords(partition, d) end
  local e, index = first - 2, {}
  return function()
    e = e + 1
    if e >= last then return nil end
    if at then at(e + 1) end
    for d = 1, dims do index[d] = coords[d][e] end
    index[dims + 1] = tonumber(values[e])
    return unpack(index, 1, dims + 1)
  end
end

--- All entries of a sparse array row by row, those with equal subscripts in file order, with the
-- values that they have now; as above.
-- Errors: ARR.
function M.row_major(value)
  local partition = M.get(value, {1}, {1}, true)
  return M.entries(partition, 1, tonumber(partition.count))
end

return M
