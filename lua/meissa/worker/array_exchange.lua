-- SPDX-License-Identifier: MIT
--- r:exchange between workers: each merges what its replicas hear from the rows of all, which lie
-- on a mailbox (meissa.worker.collective). Options that say more than text does, such as functions
-- that merge, and lags, which need earlier rounds, are the driver's.
-- @module meissa.worker.array_exchange

local exchanged_arrays = require "meissa.sync.exchanged_array"
local ffi = require "ffi"

local M = {}

local doubles = ffi.typeof "double *"

--- What a replica waits for, as text; nil where that is the driver's.
function M.form(request)
  return request.form and string.format("exchange %d %s", request.slot, request.form) or nil
end

--- Gives the requests of this worker's replicas their next rows.
-- @tab replicas with `index`, `request` and what is `exchanging`
-- @func row_of row_of(k) is where replica k's row lies
-- @number count how many replicas there are
-- @func check whether what lies there is theirs, now that it was read
-- @treturn boolean whether it was; else they get none
function M.merge(replicas, row_of, count, check)
  local rows, merged = {}, {}
  for k = 1, count do rows[k] = ffi.cast(doubles, row_of(k)) end
  local first = replicas[1].exchanging.posts -- what all hear alike this one merges for all
  first:forget()
  for n, replica in ipairs(replicas) do
    local round, spare = replica.request.round, replica.exchanging.spare
    local posts = first.common and first or replica.exchanging.posts
    merged[n] = exchanged_arrays.merge(posts, replica.index, replica.request.t, {
      own = rows[replica.index], of = function(j) return rows[j] end,
      seen = function() return round end, last = round, oldest = 0,
    }, spare)
  end
  if not check() then return false end
  for n, replica in ipairs(replicas) do replica.request.merged = merged[n] end
  return true
end

return M
