-- SPDX-License-Identifier: MIT
--
-- The table of methods against what they do: each is called on arrays of different contents, and
-- what it changes and gives is looked at. The analyser and the checker believe the table.
local meissa = require "meissa"
local method = require "meissa.array.method"
local subscript = require "meissa.array.subscript"
local row_methods = require "spec.support.row_methods"

-- Arguments for those that must have some, which do not depend on the array; extents are 3x3.
local square = meissa.rand({3, 3}, {seed = 9})
local GIVEN = {
  label = {1, 2}, index = {1, 2}, dot = {square}, add = {0.5},
  mul = {0.5}, gemv = {1, 1, square, square[1]},
  ger = {1, 2, square[1], square[2]}, gemm = {1, 1, square, square}, narrow = {1, 2, 2},
  select = {1, 2}, map = {function(value) return 2 * value end},
  filter = {function(value) return value > 0.5 end},
  reduce = {function(a, b) return a + b end, 0, {combine = function(a, b) return a + b end}},
  group_by = {1}, randomize = {1, {seed = 1}}, reshape = {9}, topk = {2},
}

local function arguments_of(entry)
  if GIVEN[entry.name] then return GIVEN[entry.name] end
  local given = {}
  if row_methods.takes_number(entry) then given[1] = 0.75 end
  if row_methods.takes_other(entry) then given[#given + 1] = square end
  return given
end

-- What a method works on: a vector, a square of numbers, or as many entries of a sparse array.
local function subject(entry, seed)
  if entry.name == "gemv" then return meissa.rand({3}, {seed = seed}) end
  local values = meissa.rand({3, 3}, {seed = seed})
  if entry.name == "abs" then values:scal(-1) end
  if entry.name ~= "nonzeros" and entry.name ~= "randomize" then return values end
  local lists = {i = {}, j = {}, v = {}}
  for i = 1, 3 do
    for j = 1, 3 do
      table.insert(lists.i, i)
      table.insert(lists.j, j)
      table.insert(lists.v, values[i][j])
    end
  end
  return meissa.sparse({3, 3}, lists)
end

-- All that a value says, as text; of an iterator what it gives.
local function told(value, more, start)
  local said = {}
  if type(value) == "function" then
    for a, b, c in value, more, start do said[#said + 1] = table.concat({a, b, c}, " ") end
    return table.concat(said, ",")
  end
  if type(value) == "table" then
    for k = 1, #value do said[k] = told(value[k]) end
    return table.concat(said, " ")
  end
  if not meissa.is_array(value) then return tostring(value) end
  for i, j, each in value:each() do said[#said + 1] = ("%s %s %s"):format(i, j, each) end
  return table.concat(said, ",")
end

-- Calls a method on contents by a seed: {before, after, result = text, value =, on = the array}.
local function try(entry, seed)
  local on = subject(entry, seed)
  local receiver = entry.name == "nonzeros" and on[2] or on
  local before = told(on)
  local value, more, start = receiver[entry.name](receiver, unpack(arguments_of(entry)))
  return {before = before, after = told(on), result = told(value, more, start), value = value,
          on = on}
end

local check = {}

function check.shape(one, two)
  assert.equal(one.before, one.after)
  assert.equal(one.result, two.result)
end

function check.read(one, two, entry)
  assert.equal(one.before, one.after)
  assert.is_false(meissa.is_array(one.value))
  if entry.name ~= "nnz" then assert.not_equal(one.result, two.result) end
end

function check.fresh(one, two)
  assert.equal(one.before, one.after)
  assert.not_equal(one.result, two.result)
  if meissa.is_array(one.value) and pcall(one.value.fill, one.value, 77) then
    assert.equal(one.before, told(one.on), "a view")
  end
end

function check.view(one)
  assert.equal(one.before, one.after)
  one.value:fill(77)
  assert.not_equal(one.before, told(one.on), "no view")
end

function check.write(one, two)
  assert.equal(one.on, one.value)
  assert.not_equal(one.before, one.after)
  assert.equal(one.after, two.after)
end

function check.update(one, two)
  assert.equal(one.on, one.value)
  assert.not_equal(one.before, one.after)
  assert.not_equal(one.after, two.after)
end

local has_torch = pcall(require, "torch")

describe("The table of methods", function()
  for _, entry in ipairs(method.list) do
    if check[entry.effect] and (entry.name ~= "totensor" or has_torch) then
      it("is right about " .. entry.name, function()
        check[entry.effect](try(entry, 1), try(entry, 2), entry)
      end)
    end
  end

  it("is right about free", function()
    local A = meissa.ones(3)
    A:free()
    assert.equal("free", method.of.free.effect)
    assert.is_false(pcall(A.sum, A))
  end)

  it("knows which argument is a dimension", function()
    local A, count = meissa.rand({3, 3}, {seed = 3}), 0
    for _, entry in ipairs(method.list) do
      local plain = entry.effect == "read" and entry.takes ~= "other"
      for k = 1, plain and entry.most or 0 do
        local given = {}
        for n = 1, k do given[n] = 2 end
        local called, value = pcall(A[entry.name], A, unpack(given))
        if not called then
          given[k] = true
          value = A[entry.name](A, unpack(given))
        end
        local along = meissa.is_array(value)
        assert.equal(entry.dimension ~= nil and k >= entry.dimension, along, entry.name)
        count = count + 1
      end
    end
    assert.is_true(count >= 10)
  end)

  it("has every method, and no other", function()
    local known = 0
    for _, methods in ipairs {subscript.methods, subscript.row_methods, subscript.slice_methods} do
      for name in pairs(methods) do assert.truthy(method.of[name], name) end
    end
    for name in pairs(method.of) do
      assert.truthy(subscript.methods[name] or subscript.slice_methods[name], name)
      known = known + 1
    end
    assert.equal(#method.list, known)
  end)

  it("says which ones refuse what has no elements", function()
    local text = "local A, engine = ... local s = 0 for i in parallel(3, {engine = engine}) do " ..
      "s = s + A[i]:%s() end return s"
    local A, count = meissa.zeros(3, 0), 0
    for _, entry in ipairs(method.list) do
      if entry.effect == "read" and entry.rowwise and entry.takes == "none" then
        local refusal = entry.filled and "ARR: " .. entry.name .. ": an empty array has none" or nil
        for where, called in pairs {
          array = function() return A[entry.name](A) end,
          row = function() return A[1][entry.name](A[1]) end,
          lua = function() return meissa.run(text:format(entry.name), A, "lua") end,
          native = function() return meissa.run(text:format(entry.name), A, "native") end,
        } do
          local fits, result = pcall(called)
          assert.equal(not entry.filled, fits, entry.name .. " " .. where)
          if refusal then assert.truthy(tostring(result):find(refusal, 1, true), result) end
          count = count + 1
        end
      end
    end
    assert.is_true(count >= 20)
  end)

  it("gives rows the bits of whole arrays", function()
    for _, kind in ipairs {"float", "double", "int32", "int64"} do
      for _, entry in ipairs(row_methods.changing) do
        local one = meissa.full({2, 9}, 6, {type = kind})
        local other = meissa.full({9}, 2, {type = kind})
        local alone, given = meissa.full({9}, 6, {type = kind}), {}
        if row_methods.takes_number(entry) then given[1] = 3 end
        if row_methods.takes_other(entry) then given[#given + 1] = other end
        -- Of integers the logarithm, say, is none: refused, and nothing has changed.
        local fits, result = pcall(alone[entry.name], alone, unpack(given))
        assert.equal(fits, (pcall(one[2][entry.name], one[2], unpack(given))), entry.name)
        assert.is_true(fits or kind:find "^int" ~= nil, entry.name)
        if fits then assert.equal(alone, result) else assert.equal("ARR", result.code) end
        assert.same(alone:totable(), one[2]:totable(), entry.name)
        assert.equal(6, one[1][1])
      end
    end
  end)
end)
