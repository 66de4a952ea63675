-- SPDX-License-Identifier: MIT
-- How reports and pictures name rows of skews and sweeps.
local analyze = require "meissa.analyze"

local shape = analyze.shape

describe("reports", function()
  it("name rows by the values of indices, whatever their steps", function()
    local cases = {
      { "{0, 2, 2}, {1, 2, 1}", "A[i+5][j+4] = A[i+3][j+3]", "i - 2*j" },
      { "{0, 8, 2}, {9, 1, -1}", "A[i+5][j+4] = A[i+3][j+5]", "i + 2*j" },
      { "{0, 9, 3}, {0, 8, 2}", "A[i+5][j+9] = A[i+2][j+7]", "2*i - 3*j" },
      { "{0, 8, 2}, {0, 8, 2}", "A[i+5][j+9] = A[i+3][j+7]", "i - j" },
    }
    for _, case in ipairs(cases) do
      local text = ("for i, j in parallel(%s) do %s end"):format(case[1], case[2])
      local plan = analyze.analyze(text, { A = shape(30, 30) })
      assert.has_match("skew by " .. case[3]:gsub("%p", "%%%0") .. ",", tostring(plan))
    end
  end)
end)
