-- SPDX-License-Identifier: MIT
--- What both problems of shared out parameters have in common: naps, in which workers that are more
-- than the cores wait for each other and not for cores, who was busy, and rounds that do nothing.
local meissa = require "meissa"
local iterate = meissa.iterate

local M = {}

--- Sleeps so many microseconds, in any process.
function M.usleep(microseconds)
  local ffi = require "ffi"
  ffi.cdef "int usleep(unsigned);"
  ffi.C.usleep(microseconds)
end

local usleep = M.usleep

--- Sleeps `nap` microseconds, half as long to half as long again, by round and range.
function M.sleep(nap, t, lo)
  usleep(nap * (0.5 + (t * 7919 + lo * 104729) % 1009 / 1009))
end

-- Adds the seconds that each worker was busy in the last loop; this process counts as the first
-- one where it has run a loop that is too short for workers.
local function add_busy(busy)
  local last = meissa.last()
  for w, share in ipairs(last.shares or {{busy = last.seconds}}) do
    busy[w] = (busy[w] or 0) + share.busy
  end
end

--- Rounds of a driver loop from one array of so many elements to another, which change places.
-- @func round round(t, a, b) makes b of a by one loop
-- @treturn DistArray what the last one has made
-- @treturn table the seconds that each worker was busy
function M.by_driver(elements, rounds, round)
  local a, b, busy = meissa.zeros(elements), meissa.zeros(elements), {}
  for t = 1, rounds do
    round(t, a, b)
    add_busy(busy)
    a, b = b, a
  end
  return a, busy
end

--- Rounds that do nothing but read all weights, or only the range's own, and write; in microseconds
-- a round: what waiting and reading cost.
function M.empty(self, rounds, all, options)
  local w, n = meissa.zeros(self.features), self.features
  local started = meissa.clock()
  if all then
    for _, lo, _ in iterate(w, rounds, options) do
      local s = 0
      for f = 1, n do s = s + w[f] end
      w[lo] = s / n
    end
  else
    for _, lo, _ in iterate(w, rounds, options) do w[lo] = w[lo] + 1 end
  end
  return (meissa.clock() - started) / rounds * 1e6
end

return M
