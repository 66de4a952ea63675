-- SPDX-License-Identifier: MIT
--- Ctrl-C while this process waits for something that is no Lua: csrc/driver/interrupt.h.
-- @module meissa.base.interrupt
local c_core = require "meissa.base.c_core"
local errors = require "meissa.base.errors"

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

--- Ends listening. What came and was not `taken` is left to the process's own handler.
function M.finish(taken) lib.ms_interrupt_end(taken) end

--- Ends what `hold` began. Whether Ctrl-C came.
function M.release()
  local seen = M.seen()
  held = false
  M.finish(seen)
  return seen
end

--- Whether what was raised is what LuaJIT's own program makes of Ctrl-C in this process.
function M.is(raised)
  return type(raised) == "string" and string.find(raised, "interrupted!$") ~= nil
end

--- What pcall gave, unless that is Ctrl-C, which is raised on.
function M.pass(ok, ...)
  local raised = not ok and (...)
  if raised and (M.is(raised) or errors.is(raised) and raised.code == "INT") then
    error(raised, 0)
  end
  return ok, ...
end

--- pcall for what may fail without harm, which Ctrl-C is not.
function M.pcall(fn, ...) return M.pass(pcall(fn, ...)) end

return M
