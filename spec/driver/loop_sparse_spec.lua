-- SPDX-License-Identifier: MIT
-- Sparse arrays that a body captures: read, walked and written on workers, with shared memory and
-- without.
local meissa = require "meissa"
local parallel = meissa.parallel

local function entries()
  return meissa.sparse({20, 20}, {i = {5, 6, 7, 7}, j = {5, 6, 5, 9}, v = {1, 2, 3, 4}})
end

for _, shm in ipairs {true, false} do
  describe("a captured sparse array, " .. (shm and "shared" or "by value"), function()
    setup(function() meissa.init {workers = 2, shm = shm} end)
    teardown(function() meissa.init {} end)

    it("is read by subscripts, absent entries being 0", function()
      local S, X = entries(), meissa.zeros(20)
      for i in parallel(20) do X[i] = S[i][5] + 10 * S[{i, 9}] end
      assert.same({1, 0, 43, 0}, {X[5], X[6], X[7], X[8]})
    end)

    it("is walked row by row", function()
      local S, X = entries(), meissa.zeros(20)
      for i in parallel(20) do
        local sum = 0
        for j, v in S[i]:nonzeros() do sum = sum + j * v end
        X[i] = sum
      end
      assert.same({5, 12, 51, 0}, {X[5], X[6], X[7], X[8]})
    end)

    it("keeps what the body writes, also for the next loop over it", function()
      for _, ordered in ipairs {true, false} do
        local S, sum = entries(), 0
        for _ = 1, 2 do
          for i, j, r in parallel(S, {ordered = ordered}) do S[i][j] = r + j end
        end
        assert.same({11, 14, 13, 22}, S:totable().v)
        for i in parallel({5, 7, 2}) do S[i][5] = 100 * i end
        for _, _, r in parallel(S) do sum = sum + r end
        assert.equal(500 + 14 + 700 + 22, sum)
      end
    end)
  end)
end
