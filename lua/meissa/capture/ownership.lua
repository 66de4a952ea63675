-- SPDX-License-Identifier: MIT
--
-- Ownership: a proof, from bytecode, that the methods of a captured class store into nothing but
-- what they are given and what they make. Objects that a loop's body makes of such a class are the
-- iteration's own, whatever is called on them.
--
-- An escape analysis: forward over the instructions, a state for each, joined where jumps meet. A
-- register holds what is outside (a table that a function takes from its upvalues, its globals, or
-- a field of such a table), or it is own: parameters, new tables, results of calls. As long as
-- nothing outside is stored, passed on or returned, and classes hold no tables but by __index, own
-- values lead to own values only. Whatever is not understood breaks the proof.
-- @module meissa.capture.ownership

local jit_util = require "jit.util"
local known = require "meissa.capture.known"
local opcodes = require "meissa.capture.opcodes"
local questions = require "meissa.capture.questions"
local read_only = require "meissa.capture.read_only"
local tables = require "meissa.base.tables"

local builtins = known.builtins
local funck, funcuvname = jit_util.funck, jit_util.funcuvname
local band, rshift = bit.band, bit.rshift
local decode, target_of = opcodes.decode, opcodes.target_of

local M = {}

-- An unknown table from outside.
local OUTSIDE = {}

-- Builtins by which something outside is come by that nobody holds: metatables, modules.
local REACHING = {}
for name in string.gmatch([[getmetatable getfenv setfenv require load loadstring loadfile dofile
  newproxy collectgarbage]], "%S+") do
  REACHING[name] = true
end

-- Builtins that return their arguments.
local GIVING = { assert = true, select = true, setmetatable = true }

local Proof = {}
Proof.__index = Proof

local proves

-- Whether a register's content is a table that is not the object's own.
function Proof:is_outside(value)
  return value == OUTSIDE or type(value) == "table" and not self.asked:ask("array", value)
end

-- What a field of something is, by a constant key or, nil, any.
function Proof:part(value, key)
  if value == OUTSIDE then return OUTSIDE end
  if type(value) == "table" then
    if self.asked:ask("array", value) then return nil end
    if key ~= nil then return self.asked:ask("field", value, key) end
    return self.asked:ask("holds_table", value) and OUTSIDE or nil
  end
  return key == "__index" and OUTSIDE or nil
end

-- The value of a variable of an enclosing function. In a function inside of the proved one the name
-- may also be that of a local variable of the proved function.
function Proof:variable(proto, d)
  local slot = self.slots[funcuvname(proto, d)]
  local value = slot and self.asked:ask("upvalue", self.fn, slot)
  if proto == self.fn or self:is_outside(value) then return value end
  if self.dirty then return OUTSIDE end
  return value or nil
end

-- What an instruction that writes register A alone puts there.
function Proof:loaded(proto, held, op, d, mode)
  if op == opcodes.GET_UPVALUE then
    return self:variable(proto, d)
  elseif op == opcodes.GET_GLOBAL then
    return self.asked:ask("field", self.globals, funck(proto, -d - 1))
  elseif op == opcodes.GET_FIELD then
    return self:part(held[rshift(d, 8)], funck(proto, -band(d, 0xff) - 1))
  elseif opcodes.GETS_COMPUTED[op] then
    return self:part(held[rshift(d, 8)], nil)
  elseif mode == opcodes.READS and not opcodes.MAKES_SIMPLE[op] then
    return held[d]
  end
end

-- Whether a function may be called with what is outside among its arguments, of which this is the
-- n-th.
function Proof:may_take(callee, value, n)
  local name = builtins[callee]
  if name == "setmetatable" then
    return n == 2 and type(value) == "table" and self.asked:ask("class", value)
  end
  if not name and type(callee) == "function" then return self:only_uses(callee) end
  if not name or GIVING[name] or not read_only.is_harmless(name) then return false end
  return value ~= OUTSIDE and not self.asked:ask("holds_table", value)
