-- SPDX-License-Identifier: MIT
-- Controllers of replicas: what they decide by what they are told, and loops that they steer.
local adaptive = require "meissa.driver.adaptive"
local meissa = require "meissa"
local posts = require "meissa.sync.post"
local settings_of = require "meissa.sync.settings"
local vectors = require "meissa.sync.vector"
local parallel = meissa.parallel

local function settings(options) return settings_of.read("spec", options, 4) end

local function controller(options, every, bandwidth)
  return adaptive.of({replicas = 4, auto_every = every, settings = settings(options),
                      bandwidth = bandwidth}, 1024)
end

-- A machine on which an iteration of a replica takes `work` seconds and each exchange `exchange`;
-- on which workers wait for a part `idle` of their work, and `pause` seconds a round unless they
-- are as stale as `hidden`; and on which others take the core away `load` times out of ten.
local function machine(traits)
  local m = {work = 1e-6, exchange = 0, idle = 0, pause = 0, hidden = math.huge, bytes = 0,
             load = 0}
  for name, value in pairs(traits) do m[name] = value end
  return m
end

local function run_job(of, m, rounds)
  local iterations = rounds * (of:interval() or 100)
  local worked, spent = m.work * iterations, m.exchange * rounds
  local pause = (of.staleness or 0) >= m.hidden and 0 or m.pause
  local held = math.random(10) <= m.load and math.random(2, 20) or 1
  of:take {rounds = rounds, iterations = iterations, workers = 2, replicas = 4, worked = worked,
           spent = spent * (rounds - 0.5) / rounds, bytes = m.bytes * rounds,
           busy = 4 * (worked + spent) * held,
           waited = (4 * m.idle * worked + 2 * pause * rounds) * held}
end

