-- SPDX-License-Identifier: MIT
--
-- DistArrays: n-dimensional arrays, dense or sparse, whose memory workers share.
--
-- This file gathers the parts: element.lua (access), subscript.lua (everything about `A[...]`),
-- make.lua (constructors), and the files with methods.
-- @module meissa.array

local core = require("meissa.array.core")
local element = require("meissa.array.element")
local make = require("meissa.array.make")
local subscript = require("meissa.array.subscript")

local M = {}

for name, fn in pairs(make) do M[name] = fn end

--- Whether a value is an array, or a row or slice of one.
function M.is(value)
  return element.kind(value) ~= nil
end

--- Whether a value is an array, not a row or slice.
function M.is_handle(value)
  return element.kind(value) == "handle"
end

--- The core's array behind an array that must be readable; raises ARR otherwise.
function M.checked(value)
  subscript.check(value.array, value.generation)
  return value.array
end

--- The core's array (an ms_array pointer) behind an array, row or slice.
function M.core(value)
  return value.array
end

--- Wraps an ms_array pointer; its reference becomes the handle's.
M.wrap = element.wrap

M.type_names = core.type_names

return M
