-- SPDX-License-Identifier: MIT
--- The world of a recorded body: copies of all that it can reach, arrays replaced by shadows.
--
-- Tables and Lua functions are copied with what they hold, their sharing and cycles kept; arrays
-- that share memory get copies that do. Libraries, C functions, threads and userdata stay what
-- they are. The user's own values are never written.
-- @module meissa.check.world

local array = require "meissa.array"
local builtin = require "meissa.base.builtin"
local c_api = require "meissa.array.c_api"
local ffi = require "ffi"
local libraries = require "meissa.base.libraries"
local required = require "meissa.capture.required"
local shadows = require "meissa.check.shadow"
local strict = require "meissa.base.strict"
local tables = require "meissa.base.tables"

local M = {}
M.__index = M

-- Values that mean the same in every world: Meissa's modules and what they hold.
local function kept_values()
  local kept = {}
  for name, module in tables.each(package.loaded) do
    if name == "meissa" or string.match(name, "^meissa%.") then
      kept[module] = module
      if type(module) == "table" then
        for _, value in tables.each(module) do
          if type(value) == "function" or type(value) == "table" then kept[value] = value end
        end
      end
    end
  end
  return kept
end

local function no_print() end

-- What stands for a library as LuaJIT has it, or for a function of one; nil for other values.
function M:builtin(value)
  if type(value) == "table" then
    local library = libraries.name(value)
    if not library or libraries.is_changed(value) then return nil end
    return library == "math" and strict.math or value
  end
  local library, name = builtin.find(value)
  if library == "math" then return strict.math[name] end
  if library == "_G" and name == "print" then return no_print end
  if library == "_G" and name == "require" then
    return function(wanted)
      local module, trouble = required.module(wanted)
      if trouble then error(trouble, 2) end
      return self:shadow(module, wanted)
    end
  end
  return library and value
end

--- A world whose arrays note what is done to them in a log.
-- @tab[opt] replaced values that stand for other values: {[old] = new}
function M.new(log, replaced)
  local known = kept_values()
  for old, new in tables.each(replaced or {}) do known[old] = new end
  return setmetatable({log = log, known = known, stores = {}, upvalues = {}, watched = {},
                       copies = {}}, M)
end

-- --------------------------------------------------------------------------------------- arrays

local function copy_sparse(handle, about)
  local raw, coords = handle.array, {}
  for d = 1, #about.dims do coords[d] = raw.coords[d - 1] end
  local bytes = ffi.sizeof(c_api.element_ctypes[raw.type]) * about.count
  local memory = array.zeros(math.max(1, math.ceil(bytes / 8)))
  ffi.copy(memory.array.data, raw.data, bytes)
  local copy = array.wrap_foreign {type = about.type, dims = about.dims, coords = coords,
                                   count = about.count, data = memory.array.data,
                                   keep = {memory, handle}}
  c_api.lib.ms_array_share_labels(copy.array, raw)
  return copy
end

-- First byte and size of the memory that an array lies in.
local function extent_of(handle, about, size)
  local raw = handle.array
  if raw.store ~= nil then
    local block = raw.store.block
    return block.segment.base + block.offset, tonumber(block.size)
  end
  local first, last = 0, 0
  for d = 1, #about.dims do
    local reach = (about.dims[d] - 1) * about.strides[d]
    first, last = first + math.min(0, reach), last + math.max(0, reach)
  end
  return ffi.cast("unsigned char *", raw.data) + first * size, (last - first + 1) * size
end

-- What tells the memory of an array from that of others.
local function key_of(handle, about)
  return not about.sparse and handle.array.store ~= nil and "s" .. about.store or "a" .. about.id
end

--- What tells the memory of an array (or row) from that of others: the `key` of its store.
function M.key(value)
  local handle = array.to_handle(value, true)
  return key_of(handle, array.describe(handle))
end

function M:store_of(handle, about, name)
  local raw = handle.array
  local id = key_of(handle, about)
  local store = self.stores[id]
  if not store then
    local size = ffi.sizeof(c_api.element_ctypes[raw.type])
    local origin, bytes = extent_of(handle, about, size)
    local memory = array.zeros(math.max(1, math.ceil(bytes / 8)))
    ffi.copy(memory.array.data, origin, bytes)
    store = self.log:store {kind = "array", memory = memory, origin = origin, bytes = bytes,
                            name = name, key = id, dims = about.dims,
                            strides = about.strides, owner = handle}
    store.offset = tonumber(ffi.cast("unsigned char *", raw.data) - origin) / size
    self.stores[id] = store
  end
  return store
end

