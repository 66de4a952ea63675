-- SPDX-License-Identifier: MIT
-- Fast sums over the entries of sparse rows, of which long ones are added up in parts: no term is
-- left out or counted twice, whatever their number. All terms are whole, so that any order has the
-- same sum; products are of powers of two.
local array = require "meissa.array"
local native = dofile("spec/kernel/native.lua")

local ROWS, COLUMNS = 45, 60
local FLAGS = "-O1"

-- Row i has i - 1 entries.
local function entries(value)
  local lists = { i = {}, j = {}, v = {} }
  for i = 1, ROWS do
    for k = 1, i - 1 do
      table.insert(lists.i, i)
      table.insert(lists.j, (i * 7 + k * 11) % COLUMNS + 1)
      table.insert(lists.v, value(i, k))
    end
  end
  return array.sparse({ ROWS, COLUMNS }, lists)
end

local function world()
  local W = array.zeros({ COLUMNS })
  for j = 1, COLUMNS do W[j] = j % 13 - 6 end
  return {
    S = entries(function(i, k) return (i + k) % 9 - 4 end),
    P = entries(function(i, k) return 2 ^ ((i + k) % 5 - 2) end),
    F = array.from(W, { type = "float" }), W = W, D = array.zeros({ ROWS }),
    E = array.zeros({ ROWS }), n = ROWS, half = 0.5,
  }
end

-- What it is, whether there are parts, the body of `for i in parallel(n)`.
local bodies = {
  { "a sum", true, "local s = i for j, v in S[i]:nonzeros() do s = s + W[j] * v end D[i] = s" },
  { "a difference", true, [[local s = 0
    for j, v in S[i]:nonzeros() do s = s - W[j] * v end
    D[i] = s]] },
  { "a product", true, [[local p = 3
    for j, v in P[i]:nonzeros() do local w = W[j] - W[j] p = p * (w + v) end
    D[i] = p]] },
  { "several", true, [[local s, t, p = 1, 2, 3
    for j, v in S[i]:nonzeros() do
      local term = v * W[j]
      s = s + term
      t = t - (term + j) p = p + half * term
    end
    D[i] = s * 1000 + p E[i] = t]] },
  { "a sum that a term takes", true, [[local s, t = 0, 0
    for j, v in S[i]:nonzeros() do s = s + W[j] * v t = t + s end
    D[i] = s + t]] },
  { "a loop that leaves", false, [[local s = 0
    for j, v in S[i]:nonzeros() do s = s + W[j] * v if s > 40 then break end end
    D[i] = s]] },
  { "terms worth vectors", false, [[local s = 0
    for j, v in S[i]:nonzeros() do s = s + W[j] * v / half end
    D[i] = s]] },
  { "what columns are not asked for", false, [[local s = 0
    for j, v in S[i]:nonzeros() do s = s + v * v end
    D[i] = s]] },
}

describe("fast sums over entries", function()
  local options = { flags = FLAGS, pieces = 2, fast = true }
  local over = { ranges = { { 1, ROWS } } }
  teardown(native.finish)

  for _, each in ipairs(bodies) do
    local text = ("for i in parallel(n) do\n%s\nend"):format(each[3])
    it((each[2] and "take parts of " or "take no parts of ") .. each[1], function()
      local source = assert(native.emit(text, world(), over, options))
      assert.equal(each[2], source:find("__asm__", 1, true) ~= nil)
      local words = native.compare(text, world, function() return over end, options)
      if words then error(words, 0) end
    end)
  end
end)
