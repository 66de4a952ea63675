-- SPDX-License-Identifier: MIT
-- Loops over replicas whose workers die: the same bits as without, and all as before where a block
-- ends two of them.
local child = require "spec.support.child"
local deaths = require "spec.driver.deaths"
local expect = require "spec.support.expect"
local seed = require "spec.support.seed"

local LOOP = deaths.HEAD .. [[
  local n, m = 60, 40
  local X, y = meissa.randn({n, m}, {seed = 1}), meissa.randn({n}, {seed = 2})
  local function train(fatal)
    local w, hits, loss = meissa.zeros(m), meissa.zeros(n), 0
    local r = meissa.replicate(w, {replicas = 5, every = 7, topology = "root-expander"})
    local own = meissa.replicate(meissa.zeros(1), {replicas = 5, exchange = false})
    for pass, e in parallel(4, n, {impure = true}) do
      if fatal and pass == 3 and e % 17 == 0 then fatal(e) end
      local p = 0
      for f = 1, m do p = p + r[f] * X[e][f] end
      local g = p - y[e]
      loss = loss + g * g
      hits[e] = hits[e] + pass
      own[1] = own[1] + 1
      for f = 1, m do r[f] = r[f] - 0.01 * g * X[e][f] end
    end
    return {w = w, hits = hits, loss = loss, own = own:replica(3), plan = meissa.last()}
  end
  local function same(a, b)
    for f = 1, m do assert(a.w[f] == b.w[f]) end
    for e = 1, n do assert(a.hits[e] == b.hits[e]) end
    assert(a.loss == b.loss and a.own[1] == b.own[1])
  end
]]

for _, shm in ipairs {1, 0} do
  describe(("a loop over replicas (MEISSA_SHM=%d)"):format(shm), function()
    local env = "MEISSA_WORKERS=3 MEISSA_SHM=" .. shm

    it("has the same bits when workers die once", function()
      local output, status = child.script(LOOP .. [[
        local right = train()
        same(right, train(function(e) die_once("died" .. e) end))
        print("deaths", meissa.last().deaths > 0, meissa.last().rounds)
        same(right, train())]], {env = env})
      assert.equal(0, status, output)
      expect.has(output, "deaths\ttrue\t7")
    end)

    it("has the same bits when workers are killed at random", function()
      local output, status = child.script(("math.randomseed(%d)"):format(seed) .. LOOP .. [[
        local right = train()
        for _ = 1, 12 do
          local pids = meissa.workers().pids
          local pid = pids[math.random(#pids)]
          local kill = "(sleep 0.0%d; kill -9 %d) 2>/dev/null &"
          if pid then os.execute(kill:format(math.random(0, 9), pid)) end -- false: none at present
          same(right, train(function() sleep(0.002) end))
        end
        print "all the same"]], {env = env})
      assert.equal(0, status, output)
      expect.has(output, "all the same")
    end)

    it("is undone when a block ends two workers", function()
      local output, status = child.script(LOOP .. [[
        local w, z = meissa.zeros(1), meissa.zeros(12)
        local r = meissa.replicate(w, {replicas = 3, every = 2})
        local ok, err = pcall(function()
          for pass, i in parallel(3, 12, {impure = true}) do
            z[i] = z[i] + 1
            r[1] = r[1] + 1
            if pass == 3 and i == 7 then die() end
          end
        end)
        print(ok, err.code, w[1], z:sum())]], {env = env})
      assert.equal(0, status, output)
      expect.has(output, "false\tWRK\t0\t0")
    end)
  end)
end
