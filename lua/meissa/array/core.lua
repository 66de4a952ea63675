-- SPDX-License-Identifier: MIT
--
-- The C side of arrays as Lua sees it: declarations, and calls that turn failure into errors.
-- @module meissa.array.core

local ffi = require("ffi")
local core = require("meissa.ffi")
local errors = require("meissa.errors")

local M = { lib = core.lib, new_error = core.new_error }

--- Element types by number (0 = float) and by name.
M.type_names = { [0] = "float", "double", "int32", "int64" }
M.type_numbers = { float = 0, double = 1, int32 = 2, int64 = 3 }
M.element_ctypes = {
  [0] = ffi.typeof("float"), ffi.typeof("double"), ffi.typeof("int32_t"), ffi.typeof("int64_t"),
}
M.pointer_ctypes = {
  [0] = ffi.typeof("float *"), ffi.typeof("double *"), ffi.typeof("int32_t *"),
  ffi.typeof("int64_t *"),
}

--- Numbers of the core's operations on elements (ms_arith, ms_reduction).
M.arith = { fill = 0, copy = 1, scal = 2, add = 3, axpy = 4, cmul = 5, cdiv = 6 }
M.reduction = { sum = 0, magnitudes = 1, squares = 2, least = 3, most = 4,
  product = 5, spread = 6 }

-- One record for all calls: each is cleared before and read directly after.
local err = core.new_error()

--- Raises what a call left in M.err, if anything. For calls in hot loops, which pass M.err
-- themselves; the record is empty between calls.
M.err = err
function M.raise_pending()
  local raised = errors.from_core(err)
  err.code, err.line, err.file[0] = 0, 0, 0
  error(raised, 0)
end

--- Calls a core function whose last parameter is an ms_error, which is added here, and raises its
-- error when it returns NULL, or a negative number.
function M.call(fn, ...)
  local n = select("#", ...)
  local args = { ... }
  args[n + 1] = err
  local result = fn(unpack(args, 1, n + 1))
  if err.code ~= 0 then M.raise_pending() end
  return result
end

--- A dense array's elements (of a sparse one its values) as a pointer of their type.
function M.elements(array)
  return ffi.cast(M.pointer_ctypes[array.type], array.data)
end

return M
