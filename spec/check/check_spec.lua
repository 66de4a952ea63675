-- SPDX-License-Identifier: MIT
-- The option `check = true`: loops that pass, and what is said of those that do not.
local child = require "spec.support.child"
local claims = require "spec.support.claim"
local core = require "meissa.core"
local meissa = require "meissa"
local parallel = meissa.parallel

local function message_of(fn, ...)
  local ok, err = pcall(fn, ...)
  assert.is_false(ok)
  return tostring(err), err
end

-- Runs fn with an analyser whose answers are changed.
local function with_answers(change, fn)
  local original = core.plan
  core.plan = function(...)
    local plan, problem = original(...)
    change(plan)
    return plan, problem
  end
  local results = {pcall(fn)}
  core.plan = original
  return unpack(results)
end

local function claim_independence(plan)
  claims.strategy(plan, "independent", {1})
  plan.distances = {}
end

describe("check = true", function()
  setup(function() meissa.init {workers = 2} end)
  teardown(function() meissa.init {} end)

  it("lets a loop that does what its plan says run, once", function()
    local A, C, sum, seen = meissa.ones(50), meissa.ones {8, 8}, 0, {count = 0}
    for i in parallel({2, 49}, {check = true}) do
      local w = C[i % 8 + 1]
      A[i] = A[i] + i + #w
      sum = sum + A[i] + w:sum()
    end
    assert.equal(2 + 1 + 8, A[2])
    assert.equal(48 * 9 + 2 * 0 + (2 + 49) * 24 + 48 * 8, sum)
    meissa.each(8, {check = true}, function(i) C[i]:fill(i) end)
    assert.equal(64, C[8]:sum())
    assert.equal(0, seen.count)
  end)

  it("works on the entries of sparse arrays, on aliases, views and helper functions", function()
    local S = meissa.sparse({4, 5}, {i = {1, 2, 3}, j = {1, 5, 4}, v = {1, 2, 3}})
    local W, H = meissa.ones {4, 3}, meissa.ones {5, 3}
    local V, columns = W, H:transpose()
    local function error_of(r, w, h) return r - w * h end
    for i, j, r in parallel(S, {check = true}) do
      V[i][1] = V[i][1] + error_of(r, W[i][2], H[j][2])
    end
    assert.equal(1, W[1][1])
    assert.equal(3, W[3][1])
    for k in parallel(3, {check = true}) do columns[k]:fill(k) end
    assert.equal(3, H[5][3])
  end)

  it("leaves a body's own error to the run", function()
    local A = meissa.ones(10)
    local text, err = message_of(function()
      for i in parallel(11, {check = true}) do A[i] = i end
    end)
    assert.equal("ARR", err.code)
    assert.truthy(text:find("outside 1..10", 1, true))
  end)

  it("names the places where a wrong plan fails", function()
    local A = meissa.ones(10)
    local ok, err = with_answers(function(plan)
      claim_independence(plan)
    end, function()
      for i in parallel({2, 9}, {check = true}) do
        A[i] = A[i - 1]
      end
    end)
    assert.is_false(ok)
    assert.equal("BUG", err.code)
    local text = tostring(err)
    assert.truthy(text:find("iteration %(i = %d%) writes A%[%d%] at line %d+"))
    assert.truthy(text:find("iteration %(i = %d%) reads A%[%d%] at line %d+: distance %(1%)"))
    for i = 1, 10 do assert.equal(1, A[i]) end
  end)

  it("knows the labels of arrays", function()
    local path = os.tmpname()
    child.write(path, "30,apple,3\n10,pear,4\n")
    local R = meissa.read.triples(path)
    child.write(path, "height,width\n1,2\n3,4\n")
    local C = meissa.read.csv(path)
    os.remove(path)
    local by_number = function(i) return R:label(1, i) >= 10 end
    local by_name = function(i) return C:label(2, i) ~= i end
    for _, holds in ipairs {by_number, by_name} do
      local A = meissa.ones(3)
      local ok, err = with_answers(claim_independence, function()
        for i in parallel(2, {check = true, ordered = false}) do
          if holds(i) then A[i + 1] = A[i] end
        end
      end)
      assert.is_false(ok)
      assert.truthy(tostring(err):find("reads A%[2%] at line %d+: distance %(1%)"), tostring(err))
    end
  end)

  it("tells a body that changes what it captures from a wrong plan", function()
    local A, state = meissa.ones(40), {shift = 1}
    local hidden = state
    local ok, err = with_answers(function(plan)
      claim_independence(plan)
    end, function()
      local function bump() hidden.shift = hidden.shift == 1 and 2 or 1 end
      for i in parallel({2, 30}, {check = true}) do
        bump()
        A[i + state.shift] = i
      end
    end)
    assert.is_false(ok)
    assert.equal("DEP", err.code)
    assert.truthy(tostring(err):find("changes '[%w.]*shift'"))
  end)

  it("records loops that run serially, too", function()
    local A = meissa.ones(50)
    for i in parallel({2, 50}, {serial = true, check = true}) do A[i] = A[i-1] + 1 end
    assert.equal(50, A[50])
    local ok, err = with_answers(function(plan) plan.distances = {{2}} end, function()
      for i in parallel({2, 50}, {serial = true, check = true}) do A[i] = A[i-1] + 1 end
    end)
    assert.is_false(ok)
    assert.equal("BUG", err.code)
    assert.truthy(tostring(err):find("does not predict that iteration", 1, true))
    assert.is_nil(tostring(err):find("serial = true", 1, true))
  end)

  it("says once that it was skipped, and why", function()
    local out = child.script([[
local meissa = require "meissa"
local parallel = meissa.parallel
meissa.init {workers = 1}
local t, n, A = {}, 0, meissa.zeros(3)
for k = 1, 2 do
  for i in parallel(3, {serial = true, check = true}) do t[1] = i end
  for i in parallel(3, {impure = true, check = true}) do A[i] = os.remove("/nowhere") or 1 end
  for i in parallel(3, {serial = true, check = true}) do n = n + i if n > 2 then break end end
end
print(t[1], n, A:sum())
]])
    local function has(text) assert.truthy(out:find(text, 1, true), out) end
    has("script.lua:6: check = true was skipped, because its body is more than can be recorded: " ..
        "write into a plain table [DEP107]")
    has("script.lua:7: check = true was skipped, because the loop is impure, and what it does " ..
        "would happen twice")
    has(":8: check = true was skipped, because its body is more than can be recorded: leaves " ..
        "the loop [DEP108]")
    has("3\t4\t3\n")
    assert.equal(3, select(2, out:gsub("was skipped", "")))
  end)

  it("counts distances in iterations of a step of 3", function()
    local A = meissa.zeros(9)
    for i, j in parallel({4, 7, 3}, {4, 5}, {check = true}) do A[j] = A[j] + i end
    assert.equal(11, A[5])
  end)

  it("compares tables that reductions leave by what they hold", function()
    local A, one = meissa.rand({20}, {seed = 1}), nil
    for i in parallel(20, {check = true}) do
      if not one and A[i] > 0.7 then one = {at = i, {A[i], "x"}} end
    end
    assert.equal(A[one.at], one[1][1])
    local bodies = {"f = {f and 1 or 2}", "f = {f and 1 or nil}",
                    "f = {{[f and 'a' or 'b'] = 1}}", "f = f and {} or 1",
                    "f = setmetatable({}, {f and 1 or 2})", "local t = {} f = {t, f and t or {}}"}
    for _, body in ipairs(bodies) do
      local ok, err = with_answers(function(plan)
        claim_independence(plan)
        plan.scalars.f = {role = "reduction", op = "or", wins = "equal", capture = 1}
        plan.reasons = {}
      end, function()
        meissa.run("local f = 5 for i in parallel(1, {check = true}) do " .. body .. " end")
      end)
      assert.is_false(ok, body)
      assert.truthy(tostring(err):find("'f' is no reduction by or: begun with 5", 1, true),
                    body .. tostring(err))
    end
  end)

  it("records the same iterations twice, however long they take", function()
    local system, sum, time = require "meissa.base.system", 5, 0
    local clock = system.clock
    finally(function() system.clock = clock end)
    system.clock = function() -- later and later: 5 s are over sooner the second time
      time = 1.02 * time + 0.001
      return time
    end
    for i in parallel(400, {check = true}) do sum = sum + i end
    assert.equal(80205, sum)
  end)

  it("is true, all or false", function()
    local text = message_of(function() for _ in parallel(3, {check = 1}) do end end)
    assert.truthy(text:find('option \'check\' is true, "all"', 1, true))
  end)
end)
