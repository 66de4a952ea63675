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
local function run(limits, environment)
  local output, status = child.script(SCRIPT, {env = limits .. " && " .. (environment or "") ..
    " MEISSA_WORKERS=2"})
  assert.equal(0, status, output)
  return output
end

describe("a process with few descriptors", function()
  local roads = {"", "MEISSA_SHM=0", "MEISSA_SHM=0 MEISSA_TRANSPORT=tcp"}

  for count = 8, 20 do
    it("is told of " .. count, function()
      local output = run("ulimit -n " .. count, roads[count % #roads + 1])
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
      local output = run("ulimit -n " .. count)
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
  it("is told which limits there are", function()
    -- Stacks larger than all of its memory may be.
    local output = run("ulimit -v 4000000 && ulimit -s 5000000")
    assert.matches("NET: no thread can be made", output, 1, true)
    assert.matches("ulimit -u (processes and threads), ulimit -v", output, 1, true)
  end)
end)