function M:array(value, name)
  local handle = array.to_handle(value, true)
  local about = array.describe(handle)
  local raw = handle.array
  if about.sparse then
    local id = key_of(handle, about)
    if not self.stores[id] then
      local copy = copy_sparse(handle, about)
      local shadow = shadows.adopt(self.log, copy, name)
      self.stores[id] = {shadow = shadow, sparse = true}
      self.copies[#self.copies + 1] = {real = handle, data = copy.array.data,
                                       origin = raw.data, name = name,
                                       bytes = ffi.sizeof(c_api.element_ctypes[raw.type]) *
                                         about.count}
      local stores = self.log.stores
      stores[#stores].key = id
    end
    return self.stores[id].shadow
  end
  local store = self:store_of(handle, about, name)
  local pointer = c_api.pointer_ctypes[raw.type]
  local offset = ffi.cast(pointer, raw.data) - ffi.cast(pointer, store.origin)
  local shadow = shadows.view(self.log, store, about,
                              ffi.cast(pointer, store.memory.array.data), tonumber(offset))
  shadows.share_labels(shadow, handle)
  return shadow
end

--- Pieces of memory whose copy differs from the original: a list of names.
function M:differing()
  local names = {}
  local function compare(copy, origin, bytes, name)
    if ffi.string(copy, bytes) ~= ffi.string(origin, bytes) then
      names[#names + 1] = name or "an array"
    end
  end
  for _, store in tables.each(self.stores) do
    if not store.sparse then
      compare(store.memory.array.data, store.origin, store.bytes, store.name)
    end
  end
  for _, each in ipairs(self.copies) do compare(each.data, each.origin, each.bytes, each.name) end
  table.sort(names)
  return names
end

-- ------------------------------------------------------------------------- tables and functions

-- Remembers what a copied variable or field is before the loop, to tell changes from.
function M:watch(name, read)
  self.watched[#self.watched + 1] = {name = name, read = read, value = read()}
end

function M:table(value, name)
  local copy = {}
  self.known[value] = copy
  for key, item in tables.each(value) do
    local path = type(key) == "string" and name .. "." .. key or name .. "[" .. tostring(key) .. "]"
    local new_key = self:shadow(key, path)
    rawset(copy, new_key, self:shadow(item, path))
    if type(item) ~= "table" then
      self:watch(path, function() return rawget(copy, new_key) end)
    end
  end
  local metatable = debug.getmetatable(value)
  if metatable then debug.setmetatable(copy, self:shadow(metatable, name)) end
  return copy
end

function M:fn(value)
  local info = debug.getinfo(value, "Su")
  if info.what == "C" then return value end
  local copy = loadstring(string.dump(value), info.source)
  self.known[value] = copy
  debug.setfenv(copy, self:environment(debug.getfenv(value)))
  for slot = 1, info.nups do
    local id = debug.upvalueid(value, slot)
    local shared = self.upvalues[id]
    if shared then
      debug.upvaluejoin(copy, slot, shared.fn, shared.slot)
    else
      self.upvalues[id] = {fn = copy, slot = slot}
      local upvalue, held = debug.getupvalue(value, slot)
      debug.setupvalue(copy, slot, self:shadow(held, upvalue))
      self:watch(upvalue, function() return (select(2, debug.getupvalue(copy, slot))) end)
    end
  end
  return copy
end

--- What stands for a value in this world.
-- @string name what messages call it
function M:shadow(value, name)
  local kind = type(value)
  if kind ~= "table" and kind ~= "function" and kind ~= "cdata" then return value end
  local known = self.known[value]
  if known ~= nil then return known end
  local own = kind ~= "cdata" and self:builtin(value)
  if own then return own end
  if array.is(value) then
    local shadow = self:array(value, name)
    self.known[value] = shadow
    return shadow
  end
  if value == _G then return self:environment(_G) end
  if kind == "table" then return self:table(value, name) end
  if kind == "function" then return self:fn(value) end
  return value
end

--- The table of global variables that stands for another one; its values are copied when they are
-- first met.
function M:environment(env)
  local known = self.known[env]
  if known then return known end
  local copy = {}
  self.known[env] = copy
  setmetatable(copy, {__index = function(_, key)
    local value = self:shadow(env[key], tostring(key))
    if value ~= nil then
      rawset(copy, key, value)
      self:watch(tostring(key), function() return rawget(copy, key) end)
    end
    return value
  end})
  return copy
end

--- Names of variables and fields whose values have changed since they were copied.
function M:changes()
  local names = {}
  for _, each in ipairs(self.watched) do
    if not rawequal(each.read(), each.value) then names[#names + 1] = each.name end
  end
  return names
end

return M