end

-- Whether a Lua function that is given what is outside does nothing with it but read; of one that
-- calls itself that is not known.
function Proof:only_uses(callee)
  local using = self.using
  if using[callee] == nil then
    using[callee] = false
    using[callee] = proves(callee, self.asked, true, using)
  end
  return using[callee]
end

function Proof:may_call(held, op, a, d)
  local callee = held[a]
  if self:is_outside(callee) then return false end
  local last = op == opcodes.CALL and band(d, 0xff) - 1 or op == opcodes.TAIL_CALL and d - 1
  for register, value in tables.each(held) do
    local n = register - a - opcodes.TO_ARGUMENT + 1
    local passed = n >= 1 and (not last or n <= last) and self:is_outside(value)
    if passed and not self:may_take(callee, value, n) then return false end
  end
  return true
end

-- Whether one of these registers holds a value from outside of the function.
function Proof:any_outside(held, first, last)
  for register, value in tables.each(held) do
    if register >= first and register <= last and self:is_outside(value) then return true end
  end
  return false
end

-- Whether an instruction keeps what is outside where it is.
function Proof:keeps(proto, held, op, a, d, mode)
  if op == opcodes.SET_GLOBAL then return false end
  if opcodes.ASSIGNS_UPVALUE[op] then
    local moved = mode == opcodes.READS and self:is_outside(held[d])
    return not (moved or self.slots[funcuvname(proto, a)])
  elseif opcodes.STORES[op] then
    local key = opcodes.STORES_COMPUTED[op] and held[band(d, 0xff)]
    return not (self:is_outside(held[rshift(d, 8)]) or self:is_outside(held[a]) or
      self:is_outside(key))
  elseif opcodes.CALLS[op] then
    return self:may_call(held, op, a, d)
  elseif opcodes.ITERATES[op] then
    return not self:any_outside(held, a - 3, a - 1)
  elseif opcodes.RETURNS[op] then
    return not self:any_outside(held, a, a + d - 2)
  elseif op == opcodes.RETURN_ALL then
    return not self:any_outside(held, a, math.huge)
  end
  return true
end

function Proof:is_library(value)
  return value ~= OUTSIDE and self.asked:ask("library", value)
end

-- The state behind an instruction; nil: it breaks the proof.
function Proof:step(proto, before, pc)
  local op, a, d, mode_a, mode_d = decode(proto, pc)
  if not self:keeps(proto, before, op, a, d, mode_d) then return nil end
  local after = {}
  for register, value in tables.each(before) do
    if not (mode_a == opcodes.WRITES_FROM_A and register >= a) then after[register] = value end
  end
  if mode_a == opcodes.WRITES_A then
    local value = self:loaded(proto, before, op, d, mode_d)
    after[a] = (self:is_outside(value) or type(value) == "function") and value or nil
    if self:is_outside(value) and not self:is_library(value) then self.found = true end
  end
  return after
end

