-- SPDX-License-Identifier: MIT
--- Carrying Lua values to the workers and results back, through string.buffer.
--
-- Tables keep their shape: shared references, cycles and metatables. Lua functions travel as
-- bytecode with their upvalues (shared ones stay shared) and the globals that they read. Modules
-- and C functions that are found in `package.loaded` travel by name; arrays by their number. What
-- cannot travel is named by its path before anything runs.
--
-- The encoded form is a flat list of nodes, so depth costs no recursion. A value is itself if it
-- is a number, string, boolean or int64, {number of its node}, or, on its way back, for what the
-- driver has sent {-number of its node there, capture if it was sent apart}. Nodes:
--   {"p", table, meta}              a table of plain values, as it is
--   {"t", {k1, v1, k2, v2}, meta}   any other table
--   {"f", bytecode, {{cell, value}, ...}, env, uses LuaJIT's `^`, assigns variables from outside}
--   {"e", {name, value, ...}}       globals that functions with one environment read
--   {"n", module, name}             found by name; without `name` the module itself
--   {"l", name, {k1, v1, k2, v2}, meta, gone}   a library that the program has changed: how, and a
--                                   list of the keys that are gone
--   {"x", message}                  a function that raises this
--   {"a", number}                   an array
--
-- Beside the nodes go basic metatables, what `require` gives and raises by name, the names of
-- modules among the nodes, by which they come back, and search paths if the program has changed
-- them.
-- @module meissa.kernel.serialize
local buffer = require "string.buffer"
local ffi = require "ffi"
local arrays = require "meissa.array"
local bytecode_facts = require "meissa.capture.bytecode_facts"
local encoded = require "meissa.base.encoded"
local errors = require "meissa.base.errors"
local libraries = require "meissa.base.libraries"
local naming = require "meissa.kernel.naming"
local required = require "meissa.capture.required"
local strict = require "meissa.base.strict"
local strict_function = require "meissa.kernel.strict_function"
local system = require "meissa.base.system"
local tables = require "meissa.base.tables"
local interrupt = require "meissa.base.interrupt"

local M = {}

local plain_types = { number = true, string = true, boolean = true }

local function is_plain(value)
  if plain_types[type(value)] then return true end
  return type(value) == "cdata"
    and (ffi.istype("int64_t", value) or ffi.istype("uint64_t", value))
end

local function are_plain(content)
  if encoded.is_plain(content) then return true end
  for key, value in tables.each(content) do
    if not is_plain(key) or not is_plain(value) then return false end
  end
  return true
end

local Encoder = {}
Encoder.__index = Encoder

-- "opts.model", then ".handle", "[3]" or " (upvalue db)".
local function step(key)
  if type(key) == "string" and string.match(key, "^[%a_][%w_]*$") then return "." .. key end
  if type(key) == "string" then return string.format("[%q]", key) end
  return "[" .. tostring(key) .. "]"
end

function Encoder:path(id)
  local parts = {}
  while id do
    table.insert(parts, 1, self.steps[id] or step(self.keys[id]))
    id = self.parents[id]
  end
  return table.concat(parts)
end

function Encoder:refuse(value, parent, last, key)
  last = last or step(key)
  local path = (parent and self:path(parent) or "") .. last
  local what = type(value) == "thread" and "a coroutine" or "a " .. type(value)
  if type(value) == "function" then
    what = self.find_known and "a function that was made in the body" or
      "a C function that no loaded module names"
  end
  local remedy = self.remedy
  if self.find_array(value) == false then what, remedy = self.array_words, self.array_remedy end
  errors.raise(self.code, "%s is %s: it cannot be sent to %s. %s", path, what, self.whither, remedy)
end

-- Reserves a node for a value that was not met before.
function Encoder:reserve(value, parent, last, key)
  local id = #self.nodes + 1
  self.nodes[id] = false
  self.ids[value], self.values[id] = id, value
  self.parents[id], self.steps[id], self.keys[id] = parent, last, key
  self.queue[#self.queue + 1] = value
  return id
end

local travelling = { table = true, ["function"] = true }

-- The name of a value that every process has: {module, name}.
function Encoder:name(value)
  local given = self.given[value]
  if given then return type(given) == "table" and given or { given } end
  local name, found = naming.of_library(value)
  if found then return name end
  if not self.names then self.names, self.tables = self.index() end
  return naming.find(value, self.names)
end

-- The encoded form of a value that is reached from node `parent` by the step `last`, or as the
-- element `key`.
function Encoder:value(value, parent, last, key)
  if is_plain(value) then return value end
  if value == nil then return nil end
  local id = self.ids[value]
  if id then return { id } end
  local number = self.find_array(value)
  local known = number == nil and self.find_known and self.find_known(value)
  if known then
    self.returns = true
    return known
  end
  local name = number == nil and self:name(value)
  if number then
    id = self:reserve(value, parent, last, key)
    self.nodes[id] = { "a", number }
  elseif name then
    id = self:reserve(value, parent, last, key)
    self.nodes[id] = { "n", name[1], name[2] }
  elseif number == nil and travelling[type(value)]
    and (type(value) == "table" or not self.find_known and not naming.is_foreign(value)) then
    id = self:reserve(value, parent, last, key)
  else
    self:refuse(value, parent, last, key)
  end
  return { id }
end

function Encoder:table(id, content)
  self.named[id] = self.tables[content]
  local meta = debug.getmetatable(content)
  meta = meta ~= nil and self:value(meta, id, " (metatable)") or nil
  if are_plain(content) then
    self.nodes[id] = { "p", content, meta }
    return
  end
  local pairs_of = {}
  for key, value in tables.each(content) do self:pair(pairs_of, id, key, value) end
  self.nodes[id] = { "t", pairs_of, meta }
end

function Encoder:pair(pairs_of, id, key, value)
  local n = #pairs_of
  if self.refusing then self:refuse_late(value, self:path(id) .. step(key)) end
  pairs_of[n + 1] = self:value(key, id, " (a key)")
  pairs_of[n + 2] = self:value(value, id, nil, key)
end

-- A library that the program has changed.
function Encoder:library(id, content)
  self.named[id] = libraries.name(content)
  local meta = debug.getmetatable(content)
  meta = meta ~= nil and self:value(meta, id, " (metatable)") or nil
  local pairs_of, gone = {}, {}
  for _, key in ipairs(libraries.keys(content)) do
    local value = rawget(content, key)
    if value == nil then
      gone[#gone + 1] = key
    else
      self:refuse_late(value, libraries.name(content) .. step(key))
      self:pair(pairs_of, id, key, value)
    end
  end
  self.nodes[id] = { "l", libraries.name(content), pairs_of, meta, gone }
end

-- Whether a function can travel, by function, when it was first asked for.
local travels = setmetatable({}, { __mode = "k" })

-- Arrays are judged apart, where it is known which of them a loop has.
local function is_any_array(value) return arrays.is(value) and 1 or nil end

--- Whether a function can be sent to the workers, but for arrays that it leads to.
function M.travels(fn)
  if travels[fn] == nil then
    travels[fn] = interrupt.pcall(M.encode, { fn }, 1,
      { path = tostring, find_array = is_any_array })
  end
  return travels[fn]
end

-- Puts a function that raises in the place of one that is refused, unless it is captured, too.
function Encoder:refuse_late(value, path)
  if type(value) ~= "function" or self.ids[value] then return end
  local reason = self.refused[value] or not M.travels(value) and "holds what cannot be sent"
  if not reason then return end
  self.ids[value], self.values[#self.nodes + 1] = #self.nodes + 1, value
  self.nodes[self.ids[value]] = { "x", path .. " " .. reason }
end

-- The node of a function's environment, with the globals that it reads added.
function Encoder:environment(id, fn, reads)
  local env = getfenv(fn)
  local env_id = self.environments[env]
  if not env_id then
    env_id = #self.nodes + 1
    self.nodes[env_id] = { "e", {} }
    self.environments[env] = env_id
  end
  local known = self.nodes[env_id][2]
  for _, name in ipairs(reads) do
    local value = env[name]
    if value ~= nil and not self.global_seen[env_id .. name] then
      self.global_seen[env_id .. name] = true
      known[#known + 1] = name
      known[#known + 1] = self:value(value, id, " (global " .. name .. ")")
    end
  end
  return env_id
end

-- A number for the variable behind upvalue n: closures that share it get the same.
function Encoder:cell(fn, n)
  local key = tostring(debug.upvalueid(fn, n))
  local cell = self.cells[key]
  if not cell then
    cell = self.cell_count + 1
    self.cell_count = cell
    self.cells[key] = cell
  end
  return cell
end

-- What `require` gives for a name that is loaded.
function Encoder:module(name)
  local module = package.loaded[name]
  self.missing[name] = required.trouble(name)
  if module ~= nil and self.modules[name] == nil then
    self.modules[name] = false
    self.modules[name] = self:value(module, nil, string.format("require %q", name))
  end
end

-- Upvalue n of a function that travels.
function Encoder:upvalue(id, fn, n)
  local name, value = debug.getupvalue(fn, n)
  return { self:cell(fn, n), self:value(value, id, " (upvalue " .. name .. ")") }
end

-- A function's code and upvalues. One that uses `^` is sent as it is strict, which can be compiled.
function Encoder:code_of(id, fn, power)
  local upvalues, code = {}, power and strict_function.of(fn)
  if code then
    for n, from in ipairs(code.upvalues) do
      upvalues[n] = from > 0 and self:upvalue(id, fn, from) or
        { self:cell(code.fn, n), self:value(strict.pow, id) }
    end
    return code.dump, upvalues, false
  end
  while debug.getupvalue(fn, #upvalues + 1) do
    upvalues[#upvalues + 1] = self:upvalue(id, fn, #upvalues + 1)
  end
  return string.dump(fn), upvalues, power or false
end

function Encoder:func(id, fn)
  local about = bytecode_facts.about(fn)
  local dump, upvalues, power = self:code_of(id, fn, about.power)
  local env = self:environment(id, fn, about.globals)
  local modules = self.requires and required.by_function(fn, self.world) or {}
  for _, name in ipairs(modules) do self:module(name) end
  self.nodes[id] = { "f", dump, upvalues, env, power, about.assigns }
end

function Encoder:object(id, value, late)
  if self.nodes[id] then return end
  if type(value) == "function" then
    self:func(id, value)
  elseif libraries.name(value) then
    late[#late + 1] = value
  else
    self:table(id, value)
  end
end

-- Encodes everything that was met; libraries last, when it is known what is captured.
function Encoder:finish()
  local late = {}
  while self.queue[self.at] or #late > 0 do
    local value = self.queue[self.at]
    if value == nil then
      value = table.remove(late)
      self:library(self.ids[value], value)
    else
      self.at = self.at + 1
      self:object(self.ids[value], value, late)
    end
  end
end

-- Whether a function that plain values may not lead to is captured, too.
function Encoder:holds_refused(refused)
  for fn in tables.each(refused) do
    local id = self.ids[fn]
    if id and self.nodes[id][1] ~= "x" then return true end
  end
  return false
end

--- Whether what was encoded is the same bytes again as long as tables, upvalues and globals are the
-- same: functions assign no variables that they may share, and no library is as the program has it.
function Encoder:is_lasting()
  for _, node in ipairs(self.nodes) do
    if node[1] == "l" or node[1] == "f" and node[6] then return false end
  end
  return true
end

-- Basic metatables, by type: see meissa.base.basics. Where the body calls by a name what plain
-- values may not lead to, these have copies of the tables that hold it.
function Encoder:basics(about)
  local coded, metas, shared = {}, about.metas, self.ids
  self.refusing = true
  if self:holds_refused(about.refused) then
    self.ids = setmetatable({}, { __index = function(_, value)
      local own = about.refused[value] or about.tables[value]
      return not own and shared[value] or nil
    end })
  end
  for _, name in ipairs(tables.keys(metas)) do
    coded[name] = metas[name] and self:value(metas[name], nil, name .. "'s metatable")
  end
  self:finish()
  for value, id in tables.each(self.ids) do shared[value] = shared[value] or id end
  self.ids = shared
  return coded
end

--- Encodes values[1..count] (nil allowed).
-- @tab values the values
-- @number count how many
-- @tab options `path(n)`: what the user calls value n; `find_array(value)`: nil if it is no array,
-- its number, or false for an array that cannot travel; `find_known(value)`, where values return:
-- the encoded form of one that was sent, then no other functions travel; `modules`, where `require`
-- may be called: {name, ..., name, ...} of those that are required beside what functions require;
-- `named`: names of modules, or {module, name}, by what is sent by these; `index` in place of
-- naming.index; `code`, `whither` and `remedy` of the error;
-- `array_words` and `array_remedy` for arrays that cannot travel
-- @tab[opt] basics the program's basic metatables: `metas`, what basics.changed gave; `refused`, by
-- function why those that they lead to may not be called; `tables`, a set of those leading there
-- @treturn string
-- @treturn table the encoder: `nodes`, `ids`, whose keys are all that was encoded, and `values` by
-- number of the node
function M.encode(values, count, options, basics)
  local self = setmetatable({
    nodes = {}, ids = {}, values = {}, queue = {}, at = 1, parents = {}, steps = {},
    keys = {}, cells = {}, cell_count = 0, environments = {}, global_seen = {},
    find_array = options.find_array, find_known = options.find_known,
    code = options.code or "OPT", whither = options.whither or "the workers",
    remedy = options.remedy or "", array_remedy = options.array_remedy or options.remedy or "",
    array_words = options.array_words or "an array that the loop does not name itself",
    refused = basics and basics.refused or {},
    modules = {}, missing = {}, requires = options.modules and true, named = {},
    given = options.named or {}, index = options.index or naming.index,
    world = { field_of = tables.field_of,
      is_array = function(value) return options.find_array(value) ~= nil end },
  }, Encoder)
  local roots = {}
  for n = 1, count do roots[n] = self:value(values[n], nil, options.path(n)) end
  local modules = options.modules or {}
  for n = 1, #modules, 2 do self:module(modules[n]) end
  self:finish()
  local metas = basics and self:basics(basics)
  return buffer.encode({ roots = roots, nodes = self.nodes, basics = metas,
    returns = self.returns,
    modules = tables.next(self.modules) and self.modules,
    missing = tables.next(self.missing) and self.missing,
    named = tables.next(self.named) and self.named,
    paths = system.new_search_paths() }), self
end

return M
