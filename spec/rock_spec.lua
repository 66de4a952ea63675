-- SPDX-License-Identifier: MIT
-- time limit: 300 s
--
-- `luarocks make` of exactly the files that are under version control, into a private tree; then
-- the module is used from that tree alone. Catches files missing from version control or from the
-- installation, and paths that only work in a checkout.

local function quote(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

-- Runs a shell script; returns its status and everything that it printed.
local function shell(script)
  local pipe = assert(io.popen("( " .. script .. "\n) 2>&1; echo \"status $?\"", "r"))
  local text = pipe:read("*a")
  pipe:close()
  local output, status = text:match("^(.*)status (%d+)\n$")
  return tonumber(status), output
end

local function must(script)
  local status, output = shell(script)
  assert(status == 0, script .. "\nended with status " .. tostring(status) .. ":\n" .. output)
  return output
end

local function exists(path)
  local file = io.open(path)
  if file then file:close() end
  return file ~= nil
end

describe("the rock", function()
  local dir, tree

  -- Runs Lua text with the tree's paths and no others but the default ones, away from the checkout.
  local function run(text)
    return shell(("cd / && LUA_PATH=%s LUA_CPATH=%s timeout 60 luajit -e %s"):format(
      quote(tree .. "/share/lua/5.1/?.lua;" .. tree .. "/share/lua/5.1/?/init.lua;;"),
      quote(tree .. "/lib/lua/5.1/?.so;;"), quote(text)))
  end

  setup(function()
    dir = must("mktemp -d"):match("%S+")
    tree = dir .. "/tree"
    -- safe.directory: the checkout may belong to another user (root in a container).
    must("mkdir " .. dir .. "/source && git -c safe.directory='*' ls-files -z |"
      .. " tar --null --files-from=- --create | tar --extract --directory " .. dir .. "/source")
    -- luarocks is told about LuaJIT: by itself it takes any Lua 5.1 that it finds.
    must("cd " .. dir .. "/source && unset LUA_PATH LUA_CPATH MAKEFLAGS MAKELEVEL MFLAGS BUILD &&"
      .. " HOME=" .. dir .. " timeout 200 luarocks --lua-version 5.1 make --tree " .. tree
      .. " rockspec/meissa-scm-1.rockspec LUA=\"$(command -v luajit)\""
      .. " LUA_INCDIR=\"$(pkg-config --variable=includedir luajit)\"")
    must("rm -rf " .. dir .. "/source")
  end)

  teardown(function()
    if dir then must("rm -rf " .. quote(dir)) end
  end)

  it("loads the core from the tree", function()
    local status, output = run([[
      assert(type(require "meissa.core") == "table")
      io.write(package.searchpath("meissa.core", package.cpath))]])
    assert.equal(0, status, output)
    assert.equal(tree .. "/lib/lua/5.1/meissa/core.so", output)
  end)

  it("installs every module of the face", function()
    for name in must("git -c safe.directory='*' ls-files lua"):gmatch("lua/(%S+%.lua)") do
      assert.is_true(exists(tree .. "/share/lua/5.1/" .. name), name)
    end
  end)
end)
