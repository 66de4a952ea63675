-- SPDX-License-Identifier: MIT
-- Progress bars: their text, and that they appear for long loops on a terminal and nowhere else.
local child = require "spec.support.child"
local progress = require "meissa.progress"

describe("a bar's text", function()
  it("tells share, rate and what is left", function()
    assert.equal("fit.lua:3 [###############...............] 50 %, 2.5 k iterations/s, 10.0 s left",
                 progress.text("fit.lua:3", 25000, 50000, 10, "iterations"))
    assert.equal("x [##############################] 100 %, 10 lines/s, 0.0 s left",
                 progress.text("x", 10, 10, 1, "lines"))
    assert.equal("x [..............................] 0 %", progress.text("x", 0, 10, 1, "lines"))
    assert.equal("x [..............................] 0 %", progress.text("x", 0, 0, 1, "lines"))
  end)

  it("gives durations as people say them", function()
    assert.equal("0.1 s", progress.duration(0.06))
    assert.equal("59.0 s", progress.duration(59))
    assert.equal("3 min 20 s", progress.duration(200))
    assert.equal("2 h 5 min", progress.duration(2 * 3600 + 5 * 60 + 10))
  end)
end)

describe("a loop of four seconds", function()
  local where, script

  setup(function()
    where = child.directory()
    script = where .. "/long.lua"
    child.write(script, [[
      local meissa = require "meissa"
      local system = require "meissa.system"
      local A = meissa.zeros(64)
      for i in meissa.parallel(64, {impure = true}) do
        local began = system.clock()
        repeat local passed = system.clock() - began until passed > 0.125
        A[i] = 1
      end
      print(A:sum())
    ]])
  end)

  teardown(function() child.remove(where) end)

  -- Runs the script on a terminal of its own.
  local function on_terminal(environment)
    local command = ("%s MEISSA_WORKERS=2 luajit %s"):format(environment, script)
    return child.shell(("script -qec %s /dev/null </dev/null"):format(child.quote(command)), 60)
  end

  it("shows a bar on a terminal, and takes it off at the end", function()
    local output = on_terminal ""
    assert.matches("long%.lua:4 %[#+%.+%] %d+ %%, [%d.]+ iterations/s, [%d.]+ s left", output)
    assert.matches("\r\27%[K64\r?\n$", output)
  end)

  it("shows none to those who want none, and none in a log", function()
    assert.equal("64", (on_terminal "MEISSA_QUIET=1":gsub("%s+$", "")))
    local output = child.shell("MEISSA_WORKERS=2 luajit " .. script, 60)
    assert.equal("64\n", output)
  end)
end)
