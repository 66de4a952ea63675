-- SPDX-License-Identifier: MIT
-- time limit: 600 s
-- Workers are killed at random moments while loops of all kinds run (matrix factorization,
-- Gauss-Seidel, a sweep, buffers): every run ends with the bits of one that nobody disturbed.
-- MEISSA_TEST_SEED replays the moments, MEISSA_KILLS says how many there are for each program and
-- road.
local meissa = require "meissa"
local ffi = require "ffi"

ffi.cdef "int getpid(void);"

local parallel = meissa.parallel
local KILLS = tonumber(os.getenv "MEISSA_KILLS") or 5
local chaos = require "spec.driver.chaos"
local seed = require "spec.support.seed"
local small = require "meissa.driver.small"

local bytes = chaos.bytes

local function factorize(ratings)
  local W = meissa.randn({300, 16}, {seed = 1, scale = 0.1, type = "float"})
  local H = meissa.randn({200, 16}, {seed = 2, scale = 0.1, type = "float"})
  local errors = {}
  for epoch = 1, 8 do
    local sum = 0
    for i, j, r in parallel(ratings) do
      local w, h = W[i], H[j]
      local e = r - w:dot(h)
      sum = sum + e * e
      for k = 1, 16 do
        local wk = w[k]
        w[k] = wk + 0.02 * (e * h[k] - 0.05 * wk)
        h[k] = h[k] + 0.02 * (e * wk - 0.05 * h[k])
      end
    end
    errors[epoch] = ("%.17g"):format(sum)
  end
  return bytes(W) .. bytes(H) .. table.concat(errors, " ")
end

-- Every other time through views that overlap.
local function relax()
  local n = 500
  local A = meissa.rand({n, n}, {seed = 3})
  local below, turned = A:narrow(1, 2, n - 1), A:transpose()
  for _ = 1, 6 do
    for i, j in parallel({2, n - 1}, {2, n - 1}) do
      A[i][j] = 0.25 * (A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1])
    end
    for i, j in parallel({2, n - 1}, {2, n - 1}) do
      A[i][j] = 0.25 * (turned[j][i - 1] + below[i][j] + turned[j - 1][i] + below[i - 1][j + 1])
    end
  end
  return bytes(A)
end

-- A sweep whose phases read what the phase before wrote, in any column.
local function sweep()
  local A = meissa.rand({40, 4000}, {seed = 4})
  for _ = 1, 4 do
    for i, j in parallel({2, 40}, {1, 4000}) do
      local x = A[i - 1][4001 - j]
      for _ = 1, 20 do x = x * 0.9 + 0.01 end
      A[i][j] = 0.5 * (x + A[i][j])
    end
  end
  return bytes(A)
end

-- Stages whose pending values are merged, and an array that is written meanwhile.
local function buffered()
  local w, seen = meissa.rand({80}, {seed = 5}), meissa.zeros {20000}
  for _ = 1, 4 do
    local b = meissa.buffer(w, {max_delay = 7000})
    for i in parallel(20000) do
      seen[i] = seen[i] + w[i % 80 + 1]
      b[i % 80 + 1] = b[i % 80 + 1] + 0.001 * w[(i * 7) % 80 + 1]
    end
  end
  return bytes(w) .. bytes(seen)
end

local function make_ratings()
  local at = {i = {}, j = {}, v = {}}
  for e = 1, 30000 do
    at.i[e], at.j[e], at.v[e] = e * 7919 % 300 + 1, e * 104729 % 200 + 1, e % 5 + 1
  end
  return meissa.sparse({300, 200}, at)
end

-- Descriptors of shared memory, and child processes, of this process.
local function held()
  local pipe = io.popen("ls -l /proc/" .. ffi.C.getpid() .. "/fd | grep -c memfd:")
  local memory = tonumber(pipe:read("*l"))
  pipe:close()
  pipe = io.popen("cat /proc/" .. ffi.C.getpid() .. "/task/*/children")
  local _, children = pipe:read("*a"):gsub("%d+", "")
  pipe:close()
  return memory, children
end

local roads = {}
for _, transport in ipairs {"ipc", "tcp"} do
  for _, shm in ipairs {true, false} do
    roads[#roads + 1] = {transport = transport, shm = shm, workers = 2,
                         name = transport .. (shm and ", shared" or ", by value")}
  end
end

local programs = {
  {name = "factorization", run = factorize}, {name = "Gauss-Seidel", run = relax},
  {name = "a sweep", run = sweep}, {name = "a loop with a buffer", run = buffered},
}

describe(("%d workers killed at random (seed %d)"):format(KILLS, seed), function()
  local ratings, killer, stderr, most
  local redone = 0 -- notices of workers that died in a loop

  setup(function()
    math.randomseed(seed)
    most, small.most[0] = small.most[0], 0 -- loops run on workers, where kills meet them
    ratings = make_ratings()
    killer = chaos.killer()
    meissa.init {workers = 1}
    for _, program in ipairs(programs) do program.right = program.run(ratings) end
    stderr = io.stderr
    rawset(io, "stderr", {write = function(_, text)
      local met = text:find("run again", 1, true) or text:find("nothing is lost", 1, true)
      if met then redone = redone + 1 end
    end})
  end)

  teardown(function()
    small.most[0] = most
    rawset(io, "stderr", stderr)
    killer()
    meissa.init {}
  end)

  for _, road in ipairs(roads) do
    for _, program in ipairs(programs) do
      it(("do not change a bit of %s (%s)"):format(program.name, road.name), function()
        meissa.init {workers = 2, transport = road.transport, shm = road.shm}
        local function run() return program.run(ratings) end
        local usual = chaos.usual(assert, run, program.right)
        redone = 0
        local kills = 0
        while kills < KILLS or redone == 0 and kills < 20 * KILLS do -- some come between loops
          kills = kills + 1
          chaos.kill_one(assert, killer, run, program.right, usual)
        end
        assert.is_true(redone > 0, "no kill met a loop")
      end)
    end
  end

  it("leave no memory and no process behind", function()
    local function settle()
      meissa.init {}
      for _ = 1, 4 do collectgarbage() end
      require("meissa.array").drain()
      return held()
    end
    local memory, children = settle()
    meissa.init {workers = 2}
    for k = 1, 6 do
      local pid = meissa.workers().pids[k % 2 + 1]
      if pid then killer(pid, 0.02) end
      assert.is_true(factorize(ratings) == programs[1].right)
    end
    local now, alive = settle()
    assert.same({memory, children}, {now, alive})
  end)
end)
