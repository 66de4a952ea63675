-- SPDX-License-Identifier: MIT
-- Loops inside of loops' bodies are plain loops, on workers and in this process.
local meissa = require "meissa"
local parallel = meissa.parallel

local function message_of(fn, ...)
  local ok, err = pcall(fn, ...)
  assert.is_false(ok)
  return tostring(err)
end

for _, workers in ipairs({0, 2}) do
  describe("a loop inside a body, " .. workers .. " workers,", function()
    setup(function() meissa.init {workers = workers} end)
    teardown(function() meissa.init {} end)

    it("runs plainly", function()
      local B = meissa.zeros(4)
      for i in parallel(4) do
        local s = 0
        for j in meissa.parallel(3) do s = s + j end
        B[i] = s * i
      end
      assert.equal(24, B[4])
    end)

    -- The inner loop would be refused by itself: it is no other where the body calls it.
    -- What the loop of rounds reads of the loop around is what it is there.
    it("in rounds has the elements, functions and variables of the body around", function()
      local n = 6
      local A = meissa.rand({n, 4}, {seed = 3})
      local whole = meissa.full({n, 4}, 3, {type = "int64"})
      local function plain(i, step) -- x[j] + step(j) in three rounds, from 1 on
        local sum = 0
        for j = 1, 4 do
          local x = 1
          for _ = 1, 3 do x = x + step(i, j) end
          sum = sum + x
        end
        return sum
      end
      local y = meissa.zeros(n)
      local function check(step)
        for i = 1, n do assert.is_true(math.abs(plain(i, step) - y[i]) < 1e-12) end
        y:fill(0)
      end
      local function element(i, j) return A[i][j] end
      for i in parallel(n) do
        local x = meissa.ones(4)
        for _, j in meissa.iterate(x, 3) do x[j] = x[j] + A[i][j] end
        y[i] = x:sum()
      end
      check(element)
      for i in parallel(n) do
        local x, row = meissa.ones(4), A[i]
        for _, j in meissa.iterate(x, 3) do x[j] = x[j] + row[j] * row:dot(A[i]) end
        y[i] = x:sum()
      end
      check(function(i, j) return A[i][j] * A[i]:dot(A[i]) end)
      for i in parallel(n) do
        local x = meissa.ones(4)
        meissa.iterate(x, 3, function(_, j) x[j] = x[j] + A[i][j] end)
        y[i] = x:sum()
      end
      check(element)
      for i in parallel(n) do
        local function solve(x, row)
          for _, j in meissa.iterate(x, 3) do x[j] = x[j] + row[j] + whole[i][j] end
          return x:sum()
        end
        y[i] = solve(meissa.ones(4), A[i])
      end
      check(function(i, j) return A[i][j] + 3 end)
      for i in parallel(n) do
        local x = meissa.ones(4)
        for _, lo, hi in meissa.iterate(x, 3, {by = "range", ranges = 2}) do
          for j = lo, hi do x[j] = x[j] + A[i][j] ^ 2 end
        end
        y[i] = x:sum()
      end
      check(function(i, j) return A[i][j] ^ 2 end)
      local least, most, last = math.huge, 0, nil
      for i in parallel(n, {ordered = true}) do
        local x, best = meissa.ones(4), 0
        for _, j in meissa.iterate(x, 3) do
          local v = x[j]
          x[j] = v + A[i][j]
          best, most, last = math.max(best, v), math.max(most, v), v
          if v < least then least = v end
        end
        y[i] = best
      end
      local largest = 0
      for i = 1, n do
        local best = 1 + 2 * A[i]:max()
        assert.is_true(math.abs(best - y[i]) < 1e-12)
        largest = math.max(largest, y[i])
      end
      assert.same({1, largest}, {least, most})
      assert.is_true(math.abs(last - (1 + 2 * A[n][4])) < 1e-12)
    end)

    it("in functions of replicas writes nothing that the body around has", function()
      local A = meissa.zeros(4, 2)
      assert.truthy(message_of(function()
        for i in parallel(4) do
          meissa.replicas(2, {}, function() A[i][1] = 7 end)
        end
      end):find("captured by meissa.replicas", 1, true))
      assert.equal(0, A:sum())
    end)

    it("runs plainly in the body's own function and in another", function()
      local A = meissa.zeros(4, 3)
      local function sums(i)
        local s = 0
        for j in parallel(3) do
          s = s + i * j
          A[i][j] = s
        end
      end
      local expected = {{1, 3, 6}, {2, 6, 12}, {3, 9, 18}, {4, 12, 24}}
      for i in parallel(4) do sums(i) end
      assert.same(expected, A:totable())
      A:fill(0)
      for i in parallel(4) do
        local s = 0
        for j in parallel(3) do
          s = s + i * j
          A[i][j] = s
        end
      end
      assert.same(expected, A:totable())
    end)

    it("runs plainly in a coroutine that the body makes", function()
      local B = meissa.zeros(4)
      local function digits(i)
        local s = 0
        for j in parallel(3) do s = 10 * s + i * j end
        return s
      end
      local function nested(i) return coroutine.wrap(digits)(i) end
      local function all()
        for i in parallel(4) do
          local inner = coroutine.wrap(nested)
          B[i] = inner(i)
        end
      end
      all()
      assert.same({123, 246, 369, 492}, B:totable())
      B:fill(0)
      coroutine.wrap(all)()
      assert.same({123, 246, 369, 492}, B:totable())
    end)

    it("is a loop of its own in a coroutine that resumes no body", function()
      local A, s = meissa.zeros(4), 0
      local function refused()
        for j in parallel(4) do
          s = s + j
          A[j] = s
        end
      end
      local failed = coroutine.create(function()
        for i in parallel(4) do A[i + 9] = i end
      end)
      assert.is_false(coroutine.resume(failed))
      local text = message_of(coroutine.wrap(refused))
      assert.matches("DEP104", text)
      assert.is_false(pcall(function() for i in parallel(4) do A[i + 9] = i end end))
      assert.matches("DEP104", message_of(coroutine.wrap(refused)))
    end)

    it("is a loop of its own where the loop around it has been left by an error", function()
      local A, B = meissa.zeros(4), meissa.zeros(4, 3)
      local function run(offset, serial)
        for i in parallel(4, {serial = serial}) do
          local s = 0
          for j in parallel(3) do
            s = s + j
            B[i][j] = s
          end
          A[i + offset] = s
        end
      end
      assert.matches("DEP104", message_of(run, 0, true))
      assert.matches("ARR", message_of(run, 9))
      assert.matches("DEP104", message_of(run, 0, true))
      run(0)
      assert.same({6, 6, 6, 6}, A:totable())
    end)
  end)
