-- SPDX-License-Identifier: MIT
--- Garbage of bodies is collected while their worker has nothing to do, in steps that are over
-- before a job has waited for long, rather than while it runs blocks.
-- @module meissa.worker.idle_collection

local M = {}

-- ms without a word of the driver; KB that a step looks through, in some 50 us.
local PATIENCE, STEP = 2, 16

-- What must have come since the last collection: a part of what was left then, and some KB.
local PART, LEAST = 1 / 8, 512

-- KB that the last one left, and whether one has begun.
local left, begun = collectgarbage("count"), false

local function is_due()
  return begun or collectgarbage("count") - left > PART * left + LEAST
end

--- Returns when the driver says something, or nothing is left to do.
-- @param worker the core's worker
function M.await(worker)
  while is_due() and worker:rest(begun and 0 or PATIENCE) do
    -- Errors of finalizers are nobody's, as they are while blocks run.
    local done, over = pcall(collectgarbage, "step", STEP)
    begun = not (done and over)
    if not begun then left = collectgarbage("count") end
  end
end

return M
