-- SPDX-License-Identifier: MIT
--
-- The test runner itself: whatever a test file does wrong is a failure that names the file.

local child = require "spec.support.child"

describe("tools/test.sh", function()
  local dir

  before_each(function()
    dir = child.directory()
  end)

  after_each(function()
    child.remove(dir)
  end)

  local function write(name, text, mode)
    local path = dir .. "/" .. name
    child.write(path, text)
    assert(os.execute(("chmod %s %s"):format(mode or "644", path)) == 0)
    return path
  end

  -- Runs the runner on files; returns whether it was content, its output, and the last line.
  -- What the runner itself was told by `make check` is not passed on.
  local function run(...)
    local output, status = child.shell("unset MEISSA_TEST_PRELOAD MEISSA_TEST_SLOWDOWN"
      .. " MEISSA_TEST_JOBS; exec bash tools/test.sh " .. table.concat({...}, " "))
    return status == 0, output, output:match("([^\n]*)\n$")
  end

  -- Whether the process named in a file is gone, or a zombie that no init has collected. It was
  -- killed, but on a loaded machine it may wait for its turn to die.
  local function ended(path)
    local pid = child.read(path):match("%d+")
    for _ = 1, 100 do
      local stat = child.read("/proc/" .. pid .. "/stat")
      if stat == nil or stat:match("%) (%a)") == "Z" then return true end
      os.execute("sleep 0.05")
    end
    return false
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

  it("runs two files at a time for each core, 16 at most", function()
    local files, there = {}, ""
    for k = 1, math.min(2 * tonumber((child.shell "nproc")), 16) do
      there = there .. (" && [ -e %s/%d ]"):format(dir, k)
    end
    for k = 1, select(2, there:gsub("&&", "")) do
      files[k] = write(k .. "_test", ([[
#!/bin/sh
touch %s/%d
for _ in $(seq 400); do
  if true%s; then echo '1 passed, 0 failed'; exit; fi
  sleep 0.05
done
]]):format(dir, k, there), "755")
    end
    local ok, output = run(unpack(files))
    assert.is_true(ok, output)
  end)

  it("runs specs on LuaJIT", function()
    local ok, output = run(write("x_spec.lua", "it('a', function() assert(jit.version) end)"))
    assert.is_true(ok, output)
  end)

  it("lets its caller choose the build", function()
    local spec = write("x_spec.lua",
      "it('a', function() assert.equal('/chosen/?.so', package.cpath:match('[^;]+')) end)")
    local output, status = child.shell(
      "LUA_CPATH='/chosen/?.so;'\"${LUA_CPATH:-;}\" bash tools/test.sh " .. spec)
    assert.equal(0, status, output)
  end)

  it("lets the collector never rest, and nothing be compiled, in all that a spec starts", function()
    write("told.lua", [[
      jit.on()
      io.write(tostring(jit.status()), " ", collectgarbage("setpause", 100), "\n")]])
    local told = ("luajit %s/told.lua"):format(dir)
    local spec = write("x_spec.lua", ([[it("is told", function()
      jit.on()
      assert.is_false((jit.status()))
      assert.equal(0, collectgarbage("setpause", 0))
      assert.equal("false 0", io.popen(%q):read())
    end)]]):format(told))
    local stressed = "MEISSA_TEST_GC=step MEISSA_TEST_JIT=off tools/test.sh " .. spec
    local output, status = child.shell(stressed)
    assert.equal(0, status, output)
    assert.is_false((run(spec)))
  end)

  it("shows what a failing spec says, and goes on with its other tests", function()
    local ok, output, line = run(write("x_spec.lua", [[
      it('breaks', function() assert.equal('what is', 'what should be') end)
      it('holds', function() end)]]))
    assert.is_false(ok)
    assert.truthy(output:find("FAILED: breaks", 1, true), output)
    assert.truthy(output:find("what should be", 1, true), output)
    assert.equal("1 passed, 1 failed", line)
    local _, said = output:gsub("FAILED: breaks", "")
    assert.equal(2, said) -- where it is run, and at the end
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
      it('spawns', function()
        os.execute("timeout 60 sh -c 'echo $$ > %s/pid; sleep 60' > /dev/null &")
        while not io.open("%s/pid") do os.execute "sleep 0.01" end
      end)]]):format(dir, dir)),
      "left processes behind", "1 passed, 1 failed")
    assert.is_true(ended(dir .. "/pid"))
  end)

  it("ends what it runs when it is ended", function()
    local spec = write("x_spec.lua", ([[
      it('spins', function()
        os.execute("echo $PPID > %s/pid")
        while true do end
      end)]]):format(dir))
    local _, status = child.shell(("tools/test.sh %s & while [ ! -s %s/pid ]; do sleep 0.05; done;"
      .. " kill $!; wait $!"):format(spec, dir))
    assert.equal(130, status)
    assert.is_true(ended(dir .. "/pid"))
  end)

  it("fails when nothing ran", function()
    local ok, _, line = run()
    assert.is_false(ok)
    assert.equal("0 passed, 0 failed", line)
  end)
end)
