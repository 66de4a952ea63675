-- SPDX-License-Identifier: MIT
--
-- What stands for a list of strings is one value as long as the list has the same strings, and
-- nothing stands for another table. MEISSA_TEST_SEED replays a run.
local string_lists = require "meissa.base.string_lists"

local seed = require "spec.support.seed"

-- Lists of so many strings, which have their elements in the array part, or partly elsewhere.
local makers = {
  function(count)
    local list = {}
    for k = 1, count do list[k] = "line " .. k end
    return list
  end,
  function(count)
    local list = {}
    for k = count, 1, -1 do list[k] = "line " .. k end
    return list
  end,
  function(count)
    local list = require("table.new")(count, 0)
    for k = 1, count do list[k] = "line " .. k end
    return list
  end,
}

-- Changes, and whether a list of strings is left.
local changes = {
  {"another string", true, function(list, at) list[at] = "other" end},
  {"one more", true, function(list) list[#list + 1] = "more" end},
  {"one less", true, function(list) list[#list] = nil end},
  {"a number", false, function(list, at) list[at] = 7 end},
  {"a table", false, function(list, at) list[at] = {} end},
  {"a hole", false, function(list, at) list[math.min(at, #list - 1)] = nil end},
  {"a name", false, function(list) list.name = "x" end},
  {"an index below", false, function(list) list[0] = "x" end},
  {"an index far above", false, function(list) list[2 * #list + 7] = "x" end},
  {"a key that is a table", false, function(list) list[{}] = "x" end},
}

describe("lists of strings", function()
  setup(function() math.randomseed(seed) end)

  it("are the same until they have others", function()
    for round = 1, 600 do
      local count = math.random(300, 1100)
      if round % 3 == 0 then count = 2 ^ math.random(9, 11) end
      local list = makers[math.random(#makers)](count)
      local state = string_lists.state(list)
      assert.equal("table", type(state))
      assert.is_true(state == string_lists.state(list))
      list[5] = "line " .. 5
      assert.is_true(state == string_lists.state(list))
      local change = changes[math.random(#changes)]
      change[3](list, math.random(count))
      local now = string_lists.state(list)
      assert.is_true(state ~= now, change[1] .. ", " .. count)
      assert.equal(change[2], now ~= nil, change[1] .. ", " .. count)
      assert.is_true(now == string_lists.state(list))
    end
  end)

  it("are no others, nor short ones", function()
    assert.is_nil(string_lists.state({}))
    assert.is_nil(string_lists.state({"a", "b"}))
    local numbers = {}
    for k = 1, 1000 do numbers[k] = k end
    assert.is_nil(string_lists.state(numbers))
  end)

  it("are not asked by their metatables", function()
    local list = setmetatable(makers[1](500), {__index = error, __newindex = error, __len = error})
    assert.is_true(string_lists.state(list) == string_lists.state(list))
  end)

  it("are not kept", function()
    local kept = setmetatable({}, {__mode = "k"})
    for _ = 1, 10 do
      local list = makers[1](500)
      string_lists.state(list)
      kept[list] = true
    end
    collectgarbage()
    assert.is_nil(next(kept))
  end)
end)
