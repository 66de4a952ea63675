-- SPDX-License-Identifier: MIT
--- Meetings: what is done when all replicas of meissa.replicas have come to the same exchange.
--
-- Each takes the run of the replicas ({count, slots, reduces, bytes, owned = true
-- where what they give is nobody else's, ...}) and their requests, in their order, and checks that
-- these go together. What all get it gives; exchanges work in place. One thread; nothing waits.
-- @module meissa.sync.meeting

local array = require "meissa.array"
local replica_groups = require "meissa.sync.replica_group"
local errors = require "meissa.base.errors"
local exchanges = require "meissa.sync.exchange"
local ffi = require "ffi"
local settings_of = require "meissa.sync.settings"
local tables = require "meissa.base.tables"
local values = require "meissa.sync.values"

local M = {}

local doubles = ffi.typeof "double[?]"

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

-- Whether options say the same. Each replica has copies of its own of functions and arrays: they
-- are `alike` where any two of them are.
local function same_options(a, b, alike)
  if a == b or a ~= a and b ~= b then return true end
  if type(a) ~= type(b) or array.is_any(a) ~= array.is_any(b) then return false end
  if type(a) == "function" or array.is_any(a) then return alike end
  if type(a) ~= "table" then return false end
  for name, value in tables.each(a) do
    if not same_options(value, b[name], alike) then return false end
  end
  for name in tables.each(b) do
    if a[name] == nil then return false end
  end
  return true
end

local function numbers_of(w, vector)
  local now = w:clone()
  local about = array.describe(now)
  local from = ffi.cast(about.type .. " *", array.core(now).data)
  for i = 0, about.count - 1 do vector[i] = from[i] end
end

local function vectors(count, size)
  local list = {}
  for k = 1, count do list[k] = doubles(size) end
  return list
end

-- The exchange of the arrays with this number. Before the first one everything is change.
local function slot_of(run, request, size)
  local slot = run.slots[request.slot]
  local settings = settings_of.read("r:exchange", request.options, run.count)
  if not slot then
    slot = {before = vectors(run.count, size), after = vectors(run.count, size),
            out = vectors(run.count, size), t = 0, options = request.options}
    slot.exchange = exchanges.new(settings, size, slot.before)
    run.slots[request.slot] = slot
  elseif not same_options(slot.options, request.options, false) then
    slot.exchange:change(settings, slot.before)
    slot.options = request.options
  end
  return slot
end

--- Exchanges one array of each replica.
-- Errors: OPT BDY.
function M.exchange(run, requests)
  local first = requests[1]
  local size = array.describe(first.array).count
  for k, request in ipairs(requests) do
    if request.slot ~= first.slot or array.describe(request.array).count ~= size then
      errors.raise("OPT", "r:exchange: replica %d exchanges another array than replica 1", k)
    end
    if not same_options(request.options, first.options, true) then
      errors.raise("OPT", "r:exchange: replica %d has other options than replica 1", k)
    end
  end
  local slot = slot_of(run, first, size)
  for k, request in ipairs(requests) do numbers_of(request.array, slot.after[k]) end
  slot.t = slot.t + 1
  run.bytes = run.bytes + slot.exchange:round(slot.t, slot.before, slot.after, slot.out)
  for k, request in ipairs(requests) do
    replica_groups.assign(request.array, slot.out[k])
    numbers_of(request.array, slot.out[k]) -- floats are rounded
  end
  slot.before, slot.out = slot.out, slot.before
end

return M
