-- SPDX-License-Identifier: MIT
--- What the driver has of the copies of a group of replicas: their values as vectors.
-- @module meissa.driver.replica_copies

local array = require "meissa.array"
local common_values = require "meissa.sync.common_value"
local replica_groups = require "meissa.sync.replica_group"
local vectors = require "meissa.sync.vector"

local M = {}

-- How many elements a group's arrays have together.
local function size_of(group)
  local count = 0
  for _, each in ipairs(group.members) do count = count + array.describe(each.target).count end
  return count
end

local function new_vectors(group)
  local list = {}
  for k = 1, group.replicas do list[k] = vectors.new(size_of(group)) end
  return list
end

-- The copies of replica k.
local function copies_of(group, k)
  local list = {}
  for m, each in ipairs(group.members) do
    local about = array.describe(each.target)
    list[m] = vectors.copy(replica_groups.row(each, k), about.type, about.count)
  end
  return list
end

-- Fills vectors with what the copies hold.
local function load_copies(group, list)
  for k = 1, group.replicas do vectors.load(copies_of(group, k), list[k]) end
end

--- Makes the copies hold vectors, and these what the copies then hold: floats are rounded.
function M.store(group, list)
  for k = 1, group.replicas do
    local copies = copies_of(group, k)
    vectors.store(copies, list[k])
    vectors.load(copies, list[k])
  end
end

--- A group's copies: {group =, count = elements of a replica, before = vectors, copies(k) = those
-- of replica k}, and if it has exchanges `exchange` of meissa.sync.common_value.
function M.open(group)
  local state = {group = group, count = size_of(group), before = new_vectors(group),
                 copies = function(k) return copies_of(group, k) end}
  load_copies(group, state.before)
  if not group.exchange then return state end
  state.exchange = common_values.new(group.settings, state.count, state.before)
  return state
end

return M