-- Has a controller decide so many times, as a loop does; all answers.
local function steer(of, m, decisions, options, disagreement, age)
  local answers = {}
  for d = 1, decisions do
    while not of:is_due() do run_job(of, m, of:left()) end
    local answer = of:decide(settings(options or {}), disagreement or 0, age or 0)
    if answer then
      answers[#answers + 1], answer.decision = answer, d
      run_job(of, m, 1) -- it does not govern yet
      of:obey(answer)
    end
  end
  return answers
end

describe("times for controllers", function()
  it("are counted once, of private state as of what is exchanged", function()
    for _, options in ipairs {false, {every = 1}} do
      local made = posts.new(options and settings(options) or nil, 3, {timed = true})
      local row, value = vectors.new(made.at.size), vectors.new(3)
      made:begin(1, value, row)
      made:spend(row, 0, 2)
      made:spend(row, 1, 3)
      made:spend(row, 1, 4)
      local times = row + made.at.times
      assert.same({2, 7}, {times[0], times[1]})
      made:renew(value, row)
      assert.same({0, 0}, {times[0], times[1]})
    end
  end)
end)

describe("a controller of exchanges", function()
  before_each(function() math.randomseed(7) end)

  -- What exchanges take is known here: two costs that alternate with none of the controller's code.
  local function part_of(m, every, bandwidth)
    local exchange = 2 * m.exchange + m.bytes / (bandwidth or math.huge)
    return exchange / (exchange + 2 * m.work * every)
  end

  it("finds how often exchanges cost little, whatever else the machine does", function()
    for load = 0, 5 do
      for _, exchange in ipairs {0, 1e-7, 1e-6, 5e-6, 3e-5, 1e-4} do
        local m, of = machine {exchange = exchange, load = load}, controller({}, true)
        assert.equal(128, of:interval())
        steer(of, m, 40)
        local every = of:interval()
        local words = ("exchange %g, load %d: every %d"):format(exchange, load, every)
        assert.is_true(part_of(m, every) <= 0.1 or every == 1024, words)
        assert.is_true(part_of(m, every) >= 0.02 or every == 1, words)
      end
    end
  end)

  it("says why, and does not change what is well", function()
    local m, of = machine {exchange = 3e-5}, controller({}, true)
    local answers = steer(of, m, 20)
    assert.equal(1, #answers)
    assert.matches("^exchanges take 19 %% of the time: every %d+$", answers[1].reason)
    assert.equal(answers[1].every, of:interval())
    assert.is_true(math.abs(part_of(m, of:interval()) - 0.05) < 0.01)
    assert.is_nil(adaptive.of({settings = settings {}}, 1024))
  end)

  it("counts bytes by a bandwidth, from the first round on", function()
    local m, of = machine {bytes = 4e4}, controller({}, true, 1e8)
    assert.equal(1, of:left())
    local answers = steer(of, m, 1)
    assert.equal(1024, answers[1].every)
    assert.equal("exchanges take 61 % of the time: every 1024", answers[1].reason)
    assert.equal(4, of:left())
    assert.equal(4, controller({}, true):left())
  end)

  it("takes back what does not hold what it promises, and tries it less and less", function()
    -- Workers wait as long whatever is exchanged how often.
    local m, of = machine {idle = 0.5}, controller({}, true)
    local answers = steer(of, m, 100)
    local tried, last = 0, 0
    for n, answer in ipairs(answers) do
      if n % 2 == 0 then
        assert.equal(128, answer.every)
        assert.matches("an iteration takes 3 us, not .*: every 128 again", answer.reason)
      else
        assert.is_true(answer.every > 128)
        assert.is_true(n == 1 or answer.decision - last >= 4)
        tried, last = tried + 1, answer.decision
      end
    end
    assert.is_true(tried >= 2 and tried <= 6, tried)
  end)

  it("takes a threshold from how far replicas are apart, a weight from ages", function()
    local of, m = controller({filter = {relative = 0.01}}, true), machine {exchange = 1e-5}
    local answer = steer(of, m, 1, {filter = {relative = 0.01, floor = 0.5}}, 0.08)[1]
    assert.same({relative = 0.04, floor = 0.5}, answer.filter)
    assert.is_false(of.awaiting)
    answer = steer(of, m, 1, {filter = {relative = 0.04}}, 100)[1]
    assert.is_nil(answer) -- at most eight times what was asked for, and no small changes
    of = controller({merge = {weighted = 0.6}}, true)
    answer = steer(of, m, 1, {merge = {weighted = 0.6, form = "normalised"}}, 0, 2)[1]
    assert.same({weighted = 0.6 / 3, form = "normalised"}, answer.merge)
  end)

  it("is as stale as is needed so that nobody waits, whatever else the machine does", function()
    for load = 0, 5 do
      for hidden = 1, 3 do
        local m = machine {pause = 1e-3, hidden = hidden, load = load}
        local of = controller({staleness = "auto"}, false)
        -- Each round of staleness hides its part.
        local pause, decisions, most = m.pause, load == 0 and 2 * hidden + 2 or 60, 0
        for _ = 1, decisions do
          m.pause = pause * (1 - of.staleness / hidden)
          steer(of, m, 1)
          most = math.max(most, of.staleness)
        end
        assert.equal(hidden, load == 0 and of.staleness or most, ("load %d"):format(load))
        assert.equal(hidden, most)
      end
    end
  end)

  it("is not stale where that does not help, nor where replicas come apart", function()
    local m, of = machine {pause = 1e-3}, controller({staleness = "auto"}, false)
    local answers = steer(of, m, 60)
    assert.equal(0, of.staleness)
    assert.is_true(#answers >= 2 and #answers <= 12, #answers)
    m, of = machine {pause = 1e-3, hidden = 1}, controller({staleness = "auto"}, false)
    assert.equal(1, steer(of, m, 2, {}, 0.5)[1].staleness)
    assert.equal("replicas come apart (1.5, 0.5 before): staleness 0",
                 steer(of, m, 1, {}, 1.5)[1].reason)
    m, of = machine {pause = 1e-3, hidden = 1}, controller({staleness = "auto"}, false)
    steer(of, m, 4)
    assert.equal(1, of.staleness)
    m.pause = 0 -- it is needed no more
    steer(of, m, 9)
    assert.equal(0, of.staleness)
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
        assert.truthy(each.reason:find("exchanges take", 1, true) or each.reason:find " again$")
      end
      plan = count {every = 7, staleness = "auto"}
      assert.equal("bounded(0, 8)", plan.guarantee)
      count {every = "auto", staleness = "auto", topology = "all"}
    end)

    it("goes with private state beside what is exchanged, whichever comes first", function()
      for _, options in ipairs {{every = "auto"}, {every = 5, staleness = "auto"}} do
        for order = 1, 2 do
          local w, mine, hits = meissa.zeros(1), meissa.zeros(1), meissa.zeros(300)
          options.replicas, options.merge = 3, {add = 1}
          local first = order == 1 and meissa.replicate(w, options)
          local p = meissa.replicate(mine, {replicas = 3, exchange = false})
          local r = first or meissa.replicate(w, options)
          for _, i in parallel(20, 300) do
            if order == 2 then p[1] = p[1] + i end
            hits[i] = hits[i] + 1
            r[1] = r[1] + 1
            if order == 1 then p[1] = p[1] + i end
          end
          assert.equal(6000, w[1])
          assert.same({20, 20}, {hits:min(), hits:max()})
          for k = 1, 3 do -- 20 passes over (k - 1) * 100 + 1 .. k * 100
            assert.equal(20 * (10000 * (k - 1) + 5050), p:replica(k)[1])
          end
        end
      end
    end)

    it("promises nothing where it leaves out who is late", function()
      for _, late in ipairs {{"backup", 1}, {"timeout", 3}} do
        local w, hits = meissa.zeros(1), meissa.zeros(40)
        local r = meissa.replicate(w, {replicas = 4, every = 2, staleness = "auto",
                                       [late[1]] = late[2]})
        for i in parallel(40) do
          hits[i] = hits[i] + 1
          r[1] = r[1] + 1
        end
        assert.equal("none", meissa.last().guarantee)
        assert.truthy(tostring(meissa.last()):find(
          ": none, values of up to 8 rounds earlier, or later, are merged, and those who are " ..
          "late are left out", 1, true), tostring(meissa.last()))
      end
    end)

    it("leaves the last word to on_round", function()
      local rounds = {}
      local plan = count {every = "auto", cut = 4, on_round = function(s)
        rounds[#rounds + 1] = s.round
        if s.round == 4 then return {every = 50, reason = "ours"} end
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
