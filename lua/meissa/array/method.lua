-- SPDX-License-Identifier: MIT
--
-- The core's table of methods (csrc/array/method.c), as Lua sees it.
-- @module meissa.array.method

local core = require "meissa.core"

local M = {}

--- All methods in the table's order: {name =, most = how many arguments at most (nil: it looks at
-- them by itself), effect = "read" and so on, dimension = which argument is one (nil: none),
-- rowwise =, takes = "none", "number", "other" or "both", filled = whether it refuses rows without
-- elements, operation =}; see csrc/array/method.h.
M.list = core.methods()

--- The same by name: M.of.fill.
M.of = {}
for k = 1, #M.list do M.of[M.list[k].name] = M.list[k] end

return M
