-- SPDX-License-Identifier: MIT
--
-- Opcodes: what the instructions of a Lua function do to its registers, for the proofs from
-- bytecode (meissa.capture.read_only, meissa.capture.ownership).
--
-- Opcode numbers are learnt from small functions below, not from a table that could be of another
-- LuaJIT version: what loads this file has compiled them.
-- @module meissa.capture.opcodes

local jit_util = require "jit.util"
local tables = require "meissa.base.tables"

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

-- The opcodes of one function that another does not have.
local function learn(fn, without)
  local function opcodes(of)
    local found, pc = {}, 1
    while true do
      local op = decode(of, pc)
      if not op then return found end
      found[op], pc = true, pc + 1
    end
  end
  local found = opcodes(fn)
  for op in tables.each(opcodes(without)) do found[op] = nil end
  return found
end

-- Where the first jump of a function leads.
local function learn_target(fn)
  local pc = 1
  while true do
    local _, _, d, _, mode = decode(fn, pc)
    if mode == M.JUMPS then return (decode(fn, M.target_of(pc, d))) end
    pc = pc + 1
  end
end

local function only(set)
  local op = tables.next(set)
  assert(op and tables.next(set, op) == nil, "an opcode of its own")
  return op
end

-- What runs once is not worth compiling.
jit.off(learn, true)

-- luacheck: push ignore 111 113 211 213 231 311 532 542

--- Sets of opcodes.
M.CALLS = learn(function(...) local f = ... f() f(f()) return f() end,
  function(...) local f = ... local g = f return g, f end)
for op in tables.each(learn(function(...) local f = ... return f(f()) end,
  function(...) local f = ... f() end)) do
  M.CALLS[op] = true
end
M.ITERATES = {
  [learn_target(function(...) local f = ... for k in f do end end)] = true,
  [learn_target(assert(loadstring "local t = ... for k in pairs(t) do end"))] = true,
}
M.NEW_TABLE = learn(function() local a, b = {}, {1} return a, b end,
  function() local a, b = 1, 2 return a, b end)
M.STORES = learn(function(...) local a, b = ... a[b] = b a.name = b a[1] = b end,
  function(...) local a, b = ... local c = 1 end)
M.STORES_COMPUTED = learn(function(...) local a, b = ... a[b] = b end,
  function(...) local a, b = ... local c = 1 end)
M.RETURNS = learn(
  function(...) local a, b = ... if a then return end if b then return a end return a, b end,
  function(...) local a, b = ... if a then a = b end end)
M.GETS_COMPUTED = learn(function(...) local a, b = ... local c = a[b] c = a[1] return c, c end,
  function(...) local a, b = ... local c = a return c, c end)
M.MAKES_SIMPLE = learn(
  function(...) local a = ... local b = #a b = -a b = not a return b, b end,
  function(...) local a = ... local b = a return b, b end)

--- Opcodes.
M.CALL = only(learn(function(...) local f = ... f() return 1, 2 end,
  function(...) local f = ... local g = f return 1, 2 end))
M.TAIL_CALL = only(learn(function(...) local f = ... return f() end,
  function(...) local f = ... f() return 1, 2 end))
M.RETURN_ALL = only(learn(function(...) local f = ... return 1, f() end,
  function(...) local f = ... f(f()) return 1, 2 end))
M.GET_GLOBAL = only(learn(function() local a = probe end, function() local a = 1 end))
M.SET_GLOBAL = only(learn(function() local a = 1 probe = a end, function() local a = 1 end))
M.MOVE = only(learn(function() local a = 1 local b = a end,
  function() local a = 1 local b = 2 end))
M.GET_FIELD = only(learn(function(...) local a = ... a = a.name end,
  function(...) local a = ... end))
M.GET_BY_VALUE = only(learn(function(...) local a, b = ... local c = a[b] return c, c end,
  function(...) local a, b = ... local c = a return c, c end))
M.LOAD_STRING = only(learn(function() local a = "s" return a, a end,
  function() local a = 1 return a, a end))
M.POWER = only(learn(function(...) local a, b = ... local c = a ^ b end,
  function(...) local a, b = ... local c = a end))
M.GET_UPVALUE = only(learn(function() return only end, function() return 1 end))
do
  local p, q
  M.ASSIGNS_UPVALUE = learn(function(x) p = x q = "s" p = 1 q = nil end,
    function(x) local a = x return end)
end

-- luacheck: pop

--- Registers between a called function and its first argument: two where pointers have 64 bits.
M.TO_ARGUMENT = (function()
  local fn, base = function(...) local f = ... f(f, "s") end, nil
  for pc = 1, 16 do
    local op, a, d = decode(fn, pc)
    if not op then break end
    if op == M.MOVE then base = base and { base[1], a } or { a } end
    if op == M.CALL and d then return base[2] - a end
  end
  return error("how arguments are passed is not known", 0)
end)()

return M
