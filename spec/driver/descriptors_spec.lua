-- SPDX-License-Identifier: MIT
-- A process that may have few file descriptors, small files, or make no thread, runs its loops or
-- is told so.
local child = require "spec.support.child"

local SCRIPT = [=[
local meissa = require "meissa"
local made, A = pcall(meissa.zeros, 10)
if not made then print(A) return end
local ok, err = pcall(meissa.each, 10, function(i) A[i] = i end)
print(ok and "ran " .. A:sum() or tostring(err))
]=]

-- Runs the script after a shell command that sets limits: what it printed.
local function run(limits, environment, workers)
  local output, status = child.script(SCRIPT, {env = limits .. " && " .. (environment or "") ..
    " MEISSA_WORKERS=" .. (workers or 2)})
  assert.equal(0, status, output)
  return output
end

describe("a process with few descriptors", function()
  local roads = {"", "MEISSA_SHM=0", "MEISSA_SHM=0 MEISSA_TRANSPORT=tcp"}

  for count = 8, 20 do
    it("is told of " .. count, function()
      -- Where ZeroMQ needs some, what one worker needs does not hide that.
      local road = roads[count % #roads + 1]
      local output = run("ulimit -n " .. count, road, road == "" and 2 or 1)
      assert.matches("NET: %d+ more file descriptors are needed for workers", output)
      assert.matches("this process may have " .. count, output, 1, true)
      assert.matches("ulimit -n 1024", output, 1, true)
    end)
  end

  it("runs loops when it has enough", function()
    for _, road in ipairs(roads) do
      assert.equal("ran 55\n", run("ulimit -n 48", road))
    end
  end)

  it("never ends otherwise", function()
    for count = 21, 47 do
      local output = run("ulimit -n " .. count, roads[count % #roads + 1])
      assert.is_true(output == "ran 55\n" or output:match "NET: " ~= nil, output)
    end
  end)
end)

describe("a process whose files may not be large", function()
  it("is told which limit there is", function()
    for _, blocks in ipairs {0, 1, 64, 2048} do
      local output = run("ulimit -f " .. blocks)
      assert.matches("shared memory of %d+ MB is a file for the system", output)
      assert.matches("ulimit -f unlimited", output, 1, true)
    end
  end)
end)

describe("a process that can make no thread", function()
  -- Stacks larger than all of its memory may be.
  local limits = "ulimit -v 4000000 && ulimit -s 5000000"

  it("is told which limits there are where messages need one", function()
    local output = run(limits, "MEISSA_SHM=0")
    assert.matches("NET: no thread can be made", output, 1, true)
    assert.matches("ulimit -u (processes and threads), ulimit -v", output, 1, true)
  end)

  it("runs loops where memory is shared", function()
    assert.equal("ran 55\n", run(limits))
  end)
end)

describe("a process that has no ZeroMQ", function()
  local where = child.directory()
  child.write(where .. "/libzmq.so.5", "")
  local library = "LD_LIBRARY_PATH=" .. where
  teardown(function()
    os.remove(where .. "/libzmq.so.5")
    child.remove(where)
  end)

  it("runs loops where memory is shared", function()
    assert.equal("ran 55\n", run("true", library))
  end)

  it("is told so where it is not", function()
    for _, road in ipairs {"MEISSA_SHM=0", "MEISSA_SHM=0 MEISSA_TRANSPORT=tcp",
                           "MEISSA_TRANSPORT=tcp"} do
      local output = run("true", library .. " " .. road)
      assert.matches("NET: ZeroMQ cannot be loaded, by which workers", output, 1, true)
      assert.matches("libzmq.so.5: file too short", output, 1, true)
    end
  end)
end)
