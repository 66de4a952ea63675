-- SPDX-License-Identifier: MIT
-- Subscripts around the edges of a grid, `i > 1 and i - 1 or n`: where what each condition leaves
-- of an index is inside, nothing is checked in the loop; elsewhere it stops as the Lua engine does.
local bodies = dofile "spec/kernel/bodies.lua"
local native = dofile "spec/kernel/native.lua"

-- Texts over i = 1, 12, of arrays with 12 and 5 elements along their dimensions; whether the quick
-- text checks nothing, and whether it is the one that runs: all subscripts are known to be inside.
local texts = {
  {"the one before", true, true, "B[i] = A[i > 1 and i - 1 or n][1]"},
  {"the one behind", true, true, "B[i] = A[i < n and i + 1 or 1][1]"},
  {"at the end itself", true, true, "B[i] = A[i == n and 1 or i][1]"},
  {"conditions that leave the ends", true, true, "B[i] = A[i <= 1 and n or i - 1][1]"},
  {"the index on the right", true, true, "B[i] = A[1 < i and i - 1 or n][1]"},
  {"by a local", true, true, "local up = i > 1 and i - 1 or n B[i] = A[up][2] + A[up][3]"},
  {"of inner loops", true, true, "for k = 1, m do A[i][k] = F[i][k > 1 and k - 1 or m] end"},
  {"of inner loops, by locals", true, true, "for k = 1, m do local l, r = k > 1 and k - 1 or m, " ..
    "k < m and k + 1 or 1 A[i][k] = F[i][l] - F[i][r] end"},
  {"one in another", true, true,
   "for k = 1, m do A[i][k] = F[i][k > 2 and k - 2 or (k > 1 and m or 1)] end"},
  {"on both sides", true, true, "B[i] = A[i > 1 and (i < n and i + 1 or n) or n][1]"},
  {"remainders", true, true, "B[i] = A[(i - 2) % n + 1][1] + A[i % n + 1][2] + " ..
    "A[(i + 30) % n + 1][3] - A[(i - 40) % n + 1][4]"},
  {"quotients by products", true, true,
   "local q = 2 B[i] = A[math.floor((i + 5) / (q * 3)) + 1][1]"},
  {"remainders by products", true, true, "local q = 2 B[i] = A[(i + 30) % (q * 3) + 1][1]"},
  {"quotients by products, too far down", true, false,
   "local q = 2 B[i] = A[math.floor(i / (q * 3))][1]"},
  {"the last one too far", true, false, "B[i] = A[i > 1 and i - 1 or n + 1][1]"},
  {"too far down", true, false, "B[i] = A[i > 0 and i - 1 or n][1]"},
  {"too far up", true, false, "B[i] = A[i <= n and i + 1 or 1][1]"},
  {"no whole numbers", true, false, "B[i] = A[i > 1 and i - lr or n][1]"},
  {"another variable", true, false, "for k = 1, m do A[i][k] = F[i][i > 1 and k - 1 or m] end"},
  {"at the end, which is left", true, true, "B[i] = A[i >= n and 1 or i + 1][1]"},
  {"by an element", false, false, "B[i] = A[C[i][1] > 0 and C[i][1] or i][1]"},
  {"with an end that is no whole number", true, false, "B[i] = A[i < lr and i + 1 or 1][1]"},
  {"where it is assigned", false, false,
   "local u = i if u > 6 then u = 1 end B[i] = A[u > 1 and u - 1 or n][1]"},
}

-- The part of a kernel's text that runs where its guards hold.
local function quick_of(text)
  return text:match("ms_quick(.-)\nstatic [^\n]*ms_careful%(") or text
end

local function loop(text) return ("for i in parallel(n) do %s end"):format(text) end

describe("subscripts around edges", function()
  teardown(native.finish)

  for _, each in ipairs(texts) do
    it("are checked before the loop or in it: " .. each[1], function()
      local text = native.emit(loop(each[4]), bodies.world(), bodies.over_rows())
      assert.is_string(text)
      assert.equal(each[2], quick_of(text):find("ms_stop(", 1, true) == nil)
      local prospects = {}
      assert.is_nil(native.compare(loop(each[4]), bodies.world, bodies.over_rows,
        {pieces = 3, prospects = prospects}))
      for _, ends in ipairs(each[3] and {0, 0, 0} or {}) do
        assert.equal(ends, table.remove(prospects))
      end
    end)
  end
end)
