-- SPDX-License-Identifier: MIT
--
-- Small loops that are run again from the same call by one call of C: whatever has changed since is
-- seen, and the long way taken where it has to be. MEISSA_TEST_SEED replays a run.

local kept_workers = require "spec.support.kept_workers"
local launches = require "meissa.driver.launch"
local meissa = require "meissa"
local parallel = meissa.parallel
local seed = require "spec.support.seed"
local small = require "meissa.driver.small"
local until_launched = require "spec.driver.until_launched"

local N = 12
local NATIVE = {engine = "native"}

local function totable(arrays)
  local tables = {}
  for a, array in ipairs(arrays) do tables[a] = array:totable() end
  return tables
end

local outside, options, shared = 0, {gain = 0.5}, 1

-- luacheck: globals extra

-- The same on arrays and on tables; what is captured are locals, upvalues, fields and a global.
local function on_arrays(A, B, lo, hi, k, scale, flag)
  local sum, last = k / 8, nil
  for i in parallel({lo, hi}, NATIVE) do
    A[i][k] = B[i][N + 1 - k] * scale + (flag and i or 0) * options.gain + extra
    sum = sum + A[i][k]
    outside = outside + 1
    last = i
  end
  return sum, last
end

local function on_tables(A, B, lo, hi, k, scale, flag)
  local sum, last = k / 8, nil
  for i = lo, hi do
    A[i][k] = B[i][N + 1 - k] * scale + (flag and i or 0) * options.gain + extra
    sum = sum + A[i][k]
    last = i
  end
  return sum, last
end

local globals = {extra = 0}
setfenv(on_arrays, globals)
setfenv(on_tables, globals)

-- Changes what a loop is given, and looks whether it sees that.
local function change(assert)
  math.randomseed(seed)
  local pick = math.random
  local arrays = {}
  for a = 1, 3 do arrays[a] = meissa.rand({N, N}, {seed = a}) end
  local tables = totable(arrays)
  local a, b, lo, hi, k, scale, flag, counted = 1, 2, 1, N, 1, 0.5, true, 0
  outside = 0
  for step = 1, 1500 do
    local what = pick(40)
    if what == 1 then a = pick(3) elseif what == 2 then b = pick(3) end
    if what <= 12 then lo, hi = pick(1, 3), pick(N - 2, N) end
    if what > 12 and what <= 20 then k = pick(4) end
    if what == 21 then scale = pick() elseif what == 22 then flag = not flag end
    if what == 23 then options.gain = pick(3) elseif what == 24 then globals.extra = pick(5) end
    if what == 25 then options = {gain = options.gain} end
    if what == 26 then
      arrays[3] = meissa.rand({N, N}, {seed = step})
      tables[3] = arrays[3]:totable()
    end
    if what == 27 then collectgarbage() end
    counted = counted + hi - lo + 1
    local sum, last = on_arrays(arrays[a], arrays[b], lo, hi, k, scale, flag)
    local right, last_right = on_tables(tables[a], tables[b], lo, hi, k, scale, flag)
    local same = math.abs(sum - right) < 1e-9 and last == last_right and outside == counted
    assert.is_true(same, "step " .. step)
    if step % 50 == 0 then assert.are.same(tables, totable(arrays), "step " .. step) end
  end
end

