-- SPDX-License-Identifier: MIT
--- Shadow arrays: what stands for a DistArray (or a row, range or view of one) in a recorded body.
--
-- A shadow answers like the array, over memory of its own, and notes every element that is read or
-- written by its place in storage, so that aliases and overlapping views meet. It is a userdata,
-- not a table, for `#A`. What methods do to it comes from the table of methods, as the analyser has
-- it; spec/array/method_spec.lua holds that against what they do.
-- @module meissa.check.shadow

local array = require "meissa.array"
local c_api = require "meissa.array.c_api"
local ffi = require "ffi"
local method = require "meissa.array.method"

local M = {}

local floor = math.floor

-- Shadow -> view: {log =, store =, type =, base = typed pointer, offset =, dims =, strides =} of a
-- dense array, {log =, store =, sparse = true, whole = handle, at = leading subscripts} of a sparse
-- one. Offsets and strides are in elements.
local views = setmetatable({}, {__mode = "k"})
local template = newproxy(true)
local meta = getmetatable(template)

local function shadow_of(view)
  local shadow = newproxy(template)
  views[shadow] = view
  return shadow
end

--- Whether a value is a shadow.
function M.is(value)
  return views[value] ~= nil
end

-- ---------------------------------------------------------------------------------- dense views

local function part(view, offset, first_dim)
  local dims, strides = {}, {}
  for d = first_dim, #view.dims do
    dims[#dims + 1], strides[#strides + 1] = view.dims[d], view.strides[d]
  end
  return {log = view.log, store = view.store, type = view.type, base = view.base, offset = offset,
          dims = dims, strides = strides}
end

-- The array over the copied memory that a view shows.
local function handle_of(view)
  if view.sparse then return view.whole end
  view.handle = view.handle or array.wrap_foreign {
    type = view.type, dims = view.dims, strides = view.strides, data = view.base + view.offset,
    keep = view.store.memory,
  }
  return view.handle
end

-- The view that a handle over the same memory shows.
local function view_of_handle(view, handle)
  local about = array.describe(handle)
  local data = ffi.cast(c_api.pointer_ctypes[handle.array.type], handle.array.data)
  return {log = view.log, store = view.store, type = about.type, base = view.base,
          offset = tonumber(data - view.base), dims = about.dims, strides = about.strides}
end

local function touch_dense(view, offset, d, write)
  for k = 0, view.dims[d] - 1 do
    local place = offset + k * view.strides[d]
    if d == #view.dims then
      view.log:touch(view.store, place, write)
    else
      touch_dense(view, place, d + 1, write)
    end
  end
end

-- ---------------------------------------------------------------------------------- sparse ones

-- A number for a full list of subscripts: entries with equal ones are one cell.
local function sparse_place(dims, at)
  local place = 0
  for d = 1, #dims do place = place * dims[d] + at[d] - 1 end
  return place
end

local function touch_sparse(view, write)
  local raw = view.whole.array
  for e = 0, tonumber(raw.count) - 1 do
    local at, inside = {}, true
    for d = 1, #view.dims do
      at[d] = raw.coords[d - 1][e] + 1
      inside = inside and (view.at[d] == nil or view.at[d] == at[d])
    end
    if inside then view.log:touch(view.store, sparse_place(view.dims, at), write) end
  end
end

local function sparse_step(view, key)
  local at = {unpack(view.at)}
  at[#at + 1] = key
  return {log = view.log, store = view.store, sparse = true, whole = view.whole, dims = view.dims,
          at = at}
end

-- The row, slice or array that a sparse view shows.
local function sparse_real(view)
  local real = view.whole
  for _, key in ipairs(view.at) do real = real[key] end
  return real
end

local function sparse_get(view, key)
  if type(key) == "table" then
    for k = 1, #key - 1 do view = sparse_step(view, key[k]) end
    key = key[#key]
  end
  local found = sparse_real(view)[key]
  local next_view = sparse_step(view, key)
  if #next_view.at < #view.dims then return shadow_of(next_view) end
  view.log:touch(view.store, sparse_place(view.dims, next_view.at), false)
  return found
end

local function sparse_set(view, key, value)
  if type(key) == "table" then
    for k = 1, #key - 1 do view = sparse_step(view, key[k]) end
    key = key[#key]
  end
  sparse_real(view)[key] = value
  local at = sparse_step(view, key).at
  if #at == #view.dims then view.log:touch(view.store, sparse_place(view.dims, at), true) end
end

local function touch_all(view, write)
  if view.sparse then
    touch_sparse(view, write)
  else
    touch_dense(view, view.offset, 1, write)
  end
end

-- -------------------------------------------------------------------------------------- methods

-- Whether a method reads and writes the array that it is called on; arguments are read. Others
-- cannot be recorded.
local READS = {read = true, fresh = true, update = true, shape = false, view = false, write = false}
local WRITES = {update = true, write = true}

local function unwrap(value)
  local view = views[value]
  if not view then return value end
  return view.sparse and sparse_real(view) or handle_of(view)
end

local function wrap_result(view, name, result)
  if not array.is(result) then return result end
  if method.of[name].effect == "view" then return shadow_of(view_of_handle(view, result)) end
  return M.adopt(view.log, result, name)
end

local function call(name, shadow, ...)
  local effect = method.of[name].effect
  local view, arguments, count = views[shadow], {...}, select("#", ...)
  for k = 1, count do
    local other = views[arguments[k]]
    if other then
      touch_all(other, false)
      arguments[k] = unwrap(arguments[k])
    end
  end
  if READS[effect] then touch_all(view, false) end
  if WRITES[effect] then touch_all(view, true) end
  local real = unwrap(shadow)
  local results = {real[name](real, unpack(arguments, 1, count))}
  if rawequal(results[1], real) and effect ~= "shape" then return shadow end
  results[1] = wrap_result(view, name, results[1])
  return unpack(results)
end

local methods = {}
for k = 1, #method.list do
  local name = method.list[k].name
  methods[name] = READS[method.list[k].effect] ~= nil and function(shadow, ...)
    if not views[shadow] then error("the method '" .. name .. "' is called without an array", 2) end
    return call(name, shadow, ...)
  end or nil
end

local function method_of(view, key)
  if methods[key] then return methods[key] end
  local _ = handle_of(view)[key] -- raises for what is no method
  error("the method '" .. key .. "' cannot be recorded", 3)
end

-- ----------------------------------------------------------------------------------- subscripts

local function inside(view, key)
  return type(key) == "number" and key >= 1 and key <= view.dims[1] and floor(key) == key
end

-- The view at a key that does not lead to a single element, or view, last key for one that does.
local function descend(view, key)
  if type(key) ~= "table" then
    if inside(view, key) and #view.dims > 1 then
      return part(view, view.offset + (key - 1) * view.strides[1], 2)
    end
    return view, key
  end
  local only_numbers = #key > 0 and #key <= #view.dims
  for k = 1, #key do only_numbers = only_numbers and type(key[k]) == "number" end
  if not only_numbers then return view_of_handle(view, handle_of(view)[key]) end
  for k = 1, #key - 1 do
    if not inside(view, key[k]) then return view, key end
    view = part(view, view.offset + (key[k] - 1) * view.strides[1], 2)
  end
  return descend(view, key[#key])
end

function meta.__index(shadow, key)
  local view = views[shadow]
  if type(key) == "string" then return method_of(view, key) end
  if view.sparse then
    return sparse_get(view, key)
  end
  local target, last = descend(view, key)
  if last == nil and key ~= nil then return shadow_of(target) end
  if not inside(target, last) then return handle_of(target)[last] end -- raises
  local place = target.offset + (last - 1) * target.strides[1]
  view.log:touch(view.store, place, false)
  return tonumber(target.base[place])
end

-- Writes a whole view: a fill, or a copy of an array or table.
local function assign(view, value)
  local other = views[value]
  if other then touch_all(other, false) end
  touch_all(view, true)
  local handle = handle_of(view)
  if other or type(value) == "table" then
    handle:copy(unwrap(value))
  else
    handle:fill(value)
  end
end

function meta.__newindex(shadow, key, value)
  local view = views[shadow]
  if view.sparse then
    return sparse_set(view, key, value)
  end
  if type(key) == "string" then
    handle_of(view)[key] = value -- raises
    return
  end
  local target, last = descend(view, key)
  if last == nil and key ~= nil then return assign(target, value) end
  handle_of(target)[last] = unwrap(value) -- raises where it cannot be stored
  view.log:touch(view.store, target.offset + (last - 1) * target.strides[1], true)
end

function meta.__len(shadow)
  local view = views[shadow]
  return view.sparse and view.dims[#view.at + 1] or view.dims[1]
end

function meta.__tostring(shadow)
  return tostring(unwrap(shadow))
end

-- --------------------------------------------------------------------------------------- making

--- A shadow of an array with memory of its own, which nothing else shows.
function M.adopt(log, handle, name)
  local about = array.describe(handle)
  local raw = handle.array
  local store = log:store {kind = "array", memory = handle, name = name, dims = about.dims,
                           strides = about.strides, sparse = about.sparse}
  if about.sparse then
    return shadow_of {log = log, store = store, sparse = true, whole = handle, dims = about.dims,
                      at = {}}
  end
  return M.view(log, store, about, ffi.cast(c_api.pointer_ctypes[raw.type], raw.data), 0)
end

--- A shadow of a view into a store.
-- @param about what array.describe gives; @param base the store's memory as a typed pointer
-- @number offset elements from there to element [1]...[1]
function M.view(log, store, about, base, offset)
  return shadow_of {log = log, store = store, type = about.type, base = base, offset = offset,
                    dims = about.dims, strides = about.strides}
end

--- Gives a shadow the labels of the array that it stands for.
function M.share_labels(shadow, handle)
  c_api.lib.ms_array_share_labels(handle_of(views[shadow]).array, handle.array)
end

--- Notes that the running iteration reads the element of a shadow at these subscripts.
function M.read(shadow, at)
  local view = views[shadow]
  if view.sparse then
    view.log:touch(view.store, sparse_place(view.dims, at), false)
    return
  end
  local offset = view.offset
  for d = 1, #view.dims do offset = offset + (at[d] - 1) * view.strides[d] end
  view.log:touch(view.store, offset, false)
end

return M
