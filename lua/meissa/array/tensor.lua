-- SPDX-License-Identifier: MIT
--
-- Torch7's tensors, by their memory, and its objects as bytes. Only `unpack` loads Torch.
-- @module meissa.array.tensor

local ffi = require "ffi"
local c_api = require "meissa.array.c_api"
local errors = require "meissa.base.errors"
local make = require "meissa.array.make"
local subscript = require "meissa.array.subscript"
local tables = require "meissa.base.tables"
local interrupt = require "meissa.base.interrupt"

local M = {}

-- Torch's names of tensors by element type number.
local names = { [0] = "FloatTensor", "DoubleTensor", "IntTensor", "LongTensor" }

-- Types of tensors' elements: the number of the array's type that holds them all.
local types = { ["torch.ByteTensor"] = 2, ["torch.CharTensor"] = 2, ["torch.ShortTensor"] = 2 }
for number, name in tables.each(names) do types["torch." .. name] = number end

-- The name of a tensor's class, or nil for what is none. Who has a tensor has loaded Torch.
local function class_of(value)
  local torch = package.loaded.torch
  if type(value) == "number" or type(torch) ~= "table" then return nil end
  local ok, name = interrupt.pcall(torch.typename, value)
  return ok and name or nil
end

--- The name of a tensor's class ("torch.DoubleTensor"), if arrays can hold its elements; nil else.
function M.class(value)
  local class = class_of(value)
  return types[class] and class or nil
end

--- A tensor's elements, as an array of their type, or int32 for smaller integers; nil for what is
-- no tensor of numbers that arrays can hold. An empty tensor has extent 0.
function M.read(value)
  local class = class_of(value)
  local number = types[class]
  if not number then return nil end
  local flat = value:contiguous()
  local count, dims = flat:nElement(), flat:size():totable()
  local A = make.dense(#dims > 0 and dims or { 0 }, number)
  if count == 0 then return A end
  local from, to = package.loaded.torch.data(flat), c_api.elements(A.array)
  if names[number] == string.sub(class, 7) then
    ffi.copy(to, from, count * ffi.sizeof(c_api.element_ctypes[number]))
    c_api.lib.ms_type_settle_nan(number, to, count)
  else
    for k = 0, count - 1 do to[k] = from[k] end
  end
  return A
end

--- A tensor with a copy of a dense array's elements. What has none becomes an empty tensor: others
-- cannot have extent 0.
-- @tab torch the module
function M.write(torch, handle)
  local raw = handle.array
  local tensor = torch[names[raw.type]]()
  local bytes = tonumber(raw.count) * ffi.sizeof(c_api.element_ctypes[raw.type])
  if bytes == 0 then return tensor end
  local copy = handle:clone()
  -- By resize: LongTensor(storage) takes the sizes for its elements.
  tensor:resize(torch.LongStorage(subscript.methods.size(handle)))
  ffi.copy(torch.data(tensor), copy.array.data, bytes)
  return tensor
end

--- Whether a value is an object of Torch's that is no Lua table: a tensor or storage of any type.
function M.is_object(value)
  return type(value) == "userdata" and class_of(value) ~= nil
end

-- The name of an object's class, by which Torch has what makes one.
local function name_of(torch, value)
  return string.match(torch.typename(value), "^torch%.(.*)$")
end

-- A copy of a storage, by where it is.
local function copy_storage(torch, storage, storages)
  local at = torch.pointer(storage)
  if not storages[at] then
    local class = name_of(torch, storage)
    storages[at] = torch[class](storage:size()):copy(storage)
  end
  return storages[at]
end

--- A copy of an object that `is_object`. Tensors that share memory do so as copies, too.
-- @tab storages the copies of storages that were made before
function M.copy(value, storages)
  local torch = package.loaded.torch
  local class = name_of(torch, value)
  if torch.isStorage(value) then return copy_storage(torch, value, storages) end
  if not torch.isTensor(value) then return torch.deserialize(torch.serialize(value)) end
  local made, storage = torch[class](), value:storage()
  if not storage then return made end
  return made:set(copy_storage(torch, storage, storages), value:storageOffset(), value:size(),
                  value:stride())
end

--- A list of objects as bytes, in Torch's own format: those that share memory do so afterwards.
function M.pack(list)
  return package.loaded.torch.serialize(list)
end

--- The list that was packed. Errors: WRK where there is no Torch.
function M.unpack(bytes)
  local ok, torch = interrupt.pcall(require, "torch")
  if not ok then
    errors.raise("WRK", "tensors were sent to a process that cannot load Torch: %s",
                 tostring(torch))
  end
  return torch.deserialize(bytes)
end

return M
