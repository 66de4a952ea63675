-- SPDX-License-Identifier: MIT
--- Values from what serialize.lua has encoded.
--
-- Traces are tied to the functions that they call, so a function that would come out the same as
-- in the last run (its code and all that it can reach are equal and nothing assigns them) is kept
-- from there. Otherwise every run would compile its loops anew.
-- @module meissa.kernel.unpack
local encoded = require "meissa.base.encoded"
local builtin = require "meissa.base.builtin"
local errors = require "meissa.base.errors"
local libraries = require "meissa.base.libraries"
local tables = require "meissa.base.tables"
local interrupt = require "meissa.base.interrupt"

local M = {}

-- Whether some function may assign the variable behind each cell.
local function assigned_cells(nodes)
  local assigned = {}
  for _, node in ipairs(nodes) do
    if node[1] == "f" and node[6] then
      for _, upvalue in ipairs(node[3]) do assigned[upvalue[1]] = true end
    end
  end
  return assigned
end

-- A function of LuaJIT's, whatever this process has in its place.
local function find_builtin(module, name, globals)
  local own = module == "_G" and globals or rawget(globals, module)
  local found = own and rawget(own, name)
  if found and own ~= _G then return found end
  local original, content = libraries.own[module][name], package.loaded[module]
  local here = type(content) == "table" and rawget(content, name)
  return builtin.same(here, original) and here or original
end

local function find_named(node, globals)
  local module, name = node[2], node[3]
  if name and libraries.own[module] then return find_builtin(module, name, globals) end
  local content = module == "_G" and globals or libraries.own[module] and globals[module] or
    package.loaded[module]
  if content == nil then
    local ok, loaded = interrupt.pcall(require, module)
    if not ok then
      errors.raise("WRK", "the module %s, which the loop uses, cannot be loaded by a worker: %s",
        module, tostring(loaded))
    end
    content = loaded
  end
  if name then return content[name] end
  return content
end

local Signer = {}
Signer.__index = Signer

-- A text for a coded value, equal for equal values; nil if it can change.
function Signer:value(code)
  if type(code) == "number" then return string.format("%.17g", code) end
  if type(code) ~= "table" then return type(code) .. ":" .. tostring(code) end
  local id = code[1]
  local node = self.nodes[id]
  -- What `require` gives may be another module each time.
  if node[1] == "n" and node[3] == "require" then return nil end
  if node[1] == "n" then return self:named(node) end
  if node[1] == "f" then return self:func(id) end
  if node[1] == "l" then return self:library(node) end
  return nil
end

-- The same for what has a name; a module of the program's own may have been loaded anew.
function Signer:named(node)
  local name = node[2] .. "." .. tostring(node[3])
  if libraries.own[node[2]] then return "n:" .. name end
  local object, last = find_named(node, self.globals), self.found[name]
  if not last or last.object ~= object then
    last = { object = object, version = last and last.version + 1 or 1 }
    self.found[name] = last
  end
  return string.format("n:%s %d", name, last.version)
end

-- The same for a library that the program has changed.
function Signer:library(node)
  if node[4] or self.open[node] then return nil end
  self.open[node] = true
  local parts, fixed = { "l:" .. node[2], table.concat(node[5], " ") }, true
  for _, code in ipairs(node[3]) do fixed = fixed and self:add(parts, code) end
  self.open[node] = nil
  return fixed and table.concat(parts, ",") or nil
end

