-- SPDX-License-Identifier: MIT
--
-- Partitions of sparse arrays, for the rooms that run loops.
-- @module meissa.array.partition

local ffi = require "ffi"
local c_api = require "meissa.array.c_api"
local valid = require "meissa.array.valid"

local lib = c_api.lib
local M = {}

local function release(pointer)
  lib.ms_partition_release(ffi.new("ms_partition *[1]", pointer))
end

--- The entries of a sparse array in blocks, from the array's cache or built.
-- @param value a sparse array @param cut ms_cut
-- @return an ms_partition pointer that the collector releases
function M.find(value, cut)
  lib.ms_array_drain()
  valid.check(value.array, value.generation)
  return ffi.gc(c_api.call(lib.ms_partition_get, value.array, cut), release)
end

--- The same of what is told in words.
-- @param value a sparse array
-- @tab spec `dims` (list of dimensions to cut, 1-based), `ranges` (list: how many ranges each),
-- `ordered` (row-major inside a block, else a fixed random order)
-- @return an ms_partition pointer that the collector releases
function M.get(value, spec)
  local cut = ffi.new("ms_cut")
  cut.count = #spec.dims
  cut.ordered = spec.ordered and 1 or 0
  for c = 1, #spec.dims do
    cut.dims[c - 1] = valid.dimension(value.array, spec.dims[c])
    cut.ranges[c - 1] = spec.ranges[c]
  end
  return M.find(value, cut)
end

return M
