-- SPDX-License-Identifier: MIT
--
-- Parts and copies of arrays: narrow, select, transpose, clone. Methods.
-- @module meissa.array.part

local c_api = require("meissa.array.c_api")
local element = require("meissa.array.element")
local make = require("meissa.array.make")
local subscript = require("meissa.array.subscript")
local valid = require("meissa.array.valid")
local errors = require("meissa.base.errors")

local lib = c_api.lib
local methods = subscript.methods
local to_handle = subscript.to_handle

local function whole(where, name, value)
  if type(value) ~= "number" or math.floor(value) ~= value or math.abs(value) > 2 ^ 31 then
    errors.raise("ARR", "%s: %s must be a whole number, not %s", where, name, tostring(value))
  end
  return value
end

--- A view of `length` positions of dimension d, from `first` on.
function methods.narrow(self, d, first, length)
  local array = to_handle(self).array
  return element.wrap(c_api.call(lib.ms_array_narrow, array, valid.dimension(array, d),
    whole("narrow", "first", first) - 1, whole("narrow", "length", length)))
end

--- A view without dimension d, at position i of it.
function methods.select(self, d, i)
  local array = to_handle(self).array
  return element.wrap(c_api.call(lib.ms_array_select, array, valid.dimension(array, d),
    whole("select", "position", i) - 1))
end

--- A view with two dimensions (1 and 2 if not said) exchanged.
function methods.transpose(self, one, other)
  local array = to_handle(self).array
  return element.wrap(c_api.call(lib.ms_array_transpose, array,
    valid.dimension(array, one or 1), valid.dimension(array, other or 2)))
end

--- A copy with memory of its own.
function methods.clone(self)
  local handle = to_handle(self)
  local bytes = tonumber(lib.ms_array_bytes(handle.array))
  local copy = element.wrap(make.take(bytes, lib.ms_array_clone, handle.array))
  valid.check(handle.array, handle.generation) -- holds the handle until here
  return copy
end

--- A copy of the contents as of now, for loops that read old values while they write new ones. It
-- cannot be written.
function methods.snapshot(self)
  local copy = methods.clone(self)
  lib.ms_array_freeze(copy.array)
  return copy
end
