-- SPDX-License-Identifier: MIT
--- Row builtins of the Lua engine's chunks: the arrays' own C functions, called with an address, an
-- offset in elements and a stride instead of a row object.
--
-- A helper is called <method>_<type> or <method>_<type>_<type of the other row>. Rows are float or
-- double and of one length, so that the calls cannot fail, but for those of methods that refuse
-- rows without elements.
-- @module meissa.kernel.row
local along = require "meissa.array.along"
local c_api = require "meissa.array.c_api"
local method = require "meissa.array.method"

local M = {}

local lib, err, numbers = c_api.lib, c_api.new_error(), c_api.type_numbers
local sqrt = math.sqrt

-- Makers of helpers of methods: given the operation and the element types' numbers, a function.
local own, makers = {}, {}

function own.dot(_, x_type, y_type)
  return function(x, x_at, x_stride, y, y_at, y_stride, count)
    return (lib.ms_reduce_dot_row(x_type, x + x_at, x_stride, y_type, y + y_at, y_stride, count,
      err))
  end
end

function own.norm(op, type_number)
  return function(x, at, stride, count)
    return sqrt(lib.ms_reduce_row(type_number, x + at, stride, count, op, err))
  end
end

function own.var(op, type_number)
  return function(x, at, stride, count)
    return along.variance(lib.ms_reduce_row(type_number, x + at, stride, count, op, err), count)
  end
end

function own.std(op, type_number)
  return function(x, at, stride, count)
    return sqrt(along.variance(lib.ms_reduce_row(type_number, x + at, stride, count, op, err),
      count))
  end
end

function makers.read(op, type_number)
  return function(x, at, stride, count)
    return (lib.ms_reduce_row(type_number, x + at, stride, count, op, err))
  end
end

function makers.none(op, type_number)
  return function(y, at, stride, count)
    lib.ms_arith_row(op, type_number, y + at, stride, 0, nil, 0, count, 0, err)
  end
end

function makers.number(op, type_number)
  return function(y, at, stride, a, count)
    lib.ms_arith_row(op, type_number, y + at, stride, 0, nil, 0, count, a, err)
  end
end

function makers.other(op, y_type, x_type)
  return function(y, y_at, y_stride, x, x_at, x_stride, count)
    lib.ms_arith_row(op, y_type, y + y_at, y_stride, x_type, x + x_at, x_stride, count, 0, err)
  end
end

function makers.both(op, y_type, x_type)
  return function(y, y_at, y_stride, a, x, x_at, x_stride, count)
    lib.ms_arith_row(op, y_type, y + y_at, y_stride, x_type, x + x_at, x_stride, count, a, err)
  end
end

-- The same function of rows that have elements.
local function of_elements(name, helper)
  return function(x, at, stride, count)
    along.need_elements(name, count)
    return helper(x, at, stride, count)
  end
end

--- The helper of a name, made when first asked for: row.dot_float_double.
return setmetatable(M, { __index = function(_, name)
  local called, first, second = string.match(name, "^(%a+)_(%a+)_?(%a*)$")
  local entry = method.of[called]
  if not entry or not entry.rowwise then return nil end
  local make = own[called] or makers[entry.effect == "read" and "read" or entry.takes]
  local helper = make(entry.operation, numbers[first], numbers[second])
  if entry.filled then helper = of_elements(called, helper) end
  M[name] = helper
  return helper
end })
