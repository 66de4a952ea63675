-- SPDX-License-Identifier: MIT
--
-- Captures: what the names from outside a loop's body mean, in the analyser's terms.
--
-- A binding is a table {kind =, depth =, ...} (see csrc/depend/meaning.h): `kind` says what the
-- value at the end of the capture's path is, `depth` how many of its fields lead there. Functions
-- are looked through: a Lua function's binding lists the arrays that it can reach by upvalue, by
-- global name, or through tables and functions that it reaches. Nothing here calls user code.
-- @module meissa.capture

local basics = require "meissa.base.basics"
local bytecode = require "meissa.capture.bytecode"
local impure = require "meissa.capture.impure"
local inner = require "meissa.capture.inner"
local numbers = require "meissa.capture.numbers"
local objects = require "meissa.array.objects"
local known = require "meissa.capture.known"
local libraries = require "meissa.base.libraries"
local models = require "meissa.sync.models"
local namespaces = require "meissa.capture.namespace"
local searches = require "meissa.capture.search"
local slots = require "meissa.capture.slot"
local tables = require "meissa.base.tables"

local builtins, drawing, is_library = known.builtins, known.drawing, known.is_library
local field_of, new_search, content_of = searches.field_of, searches.new, searches.content_of

local M = {}

M.MOST = searches.MOST
M.register, M.register_library, M.draws = known.register, known.register_library, known.draws

local PLAIN = tables.PLAIN

local function describe_array(binding, about)
  binding.kind = "array"
  binding.array, binding.storage = about.array, about.storage
  binding.dims, binding.sparse, binding.integer = about.dims, about.sparse, about.integer
  binding.buffers, binding.delay, binding.marks = about.buffers, about.delay, about.marks
  binding.scratch, binding.frozen = about.scratch, about.frozen
  binding.replica = about.replica
  return binding
end

-- A binding for a value that is found `depth` fields into a capture.
-- @bool[opt] only_read whether the body reads its elements, and stores none
local function bind(state, value, depth, only_read)
  local kind = type(value)
  local binding = { kind = kind, depth = depth, value = value }
  if PLAIN[kind] then
    if kind == "number" then binding.number = value end
    if kind == "boolean" then binding.number = value and 1 or 0 end
    return binding
  end
  local about = state.describe(value)
  if models.is(value) then
    binding.kind, binding.owned = "function", true
  elseif about then
    describe_array(binding, about)
  elseif builtins[value] then
    binding.kind, binding.name = "builtin", builtins[value]
    binding.draws = M.draws(binding.name)
    binding.stores = bytecode.is_storing(value)
  elseif kind == "function" and debug.getinfo(value, "S").what == "C" then
    binding.kind, binding.impure = "unknown", "a C function"
  elseif kind ~= "function" and kind ~= "table" then
    binding.kind, binding.impure = "unknown", kind ~= "thread" and "a " .. kind or nil
  elseif libraries.name(value) == "io" then
    binding.impure = "io"
  elseif objects.is(value) then
    binding.objects = objects.methods.dim(value)
  elseif kind == "table" and only_read then
    binding.numbers = numbers.levels(value)
  end
  return binding
end

-- "opts.model": a capture, or so many fields of it.
local function path_of(capture, depth)
  if #capture.fields == 0 then return capture.root end
  return table.concat({ capture.root, unpack(capture.fields, 1, depth) }, ".")
end

-- How far a capture's fields lead: the value, and the number of fields used. What a function gives
-- for a field is not asked for. Calls visit(table, field), if it is given, for each.
local function follow(state, root, fields, visit)
  local value, depth = root, 0
  while depth < #fields do
    local ends = type(value) ~= "table" or state.describe(value) or state.opaque[value]
    if ends or models.is(value) then break end
    local found, asks = field_of(value, fields[depth + 1])
    if visit then visit(value, fields[depth + 1]) end
    if asks then break end
    value, depth = found, depth + 1
  end
  return value, depth
end

-- "log (it uses io)": a capture that may reach files or foreign code, in words.
local function impure_words(capture, binding)
  return string.format("%s (%s)", path_of(capture, binding.depth), binding.impure)
end

-- What a binding's value does with namespaces, of which some may be met from it.
local function judge_namespaces(state, binding, root)
  local world = { is_array = state.is_array, field_of = field_of, opaque = state.opaque }
  if binding.kind == "function" then
    binding.impure = namespaces.of(binding.value, world) or binding.impure
    return
  end
  local leads, looks = namespaces.within(binding.value, world)
  binding.impure = looks
  if leads then
    binding.globals = string.format("%s leads to %s", root or "a captured table", leads)
  end
end

-- What functions that a table leads to may reach, in words: for calls of what has no constant name,
-- and for operators.
local function impure_within(state, search)
  local first, asked = nil, {}
  for value in tables.each(search.seen) do
    local words = type(value) == "function" and
      impure.of(value, builtins, field_of, state.requires, asked)
    if words and not (first and first < words) then first = words end
  end
  return first
end

