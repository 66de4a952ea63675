-- SPDX-License-Identifier: MIT
-- meissa.replicas: functions that exchange in their middle, against what plain Lua computes for all
-- replicas at once.
local meissa = require "meissa"

local SEED = tonumber(os.getenv "MEISSA_TEST_SEED") or 5
print("MEISSA_TEST_SEED=" .. SEED)

local function refused(code, pattern, fn)
  local ok, err = pcall(fn)
  assert.is_false(ok)
  assert.equal(code, err.code, tostring(err))
  assert.truthy(tostring(err):find(pattern, 1, true), tostring(err))
end

describe("meissa.replicas", function()
  it("reduces numbers, arrays and tables in place, in the order of the replicas", function()
    local list = meissa.replicas(4, {}, function(r)
      local t = {2 ^ -r.index, deep = {a = meissa.full({2}, r.index), b = r.index}, [3] = 1}
      local same, n = r.allReduce(t)
      local order = r.allReduce({10 ^ -r.index}, function(a, b) return 10 * a + b end)
      local last = r.allReduce(r.index, math.max)
      return {t[1], t.deep.a[2], t.deep.b, t[3], n, same == t, order[1], last}
    end)
    local chained = 0.1
    for k = 2, 4 do chained = 10 * chained + 10 ^ -k end
    for k = 1, 4 do assert.same({15 / 16, 10, 10, 4, 4, true, chained, 4}, list[k]) end
  end)

  it("lets those that have finished answer others", function()
    local list = meissa.replicas(3, {}, function(r)
      local seen = {}
      for _ = 1, r.index * 2 do
        local v = {meissa.full({1}, r.index)}
        local _, n = r.allReduce(v)
        seen[#seen + 1] = v[1][1] .. "/" .. n
      end
      local v, n = r.allReduce(nil, function(a, b) return a:add(b) end,
                               function(a) return a:fill(0) end)
      seen[#seen + 1] = v[1][1] .. "/" .. n
      return table.concat(seen, " ")
    end)
    assert.same({"6/3 6/3 0/0", "6/3 6/3 5/2 5/2 0/0", "6/3 6/3 5/2 5/2 3/1 3/1 0/0"}, list)
  end)

  it("scatters, waits, and shares out rows that alone may be written", function()
    local A, other = meissa.zeros(7, 2), meissa.zeros(2)
    local list = meissa.replicas(3, {}, function(r, w)
      local own = r.shard(A)
      for i = 1, own:size(1) do own[i][1] = r.index end
      r.barrier()
      w[1] = w[1] + r.index
      r.scatter(w)
      return {own:size(1), A[1][1], w[1]}
    end, meissa.ones(2))
    assert.same({{3, 1, 2}, {2, 1, 2}, {2, 1, 2}}, list)
    assert.same({1, 1, 1, 2, 2, 3, 3}, A:select(2, 1):totable())
    refused("ARR", "replica 1", function()
      meissa.replicas(2, {}, function() other[1] = 1 end)
    end)
    refused("BDY", "replica 2: no", function()
      meissa.replicas(3, {}, function(r)
        r.shard(A):fill(9)
        r.barrier()
        if r.index == 2 then error("no") end
      end)
    end)
    assert.same({1, 1, 1, 2, 2, 3, 3}, A:select(2, 1):totable())
  end)

  it("has copies of what functions capture, and random numbers by replica and draw", function()
    local count = 0
    local function up() count = count + 1 end
    local function draws(seed)
      return meissa.replicas(3, {seed = seed}, function(r)
        up()
        local x = meissa.random()
        r.barrier()
        return {count, x, meissa.random()}
      end)
    end
    local first, again, third = draws(SEED), draws(SEED), draws(SEED + 1)
    assert.same(first, again)
    assert.not_same(first, third)
    assert.equal(0, count)
    for k = 1, 3 do assert.equal(1, first[k][1]) end
    assert.not_equal(first[1][2], first[2][2])
    assert.not_equal(first[1][2], first[1][3])
  end)

  it("exchanges over sparse graphs, with filters, and adds changes", function()
    local list = meissa.replicas(5, {}, function(r)
      local w, v = meissa.full({2}, r.index), meissa.zeros(1)
      for t = 1, 30 do
        r:exchange(w, {topology = "ring"})
        v[1] = v[1] + r.index * t
        r:exchange(v, {merge = {add = 1}})
      end
      return {w[1], v[1]}
    end)
    for k = 1, 5 do
      assert.is_true(math.abs(list[k][1] - 3) < 0.05)
      assert.equal(15 * 465, list[k][2])
    end
  end)

  it("exchanges rows and views as the arrays that they are", function()
    local OPTIONS = {{merge = {add = 1}}, {topology = "ring", filter = {magnitude = 0.5}},
                     {topology = "ring", push_sum = true}, {quota = 96, filter =
                     {priority = "round-robin"}}, {topology = "one-peer-exponential"}}
    local function run(view_of)
      return meissa.replicas(4, {}, function(r)
        local sums = {}
        for k, options in ipairs(OPTIONS) do
          local W = meissa.zeros(2, 3)
          local first = W:narrow(1, 1, 1)
          for _ = 1, 3 do
            for f = 1, 3 do W[1][f] = W[1][f] + f * r.index end
            r:exchange(view_of and view_of(W) or first, options)
          end
          sums[k] = W:sum()
        end
        return sums
      end)
    end
    local expected = run()
    assert.not_equal(expected[1][2], expected[2][2])
    assert.same(expected, run(function(W) return W:select(1, 1) end))
    assert.same(expected, run(function(W) return W[1] end))
    assert.same(expected, run(function(W) return W:narrow(1, 1, 1) end))
  end)

  it("has globals of each replica's own", function()
    -- luacheck: globals meissa_spec_count meissa_spec_table meissa_spec_step
    meissa_spec_count, meissa_spec_table = 0, {count = 0}
    function meissa_spec_step()
      meissa_spec_count = meissa_spec_count + 1
      return meissa_spec_count
    end
    finally(function() meissa_spec_count, meissa_spec_table, meissa_spec_step = nil, nil, nil end)
    local list = meissa.replicas(4, {}, function(r)
      meissa_spec_step()
      r.barrier()
      meissa_spec_table.count = meissa_spec_table.count + r.index
      meissa_spec_count = meissa_spec_count + 1
      return {meissa_spec_step(), meissa_spec_table.count, math.floor(2.5)}
    end)
    for k = 1, 4 do assert.same({3, k, 2}, list[k]) end
    assert.same({0, 0}, {meissa_spec_count, meissa_spec_table.count})
  end)

  it("changes nothing that operations capture, wherever they are called", function()
    finally(function() meissa.init {} end)
    for _, workers in ipairs {0, 2} do
      meissa.init {workers = workers}
      local calls = meissa.replicas(3, {}, function(r)
        local count = 0
        r.allReduce(r.index, function(a, b)
          count = count + 1
          return a + b
        end)
        return count
      end)
      assert.same({0, 0, 0}, calls)
    end
  end)

  it("tells who does not come", function()
    refused("BDY", "replica 2 has returned while replica 1 waits", function()
      meissa.replicas(3, {}, function(r) if r.index ~= 2 then r.barrier() end end)
    end)
    refused("BDY", "replica 3 in scatter", function()
      meissa.replicas(3, {}, function(r)
        if r.index < 3 then r.barrier() else r.scatter {1} end
      end)
    end)
    refused("OPT", "another form", function()
      meissa.replicas(2, {}, function(r) r.allReduce({meissa.zeros(r.index)}) end)
    end)
    refused("OPT", "not a string", function()
      meissa.replicas(2, {}, function(r) r.allReduce {"x"} end)
    end)
    refused("OPT", "from 1 to", function() meissa.replicas(0, {}, print) end)
    refused("OPT", "did you mean 'seed'", function() meissa.replicas(1, {sed = 1}, print) end)
    assert.same({7}, meissa.replicas(1, {}, function(r) return (r.allReduce(7)) end))
  end)

  it("runs setup once, and loops in place", function()
    local list = meissa.replicas(2, {setup = function() _G.meissa_set_up = 5 end}, function(r)
      local a = meissa.zeros(3)
      for i in meissa.parallel(3) do a[i] = i * r.index end
      return a:sum() + _G.meissa_set_up
    end)
    _G.meissa_set_up = nil
    assert.same({11, 17}, list)
  end)
end)

describe("meissa.sgd and meissa.ea", function()
  it("are what their definitions say, with uneven steps", function()
    math.randomseed(SEED)
    local steps = {math.random(1, 6), math.random(1, 6), math.random(1, 6)}
    local list = meissa.replicas(3, {}, function(r, counts)
      local sgd, params = meissa.sgd(r), {meissa.full({2}, r.index), n = r.index}
      sgd.synchronizeParameters(params)
      for s = 1, counts[r.index] do
        local grads = {meissa.full({2}, r.index * s)}
        sgd.sumAndNormalizeGradients(grads)
        params[1]:add(-0.5, grads[1])
      end
      sgd.synchronizeParameters(params)
      return {params[1][1], params.n}
    end, steps)
    local w = 1
    for s = 1, math.max(unpack(steps)) do
      local sum, n = 0, 0
      for k = 1, 3 do
        if s <= steps[k] then sum, n = sum + k * s, n + 1 end
      end
      w = w - 0.5 * (n > 1 and sum * (1 / n) or sum)
    end
    for k = 1, 3 do
      assert.is_true(math.abs(w - list[k][1]) < 1e-12)
      assert.equal(1, list[k][2])
    end
  end)

  it("average elastically", function()
    local tau, alpha, K = 2, 0.25, 3
    local list = meissa.replicas(K, {}, function(r)
      local ea, params = meissa.ea(r, tau, alpha), {meissa.zeros(1)}
      for _ = 1, 6 do
        ea.averageParameters(params)
        params[1]:add(r.index)
      end
      return params[1][1]
    end)
    local x, center = {0, 0, 0}, 0
    for s = 1, 6 do
      if s % tau == 0 then
        local sum = 0
        for k = 1, K do
          local delta = alpha * (x[k] - center)
          x[k] = x[k] - delta
          sum = sum + delta
        end
        center = center + sum
      end
      for k = 1, K do x[k] = x[k] + k end
    end
    for k = 1, K do assert.is_true(math.abs(x[k] - list[k]) < 1e-12) end
  end)

  it("average elastically around one center, if they begin with the same parameters", function()
    local alpha, K = 0.3, 3
    local list = meissa.replicas(K, {}, function(r)
      local ea, params = meissa.ea(r, 2, alpha), {meissa.full({1}, r.index)}
      assert(#ea.center() == 0)
      ea.synchronizeParameters(params)
      assert(params[1][1] == 1 and ea.center()[1][1] == 1)
      for _ = 1, 6 do
        params[1]:add(-0.1 * r.index)
        ea.averageParameters(params)
      end
      local before = {params[1][1], ea.center()[1][1]}
      ea.synchronizeParameters(params)
      return {before[1], before[2], params[1][1], ea.center()[1][1]}
    end)
    local x, center = {1, 1, 1}, 1
    local function average()
      local sum = 0
      for k = 1, K do
        local delta = alpha * (x[k] - center)
        x[k], sum = x[k] - delta, sum + delta
      end
      center = center + sum
    end
    for s = 1, 6 do
      for k = 1, K do x[k] = x[k] - 0.1 * k end
      if s % 2 == 0 then average() end
    end
    local function near(a, b) assert.is_true(math.abs(a - b) < 1e-12) end
    for k = 1, K do
      near(x[k], list[k][1])
      near(center, list[k][2])
    end
    average() -- who took steps moves once more
    for k = 1, K do
      near(x[1], list[k][3])
      assert.equal(list[k][3], list[k][4])
    end
  end)
end)
