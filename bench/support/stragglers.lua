-- SPDX-License-Identifier: MIT
--- Workers that are held up now and then: rounds over a chain, in which every range sleeps for a
-- drawn time and reads its two neighbours, and what a max-plus model says of the same draws.
--
-- The model: a range begins when all that it waits for have ended, which costs nothing, and ends
-- after the drawn time. No waiting is shorter than that; so its gain over a barrier after each
-- round is a ceiling of what neighbours can gain.
local meissa = require "meissa"

local sleep = require("sleeping").usleep

local M = {}

--- The times of all rounds and ranges as multiples of a nap, {[round][range]}: 1, or `slow` in a
-- share `often` of them.
function M.draw(rounds, ranges, slow, often)
  local draws = meissa.rand({rounds, ranges}, {seed = 1})
  local times = meissa.ones({rounds, ranges})
  for t = 1, rounds do
    for r = 1, ranges do
      if draws[t][r] < often then times[t][r] = slow end
    end
  end
  return times
end

--- How many naps all rounds take in the model. @int staleness in rounds; nil: with a barrier
function M.ceiling(times, staleness)
  local rounds, ranges = times:size(1), times:size(2)
  local ends = {[0] = {}}
  for r = 1, ranges do ends[0][r] = 0 end
  for t = 1, rounds do
    local own, old = ends[t - 1], ends[math.max(0, t - 1 - (staleness or 0))]
    ends[t] = {}
    for r = 1, ranges do
      local from, to = math.max(1, r - 1), math.min(ranges, r + 1)
      if not staleness then from, to = 1, ranges end
      local begins = own[r]
      for other = from, to do begins = math.max(begins, old[other]) end
      ends[t][r] = begins + times[t][r]
    end
  end
  local last = 0
  for r = 1, ranges do last = math.max(last, ends[rounds][r]) end
  return last
end

--- Runs the rounds: seconds, and how often neighbours were seen that are so many rounds older than
-- the round before, a list from lag 0 on.
-- @int nap in microseconds @tab options of iterate
function M.run(times, nap, options)
  local rounds, ranges = times:size(1), times:size(2)
  local most = (options.staleness or 0) + 1
  -- Each element holds the round that made it; the chain's ends are no element of a range.
  local round, lags = meissa.zeros(ranges + 2), meissa.zeros{ranges + 2, most}
  options.ranges, options.engine, options.impure = ranges, "lua", true
  for t, j in meissa.iterate(round, rounds, {2, ranges + 1}, options) do
    sleep(nap * times[t][j - 1])
    local left, right = t - 1 - round[j - 1], t - 1 - round[j + 1]
    if j > 2 then lags[j][left + 1] = lags[j][left + 1] + 1 end
    if j <= ranges then lags[j][right + 1] = lags[j][right + 1] + 1 end
    round[j] = t
  end
  local last, counts = meissa.last(), {}
  for lag = 1, most do
    counts[lag] = 0
    for j = 2, ranges + 1 do counts[lag] = counts[lag] + lags[j][lag] end
  end
  return last.seconds, counts
end

return M
