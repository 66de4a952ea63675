-- SPDX-License-Identifier: MIT
--- Partitions of sparse arrays: the entries, copied block by block into shared memory.
-- @module meissa.plan.partition

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

--- The vector of 1-based coordinates in dimension `d` (from 1); entry e is at index e - 1.
function M.coords(partition, d)
  return lib.ms_partition_coords(partition, d - 1)
end

--- The vector of values.
function M.values(partition)
  return ffi.cast(c_api.pointer_ctypes[partition.type], lib.ms_partition_values(partition))
end

return M
