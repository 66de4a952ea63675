-- SPDX-License-Identifier: MIT
-- Ctrl-C at one instruction of a loop's run after the other: whenever it comes, it is heard,
-- nothing is left half done, and the loop can be run again. The handler of LuaJIT's program raises
-- "interrupted!" at Lua's next instruction; while Meissa listens, it is heard later. Only the
-- interpreter counts instructions.
local alike_pass = require "spec.driver.alike_pass"
local child = require "spec.support.child"

-- Before the loops of alike_pass.lua, and after.
local BEFORE = [[
  local ffi = require "ffi"
  ffi.cdef "void *test_signal(int number, void *handler) __asm__(\"signal\"); int raise(int);"
  local C, INT, unhook = ffi.C, 2, debug.sethook
  local stock = C.test_signal(INT, nil)
  C.test_signal(INT, stock)
]]
local AFTER = [[
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

-- How far apart the instructions are: the more of them, the farther.
local STEPS = {["of levels"] = 9, ["in rounds"] = 9, ["over replicas"] = 41}

describe("Ctrl-C at any instruction", function()
  for name, head in pairs(alike_pass.HEADS) do
    it("is heard, and leaves nothing half done of loops " .. name, function()
      if name == "on workers" then head = 'require("meissa.driver.small").most[0] = 0\n' .. head end
      local script = BEFORE .. alike_pass.script(300, head) .. AFTER:format(STEPS[name] or 1)
      assert.equal("true\n", (child.script(script, {flags = "-joff", env = "MEISSA_WORKERS=2"})))
    end)
  end
end)
