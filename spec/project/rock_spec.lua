-- SPDX-License-Identifier: MIT
--
-- `luarocks make` of exactly the files that are under version control, into a private tree; then
-- the module is used from that tree alone. Catches files missing from version control or from the
-- installation, and paths that only work in a checkout.
local child = require "spec.support.child"

-- Names of the files to install from, one a line; in an unpacked archive, which has no history, all
-- but the build. safe.directory: the checkout may belong to another user (root in a container).
local LIST = "{ git -c safe.directory='*' ls-files 2>/dev/null ||"
  .. " find . -type f -not -path './build/*' -printf '%P\\n'; }"

local function must(command, seconds)
  local output, status = child.shell(command, seconds)
  assert(status == 0, ("%s\nended with status %s:\n%s"):format(command, status, output))
  return output
end

local function exists(path)
  local file = io.open(path)
  if file then file:close() end
  return file ~= nil
end

-- A compiler: cc, but a source is not compiled again where this build has its object, and all that
-- the object was made of lies in the present directory, too, with the same bytes. The object is
-- then that one. What knows Lua is always compiled, as luarocks says where its headers are.
local COMPILER = [=[
#!/bin/sh
for word; do
  [ "$before" != -o ] || object=$word
  before=$word
done
[ -e "READY/$before.o" ] || exec cc "$@"
exec cp "READY/$before.o" "$object"
]=]

-- The sources whose objects can be taken, from the dependences that the compiler has written.
local function unchanged(source)
  local same, ready = {}, {}
  local function is_same(path)
    if same[path] == nil then
      local here = child.read(path)
      same[path] = here ~= nil and here == child.read(source .. "/" .. path)
    end
    return same[path]
  end
  local build = os.getenv "MEISSA_BUILD" or "build"
  for path in must("find " .. build .. "/obj -name '*.d'"):gmatch "%C+" do
    local object, made_of = child.read(path):gsub("\\\n", " "):match "^(%S+):([^\n]*)"
    local good = exists(object)
    for each in made_of:gmatch "%S+" do good = good and is_same(each) end
    if good then ready[made_of:match "%S+"] = object end
  end
  return ready
end

-- Makes the compiler in a directory, for what lies in `source`.
local function make_compiler(dir, source)
  local ready, count = dir .. "/ready", 0
  local commands = {"here=$PWD"}
  for path, object in pairs(unchanged(source)) do
    if not path:find "^csrc/binding/" then
      count = count + 1
      commands[count + 1] = ("mkdir -p %s/%s && ln -s %s%s %s/%s.o"):format(ready,
        path:match "^(.*)/", object:find "^/" and "" or "\"$here\"/", object, ready, path)
    end
  end
  must(table.concat(commands, " && "))
  child.write(dir .. "/cc", (COMPILER:gsub("READY", ready)))
  must("chmod +x " .. dir .. "/cc")
  return dir .. "/cc"
end

describe("the rock", function()
  local dir, tree

  -- Runs a script with the tree's paths and no others but the default ones.
  local function run(text)
    return child.script(text, {env = ("LUA_PATH=%s LUA_CPATH=%s"):format(
      child.quote(tree .. "/share/lua/5.1/?.lua;" .. tree .. "/share/lua/5.1/?/init.lua;;"),
      child.quote(tree .. "/lib/lua/5.1/?.so;;"))})
  end

  setup(function()
    dir = child.directory()
    tree = dir .. "/tree"
    must("mkdir " .. dir .. "/source && " .. LIST .. " | tar --files-from=- --create |"
      .. " tar --extract --directory " .. dir .. "/source")
    local compiler = make_compiler(dir, dir .. "/source")
    -- luarocks is told about LuaJIT: by itself it takes any Lua 5.1 that it finds. Not optimised,
    -- everything is compiled in a third of the time.
    must("cd " .. dir .. "/source && unset LUA_PATH LUA_CPATH BUILD &&"
      .. " HOME=" .. dir .. " luarocks --lua-version 5.1 make --tree " .. tree
      .. " rockspec/meissa-scm-1.rockspec CFLAGS='-O0 -fPIC' CC=" .. compiler
      .. " LUA=\"$(command -v luajit)\""
      .. " LUA_INCDIR=\"$(pkg-config --variable=includedir luajit)\"", 250)
    must("rm -rf " .. dir .. "/source")
  end)

  teardown(function()
    if dir then child.remove(dir) end
  end)

  it("loads the core from the tree", function()
    local output, status = run([[
      assert(type(require "meissa.core") == "table")
      io.write(package.searchpath("meissa.core", package.cpath))]])
    assert.equal(0, status, output)
    assert.equal(tree .. "/lib/lua/5.1/meissa/core.so", output)
  end)

  it("installs every module of the face", function()
    for name in must(LIST .. " | grep '^lua/.*[.]lua$'"):gmatch("lua/(%S+)") do
      assert.is_true(exists(tree .. "/share/lua/5.1/" .. name), name)
    end
  end)

  it("runs a loop on workers that find the tree by themselves", function()
    local output, status = run([[
      local meissa = require "meissa"
      meissa.init {workers = 2}
      local sum = 0
      for i in meissa.parallel(1000) do sum = sum + i end
      print(sum)]])
    assert.equal(0, status, output)
    assert.equal("500500\n", output)
  end)

  it("brings docs and examples, which run", function()
    local rock = must("find " .. tree .. " -path '*/rocks-5.1/meissa/scm-1' -type d"):match "^%C+"
    for name in must(LIST .. " | grep -E '^(docs|examples)/'"):gmatch "%C+" do
      assert.is_true(exists(rock .. "/" .. name), name)
    end
    local output, status = child.shell(("cd %s && env LUA_PATH=%s LUA_CPATH=%s luajit"
      .. " examples/kmeans.lua --epochs 2 --json"):format(rock, child.quote(tree
      .. "/share/lua/5.1/?.lua;" .. tree .. "/share/lua/5.1/?/init.lua;;"),
      child.quote(tree .. "/lib/lua/5.1/?.so;;")))
    assert.equal(0, status, output)
    assert.truthy(output:find '"summary":true', output)
  end)

  it("installs from the pack that `luarocks pack` makes", function()
    local other = dir .. "/other"
    must(("cd %s && HOME=%s luarocks --lua-version 5.1 --tree %s pack meissa"):format(dir, dir,
      tree), 60)
    must(("cd %s && HOME=%s luarocks --lua-version 5.1 --tree %s install ./meissa-scm-1.*.rock")
      :format(dir, dir, other), 60)
    assert.is_true(exists(other .. "/lib/lua/5.1/meissa/core.so"))
    assert.is_true(exists(other .. "/lib/lua/5.1/meissa/libcore.so"))
    local script = other .. "/bin/meissa"
    assert.equal(0, select(2, child.shell("env -u LUA_PATH -u LUA_CPATH " .. script
      .. " --help", 20)))
  end)

  it("brings the command", function()
    child.write(dir .. "/script.lua",
      "local s = 0\nfor i in require('meissa').parallel(9) do s = s + i end print(s)")
    local output, status = child.shell(("cd %s && env -u LUA_PATH -u LUA_CPATH MEISSA_WORKERS=2"
      .. " tree/bin/meissa explain script.lua"):format(dir))
    assert.equal(0, status, output)
    assert.truthy(output:find("script.lua:2: loop over i is parallel: independent", 1, true),
      output)
    assert.truthy(output:find("\n45\n$"), output)
  end)
end)
