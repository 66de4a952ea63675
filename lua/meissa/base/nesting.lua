-- SPDX-License-Identifier: MIT
--- Nesting: whether the body of a loop is running, in which parallel loops are plain ones.
-- @module meissa.base.nesting
local M = {}

--- True in workers, and in other processes while they run a loop's body as workers do.
M.in_body = false

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

return M
