-- SPDX-License-Identifier: MIT
--- Shares: how a loop over replicas is shared out to them and cut into rounds.
--
-- csrc/plan/shares.h says what they are. Each round is a grid of its own, block k - 1 of which is
-- what replica k does in it. A function of the plan, the space and the replicas' options alone.
-- @module meissa.plan.share

local array = require "meissa.array"
local c_api = require "meissa.array.c_api"
local errors = require "meissa.base.errors"
local ffi = require "ffi"
local grids = require "meissa.plan.grid"
local guarantees = require "meissa.sync.guarantee"
local replica_groups = require "meissa.sync.replica_group"
local settings_of = require "meissa.sync.settings"
local tables = require "meissa.base.tables"

local M = {}

local lib = c_api.lib

--- The groups of replicas that a loop uses, in the order of its captures: a list of {group =,
-- exchanges = whether}.
-- Errors: OPT where they do not go together.
function M.groups(run)
  local list, seen, lead = {}, {}, nil
  for _, c in ipairs(run.plan.replicas) do
    local group = replica_groups.of(run.values[c]).group
    if not seen[group] then list[#list + 1] = group end
    seen[group] = true
  end
  for _, group in ipairs(list) do
    if group.replicas ~= list[1].replicas then
      errors.raise("OPT", "a loop has one number of replicas, not %d and %d", list[1].replicas,
                   group.replicas)
    end
    local second = group.exchange and lead
    if second and (lead.every ~= group.every or lead.shuffle ~= group.shuffle) then
      errors.raise("OPT", "a loop's replicas are exchanged at one time, in one order of " ..
                   "iterations: options 'every' and 'shuffle' differ")
    end
    if second and not settings_of.wait_alike(lead.settings, group.settings) then
      errors.raise("OPT", "a loop's replicas wait for each other in one way: options " ..
                   "'staleness', 'sync', 'depth' and 'lags' differ")
    end
    if second and lead.on_round and group.on_round then
      errors.raise("OPT", "one of a loop's groups of replicas has an 'on_round'")
    end
    lead = lead or group.exchange and group or nil
  end
  replica_groups.check_apart(list)
  return list, lead
end

local NOT_WITH = {serial = "runs as written", collapse = "takes inner loops in",
                  grid = "has a grid of its own"}

-- Raises OPT for options that a loop over replicas cannot have.
local function check_space(space)
  for name, does in tables.each(NOT_WITH) do
    local value = space.options[name]
    if value and value ~= 1 then
      errors.raise("OPT", "a loop over replicas is cut by their shares: leave out option '%s', " ..
                   "by which a loop %s", name, does)
    end
  end
  if space.options.ordered then
    errors.raise("OPT", "a loop over replicas has no order among them: leave out 'ordered = true'")
  end
  if space.array and not space.sparse then
    errors.raise("OPT", "a loop over replicas runs over ranges or the entries of a sparse " ..
                 "array: for i in parallel(A:size(1)) do ... A[i] ...")
  end
end

-- Stands for the array that the entries of a space of ranges are of.
local stubs = {}

local function stub_of(dims)
  if not stubs[dims] then
    local ones, keys = {}, {}
    for d = 1, dims do ones[d], keys[string.sub("ijklmnop", d, d)] = 1, {} end
    stubs[dims] = array.sparse(ones, keys, {type = "int32"})
  end
  return stubs[dims]
end

--- Raises OPT where models of replicas are asked for in functions that the body calls, or by tables
-- that it uses as a whole: there nobody would know whose they are.
function M.check_models(bindings)
  local within = bindings.model_within
  if not within then return end
  errors.raise("OPT", "%s leads to models of replicas, which the body itself has to ask for: " ..
               "local m = r() in the body, and m as an argument of what needs it", within)
end

--- Whether a loop uses replicas.
function M.has(bindings)
  for _, binding in ipairs(bindings) do
    if binding.replica or binding.owned then return true end
  end
  return false
end

-- Whether replicas go through their shares in the loop's order.
local function are_in_order(bindings, values)
  for c, binding in ipairs(bindings) do
    local replica = (binding.replica or binding.owned) and replica_groups.of(values[c])
    if replica and replica.group.shuffle then return false end
  end
  return true
end

-- Raises OPT for buffers that cannot stand beside the replicas of a loop.
local function check_buffers(bindings)
  local replicated = {}
  for _, binding in ipairs(bindings) do
    if binding.replica then replicated[binding.buffers] = true end
  end
  for _, binding in ipairs(bindings) do
    if binding.buffers and not binding.replica and binding.delay then
      errors.raise("OPT", "a buffer beside replicas is merged once, at the loop's end: leave " ..
                   "out its 'max_delay'")
    elseif binding.buffers and not binding.replica and replicated[binding.buffers] then
      errors.raise("OPT", "an array has replicas or a buffer in a loop, not both")
    end
  end
end

--- Makes a space one of entries, which are what its iterations are: they come in any order.
-- Errors: OPT.
-- @tab bindings the loop's captures @tab values theirs
function M.open(space, bindings, values)
  if space.row_major ~= nil then return end -- it is open
  if space.rounds then
    errors.raise("OPT", "a loop over rounds (meissa.iterate) takes no replicas: they have " ..
                 "rounds of their own")
  end
  check_space(space)
  check_buffers(bindings)
  space.row_major = space.ordered and space.sparse or false
  space.ordered, space.replicas = false, true
  if space.sparse then return end
  space.shared, space.sparse = true, true
  space.in_order = are_in_order(bindings, values)
  space.array, space.source = stub_of(#space.ranges), 0
end

-- Shares a loop out anew.
local function make(run, lead, every, done)
  local space, terms = run.space, ffi.new "ms_shares_terms"
  terms.array = not space.shared and ffi.cast("ms_array *", array.core(space.array)) or nil
  terms.dim_count, terms.verdict = #space.ranges, run.plan.address
  terms.replicas, terms.every, terms.done = lead.replicas, every or math.huge, done
  terms.shuffled, terms.seed = lead.shuffle and 1 or 0, lead.shuffle or 0
  terms.pass, terms.ordered = lead.passed or 0, space.row_major and 1 or 0
  for d, range in ipairs(space.ranges) do
    terms.range[d - 1].lo, terms.range[d - 1].hi = range[1], range[2]
    terms.range[d - 1].step = range[3]
  end
  return ffi.gc(c_api.call(lib.ms_shares_new, terms), lib.ms_shares_free)
end

-- Shares by plan: what they were made for, in words, and they.
local kept = setmetatable({}, {__mode = "k"})

--- Shares a loop out. What is made for ranges in their order is the same for each execution with
-- one plan, and is kept for the next one.
-- @tab run the loop's run @tab lead the group whose options count
-- @param[opt] done int64_t pointer: how many iterations of its share each replica has done
-- @return ms_shares
-- Errors: OPT ARR.
function M.out(run, lead, every, done)
  if done or lead.shuffle or not run.space.shared then return make(run, lead, every, done) end
  local words = {string.format("%d %.17g", lead.replicas, every or math.huge)}
  for _, range in ipairs(run.space.ranges) do words[#words + 1] = table.concat(range, " ") end
  local key, known = table.concat(words, ","), kept[run.plan]
  if not known or known.key ~= key then
    known = {key = key, made = make(run, lead, every)}
    kept[run.plan] = known
  end
  return known.made
end

-- What the loop calls the replicas of a group.
local function names_of(run, group)
  local list, seen = {}, {}
  for _, c in ipairs(run.plan.replicas) do
    local member, capture = replica_groups.of(run.values[c]), run.record.captures[c]
    if member.group == group and not seen[member] and capture then
      list[#list + 1] = table.concat({capture.root, unpack(capture.fields)}, ".")
    end
    seen[member] = true
  end
  return table.concat(list, ", ")
end

-- The words of a report for a group with these settings, and those for what they guarantee.
local function group_words(group, settings, rounds)
  local name, why = guarantees.of(settings, group.replicas)
  if not settings then return string.format("private: %s, %s", name, why), name end
  if group.auto_every and group.replicas > 1 then
    name, why = "none", "how often replicas exchange follows from how long things take"
  end
  return string.format("%s, %d exchange%s%s: %s, %s", guarantees.exchange_words(settings), rounds,
                       rounds == 1 and "" or "s", guarantees.filter_words(settings), name, why),
    name
end

--- The report's lines about the replicas of a loop, and what is guaranteed of it: the least of what
-- its groups have.
-- @tab[opt] lead a group that had other settings, too @tab[opt] weakest of those
function M.words(run, groups, shares, lead, weakest)
  local lines, guarantee = {}, nil
  for k, group in ipairs(groups) do
    local words, name = group_words(group, group == lead and weakest or group.settings,
                                    tonumber(shares.rounds))
    lines[k] = string.format("  %s  %d replica%s, shares: %s, %s", names_of(run, group),
                             group.replicas, group.replicas == 1 and "" or "s",
                             run.plan.indices[shares.dim + 1], words)
    if not guarantee or guarantees.is_less(name, guarantee) then guarantee = name end
  end
  return lines, guarantee
end

local function release(pointer)
  lib.ms_partition_release(ffi.new("ms_partition *[1]", pointer))
end

--- The grid of round t, from 1.
function M.round(run, shares, t)
  local partition = ffi.gc(c_api.call(lib.ms_shares_round, shares, t - 1), release)
  return grids.of_partition(run.plan, run.space, partition)
end

--- The grid of `count` rounds from round t on, which are swept.
function M.rounds(run, shares, t, count)
  local partition = ffi.gc(c_api.call(lib.ms_shares_rounds, shares, t - 1, count), release)
  return grids.of_partition(run.plan, run.space, partition, count)
end

return M
