-- SPDX-License-Identifier: MIT
--
-- Functions of all elements that give a new array: meissa.exp and so on. In place they are methods
-- (arith.lua), with the same bits.
-- @module meissa.array.functions

local c_api = require "meissa.array.c_api"
local element = require "meissa.array.element"
local make = require "meissa.array.make"
local method = require "meissa.array.method"
local subscript = require "meissa.array.subscript"
local valid = require "meissa.array.valid"
local errors = require "meissa.base.errors"

local lib, methods = c_api.lib, subscript.methods
local COPY, double = method.of.copy.operation, c_api.type_numbers.double

local M = {}

-- A copy of an array, or what a row shows, with floating elements or those that it has.
local function copy_of(where, value, floating)
  if not element.kind(value) then
    errors.raise("ARR", "%s: expected an array, not a %s%s", where, type(value),
      type(value) == "number" and "; for numbers there is math." .. where or "")
  end
  local handle = subscript.to_handle(value)
  local array = handle.array
  local number = floating and array.type > double and double or array.type
  local copy = element.wrap(make.take(tonumber(lib.ms_array_bytes(array)), lib.ms_array_retyped,
    array, number))
  c_api.call(lib.ms_arith_array, COPY, copy.array, array, 0)
  valid.check(array, handle.generation) -- holds the handle until here
  return copy
end

--- e to the power of each element (entry) of an array, as a new array: float where the array is,
-- else double, as all functions here but abs.
-- @usage local P = meissa.exp(scores)
function M.exp(A)
  return methods.exp(copy_of("exp", A, true))
end

--- The natural logarithm of each element.
function M.log(A)
  return methods.log(copy_of("log", A, true))
end

--- The square root of each element.
function M.sqrt(A)
  return methods.sqrt(copy_of("sqrt", A, true))
end

--- The hyperbolic tangent of each element.
function M.tanh(A)
  return methods.tanh(copy_of("tanh", A, true))
end

--- Each element to the power of p.
function M.pow(A, p)
  return methods.pow(copy_of("pow", A, true), p)
end

--- The magnitude of each element; of the array's own type.
function M.abs(A)
  return methods.abs(copy_of("abs", A, false))
end

return M
