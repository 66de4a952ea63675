-- SPDX-License-Identifier: MIT
-- Merges, filters, cuts and failures of loops over replicas, each against what its definition says
-- of a small loop.
local meissa = require "meissa"
local parallel = meissa.parallel

local SEED = tonumber(os.getenv "MEISSA_TEST_SEED") or 3
print("MEISSA_TEST_SEED=" .. SEED)

local function near(actual, expected, by)
  assert.is_true(math.abs(actual - expected) <= (by or 1e-12), actual .. " is not " .. expected)
end

local function refused(code, pattern, fn)
  local ok, err = pcall(fn)
  assert.is_false(ok)
  assert.equal(code, err.code, tostring(err))
  assert.truthy(tostring(err):find(pattern, 1, true), tostring(err))
end

-- n iterations, each of which adds its index to the copy of its share; every = 1 unless said.
local function count(n, options, passes)
  local w = meissa.zeros(1)
  options.every = options.every or 1
  local r = meissa.replicate(w, options)
  for _, i in parallel(passes or 1, n) do r[1] = r[1] + i end
  return w[1], r, meissa.last()
end

describe("merges of replicas", function()
  it("add, average by weight, take, and call a function", function()
    assert.equal(10, (count(4, {replicas = 4, merge = {add = 1}})))
    assert.equal(2.5, (count(4, {replicas = 4, merge = {add = 1 / 4}})))
    local _, r = count(3, {replicas = 3, topology = "ring", merge = "take", final = "none"})
    assert.same({3, 1, 2}, {r:replica(1)[1], r:replica(2)[1], r:replica(3)[1]})
    local function weighted(form, lambda)
      local _, s = count(2, {replicas = 2, merge = {weighted = lambda, form = form},
                             final = "none"})
      return {s:replica(1)[1], s:replica(2)[1]}
    end
    assert.same({0.5, 1}, weighted("printed", 0.25)) -- halves at distance 0
    assert.same({1, 2}, weighted("normalised", 0.25))
    assert.same({(1 + 0.25 * 2) / 1.25, (2 + 0.25 * 1) / 1.25}, weighted("shifted", 0.25))
    assert.same(weighted("shifted", 0.5), weighted(nil, 0.5))
    _, r = count(3, {replicas = 3, final = "none", merge = function(own, received, weight)
      return own + 10 * received * weight
    end})
    local third = 1 / 3
    assert.same(1 + 10 * 2 * third + 10 * 3 * third, r:replica(1)[1])
    refused("BDY", "not a number", function()
      count(2, {replicas = 2, merge = function() return "x" end})
    end)
  end)

  it("make the mean of any graph right by push-sum", function()
    local matrix = {{1, 1, 0, 1}, {1, 1, 0, 0}, {0, 1, 1, 0}, {0, 0, 1, 1}}
    refused("OPT", "push_sum = true", function()
      count(4, {replicas = 4, topology = {matrix = matrix}})
    end)
    local function last(options)
      local w = meissa.zeros(1)
      options.replicas, options.every, options.final = 4, 1, "none"
      local r = meissa.replicate(w, options)
      for pass, i in parallel(80, 4) do if pass == 1 then r[1] = r[1] + i end end
      return r
    end
    local right = last {topology = {matrix = matrix}, push_sum = true}
    local wrong = last {topology = {matrix = matrix}, biased = true}
    for k = 1, 4 do near(right:replica(k)[1], 2.5, 1e-9) end
    assert.is_true(math.abs(wrong:replica(1)[1] - 2.5) > 0.01)
    near(wrong:replica(1)[1], wrong:replica(3)[1], 1e-9)
  end)

  it("keep v = D alpha under CoCoA, for any gamma and sigma", function()
    local n, m, K = 24, 6, 4
    local D = meissa.randn({n, m}, {seed = SEED})
    for _, setting in ipairs {{1, nil}, {0.5, nil}, {0.25, 2}} do
      local gamma, sigma = setting[1], setting[2] or setting[1] * K
      local v, alpha, cuts = meissa.zeros(m), meissa.zeros(n), 0
      local function check(now)
        for f = 1, m do
          local sum = 0
          for j = 1, n do sum = sum + D[j][f] * alpha[j] end
          near(now[f], sum, 1e-9)
        end
        cuts = cuts + 1
      end
      local r = meissa.replicate(v, {
        replicas = K, every = 3, merge = {add = gamma, sigma = setting[2], damp = {alpha}},
        on_round = function(s) check(s.value()) end})
      for _, j in parallel(3, n) do
        local p = 1
        for f = 1, m do p = p - r[f] * D[j][f] end
        local delta = 0.02 * p
        alpha[j] = alpha[j] + delta
        for f = 1, m do r[f] = r[f] + sigma * D[j][f] * delta end
      end
      check(v)
      assert.equal(7, cuts)
    end
  end)

  it("are refused where they make no sense, with the reason", function()
    local w = meissa.zeros(2)
    local function try(pattern, options)
      options.replicas, options.every = options.replicas or 4, 1
      refused("OPT", pattern, function() meissa.replicate(w, options) end)
    end
    try("not everyone's arrive", {topology = "ring", merge = {add = 1}})
    try("one writer", {merge = "take"})
    try("leave out filter", {topology = "ring", push_sum = true, quota = 100})
    try("not that of all replicas", {topology = {matrix = {{0, 1}, {1, 0}}}, replicas = 2})
    try("not filtered", {topology = "tree-allreduce", filter = {relative = 0.1}})
    try("there is none", {residual = "drop"})
    try("give 'filter' a threshold", {bound = 1})
    try("belongs to models", {params = function() end})
    try("did you mean 'staleness'", {stalenes = 1})
    try("{weighted = lambda}", {merge = "sum"})
    try("no threshold", {filter = {}})
    try("there is no 'quota'", {filter = {priority = "magnitude"}})
    try("there is no 'on_round'", {cut = 3})
    try("28", {quota = 5})
    try("a round has no room for an element in each message of a replica, which tells 3 others " ..
        "over topology all: at least 84", {replicas = 4, quota = 83})
    refused("OPT", "never exchanged", function()
      meissa.replicate(w, {replicas = 2, exchange = false, every = 3})
    end)
    refused("OPT", "floats or doubles", function()
      meissa.replicate(meissa.zeros({2}, {type = "int32"}), {replicas = 2, every = 1})
    end)
    local r = meissa.replicate(w, {replicas = 3, every = 1})
    refused("OPT", "more than the 4194304 that there may be with 3 replicas", function()
      for _, e in parallel(1e6, 20) do r[1] = r[1] + 0.1 * (e - r[1]) end
    end)
  end)

  it("say what they leave guaranteed", function()
    local function guarantee(options) return (select(3, count(8, options))).guarantee end
    assert.equal("sequential", guarantee {replicas = 1})
    assert.equal("reproducible", guarantee {replicas = 4})
    assert.equal("bounded(0, 3)", guarantee {replicas = 4, staleness = 3})
    assert.equal("none", guarantee {replicas = 4, staleness = math.huge})
  end)
end)

