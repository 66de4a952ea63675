-- SPDX-License-Identifier: MIT
--- Loops over replicas: rounds of blocks, one a replica, and an exchange after each.
--
-- A round is a job whose block k - 1 runs replica k's part of its share on its own copy. When all
-- have ended they exchange: everyone posts, then everyone merges, by sender. The bits depend on the
-- loop, its data and its options alone, not on workers, engine or road.
--
-- The loop is a transaction: a round that fails undoes itself, and what was there before the loop
-- is put back from copies.
-- @module meissa.driver.replicated

local array = require "meissa.array"
local cuts = require "meissa.driver.cut"
local exchanges = require "meissa.sync.exchange"
local failures = require "meissa.driver.failure"
local ffi = require "ffi"
local job = require "meissa.driver.job"
local kernel = require "meissa.kernel"
local nesting = require "meissa.base.nesting"
local pool = require "meissa.driver.pool"
local ready = require "meissa.driver.ready"
local replicas = require "meissa.sync.replica"
local shares_of = require "meissa.plan.share"
local stages = require "meissa.plan.stage"
local system = require "meissa.base.system"
local tables = require "meissa.base.tables"

local M = {}

local doubles = ffi.typeof "double[?]"

-- ------------------------------------------------------------------------------------- vectors

-- How many elements a group's arrays have together.
local function size_of(group)
  local count = 0
  for _, each in ipairs(group.members) do count = count + array.describe(each.target).count end
  return count
end

local function new_vectors(group)
  local list = {}
  for k = 1, group.replicas do list[k] = doubles(size_of(group)) end
  return list
end

-- Visits a group's members: their places in a vector, and rows of theirs as typed pointers.
local function each_member(group, visit)
  local at = 0
  for _, each in ipairs(group.members) do
    local about = array.describe(each.target)
    visit(each, at, about.count, about.type .. " *")
    at = at + about.count
  end
end

-- Copies numbers from one vector to another, of perhaps another type.
local function copy_numbers(to, from, count, alike)
  if alike then
    ffi.copy(to, from, 8 * count)
    return
  end
  for i = 0, count - 1 do to[i] = from[i] end
end

-- Fills vectors with what the copies hold.
local function load_copies(group, vectors)
  each_member(group, function(member, at, count, type)
    for k = 1, group.replicas do
      local row = ffi.cast(type, replicas.row(member, k))
      copy_numbers(vectors[k] + at, row, count, type == "double *")
    end
  end)
end

-- Makes the copies hold vectors, and these what the copies then hold: floats are rounded.
local function store_copies(group, vectors)
  each_member(group, function(member, at, count, type)
    local alike = type == "double *"
    for k = 1, group.replicas do
      local row, vector = ffi.cast(type, replicas.row(member, k)), vectors[k] + at
      copy_numbers(row, vector, count, alike)
      if not alike then copy_numbers(vector, row, count, false) end
    end
  end)
end

-- Where the blocks of a round leave what their replicas hold: see job.run_round.
local function rows_of(groups)
  local rows = {}
  for _, group in ipairs(groups) do
    for _, member in ipairs(group.members) do
      rows[array.describe(member.copy).id] = {pointer = replicas.row(member, 1),
                                              size = replicas.size(member),
                                              count = group.replicas}
    end
  end
  return rows
end

