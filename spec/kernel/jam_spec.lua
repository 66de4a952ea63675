-- SPDX-License-Identifier: MIT
-- Several iterations of an outer loop at once, where an inner one sums up: the bits of the Lua
-- engine, also where sums stand in vectors; and one at a time where a later iteration reads what an
-- earlier one's tail writes.
-- MEISSA_TEST_SEED=n replays the random bodies.
local array = require "meissa.array"
local draws = require "spec.support.draws"
local native = dofile("spec/kernel/native.lua")

local seed = require "spec.support.seed"
local FLAGS, RANDOM = "-O1", 30

local function world()
  return {
    X = array.rand({ 9, 13 }, { seed = 1 }), C = array.rand({ 13, 13 }, { seed = 2 }),
    O = array.zeros({ 9, 13 }), at = array.zeros({ 9 }, { type = "int32" }),
    F = array.rand({ 13, 13 }, { seed = 3, type = "float" }),
    I = array.full({ 13, 13 }, 3, { type = "int32" }),
    L = array.full({ 13, 13 }, 3, { type = "int64" }), n = 11, m = 13, sum = 0, low = 2,
    scale = 0.3,
  }
end

-- What it is, whether copies are made, the body of `for i in parallel(9)`, and whether vectors are.
local bodies = {
  { "the nearest of rows", true, [[local best, near = 1e9, 0
    for c = 1, n do
      local d = 0
      for k = 1, m do local t = X[i][k] - C[c][k] d = d + t * t end
      if d < best then best, near = d, c end
    end
    at[i] = near sum = sum + best]], true },
  { "products with rows", true, [[local x = X[i]
    for c = 1, n do
      local w, s = C[c], scale
      for k = 1, m do s = s + x[k] * w[k] end
      O[i][c] = s
    end]], true },
  { "sums and differences in vectors", true, [[for c = 1, n do
      local s, p, q = 0, -0.0, X[i][1]
      for k = low, m do
        local half = (X[i][k] - scale) / 2
        s = s + half * C[c][k]
        p = p - half
        q = -C[c][k - 1] * c + q
      end
      O[i][c] = s + p * q
    end]], true },
  { "several sums", true, [[for c = 1, 10 do
      local s, p, q = 0, 1, X[i][1]
      for k = low, m do s, p = s + F[c][k], p * C[c][k] q = q - C[c][k] end
      O[i][c] = s + p * q
    end]], false },
  { "sums of floats in vectors", true, [[for c = 1, n do
      local s, p = 0, 0
      for k = 1, m do
        local off = F[c][k] - F[i][k] * scale
        s = s + off * off
        p = p - X[i][k] * I[c][k] / F[i][k]
      end
      O[i][c] = s + p
    end]], true },
  { "sums of wide integers", false, [[for c = 1, n do
      local s = 0
      for k = 1, m do s = s + L[c][k] * scale end
      O[i][c] = s
    end]], false },
  { "a sum of what is summed up", true, [[for c = 1, n do
      local s, p = 0, 0
      for k = 1, m do s = s + C[c][k] p = p + s end
      O[i][c] = p
    end]], false },
  { "rows that subscripts mix", true, [[for c = 1, n do
      local s = 0
      for k = 1, 9 do s = s + C[c][14 - k] * C[c][2 * k - k] end
      O[i][c] = s
    end]], false },
  { "downwards, by steps", true, [[for c = n, 1, -2 do
      local s = c
      for k = m, 1, -1 do s = s + math.sqrt(C[c][k]) end
      O[i][c] = s
    end]], false },
  { "counters", true, [[local count = 0
    for c = 1, n do
      local s = 0
      for k = 1, m do s = s + C[c][k] end
      if s > 6 then count = count + 1 O[i][count] = s end
    end
    at[i] = count]] },
  { "an inner loop as long as the outer one says", false, [[for c = 1, m do
      local s = 0
      for k = 1, c do s = s + C[c][k] end
      O[i][c] = s
    end]] },
  { "what the tail writes", false, [[for c = 1, m do
      local s = 0
      for k = 1, m do s = s + O[i][k] * C[c][k] end
      O[i][c] = s + 1
    end]] },
  { "a variable that the tail assigns", false, [[local last = 1
    for c = 1, n do
      local s = 0
      for k = 1, m do s = s + C[c][k] * last end
      last = s
      O[i][c] = s
    end]] },
  { "a tail that may end the loop", false, [[for c = 1, n do
      local s = 0
      for k = 1, m do s = s + C[c][k] end
      if s > 7 then break end
      O[i][c] = s
    end]] },
  { "a subscript that may be wrong", false, [=[for c = 1, n do
      local s = 0
      for k = 1, m do s = s + C[c][L[c][k]] end
      O[i][c] = s
    end]=] },
  { "elements next to each other", false, [[for c = 1, m do
      local s = 0
      for k = 1, m do s = s + X[i][k] * C[k][c] end
      O[i][c] = s
    end]] },
}

