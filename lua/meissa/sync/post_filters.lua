-- SPDX-License-Identifier: MIT
--- Filters of posts: what replicas leave out of what they tell each other. All that is known of
-- that is in rows (post_rows.lua), an edge for each receiver.
--
-- Where all hear the round before of all (`shared`) an edge is for all receivers. Of values all
-- that was told is merged, of the replica itself, too, so that all know what comes of it; there the
-- edge goes on. What the replica holds and has not told stays its own, and pending. Else the
-- baseline is what was told, and what a merge has changed is a change.
-- @module meissa.sync.post_filters

local c_api = require "meissa.array.c_api"
local errors = require "meissa.base.errors"
local ffi = require "ffi"

local M = {}

local lib = c_api.lib
local doubles = ffi.typeof "double[?]"

local function copy(to, from, count) ffi.copy(to, from, 8 * count) end

local function add(to, from, count) lib.ms_replica_accumulate(to, 1, from, nil, count) end

--- Where replica k's row has what it tells another one.
function M.edge_of(posts, row, k, to)
  return row + (posts.at.edges + (posts.shared and 0 or posts.to[k][to]) * posts.at.edge)
end

-- The receivers of replica k's edges, one of each.
local function receivers_of(posts, k)
  local list = {}
  for j = 1, posts.settings.replicas do
    if posts.to[k][j] and (not posts.shared or #list == 0) then list[#list + 1] = j end
  end
  return list
end

local function new_filter(posts, value)
  local made = c_api.call(lib.ms_filter_new, posts.settings.rule, posts.count, value, posts.ledgers)
  posts.filter = ffi.gc(made, lib.ms_filter_free)
end

-- The filter, with an edge's state; `keep` puts it back.
local function filter_at(posts, edge)
  if not posts.filter then new_filter(posts, posts.before) end
  lib.ms_filter_restore(posts.filter, edge + posts.count + 1)
  return posts.filter
end

local function keep(posts, edge)
  lib.ms_filter_save(posts.filter, edge + posts.count + 1)
end

--- Begins the edges of replica k's row: receivers know `value`, or no changes.
function M.begin(posts, k, value, row)
  for _, to in ipairs(receivers_of(posts, k)) do
    local edge = M.edge_of(posts, row, k, to)
    if posts.settings.merge.payload ~= "delta" then copy(edge, value, posts.count) end
    if posts.settings.rule then
      new_filter(posts, value)
      keep(posts, edge)
    end
  end
end

-- ------------------------------------------------------------------------------------- telling

local function sketch_of(posts)
  if not posts.sketch then
    local filter = posts.settings.filter
    local made = c_api.call(lib.ms_sketch_new, filter.width, filter.depth, filter.seed)
    posts.sketch, posts.estimate = ffi.gc(made, lib.ms_sketch_free), doubles(posts.count)
  end
  return posts.sketch
end

-- Shrinks an estimate to what is nearest to what it estimates, so that what it misses is never more
-- than there was: the errors of a sketch that is too small for what it holds would be sent again,
-- with errors of their own, and grow from round to round. Where nothing is left but rounding errors
-- no factor makes more of them.
local function shrink(estimate, wanted, count)
  local along, norm = 0, 0
  for i = 0, count - 1 do
    along, norm = along + estimate[i] * wanted[i], norm + estimate[i] * estimate[i]
  end
  local factor = norm > 0 and math.max(0, math.min(1, along / norm)) or 0
  for i = 0, count - 1 do estimate[i] = factor * estimate[i] end
end

-- Tells an edge's receiver what a sketch and a factor bring; the bytes.
local function tell_sketch(posts, edge, value, change)
  local count, pending, sketch = posts.count, edge + posts.count + 1, sketch_of(posts)
  if change then
    add(pending, change, count)
  else
    lib.ms_replica_change(pending, value, edge, count)
  end
  lib.ms_sketch_clear(sketch)
  lib.ms_sketch_add(sketch, pending, count)
  lib.ms_sketch_estimate(sketch, posts.estimate, count)
  shrink(posts.estimate, pending, count)
  lib.ms_replica_accumulate(pending, -1, posts.estimate, nil, count)
  local put = change and posts.shared and copy or add
  put(edge, posts.estimate, count)
  return 16 + 8 + lib.ms_sketch_bytes(sketch)
end

-- @number room for how many bytes
local function tell_edge(posts, edge, value, change, room)
  if posts.settings.filter.kind == "sketch" then return tell_sketch(posts, edge, value, change) end
  local filter = filter_at(posts, edge)
  local sent = tonumber(lib.ms_filter_send(filter, value, change, room))
  local put = change and not posts.shared and add or copy
  put(edge, lib.ms_filter_received(filter), posts.count)
  keep(posts, edge)
  return lib.ms_filter_bytes(sent, posts.count)
end

--- Tells receivers what replica k has come to, or its changes; the bytes. A quota is shared out to
-- the messages of the round alike; what one leaves is for those behind it.
function M.tell(posts, row, k, receivers, value, change)
  local bytes, left, quota = 0, #receivers, posts.settings.quota
  for _, to in ipairs(posts.shared and {receivers[1]} or receivers) do
    local edge = M.edge_of(posts, row, k, to)
    bytes = bytes + tell_edge(posts, edge, value, change, (quota - bytes) / left)
    left = left - 1
  end
  return posts.shared and #receivers * bytes or bytes
end

-- ------------------------------------------------------------------------------------- hearing

--- Of a replica's own row, what it merges of itself.
function M.own(posts, row)
  local merges_told = posts.shared and posts.settings.merge.payload == "state"
  return merges_told and row + posts.at.edges or row
end

-- What a merge of replica k does to the state of a filter that has sent something. `known` is what
-- all know of it.
local function settle_edge(posts, rows, edge, known)
  if edge[posts.at.edge - 1] == 0 then return end -- the filter's rounds
  lib.ms_filter_settle(filter_at(posts, edge), rows.own, posts.into, known)
  keep(posts, edge)
end

-- Of values, all that was told is merged: what of it is known, and what the replica goes on with.
local function keep_untold(posts, rows)
  posts.known = posts.known or doubles(posts.count)
  copy(posts.known, posts.into, posts.count)
  lib.ms_replica_keep(posts.into, rows.own, M.own(posts, rows.own), posts.count)
  return posts.known
end

--- What a merge of replica k does to its filters.
-- @tab rows as of Posts:merge @param row the next one
function M.settle(posts, k, rows, row)
  local settings, known = posts.settings, posts.shared and posts.into or nil
  if not known and not (settings.rule and settings.rule.residual == 2) then return end
  local of_values = known and settings.merge.payload == "state"
  if of_values then known = keep_untold(posts, rows) end
  for _, to in ipairs(receivers_of(posts, k)) do
    local edge = M.edge_of(posts, row, k, to)
    if settings.rule then
      settle_edge(posts, rows, edge, known) -- the edge follows with the next message
    elseif of_values then
      copy(edge, known, posts.count)
    end
  end
end

--- Goes on in a row with what filters of an earlier one had, of the same receivers. An edge for all
-- receivers begins anew where each had its own.
function M.carry(posts, earlier, k, from, row)
  if posts.shared and not earlier.shared then return end
  for _, to in ipairs(receivers_of(posts, k)) do
    if earlier.shared or earlier.to[k][to] then
      copy(M.edge_of(posts, row, k, to), M.edge_of(earlier, from, k, to), posts.at.edge)
    end
  end
end

--- Raises BUG where the ledger of an element of replica k's row is not balanced.
function M.check(posts, k, row)
  if not posts.ledgers then return end
  local ledger = ffi.new "ms_ledger"
  for _, to in ipairs(receivers_of(posts, k)) do
    local filter = filter_at(posts, M.edge_of(posts, row, k, to))
    local off = lib.ms_filter_ledger(filter, -1, ledger)
    if off > 1e-20 * (1 + math.abs(ledger.produced)) then
      errors.raise("BUG", "what replica %d has produced for %d is %g from what was sent, is " ..
                   "pending, was dropped or invalidated", k, to, off)
    end
  end
end

return M
