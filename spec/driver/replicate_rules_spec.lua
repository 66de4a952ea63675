-- SPDX-License-Identifier: MIT
-- Functions as merge, and damped arrays, in rounds without a barrier: against serial models on all
-- roads, under lags and staleness, when workers die.
local child = require "spec.support.child"
local deaths = require "spec.driver.deaths"
local expect = require "spec.support.expect"
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"
local model = require "spec.driver.replicate_model"
local seed = require "spec.support.seed"
local parallel = meissa.parallel

local ROADS = {
  {workers = 0}, {workers = 2}, {workers = 5}, {workers = 2, shm = false},
  {workers = 0, engine = "lua"}, {workers = 3, engine = "native"},
}

local function on(road)
  kept_workers.init {workers = road.workers, shm = road.shm, quiet = true}
  return road.engine or "auto"
end

describe("functions as merge", function()
  after_each(function() kept_workers.init {workers = 2, quiet = true} end)
  teardown(kept_workers.stop)

  it("are called by whoever carries a replica, with the bits of the serial model", function()
    math.randomseed(seed)
    local n, m, pull = 41, 3, {0.75}
    local function rule(own, received, weight) return own + pull[1] * (received - own) * weight end
    local function body(row, e)
      for f = 1, m do row[f] = row[f] + 0.125 * (e % (f + 2)) - 0.0625 * row[f] end
    end
    local cases = {}
    for c, topology in ipairs {"all", "ring", "ring-both", "root-expander"} do
      local a, b, most = math.random(0, 5), math.random(0, 5), math.random(0, 3)
      local function lag(t, j) return (a * t + b * j + 1) % (most + 1) end
      local _, rows, rounds = model.run_stale({
        passes = 3, n = n, replicas = 4, every = 3, lag = lag, rule = rule,
        topology = meissa.topology(topology, 4), w = {0.5, 0.5, 0.5}}, body)
      cases[c] = {rows = rows, rounds = rounds, options = {replicas = 4, every = 3,
        topology = topology, merge = rule, final = "none", lags = most > 0 and lag or nil,
        staleness = most > 0 and most or nil}}
    end
    for number, road in ipairs(ROADS) do
      local engine = on(road)
      for _, case in ipairs(cases) do
        local r = meissa.replicate(meissa.full({m}, 0.5), case.options)
        for _, e in parallel(3, n, {engine = engine}) do
          for f = 1, m do r[f] = r[f] + 0.125 * (e % (f + 2)) - 0.0625 * r[f] end
        end
        assert.equal(case.rounds, meissa.last().rounds)
        for k = 1, 4 do
          assert.same(case.rows[k], r:replica(k):totable(),
            ("%s, road %d"):format(case.options.topology, number))
        end
      end
    end
  end)

  it("see what they capture as it is at each cut, and change copies", function()
    for _, road in ipairs(ROADS) do
      on(road)
      local state = {gain = 0, calls = 0}
      local r = meissa.replicate(meissa.zeros(1), {replicas = 2, every = 1, final = "none",
        merge = function(own, received)
          state.calls = state.calls + 1
          return own + state.gain * received
        end,
        on_round = function(s) state.gain = s.round < 3 and s.round or 0 end})
      for _, i in parallel(4, 2) do r[1] = r[1] + i end -- each has 1, 2, 1, 2
      -- Gains are 0, 1, 2, 0: 1 stays, 3 + 3, 7 + 2 * 7, and 23 stays.
      assert.same({23, 23}, {r:replica(1)[1], r:replica(2)[1]})
      assert.equal(0, state.calls)
    end
  end)

  it("merge models, too", function()
    for _, road in ipairs(ROADS) do
      on(road)
      local options = {replicas = 2, every = 2, final = "none",
                       params = function(each) return each.w end,
                       merge = function(own, received) return math.max(own, received) end}
      local r = meissa.replicate(function() return {w = meissa.zeros(2)} end, options)
      local seen = meissa.zeros(8)
      for i in parallel(8) do
        local own = r()
        own.w[1] = own.w[1] + i
        seen[i] = own.w[1]
      end
      -- 1 + 2 and 5 + 6; then both begin with 11.
      assert.same({1, 3, 14, 18, 5, 11, 18, 26}, seen:totable())
    end
  end)

  it("tell of what fails in them alike everywhere", function()
    local function run(rule)
      local r = meissa.replicate(meissa.zeros(1), {replicas = 2, every = 1, merge = rule})
      for i in parallel(4) do r[1] = r[1] + i end
    end
    for _, road in ipairs {ROADS[1], ROADS[2]} do
      on(road)
      local function refused(code, text, rule)
        return expect.raises(code, text, function() run(rule) end)
      end
      local err = refused("BDY", "the function of option 'merge' failed: ",
                          function() error("oops") end)
      assert.truthy(tostring(err):find("_spec.lua:", 1, true), tostring(err))
      refused("BDY", "gave nil, not a number", function() end)
      local thread = coroutine.create(print)
      refused("OPT", "the function of option 'merge' (upvalue thread) is a coroutine",
              function(own) return thread and own end)
    end
  end)
end)

