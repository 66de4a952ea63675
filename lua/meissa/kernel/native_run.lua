-- SPDX-License-Identifier: MIT
--- Native runs: what a worker needs to run a job's blocks on a compiled kernel without Lua.
-- @module meissa.kernel.native_run

local ffi = require "ffi"

local M = {}

local function make(native, layout)
  local run = ffi.new "ms_native_run"
  run.entry, run.slots, run.results = native.entry, native.slots, native.results
  run.fault, run.bounds = native.fault, native.bounds
  run.result, run.size = native.space, native.size
  run.layout = layout
  return run
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
    known = make(native, layout)
    native.runs[layout], native.run_count = known, native.run_count + 1
  end
  return known, native.raise
end

--- Tells whether the blocks of a job can be run so.
-- @param instance of kernel.prepare
-- @tab layout of layout.lua
-- @treturn function gives an ms_native_run and a function that raises what its fault means, or
-- nothing while the kernel is not there
function M.maker(instance, layout)
  return function()
    local native = instance.call and instance or instance:native()
    if not native or native.encoded or native.info.declines then return nil end
    if instance.versions then instance.versions:serve(native) end
    return run_of(native, layout)
  end
end

return M
