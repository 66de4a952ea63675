-- SPDX-License-Identifier: MIT
-- Small loops whose blocks are shared by threads of the driver's process: which ones are, the bits,
-- workers that are fewer, and processes that are forked.

local child = require "spec.support.child"

local HEAD = [[
local meissa = require "meissa"
local parallel = meissa.parallel
local small = require "meissa.driver.small"
small.most[0] = 1
local ffi = require "ffi"
ffi.cdef "int fork(void); int waitpid(int pid, int *status, int options); void _exit(int status);"
local function threads()
  local pid = io.open("/proc/self/stat"):read("*n")
  local pipe = io.popen("cat /proc/" .. pid .. "/task/*/comm | grep -c '^meissa crew$'")
  local count = pipe:read("*n")
  pipe:close()
  return count
end
-- The threads after a loop has run some times with so many workers, and how many it ran on at last.
local function helping(workers, loop)
  meissa.init {workers = workers}
  for _ = 1, 5 do loop() end
  return threads(), meissa.last().workers
end
local n = 700
local A = meissa.rand({n, n}, {seed = 1})
local B, row = meissa.zeros({n, n}), meissa.zeros(n)
local function sweep()
  local sum = 0
  for i in parallel({2, n - 1}, {engine = "native"}) do
    for j = 2, n - 1 do
      B[i][j] = A[i][j] + 0.2 * math.sin(A[i - 1][j] + A[i + 1][j] + A[i][j - 1] - 4 * A[i][j + 1])
      sum = sum + B[i][j]
    end
  end
  return sum
end
]]

local function run(text) return child.script(HEAD .. text, {env = "MEISSA_WORKERS=1"}) end

local pipe = io.popen "nproc"
local several = pipe:read "*n" > 1
pipe:close()

describe("threads of small loops", function()
  it("are as many as workers, one of them the driver's own", function()
    assert.equal("0\t0\n" .. (several and 1 or 0) .. "\t0\n", run [[
      print(helping(1, sweep))
      print(helping(2, sweep))]])
  end)

  it("leave the bits of one", function()
    assert.equal("true\n", run [[
      for _ = 1, 3 do sweep() end
      local sum, all = sweep(), B:clone()
      meissa.init {workers = 3}
      local same = true
      for _ = 1, 30 do
        B:fill(0)
        same = same and sweep() == sum
        for i = 1, n do
          for j = 1, n do same = same and B[i][j] == all[i][j] end
        end
      end
      print(same)]])
  end)

  it("are not there for blocks that wait, may fail, or have buffers", function()
    assert.equal("0\t0\n0\t0\n0\t0\n", run [[
      local index, total = meissa.ones({n}, {type = "int32"}), meissa.zeros(n)
      local buffer = meissa.buffer(total)
      print(helping(2, function()
        for i, j in parallel({2, n}, {2, n}, {engine = "native"}) do
          B[i][j] = 0.5 * math.sin(B[i - 1][j] + B[i][j - 1])
        end
      end))
      print(helping(2, function()
        for i in parallel(n, {engine = "native"}) do
          for j = 1, n do row[i] = row[i] + math.sin(A[i][j]) + A[index[i] ][j] end
        end
      end))
      print(helping(2, function()
        for i in parallel(n, {engine = "native"}) do
          for j = 1, n do buffer[j] = buffer[j] + math.sin(A[i][j]) end
        end
      end))]])
  end)

  it("are a forked process's own", function()
    assert.equal("true\t0\n", run [[
      meissa.init {workers = 2}
      for _ = 1, 3 do sweep() end
      local sum, status = sweep(), ffi.new "int[1]"
      local pid = ffi.C.fork()
      if pid == 0 then
        local same = true
        for _ = 1, 20 do same = same and sweep() == sum end
        ffi.C._exit(same and 0 or 1)
      end
      ffi.C.waitpid(pid, status, 0)
      print(sweep() == sum, status[0])]])
  end)
end)