-- What each element of a vector comes to that a share adds x(pass, e) to in element e, of which a
-- part gamma is kept after each round.
local function damp(n, passes, replicas, every, gamma, change)
  local values = {}
  for e = 1, n do values[e] = 0 end
  local shares = model.shares(passes, n, replicas)
  local rounds = model.rounds(shares, passes, every)
  for t = 1, rounds do
    local before = {unpack(values)}
    for _, share in ipairs(shares) do
      for s = math.floor(#share * (t - 1) / rounds) + 1, math.floor(#share * t / rounds) do
        local pass, e = share[s][1], share[s][2]
        values[e] = change(values[e], pass, e)
      end
    end
    for e = 1, n do values[e] = before[e] + gamma * (values[e] - before[e]) end
  end
  return values
end

local WAYS = {{}, {sync = "bsp"}, {lags = {{0, 1}, {1, 2}}}, {staleness = 2}, {sync = "async"}}

local function with(options, more)
  local all = {}
  for name, value in pairs(options) do all[name] = value end
  for name, value in pairs(more) do all[name] = value end
  return all
end

describe("damped arrays", function()
  after_each(function() kept_workers.init {workers = 2, quiet = true} end)
  teardown(kept_workers.stop)

  it("are damped in a replica's own rows, wherever they lie, in each of its rounds", function()
    local n, passes = 13, 3
    for _, gamma in ipairs {0.25, 0.5} do
      local function add(old, pass, e) return old + pass * e end
      local function set(_, pass, e) return pass + e end
      local added, put = damp(n, passes, 3, 4, gamma, add), damp(n, passes, 3, 4, gamma, set)
      for number, road in ipairs(ROADS) do
        local engine = on(road)
        for way, options in ipairs(WAYS) do
          local plain, back, rows = meissa.zeros(n), meissa.zeros(n + 2), meissa.zeros(2, n)
          local float, blind = meissa.zeros({n, 2}, {type = "float"}), {values = meissa.zeros(n)}
          local wide = meissa.zeros({n, 3}):narrow(2, 2, 1)
          local r = meissa.replicate(meissa.zeros(1), with(options, {replicas = 3, every = 4,
            merge = {add = gamma, damp = {plain, back, rows, float, blind.values, wide}}}))
          for pass, e in parallel(passes, n, {engine = engine}) do
            plain[e] = plain[e] + pass * e
            back[n + 2 - e] = back[n + 2 - e] + pass * e
            rows[2][e] = rows[2][e] + pass * e
            float[e][1] = float[e][1] + pass * e
            wide[e][1] = wide[e][1] + pass * e
            blind.values[e] = pass + e
            r[1] = r[1] + 1
          end
          local what = ("gamma %g, road %d, way %d"):format(gamma, number, way)
          assert.same(added, plain:totable(), what)
          assert.same(put, blind.values:totable(), what)
          for e = 1, n do
            assert.equal(added[e], back[n + 2 - e], what)
            assert.equal(added[e], rows[2][e], what)
            assert.equal(added[e], wide[e][1], what)
            assert.near(added[e], float[e][1], 1e-5 * added[e], what)
            assert.equal(0, rows[1][e] + float[e][2])
          end
          assert.equal(0, back[1] + back[n + 2])
        end
      end
    end
  end)

  it("go with what is added: v = D alpha at each cut, however stale", function()
    local n, m = 24, 5
    local D = meissa.randn({n, m}, {seed = seed})
    local first = {}
    for _, road in ipairs(ROADS) do
      on(road)
      for way, options in ipairs(WAYS) do
        meissa.seed(7)
        local v, alpha, cuts = meissa.zeros(m), meissa.zeros(n), 0
        local function check(now)
          for f = 1, m do
            local sum = 0
            for j = 1, n do sum = sum + D[j][f] * alpha[j] end
            assert.near(sum, now[f], 1e-9)
          end
          cuts = cuts + 1
        end
        local r = meissa.replicate(v, with(options, {replicas = 4, every = 3, cut = 2,
          merge = {add = 0.5, damp = {alpha}}, shuffle = seed,
          on_round = function(s) check(s.value()) end}))
        for _, j in parallel(3, n) do
          local p = 1
          for f = 1, m do p = p - r[f] * D[j][f] end
          alpha[j] = alpha[j] + 0.02 * p
          for f = 1, m do r[f] = r[f] + 2 * D[j][f] * 0.02 * p end
        end
        check(v)
        assert.equal(4, cuts)
        if way <= 3 then -- the others follow from who is how fast
          first[way] = first[way] or alpha:totable()
          assert.same(first[way], alpha:totable())
        end
      end
    end
    assert.same(first[1], first[2]) -- everyone hears the round before, either way
  end)

  it("are refused where it cannot be said whose an element is", function()
    local n = 12
    local alpha, v = meissa.zeros(n), meissa.zeros(1)
    local words = "a merge damps 'alpha', which the loop does not write along 'j'"
    expect.raises("OPT", words, function()
      local r = meissa.replicate(v, {replicas = 2, every = 2, merge = {add = 0.5, damp = {alpha}}})
      for j in parallel(n / 2) do
        alpha[2 * j - 1] = j
        alpha[2 * j] = j
        r[1] = r[1] + 1
      end
    end)
    expect.raises("OPT", "a merge damps 'alpha', of which the loop writes a view", function()
      local part = alpha:narrow(1, 1, 5)
      local r = meissa.replicate(v, {replicas = 2, every = 2, merge = {add = 0.5, damp = {part}}})
      for j in parallel(n) do
        alpha[j] = alpha[j] + 1
        r[1] = r[1] + 1
      end
    end)
    assert.equal(0, alpha:sum())
    assert.equal(0, v[1])
  end)

  it("are damped once, however often a block is run", function()
    for _, shm in ipairs {1, 0} do
      local output, status = child.script(deaths.HEAD .. [[
        local n = 30
        local function run(options, fatal)
          local alpha, blind, w = meissa.zeros(n), meissa.zeros(n), meissa.zeros(1)
          options.replicas, options.every = 5, 3
          options.merge = {add = 0.5, damp = {alpha, blind}}
          local r = meissa.replicate(w, options)
          for pass, i in parallel(4, n, {impure = true}) do
            alpha[i], blind[i] = alpha[i] + pass * i, pass + i
            if pass > 1 and i % 7 == 0 then fatal(pass, i) end
            r[1] = r[1] + 1
          end
          return alpha, blind, w[1]
        end
        for number, options in ipairs {{}, {sync = "notify-ack"}, {lags = {{0, 1}, {1, 1}}}} do
          local alpha, blind, w = run(options, function() end)
          local a, b, v = run(options, function(pass, i)
            die_once(("d%d_%d_%d"):format(number, pass, i))
          end)
          for i = 1, n do assert(alpha[i] == a[i] and blind[i] == b[i]) end
          assert(w == v)
          print("deaths", meissa.last().deaths > 0)
        end]], {env = "MEISSA_WORKERS=3 MEISSA_SHM=" .. shm})
      assert.equal(0, status, output)
      expect.has(output, "deaths\ttrue\ndeaths\ttrue\ndeaths\ttrue")
    end
  end)
end)
