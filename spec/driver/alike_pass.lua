-- SPDX-License-Identifier: MIT
--- Loops that write two arrays and a sum, all of them alike, however often they run: what tells
-- whether something of them was left half done.
local M = {}

--- Heads of loops, up to what adds one to each, by where they run.
M.HEADS = {
  ["of levels"] = "for i in parallel({2, n}) do\nlocal z = 0 * x[from[i]]\nx[i] = x[i] + z",
  ["on workers"] = "for i in parallel({2, n}) do",
  ["in the driver's process"] = "for i in parallel({2, 100}) do",
  ["in rounds"] = "for _, i in meissa.iterate(x, 5) do",
  ["over replicas"] = "for i in parallel({2, n}) do\nr[1] = r[1] + 1",
}

--- The text of a script that has such a loop as pass(), and has run it 20 times; it writes x, y and
-- count.
-- @number n the last index @string head of HEADS
function M.script(n, head)
  return ([[
  local meissa = require "meissa"
  local parallel = meissa.parallel
  local n, count = %d, 0
  local x, y, from = meissa.zeros(n), meissa.zeros(n), meissa.zeros({n}, {type = "int32"})
  for i = 1, n do from[i] = i %% 7 == 0 and math.max(1, math.floor(i / 2)) or i end
  local w = meissa.zeros(1)
  local r = meissa.replicate(w, {replicas = 4, every = 50})
  local function pass()
    %s
      x[i] = x[i] + 1
      y[i] = y[i] + 1
      count = count + 1
    end
  end
  for _ = 1, 20 do pass() end
]]):format(n, head)
end

return M
