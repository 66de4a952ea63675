-- SPDX-License-Identifier: MIT
--
-- What loops in rounds keep, and for how long: numbers of versions and ranges, what `stop` may do
-- with the arrays, what Ctrl-C leaves.
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"
local expect = require "spec.support.expect"
local ffi = require "ffi"
local interrupt = require "meissa.base.interrupt"
local records = require "meissa.driver.record"
local round_tests = require "meissa.driver.round_tests"

ffi.cdef "int raise(int signal);"

describe("meissa.iterate", function()
  teardown(kept_workers.stop)

  local function count(A, T, options)
    return meissa.iterate(A, T, options or {}, function(t, j) A[j] = t * A[#A + 1 - j] end)
  end

  local function refused(text, ...) expect.has(expect.refusal(count, ...), text) end

  it("keeps no more versions than its rounds can tell apart", function()
    for _, workers in ipairs {0, 2} do
      kept_workers.init {workers = workers}
      for _, options in ipairs {{depth = 1e9}, {depth = 5, staleness = 3}} do
        local held = meissa.ones(10)
        options.dry = true
        expect.has(tostring(count(held, 3, options)), "4 versions")
        options.dry = nil
        if not options.staleness then
          count(held, 3, options)
          assert.same({6, 6}, {held[1], held[10]})
        end
      end
      local A, asked = meissa.ones(10), 0
      local function stop(t)
        asked = t
        return t == 8
      end
      count(A, math.huge, {depth = 1e5, test = 4, stop = stop})
      expect.has(tostring(meissa.last()), "5 versions")
      assert.equal(8, asked)
      assert.equal(40320, A[3])
      for _, sync in ipairs {"data-centric", "ssp", "pd-delay"} do
        local B = meissa.zeros(6)
        for t, j in meissa.iterate(B, 3, {sync = sync, staleness = 1e9}) do B[j] = t end
        assert.equal(18, B:sum())
      end
    end
  end)

  it("says which option asks for more versions than can be kept", function()
    local A = meissa.ones(10)
    refused("OPT: meissa.iterate: depth = 100000 makes 65537 versions", A, 1e9,
            {depth = 1e5, dry = true})
    refused("staleness = 3000 makes 6002 versions of the arrays, and 4096 are kept at most", A, 1e9,
            {staleness = 3000, dry = true})
    refused("lags of up to 5000 rounds makes 10002 versions", A, 1e9,
            {lags = {{5000, 1}}, dry = true})
    refused("depth = 5000", A, math.huge, {depth = 5000, test = 1e6, stop = print, dry = true})
    local B = meissa.zeros(1e7)
    refused("ARR: meissa.iterate: depth = 4000 makes 4000 versions, 320 GB: not enough memory", B,
            1e6, {depth = 4000})
    B:free()
  end)

  it("names the option whose number of ranges is too large", function()
    local A = meissa.ones(10)
    for _, by in ipairs {false, "range"} do
      refused("option 'ranges' is a whole number from 1 to 4096, not 1000000000", A, 3,
              {ranges = 1e9, by = by or nil})
    end
    count(A, 2, {ranges = 4096})
    assert.equal(20, A:sum())
  end)

  it("tells of rounds that were none, and what is guaranteed of others", function()
    local A = meissa.ones(10)
    count(A, 0)
    assert.same({0, "sequential"}, {meissa.last().rounds, meissa.last().guarantee})
    for _, each in ipairs {
      {{}, "sequential", "every read is of the round before"}, {{sync = "bsp"}, "sequential", ""},
      {{staleness = 2}, "bounded(0, 2)", "reads are up to 2 rounds older than the one before"},
      {{sync = "pd-delay", staleness = 1}, "bounded(-1, 1)", "or newer"},
      {{sync = "ssp", staleness = 3}, "bounded(-3, 3)", "or newer"},
      {{sync = "async"}, "none", "reads are of any age"},
      {{sync = "notify-ack", depth = 3}, "sequential", "3 versions"},
      {{sync = "barrier"}, "bounded(-1, 0)", "or newer"},
      {{lags = {{0, 1}, {2, 1}}}, "reproducible", "up to 2 rounds older than the one before, as"},
    } do
      count(A, 2, each[1])
      assert.same({2, each[2]}, {meissa.last().rounds, meissa.last().guarantee})
      expect.has(tostring(meissa.last()), each[2] .. ", ")
      expect.has(tostring(meissa.last()), each[3])
    end
  end)

  it("says of an iteration in which round it was", function()
    for _, workers in ipairs {0, 2} do
      kept_workers.init {workers = workers, quiet = true}
      local A = meissa.zeros {4, 6}
      local function fail(at)
        for t, i, j in meissa.iterate(A, 5) do
          if t == at and i == 2 and j == 3 then error("failed") end
          A[i][j] = t
        end
      end
      local ok, err = pcall(fail, 4)
      assert.is_false(ok)
      assert.same({4, 2, 3}, err.iteration)
      expect.has(tostring(err), "failed (iteration 2, 3 of round 4")
    end
    local ok, err = pcall(function()
      local A, B = meissa.zeros {4, 6}, meissa.zeros(4)
      for _, i, j in meissa.iterate(A, 5) do
        A[i][j] = 1
        B[1] = j
      end
    end)
    assert.is_false(ok)
    expect.has(tostring(err), "iteration (1, 1) of round 1 writes B[1]",
               "iteration (1, 2) of round 1")
  end)

  it("tell what they took on any number of workers", function()
    for _, workers in ipairs {0, 2} do
      kept_workers.init {workers = workers, quiet = true}
      local A = meissa.ones(10)
      local called = meissa.clock()
      count(A, 3)
      local plan = meissa.last()
      assert.same({3, 0, 0, 0}, {plan.rounds, plan.deaths, plan.redone, plan.repeated})
      assert.is_true(plan.launch >= 0 and plan.launch <= plan.seconds)
      assert.is_true(plan.seconds <= meissa.clock() - called)
      assert.is_true(plan.moved >= 0)
    end
  end)

  it("lets nobody write the arrays while they ask whether to stop", function()
    for _, workers in ipairs {0, 2} do
      kept_workers.init {workers = workers}
      local A, M = meissa.ones(10), meissa.ones {4, 4}
      local writes = {
        function() A[1] = 1000 end, function() A:fill(7) end, function() A:add(A) end,
        function() for i in meissa.parallel(10) do A[i] = i end end,
        function() count(A, 2) end,
      }
      for k, write in ipairs(writes) do
        local ok, err = pcall(count, A, 3, {stop = write})
        assert.is_false(ok, k)
        expect.has(tostring(err), "ARR: ", "while the 'stop' of rounds", "clone()")
        if k < 5 then expect.has(tostring(err), "'A'") end
        assert.equal(10, A:sum(), k)
        A[1] = 1
      end
      local err = expect.refusal(function()
        for t, i, j in meissa.iterate(M, 3, {stop = function() M[2][2] = 5 end}) do M[i][j] = t end
      end)
      expect.has(tostring(err), "while the 'stop' of rounds")
      assert.equal(16, M:sum())
      count(A, 2, {stop = function() return A[1] > 1 end}) -- it may be read
      assert.equal(2, A[1])
    end
  end)

  it("runs rounds ahead of tests that do not look at the array, and keeps none of them", function()
    local jobs, job = 0, require "meissa.driver.job"
    local run_here, run, long = job.run_here, job.run, round_tests.long
    local function counted(of)
      return function(...)
        jobs = jobs + 1
        return of(...)
      end
    end
    job.run_here, job.run, round_tests.long = counted(run_here), counted(run), 10
    local function smooth(rounds, options)
      local A, change = meissa.rand({40}, {seed = 3}), 5
      for t, j in meissa.iterate(A, rounds, {2, 39}, options) do
        if t == 60 and j == 20 then error("too far") end
        local new = 0.5 * (A[j - 1] + A[j + 1])
        change = change + (new - A[j]) ^ 2
        A[j] = new
      end
      return {A:sum(), A[20], change, meissa.last().rounds}
    end
    local ok, err = pcall(function()
      for workers = 0, 3 do
        kept_workers.init {workers = workers}
        for _, case in ipairs {{1, 1}, {2, 1}, {23, 1}, {59, 1}, {30, 3}, {57, 3}} do
          local at, test = unpack(case)
          local asked, sums, last = 0, 0, 0
          jobs = 0
          local function stop(t, _, s)
            asked, sums, last = asked + 1, sums + s.change, t
            return t >= at
          end
          local found = smooth(math.huge, {stop = stop, test = test})
          assert.same({at / test, at}, {asked, last})
          -- The job with round 60 fails, and one test at a time is asked from then on.
          assert.is_true(at ~= 23 and at ~= 30 or jobs <= asked / 2, "tests are asked one by one")
          assert.same(smooth(at, {}), found)
          assert.is_true(test > 1 or math.abs(sums + 5 - found[3]) < 1e-12)
        end
        local last
        local raised = expect.refusal(smooth, 100, {stop = function(t) last = t end})
        expect.has(raised, "too far (iteration 20 of round 60")
        assert.equal(59, last)
      end
    end)
    job.run_here, job.run, round_tests.long = run_here, run, long
    assert(ok, err)
  end)

  it("runs none ahead where what they do could be seen", function()
    local jobs, job = 0, require "meissa.driver.job"
    local run_here, long = job.run_here, round_tests.long
    function job.run_here(...)
      jobs = jobs + 1
      return run_here(...)
    end
    round_tests.long = 10
    kept_workers.init {workers = 0}
    local ok, failed = pcall(function()
      local A, B, v = meissa.zeros(4), meissa.zeros(4), meissa.zeros(4)
      local function stop(t) return t == 20 end
      local loops = {
        function() for _, j in meissa.iterate(A, 30, {stop = stop}) do v[j] = v[j] + 1 A[j] = 1 end
        end,
        function()
          for _, j in meissa.iterate(A, 30, {stop = stop, impure = true}) do A[j] = 1 end
        end,
        function() for _, j in meissa.iterate(A, 30, {stop = stop, depth = 1}) do A[j] = 1 end end,
        function() for _, j in meissa.iterate(A, 30, {stop = stop, depth = 9}) do A[j] = 1 end end,
        function()
          for _, j in meissa.iterate(A, 30, {stop = function(t, a) return a[1] + t > 20 end}) do
            A[j] = 1
          end
        end,
      }
      for k, loop in ipairs(loops) do
        jobs = 0
        loop()
        assert.same({20, 20}, {jobs, meissa.last().rounds}, k)
      end
      assert.equal(20, v[1])
      local err = expect.refusal(function()
        for _, j in meissa.iterate(A, 5, {stop = function() B[1] = 1 end}) do A[j] = B[j] end
      end)
      expect.has(tostring(err), "while the 'stop' of rounds")
      B[1] = 1 -- it is held no longer
    end)
    job.run_here, round_tests.long = run_here, long
    assert(ok, failed)
  end)

  it("raises what stop raises as it is, and lets it yield", function()
    local A, raised = meissa.ones(10), {}
    local ok, err = pcall(count, A, 3, {stop = function() error(raised) end})
    assert.is_false(ok)
    assert.equal(raised, err)
    assert.equal(10, A:sum())
    A[1] = 1
    local run = coroutine.wrap(function()
      count(A, 3, {stop = function(t) return coroutine.yield(t) end})
      return "over"
    end)
    assert.same({1, 2, "over"}, {run(), run(false), run(true)})
    assert.equal(2, A[1])
  end)

  it("plans loops again over more elements, with as many rounds as fit", function()
    local function run(A)
      local stop = function(t) return t == 3 end
      for t, j in meissa.iterate(A, 1e6, {stop = stop}) do A[j] = A[j] + t end
      return A[#A]
    end
    for _, size in ipairs {1, 200000, 1, 3000} do assert.equal(6, run(meissa.zeros(size))) end
  end)

  it("holds workers as long as somebody can let it go on", function()
    local run = coroutine.create(function()
      count(meissa.ones(10), 3, {stop = function() coroutine.yield() end})
    end)
    assert.is_true(coroutine.resume(run))
    expect.has(expect.refusal(meissa.init, {workers = 2}), "cannot be changed while a loop runs")
    run = nil -- luacheck: ignore 311
    kept_workers.init {workers = 2}
  end)

  it("marks what is written where it stands, in loops by range, too", function()
    local w = meissa.zeros(20)
    local at = "meissa.iterate(w, 3, {by = 'range', ranges = 4})"
    local loops = {
      "local w = ... for t, lo, hi in " .. at .. " do w[1] = lo end",
      "local w = ...\nfor t, lo, hi in " .. at .. " do w[2] = 1 w[1] = lo end",
      "local w = ...\nfor t,\n lo, hi in " .. at .. " do\n  w[lo] = 1; w[1] = lo\nend",
      "local w = ...\nfor t, lo, hi in " .. at .. " do\n w[lo] = 1\n   w[1] = lo end",
    }
    for k, text in ipairs(loops) do
      local run = assert(loadstring("local meissa = require 'meissa' " .. text))
      for _ = 1, 2 do -- the plan of the second time is known
        local err = tostring(expect.refusal(run, w))
        local shown, marks = 0, err:gmatch "\n( *%d+ | [^\n]*)\n( *)(%^+) [^\n]*"
        for line, before, mark in marks do
          expect.has(string.sub(line, #before + 1, #before + #mark), "w[")
          shown = shown + 1
        end
        assert.is_true(shown > 0, k .. err)
      end
    end
  end)

  it("raises INT where Ctrl-C comes while memory is taken or given back", function()
    kept_workers.init {workers = 0}
    local begin, A, B = interrupt.begin, meissa.ones(10), meissa.ones(10)
    finally(function() rawset(interrupt, "begin", begin) end)
    local function run(moment)
      local seen = 0
      rawset(interrupt, "begin", function()
        begin()
        seen = seen + 1
        if seen == moment then ffi.C.raise(2) end
      end)
      local ok, err = pcall(meissa.iterate, {A, B}, 2, {stop = function() end, engine = "lua"},
                            function(t, j) A[j] = t + 1; B[j] = t + 1 end)
      return ok, tostring(err), seen
    end
    local MOMENTS = {"interrupted while memory for rounds was taken",
                     "interrupted between two rounds", -- memory of what the first one has replaced
                     "interrupted, after the end of the loop", -- the same of the second one
                     "interrupted, after the end of the loop"}
    for moment, words in ipairs(MOMENTS) do
      A:fill(1)
      B:fill(1)
      local ok, err = run(moment)
      assert.is_false(ok)
      expect.has(err, "INT: " .. words)
      local sum = moment > 2 and 30 or 10
      assert.same({sum, sum}, {A:sum(), B:sum()})
    end
    assert.is_true((run(5)))
  end)

  it("that took too long in the driver's process once are tried there again", function()
    kept_workers.init {workers = 2}
    local u = meissa.rand({300}, {seed = 1})
    local function body(_, j) u[j] = 0.5 * (u[j - 1] + u[j + 1]) end
    local function go() meissa.iterate(u, 50, {2, 299}, {engine = "native"}, body) end
    go()
    local record = records.find(body, debug.getinfo(body, "S"), nil)
    for _, split in pairs(record.splits) do split.pace_here = 1 end -- a second an element
    go()
    assert.equal(2, meissa.last().workers)
    local here, runs = 0, 0 -- in a row: a single one may have lost its core again
    while here < 5 and runs < 2000 do
      go()
      runs, here = runs + 1, meissa.last().workers == 0 and here + 1 or 0
    end
    assert.equal(5, here)
    assert(runs > 8, runs)
  end)
end)
