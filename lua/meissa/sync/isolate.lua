-- SPDX-License-Identifier: MIT
--- Isolation: copies of functions and values for replicas, so that none sees what another does.
--
-- A function is copied with its variables, and what they hold; variables that functions share they
-- share in the copy, too; globals are copied when they are first asked for, and set for the copy
-- alone. Modules, C functions, coroutines and foreign objects are not copied. `pairs` and `next` go
-- by the keys in copies, so that all replicas visit them in one order, whichever process has them.
-- Arrays that a function captures become views that cannot be written; dense arrays that are given
-- as arguments are copied, as are Torch's tensors; those that share memory do so as copies, too.
-- @module meissa.sync.isolate

local array = require "meissa.array"
local key_orders = require "meissa.sync.key_order"
local models = require "meissa.sync.models"
local tables = require "meissa.base.tables"
local tensor = require "meissa.array.tensor"
local interrupt = require "meissa.base.interrupt"

local M = {}

-- The tables that `require` has given, and the globals: every copy has them in common.
local function common_tables()
  local common = {[_G] = true, [package] = true}
  for _, module in tables.each(package.loaded) do common[module] = true end
  return common
end

--- Whether a value is a table that all copies have in common: a module, or all globals.
function M.is_common(value)
  if value == _G or value == package then return true end
  for _, module in tables.each(package.loaded) do
    if rawequal(module, value) then return true end
  end
  return false
end

local Copy = {}
Copy.__index = Copy

local copy_value

-- A view of a captured array that cannot be written; a sparse one itself, which has no views.
local function frozen_view(self, value)
  if array.core(value).writable == 0 then return value end
  if array.core(value).sparse ~= 0 then
    self.held[#self.held + 1] = array.hold(value, "replicas")
    return value
  end
  local handle = array.to_handle(value, true)
  local view = handle:narrow(1, 1, array.describe(handle).dims[1])
  array.hold(view, "replicas")
  self.originals[view] = value
  return view
end

local function copy_table(self, value)
  local made = {}
  self.seen[value] = made
  for key, each in tables.each(value) do
    local copy = copy_value(self, each)
    models.name_copy(copy, key)
    made[copy_value(self, key)] = copy
  end
  return setmetatable(made, getmetatable(value))
end

-- The globals that copies have in the place of an environment's.
local function globals_of(self, env)
  local known = self.globals[env]
  if known then return known end
  local own = {}
  self.globals[env] = setmetatable(own, {__index = function(_, name)
    local value = env[name]
    if value == nil then return nil end
    if value == env then value = own else value = copy_value(self, value) end
    models.name_copy(value, name)
    rawset(own, name, value)
    return value
  end})
  return own
end

local function copy_function(self, fn)
  local own = key_orders.of(fn)
  if own then return own end
  local dumped, text = interrupt.pcall(string.dump, fn)
  if not dumped then return self.instead_of(fn) or fn end -- a C function
  local made = loadstring(text)
  self.seen[fn] = made
  setfenv(made, globals_of(self, getfenv(fn)))
  local index = 1
  while true do
    local name, value = debug.getupvalue(fn, index)
    if not name then break end
    local id = debug.upvalueid(fn, index)
    local known = self.variables[id]
    if known then
      debug.upvaluejoin(made, index, known.fn, known.index)
    else
      self.variables[id] = {fn = made, index = index}
      local copy = copy_value(self, value)
      models.name_copy(copy, name)
      debug.setupvalue(made, index, copy)
    end
    index = index + 1
  end
  return made
end

function copy_value(self, value)
  local kind = type(value)
  if self.seen[value] ~= nil then return self.seen[value] end
  if array.is(value) then
    local made = self.clones and (self.clones[value] or value:clone()) or frozen_view(self, value)
    self.seen[value] = made
    return made
  end
  if array.is_any(value) or self.common[value] then return value end
  if kind == "table" then return copy_table(self, value) end
  if kind == "function" then return copy_function(self, value) end
  if tensor.is_object(value) then
    self.seen[value] = tensor.copy(value, self.storages)
    return self.seen[value]
  end
  if kind == "userdata" and self.clones then
    local has, clone = interrupt.pcall(function() return value.clone end)
    if has and type(clone) == "function" then return clone(value) end
  end
  return value
end

-- Finds the dense arrays that a value leads to.
local function find_arrays(self, value, seen, list)
  local kind = type(value)
  if tables.PLAIN[kind] or seen[value] or self.common[value] then return end
  seen[value] = true
  if array.is(value) then
    if array.core(value).sparse == 0 then list[#list + 1] = value end
  elseif kind == "table" and not array.is_any(value) then
    for key, each in tables.each(value) do
      find_arrays(self, key, seen, list)
      find_arrays(self, each, seen, list)
    end
  elseif kind == "function" then
    local index = 1
    while true do
      local name, each = debug.getupvalue(value, index)
      if not name then break end
      find_arrays(self, each, seen, list)
      index = index + 1
    end
  end
end

-- The copies of arrays that arguments lead to.
local function clones_of(self, arguments, count)
  local list, seen, clones = {}, {}, {}
  for k = 1, count do find_arrays(self, arguments[k], seen, list) end
  for n, made in ipairs(array.copies(list)) do clones[list[n]] = made end
  return clones
end

--- Copies for one replica: `fn` and its arguments.
-- @func instead_of gives what copies have in the place of a builtin, or nil
-- @tab held gets functions after whose calls captured sparse arrays can be written again, where an
-- error is raised, too
-- @tab[opt] stands values by those in whose place they are captured
-- @treturn func the function's copy @treturn table its arguments
-- @treturn table the captured arrays, by the views that stand for them
function M.copy(fn, arguments, count, instead_of, held, stands)
  local self = setmetatable({seen = tables.copy(stands or {}), variables = {}, originals = {},
                             storages = {}, held = held, globals = {}, instead_of = instead_of,
                             common = common_tables()}, Copy)
  local made = copy_function(self, fn)
  local given = {}
  local seen = self.seen
  self.clones, self.seen = clones_of(self, arguments, count), {}
  for k = 1, count do
    if arguments[k] ~= nil then given[k] = copy_value(self, arguments[k]) end
  end
  self.clones, self.seen = nil, seen -- for globals
  return made, given, self.originals
end

return M
