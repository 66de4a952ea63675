-- SPDX-License-Identifier: MIT
--- Round runs: a compiled kernel's blocks of rounds in the driver's process, many by one call of C
-- (csrc/job/round_run.h).
-- @module meissa.kernel.round_run

local c_api = require "meissa.array.c_api"
local ffi = require "ffi"
local native = require "meissa.kernel.native"
local system = require "meissa.base.system"

local M = {}

local SLOT = 8

-- Ctrl-C comes between two pieces, which take about so many seconds.
local SOON = 0.02

local run_type, slots_type = ffi.typeof "ms_round_run", ffi.typeof "ms_native_slot[?]"

-- Room for what so many blocks leave, kept from one run to the next.
local room, size = nil, 0

local function room_for(slots)
  if slots > size then room, size = slots_type(slots), slots end
  return room
end

--- Runs blocks `first` to `last`, the end excluded, each of which reads the round before.
-- @tab instance a native one, whose slots the versions serve
-- @param versions the ms_versions
-- @treturn table|nil what each has left, as bytes, where they leave anything; nil: one has stopped
-- on the way
function M.run(instance, versions, first, last)
  local run, count = run_type(), last - first
  run.entry, run.slots, run.fault = instance.entry, instance.slots, instance.fault
  run.versions, run.mark, run.width = versions, native.MARK, math.max(1, instance.size / SLOT)
  local left, all, at, piece = room_for(run.width * count), {}, first, 1
  while at < last do
    local ends, began = math.min(at + piece, last), system.clock()
    local room_left = left + (at - first) * run.width
    if c_api.lib.ms_round_run_blocks(run, at, ends, room_left) < ends - at then return nil end
    if system.clock() - began < SOON then piece = 2 * piece end
    at = ends
  end
  for k = 1, instance.size > 0 and count or 0 do
    all[k] = ffi.string(left + (k - 1) * run.width, instance.size)
  end
  return all
end

jit.off(M.run) -- LuaJIT's machine code does not look for Ctrl-C

return M
