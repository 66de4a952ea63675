-- SPDX-License-Identifier: MIT
--- An array of each replica of meissa.replicas that is exchanged, round after round.
--
-- A round is one of posts (meissa.sync.post), as in loops: each replica's row has what it holds and
-- tells, and a version of it is kept for as many rounds as the options let messages be old. All
-- replicas come to a round together, so each hears the newest of all that it may hear, that round,
-- unless `lags` are injected; nobody is late. Before the first round each holds zeros: all is
-- change. One thread.
-- @module meissa.sync.exchanged_array

local array = require "meissa.array"
local errors = require "meissa.base.errors"
local ffi = require "ffi"
local posts = require "meissa.sync.post"
local settings_of = require "meissa.sync.settings"
local vectors = require "meissa.sync.vector"
local waits = require "meissa.sync.waits"

local M = {}

local Exchanged = {}
Exchanged.__index = Exchanged

-- What loops have of their own.
local function check(options)
  if options.staleness == "auto" then
    errors.raise("OPT", "r:exchange: staleness = \"auto\" is chosen while a loop runs " ..
                 "(meissa.replicate): give a number of rounds")
  end
  if type(options.merge) == "table" and options.merge.damp ~= nil then
    errors.raise("OPT", "r:exchange: a merge damps arrays in loops (meissa.replicate), which " ..
                 "know what a round has written: leave out 'damp', and give 'sigma', and let " ..
                 "the function itself do alpha = old + gamma * (alpha - old)")
  end
end

-- The mechanism for some options.
local function open(self, options)
  check(options)
  local settings = settings_of.read("r:exchange", options, self.replicas)
  self.lags = waits.open(settings.waits, 1).lags
  self.posts = posts.new(settings, self.count,
                         {lagged = self.lags ~= nil, exact = settings_of.is_exact(settings)})
  return settings
end

local function copy_of(row, size)
  local copy = vectors.new(size)
  ffi.copy(copy, row, 8 * size)
  return copy
end

--- A new one of `count` elements.
-- @tab options @number replicas how many
-- @func lags_of lags_of(lags, t) gives the lag of each replica's message of round t as a pointer
-- Errors: OPT.
function M.new(options, count, replicas, lags_of)
  local self = setmetatable({count = count, replicas = replicas, lags_of = lags_of, t = 0,
                             before = {}, bytes = {}}, Exchanged)
  self.settings = open(self, options)
  for k = 1, replicas do self.before[k] = vectors.new(count) end
  self:begin()
  return self
end

-- Rows that begin with what replicas hold; rounds are counted from here.
function Exchanged:begin(earlier, rows)
  self.first, self.versions, self.bytes = self.t, {[0] = {}}, {}
  for k = 1, self.replicas do
    local row = vectors.new(self.posts.at.size)
    self.posts:begin(k, self.before[k], row)
    if earlier then
      earlier:renew(self.before[k], rows[k])
      self.posts:carry(earlier, k, rows[k], row)
    end
    self.versions[0][k], self.bytes[k] = row, 0
  end
  self.rows = self.versions[0]
end

--- Goes on with other options, or another function that merges.
-- Errors: OPT.
function Exchanged:change(options)
  local earlier, rows = self.posts, self.rows
  local settings = open(self, options)
  settings_of.check_change(self.settings, settings)
  self.settings = settings
  self:begin(earlier, rows)
end

--- Goes on with another copy of the function that merges.
function Exchanged:call(rule) self.posts:call(rule) end

-- An array's memory, or that of a copy, as vectors take it.
local function copies_of(w)
  local about, core = array.describe(w), array.core(w)
  return {{pointer = ffi.cast(about.type .. " *", core.data), type = about.type,
           count = about.count}}
end

-- What replica k hears in the round that is the t-th from the first.
local function heard(self, k, t, lags)
  local function version(j)
    return math.max(0, t - (lags and j ~= k and lags[j - 1] or 0))
  end
  return {own = self.versions[t][k], last = t, oldest = 0, seen = version,
          of = function(j) return self.versions[version(j)][j] end}
end

-- Each replica's row with what it holds now, for others.
local function post_all(self, list)
  local at, sent = self.posts.at, 0
  for k, w in ipairs(list) do
    local row = self.rows[k]
    vectors.load(copies_of(w:clone()), row)
    self.posts:hold(self.before[k])
    self.posts:post(k, self.t, row)
    sent, self.bytes[k] = sent + row[at.bytes] - self.bytes[k], row[at.bytes]
  end
  return sent
end

--- Exchanges what replicas hold.
-- @tab list an array of each
-- @treturn number the bytes that were sent
-- Errors: OPT BDY.
function Exchanged:round(list)
  self.t = self.t + 1
  local t, size, made = self.t - self.first, self.posts.at.size, {}
  local sent = post_all(self, list)
  self.versions[t] = self.rows
  local lags = self.lags and self.lags_of(self.lags, self.t)
  for k, w in ipairs(list) do
    made[k] = copy_of(self.rows[k], size)
    local value, new = self.posts:merge(k, self.t, heard(self, k, t, lags), made[k]), w:clone()
    vectors.store(copies_of(new), value)
    w:copy(new)
    vectors.load(copies_of(new), self.before[k]) -- floats are rounded
  end
  self.rows = made
  self.versions[t - (self.lags and self.lags.most or 0)] = nil
  return sent
end

return M
