-- SPDX-License-Identifier: MIT
--
-- What goes wrong in a job is told, in time, and the session stays usable.

local support = require "spec.driver.support"
local interpreter = require "meissa.base.interpreter"
local thrown = require "meissa.base.thrown"

local kill_self = 'require("ffi").cdef "int kill(int, int); int getpid(void);" '
  .. "local C = require('ffi').C "

local function works(session)
  local outcome = assert(session:run {
    key = "works", strategy = "independent", ranges = {8},
    kernel = "return function(b) return tostring(b * b) end",
  })
  assert.are.equal("49", outcome.results[7])
  return outcome
end

local function timed(fn, ...)
  local start = support.now()
  local value, err = fn(...)
  return value, err, support.now() - start
end

for _, road in ipairs(support.roads) do
  describe("a job that fails (" .. road.name .. ")", function()
    local session

    before_each(function()
      session = assert(support.session {
        workers = 2, transport = road.transport, shm = road.shm,
      })
    end)

    after_each(function() session:stop() end)

    it("brings the body's error, its worker and its block", function()
      assert.is_true(support.once_within(0.5, function()
        local outcome, err, seconds = timed(session.run, session, {
          key = "error", strategy = "rotate", ranges = {4, 4},
          kernel = [[return function(b)
            print("before", b)
            if b == 6 then error({code = "BDY", message = "oh", line = 7, iteration = {3, 4}}) end
          end]],
        })
        assert.is_nil(outcome)
        assert.are.equal("BDY", err.code)
        assert.are.equal(6, err.block)
        assert.is_true(err.worker == 1 or err.worker == 2)
        assert.are.same({code = "BDY", message = "oh", line = 7, iteration = {3, 4}},
          thrown.decode(err.payload))
        return seconds
      end))
      works(session)
    end)

    it("brings what was printed before, in plan order and whole lines", function()
      local outcome, err = session:run {
        key = "printed", strategy = "partition", ranges = {6},
        kernel = [[
          require("ffi").cdef "int usleep(unsigned);"
          return function(b)
            print("block", b)
            if b == 4 then require("ffi").C.usleep(300000) print(("x"):rep(3e6)) error("stop") end
            return ("r"):rep(1000)
          end]],
      }
      assert.is_nil(outcome)
      assert.are.equal(4, err.block)
      local text = err.printed:gsub("x+", function(run) return #run end)
      assert.are.equal("block\t0\nblock\t1\nblock\t2\nblock\t3\nblock\t4\n3000000\n", text)
      assert.is_nil(works(session).printed)
    end)

    it("brings what blocks printed whose worker died later", function()
      local outcome, err = session:run {
        key = "printed by the dead", strategy = "partition", ranges = {4},
        kernel = kill_self .. [[
          require("ffi").cdef "int usleep(unsigned);"
          return function(b)
            print("block", b)
            if b == 3 then C.usleep(200000) C.kill(C.getpid(), 9) end
          end]],
      }
      assert.is_nil(outcome)
      assert.are.equal("WRK", err.code)
      assert.are.equal("block\t0\nblock\t1\nblock\t2\n", err.printed)
      works(session)
    end)

    it("brings errors of kernels that cannot be made", function()
      local outcome, err = session:run {
        key = "syntax", strategy = "independent", ranges = {4}, kernel = "return function(",
      }
      assert.is_nil(outcome)
      assert.matches("kernel:1:", thrown.decode(err.payload).message, 1, true)
      works(session)
    end)

    it("takes an error that is returned for one that is raised", function()
      local outcome, err = session:run {
        key = "returned", strategy = "independent", ranges = {4},
        kernel = "return function(b) return nil, {code = 'BDY', message = 'returned'} end",
      }
      assert.is_nil(outcome)
      assert.are.equal("returned", thrown.decode(err.payload).message)
      works(session)
    end)

    it("names a worker that was killed, and replaces it", function()
      assert.is_true(support.once_within(1, function()
        local before = session:pids()
        local outcome, err, seconds = timed(session.run, session, {
          key = "killed", strategy = "rotate", ranges = {4, 4}, transaction = false,
          kernel = kill_self .. "return function(b) if b == 9 then C.kill(C.getpid(), 9) end end",
        })
        assert.is_nil(outcome)
        assert.are.equal("WRK", err.code)
        assert.are.equal(9, err.block)
        assert.are.equal(9, err.signal)
        assert.are.same({true, false}, {err.lost, err.repeated})
        assert.are.equal(before[err.worker], err.pid)
        assert.matches("worker " .. err.worker .. " (pid " .. err.pid .. ") was killed by signal 9",
          err.message, 1, true)
        works(session)
        local after = session:pids()
        assert.are_not.equal(before[err.worker], after[err.worker])
        assert.are.equal(before[3 - err.worker], after[3 - err.worker])
        return seconds
      end))
      local rotated = assert(session:run {
        key = "tokens", strategy = "rotate", ranges = {4, 4},
        kernel = "return function(b) return tostring(b) end",
      })
      assert.are.equal("15", rotated.results[15])
    end)

    it("tells of a death at once, whatever the others are doing", function()
      assert.is_true(support.once_within(1, function()
        local outcome, err, seconds = timed(session.run, session, {
          key = "death", strategy = "partition", ranges = {2},
          kernel = kill_self .. [[return function(b)
            if b == 0 then C.kill(C.getpid(), 9) end
            while true do end
          end]],
        })
        assert.is_nil(outcome)
        assert.are.same({"WRK", 1, 0, 9}, {err.code, err.worker, err.block, err.signal})
        works(session)
        return seconds
      end))
    end)

    it("says how a worker ended that ended itself", function()
      local outcome, err = session:run {
        key = "exit", strategy = "partition", ranges = {2},
        kernel = "return function(b) if b == 1 then os.exit(5) end end",
      }
      assert.is_nil(outcome)
      assert.matches("worker 2 .* ended with status 5", err.message)
      works(session)
    end)

    it("kills and replaces a worker that reaches no block end", function()
      assert.is_true(support.once_within(2, function()
        local before = session:pids()
        local outcome, err, seconds = timed(session.run, session, {
          key = "endless", strategy = "partition", ranges = {2},
          kernel = 'require("ffi").cdef "int usleep(unsigned);" return function(b) '
            .. "while b == 1 do end require('ffi').C.usleep(200000) error('stop') end",
        })
        assert.is_nil(outcome)
        assert.are.equal("BDY", err.code)
        assert.matches("reached no block end", err.notices)
        works(session)
        assert.is_false(support.alive(before[2]))
        return seconds
      end))
    end)

    it("runs again when a worker dies whose messages to others may be lost", function()
      local flag = os.tmpname()
      local outcome = assert(session:run {
        key = "done and dead", strategy = "partition", ranges = {2},
        run = support.encode {flag = flag},
        kernel = kill_self .. [[
          require("ffi").cdef "int usleep(unsigned);"
          local _, given = ...
          return function(b)
            if b == 0 and os.remove(given.flag) then
              os.execute(("(sleep 0.1; kill -9 %d; touch %s.dead) &"):format(C.getpid(),
                given.flag))
            end
            for _ = 1, b == 1 and 1000 or 0 do -- until it is dead, and the driver knows
              local file = io.open(given.flag .. ".dead")
              if file then file:close() break end
              C.usleep(10000)
            end
            if b == 1 then C.usleep(100000) end
            return tostring(b)
          end]],
      })
      os.remove(flag .. ".dead")
      assert.are.same({"0", "1"}, {outcome.results[0], outcome.results[1]})
      local handed_over_for_good = road.shm and road.transport == "ipc"
      assert.matches(handed_over_for_good and "between loops and is replaced" or
        "after its last block and is replaced; the loop is undone and run again", outcome.notices)
      works(session)
    end)

    it("replaces a worker that died between jobs with a notice", function()
      works(session)
      local pid = session:pids()[2]
      support.kill(pid, 9)
      support.eventually(2, function() return not support.alive(pid) end)
      support.sleep(0.1) -- its other threads may outlive the first one by a moment
      local outcome = works(session)
      assert.matches("worker 2 (pid " .. pid .. ") was killed by signal 9", outcome.notices, 1,
        true)
      assert.is_nil(works(session).notices)
    end)
  end)
end

describe("a session", function()
  it("tells of jobs in which nothing happens", function()
    local session = assert(support.session {workers = 2})
    local told = {}
    assert(session:run {
      key = "slow", strategy = "independent", ranges = {1}, patience = 0.5,
      kernel = 'require("ffi").cdef "int usleep(unsigned);" return function() '
        .. 'require("ffi").C.usleep(2500000) end',
      stalled = function(seconds, who, block) told[#told + 1] = {seconds, who, block} end,
    })
    assert.is_true(#told >= 1)
    assert.is_true(told[1][1] >= 0.5)
    assert.are.equal(1, told[1][2])
    assert.are.equal(0, told[1][3])
    session:stop()
  end)

  it("refuses wrong operands and wrong grids before anything runs", function()
    for _, shm in ipairs {true, false} do
      local session = assert(support.session {workers = 1, shm = shm})
      local a = support.array({4, 4})
      local function refused(code, fields, strategy, ranges)
        local operand = a:operand(fields)
        local outcome, err = session:run {
          key = "refused", kernel = "error('it ran')", strategy = strategy or "partition",
          ranges = ranges or {2}, operands = support.operands {operand},
        }
        assert.is_nil(outcome)
        assert.are.equal(code, err.code)
      end
      refused("ARR", {movement = "cached", written = true})
      refused("ARR", {movement = "rotated", cut = 2})
      refused("ARR", {movement = "rotated", cut = 2}, "partition", {2, 2}) -- nobody hands it on
      refused("ARR", {movement = "local", along = 5})
      refused("ARR", {movement = "broadcast", dims = {2 ^ 52, 2 ^ 52}})
      if shm then
        refused("ARR", {movement = "broadcast", dims = {2 ^ 40}})
        refused("ARR", {movement = "broadcast", segment = support.null})
      else
        refused("BUG", {movement = "local", written = true}) -- without bounds
      end
      refused("OPT", {movement = "broadcast"}, "rotate", {3})
      refused("OPT", {movement = "broadcast"}, "partition", {0})
      works(session)
      session:stop()
    end
  end)

  it("refuses to start with what it cannot start", function()
    local function refused(options)
      local session, err = support.session(options)
      assert.is_nil(session)
      return err
    end
    assert.are.equal("OPT", refused({workers = 0}).code)
    assert.are.equal("OPT", refused({workers = 5000}).code)
    assert.are.equal("OPT", refused({workers = 1, transport = "pigeon"}).code)
    local missing = refused {workers = 1, command = {"/nowhere/luajit"}}
    assert.are.equal("WRK", missing.code)
    assert.matches("/nowhere/luajit", missing.message, 1, true)
    local ended = refused {workers = 2, command = {"sh", "-c", "exit 7"}}
    assert.are.equal("WRK", ended.code)
    assert.matches("ended with status 7 before it was ready", ended.message, 1, true)
    -- However soon it ends: its status tells more than a channel that broke.
    for _ = 1, 20 do
      ended = refused {workers = 1, command = {"false"}}
      assert.matches("ended with status 1 before it was ready", ended.message, 1, true)
    end
  end)

  it("refuses a worker of another build, naming both", function()
    local session, err = support.session {workers = 1, command = interpreter.command [[
      local ffi = require("ffi")
      ffi.cdef "long send(int, const void *, size_t, int); int usleep(unsigned);"
      local build = ffi.new("struct { uint32_t magic, protocol; char abi[64]; }",
        {0x4153534D, 1, "meissa-core-0 pdp11"})
      ffi.C.send(3, build, ffi.sizeof(build), 0)
      ffi.C.usleep(3000000)]]}
    assert.is_nil(session)
    assert.are.equal("WRK", err.code)
    assert.matches("meissa-core-0 pdp11", err.message, 1, true)
    assert.matches("meissa-core-1 ", err.message, 1, true)
  end)

  it("takes captured values larger than a message, and kernels once", function()
    local session = assert(support.session {workers = 2})
    local job = {
      key = "big", strategy = "independent", ranges = {2},
      kernel = "local _, given = ... return function() return tostring(#given.text) end",
      run = support.encode {text = ("x"):rep(5000000)},
    }
    assert.are.equal("5000000", assert(session:run(job)).results[1])
    job.kernel = nil -- known by its key
    job.run = support.encode {text = "abc"}
    assert.are.equal("3", assert(session:run(job)).results[0])
    session:stop()
  end)
end)
