-- SPDX-License-Identifier: MIT
-- Small loops over arrays that are others in each execution: views, rows, copies and snapshots of
-- the same shape are run by one call of C, and what shares memory, is shaped otherwise, or cannot
-- be read or written is seen. The same loops as plain Lua say what is right. MEISSA_TEST_SEED
-- replays a run.
local launches = require "meissa.driver.launch"
local meissa = require "meissa"
local parallel = meissa.parallel
local seed = require "spec.support.seed"
local until_launched = require "spec.driver.until_launched"

local N = 10

local floor, max, random = math.floor, math.max, math.random

-- The memory of a program: all other arrays are views of these, or copies.
local function world()
  local w = {whole = {}}
  for k = 1, 3 do
    w.whole[k] = meissa.rand({N + 4, 3}, {seed = k})
    w.whole[k + 3] = meissa.rand({3, N}, {seed = k + 3})
  end
  w.whole[7] = meissa.rand({N, 3}, {seed = 8, type = "float"})
  w.last = {}
  return w
end

local function any(list) return list[random(#list)] end

local MATRICES = {
  function(w) return w.whole[random(3)]:narrow(1, random(5), N) end,
  function(w) return w.whole[random(3)]:narrow(1, random(5), N) end,
  function(w) return w.whole[random(3)]:narrow(1, random(5), N):clone() end,
  function(w) return w.whole[random(3)]:narrow(1, random(5), N):snapshot() end,
  function(w) return w.whole[random(3) + 3]:transpose(1, 2) end,
  function(w) return w.whole[7] end,
}

local VECTORS = {
  function(w) return w.whole[random(3) + 3][random(3)] end, -- a row
  function(w) return w.whole[random(3) + 3][random(3)] end,
  function(w) return w.whole[random(3) + 3]:select(1, random(3)) end,
  function(w) return w.whole[random(3)]:narrow(1, random(5), N):select(2, random(3)) end,
  function(w) return w.whole[random(3) + 3]:select(1, random(3)):clone() end,
  function(w) return w.whole[random(3) + 3]:select(1, random(3)):snapshot() end,
}

-- Each loop in parallel and as plain Lua; what it gives beside arrays.
local LOOPS = {
  {function(W, _, r, _)
    for i in parallel(N, {engine = "native"}) do r[i] = W[i][1] + 2 * W[i][3] end
  end, function(W, _, r, _)
    for i = 1, N do r[i] = W[i][1] + 2 * W[i][3] end
  end},
  {function(W, V, _, _)
    for i in parallel(N, {engine = "native"}) do W[i][2] = V[i][1] + i end
  end, function(W, V, _, _)
    for i = 1, N do W[i][2] = V[i][1] + i end
  end},
  {function(_, _, r, q)
    for i in parallel(N, {engine = "native"}) do r[i] = r[i] * q[i] end
  end, function(_, _, r, q)
    for i = 1, N do r[i] = r[i] * q[i] end
  end},
  {function(_, _, r, q)
    for i in parallel({2, N}, {engine = "native"}) do r[i] = q[i - 1] + 1 end
  end, function(_, _, r, q)
    for i = 2, N do r[i] = q[i - 1] + 1 end
  end},
  {function(W, _, r, q) -- it may stop
    for i in parallel(N, {engine = "native"}) do r[i] = q[floor(1 + (N + 0.02) * W[i][1])] end
  end, function(W, _, r, q)
    for i = 1, N do r[i] = q[floor(1 + (N + 0.02) * W[i][1])] end
  end},
  {function(W, _, r, _)
    local most = -1
    for i in parallel(N, {engine = "native"}) do most = max(most, W[i][2] - r[i]) end
    return most
  end, function(W, _, r, _)
    local most = -1
    for i = 1, N do most = max(most, W[i][2] - r[i]) end
    return most
  end},
}

local function contents(arrays)
  local list = {}
  for k, each in ipairs(arrays) do list[k] = each:totable() end
  return list
end

local function restore(arrays, clones)
  for k, each in ipairs(arrays) do each:copy(clones[k]) end
end

-- Runs a loop both ways from the same memory. One that is refused, or fails, changes nothing.
local function run(w, loop, arrays, about)
  local before, own, clones = contents(w.whole), contents(arrays), {}
  for k, each in ipairs(w.whole) do clones[k] = each:clone() end
  local fits, right = pcall(loop[2], unpack(arrays))
  local expected, copies = contents(w.whole), contents(arrays)
  restore(w.whole, clones)
  for k, each in ipairs(arrays) do -- copies are not among what was restored
    pcall(function()
      for i = 1, N do
        if type(own[k][i]) == "table" then
          for j = 1, 3 do each[i][j] = own[k][i][j] end
        else
          each[i] = own[k][i]
        end
      end
    end)
  end
  local ok, given = pcall(loop[1], unpack(arrays))
  if not fits then assert.is_false(ok, about) end
  if ok then assert.equal(right, given, about) end
  assert.same(ok and expected or before, contents(w.whole), about)
  for k, each in ipairs(arrays) do
    assert.same(ok and copies[k] or own[k], each:totable(), about)
  end
  return ok
end

local function choose(w)
  local arrays = {any(MATRICES)(w), any(MATRICES)(w), any(VECTORS)(w), any(VECTORS)(w)}
  for k = 1, 4 do
    if w.last[k] and random(5) == 1 then arrays[k] = w.last[k] end
  end
  w.last = arrays
  return arrays
end

-- Runs a loop over arrays that can be told apart until a launch has run it.
local function loop_until_launched(w, loop)
  until_launched(function()
    loop[1](w.whole[1]:narrow(1, 1, N), w.whole[2]:narrow(1, 1, N), w.whole[4][1], w.whole[5][1])
  end)
end

local function simple(W, r)
  for i in parallel(N, {engine = "native"}) do r[i] = W[i][1] + 1 end
end

local function simple_until_launched(w)
  until_launched(function() simple(w.whole[1]:narrow(1, 1, N), w.whole[4][1]) end)
end

describe("small loops over other arrays in each execution", function()
  math.randomseed(seed)

  it("are run without the long way", function()
    local w = world()
    simple_until_launched(w)
    local list = {}
    for k = 1, 20 do list[k] = meissa.rand({N, 3}, {seed = k}) end
    local before = launches.executions
    for k = 1, 40 do
      local W, r = list[k % 20 + 1], w.whole[4 + k % 3][k % 3 + 1]
      if k > 20 then W = w.whole[k % 3 + 1]:narrow(1, k % 5 + 1, N) end
      simple(W, r)
      for i = 1, N do assert.equal(W[i][1] + 1, r[i]) end
    end
    assert.equal(before + 40, launches.executions)
  end)

  it("are known by their shapes where numbers change, too", function()
    local A = meissa.rand({N + 40, N}, {seed = 3})
    local B, C = meissa.zeros(N + 40), meissa.rand({N + 40, N}, {seed = 4})
    local function add(x, row, k, n) -- both move with k
      for i in parallel({k, n}, {engine = "native"}) do x[i] = A[i][k % N + 1] + row[k % N + 1] end
    end
    until_launched(function() add(B, C[1]:clone(), 1, N) end)
    for k = 2, 5 do add(B, C[k]:clone(), k, N + k - 1) end
    local before = launches.executions
    for k = 6, 40 do
      add(B, C[k]:clone(), k, N + k - 1)
      for i = k, N + k - 1 do
        assert.equal(A[i][k % N + 1] + C[k][k % N + 1], B[i])
      end
    end
    assert.equal(before + 35, launches.executions)
    assert.equal(N, meissa.last().grid[1])
    for k = 1, 10 do add(B, C[k]:clone(), 1 + 3 * k % 7, N + k * k % 11) end
    before = launches.executions
    for k = 1, 10 do add(B, C[k]:clone(), 1 + 3 * k % 7, N + k * k % 11) end
    assert.equal(before + 10, launches.executions)
  end)

  it("have the kernel for the numbers that there are", function()
    local function total(x, m)
      local s = 100
      for i in parallel(N, {engine = "native"}) do
        if m > 5 then s = s + x[i] else s = x[i] end
      end
      return s
    end
    local function check(m)
      local x = meissa.zeros(N)
      for i = 1, N do x[i] = i end
      assert.equal(m > 5 and 100 + N * (N + 1) / 2 or N, total(x, m))
    end
    until_launched(function() check(6) end)
    for _ = 1, 4 do check(5) end
    for _ = 1, 4 do check(7) end
    for m = 1, 10 do check(m) end
  end)

  it("see what is shaped otherwise, is freed, or cannot be written", function()
    local w = world()
    simple_until_launched(w)
    local wide = meissa.rand({N, 4}, {seed = 1})
    simple(wide, w.whole[4][2])
    for i = 1, N do assert.equal(wide[i][1] + 1, w.whole[4][2][i]) end
    local short = meissa.rand({N - 1, 3}, {seed = 1})
    assert.is_false((pcall(simple, short, w.whole[4][2])))
    local gone, kept = meissa.rand({N, 3}, {seed = 1}), meissa.zeros(N)
    simple(gone, kept)
    gone:free()
    assert.is_false((pcall(simple, gone, kept)))
    local row = (function() return meissa.rand({3, N}, {seed = 1})[1] end)()
    jit.flush()
    for _ = 1, 3 do collectgarbage() end
    local others = {}
    for k = 1, 20 do others[k] = meissa.rand({3, N}, {seed = k}) end -- where the collected one was
    assert.is_false((pcall(simple, w.whole[1]:narrow(1, 1, N), row)))
    assert.equal(20, #others)
    local frozen = w.whole[4]:select(1, 1):snapshot()
    local own = frozen:totable()
    assert.is_false((pcall(simple, w.whole[1]:narrow(1, 1, N), frozen)))
    assert.same(own, frozen:totable())
    assert.is_false((pcall(simple, {}, w.whole[4][2])))
    assert.is_false((pcall(simple, 1, w.whole[4][2])))
  end)

  it("go on with those that were there first", function()
    local w, before = world(), launches.executions
    local W, r = meissa.rand({N, 3}, {seed = 1}), meissa.zeros(N)
    local function some(A, x, n)
      for i in parallel(n, {engine = "native"}) do x[i] = A[i][1] + 1 end
      for i = 1, n do assert.equal(A[i][1] + 1, x[i]) end
      x:fill(0)
    end
    for _ = 1, 3000 do
      some(W, r, 5)
      if launches.executions > before then break end
    end
    for k = 1, 20 do
      some(w.whole[1]:narrow(1, k % 5 + 1, N), w.whole[4][2], 5)
      some(W, r, k % 4 == 0 and 5 or k % 9 + 1) -- with bounds that were not met, too
    end
  end)

  it("see memory that is shared, now or at first", function()
    local A, B = meissa.rand({3, N}, {seed = 1}), meissa.rand({3, N}, {seed = 2})
    local function shift(x, y)
      for i in parallel({2, N}, {engine = "native"}) do x[i] = y[i - 1] + 1 end
    end
    until_launched(function() shift(A[1], B[1]) end)
    local before = launches.executions
    shift(B[2], A[3])
    assert.equal(before + 1, launches.executions)
    shift(A[2], A[3])
    assert.equal(before + 1, launches.executions)
    for i = 2, N do assert.equal(A[3][i - 1] + 1, A[2][i]) end
    local own = A[2]:totable()
    local ok, err = pcall(shift, A[2], A[2])
    assert.is_false(ok)
    assert.equal("DEP", err.code)
    assert.same(own, A[2]:totable())
    local function other(x, y)
      for i in parallel(N, {engine = "native"}) do x[i] = y[i] + 1 end
    end
    local X = A:select(1, 1)
    until_launched(function() other(X, X) end)
    before = launches.executions
    other(A[2], B[3])
    assert.equal(before, launches.executions)
  end)

  it("tell of the plan that they were run by", function()
    local w = world()
    simple_until_launched(w)
    local right = tostring(meissa.last())
    simple(w.whole[2]:narrow(1, 2, N), w.whole[5][2])
    assert.equal(right, tostring(meissa.last()))
  end)

  it("keep none of the arrays alive", function()
    local w = world()
    simple_until_launched(w)
    local alive = setmetatable({}, {__mode = "v"})
    alive[1] = w.whole[1]:narrow(1, 2, N):clone()
    simple(alive[1], w.whole[4][3])
    jit.flush()
    for _ = 1, 4 do collectgarbage() end
    assert.is_nil(alive[1])
  end)

  it("give what plain loops give, whichever arrays there are", function()
    local runs = 0
    for _, loop in ipairs(LOOPS) do loop_until_launched(world(), loop) end
    local before = launches.executions
    for program = 1, 4 do
      local w = world()
      for step = 1, 150 do
        local n = random(#LOOPS)
        run(w, LOOPS[n], choose(w), ("%d.%d: loop %d"):format(program, step, n))
        runs = runs + 1
      end
    end
    assert.is_true(launches.executions - before > runs / 4, "few launches")
  end)
end)
