-- SPDX-License-Identifier: MIT
--- Meetings: what is done when all replicas of meissa.replicas have come to the same exchange.
--
-- Each takes the run of the replicas ({count, slots, reduces, bytes, lags_of, owned = true where
-- what they give is nobody else's, ...}) and their requests, in their order, and checks that
-- these go together. What all get it gives; exchanges work in place. One thread; nothing waits.
-- @module meissa.sync.meeting

local array = require "meissa.array"
local errors = require "meissa.base.errors"
local exchanged_arrays = require "meissa.sync.exchanged_array"
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
  if kind == "barrier" then return end
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

--- Gives all replicas what the first one has.
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

--- Nothing but that all have come to it.
function M.barrier() end

-- Whether options say the same. Each replica has copies of its own of functions and arrays: these
-- are `alike`, where they are, {functions = whether, arrays = whether}.
local function same_options(a, b, alike)
  if a == b or a ~= a and b ~= b then return true end
  if type(a) ~= type(b) or array.is_any(a) ~= array.is_any(b) then return false end
  if array.is_any(a) then return alike.arrays end
  if type(a) == "function" then return alike.functions end
  if type(a) ~= "table" then return false end
  for name, value in tables.each(a) do
    if not same_options(value, b[name], alike) then return false end
  end
  for name in tables.each(b) do
    if a[name] == nil then return false end
  end
  return true
end

local ALL, RULES = {functions = true, arrays = true}, {functions = true}

-- What exchanges the arrays with this number.
local function slot_of(run, request, size)
  local slot, options = run.slots[request.slot], request.options
  if not slot then
    slot = {exchanged = exchanged_arrays.new(options, size, run.count, run.lags_of)}
    run.slots[request.slot] = slot
  elseif not same_options(slot.options, options, RULES) then
    slot.exchanged:change(options)
  elseif type(options.merge) == "function" then
    slot.exchanged:call(options.merge)
  end
  slot.options = options
  return slot.exchanged
end

--- Exchanges one array of each replica.
-- Errors: OPT BDY.
function M.exchange(run, requests)
  local first, list = requests[1], {}
  local size = array.describe(first.array).count
  for k, request in ipairs(requests) do
    if request.slot ~= first.slot or array.describe(request.array).count ~= size then
      errors.raise("OPT", "r:exchange: replica %d exchanges another array than replica 1", k)
    end
    if not same_options(request.options, first.options, ALL) then
      errors.raise("OPT", "r:exchange: replica %d has other options than replica 1", k)
    end
    list[k] = request.array
  end
  run.bytes = run.bytes + slot_of(run, first, size):round(list)
end

return M
