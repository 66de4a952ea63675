-- SPDX-License-Identifier: MIT
--- Arrays and views of plain Lua tables, with some of the methods of Meissa's, to run loops on.
-- `memory.touched`, where it is set, is called with the place of each element that is touched and
-- whether it is written.
local M = {}

local Plain = {}
local methods = {}

local function plain(memory, first, dims, strides)
  return setmetatable({memory = memory, first = first, dims = dims, strides = strides}, Plain)
end

local function copy(list) return {unpack(list)} end

local function touch(memory, at, write)
  assert(at >= 1 and at <= memory.count, "outside of the memory")
  if memory.touched then memory.touched(at, write) end
end

local function place(A, d, at)
  assert(at >= 1 and at <= A.dims[d] and at % 1 == 0, "outside of the array")
  return (at - 1) * A.strides[d]
end

local function element_of(A, keys)
  local at = A.first
  for d, key in ipairs(keys) do at = at + place(A, d, key) end
  return at
end

function methods.narrow(A, d, first, length)
  local dims = copy(A.dims)
  dims[d] = length
  return plain(A.memory, A.first + (first - 1) * A.strides[d], dims, A.strides)
end

function methods.select(A, d, at)
  local dims, strides = copy(A.dims), copy(A.strides)
  table.remove(dims, d)
  table.remove(strides, d)
  return plain(A.memory, A.first + place(A, d, at), dims, strides)
end

function methods.transpose(A, one, other)
  local dims, strides = copy(A.dims), copy(A.strides)
  one, other = one or 1, other or 2
  dims[one], dims[other] = dims[other], dims[one]
  strides[one], strides[other] = strides[other], strides[one]
  return plain(A.memory, A.first, dims, strides)
end

-- Calls fn with the place of each element.
local function each(A, fn)
  local function walk(d, at)
    if d > #A.dims then return fn(at) end
    for k = 0, A.dims[d] - 1 do walk(d + 1, at + k * A.strides[d]) end
  end
  walk(1, A.first)
end

--- Calls fn with the place of each element of an array.
M.places = each

function methods.sum(A)
  local sum = 0
  each(A, function(at)
    touch(A.memory, at, false)
    sum = sum + A.memory[at]
  end)
  return sum
end

-- The elements as a list.
local function elements(A)
  local list = {}
  each(A, function(at)
    touch(A.memory, at, false)
    list[#list + 1] = A.memory[at]
  end)
  return list
end

-- Gives the elements what fn makes of each and of what stands for it in a list.
local function change(A, list, fn)
  local k = 0
  each(A, function(at)
    k = k + 1
    touch(A.memory, at, true)
    A.memory[at] = fn(A.memory[at], list[k])
  end)
end

local function second(_, b) return b end

function methods.copy(A, B) change(A, elements(B), second) end

function methods.axpy(A, factor, B)
  elements(A)
  change(A, elements(B), function(a, b) return a + factor * b end)
end

function methods.dot(A, B)
  local a, b, sum = elements(A), elements(B), 0
  for k = 1, #a do sum = sum + a[k] * b[k] end
  return sum
end

function methods.fill(A, value)
  each(A, function(at)
    touch(A.memory, at, true)
    A.memory[at] = value
  end)
end

function Plain.__index(A, key)
  if type(key) == "string" then return methods[key] end
  if type(key) == "number" and #A.dims > 1 then return methods.select(A, 1, key) end
  local at = element_of(A, type(key) == "table" and key or {key})
  touch(A.memory, at, false)
  return A.memory[at]
end

function Plain.__newindex(A, key, value)
  if #A.dims > 1 and type(key) == "number" then
    return methods.copy(methods.select(A, 1, key), value)
  end
  local at = element_of(A, type(key) == "table" and key or {key})
  touch(A.memory, at, true)
  A.memory[at] = value
end

--- The iterations over all elements of an array, as functions that give subscripts and value.
function M.iterations(A)
  local list = {}
  local function walk(B, keys)
    for k = 1, B.dims[1] do
      local here = copy(keys)
      here[#here + 1] = k
      if #B.dims > 1 then
        walk(B[k], here)
      else
        list[#list + 1] = function()
          local entry = copy(here)
          entry[#entry + 1] = B[k]
          return unpack(entry)
        end
      end
    end
  end
  walk(A, {})
  return list
end

--- An array of these extents; its elements are 1, 2, 3...
function M.new(dims)
  local strides, count = {}, 1
  for d = #dims, 1, -1 do strides[d], count = count, count * dims[d] end
  local memory = {count = count}
  for k = 1, count do memory[k] = k end
  return plain(memory, 1, dims, strides)
end

return M
