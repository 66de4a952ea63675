-- SPDX-License-Identifier: MIT
--- Loops over replicas whose rounds have no barrier: jobs of several rounds, in which each replica
-- goes on as soon as the messages are there that it has to wait for.
--
-- A block is a replica's part of a round. It merges what it hears before its body runs, and posts
-- what has come of it (meissa.sync.post); rows are versions, and what waits for what is the gate's,
-- as in meissa.iterate, with the edges of the topology as readers. A job ends at a cut: then all
-- hear the last round of all, and the next one begins with that.
-- @module meissa.driver.posted_rounds

local array = require "meissa.array"
local c_api = require "meissa.array.c_api"
local errors = require "meissa.base.errors"
local ffi = require "ffi"
local generators = require "meissa.sync.generators"
local lags = require "meissa.driver.lags"
local nesting = require "meissa.base.nesting"
local merging = require "meissa.sync.merging"
local message = require "meissa.kernel.message"
local models = require "meissa.sync.models"
local pool = require "meissa.driver.pool"
local posts = require "meissa.sync.post"
local replay = require "meissa.driver.replay"
local settings_of = require "meissa.sync.settings"
local shares_of = require "meissa.plan.share"
local tables = require "meissa.base.tables"
local vectors = require "meissa.sync.vector"
local version_memory = require "meissa.driver.version_memory"
local waits = require "meissa.sync.waits"

local M = {}

local lib = c_api.lib

-- Blocks of a job at most: what each leaves is kept until its end.
local MOST_BLOCKS = 2 ^ 20

-- Equal loads of blocks, so that each process gets the same replicas as before.
local function even_loads(replicas)
  local loads = ffi.new("uint64_t[?]", replicas)
  for k = 0, replicas - 1 do loads[k] = 1 end
  return loads
end

local Posted = {}
Posted.__index = Posted

-- The rows of all replicas, as they are now.
local function rows_of(self, g)
  return ffi.cast("double *", array.core(self.versions.memory.arrays[g].start).data)
end

-- The options of an exchange that workers have to know.
local function options_of(settings)
  local options = {}
  for _, name in ipairs(settings_of.OPTIONS) do options[name] = settings.asked[name] end
  options.topology = settings.topology.what
  if type(options.merge) == "table" and options.merge.damp then
    options.merge = {add = options.merge.add, sigma = settings.merge.sigma} -- what damping gives it
  elseif type(options.merge) == "function" then
    options.merge = nil
  end
  return options
end

local WORDS = {path = function() return "the function of option 'merge'" end,
               remedy = "It is called where replicas are, with copies of what it captures."}

-- A function as merge goes to each job with what it captures by then; this process, too, calls a
-- copy, so that it makes no difference who calls it.
local function send_rules(self)
  for g, state in ipairs(self.states) do
    local merge = state.exchange and state.exchange.settings.merge
    if merge and merge.kind == "function" then
      self.told[g].rule = message.pack({merge.rule}, 1, WORDS)
      self.exchanges[g]:call(message.open(self.told[g].rule)[1])
    end
  end
end

-- Whether the replicas of a group hear all of the round before, for now, and begin with the same.
local function are_alike(state, settings)
  local all, number = merging.pointers(state.before)
  return settings_of.is_prompt(settings) and lib.ms_replica_alike(all, number, state.count)
end

-- What workers are told of a group. Models are built each for itself, and may begin with anything.
local function told_of(state, lagged, check, timed)
  local group, members, settings = state.group, {}, state.exchange and state.exchange.settings
  local unlike = group.model and not group.begun
  local alike = settings and are_alike(state, settings) or nil
  for m, each in ipairs(group.members) do
    local about = array.describe(each.copy)
    members[m] = {id = about.id, type = about.type, count = about.count}
  end
  return {options = settings and options_of(settings), count = state.count, lagged = lagged,
          exact = settings and settings_of.is_exact(settings) or nil,
          alike = not unlike and alike or nil, by_round = alike, check = check, timed = timed,
          model = group.model and group.model.id,
          failures = group.model and group.model.failures,
          groups = group.model and models.groups(),
          drawn = group.model and generators.size(), members = members}
end

