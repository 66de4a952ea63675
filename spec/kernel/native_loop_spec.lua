-- SPDX-License-Identifier: MIT
-- Whole loops on both engines: functions from outside of the loop, sparse rows, random numbers,
-- buffers and scratch rows have the same bits, and run as C.
local meissa = require "meissa"
local parallel = meissa.parallel

meissa.init { workers = 2 }

-- Names that the loops below take from outside.
local n = 300
local options = { scale = { rate = 0.25 }, flag = true }
local rate = 0.1
local table_of_ten = meissa.rand({ 10 }, { seed = 4 })

local function sigmoid(x) return 1 / (1 + math.exp(-x)) end
local function clip(x, lo, hi)
  if x < lo then return lo elseif x > hi then return hi end
  return x
end

local function step(x, i)
  local s = sigmoid(x * options.scale.rate) * rate
  if options.flag then s = s + table_of_ten[i % 10 + 1] end
  return clip(s, 0.2, 0.9), s
end

local function element(i) return table_of_ten[i] end
local function any_number(...) return (...) - 2 end

local function sparse()
  local i, j, v = {}, {}, {}
  for k = 1, 600 do i[k], j[k], v[k] = (k * 7) % n + 1, (k * 13) % 40 + 1, k % 17 - 8 end
  return meissa.sparse({ n, 40 }, { i = i, j = j, v = v })
end

-- Each gives a function that runs a loop on an engine and returns numbers.
local loops = {
  ["functions in functions"] = function(engine)
    local A, B, sum = meissa.rand({ n }, { seed = 1 }), meissa.zeros(n), 0
    for i in parallel(n, { engine = engine }) do
      local a, b = step(A[i], i)
      B[i] = a + 2 * b + sigmoid(i)
      sum = sum + B[i]
    end
    return B, sum
  end,
  ["sparse rows"] = function(engine)
    local X, w, y, loss = sparse(), meissa.rand({ 40 }, { seed = 2 }), meissa.zeros(n), 0
    local gradient = meissa.zeros(40)
    local pending = meissa.buffer(gradient)
    for i in parallel(n, { engine = engine }) do
      local row, z = X[i], 0
      for f, v in row:nonzeros() do z = z + w[f] * v end
      y[i] = sigmoid(z)
      loss = loss + y[i]
      for f, v in X[i]:nonzeros() do pending[f] = pending[f] + (y[i] - 0.5) * v end
    end
    return y, loss, gradient
  end,
  ["sparse elements"] = function(engine)
    local X, y = sparse(), meissa.zeros({ n, 40 })
    for i, j in parallel(n, 40, { engine = engine }) do y[i][j] = X[i][j] * 2 + X[n + 1 - i][j] end
    return y
  end,
  ["random numbers"] = function(engine)
    meissa.seed(5)
    local y, hits = meissa.zeros({ n, 4 }), 0
    for i in parallel(n, { engine = engine }) do
      y[i][1] = meissa.random()
      y[i][2] = meissa.random(6) + meissa.random(-3, 3)
      for _ = 1, 3 do y[i][3] = y[i][3] + meissa.normal() end
      if meissa.random() < 0.5 then hits = hits + 1 end
    end
    local X = sparse()
    for i, j, v in parallel(X, { engine = engine }) do y[i][4] = v * meissa.random() + j end
    return y, hits
  end,
  ["scratch rows"] = function(engine)
    local A, y, room = meissa.rand({ n, 8 }, { seed = 3 }), meissa.zeros(n), meissa.scratch(8)
    for i in parallel(n, { engine = engine }) do
      local sum, at = 0, 1
      for k = 1, 8 do
        sum = sum + A[i][k]
        room[k] = sum
      end
      while room[at] < sum / 2 do at = at + 1 end
      y[i] = at
    end
    return y
  end,
  ["rows"] = function(engine)
    local A, y = meissa.rand({ n, 8 }, { seed = 3, type = "float" }), meissa.zeros(n)
    for i in parallel(n, { engine = engine }) do
      local w = A[i]
      w:add(0.5) w:scal(3)
      if i > 1 then w:add(table_of_ten[3], w) end
      y[i] = w:max() - w:min() + w:mean() + w:norm()
    end
    return A, y
  end,
}

