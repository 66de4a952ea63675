-- SPDX-License-Identifier: MIT
-- Replicas that are models: networks and closures, of which the parameters are exchanged, against
-- replicas of arrays that do the same, on all roads.
local ffi = require "ffi"
local expect = require "spec.support.expect"
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"
local parallel = meissa.parallel

local ROADS = {{workers = 0}, {workers = 1}, {workers = 2}, {workers = 4},
               {workers = 2, shm = false}}

local function on(road, fn)
  kept_workers.init {workers = road.workers, shm = road.shm, quiet = true}
  return fn()
end

local n, m = 40, 5
local X, y = meissa.randn({n, m}, {seed = 3}), meissa.randn({n}, {seed = 4})

-- A vector as Torch has it.
local function vector(count, type)
  local numbers = ffi.new(type .. "[?]", count)
  return {numbers = numbers, data = function() return ffi.cast(type .. " *", numbers) end,
          nElement = function() return count end}
end

-- A linear model with momentum, which is nobody else's.
local function build(type)
  return function(k)
    local self = {k = k, w = vector(m, type), v = {}, steps = 0}
    for f = 1, m do self.w.numbers[f - 1], self.v[f] = 0.5, 0 end
    function self.step(me, lr, x, target)
      local w, p = me.w.numbers, 0
      for f = 1, m do p = p + w[f - 1] * x[f] end
      local g = p - target
      for f = 1, m do
        me.v[f] = 0.5 * me.v[f] + g * x[f]
        w[f - 1] = w[f - 1] - lr * me.v[f]
      end
      me.steps = me.steps + 1
      return g * g
    end
    return self
  end
end

local function params(model) return model.w end

local function train_models(options, passes, type)
  options.params = params
  local r = meissa.replicate(build(type or "double"), options)
  local loss, steps = 0, meissa.zeros(n)
  for _, e in parallel(passes, n) do
    local model = r()
    loss = loss + model:step(0.05, X[e], y[e])
    steps[e] = model.steps
  end
  return {r = r, loss = loss, steps = steps, plan = meissa.last()}
end

local function train_arrays(options, passes, type)
  options.params = nil
  local w = meissa.full({m}, 0.5, {type = type or "double"})
  local r = meissa.replicate(w, options)
  local v = meissa.replicate(meissa.zeros(m), {replicas = options.replicas, exchange = false})
  local loss = 0
  for _, e in parallel(passes, n) do
    local p = 0
    for f = 1, m do p = p + r[f] * X[e][f] end
    local g = p - y[e]
    loss = loss + g * g
    for f = 1, m do
      v[f] = 0.5 * v[f] + g * X[e][f]
      r[f] = r[f] - 0.05 * v[f]
    end
  end
  return {r = r, w = w, loss = loss}
end

