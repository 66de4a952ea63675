-- SPDX-License-Identifier: MIT
-- Topologies as users see them: closed forms of gaps, weights that keep the mean, and random
-- graphs; each against what follows from its definition in plain Lua.
local meissa = require "meissa"

local SEED = tonumber(os.getenv "MEISSA_TEST_SEED") or 7
print("MEISSA_TEST_SEED=" .. SEED)

local NAMES = {"all", "tree-allreduce", "ring-allreduce", "server", "ring", "ring-both", "chain",
               "root-expander", "one-peer-exponential"}

local function same(actual, expected, by)
  assert.is_true(math.abs(actual - expected) <= (by or 1e-9), actual .. " is not " .. expected)
end

-- The edges of a topology as a set of "from to".
local function set(list)
  local found = {}
  for _, edge in ipairs(list) do found[edge[1] .. " " .. edge[2]] = true end
  return found
end

-- x, after a round with these weights.
local function step(weights, x)
  local y = {}
  for i, row in ipairs(weights) do
    y[i] = 0
    for j, weight in ipairs(row) do y[i] = y[i] + weight * x[j] end
  end
  return y
end

local function mean(x)
  local sum = 0
  for _, each in ipairs(x) do sum = sum + each end
  return sum / #x
end

local function distance(x, from)
  local sum = 0
  for _, each in ipairs(x) do sum = sum + (each - from) ^ 2 end
  return math.sqrt(sum)
end

