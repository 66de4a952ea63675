-- SPDX-License-Identifier: MIT
--- Nesting: whether the body of a loop is running, in which parallel loops are plain ones.
-- @module meissa.base.nesting
local errors = require "meissa.base.errors"

local M = {}

--- True in workers, and in other processes while they run a loop's body as workers do.
M.in_body = false

--- The same of bodies that this process runs as plain Lua: driver/inprocess.lua has what finds out.
function M.in_plain_body() return false end

--- Whether who has called the function that asks this is in a loop's body, of either kind.
function M.within()
  local within = M.in_body or M.in_plain_body()
  return within -- after the call, which counts levels
end

local function restore(outer, ...)
  M.in_body = outer
  return ...
end

--- pcall(fn, ...), during which it is.
function M.pcall(fn, ...)
  local outer = M.in_body
  M.in_body = true
  return restore(outer, pcall(fn, ...))
end

-- What a coroutine that has ended gives, or raises.
local function ended(what, thread, ok, ...)
  if not ok then error(..., 0) end
  if coroutine.status(thread) == "dead" then return ... end
  errors.raise("BDY", "%s yields: nobody would go on with it; let it return", what)
end

--- fn(...), which comes to its end: a coroutine that waits in the midst of a loop, perhaps for
-- ever, would leave the loop undone for ever, too.
-- @string what names it
-- Errors: BDY where it yields, and what it raises.
function M.complete(what, fn, ...)
  local thread = coroutine.create(fn)
  return ended(what, thread, coroutine.resume(thread, ...))
end

return M
