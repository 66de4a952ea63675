-- SPDX-License-Identifier: MIT
--
-- Loops that take less time than workers need to get going run in the driver's process: with the
-- bits that workers give, and the same errors. MEISSA_TEST_SEED replays a run.

local child = require "spec.support.child"
local kept_workers = require "spec.support.kept_workers"
local kinds = require "spec.driver.small_cases"
local meissa = require "meissa"
local parallel = meissa.parallel
local seed = require "spec.support.seed"
local small = require "meissa.driver.small"

local N, NATIVE = kinds.N, kinds.NATIVE

local function words_of(value)
  if type(value) == "number" then return ("%a"):format(value) end
  if type(value) ~= "cdata" then return tostring(value) end
  local words = {}
  for _, row in ipairs(value:totable()) do
    for _, x in ipairs(type(row) == "table" and row or {row}) do
      words[#words + 1] = ("%a"):format(x)
    end
  end
  return table.concat(words, " ")
end

-- What a case leaves, as a string.
local function left_by(case, k)
  local A, B = meissa.rand({N, N}, {seed = seed + k}), meissa.rand({N, N}, {seed = seed + 9})
  local left = {case(A, B, k)}
  for n, value in ipairs(left) do left[n] = words_of(value) end
  return table.concat(left, "\n")
end

-- Runs as often as it takes until it ran here; on a busy machine a loop may look long.
local function until_here(run)
  for n = 1, 3000 do
    run(n)
    if meissa.last().workers == 0 then return true end
  end
  return false
end

describe("small loops (seed " .. seed .. ")", function()
  teardown(kept_workers.stop)
  local most = small.most[0]
  after_each(function() small.most[0] = most end)

  for _, road in ipairs {true, false} do
    describe(road and "in shared memory" or "by value", function()
      setup(function() kept_workers.init {workers = 2, shm = road} end)
      teardown(function() kept_workers.init {} end)

      for name, case in pairs(kinds.list) do
        it(name .. " has the bits that it has on workers", function()
          local right = {}
          small.most[0] = 0
          for k = 1, 3 do
            right[k] = left_by(case, k)
            assert.are.equal(2, meissa.last().workers)
          end
          small.most[0] = most
          assert.is_true(until_here(function(n)
            local k = n % 3 + 1
            assert.are.equal(right[k], left_by(case, k))
          end))
          for k = 1, 3 do assert.are.equal(right[k], left_by(case, k)) end
        end)
      end
    end)
  end

  it("are told of as run by no worker", function()
    kept_workers.init {workers = 2}
    local A = meissa.zeros(N)
    assert.is_true(until_here(function()
      for i in parallel(N, NATIVE) do A[i] = A[i] + 1 end
    end))
    local plan = meissa.last()
    assert.are.same({0, {}, 0, 0}, {plan.workers, plan.shares, plan.moved, plan.deaths})
    assert.is_true(plan.launch > 0 and plan.seconds > plan.launch)
    assert.are.equal(A[1], A[N])
  end)

  it("are those that take somewhat longer, where they are faster here than on workers", function()
    kept_workers.init {workers = 2}
    small.most[0] = 2e-6
    local n = 20000
    local A = meissa.rand({n}, {seed = 5})
    local function total()
      local s = 0
      for i in parallel(n, NATIVE) do s = s + A[i] end
      return s
    end
    local right, row = total(), 0
    for _ = 1, 12000 do
      assert.are.equal(right, total())
      row = meissa.last().workers == 0 and row + 1 or 0
      if row == 8 then break end -- where it is only tried, the next is on workers
    end
    assert.are.equal(8, row)
    small.most[0] = 0
    total()
    assert.are.equal(2, meissa.last().workers)
  end)

  local function fail_half_way(delay)
    kept_workers.init {workers = 2}
    local A, index = meissa.ones(N), meissa.zeros({N}, {type = "int32"})
    local count = meissa.zeros(3)
    local b = meissa.buffer(count, {max_delay = delay})
    for i in parallel(N, NATIVE) do index[i] = N + 1 - i end
    local function gather(x)
      local s = 0
      for i in parallel(N, NATIVE) do
        A[i] = A[i] + x
        b[2] = b[2] + 1
        s = s + index[index[i]]
      end
      return s
    end
    assert.is_true(until_here(function(n) assert.are.equal(N * (N + 1) / 2, gather(n)) end))
    local before, counted = A:totable(), count[2]
    index[N - 2] = N + 1
    for _ = 1, 3 do
      local ok, err = pcall(gather, 5)
      assert.is_false(ok)
      assert.are.equal("ARR", err.code)
      assert.are.same({N - 2}, err.iteration)
      assert.are.same(before, A:totable())
      assert.are.equal(counted, count[2])
    end
    index[N - 2] = 1
    assert.are.equal(N * (N + 1) / 2, gather(1))
    assert.are.equal(before[N] + 1, A[N])
    assert.are.equal(counted + N, count[2])
  end

  it("leave nothing where they fail half-way", function() fail_half_way(nil) end)

  it("leave nothing of earlier stages where they fail half-way", function() fail_half_way(10) end)

  local function fail_to_merge(delay)
    kept_workers.init {workers = 2}
    local A, I = meissa.ones(N), meissa.zeros({3}, {type = "int32"})
    local w = meissa.zeros(3)
    local n, b = meissa.buffer(I, {max_delay = delay}), meissa.buffer(w, {max_delay = delay})
    local function count(x)
      for i in parallel(N, NATIVE) do
        A[i] = A[i] + 1
        b[1] = b[1] + 1
        n[i % 3 + 1] = n[i % 3 + 1] + x
      end
    end
    assert.is_true(until_here(function() count(1) end))
    local before = {A:totable(), I:totable(), w:totable()}
    for _ = 1, 3 do
      local ok, err = pcall(count, 2 ^ 29)
      assert.are.same({false, "ARR"}, {ok, err.code})
      assert.are.same(before, {A:totable(), I:totable(), w:totable()})
    end
    count(1)
    assert.are.equal(before[3][1] + N, w[1])
    assert.are.equal(before[1][1] + 1, A[1])
    w:free()
    local ok, err = pcall(count, 1)
    assert.are.same({false, "ARR"}, {ok, err.code})
    assert.are.equal(before[1][1] + 1, A[1])
  end

  it("leave nothing where merging fails", function() fail_to_merge(nil) end)

  it("leave nothing where merging fails in a stage", function() fail_to_merge(10) end)

  it("have conditions on their subscripts", function()
    kept_workers.init {workers = 2}
    local x, y = meissa.rand({N}, {seed = 3}), meissa.zeros(N)
    local function smooth(m)
      for i in parallel(N, NATIVE) do
        local v = 2 * x[i]
        if i > m then v = v - x[i - m] end
        if i <= N - m then v = v - x[i + m] end
        y[i] = v
      end
    end
    assert.is_true(until_here(function(n) smooth(n % 3 + 1) end))
    smooth(2)
    for i = 1, N do
      local v = 2 * x[i]
      if i > 2 then v = v - x[i - 2] end
      if i <= N - 2 then v = v - x[i + 2] end
      assert.are.equal(v, y[i])
    end
  end)

  it("are not those whose end is not in sight, or that write much and may fail", function()
    kept_workers.init {workers = 2}
    local A, X = meissa.ones(N), meissa.ones({300, 600})
    local index = meissa.ones({N}, {type = "int32"})
    for _ = 1, 20 do
      for i in parallel(N, NATIVE) do
        local n = 0
        while A[i] > n do n = n + 1 end
      end
      assert.are.equal(2, meissa.last().workers)
      for i in parallel(N, NATIVE) do
        local s = 0
        for k = 1, A[i] do s = s + k end
        A[i] = s
      end
      assert.are.equal(2, meissa.last().workers)
      for i in parallel(N, NATIVE) do X[i][1] = index[index[i]] end
      assert.are.equal(2, meissa.last().workers)
    end
  end)

  it("leave nothing where a bound turns out wrong", function()
    kept_workers.init {workers = 2}
    local A = meissa.zeros(N)
    local function fill(n, x)
      for i in parallel(n, NATIVE) do A[i] = x end
    end
    assert.is_true(until_here(function(n) fill(N, n) end))
    local before = A:totable()
    for _ = 1, 3 do
      local ok, err = pcall(fill, N + 1, 7)
      assert.is_false(ok)
      assert.are.equal("ARR", err.code)
      assert.are.same({N + 1}, err.iteration)
      assert.are.same(before, A:totable())
    end
    fill(N, 8)
    assert.are.equal(8 * N, A:sum())
  end)

  it("follow arrays that are freed, lost, frozen or others", function()
    kept_workers.init {workers = 2}
    local A, B = meissa.ones(N), meissa.ones(N)
    local function add(X)
      local s = 0
      for i in parallel(N, NATIVE) do
        X[i] = X[i] + 1
        s = s + X[i]
      end
      return s
    end
    assert.is_true(until_here(function() add(A) end))
    assert.are.equal(2 * N, add(B))
    assert.are.equal(3 * N, add(B))
    local frozen = B:snapshot()
    local ok, err = pcall(add, frozen)
    assert.is_false(ok)
    assert.are.equal("ARR", err.code)
    B:free()
    ok, err = pcall(add, B)
    assert.is_false(ok)
    assert.are.equal("ARR", err.code)
    assert.are.equal(A[1] * N + N, add(A))
  end)

  it("are on workers where a number may have made them long", function()
    kept_workers.init {workers = 2}
    local n, m, options = 8, 10, {m = 10}
    local A = meissa.zeros(n)
    local function sum(s)
      for k = 1, m do s = s * 0.5 + k end
      return s
    end
    local loops = {
      function() for i in parallel(n, NATIVE) do for k = 1, m do A[i] = A[i] * 0.5 + k end end end,
      function()
        for i in parallel(n, NATIVE) do for k = 1, options.m do A[i] = A[i] * 0.5 + k end end
      end,
      function() for i in parallel(n, NATIVE) do A[i] = sum(A[i]) end end,
      function()
        for i in parallel({m + 1, m + n}, NATIVE) do
          for k = 1, i do A[i - m] = A[i - m] * 0.5 + k end
        end
      end,
    }
    local function is_here(loop, number)
      m, options.m = number, number
      loop()
      return meissa.last().workers == 0
    end
    for k, loop in ipairs(loops) do
      local row = 0
      for _ = 1, 3000 do
        row = is_here(loop, 10) and row + 1 or 0
        if row == 8 then break end
      end
      assert.are.equal(8, row, "loop " .. k)
      assert.is_false(is_here(loop, 1e7), "loop " .. k)
      assert.is_true(is_here(loop, 10), "loop " .. k)
      assert.is_false(is_here(loop, 1e7), "loop " .. k)
      assert.is_true(is_here(loop, 11), "loop " .. k)
    end
  end)

  it("are interrupted after their end", function()
    local output = child.script([[
      local meissa, ffi = require "meissa", require "ffi"
      ffi.cdef "int getpid(void); int kill(int, int);"
      local A = meissa.zeros(40)
      local function add()
        for i in meissa.parallel(40, {engine = "native"}) do A[i] = A[i] + 1 end
      end
      local runs = 0
      repeat add() runs = runs + 1 until meissa.last().workers == 0 or runs == 3000
      local ok = pcall(function()
        ffi.C.kill(ffi.C.getpid(), 2)
        for _ = 1, 1000 do add() runs = runs + 1 end
      end)
      print(ok, A[1] == A[40], A[1] - runs <= 1, meissa.last().workers)]],
      {env = "MEISSA_WORKERS=2"})
    assert.are.equal("false\ttrue\ttrue\t0\n", output)
  end)
end)
