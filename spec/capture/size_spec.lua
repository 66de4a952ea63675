-- SPDX-License-Identifier: MIT
--
-- Captured tables of many tables: all of them are searched for arrays, up to a limit that the error
-- names.
local meissa = require "meissa"
local raises = require("spec.support.expect").raises

local N = 40

local function tables(count)
  local list = {}
  for k = 1, count do list[k] = {x = k, y = {k % 7}} end
  return list
end

describe("captured tables of many tables", function()
  teardown(function() meissa.init {} end)

  for _, workers in ipairs {0, 2} do
    it(("are no reason to refuse a loop: %d workers"):format(workers), function()
      meissa.init {workers = workers}
      local list, A = tables(15000), meissa.zeros(N)
      for i in meissa.parallel(N) do A[i] = list[300 * i].x + list[i].y[1] end
      assert.equal("independent", meissa.last().strategy)
      for i = 1, N do assert.equal(300 * i + i % 7, A[i]) end
    end)
  end

  it("are searched to the last", function()
    local list, A = tables(30000), meissa.zeros(N)
    list[30000].y = {rows = A}
    local plan = meissa.plan({2, N}, function(i) A[i] = list[30000].y.rows[i - 1] end)
    assert.equal("serial", plan.strategy)
    list[30000].y.rows = meissa.zeros(N)
    plan = meissa.plan({2, N}, function(i) A[i] = list[30000].y.rows[i - 1] end)
    assert.equal("independent", plan.strategy)
  end)

  it("may be linked, however long the chain", function()
    local list, A = nil, meissa.zeros(N)
    for k = 1, 50000 do list = {value = k, next = list} end
    assert.equal("independent", meissa.plan(N, function(i) A[i] = list.value end).strategy)
    list.first = {A}
    local plan = meissa.plan({2, N}, function(i) A[i] = list.first[1][i - 1] end)
    assert.equal("serial", plan.strategy)
  end)

  it("are refused beyond a million, by name", function()
    local list, shared, A = {}, {1}, meissa.zeros(N)
    for k = 1, 1000001 do list[k] = shared end
    local err = raises("DEP", "list leads to more than 1000000 tables and functions", function()
      for i in meissa.parallel(N) do A[i] = list[i][1] end
    end)
    assert.is_truthy(tostring(err):find("meissa.objects", 1, true))
    for i in meissa.parallel(N, {serial = true}) do A[i] = list[i][1] + i end
    assert.equal(N + 1, A[N])
    list[1000001] = nil
    assert.equal("independent", meissa.plan(N, function(i) A[i] = list[i][1] end).strategy)
  end)
end)
