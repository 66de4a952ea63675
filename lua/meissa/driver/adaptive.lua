-- SPDX-License-Identifier: MIT
--- Controllers of replicas: `every = "auto"` and `staleness = "auto"`.
--
-- Every few rounds they look at what jobs took, and answer as an `on_round` does. `every` is the
-- size of a send buffer: it grows where exchanges take a good part of the time, and shrinks where
-- they take hardly any (Herb, Jungnickel, Alt, "Harmonization of replicated machine learning
-- models", section 4.1: batches by the utilisation of the network); beside it, a filter's threshold
-- follows how far replicas are apart, and a weight how old what they hear is, as section 5 asks
-- for. `staleness` grows while replicas wait for each other, and shrinks when they do not, or when
-- they come apart.
--
-- A change is made at one stroke to what the measures say, and is on trial: it promises a time an
-- iteration, and is taken back, and not tried again for a while, unless a good part of what it
-- promised comes true, and as soon as that is worse than it was before. What bodies and exchanges
-- take is measured as the time for which they had a core, and of times that are compared the least
-- of several jobs counts, to which what others do on a machine adds little; waits are by the clock.
-- What a job's launch and its last exchange take is nobody's exchange: jobs are as short as
-- decisions are close. So these are further and further apart.
--
-- Decisions depend on time: such runs have other bits each time, but for those that follow a
-- record. When they are made depends on earlier ones alone. Lives on the driver.
-- @module meissa.driver.adaptive

local settings_of = require "meissa.sync.settings"
local tables = require "meissa.base.tables"

local M = {}

-- Rounds from one decision to the next: after a change; how many times as many after none; and at
-- most.
local SOON, FURTHER, LATE = 4, 4, 256

-- Rounds to the first decision where a bandwidth is given: what messages take is known at once,
-- what all else takes when it has been done a few times.
local FIRST_LOOK = 1

-- Parts of the time that exchanges take beyond which `every` is changed, and what is aimed at.
local MUCH, AIM, LITTLE = 0.1, 0.05, 0.02

-- Parts of the time that waiting takes beyond which the staleness is changed.
local WAITS_MUCH, WAITS_LITTLE = 0.2, 0.04

-- The part of the waiting that a round of staleness has to do away with.
local HIDES = 0.25

-- How much longer an iteration may take where exchanges are made more often.
local WORSE = 1.1

-- Exchanges that a pass over a share has at first; it has one at least.
local FIRST = 8

-- Jobs after which a promise has to have come true, and jobs that measures are taken of.
local TRIAL, JOBS = 2, 9

-- Decisions for which what did not come true is not tried again; at most, where it never does.
local BARRED, MOST_BARRED = 4, 64

-- Decisions without waiting after which a staleness is given up that was needed before.
local QUIET = 8

-- How much further apart replicas may be than before.
local APART = 2

local Controller = {}
Controller.__index = Controller

--- The controllers of a group; nil where there are none. They are kept from loop to loop.
-- @tab group of replicas @number largest iterations of the largest share in a pass
function M.of(group, largest)
  if not group or not (group.auto_every or group.settings.auto) then return nil end
  local self = group.controller
  if not self then
    self = setmetatable({replicas = group.replicas, bandwidth = group.bandwidth or math.huge,
                         rounds = 0, span = group.bandwidth and FIRST_LOOK or SOON, jobs = {},
                         barred = {}, patience = {}}, Controller)
    if group.auto_every then self.every = math.max(1, math.floor(largest / FIRST)) end
    if group.settings.auto then self.staleness, self.least, self.quiet = 0, 0, 0 end
    group.controller = self
  end
  self.most, self.awaiting = math.max(1, math.ceil(largest)), false
  return self
end

--- How many iterations lie between two exchanges in this loop; nil if that is not chosen here.
function Controller:interval() return self.every and math.min(self.every, self.most) end

--- In how many rounds it decides next; while what was decided does not govern it does not.
function Controller:left()
  return self.awaiting and math.huge or math.max(1, self.span - self.rounds)
end

--- Whether enough rounds have gone by to decide.
function Controller:is_due() return not self.awaiting and self.rounds >= self.span end

local function median(jobs, name)
  local list = {}
  for _, job in ipairs(jobs) do list[#list + 1] = job[name] end
  table.sort(list)
  return list[math.ceil(#list / 2)]
end

local function least(jobs, name)
  local value = math.huge
  for _, job in ipairs(jobs) do value = math.min(value, job[name]) end
  return value
end

--- Takes what a job took.
-- @tab job {rounds, iterations of a replica, workers, replicas; busy and waited of all workers, by
-- the clock; worked on bodies and spent on exchanges by a replica, of its core's time; bytes sent};
-- times in seconds
function Controller:take(job)
  self.rounds = self.rounds + job.rounds
  if self.awaiting or job.iterations <= 0 then return end
  local all, sent, jobs = job.busy + job.waited, job.bytes / self.bandwidth, self.jobs
  local carried = job.replicas / job.workers -- by a worker
  if #jobs == JOBS then table.remove(jobs, 1) end
  jobs[#jobs + 1] = {
    work = carried * job.worked / job.iterations,
    -- In its first round nothing is merged by blocks: a job of one tells nothing but bytes.
    exchange = job.rounds > 1 and carried * job.spent / (job.rounds - 0.5) +
      (job.waited / job.workers + sent) / job.rounds or
      self.bandwidth < math.huge and sent or nil,
    waits = all > 0 and job.waited / all or 0,
    time = (all / job.workers + sent) / job.iterations,
  }
end

--- Takes what a job took that `round` tells of, as job.run_round has it.
-- @number rounds of it @number iterations of a replica @number bytes that were sent
-- @number worked @number spent as `take` has them
function Controller:measure(round, rounds, iterations, bytes, worked, spent)
  local shares = round.outcome and round.outcome.workers
  local job = {rounds = rounds, replicas = self.replicas, iterations = iterations, bytes = bytes,
               worked = worked, spent = spent, workers = shares and math.max(1, #shares) or 1,
               busy = shares and 0 or round.seconds, waited = 0}
  for _, share in ipairs(shares or {}) do
    job.busy, job.waited = job.busy + share.busy, job.waited + share.waited
  end
  self:take(job)
end

-- Whether something was tried in vain a short time ago.
local function is_barred(self, what) return (self.barred[what] or 0) > 0 end

-- Puts a value on trial: an iteration has to take at most `limit` soon, and `before` ever after.
local function try(self, knob, value, what, limit, before)
  self.trial = {knob = knob, from = self[knob], what = what, limit = limit, before = before}
  self[knob] = value
end

-- Takes back what did not come true, if it did not. Whether it is open if it does.
local function judge(self, answer, reasons)
  local trial = self.trial
  if not trial then return false end
  local time, what = least(self.jobs, "time"), trial.what
  if time <= trial.limit then
    trial.limit = trial.before
    self.patience[what] = nil
    return false
  end
  if #self.jobs < TRIAL then return true end
  local patience = self.patience[what] or BARRED
  self.barred[what], self.patience[what] = patience, math.min(MOST_BARRED, 2 * patience)
  self.trial, self[trial.knob], answer[trial.knob] = nil, trial.from, trial.from
  reasons[#reasons + 1] = string.format("an iteration takes %.3g us, not %.3g: %s %d again",
                                        1e6 * time, 1e6 * trial.limit, trial.knob, trial.from)
  return true
end

-- Another number of iterations from one exchange to the next.
local function choose_every(self, answer, reasons)
  local work, exchange = median(self.jobs, "work"), median(self.jobs, "exchange")
  local now, time = self:interval(), least(self.jobs, "time")
  if not exchange or work <= 0 then return end
  local part = exchange / (exchange + work * now)
  local every, what, limit, before = math.floor(exchange / (AIM * work)), nil, nil, nil
  if part > MUCH and not is_barred(self, "longer") then
    every, what = math.min(self.most, math.max(every, now + 1)), "longer"
    local promised = (work + exchange / every) / (work + exchange / now)
    limit = time * (1 + promised) / 2
    before = time
  elseif part < LITTLE and not is_barred(self, "shorter") then
    every, what, limit = math.max(1, math.min(every, now - 1)), "shorter", time * WORSE
    before = limit
  end
  if not what or every == now then return end
  try(self, "every", every, what, limit, before)
  answer.every = every
  reasons[#reasons + 1] = string.format("exchanges take %.0f %% of the time: every %d", 100 * part,
                                        every)
end

local function clamp(value, low, high) return math.max(low, math.min(high, value)) end

-- Another threshold, or weight: as far as replicas are apart, as old as what they hear is.
local function choose_bounds(self, settings, disagreement, age, answer, reasons)
  local filter, merge = settings.filter, settings.merge
  self.asked = self.asked or {eps = filter.eps, lambda = merge.lambda}
  local kind = filter.kind
  if kind == "relative" and disagreement > 0 then
    local eps = clamp(disagreement / 2, self.asked.eps / 8, self.asked.eps * 8)
    if eps < filter.eps / 2 or eps > filter.eps * 2 then
      answer.filter = {relative = eps, floor = filter.floor}
      reasons[#reasons + 1] = string.format("replicas are %.2g apart: eps %.2g", disagreement, eps)
    end
  end
  if merge.kind == "weighted" then
    local lambda = self.asked.lambda / (1 + age)
    if lambda < merge.lambda / 2 or lambda > merge.lambda * 2 then
      answer.merge = {weighted = lambda, form = merge.form_name}
      reasons[#reasons + 1] = string.format("what is heard is %.1f rounds old: lambda %.2g", age,
                                            lambda)
    end
  end
end

-- Replicas that come apart are less stale, whatever is on trial. Whether they do.
local function hold_together(self, disagreement, answer, reasons)
  local before, now = self.apart or 0, self.staleness
  self.apart = disagreement
  if before <= 0 or disagreement <= APART * before or now == 0 then return false end
  if self.trial and self.trial.knob == "staleness" then self.trial = nil end
  self.staleness, answer.staleness = now - 1, now - 1
  reasons[#reasons + 1] = string.format("replicas come apart (%.2g, %.2g before): staleness %d",
                                        disagreement, before, now - 1)
  return true
end

-- Another staleness.
local function choose_staleness(self, answer, reasons)
  local waits, now, other = median(self.jobs, "waits"), self.staleness, nil
  local time = least(self.jobs, "time")
  if not waits then return end
  if waits > WAITS_MUCH and now < settings_of.MOST_STALENESS and not is_barred(self, "staler") then
    other = now + 1
    try(self, "staleness", other, "staler", time * (1 - HIDES * waits), time)
    self.least, self.quiet = other, 0
  elseif waits < WAITS_LITTLE and now > 0 and not is_barred(self, "fresher") then
    self.quiet = self.quiet + 1
    if now > self.least or self.quiet >= QUIET then
      other = now - 1
      try(self, "staleness", other, "fresher", time * WORSE, time * WORSE)
      self.least, self.quiet = other, 0
    end
  end
  if not other then return end
  answer.staleness = other
  reasons[#reasons + 1] = string.format("waiting takes %.0f %% of the time: staleness %d",
                                        100 * waits, other)
end

-- When the next decision is due.
local function go_on(self, chosen)
  local changes = chosen.every ~= nil or chosen.staleness ~= nil
  self.rounds, self.awaiting = 0, changes
  self.span = changes and SOON or math.min(LATE, FURTHER * self.span)
end

--- What an answer of `decide`, or none, has chosen, as numbers by name.
function M.chosen(answer)
  local filter, merge = answer and answer.filter, answer and answer.merge
  return {every = answer and answer.every, staleness = answer and answer.staleness,
          eps = filter and filter.relative, lambda = merge and merge.weighted}
end

--- Decides, if it is due.
-- @tab settings that are in force @number disagreement of the replicas
-- @number age in rounds, on average, of the messages that replicas hear
-- @return an answer as of on_round, with its `reason`; nil: none
function Controller:decide(settings, disagreement, age)
  if not self:is_due() then return nil end
  local answer, reasons = {}, {}
  for what, decisions in tables.each(self.barred) do
    self.barred[what] = math.max(0, decisions - 1)
  end
  local apart = self.staleness and hold_together(self, disagreement, answer, reasons)
  local busy = apart or judge(self, answer, reasons)
  if self.every and not busy then choose_every(self, answer, reasons) end
  if self.staleness and not busy and not answer.every then
    choose_staleness(self, answer, reasons)
  end
  if self.every then choose_bounds(self, settings, disagreement, age, answer, reasons) end
  go_on(self, M.chosen(answer))
  if #reasons == 0 then return nil end
  answer.reason = table.concat(reasons, "; ")
  return answer
end

--- An answer governs, from here or from on_round: what is measured from now on is of that.
function Controller:obey(answer)
  if not (answer.every or answer.staleness) then return end
  self.awaiting, self.rounds, self.jobs = false, 0, {}
  local every = answer.every
  if self.every and every and every ~= self.every then
    self.every, self.trial = every < 1 and math.max(1, math.floor(every * self.most)) or every, nil
  end
  if self.staleness and answer.staleness and answer.staleness ~= self.staleness then
    self.staleness, self.trial = answer.staleness, nil
  end
end

--- Decides what was chosen before, whatever was measured.
-- @tab settings that are in force @tab chosen as M.chosen gives it
function Controller:follow(settings, chosen)
  local answer = {every = chosen.every, staleness = chosen.staleness, reason = "as recorded"}
  self.every, self.staleness = chosen.every or self.every, chosen.staleness or self.staleness
  if chosen.eps then
    answer.filter = {relative = chosen.eps, floor = settings.filter.floor}
  end
  if chosen.lambda then
    answer.merge = {weighted = chosen.lambda, form = settings.merge.form_name}
  end
  go_on(self, chosen)
  return tables.next(M.chosen(answer)) and answer or nil
end

return M
