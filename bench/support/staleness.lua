-- SPDX-License-Identifier: MIT
--- How much staleness steps of a size bear: gradient descent on |x|^2 / 2 by replicas, each of
-- which takes a share of the step from its own copy and adds all that the others have changed, as
-- old as is injected.
--
-- All replicas do alike, so a round with all changes d rounds late follows
--   x(t+1) = x(t) + c(t) + (K-1) c(t-d),   c(t) = -step/K x(t),
-- which converges for steps below a bound that falls with d and is found here by following that
-- sequence, without Meissa: theory, to which what replicas do is held.
local meissa = require "meissa"
local parallel = meissa.parallel

local M = {}

--- The sequence from 1 on: what all are merged to after so many rounds, with nothing under way.
-- Values may grow beyond what numbers hold.
function M.follow(step, replicas, lag, rounds)
  local x, changes = 1, {}
  local merged = 1
  for t = 1, rounds do
    changes[t] = -step / replicas * x
    merged = merged + replicas * changes[t]
    x = x + changes[t] + (replicas - 1) * (changes[t - lag] or 0)
  end
  return merged
end

-- Whether the sequence ends nearer to 0 than it was, in the long run.
local function converges(step, replicas, lag)
  local x, changes, most = 1, {}, {0, 0}
  for t = 1, 4000 do
    changes[t] = -step / replicas * x
    x = x + changes[t] + (replicas - 1) * (changes[t - lag] or 0)
    if math.abs(x) > 1e12 then return false end
    local half = t <= 2000 and 1 or 2
    if t > 1000 then most[half] = math.max(most[half], math.abs(x)) end
  end
  return most[2] < most[1] or most[2] < 1e-12
end

--- The largest step that converges with such a lag, to a thousandth.
function M.bound(replicas, lag)
  local low, high = 0, 2 * replicas
  while high - low > 1e-3 do
    local middle = (low + high) / 2
    if converges(middle, replicas, lag) then low = middle else high = middle end
  end
  return low
end

--- What replicas come to from 1 on, where what they hear of the others is `lag` rounds old.
function M.run(step, replicas, rounds, lag)
  local x, began, share = meissa.ones(1), meissa.zeros(replicas), step / replicas
  local r = meissa.replicate(x, {replicas = replicas, every = 1, merge = {add = 1},
                                 lags = lag > 0 and {{lag, 1}} or nil})
  for t, k in parallel(rounds, replicas) do
    began[k] = t
    r[1] = r[1] - share * r[1]
  end
  return x[1]
end

return M