-- The same over two dimensions, where the loop itself is the outer one.
local planes = {
  { "a product with a transposed matrix", true, [[local s = 0
    for k = 1, m do s = s + X[i][k] * C[j][k] end
    O[i][j] = s
    if s > 1 then sum = sum + s end]], true },
  { "a tail that stops", true, [[local s = 0
    for k = 1, m do s = s + X[i][k] * C[j][k] end
    O[i][j + (s > 4 and 40 or 0)] = s]] },
}

local Body = draws.class()

function Body:term()
  return self:pick { "C[c][k]", "X[i][k]", "F[c][k]", "(X[i][k] - C[c][k])", "scale * C[c][k]",
    "C[c][k] * X[i][k]", "k", "math.max(C[c][k], scale)", "b" }
end

function Body:text()
  local sums, lines = self:random(3), { "local best = 5" }
  local function add(text, ...) lines[#lines + 1] = text:format(...) end
  add("for c = %s, %s do", self:pick { "1", "low", "3" }, self:pick { "n", "n - 1", "10", "low" })
  add("local b = %s", self:pick { "C[c][1]", "c", "scale", "X[i][c % 7 + 1]" })
  for s = 1, sums do add("local s%d = %s", s, self:pick { "0", "1", "b", "-0.0" }) end
  add("for k = %s, m do", self:pick { "1", "2", "low", "11" })
  for s = 1, sums do
    add("s%d = s%d %s %s", s, s, self:pick { "+", "-", "*" }, self:term())
  end
  add "end"
  if self:random(2) == 1 then add("if s1 < best then best = s1 at[i] = c end") end
  if self:random(4) == 1 then add("C[c][1] = s1") end
  add("O[i][c] = s%d", sums)
  add("sum = sum + best end")
  return table.concat(lines, "\n")
end

describe("copies of an outer loop (MEISSA_TEST_SEED=" .. seed .. ")", function()
  local list = {}

  local function add(name, jammed, body, vectors, plane)
    local indices = plane and "i, j" or "i"
    local ranges = plane and { { 1, 9 }, { 1, 11 } } or { { 1, 9 } }
    list[#list + 1] = { name = name, jammed = jammed, vectors = vectors,
      space = { ranges = ranges },
      text = ("for %s in parallel(x) do\n%s\nend"):format(indices, body) }
  end

  for _, each in ipairs(bodies) do add(unpack(each, 1, 4)) end
  for _, each in ipairs(planes) do add(each[1], each[2], each[3], each[4], true) end
  for number = 1, RANDOM do
    local worlds = dofile("spec/kernel/engines_world.lua")
    local body = setmetatable({ draw = worlds.draw(seed * 7919 + number) }, Body)
    add("random body " .. number, nil, body:text())
  end

  local options = { flags = FLAGS, pieces = 2, serial = true }
  setup(function()
    local texts = {}
    for n, each in ipairs(list) do
      each.source = assert(native.emit(each.text, world(), each.space, options))
      texts[n] = each.source
    end
    native.load_all(texts, false, FLAGS)
  end)
  teardown(native.finish)

  for _, each in ipairs(list) do
    it("keep the bits of " .. each.name, function()
      local jammed = each.source:find("const int64_t v[%w_]+_3 = ") ~= nil
      if each.jammed ~= nil then assert.equal(each.jammed, jammed) end
      local vectors = each.source:find("ms_four_sums%(t") ~= nil
      if each.vectors ~= nil then assert.equal(each.vectors, vectors) end
      local words = native.compare(each.text, world, function() return each.space end, options)
      if words then error(words .. "\n" .. each.text, 0) end
    end)
  end

  it("keep the bits of loops of any length", function()
    for n = 1, 13 do
      for _, m in ipairs { 0, 3, 4, 5, 6, 7, 8, 11, 12 } do
        local function short()
          local given = world()
          given.n, given.m = n, m
          return given
        end
        local each = list[2]
        local words = native.compare(each.text, short, function() return each.space end, options)
        if words then error(("%d x %d: %s"):format(n, m, words), 0) end
      end
    end
  end)

  it("are made of many random bodies, and vectors of some", function()
    local count, vectors = 0, 0
    for _, each in ipairs(list) do
      if each.jammed == nil and each.source:find("const int64_t v[%w_]+_3 = ") then
        count = count + 1
        if each.source:find("ms_four_sums%(t") then vectors = vectors + 1 end
      end
    end
    assert.is_true(count > RANDOM / 4)
    assert.is_true(vectors > 0)
  end)
end)
