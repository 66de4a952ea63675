-- SPDX-License-Identifier: MIT
--- What stands for a replica's r in a process that does not carry it: in an operation or a rule of
-- merging, and in what a replica has returned.
-- @module meissa.worker.replica_stub

local errors = require "meissa.base.errors"

local M = {}

--- What stands there for r where something is sent to: this module.
M.NAME = "meissa.worker.replica_stub"

local state = {}

--- Says which call of r is being answered; nil: none.
function M.meet(kind) state.meeting = kind end

--- Raises BDY for a call of r where there are no replicas that could wait.
function M.refuse(kind, meeting)
  if meeting then
    errors.raise("BDY", "r.%s was called in a function that r.%s called, while all replicas " ..
                 "wait: exchange before or after it", kind, meeting)
  end
  errors.raise("BDY", "r.%s was called after meissa.replicas had ended: r is for the function " ..
               "of a replica, and what is needed later is what that returns", kind)
end

for _, kind in ipairs {"allReduce", "scatter", "barrier", "shard", "walkTable", "netStats",
                       "exchange"} do
  M[kind] = function() M.refuse(kind, state.meeting) end
end

return M
