-- SPDX-License-Identifier: MIT
--
-- Captures: what the names from outside a loop's body mean, in the analyser's terms.
--
-- A binding is a table {kind =, depth =, ...} (see csrc/depend/plan.h): `kind` says what the value
-- at the end of the capture's path is, `depth` how many of its fields lead there. Functions are
-- looked through: a Lua function's binding lists the arrays that it can reach by upvalue, by
-- global name, or through tables and functions that it reaches. Nothing here calls user code.
-- @module meissa.capture

local bytecode = require("meissa.capture.bytecode")
local impure = require("meissa.capture.impure")
local objects = require("meissa.array.objects")
local reading = require("meissa.capture.reading")

local M = {}

-- Functions with effects that the analyser knows, by value.
local builtins = {}

-- Tables of the standard library: known by name, never searched.
local libraries = { [_G] = true, [package.loaded] = true }

-- Entries of captured tables that are looked at in search of arrays; beyond, a table counts as
-- holding every array of the loop.
local MOST_ENTRIES = 20000

--- Makes a function known to the analyser under a name of its effects table ("meissa.random").
function M.register(fn, name)
  builtins[fn] = name
end

local function register_library(name, library)
  libraries[library] = true
  for key, value in pairs(library) do
    if type(value) == "function" and type(key) == "string" then
      builtins[value] = name .. "." .. key
    end
  end
end

for _, name in ipairs { "math", "bit", "string", "table", "os", "io", "coroutine" } do
  register_library(name, _G[name] or require(name))
end
for _, name in ipairs { "ffi", "string.buffer" } do register_library(name, require(name)) end
for _, name in ipairs { "print", "tonumber", "tostring", "type", "error", "rawequal", "assert",
  "ipairs", "next", "pairs", "rawget", "rawset", "select", "unpack", "getmetatable",
  "setmetatable", "pcall", "xpcall", "require", "load", "loadstring", "loadfile", "dofile",
  "getfenv", "setfenv", "collectgarbage", "newproxy" } do
  builtins[_G[name]] = name
end
for _, name in ipairs { "traceback", "getinfo" } do builtins[debug[name]] = "debug." .. name end
for _, name in ipairs { "debug", "jit", "package" } do
  if type(_G[name]) == "table" then libraries[_G[name]] = true end
end

local function is_library(value) return libraries[value] ~= nil end

-- What two tables share if they are one or show the same elements.
local function content_of(value)
  return objects.is(value) and rawget(value, "items") or value
end

-- A field of a plain table without calling anything: raw, then through __index tables.
local function field_of(value, key)
  for _ = 1, 100 do
    local found = rawget(value, key)
    if found ~= nil then return found end
    local meta = debug.getmetatable(value)
    local index = type(meta) == "table" and rawget(meta, "__index")
    if type(index) ~= "table" then return nil end
    value = index
  end
end

-- What a search from functions and tables finds: {found = {[binding index] = true}, all =,
-- changes =, stores =, writes = whether some function may store into arrays, acts = whether there
-- is more than data: arrays, functions, metatables}.
local Search = {}
Search.__index = Search

local function new_search(state)
  local function is_array(value)
    return state.describe(value) ~= nil
  end
  return setmetatable({ state = state, is_array = is_array, seen = {}, found = {},
    left = MOST_ENTRIES }, Search)
end

