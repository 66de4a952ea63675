-- SPDX-License-Identifier: MIT
-- The first value that a condition lets through, over all rounds of meissa.iterate: what the loop
-- has as written, whichever blocks, workers and engines find it.
local meissa = require "meissa"

local ROADS = {{workers = 0}, {workers = 2}, {workers = 3}, {workers = 2, shm = false}}

-- A value for each element of each round: the same for equal arguments.
local function value(t, i, j) return (t * 7919 + i * 104729 + (j or 0) * 1299709) % 1009 end

-- What one and two indices give as written.
local function expected(T, n, m, wanted)
  local first, pair, last, best, who, any = nil, nil, nil, nil, nil, false
  for t = 1, T do
    for i = 1, n do
      for j = 1, m or 1 do
        local v = value(t, i, m and j)
        if v >= wanted then
          first, pair = first or v, pair or 1000 * t + i
          last, any = v, true
        end
        if best == nil or v < best then best, who = v, 1000 * t + i end
      end
    end
  end
  return {first or 0, pair or 0, last or 0, best, who, any, first or 0}
end

local function one_index(T, n, wanted, options)
  local w, first, pair, last, best, who, short = meissa.zeros(n), nil, nil, nil, nil, nil, nil
  local any = false
  for t, i in meissa.iterate(w, T, options) do
    local v = (t * 7919 + i * 104729) % 1009
    local is = v >= wanted
    if first == nil and is then
      first = v
      pair = 1000 * t + i
    end
    if is then last = v end
    if best == nil or v < best then
      best = v
      who = 1000 * t + i
    end
    any = any or is
    if not short and is then short = v end
    w[i] = w[i] + v
  end
  return {first or 0, pair or 0, last or 0, best, who, any, short or 0}
end

local function two_indices(T, n, m, wanted, options)
  local w, first, pair, last, best, who, short = meissa.zeros(n, m), nil, nil, nil, nil, nil, nil
  local any = false
  for t, i, j in meissa.iterate(w, T, options) do
    local v = (t * 7919 + i * 104729 + j * 1299709) % 1009
    local is = v >= wanted
    if first == nil and is then
      first = v
      pair = 1000 * t + i
    end
    if is then last = v end
    if best == nil or v < best then
      best = v
      who = 1000 * t + i
    end
    any = any or is
    if not short and is then short = v end
    w[i][j] = w[i][j] + v
  end
  return {first or 0, pair or 0, last or 0, best, who, any, short or 0}
end

local function by_range(T, n, wanted, options)
  local w, first = meissa.zeros(n), nil
  for t, lo, hi in meissa.iterate(w, T, options) do
    for i = lo, hi do
      local v = (t * 7919 + i * 104729) % 1009
      if first == nil and v >= wanted then first = v end
      w[i] = w[i] + v
    end
  end
  return first or 0
end

local CASES = {{T = 1, n = 1}, {T = 9, n = 3}, {T = 4, n = 700}, {T = 9, n = 129},
               {T = 3, n = 40, m = 9}, {T = 3, n = 2, m = 300}, {T = 6, n = 1, m = 64}}

describe("the first value of rounds", function()
  teardown(function() meissa.init {} end)

  for _, road in ipairs(ROADS) do
    local name = ("%d workers%s"):format(road.workers, road.shm == false and " by value" or "")
    it("is the loop's on " .. name, function()
      road.quiet = true
      meissa.init(road)
      for k, case in ipairs(CASES) do
        for _, wanted in ipairs {0, 1000, 1008, 2000} do
          for _, options in ipairs {{}, {staleness = 1}, {engine = "lua"}, {depth = 3},
                                    {stop = function() return false end, test = 2}} do
            local got
            if case.m then
              got = two_indices(case.T, case.n, case.m, wanted, options)
            else
              got = one_index(case.T, case.n, wanted, options)
            end
            local right = expected(case.T, case.n, case.m, wanted)
            assert.same(right, got, "case " .. k .. ", " .. wanted)
            if not case.m then
              local parts = {by = "range", ranges = math.min(case.n, 5)}
              assert.equal(right[1], by_range(case.T, case.n, wanted, parts), "ranges of " .. k)
            end
          end
        end
      end
    end)
  end

  it("is not told where a round's blocks have parts of each row, but the least is", function()
    for workers = 0, 2 do
      meissa.init {workers = workers, quiet = true}
      local w, sum, first, least, at = meissa.zeros(40, 30), meissa.zeros(30), nil, nil, nil
      local function run(T, options)
        for t, i, j in meissa.iterate(w, T, options) do
          local v = i % 7 + j % 5
          if t > 1 and i * j == 1 then v = 0 / 0 end -- would stay, as the first one
          if least == nil or v < least then
            least = v
            at = 10000 * t + 100 * i + j
          end
          sum[j] = sum[j] + i
          w[i][j] = t
        end
      end
      run(3, {stop = function() return false end})
      assert.same({0, 10705}, {least, at})
      assert.equal(3 * 820, sum[30])
      local ok, err = pcall(function()
        for t, i, j in meissa.iterate(w, 3) do
          if first == nil and i + j > 33 then first = 1000 * i + j end
          sum[j] = sum[j] + i
          w[i][j] = t
        end
      end)
      assert.is_false(ok)
      assert.truthy(tostring(err):find("first is read before it is assigned", 1, true))
    end
  end)

  it("ends rounds when there is one", function()
    for workers = 0, 2 do
      meissa.init {workers = workers, quiet = true}
      local w, first = meissa.zeros(50), nil
      local function stop(_, _, sums) return sums.first end
      for t, i in meissa.iterate(w, 1000, {stop = stop, test = 3}) do
        if first == nil and 50 * t + i >= 217 then first = 50 * t + i end
        w[i] = t
      end
      assert.equal(217, first)
      assert.equal(6, w[1])
    end
  end)
end)
