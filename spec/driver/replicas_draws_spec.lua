-- SPDX-License-Identifier: MIT
-- Random arrays without a seed, and a math.random that a module keeps, in functions of replicas.
local expect = require "spec.support.expect"
local kept = require "spec.support.kept_random"
local meissa = require "meissa"
local roads = require "spec.driver.all_roads"
local parallel = meissa.parallel

local all_differ, on_all_roads = roads.all_differ, roads.on_all_roads

local DRAWS = {
  function() return kept.draw() end,
  function() return meissa.rand(3)[2] end,
  function() return meissa.randn({2}, {type = "float"})[1] end,
  function() return meissa.ones(50):map(function(x, i) return x + i end):randomize()[7] end,
}

describe("random arrays without a seed", function()
  teardown(roads.stop)

  it("are each replica's own in functions of replicas", function()
    local seen = on_all_roads(function()
      return meissa.replicas(3, {seed = 1}, function(r)
        local list = {}
        for d = 1, #DRAWS do list[#list + 1] = DRAWS[d]() end
        r.barrier()
        local both = meissa.rand(2, 2)
        list[5], list[6] = both[1][1], both[2][2]
        local S = meissa.sparse({2, 9}, {i = {1, 1, 2, 2, 2}, j = {1, 4, 3, 8, 9}})
        list[7] = S:split(0.5):totable()
        for _ in parallel(1) do list[8] = meissa.rand(1)[1] end
        return list
      end)
    end)
    for _, e in ipairs {1, 2, 3, 5, 6, 8} do
      assert.is_true(all_differ {seen[1][e], seen[2][e], seen[3][e]})
    end
  end)

  it("are other ones in each run without a seed, and the same after meissa.seed", function()
    on_all_roads(function()
      local function numbers()
        return meissa.replicas(2, {}, function() return meissa.randn(1)[1] end)
      end
      local first, second = numbers(), numbers()
      assert.is_true(first[1] ~= second[1] and first[1] ~= first[2])
      meissa.seed(5)
      assert.same(first, numbers())
      return first
    end)
  end)

  it("are refused in other bodies still", function()
    meissa.init {workers = 2}
    local a = meissa.zeros(4)
    expect.raises("OPT", "needs a seed", function()
      for i in parallel(4) do a[i] = meissa.rand(3)[1] end
    end)
  end)
end)
