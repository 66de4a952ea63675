-- SPDX-License-Identifier: MIT
--
-- Plain loops over arrays are loops that LuaJIT compiles, and its code for them holds for all
-- launches.

local child = require "spec.support.child"

local SCRIPT = [==[
local meissa = require "meissa"
local parallel = meissa.parallel
local places, compiled = {}, {}
local util = require "jit.util"
jit.attach(function(what, trace, func, pc)
  if what == "start" then places[trace] = util.funcinfo(func, pc) end
  if what == "stop" and util.traceinfo(trace).linktype == "loop" then
    local place = places[trace]
    if place.source:find "script" then compiled[place.currentline] = true end
  end
end, "trace")
local T, M, V = meissa.rand({3, 20, 20}), meissa.rand(20, 20), meissa.rand(200)
local out = meissa.zeros(20, 20)
BODY
jit.off()
for line = 1, 200 do
  if compiled[line] then io.write(line - FIRST, " ") end
end
]==]

-- The lines of a text in which loops begin that LuaJIT compiles.
local function compiled(body)
  local first = select(2, SCRIPT:match "^(.*)BODY":gsub("\n", ""))
  local text = SCRIPT:gsub("BODY", function() return body end):gsub("FIRST", tostring(first))
  return child.script(text, {env = "MEISSA_WORKERS=0"})
end

describe("plain loops over arrays", function()
  -- out[1][j] = the sum of 18 elements, in the inner one of two loops.
  local function sums(element)
    local reads = {}
    for k = 1, 18 do reads[k] = element:format(k) end
    return "for k = 1, 100 do for j = 1, 20 do\n  out[1][j] = " .. table.concat(reads, " + ") ..
      "\nend end"
  end

  it("are compiled however many rows they read", function()
    assert.equal("1 ", compiled(sums "M[%d][j]"))
  end)

  it("are compiled however many elements of three subscripts they read", function()
    assert.equal("1 ", compiled(sums "T[2][%d][j]"))
  end)

  it("are compiled when reading began long before them, one element at a time", function()
    local reads = {}
    for k = 1, 300 do reads[k] = ("V[%d] = M[%d][1] + T[1][%d][2]"):format(k % 200 + 1, k % 20 + 1,
      k % 20 + 1) end
    local text = table.concat(reads, "; ")
    assert.equal("1 ", compiled("do " .. text .. " end for k = 1, 100 do for j = 2, 19 do " ..
      "out[1][j] = T[1][2][j] + M[2][j] + V[j] end end"))
  end)
end)

describe("the iterator of loops without workers", function()
  it("is the same for all launches, and its state is each launch's own", function()
    assert.equal("1 iterators, 1 walks, 6 states\n", (child.script([==[
      local meissa = require "meissa"
      local parallel = meissa.parallel
      local A, seen, count = meissa.zeros(9), {}, {iterators = 0, walks = 0, states = 0}
      local function see(kind, value)
        if value and not seen[value] then seen[value], count[kind] = true, count[kind] + 1 end
      end
      local function look() -- where the body raised an error
        for k = 1, 50 do
          local name, value = debug.getlocal(3, k)
          if not name then return end
          if name == "(for generator)" then see("iterators", value) end
          if name == "(for state)" then
            see("states", value)
            see("walks", value.state and value.state.step)
          end
        end
      end
      for first = 1, 6 do
        xpcall(function()
          for i in parallel({first, 9}) do A[i] = i if i == 7 then error("here") end end
        end, look)
      end
      print(("%d iterators, %d walks, %d states"):format(count.iterators, count.walks,
        count.states))
    ]==], {env = "MEISSA_WORKERS=0"})))
  end)
end)
