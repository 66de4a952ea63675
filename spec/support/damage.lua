-- SPDX-License-Identifier: MIT
--
-- Files of every format that Meissa reads, damage to them, and a walk over what was read of them,
-- to the end of a loop.

local array = require "meissa.array"
local checksum = require "spec.support.checksum"
local expect = require "spec.support.expect"
local ffi = require "ffi"
local meissa = require "meissa"

local parallel = meissa.parallel
local M = {}

-- Text formats ---------------------------------------------------------------------------------

local function lines_of(count, line)
  local list = {}
  for k = 1, count do list[k] = line(k) end
  return table.concat(list, "\n") .. "\n"
end

local words = { "\0", "\r", "\n", "\255", ":", "::", ",", '"', "-", ".", "e", "1e999", "#", "0",
  "1", "9999999999999999999", "2147483647", "2147483648", "4294967296", " ", "\t", "", "NaN", "inf",
  "+", "\239\187\191" }

local function damage_text(text)
  for _ = 1, math.random(3) do
    local at = math.random(0, #text)
    local cut = math.random(0, 3)
    text = text:sub(1, at) .. words[math.random(#words)] .. text:sub(at + cut + 1)
  end
  if math.random(6) == 1 then text = text:sub(1, math.random(0, #text)) end
  return text
end

local function text_format(name, text, read)
  return { name = name, text = text, read = read, damage = damage_text, is_text = true }
end

-- Binary formats -------------------------------------------------------------------------------

local numbers = { 0, 1, 2, 3, 4, 5, 8, 9, 16, 255, 2 ^ 16, 2 ^ 31 - 1, 2 ^ 31, 2 ^ 32 - 1 }

local function number_bytes(size)
  local bytes = ffi.string(ffi.new("uint32_t[1]", numbers[math.random(#numbers)]), 4)
  return size == 8 and bytes .. ("\0"):rep(4) or bytes
end

-- New bytes for those at a place.
local changes = {
  function(old) return string.char(bit.bxor(old:byte(), 2 ^ math.random(0, 7))), 1 end,
  function() return string.char(math.random(0, 255)), 1 end,
  function() return string.char(math.random(0, 0x24)), 1 end, -- a tag of string.buffer
  function() return number_bytes(4), 4 end,
  function() return number_bytes(8), 8 end,
  function() return ("\255"):rep(8), 8 end,
  function() return string.char(math.random(0, 255)), 0 end,
  function() return "", math.random(8) end,
}

local function damage_bytes(bytes)
  for _ = 1, math.random(3) do
    local at = math.random(#bytes)
    if math.random(2) == 1 then at = at - (at - 1) % 4 end
    local new, size = changes[math.random(#changes)](bytes:sub(at, at))
    bytes = bytes:sub(1, at - 1) .. new .. bytes:sub(at + size)
    if bytes == "" then return bytes end
  end
  if math.random(10) == 1 then bytes = bytes:sub(1, math.random(0, #bytes)) end
  return bytes
end

local header_words = { "True", "False", "'<f4'", "'<f8'", "'<i8'", "(2, 3)", "(0, 1000000000)", "L",
  "(", ",", "99999999", "'descr'", " " }

local function damage_npy(bytes)
  if math.random(2) == 1 then return damage_bytes(bytes) end
  local at = math.random(#bytes)
  local new = header_words[math.random(#header_words)]
  return bytes:sub(1, at - 1) .. new .. bytes:sub(at + #new)
end

-- Of four times one keeps the footer that does not go with it any more.
local function damage_own(bytes)
  if math.random(4) == 1 then return damage_bytes(bytes) end
  return checksum.close(damage_bytes(checksum.open(bytes)))
end

-- What may come behind some tags of string.buffer: the bits of numbers that are none, tables as
-- large as can be announced, keys that are nil.
local NUMBER, TABLE_FIRST, TABLE_LAST, WITH_HASH = 0x07, 0x08, 0x0d, 0x09
local aimed = {
  [NUMBER] = function() return ("\255"):rep(7) .. string.char(math.random(0xf8, 0xff)) end,
  [WITH_HASH] = function() return "\1\0" end,
}
for tag = TABLE_FIRST + 1, TABLE_LAST do
  local other = aimed[tag]
  aimed[tag] = function()
    if other and math.random(2) == 1 then return other() end
    return "\255\255\255\255" .. string.char(math.random(0, 0x7f))
  end
end

local function damage_behind_tag(bytes)
  local places = {}
  for at = 1, #bytes do
    if aimed[bytes:byte(at)] then places[#places + 1] = at end
  end
  local at = places[math.random(#places)]
  local new = aimed[bytes:byte(at)]()
  return bytes:sub(1, at) .. new .. bytes:sub(at + #new + 1)
end

-- Of a model of values alone their encoding is damaged, and the rest of the file goes with it: that
-- is what the decoder meets.
local HEAD, COUNT = 16, 8

local function damage_values(bytes)
  local damaged = math.random(3) == 1 and damage_behind_tag or damage_bytes
  local body = damaged(checksum.open(bytes):sub(HEAD + COUNT + 1))
  local size = ffi.string(ffi.new("uint64_t[1]", #body), COUNT)
  return checksum.close(bytes:sub(1, HEAD) .. size .. body)
end

-- What a file has after it was saved.
local function saved(value)
  local bytes
  expect.with_directory(function(dir)
    meissa.save(dir .. "/x", value)
    bytes = expect.get(dir .. "/x")
  end)
  return bytes
end

local function triples_of(text)
  return (expect.reading(meissa.read.triples, text))
end

-- A table has at most one key beside a list: the order of several differs from run to run.
local function model()
  local O = meissa.objects(3)
  O[1], O[3] = { "one", words = { "a", "b" } }, "three"
  return {
    meissa.from { { 1.5, -2, 0 / 0 }, { 4, 5, 6 } }, meissa.from({ 1, 2, 3 }, { type = "int32" }),
    meissa.from({ 7, 2 ^ 53 }, { type = "int64" }), O,
    meissa.from({ { { 1 }, { 2 } } }, { type = "float" }),
    triples_of("ann,x,5\nbob,y,2.5\nann,y,1\n"), triples_of("10 7 1\n3 7 2\n"),
    (expect.reading(meissa.read.triples, "5 7\n7 9\n", { square = true })), { rank = 16 }, "two",
    true, { deep = { {} } },
  }
end

local function values()
  return { 1, 2.5, "text", true, { 1, 2, 3, name = "x" }, { [7] = false }, { {} }, { {}, {}, {} },
    { deep = { { { { -1e300 } } } } }, { [0.5] = ("long "):rep(5) }, 2 ^ 40 }
end

--- The formats: {name =, text = of a whole file, read(path), damage(text)}; `small` if what is read
-- takes Lua memory in proportion to the file.
M.formats = {
  text_format("libsvm", lines_of(30, function(k)
    return ("%d 1:%g %d:2 20:-1e3"):format(k % 2, k / 7, k % 9 + 3)
  end), function(path) return (meissa.read.libsvm(path)) end),
  text_format("docword", "9\n9\n30\n" .. lines_of(30, function(k)
    return ("%d %d %d"):format(k % 9 + 1, k % 7 + 1, k)
  end), function(path) return (meissa.read.docword(path)) end),
  text_format("csv", 'a,"b",c\n' .. lines_of(30, function(k)
    return ('%d,"%g",NA'):format(k, k / 3)
  end), function(path) return (meissa.read.csv(path, { missing = "nan" })) end),
  text_format("triples", lines_of(30, function(k)
    return ("u%d::%d::%g"):format(k % 5, k % 7, k / 2)
  end), function(path) return meissa.read.triples(path) end),
  text_format("lines", lines_of(30, function(k) return ("%d %d"):format(k, k * k) end),
    function(path)
      return meissa.read.lines(path, function(line)
        local i, v = line:match("^(%d+) (%d+)$")
        if i then return tonumber(i), tonumber(v) end
      end)
    end),
  { name = "npy", text = checksum.open(saved(meissa.from { { 1, -2.5, 3 }, { 4, 5, 0 / 0 } })),
    read = meissa.load, damage = damage_npy },
  { name = "npy_float", text = checksum.open(saved(meissa.rand({ 2, 3, 2 },
    { type = "float", seed = 1 }))), read = meissa.load, damage = damage_npy },
  { name = "model", text = saved(model()), read = meissa.load, damage = damage_own },
  { name = "values", text = saved(values()), read = meissa.load, damage = damage_values,
    small = true },
}

-- The walk -------------------------------------------------------------------------------------

-- More iterations, of which a file may announce any number, are not made.
local MOST = 1000

local function check_number(value)
  if type(value) ~= "number" then error("an element is a " .. type(value), 0) end
end

local function check_labels(A)
  for d = 1, A:dim() do
    for i = 1, math.min(A:size(d), 4) do
      local label = A:label(d, i)
      assert(type(label) == "number" or type(label) == "string", "a label is a " .. type(label))
      A:index(d, label)
    end
  end
end

local function walk_sparse(S)
  local sum = 0
  for k, v in ipairs(S:totable().v) do
    check_number(v)
    if k == MOST then break end
  end
  if S:dim() == 2 then
    for i, j, v in parallel(S) do sum = sum + v * (i + j) end
  elseif S:dim() == 3 then
    for i, j, k, v in parallel(S) do sum = sum + v * (i + j + k) end
  end
  check_number(sum)
end

local function walk_dense(A)
  local sum, n = 0, A:size(1)
  if n > MOST then return end
  if A:dim() == 1 then
    for i in parallel(n) do sum = sum + A[i] end
  elseif A:dim() == 2 then
    local m = A:size(2)
    if m > MOST then return end
    for i in parallel(n) do
      for j = 1, m do sum = sum + A[i][j] end
    end
  end
  check_number(sum)
  if A:nnz() > 0 then check_number(A:max()) end
  local list = A:clone():totable()
  while type(list) == "table" do list = list[1] end
  if A:nnz() > 0 then check_number(list) end
end

local known = { ["nil"] = true, boolean = true, number = true, string = true, table = true }

local function walk_objects(O)
  local n, seen = math.min(O:size(1), MOST), 0
  if O:dim() > 1 then return end
  for i = 1, n do assert(known[type(O[i])], "an element is a " .. type(O[i])) end
  for i in parallel(n) do
    local value = O[i]
    seen = seen + (value ~= nil and 1 or 0)
  end
  check_number(seen)
end

--- Goes over all that was read: arrays to the end of a loop, tables to their leaves.
function M.walk(value)
  if not meissa.is_array(value) then
    assert(known[type(value)], "a value is a " .. type(value))
    if type(value) == "table" then
      for key, each in pairs(value) do
        M.walk(key)
        M.walk(each)
      end
    end
    return
  end
  check_labels(value)
  tostring(value)
  if value:type() == "object" then return walk_objects(value) end
  if array.describe(value).sparse then return walk_sparse(value) end
  walk_dense(value)
end

return M
