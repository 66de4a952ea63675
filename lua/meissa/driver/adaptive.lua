-- SPDX-License-Identifier: MIT
--- Controllers of replicas: `every = "auto"` and `staleness = "auto"`.
--
-- Each few rounds they look at how long workers have worked, and how long anything else took, and
-- answer as an `on_round` does. `every` is the size of a send buffer: it grows while exchanges take
-- a good part of the time, and shrinks when they take hardly any (Herb, Jungnickel, Alt,
-- "Harmonization of replicated machine learning models", section 4.1: batches by the utilisation of
-- the network); beside it, a filter's threshold follows how far replicas are apart, and a weight
-- how old what they hear is, as section 5 asks for. `staleness` grows while replicas wait for each
-- other, and shrinks when they do not, or when they come apart. Decisions depend on time: such runs
-- have other bits each time, but for those that follow a record. Lives on the driver.
-- @module meissa.driver.adaptive

local settings_of = require "meissa.sync.settings"
local tables = require "meissa.base.tables"

local M = {}

-- Rounds from one decision to the next.
local ROUNDS = 8

-- Parts of the time beyond which something is changed: exchanges, waiting.
local MUCH, LITTLE = 0.2, 0.04

-- Exchanges that a share has at first.
local FIRST = 8

-- Decisions without waiting after which a staleness is given up that was needed before.
local QUIET = 8

-- How much further apart replicas may be than before.
local APART = 2

local Controller = {}
Controller.__index = Controller

--- The controllers of a group; nil where there are none. They are kept from loop to loop.
-- @tab group of replicas @number largest iterations of the largest share
function M.of(group, largest)
  if not group or not (group.auto_every or group.settings.auto) then return nil end
  local self = group.controller
  if not self then
    self = setmetatable({wall = 0, busy = 0, waited = 0, rounds = 0}, Controller)
    if group.auto_every then self.every = math.max(1, math.floor(largest / FIRST)) end
    if group.settings.auto then self.staleness, self.least, self.quiet = 0, 0, 0 end
    group.controller = self
  end
  self.most = math.max(1, largest)
  if self.every then self.every = math.min(self.every, self.most) end
  return self
end

--- In how many rounds it decides next.
function Controller:left() return ROUNDS - self.rounds end

--- Counts rounds.
function Controller:count(rounds) self.rounds = self.rounds + rounds end

--- Takes what some rounds took: `seconds` in all, `busy` and `waited` of all workers, how many
-- these are.
function Controller:take(seconds, busy, waited, workers)
  self.wall = self.wall + seconds * workers
  self.busy, self.waited = self.busy + busy, self.waited + waited
end

-- Another number of iterations from one exchange to the next.
local function choose_every(self, answer, reasons)
  local other = math.max(0, 1 - self.busy / self.wall)
  local every = self.every
  if other > MUCH then every = math.min(self.most, 2 * every) end
  if other < LITTLE then every = math.max(1, math.floor(every / 2)) end
  if every == self.every then return end
  self.every, answer.every = every, every
  reasons[#reasons + 1] = string.format("exchanges take %.0f %% of the time: every %d", 100 * other,
                                        every)
end

local function clamp(value, least, most) return math.max(least, math.min(most, value)) end

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

-- Another staleness.
local function choose_staleness(self, disagreement, answer, reasons)
  local waits, now, why = self.waited / self.wall, self.staleness, nil
  local before = self.apart or 0
  local apart = before > 0 and disagreement > APART * before
  if apart and now > 0 then
    now, why = now - 1, string.format("replicas come apart (%.2g, %.2g before)", disagreement,
                                      self.apart)
  elseif waits > MUCH and now < settings_of.MOST_STALENESS then
    now, why = now + 1, string.format("waiting takes %.0f %% of the time", 100 * waits)
    self.least, self.quiet = now, 0
  elseif waits < LITTLE and now > 0 then
    self.quiet = self.quiet + 1
    if now > self.least or self.quiet == QUIET then
      now, why = now - 1, string.format("waiting takes %.0f %% of the time", 100 * waits)
      self.least, self.quiet = now, 0
    end
  end
  self.apart = disagreement
  if not why then return end
  self.staleness, answer.staleness = now, now
  reasons[#reasons + 1] = string.format("%s: staleness %d", why, now)
end

--- Whether enough rounds have gone by to decide.
function Controller:is_due() return self.rounds >= ROUNDS and self.wall > 0 end

-- What is measured from now on.
local function begin_anew(self)
  self.wall, self.busy, self.waited, self.rounds = 0, 0, 0, 0
end

--- Decides, if it is due.
-- @tab settings that are in force @number disagreement of the replicas
-- @number age in rounds, on average, of the messages that replicas hear
-- @return an answer as of on_round, with its `reason`; nil: none
function Controller:decide(settings, disagreement, age)
  if not self:is_due() then return nil end
  local answer, reasons = {}, {}
  if self.every then
    choose_every(self, answer, reasons)
    choose_bounds(self, settings, disagreement, age, answer, reasons)
  end
  if self.staleness then choose_staleness(self, disagreement, answer, reasons) end
  begin_anew(self)
  if #reasons == 0 then return nil end
  answer.reason = table.concat(reasons, "; ")
  return answer
end

--- What an answer of `decide`, or none, has chosen, as numbers by name.
function M.chosen(answer)
  local filter, merge = answer and answer.filter, answer and answer.merge
  return {every = answer and answer.every, staleness = answer and answer.staleness,
          eps = filter and filter.relative, lambda = merge and merge.weighted}
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
  begin_anew(self)
  return tables.next(M.chosen(answer)) and answer or nil
end

return M
