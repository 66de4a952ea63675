-- SPDX-License-Identifier: MIT
--- Loops over replicas: rounds of blocks, one a replica, and an exchange after each.
--
-- In a round replica k's block runs its part of its share on its own copy; then everyone posts, and
-- everyone merges, by sender. The bits of exact settings depend on the loop, its data and its
-- options alone, not on workers, engine or road. A job has several rounds, see posted_rounds.lua;
-- of replicas that never exchange it has the loop's only one.
--
-- The loop is a transaction: a round that fails undoes itself, and what was there before the loop
-- is put back from copies.
-- @module meissa.driver.replica_loop

local adaptive = require "meissa.driver.adaptive"
local array = require "meissa.array"
local copies = require "meissa.driver.replica_copies"
local round_cuts = require "meissa.driver.round_cut"
local damping = require "meissa.plan.damping"
local errors = require "meissa.base.errors"
local ffi = require "ffi"
local guarantees = require "meissa.sync.guarantee"
local inprocess_history = require "meissa.driver.inprocess_history"
local interrupt = require "meissa.base.interrupt"
local job = require "meissa.driver.job"
local kernel = require "meissa.kernel"
local models = require "meissa.sync.models"
local nesting = require "meissa.base.nesting"
local pool = require "meissa.driver.pool"
local posted_rounds = require "meissa.driver.posted_rounds"
local ready = require "meissa.driver.ready"
local replay = require "meissa.driver.replay"
local replica_groups = require "meissa.sync.replica_group"
local shares_of = require "meissa.plan.share"
local snapshots = require "meissa.driver.snapshot"
local stages = require "meissa.plan.stage"
local system = require "meissa.base.system"
local tables = require "meissa.base.tables"
local topologies = require "meissa.sync.topology"
local vectors = require "meissa.sync.vector"

local M = {}

