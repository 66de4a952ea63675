-- SPDX-License-Identifier: MIT
--
-- Encoded values: what LuaJIT writes comes back; what a file or message must not hold is refused
-- before it takes memory.

local array = require "meissa.array"
local buffer = require "string.buffer"
local checksum = require "spec.support.checksum"
local encoded = require "meissa.base.encoded"
local expect = require "spec.support.expect"
local ffi = require "ffi"
local file = require "meissa.file"
local raises, with_directory, put, get = expect.raises, expect.with_directory, expect.put,
  expect.get

local seed = require "spec.support.seed"

local function bytes_of(number)
  return ffi.string(ffi.new("uint32_t[1]", number), 4)
end

-- Lengths at which the format of counts changes, and any.
local lengths = { 0, 1, 191, 192, 193, 223, 224, 8000, 8127, 8128, 8160, 8161, 70000 }

local function random_string()
  local length = math.random(4) == 1 and lengths[math.random(#lengths)] or math.random(0, 12)
  return string.char(math.random(0, 255)):rep(length)
end

local numbers = { 0, -0.0, 1, -1, 2 ^ 31, -2 ^ 31, 2 ^ 53, 1 / 0, -1 / 0, 0 / 0, -(0 / 0), 5e-324 }

local function random_number()
  local kind = math.random(3)
  if kind == 1 then return numbers[math.random(#numbers)] end
  return kind == 2 and math.random(-1e6, 1e6) or math.random()
end

local leaves = {
  random_string, random_number,
  function() return math.random(2) == 1 end,
}

local random_value

local function random_key()
  if math.random(2) == 1 then return random_string() end
  local key = random_number()
  return key == key and key or 1
end

local function random_table(depth)
  local made = {}
  if math.random(2) == 1 then
    local count = math.random(20) == 1 and lengths[math.random(10)] or math.random(0, 6)
    for k = math.random(0, 1), count do made[k] = random_value(count > 20 and 0 or depth - 1) end
  end
  if math.random(2) == 1 then
    for _ = 1, math.random(0, 6) do made[random_key()] = random_value(depth - 1) end
  end
  return made
end

function random_value(depth)
  if depth > 0 and math.random(2) == 1 then return random_table(depth) end
  return leaves[math.random(#leaves)]()
end

local function same(a, b)
  if type(a) ~= type(b) then return false end
  if type(a) == "number" then return a == b and 1 / a == 1 / b or a ~= a and b ~= b end
  if type(a) ~= "table" then return a == b end
  for key, value in pairs(a) do
    if not same(value, b[key]) then return false end
  end
  for key in pairs(b) do
    if a[key] == nil then return false end
  end
  return true
end

-- Keys and elements that make a table one that is not plain.
local strange = {
  function() return {} end, function() return { 1, "x" } end, function() return print end,
  function() return 2LL end, function() return 3ULL end, function() return io.stdout end,
  function() return ffi.new("int[2]") end, function() return coroutine.create(print) end,
}

-- A table of plain keys and elements, and one that is like it but for one key or element.
local function random_tables()
  local one, other = {}, {}
  local count = math.random(0, 3) == 0 and math.random(0, 40) or math.random(100)
  for k = 1, count do
    local key = math.random(3) == 1 and random_string() or k
    local value = leaves[math.random(3)]()
    one[key], other[key] = value, value
  end
  local odd = strange[math.random(#strange)]()
  if math.random(3) == 1 then other[odd] = true else other[math.random(count + 1)] = odd end
  return one, other
end

describe("encoded values", function()
  setup(function() math.randomseed(seed) end)

  it("come back, whatever they are (seed " .. seed .. ")", function()
    for _ = 1, 2000 do
      local value = random_value(5)
      local bytes = buffer.encode(value)
      assert.is_true(same(value, (encoded.from_file(bytes))))
      assert.is_true(same(value, (encoded.from_message(bytes))))
      assert.is_nil((encoded.from_file(bytes .. "\0")))
      if #bytes > 1 then
        assert.is_nil((encoded.from_file(bytes:sub(1, math.random(#bytes - 1)))))
      end
    end
  end)

  it("come back if nested as deep as LuaJIT encodes", function()
    local deep = {}
    for _ = 2, 100 do deep = { deep } end
    assert.is_true(same(deep, (encoded.from_file(buffer.encode(deep)))))
  end)

  it("are 64-bit integers in messages only", function()
    for _, value in ipairs { 5LL, -1LL, 2ULL ^ 63 } do
      local bytes = buffer.encode { value }
      assert.is_true(encoded.from_message(bytes)[1] == value)
      local none, fault = encoded.from_file(bytes)
      assert.is_nil(none)
      assert.matches("64%-bit", fault)
    end
  end)

  local bad = { pointer = buffer.encode(buffer.decode("\3")), address = "\5" .. ("\16"):rep(8),
    complex = buffer.encode(ffi.new("complex", 1, 2)), tag = "\7" .. ("\255"):rep(8), none = "",
    ["nil"] = "\9\1\0\2", twice = "\9\2\33k\2\33k\2",
    nan = "\9\1\7\0\0\0\0\0\0\248\255\2" }
  for name, bytes in pairs(bad) do
    it("are none of these in files and messages, " .. name, function()
      assert.is_nil((encoded.from_file(bytes)))
      assert.truthy(select(2, encoded.from_file("\12\2" .. bytes)))
      raises("NET", "a message between processes", function() encoded.from_message(bytes) end)
    end)
  end

  -- Forty bytes that announce tables of millions of elements, first ones nested in each other.
  local huge = { "\12\255" .. bytes_of(2 ^ 26), "\9\255" .. bytes_of(2 ^ 25),
    "\10\255" .. bytes_of(2 ^ 26), "\13\255" .. bytes_of(2 ^ 26) .. "\255" .. bytes_of(2 ^ 25) }
  for k, head in ipairs(huge) do
    it("take memory for what they have, not for what they announce, case " .. k, function()
      local bytes = head:rep(math.floor(40 / #head)) .. ("\1"):rep(40 % #head)
      assert.equal(40, #bytes)
      collectgarbage()
      collectgarbage("stop")
      local before = collectgarbage("count")
      local value, fault = encoded.from_file(bytes)
      local taken = collectgarbage("count") - before
      collectgarbage("restart")
      assert.is_nil(value)
      assert.truthy(fault)
      assert.is_true(taken < 64, ("%d KB"):format(taken))
    end)
  end

  it("take memory in proportion to their length", function()
    -- The dearest streams: empty tables (72 bytes for one), nil in an array, keys in a hash part.
    -- A machine code trace that is left may decode twice.
    local count, keys = 20000, {}
    for k = 1, count do keys[k] = ("\6%s\0"):format(bytes_of(k * 1000)) end
    for _, bytes in ipairs {
      "\12\255" .. bytes_of(count + 1) .. ("\8"):rep(count),
      "\12\255" .. bytes_of(count + 1) .. ("\0"):rep(count),
      "\9\255" .. bytes_of(count) .. table.concat(keys),
    } do
      collectgarbage()
      collectgarbage("stop")
      local before = collectgarbage("count")
      assert.equal("table", type((encoded.from_file(bytes))))
      local taken = (collectgarbage("count") - before) * 1024
      collectgarbage("restart")
      assert.is_true(taken < 200 * #bytes + 65536, ("%d of %d"):format(taken, #bytes))
    end
  end)

  it("tells tables of plain values from others", function()
    math.randomseed(seed)
    for _ = 1, 2000 do
      local one, other = random_tables()
      assert.is_true(encoded.is_plain(one))
      assert.is_false(encoded.is_plain(other))
    end
    local large = {}
    for k = 1, 300000 do large[k] = "line " .. k end
    assert.is_true(encoded.is_plain(setmetatable(large, { __index = print })))
    large.last = large
    assert.is_false(encoded.is_plain(large))
    -- What many ways lead to is not written once for each of them.
    local function nested(place)
      local node = {}
      for _ = 1, 60 do
        local list = {}
        for k = 1, 200 do list[k] = k end
        place(list, node)
        node = list
      end
      return node
    end
    assert.is_false(encoded.is_plain(nested(function(list, node)
      list.left, list.right = node, node
    end)))
    assert.is_false(encoded.is_plain(nested(function(list, node)
      list[201], list[202] = node, node
    end)))
    assert.is_false(encoded.is_plain(nested(function(list, node)
      for k = 1, 2000 do list["key " .. k] = k end
      list.left, list.right = node, node
    end)))
  end)
end)

-- A model's file whose values are these bytes, with the right checksum.
local function model_file(body)
  return checksum.close("\147MEISSAM" .. bytes_of(1) .. bytes_of(0) .. bytes_of(#body)
    .. bytes_of(0) .. body)
end

-- A file of an array of objects.
local function objects_file(count, body)
  local words = { 1, 0, 1, 4, 1, 0, count, 0, count, 0, 0, #body, 0 }
  for k, word in ipairs(words) do words[k] = bytes_of(word) end
  return checksum.close("\147MEISSAS" .. table.concat(words) .. body)
end

describe("files", function()
  local function load(content)
    local result
    with_directory(function(dir)
      put(dir .. "/x", content)
      result = file.load(dir .. "/x")
    end)
    return result
  end

  it("are written and read as these specs take them", function()
    assert.same({ 1, "x" }, load(model_file(buffer.encode { 1, "x" })))
    local O = load(objects_file(3, buffer.encode { items = { "a", nil, { 5 } } }))
    assert.same({ "a", nil, { 5 } }, { O[1], O[2], O[3] })
    with_directory(function(dir)
      file.save(dir .. "/m", { array.ones(2), 7 })
      local text = get(dir .. "/m")
      assert.equal(text, checksum.close(checksum.open(text)))
    end)
  end)

  local pointer = "\5\16\0\0\0\0\0\0\0"
  local bad = {
    { "a pointer", "\12\2" .. pointer }, { "64-bit integer", buffer.encode { 5LL } },
    { "unknown kind", buffer.encode { ffi.new("complex", 1, 2) } },
    { "larger than itself", "\12\255" .. bytes_of(2 ^ 26) }, { "cut short", "" },
    { "bits of another value", "\12\2\7" .. ("\255"):rep(8) },
  }
  for k, case in ipairs(bad) do
    it("hold no other values, case " .. k, function()
      raises("FIL", case[1], function() load(model_file(case[2])) end)
      raises("FIL", case[1], function() load(objects_file(1, "\9\1\37items" .. case[2])) end)
    end)
  end

  it("hold elements of objects inside the extents only", function()
    for _, items in ipairs { { [4] = 1 }, { [0] = 1 }, { [1.5] = 1 }, { x = 1 } } do
      raises("FIL", "outside the extents", function()
        load(objects_file(3, buffer.encode { items = items }))
      end)
    end
    raises("FIL", "no table", function() load(objects_file(3, buffer.encode { items = 5 })) end)
    raises("FIL", "no table", function()
      load(objects_file(3, buffer.encode { items = {}, labels = 5 }))
    end)
    raises("FIL", "no table", function() load(model_file("\2")) end)
    local O = load(objects_file(2 ^ 31 - 1, buffer.encode { items = { [7] = 1 } }))
    assert.equal(1, O[7])
  end)

  it("are not made of cdata or pointers", function()
    with_directory(function(dir)
      local path = dir .. "/m"
      for _, value in ipairs { 5LL, buffer.decode("\3"), ffi.new("int[2]"), io.stdout } do
        raises("OPT", "can be saved", function() file.save(path, { x = value }) end)
        raises("OPT", "a key of", function() file.save(path, { [value] = 1 }) end)
        local O = require("meissa").objects(1)
        raises("ARR", "cannot store", function() O[1] = { value } end)
        O[1] = {}
        O[1][1] = value -- is not seen
        raises("ARR", "element 1", function() O:save(path) end)
      end
      assert.is_nil(io.open(path))
    end)
  end)
end)
