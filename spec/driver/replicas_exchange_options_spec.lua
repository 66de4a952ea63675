-- SPDX-License-Identifier: MIT
-- Options of r:exchange that change from round to round, or in place, wherever a round is merged:
-- between workers, or where something was printed before, by the driver.
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"

describe("options of an exchange", function()
  teardown(kept_workers.stop)

  -- What all replicas have after each of six rounds.
  local function run(prints, options_of)
    return meissa.replicas(4, function(r)
      local w, out = meissa.full({4}, r.index), {}
      for t = 1, 6 do
        for i = 1, 4 do w[i] = w[i] + r.index * i end
        if prints and t % 2 == 1 then print "" end
        r:exchange(w, options_of(t))
        out[#out + 1] = ("%.17g %.17g"):format(w[1], w[4])
      end
      return table.concat(out, " | ")
    end)
  end

  local changing = {
    {"other topologies", function()
      local options = {merge = "mean", topology = "ring"}
      return function(t)
        if t == 2 then options = {merge = "mean", topology = "all"} end
        return options
      end
    end},
    {"filters", function()
      local options = {merge = "mean"}
      return function(t)
        if t == 4 then options = {merge = "mean", filter = {magnitude = 3}} end
        return options
      end
    end},
    {"a table that is changed", function()
      local options = {merge = "mean", filter = {magnitude = 100}}
      return function(t)
        if t == 2 then options.filter.magnitude = 0 end
        return options
      end
    end},
  }

  for _, case in ipairs(changing) do
    it("count from the round on that they are given in: " .. case[1], function()
      local make = case[2]
      kept_workers.init {workers = 0}
      local right = run(false, make())
      for _, workers in ipairs {2, 3} do
        kept_workers.init {workers = workers}
        for _, prints in ipairs {false, true} do assert.same(right, run(prints, make())) end
      end
    end)
  end

  it("that are changed in place are those of another table", function()
    kept_workers.init {workers = 0}
    local function given(t) return {merge = "mean", filter = {magnitude = t < 2 and 100 or 0}} end
    assert.same(run(false, given), run(false, changing[#changing][2]()))
  end)

  it("go on after another topology where filters hold something back", function()
    local function exchanged(workers, before, after)
      kept_workers.init {workers = workers}
      local lists = meissa.replicas(4, {seed = 1}, function(r)
        local w = meissa.zeros(3)
        for t = 1, 6 do
          w[r.index % 3 + 1] = w[r.index % 3 + 1] + 0.07 * t
          r:exchange(w, {topology = t <= 3 and before or after, filter = {magnitude = 0.6}})
        end
        return w:totable()
      end)
      return lists
    end
    for _, pair in ipairs {{"ring", "all"}, {"all", "ring"}, {"ring", "ring-both"},
                           {"ring-both", "one-peer-exponential"}} do
      assert.same(exchanged(0, unpack(pair)), exchanged(2, unpack(pair)))
    end
  end)
end)
