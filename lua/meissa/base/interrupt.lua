-- SPDX-License-Identifier: MIT
--- Ctrl-C while this process waits for something that is no Lua: csrc/driver/interrupt.h.
-- @module meissa.base.interrupt
local c_core = require "meissa.base.c_core"

local lib = c_core.lib
local M = {}

--- Begins to listen; to be ended, whatever happens in between.
function M.begin() lib.ms_interrupt_begin() end

--- Whether Ctrl-C was pressed since then.
function M.seen() return lib.ms_interrupt_seen() end

local held = false

--- Has Ctrl-C wait from here until `release`, so that nothing is left half done in between; true,
-- unless somebody who called this one does so already. Who runs code of the user's in between does
-- not hold.
function M.hold()
  if held then return false end
  lib.ms_interrupt_begin()
  held = true
  return true
end

--- Ends that. Whether Ctrl-C came.
function M.release()
  local seen = lib.ms_interrupt_seen()
  lib.ms_interrupt_end(seen)
  held = false
  return seen
end

--- Ends listening. What came and was not `taken` is left to the process's own handler.
function M.finish(taken) lib.ms_interrupt_end(taken) end

return M
