-- SPDX-License-Identifier: MIT
--- Functions that replicas of meissa.replicas give to what they call (operations of allReduce,
-- rules of merging, lags): what they are where all meet.
--
-- They are copies there, as they are where they are sent: what they change is lost, and in the
-- place of r they have a stub. One function is everyone's: an operation is the first replica's,
-- and those of an exchange must be the same. One thread.
-- @module meissa.driver.called_functions

local isolate = require "meissa.sync.isolate"
local replica_stubs = require "meissa.worker.replica_stub"
local same_values = require "meissa.kernel.same_value"
local tables = require "meissa.base.tables"

local M = {}

-- What functions have in the place of a replica's r.
local function stands_of(replica)
  return replica_stubs.stands(replica.face or replica_stubs) -- it has been sent by its name
end

local function copy(replica, fn)
  return (isolate.copy(fn, {}, 0, function() return nil end, replica.held, stands_of(replica)))
end

--- Has the replicas' requests copies of their operations, and the first one's of what functions its
-- options have.
-- @tab replicas all that meet
function M.copy(replicas)
  for _, replica in ipairs(replicas) do
    local request = replica.request
    request.op = request.op and copy(replica, request.op)
  end
  local first = replicas[1].request
  if not first.options then return end
  first.options = tables.copy(first.options)
  for name, option in tables.each(first.options) do
    if type(option) == "function" then first.options[name] = copy(replicas[1], option) end
  end
end

--- Whether a replica's function is the one that the first one's is a copy of; if not, the name of
-- the variable or global in which they differ, nil where their codes do.
function M.same(replica, own, first)
  return same_values.functions(own, first, stands_of(replica))
end

return M
