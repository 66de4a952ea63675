-- SPDX-License-Identifier: MIT
-- The order in which replicas go through their shares is the same in machine code, which goes
-- through stretches of consecutive indices, as in LuaJIT's.
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"
local parallel = meissa.parallel

-- Each iteration changes r such that all before it, in their order, are seen in the end.
local LOOPS = {
  {"one index", function(r, touch, how)
    for i in parallel(40, how) do
      r[1] = (3 * r[1] + i) % 1009
      touch[i] = i
    end
  end},
  {"an index that goes on by three", function(r, touch, how)
    for i in parallel({2, 40, 3}, how) do
      r[1] = (3 * r[1] + i) % 1009
      touch[i] = i
    end
  end},
  {"an index that goes down", function(r, touch, how)
    for i in parallel({40, 1, -1}, how) do
      r[1] = (3 * r[1] + i) % 1009
      touch[i] = i
    end
  end},
  {"passes", function(r, touch, how)
    for pass, i in parallel(20, {3, 31}, how) do
      r[1] = (3 * r[1] + 40 * pass + i) % 1009
      touch[i] = touch[i] + pass
    end
  end},
  {"an index inside of that which is shared out", function(r, touch, how)
    for i, j in parallel(12, {5, 9}, how) do
      r[1] = (3 * r[1] + 40 * i + j) % 1009
      touch[i] = touch[i] + j
    end
  end},
  {"three indices", function(r, touch, how)
    for pass, i, j in parallel(2, 11, 3, how) do
      r[1] = (3 * r[1] + 200 * pass + 40 * i + j) % 1009
      touch[i] = touch[i] + j
    end
  end},
  {"an index that is assigned", function(r, touch, how)
    for pass, i in parallel(3, 30, how) do
      touch[i] = pass
      pass = pass + 0.5
      r[1] = (3 * r[1] + 40 * pass + i) % 1009
    end
  end},
}

local function run(loop, options, engine)
  local touch = meissa.zeros(40)
  local r = meissa.replicate(meissa.zeros(1), options)
  loop(r, touch, {engine = engine})
  local found = touch:totable()
  for k = 1, options.replicas do table.insert(found, r:replica(k)[1]) end
  return found
end

describe("Replicas go through their shares in one order", function()
  for _, case in ipairs(LOOPS) do
    it("of " .. case[1], function()
      for _, shuffle in ipairs {false, 7} do
        for _, every in ipairs {1, 4, math.huge} do
          local options = {replicas = 3, every = every, topology = "ring", merge = "take",
                           final = "none", shuffle = shuffle or nil}
          kept_workers.init {workers = 0, quiet = true}
          local expected = run(case[2], options, "lua")
          assert.same(expected, run(case[2], options, "native"))
          kept_workers.init {workers = 2, quiet = true}
          assert.same(expected, run(case[2], options, "native"))
        end
      end
    end)
  end

  it("and errors name the iteration", function()
    local x = meissa.zeros(20)
    for _, engine in ipairs {"lua", "native"} do
      local r = meissa.replicate(meissa.zeros(1), {replicas = 2, every = 9})
      local ok, err = pcall(function()
        for pass, i in parallel(3, 30, {engine = engine}) do
          r[1] = r[1] + x[pass == 2 and i + 4 or 1]
        end
      end)
      assert.is_false(ok)
      assert.truthy(tostring(err):find("21", 1, true), tostring(err))
      assert.truthy(tostring(err):find("iteration 2, 17", 1, true), tostring(err))
    end
  end)
end)
