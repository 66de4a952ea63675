-- SPDX-License-Identifier: MIT
--
-- Bytecode: what a Lua function names, and whether it changes anything outside of itself.
--
-- The scan for changes goes through the code once, in its order; it knows what is in a register
-- where that came from an upvalue, a global or a constant field of one.
-- @module meissa.capture.bytecode

local jit_util = require "jit.util"
local known = require "meissa.capture.known"
local libraries = require "meissa.base.libraries"
local opcodes = require "meissa.capture.opcodes"
local read_only = require "meissa.capture.read_only"
local tables = require "meissa.base.tables"

local funcbc, funck, funcuvname = jit_util.funcbc, jit_util.funck, jit_util.funcuvname
local band, rshift = bit.band, bit.rshift
local builtins = known.builtins

local M = {}

local CALL, TAIL_CALL, GET_UPVALUE = opcodes.CALL, opcodes.TAIL_CALL, opcodes.GET_UPVALUE
local GET_GLOBAL, SET_GLOBAL, MOVE = opcodes.GET_GLOBAL, opcodes.SET_GLOBAL, opcodes.MOVE
local GET_FIELD, GET_BY_VALUE = opcodes.GET_FIELD, opcodes.GET_BY_VALUE
local GETS_COMPUTED, LOAD_STRING = opcodes.GETS_COMPUTED, opcodes.LOAD_STRING
local ASSIGNS_UPVALUE, STORES = opcodes.ASSIGNS_UPVALUE, opcodes.STORES

-- Operand modes of instructions that write register A, and of those that may write it and all
-- behind it: calls, loops.
local DESTINATION, BASE = 1, 2

local MOST_REGISTERS = 255

-- Stands for something unknown inside a plain table from outside.
local INSIDE = {}

-- Stands for a parameter, or something inside one.
local PARAMETER = {}

-- Stands for a table that the function has made, and for what is no table.
local FRESH, SIMPLE = {}, {}

-- Builtins that store into their first argument.
local STORING = { rawset = true, setmetatable = true, ["table.insert"] = true,
  ["table.remove"] = true, ["table.sort"] = true, ["table.clear"] = true, ["table.move"] = true }

local function is_storing(value) return value ~= nil and STORING[builtins[value]] or false end

local function holds_storing(value)
  if type(value) ~= "table" or not libraries.name(value) then return false end
  for _, each in tables.each(value) do
    if is_storing(each) then return true end
  end
  return false
end

--- Whether a value is a builtin that stores into what it is given first; whether it is a library
-- that has such builtins.
M.is_storing, M.holds_storing = is_storing, holds_storing

-- The state of a scan: what is outside of the function under test.
local Scan = {}
Scan.__index = Scan

-- What is outside of a function: its upvalues by name, its environment.
-- @tab world `is_array(value)`; `field_of(table, key)` reads a field without calling anything
local function scan_of(fn, world)
  local scan = { is_array = world.is_array, field_of = world.field_of, outer = {}, names = {},
    env = debug.getfenv(fn), fn = fn }
  for slot = 1, 255 do
    local name, value = debug.getupvalue(fn, slot)
    if not name then break end
    scan.outer[name], scan.names[name] = value, true
  end
  return setmetatable(scan, Scan)
end

-- The instructions of a function: pc, opcode, operands a, b and d, operand modes.
local function next_instruction(fn, pc)
  local ins, mode = funcbc(fn, pc + 1)
  if not ins then return nil end
  return pc + 1, band(ins, 0xff), band(rshift(ins, 8), 0xff), rshift(ins, 24), rshift(ins, 16),
    band(mode, 7)
end

local function each_instruction(fn) return next_instruction, fn, 0 end

-- Forgets what registers hold that an instruction may write: A alone, or A and all behind it.
local function forget(held, a, mode)
  if mode == DESTINATION then
    held[a] = nil
  elseif mode == BASE then
    for register = a, MOST_REGISTERS do held[register] = nil end
  end
end

-- What indexing an outer value gives: unknown inside plain tables, nothing to know inside arrays.
function Scan:part(value, key)
  if value == nil or value == FRESH then return nil end
  if value == PARAMETER then return value end
  if value ~= INSIDE and self.is_array(value) then return SIMPLE end
  if value == INSIDE or type(value) ~= "table" or key == nil then return INSIDE end
  local found = self.field_of(value, key)
  if found == nil then return INSIDE end
  return found
