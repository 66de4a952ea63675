-- SPDX-License-Identifier: MIT
-- Controllers of replicas: what they decide by what they are told, and loops that they steer.
local adaptive = require "meissa.driver.adaptive"
local meissa = require "meissa"
local settings_of = require "meissa.sync.settings"
local parallel = meissa.parallel

local function settings(options) return settings_of.read("spec", options, 4) end

local function controller(options, every)
  return adaptive.of({auto_every = every, settings = settings(options)}, 1024)
end

-- Decides after eight rounds in which four workers worked and waited for parts of the time.
local function decide(of, busy, waited, options, disagreement, age)
  of:take(1, 4 * busy, 4 * waited, 4)
  of:count(8)
  return of:decide(settings(options or {}), disagreement or 0, age or 0)
end

describe("a controller of exchanges", function()
  it("lets batches grow while exchanges take long, and shrink when they do not", function()
    local of = controller({}, true)
    assert.equal(128, of.every)
    local every = {}
    for t, busy in ipairs {0.5, 0.5, 0.5, 0.9, 0.99, 0.99, 0.1, 0.1, 0.1} do
      local answer = decide(of, busy, 0)
      every[t] = answer and answer.every or false
      assert.equal(answer ~= nil, answer ~= nil and answer.reason:find("exchanges take") ~= nil)
    end
    assert.same({256, 512, 1024, false, 512, 256, 512, 1024, false}, every)
    of:take(1, 0, 0, 4)
    of:count(7)
    assert.equal(1, of:left())
    assert.is_nil(of:decide(settings {}, 0, 0)) -- not yet
    assert.is_nil(adaptive.of({settings = settings {}}, 1024))
  end)

  it("takes a threshold from how far replicas are apart, a weight from ages", function()
    local of = controller({filter = {relative = 0.01}}, true)
    local answer = decide(of, 0.9, 0, {filter = {relative = 0.01, floor = 0.5}}, 0.08)
    assert.same({relative = 0.04, floor = 0.5}, answer.filter)
    answer = decide(of, 0.9, 0, {filter = {relative = 0.04}}, 100)
    assert.is_nil(answer) -- at most eight times what was asked for, and no small changes
    of = controller({merge = {weighted = 0.6}}, true)
    answer = decide(of, 0.9, 0, {merge = {weighted = 0.6, form = "normalised"}}, 0, 2)
    assert.same({weighted = 0.6 / 3, form = "normalised"}, answer.merge)
  end)

  it("is as stale as waiting takes long, and less where replicas come apart", function()
    local of = controller({staleness = "auto"}, false)
    local chosen = {}
    for t, waited in ipairs {0.5, 0.5, 0.1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.3} do
      local answer = decide(of, 0.5, waited)
      chosen[t] = answer and answer.staleness or false
    end
    assert.same({1, 2, false, false, false, false, false, false, false, false, 1, false, 2}, chosen)
    assert.equal(3, decide(of, 0.5, 0.5, {}, 0.5).staleness)
    assert.equal(2, decide(of, 0.5, 0.5, {}, 1.5).staleness)
    for _ = 17, 40 do decide(of, 0.5, 0.5, {}, 1.5) end
    assert.equal(settings_of.MOST_STALENESS, of.staleness)
  end)
end)

for _, workers in ipairs {0, 3} do
  describe("a loop that is steered, on " .. workers .. " workers", function()
    setup(function() meissa.init {workers = workers, quiet = true} end)
    teardown(function() meissa.init {workers = 2, quiet = true} end)

    local function count(options)
      local w, hits = meissa.zeros(1), meissa.zeros(300)
      options.replicas, options.merge = 3, {add = 1}
      local r = meissa.replicate(w, options)
      for _, i in parallel(20, 300) do
        hits[i] = hits[i] + 1
        r[1] = r[1] + 1
      end
      assert.equal(6000, w[1])
      assert.equal(20, hits:min())
      assert.equal(20, hits:max())
      return meissa.last()
    end

    it("does each iteration once, and says what was decided, and why", function()
      local plan = count {every = "auto"}
      assert.equal("none", plan.guarantee)
      for _, each in ipairs(plan.decisions or {}) do
        assert.truthy(each.every)
        assert.truthy(each.reason:find("exchanges take", 1, true))
      end
      plan = count {every = 7, staleness = "auto"}
      assert.equal("bounded(0, 8)", plan.guarantee)
      count {every = "auto", staleness = "auto", topology = "all"}
    end)

    it("leaves the last word to on_round", function()
      local rounds = {}
      local plan = count {every = "auto", cut = 4, on_round = function(s)
        rounds[#rounds + 1] = s.round
        if s.round == 8 then return {every = 50, reason = "ours"} end
      end}
      assert.equal(8, rounds[2])
      assert.equal(50, plan.decisions[1].every)
      assert.equal("ours", plan.decisions[1].reason)
    end)

    it("is refused with what it is to choose", function()
      for _, options in ipairs {{staleness = "auto", sync = "bsp"},
                                {staleness = "auto", lags = {{1, 1}}}, {staleness = "autos"}} do
        options.replicas, options.every = 2, 1
        local ok, err = pcall(meissa.replicate, meissa.zeros(1), options)
        assert.is_false(ok)
        assert.equal("OPT", err.code)
      end
    end)
  end)
end