-- Joins a state to one that was known; whether that has changed. Of two functions, none is known.
function Proof:join(states, pc, state)
  local old = states[pc]
  if not old then
    local copy = {}
    for register, value in tables.each(state) do copy[register] = value end
    states[pc] = copy
    return true
  end
  local changed = false
  local function meet(register, other)
    local value = old[register]
    if rawequal(value, other) then return end
    local outside = self:is_outside(value) or self:is_outside(other)
    local met = outside and OUTSIDE or nil
    changed = changed or met ~= value
    old[register] = met
  end
  local registers = {}
  for register in tables.each(old) do registers[#registers + 1] = register end
  for register in tables.each(state) do
    if old[register] == nil then registers[#registers + 1] = register end
  end
  for _, register in ipairs(registers) do meet(register, state[register]) end
  return changed
end

-- The places that control may go to from each: those of jumps, and from the end of a loop to its
-- body, which loops that LuaJIT has compiled do not say.
local function edges_of(proto, count)
  local edges = {}
  local function add(from, to)
    if from >= 1 and from <= count and to >= 1 and to <= count then
      edges[from] = edges[from] or {}
      table.insert(edges[from], to)
    end
  end
  for pc = 1, count do
    local _, _, d, mode_a, mode_d = decode(proto, pc)
    if mode_d == opcodes.JUMPS then
      local target = target_of(pc, d)
      add(pc, target)
      local iterates = target >= 1 and target <= count and opcodes.ITERATES[(decode(proto, target))]
      if iterates then add(target + 1, pc + 1) end
      if mode_a == opcodes.WRITES_FROM_A and target > pc then add(target - 1, pc + 1) end
    end
  end
  return edges
end

-- What the registers hold at first.
function Proof:given(proto)
  local held = {}
  if self.strict then
    for register = 0, jit_util.funcinfo(proto).params - 1 do held[register] = OUTSIDE end
  end
  return held
end

-- Whether the code of a function, not of those inside it, keeps what is outside where it is.
function Proof:code(proto)
  local count = jit_util.funcinfo(proto).bytecodes - 1
  local edges, states, again = edges_of(proto, count), { self:given(proto) }, true
  while again do
    again = false
    for pc = 1, count do
      local after = states[pc] and self:step(proto, states[pc], pc)
      if states[pc] and not after then return false end
      if after and pc < count then self:join(states, pc + 1, after) end
      for _, target in ipairs(after and edges[pc] or {}) do
        again = self:join(states, target, after) and target <= pc or again
      end
    end
  end
  return true
end

function Proof:all_code(proto)
  if not self:code(proto) then return false end
  self.dirty = self.dirty or self.found
  for n = -1, -jit_util.funcinfo(proto).gcconsts, -1 do
    local constant = funck(proto, n)
    if type(constant) == "proto" and not self:all_code(constant) then return false end
  end
  return true
end

-- Whether a Lua function keeps objects from outside where they are; `strict`: its arguments, too,
-- which then may be from outside.
function proves(fn, asked, strict, using)
  local proof = setmetatable({ fn = fn, asked = asked, slots = {}, strict = strict,
    using = using or {}, dirty = strict }, Proof)
  proof.globals = asked:ask("globals", fn)
  local info = debug.getinfo(fn, "S")
  if type(proof.globals) ~= "table" or info.what == "C" then return false end
  if strict and jit_util.funcinfo(fn).isvararg then return false end
  for slot = 1, 255 do
    local name = debug.getupvalue(fn, slot)
    if not name then break end
    proof.slots[name] = slot
  end
  return proof:all_code(fn)
end

-- What was found out about functions, and what was asked for that.
local proved = setmetatable({}, { __mode = "k" })

-- The same, found out again only where an answer has changed.
local function is_proved(fn, world)
  local last = proved[fn]
  if not last or not questions.are_same(last.asked, world) then
    local asked = questions.new(world)
    last = { keeps = proves(fn, asked), asked = asked:close() }
    proved[fn] = last
  end
  return last.keeps
end

--- Whether all that a function, or the methods of a class, store into is what they are given or
-- what they make, and an object of the class leads to no other table from outside.
-- @param class captured: a function, or a plain table
-- @tab seen all that it leads to, a set of tables and functions
-- @tab world `is_array(value)`; `field_of(table, key)` reads a field without calling anything
-- @tab found what was found out of functions since anything may have changed
function M.is_kept(class, seen, world, found)
  if type(class) == "table" and not questions.is_class(world, class) then return false end
  for value in tables.each(seen) do
    if type(value) == "function" then
      if found[value] == nil then found[value] = is_proved(value, world) end
      if not found[value] then return false end
    end
  end
  return true
end

--- Whether a builtin leads to tables that no name leads to.
function M.reaches(name) return REACHING[name] or string.find(name, "^debug%.") ~= nil end

return M
