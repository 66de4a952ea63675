-- SPDX-License-Identifier: MIT
-- time limit: 300 s
-- Workers are killed at random moments while rounds run: every run ends with the bits of one that
-- nobody disturbed. MEISSA_TEST_SEED replays the moments, MEISSA_KILLS says how many there are.
local meissa = require "meissa"
local ffi = require "ffi"
local seed = require "spec.support.seed"

local KILLS = tonumber(os.getenv "MEISSA_KILLS") or 25

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

local function bytes(A) return ffi.string((A:data()), A:nnz() * 8) end

-- A grid in rounds, with a sum, an array that goes along, and stop tests.
local function relax()
  local n, change = 240, 0
  local u, seen = meissa.rand({n, n}, {seed = 3}), meissa.zeros {n, n}
  local function stop(t) return t == 150 end
  for t, i, j in meissa.iterate(u, 400, {2, n - 1}, {2, n - 1}, {stop = stop, test = 50}) do
    local new = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1])
    change = change + math.abs(new - u[i][j]) * t
    seen[i][j] = seen[i][j] + new
    u[i][j] = new
  end
  return bytes(u) .. bytes(seen) .. ("%.17g"):format(change)
end

describe(("%d workers killed at random (seed %d)"):format(KILLS, seed), function()
  local right, killer, stderr
  local met = 0 -- notices of workers that died in a loop

  setup(function()
    math.randomseed(seed)
    killer = io.popen(("luajit -e '%s'"):format(KILLER:gsub("\n", " ")), "w")
    killer:setvbuf "no"
    meissa.init {workers = 1}
    right = relax()
    stderr = io.stderr
    rawset(io, "stderr", {write = function(_, text)
      if text:find("is replaced", 1, true) then met = met + 1 end
    end})
  end)

  teardown(function()
    rawset(io, "stderr", stderr)
    killer:close()
    meissa.init {}
  end)

  local function is_worker(pid)
    for _, each in ipairs(meissa.workers().pids) do
      if each == pid then return true end
    end
    return false
  end

  local function check(shm, kills)
    meissa.init {workers = 3, shm = shm}
    local before
    for _ = 1, 2 do -- once without the start of the workers
      before = meissa.clock()
      assert.is_true(relax() == right)
    end
    local usual = meissa.clock() - before
    met = 0
    for _ = 1, kills do
      local pid = meissa.workers().pids[math.random(3)]
      if pid and pid > 0 then
        killer:write(("%d %d\n"):format(pid, math.floor(math.random() * usual * 8e5)))
      end
      repeat -- the killer may be late on a busy machine
        assert.is_true(relax() == right, "other bits")
      until not is_worker(pid)
    end
    assert.is_true(met > kills / 4, met .. " kills met a loop")
  end

  it("change no bit of rounds in shared memory", function() check(true, KILLS * 0.8) end)
  it("change no bit of rounds by value", function() check(false, KILLS * 0.2) end)
end)
