-- SPDX-License-Identifier: MIT
--
-- The module's files as bytecode: used where their text is that of the file, and only there; what
-- they do and what errors say is the same.
local child = require "spec.support.child"
local chunks = require "meissa.base.chunks"
local core = require "meissa.core"
local seed = require "spec.support.seed"

local TEXT = [[
local function where() return debug.getinfo(1, "Sl") end
return {name = ..., info = where(), fail = function() error("no") end}
]]

describe("the module's files as bytecode", function()
  local dir, path

  before_each(function()
    dir, path = child.directory(), package.path
    package.path = dir .. "/?.lua;" .. dir .. "/?/init.lua"
    assert(os.execute(("mkdir -p %s/meissa/one %s/meissa/deep"):format(dir, dir)) == 0)
  end)

  after_each(function()
    package.path = path
    child.remove(dir)
  end)

  -- Writes the text of module meissa.`name`, by default as it was compiled.
  local function write(name, text)
    child.write(dir .. "/meissa/" .. name .. ".lua", text or TEXT)
  end

  -- Where the chunks of the modules are that were written, in this order, as the build makes them.
  local function compiled(...)
    local out, list = dir .. "/chunks", {}
    for k, name in ipairs {...} do list[k] = "meissa/" .. name .. ".lua" end
    assert(os.execute(("luajit tools/chunks.lua %s %s %s"):format(out, dir,
                                                                  table.concat(list, " "))) == 0)
    return out
  end

  it("are the functions that the text is, by the file's own name", function()
    for _, name in ipairs {"two", "one", "on", "three"} do write(name) end
    local list = core.chunks(compiled("two", "one", "on", "three"))
    for _, name in ipairs {"one", "two", "three", "on"} do
      local file = dir .. "/meissa/" .. name .. ".lua"
      local found, plain = list:load("meissa." .. name, file)("m"), assert(loadfile(file))("m")
      assert.are.same(plain.info, found.info)
      assert.equal("m", found.name)
      assert.are.same({pcall(plain.fail)}, {pcall(found.fail)})
      local used = chunks.used
      assert.are.same(plain.info, chunks.searcher(list)("meissa." .. name)("m").info)
      assert.equal(used + 1, chunks.used)
    end
    assert.is_nil(list:load("meissa.none", dir .. "/meissa/one.lua"))
    assert.is_nil(list:load("meissa.o", dir .. "/meissa/one.lua"))
    assert.is_nil(chunks.searcher(list)("one")) -- not of this module
  end)

  it("get names of any length", function()
    write "one"
    local list = core.chunks(compiled "one")
    for _, length in ipairs {40, 126, 127, 128, 129, 300, 3000} do
      local name = dir .. "/meissa/one.lua"
      name = dir .. ("/"):rep(length - #name) .. "/meissa/one.lua"
      assert.equal("@" .. name, list:load("meissa.one", name)("m").info.source)
      assert.equal(string.dump(loadstring(TEXT, "@" .. name)),
                   string.dump(list:load("meissa.one", name)))
    end
  end)

  it("are of the file that package.searchpath finds", function()
    write "one"
    write("one/init", TEXT .. " ")
    write "deep/er"
    local list = core.chunks(compiled("one", "deep/er"))
    local here, one = dir .. "/?.lua", dir .. "/meissa/one.lua"
    for _, templates in ipairs {here, dir .. "/?;" .. here, ";;" .. here .. ";", "?;;" .. here,
                                here .. ";" .. dir .. "/?/init.lua", "none/?.lua;" .. one,
                                ("?"):rep(5000) .. ";" .. here, dir .. "/../?/.." .. here,
                                dir .. "/?/init.lua;" .. here, dir .. "/?/../one/init.lua;" .. one,
                                "", ";", "none/?.lua"} do
      local file = package.searchpath("meissa.one", templates)
      local loaded = list:load("meissa.one", templates)
      if #templates >= 5000 then file = nil end -- no name of a file: left to searchpath
      assert.equal(file == nil or child.read(file) ~= TEXT, loaded == nil, templates)
      if loaded then assert.equal("@" .. file, loaded("m").info.source) end
    end
    assert.equal("@" .. dir .. "/meissa/deep/er.lua",
                 list:load("meissa.deep.er", here)("m").info.source)
  end)

  it("are left alone where the text is another, or there is none", function()
    write "one"
    write "two"
    local list, file = core.chunks(compiled("one", "two")), dir .. "/meissa/one.lua"
    for _, text in ipairs {TEXT .. " ", TEXT:sub(1, -2), "", (TEXT:gsub("no", "on"))} do
      write("one", text)
      assert.is_nil(list:load("meissa.one", file))
      local used = chunks.used
      local found = chunks.searcher(list) "meissa.one" -- compiled as usual
      assert.equal(string.dump(loadstring(text, "@" .. file)), string.dump(found))
      assert.equal(used, chunks.used)
    end
    os.remove(file)
    assert.is_nil(list:load("meissa.one", file))
    assert.is_nil(chunks.searcher(list) "meissa.one")
    assert.is_nil(list:load("meissa.one", dir))
    assert.is_not_nil(list:load("meissa.two", dir .. "/meissa/two.lua"))
    assert.is_not_nil(chunks.searcher(nil) "meissa.two")
  end)

  it("are not there where their file is damaged", function()
    write "one"
    write "two"
    local whole, file = child.read(compiled("one", "two")), dir .. "/meissa/one.lua"
    math.randomseed(seed)
    for _ = 1, 3000 do
      local at = math.random(16 + 4 + 48) -- its head and records
      local bytes = whole:sub(1, at - 1) .. string.char(math.random(0, 255)) .. whole:sub(at + 1)
      if math.random() < 0.2 then bytes = whole:sub(1, math.random(0, #whole)) end
      child.write(dir .. "/damaged", bytes)
      local list = core.chunks(dir .. "/damaged")
      local found = list and list:load("meissa.one", file)
      assert(not found or found("m").info.source == "@" .. file, "seed " .. seed)
    end
    assert.is_nil(core.chunks(dir))
    assert.is_nil(core.chunks(dir .. "/nowhere"))
    -- Bytecode that this LuaJIT does not take.
    child.write(dir .. "/damaged", (whole:gsub("\27LJ.", "\27LJ\99")))
    assert.is_nil(core.chunks(dir .. "/damaged"):load("meissa.one", file))
  end)

  -- Loads the module with a core beside a file of chunks, and prints how many chunks were used.
  local function load_with(bytes)
    os.execute(("ln -sf %s %s/meissa/core.so"):format(
      child.quote((core.path:gsub("libcore%.so$", "core.so"))), dir))
    if bytes then child.write(dir .. "/meissa/chunks", bytes) end
    return (child.script([[
      local meissa = require "meissa"
      print(meissa.zeros(3):sum(), require("meissa.base.chunks").used)]], {
      env = ("LUA_PATH=%s LUA_CPATH=%s"):format(child.quote(path), child.quote(dir .. "/?.so"))}))
  end

  it("are what workers load, too", function()
    assert.matches("^1\t1\n$", (child.script([[
      local meissa = require "meissa"
      require("meissa.driver.small").most[0] = 0 -- on workers
      local A = meissa.zeros(2)
      for i in meissa.parallel(2, {impure = true}) do
        A[i] = require("meissa.base.chunks").used > 80 and 1 or 0
      end
      print(A[1], A[2])]], {env = "MEISSA_WORKERS=2"})))
  end)

  it("are loaded by workers without those that only drive loops, or only replicas need", function()
    assert.matches("^true\ttrue\n$", (child.script([[
      local meissa = require "meissa"
      require("meissa.driver.small").most[0] = 0 -- on workers
      local A, w = meissa.zeros(2), meissa.zeros(3)
      local function used()
        for i in meissa.parallel(2, {impure = true}) do
          A[i] = require("meissa.base.chunks").used
        end
        return A[1]
      end
      local before = used()
      local r = meissa.replicate(w, {replicas = 2, every = 1})
      for i in meissa.parallel(4) do r[1] = r[1] + i end
      print(before < require("meissa.base.chunks").used - 50, used() > before + 5)]], {
      env = "MEISSA_WORKERS=2"})))
  end)

  it("are what the build made of all files, and need not be there", function()
    local built = child.read((core.path:gsub("libcore%.so$", "chunks")))
    local used = tonumber(load_with(built):match("^0\t(%d+)\n$"))
    assert.is_true(used > 40)
    assert.equal("0\t0\n", load_with("no chunks"))
    assert.equal("0\t0\n", load_with(built:sub(1, 20)))
    os.remove(dir .. "/meissa/chunks")
    assert.equal("0\t0\n", load_with(nil))
  end)

  it("are loaded before the collector begins, whose settings stay the program's", function()
    local output = child.script [[
      local cycles = 0
      local function garbage()
        getmetatable(newproxy(true)).__gc = function()
          cycles = cycles + 1
          garbage()
        end
      end
      collectgarbage("setpause", 150)
      ballast = ("x"):rep(2e6)
      collectgarbage()
      garbage()
      require "meissa"
      io.write(cycles, " ", tostring(collectgarbage "isrunning"), " ",
               collectgarbage("setpause", 150), " ")
      for k = 1, 1e6 do one = {k} end
      print(cycles > 0)]]
    assert.equal("0 true 150 true\n", output)
    assert.equal("false\n", (child.script [[
      collectgarbage "stop"
      require "meissa"
      print(collectgarbage "isrunning")]]))
  end)
end)
