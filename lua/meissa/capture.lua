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
local inner = require("meissa.capture.inner")
local iterate = require("meissa.iterate")
local objects = require("meissa.array.objects")
local reading = require("meissa.capture.reading")

local M = {}

-- Functions with effects that the analyser knows, by value.
local builtins = {}

-- Tables of the standard library: known by name, never searched.
local libraries = { [_G] = true, [package.loaded] = true }

-- Entries of captured tables that are looked at in search of arrays, those of numbers, strings and
-- booleans apart; beyond, a table counts as holding every array of the loop.
local MOST_ENTRIES, MOST_SIMPLE = 20000, 4000000

-- Libraries with functions that draw random numbers.
local drawing = {}

--- Makes a table known as a library: it is never searched.
-- @bool draws whether functions of it draw random numbers that belong to the iteration
function M.register_library(library, draws)
  libraries[library], drawing[library] = true, draws
end

--- Makes a function known to the analyser under a name of its effects table ("meissa.random").
function M.register(fn, name)
  builtins[fn] = name
end

--- Whether a builtin of this name draws random numbers that belong to the iteration.
function M.draws(name)
  return name == "meissa.random" or name == "meissa.normal"
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

-- A field of a plain table without calling anything: raw, then through __index tables. The second
-- result says that there is an __index that is no table: what it gives is not known.
local function field_of(value, key)
  for _ = 1, 100 do
    local found = rawget(value, key)
    if found ~= nil then return found end
    local meta = debug.getmetatable(value)
    local index = type(meta) == "table" and rawget(meta, "__index")
    if type(index) ~= "table" then return nil, index and true or false end
    value = index
  end
  return nil, true
end

-- What operators and indexing call, by its key in a metatable. Any table may become a metatable.
local EVENTS = {}
for name in ([[index newindex call add sub mul div mod pow unm concat len eq lt le tostring
  ipairs pairs]]):gmatch "%a+" do
  EVENTS["__" .. name] = true
end

local SIMPLE = { ["nil"] = true, number = true, boolean = true, string = true }

-- What a search from functions and tables finds: {found = {[binding index] = true}, all =,
-- changes =, stores =, writes = whether some function may store into arrays, lives = whether there
-- is more than data: arrays, functions, metatables, events = what operators and indexing may call}.
local Search = {}
Search.__index = Search

local function new_search(state)
  local function is_array(value)
    return state.describe(value) ~= nil
  end
  local function is_scratch(value)
    local about = state.describe(value)
    return about ~= nil and about.scratch
  end
  return setmetatable({ state = state, is_array = is_array, is_scratch = is_scratch,
    seen = {}, found = {}, via = {}, events = {}, left = MOST_ENTRIES,
    simple = MOST_SIMPLE }, Search)
end

-- What a user may call an array that was found: "model.W", or "W", a variable of a function.
function Search:name(value)
  local name
  while self.via[value] do
    local step = self.via[value]
    if type(step.key) ~= "string" then return step.variable or nil end
    name = name and step.key .. "." .. name or step.key
    if step.variable then return name end
    value = step.from
  end
  return name and self.root and self.root .. "." .. name or name
end

