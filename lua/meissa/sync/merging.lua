-- SPDX-License-Identifier: MIT
--- Merging: what becomes of a replica's values with those that it hears (csrc/sync has the sums).
--
-- What is heard is a list of vectors of doubles, by sender, the replica's own among them. Pure: the
-- same vectors give the same bits.
-- @module meissa.sync.merging

local c_api = require "meissa.array.c_api"
local errors = require "meissa.base.errors"
local ffi = require "ffi"
local nesting = require "meissa.base.nesting"
local thrown = require "meissa.base.thrown"
local topologies = require "meissa.sync.topology"

local M = {}

local lib = c_api.lib
local vectors_type = ffi.typeof "const double *[?]"
local doubles = ffi.typeof "double[?]"

--- Vectors as the core takes them, and how many.
function M.pointers(list)
  return vectors_type(#list, list), #list
end

local pointers = M.pointers

-- A list without the entry of one replica, the receiver.
local function others(list, own)
  local rest = {}
  for k, each in ipairs(list) do
    if k ~= own then rest[#rest + 1] = each end
  end
  return rest
end

local merges = {}

function merges.mean(settings, heard, _, count, out)
  local list, own, weights = heard.list, heard.own, heard.weights
  local topology = settings.topology
  if topologies.is_uniform(topology) or topologies.reduces(topology) then
    local all, number = pointers(list)
    lib.ms_replica_mean(out, all, number, count)
    return
  end
  local mixed, rest = {}, 1
  for k in ipairs(list) do
    mixed[k] = weights[k] or 0
    rest = rest - mixed[k]
  end
  local core = topologies.core(topology)
  mixed[own] = core.period == 1 and heard.complete and core.own[heard.to - 1] or rest
  local all, number = pointers(list)
  lib.ms_replica_mix(out, all, doubles(number, mixed), number, count)
end

function merges.add(settings, heard, before, count, out)
  local all, number = pointers(heard.list)
  lib.ms_replica_add(out, before, settings.merge.factor, all, number, count)
end

function merges.weighted(settings, heard, _, count, out)
  local merge, list, own = settings.merge, heard.list, heard.own
  local received = others(list, own)
  ffi.copy(out, list[own], 8 * count)
  if #received == 0 then return end
  local all, number = pointers(received)
  local distance = heard.distance and others(heard.distance, own)
  lib.ms_replica_weighted(out, merge.form, merge.lambda, all,
                          distance and doubles(number, distance) or doubles(number, 0), number,
                          count)
end

function merges.take(_, heard, _, count, out)
  ffi.copy(out, others(heard.list, heard.own)[1] or heard.list[heard.own], 8 * count)
end

local function call_rule(rule, heard, count, out)
  local list, own, weights = heard.list, heard.own, heard.weights
  ffi.copy(out, list[own], 8 * count)
  for k, each in ipairs(list) do
    for i = 0, k ~= own and count - 1 or -1 do
      local value = rule(out[i], each[i], weights[k])
      if type(value) ~= "number" then
        error(errors.new {code = "BDY", message = string.format(
          "the function of option 'merge' gave %s, not a number", tostring(value))}, 0)
      end
      out[i] = value
    end
  end
end

-- Errors of a user's merge function say where it stands, whoever has called it.
merges["function"] = function(settings, heard, _, count, out)
  local ok, err = pcall(nesting.complete, "the function of option 'merge'", call_rule,
                        settings.merge.rule, heard, count, out)
  if not ok then thrown.raise(err, "the function of option 'merge' failed") end
end

--- Merges what a replica has heard.
-- @tab settings see meissa.sync.settings
-- @tab heard {to = the replica, list = vectors by sender, own = the place of its own, weights = of
-- the others, complete = whether nobody is left out, distance = of each (that of its own, any) the
-- sender's round less the receiver's; nil: 0}. Of delta payloads vectors are changes.
-- @param before of delta payloads, what the changes are added to @number count elements
-- @param out the vector that is made
-- Errors: BDY.
function M.merge(settings, heard, before, count, out)
  merges[settings.merge.kind](settings, heard, before, count, out)
end

return M