-- @number[opt] capture whose value the binding is
local function search_from(state, binding, root, capture)
  local namespace = namespaces.name(binding.value)
  if namespace then
    binding.globals = (root or namespace) .. " is used as a table of variables"
  end
  state.requires = state.requires or binding.name == "require"
  if binding.kind ~= "function" and binding.kind ~= "table" or binding.owned then return end
  if binding.value == _G or binding.value == package.loaded then
    binding.all, state.anything = true, true
  end
  binding.draws = drawing[binding.value]
  binding.levels = state.opaque[binding.value] and 2 or nil
  binding.changes = bytecode.holds_storing(binding.value)
  if state.opaque[binding.value] or is_library(binding.value) then return end
  local search = new_search(state)
  search.root, search.start = root, binding.value
  search:visit(binding.value)
  if search.all then state.bindings.crowded = root or "a captured function" end
  if search.model then state.bindings.model_within = root or "a captured function" end
  local receiver = capture and not search.returns and not search.all and
    { table = binding.value, capture = capture }
  state.slots:reach(not search.all and search.seen or nil, nil, receiver)
  binding.reached, binding.stores = {}, search.stores
  binding.kept = search.stores and search:is_kept()
  binding.changes = search.changes or
    search.stores and (binding.kind == "table" or not binding.kept)
  binding.changer = search.changer
  binding.all, binding.draws = search.all, search.draws or search.all
  state.searches[#state.searches + 1] = { binding = binding, search = search }
  binding.stores_nothing = not (search.writes or search.all)
  binding.metamethods = search:metamethods()
  if binding.kind == "table" then
    binding.plain_data = not (search.lives or search.all)
    binding.levels = search:levels()
    binding.impure = binding.impure or search.lives and impure_within(state, search) or nil
  else
    binding.impure = impure.of(binding.value, builtins, field_of, state.requires)
  end
  if search.namespaces then judge_namespaces(state, binding, root) end
  binding.impure = search.looks or binding.impure
  for index in tables.each(search.found) do binding.reached[#binding.reached + 1] = index end
  table.sort(binding.reached)
end

-- Arrays that only functions and tables reach become bindings behind those of the captures.
local function append_extra(state, bindings, captures)
  local taken = {}
  for _, capture in ipairs(captures) do
    taken[path_of(capture)] = true
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
local function look_inside(state, bindings, captures, options)
  local function whole(c) return bindings[c].depth == #captures[c].fields end
  local list, modules = inner.resolve(bindings, options.names or {}, options.calls or {}, whole, {
    bind = function(value, depth) return bind(state, value, depth, true) end,
    array = function(binding, value)
      new_search(state):array(binding, value)
      return state.by_array[binding.array]
    end,
    follow = function(root, fields) return follow(state, root, fields) end,
    field_of = field_of,
    is_searched = function(value) return not (state.opaque[value] or namespaces.name(value)) end,
  })
  for _, binding in ipairs(list) do search_from(state, binding) end
  bindings.modules = modules
  return list
end

-- Notes the variable that the body assigns by a capture.
local function note_assigned(state, capture, binding)
  local holder, key = state.env, capture.root
  if #capture.fields > 0 then
    holder = nil
    local _, depth = follow(state, binding.root, capture.fields, function(at, field)
      holder, key = at, field
    end)
    if depth < #capture.fields or depth == 0 then return end
    if rawget(holder, key) == nil and (binding.value ~= nil or slots.goes_on(holder)) then
      binding.aliased, binding.receiver, binding.alias = true, 0, "what __index gives"
    end
  elseif capture.reach ~= "global" then
    state.assigned[#state.assigned + 1] = { name = capture.root, binding = binding }
    return
  end
  if type(holder) == "table" then state.slots:assign(holder, key, binding, path_of(capture)) end
end

-- Finds out which variables that the body assigns are read by a capture.
local function note_read(state, capture, binding)
  local name = path_of(capture)
  local function read(at, key) state.slots:read(at, key, binding, name) end
  if capture.reach == "global" and type(state.env) == "table" then read(state.env, capture.root) end
  follow(state, binding.root, capture.fields, read)
end

-- Finds out which variables that the body assigns any plain value leads to: a string by its
-- methods. What these do with arrays is judged apart (see M.refusal).
local function search_basics(state)
  if not state.slots:is_empty() then state.slots:reach(basics.reachable()) end
  if not basics.are_changed() then return end
  local search = new_search(setmetatable({ by_array = {}, extra = {} }, { __index = state }))
  for _, meta in tables.each(basics.changed()) do search:visit(meta) end
  state.slots:reach(not search.all and search.seen or nil)
  state.searches[1] = { search = search }
end

-- Finds out what the body assigns, and which other captures are the same variable.
local function find_slots(state, captures, bindings)
  for c, capture in ipairs(captures) do
    if capture.assigned then note_assigned(state, capture, bindings[c]) end
  end
  search_basics(state)
  if state.slots:is_empty() then return end
  for c, capture in ipairs(captures) do note_read(state, capture, bindings[c]) end
end

-- Whether a plain table can be reached by no other capture than its own; else, if another capture
-- leads to it, that one's name.
local function has_sole_name(state, binding)
  if binding.kind ~= "table" then return false end
  local meta = debug.getmetatable(binding.value)
  if meta ~= nil and not objects.is(binding.value) then return false end
  if state.anything or state.opaque[binding.value] then return false end
  if is_library(binding.value) then return false end
  for _, each in ipairs(state.searches) do
    local sees = each.search.all or each.search.seen[content_of(binding.value)]
    if each.binding ~= binding and sees then return false, each.search.root end
  end
  return not state.holders[binding.value]
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

--- Whether a table is the program's and no array: functions that it holds may be looked for in it.
function M.is_searched(value)
  return not (is_library(value) or objects.is(value) or namespaces.name(value))
end

--- Why a function is not to be called where the analysis does not see it, in words that follow its
-- name; nil if the function has no effect that can be told from outside.
-- @func fn the function
-- @func describe as for resolve
-- @bool method whether it is called only as a method, where the analysis knows what is passed
-- @bool may_be_impure whether files and foreign code may be used
-- @treturn string|nil why
-- @treturn bool|nil whether it is that files and foreign code are used
function M.refusal(fn, describe, method, may_be_impure)
  local state = { describe = describe, opaque = {}, by_array = {}, extra = {}, assigned = {},
    slots = slots.new(), holders = {}, count = 0 }
  local search = new_search(state)
  search:visit(fn)
  if search.namespaces then return "looks up variables by their names" end
  if search.all or tables.next(search.found) ~= nil then return "may use arrays of the program" end
  if search.changes or search.stores or not method and search.writes then
    return "may change variables, tables or arrays"
  end
  if search.draws then return "draws random numbers" end
  local why = not builtins[fn] and impure.of(fn, builtins, field_of, state.requires)
  if not why then return nil end
  if string.find(why, "math.random", 1, true) then
    return "uses math.random, whose numbers depend on the order of its calls"
  end
  if may_be_impure then return nil end
  return string.gsub(why, "^it ", "", 1), true
end

-- The bindings of the captures, each with its `root` for now.
local function bind_captures(state, captures, lookup)
  local bindings, holder, key = {}
  local function note_step(at, field) holder, key = at, field end
  for c, capture in ipairs(captures) do
    local root = lookup(capture)
    holder, key = capture.reach == "global" and state.env, capture.root
    local value, depth = follow(state, root, capture.fields, note_step)
    local binding = bind(state, value, depth, capture.only_read)
    bindings[c], binding.root = binding, root
    if type(holder) == "table" then slots.note_holders(state.holders, holder, key) end
    if value == nil and holder == package.loaded then
      state.unloaded[binding] = path_of(capture, depth)
    end
    if binding.kind == "array" and not state.by_array[binding.array] then
      state.by_array[binding.array] = c
    end
  end
  return bindings
end

--- Resolves captures to bindings.
-- @tab captures what loop:captures() gives
-- @func lookup lookup(capture) gives the value of the capture's root variable
-- @func describe describe(value) gives {array =, storage =, dims =, sparse =, integer =} for an
-- array (or a view of one) and nil for anything else; `array` is a number that is equal for two
-- names of one array, `storage` one that is equal for arrays that share memory
-- @tab[opt] options `env`, the globals of the loop's function; `opaque`, a set of tables that are
-- plain data and are not searched; of the loop's text `names` and `calls`
-- @treturn table bindings in the order of the captures, `value` the value of each; behind them
-- arrays that only functions reach; `inner`: see meissa.capture.inner; `inside`: whether the
-- code of captured functions is known; `moves`: whether the body assigns variables in tables, so
-- that what is found depends on more than the captured values
function M.resolve(captures, lookup, describe, options)
  options = options or {}
  local state = { describe = describe, opaque = options.opaque or {}, env = options.env,
    by_array = {}, extra = {}, holders = {}, slots = slots.new(), assigned = {}, searches = {},
    unloaded = {}, count = #captures }
  function state.is_array(value) return describe(value) ~= nil end
  local bindings = bind_captures(state, captures, lookup)
  state.bindings = bindings
  find_slots(state, captures, bindings)
  for c, capture in ipairs(captures) do
    local binding = bindings[c]
    if capture.reach == "global" and type(state.env) == "table" then
      binding.globals = searches.lookup(state, state.env, capture.root)
    end
    search_from(state, binding, path_of(capture, binding.depth), c)
    if binding.impure then binding.impure = impure_words(capture, binding) end
    binding.root = nil
  end
  for _, binding in ipairs(bindings) do
    binding.sole_name, binding.other = has_sole_name(state, binding)
  end
  bindings.inner = look_inside(state, bindings, captures, options)
  for _, binding in ipairs(bindings) do
    bindings.inside = bindings.inside or binding.code ~= nil
  end
  for binding, name in tables.each(state.requires and state.unloaded or {}) do
    binding.globals = name .. " is nil before the loop, and require may set it"
  end
  append_extra(state, bindings, captures)
  bindings.requires = state.requires
  bindings.moves = not state.slots:is_empty()
  return bindings
end

return M
