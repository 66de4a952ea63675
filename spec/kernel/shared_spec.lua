-- SPDX-License-Identifier: MIT
--
-- A driver loop whose bounds move has a plan for each of their values, but only a few kernels: what
-- is shared is what would have been made anew.

local buffer = require "string.buffer"
local families = require "meissa.kernel.family"
local meissa = require "meissa"
local parallel = meissa.parallel

require("meissa.driver.small").most[0] = 0 -- small loops look for their kernels each time, too

local made, shared -- kernels that were made, and how often one was found

-- Compares every kernel that a loop gets with a fresh one.
local find = families.find
local function checked(loop, plan, bindings, values, space, cache, known, native)
  local found = find(loop, plan, bindings, values, space, cache, known, native)
  local fresh = find(loop, plan, bindings, values, space, {})
  if fresh.info.text ~= found.info.text then -- then it is the one that suits all
    local others = {}
    find(loop, plan, bindings, values, space, {}, others, true)
    fresh = find(loop, plan, bindings, values, space, {}, others, true)
  end
  assert.are.equal(fresh.info.text, found.info.text)
  assert.are.equal(buffer.encode(fresh.info), buffer.encode(found.info))
  assert.are.equal(fresh.signature, found.signature)
  assert.are.equal(fresh.native and fresh.native.text, found.native and found.native.text)
  if made[found] then shared = shared + 1 end
  made[found] = true
  return found
end

local function count()
  local n = 0
  for _ in pairs(made) do n = n + 1 end
  return n
end

describe("kernels of a driver loop", function()
  local n = 24

  before_each(function()
    meissa.init {workers = 2}
    made, shared = {}, 0
    families.find = checked
  end)

  after_each(function()
    families.find = find
    meissa.init {}
  end)

  local function matrix()
    local A = meissa.rand({n, n}, {seed = 5})
    for i = 1, n do A[i][i] = A[i][i] + n end
    return A
  end

  it("are one for all steps of LU, and LU is right", function()
    local A = matrix()
    local B = A:totable()
    for k = 1, n - 1 do
      for i in parallel({k + 1, n}) do
        local factor = A[i][k] / A[k][k]
        A[i][k] = factor
        for j = k + 1, n do A[i][j] = A[i][j] - factor * A[k][j] end
      end
    end
    for k = 1, n - 1 do
      for i = k + 1, n do
        local factor = B[i][k] / B[k][k]
        B[i][k] = factor
        for j = k + 1, n do B[i][j] = B[i][j] - factor * B[k][j] end
      end
    end
    assert.are.same(B, A:totable())
    assert.is_true(count() <= 2) -- the first one's, and one that suits all
    assert.is_true(shared >= n - 3)
  end)

  it("differ where a number decides which checks are left out", function()
    local A, x = matrix(), meissa.zeros(n)
    for shift = 0, 6 do
      for i in parallel(n - 3) do x[i] = A[i + shift - 3 * math.floor(shift / 4)][i] end
    end
    assert.is_true(count() >= 1 and count() < 7)
    for row = n - 2, n + 2 do
      local ok, err = pcall(function()
        for i in parallel(n) do x[i] = A[row][i] end
      end)
      assert.are.equal(row <= n, ok)
      if not ok then assert.are.equal("ARR", err.code) end
    end
  end)

  it("differ where rows and dependent bounds have a part in the text", function()
    for size = 4, 9 do
      local A = matrix()
      for t, i in parallel({2, size}, {2, size}) do -- a row of its own
        A[t][i] = 0.5 * (A[t - 1][i + 1] + A[t][i - 1])
      end
      local x = meissa.zeros(n)
      for i in parallel({1, size}, {collapse = 2, ordered = false}) do
        for j = 1, size - i do x[i] = x[i] + j end
      end
      local s = 0
      for i in parallel({1, n, size}) do s = s + x[i] end
    end
    assert.is_true(count() > 6)
  end)

  it("are the same whatever runs in between", function()
    local x, y = meissa.zeros(n), meissa.zeros({n}, {type = "float"})
    for k = 1, 6 do
      for _, each in ipairs {x, y} do
        for i in parallel({k, n}) do each[i] = each[i] + k end
      end
    end
    assert.is_true(count() >= 2 and count() <= 4)
    assert.are.equal(21, x[n])
    assert.are.equal(21, y[n])
  end)
end)
