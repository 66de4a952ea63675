-- SPDX-License-Identifier: MIT
-- Loops over views of one array: examples, and random ones, on every road against arrays of plain
-- Lua tables. The seed is printed; MEISSA_TEST_SEED replays a run, MEISSA_VIEWS changes its length.
local child = require "spec.support.child"
local c_api = require "meissa.array.c_api"
local element = require "meissa.array.element"
local examples = require("spec.plan.views_random").examples
local ffi = require "ffi"
local meissa = require "meissa"

require("meissa.driver.small").most[0] = 0 -- small loops go to workers, too

local seed = require "spec.support.seed"
local count = tonumber(os.getenv "MEISSA_VIEWS" or "") or 300

-- What programs leave, by number: {how =, number =, memory =}
local function run(mode, environment, first, length, mutant)
  local output, status = child.shell(("%s luajit spec/support/random_views.lua %s %d %d %s"):format(
    environment, mode, first, length, mutant or ""), 60 + length / 5)
  assert(status == 0, output)
  local results = {}
  for number, how, elements, memory in output:gmatch("(%-?%d+)\t(%S+)\t(%S+)\t([^\n]*)\n") do
    results[tonumber(number)] = {how = how, number = tonumber(elements), memory = memory}
  end
  return results
end

-- What is wrong with a run, as a list of sentences. `serial` is one without workers, `written` the
-- loops as they are written.
local function faults(results, serial, written)
  local list = {}
  for number, result in pairs(results) do
    local right = written[number].how == "unordered" and serial or written
    if result.memory ~= right[number].memory and result.how ~= "refused" then
      list[#list + 1] = ("MEISSA_TEST_SEED=%d: another result as %s"):format(number, result.how)
    elseif result.how == "refused" and written[number].how == "free" then
      list[#list + 1] = ("MEISSA_TEST_SEED=%d: refused, though nothing meets"):format(number)
    end
  end
  table.sort(list)
  return list
end

-- Where workers only write what is theirs.
local ALONE = {independent = true, partition = true, skew = true}

-- Which loops of a run by value have moved more than the elements of their views, once to each of
-- the workers, and back with what says which they are (16 bytes), as a list of sentences.
local function excesses(results, written, workers)
  local list = {}
  for number, result in pairs(results) do
    local union = written[number].number
    local most = union * workers + union * (1 + 16 / 4)
    if ALONE[result.how] and result.number > most then
      list[#list + 1] = ("MEISSA_TEST_SEED=%d: moves %g elements, %g at most"):format(
        number, result.number, most)
    end
  end
  table.sort(list)
  return list
end

local roads = {"MEISSA_WORKERS=5 MEISSA_SHM=0", "MEISSA_WORKERS=2 MEISSA_SHM=0",
               "MEISSA_WORKERS=2 MEISSA_SHM=1", "MEISSA_WORKERS=1 MEISSA_SHM=0"}

describe("loops over views", function()
  it("that overlap are compared element by element, others are arrays of their own", function()
    local first, length = -#examples, #examples
    local written = run("plain", "", first, length)
    local serial = run("meissa", "MEISSA_WORKERS=0", first, length)
    for k, road in ipairs(roads) do
      local engine = " MEISSA_ENGINE=" .. (k % 2 == 0 and "lua" or "native")
      local results = run("meissa", road .. engine, first, length)
      for number, result in pairs(results) do
        assert.are.equal(examples[-number].runs or "refused", result.how, examples[-number].text)
      end
      assert.are.same({}, faults(results, serial, written))
    end
  end)

  it("at random leave what they leave on plain tables, and are refused only where they meet",
     function()
    local written = run("plain", "", seed, count)
    local serial = run("meissa", "MEISSA_WORKERS=0", seed, count)
    for k = 1, 3 do
      local road = roads[k]
      local results, parallel = run("meissa", road .. " MEISSA_ENGINE=lua", seed, count), 0
      assert.are.same({}, faults(results, serial, written))
      assert.are.same({}, excesses(results, written, k == 3 and 0 or k == 1 and 5 or 2))
      for _, result in pairs(results) do
        if result.how ~= "refused" then parallel = parallel + 1 end
      end
      assert.is_true(parallel > count / 5, parallel)
    end
    local few = math.ceil(count / 15)
    local compiled = run("meissa", roads[2] .. " MEISSA_ENGINE=native", seed, few)
    assert.are.same({}, faults(compiled, serial, written))
    print(("seed %d: %d loops over views"):format(seed, count))
  end)

  it("would be found wrong if views lay elsewhere, or were never the same memory", function()
    local written = run("plain", "", seed, 300)
    local serial = run("meissa", "MEISSA_WORKERS=0", seed, 300)
    for _, mutant in ipairs {"offset", "apart"} do
      local results = run("meissa", roads[2] .. " MEISSA_ENGINE=lua", seed, 300, mutant)
      assert.is_true(#faults(results, serial, written) > 0, mutant)
    end
    local results = run("meissa", roads[2] .. " MEISSA_ENGINE=lua", seed, 300, "whole")
    assert.are.same({}, faults(results, serial, written))
    assert.is_true(#excesses(results, written, 2) > 0)
  end)

  it("met again with other views, which overlap in other ways, are planned for these", function()
    local A, numbers, ran = meissa.zeros(24), {}, 0
    for k = 1, 24 do A[k], numbers[k] = k, k end
    local function mix(a, b)
      for i in meissa.parallel(6) do a[i] = (a[i] + b[7 - i]) % 97 end
    end
    local function mix_plainly(first, other)
      for i = 1, 6 do
        numbers[first + i] = (numbers[first + i] + numbers[other + 7 - i]) % 97
      end
    end
    meissa.init {workers = 2, shm = false}
    finally(function() meissa.init {} end)
    for round = 0, 60 do
      local first, other = round * 7 % 19, round * 5 % 19
      local ok, err = pcall(mix, A:narrow(1, first + 1, 6), A:narrow(1, other + 1, 6))
      assert.is_true(ok or err.code == "DEP", tostring(err))
      if ok then
        mix_plainly(first, other)
        ran = ran + 1
      end
      assert.are.same(numbers, A:totable())
    end
    assert.is_true(ran > 20 and ran < 60, ran)
  end)

  it("travel as one piece, once", function()
    local E, sums, moved = meissa.rand(50, 50), meissa.zeros(50), {}
    local T, below = E:transpose(), E:narrow(1, 2, 49)
    meissa.init {workers = 2, shm = false}
    finally(function() meissa.init {} end)
    for round = 1, 2 do
      for i in meissa.parallel(49) do sums[i] = E[i]:sum() + T[i]:sum() + below[i][1] end
      moved[round] = meissa.last().moved
    end
    assert.are.equal(2 * 50 * 50 * 8, moved[1] - moved[2]) -- to two workers
    assert.are.equal(E[4]:sum() + T[4]:sum() + E[5][1], sums[4])
  end)

  it("that the loop writes travel as their elements, not as rows of the base", function()
    local X, plain = meissa.rand(300, 200), {}
    local third, fifth = X:select(2, 3), X:select(2, 5)
    local left, right = X:narrow(2, 3, 2), X:narrow(2, 4, 2) -- columns 3 and 4, 4 and 5
    local part, T = third:narrow(1, 101, 100), X:transpose()
    for i = 1, 300 do plain[i] = X[i][5] + 1 + X[i][4] end
    meissa.init {workers = 2, shm = false}
    finally(function() meissa.init {} end)
    for i in meissa.parallel(300) do third[i] = fifth[i] + 1 end
    assert.is_true(meissa.last().moved <= 4 * 300 * 8, meissa.last().moved)
    for i in meissa.parallel(300) do left[i][1] = right[i][1] + left[i][1] end
    assert.is_true(meissa.last().moved <= (2 * 3 + 1) * 300 * 8 + 256, meissa.last().moved)
    for i = 1, 300 do assert.are.equal(plain[i], X[i][3]) end
    for i in meissa.parallel(100) do part[i] = third[i + 100] * 2 end
    assert.is_true(meissa.last().moved <= 2 * 100 * 8, meissa.last().moved)
    for i in meissa.parallel(300) do X[i][3] = T[5][i] end
    assert.is_true(meissa.last().moved <= (2 * 200 + 1) * 300 * 8 + 256, meissa.last().moved)
    for i = 1, 300 do assert.are.equal(X[i][5], X[i][3]) end
  end)

  it("with strides that no base has in common are compared by the elements' numbers", function()
    local A = meissa.zeros(20)
    for k = 1, 20 do A[k] = k end
    local dims, strides = ffi.new("int64_t[8]", {3, 2}), ffi.new("int64_t[8]", {5, 2})
    local W = element.wrap(c_api.call(c_api.lib.ms_array_view, A.array, 2, dims, strides,
                                     A.array.data)) -- 1 3, 6 8, 11 13
    local B = A:narrow(1, 2, 9) -- 2 to 10
    meissa.init {workers = 2, shm = false}
    finally(function() meissa.init {} end)
    for i in meissa.parallel(3) do W[i][2] = A[5 * i - 4] + i end
    assert.are.same({"independent", "A"}, {meissa.last().strategy, meissa.last().arrays.W.base})
    assert.are.same({2, 8, 14}, {A[3], A[8], A[13]})
    for i in meissa.parallel(3) do B[3 * i - 1] = W[i][2] end -- 3, 6, 9
    assert.are.same({2, 8, 14}, {A[3], A[6], A[9]})
    local ok, err = pcall(function() for i in meissa.parallel(3) do W[i][1] = A[6 * i] end end)
    assert.are.same({false, "DEP"}, {ok, err.code}) -- 1 writes A[1], A[6], A[11]; reads A[6]...
  end)

  it("have distances in the elements of their base, which plans name", function()
    local A = meissa.zeros(30)
    local plan = meissa.analyze("for i in parallel({3, 10}) do a[i] = b[i] end",
                                {a = A:narrow(1, 1, 20), b = A:narrow(1, 3, 20)})
    assert.are.same({{2}}, plan.distances)
    assert.are.equal("DEP103", plan.reasons[1].code)
    assert.is_truthy(plan.reasons[1].message:find("writes a[5]", 1, true))
    assert.is_truthy(plan.reasons[1].message:find("reads b[3]", 1, true))
    assert.are.equal("[22]", plan.arrays.a.base)
    plan = meissa.analyze("for i in parallel(10) do A[i] = b[i + 10] end",
                          {A = A, b = A:narrow(1, 3, 20)})
    assert.are.same({"independent", "A"}, {plan.strategy, plan.arrays.b.base})
    assert.are.same({"write", "read"}, {plan.arrays.A.access, plan.arrays.b.access})
    assert.is_nil(plan.arrays.A.base)
  end)
end)
