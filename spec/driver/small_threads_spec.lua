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

  it("are not there for blocks that wait", function()
    assert.equal("0\t0\n", run [[
      print(helping(2, function()
        for i, j in parallel({2, n}, {2, n}, {engine = "native"}) do
          B[i][j] = 0.5 * math.sin(B[i - 1][j] + B[i][j - 1])
        end
      end))]])
  end)

  it("share blocks that may fail, and have buffers and scratch arrays, with the bits of one",
     function()
    local count = several and 1 or 0
    assert.equal(("true\t%d\t0\n"):rep(3):format(count, count, count), run [[
      local index, total = meissa.ones({n}, {type = "int32"}), meissa.zeros({n, n})
      local sums, own, C = meissa.buffer(total), meissa.scratch(n), meissa.zeros({n, 150})
      for i = 1, n do index[i] = i * 7 % 13 + 1 end
      local function equal(a, b)
        for i = 1, n do
          for j = 1, a:size(2) do if a[i][j] ~= b[i][j] then return false end end
        end
        return true
      end
      local function compare(loop, result)
        local all
        local function from_zero()
          result:fill(0)
          loop()
        end
        helping(1, from_zero)
        all = result:clone()
        local helpers, workers = helping(3, from_zero)
        local same = equal(all, result)
        for _ = 1, 10 do
          from_zero()
          same = same and equal(all, result)
        end
        print(same, math.min(helpers, 1), workers)
      end
      compare(function()
        for i in parallel(n, {engine = "native"}) do
          for j = 1, 150 do C[i][j] = C[i][j] + math.sin(A[i][j]) + A[index[i] ][j] end
        end
      end, C)
      compare(function()
        for i in parallel(n, {engine = "native", grid = {8}}) do
          for j = 1, n do
            sums[index[i] ][j] = sums[index[i] ][j] + math.sin(A[i][j])
            if j % 50 == 0 then sums[index[j] ][index[i] ] = sums[index[j] ][index[i] ] + 0.1 end
          end
        end
      end, total)
      compare(function()
        for i in parallel(n, {engine = "native"}) do
          for j = 1, n do own[j] = math.sin(A[i][j]) end
          for j = 1, 150 do C[i][j] = own[n + 1 - j] + own[index[j] ] end
        end
      end, C)]])
  end)

  it("leave all as it was where a block of theirs fails", function()
    assert.equal("ARR\t650\t0\t0\ntrue\n", run [[
      local index, total = meissa.ones({n}, {type = "int32"}), meissa.zeros(n)
      local sums = meissa.buffer(total)
      local function loop()
        for i in parallel(n, {engine = "native"}) do
          for j = 1, n do
            row[i] = row[i] + math.sin(A[i][j])
            sums[index[i] ] = sums[index[i] ] + A[i][j]
          end
        end
      end
      helping(2, loop)
      local before = total[1]
      index[650] = n + 1
      total:fill(0)
      row:fill(0)
      local _, err = pcall(loop)
      print(err.code, err.iteration[1], total[1], row:sum())
      index[650] = 1
      for _ = 1, 5 do loop() end
      print(total[1] == before)]])
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
