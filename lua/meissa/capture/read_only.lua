-- SPDX-License-Identifier: MIT
--
-- Functions that only read: a proof, from bytecode, that a Lua function stores into no array.
--
-- A store is allowed into a scratch array from outside, and into a table that the function has just
-- made: one in a register that only table constructors write, or that was made in the straight code
-- before. A call is allowed to a
-- builtin that stores into nothing, to a method of that name of arrays, and to a Lua function from
-- outside; the caller asks for those too, since it visits all that the function reaches. What a
-- register holds is followed through straight code only, and forgotten wherever a jump leads to or
-- comes from. Whatever is not understood counts as a store. Parameters must be numbers, strings,
-- arrays or tables of data for the proof to hold.
-- @module meissa.capture.read_only

local jit_util = require "jit.util"
local opcodes = require "meissa.capture.opcodes"
local tables = require "meissa.base.tables"

local funck = jit_util.funck
local band, rshift = bit.band, bit.rshift

local decode, target_of = opcodes.decode, opcodes.target_of
local WRITES_A, WRITES_FROM_A, FROM_A = opcodes.WRITES_A, opcodes.WRITES_FROM_A, opcodes.FROM_A
local LITERAL, JUMPS = opcodes.LITERAL, opcodes.JUMPS
local CALLS, ITERATES, STORES = opcodes.CALLS, opcodes.ITERATES, opcodes.STORES
local NEW_TABLE, RETURNS = opcodes.NEW_TABLE, opcodes.RETURNS
local ASSIGNS_UPVALUE = opcodes.ASSIGNS_UPVALUE

local M = {}

-- Builtins that store into nothing that they are given; a name that ends in "." is a whole library.
local HARMLESS = {}
for name in string.gmatch([[math. bit. string. io. print tonumber tostring type error rawequal
  rawlen assert ipairs pairs next rawget select unpack table.unpack table.concat table.maxn
  table.new os.time os.clock os.date os.getenv os.difftime meissa.random meissa.normal meissa.clock
  meissa.zeros meissa.ones meissa.full meissa.rand meissa.randn meissa.from meissa.sparse
  meissa.parallel]], "%S+") do
  HARMLESS[name] = true
end

-- Methods that store into nothing, of arrays, and of strings as LuaJIT has them.
local METHODS = {}
for name in string.gmatch([[sum mean max min norm dot size dim nnz type label index clone totable
  nonzeros each narrow select transpose snapshot]], "%S+") do
  METHODS[name] = "array"
end
for name in string.gmatch("byte find format gmatch len lower match rep upper", "%S+") do
  METHODS[name] = "string"
end

-- What gives iterators that store into nothing.
local ITERATORS = { pairs = true, ipairs = true, nonzeros = true, each = true,
  ["string.gmatch"] = true, gmatch = true }

--- Whether a builtin of this name stores into nothing that it is given.
function M.is_harmless(name)
  return HARMLESS[name] or HARMLESS[string.match(name, "^[^.]*%.") or ""] or false
end

-- Stands for a table that was made in the straight code before.
local FRESH = {}

local Proof = {}
Proof.__index = Proof

-- What the field of something from outside is: only plain tables and libraries are followed.
function Proof:field(value, key)
  if type(value) ~= "table" or value == FRESH or self.is_array(value) then return nil end
  local found = self.field_of(value, key)
  if self.builtins[found] or not self.library(value) then return found end
end

-- Whether calling this is known to store into nothing; the second result says that it gives an
-- iterator of which the same is known.
function Proof:may_call(callee)
  if callee == nil then return false end
  if type(callee) == "table" and callee.method then
    local of = METHODS[callee.method]
    return of == "array" or of == "string" and not self.methods, ITERATORS[callee.method]
  end
  local name = self.builtins[callee]
  if name then return M.is_harmless(name), ITERATORS[name] end
  return type(callee) == "function" and debug.getinfo(callee, "S").what ~= "C"
end

--- Registers that only table constructors write, the places that jumps lead to, and registers that
-- hold one thing wherever they are read: parameters that are never written, and what one alone of
-- the instructions writes.
-- @param proto a function or prototype
-- @int parameters how many it has
local function survey(proto, parameters)
  local fresh, targets, written, lowest, pc = {}, {}, {}, 256, 1
  for register = 0, parameters - 1 do fresh[register], written[register] = false, 1 end
  while true do
    local op, a, d, mode, jump = decode(proto, pc)
    if not op then break end
    if mode == WRITES_A then written[a] = (written[a] or 0) + 1 end
    if NEW_TABLE[op] then
      if fresh[a] == nil then fresh[a] = true end
    elseif mode == WRITES_A then
      fresh[a] = false
    elseif mode == WRITES_FROM_A or (mode == FROM_A and jump == LITERAL and not RETURNS[op]) then
      lowest = math.min(lowest, a) -- the latter: a loop that LuaJIT has compiled
    end
    if jump == JUMPS then targets[target_of(pc, d)], targets[pc + 1] = true, true end
    pc = pc + 1
  end
  for register in tables.each(fresh) do
    if register >= lowest then fresh[register] = false end
  end
  local single = {}
  for register, times in tables.each(written) do
    single[register] = times == 1 and register < lowest
  end
  return fresh, targets, single
