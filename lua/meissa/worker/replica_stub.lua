-- SPDX-License-Identifier: MIT
--- What stands for a replica's r in a process that does not carry it: in an operation or a rule of
-- merging, and in what a replica has returned.
-- @module meissa.worker.replica_stub

local errors = require "meissa.base.errors"

local M = {}

-- The module that stands for r in other processes: this one.
local NAME = "meissa.worker.replica_stub"

local state = {}

--- Tells which call of r is being answered (nil: none), and how many replicas there are.
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

--- By a replica's r and each of its functions: what stands for them in other processes.
function M.stands(face)
  local stands = {[face] = M}
  for _, kind in ipairs(CALLS) do stands[face[kind]] = M[kind] end
  return stands
end

--- Adds to `named` the names by which messages carry r and its functions (meissa.kernel.message).
function M.name(face, named)
  named[face] = {NAME}
  for _, kind in ipairs(CALLS) do named[face[kind]] = {NAME, kind} end
  return named
end

-- r.count is known where a function of all replicas is called; r.index, which belongs to one
-- replica, is not.
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
