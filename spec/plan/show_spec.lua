-- SPDX-License-Identifier: MIT
-- What print says of an array's blocks is what the plan of a loop over it says.
local meissa = require "meissa"

local function blocks_of(plan)
  local count = 1
  for _, ranges in ipairs(plan.grid) do count = count * ranges end
  return count
end

local function shown(A) return tonumber(tostring(A):match ", (%d+) blocks?, ") end

describe("print of an array", function()
  it("says into how many blocks an independent loop over it is cut", function()
    for _, dims in ipairs {
      {1}, {5}, {63}, {64}, {65}, {6040, 32}, {32, 6040}, {3, 4}, {1, 1000}, {7, 3, 90}, {2 ^ 21},
      {2 ^ 20 + 1}, {100, 2 ^ 15},
    } do
      local A = meissa.zeros(dims)
      assert.equal(blocks_of(meissa.plan(A, function() end)), shown(A), tostring(A))
    end
  end)

  it("says it of sparse arrays by their entries", function()
    for _, case in ipairs {{{50, 60}, 3}, {{300, 2}, 70}, {{4, 5}, 1}, {{1, 70}, 70}} do
      local lists = {i = {}, j = {}, v = {}}
      for k = 1, case[2] do
        lists.i[k], lists.j[k] = (k - 1) % case[1][1] + 1, (k - 1) % case[1][2] + 1
        lists.v[k] = k
      end
      local S = meissa.sparse(case[1], lists)
      assert.equal(blocks_of(meissa.plan(S, function() end)), shown(S), tostring(S))
    end
  end)

  it("says that there are none where there is nothing", function()
    assert.equal(0, shown(meissa.zeros(0)))
    assert.equal(0, shown(meissa.sparse({3, 3}, {i = {}, j = {}, v = {}})))
  end)
end)
