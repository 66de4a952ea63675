-- SPDX-License-Identifier: MIT
--- Arrays as plain Lua tables, with views, for comparison: shares nothing with the module.
local M = {}

local Array = {}
local about = setmetatable({}, {__mode = "k"}) -- {items =, first =, dims =, strides =}

local function make(items, first, dims, strides)
  local array = setmetatable({}, Array)
  about[array] = {items = items, first = first, dims = dims, strides = strides}
  return array
end

local function without(list, d)
  local rest = {}
  for k, value in ipairs(list) do
    if k ~= d then rest[#rest + 1] = value end
  end
  return rest
end

local methods = {}

function methods:select(d, k)
  local own = about[self]
  assert(k >= 1 and k <= own.dims[d], "subscript")
  return make(own.items, own.first + (k - 1) * own.strides[d], without(own.dims, d),
              without(own.strides, d))
end

function methods:narrow(d, first, length)
  local own = about[self]
  assert(first >= 1 and first + length - 1 <= own.dims[d], "range")
  local dims = {unpack(own.dims)}
  dims[d] = length
  return make(own.items, own.first + (first - 1) * own.strides[d], dims, own.strides)
end

function methods:transpose()
  local own = about[self]
  return make(own.items, own.first, {own.dims[2], own.dims[1]}, {own.strides[2], own.strides[1]})
end

function Array:__index(key)
  if type(key) ~= "number" then return methods[key] end
  local own = about[self]
  assert(key >= 1 and key <= own.dims[1] and key % 1 == 0, "subscript")
  if #own.dims > 1 then return methods.select(self, 1, key) end
  return own.items[own.first + (key - 1) * own.strides[1]]
end

function Array:__newindex(key, value)
  local own = about[self]
  assert(#own.dims == 1 and key >= 1 and key <= own.dims[1] and key % 1 == 0, "subscript")
  own.items[own.first + (key - 1) * own.strides[1]] = value
end

--- An array of one or two dimensions.
function M.zeros(rows, columns)
  local items = {}
  for k = 1, rows * (columns or 1) do items[k] = 0 end
  if columns then return make(items, 1, {rows, columns}, {columns, 1}) end
  return make(items, 1, {rows}, {1})
end

--- The elements of an array or plain table as a list.
function M.list(array)
  local own = about[array]
  return own and own.items or array
end

--- A plain loop.
function M.parallel(n)
  return function(_, i) if i < n then return i + 1 end end, nil, 0
end

--- The same with a closure as its body.
function M.each(n, body)
  for i = 1, n do body(i) end
end

return M
