-- SPDX-License-Identifier: MIT
-- Tables that are output by slices, beside dependences of every class: random keys and bodies give
-- what the plain loop gives. MEISSA_TEST_SEED replays.
local meissa = require "meissa"

local seed = require "spec.support.seed"
local LOOPS, EXTENT = 40, 12

local BODIES = {
  "", "A[i][j] = A[i][j] + 1", "A[i][j] = A[i-1][j] + i", "A[i][j] = A[i][j-1] + j",
  "A[i][j] = A[i-1][j] + A[i][j-1]", "A[i][j] = A[i-1][j-1] * 2", "A[i][j] = A[i-1][j+1] + 1",
  "A[i+1][j] = A[i][j+1] + A[i][j-1]",
}

local TEXT = [[
local A, t, parallel = ...
for i, j in parallel({2, 8}, {2, 9}) do
  %s
  if (i + 2 * j) %% 5 ~= 0 then t[%d*i + %d*j + %d] = (i + j) %% 7 > 0 and i * 100 + j or nil end
end]]

local function plain(rows, columns)
  return coroutine.wrap(function()
    for i = rows[1], rows[2] do
      for j = columns[1], columns[2] do coroutine.yield(i, j) end
    end
  end)
end

local function random_text()
  local a, b
  repeat a, b = math.random(-3, 3), math.random(-3, 3) until a ~= 0 or b ~= 0
  return TEXT:format(BODIES[math.random(#BODIES)], a, b, math.random(-5, 5))
end

-- What the text makes of an array of zeros and a table, as plain tables; the strategy.
local function on_workers(text)
  local A, t = meissa.zeros(EXTENT, EXTENT), {[10] = "old"}
  local ok, err = pcall(assert(loadstring(text)), A, t, meissa.parallel)
  if not ok then
    assert.is_truthy(tostring(err):find("DEP", 1, true), tostring(err))
    return nil
  end
  return {A:totable(), t}, meissa.last().strategy
end

local function as_written(text)
  local A, t = meissa.zeros(EXTENT, EXTENT):totable(), {[10] = "old"}
  assert(loadstring(text))(A, t, plain)
  return {A, t}
end

describe("random tables", function()
  teardown(function() meissa.init {} end)

  for _, workers in ipairs {0, 1, 3} do
    it(("seed %d, with %d workers"):format(seed, workers), function()
      meissa.init {workers = workers}
      math.randomseed(seed)
      local met, ran = {}, 0
      for _ = 1, LOOPS do
        local text = random_text()
        local result, strategy = on_workers(text)
        if result then
          assert.same(as_written(text), result, text)
          met[strategy], ran = true, ran + 1
        end
      end
      assert.is_true(ran > LOOPS / 2, "too many loops were refused")
      assert.is_truthy(next(met, next(met)), "only one strategy was met")
    end)
  end
end)
