-- SPDX-License-Identifier: MIT
--- Meetings: what is done when all replicas of meissa.replicas have come to the same exchange.
--
-- Each takes the run of the replicas ({count, slots, closed, reduces, bytes, lags_of, owned = true
-- where what they give is nobody else's, rings = by slot, share(doubles) = memory that all
-- processes see, an array, or nil, workers = how many there are, call = its number among the
-- program's, if a history is to have it, recorded(exchange) = what a replay is to hear, or nil,
-- ...}) and their requests, in their order, and checks that these go together. What all get it
-- gives; exchanges work in place. A run says by same(k, own, first) whether a function of replica k
-- is the first one's, and if not in which variable they differ, and by same_arrays whether arrays
-- are. One thread; nothing waits.
-- @module meissa.sync.meeting

local errors = require "meissa.base.errors"
local exchanged_arrays = require "meissa.sync.exchanged_array"
local post_rings = require "meissa.sync.post_ring"
local tables = require "meissa.base.tables"
local values = require "meissa.sync.values"

local M = {}

-- Raises OPT unless the replicas give values of one form.
local function check_alike(kind, requests, all)
  for k, request in ipairs(requests) do
    if request.alone ~= requests[1].alone then
      errors.raise("OPT", "%s: replica %d gives %s, replica 1 %s", kind, k,
                   request.alone and "a value" or "a table",
                   request.alone and "a table" or "a value")
    end
  end
  values.check_alike(kind, all)
end

--- Counts an exchange of `kind`, "allReduce" "scatter" or "barrier", of such values in a run.
function M.count(run, kind, given)
  if kind == "barrier" or kind == "exchange" then return end
  local reduces = kind == "allReduce"
  if reduces then run.reduces = run.reduces + 1 end
  run.bytes = run.bytes + (reduces and 2 or 1) * (run.count - 1) * values.bytes(given)
end

--- Reduces what replicas ask for to their sum, or by the operation that the first one gives.
-- @treturn number how many have finished their steps
-- @treturn table what all get, for values.assign
-- Errors: OPT, and what the operation raises.
function M.allReduce(run, requests)
  local all, done, op = {}, 0, nil
  for k, request in ipairs(requests) do
    all[k], op = request.values, op or request.op
    done = done + (request.done and 1 or 0)
  end
  check_alike("allReduce", requests, all)
  M.count(run, "allReduce", all[1])
  return done, values.reduce(all, op, run.owned)
end

--- Gives all replicas the values of the first one.
-- @treturn nil
-- @treturn table what all get, for values.assign
-- Errors: OPT.
function M.scatter(run, requests)
  local all = {}
  for k, request in ipairs(requests) do all[k] = request.values end
  check_alike("scatter", requests, all)
  M.count(run, "scatter", all[1])
  return nil, values.leaves(all[1])
end

--- A barrier exchanges nothing: all replicas have come to it.
function M.barrier() end

-- The slot of a request, begun if it is new: what merges the arrays that replicas exchange under
-- that number, {exchange = of meissa.sync.post, lags, versions = rows of all by round}.
local function slot_of(run, request)
  local slot, options, began = run.slots[request.slot], request.options, request.t - request.round
  if not slot or slot.began ~= began then -- workers may have met by other options meanwhile
    slot = {versions = {}, began = began}
    slot.exchange, slot.lags = exchanged_arrays.open(options, request.count, run.count,
                                                     request.alike)
    run.slots[request.slot] = slot
  elseif type(options.merge) == "function" then
    slot.exchange:call(options.merge)
  end
  return slot
end

-- Raises OPT unless a replica's functions are the first one's.
local function check_functions(run, k, own, first)
  for name, option in tables.each(first) do
    if type(option) == "function" then
      local same, variable = run.same(k, own[name], option)
      if not same then
        local words = variable and string.format(" ('%s' differs)", variable) or ""
        errors.raise("OPT", "r:exchange: option '%s' of replica %d is another function than " ..
                     "that of replica 1%s: one is called for all, so let all replicas give the " ..
                     "same code, with equal values in its variables", name, k, words)
      end
    end
  end
end