-- Every bit of what a loop gave.
local function bits(...)
  local parts = {}
  for k = 1, select("#", ...) do
    local value = select(k, ...)
    if type(value) == "number" then
      parts[k] = ("%a"):format(value)
    else
      local list, data = {}, value:data()
      for e = 0, value:nnz() - 1 do list[e + 1] = ("%a"):format(data[e]) end
      parts[k] = table.concat(list, " ")
    end
  end
  return table.concat(parts, "\n")
end

describe("a loop on the native engine", function()
  teardown(function() meissa.init { workers = 2 } end)

  for name, loop in pairs(loops) do
    it("has the bits of the Lua engine: " .. name, function()
      local expected = bits(loop("lua"))
      assert.equal("lua", meissa.last().engine)
      assert.equal(expected, bits(loop("native")))
      assert.equal("native", meissa.last().engine)
    end)
  end

  it("sees what its functions' variables are now", function()
    local function total()
      local A, B = meissa.rand({ n }, { seed = 1 }), meissa.zeros(n)
      for i in parallel(n, { engine = "native" }) do B[i] = step(A[i], i) end
      return B:sum()
    end
    rate = 0.1
    local first = total()
    rate = 3
    local second = total()
    rate = 0.1
    assert.not_equal(first, second)
    assert.equal(first, total())
  end)

  it("names the line of a function where a subscript is wrong", function()
    local ok, err = pcall(function()
      local B = meissa.zeros(n)
      for i in parallel(n, { engine = "native" }) do B[i] = element(i) end
    end)
    assert.is_false(ok)
    assert.equal(debug.getinfo(element, "S").linedefined, err.line)
    assert.truthy(tostring(err):find("outside 1..10", 1, true), tostring(err))
  end)

  -- Limits whose digits begin with those of others, among others.
  it("checks every limit, whichever others a block has", function()
    local extents = { 5, 10, 50, 100, 101 }
    for _, long in ipairs(extents) do
      for _, short in ipairs(extents) do
        local A, B, M = meissa.zeros(long), meissa.ones(short), meissa.zeros { long, short }
        local function fails(fn, what)
          local ok, err = pcall(fn)
          assert.equal(long <= short, ok, ("%s %d x %d: %s"):format(what, long, short,
                                                                    tostring(err)))
          if not ok then assert.equal("ARR", err.code) end
        end
        fails(function()
          for i in parallel(long, { engine = "native" }) do A[i] = B[i] end
        end, "two arrays")
        fails(function()
          for i in parallel(long, { engine = "native" }) do
            A[i] = 1
            B[i] = -1
          end
        end, "two stores")
        fails(function()
          for i in parallel(long, { engine = "native" }) do
            for k = 1, i do M[i][k] = i end
          end
        end, "an inner loop")
        if long > short then assert.equal(short, B:sum()) end
      end
    end
  end)

  it("leaves what C cannot say to the Lua engine", function()
    local B, words = meissa.zeros(n), { "a", "bb" }
    for i in parallel(n) do B[i] = #words[i % 2 + 1] end
    assert.equal("lua", meissa.last().engine)
    assert.equal(450, B:sum())
    for i in parallel(n) do B[i] = any_number(3) + 1 end
    assert.equal("lua", meissa.last().engine)
    assert.equal(2 * n, B:sum())
  end)
end)