describe("filters of replicas", function()
  local n, m, K = 40, 8, 4
  local X = meissa.randn({n, m}, {seed = SEED})

  local function train(options)
    local w, bytes = meissa.zeros(m), 0
    options.replicas, options.every = K, 2
    options.on_round = function(s) bytes = bytes + s.bytes end
    local r = meissa.replicate(w, options)
    for _, e in parallel(6, n, {check = true}) do
      local p = 1
      for f = 1, m do p = p - r[f] * X[e][f] end
      for f = 1, m do r[f] = r[f] + 0.02 * p * X[e][f] end
    end
    assert.equal(bytes, meissa.last().exchanged)
    return w:totable(), bytes
  end

  local function distance(a, b)
    local sum = 0
    for f = 1, m do sum = sum + (a[f] - b[f]) ^ 2 end
    return math.sqrt(sum)
  end

  it("send less, stay near, and keep exact books", function()
    for _, merge in ipairs {"mean", {add = 1 / K}} do
      local whole, all = train {merge = merge}
      assert.equal(30 * K * (K - 1) * (16 + 8 * m), all)
      for _, filter in ipairs {{relative = 0.2, floor = 0.1}, {magnitude = 0.02}} do
        for _, residual in ipairs {"keep", "drop", "invalidate"} do
          local w, bytes = train {merge = merge, filter = filter, residual = residual}
          assert.is_true(bytes < all)
          assert.is_true(distance(w, whole) < 0.2)
        end
      end
      for _, priority in ipairs {"random", "round-robin", "magnitude", "relative"} do
        local w, bytes = train {merge = merge, filter = {priority = priority, seed = SEED},
                                quota = (K - 1) * (16 + 12 * 3)}
        assert.is_true(bytes <= 30 * K * (K - 1) * (16 + 12 * 3))
        assert.is_true(distance(w, whole) < 0.2)
      end
    end
  end)

  it("leave nothing out where nothing is below the threshold", function()
    local whole = train {}
    local same = train {filter = {magnitude = 0}}
    for f = 1, m do near(whole[f], same[f], 1e-12) end
    local sketched = train {filter = {sketch = "count", width = 512, depth = 7}}
    for f = 1, m do near(whole[f], sketched[f], 1e-9) end
    assert.is_true(distance(train {filter = {sketch = "count", width = 4, depth = 5}}, whole) < 1)
  end)
end)