end

describe("a variable that each iteration of an unordered loop assigns first", function()
  after_each(function() meissa.init {} end)

  local LOOPS = {
    "for i in parallel(5, {ordered = false}) do last = i o.last = i A[i] = last + o.last end",
    "for i in parallel(5, {ordered = false}) do last = i A[i] = last o.last = 2 end",
    "for i, j, v in parallel(S) do last = v A[i] = last end",
    "for i in parallel(0, {ordered = false}) do last = i A[i] = last end",
    "parallel_each(5, {ordered = false}, function(i) last = i A[i] = last end)",
  }

  it("has its value of before the loop afterwards, with and without workers", function()
    for workers = 0, 2, 2 do
      meissa.init {workers = workers}
      for _, text in ipairs(LOOPS) do
        local S = meissa.sparse({5, 5}, {i = {1, 2}, j = {2, 3}, v = {1, 2}})
        local env = {A = meissa.zeros(5), S = S,
                     last = 7, o = {last = 8}, parallel = parallel, parallel_each = meissa.each}
        local ok, err = pcall(setfenv(assert(loadstring(text)), env))
        assert.is_true(ok or tostring(err):find("DEP1", 1, true) ~= nil, tostring(err))
        assert.equal(7, env.last, text)
        assert.equal(8, env.o.last, text)
      end
    end
  end)
end)
