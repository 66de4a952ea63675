-- SPDX-License-Identifier: MIT
--
-- An interpreter that lacks what Meissa needs is told so in one sentence.
local child = require "spec.support.child"

-- What loading a module says in a LuaJIT without another one.
local function without(missing, module)
  return child.script(([[
    package.preload[%q], package.loaded[%q] = nil, nil
    local ok, err = pcall(require, %q)
    io.write(tostring(ok), " ", tostring(err))]]):format(missing, missing, module))
end

describe("another interpreter", function()
  for _, missing in ipairs {"string.buffer", "ffi", "jit.util"} do
    for _, module in ipairs {"meissa", "meissa.worker"} do
      it(("without %s is told so by %s"):format(missing, module), function()
        assert.equal(("false meissa needs LuaJIT 2.1 of June 2021 or later with '%s', which %s " ..
          "does not have: install your system's luajit or a build of https://luajit.org"):format(
          missing, jit.version), without(missing, module))
      end)
    end
  end

  it("that is no LuaJIT is told so", function()
    local output = child.script([[
      jit, package.preload["jit.util"] = nil, nil
      print(pcall(dofile, arg[1]))]], {
        arguments = child.quote(package.searchpath("meissa.base.requires", package.path))})
    assert.is_truthy(output:find("with 'jit.util', which Lua 5.1 does not have", 1, true), output)
  end)
end)
