-- SPDX-License-Identifier: MIT
-- Whether values are the same to whoever gets copies of them.
local meissa = require "meissa"
local same_values = require "meissa.kernel.same_value"

-- Functions of one code over different variables.
local function over(x, y) return function(a) return a + x.n + (y or 0) end end

-- One that calls itself, and one in it.
local function nested(n)
  local fn
  fn = function(a)
    local function inner() return n * a end
    return a > 0 and fn(a - 1) or inner()
  end
  return fn
end

local function ring(n)
  local t = {n = n}
  t.next = {back = t}
  return t
end

local function with_globals(env)
  return setfenv(function(a) return a * rate.value end, env) -- luacheck: ignore
end

local function loaded(text) return assert(loadstring("return " .. text))() end

local function view(x) return meissa.full({4, 2}, x):select(2, 1) end

local function sparse(columns)
  return meissa.sparse({2, 2}, {i = {1, 2}, j = columns, v = {1, 2}})
end

local meta = {}

-- What is made of one text by calls that share nothing, and of others.
local SAME = {
  {"NaN", 0 / 0, 0 / 0},
  {"tables", {1, {x = "y"}}, {1, {x = "y"}}},
  {"tables in circles", ring(1), ring(1)},
  {"metatables", setmetatable({}, meta), setmetatable({}, meta)},
  {"arrays", meissa.full({2, 2}, 0 / 0), meissa.full({2, 2}, 0 / 0)},
  {"views", view(3), meissa.full({4}, 3)},
  {"sparse arrays", sparse {2, 1}, sparse {2, 1}},
  {"functions", over({n = 1}, 2), over({n = 1}, 2)},
  {"functions in circles", nested(1), nested(1)},
  {"code at two places", loaded "function(a) return {b = a, c = 1, d = 2} end",
   loaded "\n\nfunction(a) return {b = a, c = 1, d = 2} end"},
  {"globals", with_globals {rate = {value = 1}}, with_globals {rate = {value = 1}, other = 1}},
  {"functions in C", math.sin, math.sin},
  {"numbers of 64 bits", 5LL, 5LL},
}

local OTHERS = {
  {"types", 1, "1"},
  {"keys that are missing", {1, 2}, {1}},
  {"keys that are there", {1}, {1, 2}},
  {"tables in circles", ring(1), ring(2)},
  {"metatables", setmetatable({}, {x = 1}), {}},
  {"elements", meissa.full({2}, 1), meissa.full({2}, 2)},
  {"types of arrays", meissa.full({2}, 1), meissa.full({2}, 1, {type = "float"})},
  {"shapes", meissa.full({2, 3}, 1), meissa.full({3, 2}, 1)},
  {"coordinates", sparse {2, 1}, sparse {2, 2}},
  {"an array and a table", meissa.full({2}, 1), {1, 1}},
  {"variables", over({n = 1}, 2), over({n = 1}, 3), "y"},
  {"what variables lead to", over({n = 1}), over({n = 2}), "x"},
  {"functions in functions", nested(1), nested(2), "n"},
  {"constants", loaded "function(a) return a + 1 end", loaded "function(a) return a + 2 end"},
  {"fields of constants", loaded "function() return {a = 1, b = 2} end",
   loaded "function() return {a = 1, b = 3} end"},
  {"instructions", loaded "function(a) return a + 1 end", loaded "function(a) return a - 1 end"},
  {"globals", with_globals {rate = {value = 1}}, with_globals {rate = {value = 2}}, "rate"},
  {"functions in C", math.sin, math.cos},
  {"a function in C", math.sin, function() end},
}

describe("values are the same", function()
  for _, case in ipairs(SAME) do
    it("where they are: " .. case[1], function()
      assert.is_true(same_values.is(case[2], case[3]))
      assert.is_true(same_values.is(case[3], case[2]))
    end)
  end

  for _, case in ipairs(OTHERS) do
    it("and others are not: " .. case[1], function()
      assert.is_false(same_values.is(case[2], case[3]))
      assert.is_false(same_values.is(case[3], case[2]))
      if type(case[2]) == "function" and type(case[3]) == "function" then
        local same, name = same_values.functions(case[2], case[3], {})
        assert.is_false(same)
        assert.equal(case[4], name)
      end
    end)
  end

  it("when functions have run, and were compiled", function()
    local text = "function(t) local s = 0 for k, v in pairs(t) do s = s + v end return s end"
    local one, other = loaded(text), loaded(text)
    for _ = 1, 200 do one {1, 2, 3} end
    assert.is_true(same_values.is(one, other))
    local strange = setfenv(loaded(text), {pairs = function() return ipairs {7} end})
    assert.equal(7, strange {})
    assert.is_true(same_values.is(setfenv(strange, getfenv(other)), other))
  end)

  it("or stand for each other", function()
    local a, b = {index = 1}, {index = 2}
    local function of(r) return function() return r.count end end
    assert.is_false((same_values.functions(of(a), of(b), {})))
    assert.is_true((same_values.functions(of(a), of(b), {[a] = b})))
  end)
end)
