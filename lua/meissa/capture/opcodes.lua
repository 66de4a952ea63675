-- SPDX-License-Identifier: MIT
--
-- Opcodes: what the instructions of a Lua function do to its registers, for the proofs from
-- bytecode (meissa.capture.reading, meissa.capture.ownership).
--
-- Opcode numbers are learnt from small functions, not from a table that could be of another
-- LuaJIT version.
-- @module meissa.capture.opcodes

local jit_util = require("jit.util")
local tables = require("meissa.base.tables")

local funcbc = jit_util.funcbc
local band, rshift = bit.band, bit.rshift

local M = {}

--- Operand modes of jit.util.funcbc: that of A in the lowest three bits, that of D from bit 7.
M.WRITES_A, M.WRITES_FROM_A, M.READS, M.FROM_A, M.UPVALUE, M.LITERAL, M.JUMPS = 1, 2, 3, 4, 5, 6, 13

--- An instruction: opcode, operands A and D, modes of both; nil behind the last one.
-- @param proto a function or prototype
-- @int pc from 1
local function decode(proto, pc)
  local ins, mode = funcbc(proto, pc)
  if not ins then return nil end
  return band(ins, 0xff), band(rshift(ins, 8), 0xff), rshift(ins, 16), band(mode, 7),
    band(rshift(mode, 7), 15)
end
M.decode = decode

--- Where the jump at `pc` with the operand `d` leads.
function M.target_of(pc, d) return pc + d - 0x7fff end

-- The opcodes of one text that another does not have.
local function learn(text, without)
  local function opcodes(source)
    local found, pc, fn = {}, 1, assert(loadstring(source))
    while true do
      local op = decode(fn, pc)
      if not op then return found end
      found[op], pc = true, pc + 1
    end
  end
  local found = opcodes(text)
  for op in tables.each(opcodes(without)) do found[op] = nil end
  return found
end

-- Where the first jump of a text leads.
local function learn_target(text)
  local fn, pc = assert(loadstring(text)), 1
  while true do
    local _, _, d, _, mode = decode(fn, pc)
    if mode == M.JUMPS then return (decode(fn, M.target_of(pc, d))) end
    pc = pc + 1
  end
end

local function only(set)
  local op = next(set)
  assert(op and next(set, op) == nil, "an opcode of its own")
  return op
end

--- Sets of opcodes.
M.CALLS = learn("local f = ... f() f(f()) return f()", "local f = ... local g = f return g, f")
for op in tables.each(learn("local f = ... return f(f())", "local f = ... f()")) do
  M.CALLS[op] = true
end
M.ITERATES = {
  [learn_target("local f = ... for k in f do end")] = true,
  [learn_target("local t = ... for k in pairs(t) do end")] = true,
}
M.NEW_TABLE = learn("local a, b = {}, {1} return a, b", "local a, b = 1, 2 return a, b")
M.STORES = learn("local a, b = ... a[b] = b a.name = b a[1] = b",
  "local a, b = ... local c = 1")
M.STORES_COMPUTED = learn("local a, b = ... a[b] = b", "local a, b = ... local c = 1")
M.RETURNS = learn("local a, b = ... if a then return end if b then return a end return a, b",
  "local a, b = ... if a then a = b end")
M.GETS_COMPUTED = learn("local a, b = ... local c = a[b] c = a[1] return c, c",
  "local a, b = ... local c = a return c, c")
M.MAKES_SIMPLE = learn("local a = ... local b = #a b = -a b = not a return b, b",
  "local a = ... local b = a return b, b")

--- Opcodes.
M.CALL = only(learn("local f = ... f() return 1, 2", "local f = ... local g = f return 1, 2"))
M.TAIL_CALL = only(learn("local f = ... return f()", "local f = ... f() return 1, 2"))
M.RETURN_ALL = only(learn("local f = ... return 1, f()", "local f = ... f(f()) return 1, 2"))
M.GET_GLOBAL = only(learn("local a = probe", "local a = 1"))
M.SET_GLOBAL = only(learn("local a = 1 probe = a", "local a = 1"))
M.MOVE = only(learn("local a = 1 local b = a", "local a = 1 local b = 2"))
M.GET_FIELD = only(learn("local a = ... a = a.name", "local a = ... "))
M.ASSIGNS_UPVALUE = {}
do
  local fn = assert(loadstring("local a = 1 return function() return a end"))()
  M.GET_UPVALUE = decode(fn, 1)
  local inner = assert(loadstring(
    "local a, b return function(x) a = x b = 's' a = 1 b = nil end"))()
  local pc = 1
  while true do
    local op, _, _, mode = decode(inner, pc)
    if not op then break end
    if mode == M.UPVALUE then M.ASSIGNS_UPVALUE[op] = true end
    pc = pc + 1
  end
end

--- Registers between a called function and its first argument: two where pointers have 64 bits.
M.TO_ARGUMENT = (function()
  local fn, base = assert(loadstring("local f = ... f(f, 's')")), nil
  for pc = 1, 16 do
    local op, a, d = decode(fn, pc)
    if not op then break end
    if op == M.MOVE then base = base and { base[1], a } or { a } end
    if op == M.CALL and d then return base[2] - a end
  end
  return error("how arguments are passed is not known", 0)
end)()

return M
