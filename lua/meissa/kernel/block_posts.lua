-- SPDX-License-Identifier: MIT
--- Posts where blocks are run: before a block its replica merges what it hears, after it posts what
-- it has come to (meissa.sync.post). The rows are versions of rounds (csrc/job/version.h).
-- @module meissa.kernel.block_posts

local ffi = require "ffi"
local generators = require "meissa.sync.generators"
local models = require "meissa.sync.models"
local message = require "meissa.kernel.message"
local posts = require "meissa.sync.post"
local settings_of = require "meissa.sync.settings"
local system = require "meissa.base.system"
local tables = require "meissa.base.tables"
local vectors = require "meissa.sync.vector"

local M = {}

local Posted = {}
Posted.__index = Posted

-- The options of a group's exchange.
local function options_of(told)
  if not told.rule then return told.options end
  local options = tables.copy(told.options)
  options.merge = message.open(told.rule)[1]
  return options
end

-- A group of replicas of which this process runs blocks.
local function open(told, arrays)
  local group = {members = {}, number = told.number, model = told.model, timed = told.timed,
                 drawn = told.drawn}
  if group.model then models.open(group.model, told.failures, told.groups) end
  if group.drawn then generators.load_torch(group.drawn) end
  local settings = told.options and settings_of.read("meissa.replicate", options_of(told),
                                                     told.replicas)
  group.posts = posts.new(settings, told.count, told)
  group.in_rows = told.in_rows
  for m, member in ipairs(told.in_rows and {} or told.members) do
    local memory = member.array and arrays[member.array].pointer or
      vectors.new(member.count) -- the body has no use for it
    group.members[m] = vectors.copy(memory, member.type, member.count)
    group.members[m].keep = memory
  end
  group.values = not told.in_rows and vectors.new(told.count) or nil
  return group
end

--- The posts of a job that has some.
-- @tab where what collect of meissa.plan.operands tells @tab own the private memory of its blocks
-- @tab versions of its rows @number round after which the job begins
function M.of(where, own, versions, round)
  local told = where.posts
  local self = setmetatable({groups = {}, replicas = told.replicas, versions = versions,
                             oldest = told.oldest or math.huge, round = round}, Posted)
  for g, each in ipairs(told.groups) do
    self.groups[g] = open(each, own.arrays)
    self.timed = self.timed or each.timed
  end
  return self
end

--- Sets up for another job.
function Posted:renew(round)
  self.round = round
  for _, group in ipairs(self.groups) do group.posts:forget() end
end

-- What replica k of a group hears in round `last` of the job.
local function rows_of(self, group, k, last)
  local array, core = self.versions.arrays[group.number - 1], self.versions.core
  local heard, size = ffi.cast("double *", array.last), group.posts.at.size
  local function row(j) return heard + (j - 1) * size end
  local function seen(j)
    if core.wanted == nil then return last end
    return tonumber(core.wanted[j - 1])
  end
  return {own = row(k), of = row, seen = seen, last = last, oldest = last - self.oldest}
end

-- The row that replica k of a group writes.
local function next_row(self, group, k)
  local array = self.versions.arrays[group.number - 1]
  return ffi.cast("double *", array.next) + (k - 1) * group.posts.at.size
end

-- What a replica begins with is what its copies hold, where that counts.
local function hold(group, row, value)
  if not group.posts:are_changes() then return end
  if not group.in_rows then vectors.load(group.members, group.values) end
  group.posts:hold(group.values or value or row, row)
end

-- Gives a replica the merged values that its block begins with: in its model, if this process has
-- one that goes on, else in its copies of the arrays. Returns the model.
local function begin(self, group, k, last)
  local rows, row = rows_of(self, group, k, last), next_row(self, group, k)
  local count = group.posts.count
  local model = group.model and group.in_rows and row[group.posts.at.made] ~= 0 and
    models.going_on(group.model, k, count, row[group.posts.at.made]) or nil
  local into = group.in_rows and (model and model.vector.pointer or row) or nil
  local value = rows.own
  if last > 0 then value = group.posts:merge(k, self.round + last, rows, row, into) end
  if not into then
    vectors.store(group.members, value)
  elseif value ~= into then
    ffi.copy(into, value, 8 * count)
  end
  hold(group, row, into)
  return row, model
end

-- What takes time that controllers ask for, of this thread alone: how long others have the core is
-- no matter.
local EXCHANGE, BODY = 0, 1
local clock = 0

-- Adds the time since this was asked, or since the block began.
local function spend(group, row, what)
  if not group.timed then return end
  local now = system.cpu_clock()
  group.posts:spend(row, what, now - clock)
  clock = now
end

-- Begins the block of a model, whose generators go on from those of the row; `model`, if its
-- parameters are what it begins with.
local function enter_model(group, k, row, model)
  local at, own = group.posts.at, group.own or generators.kept()
  group.own = own
  generators.recall(own, row + at.drawn, group.drawn)
  local vector = group.members[1] or {pointer = row, count = group.posts.count, type = "double"}
  models.enter(group.model, {k = k, vector = vector, given = model, blocks = row[at.made],
                             loaded = function() hold(group, row) end, generators = own})
end

-- Ends it. Random numbers go on whether or not the model was asked for.
local function leave_model(group, row)
  local made = row + group.posts.at.made
  if models.leave(group.model) then made[0] = made[0] + 1 end
  generators.keep(group.own, row + group.posts.at.drawn, group.drawn)
end

--- Before a block.
function Posted:begin(block)
  clock = self.timed and system.cpu_clock() or 0
  local k = block % self.replicas + 1
  local last = (block - (k - 1)) / self.replicas
  for _, group in ipairs(self.groups) do
    local row
    row, group.given = begin(self, group, k, last)
    spend(group, row, EXCHANGE)
  end
  -- No group merges while the generators of another's model are in place, nor does one post.
  for _, group in ipairs(self.groups) do
    if group.model then enter_model(group, k, next_row(self, group, k), group.given) end
  end
end

--- After a block that failed.
function Posted:leave()
  for _, group in ipairs(self.groups) do
    if group.model then models.leave(group.model) end
  end
end

--- After a block that succeeded.
function Posted:finish(block)
  local k = block % self.replicas + 1
  local t = (block - (k - 1)) / self.replicas + 1
  for _, group in ipairs(self.groups) do
    if group.model then leave_model(group, next_row(self, group, k)) end
  end
  for _, group in ipairs(self.groups) do
    local row = next_row(self, group, k)
    spend(group, row, BODY)
    if not group.in_rows then vectors.load(group.members, row) end
    group.posts:post(k, self.round + t, row)
    spend(group, row, EXCHANGE)
  end
end

return M
