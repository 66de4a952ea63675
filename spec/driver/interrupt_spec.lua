-- SPDX-License-Identifier: MIT
-- Ctrl-C at one instruction of a loop's run after the other: whenever it comes, it is heard,
-- nothing is left half done, and the loop can be run again. The handler of LuaJIT's program raises
-- "interrupted!" at Lua's next instruction; while Meissa listens, it is heard later. Only the
-- interpreter counts instructions.
local child = require "spec.support.child"

-- A pass adds one to x, y and count for each iteration of a loop.
local SCRIPT = [[
  local ffi = require "ffi"
  ffi.cdef "void *test_signal(int number, void *handler) __asm__(\"signal\"); int raise(int);"
  local C, INT, unhook = ffi.C, 2, debug.sethook
  local stock = C.test_signal(INT, nil)
  C.test_signal(INT, stock)

  local meissa = require "meissa"
  local parallel, small = meissa.parallel, require "meissa.driver.small"
  local n, count = 300, 0
  local x, y, from = meissa.zeros(n), meissa.zeros(n), meissa.zeros({n}, {type = "int32"})
  for i = 1, n do from[i] = i %% 7 == 0 and math.max(1, math.floor(i / 2)) or i end
  local w = meissa.zeros(1)
  local r = meissa.replicate(w, {replicas = 4, every = 50})
  local function pass()
    %s
      x[i] = x[i] + 1
      y[i] = y[i] + 1
      count = count + 1
    end
  end
  for _ = 1, 20 do pass() end

  local step, place, heard = %d, 12, 0
  repeat
    local inside, within, pressed, over = false, false, false, false
    debug.sethook(function()
      unhook()
      pressed, within = true, inside
      C.raise(INT)
    end, "", place)
    local ok, err = pcall(function()
      inside = true
      pass()
      inside = false
      over = true
      unhook()
    end)
    unhook()
    C.test_signal(INT, stock) -- it hears once
    local about = ("at instruction %%d: %%s"):format(place, tostring(err))
    assert(over or pressed and tostring(err):find "interrupted", about)
    assert(not (over and within), "not heard " .. about)
    assert(x:sum() == count and y:sum() == count, "half done " .. about)
    if not ok then heard = heard + 1 end
    place = place + step
  until not pressed
  print(heard >= 30)]]

-- Loops, and how far apart the instructions are: the more of them, the farther.
local LOOPS = {
  ["of levels"] = {"for i in parallel({2, n}) do\nlocal z = 0 * x[from[i]]\nx[i] = x[i] + z", 9},
  ["on workers"] = {"small.most[0] = 0\nfor i in parallel({2, n}) do", 1},
  ["in the driver's process"] = {"for i in parallel({2, 100}) do", 1},
  ["in rounds"] = {"for _, i in meissa.iterate(x, 5) do", 9},
  ["over replicas"] = {"for i in parallel({2, n}) do\nr[1] = r[1] + 1", 41},
}

describe("Ctrl-C at any instruction", function()
  for name, loop in pairs(LOOPS) do
    it("is heard, and leaves nothing half done of loops " .. name, function()
      local output = child.script(SCRIPT:format(unpack(loop)), {flags = "-joff",
                                                                env = "MEISSA_WORKERS=2"})
      assert.equal("true\n", output)
    end)
  end
end)
