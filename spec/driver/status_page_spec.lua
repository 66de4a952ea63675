-- SPDX-License-Identifier: MIT
--
-- Hand-overs through shared memory: whoever waits for a block is woken by its end, by a failure
-- elsewhere and by the driver's death, however many workers share the cores, and whatever somebody
-- writes there.

local support = require "spec.driver.support"

local usleep = 'local C = require("ffi").C '
  .. 'require("ffi").cdef "int usleep(unsigned); int kill(int, int); int getpid(void);" '

-- A sweep in which every block adds up its neighbours of the phase before.
local WIDTH, PHASES = 16, 300
local sweep = support.prelude .. usleep .. [[
local operands, given = ...
local a, stride = vector(operands[1], "double")
return function(block, phase, range)
  if given.naps and (block * 7919) % given.naps == 0 then C.usleep(block % 5 * 40) end
  for k = 0, 3 do
    local at = range * 4 + k
    if phase > 0 then
      local before = (phase - 1) * stride
      a[phase * stride + at] = 0.5 * a[before + (at + 5) % 64] + 0.25 * a[before + (at + 63) % 64]
    end
  end
end
]]

local function run_sweep(session, naps)
  local array = support.array({PHASES, WIDTH * 4}, 11)
  local outcome, err = session:run {
    key = "sweep", kernel = sweep, run = support.encode {naps = naps}, strategy = "hyperplane",
    sequential = 1, ranges = {PHASES, WIDTH},
    operands = support.operands {array:operand {movement = "exchanged", written = true}},
  }
  return outcome and array:bytes(), err
end

local function session_of(workers)
  return assert(support.session {workers = workers, shm = true})
end

describe("hand-overs through shared memory", function()
  it("give the same bits for any number of workers, more than there are cores, too", function()
    local right
    for _, workers in ipairs {1, 2, 3, 5, 12} do
      local session = session_of(workers)
      for _, naps in ipairs {0, 3, 50} do
        assert.is_true(support.once_within(20, function()
          local from = support.now()
          local bytes = assert(run_sweep(session, naps > 0 and naps or nil))
          right = right or bytes
          assert.is_true(bytes == right, ("%d workers, naps %d"):format(workers, naps))
          return support.now() - from
        end))
      end
      session:stop()
    end
  end)

  -- Block 1 ends badly after a while; the owner of block 0 waits for it meanwhile.
  local function fail_while_waited_for(ending, limit, judge)
    local session = session_of(2)
    local pids = session:pids()
    local from = support.now()
    local outcome, err = session:run {
      key = "ending" .. ending, strategy = "hyperplane", sequential = 1, ranges = {2, 2},
      kernel = usleep .. "return function(b) if b == 1 then C.usleep(200000) " .. ending ..
        " end end",
    }
    local seconds = support.now() - from
    assert.is_nil(outcome)
    assert(run_sweep(session))
    if seconds < limit then judge(session, err, pids) end
    session:stop()
    return seconds
  end

  -- The same, before a worker would be given up, a second after the failure.
  local function fails_while_waited_for(ending, judge)
    assert.is_true(support.once_within(1, function()
      return fail_while_waited_for(ending, 1, judge)
    end))
  end

  it("do not keep a worker waiting for one that was killed", function()
    fails_while_waited_for("C.kill(C.getpid(), 9)", function(session, err, pids)
      assert.are.equal("WRK", err.code)
      assert.are.equal(9, err.signal)
      assert.are.equal(pids[3 - err.worker], session:pids()[3 - err.worker]) -- it has not died
    end)
  end)

  it("do not keep a worker waiting for a block that failed", function()
    fails_while_waited_for("error('oh')", function(session, err, pids)
      assert.are.equal(1, err.block)
      assert.are.same(pids, session:pids())
    end)
  end)

  it("end when the driver does, in a wait", function()
    local child = support.child([[
      local support = require("spec.driver.support")
      local session = assert(support.session {workers = 2, shm = true})
      print("workers " .. table.concat(session:pids(), " "))
      session:run {key = "k", strategy = "hyperplane", sequential = 1, ranges = {2, 2},
        kernel = "require('ffi').cdef 'int usleep(unsigned);' return function(b) " ..
          "if b == 1 then for i = 1, 100 do require('ffi').C.usleep(1000000) end end end"}
    ]])
    local pids = assert(support.said(child, "workers"))
    support.sleep(0.3)
    support.kill(child.pid, 9)
    for pid in pids:gmatch("%d+") do
      assert.is_true(support.eventually(2, function() return not support.alive(pid) end))
    end
    support.bury(child)
  end)

  it("hurt nobody whatever is written there", function()
    -- Two workers: the next end brings back what was overwritten, so that none waits for ever.
    local session = session_of(2)
    local pids = session:pids()
    for seed = 1, 5 do
      -- One block writes noise over all slots while the others hand on.
      assert.is_true(support.once_within(20, function() -- a sleeper that is forgotten looks soon
        local from = support.now()
        assert(session:run {
          key = "noise", run = support.encode {seed = seed}, strategy = "hyperplane",
          sequential = 1, ranges = {40, 4},
          kernel = [[
            local _, given = ...
            local ffi = require("ffi")
            local from, to
            for line in io.lines("/proc/self/maps") do
              if line:find("meissa-status", 1, true) then from, to = line:match("^(%x+)-(%x+)") end
            end
            local page = ffi.cast("uint8_t *", tonumber(from, 16))
            math.randomseed(given.seed)
            return function(block)
              if block % 31 ~= 3 then return end
              for k = 0, 2 * 256 - 1 do page[k] = math.random(0, 255) end
            end]],
        })
        return support.now() - from
      end))
    end
    for k, pid in ipairs(session:pids()) do assert.are.equal(pids[k], pid) end
    assert(run_sweep(session))
    session:stop()
  end)
end)
