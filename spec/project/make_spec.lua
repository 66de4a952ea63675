-- SPDX-License-Identifier: MIT
--
-- What make says to a person, and what it keeps from scripts.
local child = require "spec.support.child"

describe("make", function()
  -- The words of the last command that it would run, by `how` it is called.
  local function ends_with(how)
    local output, status = child.shell("unset MAKEFLAGS MFLAGS MAKELEVEL LUA_INCDIR; " .. how)
    assert.equal(0, status, output)
    return output:find("echo 'Meissa is built. Next: eval \"$(make -s env)\"", 1, true) ~= nil
  end

  it("ends with what to do next where a person builds", function()
    for _, how in ipairs { "make -n", "make -n build", "make -n all V=1", "make -n -j2" } do
      assert.is_true(ends_with(how), how)
    end
  end)

  it("says nothing of it to scripts, other makes, luarocks and those who go on", function()
    for _, how in ipairs { "make -sn", "make -n -s -j2 build", "MAKELEVEL=1 make -n build",
      "make -n ctest", "make -n env", "make -n build LUA_INCDIR=/none" } do
      assert.is_false(ends_with(how), how)
    end
    local output = child.shell("unset MAKEFLAGS MFLAGS MAKELEVEL; make env")
    for line in output:gmatch "[^\n]+" do assert.truthy(line:find("^export LUA_C?PATH="), line) end
  end)
end)
