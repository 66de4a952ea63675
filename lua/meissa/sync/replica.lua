-- SPDX-License-Identifier: MIT
--- Replicas as values: what stands for a replica's copy of an array, apart from what replicas do
-- (meissa.sync.replica_group), which few workers ever need.
-- @module meissa.sync.replica

local M = {}

--- The metatable of values that stand for the copies of replicas. Its `copy` is the array that is a
-- copy, of the replicated one's extents and type.
M.Replica = {}

--- Whether a value stands for a replica's copy.
function M.is(value)
  return type(value) == "table" and getmetatable(value) == M.Replica
end

--- The array that stands for the copy; any other value as it is.
function M.copy(value)
  if M.is(value) then return rawget(value, "copy") end
  return value
end

return M
