-- SPDX-License-Identifier: MIT
-- r:exchange of a list of arrays: one exchange, which gives each of them what an exchange of its
-- own would, bit for bit.
local meissa = require "meissa"
local roads = require "spec.driver.all_roads"

local ROUNDS = 5

-- Rules that look at one element at a time, so that it does not matter what else there is.
local RULES = {
  {}, {topology = "ring"}, {topology = "root-expander", biased = true}, {merge = {add = 0.25}},
  {topology = "one-peer-exponential"}, {topology = "ring", push_sum = true},
  {topology = "ring-both", merge = {weighted = 0.4}}, {topology = "ring", merge = "take"},
  {filter = {magnitude = 0.3}}, {topology = "ring", filter = {relative = 0.2}},
  {merge = {add = 0.25}, filter = {magnitude = 0.2}, residual = "invalidate"},
  {topology = "ring-both", lags = function(t, j) return (t + j) % 3 end, staleness = 2},
  {merge = function(own, received) return 0.75 * own + 0.25 * received end},
}

-- Arrays of one replica, of all kinds: whole ones, views with gaps and without, floats among
-- doubles.
local function arrays()
  local wide = meissa.zeros(4, 3)
  return {meissa.zeros(5), meissa.zeros({3, 2}, {type = "float"}), wide:select(2, 2),
          meissa.zeros({7}, {type = "float"}):narrow(1, 2, 3), wide:select(2, 3)}
end

-- The same without views.
local function whole_arrays()
  return {meissa.zeros(5), meissa.zeros({3, 2}, {type = "float"}), meissa.zeros(4),
          meissa.zeros({3}, {type = "float"}), meissa.zeros(4)}
end

-- Calls fn for each row of an array, or for the array if it has no rows.
local function each_row(array, fn)
  if array:dim() == 1 then return fn(array) end
  for i = 1, array:size(1) do fn(array[i]) end
end

local function all_of(list)
  local words = {}
  for _, each in ipairs(list) do
    each_row(each, function(row)
      for i = 1, #row do words[#words + 1] = ("%.17g"):format(row[i]) end
    end)
  end
  return table.concat(words, " ")
end

-- What K replicas have after all rounds, and the bytes that were sent; `exchange` says how.
local function run(K, exchange, make)
  return meissa.replicas(K, {}, function(r)
    local list = (make or arrays)()
    for t = 1, ROUNDS do
      for n, each in ipairs(list) do
        each_row(each, function(row)
          for i = 1, #row do
            row[i] = row[i] + math.sin(3 * r.index + 5 * t + n + 0.1 * i)
          end
        end)
      end
      exchange(r, list)
    end
    return {all_of(list), r.netStats().bytes}
  end)
end

local function values_of(list)
  local values = {}
  for k, each in ipairs(list) do values[k] = each[1] end
  return values
end

describe("r:exchange of a list", function()
  teardown(roads.stop)

  it("gives each array what an exchange of its own gives it, on every road", function()
    local K = 4
    local function together()
      local all = {}
      for n, options in ipairs(RULES) do
        all[n] = run(K, function(r, list) assert(r:exchange(list, options) == list) end)
      end
      return all
    end
    local got = roads.on_all_roads(together)
    meissa.init {workers = 0, quiet = true}
    local untouched = values_of(run(K, function() end))
    for n, options in ipairs(RULES) do
      local alone = run(K, function(r, list)
        for _, each in ipairs(list) do r:exchange(each, options) end
      end, whole_arrays)
      assert.same(values_of(alone), values_of(got[n]), "rule " .. n)
      assert.not_same(untouched, values_of(got[n]))
    end
  end)

  it("is one message: what each exchange adds is there once", function()
    meissa.init {workers = 0, quiet = true}
    local options = {topology = "ring"}
    local function bytes(exchange) return run(3, exchange)[3][2] end
    local together = bytes(function(r, list) r:exchange(list, options) end)
    local alone = bytes(function(r, list)
      for _, each in ipairs(list) do r:exchange(each, options) end
    end)
    local elements = 5 + 6 + 4 + 3 + 4
    assert.is_true(together < alone)
    assert.is_true(together >= 8 * elements * ROUNDS)
  end)

  it("knows a list by the memory of its arrays, in their order", function()
    for _, workers in ipairs {0, 2} do
      meissa.init {workers = workers, quiet = true}
      local list = meissa.replicas(2, function(r)
        local a, b = meissa.full({2}, r.index), meissa.full({4}, 10 * r.index)
        local add = {merge = {add = 1}}
        r:exchange({a, b}, add)
        a[1] = a[1] + 1
        r:exchange({a:narrow(1, 1, 2), b}, add) -- the same again: only what has changed
        local again = {a[1], a[2], b[1]}
        r:exchange({b, a}, add)                  -- another one: all that they hold is change
        local c = meissa.full({4}, r.index)
        r:exchange({c, a}, add)
        return {again, a[1], b[1], c[1]}
      end)
      for k = 1, 2 do assert.same({{5, 3, 30}, 20, 60, 3}, list[k]) end
    end
  end)

  it("of one array is an exchange of that", function()
    meissa.init {workers = 2, quiet = true}
    local list = meissa.replicas(2, function(r)
      local a = meissa.full({2}, r.index)
      r:exchange({a}, {merge = {add = 1}})
      r:exchange(a, {merge = {add = 1}}) -- nothing has changed since
      return a[1]
    end)
    assert.same({3, 3}, list)
  end)

  it("is of dense arrays of floats or doubles that share no memory", function()
    meissa.init {workers = 0, quiet = true}
    local function why(make)
      local ok, err = pcall(meissa.replicas, 2, {}, function(r) r:exchange(make(), {}) end)
      assert.is_false(ok)
      assert.equal("OPT", err.code)
      return err.message
    end
    local plain = "takes a dense array of floats or doubles, or a list of such"
    assert.matches("the list of arrays is empty", why(function() return {} end))
    assert.matches(plain, why(function() return {meissa.zeros(2), 3} end))
    local words = why(function() return {meissa.zeros({2}, {type = "int32"})} end)
    assert.truthy(words:find(plain .. ", not DistArray<int32>[2] dense, 2 blocks, 8 bytes: " ..
                             "exchange a copy, meissa.from(w, {type = \"double\"}); sums of " ..
                             "integers r.all",
                             1, true), words)
    assert.matches("arrays 1 and 3 of the list share memory", why(function()
      local a = meissa.zeros(4)
      return {a:narrow(1, 1, 3), meissa.zeros(1), a:narrow(1, 3, 2)}
    end))
    assert.matches("arrays 1 and 2 of the list share memory", why(function()
      local a = meissa.zeros(4)
      return {a, a}
    end))
  end)
end)
