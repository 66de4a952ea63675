-- SPDX-License-Identifier: MIT
-- Captured tables that are sent once: they are recognised while they stay what they are, and any
-- change to them is seen.
local meissa = require "meissa"
local ffi = require "ffi"
local large_values = require "meissa.kernel.large_values"
local serialize = require "meissa.kernel.serialize"
local parallel = meissa.parallel

local N = 4000

local function records()
  local list = {}
  for k = 1, N do list[k] = {id = k, at = {k, -k}, text = ("x"):rep(100)} end
  return list
end

-- How many encodings begin while fn runs that meet a table of so many elements first.
local function encodings(list, fn)
  local encode, count = serialize.encode, 0
  serialize.encode = function(values, n, ...)
    for k = 1, n do
      if rawequal(values[k], list) then count = count + 1 end
    end
    return encode(values, n, ...)
  end
  local ok, err = pcall(fn)
  serialize.encode = encode
  assert.is_true(ok, err)
  return count
end

-- How many tables are sent apart by what is encoded while fn runs.
local function parts_apart(fn)
  local encode, count = large_values.encode, 0
  function large_values.encode(...)
    local bytes, apart, known, lasting = encode(...)
    count = count + #apart
    return bytes, apart, known, lasting
  end
  local ok, err = pcall(fn)
  large_values.encode = encode
  assert.is_true(ok, err)
  return count
end

-- What the body sees of a table: the sum of its ids, second elements and lengths.
local function plainly(list)
  local sum, kinds = 0, 0
  for i = 1, N do
    local each = list[i]
    sum = sum + each.id + (each.at[3] or 0) + each.at[2] * 3 + #each.text
    if each.at == list[1].at then kinds = kinds + 1 end
    if getmetatable(each) then kinds = kinds + 1000 end
    if each.call then kinds = kinds + 10000 end
  end
  return sum, kinds
end

-- What is done to a table between executions, and whether it may be sent once afterwards.
local Class = {}
local CHANGES = {
  {"an element", function(list) list[7].id = 1000 end},
  {"an element of an element", function(list) list[9].at[2] = 5 end},
  {"a new element", function(list) list[N].at[3] = 11 end},
  {"an element gone", function(list) list[5].at[3] = 11 list[5].at[3] = nil end, same = true},
  {"a string", function(list) list[8].text = "y" end},
  {"another table of the same content", function(list) list[3].at = {3, -3} end},
  {"one table twice", function(list) list[3].at = list[1].at end},
  {"a metatable", function(list) setmetatable(list[N], Class) end},
  {"a function", function(list) list[2].call = function() return 1 end end},
}

for _, shm in ipairs {true, false} do
  describe("captured tables that are sent once, " .. (shm and "shared" or "by value"), function()
    setup(function() meissa.init {workers = 2, shm = shm} end)
    teardown(function() meissa.init {} end)

    it("are recognised, and what changes in them is seen", function()
      for _, each in ipairs(CHANGES) do
        local list = records()
        local function run()
          local sum, kinds = 0, 0
          for i in parallel(N) do
            local one = list[i]
            sum = sum + one.id + (one.at[3] or 0) + one.at[2] * 3 + #one.text
            if one.at == list[1].at then kinds = kinds + 1 end
            if getmetatable(one) then kinds = kinds + 1000 end
            if one.call then kinds = kinds + 10000 end
          end
          local wanted, wanted_kinds = plainly(list)
          assert.equal(wanted, sum, each[1])
          assert.equal(wanted_kinds, kinds, each[1])
        end
        assert.equal(1, encodings(list, run)) -- not with the rest first
        assert.equal(0, encodings(list, run))
        collectgarbage()
        assert.equal(0, encodings(list, run))
        each[2](list)
        local count = encodings(list, run)
        assert.is_true(each.same or count > 0, each[1])
        run()
      end
    end)

    it("are others where another table stands in their place", function()
      local list = records()
      local function run()
        local sum = 0
        for i in parallel(N) do sum = sum + list[i].id end
        return sum
      end
      assert.equal(N * (N + 1) / 2, run())
      list = records()
      list[1].id = 0
      assert.equal(N * (N + 1) / 2 - 1, run())
    end)

    it("are lists of lines, too, shorter ones on the Lua engine", function()
      for _, n in ipairs {400, N} do
        local lines = {}
        for k = 1, n do lines[k] = ("x"):rep(100) .. k end
        local function run()
          local sum, expected = 0, 0
          for i in parallel(n) do sum = sum + #lines[i] + lines[i]:byte() end
          for i = 1, n do expected = expected + #lines[i] + lines[i]:byte() end
          assert.equal(expected, sum)
        end
        assert.equal(1, encodings(lines, run))
        assert.equal(0, encodings(lines, run))
        assert.equal(1, parts_apart(function()
          lines[1] = lines[1]:rep(2)
          run()
        end))
        lines[n / 2] = ("y"):rep(100) .. n / 2
        assert.equal(1, encodings(lines, run))
        assert.equal(0, encodings(lines, run))
      end
    end)
  end)
end

describe("tables that a worker has decoded", function()
  local count = 0

  -- What is decoded of a table with `length` letters, as number `number`.
  local function decoded(number, length)
    local options = {path = tostring, find_array = function() end}
    local bytes = serialize.encode({{number, ("x"):rep(length)}}, 1, options)
    local digest = "digest " .. count .. " " .. number
    local value = large_values.decode(ffi.cast("const char *", bytes), #bytes, digest, 1)
    assert.equal(number, value[1])
    return value
  end

  -- How many of `all` are kept after the others came.
  local function kept_of(all, length)
    count = count + 1
    local first, kept = {}, 0
    for k = 1, all do first[k] = decoded(k, length) end
    for k = all, 1, -1 do
      if rawequal(first[k], (decoded(k, length))) then kept = kept + 1 else break end
    end
    return kept
  end

  it("are kept as long as they are few, or small", function()
    assert.equal(8, kept_of(20, 1000000))
    assert.equal(64, kept_of(80, 20000))
    assert.equal(41, kept_of(60, 100000))
  end)
end)

describe("a loop that has run", function()
  it("keeps no captured table alive", function()
    meissa.init {workers = 1}
    local list = records()
    local seen = setmetatable({list, list[5]}, {__mode = "v"})
    local A = meissa.zeros(N)
    local function run(t) for i in parallel(N) do A[i] = t[i].id end end
    run(list)
    run(list)
    list = nil -- luacheck: ignore 311
    for _ = 1, 4 do collectgarbage() end
    assert.same({}, seen)
    meissa.init {}
  end)
end)
