-- SPDX-License-Identifier: MIT
--- Layouts: which iterations the blocks of a grid hold.
--
-- A layout is an ms_layout. What a block's number means is computed in one place,
-- csrc/plan/layout.c. What points into a partition does not keep that alive.
-- @module meissa.plan.layout

local c_api = require "meissa.array.c_api"
local ffi = require "ffi"

local M = {}

local lib = c_api.lib

local layout_type = ffi.typeof "ms_layout"

--- What a worker is told of a layout, as a string. Where the blocks of a partition begin is in
-- memory that all share.
function M.words(layout)
  local bytes = ffi.new("char[?]", ffi.sizeof(layout_type))
  return ffi.string(bytes, lib.ms_layout_write(layout, bytes))
end

--- The layout that a worker was sent as `words`; blocks of entries begin at `starts`
-- (const int64_t *: of each block, from 0, and the end).
function M.read(words, starts)
  local layout = layout_type()
  if lib.ms_layout_read(words, #words, layout) ~= 0 then error("a job has no layout", 0) end
  layout.starts = starts
  return layout
end

local bounds = ffi.new("int64_t[?]", 2 * 8 + 2)

--- The iterations of block `b` (from 0, row-major over the ranges): {first =, last =} among the
-- partition's entries, or {lo = {...}, hi = {...}}, and with a row its least and greatest value,
-- row_lo and row_hi.
function M.block(layout, b)
  lib.ms_layout_bounds(layout, b, bounds)
  if layout.of_entries == 1 then
    return {first = tonumber(bounds[0]), last = tonumber(bounds[1])}
  end
  local block, dims = {lo = {}, hi = {}}, layout.dims
  for d = 1, dims do
    block.lo[d], block.hi[d] = tonumber(bounds[2 * d - 2]), tonumber(bounds[2 * d - 1])
  end
  for a = 0, layout.axis_count - 1 do
    if layout.axes[a].at == 2 * dims then
      block.row_lo, block.row_hi = tonumber(bounds[2 * dims]), tonumber(bounds[2 * dims + 1])
    end
  end
  return block
end

return M