describe("replicas of models", function()
  after_each(function() kept_workers.init {workers = 2, quiet = true} end)
  teardown(kept_workers.stop)

  it("are replicas of arrays with private state, bit for bit on all roads", function()
    local cases = {}
    for _, type in ipairs {"double", "float"} do
      for _, options in ipairs {
        {topology = "root-expander"}, {merge = {add = 0.25}}, {topology = "ring", push_sum = true},
        {lags = function(t, k) return (t + k) % 2 end, staleness = 1},
        {filter = {magnitude = 0.01}, topology = "ring-both"},
      } do
        options.replicas, options.every = 4, 3
        options.sync = not options.lags and "notify-ack" or nil
        local expected = on(ROADS[1], function() return train_arrays(options, 3, type) end)
        cases[#cases + 1] = {type = type, options = options, expected = expected}
      end
    end
    local function compare(type, options, expected)
      local got = train_models(options, 3, type)
      for k = 1, 4 do
        assert.same(expected.r:replica(k):totable(), got.r:replica(k):totable())
      end
      if type == "double" then assert.equal(expected.loss, got.loss) end
      assert.equal(30, got.steps:max()) -- each has its own count
      local merged = got.r()
      for f = 1, m do assert.equal(expected.w[f], merged.w.numbers[f - 1]) end
    end
    for _, road in ipairs(ROADS) do
      on(road, function()
        for _, case in ipairs(cases) do compare(case.type, case.options, case.expected) end
      end)
    end
  end)

  it("live on from loop to loop where they are, until they are reset", function()
    for _, road in ipairs(ROADS) do
      on(road, function()
        local r = meissa.replicate(build "double", {replicas = 4, every = 5, params = params})
        local steps = meissa.zeros(n)
        local function pass()
          for e in parallel(n) do
            local model = r()
            model:step(0.01, X[e], y[e])
            steps[e] = model.steps
          end
          return steps:max()
        end
        assert.equal(10, pass())
        assert.equal(20, pass())
        r:reset()
        assert.equal(10, pass())
      end)
    end
  end)

  it("begin with what they are built with after a reset, whatever the merge", function()
    for _, road in ipairs(ROADS) do
      on(road, function()
        for _, options in ipairs {{}, {merge = {add = 0.5}}, {push_sum = true, topology = "ring"},
                                  {filter = {magnitude = 0.1}}} do
          options.replicas, options.every = 2, 2
          options.params = function(model) return model.w end
          local r = meissa.replicate(function() return {w = meissa.full({1}, 10)} end, options)
          local ones = meissa.ones(8)
          local function pass()
            local sum = 0
            for e in parallel(8) do
              local model = r()
              sum = sum + model.w[1]
              model.w[1] = model.w[1] + ones[e]
            end
            return {sum, r().w[1]}
          end
          local first = pass()
          assert.is_true(pass()[2] > first[2])
          r:reset()
          assert.equal(10, r().w[1])
          assert.equal(10, r:replica(1)[1])
          assert.same(first, pass())
        end
      end)
    end
  end)

  it("begin as they are built after a loop that was undone, too", function()
    for _, road in ipairs(ROADS) do
      on(road, function()
        local function made()
          return meissa.replicate(function(k) return {w = meissa.full({1}, k), steps = 0} end,
            {replicas = 4, every = 5, topology = "ring", params = function(model)
              return model.w
            end})
        end
        local function train(r, fails)
          local steps, factor = meissa.zeros(n), 0.01
          for e in parallel(n) do
            local model = r()
            model.w[1] = model.w[1] + factor * X[e][1]
            model.steps = model.steps + 1
            steps[e] = model.steps
            if e == fails then error("stop here") end
          end
          return ("%.17g %d"):format(r().w[1], steps:max())
        end
        local r = made()
        assert.is_false((pcall(train, r, n - 1)))
        assert.equal(train(made()), train(r))
      end)
    end
  end)

  it("begin as they are built, each by its number", function()
    for _, road in ipairs(ROADS) do
      on(road, function()
        local seen = meissa.zeros(6)
        local r = meissa.replicate(function(k)
          return {w = meissa.full({2}, 10 * k), k = k}
        end, {replicas = 3, every = math.huge, final = "none", topology = "ring", biased = true,
              params = function(model) return model.w end})
        for i in parallel(6) do
          local model = r()
          seen[i] = model.k
          model.w[1] = model.w[1] + 1
        end
        assert.same({1, 1, 2, 2, 3, 3}, seen:totable())
        assert.same({(12 + 32) / 2, 20}, r:replica(1):totable()) -- of 3, which it hears
        assert.same({(22 + 12) / 2, 15}, r:replica(2):totable())
      end)
    end
  end)

  it("are built with the same random numbers in every process", function()
    local function numbers(final)
      local r = meissa.replicate(function() return {w = meissa.zeros(2):fill(math.random())} end,
                                 {replicas = 3, every = 4, final = final,
                                  params = function(model) return model.w end})
      for _ in parallel(24) do
        local model = r()
        model.w[2] = model.w[2] + 1
      end
      local own = r() -- the driver's: replica 1 goes its own way
      return {own.w[1], own.w[2], r:replica(1)[1], r:replica(1)[2], r:replica(3)[2]}
    end
    for _, final in ipairs {"mean", "none"} do
      local right = on({workers = 0}, function() return numbers(final) end)
      for _, road in ipairs(ROADS) do
        assert.same(right, on(road, function() return numbers(final) end))
      end
      if final == "none" then assert.equal(right[1], right[2]) end
      assert.equal(final == "mean", right[2] == right[4])
    end
  end)

  it("show on_round what they have come to", function()
    local rounds = {}
    local r = meissa.replicate(build "double", {replicas = 4, every = 2, params = params, cut = 2,
      on_round = function(s)
        rounds[#rounds + 1] = s.value()[1]
        assert.equal(m, s.replica(2):size(1))
        if s.round == 4 then return {stop = true} end
      end})
    for e in parallel(n) do r():step(0.01, X[e], y[e]) end
    assert.equal(2, #rounds)
    assert.equal(rounds[2], r().w.numbers[0])
  end)

  it("have parameters where they lie: any view, and what was moved", function()
    local function train(of)
      local r = meissa.replicate(function(k)
        local W = meissa.zeros(m, 3)
        for f = 1, m do W[f][2] = f / k end
        return {W = W, w = meissa.full({m}, 1 / k)}
      end, {replicas = 2, every = 3, params = of})
      for e in parallel(20) do
        local model = r()
        for f = 1, m do
          model.W[f][2] = model.W[f][2] + X[e][f]
          model.w[f] = model.w[f] + X[e][f]
        end
      end
      local trained = r()
      return {of(trained):totable(), trained.W[2][2], trained.w[2], r:replica(1):totable()}
    end
    local views = {
      function(model) return model.w end,
      function(model) return model.W:select(2, 2) end,
      function(model) return model.W[{{1, m}, 2}] end,
      function(model) return model.W[2] end,
      function(model) return model.W:narrow(2, 2, 2) end,
      function(model) -- as Torch's getParameters
        model.w = model.w:clone()
        return model.w
      end,
    }
    local results = {}
    for v, of in ipairs(views) do
      on(ROADS[1], function() results[v] = train(of) end)
      on(ROADS[3], function() assert.same(results[v], train(of)) end)
    end
    assert.same(results[1], results[6])
    assert.same(results[2], results[3])
    for v = 1, 4 do assert.same(results[v][1], results[v][4], v) end -- in the order of the view
    local sum = 0
    for e = 1, 20 do sum = sum + X[e][2] end
    for v = 2, 5 do -- the mean of what two replicas have done
      assert.is_true(math.abs(results[v][2] - (1.5 + sum / 2)) < 1e-9, v)
    end
    assert.equal(results[1][3], results[1][1][2])
    assert.equal(results[2][2], results[2][1][2])
    assert.equal(results[4][2], results[4][1][2])
    assert.equal(results[5][2], results[5][1][2][1])
  end)

  it("are no copies", function()
    local function try(words, of)
      expect.raises("OPT", words, function()
        meissa.replicate(function() return {w = meissa.ones(m)} end,
                         {replicas = 2, every = 1, params = of})
      end)
    end
    try("not a clone()", function(model) return model.w:clone() end)
    try("not a clone()", function() return meissa.zeros(m) end)
    try("not a clone()", function() return vector(m, "float") end)
    try("cannot be written", function(model) return model.w:snapshot() end)
    try("views of one", function(model) return {model.w, model.w} end)
  end)

  it("are refused where they cannot be had", function()
    local function refused(what, fn, ...)
      local ok, err = pcall(fn, ...)
      assert.is_false(ok)
      assert.truthy(tostring(err):find(what, 1, true), tostring(err))
    end
    local options = {replicas = 2, every = 1}
    refused("option 'params' is a function", meissa.replicate, build "double", options)
    refused("belongs to models", meissa.replicate, meissa.zeros(2),
            {replicas = 2, every = 1, params = params})
    refused("with data() and nElement()", meissa.replicate, build "double",
            {replicas = 2, every = 1, params = function() return 3 end})
    refused("gave nil", meissa.replicate, function() end,
            {replicas = 2, every = 1, params = params})
    refused("floats or doubles", meissa.replicate, build "int",
            {replicas = 2, every = 1, params = params})
    local r = meissa.replicate(function(k) return {w = meissa.zeros(k)} end,
                               {replicas = 2, every = 1, params = params})
    for _, road in ipairs {ROADS[1], ROADS[3]} do
      on(road, function()
        refused("the model of replica 2 has 2 parameters", function()
          for i in parallel(4) do r().w[1] = i end
        end)
      end)
    end
  end)

  it("are asked for by the body itself", function()
    local r = meissa.replicate(build "double", {replicas = 2, every = 1, params = params})
    local function within(i) r().w.numbers[0] = i end
    local held = {r = r}
    for _, road in ipairs {ROADS[1], ROADS[3]} do
      on(road, function()
        local ok, err = pcall(function()
          for i in parallel(4) do within(i) end
        end)
        assert.is_false(ok)
        assert.equal("OPT", err.code)
        assert.truthy(err.message:find("within leads to models of replicas", 1, true), err.message)
        for i in parallel(4) do held.r().v[1] = i end
      end)
    end
  end)

  it("are plain objects outside of loops", function()
    local r = meissa.replicate(build "double", {replicas = 2, every = 1, params = params})
    for i = 1, 8 do r().w.numbers[0] = r().w.numbers[0] + i end
    assert.equal(36.5, r().w.numbers[0])
    for i in parallel(4) do r().steps = i end
    assert.equal(0.5, r().w.numbers[0]) -- replicas begin with what was built
  end)

  it("are not written through by what the loop shares", function()
    local w = meissa.zeros(4)
    local r = meissa.replicate(build "double", {replicas = 2, every = 1, params = params})
    local ok, err = pcall(function()
      for i in parallel(4) do
        local model = r()
        if model.last then model.last[1] = i end
        model.last = w
      end
    end)
    assert.is_false(ok)
    assert.equal("DEP", err.code)
  end)
end)