function Search:array(about, value)
  local state = self.state
  local index = state.by_array[about.array]
  if not index then
    state.extra[#state.extra + 1] = { about = about, value = value }
    index = state.count + #state.extra
    state.by_array[about.array] = index
  end
  self.found[index] = true
end

function Search:table(value)
  local meta = debug.getmetatable(value)
  if meta ~= nil then self.acts = true end
  if type(meta) == "table" then self:visit(meta) end
  for key, item in next, value do
    self.left = self.left - 1
    if self.left < 0 then
      self.all = true
      return
    end
    self:visit(key)
    self:visit(item)
  end
end

-- Globals that the function names and that are arrays, or lead to them.
function Search:globals(fn)
  local env = debug.getfenv(fn)
  if type(env) ~= "table" then return end
  for name in pairs(bytecode.names(fn)) do
    local value = field_of(env, name)
    self:assigned(name, value, true)
    self:visit(value)
  end
end

-- A variable that the body assigns, seen by a function under this name with this value: a worker's
-- copy of the function would keep the value of before the loop.
function Search:assigned(name, value, global)
  for _, each in ipairs(self.state.assigned) do
    if each.name == name and each.global == global and rawequal(each.binding.value, value) then
      each.binding.aliased = true
    end
  end
end

function Search:fn(fn)
  local info = debug.getinfo(fn, "Su")
  for slot = 1, info.nups do
    local name, value = debug.getupvalue(fn, slot)
    self:assigned(name, value, false)
    self:visit(value)
  end
  if info.what == "C" then
    self.writes = true
    return
  end
  local changes, stores = bytecode.changes(fn, self.is_array, field_of)
  self.changes, self.stores = self.changes or changes, self.stores or stores
  self.writes = self.writes or not reading.only(fn, self.is_array, field_of, builtins,
    is_library)
  self:globals(fn)
end

function Search:visit(value)
  local kind = type(value)
  if kind ~= "table" and kind ~= "function" and kind ~= "cdata" and kind ~= "userdata" then
    return
  end
  local about = self.state.describe(value)
  if about or kind ~= "table" or libraries[value] then self.acts = true end
  if about then return self:array(about, value) end
  if builtins[value] and not reading.is_harmless(builtins[value]) then self.writes = true end
  if self.seen[value] or libraries[value] or builtins[value] or self.state.opaque[value] then
    return
  end
  if objects.is(value) then -- plain data: a search would find nothing in it
    self.seen[content_of(value)] = true
    return
  end
  self.seen[value] = true
  if kind == "table" then
    self:table(value)
  elseif kind == "function" then
    self:fn(value)
  else
    self.writes = true -- what its methods do is not known
  end
end

local SIMPLE = { ["nil"] = true, number = true, boolean = true, string = true }

local function describe_array(binding, about)
  binding.kind = "array"
  binding.array, binding.storage = about.array, about.storage
  binding.dims, binding.sparse, binding.integer = about.dims, about.sparse, about.integer
  binding.buffers, binding.delay = about.buffers, about.delay
  return binding
end

-- A binding for a value that is found `depth` fields into a capture.
local function bind(state, value, depth)
  local kind = type(value)
  local binding = { kind = kind, depth = depth, value = value }
  if SIMPLE[kind] then
    if kind == "number" then binding.number = value end
    return binding
  end
  local about = state.describe(value)
  if about then
    describe_array(binding, about)
  elseif builtins[value] then
    binding.kind, binding.name = "builtin", builtins[value]
  elseif kind == "function" and debug.getinfo(value, "S").what == "C" then
    binding.kind, binding.impure = "unknown", "a C function"
  elseif kind ~= "function" and kind ~= "table" then
    binding.kind, binding.impure = "unknown", kind ~= "thread" and "a " .. kind or nil
  end
  return binding
end

-- How far a capture's fields lead: the value, the number of fields used, and the table that the
-- last of them was read from.
local function follow(state, root, fields)
  local value, depth, holder = root, 0, nil
  while depth < #fields do
    if type(value) ~= "table" or state.describe(value) or state.opaque[value] then break end
    holder, value = value, field_of(value, fields[depth + 1])
    depth = depth + 1
  end
  return value, depth, holder
end

-- "log (it uses io)": a capture that may reach files or foreign code, in words.
local function impure_words(capture, binding)
  local path = table.concat({ capture.root, unpack(capture.fields, 1, binding.depth) }, ".")
  return ("%s (%s)"):format(path, binding.impure)
end

local function search_from(state, binding)
  if binding.kind ~= "function" and binding.kind ~= "table" then return end
  if binding.value == _G or binding.value == package.loaded then
    binding.all, state.anything = true, true
  end
  if state.opaque[binding.value] or libraries[binding.value] then return end
  local search = new_search(state)
  search:visit(binding.value)
  for _, field in ipairs(state.fields) do
    if search.all or search.seen[field.holder] then field.binding.aliased = true end
  end
  binding.reached, binding.stores = {}, search.stores
  binding.changes = search.changes or (binding.kind == "table" and search.stores)
  binding.all = search.all
  state.searches[#state.searches + 1] = { binding = binding, search = search }
  if binding.kind == "table" then
    binding.reads = not (search.acts or search.all)
  else
    binding.reads = not (search.writes or search.all)
    binding.impure = impure.of(binding.value, builtins, field_of)
  end
  for index in pairs(search.found) do binding.reached[#binding.reached + 1] = index end
  table.sort(binding.reached)
end

-- Arrays that only functions and tables reach become bindings behind those of the captures.
local function append_extra(state, bindings)
  for _, each in ipairs(state.extra) do
    bindings[#bindings + 1] = describe_array({ depth = 0, value = each.value }, each.about)
  end
  for _, binding in ipairs(bindings) do
    if binding.all then
      binding.reached = {}
      for index, each in ipairs(bindings) do
        if each.kind == "array" then binding.reached[#binding.reached + 1] = index end
      end
    end
  end
end

-- Remembers a field that the body assigns.
local function note_field(state, capture, binding, holder)
  local name = capture.fields[#capture.fields]
  for _, other in ipairs(state.fields) do
    if other.holder == holder and other.name == name then
      other.binding.aliased, binding.aliased = true, true
    end
  end
  if rawget(holder, name) == nil then binding.aliased = true end -- it came from somewhere else
  state.fields[#state.fields + 1] = { holder = holder, name = name, binding = binding }
end

-- Fields that are assigned by one path and read by another are aliased.
local function mark_aliased(state)
  for _, field in ipairs(state.fields) do
    for _, read in ipairs(state.reads) do
      if read.holder == field.holder and read.name == field.name then
        field.binding.aliased = true
      end
    end
  end
end

-- Whether a plain table can be reached by no other capture than its own.
local function is_alone(state, binding)
  if binding.kind ~= "table" then return false end
  local meta = debug.getmetatable(binding.value)
  if meta ~= nil and not objects.is(binding.value) then return false end
  if state.anything or state.opaque[binding.value] or libraries[binding.value] then return false end
  for _, each in ipairs(state.searches) do
    local sees = each.search.all or each.search.seen[content_of(binding.value)]
    if each.binding ~= binding and sees then return false end
  end
  for _, list in ipairs { state.reads, state.fields } do
    for _, each in ipairs(list) do
      if each.holder == binding.value then return false end
    end
  end
  return true
end

--- The number of the binding of the array whose entries a loop runs over, for the space's
-- `source`; 0 when the body has no way to it. Where the body has only a view of its storage, the
-- array is added to the bindings, so that the entries that the loop reads are known to overlap.
-- @tab bindings what resolve gave
-- @tab about the array's description
-- @param value the array
function M.source(bindings, about, value)
  local shared = false
  for index, binding in ipairs(bindings) do
    if binding.kind == "array" then
      if binding.array == about.array then return index end
      shared = shared or binding.storage == about.storage
    end
  end
  if not shared then return 0 end
  bindings[#bindings + 1] = describe_array({ depth = 0, value = value }, about)
  return #bindings
end

--- Resolves captures to bindings.
-- @tab captures what loop:captures() gives
-- @func lookup lookup(capture) gives the value of the capture's root variable
-- @func describe describe(value) gives {array =, storage =, dims =, sparse =, integer =} for an
-- array (or a view of one) and nil for anything else; `array` is a number that is equal for two
-- names of one array, `storage` one that is equal for arrays that share memory
-- @tab[opt] opaque set of tables that are plain data and are not searched
-- @treturn table bindings in the order of the captures, `value` the value of each; behind them
-- arrays that only functions reach
function M.resolve(captures, lookup, describe, opaque)
  local state = { describe = describe, opaque = opaque or {}, by_array = {}, extra = {},
    fields = {}, reads = {}, assigned = {}, searches = {}, count = #captures }
  local bindings = {}
  state.bindings = bindings
  for c, capture in ipairs(captures) do
    local value, depth, holder = follow(state, lookup(capture), capture.fields)
    local binding = bind(state, value, depth)
    if capture.assigned and #capture.fields == 0 then
      state.assigned[#state.assigned + 1] = { name = capture.root, binding = binding,
        global = capture.reach == "global" }
    end
    if capture.assigned and depth > 0 and depth == #capture.fields then
      note_field(state, capture, binding, holder)
    elseif holder then
      state.reads[#state.reads + 1] = { holder = holder, name = capture.fields[depth] }
    end
    bindings[c] = binding
    if binding.kind == "array" and not state.by_array[binding.array] then
      state.by_array[binding.array] = c
    end
  end
  mark_aliased(state)
  for c, capture in ipairs(captures) do
    local binding = bindings[c]
    search_from(state, binding)
    if binding.impure then binding.impure = impure_words(capture, binding) end
  end
  for _, binding in ipairs(bindings) do binding.alone = is_alone(state, binding) end
  append_extra(state, bindings)
  return bindings
end

return M
