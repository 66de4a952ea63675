-- SPDX-License-Identifier: MIT
-- Small loops over functions and tables that are made anew each time, as they are linked: what may
-- not take the place of what was there before. See launch_reached_spec.lua for what these lead to.
local launches = require "meissa.driver.launch"
local meissa = require "meissa"
local parallel = meissa.parallel
local until_launched = require "spec.driver.until_launched"

local N = 12

-- Two closures of one function: what each leads to tells them apart.
local function scaled(by) return function(x) return x * by end end

describe("small loops over what is made anew", function()
  it("see who is who among what is made anew", function()
    local W, out = meissa.rand(N, {seed = 1}), meissa.zeros(N)
    local function loop(m)
      local first, second = m.first, m.second
      for i in parallel(N) do out[i] = first(W[i]) + m.of.scale(second(W[i])) end
      for i = 1, N do
        assert.equal(m.first(W[i]) + m.of.scale(m.second(W[i])), out[i])
      end
    end
    local function make()
      local first, second = scaled(2), scaled(3)
      return {first = first, second = second, of = {scale = first}}
    end
    until_launched(function() loop(make()) end)
    local function launched(m)
      local before = launches.executions
      loop(m)
      return launches.executions > before
    end
    assert.is_true(launched(make()))
    for _, change in ipairs {
      function(m) m.of.scale = m.second end,
      function(m) m.of.scale = scaled(2) end,
      function(m) m.second = m.first end,
      function(m) m.second = math.sqrt end,
      function(m) m.second = function(x) return x - 1 end end,
    } do
      local m = make()
      change(m)
      assert.is_false(launched(m), "launched, though linked in another way")
      loop(make())
    end
    assert.is_true(launched(make()))
  end)

  it("take the long way to functions that assign variables and are made anew", function()
    local W, out = meissa.rand(N, {seed = 1}), meissa.zeros(N)
    local function make()
      local calls = 0
      return {W = W, tally = function() calls = calls + 1 end,
              read = function(m, i) return m.W[i] + 1 end}
    end
    local function launched(model)
      local before = launches.executions
      for i in parallel(N) do out[i] = model:read(i) end
      for i = 1, N do assert.equal(W[i] + 1, out[i]) end
      return launches.executions > before
    end
    local model = make()
    until_launched(function() launched(model) end)
    for _ = 1, 5 do
      model = make()
      assert.is_false(launched(model))
      assert.is_true(launched(model))
    end
  end)

  it("come back to what was there before others took its place, and has changed since", function()
    local one, two = meissa.full({N}, 1), meissa.full({N}, 2)
    local function make(w)
      local m = {w = w, g = function(x) return x + 1 end}
      m.at = function(i) return m.g(m.w[i]) end
      return m
    end
    for _, change in ipairs {
      function() end,
      function(m) m.w = two end,
      function(m) m.g = function(x) return x * 10 end end,
      function(m) m.g, m.w = math.sqrt, two end,
    } do
      local out = meissa.zeros(N)
      local function run(f)
        local before = launches.executions
        for i in parallel(N) do out[i] = f(i) end
        for i = 1, N do assert.equal(f(i), out[i]) end
        return launches.executions > before
      end
      local first, second = make(one), make(one)
      until_launched(function() run(first.at) end)
      assert.is_true(run(second.at))
      change(first)
      for _ = 1, 3 do
        run(first.at)
        run(second.at)
      end
      change(second)
      for _ = 1, 3 do
        run(second.at)
        run(first.at)
      end
    end
  end)
end)
