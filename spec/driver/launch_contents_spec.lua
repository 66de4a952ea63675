-- SPDX-License-Identifier: MIT
--
-- Small loops that are run again by one call of C, where what they take is more than numbers and
-- dense arrays: entries and rows of sparse arrays, random numbers.

local launches = require "meissa.driver.launch"
local meissa = require "meissa"
local parallel = meissa.parallel
local until_launched = require "spec.driver.until_launched"

local N = 12
local NATIVE = {engine = "native"}

-- N x N, with three entries in each row.
local function sparse_matrix(scale)
  local list = {i = {}, j = {}, v = {}}
  for e = 1, 3 * N do
    list.i[e], list.j[e] = (e - 1) % N + 1, (5 * e) % N + 1
    list.v[e] = scale * e
  end
  return meissa.sparse({N, N}, list)
end

describe("launches of loops over other things than dense arrays", function()
  before_each(function() meissa.init {workers = 2} end)
  teardown(function() meissa.init {} end)

  it("loop over the entries of sparse arrays, with the values that they have", function()
    local X, w = sparse_matrix(1), meissa.rand({N}, {seed = 6})
    local function total(A)
      local sum, right = 0.5, 0.5
      for _, j, v in parallel(A, NATIVE) do sum = sum + v * w[j] end
      for i = 1, N do
        for j, v in A[i]:nonzeros() do right = right + v * w[j] end
      end
      return sum, right
    end
    local function check(A)
      local sum, right = total(A)
      assert.is_true(math.abs(sum - right) < 1e-9 * right)
    end
    until_launched(function() check(X) end)
    X:mul(3)
    check(X)
    until_launched(function() check(X) end)
    w:mul(2)
    check(X)
    local other = sparse_matrix(7)
    check(other)
    until_launched(function() check(other) end)
    check(X)
    X:free()
    local ok, err = pcall(total, X)
    assert.are.same({false, "ARR"}, {ok, err.code})
  end)

  it("read sparse rows with the values that they have", function()
    local X, w, y = sparse_matrix(1), meissa.rand({N}, {seed = 6}), meissa.zeros(N)
    local function multiply(A)
      for i in parallel(N, NATIVE) do
        local sum = 0
        for j, v in A[i]:nonzeros() do sum = sum + v * w[j] end
        y[i] = sum
      end
    end
    local function check(A)
      local right = {}
      for i = 1, N do
        right[i] = 0
        for j, v in A[i]:nonzeros() do right[i] = right[i] + v * w[j] end
      end
      multiply(A)
      for i = 1, N do assert.is_true(math.abs(y[i] - right[i]) < 1e-9 * right[i]) end
    end
    until_launched(function() check(X) end)
    local before = launches.executions
    X:mul(3)
    check(X)
    assert.are.equal(before + 1, launches.executions)
    local other = sparse_matrix(7)
    check(other)
    until_launched(function() check(other) end)
    check(X)
    X:free()
    local ok, err = pcall(multiply, X)
    assert.are.same({false, "ARR"}, {ok, err.code})
  end)

  it("see globals that stand behind others", function()
    local behind = {scale = 2, total = 0, fold = math.floor}
    local own = setmetatable({}, {__index = behind, __newindex = behind})
    local A = meissa.ones(N)
    local function add()
      for i in parallel(N, NATIVE) do
        total = total + fold(A[i] * scale) -- luacheck: ignore
      end
    end
    setfenv(add, setmetatable({NATIVE = NATIVE}, {__index = own, __newindex = own}))
    local function fill()
      for i in parallel(N, NATIVE) do A[i] = scale + fold(0.5) end -- luacheck: ignore
    end
    setfenv(fill, own)
    local runs, here = 0, 0
    repeat -- small, but no launch: these are loops that assign no globals
      add()
      runs = runs + 1
      if meissa.last().workers == 0 then here = here + 1 end
    until here == 5 or runs == 3000
    assert.are.equal(5, here)
    assert.are.equal(runs * 2 * N, behind.total)
    assert.is_nil(rawget(own, "total"))
    until_launched(fill)
    behind.scale = 3
    fill()
    assert.are.equal(3, A[N])
    behind.fold = math.ceil
    fill()
    assert.are.equal(4, A[N])
    own = rawset(own, "scale", 7)
    fill()
    assert.are.equal(8, A[N])
    getmetatable(own).__index = function(_, name) return name == "scale" and 9 or behind[name] end
    rawset(own, "scale", nil)
    fill()
    assert.are.equal(10, A[N])
  end)

  it("put into buffers what their targets get", function()
    local x, w, other = meissa.rand({N}, {seed = 2}), meissa.zeros(3), meissa.zeros(3)
    local b = meissa.buffer(w, {max_delay = 5})
    local right, k = {0, 0, 0}, 1
    local function add()
      for i in parallel(N, NATIVE) do b[k] = b[k] + x[i] end
      for i = 1, N do right[k] = right[k] + x[i] end
    end
    local function check(target)
      for e = 1, 3 do assert.is_true(math.abs(target[e] - right[e]) < 1e-9) end
    end
    until_launched(add)
    check(w)
    k = 3
    add()
    check(w)
    b, right = meissa.buffer(other), {0, 0, 0}
    add()
    check(other)
    until_launched(add)
    check(other)
    other:free()
    local ok, err = pcall(add)
    assert.are.same({false, "ARR"}, {ok, err.code})
  end)

  it("draw the random numbers that a plain loop draws", function()
    local A, x = meissa.zeros(N), 0
    local function draw()
      for i in parallel(N, NATIVE) do
        A[i] = x + meissa.random() + meissa.normal() * meissa.random(6)
      end
      return A:totable()
    end
    local function some(first)
      local found = {}
      meissa.seed(first)
      for n = 1, 5 do
        x = n
        found[n] = draw()
      end
      meissa.seed(-first)
      found[6] = draw()
      return found
    end
    until_launched(draw)
    local before, here = launches.executions, some(11)
    for _ = 1, 200 do
      if launches.executions - before == 6 then break end -- on a busy machine it may look long
      before, here = launches.executions, some(11)
    end
    assert.are.equal(6, launches.executions - before)
    meissa.init {workers = 0}
    before = launches.executions
    assert.are.same(some(11), here)
    assert.are.equal(before, launches.executions)
    assert.are_not.same(here[1], here[2])
  end)
end)
