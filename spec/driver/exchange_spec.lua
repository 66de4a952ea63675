-- SPDX-License-Identifier: MIT
--
-- Loops whose blocks read and overwrite what others wrote: on every road and with any number of
-- workers they have the bits of the blocks' serial order, computed here by plain Lua, and where the
-- loop is ordered those of the loop as written.

local ffi = require "ffi"
local core = require "meissa.core"
local loops = require "spec.driver.loops"
local support = require "spec.driver.support"

describe("serial loops.orders", function()
  it("are those of the definitions", function()
    for _, case in ipairs(loops.cases) do
      for _, ranges in ipairs(case.sizes) do
        local expected = {}
        for i, at in ipairs(loops.orders[case.strategy](ranges)) do
          expected[i] = loops.number_of(at, ranges)
        end
        local order = {}
        for block in core.serial_order(case.strategy, ranges, case.sequential) do
          order[#order + 1] = block
        end
        assert.are.same(expected, order)
      end
    end
  end)

  it("of ordered loops give the bits of the loop as written", function()
    for _, case in ipairs(loops.cases) do
      if case.ordered then
        local whole = {}
        for d = 1, #case.extents do
          whole[d] = d <= (case.sequential or 0) and case.extents[d] or 1
        end
        local bits = loops.run_plainly(case, whole)
        for _, ranges in ipairs(case.sizes) do
          assert.is_true(bits == loops.run_plainly(case, ranges))
        end
      end
    end
  end)

  it("are refused for grids that do not fit", function()
    local order, err = core.serial_order("hyperplane", {3, 4})
    assert.is_nil(order)
    assert.are.equal("OPT", err.code)
    assert.is_nil((core.serial_order("hyperplane", {3, 4}, 2)))
    assert.is_nil((core.serial_order("rotate", {2, 2, 2, 2, 2})))
    assert.is_nil((core.serial_order("wavefront", {2, 2}, 1)))
  end)
end)

for _, road in ipairs(support.roads) do
  for _, workers in ipairs {1, 2, 3, 5} do
    describe(("blocks that exchange (%s, workers: %d)"):format(road.name, workers), function()
      local session

      setup(function()
        session = assert(support.session {
          workers = workers, transport = road.transport, shm = road.shm,
        })
      end)

      teardown(function() session:stop() end)

      for _, case in ipairs(loops.cases) do
        it("have the bits of the serial order: " .. case.name, function()
          for _, ranges in ipairs(case.sizes) do
            local expected = loops.run_plainly(case, ranges)
            for turn = 1, 3 do
              local arrays = loops.new_arrays(case)
              local job, keep = loops.make_job(case, ranges, arrays)
              if turn > 1 then loops.shake(job, turn) end
              local outcome, err = session:run(job)
              assert.is_table(outcome, err and err.message)
              assert.is_true(expected == loops.all_bytes(arrays))
              assert.is_table(keep)
            end
          end
        end)
      end
    end)
  end
end

describe("an exchange by value", function()
  local kill_self = 'require("ffi").cdef "int kill(int, int); int getpid(void);" '
    .. "local C = require('ffi').C "

  -- The first worker does not wait for the second, which sleeps first, once the first one is on its
  -- way; what that changes is more than the window.
  it("makes who runs ahead wait", function()
    local session = assert(support.session {workers = 2, shm = false})
    local count, steps = 200000, 24
    local a, log = support.array({steps * count}, 4), support.array({steps})
    local expected, sum = ffi.new("double[?]", steps * count), 0
    for e = 0, steps * count - 1 do expected[e] = a.data[e] * 0.75 + 1 end
    local under_way = os.tmpname()
    os.remove(under_way)
    local outcome = assert(session:run {
      key = "ahead", strategy = "wavefront", ranges = {2, steps},
      kernel = support.prelude .. [[
        ffi.cdef "int usleep(unsigned);"
        local under_way = "]] .. under_way .. [["
        local operands = ...
        local a, log = vector(operands[1], "double"), vector(operands[2], "double")
        local count = 200000
        return function(block, ra, rb)
          if ra == 0 and rb == 1 then io.open(under_way, "w"):close() end
          if ra == 1 and rb == 0 then
            while not io.open(under_way) do ffi.C.usleep(1000) end
            ffi.C.usleep(400000)
          end
          if ra == 1 then return ("%.17g"):format(log[rb]) end
          for e = rb * count, rb * count + count - 1 do a[e] = a[e] * 0.75 + 1 end
          log[rb] = a[rb * count]
        end]],
      operands = support.operands {
        a:operand {movement = "exchanged", written = true},
        log:operand {movement = "exchanged", written = true},
      },
    })
    assert.is_true(ffi.string(expected, steps * count * 8) == a:bytes())
    for rb = 0, steps - 1 do
      assert.are.equal(("%.17g"):format(log.data[rb]), outcome.results[steps + rb])
      sum = sum + log.data[rb]
    end
    assert.is_true(sum > 0)
    assert.is_true(os.remove(under_way) and outcome.workers[1].waited > 0)
    assert.is_true(outcome.workers[1].moved > steps * count * 8)
    session:stop()
  end)

  it("sends only what was changed", function()
    local session = assert(support.session {workers = 2, shm = false})
    local n = 100000
    local a = support.array({n}, 4)
    local outcome = assert(session:run {
      key = "few", strategy = "hyperplane", ranges = {50, 4}, sequential = 1,
      kernel = support.prelude .. [[
        local operands = ...
        local a = vector(operands[1], "double")
        return function(block, p, r) a[p * 4 + r] = p end]],
      operands = support.operands {a:operand {movement = "exchanged", written = true}},
    })
    for p = 0, 49 do
      for r = 0, 3 do assert.are.equal(p, a.data[p * 4 + r]) end
    end
    assert.is_true(outcome.moved < 2.1 * n * 8) -- to both workers, and hardly anything back
    session:stop()
  end)

  for _, road in ipairs(support.roads) do
    it("ends when a worker is killed (" .. road.name .. ")", function()
      local session = assert(support.session {
        workers = 3, transport = road.transport, shm = road.shm,
      })
      for _, case in ipairs(loops.cases) do
        if case.strategy ~= "skew" then
          local ranges = case.sizes[1]
          local job, keep = loops.make_job(case, ranges, loops.new_arrays(case))
          local total = #loops.row_major(ranges)
          local victim = math.floor(total / 2)
          job.key = "killed " .. case.name
          job.kernel = kill_self .. ([[
            local run = (function(...) %s end)(...)
            return function(block, ...)
              if block == %d then C.kill(C.getpid(), 9) end
              return run(block, ...)
            end]]):format(job.kernel, victim)
          local start = support.now()
          local outcome, err = session:run(job)
          assert.is_nil(outcome)
          assert.are.same({"WRK", victim, 9}, {err.code, err.block, err.signal})
          assert.is_true(support.now() - start < 2)
          assert.is_table(keep)
          local arrays = loops.new_arrays(case)
          job, keep = loops.make_job(case, ranges, arrays)
          assert(session:run(job))
          assert.is_true(loops.run_plainly(case, ranges) == loops.all_bytes(arrays))
          assert.is_table(keep)
        end
      end
      session:stop()
    end)
  end

  it("brings a body's error", function()
    local session = assert(support.session {workers = 3, shm = false})
    local a = support.array({100}, 4)
    for _, block in ipairs {0, 17, 35} do
      local outcome, err = session:run {
        key = "body" .. block, strategy = "wavefront", ranges = {6, 6},
        kernel = "return function(b) if b == " .. block .. " then error('no') end end",
        operands = support.operands {a:operand {movement = "exchanged", written = true}},
      }
      assert.is_nil(outcome)
      assert.are.same({"BDY", block}, {err.code, err.block})
    end
    session:stop()
  end)
end)
