-- SPDX-License-Identifier: MIT
-- Progress bars: their text, and that they appear for long loops and reads on a terminal and
-- nowhere else; reads that are interrupted.
local child = require "spec.support.child"
local progress = require "meissa.base.progress"

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

-- Runs a script on a terminal of its own.
local function on_terminal(script, environment)
  local command = ("%s MEISSA_WORKERS=2 luajit %s"):format(environment, script)
  return child.shell(("script -qec %s /dev/null </dev/null"):format(child.quote(command)))
end

describe("a loop of four seconds", function()
  local where, script

  setup(function()
    where = child.directory()
    script = where .. "/long.lua"
    child.write(script, [[
      local meissa = require "meissa"
      local A = meissa.zeros(64)
      for i in meissa.parallel(64, {impure = true}) do
        local ffi = require "ffi"
        ffi.cdef "int usleep(unsigned);"
        ffi.C.usleep(125000)
        A[i] = 1
      end
      print(A:sum())
    ]])
  end)

  teardown(function() child.remove(where) end)

  it("shows a bar on a terminal, and takes it off at the end", function()
    local output = on_terminal(script, "")
    assert.matches("long%.lua:3 %[#+%.+%] %d+ %%, [%d.]+ iterations/s, [%d.]+ s left", output)
    assert.matches("\r\27%[K64\r?\n$", output)
  end)

  it("shows none to those who want none, and none in a log", function()
    assert.equal("64", (on_terminal(script, "MEISSA_QUIET=1"):gsub("%s+$", "")))
    local output = child.shell("MEISSA_WORKERS=2 luajit " .. script)
    assert.equal("64\n", output)
  end)
end)

describe("a long read", function()
  local where

  -- Files of some 10 MB; bars are made impatient, so that they show for these.
  setup(function()
    where = child.directory()
    local lines = {}
    for k = 1, 20000 do lines[k] = ("%d %d:%d 300:0.5"):format(k % 2, k % 200 + 1, k) end
    local text = (table.concat(lines, "\n") .. "\n"):rep(30)
    child.write(where .. "/one", text)
    assert.equal(0, os.execute(("mkdir %s/many; cd %s; for k in 1 2 3; do cp one many/$k; done; " ..
                                "gzip -1 -c one >many/4.gz"):format(where, where)))
    local words = text:gsub("(%d+) (%d+):(%d+) 300:0.5", "%3 %2 7")
    child.write(where .. "/words", "20000\n300\n600000\n" .. words)
    child.write(where .. "/three", words)
  end)

  teardown(function() child.remove(where) end)

  local HEAD = [[
    local meissa = require "meissa"
    require("meissa.base.progress").patience = 0
    require("meissa.read.reading").turn = 0.01
    local function short(line) return #line end
    local function slow(line, _, number) -- loops on workers tell how far they are once a second
      if number % 20000 == 0 then
        local ffi = require "ffi"
        ffi.cdef "int usleep(unsigned);"
        ffi.C.usleep(30000)
      end
      return #line
    end
  ]]

  for _, case in ipairs {
    {'meissa.read.libsvm("WHERE/one")', "one", 600000},
    {'meissa.read.libsvm("WHERE/many")', "4 files", 2400000},
    {'meissa.read.triples("WHERE/three")', "three", 20000},
    {'meissa.read.csv("WHERE/three")', "three", 600000},
    {'meissa.read.docword("WHERE/words")', "words", 20000},
    {'meissa.read.lines("WHERE/many", slow)', "4 files", 2400000},
    {'meissa.read.lines("WHERE/one", short, {serial = true})', "one", 600000},
  } do
    local call, name, size = unpack(case)

    it("shows a bar on a terminal only: " .. call:match("read%.%a+") .. " of " .. name, function()
      local script = where .. "/read.lua"
      child.write(script, HEAD .. "print((" .. call:gsub("WHERE", where) .. "):size(1))")
      local output = on_terminal(script, "")
      assert.matches("\rreading " .. name .. " %[[#.]+%] %d+ %%, [%d.]+ [kMG] bytes/s, " ..
                     "[%d.]+ s left\27%[K", output)
      assert.matches("\r\27%[K" .. size .. "\r?\n$", output)
      assert.equal(size .. "\n", (on_terminal(script, "MEISSA_QUIET=1"):gsub("\r", "")))
      assert.equal(size .. "\n", child.shell("luajit " .. script, 60))
    end)
  end

  for _, case in ipairs {
    {'meissa.read.libsvm("WHERE/many")', "4 files"},
    {'meissa.read.triples("WHERE/three")', "WHERE/three"},
    {'meissa.read.csv("WHERE/three")', "WHERE/three"},
  } do
    it("ends when it is interrupted, and can begin anew: " .. case[1], function()
      local script = (HEAD .. [[
        local array = require "meissa.array"
        assert((READ):size(1) > 0)
        collectgarbage() collectgarbage()
        local bytes = array.bytes_held()
        io.open("reading", "w"):close()
        local err
        while not err do
          local ok, result = pcall(function() return READ end)
          if not ok then err = result end
        end
        print(err)
        collectgarbage() collectgarbage()
        assert(array.bytes_held() == bytes, array.bytes_held())
        print((READ):size(1) > 0)
      ]]):gsub("READ", case[1]):gsub("WHERE", where)
      local output
      -- Between two reads Ctrl-C is LuaJIT's own affair: then once more.
      for _ = 1, 5 do
        output = child.interrupted(script, {once = "reading", after = 0.3})
        if not output:find("interrupted!", 1, true) then break end
      end
      local expected = "script.lua:20: INT: interrupted while %s was read\ntrue\n"
      assert.equal(expected:format((case[2]:gsub("WHERE", where))), output)
    end)
  end
end)
