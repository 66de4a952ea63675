-- SPDX-License-Identifier: MIT
-- Lags of r:exchange: the bits of a loop over replicas that is given the same ones.
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"

local K, ROUNDS, SEED = 4, 9, 4

local function lag(t, k) return (t * t + k) % 3 end

local CASES = {
  {staleness = 2, lags = lag},
  {staleness = 1, lags = function(t) return t == 4 and 1 or 0 end},
  {lags = {{0, 1}, {2, 1}}},
  {staleness = 2, lags = lag, merge = {add = 0.25}},
  {topology = "ring", lags = {{0, 2}, {1, 1}}, filter = {magnitude = 0.2}},
  {topology = "chain", push_sum = true, staleness = 2, lags = lag},
  {staleness = 2, lags = lag, merge = function(own, heard) return own + 0.3 * (heard - own) end},
}

local function step(w, t, k) return w + 0.3 * (k * k - w) + 0.01 * t end

-- What each replica has when a round begins, in a loop.
local function by_loop(options)
  local w, seen, last = meissa.zeros(1), meissa.zeros(K, ROUNDS), meissa.zeros(K)
  meissa.seed(SEED)
  local r = meissa.replicate(w, options)
  for t, k in meissa.parallel(ROUNDS, K) do
    last[k] = t -- k is shared out, whose rounds follow each other
    seen[k][t] = r[1]
    r[1] = step(r[1], t, k)
  end
  return seen:totable()
end

-- The same in a function.
local function by_function(options)
  meissa.seed(SEED)
  return meissa.replicas(K, {}, function(r)
    local w, seen = meissa.zeros(1), {}
    for t = 1, ROUNDS do
      seen[t] = w[1]
      w[1] = step(w[1], t, r.index)
      r:exchange(w, options)
    end
    return seen
  end)
end

describe("lags of r:exchange", function()
  teardown(kept_workers.stop)

  for number, case in ipairs(CASES) do
    it("are of the round that begins, as in loops: case " .. number, function()
      local of_loop = {replicas = K, every = 1}
      for name, value in pairs(case) do of_loop[name] = value end
      for _, road in ipairs {{workers = 0}, {workers = 2}, {workers = 3, shm = false}} do
        kept_workers.init(road)
        assert.same(by_loop(of_loop), by_function(case))
      end
    end)
  end
end)
