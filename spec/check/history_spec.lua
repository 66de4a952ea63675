-- SPDX-License-Identifier: MIT
--
-- The checker of histories: it accepts what is valid, whatever the order in which it happened, and
-- finds each kind of fault; the histories and theorems of the Parameter Database paper.
local child = require "spec.support.child"
local faults = require "spec.support.history_faults"
local histories = require "spec.support.histories"
local history = require "meissa.check.history"
local seed = require "spec.support.seed"

local VALID = 1000

local function judge(lines)
  local k = 0
  return history.judge(function()
    k = k + 1
    return lines[k]
  end)
end

-- Whole numbers from 1 to n, of a state of its own.
local function drawer(number)
  local state = (seed * 7919 + number * 104729) % 2147483647
  return function(n)
    state = state * 48271 % 2147483647
    return math.floor(state / 2147483647 * n) + 1
  end
end

local function words(verdict)
  local first = verdict.problems[1]
  return first and ("line %d: [%s] %s"):format(first.line, first.rule, first.text) or "accepted"
end

local SEQ1 = "r[1][1]r[2][1]w[1][1]w[2][1]r[1][2]r[2][2]w[1][2]w[2][2]"
local SEQ2 = "r[1][1]r[2][1]w[2][1]w[1][1]r[2][2]r[1][2]w[1][2]w[2][2]"
local H1 = "r1[1][1]r1[2][1]r2[1][1]r2[2][1]w1[1][1]w2[2][1]"
  .. "r1[1][2]r1[2][2]r2[1][2]r2[2][2]w1[1][2]w2[2][2]"
local H2 = "r1[1][1]r1[2][1]r2[1][1]r2[2][1]w2[2][1]r1[2][2]w1[1][1]r1[1][2]"
  .. "r2[1][2]r2[2][2]w1[1][2]w2[2][2]"
local H3 = "r1[1][1]r1[2][1]w1[1][1]r2[1][1]r2[2][1]w2[2][1]"
  .. "r1[1][2]r1[2][2]w1[1][2]r2[1][2]r2[2][2]w2[2][2]"

local inf = math.huge
local IN_PLACE = {"data-centric", 0, 0, 0, 1, "range"}
local TWO = {"data-centric", 0, 1, 0, 2, "range"}
local BSP = {"bsp", 0, 0, 0, 1, "global"}
local SSP = {"ssp", 0, inf, 0, 2, "global", 1}
local DELAY = {"pd-delay", 1, 1, 1, 1, "range"}

local function accepts(text, setting, version)
  return #judge(histories.of_paper(text, setting, version)).problems == 0
end

