-- SPDX-License-Identifier: MIT
--- Native runs: what a worker needs to run a job's blocks on a compiled kernel without Lua.
-- @module meissa.kernel.native_run

local axis_cuts = require "meissa.plan.axis"
local ffi = require "ffi"

local M = {}

local vector = ffi.typeof "int64_t[?]"
local axes_type = ffi.typeof "ms_run_axis[?]"

-- The axes of a grid over ranges, and the memory that they point to.
local function axes_of(layout)
  local memory, extents = {}, layout.extents
  local axes = axes_type(#layout.axes)
  for a, axis in ipairs(layout.axes) do
    local place = axes[a - 1]
    place.at = axis.row and 2 * #extents or 2 * axis.dim - 2
    place.ranges, place.first, place.step = axis.ranges, axis.range[1], axis.range[3]
    memory[a] = axis_cuts.bounds(axis)
    place.bounds = memory[a]
  end
  return axes, memory
end

local function make(native, layout)
  local run = ffi.new "ms_native_run"
  local keep = {}
  run.entry, run.slots, run.results = native.entry, native.slots, native.results
  run.fault, run.bounds = native.fault, native.bounds
  run.result, run.size = native.space, native.size
  if layout.starts then
    -- Long, and the same for all jobs that share the layout.
    layout.vector = layout.vector or vector(#layout.starts, layout.starts)
    keep.starts, run.starts = layout.vector, layout.vector
  else
    keep.axes, keep.memory = axes_of(layout)
    run.axes, run.axis_count = keep.axes, #layout.axes
  end
  return run, keep
end

-- Layouts whose runs an instance keeps: those of a driver loop with moving bounds.
local MOST_RUNS = 256

-- What make gives for a native instance, and what raises a fault's meaning; made once a layout.
local function run_of(native, layout)
  if not native.runs or native.run_count == MOST_RUNS then
    native.runs, native.run_count = {}, 0
    native.raise = native.raise or function() error(native:error(), 0) end
  end
  local known = native.runs[layout]
  if not known then
    local run, keep = make(native, layout)
    known = {run = run, keep = keep}
    native.runs[layout], native.run_count = known, native.run_count + 1
  end
  -- Bounds of dimensions that no axis cuts stay as they are from block to block.
  for d, extent in ipairs(layout.extents or {}) do
    native.bounds[2 * d - 2], native.bounds[2 * d - 1] = extent[1], extent[2]
  end
  return known.run, native.raise
end

--- Tells whether the blocks of a job can be run so.
-- @param instance of kernel.prepare
-- @tab layout of grid.lua
-- @treturn function gives an ms_native_run and a function that raises what its fault means, or
-- nothing while the kernel is not there
function M.maker(instance, layout)
  return function()
    local native = instance.call and instance or instance:native()
    if not native or native.encoded or native.info.declines then return nil end
    return run_of(native, layout)
  end
end

return M
