-- SPDX-License-Identifier: MIT
-- Loops on workers that need no log, as no block reads what one writes and none can fail: what is
-- one and what is not; workers that die meanwhile, and Ctrl-C, leave whole passes.

local child = require "spec.support.child"

-- A loop of some ms over large arrays, and how often it went without a log.
local HEAD = [[
local meissa = require "meissa"
local parallel = meissa.parallel
local small = require "meissa.driver.small"
small.most[0] = 0
local counted, is_unlogged = {[true] = 0, [false] = 0}, small.is_unlogged
function small.is_unlogged(run)
  local is = is_unlogged(run)
  counted[is] = counted[is] + 1
  return is
end
local n = 600
local A, B = meissa.rand({n, n}, {seed = 1}), meissa.zeros({n, n})
local function pass(k)
  for i, j in parallel(n, n, {engine = "native"}) do B[i][j] = math.sqrt(A[i][j]) * k end
end
local function whole(k)
  for i = 1, n, 37 do
    for j = 1, n, 41 do
      if B[i][j] ~= math.sqrt(A[i][j]) * k then return false end
    end
  end
  return true
end
]]

local function run(text, env)
  return child.script(HEAD .. text, {env = env or "MEISSA_WORKERS=2"})
end

describe("loops without a log", function()
  it("write what they do not read, and cannot fail", function()
    local output = run([[
      local index = meissa.ones({n}, {type = "int32"})
      local function tells(loop)
        for _ = 1, 3 do loop() end
        local before = counted[true]
        loop()
        return counted[true] > before
      end
      print(tells(function() pass(2) end), whole(2))
      print(tells(function()
        for i, j in parallel({2, n}, n, {engine = "native"}) do B[i][j] = A[i - 1][j] end
      end))
      print(tells(function()
        for i, j in parallel(n, n, {engine = "native"}) do B[i][j] = B[i][j] + A[i][j] end
      end))
      local C = B:narrow(1, 2, n - 1)
      print(tells(function()
        for i, j in parallel(n - 1, n, {engine = "native"}) do C[i][j] = B[i + 1][j] + 1 end
      end))
      print(tells(function()
        for i, j in parallel(n, n, {engine = "native"}) do B[i][j] = A[index[i] ][j] end
      end))
      print(tells(function()
        for i, j in parallel(n, n, {engine = "lua"}) do B[i][j] = A[i][j] end
      end))
      print(tells(function()
        for i, j in parallel(n, n, {engine = "native", transaction = false}) do B[i][j] = 1 end
      end))]])
    assert.equal("true\ttrue\ntrue\nfalse\nfalse\nfalse\nfalse\nfalse\n", output)
  end)

  it("are logged where arrays travel by value", function()
    local output = run("for k = 1, 4 do pass(k) end print(counted[true], whole(4))",
                       "MEISSA_WORKERS=2 MEISSA_SHM=0")
    assert.equal("0\ttrue\n", output)
  end)

  it("are whole though workers die", function()
    local output = run([[
      for k = 1, 4 do pass(k) end
      local deaths = 0
      for k = 5, 60 do
        local pid = meissa.workers().pids[k % 2 + 1] -- false: it is being replaced
        if k % 3 == 0 and pid then
          os.execute(("(sleep 0.00%d; kill -9 %d) 2>/dev/null &"):format(k % 9, pid))
        end
        pass(k)
        deaths = deaths + meissa.last().deaths
        if not whole(k) then print("broken", k) end
      end
      print(counted[true] > 0, deaths >= 0)]])
    assert.matches("true\ttrue\n$", output)
    assert.is_nil(output:find("broken", 1, true), output)
  end)

  it("are whole after Ctrl-C", function()
    local output = run([[
      require("ffi").cdef "int getpid(void);"
      for k = 1, 4 do pass(k) end
      local stopped, broken, codes = 0, 0, 0
      for t = 1, 12 do
        os.execute(("(sleep 0.0%d; kill -2 %d) &"):format(t + 10, require("ffi").C.getpid()))
        local k, late = 4, os.time() + 60 -- a loaded machine may take its time over the signal
        local ok, err = pcall(function()
          while os.time() < late do
            k = k + 1
            pass(k)
          end
        end)
        stopped = stopped + (ok and 0 or 1)
        if err.code == "INT" then codes = codes + 1 else break end -- between loops: LuaJIT's own
        if not (whole(k) or whole(k - 1)) then broken = broken + 1 end
      end
      print(stopped > 0, broken, counted[true] > 0)]])
    assert.equal("true\t0\ttrue\n", output)
  end)
end)
