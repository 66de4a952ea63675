-- SPDX-License-Identifier: MIT
--- Failures of loops: what becomes of the arrays, and what the user is told.
-- @module meissa.driver.loop_failure

local array = require "meissa.array"
local core = require "meissa.core"
local errors = require "meissa.base.errors"
local interrupt = require "meissa.base.interrupt"
local layouts = require "meissa.plan.layout"
local stages = require "meissa.plan.stage"
local tables = require "meissa.base.tables"
local thrown = require "meissa.base.thrown"
local frames = require "meissa.capture.stack_frame"

local M = {}

--- Where a block lies, in the user's index names: "block 3, i = 1 to 20".
function M.describe_block(run, layout, number)
  local block = layouts.block(layout, number)
  if block.first then
    return string.format("block %d, entries %d to %d of the partition", number, block.first,
      block.last)
  end
  local parts = {}
  for d, name in ipairs(run.plan.indices) do
    if block.lo[d] then
      parts[#parts + 1] = string.format("%s = %d to %d", name, block.lo[d], block.hi[d])
    end
  end
  return string.format("block %d, %s", number, table.concat(parts, ", "))
end

-- File and line of the loop; of one of the module's own, those of the user's call that leads to it.
local function place_of(run)
  local record = run.record
  local file, line
  if record.own then file, line = errors.place() end
  if not file then return record.file, record.line end
  return file, line
end

--- "script.lua:7", where the loop stands.
function M.place(run) return string.format("%s:%d", place_of(run)) end

--- After a failure that was not undone: the contents of what the loop wrote are unknown. `why` is
-- an error or its text.
function M.invalidate(run, why)
  local message = string.format("the loop at %s did not finish: %s",
    M.place(run), type(why) == "table" and why.message or tostring(why))
  for _, value in ipairs(stages.changed(run)) do array.mark_invalid(value, message) end
end

-- Raises an error; one without a place, as of rules that are called from C, has that of the loop.
local function raise_placed(run, err)
  if errors.is(err) and not err.file then err.file, err.line = place_of(run) end
  error(err, 0)
end

-- Raises what went wrong in merging: what a rule has raised, or the core's error.
local function raise_merging(run, failure)
  local raised = failure.raised
  if failure.fault then raised = errors.from_core(failure.fault) end
  if failure.lost then M.invalidate(run, raised) end
  raise_placed(run, raised)
end

--- Raises what a failed job means for the user.
-- @tab run the loop's run @tab layout of its blocks @tab failure as session:run gives it
function M.raise(run, layout, failure)
  if not failure.code then raise_merging(run, failure) end
  local fields = {code = failure.code, message = failure.message, worker = failure.worker}
  fields.file, fields.line = place_of(run)
  if failure.payload then
    for name, value in tables.each(thrown.decode(failure.payload)) do fields[name] = value end
  elseif failure.block then
    fields.message = string.format("%s, in %s", failure.message,
                                          M.describe_block(run, layout, failure.block))
  end
  if failure.repeated then
    fields.message = string.format("%s (engine %s): the second worker that this block ended, " ..
      "so %s", fields.message, run.plan.engine,
      failure.lost and "what the loop writes is lost" or "the loop was undone")
  end
  fields.traceback = nil
  if failure.lost then M.invalidate(run, fields.message) end
  error(errors.new(fields), 0)
end

--- Raises INT after a loop that was interrupted and went on to its end. `place` is where it stands,
-- as debug.getinfo has it.
function M.raise_interrupted(place)
  error(errors.new {code = "INT", message = "interrupted, after the end of the loop",
                    file = place.short_src, line = place.currentline}, 0)
end

--- The same where a run was, all of which is done: Ctrl-C waits no longer.
function M.check_interrupted(run)
  if run.held and interrupt.release() then run.interrupted = true end
  if not run.interrupted then return end
  local file, line = place_of(run)
  M.raise_interrupted {short_src = file, currentline = line}
end

--- Assigns what a loop has left; where that fails, Ctrl-C is held no longer.
-- @tab run the loop's run @tab slots of its captures
-- @tab assigned a list of {capture =, value =}
-- @func func the function with the loop @number[opt] level its level, seen from the caller; nil: a
-- closure's
-- Errors: INT, where Ctrl-C was pressed meanwhile; what stores of the user's raise.
function M.assign(run, slots, assigned, func, level)
  for _, each in ipairs(assigned) do
    local ok, err = pcall(frames.write, run.record.captures[each.capture], slots[each.capture],
                          func, level and level + 2, each.value)
    if not ok then
      if run.held then interrupt.release() end
      error(err, 0)
    end
  end
  M.check_interrupted(run)
end

local First = {}
First.__index = First

--- Finds the first of the errors of blocks that run one after the other in the plan's order, as
-- the runtime does (failure.h).
-- @param together of grid.lua; nil: the plan's order counts @param order_of of execution.lua
function M.first(together, order_of)
  return setmetatable({together = together, order_of = order_of}, First)
end

--- Whether a block can still change which error is the first.
function First:needs(number)
  return not self.err or
    self.together ~= nil and math.floor(number / self.together) <= self.turn
end

--- Takes what a block has failed with, nil if it has not.
function First:take(number, err)
  if not err then return end
  local turn = self.together and math.floor(number / self.together)
  local order = self.order_of and self.order_of(err) or ""
  local earlier = not self.err or turn < self.turn or turn == self.turn and order < self.order
  if earlier then self.err, self.turn, self.order = err, turn, order end
end

--- Raises the first error, if there is one.
function First:check()
  if self.err then error(errors.new(self.err), 0) end
end

-- The last log of this process, which is free.
local spare

-- What the loop may write in this process, as it is now, and room for what is merged into.
local function log_here(run, key, operands)
  local log, err = core.undo {key = key, operands = operands.core, plan = run.grid.core,
                              merged = stages.merged(run), spare = spare}
  spare = nil
  if not log then errors.raise_core(err) end
  return log
end

--- Runs a loop's blocks in this process. If that fails, its arrays are put back, or, if the loop is
-- no transaction, marked as lost, and the error is raised.
-- @tab run the loop's run @string key its kernel's @tab operands of its job
-- @func blocks blocks(log) runs them and tells the log, if there is one, what it merges
-- Errors: ARR when there is no memory for the log.
function M.undo_here(run, key, operands, blocks)
  local log = run.space.transaction and log_here(run, key, operands)
  local ok, err = pcall(blocks, log)
  if not ok and log then
    log:restore()
  elseif not ok then
    M.invalidate(run, err)
  end
  if log then
    log:free()
    spare = log
  end
  if not ok then raise_placed(run, err) end
end

return M
