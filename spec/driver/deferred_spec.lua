-- SPDX-License-Identifier: MIT
-- Short blocks that only count or make sets go on with the tables of the blocks before them on
-- their worker, and tell of them together: nobody sees it in what the loop leaves.
local analyze = require "meissa.analyze"
local child = require "spec.support.child"
local deaths = require "spec.driver.deaths"
local expect = require "spec.support.expect"
local history = require "meissa.check.history"

local has = expect.has

-- `told()` says in how many parts tables came since it was last asked.
local HEAD = deaths.HEAD .. [[
local gathered = require "meissa.kernel.gathered"
local add, unite, told_parts = gathered.add, gathered.unite, 0
function gathered.add(...) told_parts = told_parts + 1 return add(...) end
function gathered.unite(...) told_parts = told_parts + 1 return unite(...) end
local function told()
  local parts = told_parts
  told_parts = 0
  return parts
end
]]

local LEFT = HEAD .. [[
local key = {}
for k = 1, 97 do
  key[k] = ({"word" .. k * 7919 % 1000, k, -k / 2, k % 2 == 0, ("o"):rep(k % 50)})[k % 5 + 1]
end
local before = {0.1, 0.3, [-3] = 1e16, word7433 = 0.7, [true] = 2 ^ 60, other = 5}
-- In the order of pairs, which is that of one process.
local function text_of(t)
  local list = {}
  for k, v in pairs(t) do list[#list + 1] = ("%s=%s"):format(k, ("%.17g"):format(v)) end
  return table.concat(list, " ")
end
local function left(blocks)
  local counts, set = {}, {}
  for k, v in pairs(before) do counts[k] = v end
  for i in parallel(3000, {grid = {blocks}}) do
    local k = key[i * i % 97 + 1]
    counts[k] = (counts[k] or 0) + 3
    counts[i % 11] = (counts[i % 11] or 0) - 1
    set[k] = 5
  end
  return counts, set
end
local total, all = {}, {}
for i = 1, 3000 do
  local k = key[i * i % 97 + 1]
  total[k], total[i % 11] = (total[k] or 0) + 3, total[i % 11] or 0
  total[i % 11] = total[i % 11] - 1
  all[k] = 5
end
for k, v in pairs(before) do total[k] = total[k] and v + total[k] or v end
local expected
for _, workers in ipairs {1, 2, 5, -2} do
  meissa.init {workers = math.abs(workers), shm = workers > 0}
  told()
  local counts, set = left(64)
  local parts = told()
  assert(parts < 80, parts) -- of 128; it takes time on a busy machine
  expected = expected or text_of(counts) .. text_of(set)
  for k, v in pairs(total) do assert(counts[k] == v, k) end
  for k, v in pairs(all) do assert(set[k] == v, k) end
  print(workers, text_of(counts) .. text_of(set) == expected)
end
]]

describe("tables of counts and sets", function()
  it("are the same, in the same order, whoever has made them", function()
    local output, status = child.script(LEFT)
    assert.equal(0, status, output)
    assert.equal("1\ttrue\n2\ttrue\n5\ttrue\n-2\ttrue\n", output)
  end)

  -- How many parts of tables come back.
  local function told(body)
    local output = child.script(HEAD .. [[
      local A, B = meissa.rand({640}, {seed = 1}), meissa.zeros(640)
      local h, list, sum = {}, {}, 0
      for i in parallel(640, {impure = true, grid = {64}}) do ]] .. body .. [[ end
      print("told", told())]], {env = "MEISSA_WORKERS=2"})
    return tonumber(output:match "told\t(%d+)") or output
  end

  it("are told of together", function()
    assert.is_true(told "h[i % 7] = (h[i % 7] or 0) + 1" < 40)
    assert.is_true(told "h[A[i] > 0.5] = true" < 40)
    assert.is_true(told "h[i % 7] = (h[i % 7] or 0) + 1 list[#list + 1] = i" < 40)
    assert.is_true(told "h[i % 7] = (h[i % 7] or 0) + 1 sum = sum + A[i]" < 40)
  end)

  it("are whole beside other results, which come block by block", function()
    local output = child.script(HEAD .. [[
      local A = meissa.rand({3000}, {seed = 1})
      local expected
      for _, workers in ipairs {1, 2, 5, -2} do
        meissa.init {workers = math.abs(workers), shm = workers > 0}
        local h, sums, list, sum, most, last = {}, {}, {}, 0, 0, nil
        for i in parallel(3000, {grid = {64}}) do
          local k = i * i % 13
          h[k] = (h[k] or 0) + 1
          sums[k] = (sums[k] or 0) + A[i]
          if k == 3 then list[#list + 1] = i end
          sum, most, last = sum + A[i], math.max(most, A[i]), i
        end
        told()
        local total = 0
        for k, v in pairs(h) do total = total + v end
        assert(total == 3000 and last == 3000 and #list == h[3])
        for k = 2, #list do assert(list[k] > list[k - 1]) end
        local text = ("%.17g %.17g %.17g %.17g"):format(sum, most, sums[3], sums[4])
        expected = expected or text
        print(workers, text == expected)
      end]])
    assert.equal("1\ttrue\n2\ttrue\n5\ttrue\n-2\ttrue\n", output)
  end)

  it("are told of block by block where these write or take long, and of sums", function()
    assert.equal(64, told "h[i % 7] = (h[i % 7] or 0) + A[i]")
    assert.equal(64, told "h[i % 7] = (h[i % 7] or 0) + 1 B[i] = 1")
    assert.equal(64, told "h[i % 7] = (h[i % 7] or 0) + 1 if i % 10 == 0 then sleep(0.01) end")
  end)

  it("have the errors of the blocks that they come from, however long these take", function()
    local output = child.script([[
      local meissa = require "meissa"
      local function message(slow)
        local count = {}
        local ok, err = pcall(function()
          for i in meissa.parallel(6400) do
            local key = i % 10
            if slow then local z = 0 for q = 1, 2e4 do z = z + q % 3 end end
            if i == 310 then key = function() end end
            count[key] = (count[key] or 0) + 1
            if i == 1205 then error("later") end
          end
        end)
        return not ok and err.message, next(count)
      end
      local fast, left = message(false)
      assert(left == nil and fast:find("count (a key) is a function", 1, true), fast)
      assert(fast == message(true))
      for _, key in ipairs {"nil", "NaN"} do
        local count, wrong = {}, key == "NaN" and 0 / 0 or nil
        local ok, err = pcall(function()
          for i in meissa.parallel(640) do
            local k = i
            if i == 500 then k = wrong end
            count[k] = (count[k] or 0) + 1
          end
        end)
        print(ok, err.line, err.message)
      end]], {env = "MEISSA_WORKERS=2"})
    assert.equal("false\t24\ttable index is nil\nfalse\t24\ttable index is NaN\n", output)
  end)

  it("have their keys in one order beside keys that travel in another way", function()
    local output, status = child.script([[
      local meissa = require "meissa"
      local other, first = {}, nil
      for round = 0, 8 do
        meissa.init {workers = ({1, 2, 5})[round % 3 + 1]}
        local count, list = {}, {}
        for i in meissa.parallel(20000) do
          local key = i + 0.5
          if i == 10003 or i == 12000 then key = other end
          count[key] = (count[key] or 0) + 1
        end
        for key, value in pairs(count) do
          list[#list + 1] = (key == other and "other" or key) .. "=" .. value
        end
        first = first or table.concat(list, " ")
        assert(#list == 19999 and table.concat(list, " ") == first)
      end]])
    assert.equal(0, status, output)
  end)

  it("of large numbers are no counts: their sums may be rounded", function()
    for body, op in pairs {
      ["t[i % 3] = (t[i % 3] or 0) + 1"] = "none", ["t[i % 3] = (t[i % 3] or 0) + 1024"] = "none",
      ["t[i % 3] = (t[i % 3] or 0) + 1025"] = "+", ["t[i % 3] = (t[i % 3] or 0) - 1e9"] = "+",
      ["t[i % 3] = (t[i % 3] or 0) + 0.5"] = "+", ["t[i % 3] = (t[i % 3] or 0) + i"] = "+",
    } do
      local plan = analyze.analyze("for i in parallel(20) do " .. body .. " end", {t = {}})
      assert.equal(op, plan.scalars.t.op or "none", body)
    end
  end)
end)

describe("a worker that dies before its blocks were told of", function()
  local LOOP = HEAD .. [[
    local h = {[0] = 0.5}
    for i in parallel(6400, {impure = true, grid = {64}}) do
      if i == 3190 or i == 6390 then die_once("died" .. i) end
      h[i % 10] = (h[i % 10] or 0) + 1
    end
    local plan, list = meissa.last(), {}
    for k = 0, 9 do list[k + 1] = h[k] end
    print("left", table.concat(list, " "))
    print("deaths", plan.deaths, "redone", plan.redone, "repeated", plan.repeated)]]
  local LEFT_BY = "left\t640.5" .. (" 640"):rep(9)

  it("costs these blocks", function()
    has(child.script(LOOP, {env = "MEISSA_WORKERS=2"}), LEFT_BY,
        "deaths\t2\tredone\t2\trepeated\t0")
  end)

  it("leaves a history that is accepted", function()
    local path = os.tmpname()
    child.script(LOOP, {env = "MEISSA_WORKERS=2 MEISSA_HISTORY=" .. path})
    local file = assert(io.open(path))
    local text = file:read("*a")
    file:close()
    assert.is_truthy(text:find "deferred=1" and text:find " fence ")
    assert.are.same({}, history.judge(text:gmatch "[^\n]+").problems)
    -- What the last blocks of a worker have left is not there.
    text = text:gsub("( commit job=%d+ block=%d+)\n", "%1 deferred=1\n")
    has(history.judge(text:gmatch "[^\n]+").problems[1].text, "has not told what block")
    os.remove(path)
  end)

  it("costs a run where arrays travel by value", function()
    has(child.script(LOOP, {env = "MEISSA_WORKERS=2 MEISSA_SHM=0"}), LEFT_BY, "redone\t0")
  end)
end)