-- Adds what the blocks of a round have put into buffers to `parts`, by the id of the pending array.
local function take_pending(run, held, numbers, parts)
  for _, c in ipairs(run.plan.buffers) do
    local id = array.describe(run.values[c]).id
    local blocks, list = held[numbers[id]] or {}, parts[id] or {}
    parts[id] = list
    for block = 0, run.grid.blocks - 1 do list[#list + 1] = blocks[block] end
  end
end

-- ------------------------------------------------------------------------------ transactions

-- What a loop may change, as it is: a list of functions that put it back.
local function snapshot(run, groups)
  local list = {}
  for c, binding in ipairs(run.bindings) do
    local value = binding.kind == "array" and run.values[c]
    if value and binding.sparse and run.plan.array_of[c].written then
      local memory, about = array.core(value), array.describe(value)
      local size = about.count * ffi.sizeof(about.type == "float" and "float" or "double")
      local kept = ffi.string(memory.data, size)
      list[#list + 1] = function() ffi.copy(memory.data, kept, size) end
    elseif value and not (binding.scratch or binding.buffers) and run.plan.array_of[c].written then
      local kept = value:clone()
      list[#list + 1] = function() value:copy(kept) end
    end
  end
  for _, target in ipairs(stages.targets(run)) do
    local kept = target:clone()
    list[#list + 1] = function() target:copy(kept) end
  end
  for _, group in ipairs(groups) do
    for _, member in ipairs(group.keeps and group.members or {}) do
      local kept = member.rows:clone()
      list[#list + 1] = function() member.rows:copy(kept) end
    end
  end
  return list
end

-- Calls fn; if it raises, what the snapshot has is put back, or lost.
local function attempt(run, kept, fn)
  local ok, err = pcall(fn)
  if ok then return end
  for _, put_back in ipairs(kept or {}) do put_back() end
  if not kept then failures.invalidate(run, err) end
  error(err, 0)
end

-- ------------------------------------------------------------------------------------- damping

-- What the merges of a loop damp, as it is now: {value =, old =, gamma =} each.
local function keep_damped(states)
  local list = {}
  for _, state in ipairs(states) do
    local merge = state.exchange.settings.merge
    for _, value in ipairs(merge.damp or {}) do
      list[#list + 1] = {value = value, old = value:clone(), gamma = merge.gamma}
    end
  end
  return list
end

local function damp(list)
  for _, each in ipairs(list) do
    local now = each.value:clone()
    local about = array.describe(now)
    local new = ffi.cast(about.type .. " *", array.core(now).data)
    local old = ffi.cast(about.type .. " *", array.core(each.old).data)
    for i = 0, about.count - 1 do new[i] = old[i] + each.gamma * (new[i] - old[i]) end
    each.value:copy(now)
  end
end

-- ------------------------------------------------------------------------------------- rounds

local Loop = {}
Loop.__index = Loop

local function new_state(group, check)
  local state = {group = group, before = new_vectors(group), after = new_vectors(group),
                 out = new_vectors(group)}
  load_copies(group, state.before)
  state.exchange = exchanges.new(group.settings, size_of(group), state.before, check)
  return state
end

-- Exchanges a group's copies at the end of round t; the bytes.
local function exchange(state, t)
  load_copies(state.group, state.after)
  local bytes = state.exchange:round(t, state.before, state.after, state.out)
  store_copies(state.group, state.out)
  state.before, state.out = state.out, state.before
  return bytes
end

-- Takes a round's scalars, for the loop and for the present cut.
local function take_scalars(self, round)
  local run = self.run
  if self.lead and self.lead.on_round then
    self.sums = self.sums or cuts.identities(run)
    for _, each in ipairs(kernel.combine(round.bytes, self.sums, round.results, round.known)) do
      self.sums[each.capture] = each.value
    end
  end
  for _, each in ipairs(kernel.combine(round.bytes, run.values, round.results, round.known)) do
    run.values[each.capture] = each.value
    self.assigned[each.capture] = each
  end
end

local function take_measures(self, outcome)
  if not outcome then return end
  self.moved = self.moved + outcome.moved
  self.deaths, self.redone = self.deaths + outcome.deaths, self.redone + outcome.redone
  self.repeated = self.repeated + outcome.repeated
  for w, share in ipairs(outcome.workers) do
    local sum = self.workers[w] or {busy = 0, waited = 0, moved = 0, blocks = 0,
                                    began = share.began}
    self.workers[w] = sum
    sum.busy, sum.waited = sum.busy + share.busy, sum.waited + share.waited
    sum.moved, sum.blocks = sum.moved + share.moved, sum.blocks + share.blocks
    self.waited = self.waited + share.waited
  end
end

-- Runs round number `local_t` of the present shares, round t of the loop.
function Loop:round(t, local_t)
  local run = self.run
  run.grid = shares_of.round(run, self.shares, local_t)
  local damped = keep_damped(self.states)
  local round = self.step(run)
  local numbers = {}
  for n, id in ipairs(round.buffers) do numbers[id] = n end
  take_pending(run, round.held, numbers, self.parts)
  take_scalars(self, round)
  take_measures(self, round.outcome)
  for _, state in ipairs(self.states) do
    local bytes = exchange(state, t)
    self.bytes, self.exchanged = self.bytes + bytes, self.exchanged + bytes
  end
  damp(damped)
  for k = 1, self.lead_group.replicas do
    local start = self.shares.starts + (local_t - 1) * (self.lead_group.replicas + 1)
    self.done[k - 1] = self.done[k - 1] + (start[k] - start[k - 1])
  end
end

-- Shares out what is left.
function Loop:share(every)
  self.shares = shares_of.out(self.run, self.lead_group, every, self.done)
end

-- Runs all rounds.
function Loop:rounds()
  local t, local_t = 0, 0
  local every = self.lead and self.lead.every
  while local_t < self.shares.rounds do
    t, local_t = t + 1, local_t + 1
    self:round(t, local_t)
    self.t = t
    local last = local_t == self.shares.rounds
    local answer = self.lead and cuts.ask(self, t, last)
    if answer and answer.stop then break end
    if answer and answer.every and answer.every ~= every then
      every = answer.every
      if not last then self:share(every) end
      local_t = last and local_t or 0
    end
  end
end

-- The final merges.
function Loop:finish()
  stages.merge(self.run, self.parts)
  for _, state in ipairs(self.states) do
    local group = state.group
    if group.final == "mean" then
      local merged = state.out[1]
      state.exchange:value(state.before, merged)
      each_member(group, function(member, at)
        replicas.assign(member.target, merged + at)
      end)
      for k = 2, group.replicas do ffi.copy(state.out[k], merged, 8 * size_of(group)) end
      store_copies(group, state.out)
    end
  end
  for _, group in ipairs(self.groups) do
    group.passed = (group.passed or 0) + tonumber(self.shares.passes)
  end
end

local function new_loop(run, groups, lead)
  local self = setmetatable({run = run, groups = groups, lead = lead, assigned = {},
                             lead_group = lead or groups[1], states = {}, moved = 0, deaths = 0,
                             redone = 0, repeated = 0, bytes = 0, exchanged = 0, waited = 0,
                             parts = {},
                             workers = {}, t = 0}, Loop)
  self.done = ffi.new("int64_t[?]", self.lead_group.replicas)
  return self
end

local function list_of(assigned)
  local list = {}
  for _, each in tables.each(assigned) do list[#list + 1] = each end
  table.sort(list, function(a, b) return a.capture < b.capture end)
  return list
end

-- Runs a round in this process, where loops in the body run plainly, as they do on a worker.
local function run_round_here(run)
  local ok, round = nesting.pcall(job.run_round_here, run)
  if not ok then error(round, 0) end
  return round
end

--- Shares a planned loop over replicas out: its plan tells of that.
-- @return what M.run goes on with
-- Errors: OPT ARR.
function M.plan(run)
  local groups, lead = shares_of.groups(run)
  local self = new_loop(run, groups, lead)
  self:share(lead and lead.every)
  run.plan.replicated, run.plan.guarantee = shares_of.words(run, groups, self.shares)
  run.cut = function()
    run.grid = shares_of.round(run, self.shares, 1)
    run.plan.grid = run.grid.ranges
  end
  return self
end

--- Runs a planned loop over replicas.
-- @tab run the loop's run (see job.run)
-- @return the scalars to assign, as job.run gives them, and what it took
-- Errors: OPT BDY WRK INT NET ARR.
function M.run(run)
  local self = M.plan(run)
  local groups, here = self.groups, pool.workers() == 0
  ready.make(run, not here and pool.session or nil)
  run.session = not here and pool.session() or nil
  self.step = here and run_round_here or job.run_round
  local given = {unpack(run.values, 1, #run.bindings)}
  for _, group in ipairs(groups) do replicas.begin(group) end
  run.rows = rows_of(groups)
  for _, group in ipairs(groups) do
    if group.exchange then self.states[#self.states + 1] = new_state(group, run.space.check) end
  end
  local kept = run.space.transaction and snapshot(run, groups) or nil
  attempt(run, kept, function()
    self:rounds()
    self:finish()
  end)
  run.values = given
  local first = self.workers[1]
  return list_of(self.assigned), {
    seconds = system.clock() - run.called, moved = self.moved, shares = self.workers,
    workers = #self.workers, rounds = self.t, exchanged = self.exchanged, deaths = self.deaths,
    redone = self.redone, repeated = self.repeated,
    launch = first and first.began and first.began - run.called or nil,
  }
end

return M
