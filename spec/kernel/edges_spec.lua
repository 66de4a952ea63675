-- SPDX-License-Identifier: MIT
-- Subscripts around the edges of a grid, `i > 1 and i - 1 or n`, `if up < 1 then up = n end`:
-- where what each condition leaves of an index is inside, nothing is checked in the loop; elsewhere
-- it stops as the Lua engine does.
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
  {"that is assigned again", true, true,
   "local u = i if u > 6 then u = 1 end B[i] = A[u > 1 and u - 1 or n][1]"},
  {"assigned again", true, true,
   "local up, down = i - 1, i + 1 if up < 1 then up = n end if down > n then down = 1 end " ..
   "B[i] = A[up][1] + A[down][2]"},
  {"assigned again in inner loops", true, true, "for k = 1, m do local l = k - 2 " ..
   "if l < 1 then l = l + m end A[i][k] = F[i][l] end"},
  {"assigned again outside of inner loops", true, true, "local l = i - 9 " ..
   "if l < 1 then l = 1 end for k = 1, m do A[i][k] = A[l + 9 > n and n or l + 8][k] end"},
  {"by branches", true, true, "local u = i * 2 - 6 " ..
   "if u < 1 then u = 1 elseif u > n then u = n end B[i] = A[u][1]"},
  {"by all branches", true, true,
   "local u = 0 if i < 3 then u = n elseif i > n - 1 then u = 1 else u = i end B[i] = A[u][1]"},
  {"one after the other", true, true, "local u = i - 3 if u < 1 then u = u + n end " ..
   "local v = u + 1 if v > n then v = v - n end if v == 4 then v = 5 end B[i] = A[v][1] - A[u][2]"},
  {"assigned again, too far", true, false,
   "local u = i - 2 if u < 1 then u = n end B[i] = A[u + 1 > 2 and u + 3 or u][1]"},
  {"assigned again, not enough", true, false,
   "local u = i - 2 if u < 0 then u = n end B[i] = A[u][1]"},
  {"looked at before", false, false,
   "local u = i - 1 local v = u + 1 if u < 1 then u = n end B[i] = A[u][1] + A[v][2]"},
  {"assigned otherwise, too", false, false,
   "local u = i - 1 if u < 1 then u = n end B[i] = A[u][1] u = 3 A[i][4] = u"},
  {"assigned after a while", false, false, "for k = 1, m do local u = k - 1 " ..
   "::on:: if u < 1 then u = u + 1 end if u < 1 then goto on end A[i][k] = F[i][u] end"},
  {"assigned by a function", false, false, "local u = i - 1 local function f() u = 1 end " ..
   "if u < 1 then u = n end f() B[i] = A[u][1]"},
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
