-- SPDX-License-Identifier: MIT
--
-- Sums by key and sets of blocks, on their way and brought together, are what adding them one by
-- one in Lua gives, bit by bit. MEISSA_TEST_SEED replays a run.

local gathered = require "meissa.kernel.gathered"

local seed = require "spec.support.seed"

local numbers = {0, -0.0, 1, -1, 0.1, 1e16, 2 ^ 53, -2 ^ 53, 5e-324, 1 / 0, -1 / 0, 0 / 0}

local function random_number()
  return math.random(3) == 1 and numbers[math.random(#numbers)] or math.random() * 1e3
end

-- Keys of the array part, others, fractions, strings of many lengths, booleans.
local function random_key()
  local kind, number = math.random(6), math.random(40)
  if kind == 1 then return number end
  if kind == 2 then return number * 1000 - 0.5 end
  if kind == 3 then return number % 2 == 0 end
  if kind == 4 then return -number end
  return ("k"):rep(number) .. number % 3
end

local function random_part(value)
  local part = {}
  for _ = 1, math.random(0, 60) do part[random_key()] = value() end
  return part
end

-- Every double as itself: zeros have signs.
local function text_of(t)
  local list = {}
  for key, value in pairs(t) do
    list[#list + 1] = ("%s %s=%s %s %s"):format(type(key), tostring(key), type(value),
      type(value) == "number" and ("%.17g"):format(value) or tostring(value),
      value == 0 and tostring(1 / value) or "")
  end
  table.sort(list)
  return table.concat(list, "\n")
end

local function copy(t)
  local own = {}
  for key, value in pairs(t) do own[key] = value end
  return own
end

describe("sums by key and sets", function()
  setup(function() math.randomseed(seed) end)

  it("are what Lua adds up", function()
    local kinds = {}
    for round = 1, 300 do
      local before = math.random(2) == 1 and random_part(random_number) or {}
      if round % 5 == 0 then before.none = false end
      local out, whole = {value = copy(before)}, copy(before)
      for _ = 1, math.random(0, 8) do
        local value = round % 3 > 0 and random_number or
          function() return math.random(20) == 1 and "7" or random_number() end
        local part = random_part(value)
        if math.random(4) == 1 then part.none = value() end
        local packed, kind = gathered.pack_keyed(part, true)
        kinds[kind] = true
        gathered.add(out, packed, kind)
        for key, each in pairs(part) do
          whole[key] = whole[key] and whole[key] + each or each
        end
      end
      gathered.finish_keyed(out)
      assert.are.equal(text_of(whole), text_of(out.value))
    end
    assert.are.same({[gathered.KEYED] = true, [gathered.PLAIN] = true}, kinds)
  end)

  it("that are exact are added up before they are added to what was there", function()
    for round = 1, 200 do
      local before = round % 4 > 0 and random_part(random_number) or {}
      local out, whole, total = {value = copy(before), exact = true}, copy(before), {}
      for _ = 1, math.random(0, 8) do
        local part = random_part(function() return math.random(-3, 1024) end)
        if round % 3 == 0 then part[{}] = 1 end
        local packed, kind = gathered.pack_keyed(part, true)
        gathered.add(out, packed, kind)
        for key, each in pairs(part) do total[key] = (total[key] or 0) + each end
      end
      for key, each in pairs(total) do whole[key] = whole[key] and whole[key] + each or each end
      gathered.finish_keyed(out)
      assert.are.equal(text_of(whole), text_of(out.value))
    end
  end)

  it("of one constant are its keys", function()
    for _, constant in ipairs {true, false, 7, -0.0, "x"} do
      for _ = 1, 20 do
        local before = random_part(random_number)
        local out, whole = {value = copy(before)}, copy(before)
        for _ = 1, math.random(0, 5) do
          local part = random_part(function() return constant end)
          gathered.unite(out, gathered.pack_keyed(part, false))
          for key in pairs(part) do whole[key] = constant end
        end
        gathered.finish_keyed(out)
        assert.are.equal(text_of(whole), text_of(out.value))
      end
    end
  end)

  it("are in the order of their first block, whatever they are afterwards", function()
    local function keys_of(blocks)
      local out, list = {value = {}}, {}
      for _, part in ipairs(blocks) do gathered.add(out, gathered.pack_keyed(part, true)) end
      local order = setmetatable({}, {__newindex = function(_, key) list[#list + 1] = key end})
      out.value = order
      gathered.finish_keyed(out)
      return list
    end
    assert.are.same({"a", "b", 3}, keys_of {{a = 1}, {b = 2, a = 1}, {[3] = 1, b = 1, a = 1}})
  end)

  it("of keys and values that are no plain ones go with the rest", function()
    local part, others = {[{}] = 1}, 0
    for _ = 1, 300 do -- until LuaJIT has compiled what it will
      local packed, kind = gathered.pack_keyed(part, true)
      if kind == gathered.OTHER and packed == part then others = others + 1 end
    end
    assert.are.equal(300, others)
  end)

  it("that are broken are told", function()
    assert.has_error(function() gathered.add({value = {}}, "\9\1", gathered.KEYED) end)
  end)
end)
