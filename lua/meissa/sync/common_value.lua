-- SPDX-License-Identifier: MIT
--- Common values: what the replicas of a loop come to together, by the settings that are in force.
--
-- Exchanges themselves are those of meissa.sync.post. What they have changed, and what replicas
-- have of a sum, is added up here from job to job. Vectors are doubles. The driver has one for each
-- group.
-- @module meissa.sync.common_value

local c_api = require "meissa.array.c_api"
local ffi = require "ffi"
local merging = require "meissa.sync.merging"
local settings_of = require "meissa.sync.settings"

local M = {}

local lib = c_api.lib
local pointers = merging.pointers
local doubles = ffi.typeof "double[?]"

local Common = {}
Common.__index = Common

--- That of vectors of `count` elements.
-- @tab settings see meissa.sync.settings @number count
-- @param start what all replicas begin with: a list of vectors (double *)
function M.new(settings, count, start)
  local self = setmetatable({settings = settings, count = count}, Common)
  if settings.merge.payload == "delta" then
    self.total, self.begin = doubles(count), doubles(count)
    ffi.copy(self.begin, start[1], 8 * count)
  end
  if settings.push_sum then
    self.sums = {}
    for k = 1, settings.replicas do
      self.sums[k] = doubles(count)
      ffi.copy(self.sums[k], start[k], 8 * count)
    end
  end
  return self
end

--- Whether replicas have the same bits after each exchange. (What changes are added to is the same
-- but where they have come to it by other settings.)
-- @param values what they hold: a list of vectors
function Common:is_alike(values)
  local settings = self.settings
  if not settings_of.is_exact(settings) or not settings_of.agree(settings) or settings.filters then
    return false
  end
  local all, number = pointers(values)
  return settings.merge.kind == "mean" or lib.ms_replica_alike(all, number, self.count)
end

--- Other settings from the next round on. Where changes are added up from then on, they are added
-- to what all had come to.
-- @tab settings @param values what replicas hold: a list of vectors
function Common:change(settings, values)
  local delta = settings.merge.payload == "delta"
  if delta and self.settings.merge.payload ~= "delta" then
    local begin = doubles(self.count)
    self:value(values, begin)
    self.total, self.begin = doubles(self.count), begin
  end
  self.settings = settings
end

--- Takes from elsewhere what a replica's rounds have changed,
function Common:take_total(total)
  lib.ms_replica_accumulate(self.total, self.settings.merge.factor, total, nil, self.count)
end

--- or where all have come to the same, from what they had together,
function Common:take_common(before, after)
  lib.ms_replica_accumulate(self.total, 1, after, before, self.count)
end

--- and what replica k has of the sum of all.
function Common:take_sum(k, sum) ffi.copy(self.sums[k], sum, 8 * self.count) end

--- What all replicas come to together: their mean, or what all their changes add up to.
-- @param values a list of vectors @param out a vector
function Common:value(values, out)
  local settings, count = self.settings, self.count
  if settings.push_sum then
    local all, number = pointers(self.sums)
    lib.ms_replica_mean(out, all, number, count)
  elseif self:is_alike(values) then
    ffi.copy(out, values[1], 8 * count)
  elseif settings.merge.payload == "delta" then
    ffi.copy(out, self.begin, 8 * count)
    lib.ms_replica_accumulate(out, 1, self.total, nil, count)
  else
    local all, number = pointers(values)
    lib.ms_replica_mean(out, all, number, count)
  end
end

return M
