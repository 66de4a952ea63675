-- SPDX-License-Identifier: MIT
--
-- How many workers take part: enough to pay for their start and their hand-overs, as the last
-- execution has shown; never a matter of results.

local ffi = require "ffi"

local worker_count = require "meissa.driver.worker_count"
local meissa = require "meissa"
local system = require "meissa.base.system"
local parallel = meissa.parallel

local function session_of(workers, memory)
  return {info = function() return {workers = workers, memory = memory} end}
end

local row = {blocks = 64, ranges = {64}, sequential = 0, volume = 1000}
local square = {blocks = 256, ranges = {16, 16}, sequential = 0, volume = 1444}
local sweep = {blocks = 300 * 8, ranges = {300, 8}, sequential = 1, volume = 300 * 62}

local function share(busy, waited)
  return {busy = busy, waited = waited, blocks = busy > 0 and 1 or 0}
end

local function size(grid, strategy, microseconds, options)
  options = options or {}
  local session = options.session or session_of(options.workers or 2, options.memory ~= false)
  return worker_count.size(session, grid, strategy,
                           microseconds and {pace = microseconds * 1e-6, hand_on = 0})
end

describe("the number of workers", function()
  it("is all workers until the loop's pace is known", function()
    assert.are.equal(0, size(row, "independent"))
  end)

  it("is one worker for loops that end before another would have begun", function()
    assert.are.equal(1, size(row, "independent", 0.001))
    assert.are.equal(0, size(row, "independent", 1))
    assert.are.equal(1, size(square, "wavefront", 0.01))
    assert.are.equal(0, size(square, "wavefront", 1))
    assert.are.equal(1, size(sweep, "hyperplane", 0.01))
    assert.are.equal(0, size(sweep, "hyperplane", 1))
  end)

  it("leaves a core to the driver where waking it would take longer", function()
    local cores = system.cores()
    if cores < 2 then return pending("one core") end
    -- The last worker takes a part of 60 us of work.
    local work = 6e-2 * cores
    local some = size(row, "independent", work, {workers = cores})
    assert.is_true(some > 0 and some < cores)
    assert.are.equal(0, size(row, "independent", 10, {workers = cores}))
  end)

  it("grows with the work", function()
    local last = 0
    for _, pace in ipairs {0.001, 0.1, 0.5, 2, 10} do
      local now = size(row, "independent", pace, {workers = 16})
      now = now == 0 and 16 or now
      assert.is_true(now >= last)
      last = now
    end
    assert.are.equal(16, last)
  end)

  it("is smaller where hand-overs are messages", function()
    assert.are.equal(0, size(square, "wavefront", 0.2))
    assert.are.equal(1, size(square, "wavefront", 0.2, {memory = false}))
  end)

  it("learns what hand-overs cost, and forgets it when they are not met", function()
    local session = session_of(2, true)
    local shares = {share(1e-3, 12e-3), share(1e-3, 12e-3)}
    local known = worker_count.learn({workers = shares}, sweep, "hyperplane")
    assert.are.near(2e-3 / sweep.volume, known.pace, 1e-12)
    assert.are.near(4e-5, known.hand_on, 1e-9)
    assert.are.equal(1, worker_count.size(session, sweep, "hyperplane", known))
    local alone, executions = {share(2e-3, 0), share(0, 0)}, 0
    repeat
      known = worker_count.learn({workers = alone}, sweep, "hyperplane", known)
      executions = executions + 1
    until worker_count.size(session, sweep, "hyperplane", known) == 0 or executions > 100
    assert.is_true(executions > 3 and executions < 60)
  end)

  it("takes one slow execution for chance, and several for a slower loop", function()
    local known = worker_count.learn({workers = {share(1e-3, 0)}}, row, "independent")
    known = worker_count.learn({workers = {share(100e-3, 0)}}, row, "independent", known)
    assert.are.near(2e-6, known.pace, 1e-12)
    for _ = 1, 7 do
      known = worker_count.learn({workers = {share(100e-3, 0)}}, row, "independent", known)
    end
    assert.are.near(100e-6, known.pace, 1e-9)
  end)

  it("learns which ranges are heavy from executions that were uneven", function()
    local grid = {blocks = 4, ranges = {4}, sequential = 0, volume = 1000}
    local function learn(busy, took, known) -- `took` nil: too short to be told of
      local shares, spent = {}, ffi.new("uint64_t[4]")
      for w, seconds in ipairs(busy) do shares[w] = share(seconds, 0) end
      for r, seconds in ipairs(took or {}) do spent[r - 1] = seconds * 1e9 end
      return worker_count.learn({workers = shares, spent = took and ffi.string(spent, 32)}, grid,
                        "independent", known)
    end
    local function loads(known)
      local vector, list = worker_count.loads(grid, known), {}
      for r = 1, vector and 4 or 0 do list[r] = tonumber(vector[r - 1]) / 1e9 end
      return list
    end
    local known = learn({2, 2.1}, {1, 1, 1, 1.1})
    assert.same({}, loads(known))
    known = learn({1, 3}, {0.5, 0.5, 1, 2}, known)
    assert.same({0.5, 0.5, 1, 2}, loads(known))
    known = learn({2, 2}, {1, 1, 1, 1}, known) -- even: nothing to mend
    assert.same({0.5, 0.5, 1, 2}, loads(known))
    known = learn({1, 3}, {0.5, 0.5, 1, 200}, known) -- half of it new, and not all at once
    assert.same({0.5, 0.5, 1, 3.5}, loads(known))
    assert.is_nil(worker_count.loads({blocks = 4, ranges = {4}}, known))
    assert.same({0.5, 0.5, 1, 3.5}, loads(learn({2, 2}, nil, known)))
    assert.same({}, loads(learn({1, 3}, nil, known))) -- it does not help and cannot be mended
    assert.same({}, loads(learn({1, 3}, {0.5, 0.5, 1, 2}))) -- a first execution: perhaps no kernel
  end)

  it("gives heavier ranges more workers", function()
    meissa.init {workers = 2}
    local n, passes = 1500, 0
    local A, S = meissa.rand({n, n}, {seed = 4}), meissa.zeros({n})
    local shares
    repeat
      for i in parallel({1, n}) do
        local s = 0
        for _ = 1, 3 do
          for j = 1, i do s = s + A[i][j] end
        end
        S[i] = s
      end
      shares, passes = meissa.last().shares, passes + 1
      local shared = shares[2].blocks > 0 and shares[1].blocks > shares[2].blocks + 4
    until shared or passes == 200
    assert.is_true(passes < 200)
    meissa.init {}
  end)

  it("changes nothing but who runs what", function()
    local small = require "meissa.driver.small"
    local most = small.most[0]
    finally(function() small.most[0] = most end)
    small.most[0] = 0
    local function sums(workers)
      meissa.init {workers = workers}
      local A, s = meissa.rand({30, 30}, {seed = 3}), 0
      for _ = 1, 20 do
        for i, j in parallel({2, 29}, {2, 29}) do
          A[i][j] = 0.25 * (A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1])
        end
        for i in parallel(10) do s = s + A[i][i] end
      end
      return s, meissa.last().shares
    end
    local right = sums(1)
    local took_part = {}
    for _ = 1, 20 do -- on a busy machine ten additions may look long
      local sum, shares = sums(3)
      assert.are.equal(right, sum)
      local workers = 0
      for _, each in ipairs(shares) do workers = workers + (each.blocks > 0 and 1 or 0) end
      took_part[workers] = true
      if workers < 3 then break end
    end
    assert.is_true(took_part[1] or took_part[2])
    meissa.init {}
  end)
end)
