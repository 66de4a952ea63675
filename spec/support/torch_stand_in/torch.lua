-- SPDX-License-Identifier: MIT
-- A stand-in for Torch7 where it is not installed: as much of it as replicas need. Tensors of
-- doubles, with one dimension, are userdata over storages that they may share; a generator has a
-- state; serialize writes what shares memory such that it does so when it is read.
local buffer = require "string.buffer"
local ffi = require "ffi"

local torch = {_gen = newproxy()} -- it holds userdata, as modules written in C do

local inside = setmetatable({}, {__mode = "k"}) -- what an object is made of

local function class(name)
  local prototype = newproxy(true)
  local methods = {}
  getmetatable(prototype).__index = methods
  return methods, function(fields)
    local object = newproxy(prototype)
    fields.class = name
    inside[object] = fields
    return object
  end
end

local Storage, new_storage = class "torch.DoubleStorage"
local Tensor, new_tensor = class "torch.DoubleTensor"

function torch.typename(value) return inside[value] and inside[value].class end
function torch.isStorage(value) return torch.typename(value) == "torch.DoubleStorage" end
function torch.isTensor(value) return torch.typename(value) == "torch.DoubleTensor" end
function torch.pointer(value) return tonumber(ffi.cast("intptr_t", inside[value].data)) end

function torch.DoubleStorage(size)
  return new_storage {data = ffi.new("double[?]", size), size = size}
end

function Storage:size() return inside[self].size end
function Storage:copy(from)
  ffi.copy(inside[self].data, inside[from].data, 8 * self:size())
  return self
end

-- Another storage object of the same memory each time, as Torch gives it.
function Tensor:storage()
  local it = inside[self]
  return it.store and new_storage {data = it.store.data, size = it.store.size}
end

function Tensor:set(storage, offset, size)
  inside[self] = {class = "torch.DoubleTensor", store = inside[storage], offset = offset,
                  size = size[1]}
  return self
end

function torch.DoubleTensor(size)
  local made = new_tensor {}
  return size and made:set(torch.DoubleStorage(size), 1, {size}) or made
end

function Tensor:storageOffset() return inside[self].offset end
function Tensor:size() return {inside[self].size} end
Tensor.stride = function() return {1} end
function Tensor:nElement() return inside[self].size or 0 end
Tensor.elementSize = function() return 8 end

local function at(self) return inside[self].store.data + inside[self].offset - 1 end

function Tensor:data() return at(self) end

function Tensor:narrow(_, first, size)
  return torch.DoubleTensor():set(self:storage(), self:storageOffset() + first - 1, {size})
end

function Tensor:copy(from)
  ffi.copy(at(self), at(from), 8 * self:nElement())
  return self
end

function Tensor:clone() return torch.DoubleTensor(self:nElement()):copy(self) end

function Tensor:fill(value)
  for i = 0, self:nElement() - 1 do at(self)[i] = value end
  return self
end

-- t:add(value), t:add(other), t:add(value, other)
function Tensor:add(value, other)
  if type(value) ~= "number" then value, other = 1, value end
  for i = 0, self:nElement() - 1 do
    at(self)[i] = at(self)[i] + (other and value * at(other)[i] or value)
  end
  return self
end

function Tensor:mul(value)
  for i = 0, self:nElement() - 1 do at(self)[i] = at(self)[i] * value end
  return self
end

function Tensor:sum()
  local sum = 0
  for i = 0, self:nElement() - 1 do sum = sum + at(self)[i] end
  return sum
end

function torch.serialize(list)
  local stores, numbers, told = {}, {}, {}
  for k, tensor in ipairs(list) do
    local it = inside[tensor]
    local store = it.store
    local where = tostring(ffi.cast("intptr_t", store.data))
    if not numbers[where] then
      stores[#stores + 1] = ffi.string(store.data, 8 * store.size)
      numbers[where] = #stores
    end
    told[k] = {numbers[where], it.offset, it.size}
  end
  return buffer.encode {stores = stores, tensors = told}
end

function torch.deserialize(bytes)
  local told, list, stores = buffer.decode(bytes), {}, {}
  for k, text in ipairs(told.stores) do
    stores[k] = torch.DoubleStorage(#text / 8)
    ffi.copy(inside[stores[k]].data, text, #text)
  end
  for k, it in ipairs(told.tensors) do
    list[k] = torch.DoubleTensor():set(stores[it[1]], it[2], {it[3]})
  end
  return list
end

-- A linear congruential generator, which begins somewhere else in each process, as Torch's does.
local state = tonumber(string.match(tostring {}, "0x(%x+)"), 16) % 2 ^ 31

function torch.manualSeed(seed) state = seed % 2 ^ 31 end
function torch.getRNGState() return torch.DoubleTensor(1):fill(state) end
function torch.setRNGState(before) state = before:data()[0] end

function torch.uniform()
  state = (state * 16807 + 11) % (2 ^ 31 - 1)
  return state / 2 ^ 31
end

function torch.rand(size)
  local made = torch.DoubleTensor(size)
  for i = 0, size - 1 do at(made)[i] = torch.uniform() end
  return made
end

return torch
