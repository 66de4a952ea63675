-- SPDX-License-Identifier: MIT
-- What meissa.last and meissa.plan have given stays as it is, whatever runs later.
local launches = require "meissa.driver.launch"
local meissa = require "meissa"
local parallel = meissa.parallel
local small = require "meissa.driver.small"
local until_launched = require "spec.driver.until_launched"

local N = 24

local FIELDS = {"verdict", "strategy", "engine", "engine_reason", "ordered", "grid", "stages",
                "workers", "seconds", "launch", "moved", "shares", "deaths", "redone", "repeated",
                "rounds", "levels", "listing", "guarantee"}

local function words(value)
  if type(value) ~= "table" then return tostring(value) end
  local list = {}
  for key, each in pairs(value) do list[#list + 1] = tostring(key) .. "=" .. words(each) end
  table.sort(list)
  return "{" .. table.concat(list, " ") .. "}"
end

-- All that a plan says: its report, its picture, its fields.
local function said_by(plan)
  local list = {tostring(plan), plan:picture()}
  for _, name in ipairs(FIELDS) do list[#list + 1] = name .. "=" .. words(plan[name]) end
  return table.concat(list, "\n")
end

-- Runs a loop again and again: each time the plan is another one, those before are as they were.
local function keep(run)
  local plans, said = {}, {}
  for k = 1, 4 do
    run(k)
    plans[k] = meissa.last()
    said[k] = said_by(plans[k])
    assert.are.equal(plans[k], meissa.last())
    for before = 1, k - 1 do
      assert.are_not.equal(plans[before], plans[k])
      assert.are.equal(said[before], said_by(plans[before]))
    end
  end
  return plans
end

describe("meissa.last", function()
  local most = small.most[0]
  local A, index = meissa.zeros(N), meissa.zeros(N, {type = "int32"})

  local function add()
    for i in parallel(N) do A[i] = A[i] + 1 end
  end

  setup(function()
    meissa.init {workers = 2}
    for i = 1, N do index[i] = math.ceil(i / 2) end
  end)
  teardown(function() meissa.init {} end)
  before_each(function() small.most[0] = most end)

  it("keeps what loops on workers took", function()
    small.most[0] = 0
    keep(add)
  end)

  it("keeps how a loop was cut, whatever options it is given later", function()
    small.most[0] = 0
    local plans = keep(function(k)
      for i in parallel(N, {grid = {2 + k}}) do A[i] = A[i] + 1 end
    end)
    for k = 1, 4 do assert.are.same({2 + k}, plans[k].grid) end
  end)

  it("keeps what launches took", function()
    until_launched(add)
    local before = launches.executions
    keep(add)
    assert.is_true(launches.executions > before)
  end)

  it("keeps what loops by levels and in rounds took", function()
    keep(function()
      for i in parallel(N) do A[index[i]] = A[index[i]] * 0.5 + A[i] end
    end)
    local plans = keep(function(k)
      for _, i in meissa.iterate(A, k, N) do A[i] = A[i] + 1 end
    end)
    for k = 1, 4 do assert.are.equal(k, plans[k].rounds) end
  end)

  it("keeps that a loop ran here, when it runs on workers later", function()
    small.most[0] = 0
    finally(function() meissa.init {workers = 2} end)
    local plans = keep(function(k)
      meissa.init {workers = k % 2 == 0 and 2 or 0}
      add()
    end)
    for k = 1, 4 do
      assert.are.equal(k % 2 == 0 and 2 or 0, plans[k].workers)
      assert.are.equal(k % 2 == 0 and 0 or nil, plans[k].listing)
    end
  end)

  it("has what loops of this process took, once they are over", function()
    finally(function() meissa.init {workers = 2} end)
    local sum = meissa.buffer(A)
    local loops = {
      function(opts) for i in parallel(N, opts) do A[i] = i end end,
      function(opts) meissa.each(N, opts, function(i) A[i] = i end) end,
      function(opts) for i in parallel(N, opts) do sum[1] = sum[1] + A[i] end end,
    }
    for _, workers in ipairs {0, 2} do
      meissa.init {workers = workers}
      for k, loop in ipairs(loops) do
        for _, opts in ipairs {{serial = true}, {ordered = true}, {ordered = false}} do
          if workers == 0 or opts.serial then
            local began = meissa.clock()
            loop(opts)
            local plan, all = meissa.last(), meissa.clock() - began
            assert.is_true(plan.seconds > 0 and plan.seconds <= all, k)
            assert.is_true(plan.launch >= 0 and plan.launch <= plan.seconds, k)
            assert.are.same({0, 0, {}}, {plan.workers, plan.moved, plan.shares})
          end
        end
      end
    end
    for i in parallel(N, {serial = true}) do if i == 3 then break end end
    assert.is_nil(meissa.last().seconds)
  end)

  it("is not changed by planning, nor are plans by running", function()
    small.most[0] = 0
    local function body(i) A[i] = A[i] + 1 end
    local planned = meissa.plan(N, {grid = {5}}, body)
    local said = said_by(planned)
    meissa.each(N, {grid = {7}}, body)
    assert.are.equal(said, said_by(planned))
    local again = meissa.plan(N, {grid = {3}}, body)
    assert.is_nil(again.seconds)
    assert.are.same({7, 3, 5}, {meissa.last().grid[1], again.grid[1], planned.grid[1]})
    assert.is_true(meissa.last().seconds > 0)
    for i in meissa.plan(N) do A[i] = A[i] end
    assert.is_nil(meissa.last().seconds)
  end)
end)
