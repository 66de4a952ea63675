-- SPDX-License-Identifier: MIT
-- Random numbers of models where a loop has several groups of them: each has its own.
local meissa = require "meissa"
local roads = require "spec.driver.all_roads"
local parallel = meissa.parallel

-- One number of each generator.
local DRAWS = {
  function() return meissa.normal() end,
  function() return math.random() end,
  function() return meissa.rand(3)[2] end,
}

local REPLICAS, EACH = 3, 4 -- iterations of a replica
local n = REPLICAS * EACH

local function params(model) return model.w end

describe("random numbers of models", function()
  teardown(roads.stop)

  it("of each group go on, whichever model a round asks for", function()
    -- What math.random gives replica k, which it is seeded by: its numbers, one after the other.
    local own = {}
    for k = 1, REPLICAS do
      math.randomseed(k)
      own[k] = {}
      for i = 1, 6 * EACH do own[k][i] = math.random() end
    end
    local function plain()
      return meissa.replicate(function()
        local self = {w = meissa.zeros(1)}
        function self.draw(_, d) return DRAWS[d]() end
        return self
      end, {replicas = REPLICAS, every = 1, params = params})
    end
    -- Whom iteration e of pass `pass` asks: 1 the first group, 2 the second, 3 and 4 both.
    local turns = {2, 2, 3, 1, 4, 2, 1}
    local function asked(pass, e, only) return only or turns[(5 * pass + e) % #turns + 1] end
    local function run(d, only)
      meissa.seed(5)
      local a, b = plain(), plain()
      local seen, unset = meissa.full({3, n, 2}, -1), -1
      for pass, e in parallel(3, n) do
        local who = asked(pass, e, only)
        if who == 1 then
          seen[pass][e][1] = a():draw(d)
        elseif who == 2 then
          seen[pass][e][2] = b():draw(d)
        elseif who == 3 then
          local first, second = a():draw(d), b():draw(d)
          seen[pass][e][1], seen[pass][e][2] = first, second
        else
          local second, first = b():draw(d), a():draw(d)
          seen[pass][e][1], seen[pass][e][2] = first, second
        end
      end
      local drawn = {{}, {}} -- by group and replica, in its order
      for g = 1, 2 do
        for k = 1, REPLICAS do
          drawn[g][k] = {}
          for pass = 1, 3 do
            for e = (k - 1) * EACH + 1, k * EACH do
              local x = seen[pass][e][g]
              if x ~= unset then drawn[g][k][#drawn[g][k] + 1] = x end
            end
          end
        end
      end
      return drawn
    end
    local function first_of(list, count) return {unpack(list, 1, count)} end
    roads.on_all_roads(function()
      local all = {}
      for d = 1, #DRAWS do
        local got, alone = run(d), {run(d, 1)[1], run(d, 2)[2]}
        all[d] = got
        for g = 1, 2 do
          for k = 1, REPLICAS do
            local list = got[g][k]
            assert.is_true(#list > 3 and #list < 3 * EACH)
            assert.same(first_of(alone[g][k], #list), list) -- as if the other group were not there
            if d == 2 then assert.same(first_of(own[k], #list), list) end
          end
        end
      end
      return all
    end)
  end)

  it("go on for what the body draws before it asks for a model", function()
    roads.on_all_roads(function()
      local r = meissa.replicate(function() return {w = meissa.zeros(1)} end,
                                 {replicas = REPLICAS, every = 1, params = params})
      local seen = meissa.zeros(n)
      for e in parallel(n) do
        seen[e] = meissa.rand(1)[1]
        if e > n then r().w[1] = e end
      end
      assert.is_true(roads.all_differ(seen:totable()))
      return seen:totable()
    end)
  end)

  it("are not those of a model that is built after the body has drawn", function()
    local function build()
      return {w = meissa.zeros(1), drawn = {meissa.rand(1)[1], meissa.rand(1)[1]}}
    end
    roads.on_all_roads(function()
      local r = meissa.replicate(build, {replicas = REPLICAS, every = 2, params = params})
      local seen = meissa.full({n, 4}, -1)
      for e in parallel(n) do
        seen[e][1] = meissa.rand(1)[1]
        if (e - 1) % EACH == 2 then -- in a replica's second round, for the first time
          local model = r()
          seen[e][2], seen[e][3] = unpack(model.drawn)
          seen[e][4] = meissa.rand(1)[1]
        end
      end
      local list = {}
      for e = 1, n do
        for d = 1, 4 do
          if seen[e][d] >= 0 then list[#list + 1] = seen[e][d] end
        end
      end
      assert.equal(n + 3 * REPLICAS, #list)
      assert.is_true(roads.all_differ(list))
      return list
    end)
  end)
end)
