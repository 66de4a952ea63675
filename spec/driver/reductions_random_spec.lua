-- SPDX-License-Identifier: MIT
-- Random reductions against plain serial runs, bit by bit; and faults that this must find. The seed
-- is printed; MEISSA_TEST_SEED replays it, MEISSA_REDUCTIONS changes how many programs there are.
local meissa = require "meissa"
local merge = require "meissa.kernel.merge"
local order = require "meissa.kernel.order"
local random = require "spec.driver.reductions_random"
local result = require "meissa.kernel.result"

local seed = require "spec.support.seed"
local COUNT = tonumber(os.getenv "MEISSA_REDUCTIONS" or "") or 300

-- What programs give in this process, by number; ordered ones are compared with plain loops.
local function run_here(first, count)
  local expected, refused = {}, 0
  meissa.init {workers = 0}
  for number = first, first + count - 1 do
    local program = random.program(number)
    local got, err = random.run(meissa, program, false, "lua")
    expected[number] = got
    if not got then
      assert(err:find("DEP1%d%d"), ("%d: %s\n%s"):format(number, err, random.text(program)))
      refused = refused + 1
    elseif program.plain and program.ordered then
      local plain = random.run(meissa, program, true)
      assert.equal(plain, got, ("MEISSA_TEST_SEED=%d\n%s"):format(number, random.text(program)))
    end
  end
  return expected, refused
end

-- The first program whose result on workers is another one, by its number, or nil.
local function find_difference(expected, first, count, engine)
  for number = first, first + count - 1 do
    local program = random.program(number)
    local got, err
    if expected[number] then got, err = random.run(meissa, program, false, engine) end
    local beyond_c = engine == "native" and err and err:find("OPT: engine", 1, true)
    if got ~= expected[number] and not beyond_c then
      return ("MEISSA_TEST_SEED=%d MEISSA_REDUCTIONS=1, engine %s:\n%s\ngives %s, not %s"):format(
        number, engine, random.text(program), got or err, expected[number])
    end
  end
end

describe("random reductions", function()
  local expected, refused

  setup(function() expected, refused = run_here(seed, COUNT) end)
  teardown(function() meissa.init {} end)

  it("are seldom refused", function()
    assert.is_true(refused <= 1 + COUNT / 8, refused .. " refused")
  end)

  for _, workers in ipairs {1, 3} do
    it(("give the bits of the plain loop on %d workers"):format(workers), function()
      meissa.init {workers = workers}
      assert.is_nil(find_difference(expected, seed, COUNT, "lua"))
      if workers == 1 then return end
      assert.is_nil(find_difference(expected, seed, math.ceil(COUNT / 20), "native"))
    end)
  end
end)

-- A fault in the merging of blocks: change(info, final, block) may give another info.
local function in_merge(change)
  return merge, "take", function(original)
    return function(info, final, block)
      return original(change(info, final, block) or info, final, block)
    end
  end
end

-- The information with other rules for the results.
local function with_rules(change)
  local known = setmetatable({}, {__mode = "k"})
  return in_merge(function(info)
    local other = known[info]
    if other then return other end
    other = setmetatable({results = {}}, {__index = info})
    for n, each in ipairs(info.results) do
      other.results[n] = setmetatable({}, {__index = each})
      change(other.results[n], other)
    end
    known[info] = other
    return other
  end)
end

local function sets(kinds, mark)
  return in_merge(function(info, _, block)
    local set = {}
    for n, each in ipairs(info.results) do
      local at = string.sub(block[#info.results + 1], n, n)
      set[n] = kinds[each.role] and kinds[each.op] ~= false and mark or at
    end
    block[#info.results + 1] = table.concat(set)
  end)
end

local OTHER = {beyond = "equal", equal = "beyond"}

local FAULTS = {
  ["ties broken the other way"] = {with_rules(function(rule)
    local extreme = rule.op == "min" or rule.op == "max"
    if extreme then rule.wins = OTHER[rule.wins] or rule.wins end
  end)},
  ["least for most"] = {with_rules(function(rule)
    rule.op = rule.op == "min" and "max" or rule.op
  end)},
  ["what a block took first is forgotten"] = {sets({head = true}, "0")},
  ["what no iteration reached counts"] = {sets({reduction = true}, "1")},
  ["followers that go by themselves"] = {with_rules(function(rule)
    if rule.op == "with" then rule.role = "private" end
  end)},
  ["iterations are forgotten"] = {in_merge(function(info, _, block)
    local text = block[#info.results + 2]
    block[#info.results + 2] = string.gsub(text, "[%d,.-]+", function(position)
      return #position > 1 and "1,1" or position
    end)
  end)},
  ["lists in the order of blocks"] = {order, "sorted", function()
    return function(_, _, count)
      local numbers = {}
      for k = 0, count - 1 do numbers[k] = k end
      return numbers
    end
  end},
  ["any block's first nan stays"] = {in_merge(function(info, _, block)
    local origins = string.gsub(block[#info.results + 2], "[^;]+", "0,0")
    for _, each in ipairs(info.results) do
      if each.ranked and each.unset then block[#info.results + 2] = origins end
    end
  end)},
  ["of equal ones the other index stays"] = {with_rules(function(rule)
    if rule.tie then rule.tie_op = rule.tie_op == "min" and "max" or "min" end
  end)},
  ["of equal ones any index stays"] = {with_rules(function(rule)
    setmetatable(rule, {__index = (function(each)
      return function(_, key) if key ~= "tie" then return each[key] end end
    end)(getmetatable(rule).__index)})
  end)},
  ["no gate"] = {with_rules(function(rule)
    rawset(rule, "gate", nil)
    setmetatable(rule, {__index = (function(each)
      return function(_, key) if key ~= "gate" then return each[key] end end
    end)(getmetatable(rule).__index)})
  end)},
  ["the order of blocks"] = {result, "combine", function(original)
    return function(info, values, results)
      local list = {}
      if results.flat then
        local size = #results.flat / results.blocks
        for b = 1, results.blocks do
          list[b] = string.sub(results.flat, (b - 1) * size + 1, b * size)
        end
      else
        for b, bytes in ipairs(results) do list[b] = bytes end
      end
      for b = 1, math.floor(#list / 2) do
        list[b], list[#list + 1 - b] = list[#list + 1 - b], list[b]
      end
      return original(info, values, list)
    end
  end},
}

describe("the comparison", function()
  local expected

  setup(function()
    expected = run_here(1, 300)
    meissa.init {workers = 1}
  end)
  teardown(function() meissa.init {} end)

  for name, fault in pairs(FAULTS) do
    it("finds within 300 programs: " .. name, function()
      local module, key, make = unpack(fault)
      local original = module[key]
      module[key] = make(original)
      local ok, difference = pcall(find_difference, expected, 1, 300, "lua")
      module[key] = original
      assert.is_true(ok, difference)
      assert.is_truthy(difference)
    end)
  end
end)
