-- SPDX-License-Identifier: MIT
--- Cuts: what a loop over replicas tells `on_round` between two rounds, and what that may change.
--
-- At a cut no block runs, and all exchanges of earlier rounds are done: what is shown is exact. The
-- answer of cut t governs from round t + 1 + staleness on; it is logged with its reason under
-- MEISSA_TRACE=plan.
-- @module meissa.driver.round_cut

local array = require "meissa.array"
local c_api = require "meissa.array.c_api"
local errors = require "meissa.base.errors"
local ffi = require "ffi"
local guarantees = require "meissa.sync.guarantee"
local kernel = require "meissa.kernel"
local nesting = require "meissa.base.nesting"
local pool = require "meissa.driver.pool"
local replica_groups = require "meissa.sync.replica_group"
local settings_of = require "meissa.sync.settings"
local trace = require "meissa.base.trace"
local tables = require "meissa.base.tables"

local M = {}

local lib = c_api.lib
local doubles = ffi.typeof "double[?]"

local ANSWERS = {"stop", "every", "staleness", "filter", "merge", "set", "reason"}

--- The captured values, with reductions at what they begin with.
function M.identities(run)
  local values = {unpack(run.values, 1, #run.bindings)}
  for _, scalar in ipairs(run.plan.scalar_list) do
    if scalar.role == "reduction" and not scalar.unset and kernel.depends_on_blocks(scalar) then
      values[scalar.capture] = kernel.identity(scalar, values[scalar.capture])
    end
  end
  return values
end

local function sums_of(loop)
  local sums = {}
  for _, scalar in ipairs(loop.run.plan.scalar_list) do
    if scalar.role == "reduction" then sums[scalar.name] = loop.sums[scalar.capture] end
  end
  return sums
end

-- The arrays of a group, each with its part of a vector.
local function arrays_of(group, vector)
  local list, at = {}, 0
  for m, member in ipairs(group.members) do
    local about = array.describe(member.target)
    list[m] = array.zeros(about.dims, {type = about.type})
    replica_groups.assign(list[m], vector + at)
    at = at + about.count
  end
  return unpack(list)
end

--- The largest 2-norm distance of a replica of a group from the mean, over the mean's norm.
function M.disagreement(state)
  local vectors, count = state.before, state.exchange.count
  local list = ffi.new("const double *[?]", #vectors, vectors)
  local mean, zero, rest = doubles(count), doubles(count), doubles(count)
  lib.ms_replica_mean(mean, list, #vectors, count)
  local norm, most = lib.ms_replica_change(rest, mean, zero, count), 0
  for _, vector in ipairs(vectors) do
    most = math.max(most, lib.ms_replica_change(rest, vector, mean, count))
  end
  if state.exchange:is_alike(vectors) then return 0 end
  return norm > 0 and most / norm or most
end

--- The state of the group that leads a loop's exchanges.
function M.state(loop)
  for _, state in ipairs(loop.states) do
    if state.group == loop.lead then return state end
  end
end

--- Has a loop begin as stale as its controllers were at the end of the last one.
function M.go_on(loop)
  local staleness = loop.controller and loop.controller.staleness or 0
  if staleness == 0 then return end
  local state = M.state(loop)
  local settings = settings_of.changed(state.exchange.settings, {staleness = staleness})
  state.exchange:change(settings, state.before)
end

local function shown(loop, state, t)
  return {
    round = t, rounds = loop.shared_at + loop.shares.rounds, sums = sums_of(loop),
    bytes = loop.bytes, waited = loop.waited, disagreement = M.disagreement(state),
    value = function()
      local vector = doubles(state.exchange.count)
      state.exchange:value(state.before, vector)
      return arrays_of(state.group, vector)
    end,
    replica = function(k)
      local vector = state.before[k]
      if not vector then
        errors.raise("OPT", "s.replica(k): k is from 1 to %d, not %s", #state.before, tostring(k))
      end
      return arrays_of(state.group, vector)
    end,
  }
end

-- By capture of the body, whether a plan may depend on its value.
local function find_parameters(run)
  local is_array = {}
  for c, binding in ipairs(run.bindings) do is_array[c] = binding.kind == "array" end
  return run.record.loop:parameters(is_array)
end

-- The capture that is the body's number of this name.
-- Errors: OPT, with the reason why it cannot be set.
local function find_number(run, name)
  run.is_parameter = run.is_parameter or find_parameters(run)
  local why = "the body itself takes no number of this name from outside (give it to " ..
    "functions that it calls as an argument)"
  for c, capture in ipairs(run.record.captures) do
    local fits = capture.root == name and run.bindings[c].kind == "number"
    if fits and #capture.fields == 0 then
      if not run.is_parameter[c] then return c end
      why = "the loop's plan may depend on it, because it is in a subscript, a condition or an " ..
        "argument of a method: keep it in an array, rate = meissa.full({1}, 0.1), read rate[1] " ..
        "in the body, and let on_round write rate[1]"
    end
  end
  errors.raise("OPT", "on_round cannot set '%s': %s", tostring(name), why)
end

-- Gives captured numbers of the body other values, from the next round on.
local function set_numbers(run, set)
  if type(set) ~= "table" then
    errors.raise("OPT", "what on_round answers as 'set' is a table of numbers by name, not %s",
                 tostring(set))
  end
  for name, value in tables.each(set) do
    if type(value) ~= "number" then
      errors.raise("OPT", "on_round sets '%s' to %s: it sets numbers", tostring(name),
                   tostring(value))
    end
    run.values[find_number(run, name)] = value
  end
end

-- Raises OPT for what is no answer.
local function check(answer)
  if type(answer) ~= "table" then
    errors.raise("OPT", "on_round answers nothing or a table such as {stop = true}, not %s",
                 tostring(answer))
  end
  errors.check_options("the answer of on_round", answer, ANSWERS)
  for _, name in ipairs {"every", "staleness"} do
    if answer[name] == "auto" then
      errors.raise("OPT", "what on_round answers as '%s' is a number, not \"auto\": that is an " ..
                   "option of meissa.replicate, for all of a loop", name)
    end
  end
  if answer.every ~= nil then
    replica_groups.check_every(answer.every, "what on_round answers as 'every'")
  end
end

--- By how many rounds later than the next one an answer governs: nobody runs ahead of it.
function M.delay(loop)
  local staleness = M.state(loop).exchange.settings.staleness
  return staleness < math.huge and staleness or 0
end

--- Puts an answer into force, after round t.
-- Errors: OPT.
function M.obey(loop, t, answer)
  local state = M.state(loop)
  if answer.set then set_numbers(loop.run, answer.set) end
  if answer.filter ~= nil or answer.merge ~= nil or answer.staleness ~= nil then
    local settings = settings_of.changed(state.exchange.settings, answer)
    guarantees.notice("the answer of on_round", settings)
    state.exchange:change(settings, state.before)
  end
  local list = loop.decisions
  list[#list + 1] = {round = t + 1, stop = answer.stop, every = answer.every,
                     staleness = answer.staleness, filter = answer.filter, merge = answer.merge,
                     set = answer.set, reason = answer.reason}
  if trace.on.plan then
    trace.say("plan", "cut round=%d%s%s%s%s", t, answer.stop and " stop" or "",
              answer.every and " every=" .. answer.every or "",
              answer.staleness and " staleness=" .. answer.staleness or "",
              answer.reason and " reason=" .. tostring(answer.reason) or "")
  end
end

-- The arrays to which a loop gives what their replicas come to.
local function targets_of(loop)
  local list = {}
  for _, state in ipairs(loop.states) do
    for _, member in ipairs(state.group.final == "mean" and state.group.members or {}) do
      list[#list + 1] = member.target
    end
  end
  return list
end

--- Asks on_round, if it is to be asked after round t. It cannot write what the loop will.
-- @return the answer, a table, or nil
-- Errors: OPT, and what on_round raises.
function M.ask(loop, t, last)
  local lead = loop.lead
  if not lead.on_round or (t % lead.cut ~= 0 and not last) then return nil end
  local state, release = M.state(loop), array.hold_all(targets_of(loop), "merged")
  local ok, answer = nesting.pcall(pool.during_loop, nesting.complete, "'on_round'", lead.on_round,
                                   shown(loop, state, t))
  release()
  if not ok then error(answer, 0) end
  loop.sums, loop.bytes, loop.waited = nil, 0, 0
  if answer == nil or answer == false then return nil end
  check(answer)
  return answer
end

return M
