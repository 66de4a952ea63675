-- SPDX-License-Identifier: MIT
--
-- The core's shared object, called through LuaJIT's FFI.
--
-- It is what stands behind `require "meissa.core"`; its exported functions take plain memory and no
-- lua_State. The build makes their declarations from the headers.
-- C declarations are the whole program's, and the last one of a name counts: names that are neither
-- the core's (ms_) nor ours (meissa_) may be the program's own, with other types. What other
-- libraries export is declared where it is called, with `cdef`, as
-- `int meissa_isatty(int) __asm__("isatty");`.
-- @module meissa.base.c_core

local ffi = require "ffi"

local M = {}

local declared = debug.getregistry()["meissa.cdef"] or {}
debug.getregistry()["meissa.cdef"] = declared

--- Declares C names, once in a lua_State: a module that is loaded again does not do it again.
-- @string name of what declares ("blas")
-- @string text C declarations
function M.cdef(name, text)
  if declared[name] then return end
  ffi.cdef(text)
  declared[name] = true
end

local core = require "meissa.core"

--- Where the shared object is.
M.path = core.path

M.cdef("core", core.declarations)

--- The loaded library: M.lib.ms_array_dense(...).
M.lib = ffi.load(M.path)

--- An empty error record for a call of the core.
function M.new_error()
  return ffi.new("ms_error")
end

return M
