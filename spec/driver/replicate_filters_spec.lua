-- SPDX-License-Identifier: MIT
--
-- What filters leave out of what replicas tell. Of values that all tell all it stays the replica's
-- own until it is sent: nothing gets lost, and nobody is further from the others than the filter
-- says.

local kept_workers = require "spec.support.kept_workers"
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
  {"a quota", {filter = {priority = "round-robin"}, quota = 84}},
  {"a quota by size", {filter = {priority = "magnitude"}, quota = 120}},
  {"a quota with a bound", {filter = {priority = "random"}, quota = 84, bound = 1.5}, 1.5},
  {"a sketch", {filter = {sketch = "count", width = 2, depth = 1}}},
  {"a threshold that nothing passes", {filter = {magnitude = 1e9}}},
}

describe("where all tell all values, seed " .. seed .. ",", function()
  for _, case in ipairs(FILTERS) do
    local name, options, most = unpack(case)
    for replicas = 2, 4 do
      it(("%s loses nothing of %d replicas"):format(name, replicas), function()
        for _, workers in ipairs {0, 2} do
          kept_workers.init {workers = workers}
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

describe("filters", function()
  it("of a replica that tells nobody leave it all that it has", function()
    for _, filter in ipairs {{magnitude = 0.1}, {sketch = "count", width = 2, depth = 1}} do
      local w = meissa.ones(1)
      local r = meissa.replicate(w, {replicas = 1, every = 2, filter = filter})
      for _ in parallel(4) do r[1] = -0.0 end
      assert.equal(-math.huge, 1 / w[1])
    end
  end)

  -- A message of m of 6 elements has 16 + min(12 m, 48) bytes. What each sends of 75: to one all,
  -- which are 64; to two 28, and 40 of what is left; to three 3 * 28 are too much.
  it("spend a quota in a round, on however many messages", function()
    local function bytes_of(topology, replicas, options)
      local list, w = {}, meissa.zeros(N)
      options = tables.copy(options or {quota = 75})
      options.replicas, options.every, options.topology = replicas, 1, topology
      options.biased = true
      options.on_round = function(s) list[#list + 1] = s.bytes end
      local r = meissa.replicate(w, options)
      for e in parallel(3 * replicas) do
        for i = 1, N do r[i] = r[i] + e * i end
      end
      return list
    end
    for _, workers in ipairs {0, 2} do
      kept_workers.init {workers = workers}
      local function every(bytes) return {bytes, bytes, bytes} end
      assert.same(every(3 * 64), bytes_of("ring", 3))
      assert.same(every(2 * 64 + 28 + 40), bytes_of("chain", 3))
      assert.same(every(3 * 2 * 28), bytes_of("all", 3)) -- all are told the same
      assert.same(every(3 * (28 + 40)), bytes_of("all", 3, {quota = 75, staleness = 1}))
      assert.same(every(4 * 64), bytes_of("one-peer-exponential", 4))
      local hub = {quota = 84} -- which tells three, and is told by each
      assert.same(every(3 * 64 + 3 * 28), bytes_of("server", 4, hub))
      hub.filter = {magnitude = 1e9} -- beyond which nothing is
      assert.same(every(6 * 16), bytes_of("server", 4, hub))
      -- What is sent in any case leaves nothing for others.
      assert.same(every(2 * 64 + 2 * 64), bytes_of("chain", 3, {quota = 75, bound = 0}))
    end
  end)

  it("send later what they keep, and never what they drop", function()
    local function kept(residual)
      local w = meissa.zeros(1)
      local r = meissa.replicate(w, {replicas = 2, every = 1, filter = {magnitude = 1},
                                     residual = residual, final = "none"})
      for e in parallel(20) do
        if e == 1 or e == 5 then r[1] = r[1] + 0.75 end -- of the first replica
      end
      return {r:replica(1)[1], r:replica(2)[1]}
    end
    assert.same({0.75, 0.75}, kept("keep"))
    assert.same({1.5, 0}, kept("drop"))
  end)
end)