function Search:array(about, value)
  local state = self.state
  local index = state.by_array[about.array]
  if not index then
    state.extra[#state.extra + 1] = { about = about, value = value, name = self:name(value) }
    index = state.count + #state.extra
    state.by_array[about.array] = index
  end
  self.found[index] = true
end

function Search:table(value)
  local meta = debug.getmetatable(value)
  if meta ~= nil then self.lives = true end
  if type(meta) == "table" then self:visit(meta) end
  local keys = {}
  for key, item in iterate.each(value) do
    if SIMPLE[type(item)] and SIMPLE[type(key)] then
      self.simple = self.simple - 1
    else
      self.left = self.left - 1
      keys[#keys + 1] = key
    end
    if self.left < 0 or self.simple < 0 then
      self.all = true
      return
    end
  end
  table.sort(keys, iterate.before) -- a plan must not depend on the order of this process
  for _, key in ipairs(keys) do
    local item = rawget(value, key)
    if EVENTS[key] and (type(item) ~= "table" or key ~= "__index" and key ~= "__newindex") then
      self.events[#self.events + 1] = item
    end
    self:visit(key)
    self:visit(item, value, key)
  end
end

-- Globals that the function names and that are arrays, or lead to them.
function Search:globals(fn)
  local env = debug.getfenv(fn)
  if type(env) ~= "table" then return end
  for _, name in ipairs(iterate.keys(bytecode.names(fn))) do
    local value = field_of(env, name)
    self:assigned(name, value, true)
    self:visit(value, fn, name)
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
    self:visit(value, fn, name)
  end
  if info.what == "C" then
    self.writes = true
    return
  end
  local changes, stores = bytecode.changes(fn, self.is_array, field_of)
  self.changes, self.stores = self.changes or changes, self.stores or stores
  self.writes = self.writes or not reading.only(fn,
    { is_array = self.is_array, is_scratch = self.is_scratch, field_of = field_of,
      builtins = builtins, library = is_library })
  self:globals(fn)
end

-- Visits what is under a key in a table, or a variable of a function.
function Search:visit(value, from, key)
  local kind = type(value)
  if kind ~= "table" and kind ~= "function" and kind ~= "cdata" and kind ~= "userdata" then
    return
  end
  if from and not self.seen[value] and not self.via[value] then
    self.via[value] = { from = from, key = key, variable = type(from) == "function" }
  end
  local about = self.state.describe(value)
  if about or kind ~= "table" or libraries[value] then self.lives = true end
  if about then return self:array(about, value) end
  if builtins[value] and not reading.is_harmless(builtins[value]) then self.writes = true end
  if drawing[value] or M.draws(builtins[value]) then self.draws = true end
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

local function describe_array(binding, about)
  binding.kind = "array"
  binding.array, binding.storage = about.array, about.storage
  binding.dims, binding.sparse, binding.integer = about.dims, about.sparse, about.integer
  binding.buffers, binding.delay = about.buffers, about.delay
  binding.scratch = about.scratch
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
    binding.draws = M.draws(binding.name)
  elseif kind == "function" and debug.getinfo(value, "S").what == "C" then
    binding.kind, binding.impure = "unknown", "a C function"
  elseif kind ~= "function" and kind ~= "table" then
    binding.kind, binding.impure = "unknown", kind ~= "thread" and "a " .. kind or nil
  end
  return binding
end

-- How far a capture's fields lead: the value, the number of fields used, and the table that the
-- last of them was read from. What a function gives for a field is not asked for.
local function follow(state, root, fields)
  local value, depth, holder = root, 0, nil
  while depth < #fields do
    if type(value) ~= "table" or state.describe(value) or state.opaque[value] then break end
    local found, asks = field_of(value, fields[depth + 1])
    if asks then break end
    holder, value = value, found
    depth = depth + 1
  end
  return value, depth, holder
end

-- "log (it uses io)": a capture that may reach files or foreign code, in words.
local function impure_words(capture, binding)
  local path = table.concat({ capture.root, unpack(capture.fields, 1, binding.depth) }, ".")
  return ("%s (%s)"):format(path, binding.impure)
end

local function search_from(state, binding, root)
  if binding.kind ~= "function" and binding.kind ~= "table" then return end
  if binding.value == _G or binding.value == package.loaded then
    binding.all, state.anything = true, true
  end
  binding.draws = drawing[binding.value]
  if state.opaque[binding.value] or libraries[binding.value] then return end
  local search = new_search(state)
  search.root = root
  search:visit(binding.value)
  for _, field in ipairs(state.fields) do
    if search.all or search.seen[field.holder] then field.binding.aliased = true end
  end
  binding.reached, binding.stores = {}, search.stores
  binding.changes = search.changes or (binding.kind == "table" and search.stores)
  binding.all, binding.draws = search.all, search.draws or search.all
  state.searches[#state.searches + 1] = { binding = binding, search = search }
  binding.quiet, binding.acts = not (search.writes or search.all), #search.events > 0
  if binding.acts then
    local events = new_search(state)
    for _, event in ipairs(search.events) do events:visit(event) end
    binding.acts_change = events.changes or events.stores or events.all
  end
  if binding.kind == "table" then
    binding.reads = not (search.lives or search.all)
  else
    binding.reads = not (search.writes or search.all)
    binding.impure = impure.of(binding.value, builtins, field_of)
  end
  for index in pairs(search.found) do binding.reached[#binding.reached + 1] = index end
  table.sort(binding.reached)
end

-- Arrays that only functions and tables reach become bindings behind those of the captures.
local function append_extra(state, bindings, captures)
  local taken = {}
  for _, capture in ipairs(captures) do
    taken[table.concat({ capture.root, unpack(capture.fields) }, ".")] = true
  end
  for _, each in ipairs(state.extra) do
    local name = not taken[each.name or ""] and each.name or nil
    taken[name or ""] = true
    bindings[#bindings + 1] = describe_array({ depth = 0, value = each.value, name = name },
      each.about)
  end
  local every = {}
  for index, each in ipairs(bindings) do
    if each.kind == "array" then every[#every + 1] = index end
  end
  for _, list in ipairs { bindings, bindings.inner } do
    for _, binding in ipairs(list) do
      if binding.all then binding.reached = every end
    end
  end
end

-- What the captured functions and tables lead to, for the analyser to walk through them.
local function look_inside(state, bindings, names)
  local list = inner.resolve(bindings, names, {
    bind = function(value, depth) return bind(state, value, depth) end,
    array = function(binding, value)
      new_search(state):array(binding, value)
      return state.by_array[binding.array]
    end,
    follow = function(root, fields) return follow(state, root, fields) end,
    field_of = field_of,
    is_searched = function(value) return not (state.opaque[value] or libraries[value]) end,
  })
  for _, binding in ipairs(list) do search_from(state, binding) end
  return list
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
-- @tab[opt] names constant names of fields and methods that the body mentions, as keys
-- @treturn table bindings in the order of the captures, `value` the value of each; behind them
-- arrays that only functions reach; `inner`: see meissa.capture.inner
function M.resolve(captures, lookup, describe, opaque, names)
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
    local root = table.concat({ capture.root, unpack(capture.fields, 1, binding.depth) }, ".")
    search_from(state, binding, root)
    if binding.impure then binding.impure = impure_words(capture, binding) end
  end
  for _, binding in ipairs(bindings) do binding.alone = is_alone(state, binding) end
  bindings.inner = look_inside(state, bindings, names or {})
  append_extra(state, bindings, captures)
  return bindings
end

return M
