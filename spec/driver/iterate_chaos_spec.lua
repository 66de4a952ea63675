-- SPDX-License-Identifier: MIT
-- Workers are killed at random moments while rounds run (chaos.lua).
local chaos = require "spec.driver.chaos"
local meissa = require "meissa"

-- A grid in rounds, with a sum, an array that goes along, and stop tests.
local function relax()
  local n, change = 240, 0
  local u, seen = meissa.rand({n, n}, {seed = 3}), meissa.zeros {n, n}
  local function stop(t) return t == 150 end
  for t, i, j in meissa.iterate(u, 400, {2, n - 1}, {2, n - 1}, {stop = stop, test = 50}) do
    local new = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1])
    change = change + math.abs(new - u[i][j]) * t
    seen[i][j] = seen[i][j] + new
    u[i][j] = new
  end
  return chaos.bytes(u) .. chaos.bytes(seen) .. ("%.17g"):format(change)
end

chaos.describe(getfenv(1), "rounds", relax)
