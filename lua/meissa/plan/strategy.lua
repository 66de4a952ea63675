-- SPDX-License-Identifier: MIT
--- What strategies are like, by their names: the core's table (csrc/depend/strategy_traits.h).
-- @module meissa.plan.strategy

local c_api = require "meissa.array.c_api"
local ffi = require "ffi"

local lib, text = c_api.lib, ffi.string

--- strategy.rotate: {words =, any_axis =, sweeps =, alone =, rotated =, chains =, one_way =,
-- unordered =, as in the header; waits = whether blocks wait for those of other workers}.
local M = {}

local k, traits = 0, lib.ms_strategy_traits_of(0)
while traits ~= nil do
  M[text(traits.name)] = {
    words = text(traits.words), any_axis = traits.any_axis, sweeps = traits.sweeps,
    alone = traits.alone, rotated = traits.rotated, chains = traits.chains,
    one_way = traits.one_way, unordered = traits.unordered, waits = lib.ms_strategy_waits(k),
  }
  k = k + 1
  traits = lib.ms_strategy_traits_of(k)
end

return M
