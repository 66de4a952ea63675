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

local M = {}

for name, fn in pairs(make) do M[name] = fn end

--- Whether a value is an array, or a row or slice of one.
function M.is(value)
  return element.kind(value) ~= nil
end

--- The core's array (an ms_array pointer) behind an array, row or slice.
function M.core(value)
  return value.array
end

--- Wraps an ms_array pointer; its reference becomes the handle's.
M.wrap = element.wrap

M.type_names = core.type_names

return M