-- Has the rows of models begin with what their replicas had in the end, be it of an earlier loop:
-- how often they have been asked for, and their generators.
local function begin_models(self, g, data)
  local group, at, size = self.states[g].group, self.exchanges[g].at, self.told[g].drawn
  if not size then return end
  local known = group.drawn
  for k = 1, self.replicas do
    local row = data + (k - 1) * at.size
    generators.keep_new(group.model.draws, k, row + at.drawn, size)
    row[at.made] = 0
    if known then
      row[at.made] = math.max(1, known.made[k]) -- what it begins with is merged
      ffi.copy(row + at.drawn, known.rows + (k - 1) * known.size,
               8 * math.min(size, known.size)) -- Torch may have been loaded since
    end
  end
end

-- Keeps that.
local function keep_models(self, g)
  local at, size, group = self.exchanges[g].at, self.told[g].drawn, self.states[g].group
  group.begun = true
  if not size then return end
  local kept, data, made = ffi.new("double[?]", self.replicas * size), rows_of(self, g), {}
  for k = 1, self.replicas do
    local row = data + (k - 1) * at.size
    ffi.copy(kept + (k - 1) * size, row + at.drawn, 8 * size)
    made[k] = row[at.made]
  end
  group.drawn = {rows = kept, size = size, made = made}
end

-- Whom each replica reads in some group: sets, by number.
local function union_of(exchanges, replicas)
  local union
  for _, exchange in ipairs(exchanges) do
    local sets = exchange:sets(replicas)
    if exchange.complete then return sets end
    for k = 1, union and replicas or 0 do
      for j in tables.each(union[k]) do sets[k][j] = true end
    end
    union = sets
  end
  return union
end

-- Rows that begin with what the replicas hold, as version_memory, and with what others had.
local function open_rows(self, earlier)
  local values, anew = {}, {} -- bytes that a block writes before anybody reads them
  for g, state in ipairs(self.states) do
    local exchange = self.exchanges[g]
    anew[g] = 8 * exchange.at.anew
    local rows = array.zeros({self.replicas, exchange.at.size})
    local data = ffi.cast("double *", array.core(rows).data)
    for k = 1, self.replicas do
      local row = data + (k - 1) * exchange.at.size
      exchange:begin(k, state.before[k], row)
      if earlier then
        local others = earlier.exchanges[g]
        exchange:carry(others, k, rows_of(earlier, g) + (k - 1) * others.at.size, row)
      end
    end
    begin_models(self, g, data)
    values[g] = rows
  end
  local starts = {}
  for k = 1, self.replicas + 1 do starts[k] = k end
  local memory = version_memory.new(values, self.sync.versions, self.sync)
  self.versions = {memory = memory, next = {}, of = {}, starts = starts, by_number = true,
                   anew = anew}
end

--- What the rounds of a loop need beside the loop.
-- @tab run the loop's run @tab states of its groups: {group =, before = vectors,
-- copies = function(k), count =} each @number rounds how many the loop may have
-- @tab[opt] earlier the same before settings changed
-- Errors: OPT ARR INT.
function M.new(run, states, rounds, earlier)
  local self = setmetatable({run = run, states = states, replicas = states[1].group.replicas,
                             exchanges = {}, told = {}, missed = 0, spent = {},
                             worked = {}}, Posted)
  for k = 1, self.replicas do self.spent[k], self.worked[k] = 0, 0 end
  local settings, timed
  for _, state in ipairs(states) do
    timed = timed or state.group.controller and true
    settings = settings or state.exchange and state.exchange.settings
  end
  self.sync = waits.open(settings.waits, pool.workers())
  version_memory.limit_to(self.sync, math.min(rounds, self:most()))
  local lagged = self.sync.lags ~= nil
  for g, state in ipairs(states) do
    self.told[g] = told_of(state, lagged, run.space.check and true or nil, timed)
    self.exchanges[g] = posts.new(state.exchange and state.exchange.settings, state.count,
                                  self.told[g])
    self.even = self.even or state.group.model and even_loads(self.replicas)
  end
  self.sync.versions = math.max(self.sync.versions, replay.record() and replay.record().depth or 0)
  self.found = waits.found(union_of(self.exchanges, self.replicas))
  open_rows(self, earlier)
  return self
end

local function on_workers() return not nesting.in_body and pool.workers() > 0 end