end
M.survey = survey

local function forget_from(held, register)
  for each in tables.each(held) do
    if each >= register then held[each] = nil end
  end
end

-- The instructions that give a register a value that is known. Upvalues of functions inside are
-- not: they may be variables of the function around.
function Proof:load(proto, held, op, a, d)
  if op == opcodes.GET_UPVALUE then
    held[a] = proto == self.fn and self.outer[d] or nil
  elseif op == opcodes.GET_GLOBAL then
    held[a] = type(self.env) == "table" and self.field_of(self.env, funck(proto, -d - 1)) or nil
  elseif op == opcodes.MOVE then
    held[a] = held[d]
  elseif op == opcodes.GET_FIELD then
    local object, key = held[rshift(d, 8)], funck(proto, -band(d, 0xff) - 1)
    -- A callee that is not known may still be the method of this name.
    held[a] = object ~= nil and self:field(object, key) or { method = key }
  elseif NEW_TABLE[op] then
    held[a] = FRESH
  else
    held[a] = nil
  end
end

-- One instruction that is no load; false if it may store into an array.
function Proof:step(proto, state, pc)
  local op, a, d, mode, jump = decode(proto, pc)
  if STORES[op] then
    local object = rshift(d, 8)
    local held = state.held[object]
    return state.fresh[object] == true or held == FRESH or held ~= nil and self.is_scratch(held)
  end
  if CALLS[op] then
    local allowed, iterator = self:may_call(state.held[a])
    if not allowed then return false end
    state.iterator, state.iterator_at = iterator and a, pc
  elseif ITERATES[op] then
    if not state.iterates[pc] then return false end
  elseif jump == JUMPS then
    local target = target_of(pc, d)
    local to, base = decode(proto, target)
    if ITERATES[to] and state.iterator_at == pc - 1 and state.iterator == base - 3 then
      state.iterates[target] = true
    end
  end
  if mode == WRITES_A then
    self:load(proto, state.held, op, a, d)
  elseif mode == WRITES_FROM_A then
    forget_from(state.held, a)
  end
  return true
end

-- A function inside that assigns variables of this one makes its registers unknown.
local function assigns_nothing(proto)
  for pc = 1, jit_util.funcinfo(proto).bytecodes - 1 do
    if ASSIGNS_UPVALUE[(decode(proto, pc))] then return false end
  end
  return true
end

M.assigns_nothing = assigns_nothing

function Proof:code(proto)
  local info = jit_util.funcinfo(proto)
  local fresh, targets = survey(proto, info.params)
  local state = { held = {}, fresh = fresh, iterates = {} }
  for pc = 1, info.bytecodes - 1 do
    if targets[pc] then state.held = {} end
    if not self:step(proto, state, pc) then return false end
  end
  for n = -1, -info.gcconsts, -1 do
    local constant = funck(proto, n)
    local inner = type(constant) == "proto"
    if inner and not (assigns_nothing(constant) and self:code(constant)) then return false end
  end
  return true
end

--- Whether a Lua function is proved to store into no array, neither itself nor through what it
-- calls of the builtins; functions from outside that it calls must be asked for on their own.
-- @func fn the function
-- @tab world `is_array(value)`; `is_scratch(value)`: whether stores into it do not count;
-- `field_of(table, key)` reads a field without calling anything; `builtins`: names of functions
-- that the analyser knows, by function; `library(table)`: whether its content is not searched;
-- `methods`: whether the program has changed those of strings
function M.only(fn, world)
  local proof = setmetatable({ is_array = world.is_array, is_scratch = world.is_scratch,
    field_of = world.field_of, builtins = world.builtins, library = world.library, outer = {},
    methods = world.methods, env = debug.getfenv(fn), fn = fn }, Proof)
  for slot = 1, 255 do
    local name, value = debug.getupvalue(fn, slot)
    if not name then break end
    proof.outer[slot - 1] = value
  end
  return proof:code(fn)
end

return M
