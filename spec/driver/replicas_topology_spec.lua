-- SPDX-License-Identifier: MIT
-- Topologies that replicas make themselves are what they say, wherever they were made.
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"

local K = 4
local MATRIX = {{0.5, 0.5, 0, 0}, {0.25, 0.5, 0.25, 0}, {0, 0.25, 0.5, 0.25},
                {0.25, -0.25, 0.25, 0.75}}

-- What replicas have after some rounds over what `topology_of` gives each in each round.
local function exchanged(topology_of, options)
  return meissa.replicas(K, {}, function(r)
    local w, seen = meissa.full({2}, r.index), {}
    for t = 1, 4 do
      local given = {topology = topology_of(r, t), biased = true}
      for name, value in pairs(options) do given[name] = value end
      w[1] = w[1] + t * r.index
      r:exchange(w, given)
      seen[t] = w[1]
    end
    return seen
  end)
end

describe("topologies of r:exchange", function()
  teardown(kept_workers.stop)

  for _, options in ipairs {{}, {lags = {{0, 1}, {1, 1}}}} do
    for name, what in pairs {ring = "ring", regular = {regular = 2, seed = 3},
                             matrix = {matrix = MATRIX}} do
      it(("may be made in the function: %s, %s"):format(name, next(options) or "exact"), function()
        for _, road in ipairs {{workers = 0}, {workers = 2}, {workers = 3, shm = false}} do
          kept_workers.init(road)
          meissa.seed(1)
          local right = exchanged(function() return what end, options)
          meissa.seed(1)
          assert.same(right, exchanged(function(r) return meissa.topology(what, r.count) end,
                                       options))
          meissa.seed(1)
          assert.same(right, exchanged(function(r, t)
            if (r.index + t) % 2 == 0 then return what end
            return meissa.topology(what, r.count)
          end, options))
        end
      end)
    end
  end

  for name, what in pairs {ring = "ring", regular = {regular = 2, seed = 3},
                           matrix = {matrix = MATRIX}} do
    it("may be made outside, and replicas are where they would be: " .. name, function()
      for _, road in ipairs {{workers = 0}, {workers = 2}, {workers = 3, shm = false}} do
        kept_workers.init(road)
        local top, processes = meissa.topology(what, K), {}
        assert.same(exchanged(function() return what end, {}),
                    exchanged(function() return top end, {}))
        local function setup(number) this_worker = number end -- luacheck: ignore
        local tell = meissa.replicas(K, {setup = setup}, function()
          local function weights(t) return top:weights(t) end
          return {this_worker, top, top:edges(1), weights} -- luacheck: ignore
        end)
        for k, told in ipairs(tell) do
          processes[told[1]] = true
          assert.equal(tostring(top), tostring(told[2]))
          assert.same({top:edges(1), top:weights(0), top:spectral_gap()},
                      {told[3], told[4](0), told[2]:spectral_gap()}, k)
        end
        assert.equal(math.max(1, road.workers), #processes)
      end
    end)
  end

  it("are what they were when they were made", function()
    for workers = 0, 2 do
      kept_workers.init {workers = workers}
      local right = exchanged(function() return {matrix = MATRIX} end, {})
      assert.same(right, exchanged(function(r)
        local M = meissa.zeros(K, K)
        for i = 1, K do for j = 1, K do M[i][j] = MATRIX[i][j] end end
        local rows = M:totable()
        local one = meissa.topology({matrix = rows}, r.count)
        rows[1][1], rows[1][2] = 1, 0
        return one
      end, {}))
    end
  end)

  it("are those of other replicas, or the exchange is refused", function()
    for workers = 0, 2 do
      kept_workers.init {workers = workers}
      local ok, err = pcall(exchanged, function(r)
        return meissa.topology({regular = 2, seed = r.index % 2}, r.count)
      end, {})
      assert.is_false(ok)
      assert.truthy(tostring(err):find("OPT: r:exchange: replica 2 has other options", 1, true),
                    tostring(err))
      ok, err = pcall(exchanged, function() return meissa.topology("ring", K + 1) end, {})
      assert.is_false(ok)
      assert.truthy(tostring(err):find("this topology is of 5 replicas, not of 4", 1, true),
                    tostring(err))
    end
  end)
end)