local function check_exchange(run, requests)
  local first, alike = requests[1], {functions = true, arrays = run.same_arrays}
  for k, request in ipairs(requests) do
    if request.slot ~= first.slot or request.count ~= first.count then
      errors.raise("OPT", "r:exchange: replica %d exchanges another array than replica 1", k)
    end
    if request.types ~= first.types then
      errors.raise("OPT", "r:exchange: replica %d exchanges %s, replica 1 %s: arrays of one " ..
                   "type are merged", k, request.types, first.types)
    end
    if not exchanged_arrays.same_options(request.options, first.options, alike) then
      errors.raise("OPT", "r:exchange: replica %d has other options than replica 1", k)
    end
    check_functions(run, k, request.options, first.options)
  end
end

-- Pointers to the rows of all, and the arrays that hold them: copies if they are to be `kept`.
local function rows_of(requests, name, kept)
  local rows, arrays = {}, {}
  for k, request in ipairs(requests) do
    local row = name == "began" and request.began or request.values[1]
    arrays[k] = kept and row:clone() or row
    rows[k] = exchanged_arrays.pointer(arrays[k])
  end
  return rows, arrays
end

-- A function of k that gives a function of j: the round whose row of replica j replica k hears. As
-- in loops, lags are those of the round that begins behind the exchange.
local function versions_of(run, slot, first)
  local round, lags = first.round, slot.lags and run.lags_of(slot.lags, first.t + 1)
  return function(k)
    return function(j) return math.max(0, round - (lags and j ~= k and lags[j - 1] or 0)) end
  end
end

-- The ring of a slot is used no more.
local function leave_ring(run, number, failed)
  if run.rings[number] then run.rings[number]:over(failed) end
  run.rings[number] = nil
end

-- Begins a ring of posts where replicas need not meet from here on. It starts with the rows that
-- they have come with.
local function open_ring(run, slot, first, rows)
  leave_ring(run, first.slot)
  if not exchanged_arrays.go_alone(slot.exchange, slot.lags) then return end
  local ring = post_rings.new(slot.exchange, run.workers, slot.began)
  local memory = run.share(ring:room())
  local exchange = run.call and string.format("%d.%d.%d", run.call, first.slot, slot.began)
  if memory then ring:place(exchanged_arrays.pointer(memory), memory) end
  local follows = run.recorded and exchanged_arrays.is_stale(slot.exchange, slot.lags)
  ring:begin(rows, first.round, exchange, follows and run.recorded(exchange))
  run.rings[first.slot] = ring
end

-- Posts, for the history, the rows of replicas that have met although they need not: their ring has
-- no shared memory.
local function tell_met(run, slot, first)
  local ring = run.rings[first.slot]
  if not ring or ring:is_placed() or ring.began ~= slot.began then return end
  local opens = first.round == exchanged_arrays.OPENS
  for k = 1, opens and 0 or run.count do ring:post(k, first.round) end
  for k = 1, run.count do ring:tell(k, first.round) end
end

--- The exchanges of a run end; `failed`: since something has failed.
function M.leave(run, failed)
  for number in tables.each(run.rings) do leave_ring(run, number, failed) end
end

--- So many replicas have left a slot; once all have, it is freed.
function M.close(run, number, replicas)
  run.closed[number] = (run.closed[number] or 0) + replicas
  if run.closed[number] < run.count then return end
  local ring = run.rings[number]
  leave_ring(run, number)
  if ring then ring:free() end
  run.slots[number], run.closed[number] = nil, nil
end

--- Exchanges one array of each replica: each request gets its next row, `merged`.
-- Errors: OPT BDY.
function M.exchange(run, requests)
  check_exchange(run, requests)
  local first = requests[1]
  local slot, round = slot_of(run, first), first.round
  local versions, lagged = slot.versions, slot.lags ~= nil
  if lagged and round == 1 then
    local rows, arrays = rows_of(requests, "began", true)
    versions[0] = {rows = rows, keep = arrays}
  end
  local rows, arrays = rows_of(requests, "values", lagged)
  versions[round] = {rows = rows, keep = arrays}
  local seen_by = versions_of(run, slot, first)
  slot.exchange:forget()
  for k, request in ipairs(requests) do
    local seen = seen_by(k)
    request.merged = exchanged_arrays.merge(slot.exchange, k, first.t, {
      own = rows[k], last = round, oldest = 0, seen = seen,
      of = function(j) return versions[seen(j)].rows[j] end,
    })
  end
  if round == exchanged_arrays.OPENS then open_ring(run, slot, first, rows) end
  tell_met(run, slot, first)
  versions[round - (lagged and slot.lags.most or 0)] = nil
end

return M