-- How the blocks of a job wait for each other.
local function describe(self)
  local sync, first, reads = self.sync, waits.packed(self.found)
  return waits.of_job(sync, first, reads, self.found.sets,
                      sync.images and (sync.lags or on_workers() or replay.record()))
end

-- The job's grid, rows and waits.
local function prepare(self, shares, round, first, count)
  local run = self.run
  run.grid = shares_of.rounds(run, shares, first, count)
  run.rounds, run.versions = describe(self), self.versions
  send_rules(self)
  run.posts = {replicas = self.replicas, groups = self.told, round = round,
               oldest = self.sync.oldest}
  run.first, run.last, run.even_loads = 0, run.grid.blocks, self.even
  run.along, run.lags = nil, nil
  local record = not nesting.in_body and replay.record()
  local along = record and self.sync.images and replay.next(count, self.replicas)
  if along then
    run.along = along
  elseif self.sync.lags then
    run.lags = lags.table(self.sync.lags, run.draws, round + 1, round + count, self.replicas,
                          "replica")
    run.along = {reads = lags.reads(run.lags, self.found.sets, self.replicas)}
  end
  return along and true or false
end

-- All hear the last of all, and begin anew with it; the bytes that were sent.
local function settle(self, g, round, count)
  local state, exchange, bytes = self.states[g], self.exchanges[g], 0
  exchange:forget()
  exchange.several = true
  local began = exchange.common and exchange.by_round and vectors.new(state.count)
  if began then ffi.copy(began, state.before[1], 8 * state.count) end
  local at, rows, made = exchange.at, rows_of(self, g), {}
  local function of(j) return rows + (j - 1) * at.size end
  for k = 1, self.replicas do
    made[k] = vectors.new(at.size)
    ffi.copy(made[k], of(k), 8 * at.size)
    local value = exchange:merge(k, round + count, {own = of(k), of = of, last = count, oldest = 0,
                                                    seen = function() return count end}, made[k])
    vectors.store(state.copies(k), value)
    vectors.load(state.copies(k), state.before[k])
  end
  for k = 1, self.replicas do
    if at.bytes then
      bytes, self.missed = bytes + of(k)[at.bytes], self.missed + of(k)[at.missed]
    end
    if at.times then
      local times = of(k) + at.times
      self.spent[k], self.worked[k] = self.spent[k] + times[0], self.worked[k] + times[1]
    end
    if at.total and state.exchange and not began then
      state.exchange:take_total(of(k) + (at.changed or at.total))
    end
    exchange:check(k, made[k])
    exchange:renew(state.before[k], made[k])
    ffi.copy(of(k), made[k], 8 * at.size)
    if at.sum and state.exchange then state.exchange:take_sum(k, of(k) + at.sum) end
  end
  if began then state.exchange:take_common(began, state.before[1]) end
  return bytes
end

--- How many messages were not there since this was asked.
function Posted:take_missed()
  local missed = self.missed
  self.missed = 0
  return missed
end

--- Seconds of its core that a replica has worked on bodies, and spent on exchanges, since this was
-- asked, if controllers are to know: the least of all, as first blocks of a process compile.
function Posted:take_times()
  local worked, spent = math.huge, math.huge
  for k = 1, self.replicas do
    worked, spent = math.min(worked, self.worked[k]), math.min(spent, self.spent[k])
    self.worked[k], self.spent[k] = 0, 0
  end
  return worked, spent
end

--- How many rounds a job may have.
function Posted:most() return math.max(1, math.floor(MOST_BLOCKS / self.replicas)) end

--- Runs `count` rounds of the shares from `first` on, the loop's rounds after `round`, in one
-- job.
-- @func step runs it: step(run, here), `here` if it must be in this process
-- @return what step gives
-- @return bytes that were sent, by group
-- Errors: BDY WRK INT NET ARR.
function Posted:run_rounds(shares, round, first, count, step)
  local replayed = prepare(self, shares, round, first, count)
  local result, bytes = step(self.run, replayed), {}
  if self.versions.memory:advance(count) then
    errors.raise("INT", "interrupted between two rounds")
  end
  for g in ipairs(self.states) do
    bytes[g] = settle(self, g, round, count)
    keep_models(self, g)
  end
  return result, bytes
end

return M
