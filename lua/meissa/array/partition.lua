-- SPDX-License-Identifier: MIT
--
-- Partitions of sparse arrays, and cuts of plain ranges, for the rooms that run loops.
-- @module meissa.array.partition

local ffi = require("ffi")
local c_api = require("meissa.array.c_api")
local valid = require("meissa.array.valid")

local lib = c_api.lib
local M = {}

local function release(pointer)
  lib.ms_partition_release(ffi.new("ms_partition *[1]", pointer))
end

--- The entries of a sparse array in blocks, from the array's cache or built.
-- @param value a sparse array
-- @tab spec `dims` (list of dimensions to cut, 1-based), `ranges` (list: how many ranges each),
-- `ordered` (row-major inside a block, else a fixed random order)
-- @return an ms_partition pointer that the collector releases
function M.get(value, spec)
  local array = value.array
  lib.ms_array_drain()
  valid.check(array, value.generation)
  local cut = ffi.new("ms_cut")
  cut.count = #spec.dims
  cut.ordered = spec.ordered and 1 or 0
  for c = 1, #spec.dims do
    cut.dims[c - 1] = valid.dimension(array, spec.dims[c])
    cut.ranges[c - 1] = spec.ranges[c]
  end
  return ffi.gc(c_api.call(lib.ms_partition_get, array, cut), release)
end

--- Cuts lo, lo+step, ... hi into runs of equal length (within one).
-- @treturn table first values of the runs, and one past the end: run r is t[r] .. t[r+1]-step
function M.cut_range(lo, hi, step, ranges)
  local bounds = ffi.new("int64_t[?]", ranges + 1)
  local count = tonumber(lib.ms_cut_range(lo, hi, step, ranges, bounds))
  local result = {}
  for r = 0, count do result[r + 1] = tonumber(bounds[r]) end
  return result
end

return M
