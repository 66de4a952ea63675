-- SPDX-License-Identifier: MIT
-- Loops that are the module's own (those of sets, sweeps and inspections) name the user's call that
-- leads to them: in notices of workers that died, in errors without a place, and where Ctrl-C came.
local child = require "spec.support.child"
local deaths = require "spec.driver.deaths"
local expect = require "spec.support.expect"

local has = expect.has

-- The script's lines begin at number 1 after `HEAD`.
local HEAD = deaths.HEAD .. [[
local n = 20000
local A, B, P = meissa.zeros(n), meissa.rand({n}, {seed = 1}), meissa.zeros({n}, {type = "int32"})
for i = 1, n do P[i] = i * 7 % n + 1 end
local function end_all()
  for _, pid in ipairs(meissa.workers().pids or {}) do
    if pid then ffi.C.kill(pid, 9) end
  end
end
local function told(fn) print(select(2, pcall(fn))) end
]]
local FIRST = select(2, HEAD:gsub("\n", ""))

local function at(line, text) return ("script.lua:%d: %s"):format(FIRST + line, text) end

describe("loops of the module's own", function()
  it("name the user's call where workers have died between loops", function()
    local output, status = child.script(HEAD .. [[
      for i in parallel(n, {engine = "lua"}) do A[i] = tostring(i):len() end
      end_all()
      B:map(function(v) return v + 1 end)
      end_all()
      meissa.map({1, 2, 3, 4}, function(x) return x end)
      end_all()
      for i in parallel(n) do A[P[i] ] = B[i] end
      print(meissa.last().strategy)]], {env = "MEISSA_WORKERS=2"})
    assert.equal(0, status, output)
    has(output, "independent")
    for _, line in ipairs {3, 5, 7} do
      has(output, "meissa: " .. at(line, "worker 1 (pid"))
      has(output, "meissa: " .. at(line, "worker 2 (pid"))
    end
    assert.is_nil(output:find("meissa: [string", 1, true), output)
    assert.is_nil(output:find("lua/meissa/", 1, true), output)
  end)

  it("name it where a block has ended two workers, and where Ctrl-C came", function()
    local output = child.script(HEAD .. [[
      local function fatal(v)
        die()
        return v
      end
      told(function() B:map(fatal) end)
      local pid = ffi.C.getpid()
      local function interrupt(v)
        local f = require "ffi"
        f.cdef "int kill(int pid, int signal); int usleep(unsigned);"
        f.C.kill(pid, 2)
        f.C.usleep(1000)
        return v
      end
      told(function() B:map(interrupt) end)]], {env = "MEISSA_WORKERS=2"})
    has(output, at(5, "WRK: worker"))
    has(output, at(14, "INT: interrupted"))
  end)

  it("say of which element a result cannot return", function()
    local output, status = child.script(HEAD .. [[
      told(function() B:map(function(i, v) return i == 777 and B or v end) end)
      told(function() meissa.map({1, 2}, function(v) return function() return v end end) end)]],
      {env = "MEISSA_WORKERS=2"})
    assert.equal(0, status, output)
    has(output, at(1, "BDY: the result for element 777 is an array or part of one"))
    has(output, at(2, "BDY: element 1: the result is a function that was made in the body"))
  end)
end)
