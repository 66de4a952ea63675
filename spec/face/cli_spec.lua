-- SPDX-License-Identifier: MIT
--
-- The command, run from the checkout and through a symbolic link, without LUA_PATH. rock_spec runs
-- it from an installation.
local child = require "spec.support.child"

local SCRIPT = [[
local meissa = require "meissa"
local A = meissa.zeros(40, 8)
for k = 1, 5 do
  for i in meissa.parallel({k, 40}) do A[i][k] = i end
end
local s = 0
for i in meissa.parallel(40) do s = s + A[i][1] end
print(s, #arg, arg[1], arg[2], arg[0])
for line in io.lines() do print(line) end
os.exit(3)
]]

describe("meissa", function()
  local dir, root

  setup(function()
    dir = child.directory()
    root = child.shell("pwd"):match("^[^\n]*")
    child.write(dir .. "/script.lua", SCRIPT)
  end)

  teardown(function() child.remove(dir) end)

  -- Output and status of a command line, stderr apart; the module's paths are not told. LUA_CPATH
  -- stays, if another build than build/ is tested.
  local function run(words, env)
    local keep = (os.getenv "MEISSA_BUILD" or "build") ~= "build"
    local output, status = child.shell(
      ("cd %s && echo typed | env -u LUA_PATH %s %s %s 2>%s/errors"):format(
      dir, keep and "" or "-u LUA_CPATH", env or "", words, dir))
    return output, status, child.read(dir .. "/errors")
  end

  local function command() return child.quote(root .. "/bin/meissa") end

  for _, workers in ipairs {0, 2} do
    it("explain shows each plan once and leaves the script alone, on " .. workers, function()
      local output, status, errors = run(command() .. " explain script.lua a 'b c'",
        "MEISSA_WORKERS=" .. workers)
      assert.equal(3, status, errors)
      assert.equal("820\t2\ta\tb c\tscript.lua\ntyped\n", output)
      -- Ordered loops in this process are the loops as written, without blocks.
      local how = workers == 0 and "independent, ordered" or "independent, 40 blocks, ordered"
      local engine = workers == 0 and "engine lua" or "engine native"
      assert.equal(table.concat({
        "script.lua:4: loop over i is parallel: " .. how,
        "  A[i]  write  stays with i      " .. engine,
        "script.lua:7: loop over i is parallel: " .. how,
        "  A[i]  read  stays with i      s  reduction +      " .. engine, "",
      }, "\n"), errors)
    end)
  end

  it("explain lets a refused loop say why", function()
    child.write(dir .. "/refused.lua", "local meissa = require 'meissa'\n"
      .. "local A = meissa.zeros(9)\nfor i in meissa.parallel({2, 9}) do A[i] = A[i - 1] end\n")
    local output, status, errors = run(command() .. " explain refused.lua")
    assert.equal(1, status)
    assert.equal("", output)
    assert.truthy(errors:find("refused.lua:3: DEP: loop over i is not parallel [DEP101", 1, true),
      errors)
  end)

  it("is found through a symbolic link", function()
    assert.equal(0, os.execute(("ln -s %s %s/link"):format(command(), dir)))
    local output, status = run("./link --version")
    assert.equal(0, status)
    assert.truthy(output:find("^meissa %S+, LuaJIT 2%.1"), output)
  end)

  it("--help goes to stdout", function()
    local output, status, errors = run(command() .. " --help")
    assert.equal(0, status)
    assert.truthy(output:find("usage: meissa explain SCRIPT", 1, true))
    assert.equal("", errors)
  end)

  local misuses = {
    {"", "usage: meissa explain"},
    {"expalin x.lua", "meissa: unknown command 'expalin' (did you mean 'explain'?)"},
    {"--hepl", "(did you mean '--help'?)"},
    {"frobnicate", "meissa: unknown command 'frobnicate'; see meissa --help"},
    {"explain", "meissa: explain: which script?"},
    {"explain --all script.lua", "explain has no option '--all'"},
    {"explain none.lua", "meissa: explain: none.lua: No such file"},
  }
  for _, case in ipairs(misuses) do
    it("refuses: meissa " .. case[1], function()
      local output, status, errors = run(command() .. " " .. case[1])
      assert.equal(2, status)
      assert.equal("", output)
      assert.truthy(errors:find(case[2], 1, true), errors)
    end)
  end
end)