-- Where the blocks of a round leave what their replicas hold: see job.run_round.
local function rows_of(groups)
  local rows = {}
  for _, group in ipairs(groups) do
    for _, member in ipairs(group.members) do
      rows[array.describe(member.copy).id] = {pointer = replica_groups.row(member, 1),
                                              size = replica_groups.size(member),
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

-- ------------------------------------------------------------------------------------- rounds

local Loop = {}
Loop.__index = Loop

-- Takes a round's scalars, for the loop and for the present cut.
local function take_scalars(self, round)
  local run = self.run
  if self.lead and self.lead.on_round then
    self.sums = self.sums or round_cuts.identities(run)
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

-- Takes the results of a job: scalars and pending elements, and what it took (seconds, bytes).
local function take_round(self, round)
  local numbers = {}
  for n, id in ipairs(round.buffers) do numbers[id] = n end
  take_pending(self.run, round.held, numbers, self.parts)
  take_scalars(self, round)
  take_measures(self, round.outcome)
  local first = round.outcome and round.outcome.workers[1]
  self.began = self.began or round.began or first and first.began
end

-- Counts the iterations of rounds of the present shares; how many there are.
local function count_done(self, first, last)
  local count, replicas = 0, self.lead_group.replicas
  for t = first, last do
    local start = self.shares.starts + (t - 1) * (replicas + 1)
    for k = 1, replicas do
      self.done[k - 1] = self.done[k - 1] + (start[k] - start[k - 1])
    end
    count = count + tonumber(start[replicas] - start[0])
  end
  return count
end

-- Runs round number `first` of the present shares, of replicas that do not exchange.
local function run_alone(self, first)
  local run = self.run
  run.grid = shares_of.round(run, self.shares, first)
  take_round(self, self.step(run))
end

-- Where rounds may come to be of one iteration each there are as many as a share has.
local function open_posted(self)
  local lead = self.lead
  local may_change = lead and (lead.on_round or lead.auto_every)
  local most = may_change and self.shares.largest * self.shares.passes or self.shares.rounds
  self.posted = self.posted or
    posted_rounds.new(self.run, self.all, tonumber(most), self.posted_before)
end

-- Runs rounds `first` to `last` of the present shares with exchanges. Returns their outcome and the
-- bytes sent.
local function run_posted(self, first, last)
  open_posted(self)
  local round, bytes = self.posted:run_rounds(self.shares, self.t, first, last - first + 1,
                                              self.step)
  take_round(self, round)
  self.missed = (self.missed or 0) + self.posted:take_missed()
  local sent = 0
  for g, state in ipairs(self.all) do
    if state.exchange then
      self.bytes, self.exchanged = self.bytes + bytes[g], self.exchanged + bytes[g]
      sent = sent + bytes[g]
    end
  end
  return round, sent
end

-- What the exchanges damp, as they are now.
local function damped_of(self)
  local merges = {}
  for _, state in ipairs(self.states) do merges[#merges + 1] = state.exchange.settings.merge end
  return damping.of(self.run, merges, self.shares)
end

-- In how many rounds anybody is asked, or what was answered governs. (Nothing here may be nan, as
-- t % math.huge is: which of its arguments math.min then gives is not the same for machine code.)
local function left_of(self)
  local lead, answer, controller = self.lead, self.answers[1], self.controller
  local left = controller and controller:left() or math.huge
  if answer then left = math.min(left, answer.after - self.t) end
  if lead and lead.on_round then left = math.min(left, lead.cut - self.t % lead.cut) end
  return left
end

-- Runs rounds from number `first` of the present shares on, until anybody is asked, or what was
-- answered governs; the last one.
function Loop:stretch(first)
  local last, round, bytes = first, nil, nil
  self.run.damped = damped_of(self)
  if #self.states > 0 then
    last = math.min(first + left_of(self) - 1, self.shares.rounds)
    open_posted(self)
    last = math.min(last, first + self.posted:most() - 1)
    round, bytes = run_posted(self, first, last)
  else
    run_alone(self, first)
  end
  local count, rounds = count_done(self, first, last), last - first + 1
  self.t = self.t + rounds
  if self.controller then
    self.controller:measure(round, rounds, count / self.lead.replicas, bytes,
                            self.posted:take_times())
  end
  return last
end

-- Shares out the iterations that are left.
function Loop:share(every)
  self.shared_at = self.t
  self.shares = shares_of.out(self.run, self.lead_group, every, self.t > 0 and self.done or nil)
end

-- Puts what was answered for the present round, or an earlier one, into force: for all, if the loop
-- has no more rounds. Whether it ends, and another `every` if there is one.
local function govern(self, last)
  local every
  while self.answers[1] and (last or self.answers[1].after <= self.t) do
    local answer = table.remove(self.answers, 1).answer
    round_cuts.obey(self, self.t, answer)
    if self.controller then self.controller:obey(answer) end
    if answer.stop then return true end
    if answer.staleness or answer.filter or answer.merge then
      self.posted_before, self.posted = self.posted, nil
      local settings = round_cuts.state(self).exchange.settings
      local weakest = guarantees.of(self.weakest or self.lead.settings, self.lead.replicas)
      if guarantees.is_less(guarantees.of(settings, self.lead.replicas), weakest) then
        self.weakest = settings
      end
    end
    every = answer.every or every
  end
  return false, every
end

-- Takes the controllers' answers, now that these are due.
local function decide(self)
  local state = round_cuts.state(self)
  if replay.record() then
    return self.controller:follow(state.exchange.settings, replay.decision(self.t))
  end
  local missed = (self.missed or 0) - (self.missed_before or 0)
  local senders = 0
  for k = 1, self.lead.replicas do
    senders = senders + #topologies.senders(state.exchange.settings.topology, k, self.t)
  end
  local messages = senders * math.max(1, self.t - (self.decided or 0))
  local answer = self.controller:decide(state.exchange.settings, round_cuts.disagreement(state),
                                        missed / math.max(1, messages))
  self.missed_before, self.decided = self.missed, self.t
  if not nesting.in_body then inprocess_history.decided(self.t, adaptive.chosen(answer)) end
  return answer
end

-- Asks the controllers, and on_round, which has the last word.
local function ask(self, last)
  local answer = self.controller and self.controller:is_due() and decide(self) or nil
  local given = round_cuts.ask(self, self.t, last)
  if not answer then return given end
  for name, value in tables.each(given or {}) do answer[name] = value end
  return answer
end

-- Runs all rounds.
function Loop:rounds()
  local local_t, every = 0, self.every
  while local_t < self.shares.rounds do
    local_t = self:stretch(local_t + 1)
    local last = local_t == self.shares.rounds
    local answer = self.lead and ask(self, last)
    if answer then
      local after = self.t + round_cuts.delay(self)
      table.insert(self.answers, {after = after, answer = answer})
    end
    local stops, given = govern(self, last)
    if stops then break end
    if given and given ~= every then
      every = given
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
      local merged = vectors.new(state.count)
      state.exchange:value(state.before, merged)
      local at = 0
      for _, member in ipairs(group.members) do
        replica_groups.assign(member.target, merged + at)
        at = at + array.describe(member.target).count
      end
      for k = 1, group.replicas do ffi.copy(state.before[k], merged, 8 * state.count) end
      copies.store(group, state.before)
    end
  end
  for _, group in ipairs(self.groups) do
    group.merged = group.model ~= nil and group.final == "mean"
    group.passed = (group.passed or 0) + tonumber(self.shares.passes)
  end
end

local function new_loop(run, groups, lead)
  local self = setmetatable({run = run, groups = groups, lead = lead, assigned = {},
                             lead_group = lead or groups[1], states = {}, all = {}, moved = 0,
                             deaths = 0, redone = 0, repeated = 0, bytes = 0, exchanged = 0,
                             waited = 0, parts = {}, workers = {}, decisions = {}, answers = {},
                             t = 0}, Loop)
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

-- Writes what is known of the replicas into the plan, for reports.
local function tell(self)
  self.told = self.told or self.shares
  self.run.plan.replicated, self.run.plan.guarantee =
    shares_of.words(self.run, self.groups, self.told, self.lead, self.weakest)
end

--- Shares a planned loop over replicas out: its plan tells of that.
-- @return what M.run goes on with
-- Errors: OPT ARR.
function M.plan(run)
  local groups, lead = shares_of.groups(run)
  local self = new_loop(run, groups, lead)
  local known = lead and lead.auto_every and lead.controller -- shares are kept for what it chose
  self.every = known and known.every or lead and not lead.auto_every and lead.every or math.huge
  self:share(self.every)
  if nesting.in_body and lead and (lead.auto_every or lead.settings.auto) and replay.record() then
    errors.raise("OPT", "MEISSA_REPLAY: what \"auto\" decides in the body of a loop is not " ..
                 "recorded: give 'every' and 'staleness' numbers")
  end
  self.controller = adaptive.of(lead, tonumber(self.shares.largest) / tonumber(self.shares.passes))
  local every = self.controller and self.controller:interval()
  if every and every ~= self.every then
    self.every = every
    self:share(every)
  end
  tell(self)
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
  self.step = function(this, replayed)
    if here or replayed then return run_round_here(this) end
    return job.run_round(this)
  end
  local given = {unpack(run.values, 1, #run.bindings)}
  for _, group in ipairs(groups) do replica_groups.begin(group) end
  run.rows = rows_of(groups)
  for g, group in ipairs(groups) do
    self.all[g] = copies.open(group)
    if group.exchange then self.states[#self.states + 1] = self.all[g] end
  end
  round_cuts.go_on(self)
  run.kept = run.space.transaction and snapshots.take(run, groups) or nil
  for _, group in ipairs(groups) do group.running = true end
  local ok, err = pcall(snapshots.attempt, run, function()
    self:rounds()
    run.held = interrupt.hold()
    self:finish()
  end)
  for _, group in ipairs(groups) do
    group.running = nil
    if not ok and group.model then models.give_up(group.model) end
  end
  if not ok then error(err, 0) end
  tell(self)
  run.values = given
  local began = self.began
  return list_of(self.assigned), {
    seconds = system.clock() - run.called, moved = self.moved, shares = self.workers,
    workers = #self.workers, rounds = self.t, exchanged = self.exchanged, missed = self.missed,
    deaths = self.deaths, redone = self.redone, repeated = self.repeated,
    decisions = #self.decisions > 0 and self.decisions or nil,
    launch = began and began - run.called or nil,
  }
end

return M
