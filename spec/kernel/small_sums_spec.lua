-- SPDX-License-Identifier: MIT
-- Sums of elements of int32 arrays, which are computed in 32 bits where the rows are looked through
-- and found to be of small integers: the values and messages of the Lua engine for rows that are,
-- for those that just are not, and for both in one block.
local array = require "meissa.array"
local native = dofile("spec/kernel/native.lua")

local FLAGS, N, M = "-O1", 12, 26
local SMALL = 2 ^ 24

-- Values of the element at i, j of the arrays of integers.
local worlds = {
  small = function(i, j) return (i * 7 + j * 3) % 4 end,
  signed = function(i, j) return (i * 5 + j) % 7 - 3 end,
  most = function(i, j) return (i + j) % 3 == 0 and -SMALL or SMALL - 1 end,
  full = function() return SMALL - 1 end,
  above = function(i) return i == 7 and SMALL + 3 or SMALL - 1 end,
  below = function(_, j) return j == M and -SMALL - 1 or -SMALL end,
  twice = function() return 2 * SMALL + 5 end,
  huge = function(i, j) return (i + j) % 5 == 0 and -2 ^ 31 or 2 ^ 31 - 1 end,
  one = function(i, j) return (i == 5 or i == 1) and j >= M - 3 and 2 ^ 31 - 1 or i - j end,
}

local function world_of(value)
  return function()
    local whole = { type = "int32" }
    local env = {
      A = array.zeros({ N, M }, whole), C = array.zeros({ N, M }, whole),
      B = array.zeros({ N, M }, whole), L = array.zeros({ N, M }, { type = "int64" }),
      V = array.zeros({ N, M }), F = array.zeros({ N, M }, { type = "float" }),
      n = N, m = M, three = 3, total = 0,
    }
    for i = 1, N do
      for j = 1, M do env.A[i][j], env.C[i][j] = value(i, j), value(j % N + 1, i) end
    end
    return env
  end
end

local long = {}
for k = 1, 130 do long[k] = "A[i][j" .. (k % 3 == 0 and "" or " - " .. k % 3) .. "]" end
long = table.concat(long, " + ")

-- What it is, whether there are two texts, the body of `for i in parallel({2, n - 1})`.
local bodies = {
  { "neighbours", true, [[for j = 2, m - 1 do
      local near = A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j + 1] +
        A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]
      if near == 3 or near == 2 and A[i][j] == 1 then B[i][j] = 1 else B[i][j] = 0 end
    end]] },
  { "sums that are stored", true, [[for j = 2, m do B[i][j] = A[i][j - 1] + A[i][j] end]] },
  { "sums that become doubles", true, [[for j = 2, m do
      V[i][j] = (A[i - 1][j] + 2 * A[i][j] + A[i + 1][j - 1]) / 4
    end]] },
  { "sums that become floats and 64 bits", true, [[for j = 1, m do
      local off = A[i][j] - C[i - 1][j]
      F[i][j] = off L[i][j] = off - 3
    end]] },
  { "locals of elements", true, [[for j = 1, m - 1 do
      local a = A[i][j]
      local b = C[i][j + 1]
      local both = a + b
      V[i][j] = both * both - a if a + b > 7 then total = total + 1 end
    end]] },
  { "parts of arrays", true, [[local up, row = A[i - 1], A[i]
    for j = 2, m do V[i][j] = up[j] - row[j - 1] + row[j] - up[j - 1] end]] },
  { "elements in branches", true, [[for j = 2, m do
      if C[i][j] > 1 then V[i][j] = A[i][j] + A[i][j - 1] elseif A[i + 1][j] + C[i][j] == 3 then
        V[i][j] = A[i + 1][j] - C[i][j] end
    end]] },
  { "more terms than an int has room for", true, "for j = 3, m do V[i][j] = " .. long .. " end" },
  { "a local of so many", true, "for j = 3, m do local all = " .. long ..
    " V[i][j] = all if all < 0 then total = total + 1 end end" },
  { "products with room for one", true, [[for j = 2, m - 1 do
      V[i][j] = 64 * A[i][j] + 64 * A[i][j - 1] + 64 * A[i][j + 1]
    end]] },
  { "rows of several lengths", true, [[for c = 1, 8 do
      for j = 2, 17 + c do V[i][c] = V[i][c] + (A[1][j - 1] + A[1][j]) end
    end]] },
  { "a loop that is too short", true, [[for j = 2, i do V[i][j] = A[i][j - 1] + A[i][j] end]] },
  { "a loop that does not run", true, [[for j = m + 5, i do
      V[i][j] = A[i][j - 1] + A[i][j]
    end]] },
  { "numbers from outside", true, [[for j = 2, m do
      V[i][j] = A[i][j] + A[three][j - 1] - j
    end]] },
  { "rows that the body writes", false, [[for j = 2, m do A[i][j] = A[i][j - 1] + C[1][1] end]] },
  { "rows that it writes elsewhere", false, [[C[i][3] = i
    for j = 2, m do V[i][j] = C[i][j] + C[i][j - 1] end]] },
  { "other steps", false, [[for j = 2, m, 2 do V[i][j] = A[i][j - 1] + A[i][j] end]] },
  { "subscripts that are no neighbours", false, [[for j = 1, m do
      V[i][j] = A[i][m + 1 - j] + C[i][1 + j % 5]
    end]] },
  { "rows that change in the loop", false, [[for j = 1, n do
      V[i][j] = A[j][i] + A[j][i + 1]
    end]] },
  { "rows of what may be nil", false, [[local k = i > 3 and i or nil
    if k then for j = 2, m do V[i][j] = A[k][j] + A[k][j - 1] end end]] },
  { "rows that are not there", false, [[local k = i > 3 and i + n or nil
    if k then for j = 2, m do V[i][j] = A[k][j] + A[k][j - 1] end end]] },
  { "rows at halves", false, [[for j = 2, m do
      V[i][j] = A[0.5 * i][j] + A[0.5 * i][j - 1]
    end]] },
  { "elements that are not added up", false, [[for j = 1, m do
      if A[i][j] > C[i][j] then V[i][j] = A[i][j] * C[i][j] end
    end]] },
}

describe("sums of small integers", function()
  local space = { ranges = { { 2, N - 1 } } }
  local list = {}
  for n, each in ipairs(bodies) do
    list[n] = { name = each[1], twice = each[2],
      text = ("for i in parallel(x) do\n%s\nend"):format(each[3]) }
  end
  local modes = { strict = { flags = FLAGS, pieces = 2, serial = true },
    fast = { flags = FLAGS, pieces = 2, serial = true, fast = true } }

  setup(function()
    for name, options in pairs(modes) do
      local texts = {}
      for n, each in ipairs(list) do
        texts[n] = assert(native.emit(each.text, world_of(worlds.small)(), space, options))
        each[name] = texts[n]
      end
      native.load_all(texts, name == "fast", FLAGS)
    end
  end)
  teardown(native.finish)

  for _, each in ipairs(list) do
    it("are two texts for " .. each.name .. (each.twice and "" or ": not"), function()
      for name in pairs(modes) do
        assert.equal(each.twice, each[name]:find("ms_are_small(&", 1, true) ~= nil)
      end
    end)

    for name, value in pairs(worlds) do
      it("are those of Lua for " .. each.name .. ", " .. name, function()
        local words = native.compare(each.text, world_of(value), function() return space end,
          modes.strict)
        if words then error(words .. "\n" .. each.text, 0) end
      end)
    end
  end
end)
