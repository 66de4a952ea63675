-- SPDX-License-Identifier: MIT
--- Sums of arrays of several replicas, of which each has its elements one behind the other, in the
-- order of the replicas.
-- @module meissa.worker.row_sum

local c_api = require "meissa.array.c_api"
local ffi = require "ffi"
local methods = require "meissa.array.method"

local lib = c_api.lib

local M = {}

-- Elements that are summed at a time, so that they stay in the first cache.
local PIECE = 2048

local COPY, AXPY = methods.of.copy.operation, methods.of.axpy.operation

local bytes_at = ffi.typeof "char *"

local scratch = ffi.new("double[?]", PIECE)

-- Whether all sums of a piece fit into their type.
local function fit()
  local err = c_api.err
  if err.code == 0 then return true end
  err.code, err.line, err.file[0] = 0, 0, 0
  return false
end

--- Writes the sum of terms, added in their order, to all of `to`: pointers to what the elements
-- from `first` on, to before `last`, are counted from. The first of `to` may be one of the terms.
-- @tab place what the elements are like, of meissa.worker.value_rows
-- @treturn boolean false: some do not fit into their type; then some of `to` is written
function M.add_up(place, terms, to, first, last)
  local number, size, err = place.number, place.size, c_api.err
  local in_place = terms[1] == to[1]
  for piece = first, last - 1, PIECE do
    local at, many = piece * size, math.min(PIECE, last - piece)
    local sum = in_place and to[1] + at or ffi.cast(bytes_at, scratch)
    for k = in_place and 2 or 1, #terms do
      lib.ms_arith_row(k == 1 and COPY or AXPY, number, sum, 1, number, terms[k] + at, 1, many, 1,
                       err)
    end
    if not fit() then return false end
    for n = in_place and 2 or 1, #to do ffi.copy(to[n] + at, sum, many * size) end
  end
  return true
end

return M
