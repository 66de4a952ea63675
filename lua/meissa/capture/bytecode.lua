-- SPDX-License-Identifier: MIT
--
-- Bytecode: what a Lua function names, and whether it changes anything outside of itself.
--
-- Opcode numbers are learnt from small functions, not from a table that could be of another
-- LuaJIT version.
-- @module meissa.capture.bytecode

local jit_util = require("jit.util")

local funcbc, funck, funcuvname = jit_util.funcbc, jit_util.funck, jit_util.funcuvname
local band, rshift = bit.band, bit.rshift

local M = {}

-- The opcode of the first instruction of a chunk's inner function.
local function learn(text)
  local fn = assert(loadstring("local x, t = nil, {} return " .. text))()
  return band((funcbc(fn, 1)), 0xff)
end

local SETS_VARIABLE = {
  [learn("function(a) x = a end")] = true,
  [learn("function() x = 's' end")] = true,
  [learn("function() x = 1 end")] = true,
  [learn("function() x = nil end")] = true,
}
local SETS_GLOBAL = learn("function(a) g = a end")
local UGET = learn("function() return x end")
local GGET = learn("function() local a = g return a, a end")
local MOV = learn("function(a) local b = a return b, b end")
local TABLE_GETS = {
  [learn("function(a, b) local c = a[b] return c, c end")] = true,
  [learn("function(a) local c = a.name return c, c end")] = true,
  [learn("function(a) local c = a[1] return c, c end")] = true,
}
local TABLE_SETS = {
  [learn("function(a, b, c) a[b] = c end")] = true,
  [learn("function(a, b) a.name = b end")] = true,
  [learn("function(a, b) a[1] = b end")] = true,
}
local MODE_DST = 1

-- Registers that hold something from outside, by a scan in the order of the code. A register is
-- forgotten when something else is put there.
local function scan_stores(fn)
  local outside = {}
  local pc = 1
  while true do
    local ins, mode = funcbc(fn, pc)
    if not ins then return false end
    local op, a, b, d = band(ins, 0xff), band(rshift(ins, 8), 0xff), rshift(ins, 24),
      rshift(ins, 16)
    if TABLE_SETS[op] then
      if outside[b] then return true end
    elseif op == UGET or op == GGET then
      outside[a] = true
    elseif op == MOV then
      outside[a] = outside[d]
    elseif TABLE_GETS[op] then
      outside[a] = outside[b]
    elseif band(mode, 7) == MODE_DST then
      outside[a] = nil
    end
    pc = pc + 1
  end
end

-- Calls visit(proto) for the prototypes inside a function.
local function each_inner(fn, visit)
  local n = -1
  while true do
    local constant = funck(fn, n)
    if constant == nil then return end
    if type(constant) == "proto" then visit(constant) end
    n = n - 1
  end
end

-- Whether code assigns an upvalue of one of these names, or a global.
local function assigns(fn, names)
  local pc = 1
  while true do
    local ins = funcbc(fn, pc)
    if not ins then return false end
    local op = band(ins, 0xff)
    if op == SETS_GLOBAL then return true end
    if SETS_VARIABLE[op] then
      if not names or names[funcuvname(fn, band(rshift(ins, 8), 0xff))] then return true end
    end
    pc = pc + 1
  end
end

--- Whether a Lua function may assign variables, or fields of tables, that are not its own.
-- Stores into arrays count too: the caller knows which tables are arrays, and that is why only
-- plain ones are asked about (see stores).
function M.changes(fn)
  if assigns(fn) then return true end
  local names, changed = {}, false
  for slot = 1, 255 do
    local name = debug.getupvalue(fn, slot)
    if not name then break end
    names[name] = true
  end
  local function inner(proto)
    if assigns(proto, names) then changed = true end
    each_inner(proto, inner)
  end
  each_inner(fn, inner)
  return changed
end

--- Whether code stores into a table that came from an upvalue or a global, as far as a scan of
-- its own instructions sees.
M.stores = scan_stores

--- All string constants of a function and those inside it: a superset of the globals it names.
function M.names(fn)
  local names = {}
  local function collect(proto)
    local n = -1
    while true do
      local constant = funck(proto, n)
      if constant == nil then break end
      if type(constant) == "string" then
        names[constant] = true
      elseif type(constant) == "proto" then
        collect(constant)
      end
      n = n - 1
    end
  end
  collect(fn)
  return names
end

return M
