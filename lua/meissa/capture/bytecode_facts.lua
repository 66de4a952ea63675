-- SPDX-License-Identifier: MIT
--- What a Lua function does, as its bytecode tells: which globals it reads, whether it assigns
-- variables from outside itself, and whether it uses LuaJIT's own `^`.
-- @module meissa.capture.bytecode_facts
local opcodes = require "meissa.capture.opcodes"
local util = require "jit.util"

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

-- By prototype, or a C function: functions that are made anew each time have the same code.
local known = setmetatable({}, { __mode = "k" })

--- Looks through a function and those defined in it.
-- @tparam function fn a Lua function
-- @treturn table {globals = list of names that it reads, assigns = true if it assigns upvalues or
-- globals, power = true if it uses `^`}; not to be changed
function M.about(fn)
  local code = util.funcinfo(fn).proto or fn
  known[code] = known[code] or look_through(fn)
  return known[code]
end

-- Whether an operand is a register, or may be the first of several of which that is one.
local function is_named(register, operand, mode)
  if mode == opcodes.WRITES_A or mode == opcodes.READS then return operand == register end
  return (mode == opcodes.WRITES_FROM_A or mode == opcodes.FROM_A) and operand <= register
end

--- Whether a function may have a use for its nth parameter: no instruction names the register of
-- one that is not used. What defines functions, or takes any number of values, may use all.
-- @tparam function fn a Lua function or a builtin
-- @tparam number n from 1
function M.names_parameter(fn, n)
  local info, register = util.funcinfo(fn), n - 1
  if not info.bytecodes or info.children or info.isvararg then return true end
  if info.params < n then return false end
  for pc = 1, info.bytecodes - 1 do
    local ins, mode = util.funcbc(fn, pc)
    local a, mode_a = band(rshift(ins, 8), 0xff), band(mode, 7)
    local b, mode_b = rshift(ins, 24), band(rshift(mode, 3), 15)
    local d, mode_d = rshift(ins, 16), band(rshift(mode, 7), 15)
    if mode_b ~= 0 then d = band(d, 0xff) end
    local nothing = mode_a == opcodes.FROM_A and mode_d == opcodes.LITERAL and d == 1 -- `return`
    if is_named(register, a, mode_a) and not nothing or
       is_named(register, b, mode_b) or is_named(register, d, mode_d) then
      return true
    end
  end
  return false
end

return M
