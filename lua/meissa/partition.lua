-- SPDX-License-Identifier: MIT
--- Partitions of sparse arrays: the entries, copied block by block into shared memory.
-- @module meissa.partition

local array = require "meissa.array"
local core = require "meissa.array.core"
local ffi = require "ffi"

local M = {}

local lib = core.lib

local function release(partition)
  lib.ms_partition_release(ffi.new("ms_partition *[1]", partition))
end

--- The partition of a sparse array cut along `dims` (from 1) into about `ranges` ranges each; from
-- the array's cache if it is there. Collected with its last use.
-- Errors: ARR.
function M.get(value, dims, ranges, ordered)
  local cut = ffi.new("ms_cut", {count = #dims, ordered = ordered and 1 or 0})
  for c, d in ipairs(dims) do
    cut.dims[c - 1], cut.ranges[c - 1] = d - 1, ranges[c]
  end
  return ffi.gc(core.call(lib.ms_partition_get, array.core(value), cut), release)
end

--- The vector of 1-based coordinates in dimension `d` (from 1); entry e is at index e - 1.
function M.coords(partition, d)
  return lib.ms_partition_coords(partition, d - 1)
end

--- The vector of values.
function M.values(partition)
  return ffi.cast(core.pointer_ctypes[partition.type], lib.ms_partition_values(partition))
end

return M
