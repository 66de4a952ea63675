-- SPDX-License-Identifier: MIT
--
-- The core's table of methods (csrc/array/method.c), as Lua sees it.
-- @module meissa.array.method

local ffi = require("ffi")
local c_api = require("meissa.array.c_api")

local M = {}

--- All methods in the table's order: {name =, most = how many arguments at most (nil: it looks at
-- them by itself), effect = "read" and so on, dimension = which argument is one (nil: none),
-- rowwise =, takes = "none", "number", "other" or "both", operation =}; see csrc/array/method.h.
M.list = {}

local function entry_of(raw)
  return {
    name = ffi.string(raw.name), most = raw.most >= 0 and raw.most or nil,
    effect = ffi.string(c_api.lib.ms_method_effect_name(raw.effect)),
    dimension = raw.dimension > 0 and raw.dimension or nil,
    rowwise = raw.rowwise, operation = raw.operation,
    takes = raw.number and (raw.other and "both" or "number") or raw.other and "other" or "none",
  }
end

local raw = c_api.lib.ms_method_at(0)
while raw ~= nil do
  M.list[#M.list + 1] = entry_of(raw)
  raw = c_api.lib.ms_method_at(#M.list)
end

--- The same by name: M.of.fill.
M.of = {}
for k = 1, #M.list do M.of[M.list[k].name] = M.list[k] end

return M
