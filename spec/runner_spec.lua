-- SPDX-License-Identifier: MIT
--
-- The test runner itself: whatever a test file does wrong is a failure that names the file.

local function read(path)
  local file = assert(io.open(path))
  local text = file:read("*a")
  file:close()
  return text
end

describe("tools/test.sh", function()
  local dir

  before_each(function()
    dir = os.tmpname()
    os.remove(dir)
    assert(os.execute("mkdir " .. dir) == 0)
  end)

  after_each(function()
    os.execute("rm -rf " .. dir)
  end)

  local function write(name, text, mode)
    local path = dir .. "/" .. name
    local file = assert(io.open(path, "w"))
    file:write(text)
    file:close()
    assert(os.execute(("chmod %s %s"):format(mode or "644", path)) == 0)
    return path
  end

  -- Runs the runner on files; returns whether it was content, its output, and the last line.
  local function run(...)
    local ok = os.execute(("MEISSA_TEST_PRELOAD= MEISSA_TEST_SLOWDOWN=1 bash tools/test.sh %s"
      .. " > %s/output 2>&1 < /dev/null"):format(table.concat({...}, " "), dir)) == 0
    local output = read(dir .. "/output")
    return ok, output, output:match("([^\n]*)\n$")
  end

  local function expect_failure(file, why, last)
    local ok, output, line = run(file)
    assert.is_false(ok)
    assert.truthy(output:find(file .. " " .. why, 1, true), output)
    assert.equal(last or "0 passed, 1 failed", line)
    return output
  end

  it("sums programs and specs", function()
    local ok, output, line = run(
      write("x_test", "#!/bin/sh\necho noise\necho '3 passed, 0 failed'\n", "755"),
      write("x_spec.lua", "it('a', function() end) it('b', function() end)"))
    assert.is_true(ok, output)
    assert.equal("5 passed, 0 failed", line)
    assert.is_nil(output:find("noise", 1, true), output)
  end)

  it("runs specs on LuaJIT", function()
    local ok, output = run(write("x_spec.lua", "it('a', function() assert(jit.version) end)"))
    assert.is_true(ok, output)
  end)

  it("shows what a failing spec says, and goes on with its other tests", function()
    local ok, output, line = run(write("x_spec.lua", [[
      it('breaks', function() assert.equal('what is', 'what should be') end)
      it('holds', function() end)]]))
    assert.is_false(ok)
    assert.truthy(output:find("FAILED: breaks", 1, true), output)
    assert.truthy(output:find("what should be", 1, true), output)
    assert.equal("1 passed, 1 failed", line)
  end)

  it("shows error objects by their tostring", function()
    local _, output = run(write("x_spec.lua", [[
      it('raises', function()
        error(setmetatable({}, {__tostring = function() return 'ARR: the reason' end}))
      end)]]))
    assert.truthy(output:find("ARR: the reason", 1, true), output)
  end)

  it("reports a spec that hangs, and in which test", function()
    local output = expect_failure(write("x_spec.lua", [[
      -- time limit: 1 s
      it('ends', function() end)
      it('spins', function() while true do end end)]]), "did not end within 1 s")
    assert.truthy(output:find("spins", 1, true), output)
  end)

  it("reports a program that hangs and will not be asked nicely", function()
    expect_failure(write("x_test",
      "#!/bin/bash\n# time limit: 1 s\ntrap '' TERM\nwhile :; do sleep 1; done\n", "755"),
      "did not end within 1 s")
  end)

  it("reports a spec that crashes", function()
    expect_failure(write("x_spec.lua",
      "it('dies', function() require('ffi').cast('int *', 8)[0] = 1 end)"),
      "was killed by signal SEGV")
  end)

  it("reports a spec that leaves early, even contentedly", function()
    expect_failure(write("x_spec.lua", "it('leaves', function() os.exit(0) end)"),
      "ended with status 0 before its tests did")
  end)

  it("reports a spec without tests, and one whose tests are all skipped", function()
    expect_failure(write("x_spec.lua", "describe('nothing', function() end)"),
      "contains no test that ran")
    expect_failure(write("y_spec.lua", "pending('later')"), "contains no test that ran")
  end)

  it("reports a spec that cannot be loaded", function()
    local ok, output, line = run(write("x_spec.lua", "it('a', function("))
    assert.is_false(ok)
    assert.truthy(output:find("x_spec.lua", 1, true), output)
    assert.equal("0 passed, 1 failed", line)
  end)

  it("reports a spec that is not there", function()
    local ok = run(dir .. "/missing_spec.lua")
    assert.is_false(ok)
  end)

  it("reports a program that fails, that says nothing, that dies after its tests", function()
    local ok, _, line = run(
      write("x_test", "#!/bin/sh\necho '3 passed, 2 failed'\nexit 1\n", "755"))
    assert.is_false(ok)
    assert.equal("3 passed, 2 failed", line)
    expect_failure(write("y_test", "#!/bin/sh\nexit 0\n", "755"),
      "ended with status 0 before its tests did")
    expect_failure(write("z_test", "#!/bin/sh\necho '3 passed, 0 failed'\nexit 7\n", "755"),
      "ended with status 7 although no test failed", "3 passed, 1 failed")
  end)

  it("reports a process left behind, and ends it", function()
    expect_failure(write("x_spec.lua", ([[
      it('spawns', function() os.execute("sleep 60 & echo $! > %s/pid") end)]]):format(dir)),
      "left processes behind", "1 passed, 1 failed")
    local pid = read(dir .. "/pid"):match("%d+")
    -- Ended, though perhaps still listed as a zombie where no init collects it.
    local stat = io.open("/proc/" .. pid .. "/stat")
    local state = stat and stat:read("*a"):match("%) (%a)") or "Z"
    if stat then stat:close() end
    assert.equal("Z", state)
  end)

  it("fails when nothing ran", function()
    local ok, _, line = run()
    assert.is_false(ok)
    assert.equal("0 passed, 0 failed", line)
  end)
end)
