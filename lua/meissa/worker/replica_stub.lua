-- SPDX-License-Identifier: MIT
--- What stands for a replica's r in a process that does not carry it: in an operation or a rule of
-- merging, and in what a replica has returned.
-- @module meissa.worker.replica_stub

local errors = require "meissa.base.errors"

local M = {}

-- What stands there for r: this module, by its name.
local NAME = "meissa.worker.replica_stub"

local state = {}

--- Says which call of r is being answered, for how many replicas; nil: none.
function M.meet(kind, count) state.meeting, state.count = kind, count end

--- Raises BDY for a call of r where there are no replicas that could wait.
function M.refuse(kind, meeting)
  if meeting then
    errors.raise("BDY", "r.%s was called in a function that r.%s called, while all replicas " ..
                 "wait: exchange before or after it", kind, meeting)
  end
  errors.raise("BDY", "r.%s was called after meissa.replicas had ended: r is for the function " ..
               "of a replica, and what is needed later is what that returns", kind)
end

local CALLS = {"allReduce", "scatter", "barrier", "shard", "walkTable", "netStats", "exchange"}

for _, kind in ipairs(CALLS) do
  M[kind] = function() M.refuse(kind, state.meeting) end
end

--- What stands for a replica's r and its functions, by these,
function M.stands(face)
  local stands = {[face] = M}
  for _, kind in ipairs(CALLS) do stands[face[kind]] = M[kind] end
  return stands
end

--- and how messages name it (meissa.kernel.message), added to a table.
function M.name(face, named)
  named[face] = {NAME}
  for _, kind in ipairs(CALLS) do named[face[kind]] = {NAME, kind} end
  return named
end

-- Functions that r calls know how many replicas there are, and are not one replica's.
local function field(_, name)
  if name == "count" or name == "numNodes" then return state.count end
  if state.meeting and (name == "index" or name == "nodeIndex") then
    errors.raise("BDY", "r.%s was read in a function that r.%s called, which is one function " ..
                 "for all replicas: it has no number", name, state.meeting)
  end
  return nil
end

setmetatable(M, {__index = field})

return M
