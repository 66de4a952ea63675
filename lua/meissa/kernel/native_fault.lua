-- SPDX-License-Identifier: MIT
--- Faults: why compiled bodies stop, raised in the words of the Lua engine and of the arrays' face.
-- @module meissa.kernel.native_fault

local errors = require "meissa.base.errors"
local ffi = require "ffi"
local helpers = require "meissa.kernel.helpers"
local random = require "meissa.kernel.random"

local M = {}

-- ms_native_stop, and of VALUE as `dim`: `value` has the bits of an int64 element that is no exact
-- number.
local SUBSCRIPT, VALUE, RANDOM, REPEATED, NARROW, SELECT = 1, 2, 4, 6, 7, 8
local LENGTHS, PLACE, NORM = 9, 10, 11
local ELEMENT = 1

local bits_type = ffi.typeof("ms_native_slot")
local storers = { float = "number", double = "number", int32 = "int32", int64 = "int64" }

-- By ms_native_stop: raises it. Given the kernel's operand, its messages, the fault, and its
-- capture from 1.
local raisers = {}

raisers[SUBSCRIPT] = function(operand, _, fault, at)
  helpers.check(fault.value, tonumber(operand.dims[fault.dim + 1]), fault.dim + 1, at)
end

raisers[VALUE] = function(operand, _, fault, at)
  if fault.dim == ELEMENT then
    helpers.wide(ffi.new(bits_type, {number = fault.value}).whole)
  else
    helpers[storers[operand.type]](fault.value, at)
  end
end

raisers[REPEATED] = function(_, _, fault) -- in the words of csrc/array/index.c
  errors.raise("ARR", "there are %d entries with these subscripts; loop over them, or read " ..
    "with duplicates = \"sum\"", fault.value)
end

raisers[RANDOM] = function(_, _, fault)
  if fault.dim == 1 then random.refuse(fault.other) end
  random.refuse(fault.value, fault.other)
end

raisers[NARROW] = function(_, _, fault, at)
  helpers.part(at, fault.dim):narrow(1, fault.value, fault.other)
end

raisers[SELECT] = function(_, _, fault, at)
  helpers.part(at, fault.dim):select(fault.other, fault.value)
end

raisers[PLACE] = function(_, _, fault, at) helpers.place(fault.value, fault.other, at) end

raisers[NORM] = function(_, _, fault, at) helpers.part(at, fault.dim):norm(fault.value) end

raisers[LENGTHS] = function(_, messages, fault)
  local counts = {["\1"] = tostring(fault.capture), ["\2"] = tostring(fault.dim)}
  local words = string.gsub(string.sub(messages[fault.value + 1], 6), "[\1\2]", counts)
  errors.raise("ARR", "%s", words)
end

--- Raises what a fault means.
-- @tab operands the kernel's, by capture @tab messages the kernel's texts
-- @param fault an ms_native_fault
function M.raise(operands, messages, fault)
  local raiser = raisers[fault.stop]
  if raiser then raiser(operands[fault.capture + 1], messages, fault, fault.capture + 1) end
  -- See MS_NATIVE_DIMS in csrc/kernel/native/native_emit.h.
  local message = not raiser and messages[fault.value + 1]
  message = message and string.gsub(message, "\1(%d+)\2", function(capture)
    return table.concat(operands[tonumber(capture)].dims, "x")
  end)
  local code, text = string.match(message or "", "^(%u%u%u): (.*)$")
  if code then errors.raise(code, "%s", text) end
  if message then error(message, 0) end
  errors.raise("BUG", "a compiled loop stopped at line %d without a reason (%d)", fault.line,
    fault.stop)
end

return M
