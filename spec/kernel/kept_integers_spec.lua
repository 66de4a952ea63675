-- SPDX-License-Identifier: MIT
-- Integers that machine code keeps: locals that are subscripts, computed once though a number from
-- outside has to be whole for them, and choices between integers, which elements take unchecked.
local array = require "meissa.array"
local native = dofile("spec/kernel/native.lua")
local run = dofile("spec/kernel/run.lua")

local life = [[for i in parallel(n) do for j = 1, n do
  local u, d, l, r = (i - 2) % n + 1, i % n + 1, (j - 2) % n + 1, j % n + 1
  local s = A[u][l] + A[u][j] + A[u][r] + A[i][l] + A[i][r] + A[d][l] + A[d][j] + A[d][r]
  B[i][j] = (s == 3 or s == 2 and A[i][j] == 1) and 1 or 0
end end]]

-- Texts over i and j = 1, n that work on A and B.
local others = {
  far = "for i in parallel(n) do local k = (i * 5 - 40) % n + 1 B[k][1], B[k][2] = k, A[k][1] end",
  fraction = "for i in parallel(n) do local k = i * half * 2 B[i][1] = k A[k][2] = 7 end",
  ["no subscript"] =
    "for i in parallel(n) do local k = i * half B[i][1] = k < 3 and 1 or k * 2 end",
  choices = [[for i in parallel(n) do
    local c = i > 2 and i or -7
    B[i][1], B[i][2] = c, (i % 2 == 0 and 3 or c) + (i > 4 and 1 or 0)
  end]],
  ["large choice"] = "for i in parallel(n) do B[i][1] = (i == 3 and 2147483648 or 0) - 5 end",
  ["wrong choice"] = "for i in parallel(n) do B[i][1] = i == 3 and 2147483648 or 0 end",
}

local function world(n)
  local int = {type = "int32"}
  local env = {n = n, half = 0.5, A = array.zeros({n, n}, int), B = array.zeros({n, n}, int)}
  for i = 1, n do
    for j = 1, n do env.A[i][j] = (i * 7 + j * 13 + i * j) % 3 == 0 and 1 or 0 end
  end
  return env
end

-- The text of the blocks of which guards hold.
local function quick(text, n)
  local emitted = assert(native.emit(text, world(n), {ranges = {{1, n}}}))
  return run.behind_prelude(emitted):match "ms_quick(.-)\n}"
end

describe("integers in C", function()
  teardown(native.finish)

  for _, n in ipairs {1, 2, 7, 16} do
    it("of a grid with wrapped edges have the bits of the Lua engine: " .. n, function()
      local function over() return {ranges = {{1, n}}} end
      assert.is_nil(native.compare(life, function() return world(n) end, over))
    end)
  end

  for name, text in pairs(others) do
    it("have the bits of the Lua engine, and its errors: " .. name, function()
      local function over() return {ranges = {{1, 8}}} end
      assert.is_nil(native.compare(text, function() return world(8) end, over))
    end)
  end

  it("are computed once where a local has them", function()
    assert.equal(4, select(2, quick(life, 16):gsub("ms_whole_wrapped%(", "")))
  end)

  it("are stored unchecked where a condition chooses between small ones", function()
    assert.is_nil(quick(life, 16):find("MS_NATIVE_VALUE", 1, true))
    assert.truthy(quick(others["wrong choice"], 8):find("MS_NATIVE_VALUE", 1, true))
  end)
end)