describe("launches (seed " .. seed .. ")", function()
  teardown(kept_workers.stop)
  before_each(function() kept_workers.init {workers = 2} end)

  it("follow whatever changes", function()
    local before = launches.executions
    change(assert)
    assert.is_true(launches.executions > before)
  end)

  it("know whether what `and` and `or` reduce is true before", function()
    local A = meissa.zeros(N)
    for i = 1, N do A[i] = i end
    for _, values in ipairs {{true, false}, {false, true}} do
      local reduce = assert(loadstring [[
        local meissa, A, limit, one, all, some = ...
        for i in meissa.parallel(12, {engine = "native"}) do
          one = one or A[i] > limit
          all = all and A[i] < limit
          if A[i] == limit then some = true end
        end
        return one, all, some]])
      local function check(limit, one, all)
        local some = limit % 2 == 0
        local any, every, found = reduce(meissa, A, limit, one, all, some)
        assert.are.equal(one or N > limit, any)
        assert.are.equal(all and N < limit, every)
        assert.are.equal(some or limit >= 1 and limit <= N, found)
      end
      for _ = 1, 3 do
        until_launched(function(n) check(n % (N + 2), values[1], values[2]) end)
        for limit = 0, N + 1 do check(limit, values[2], values[1]) end
        check(3, 5, 5)
        check(3, nil, nil)
        for limit = 0, N + 1 do check(limit, values[1], values[2]) end
      end
    end
  end)

  it("are not what loops on workers remember, which follows, too", function()
    local most, before = small.most[0], launches.executions
    small.most[0] = 0
    finally(function() small.most[0] = most end)
    change(assert)
    assert.are.equal(before, launches.executions)
  end)

  it("give the plan of what ran", function()
    local A = meissa.zeros(N)
    local function add(first)
      for i in parallel({first, N}, NATIVE) do A[i] = A[i] + 1 end
    end
    for first = 1, 2 do until_launched(function() add(first) end) end
    until_launched(function() add(1) end)
    local plan = meissa.last()
    assert.are.same({"independent", "native", 0, {}, N},
                    {plan.strategy, plan.engine, plan.workers, plan.shares, plan.grid[1]})
    assert.is_true(plan.seconds >= plan.launch and plan.launch > 0)
    until_launched(function() add(2) end)
    assert.are.equal(N - 1, meissa.last().grid[1])
    assert.are.equal(meissa.last(), meissa.last())
    assert.truthy(tostring(meissa.last()):find("independent", 1, true))
  end)

  it("go on by themselves where a driver loop moves numbers", function()
    local n = 50
    local A = meissa.rand({n, n}, {seed = 4})
    for i = 1, n do A[i][i] = A[i][i] + n end
    local P = A:totable()
    local function step(k)
      for i in parallel({k + 1, n}, NATIVE) do
        local factor = A[i][k] / A[k][k]
        A[i][k] = factor
        for j = k + 1, n do A[i][j] = A[i][j] - factor * A[k][j] end
      end
    end
    local function plain(k)
      for i = k + 1, n do
        local factor = P[i][k] / P[k][k]
        P[i][k] = factor
        for j = k + 1, n do P[i][j] = P[i][j] - factor * P[k][j] end
      end
    end
    for k = 1, 4 do
      until_launched(function()
        step(k)
        plain(k)
      end)
    end
    local unseen = 0
    for k = 5, n - 1 do
      local before = launches.executions
      step(k)
      plain(k)
      unseen = unseen + launches.executions - before
      local plan = meissa.last()
      assert.are.same({"independent", "native", n - k},
                      {plan.strategy, plan.engine, plan.grid[1]})
      if k % 10 == 0 then assert.truthy(tostring(plan):find("independent", 1, true)) end
      assert.are.same({{k + 1, n, 1}}, plan.extents)
    end
    assert.are.same(P, A:totable())
    assert.is_true(unseen > 0)
    local ok, err = pcall(step, n + 1) -- off the array
    assert.is_true(ok, tostring(err)) -- an empty loop
    ok, err = pcall(step, -3)
    assert.are.same({false, "ARR"}, {ok, err.code})
    assert.are.same(P, A:totable())
  end)

  it("see other options, spaces and callees", function()
    local A = meissa.zeros({N, N})
    local function fill(x, what, ...)
      for i in what(...) do A[i][1] = x end
    end
    until_launched(function(n) fill(n, parallel, N, {engine = "native"}) end)
    fill(-1, parallel, N, {engine = "native", grid = {3}})
    assert.are.same({3}, meissa.last().grid)
    until_launched(function(n) fill(n, parallel, N, {engine = "native", grid = {3}}) end)
    fill(-4, parallel, N, {engine = "native"})
    assert.are.same({N}, meissa.last().grid)
    fill(-2, parallel, N, {engine = "native", grid = {4}})
    assert.are.same({4}, meissa.last().grid)
    until_launched(function()
      fill(-5, parallel, {1, N - 1}, {engine = "native", grid = {3}})
    end)
    fill(-3, parallel, {1, N, 2}, {engine = "native", grid = {3}})
    assert.are.same({-5, -3, -2}, {A[N - 2][1], A[N - 1][1], A[N][1]})
    assert.has_error(function() fill(0, parallel, N, {engin = "native"}) end)
    assert.has_error(function() fill(0, parallel, 2.5, {engine = "native"}) end)
    assert.has_error(function() fill(0, parallel, {1, N, 0}, {engine = "native"}) end)
    local ok, err = pcall(fill, 0, function(...) return parallel(...) end, N, {engine = "native"})
    assert.are.same({false, "SRC"}, {ok, err.code})
    fill(9, parallel, {3, 2}, {engine = "native"}) -- empty
    assert.are.equal(-3, A[3][1])
    assert.are.equal(-5, A[2][1])
  end)

  it("see values of another kind, and arrays that are gone", function()
    local A, x = meissa.zeros(N), nil
    local function fill()
      local sum = 0
      for i in parallel(N, NATIVE) do
        A[i] = x
        sum = sum + A[i]
      end
      return sum
    end
    x = 2
    until_launched(fill)
    x = "2"
    assert.has_error(fill)
    x = nil
    assert.has_error(fill)
    x = 3
    until_launched(function() assert.are.equal(3 * N, fill()) end)
    A = nil
    collectgarbage()
    collectgarbage()
    assert.has_error(fill)
    A = meissa.zeros(N)
    until_launched(function() assert.are.equal(3 * N, fill()) end)
    A:free()
    local ok, err = pcall(fill)
    assert.are.same({false, "ARR"}, {ok, err.code})
  end)

  it("loop over the entries of dense arrays", function()
    local A, B = meissa.rand({N, N}, {seed = 1}), meissa.zeros({N, N})
    local function copy(X, c)
      for i, j, a in parallel(X, NATIVE) do B[i][j] = a + c end
    end
    until_launched(function(n) copy(A, n) end)
    copy(A, 0)
    assert.are.same(A:totable(), B:totable())
    local other = meissa.ones({N, N})
    copy(other, 0)
    assert.are.same(other:totable(), B:totable())
    other:free()
    assert.has_error(function() copy(other, 0) end)
  end)

  it("take turns with arrays that do", function()
    local now, next = meissa.ones(N), meissa.zeros(N)
    until_launched(function()
      for i in parallel(N, NATIVE) do next[i] = now[i] * 0.5 end
      now, next = next, now
    end)
    local before, first = launches.executions, now[1]
    for _ = 1, 8 do
      for i in parallel(N, NATIVE) do next[i] = now[i] * 0.5 end
      now, next = next, now
    end
    assert.are.equal(first / 2 ^ 8, now[1])
    assert.is_true(launches.executions >= before)
  end)

  it("are found in functions that are made anew, and in coroutines", function()
    local A = meissa.zeros(N)
    local function make(c)
      return function()
        for i in parallel(N, NATIVE) do A[i] = A[i] + shared * c end
      end
    end
    until_launched(make(1))
    A:fill(0)
    for c = 1, 5 do
      local add = make(c)
      add()
      coroutine.wrap(add)()
    end
    assert.are.equal(30, A[1])
    assert.are.equal(30, A[N])
  end)

  it("count for random numbers, and are plain in a body", function()
    local A, B = meissa.zeros(N), meissa.zeros(N)
    local function add() for i in parallel(N, NATIVE) do A[i] = A[i] + 1 end end
    local function draw() for i in parallel(N, NATIVE) do B[i] = meissa.random() end end
    until_launched(add)
    meissa.seed(5)
    for _ = 1, 3 do add() end
    draw()
    local after = B:totable()
    kept_workers.init {workers = 0}
    meissa.seed(5)
    for _ = 1, 3 do add() end
    draw()
    assert.are.same(after, B:totable())
  end)

  it("do not keep arrays alive", function()
    local function run()
      local A = meissa.zeros({200, 200})
      until_launched(function()
        for i in parallel(200, NATIVE) do A[i][1] = A[i][1] + 1 end
      end)
    end
    collectgarbage()
    collectgarbage()
    local array = require "meissa.array"
    local before = array.bytes_held()
    run()
    jit.flush() -- compiled code keeps what it was compiled for: it may have A among its constants
    collectgarbage()
    collectgarbage()
    assert.is_true(array.bytes_held() - before < 100000)
  end)

  it("calls the functions that are captured now", function()
    local A, B = meissa.zeros(2 * N), meissa.rand({2 * N}, {seed = 1})
    local function square(x) return x * x end
    local function cube(x) return x * x * x end
    local function run(f, step)
      for i in parallel(N, NATIVE) do A[i] = f(B[i + step]) end
    end
    local function check(f, step)
      run(f, step)
      for i = 1, N do assert.equal(f(B[i + step]), A[i]) end
    end
    until_launched(function(n) check(n % 2 == 0 and square or cube, 1) end)
    for n = 1, 40 do check(n % 3 == 0 and square or cube, n % N) end
  end)

  it("sees what functions use of their surroundings", function()
    local A, B = meissa.zeros(N), meissa.rand({N}, {seed = 1})
    local factor, environment = 1, setmetatable({scale = 1}, {__index = _G})
    local function scaled(x) return x * factor end
    local by_global = setfenv(loadstring "return function(x) return x * scale end", environment)()
    for n = 1, 40 do
      factor, environment.scale = n, 2 * n
      for i in parallel(N, NATIVE) do A[i] = scaled(B[i]) end
      for i = 1, N do assert.equal(B[i] * n, A[i]) end
      for i in parallel(N) do A[i] = by_global(B[i]) end
      for i = 1, N do assert.equal(B[i] * 2 * n, A[i]) end
    end
  end)

  -- Executes A[f(i)] = A[i] + 1 again and again, where f gives i and i + 1 in turn.
  local function alternate(run)
    for n = 1, 12 do
      local ok, err = pcall(run, n % 2)
      assert.equal(n % 2 == 0, ok)
      assert.is_true(ok or err.code == "DEP")
    end
  end

  it("plans anew for numbers that functions make subscripts of", function()
    local A, environment = meissa.zeros(4 * N), setmetatable({}, {__index = _G})
    local off = 0
    local function given(i, by) return i + by end
    local function own(i) return i + off end
    local by_global = setfenv(loadstring "return function(i) return i + off end", environment)()
    alternate(function(by)
      for i in parallel(N, NATIVE) do A[given(i, by)] = A[i] + 1 end
    end)
    local function put(T, i, by) T[i + by] = T[i] + 1 end
    alternate(function(by)
      for i in parallel(N, NATIVE) do put(A, i, by) end
    end)
    local function is_late(i, last) return i > last end
    alternate(function(by)
      local last = (1 - by) * N
      for i in parallel(N, NATIVE) do
        if is_late(i, last) then A[i + 1] = A[i] + 1 end
      end
    end)
    alternate(function(by)
      off = by
      for i in parallel(N, NATIVE) do A[own(i)] = A[i] + 1 end
    end)
    alternate(function(by)
      environment.off = by
      for i in parallel(N) do A[by_global(i)] = A[i] + 1 end
    end)
  end)
end)