describe("meissa.topology", function()
  it("has the gaps of closed forms", function()
    for n = 2, 30 do
      same(meissa.topology("all", n):spectral_gap(), 1)
      same(meissa.topology("tree-allreduce", n):spectral_gap(), 1)
      same(meissa.topology("ring-allreduce", n):spectral_gap(), 1)
      same(meissa.topology("ring", n):spectral_gap(), 1 - math.cos(math.pi / n))
      if n > 2 then same(meissa.topology("server", n):spectral_gap(), 1 / n) end
    end
    same(meissa.topology("root-expander", 25):spectral_gap(), 0.1419, 5e-5)
    same(meissa.topology("ring", 25):spectral_gap(), 0.008, 2e-4)
    local six = meissa.topology("root-expander", 6):spectral_gap()
    assert.is_true(math.abs(six - 1 / 3) < 1e-9 or math.abs(six - 0.4226) < 5e-5)
  end)

  it("has the edges that its name says", function()
    local function edges(name, n, t) return set(meissa.topology(name, n):edges(t)) end
    assert.same(set {{1, 2}, {2, 3}, {3, 1}}, edges("ring", 3))
    assert.same(set {{1, 2}, {2, 3}, {3, 1}, {2, 1}, {3, 2}, {1, 3}}, edges("ring-both", 3))
    assert.same(set {{1, 2}, {2, 1}, {2, 3}, {3, 2}}, edges("chain", 3))
    assert.same(set {{1, 2}, {2, 1}, {1, 3}, {3, 1}}, edges("server", 3))
    assert.equal(20, #meissa.topology("all", 5):edges())
    local expander, expected = edges("root-expander", 9), {}
    for i = 0, 8 do
      expected[#expected + 1] = {i + 1, (i + 1) % 9 + 1}
      expected[#expected + 1] = {i + 1, (i + 3) % 9 + 1}
    end
    assert.same(set(expected), expander)
    for t = 0, 6 do
      expected = {}
      for i = 0, 7 do expected[#expected + 1] = {i + 1, (i + 2 ^ (t % 3)) % 8 + 1} end
      assert.same(set(expected), edges("one-peer-exponential", 8, t))
    end
    assert.equal(24, #meissa.topology("one-peer-exponential", 8):edges())
    assert.same({}, meissa.topology("ring", 1):edges())
  end)

  it("keeps the mean, and comes to it as fast as its gap says", function()
    math.randomseed(SEED)
    for _, name in ipairs(NAMES) do
      for _, n in ipairs {2, 3, 6, 8, 13} do
        local topology, x = meissa.topology(name, n), {}
        assert.is_true(topology:check())
        for i = 1, n do x[i] = math.random() * 10 - 3 end
        local middle, gap = mean(x), topology:spectral_gap()
        local far = distance(x, middle)
        local rounds = gap >= 1 and 1 or math.ceil(math.log(1e-6) / math.log(1 - gap))
        rounds = math.ceil(rounds / topology.period) * topology.period
        for t = 1, rounds do x = step(topology:weights(t), x) end
        same(mean(x), middle, 1e-12)
        assert.is_true(distance(x, middle) <= 1e-6 * far + 1e-12, name .. " of " .. n)
      end
    end
  end)

  it("is exact after k rounds of one peer each for 2^k replicas", function()
    for k = 1, 5 do
      local topology, x = meissa.topology("one-peer-exponential", 2 ^ k), {}
      for i = 1, 2 ^ k do x[i] = i * i end
      local middle = mean(x)
      for t = 1, k do x = step(topology:weights(t), x) end
      for i = 1, 2 ^ k do assert.equal(middle, x[i]) end
      assert.equal(1, topology:spectral_gap())
    end
  end)

  it("makes random regular graphs, the same for the same seed", function()
    for n = 2, 14 do
      for degree = 1, math.min(n - 1, 5) do
        local topology = meissa.topology({regular = degree, seed = SEED}, n)
        local ins, outs = {}, {}
        for _, edge in ipairs(topology:edges()) do
          outs[edge[1]] = (outs[edge[1]] or 0) + 1
          ins[edge[2]] = (ins[edge[2]] or 0) + 1
        end
        for i = 1, n do
          assert.equal(degree, ins[i])
          assert.equal(degree, outs[i])
        end
        assert.is_true(topology:check())
        assert.same(topology:edges(), meissa.topology({regular = degree, seed = SEED}, n):edges())
      end
    end
  end)

  it("takes a matrix of weights or of edges, and tells what is wrong with its mean", function()
    local third = 1 / 3
    local star = {{third, third, third}, {0.5, 0.5, 0}, {0.5, 0, 0.5}}
    local ok, message, code = meissa.topology({matrix = star}, 3):check()
    assert.is_nil(ok)
    assert.equal("OPT", code)
    assert.truthy(message:find("^OPT: .*another value than their mean"))
    assert.same(star, meissa.topology({matrix = star}, 3):weights())
    local chain = {{1, 1, 0}, {1, 1, 1}, {0, 1, 1}}
    assert.is_true(meissa.topology({matrix = chain}, 3):check())
    assert.is_true(meissa.topology({matrix = meissa.from(chain)}, 3):check())
    local unequal = meissa.topology("chain", 3):weights()
    assert.same(unequal, meissa.topology({matrix = chain}, 3):weights())
    assert.truthy(select(2, meissa.topology({matrix = {{0, 1}, {1, 0}}}, 2):check())
      :find("hear itself", 1, true))
    assert.truthy(select(2, meissa.topology({matrix = {{1, 0}, {0, 1}}}, 2):check())
      :find("never hears", 1, true))
  end)

  it("refuses what is none", function()
    local function refused(...)
      local ok, err = pcall(meissa.topology, ...)
      assert.is_false(ok)
      assert.equal("OPT", err.code)
      return err.message
    end
    assert.truthy(refused("rings", 4):find("did you mean 'ring'", 1, true))
    refused("ring")
    refused("ring", 0)
    refused("ring", 2.5)
    refused("ring", 5000)
    refused(7, 4)
    refused({regular = 4}, 4)
    refused({regular = 0}, 4)
    refused({}, 4)
    refused({degree = 2}, 4)
    refused({matrix = {{1, 0}}}, 2)
    refused({matrix = {{1, 0.3}, {0.3, 1}}}, 2)
    refused({matrix = {{1, "x"}, {0, 1}}}, 2)
    refused({matrix = {{1, 0}, {0, 1}}, regular = 1}, 2)
    refused(meissa.topology("ring", 3), 4)
    assert.equal("topology ring of 4 replicas", tostring(meissa.topology("ring", 4)))
  end)
end)
