-- SPDX-License-Identifier: MIT
-- Replicas of doubles work on the rows that they post, and models on what was merged for them.
local meissa = require "meissa"
local parallel = meissa.parallel

local ROADS = {{workers = 0}, {workers = 1}, {workers = 2}, {workers = 2, shm = false}}

local function on(road, fn)
  meissa.init {workers = road.workers, shm = road.shm, quiet = true}
  return fn()
end

local function params(model) return model.w end

describe("Replicas in their rows", function()
  after_each(function() meissa.init {workers = 2, quiet = true} end)

  it("may be several arrays, each of which has its own elements", function()
    for _, engine in ipairs {"lua", "native"} do
      local a, b, c = meissa.zeros(2), meissa.full({3}, 0.5), meissa.full({3}, 0.5)
      local ra, rb = meissa.replicate({a, b}, {replicas = 3, every = 2})
      for _, i in parallel(2, 12, {engine = engine}) do
        ra[2] = ra[2] + 0.25 * rb[1] * i
        rb[1] = rb[1] + 0.1 * i
      end
      local rc = meissa.replicate(c, {replicas = 3, every = 2})
      for _, i in parallel(2, 12, {engine = engine}) do
        rc[2] = rc[2] + 0
        rc[1] = rc[1] + 0.1 * i
      end
      assert.same(c:totable(), b:totable())
      assert.equal(0, a[1])
      assert.is_true(a[2] > b[1])
    end
  end)

  it("keep what was merged where a round does not ask for their models", function()
    for _, road in ipairs(ROADS) do
      on(road, function()
        local function train(passes)
          local r = meissa.replicate(function() return {w = meissa.full({3}, 0.5)} end,
                                     {replicas = 4, every = 10, params = params})
          for pass, e in parallel(passes, 40) do
            if pass == 1 then
              local w = r().w
              w[e % 3 + 1] = 0.75 * w[e % 3 + 1] + e
            end
          end
          return r().w:totable()
        end
        local trained = train(1)
        assert.not_equal(0.5, trained[1])
        for passes = 2, 3 do assert.same(trained, train(passes)) end
      end)
    end
  end)

  it("that are models built unlike each other add changes to what each has", function()
    local results = {}
    for workers = 0, 3 do
      meissa.init {workers = workers}
      local r = meissa.replicate(function(k) return {w = meissa.full({1}, 10 * k)} end,
        {replicas = 3, every = 1, merge = {add = 1 / 3}, params = function(m) return m.w end})
      for _ in parallel(6) do
        local m = r()
        m.w[1] = 0.5 * m.w[1] + 1
      end
      results[workers] = {r:replica(1)[1], r:replica(2)[1], r:replica(3)[1]}
    end
    for workers = 1, 3 do assert.same(results[0], results[workers]) end
  end)
end)
