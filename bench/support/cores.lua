-- SPDX-License-Identifier: MIT
--- For how long programs have had a core: a time that what else a machine does changes little.
local meissa = require "meissa"

local M = {}

--- Seconds for which all workers have had one.
function M.of_workers()
  local sum = 0
  for _, pid in ipairs(meissa.workers().pids) do
    local file = assert(io.open("/proc/" .. pid .. "/schedstat"))
    sum = sum + file:read("*n") * 1e-9
    file:close()
  end
  return sum
end

--- Seconds that a loop takes where everybody has a core for themselves and nobody waits: this
-- process's, and those of workers, which work at the same time.
function M.clock()
  return os.clock() + M.of_workers() / math.max(1, #meissa.workers().pids)
end

return M
