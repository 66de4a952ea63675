-- SPDX-License-Identifier: MIT
--- Workers that are killed at random moments while a program runs: every run ends with the bits of
-- one that nobody disturbed. MEISSA_TEST_SEED replays the moments, MEISSA_KILLS says how many there
-- are.
local ffi = require "ffi"
local meissa = require "meissa"
local seed = require "spec.support.seed"

local M = {}

local KILLS = tonumber(os.getenv "MEISSA_KILLS") or 100

-- This part of them is to meet a running loop; for that there are up to so many times more.
local PART, MOST = 0.8, 6

-- A process that kills others after a while: lines "pid microseconds".
local KILLER = [[
local ffi = require "ffi"
ffi.cdef "int kill(int pid, int signal); int usleep(unsigned);"
for line in io.lines() do
  local pid, delay = line:match("(%d+) (%d+)")
  ffi.C.usleep(tonumber(delay))
  ffi.C.kill(tonumber(pid), 9)
end
]]

local SIZES = {float = 4, double = 8}

--- The elements of an array as a string.
function M.bytes(A) return ffi.string((A:data()), A:nnz() * SIZES[A:type()]) end

--- Begins the process that kills: killer(pid, seconds) has a process killed, killer() ends it.
function M.killer()
  local pipe = io.popen(("luajit -e '%s'"):format(KILLER:gsub("\n", " ")), "w")
  pipe:setvbuf "no"
  return function(pid, seconds)
    if not pid then return pipe:close() end
    pipe:write(("%d %d\n"):format(pid, math.floor(seconds * 1e6)))
  end
end

local function is_worker(pid)
  for _, each in ipairs(meissa.workers().pids) do
    if each == pid then return true end
  end
  return false
end

--- How long a program usually takes, in seconds; it must have the bits of `right`.
function M.usual(assert, program, right)
  local before
  for _ = 1, 2 do -- once without the start of the workers
    before = meissa.clock()
    assert.is_true(program() == right, "other bits")
  end
  return meissa.clock() - before
end

--- Runs a program, one of whose workers is killed meanwhile, until that worker is replaced.
-- @func killer as M.killer gave it @number seconds the latest moment
function M.kill_one(assert, killer, program, right, seconds)
  local pids = meissa.workers().pids
  local pid = pids[math.random(#pids)]
  if pid and pid > 0 then killer(pid, math.random() * seconds) end
  repeat -- the killer may be late on a busy machine
    assert.is_true(program() == right, "other bits")
  until not is_worker(pid)
end

--- Describes a program whose workers are killed.
-- @tab busted what a spec has: getfenv(1)
-- @string what it is, in words
-- @func program does it, and gives what must always be the same, as a string
-- @number[opt=1] share of the kills, where several programs have them together
function M.describe(busted, what, program, share)
  local kills = math.ceil(KILLS * (share or 1))
  local assert, it, setup, teardown = busted.assert, busted.it, busted.setup, busted.teardown
  local name = ("%s, %d workers killed at random (seed %d)"):format(what, kills, seed)
  busted.describe(name, function()
    local right, killer, stderr
    local met = 0 -- notices of workers that died in a loop

    setup(function()
      math.randomseed(seed)
      killer = M.killer()
      meissa.init {workers = 1}
      right = program()
      stderr = io.stderr
      rawset(io, "stderr", {write = function(_, ...)
        if table.concat({...}):find("is replaced", 1, true) then met = met + 1 end
      end})
    end)

    teardown(function()
      rawset(io, "stderr", stderr)
      killer()
      meissa.init {}
    end)

    local function check(shm, least)
      meissa.init {workers = 3, shm = shm}
      local usual = M.usual(assert, program, right)
      met = 0
      local count, wanted = 0, PART * least
      while count < least or met < wanted and count < MOST * least do
        M.kill_one(assert, killer, program, right, usual * 0.8)
        count = count + 1
      end
      assert.is_true(met >= wanted, met .. " kills met a loop")
    end

    it("has the same bits in shared memory", function() check(true, kills * 0.8) end)
    it("has the same bits by value", function() check(false, kills * 0.2) end)
  end)
end

return M
