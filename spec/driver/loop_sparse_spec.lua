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

    it("is not there for machine code that does not come to it", function()
      local S, X, cfg = entries(), meissa.zeros(20), {on = false}
      local function sums(i)
        local sum = S[i][5]
        for _, v in S[i]:nonzeros() do sum = sum + v end
        return sum
      end
      for pass = 1, 3 do
        local on = pass == 2
        cfg.on = on
        for i in parallel(20, {engine = "native"}) do
          X[i] = 0
          if on then X[i] = sums(i) end
          if cfg.on and i > 5 then X[i] = X[i] + S[i][9] end
        end
        assert.equal("native", meissa.last().engine)
        assert.same(on and {2, 2, 14, 0} or {0, 0, 0, 0}, {X[5], X[6], X[7], X[8]})
      end
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

describe("the order of a loop over a sparse array", function()
  local S = meissa.sparse({4, 4}, {i = {3, 1, 2, 1, 1}, j = {1, 4, 2, 1, 4}, v = {1, 2, 3, 4, 5}})
  local in_file, by_rows = {1, 2, 3, 4, 5}, {4, 2, 5, 3, 1}

  local function visited(options)
    local list = {}
    for _, _, v in parallel(S, options) do list[#list + 1] = v end
    return list
  end

  for workers = 0, 2 do
    describe("with " .. workers .. " workers", function()
      setup(function() meissa.init {workers = workers} end)
      teardown(function() meissa.init {} end)

      it("is that of each() if it is serial, and row by row if it is ordered", function()
        local each = {}
        for _, _, v in S:each() do each[#each + 1] = v end
        assert.same(in_file, each)
        for _, check in ipairs {false, true} do
          assert.same(in_file, visited {serial = true, check = check})
          assert.same(by_rows, visited {ordered = true, check = check})
          assert.same(by_rows, visited {ordered = true, serial = true, check = check})
        end
      end)

      it("is the same where the loop stands in a body, with the values of now", function()
        local A, ordered = meissa.zeros(3, 5), true
        local function visit(row)
          local n = 0
          for _, _, v in parallel(S, {ordered = ordered}) do
            n = n + 1
            row[n] = v
          end
        end
        local function seen()
          for k in parallel(3) do visit(A[k]) end
          return A[3]:totable()
        end
        assert.same(by_rows, seen())
        for i in parallel(4) do if i == 3 then S[i][1] = 6 end end
        assert.same({4, 2, 5, 3, 6}, seen())
        S[3][1] = 7
        assert.same({4, 2, 5, 3, 7}, seen())
        S[3][1], ordered = 1, false
        assert.same(in_file, seen())
      end)
    end)
  end
end)
