-- SPDX-License-Identifier: MIT
--
-- What filters leave out of values that all tell all: it stays the replica's own until it is sent.
-- Nothing gets lost, and nobody is further from the others than the filter says.

local meissa = require "meissa"
local seed = require "spec.support.seed"
local tables = require "meissa.base.tables"

local parallel = meissa.parallel

local N, ROUNDS = 6, 60

-- Replicas' values after rounds of random steps, which are `steps[round][replica][element]`.
local function run(replicas, options)
  local steps, w = meissa.rand({ROUNDS * replicas, N}, {seed = seed}), meissa.zeros(N)
  options.replicas, options.every, options.final = replicas, 1, "none"
  local r = meissa.replicate(w, options)
  for e in parallel(ROUNDS * replicas) do
    for i = 1, N do r[i] = r[i] + steps[e][i] - 0.4 end
  end
  local values = {}
  for k = 1, replicas do values[k] = r:replica(k):totable() end
  return values, steps
end

-- What all steps come to in the mean of replicas, by element.
local function mean_of(steps, replicas)
  local sums = {}
  for i = 1, N do
    sums[i] = 0
    for e = 1, ROUNDS * replicas do sums[i] = sums[i] + (steps[e][i] - 0.4) / replicas end
  end
  return sums
end

local FILTERS = {
  {"a threshold", {filter = {magnitude = 2}}, 2},
  {"a relative threshold", {filter = {relative = 0.5, floor = 1}}},
  {"a quota", {filter = {priority = "round-robin"}, quota = 28}},
  {"a quota by size", {filter = {priority = "magnitude"}, quota = 40}},
  {"a quota with a bound", {filter = {priority = "random"}, quota = 28, bound = 1.5}, 1.5},
  {"a sketch", {filter = {sketch = "count", width = 2, depth = 1}}},
  {"a threshold that nothing passes", {filter = {magnitude = 1e9}}},
}

describe("where all tell all values, seed " .. seed .. ",", function()
  for _, case in ipairs(FILTERS) do
    local name, options, most = unpack(case)
    for replicas = 2, 4 do
      it(("%s loses nothing of %d replicas"):format(name, replicas), function()
        for _, workers in ipairs {0, 2} do
          meissa.init {workers = workers}
          local values, steps = run(replicas, tables.copy(options))
          local wanted = mean_of(steps, replicas)
          for i = 1, N do
            local sum, least, largest = 0, math.huge, -math.huge
            for k = 1, replicas do
              local value = values[k][i]
              sum, least, largest = sum + value, math.min(least, value), math.max(largest, value)
            end
            assert.is_true(math.abs(sum / replicas - wanted[i]) < 1e-9)
            if most then assert.is_true(largest - least < 2 * most) end
          end
        end
      end)
    end
  end
end)
