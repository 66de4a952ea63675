-- SPDX-License-Identifier: MIT
--
-- The C side of arrays as Lua sees it: declarations, and calls that turn failure into errors.
-- @module meissa.array.c_api

local ffi = require "ffi"
local c_core = require "meissa.base.c_core"
local errors = require "meissa.base.errors"

local M = { lib = c_core.lib, new_error = c_core.new_error }

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

--- Bytes of an element by the type's name.
M.element_sizes = { float = 4, double = 8, int32 = 4, int64 = 8 }

--- Numbers of the core's reductions (ms_reduction).
M.reduction = { sum = 0, magnitudes = 1, squares = 2, least = 3, most = 4,
  product = 5, spread = 6 }

-- One record for all calls: each is cleared before and read directly after.
local err = c_core.new_error()

--- Raises what a call left in M.err, if anything. For calls in hot loops, which pass M.err
-- themselves; the record is empty between calls.
M.err = err
function M.raise_pending()
  local raised = errors.from_core(err)
  err.code, err.line, err.file[0] = 0, 0, 0
  error(raised, 0)
end

-- Calls with so many arguments before the error. One function for each number: LuaJIT compiles no
-- call of a C function with a list of arguments, and interpreted it takes 30 us.
local calls = {
  [0] = function(fn) local result = fn(err) return result end,
  function(fn, a) local result = fn(a, err) return result end,
  function(fn, a, b) local result = fn(a, b, err) return result end,
  function(fn, a, b, c) local result = fn(a, b, c, err) return result end,
  function(fn, a, b, c, d) local result = fn(a, b, c, d, err) return result end,
  function(fn, a, b, c, d, e) local result = fn(a, b, c, d, e, err) return result end,
  function(fn, a, b, c, d, e, f) local result = fn(a, b, c, d, e, f, err) return result end,
  function(fn, a, b, c, d, e, f, g) local result = fn(a, b, c, d, e, f, g, err) return result end,
}

--- Calls a core function whose last parameter is an ms_error, which is added here, and raises its
-- error when it returns NULL, or a negative number.
function M.call(fn, ...)
  local result = calls[select("#", ...)](fn, ...)
  if err.code ~= 0 then M.raise_pending() end
  return result
end

--- A dense array's elements (of a sparse one its values) as a pointer of their type.
function M.elements(array)
  return (ffi.cast(M.pointer_ctypes[array.type], array.data))
end

return M
