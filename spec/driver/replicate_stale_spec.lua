-- SPDX-License-Identifier: MIT
-- Loops over replicas whose rounds have no barrier: exact settings and chosen lags against a serial
-- model, bit for bit on all roads; stale ones against their bounds, recorded, replayed, killed.
local child = require "spec.support.child"
local deaths = require "spec.driver.deaths"
local expect = require "spec.support.expect"
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"
local model = require "spec.driver.replicate_model"
local seed = require "spec.support.seed"

local ROADS = {
  {workers = 0}, {workers = 1}, {workers = 2}, {workers = 6}, {workers = 2, shm = false},
  {workers = 0, engine = "lua"}, {workers = 2, engine = "lua"}, {workers = 3, engine = "native"},
}

local function on(road, fn)
  kept_workers.init {workers = road.workers, shm = road.shm, quiet = true}
  return fn(road.engine or "auto")
end

local n, m, parallel = 41, 4, meissa.parallel
local X, y = meissa.randn({n, m}, {seed = seed}), meissa.randn({n}, {seed = seed + 1})

-- Least squares by SGD; what it leaves.
local function train(options, engine, passes)
  local w, hits = meissa.full({m}, 0.5), meissa.zeros(n)
  local r, loss, lr = meissa.replicate(w, options), 0, 0.05
  local own = meissa.replicate(meissa.zeros(1), {replicas = options.replicas, exchange = false})
  for pass, e in parallel(passes, n, {engine = engine}) do
    local p = 0
    for f = 1, m do p = p + r[f] * X[e][f] end
    local g = p - y[e]
    loss = loss + g * g
    hits[e] = hits[e] + pass
    own[1] = own[1] + 1
    for f = 1, m do r[f] = r[f] - lr * g * X[e][f] end
  end
  local counts = 0
  for k = 1, options.replicas do counts = counts + own:replica(k)[1] end
  return {w = w:totable(), hits = hits:totable(), loss = loss, r = r, counts = counts,
          plan = meissa.last(), exchanged = meissa.last().exchanged}
end

local function body(row, e)
  local p = 0
  for f = 1, m do p = p + row[f] * X[e][f] end
  local g = p - y[e]
  for f = 1, m do row[f] = row[f] - 0.05 * g * X[e][f] end
end

local function near(expected, got, what)
  for f = 1, #expected do
    local off = math.abs(expected[f] - got[f])
    assert(off <= 1e-13 * (1 + math.abs(expected[f])), ("%s: %.17g is not %.17g"):format(
      what or "", got[f], expected[f]))
  end
end

