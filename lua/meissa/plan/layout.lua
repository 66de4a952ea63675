-- SPDX-License-Identifier: MIT
--- Layouts: which iterations the blocks of a grid hold.
--
-- A layout is a plain table, {axes = (see meissa.plan.axis), extents =, ordered =}, or of the
-- entries of a sparse array {starts = (const int64_t *: the first entry of each block, from 0, and
-- the end), ordered =}. What a block's number means is computed in one place, csrc/plan/layout.c.
-- @module meissa.plan.layout

local axis_cuts = require "meissa.plan.axis"
local c_api = require "meissa.array.c_api"
local ffi = require "ffi"

local M = {}

local vector = ffi.typeof "int64_t[?]"
local axes_type = ffi.typeof "ms_layout_axis[?]"

--- The layout of a grid.
function M.of(grid)
  if grid.partition then
    return {starts = grid.partition.start, partition = grid.partition, ordered = grid.ordered}
  end
  return {axes = grid.axes, extents = grid.extents, ordered = grid.ordered}
end

--- What a worker is told of a grid's layout, as a plain table. Where the blocks of a partition
-- begin is in memory that all share.
function M.words(grid)
  if grid.partition then return {entries = true, ordered = grid.ordered} end
  return M.of(grid)
end

-- The layouts that C has, with the memory that they point to, by layout.
local known = setmetatable({}, {__mode = "k"})

local function add_axes(made, layout, keep)
  local extents = layout.extents
  keep.extents, keep.axes = vector(2 * #extents), axes_type(#layout.axes)
  for d, extent in ipairs(extents) do
    keep.extents[2 * d - 2], keep.extents[2 * d - 1] = extent[1], extent[2]
  end
  for a, axis in ipairs(layout.axes) do
    local place = keep.axes[a - 1]
    place.at = axis.row and 2 * #extents or 2 * axis.dim - 2
    place.ranges, place.first, place.step = axis.ranges, axis.range[1], axis.range[3]
    keep[a] = axis_cuts.bounds(axis)
    place.bounds = keep[a]
  end
  made.extents, made.dims = keep.extents, #extents
  made.axes, made.axis_count = keep.axes, #layout.axes
end

local function find(layout)
  local keep = known[layout]
  if not keep then
    local dims = layout.starts and 1 or #layout.extents
    keep = {made = ffi.new "ms_layout", dims = dims, bounds = vector(2 * dims + 2)}
    if layout.starts then
      keep.made.starts = layout.starts
    else
      add_axes(keep.made, layout, keep)
    end
    known[layout] = keep
  end
  return keep
end

--- A layout as C takes it: an ms_layout that lives as long as the table.
function M.core(layout)
  return find(layout).made
end

--- The iterations of block `b` (from 0, row-major over the ranges): {first =, last =} among the
-- partition's entries, or {lo = {...}, hi = {...}}, and with a row its least and greatest value,
-- row_lo and row_hi.
function M.block(layout, b)
  local keep = find(layout)
  local dims, bounds = keep.dims, keep.bounds
  c_api.lib.ms_layout_bounds(keep.made, b, bounds)
  if layout.starts then return {first = tonumber(bounds[0]), last = tonumber(bounds[1])} end
  local block = {lo = {}, hi = {}}
  for d = 1, dims do
    block.lo[d], block.hi[d] = tonumber(bounds[2 * d - 2]), tonumber(bounds[2 * d - 1])
  end
  for _, axis in ipairs(layout.axes) do
    if axis.row then
      block.row_lo, block.row_hi = tonumber(bounds[2 * dims]), tonumber(bounds[2 * dims + 1])
    end
  end
  return block
end

return M