describe("an integer compared with a captured number", function()
  -- Each comparison is a bit.
  local function outcomes(y, how)
    local found, list = meissa.zeros(13), {}
    for i in parallel(13, how) do
      local x, b = i - 7, 0
      if x < y then b = b + 1 end
      if x <= y then b = b + 2 end
      if x > y then b = b + 4 end
      if x >= y then b = b + 8 end
      if y < x then b = b + 16 end
      if y <= x then b = b + 32 end
      if y > x then b = b + 64 end
      if y >= x then b = b + 128 end
      found[i] = x == y and b + 256 or y ~= x and b + 512 or b
    end
    if how.engine then assert.equal(how.engine, meissa.last().engine) end
    for i = 1, 13 do list[i] = found[i] end
    return list
  end

  it("is as in the plain loop, whatever the number", function()
    local numbers = {0, -0.0, 3, -3, 2.5, -2.5, 1e-300, -1e-300, 6, 7, -6, -7, 6.5, -6.5, 2 ^ 52,
                     2 ^ 53, -2 ^ 53, 2 ^ 60, 2 ^ 63, -2 ^ 63, 1e300, -1e300, 1 / 0, -1 / 0, 0 / 0}
    for _, y in ipairs(numbers) do
      local right = outcomes(y, {serial = true})
      assert.same(right, outcomes(y, {engine = "native"}), tostring(y))
      assert.same(right, outcomes(y, {engine = "lua"}), tostring(y))
    end
  end)
end)

describe("an element of a sparse matrix with several entries", function()
  local expect = require "spec.support.expect"

  it("is refused in the same words by both engines", function()
    local at = { 1, 2, 2, 3 }
    local X = meissa.sparse({ 4, 4 }, { i = at, j = at, v = { 1, 2, 3, 4 } })
    local A, said, how = meissa.zeros(4), {}, { grid = { 1 } }
    for k, engine in ipairs { "lua", "native" } do
      how.engine = engine
      said[k] = expect.raises("ARR", "there are 2 entries with these subscripts", function()
        for i in parallel(4, how) do A[i] = X[i][i] end
      end)
      assert.same({ 2 }, said[k].iteration)
    end
    assert.equal(said[1].message, said[2].message)
    assert.equal(said[1].line, said[2].line)
  end)
end)

describe("errors in functions of another file", function()
  local expect = require "spec.support.expect"

  it("are placed there by both engines", function()
    expect.with_directory(function(path)
      expect.put(path .. "/helper.lua", [[
        local M = {}
        function M.get(A, i)
          local one = 1
          return A[i + one]
        end
        function M.put(A, i)
          local w =
            i
          A[i + 1] = w

        end
        function M.none(x)
          local v
          if x > 100 then v = 1 end
          return x + v
        end
        function M.draw(x) local v = meissa.random(x, 1) return v end
        return M
      ]])
      local helper = setfenv(assert(loadfile(path .. "/helper.lua")),
        setmetatable({ meissa = meissa }, { __index = _G }))()
      local get, put, none, draw = helper.get, helper.put, helper.none, helper.draw
      local A, B = meissa.zeros(10), meissa.zeros(10)
      local how = { grid = { 1 } }
      local cases = {
        { 4, "ARR", 10, function() for i in parallel(10, how) do B[i] = get(A, i) end end },
        { 4, "ARR", 10, function() for i in parallel(10, how) do B[i] = 2 * get(A, i) end end },
        { 15, "BDY", 1, function() for i in parallel(10, how) do B[i] = none(i) end end },
        { 17, "BDY", 2, function() for i in parallel(10, how) do B[i] = draw(i) end end },
        { 9, "ARR", 10, function() for i in parallel(10, how) do put(A, i) end end },
      }
      for _, case in ipairs(cases) do
        local line, code, iteration, loop = unpack(case)
        local said = {}
        for _, engine in ipairs { "lua", "native" } do
          how.engine = engine
          local err = expect.raises(code, path .. "/helper.lua:" .. line .. ": ", loop)
          assert.same({ iteration }, err.iteration)
          said[#said + 1] = err.message
        end
        assert.equal(said[1], said[2])
      end
    end)
  end)
end)