describe("replicas, each as soon as it may,", function()
  after_each(function() kept_workers.init {workers = 2, quiet = true} end)

  it("have the bits of exchanges all at once, where nothing may be stale", function()
    local waits = {{"bsp"}, {"notify-ack"}, {}, {"notify-ack", 1}, {"bsp-2barrier"}, {nil, 3},
                   {"notify-ack", 4}, {"pd-delay"}}
    local settings = {
      {topology = "root-expander", quota = 75}, {topology = "chain", quota = 60},
      {topology = "one-peer-exponential"}, {topology = "ring", push_sum = true}, {quota = 84},
      {filter = {relative = 0.01}, topology = "ring-both"}, {merge = {weighted = 0.5}},
      {topology = "ring-both", filter = {magnitude = 0.01}, residual = "invalidate"},
      {topology = "one-peer-exponential", push_sum = true}, {topology = "server", push_sum = true},
      {topology = "ring", filter = {sketch = "count", width = 3, depth = 2}, biased = true},
      {topology = "chain", filter = {relative = 0.05}, residual = "drop"},
      {topology = "one-peer-exponential", filter = {magnitude = 0.05}, residual = "invalidate"},
      {topology = "all", push_sum = true}, {filter = {relative = 0.02}},
      {filter = {magnitude = 0.02}, residual = "drop"}, {quota = 84, bound = 0.1},
      {filter = {relative = 0.05}, residual = "invalidate", merge = {weighted = 0.5}},
      {filter = {priority = "random"}, quota = 120, merge = {add = 0.25}, residual = "invalidate"},
      {filter = {sketch = "count", width = 3, depth = 2}, merge = {add = 0.25}},
    }
    local wanted = {}
    for number, options in ipairs(settings) do
      options.replicas, options.every, options.final = 4, 3, "none"
      wanted[number] = {model.run_at_once({passes = 3, n = n, w = {0.5, 0.5, 0.5, 0.5}}, options,
                                          body)}
    end
    local function compare(expected, got, what)
      for k = 1, 4 do assert.same(expected[1][k], got.r:replica(k):totable(), what) end
      for e = 1, n do assert.same({6, 3 * n}, {got.hits[e], got.counts}, what) end
      expected[3] = expected[3] or got.loss
      assert.equal(expected[3], got.loss, what)
      assert.equal(expected[2], got.exchanged, what)
    end
    for r, road in ipairs(ROADS) do
      on(road, function(engine)
        for number, options in ipairs(settings) do
          options.sync, options.depth = unpack(waits[(r + number) % #waits + 1], 1, 2)
          compare(wanted[number], train(options, engine, 3), ("settings %d, %d"):format(number, r))
        end
      end)
    end
  end)

  it("take topologies however they are given", function()
    local matrix = {{0.5, 0.5, 0}, {0.25, 0.5, 0.25}, {0.25, 0, 0.75}}
    local first
    for _, topology in ipairs {{matrix = matrix}, {matrix = meissa.from(matrix)},
                               meissa.topology({matrix = matrix}, 3)} do
      for _, road in ipairs {ROADS[1], ROADS[3], ROADS[5]} do
        local options = {replicas = 3, every = 4, topology = topology}
        local got = on(road, function(engine) return train(options, engine, 2) end)
        first = first or got.w
        assert.same(first, got.w)
      end
    end
  end)

  it("add changes up whatever the order in which they come", function()
    for _, options in ipairs {
      {merge = {add = 0.25}}, {merge = {add = 0.25}, filter = {magnitude = 0.02}},
      {merge = {add = 0.25}, filter = {sketch = "count", width = 8, depth = 3}},
    } do
      options.replicas, options.every = 4, 3
      local expected = on(ROADS[1], function(engine) return train(options, engine, 2) end)
      options.sync = "bsp"
      for r = 1, #ROADS, 2 do
        local got = on(ROADS[r], function(engine) return train(options, engine, 2) end)
        near(expected.w, got.w)
      end
      -- What is produced arrives, however late: the sum of all steps does not depend on it.
      local w = meissa.zeros(2)
      options.sync, options.lags, options.filter = nil, {{0, 1}, {1, 1}, {3, 2}}, nil
      options.merge = {add = 1}
      local r = meissa.replicate(w, options)
      for _, i in parallel(5, 17) do
        r[1] = r[1] + 1
        r[2] = r[2] + i
      end
      assert.equal(5 * 17, w[1])
      assert.equal(5 * 17 * 18 / 2, w[2])
    end
  end)

  it("with lags are the serial model, bit for bit on all roads", function()
    math.randomseed(seed)
    local trials = {}
    for trial = 1, 6 do
      local topology = ({"all", "ring", "ring-both", "root-expander", "one-peer-exponential",
                         "all"})[trial]
      local a, b, most = math.random(0, 5), math.random(0, 5), math.random(1, 3)
      local function lag(t, j) return (a * t + b * j + 1) % (most + 1) end
      local options = {replicas = 4, every = math.random(2, 4), topology = topology, lags = lag,
                       staleness = most, biased = true, final = "none",
                       merge = trial == 6 and {weighted = 0.3} or nil}
      local _, rows, rounds = model.run_stale({
        passes = 3, n = n, replicas = 4, every = options.every, lag = lag,
        topology = meissa.topology(topology, 4), lambda = trial == 6 and 0.3 or nil,
        w = {0.5, 0.5, 0.5, 0.5}}, body)
      trials[trial] = {options = options, rows = rows, rounds = rounds}
    end
    local function compare(trial, engine, number)
      local got = train(trial.options, engine, 3)
      assert.same({trial.rounds, 0}, {got.plan.rounds, got.plan.missed})
      assert.is_true(got.plan.launch > 0 and got.plan.launch <= got.plan.seconds)
      for k = 1, 4 do
        near(trial.rows[k], got.r:replica(k):totable(),
          ("%s, road %d"):format(trial.options.topology, number))
      end
    end
    for number, road in ipairs(ROADS) do
      on(road, function(engine)
        for _, trial in ipairs(trials) do compare(trial, engine, number) end
      end)
    end
  end)

  it("keep push-sum's mean, however old what they hear is", function()
    for _, options in ipairs {{lags = {{0, 1}, {2, 1}}}, {staleness = 2}, {sync = "async"}} do
      local w = meissa.zeros(1)
      options.replicas, options.every, options.topology, options.push_sum = 6, 1, "ring", true
      local r = meissa.replicate(w, options)
      for _, i in parallel(30, 6) do r[1] = r[1] + i end
      assert.near(30 * 21 / 6, w[1], 1e-10)
    end
  end)

  it("hold answers of on_round back by their staleness", function()
    local rounds, w = {}, meissa.zeros(1)
    local step = 1
    local r = meissa.replicate(w, {replicas = 2, every = 1, lags = {{0, 1}}, staleness = 2, cut = 3,
      on_round = function(s)
        rounds[#rounds + 1] = s.round
        if s.round == 3 then return {set = {step = 100}} end
        if s.round == 9 then return {stop = true, staleness = 0} end
      end})
    for _ in parallel(40) do r[1] = r[1] + step end
    assert.same({3, 6, 9}, {rounds[1], rounds[2], rounds[3]})
    assert.equal(11, meissa.last().rounds) -- 9 and the two that may have begun
    assert.equal(5 + 600, w[1])            -- governs from round 3 + 1 + 2 on
  end)

  it("are refused where nothing sensible could come of it", function()
    local w = meissa.zeros(3)
    local function refused(options, what)
      options.replicas, options.every = 3, 1
      local ok, err = pcall(meissa.replicate, w, options)
      assert.is_false(ok)
      assert.equal("OPT", err.code)
      assert.truthy(err.message:find(what, 1, true), err.message)
    end
    refused({sync = "bps"}, 'did you mean "bsp"?')
    refused({sync = "bsp", staleness = 1}, "never stale")
    refused({sync = "async", staleness = 1}, "has no bound")
    refused({lags = {{2, 1}}, staleness = 1}, "more than staleness")
    refused({lags = {}}, "has no {lag, weight}")
    refused({lags = function() return 0 end}, "returns at most")
    local a = meissa.replicate(w, {replicas = 3, every = 1, staleness = 1})
    local b = meissa.replicate(meissa.zeros(3), {replicas = 3, every = 1})
    local ok, err = pcall(function()
      for i in parallel(9) do a[1], b[1] = a[1] + i, b[1] + i end
    end)
    assert.is_false(ok)
    assert.truthy(err.message:find("wait for each other in one way", 1, true), err.message)
  end)
end)

local LOOP = deaths.HEAD .. [[
  local n, m = 60, 40
  local X, y = meissa.randn({n, m}, {seed = 1}), meissa.randn({n}, {seed = 2})
  local function train(options, fatal)
    local w, hits, loss = meissa.zeros(m), meissa.zeros(n), 0
    options.replicas, options.every, options.topology = 5, 3, "root-expander"
    local r = meissa.replicate(w, options)
    for pass, e in parallel(4, n, {impure = true}) do
      if fatal then fatal(e, pass) end
      local p = 0
      for f = 1, m do p = p + r[f] * X[e][f] end
      hits[e], loss = hits[e] + pass, loss + (p - y[e]) ^ 2
      for f = 1, m do r[f] = r[f] - 0.01 * (p - y[e]) * X[e][f] end
    end
    return {w = w, hits = hits, loss = loss, plan = meissa.last()}
  end
  local function same(a, b)
    for f = 1, m do assert(a.w[f] == b.w[f]) end
    for e = 1, n do assert(a.hits[e] == b.hits[e]) end
    assert(a.loss == b.loss)
  end
]]

-- Workers that say when they are late: replica 4's third round takes long.
local LATE = deaths.HEAD .. [[
  local function run(options)
    local w, after = meissa.zeros(1), meissa.zeros(8)
    options.replicas, options.every, options.final = 4, 2, "none"
    local r = meissa.replicate(w, options)
    for pass, i in parallel(6, 8, {impure = true}) do
      if pass == 3 and i == 7 then sleep(0.5) end
      r[1] = r[1] + i
      if i < 7 then sleep(0.01) end
    end
    return meissa.last(), r
  end
]]

describe("replicas that are late", function()
  it("are left out, if there is a backup for them, or they are late for long", function()
    local output, status = child.script(LATE .. [[
      for _, options in ipairs {{sync = "notify-ack"}, {backup = 1}, {timeout = 3},
                                {backup = 3, staleness = 1}} do
        local plan, r = run(options)
        local value = {}
        for k = 1, 4 do value[k] = r:replica(k)[1] end
        print(plan.missed > 0, plan.guarantee, value[1] == value[1])
      end]], {env = "MEISSA_WORKERS=4"})
    assert.equal(0, status, output)
    assert.equal("false\treproducible\ttrue\n" .. ("true\tnone\ttrue\n"):rep(3), output)
  end)

  it("are heard again when they come, and hear what is newest", function()
    local output, status = child.script(deaths.HEAD .. [[
      local w, rounds = meissa.zeros(1), meissa.zeros(2)
      local r = meissa.replicate(w, {replicas = 2, every = 1, backup = 1, merge = "take",
                                     topology = "ring", final = "none"})
      -- Replica 1 counts its rounds; replica 2 is in its first one until that has ended its last.
      for t, k in parallel(20, 2, {impure = true}) do
        if k == 2 and t == 1 then
          while not exists "last" do sleep(0.005) end
          sleep(0.2) -- and it has sent what it has
        end
        rounds[k] = rounds[k] + 1
        r[1] = t * 10 + k
        if k == 1 and t == 20 then make "last" end
      end
      print(r:replica(1)[1], r:replica(2)[1])]], {env = "MEISSA_WORKERS=2"})
    assert.equal(0, status, output)
    -- Replica 2 heard of the other's last round before its own one: nothing is heard twice.
    assert.equal("202\t202\n", output)
  end)

  it("are not heard while they are behind", function()
    local output, status = child.script(deaths.HEAD .. [[
      local w, alone = meissa.zeros(1), meissa.zeros(2)
      local r = meissa.replicate(w, {replicas = 2, every = 1, backup = 1, merge = "take",
                                     topology = "ring", final = "none"})
      -- Replica 2 is in its first round until the other one is in its last.
      for t, k in parallel(12, 2, {impure = true}) do
        while k == 2 and t == 1 and not exists "last" do sleep(0.005) end
        if r[1] == t - 1 then alone[k] = alone[k] + 1 end
        r[1] = r[1] + (k == 2 and 100 or 1)
        if k == 1 and t == 12 then make "last" end
      end
      print(alone[1], alone[2] < 12)]], {env = "MEISSA_WORKERS=2"})
    assert.equal(0, status, output)
    assert.equal("12\ttrue\n", output)
  end)

  it("are refused where everybody must be heard", function()
    local w = meissa.zeros(3)
    for _, each in ipairs {
      {{backup = 1, merge = {add = 1}}, "needs everyone's messages"},
      {{timeout = 2, push_sum = true, topology = "ring"}, "needs everyone's messages"},
      {{backup = 1, sync = "bsp"}, "has nobody late"}, {{timeout = 2, lags = {{1, 1}}}, "'lags'"},
      {{backup = -1}, "option 'backup' is a whole number from 0"},
      {{timeout = 0.5}, "a number from 1 to"}, {{timeout = "x"}, "a number from 1 to"},
    } do
      local options = each[1]
      options.replicas, options.every = 3, 1
      local ok, err = pcall(meissa.replicate, w, options)
      assert.is_false(ok)
      assert.truthy(err.message:find(each[2], 1, true), err.message)
    end
    meissa.replicate(w, {replicas = 3, every = 1, backup = 0, merge = {add = 1}})
  end)
end)

describe("a recorded run of stale replicas", function()
  it("is read by the checker, and is had again on other roads", function()
    local file = os.tmpname()
    local script = LOOP .. [[
      local w = meissa.ones(8)
      for _, each in ipairs {{}, {nil, 2}, {"ssp", 1}, {}, {"async"}, {"pd-delay", 1},
                             {"notify-ack", nil, 3}, {"bsp-2barrier"}, {"barrier"}} do
        local function asked() return {sync = each[1], staleness = each[2], depth = each[3]} end
        for t, i in meissa.iterate(w, 4, asked()) do w[i] = 0.5 * (w[i] + w[i % 8 + 1]) end
        local got = train(asked(), function(e) if e % 13 == 0 then sleep(0.001) end end)
        local words = {}
        for f = 1, m do words[f] = ("%a"):format(got.w[f]) end
        print(("%a"):format(got.loss), table.concat(words, " "))
      end]]
    for _, road in ipairs {"MEISSA_SHM=1", "MEISSA_SHM=0"} do
      local output, status = child.script(script, {
        env = ("MEISSA_WORKERS=3 %s MEISSA_HISTORY=%s"):format(road, file)})
      assert.equal(0, status, output)
      for _, replay in ipairs {"MEISSA_WORKERS=0", "MEISSA_WORKERS=2"} do
        local again, ended = child.script(script, {
          env = ("%s MEISSA_REPLAY=%s"):format(replay, file)})
        assert.equal(0, ended, again)
        assert.equal(output, again)
      end
      local verdict, right = child.shell("luajit bin/meissa check-history " .. file .. " 2>&1")
      assert.equal(0, right, verdict)
    end
    os.remove(file)
  end)
end)

for _, shm in ipairs {1, 0} do
  describe(("stale replicas whose workers die (MEISSA_SHM=%d)"):format(shm), function()
    local env = "MEISSA_WORKERS=3 MEISSA_SHM=" .. shm

    it("have the same bits where nothing depends on speed", function()
      local output, status = child.script(LOOP .. [[
        for number, options in ipairs {{sync = "notify-ack"}, {lags = {{0, 1}, {1, 2}}}} do
          meissa.seed(3)
          local right = train(options)
          meissa.seed(3)
          same(right, train(options, function(e, pass)
            if pass == 3 and e % 17 == 0 then die_once("died" .. e .. "_" .. number) end
          end))
          print("deaths", meissa.last().deaths > 0)
        end]], {env = env})
      assert.equal(0, status, output)
      expect.has(output, "deaths\ttrue\ndeaths\ttrue")
    end)

    it("lose nothing where it does", function()
      local output, status = child.script(LOOP .. [[
        local w, z = meissa.zeros(1), meissa.zeros(30)
        local r = meissa.replicate(w, {replicas = 5, every = 1, staleness = 2, merge = {add = 1}})
        for pass, i in parallel(4, 30, {impure = true}) do
          z[i] = z[i] + 1
          r[1] = r[1] + 1
          if pass == 3 and i == 7 then die_once("stale") end
        end
        print(w[1], z:sum(), z:min(), meissa.last().deaths > 0)]], {env = env})
      assert.equal(0, status, output)
      expect.has(output, "120\t120\t4\ttrue")
    end)
  end)
end
