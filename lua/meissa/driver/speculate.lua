-- SPDX-License-Identifier: MIT
--- Speculation: blocks evaluate the e of `s = s or e` that the loop as written skips once s is
-- true, because they do not know what s has become in others.
--
-- e has no effects, so all that can be told of it is an error, which counts only if no earlier
-- block made s true. To know, the loop is undone and run again in this process, block by block in
-- the plan's order, each with what s has become.
-- @module meissa.driver.speculate

local errors = require "meissa.base.errors"
local kernel = require "meissa.kernel"

local M = {}

-- Lines that were printed cannot be taken back.
local function prints(run)
  for _, binding in ipairs(run.bindings) do
    if binding.kind == "builtin" and binding.name == "print" then return true end
  end
  return false
end

--- Calls attempt(run), and where that raises what may be no error of the loop, run_here(run).
-- @return what they give: the scalars to assign
function M.run(run, attempt, run_here)
  local ok, result = pcall(attempt, run)
  if ok then return result end
  local again = run.kernel and run.space.transaction and errors.is(result) and
    result.iteration and kernel.speculates(run.kernel) and not prints(run)
  if not again then error(result, 0) end
  run.native = nil
  return run_here(run)
end

return M