function Signer:add(parts, code)
  local text = self:value(code)
  if not text then return false end
  parts[#parts + 1] = #text .. ":" .. text
  return true
end

-- The same for a function; inside its own text it is a number.
function Signer:func(id)
  if self.open[id] then return "up:" .. self.open[id] end
  local node = self.nodes[id]
  if node[6] then return nil end
  self.depth = self.depth + 1
  self.open[id] = self.depth
  local parts, fixed = { #node[2] .. ":" .. node[2] }, true
  for _, upvalue in ipairs(node[3]) do
    fixed = fixed and not self.assigned[upvalue[1]] and self:add(parts, upvalue[2])
  end
  for _, code in ipairs(self.nodes[node[4]][2]) do fixed = fixed and self:add(parts, code) end
  self.open[id] = nil
  self.depth = self.depth - 1
  return fixed and "f:" .. table.concat(parts, ",") or nil
end

local function load_function(node)
  local fn = assert(loadstring(node[2]))
  if node[5] then jit.off(fn, true) end
  return fn
end

local Decoder = {}
Decoder.__index = Decoder

-- A function: the one of the last run if it is the same.
function Decoder:func(id, node)
  local signature = self.kept and self.signer:func(id)
  local fn = signature and self.kept[signature]
  if fn then self.done[id] = true else fn = load_function(node) end
  if signature then self.keep[signature] = fn end
  return fn
end

-- An empty object for every node, so that references can be filled in any order.
function Decoder:make()
  local options = self.options
  for id, node in ipairs(self.nodes) do
    local kind, object = node[1], nil
    if kind == "p" then
      object = node[2]
    elseif kind == "t" then
      object = {}
    elseif kind == "f" then
      object = self:func(id, node)
    elseif kind == "e" then
      object = setmetatable({}, { __index = options.globals })
    elseif kind == "n" then
      object = find_named(node, options.globals)
    elseif kind == "l" then
      object = libraries.copy(node[2], options.globals)
    elseif kind == "x" then
      object = function() error(node[2], 2) end
    elseif kind == "a" then
      object = options.array(node[2])
    end
    self.objects[id] = object
  end
end

function Decoder:value(code)
  if type(code) ~= "table" then return code end
  local id = code[1]
  if id < 0 then return self.options.known(-id, code[2]) end
  return self.objects[id]
end

function Decoder:fill_function(fn, node)
  for n, upvalue in ipairs(node[3]) do
    local cell = self.cells[upvalue[1]]
    if cell then
      debug.upvaluejoin(fn, n, cell[1], cell[2])
    else
      self.cells[upvalue[1]] = { fn, n }
      debug.setupvalue(fn, n, self:value(upvalue[2]))
    end
  end
  setfenv(fn, self.objects[node[4]])
end

function Decoder:fill()
  for id, node in ipairs(self.nodes) do
    local kind, object = node[1], self.objects[id]
    if kind == "f" and not self.done[id] then
      self:fill_function(object, node)
    elseif kind == "t" or kind == "e" or kind == "l" then
      local content = node[kind == "l" and 3 or 2]
      for n = 1, #content, 2 do
        rawset(object, self:value(content[n]), self:value(content[n + 1]))
      end
      for _, key in ipairs(kind == "l" and node[5] or {}) do object[key] = nil end
    end
  end
  for id, node in ipairs(self.nodes) do
    local meta = (node[1] == "p" or node[1] == "t") and node[3] or node[1] == "l" and node[4]
    if meta then debug.setmetatable(self.objects[id], self:value(meta)) end
  end
end

-- All tables and functions that the driver has, too, by number of the node.
function Decoder:list(objects)
  for id, node in ipairs(self.nodes) do
    if node[1] ~= "e" and node[1] ~= "a" then objects[id] = self.objects[id] end
  end
end

-- Basic metatables by type; nil if the program has not changed them.
function Decoder:basics(coded)
  if not coded then return nil end
  local metas = {}
  for name, code in tables.each(coded) do metas[name] = code and self:value(code) end
  return metas
end

local function is_simple(coded)
  return #coded.nodes == 0 and not (coded.basics or coded.modules or coded.missing or
    coded.returns or coded.within)
end

-- Whether what decode makes of nodes is as good for later calls: no module of the program's own,
-- which this process may have loaded anew by then.
local function lasts(coded)
  for _, node in ipairs(coded.nodes) do
    if node[1] == "n" and not libraries.own[node[2]] then return false end
  end
  return not (coded.basics or coded.modules or coded.missing or coded.returns or coded.within)
end

--- The values that were encoded, if all are numbers, strings and booleans, or those that are not
-- were so encoded in an earlier call; else nil.
-- @string bytes what encode returned
-- @tab[opt] again what `decode` has left there
function M.decode_again(bytes, again)
  local coded = encoded.from_message(bytes)
  if is_simple(coded) then return coded.roots end
  if not again or not coded.within or coded.within ~= again.within then return nil end
  local values = tables.copy(again.values)
  for n, value in tables.each(coded.roots) do values[n] = value end
  return values
end

--- The values that meissa.kernel.serialize was given to encode.
-- @string bytes what encode returned
-- @tab options `globals`: the world of functions and names; `array(number)` gives an array;
-- `memory`: a table that remembers functions from one call to the next; `modules`: gets what
-- `require` gives, by name, `missing` what it raises; `named`: gets the names of modules, by table;
-- `known(number, capture)`: what was sent and comes back; `objects`: gets what was sent, by number;
-- `again`: gets what decode_again takes
-- @treturn table the values by number
-- @treturn table|nil basic metatables: see meissa.base.basics
-- @treturn table|nil the program's search paths, if it has changed them
function M.decode(bytes, options)
  local coded = encoded.from_message(bytes)
  local memory = options.memory
  if coded.within then
    local values, metas, paths = M.decode(coded.within, options)
    if options.again and lasts(encoded.from_message(coded.within)) then
      options.again.within, options.again.values = coded.within, tables.copy(values)
    end
    for n, value in tables.each(coded.roots) do values[n] = value end
    return values, metas, paths
  end
  if is_simple(coded) then -- numbers, strings and booleans are themselves
    if memory then memory.functions = {} end
    return coded.roots, nil, coded.paths
  end
  local self = setmetatable({
    nodes = coded.nodes, options = options, objects = {}, cells = {}, done = {}, keep = {},
    kept = memory and (memory.functions or {}),
    signer = setmetatable({ nodes = coded.nodes, open = {}, depth = 0,
      globals = options.globals, found = memory and memory.found or {},
      assigned = assigned_cells(coded.nodes) }, Signer),
  }, Decoder)
  self:make()
  self:fill()
  if memory then memory.functions, memory.found = self.keep, self.signer.found end
  local values = {}
  for n, code in tables.each(coded.roots) do values[n] = self:value(code) end
  if options.objects then self:list(options.objects) end
  local modules, missing = options.modules or {}, options.missing or {}
  for name, code in tables.each(coded.modules or {}) do modules[name] = self:value(code) end
  for name, text in tables.each(coded.missing or {}) do missing[name] = text end
  for id, name in tables.each(options.named and coded.named or {}) do
    options.named[self.objects[id]] = name
  end
  return values, self:basics(coded.basics), coded.paths
end

return M
