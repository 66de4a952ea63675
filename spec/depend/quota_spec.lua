-- SPDX-License-Identifier: MIT
-- An analysis takes a bounded number of steps, whatever the loop: beyond, the answer is that it is
-- not known, the same on every machine and in every run.
local analyze = require "meissa.analyze"

-- A loop over five indices with this many statements, whose subscripts have remainders and
-- quotients of remainders.
local function heavy(statements)
  local lines = {"for i, j, k, l, m in parallel(50, 51, 52, 44, 37) do"}
  for s = 1, statements do
    lines[#lines + 1] = ("A[(i+%d*l+8-j%%3)%%5+1][math.floor(((j+3*i+%d)%%7)/2)+i] = " ..
      "A[(j+3*l+%d-m%%3)%%5+1][math.floor(((k+2*m+%d)%%11)/3)+l]"):format(s, s, 2 * s, 3 * s)
  end
  lines[#lines + 1] = "end"
  return table.concat(lines, "\n")
end

local function plan_of(text)
  return analyze.analyze(text, {A = analyze.shape(1000, 1000)})
end

local function codes(plan)
  local found = {}
  for _, reason in ipairs(plan.reasons) do found[reason.code] = reason.message end
  return found
end

describe("the quota", function()
  it("ends an analysis that takes too many steps: not known", function()
    for _ = 1, 2 do
      local plan = plan_of(heavy(4))
      assert.are.equal("unknown", plan.verdict)
      assert.has_match("more steps to compare than are allowed", codes(plan).DEP114)
    end
  end)

  it("is not met by subscripts with a few remainders", function()
    local plan = plan_of([[
      for i, j, k in parallel(50, 51, 52) do
        A[(i + 3*j) % 7 + 1][math.floor((k + 2*i) / 4) + 1] = A[(j + k) % 5 + 1][(i - k) % 9 + 1]
      end]])
    assert.is_nil(codes(plan).DEP114)
    assert.are.equal("serial", plan.verdict)
  end)
end)
