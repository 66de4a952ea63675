-- SPDX-License-Identifier: MIT
-- Loops that no strategy can run are proved serial, not left unknown, also where rows sweep but
-- each of their planes has one iteration.
local analyze = require "meissa.analyze"

local shapes = {A = analyze.shape(9), B = analyze.shape(9, 9, 9), p = analyze.opaque}

local function plan_of(text, ordered)
  return analyze.analyze(text, shapes, {ordered = ordered})
end

local SERIAL = {
  "for i, j, k in parallel(2, 2, 2) do A[1] = A[1] + i end",
  "for i, j, k in parallel(9, 2, 2) do A[1] = A[1] + i end",
  "for i, j, k in parallel(9000, 2, 2) do A[1] = A[1] + i end",
  "for i, j, k, l in parallel(3, 2, 3, 2) do A[1] = i end",
  "for i, j, k, l, m in parallel(2, 2, 2, 2, 2) do A[1] = A[1] + i end",
  "for i in parallel({1, 3}, {collapse = 2}) do for j = 1, i do A[1] = 0 end end",
  [[for i in parallel({1, 3}, {collapse = 3}) do
    for j = 1, i do for k = j, i do A[1] = 0 end end
  end]],
}

-- These run, or may run.
local OTHERS = {
  {"for i, j in parallel(2, 2) do if i < j then A[1] = 0 end A[i + j] = 1 end", "parallel"},
  {"for i in parallel({1, 2}, {collapse = 2}) do for j = 1, i do A[1] = 0 end end", "parallel"},
  {"for i, j, k in parallel(2, 2, 2) do A[p[i]] = A[p[i]] + i end", "unknown"},
}

describe("a loop without a strategy", function()
  it("is serial where proven accesses exclude each", function()
    for _, text in ipairs(SERIAL) do
      for _, ordered in ipairs {true, false} do
        local plan = plan_of(text, ordered)
        assert.are.equal("serial", plan.verdict, text)
        assert.are.equal("serial", plan.strategy, text)
      end
    end
  end)

  it("is not where there is one, or where that is not proven", function()
    for _, case in ipairs(OTHERS) do
      assert.are.equal(case[2], plan_of(case[1]).verdict, case[1])
    end
  end)
end)
