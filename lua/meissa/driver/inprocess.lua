-- SPDX-License-Identifier: MIT
--- Loops in this process (MEISSA_WORKERS=0): the body runs as the plain Lua that it is.
--
-- An ordered loop is the plain loop. An unordered one visits the plan's blocks in the plan's serial
-- order, and its reductions are formed a block at a time as workers form them: the iterator sets
-- the variable to the operator's identity when a block begins and combines it when the block ends.
-- So the results have the same bits as with workers, for every operation on which the plain body
-- and the engines agree (`^`, math.max and math.min are the exceptions).
-- @module meissa.driver.inprocess

local core = require "meissa.core"
local frames = require "meissa.capture.stack_frame"
local grids = require "meissa.plan.grid"
local inprocess_history = require "meissa.driver.inprocess_history"
local kernel = require "meissa.kernel"
local nesting = require "meissa.base.nesting"

local M = {}

-- The loop that is running in this process, to recognise loops inside its body.
local active

-- How many frames lie below and including `level` (as seen from the caller).
local function depth_at(level)
  local depth = level + 1
  while debug.getinfo(depth, "l") do depth = depth + 1 end
  return depth - level - 1
end

-- Whether a local variable of the function at `level` of a thread (1: this one, if it is the thread
-- that runs) is the value. Those of a generic
-- `for`, which have no names in its text, exist as long as the loop is not left.
local function holds(thread, level, value)
  local k = 1
  repeat
    local name, found = debug.getlocal(thread, level, k)
    if rawequal(found, value) then return true end
    k = k + 1
  until not name
  return false
end

--- Marks the loop that runs here: the state of its iterator, which the function at `level` holds,
-- and no other loop has.
function M.enter(state, level)
  active = {state = state, thread = core.running(), depth = depth_at(level + 1)}
end

function M.leave()
  active = nil
end

-- Whether the loop's body has resumed the coroutine that runs, or one that did.
local function resumes()
  if coroutine.status(active.thread) ~= "normal" then return false end
  local depth = 0
  while debug.getinfo(active.thread, depth, "l") do depth = depth + 1 end
  return depth >= active.depth and holds(active.thread, depth - active.depth, active.state)
end

--- Whether the caller of the function that asks nesting.within() runs inside the body of a loop of
-- this process: written there, called from it, or in a coroutine that it resumes. A body that was
-- left by an error is recognised by that state being gone.
function nesting.in_plain_body()
  if not active then return false end
  if active.thread ~= core.running() then return resumes() end
  local depth = depth_at(4) -- behind this function, nesting.within, and who asks
  if depth < active.depth then return false end
  local within = holds(active.thread, 5 + depth - active.depth, active.state)
  return within -- after the call: a tail call would have taken this function's level
end

-- Functions for which LuaJIT's compiler and interpreter differ, so that the plain body may give
-- other last bits, or signs of zero, than the engines, which never use them.
local INEXACT = {["math.max"] = true, ["math.min"] = true, ["math.pow"] = true,
                 ["math.ceil"] = true}

-- Functions that visit the keys of a table in an order that differs from process to process; on
-- workers `pairs` goes by the keys.
local UNORDERED = {pairs = true, next = true}

--- Says once, for a loop that runs in this process, what may differ from a run on workers.
function M.notice_inexact(record, plan, bindings)
  if plan.noticed then return end
  plan.noticed = true
  local names, unordered = {}, nil
  if record.info.power then names[1] = "^" end
  for _, binding in ipairs(bindings) do
    if binding.kind == "builtin" and INEXACT[binding.name] then names[#names + 1] = binding.name end
    if binding.kind == "builtin" and UNORDERED[binding.name] then unordered = binding.name end
  end
  if #names > 0 then
    io.stderr:write(string.format(
      "meissa: %s:%d: %s may give other last bits here than on workers\n",
      record.file, record.line, table.concat(names, ", ")))
  end
  if unordered then
    io.stderr:write(string.format(
      "meissa: %s:%d: %s may visit keys in another order here than on workers\n",
      record.file, record.line, unordered))
  end
end

--- The reductions that a loop of this process forms block by block, and the private variables,
-- which have their values of before the loop afterwards (`private`), as M.blocks takes them.
-- @tab captures the loop's @tab slots theirs
function M.variables(plan, captures, slots)
  local list, private = {}, {}
  for _, scalar in ipairs(plan.scalar_list) do
    if scalar.role == "private" then
      private[#private + 1] = {capture = captures[scalar.capture], slot = slots[scalar.capture]}
    elseif scalar.role == "reduction" and kernel.depends_on_blocks(scalar) then
      list[#list + 1] = {capture = captures[scalar.capture], slot = slots[scalar.capture],
                         op = scalar.op, wins = scalar.wins}
    end
  end
  list.private = private
  return list
end

--- The iterator of an unordered loop in plan order.
-- @tab grid of the plan's blocks
-- @param cursor cursor(block) gives a function, and its state, that returns the block's iterations
-- one by one
-- @param reductions {{capture=, slot=, op=, wins=}, ..., private = {{capture=, slot=}, ...}}
-- @param func the running function or closure; @param frame_form whether its variables are read in
-- the frame of the generic `for` or among its upvalues (a closure)
-- @param ended is called with func's level, seen from it, after the last block
function M.blocks(grid, cursor, reductions, func, frame_form, ended)
  local next_block, told = grids.serial_order(grid), inprocess_history.loop(grid.blocks)
  local totals, identities, before = {}, {}, {}
  -- Seen from begin and finish the iterator is level 2, who calls it (meissa.random) level 3, and
  -- the loop's function level 4.
  local level = frame_form and 4 or nil

  local function begin(first)
    for k, each in ipairs(first and reductions.private or {}) do
      before[k] = frames.follow(each.capture, frames.read({each.slot}, func, level)[1])
    end
    for k, reduction in ipairs(reductions) do
      local root = frames.read({reduction.slot}, func, level)[1]
      if first then
        totals[k] = frames.follow(reduction.capture, root)
        identities[k] = kernel.identity(reduction, totals[k])
      end
      frames.write(reduction.capture, reduction.slot, func, level, identities[k])
    end
  end

  local function finish()
    for k, reduction in ipairs(reductions) do
      local root = frames.read({reduction.slot}, func, level)[1]
      totals[k] = kernel.combine_one(reduction, totals[k],
                                     frames.follow(reduction.capture, root))
      frames.write(reduction.capture, reduction.slot, func, level, totals[k])
    end
  end

  local function restore()
    for k, each in ipairs(reductions.private) do
      frames.write(each.capture, each.slot, func, level, before[k])
    end
  end

  local first, step, state, block = true, nil, nil, nil
  local function deliver(...)
    if ... ~= nil then return true, ... end
    return false
  end
  -- The common case, an iteration inside a block, allocates nothing.
  local function next_iteration()
    if step then return deliver(step(state)) end
    return false
  end
  return function()
    local more, i1, i2, i3, i4, i5, i6, i7, i8, i9 = next_iteration()
    while not more do
      if step then
        finish()
        told:commit(block)
      end
      block = next_block()
      if not block then
        step = nil
        told:over(true)
        if not first then restore() end
        M.leave()
        ended(level)
        return nil
      end
      told:begin(block)
      begin(first)
      first = false
      step, state = cursor(block)
      more, i1, i2, i3, i4, i5, i6, i7, i8, i9 = next_iteration()
    end
    return i1, i2, i3, i4, i5, i6, i7, i8, i9
  end
end

return M