end

-- To a function inside, a variable of that name may also be one of the function around.
function Scan:upvalue(fn, slot)
  local name = funcuvname(fn, slot)
  if not self.names[name] then return PARAMETER end
  local value = self.outer[name]
  if fn == self.fn or self:is_plain(value) then return value end
  return nil
end

-- Whether what a register holds is a table from outside, and no array.
function Scan:is_plain(value)
  if value == nil or value == PARAMETER or value == FRESH or value == SIMPLE then return false end
  return value == INSIDE or not self.is_array(value)
end

-- A store into what a register holds: whether it changes something plain from outside. What is not
-- known may be something that the function was given.
function Scan:store(value)
  if value == nil or value == PARAMETER then self.stores = true end
  return self:is_plain(value)
end

-- What an instruction loads into register A of what is outside; nil: nothing.
function Scan:outer_value(fn, held, op, b, d)
  if op == GET_UPVALUE then return self:upvalue(fn, d) end
  if op == GET_GLOBAL then return self.field_of(self.env, funck(fn, -d - 1)) end
  if op == MOVE then return held[d] end
  if opcodes.NEW_TABLE[op] then return FRESH end
  if op == GET_FIELD then return self:part(held[b], funck(fn, -band(d, 0xff) - 1)) end
  if GETS_COMPUTED[op] then
    if holds_storing(held[b]) then self.stores = true end -- it may be called
    return self:part(held[b])
  end
end

-- A call: whether it changes something plain from outside; what it gives, if that is known.
function Scan:call(held, a)
  if held[a] == INSIDE then self.stores = true end -- it may be such a builtin
  local name = is_storing(held[a]) and builtins[held[a]]
  if not name then return false end
  local into = held[a + opcodes.TO_ARGUMENT]
  self.loads = self.loads - 1
  return self:store(into), name == "setmetatable" and into == FRESH and FRESH or nil
end

-- The instructions of a function, each once, in their order. Registers that are written several
-- times are known in straight code only.
function Scan:instructions(fn)
  local parameters, held = jit_util.funcinfo(fn).params, {}
  local fresh, targets, single = read_only.survey(fn, parameters)
  for register = 0, parameters - 1 do held[register] = PARAMETER end
  for pc, op, a, b, d, mode in each_instruction(fn) do
    if targets[pc] then
      for register in tables.each(held) do
        if not single[register] then held[register] = fresh[register] and FRESH or nil end
      end
    end
    if op == SET_GLOBAL then return true end
    if ASSIGNS_UPVALUE[op] and self.names[funcuvname(fn, a)] then return true end
    if STORES[op] and self:store(held[b]) then return true end
    local changes, value
    if opcodes.CALLS[op] then
      changes, value = self:call(held, a)
      if changes then return true end
    else
      value = self:outer_value(fn, held, op, b, d)
    end
    forget(held, a, mode)
    if value ~= nil then held[a] = value end
    if is_storing(value) then self.loads = self.loads + 1 end
  end
  return false
end

function Scan:code(fn)
  self.loads = 0
  local changes = self:instructions(fn)
  if self.loads ~= 0 then self.stores = true end -- one of them may be called otherwise
  return changes
end

-- Calls visit(constant) for the prototypes and strings among a function's constants.
local function each_constant(fn, visit)
  local n = -1
  while true do
    local constant = funck(fn, n)
    if constant == nil then return end
    visit(constant)
    n = n - 1
  end
end

local function any_code(scan, fn)
  local changes = scan:code(fn)
  each_constant(fn, function(constant)
    if type(constant) ~= "proto" then return end
    if any_code(scan, constant) then changes = true end
    -- Registers of this one may be assigned elsewhere.
    if not read_only.assigns_nothing(constant) then scan.stores = true end
  end)
  return changes
end

--- Whether a Lua function may assign variables, or fields of plain tables, that are not its own.
-- The second result says whether it may store into what it is given as arguments.
-- Stores into arrays are none of this: the analyser asks for those by other means.
-- @func fn the function
-- @func is_array is_array(value)
-- @func field_of field_of(table, key) reads a field without calling anything
function M.changes(fn, is_array, field_of)
  local scan = scan_of(fn, {is_array = is_array, field_of = field_of})
  local changes = any_code(scan, fn)
  return changes, scan.stores or false
