-- SPDX-License-Identifier: MIT
-- Models of replicas whose workers die, or that have been through rounds that begin again.
local child = require "spec.support.child"
local deaths = require "spec.driver.deaths"

for _, shm in ipairs {1, 0} do
  describe(("models whose workers die (MEISSA_SHM=%d)"):format(shm), function()
    it("begin again with the parameters that were there", function()
      local output, status = child.script(deaths.HEAD .. [[
        local r = meissa.replicate(function(k) return {w = meissa.zeros(1), k = k} end,
          {replicas = 3, every = 2, merge = {add = 1}, params = function(model) return model.w end})
        local hits = meissa.zeros(12)
        for pass, i in parallel(4, 12, {impure = true}) do
          local model = r()
          model.w[1] = model.w[1] + 1
          hits[i] = hits[i] + 1
          if pass == 3 and i == 6 then die_once() end
        end
        print(r().w[1], hits:min(), hits:max(), meissa.last().deaths)]],
        {env = "MEISSA_WORKERS=2 MEISSA_SHM=" .. shm})
      assert.equal(0, status, output)
      assert.truthy(output:find("48\t4\t4\t1\n", 1, true), output)
    end)

    it("count no round twice, those of others neither", function()
      local output, status = child.script(deaths.HEAD .. [[
        local r = meissa.replicate(function() return {w = meissa.zeros(1), steps = 0} end,
          {replicas = 3, every = 2, cut = 4, on_round = function() end,
           params = function(model) return model.w end})
        local touch = meissa.zeros(12)
        local function train(passes, dies)
          for pass, i in parallel(passes, 12, {impure = true}) do
            local model = r()
            model.w[1], model.steps, touch[i] = model.w[1] + 1, model.steps + 1, 1
            if dies and pass == 5 and i == 6 then
              sleep(0.2) -- others have gone on
              die_once()
            end
          end
        end
        local function show()
          local counts = meissa.zeros(12)
          for i in parallel(12, {impure = true}) do counts[i] = r().steps end
          print("steps " .. counts[1] .. " " .. counts[5] .. " " .. counts[12], r().w[1])
        end
        train(2)
        show()
        train(6, true)
        print("deaths", meissa.last().deaths)
        show()]],
        {env = "MEISSA_WORKERS=3 MEISSA_SHM=" .. shm})
      assert.equal(0, status, output)
      assert.truthy(output:find("steps 8 8 8\t8\n", 1, true), output)
      assert.truthy(output:find("deaths\t1\n", 1, true), output)
      local first, lost, last = output:match("steps (%d+) (%d+) (%d+)\t32\n")
      assert.equal("8", lost, output)
      -- By value the loop begins again at the cut; they may have waited there.
      for _, steps in ipairs {first, last} do
        assert.truthy(steps == "32" or shm == 0 and steps == "8", output)
      end
    end)
  end)
end
