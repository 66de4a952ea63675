-- SPDX-License-Identifier: MIT
--- Nesting: whether the body of a loop is running, in which parallel loops are plain ones.
-- @module meissa.base.nesting
local errors = require "meissa.base.errors"

local M = {}

--- True in workers, and in other processes while they run a loop's body as workers do.
M.in_body = false

--- Whether the body of a loop of this process runs that is plain Lua there; by who runs those.
function M.in_plain_body() return false end

--- Whether the body of a loop runs, anywhere.
function M.within() return M.in_body or M.in_plain_body() end

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
