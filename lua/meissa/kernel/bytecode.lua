-- SPDX-License-Identifier: MIT
--- What a Lua function does, as its bytecode tells: which globals it reads, whether it assigns
-- variables from outside itself, and whether it uses LuaJIT's own `^`.
-- @module meissa.kernel.bytecode
local util = require("jit.util")
local tables = require("meissa.base.tables")

local M = {}

local band, rshift = bit.band, bit.rshift

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

-- The opcodes of a text. The numbering differs between versions of LuaJIT, so it is asked for.
local function opcodes_of(text)
  local found = {}
  each_instruction(assert(loadstring(text)), function(op) found[op] = true end)
  return found
end

-- The opcodes of a text that another text does not have.
local function new_opcodes(text, without)
  local found, known = opcodes_of(text), opcodes_of(without)
  for op in tables.each(known) do found[op] = nil end
  return found
end

local READ_GLOBAL = new_opcodes("local a = probe", "local a = 1")
local POWER = new_opcodes("local a, b = ... local c = a ^ b", "local a, b = ... local c = a")
local ASSIGN = new_opcodes(
  "local a, b = ... return function(x) a = x b = 's' a = 1 b = nil probe = x end",
  "local a, b = ... return function(x) local c, d, e, f = a, 's', 1, nil return probe, b end")

--- Looks through a function and those defined in it.
-- @tparam function fn a Lua function
-- @treturn table {globals = list of names that it reads, assigns = true if it assigns upvalues or
-- globals, power = true if it uses `^`}
function M.about(fn)
  local about, seen = { globals = {} }, {}
  each_instruction(fn, function(op, operand, proto)
    if READ_GLOBAL[op] then
      local name = util.funck(proto, -operand - 1)
      if not seen[name] then about.globals[#about.globals + 1] = name end
      seen[name] = true
    elseif POWER[op] then
      about.power = true
    elseif ASSIGN[op] then
      about.assigns = true
    end
  end)
  return about
end

return M
