-- SPDX-License-Identifier: MIT
--
-- The module's files as bytecode: used where their text is that of the file, and only there; what
-- they do and what errors say is the same.
local buffer = require "string.buffer"
local child = require "spec.support.child"
local chunks = require "meissa.base.chunks"

local TEXT = [[
local function where() return debug.getinfo(1, "Sl") end
return {name = ..., info = where(), fail = function() error("no") end}
]]

describe("the module's files as bytecode", function()
  local dir, path

  before_each(function()
    dir, path = child.directory(), package.path
    package.path = dir .. "/?.lua;" .. dir .. "/?/init.lua"
  end)

  after_each(function()
    package.path = path
    child.remove(dir)
  end)

  local function compiled(text, mark)
    return {text = text, code = mark or string.dump(assert(loadstring(text, "=x")))}
  end

  it("are the functions that the text is, by the file's own name", function()
    child.write(dir .. "/one.lua", TEXT)
    local list = {one = compiled(TEXT)}
    local load = chunks.searcher(list)
    local found, plain = load("one")("one"), assert(loadfile(dir .. "/one.lua"))("one")
    assert.are.same(plain.info, found.info)
    assert.equal("one", found.name)
    assert.are.same({pcall(plain.fail)}, {pcall(found.fail)})
    assert.is_nil(list.one) -- its memory is free
    assert.is_nil(load("one")) -- and the text is there for the next time
  end)

  it("get names of any length", function()
    local code = string.dump(assert(loadstring(TEXT, "=" .. ("n"):rep(100))))
    for _, length in ipairs {1, 2, 126, 127, 128, 300, 20000} do
      local name = "@" .. ("x"):rep(length - 1)
      local renamed = chunks.renamed(code, name)
      assert.equal(name, loadstring(renamed)("m").info.source)
      assert.equal(string.dump(loadstring(TEXT, name)), renamed)
    end
  end)

  it("are left alone where the text is another, or there is none", function()
    child.write(dir .. "/one.lua", TEXT .. " ")
    assert.is_nil(chunks.searcher {one = compiled(TEXT)} "one")
    assert.is_nil(chunks.searcher {two = compiled(TEXT)} "two")
    assert.is_nil(chunks.searcher {} "one")
    -- Bytecode that this LuaJIT does not take.
    child.write(dir .. "/two.lua", TEXT)
    assert.is_nil(chunks.searcher {two = compiled(TEXT, "\27LJ\99\8\2=xyz")} "two")
  end)

  -- Loads the module with a core beside a file of chunks, and prints how many chunks were used.
  local function load_with(bytes)
    os.execute(("mkdir -p %s/meissa && ln -sf %s %s/meissa/core.so"):format(dir,
      child.quote(package.searchpath("meissa.core", package.cpath)), dir))
    if bytes then child.write(dir .. "/meissa/chunks", bytes) end
    return (child.script([[
      local meissa = require "meissa"
      print(meissa.zeros(3):sum(), require("meissa.base.chunks").used)]], {seconds = 60,
      env = ("LUA_PATH=%s LUA_CPATH=%s"):format(child.quote(path), child.quote(dir .. "/?.so"))}))
  end

  it("are what the build made of all files, and need not be there", function()
    local core = package.searchpath("meissa.core", package.cpath)
    local built = child.read((core:gsub("core%.so$", "chunks")))
    local used = tonumber(load_with(built):match("^0\t(%d+)\n$"))
    assert.is_true(used > 40)
    assert.equal("0\t0\n", load_with("no chunks"))
    assert.equal("0\t0\n", load_with(built:sub(1, #built / 2)))
    assert.equal("0\t0\n", load_with(buffer.encode {1, 2}))
    os.remove(dir .. "/meissa/chunks")
    assert.equal("0\t0\n", load_with(nil))
  end)
end)
