-- SPDX-License-Identifier: MIT
--- Histories of loops: every block begins once and commits once, in which order blocks that touch
-- the same elements come, how buffers are merged, and what filters keep.
--
-- What blocks touch is known where a run recorded it; it is compared range by range of elements.
-- @module meissa.check.history_blocks

local tables = require "meissa.base.tables"

local M = {}

local Blocks = {}
Blocks.__index = Blocks

--- The state of one job of blocks.
-- @tab setting the event `loop`
function M.new(setting)
  return setmetatable({setting = setting, open = {}, over = {}, count = 0, touched = {},
                       stage = 1, merged = {}, last_merged = -1, last = {}, waiting = {},
                       unsure = {}}, Blocks)
end

function Blocks:begin(event)
  local block = event.block
  self.last[event.of] = nil
  if self.unsure[block] then
    self:forget(block)
    self.unsure[block] = nil
  end
  if self.over[block] then
    return "blocks", string.format("block %d is run again: it was over in line %d", block,
      self.over[block])
  end
  if self.open[block] then
    return "blocks", string.format("block %d begins again, and has not ended since line %d", block,
      self.open[block].line)
  end
  self.open[block] = {line = event.line, of = event.of, process = event.process, touches = {}}
  if event.stage and event.stage ~= self.stage then
    return "stages", string.format("block %d of stage %d begins in stage %d", block, event.stage,
      self.stage)
  end
end

local function meet(one, other)
  return one.array == other.array and (one.write == 1 or other.write == 1)
    and one.first <= other.last and other.first <= one.last
end

local function in_conflict(touches, others)
  for _, one in ipairs(touches) do
    for _, other in ipairs(others) do
      if meet(one, other) then return one end
    end
  end
end

function Blocks:touch(event)
  local open = self.open[event.block]
  if not open or open.of ~= event.of then
    return "blocks", string.format("block %d touches elements, and does not run there", event.block)
  end
  for block, other in tables.each(self.open) do
    if block ~= event.block and in_conflict({event}, other.touches) then
      return "conflict",
        string.format("blocks %d and %d run at the same time, and touch elements %d to %d of "
        .. "array %d", event.block, block, event.first, event.last, event.array)
    end
  end
  table.insert(open.touches, event)
  -- In the loop's order: nothing that has run may come after this.
  for block, touches in tables.each(self.setting.ordered == 1 and self.touched or {}) do
    if block > event.block and in_conflict({event}, touches) then
      return "conflict",
        string.format("block %d touches elements %d to %d of array %d after block %d, which "
        .. "follows it", event.block, event.first, event.last, event.array, block)
    end
  end
end

function Blocks:commit(event)
  local open = self.open[event.block]
  if not open then
    return "blocks", string.format("block %d ends, and has not begun", event.block)
  end
  self.open[event.block] = nil
  if open.of ~= event.of then
    return "blocks",
      string.format("%s ends block %d, which %s has begun", event.process, event.block,
      open.process)
  end
  self.over[event.block], self.touched[event.block] = event.line, open.touches
  self.last[event.of] = event.block
  self.count = self.count + 1
  -- What several blocks leave together comes with the last of them.
  local waiting = self.waiting[event.of] or {}
  waiting[#waiting + 1] = event.block
  self.waiting[event.of] = event.deferred == 1 and waiting or nil
end

-- A block has failed, or is passed over because another one has: it does not count, so the job must
-- fail.
function Blocks:leave(event)
  local open = self.open[event.block]
  self.open[event.block] = nil
  if open and open.of ~= event.of then
    return "blocks",
      string.format("%s leaves block %d, which %s has begun", event.process, event.block,
      open.process)
  end
  if self.over[event.block] then
    return "blocks", string.format("block %d is left: it was over in line %d", event.block,
      self.over[event.block])
  end
  self.over[event.block] = event.line
end

-- What a block has pending is merged when all of its stage has ended, in the order of blocks.
function Blocks:merge(event)
  if event.stage ~= self.stage then
    if event.stage ~= self.stage + 1 then
      return "stages", string.format("stage %d is merged after stage %d", event.stage, self.stage)
    end
    self.stage, self.last_merged = event.stage, -1
  end
  if self.merged[event.block] then
    return "stages", string.format("block %d is merged again: it was in line %d", event.block,
      self.merged[event.block])
  end
  self.merged[event.block] = event.line
  if not self.over[event.block] then
    return "stages", string.format("block %d is merged before it has ended", event.block)
  end
  local last = self.last_merged
  self.last_merged = event.block
  if event.block < last then
    return "stages", string.format("block %d is merged after block %d", event.block, last)
  end
end

-- A block has not ended after all.
function Blocks:forget(block)
  self.over[block], self.touched[block] = nil, nil
  self.count = self.count - 1
end

--- A process is fenced: the blocks that it has begun and not committed are another's to run, and so
-- may be its last one, if nobody has been told of its end, and those whose results were to come
-- with a later one's.
function Blocks:fence(of)
  if self.last[of] then self.unsure[self.last[of]] = true end
  for _, block in ipairs(self.waiting[of] or {}) do self.unsure[block] = true end
  self.waiting[of] = nil
  for block, open in tables.each(self.open) do
    if open.of == of then self.open[block] = nil end
  end
end

--- The job is over: every block is.
function Blocks:finish()
  if self.count ~= self.setting.blocks then
    return "blocks",
      string.format("the job is over, and %d of its %d blocks have ended", self.count,
      self.setting.blocks)
  end
  local of, waiting = tables.next(self.waiting)
  if of then
    return "blocks",
      string.format("the job is over, and %s has not told what block %d has left", of, waiting[1])
  end
  if not (self.setting.stages and self.setting.stages > 0) then return end
  for block in tables.each(self.over) do
    if not self.merged[block] then
      return "stages", string.format("what block %d has pending is not merged", block)
    end
  end
end

local HANDLERS = {begin = Blocks.begin, commit = Blocks.commit, leave = Blocks.leave,
                  touch = Blocks.touch, merge = Blocks.merge}

--- One event of a block; returns the rule that it breaks, and how.
function Blocks:take(event)
  local handler = HANDLERS[event.kind]
  if not handler then return "form", string.format("a loop has no events '%s'", event.kind) end
  return handler(self, event)
end

--- What a filter has produced it has sent, kept, dropped or seen invalidated.
function M.check_ledger(event)
  local told = event.sent + event.pending + event.dropped + event.invalidated
  local scale = math.abs(event.produced) + math.abs(told)
  if math.abs(event.produced - told) <= 1e-12 * scale then return end
  return "ledger",
    string.format("%.17g was produced, and %.17g sent, pending, dropped or invalidated",
    event.produced, told)
end

return M
