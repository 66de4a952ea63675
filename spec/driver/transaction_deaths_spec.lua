-- SPDX-License-Identifier: MIT
-- A parallel loop completes, or its arrays are as before, when workers die and after Ctrl-C: one
-- whose worker died once completes, a block that ends two workers fails its loop.
local child = require "spec.support.child"
local deaths = require "spec.driver.deaths"
local expect = require "spec.support.expect"

local HEAD, has = deaths.HEAD, expect.has

for _, shm in ipairs {1, 0} do
  describe(("a loop in a script (MEISSA_SHM=%d)"):format(shm), function()
    local env = "MEISSA_WORKERS=2 MEISSA_SHM=" .. shm

    it("that crashes is named with block, iterations, signal and engine, and is undone", function()
      local output = child.script(HEAD .. [[
        local A = meissa.zeros(640)
        for i in parallel(640) do A[i] = i end
        local ok, err = pcall(function()
          for i in parallel(640, {impure = true}) do
            A[i] = -i
            if i == 411 then
              local f = require "ffi"
              f.cdef "void *signal(int, void *);" -- sanitizers have a handler
              f.C.signal(11, nil)
              f.copy(f.cast("void *", 8), "segfault")
            end
          end
        end)
        print(ok, err.code, err)
        print("sum", A:sum(), A[411], #meissa.workers().pids)]], {env = env})
      has(output, "false\tWRK\t",
          "was killed by signal 11 (Segmentation fault), in block 41, i = 411 to 420 (engine ",
          "the second worker that this block ended, so the loop was undone",
          "sum\t205120\t411\t2")
      local _, notices = output:gsub("is replaced; the " ..
        (shm == 1 and "block that it was in" or "loop") .. " is undone and run again", "")
      assert.equal(1, notices)
    end)

    it("whose worker dies once completes, and prints every line once", function()
      local output = child.script(HEAD .. [[
        local A = meissa.zeros(64)
        local sum, squares = 0, {}
        for i in parallel(64, {impure = true}) do
          A[i] = A[i] + i
          sum = sum + i
          squares[i] = i * i
          print("line", i)
          if i == 50 then sleep(0.1) die_once() end
        end
        print("sum", sum, A:sum(), squares[8], #squares)]], {env = env})
      has(output, "run again", "sum\t2080\t2080\t64\t64")
      for i = 1, 64 do
        local _, count = output:gsub("line\t" .. i .. "\n", "")
        assert.equal(1, count)
      end
    end)

    it("that is no transaction fails with its worker, and says whose arrays are lost", function()
      local output = child.script(HEAD .. [[
        local A = meissa.zeros(640)
        local ok, err = pcall(function()
          for i in parallel(640, {impure = true, transaction = false}) do
            A[i] = -i
            if i == 500 then
              die()
            end
          end
        end)
        print(ok, err.code, err)
        print(pcall(A.sum, A))
        for i in parallel(640) do A[i] = i end
        print("usable", A:sum(), #meissa.workers().pids)]], {env = env})
      has(output, "false\tWRK\t", "was killed by signal 9 (Killed), in block 49, i = 491 to 500",
          "did not finish: worker 2", "usable\t205120\t2")
      assert.is_nil(output:find("run again", 1, true), output)
    end)

    it("that Ctrl-C ends leaves its arrays as before", function()
      local output = child.interrupted(HEAD .. [[
        local A = meissa.zeros(640)
        for i in parallel(640) do A[i] = i end
        local ok, err = pcall(function()
          for i in parallel(640, {impure = true}) do
            A[i] = -i
            if i == 330 then make "ready" end
            sleep(0.02)
          end
        end)
        print(ok, err.code, A:sum())
        for i in parallel(640) do A[i] = 2 * i end
        print("usable", A:sum())
]], {env = env, once = "ready", after = 0.2})
      has(output, "false\tINT\t205120", "usable\t410240")
    end)
  end)
end

describe("a loop that is interrupted while it recovers from a death", function()
  it("is not run again", function()
    local output = child.interrupted(HEAD .. [[
      local A = meissa.zeros(64)
      for i in parallel(64) do A[i] = i end
      local ok, err = pcall(function()
        for i in parallel(64, {impure = true}) do
          A[i] = -i
          sleep(0.15)
          if i == 2 then make "dies" die() end
        end
      end)
      print(ok, err.code, A:sum())
]], {env = "MEISSA_WORKERS=2", once = "dies"})
    has(output, "false\tINT\t2080")
  end)
end)

describe("a loop whose workers die again and again", function()
  it("is given up after a hundred times", function()
    local output = child.script(HEAD .. [[
      local A = meissa.zeros(200)
      local ok, err = pcall(function()
        for i in parallel(200, {impure = true, grid = {200}}) do -- each time in another block
          A[i] = i
          local file = io.open("died")
          local count = file and tonumber(file:read("*a")) or 0
          if file then file:close() end
          if i == count + 1 then
            file = io.open("died", "w")
            file:write(count + 1)
            file:close()
            die()
          end
        end
      end)
      print(ok, err.code, err, A:sum(), io.open("died"):read("*a"))]],
      {env = "MEISSA_WORKERS=1"})
    has(output, "false\tWRK\t", "workers died 101 times while the loop ran, at last worker 1",
        "\t0\t101")
  end)
end)

describe("a loop in this process", function()
  it("is undone where the engine runs it", function()
    local output = child.script(HEAD .. [[
      local A = meissa.rand({50, 50}, {seed = 1})
      local before = A:clone()
      local ok, err = pcall(function()
        for i in parallel(50, {collapse = 2, ordered = false}) do
          for j = 1, i do
            A[i][j] = 7
            if i == 40 then error("stop here") end
          end
        end
      end)
      local same = true
      for i = 1, 50 do
        for j = 1, 50 do same = same and A[i][j] == before[i][j] end
      end
      print(ok, err.code, same)]], {env = "MEISSA_WORKERS=0"})
    has(output, "false\tBDY\ttrue")
  end)
end)
