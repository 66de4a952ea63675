-- SPDX-License-Identifier: MIT
--- What a Lua function does, as its bytecode tells: which globals it reads, whether it assigns
-- variables from outside itself, and whether it uses LuaJIT's own `^`.
-- @module meissa.capture.bytecode_facts
local opcodes = require("meissa.capture.opcodes")
local util = require("jit.util")

local M = {}

local band, rshift = bit.band, bit.rshift
local GET_GLOBAL, SET_GLOBAL, POWER = opcodes.GET_GLOBAL, opcodes.SET_GLOBAL, opcodes.POWER
local ASSIGNS_UPVALUE = opcodes.ASSIGNS_UPVALUE

-- Calls visit(opcode, operand, prototype) for every instruction of a function and of those in it.
local function each_instruction(proto, visit)
  local info = util.funcinfo(proto)
  for pc = 1, info.bytecodes - 1 do
    local ins = util.funcbc(proto, pc)
    visit(band(ins, 0xff), rshift(ins, 16), proto)
  end
  if not info.children then return end
  for n = -1, -info.gcconsts, -1 do
    local constant = util.funck(proto, n)
    if type(constant) == "proto" then each_instruction(constant, visit) end
  end
end

local function look_through(fn)
  local about, seen = { globals = {} }, {}
  each_instruction(fn, function(op, operand, proto)
    if op == GET_GLOBAL then
      local name = util.funck(proto, -operand - 1)
      if not seen[name] then about.globals[#about.globals + 1] = name end
      seen[name] = true
    elseif op == POWER then
      about.power = true
    elseif op == SET_GLOBAL or ASSIGNS_UPVALUE[op] then
      about.assigns = true
    end
  end)
  return about
end

-- By function, whose code never changes.
local known = setmetatable({}, { __mode = "k" })

--- Looks through a function and those defined in it.
-- @tparam function fn a Lua function
-- @treturn table {globals = list of names that it reads, assigns = true if it assigns upvalues or
-- globals, power = true if it uses `^`}; not to be changed
function M.about(fn)
  known[fn] = known[fn] or look_through(fn)
  return known[fn]
end

return M