describe("cuts of loops over replicas", function()
  it("show sums, values and replicas, and stop", function()
    local seen, total = {}, 0
    local w = meissa.zeros(1)
    local r = meissa.replicate(w, {replicas = 2, every = 2, cut = 2, topology = "ring",
      on_round = function(s)
        seen[#seen + 1] = {s.round, s.sums.total, s.value()[1], s.replica(2)[1] >= 0,
                           s.disagreement >= 0, s.bytes}
        return {stop = s.round == 4}
      end})
    for _, i in parallel(10, 4) do
      r[1] = r[1] + 1
      total = total + i
    end
    assert.same({{2, 20, 4, true, true, 96}, {4, 20, 8, true, true, 96}}, seen)
    assert.equal(40, total)
    assert.equal(8, w[1])
    assert.equal(4, meissa.last().rounds)
  end)

  it("may change how often, what and how is exchanged, and numbers of the body", function()
    local rounds, lr, w = {}, 1, meissa.zeros(1)
    local r = meissa.replicate(w, {replicas = 2, every = 1, on_round = function(s)
      rounds[#rounds + 1] = s.round .. ":" .. s.value()[1]
      if s.round == 2 then return {every = 4, set = {lr = 10}, reason = "to see"} end
    end})
    for _ in parallel(10, 2) do r[1] = r[1] + lr end
    assert.same({"1:1", "2:2", "3:42", "4:82"}, rounds)
    assert.equal(1, lr)
    assert.equal(82, w[1])
    refused("OPT", "'nothing'", function()
      count(8, {replicas = 2, on_round = function() return {set = {nothing = 1}} end})
    end)
    refused("OPT", "did you mean 'stop'", function()
      count(8, {replicas = 2, on_round = function() return {stopp = true} end})
    end)
    refused("OPT", "not everyone's arrive", function()
      count(9, {replicas = 3, topology = "ring", on_round = function()
        return {merge = {add = 1}}
      end})
    end)
  end)
end)

describe("replicas", function()
  it("may be several, private, of floats, and kept from loop to loop", function()
    local W, b = meissa.zeros({2, 2}, {type = "float"}), meissa.zeros(3)
    local rW, rb = meissa.replicate({W, b}, {replicas = 3, every = 2})
    local own = meissa.replicate(meissa.zeros(1), {replicas = 3, exchange = false})
    for _ = 1, 2 do
      for i in parallel(6) do
        own[1] = own[1] + 1
        rW[2][1] = rW[2][1] + 0.1
        rb[3] = rb[3] + i
      end
    end
    assert.equal(4, own:replica(2)[1])
    local float = meissa.zeros({1}, {type = "float"})
    for _ = 1, 4 do float[1] = float[1] + 0.1 end
    assert.equal(float[1], W[2][1])
    assert.equal(14, b[3])
    own:reset()
    assert.equal(0, own:replica(2)[1])
  end)

  it("go through their share in another order in each pass, the same for a seed", function()
    local function orders(shuffle)
      local seen, w = meissa.zeros(2, 12), meissa.zeros(1)
      local at = meissa.replicate(meissa.zeros(1), {replicas = 3, exchange = false})
      local r = meissa.replicate(w, {replicas = 3, every = 5, shuffle = shuffle})
      for pass, i in parallel(2, 12) do
        at[1] = at[1] + 1
        seen[pass][i] = at[1]
        r[1] = r[1] + 1
      end
      return seen:totable()
    end
    local plain, one, two = orders(nil), orders(SEED), orders(SEED + 1)
    assert.same({1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4}, plain[1])
    assert.same(one, orders(SEED))
    assert.not_same(one, plain)
    assert.not_same(one, two)
    for pass = 1, 2 do
      for k = 0, 2 do
        local places = {unpack(one[pass], 4 * k + 1, 4 * k + 4)}
        table.sort(places)
        for p = 1, 4 do assert.equal(4 * pass - 4 + p, places[p]) end
      end
    end
  end)

  it("go together with buffers that are merged once", function()
    for _, workers in ipairs {0, 2} do
      meissa.init {workers = workers, quiet = true}
      local w, sums, before = meissa.zeros(1), meissa.ones(3), meissa.zeros(12)
      local total = meissa.buffer(sums)
      local r = meissa.replicate(w, {replicas = 3, every = 2, merge = {add = 1}})
      local function run(bad)
        for i in parallel(12) do
          r[1] = r[1] + 1
          before[i] = sums[1]
          total[i % 3 + 1] = total[i % 3 + 1] + i
          if i == bad then error("bad") end
        end
      end
      run()
      assert.equal(12, w[1])
      assert.same({1 + 30, 1 + 22, 1 + 26}, sums:totable())
      assert.equal(12, before:sum())
      refused("BDY", "bad", function() run(12) end)
      assert.same({1 + 30, 1 + 22, 1 + 26}, sums:totable())
      refused("OPT", "max_delay", function()
        local often = meissa.buffer(sums, {max_delay = 2})
        for i in parallel(12) do
          r[1] = r[1] + 1
          often[1] = often[1] + i
        end
      end)
      refused("OPT", "not both", function()
        local own = meissa.buffer(w)
        for i in parallel(12) do
          r[1] = r[1] + 1
          own[1] = own[1] + i
        end
      end)
    end
  end)

  it("run over ranges of any step, within the bounds of arrays", function()
    local A, w = meissa.zeros(10), meissa.zeros(1)
    for i = 1, 10 do A[i] = i end
    local r = meissa.replicate(w, {replicas = 2, every = math.huge, merge = {add = 1}})
    for _, engine in ipairs {"native", "lua"} do
      w:fill(0)
      for i in parallel({9, 1, -2}, {engine = engine}) do r[1] = r[1] + A[i] end
      assert.equal(25, w[1])
      for _, range in ipairs {{20, 2, -1}, {3, 12, 3}} do
        local ok, err = pcall(function()
          for i in parallel(range, {engine = engine}) do r[1] = r[1] + A[i] end
        end)
        assert.is_false(ok)
        assert.equal("ARR", err.code)
      end
      assert.equal(25, w[1])
    end
    refused("OPT", "from 1 to", function()
      for i in parallel({0, 9}) do r[1] = r[1] + i end
    end)
  end)

  it("run over the entries of sparse arrays", function()
    local i, j, v = {}, {}, {}
    math.randomseed(SEED)
    for e = 1, 60 do
      i[e], j[e], v[e] = math.random(10), math.random(7), e
    end
    local S = meissa.sparse({10, 7}, {i = i, j = j, v = v})
    local w, rows, hits = meissa.zeros(7), meissa.zeros(10), 0
    local r = meissa.replicate(w, {replicas = 4, every = math.huge, merge = {add = 1}})
    for a, c, value in parallel(S) do
      r[c] = r[c] + value
      rows[a] = rows[a] + 1
      hits = hits + 1
    end
    local expected, count_of = {}, {}
    for k = 1, 7 do expected[k] = 0 end
    for k = 1, 10 do count_of[k] = 0 end
    for e = 1, 60 do
      expected[j[e]] = expected[j[e]] + v[e]
      count_of[i[e]] = count_of[i[e]] + 1
    end
    assert.same(expected, w:totable())
    assert.same(count_of, rows:totable())
    assert.equal(60, hits)
  end)

  it("leave all as it was when a body fails in a later round", function()
    local w, z = meissa.zeros(1), meissa.zeros(8)
    local own = meissa.replicate(meissa.zeros(1), {replicas = 2, exchange = false})
    local r = meissa.replicate(w, {replicas = 2, every = 2})
    local function run(bad)
      for pass, i in parallel(4, 8) do
        z[i] = z[i] + 1
        own[1] = own[1] + 1
        r[1] = r[1] + 1
        if pass == bad and i == 6 then error("bad") end
      end
    end
    run(0)
    refused("BDY", "bad", function() run(4) end)
    assert.equal(16, w[1])
    assert.equal(32, z:sum())
    assert.equal(16, own:replica(1)[1])
    local ok, err = pcall(count, 8, {replicas = 2, on_round = function() error("stopped here") end})
    assert.is_false(ok)
    assert.truthy(tostring(err):find("stopped here", 1, true))
  end)
end)
