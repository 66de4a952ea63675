-- SPDX-License-Identifier: MIT
--- Ctrl-C while this process waits for something that is no Lua: csrc/driver/interrupt.h.
-- @module meissa.base.interrupt
local core = require "meissa.base.ffi"

local lib = core.lib
local M = {}

--- Begins to listen; to be ended, whatever happens in between.
function M.begin() lib.ms_interrupt_begin() end

--- Whether Ctrl-C was pressed since then.
function M.seen() return lib.ms_interrupt_seen() end

--- Ends listening. What came and was not `taken` is left to the process's own handler.
function M.finish(taken) lib.ms_interrupt_end(taken) end

return M
