-- SPDX-License-Identifier: MIT
-- Ordered loops that run level by level have the bits of the loop as written, in the fewest levels
-- that the order allows.
local expect = require "spec.support.expect"
local meissa = require "meissa"
local levelled = require "meissa.driver.levels"
local parallel = meissa.parallel
local seed = require "spec.support.seed"
local small = require "meissa.driver.small"
local system = require "meissa.base.system"

local most_small = small.most[0]

local N = 60

-- Bodies, with the elements that an iteration reads and writes, in this order of accesses.
local BODIES = {
  {"x[i] = b[i] - 0.5 * x[p[i]]", function(i, p) return {p[i]}, {i} end},
  {"x[p[i]] = x[p[i]] * 0.5 + b[i]", function(i, p) return {p[i]}, {p[i]} end},
  {"x[p[i]] = x[q[i]] + i", function(i, p, q) return {q[i]}, {p[i]} end},
  {"for k = p[i], math.min(p[i] + 2, N) do x[i] = x[i] + 0.25 * x[k] end", function(i, p)
    local reads = {i}
    for k = p[i], math.min(p[i] + 2, N) do reads[#reads + 1] = k end
    return reads, {i}
  end},
  {"if q[i] % 3 > 0 then x[p[i]] = b[i] else x[i] = x[q[i]] end", function(i, p, q)
    if q[i] % 3 > 0 then return {}, {p[i]} end
    return {q[i]}, {i}
  end},
}

local function share(a, b)
  for _, one in ipairs(a) do
    for _, two in ipairs(b) do
      if one == two then return true end
    end
  end
  return false
end

-- How many levels the iterations have: the longest chain of conflicts.
local function levels_of(body, ranges, p, q)
  local levels, touched, most = {}, {}, 0
  for i = ranges[1], ranges[2], ranges[3] do
    local reads, writes = body[2](i, p, q)
    local level = 1
    for j, other in pairs(touched) do
      local meet = share(writes, other.writes) or share(writes, other.reads) or
        share(reads, other.writes)
      if meet then level = math.max(level, levels[j] + 1) end
    end
    levels[i], touched[i] = level, {reads = reads, writes = writes}
    most = math.max(most, level)
  end
  return most
end

local function world(p, q)
  local int = {type = "int32"}
  local env = {x = meissa.rand({N}, {seed = 1}), b = meissa.rand({N}, {seed = 2}), N = N,
               p = meissa.zeros({N}, int), q = meissa.zeros({N}, int), math = math,
               parallel = parallel}
  for i = 1, N do env.p[i], env.q[i] = p[i], q[i] end
  return env
end

local function run(body, ranges, options, env)
  local text = string.format("for i in parallel({%d, %d, %d}, %s) do %s end", ranges[1], ranges[2],
                             ranges[3], options, body[1])
  setfenv(assert(loadstring(text)), env)()
end

describe("levels", function()
  setup(function() meissa.init {workers = 2} end)
  teardown(function() meissa.init {} end)

  it("give the bits of the loop as written, and are as few as can be", function()
    math.randomseed(seed)
    local random, seen = math.random, 0
    for round = 1, tonumber(os.getenv "MEISSA_LEVELS") or 60 do
      local body, p, q = BODIES[random(#BODIES)], {}, {}
      for i = 1, N do p[i], q[i] = random(N), random(N) end
      local lo, step = random(4), random(3)
      local ranges = {lo, lo + step * math.floor((N - lo) / step), step}
      if random(3) == 1 then ranges = {ranges[2], ranges[1], -step} end
      local expected, found = world(p, q), world(p, q)
      local told = string.format("MEISSA_TEST_SEED=%d, round %d: %s over {%d, %d, %d}", seed, round,
                                 body[1], unpack(ranges))
      run(body, ranges, "{serial = true}", expected)
      run(body, ranges, random(2) == 1 and "{engine = 'lua'}" or "{}", found)
      assert.same(expected.x:totable(), found.x:totable(), told)
      if meissa.last().strategy == "levels" then
        seen = seen + 1
        assert.equal(levels_of(body, ranges, p, q), meissa.last().levels, told)
      end
    end
    assert.is_true(seen > 30)
  end)

  it("are found again when the data change, and sum scalars", function()
    local x, from = meissa.ones(40), meissa.ones({40}, {type = "int32"})
    local function pass()
      local sum = 0
      for i in parallel({2, 40}) do
        x[i] = x[from[i]] + 1
        sum = sum + i
      end
      return sum, meissa.last().levels
    end
    local sum, count = pass()
    assert.same({819, 1}, {sum, count or 1}) -- nobody meets anybody but the first element
    for i = 2, 40 do from[i] = math.floor(i / 2) end
    for _ = 1, 3 do
      sum, count = pass()
      assert.same({819, 5}, {sum, count})
    end
    assert.equal(6, x[32])
    from[40] = 39
    assert.same({819, 6}, {pass()})
    assert.equal(x[39] + 1, x[40])
  end)

  it("are told of where the loop runs as written, without workers", function()
    meissa.init {workers = 0}
    local x, from = meissa.ones(40), meissa.ones({40}, {type = "int32"})
    for i = 2, 40 do from[i] = math.floor(i / 2) end
    for i in parallel({2, 40}) do x[i] = x[from[i]] + 1 end
    local plan = meissa.last()
    assert.same({"levels", 5, "lua", "run as written, without workers"},
                {plan.strategy, plan.levels, plan.engine, plan.engine_reason})
    meissa.init {workers = 2}
  end)

  it("are told from what a buffer does without them", function()
    local bin, H, n = meissa.ones({500}, {type = "int32"}), meissa.zeros(9), 500
    for i in parallel(n) do bin[i] = i % 9 + 1 end
    local advice = "\n  without levels, if sums may be added at the end:  " ..
      "local sum = meissa.buffer(H)  ... sum[e] = sum[e] + x"
    for i in parallel(n) do H[bin[i]] = H[bin[i]] + 1 end
    assert.equal("levels", meissa.last().strategy)
    assert.truthy(tostring(meissa.last()):find(advice, 1, true))
    for i in parallel(n) do H[bin[i]] = 0.5 * H[bin[i]] + 1 end
    assert.equal("levels", meissa.last().strategy)
    assert.falsy(tostring(meissa.last()):find("without levels", 1, true))
  end)

  it("solve triangular systems of sparse rows, again where entries change", function()
    local n, e = 300, {i = {}, j = {}, v = {}}
    math.randomseed(seed)
    for i = 2, n do
      local last
      for _ = 1, 2 do
        local j = math.random(i - 1)
        if j ~= last then e.i[#e.i + 1], e.j[#e.j + 1], e.v[#e.v + 1] = i, j, math.random() end
        last = j
      end
    end
    local L, b = meissa.sparse({n, n}, e), meissa.rand({n}, {seed = 1})
    local x, y = meissa.zeros(n), {}
    for pass = 1, 3 do
      for i in parallel(n) do
        local s = b[i]
        for j, v in L[i]:nonzeros() do s = s - v * x[j] end
        x[i] = s
      end
      assert.equal("levels", meissa.last().strategy)
      for i = 1, n do
        local s = b[i]
        for j, v in L[i]:nonzeros() do s = s - v * y[j] end
        y[i] = s
      end
      assert.same(y, x:totable())
      L[e.i[pass]][e.j[pass]] = pass
    end
  end)

  -- Until the test ends a clock on which loops are over sooner as written, and none is so small
  -- that C runs its levels in the driver's process; how often they ran {plain = as written,
  -- by_level =}.
  local function make_plain_faster()
    local clock, by_level, run_plainly = system.clock, levelled.run, levelled.run_plainly
    local counts, now, step = {plain = 0, by_level = 0}, 0, 1
    function system.clock()
      now = now + step
      return now
    end
    function levelled.run(...)
      counts.by_level = counts.by_level + 1
      return by_level(...)
    end
    function levelled.run_plainly(...)
      step = 1e-6
      local ok, plan = pcall(run_plainly, ...)
      step = 1
      if not ok then error(plan, 0) end
      counts.plain = counts.plain + (plan and 1 or 0)
      return plan
    end
    finally(function()
      system.clock, levelled.run, levelled.run_plainly = clock, by_level, run_plainly
      small.most[0] = most_small
    end)
    small.most[0] = 0
    return counts
  end

  it("run as written where that is faster, with the same bits", function()
    local counts = make_plain_faster()
    local n, int = 1500, {type = "int32"}
    local x, y, p, q = meissa.zeros(n), {}, meissa.zeros({n}, int), meissa.zeros({n}, int)
    math.randomseed(seed)
    for i = 1, n do x[i], y[i], p[i], q[i] = i, i, math.random(i), math.random(i) end
    local b, passes = meissa.ones(n), 0
    local function pass()
      passes = passes + 1
      for i in parallel({3, n, 3}, {engine = "native"}) do
        x[i] = 0.5 * x[p[i]] - 0.3 * x[q[i]] + b[i]
        if b[i] < 0 then error("no") end
      end
      local plan = meissa.last()
      assert.equal("levels", plan.strategy)
      assert.is_true(plan.seconds > 0 and plan.levels > 1)
      for i = 3, n, 3 do y[i] = 0.5 * y[p[i]] - 0.3 * y[q[i]] + 1 end -- b is 1
      assert.same(y, x:totable())
      if passes % 50 == 0 then
        p[n - 1] = 2 -- is read by nobody
        q[math.random(n)] = 1
      end
    end
    for _ = 1, 120 do pass() end
    -- The first one is not; and what has another number of levels since data changed, twice, has
    -- no plan to be told of.
    assert.equal(120, counts.plain + counts.by_level)
    assert.is_true(counts.by_level >= 1 and counts.by_level <= 3, counts.by_level)
    -- Of two errors that of the lower level counts, however the loop runs.
    for k = 300, n do
      p[k] = k < 303 and 300 or 1
      q[k] = 1
    end
    p[300], q[300] = 297, 297
    b[300], b[303] = -1, -1
    for _ = 1, 3 do
      local ok, err = pcall(pass)
      assert.is_false(ok)
      assert.same({{303}, "BDY"}, {err.iteration, err.code})
      assert.same(y, x:totable())
    end
    assert.same(y, x:totable())
  end)

  it("sum up as they do level by level, whichever is faster", function()
    local n, int = 4000, {type = "int32"}
    local x, p, first = meissa.ones(n), meissa.zeros({n}, int), nil
    for i = 2, n do p[i] = math.floor(i / 2) end
    local counts = make_plain_faster()
    for _ = 1, 25 do
      local sum = 0
      for i in parallel({2, n}) do
        x[i] = 0.5 * x[p[i]] + 0.5
        sum = sum + x[i] / i
      end
      first = first or sum
      assert.equal(first, sum)
    end
    assert.same({plain = 0, by_level = 25}, counts)
  end)

  it("have the bits of one compiled text in fast arithmetic", function()
    local x, p = meissa.ones(500), meissa.zeros({500}, {type = "int32"})
    for i = 2, 500 do p[i] = math.floor(i / 2) end
    local counts = make_plain_faster()
    for _ = 1, 25 do
      for i in parallel({2, 500}, {numeric = "fast"}) do x[i] = 0.5 * x[p[i]] + 0.5 end
    end
    assert.same({plain = 0, by_level = 25}, counts)
  end)

  it("take two indices", function()
    local X, from = meissa.ones {6, 7}, meissa.zeros({6, 7}, {type = "int32"})
    for i = 1, 6 do for j = 1, 7 do from[i][j] = (5 * i + 3 * j) % 7 + 1 end end
    local Y = X:clone()
    for i, j in parallel({2, 6}, {1, 7, 2}) do
      X[i][j] = X[i - 1][from[i][j]] * 2 + X[i][from[i][j]]
    end
    assert.equal("levels", meissa.last().strategy)
    for i = 2, 6 do
      for j = 1, 7, 2 do Y[i][j] = Y[i - 1][from[i][j]] * 2 + Y[i][from[i][j]] end
    end
    assert.same(Y:totable(), X:totable())
  end)

  it("undo what a failing body wrote, and tell its iteration", function()
    local x, from = meissa.ones(40), meissa.ones({40}, {type = "int32"})
    for i = 2, 40 do from[i] = math.floor(i / 2) end
    local ok, err = pcall(function()
      for i in parallel({2, 40}) do
        x[i] = x[from[i]] + 1
        if i == 30 then error("no") end
      end
    end)
    assert.is_false(ok)
    assert.same({30}, err.iteration)
    assert.equal("BDY", err.code)
    assert.equal(40, x:sum())
  end)

  it("are refused, with the reason, where they would change more than arrays", function()
    local x, from = meissa.ones(40), meissa.ones({40}, {type = "int32"})
    for i = 2, 40 do from[i] = math.floor(i / 2) end
    local function refused(why, fn) expect.raises("DEP", why, fn) end
    local last, list
    refused("it cannot run level by level: random numbers are drawn in it", function()
      for i in parallel({2, 40}) do x[i] = x[from[i]] + meissa.random() end
    end)
    refused("it cannot run level by level: it prints", function()
      for i in parallel({2, 40}) do x[i] = x[from[i]] print(i) end
    end)
    refused("what 'last' is depends on the order of the iterations", function()
      for i in parallel({2, 40}) do x[i] = x[from[i]] last = i end
    end)
    list = {}
    refused("what 'list' is depends on the order of the iterations", function()
      for i in parallel({2, 40}) do x[i] = x[from[i]] list[i] = i end
    end)
    refused("found by inspection of from", function()
      for i in parallel({2, 40}, {ordered = false}) do x[i] = x[from[i]] + 1 end
    end)
    from[17] = 0
    refused("subscript 0 is outside 1..40 (dimension 1 of DistArray<double>[40]) (iteration 17)",
            function() for i in parallel({2, 40}) do x[i] = x[from[i]] + 1 end end)
    assert.is_nil(last)
    assert.is_nil(list[2])
    assert.equal(40, x:sum())
  end)

  it("of one iteration each are levels, too: a solver need not know its matrix", function()
    for _, range in ipairs {{2, 300}, {299, 2, -1}, {3, 300, 3}, {2, 300, 1, 3e9},
                            {299, 2, -1, -300}} do
      local lo, hi, step, shift = range[1], range[2], range[3] or 1, range[4] or 0
      local function relax(options)
        local x, from = meissa.rand({300}, {seed = 1}), meissa.zeros({300}, {type = "int32"})
        for i = lo, hi, step do from[i] = i == lo and 1 or i - step end
        for _ = 1, 4 do
          for at in parallel({lo + shift, hi + shift, step}, options) do
            local i = at - shift
            x[i] = 0.5 * x[i] + x[from[i]]
          end
        end
        local text = {}
        for i = 1, 300 do text[i] = ("%a"):format(x[i]) end
        return table.concat(text, " ")
      end
      local expected = relax {serial = true}
      assert.equal(expected, relax {})
      assert.equal("levels", meissa.last().strategy)
      assert.equal((hi - lo) / step + 1, meissa.last().levels)
    end
  end)

  it("fail as written with the error of the lowest level, and leave what was there", function()
    make_plain_faster()
    local n = 400
    local x, from = meissa.ones(n), meissa.ones({n}, {type = "int32"})
    local bad = meissa.zeros(n)
    for i = 2, n do from[i] = math.floor(i / 2) end
    local function pass()
      for i in parallel({2, n}, {engine = "native"}) do
        x[i] = x[from[i]] + 1
        if bad[i] > 0 then error("no") end
      end
    end
    for _ = 1, 15 do pass() end -- the other way is tried at the 22nd
    x[1] = 5
    pass()
    assert.equal(0, meissa.last().workers) -- as written, in this process
    local before = x:sum()
    x[1] = 7
    bad[299], bad[300], from[300] = 1, 1, 1 -- iteration 300 is now of the first level
    local ok, err = pcall(pass)
    assert.is_false(ok)
    assert.same({300}, err.iteration)
    assert.equal(before + 2, x:sum())
  end)

  it("are shown by the loop's own indices", function()
    local x, from = meissa.ones(40), meissa.ones({40}, {type = "int32"})
    for i = 1, 39 do from[i] = math.ceil((i + 40) / 2) end
    for i in parallel({39, 1, -1}) do x[i] = x[from[i]] + 1 end
    local report = tostring(meissa.last())
    assert.truthy(report:find("loop over level, i is parallel: levels", 1, true), report)
    assert.truthy(report:find("from[i]", 1, true), report)
  end)

  it("hold against all iterations with check = 'all'", function()
    local x, from = meissa.ones(40), meissa.ones({40}, {type = "int32"})
    for i = 2, 40 do from[i] = math.floor(i / 2) end
    for i in parallel({2, 40}, {check = "all"}) do x[i] = x[from[i]] + 1 end
    assert.equal(6, x[32])
  end)
end)
