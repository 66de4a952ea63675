-- SPDX-License-Identifier: MIT
--
-- A loop in a driver loop: from one execution to the next bounds, numbers, arrays and kinds of
-- values change in any order, and each execution means what its text says. MEISSA_TEST_SEED
-- replays a run.

local meissa = require "meissa"
local parallel = meissa.parallel
local small = require "meissa.driver.small"

local seed = require "spec.support.seed"
local N, STEPS = 12, 250

-- The same on arrays and on tables.
local function on_arrays(A, B, lo, hi, k, scale, flag)
  local sum = 0
  for i in parallel({lo, hi}) do
    A[i][k] = B[i][N + 1 - k] * scale + (flag and i or 0)
    sum = sum + A[i][k]
  end
  return sum
end

local function on_tables(A, B, lo, hi, k, scale, flag)
  for i = lo, hi do A[i][k] = B[i][N + 1 - k] * scale + (flag and i or 0) end
end

local function tables_of(arrays)
  local tables = {}
  for a, array in ipairs(arrays) do tables[a] = array:totable() end
  return tables
end

describe("a loop in a driver loop (seed " .. seed .. ")", function()
  it("follows whatever changes", function()
    math.randomseed(seed)
    local pick = math.random
    for _, workers in ipairs {0, 2} do
      meissa.init {workers = workers}
      local arrays = {}
      for a = 1, 3 do arrays[a] = meissa.rand({N, N}, {seed = a}) end
      local tables = tables_of(arrays)
      local a, b, lo, hi, k, scale, flag = 1, 2, 1, N, 1, 0.5, true
      for step = 1, STEPS do
        local what = pick(8)
        if what == 1 then a = pick(3) elseif what == 2 then b = pick(3) end
        if what == 3 then lo = pick(N) elseif what == 4 then hi = pick(N) end
        if what == 5 or what == 6 then k = pick(N) end
        if what == 7 then scale = pick() elseif what == 8 then flag = not flag end
        on_arrays(arrays[a], arrays[b], lo, hi, k, scale, flag)
        on_tables(tables[a], tables[b], lo, hi, k, scale, flag)
        if step % 10 == 0 then assert.are.same(tables, tables_of(arrays), "step " .. step) end
      end
    end
    meissa.init {}
  end)

  it("tells of a name that is not defined any more, and of a value of another kind", function()
    meissa.init {workers = 2}
    local x = meissa.zeros(N)
    local function fill(n, value, options)
      for i in parallel(n, options) do x[i] = value + i end
    end
    fill(N, 1, {})
    fill(N - 1, 2, {})
    assert.are.equal(2 + 1, x[1])
    assert.has_error(function() fill(N - 2, "word", {}) end)
    assert.has_error(function() fill(N - 3, nil, {}) end)
    fill(N - 4, 5, {})
    fill(N - 4, 6, {serial = true})
    assert.are.same({6 + 1, 6 + 8, 2 + 9, 2 + 10}, {x[1], x[8], x[9], x[10]})
    meissa.init {}
  end)

  it("puts back what its present bounds let it write", function()
    meissa.init {workers = 2}
    local A, B, C = meissa.zeros(N, N), meissa.zeros(N, N), meissa.ones(N)
    local function add(k, bad)
      for i in parallel({k, N}) do
        C[i] = C[i] * 2
        for j = k, N do A[i][j] = A[i][j] + B[i][j] + 1 end
        if i == bad then error("bad") end
      end
    end
    for k = N, 2, -1 do add(k) end
    local before = {A:totable(), C:totable()}
    assert.is_false((pcall(add, 1, N)))
    assert.are.same(before, {A:totable(), C:totable()})
    add(1)
    assert.are.same({1, N, 2}, {A[1][N], A[N][N], C[1]})
    meissa.init {}
  end)

  it("writes an array, a view and entries with some of its numbers only", function()
    local most = small.most[0]
    small.most[0] = 0 -- on workers
    finally(function()
      small.most[0] = most
      meissa.init {}
    end)
    meissa.init {workers = 2}
    local A, x = meissa.zeros(N, N), meissa.zeros(N)
    local V, entries = A:narrow(2, 2, 3), {i = {}, j = {}, v = {}}
    for i = 1, N do entries.i[i], entries.j[i], entries.v[i] = i, 1 + i % 3, i end
    local S = meissa.sparse({N, N}, entries)
    local function run(k, bad)
      for i in parallel(N) do
        if i > k then A[i][1] = A[i][1] + V[i][1] + i end
        x[i] = x[i] + A[i][1]
        if i > 2 * k then V[i][1] = V[i][1] + 1 end
        if i == bad then error("bad") end
      end
    end
    local function scale(k, bad)
      for i, j, v in parallel(S) do
        if i > k then S[i][j] = v * 2 end
        x[i] = x[i] + v
        if i == bad then error("bad") end
      end
    end
    local function contents()
      local values = {}
      for i, j, v in S:each() do values[#values + 1] = {i, j, v} end
      return {A:totable(), x:totable(), values}
    end
    local first, view, sum, value = {}, {}, {}, {}
    for i = 1, N do first[i], view[i], sum[i], value[i] = 0, 0, 0, i end
    for _, k in ipairs {N, 3, N, 0, 7, N + 1, 2} do
      run(k)
      scale(k)
      for i = 1, N do
        if i > k then first[i] = first[i] + view[i] + i end
        sum[i] = sum[i] + first[i] + value[i]
        if i > 2 * k then view[i] = view[i] + 1 end
        if i > k then value[i] = value[i] * 2 end
        local entry = S[i][1 + i % 3]
        assert.are.same({first[i], view[i], sum[i], value[i]}, {A[i][1], V[i][1], x[i], entry})
      end
      local before = contents()
      assert.is_false((pcall(run, k, N)))
      assert.is_false((pcall(scale, k, N)))
      assert.are.same(before, contents())
    end
  end)

  it("sees a subscript leave its array", function()
    meissa.init {workers = 2}
    local A = meissa.zeros(N, N)
    local function set(k) for i in parallel(N) do A[i][k] = k end end
    for k = 1, N do set(k) end
    local ok, err = pcall(set, N + 1)
    assert.is_false(ok)
    assert.are.equal("ARR", err.code)
    assert.has_error(function() set(1.5) end)
    set(2)
    assert.are.equal(2, A[N][2])
    meissa.init {}
  end)
end)