describe("histories", function()
  it("are accepted when they are valid", function()
    local deaths = 0
    for number = 1, VALID do
      local kind = number % 4 == 0 and "loop" or "rounds"
      local lines, about = histories[kind](drawer(number))
      deaths = deaths + (about.deaths or 0)
      local verdict = judge(lines)
      assert(#verdict.problems == 0, ("MEISSA_TEST_SEED=%d, history %d: %s"):format(seed, number,
        words(verdict)))
      assert.equal(#lines - 1, verdict.events)
      assert.equal(1, verdict.jobs)
    end
    assert(deaths > 50)
  end)

  for place, fault in ipairs(faults.list) do
    it("are refused: " .. fault[1], function()
      local name, rules, kind, apply = unpack(fault)
      local found, number = 0, 0
      while found < 5 do
        number = number + 1
        assert(number < 3000, name .. " is never possible")
        local draw = drawer(place * 10000 + number)
        local lines, about = histories[kind](draw)
        local wrong = apply(lines, draw, about)
        if wrong then
          local verdict = judge(wrong)
          local first = verdict.problems[1]
          assert(first and (" " .. rules .. " "):find(" " .. first.rule .. " ", 1, true),
            ("MEISSA_TEST_SEED=%d, %s, history %d: %s\n%s"):format(seed, name, number,
              words(verdict), table.concat(wrong, "\n")))
          found = found + 1
        end
      end
    end)
  end

  it("of any bytes are refused, never an error", function()
    for _, text in ipairs {"", "meissa-history 1\n", "\0\1\2", "meissa-history 1\n0 0 a 0 rounds",
                           "meissa-history 1\n0 0 a 0 block job=1 block=1 reads=0-99999999999",
                           "meissa-history 1\n0 0 a 0 begin job=1 block=1 round=1",
                           "meissa-history 1\n0 . a 0 end job=1"} do
      local lines = {}
      for line in (text .. "\n"):gmatch "(.-)\n" do lines[#lines + 1] = line end
      if text ~= "meissa-history 1\n" then assert.is_true(#judge(lines).problems > 0, text) end
    end
    for number = 1, 300 do -- a valid one with one byte changed
      local draw = drawer(number)
      local lines = histories[draw(3) == 1 and "loop" or "rounds"](draw)
      local at = draw(#lines)
      local place, line = draw(#lines[at]), lines[at]
      lines[at] = line:sub(1, place - 1) .. string.char(31 + draw(95)) .. line:sub(place + 1)
      judge(lines)
    end
  end)
end)

describe("the Parameter Database paper's histories", function()
  it("SEQ1 and SEQ2 are legal everywhere", function()
    for _, setting in ipairs(histories.SETTINGS) do
      assert.is_true(accepts(SEQ1, setting), setting[1])
      assert.is_true(accepts(SEQ2, setting), setting[1])
    end
  end)

  it("H1 is what barriers allow, and so do all others", function()
    for _, setting in ipairs(histories.SETTINGS) do assert.is_true(accepts(H1, setting)) end
  end)

  it("H2 is legal for the data-centric gate, not for barriers", function()
    assert.is_true(accepts(H2, IN_PLACE))
    assert.is_true(accepts(H2, TWO))
    assert.is_false(accepts(H2, BSP))
    assert.is_false(accepts(H2, SSP))
  end)

  it("H3 is refused by bsp, ssp 0 and data-centric 0, and admitted by a delay of 1", function()
    assert.is_false(accepts(H3, BSP))
    assert.is_false(accepts(H3, SSP))
    assert.is_false(accepts(H3, IN_PLACE))
    assert.is_true(accepts(H3, DELAY))
  end)

  it("H3's order is legal with two versions if the read saw version 0", function()
    local function before(_, _, round) return round - 1 end
    assert.is_false(accepts(H3, TWO))
    assert.is_true(accepts(H3, TWO, before))
  end)
end)

-- ---- theorems

-- Operations of a random execution of two workers and two iterations, in which each worker reads
-- both partitions before it writes its own, and otherwise anything may happen; but some are more
-- often in the order of barriers than others.
local function draw_execution(draw)
  local left, done, text, tame = {}, {}, {}, draw(30)
  local function add(...) left[#left + 1] = {...} end
  for round = 1, 2 do
    for worker = 1, 2 do
      for partition = 1, 2 do add("r", worker, partition, round) end
    end
    for worker = 1, 2 do add("w", worker, worker, round) end
  end
  local function key(...) return table.concat({...}, " ") end
  local function may(kind, worker, partition, round)
    if kind == "r" then return round == 1 or done[key("r", worker, partition, round - 1)] end
    return done[key("r", worker, 1, round)] and done[key("r", worker, 2, round)]
  end
  while #left > 0 do
    local at = draw(30) <= tame and 1 or draw(#left)
    if may(unpack(left[at])) then
      local each = table.remove(left, at)
      done[key(unpack(each))] = true
      text[#text + 1] = ("%s%d[%d][%d]"):format(unpack(each))
    end
  end
  return table.concat(text)
end

local function operations(text)
  local list = {}
  for kind, worker, partition, round in text:gmatch "([rw])(%d)%[(%d)%]%[(%d)%]" do
    list[#list + 1] = {kind = kind, worker = tonumber(worker), partition = tonumber(partition),
                       round = tonumber(round)}
  end
  return list
end

-- Definition 4: no operations of two iterations interleave, reads come before writes in each.
local function is_sequential(list, partition)
  local round, writes = 0, false
  for _, each in ipairs(list) do
    if not partition or each.partition == partition then
      if each.round < round then return false end
      if each.round > round then round, writes = each.round, false end
      if each.kind == "w" then writes = true elseif writes then return false end
    end
  end
  return true
end

-- Whether every write of an iteration comes before the reads of the next one (that this asks for),
-- and every read before the writes of its own.
local function holds(list, of_all)
  for later, b in ipairs(list) do
    for a = later + 1, #list do
      local other = list[a] -- comes after b
      local same = of_all or other.partition == b.partition
      local early = b.kind == "r" and other.kind == "w" and other.round < b.round
      local late = b.kind == "w" and other.kind == "r" and other.round <= b.round
      if same and (early or late) then return false end
    end
  end
  return true
end

-- What the partitions hold at the end, in place: each write makes a number of what was read.
local function final_values(list)
  local values, read = {1, 2}, {{{}, {}}, {{}, {}}}
  for _, each in ipairs(list) do
    local seen = read[each.worker][each.round]
    if each.kind == "r" then
      seen[each.partition] = values[each.partition]
    else
      values[each.partition] = (seen[1] * 31 + seen[2] * 17 + each.partition) % 1000003
    end
  end
  return values[1] .. " " .. values[2]
end

describe("the Parameter Database paper's theorems", function()
  local executions, serial = {}, final_values(operations(H1))
  for number = 1, 1000 do
    executions[number] = draw_execution(drawer(50000 + number))
  end

  it("1 and 4: executions with barriers are sequential computations", function()
    local met = 0
    for _, text in ipairs(executions) do
      local list, legal = operations(text), accepts(text, BSP)
      assert.equal(holds(list, true), legal, text)
      if legal then
        met = met + 1
        assert.is_true(is_sequential(list), text)
        assert.equal(serial, final_values(list))
      end
    end
    assert(met > 10)
  end)

  it("2 and 5: the read and write constraints have the same behaviour", function()
    local met, wrong = 0, 0
    for _, text in ipairs(executions) do
      local list, legal = operations(text), accepts(text, IN_PLACE)
      assert.equal(holds(list, false), legal, text)
      if legal then
        met = met + 1
        for partition = 1, 2 do assert.is_true(is_sequential(list, partition), text) end
        assert.equal(serial, final_values(list))
      elseif final_values(list) ~= serial then
        wrong = wrong + 1
      end
    end
    assert(met > 10 and wrong > 10)
  end)

  it("3 and 6: what barriers allow is among what the constraints allow, and less", function()
    local more = 0
    for _, text in ipairs(executions) do
      local barriers, constraints = accepts(text, BSP), accepts(text, IN_PLACE)
      assert.is_true(not barriers or constraints, text)
      if constraints and not barriers then more = more + 1 end
    end
    assert(more > 0)
  end)
end)

describe("meissa check-history", function()
  local directory
  setup(function() directory = child.directory() end)
  teardown(function() child.remove(directory) end)

  local function check(name)
    return child.shell("luajit bin/meissa check-history " .. directory .. "/" .. name .. " 2>&1")
  end

  it("tells what it found, and by its status whether the history is accepted", function()
    child.write(directory .. "/good", table.concat(histories.of_paper(H2, IN_PLACE), "\n") .. "\n")
    child.write(directory .. "/bad", table.concat(histories.of_paper(H2, BSP), "\n") .. "\n")
    local output, status = check "good"
    assert.equal(0, status)
    assert.equal(directory .. "/good: accepted: 16 events of 1 job\n", output)
    output, status = check "bad"
    assert.equal(1, status)
    assert.equal(directory .. "/bad:10: [gate] block 1 reads range 2 for round 2, when block 1 has "
      .. "finished round 0 of range 1 only, not 1\n" .. directory .. "/bad: refused: 16 events of "
      .. "1 job\n", output)
  end)

  it("says what it cannot read", function()
    local output, status = check "none"
    assert.equal(2, status)
    assert.truthy(output:find "check%-history: .*none: No such file")
    output, status = child.shell "luajit bin/meissa check-history 2>&1"
    assert.equal(2, status)
    assert.truthy(output:find "which file")
    output, status = child.shell("luajit bin/meissa check-history " .. directory .. " 2>&1")
    assert.equal(2, status)
    assert.truthy(output:find "directory")
  end)
end)
