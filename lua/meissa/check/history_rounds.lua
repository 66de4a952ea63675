-- SPDX-License-Identifier: MIT
--- Histories of rounds: what blocks read and write against the two conditions of consistency, and
-- against each version's life.
--
--   read   for all y of the scope of x: done(q, y) >= a - 1 - read_lag for all writers q of y but
--          the block itself, and done(p, y) >= a - 1 where it writes y itself
--   write  for all y of the scope of x: seen(p, y) >= a - write_lag for all readers p of y but it
--
-- done(q, y) and seen(p, y) are kept by block and range, and looked at one by one: no counts, no
-- lists, no plan order. (Parameter Database, sections 4, 5 and 7.)
-- @module meissa.check.history_rounds

local tables = require "meissa.base.tables"
local versions = require "meissa.check.history_versions"

local format = string.format
local M = {}

local Rounds = {}
Rounds.__index = Rounds

--- The state of one job of rounds.
-- @tab setting the event `rounds`
function M.new(setting)
  return setmetatable({
    setting = setting, blocks = {}, numbers = {}, readers = {}, writers = {}, ranges = {},
    done = {}, begun = {}, seen = {}, latest = {}, hashes = {}, pins = {}, open = {}, last = {},
    unsure = {},
  }, Rounds)
end

local function set_of(members)
  local set = {}
  for _, member in ipairs(members) do set[member] = true end
  return set
end

local function add(lists, range, block)
  lists[range] = lists[range] or {}
  table.insert(lists[range], block)
end

--- The event `block`: what a block may read and write.
function Rounds:block(event)
  local number = event.block
  if self.blocks[number] then return "form", format("block %d is told of twice", number) end
  self.blocks[number] = {reads = set_of(event.reads), writes = set_of(event.writes),
                         observer = event.observer == 1, list = event}
  table.insert(self.numbers, number)
  self.done[number], self.begun[number], self.seen[number] = {}, {}, {}
  self.latest[number], self.pins[number] = {}, {}
  for _, range in ipairs(event.reads) do
    add(self.readers, range, number)
    self.ranges[range], self.seen[number][range] = true, 0
  end
  for _, range in ipairs(event.writes) do
    add(self.writers, range, number)
    self.ranges[range] = true
    self.done[number][range], self.begun[number][range] = 0, 0
  end
end

-- ---- the two conditions

-- The ranges that a condition on a range is about.
function Rounds:scope(range, exact)
  local scope = self.setting.scope
  if exact or scope == "range" or scope == "edge" then return {[range] = true} end
  return scope == "global" and self.ranges or {}
end

local function least_of(rounds)
  local least
  for _, round in tables.each(rounds) do least = math.min(least or round, round) end
  return least
end

-- The last round that a block has done for a range; where it never writes it, its clock.
function Rounds:done_by(block, range)
  local done, seen = self.done[block], self.seen[block]
  return done[range] or done.clock or least_of(done) or seen.clock or least_of(seen) or 0
end