end

-- Calls visit(prototype) for a function and those inside it.
local function each_prototype(fn, visit)
  visit(fn)
  each_constant(fn, function(constant)
    if type(constant) == "proto" then each_prototype(constant, visit) end
  end)
end

-- Whether the instruction at `pc` reads a constant field of a register into that register.
local function reads_field(fn, pc, register)
  local ins = funcbc(fn, pc)
  return ins and band(ins, 0xff) == GET_FIELD and band(rshift(ins, 8), 0xff) == register
    and rshift(ins, 24) == register or false
end

-- The value that an instruction loads from outside, and the one that it is a field of.
local function loaded(scan, fn, held, op, b, d)
  if op == GET_UPVALUE then
    local name = funcuvname(fn, d)
    return scan.names[name] and scan.outer[name]
  elseif op == GET_GLOBAL then
    return type(scan.env) == "table" and scan.field_of(scan.env, funck(fn, -d - 1)) or nil
  elseif op == MOVE then
    return held[d]
  elseif op == GET_FIELD then
    local holder = held[b]
    if type(holder) ~= "table" or scan.is_array(holder) then return nil end
    return scan.field_of(holder, funck(fn, -band(d, 0xff) - 1)), holder
  end
end

local function visit_values(scan, fn, visit)
  local held = {}
  for pc, op, a, b, d, mode in each_instruction(fn) do
    local value, holder = loaded(scan, fn, held, op, b, d)
    forget(held, a, mode)
    if value ~= nil or holder then
      held[a] = value
      visit(value, holder, reads_field(fn, pc + 1, a))
    end
  end
end

--- Calls visit(value, holder, is_read) for the values that a function takes from outside: upvalues,
-- globals, and constant fields of such, of which `holder` is the table. `is_read`: a constant
-- field of the value is read, and nothing else done with it.
-- @tab world `is_array(value)`; `field_of(table, key)` reads a field without calling anything
function M.each_value(fn, world, visit)
  local scan = scan_of(fn, world)
  each_prototype(fn, function(proto) visit_values(scan, proto, visit) end)
end

local function computes_names(fn)
  for _, op in each_instruction(fn) do
    if op == GET_BY_VALUE then return true end
  end
  local found = false
  each_constant(fn, function(constant)
    found = found or type(constant) == "proto" and computes_names(constant)
  end)
  return found
end

-- By function, whose code never changes.
local computing = setmetatable({}, { __mode = "k" })

--- Whether a function, or one inside it, indexes something with a key that is no constant.
function M.computes_names(fn)
  if computing[fn] == nil then computing[fn] = computes_names(fn) end
  return computing[fn]
end

-- Calls visit(value) for what an instruction loads from outside, visit(value, string) for what is
-- called with one constant string.
local function visit_calls(scan, fn, visit)
  local held, strings = {}, {}
  for _, op, a, b, d, mode in each_instruction(fn) do
    if (op == CALL or op == TAIL_CALL) and held[a] ~= nil and band(d, 0xff) == 2 then
      local text = strings[a + opcodes.TO_ARGUMENT]
      if text then visit(held[a], text) end
    end
    local value = loaded(scan, fn, held, op, b, d)
    forget(held, a, mode)
    forget(strings, a, mode)
    if op == LOAD_STRING then strings[a] = funck(fn, -d - 1) end
    if value ~= nil then
      held[a] = value
      visit(value)
    end
  end
end

--- The names of modules that a function, or one inside it, requires by constant names; and whether
-- it uses `require` in other ways.
-- @func is_require is_require(value)
-- @tab world as for each_value
function M.required(fn, world, is_require)
  local scan, loads, names = scan_of(fn, world), 0, {}
  each_prototype(fn, function(proto)
    visit_calls(scan, proto, function(value, text)
      if is_require(value) and text then
        names[#names + 1], loads = text, loads - 1
      elseif is_require(value) then
        loads = loads + 1
      end
    end)
  end)
  return names, loads > 0
end

--- All string constants of a function and those inside it: a superset of the globals it names.
function M.names(fn)
  local names = {}
  local function collect(constant)
    if type(constant) == "string" then
      names[constant] = true
    elseif type(constant) == "proto" then
      each_constant(constant, collect)
    end
  end
  each_constant(fn, collect)
  return names
end

return M
