-- SPDX-License-Identifier: MIT
--
-- Verdicts that hold for all that a driver loop makes of its numbers: where the analyser says so,
-- the loop planned for any of them by itself has the same verdict. MEISSA_TEST_SEED replays a run.

local core = require "meissa.core"
local meissa = require "meissa"
local tables = require "meissa.base.tables"

local seed = require "spec.support.seed"
local N, LOOPS, STEPS, REACH = 40, 150, 12, 25

-- What core.plan was given last.
local given = {}

local SUBSCRIPTS = {"i", "i", "i", "i", "k", "k", "m", "i + k", "i - k", "2 * i + k", "k * i", "j",
  "j", "i + m", "i % 3 + k", "i % k + 1", "math.floor(i / 2) + 1", "n - i + 1", "k + 1", "k - m"}
local CONDITIONS = {"i ~= k", "i > k", "k > m", "i < n - 1", "k % 2 == 0", "A[1][i] > 0.5"}

local function access(pick)
  local array = ({"A", "B"})[pick(2)]
  local first, second = SUBSCRIPTS[pick(#SUBSCRIPTS)], SUBSCRIPTS[pick(#SUBSCRIPTS)]
  return ("%s[%s][%s]"):format(array, first, second)
end

-- A loop's text with numbers k, m and n, over i and j or with an inner loop over j.
local function text_of(pick)
  local lines = {}
  for s = 1, pick(2) do
    local line = ("%s = %s + %s"):format(access(pick), access(pick),
                                         pick(3) == 1 and "k" or access(pick))
    if pick(3) == 1 then
      line = ("if %s then %s end"):format(CONDITIONS[pick(#CONDITIONS)], line)
    end
    lines[s] = line
  end
  if pick(4) == 1 then lines[#lines + 1] = "s = s + i" end
  if pick(6) == 1 then
    lines[#lines + 1] = ("if %s then p = math.max(p, i) end"):format(CONDITIONS[pick(#CONDITIONS)])
  end
  local body = table.concat(lines, "\n")
  local inner = pick(2) == 1 and "j = k + 1, n" or "j = 1, m"
  local loop = pick(3) == 1 and ("{1, n}, function(i, j)\n%s\n"):format(body) or
    ("function(i)\nfor %s do\n%s\nend\n"):format(inner, body)
  return ([[
local meissa, A, B = ...
return function(k, m, n, lo, hi)
  local s, p = 0, 0
  local plan = meissa.plan({lo, hi}, %s  end)
  return plan, s, p
end]]):format(loop)
end

-- What of a verdict a grid depends on beside the ranges.
local function essence(plan)
  local words = {plan.strategy, tostring(#plan.distances)}
  for _, scalar in ipairs(plan.scalar_list) do
    for _, name in ipairs(tables.keys(scalar)) do
      words[#words + 1] = name .. "=" .. tostring(scalar[name])
    end
  end
  return table.concat(words, " ")
end

-- Numbers that change, from one execution to the next, by these.
local function step_of(pick)
  local step = {}
  for k = 1, 5 do step[k] = pick(2) == 1 and pick(-2, 2) or 0 end
  if pick(2) == 1 then step = {1, 0, 0, 1, 0} end -- LU's
  return step
end

-- Whether the plan that was made last is said to hold for all steps.
local function is_steady(step)
  local loop, bindings, space, plan = given.loop, given.bindings, given.space, given.plan
  local names = {k = 1, m = 2, n = 3}
  for c, capture in ipairs(loop:captures()) do
    bindings[c].each = names[capture.root] and step[names[capture.root]] or nil
  end
  local lo, hi = {step[4]}, {step[5]}
  if #space.ranges > 1 then lo[2], hi[2] = 0, step[3] end
  space.steady = {least = -REACH, most = REACH, lo = lo, hi = hi}
  local steady = core.is_steady(loop, bindings, space, plan)
  space.steady = nil
  for _, binding in ipairs(bindings) do binding.each = nil end
  return steady
end

describe("steady verdicts (seed " .. seed .. ")", function()
  local plan_of = core.plan

  setup(function()
    core.plan = function(loop, bindings, space)
      local plan, err = plan_of(loop, bindings, space)
      given = {loop = loop, bindings = bindings, space = space, plan = plan}
      return plan, err
    end
  end)

  teardown(function() core.plan = plan_of end)

  local function make(text)
    return assert(loadstring(text))(meissa, meissa.zeros({N, N}), meissa.zeros({N, N}))
  end

  it("hold for all numbers on the line", function()
    math.randomseed(seed)
    local pick, steady = math.random, 0
    for l = 1, LOOPS do
      local text, step = text_of(pick), step_of(pick)
      local from = {pick(1, 6), pick(1, 6), N, pick(1, 8), pick(20, N)}
      local loop = make(text)
      local plan = loop(unpack(from))
      if plan.strategy ~= "serial" and is_steady(step) then
        steady = steady + 1
        local right = essence(plan)
        for _ = 1, STEPS do
          local t, numbers = pick(-REACH, REACH), {}
          for k = 1, 5 do numbers[k] = from[k] + t * step[k] end
          if numbers[5] >= numbers[4] and numbers[3] >= 1 then
            local own = make(text)(unpack(numbers))
            assert.are.equal(right, essence(own), ("loop %d, %s, at %s:\n%s"):format(l,
              table.concat(step, " "), table.concat(numbers, " "), text))
          end
        end
      end
    end
    assert.is_true(steady >= LOOPS / 20, steady .. " of " .. LOOPS)
  end)

  -- Bodies over i in lo .. hi; by (1, 0, 0, 1, 0), as k and lo = k + 1 of LU, or as said.
  local function answer(body, from, step)
    local loop = make(([[
local meissa, A, B = ...
return function(k, m, n, lo, hi)
  local s, p = 0, 0
  local plan = meissa.plan({lo, hi}, function(i)
    %s
  end)
  return plan, s, p
end]]):format(body))
    assert.are.equal("independent", loop(unpack(from or {1, 1, N, 2, N})).strategy)
    return is_steady(step or {1, 0, 0, 1, 0})
  end

  it("are found where people have them", function()
    assert.is_true(answer "local f = A[i][k] / A[k][k] for j = k, n do A[i][j] = f * A[k][j] end")
    assert.is_true(answer("if i ~= k then A[i][1] = A[k][1] end", {1, 1, N, 1, N}, {1, 0, 0, 0, 0}))
    assert.is_true(answer("A[i][k] = B[i][k + 1]", nil, {1, 0, 0, 0, 0}))
    assert.is_true(answer("s = s + A[i][k] * A[k][i]", nil, {1, 0, 0, 1, 0}))
    assert.is_true(answer("A[i + k][1] = A[i + k][2]", nil, {3, 0, 0, 1, -1}))
  end)

  it("are not where numbers matter", function()
    -- Row k is above the range, until k goes the other way.
    assert.is_false(answer("A[i][1] = A[k][1]", nil, {1, 0, 0, 0, 0}))
    assert.is_false(answer("A[i][1] = A[i + k][1]", {N, 1, N, 1, N}, {-1, 0, 0, 0, 0}))
    assert.is_false(answer("A[i * k][1] = i", {1, 1, N, 1, N}, {-1, 0, 0, 0, 0}))
    assert.is_false(answer("A[i % k][1] = i", {N + 1, 1, N, 1, N}, {-1, 0, 0, 0, 0}))
    assert.is_false(answer("A[k + i][1] = A[k + i + 30][1]", {1, 1, N, 1, 30}, {0, 0, 0, 0, 1}))
    -- What p is would depend on it.
    assert.is_false(answer("if k > 3 then p = math.max(p, i) end A[i][1] = 1", {9, 1, N, 1, N},
                           {1, 0, 0, 0, 0}))
  end)
end)