-- Who keeps a reader of a range waiting: its writers, or everyone's clock.
function Rounds:awaited(range)
  if self.setting.clocks ~= 1 then return self.writers[range] or {} end
  local all = {}
  for _, number in ipairs(self.numbers) do
    if not self.blocks[number].observer then all[#all + 1] = number end
  end
  return all
end

function Rounds:may_read(block, range, round)
  local exact = self.blocks[block].observer
  local lag = exact and 0 or self.setting.read_lag
  for y in tables.each(self:scope(range, exact)) do
    for _, q in ipairs(self:awaited(y)) do
      local least = q == block and round - 1 or round - 1 - lag
      if self:done_by(q, y) < least then
        return "gate",
          format("block %d reads range %d for round %d, when block %d has finished round "
          .. "%d of range %d only, not %d", block, range, round, q, self:done_by(q, y), y,
          least)
      end
    end
  end
end

-- Those whose reading of a range holds up its writers; several writers hold up each other.
function Rounds:holders(range)
  local holders, writers = {}, self.writers[range] or {}
  for _, p in ipairs(self.readers[range] or {}) do holders[p] = true end
  for _, q in ipairs(#writers > 1 and writers or {}) do holders[q] = true end
  return holders
end

function Rounds:seen_by(block, range)
  return self.seen[block][range] or self.seen[block].clock or 0
end

function Rounds:may_write(block, range, round)
  local setting = self.setting
  for y in tables.each(self:scope(range)) do
    for p in tables.each(self:holders(y)) do
      local lag = self.blocks[p].observer and setting.depth - 1 or setting.write_lag
      if p ~= block and self:seen_by(p, y) < round - lag then
        return "gate",
          format("block %d writes range %d in round %d, when block %d has finished reading "
          .. "range %d for round %d only, not %d", block, range, round, p, y,
          self:seen_by(p, y), round - lag)
      end
    end
  end
end

-- ---- events

-- Whether an event is of a round that may be.
function Rounds:check_round(event)
  if not self.blocks[event.block] then
    return "form", format("block %d is not one of the job's", event.block)
  end
  if event.round and (event.round < 1 or event.round > self.setting.rounds) then
    return "rounds", format("round %d of %.0f", event.round, self.setting.rounds)
  end
  local open = self.open[event.block]
  if open and open.of ~= event.of then
    return "order", format("%s acts for block %d, which %s has begun", event.process,
      event.block, open.process)
  end
  if open and event.round and open.round ~= event.round then
    return "rounds", format("block %d is in round %d, not %d", event.block, open.round, event.round)
  end
end

-- A read, at once or pinned.
function Rounds:look(event)
  local block, range, round = event.block, event.range, event.round
  if not self.blocks[block].reads[range] then
    return "sets", format("block %d reads range %d, which is not among those that it may read",
      block, range)
  end
  local looked = self.pins[block][range] ~= nil
  if looked or self.seen[block][range] ~= round - 1 then
    return "rounds", format("block %d reads range %d for round %d after round %d", block, range,
      round, looked and round or self.seen[block][range])
  end
  for x in tables.each(self.blocks[block].writes) do
    if self.done[block][x] >= round then
      return "order", format("block %d reads range %d for round %d after writing it", block,
        range, round)
    end
  end
  local rule, problem = self:may_read(block, range, round)
  if rule then return rule, problem end
  rule, problem = versions.check_window(self, block, range, round, event.version)
  if rule then return rule, problem end
  self.latest[block][range] = event.version
  rule, problem = versions.check_version(self, block, range, event.version, event.kind == "pin")
  if rule then return rule, problem end
  return versions.check_hash(self, event)
end

-- A copy that is taken at once: of a block that has begun it counts when that commits.
function Rounds:read(event)
  local block, range = event.block, event.range
  local rule, problem = self:look(event)
  if self.open[block] then
    self.pins[block][range] = false
  elseif self.seen[block][range] then
    self.seen[block][range] = event.round
  end
  return rule, problem
end

function Rounds:pin(event)
  local rule, problem = self:look(event)
  self.pins[event.block][event.range] = event.version
  return rule, problem
end

-- A block has finished reading for a round; what it did not read it will not.
function Rounds:finish_reading(block, round)
  local seen = self.seen[block]
  for range in tables.each(self.blocks[block].reads) do seen[range] = round end
  seen.clock = round
  self.pins[block] = {}
end

function Rounds:has_seen(event)
  local clock = self.seen[event.block].clock or 0
  self:finish_reading(event.block, event.round)
  if clock ~= event.round - 1 then
    return "rounds", format("block %d has read for round %d after round %d", event.block,
      event.round, clock)
  end
end

-- Begins a version: the memory of an older one is given to it.
function Rounds:fill(event)
  local block, range, round = event.block, event.range, event.round
  if not self.blocks[block].writes[range] then
    return "sets", ("block %d writes range %d, which is not among those that it may write")
      :format(block, range)
  end
  local begun = self.begun[block][range]
  self.begun[block][range] = round
  if begun ~= round - 1 then
    return "rounds", format("block %d writes version %d of range %d after version %d", block,
      round, range, begun)
  end
  local rule, problem = self:may_write(block, range, round)
  if rule then return rule, problem end
  for p, pins in tables.each(self.pins) do
    local version = pins[range]
    if version and self.setting.depth > 0 and version + self.setting.depth <= round then
      return "version", ("block %d overwrites version %d of range %d, which block %d is reading")
        :format(block, version, range, p)
    end
  end
end

function Rounds:write(event)
  local block, range, round = event.block, event.range, event.round
  local rule, problem
  if self.begun[block][range] ~= round then rule, problem = self:fill(event) end
  if rule then return rule, problem end
  local open = self.open[block]
  if open and open.written[range] or self.done[block][range] ~= round - 1 then
    return "rounds", format("block %d has written version %d of range %d before", block, round,
      range)
  end
  self.hashes[range] = self.hashes[range] or {}
  self.hashes[range][round] = event.hash
  local into, value = open and open.written or self.done[block], open and true or round
  into[range] = value
end

-- The last commit of a process that died: where nobody has been told of it, the block is run again.
function Rounds:forget(block)
  local round = self.done[block].clock
  for _, clock in ipairs {self.done[block], self.seen[block], self.begun[block]} do
    for range in tables.each(clock) do clock[range] = round - 1 end
  end
end

-- A block begins: until it commits, what it writes counts for nothing.
function Rounds:begin(event)
  if not event.round then return "form", "the begin of a block of rounds names its round" end
  self.last[event.of] = nil
  if self.unsure[event.block] == event.round then self:forget(event.block) end
  local clock = self.done[event.block].clock or 0
  local open = self.open[event.block]
  self.open[event.block] = {of = event.of, process = event.process, round = event.round,
                            written = {}, line = event.line}
  if open then
    return "order", format("block %d begins again, and has not ended since line %d", event.block,
      open.line)
  end
  if event.round ~= clock + 1 then
    return "rounds", format("block %d begins round %d after round %d", event.block, event.round,
      clock)
  end
end

function Rounds:commit(event)
  local block, open = event.block, self.open[event.block]
  if not open then return "order", format("block %d ends, and has not begun", block) end
  self.open[block] = nil
  local round = open.round
  for range in tables.each(self.blocks[block].writes) do
    self.done[block][range] = round
    if self.begun[block][range] < round then self.begun[block][range] = round end
  end
  self.done[block].clock = round
  self:finish_reading(block, round)
  self.last[event.of], self.unsure[block] = {block = block, round = round}, nil
end

-- A block has failed in a round, or is passed over because another one has: it will write nothing
-- there, which counts as done and seen, and the job must fail, or stop before that round.
function Rounds:leave(event)
  local block, round = event.block, event.round
  if not round then return "form", "what leaves a block of rounds names the round" end
  local clock = self.done[block].clock or 0
  if round ~= clock + 1 then
    return "rounds", format("block %d leaves round %d out after round %d", block, round, clock)
  end
  self.open[block] = nil
  for range in tables.each(self.blocks[block].writes) do
    self.done[block][range], self.begun[block][range] = round, round
  end
  self.done[block].clock = round
  self:finish_reading(block, round)
  if not self.left or round < self.left.round then self.left = event end
end

--- A process is fenced: a block that it has begun and not committed did not happen, but for the
-- memory that the block has half written.
function Rounds:fence(of)
  local last = self.last[of]
  if last then self.unsure[last.block] = last.round end
  for block, open in tables.each(self.open) do
    if open.of == of then
      self.open[block], self.pins[block] = nil, {}
      for range, begun in tables.each(self.begun[block]) do
        if begun == open.round then self.begun[block][range] = begun - 1 end
      end
    end
  end
end

--- The job is over after a round: every writer's last update is there.
function Rounds:finish(event)
  local last = event.round or self.setting.rounds
  if self.left and self.left.round <= last then
    return "rounds", format("the job is over after round %.0f, and block %d has left round %d out",
      last, self.left.block, self.left.round)
  end
  for _, block in ipairs(self.numbers) do
    if self.open[block] and self.open[block].round <= last then
      return "order", format("block %d has not ended", block)
    end
    for range in tables.each(self.blocks[block].writes) do
      local done = self.done[block][range]
      if done < last then
        return "rounds",
          format("the job is over after round %.0f, and block %d has written range %d in "
          .. "round %d last: updates are lost", last, block, range, done)
      end
    end
  end
end

local HANDLERS = {read = Rounds.read, pin = Rounds.pin, seen = Rounds.has_seen, fill = Rounds.fill,
                  write = Rounds.write, begin = Rounds.begin, commit = Rounds.commit,
                  leave = Rounds.leave}

--- One event of a block; returns the rule that it breaks, and how.
function Rounds:take(event)
  local handler = HANDLERS[event.kind]
  if not handler then return "form", format("a job of rounds has no events '%s'", event.kind) end
  local rule, problem = self:check_round(event)
  if rule then return rule, problem end
  return handler(self, event)
end

return M
