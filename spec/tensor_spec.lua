-- SPDX-License-Identifier: MIT
--
-- totensor, against a stand-in for Torch7 that takes arguments as Torch does, and whose memory has
-- guards on both sides.

local ffi = require("ffi")
local meissa = require("meissa")
local expect = require("spec.support.expect")
local raises = expect.raises

local GUARD, FILL = 64, 0x5a

-- Memory of `count` elements between two guards.
local function memory(ctype, count)
  local size = ffi.sizeof(ctype) * count
  local block = ffi.new("uint8_t[?]", size + 2 * GUARD)
  ffi.fill(block, size + 2 * GUARD, FILL)
  return { block = block, size = size, pointer = ffi.cast(ctype .. " *", block + GUARD) }
end

local function is_intact(store)
  for k = 0, GUARD - 1 do
    if store.block[k] ~= FILL or store.block[GUARD + store.size + k] ~= FILL then return false end
  end
  return true
end

-- Torch's classes, as far as tensors are made and filled. A storage holds numbers; a tensor of the
-- same type that is made of one has its elements, one of another type its numbers as sizes
-- (generic/Tensor.c, torch_Tensor_(new)).
local function fake_torch()
  local torch = { made = {} }
  local Storage = {}
  function torch.LongStorage(list)
    assert(type(list) == "table" and #list > 0, "torch.LongStorage: a table of numbers")
    local copy = {}
    for k, number in ipairs(list) do
      assert(type(number) == "number" and number % 1 == 0, "torch.LongStorage: whole numbers")
      copy[k] = number
    end
    return setmetatable(copy, Storage)
  end

  for name, ctype in pairs { FloatTensor = "float", DoubleTensor = "double",
    IntTensor = "int32_t", LongTensor = "int64_t" } do
    local Tensor = { name = name }
    Tensor.__index = Tensor

    function Tensor:resize(sizes)
      assert(getmetatable(sizes) == Storage, name .. ":resize: a torch.LongStorage is expected")
      local count = 1
      for _, size in ipairs(sizes) do count = count * size end
      self.sizes, self.count, self.store = { unpack(sizes) }, count, memory(ctype, count)
      return self
    end

    torch[name] = function(given)
      local tensor = setmetatable({ sizes = {}, count = 0 }, Tensor)
      torch.made[#torch.made + 1] = tensor
      if given == nil then return tensor end
      assert(getmetatable(given) == Storage, name .. ": no such constructor")
      if name ~= "LongTensor" then return tensor:resize(given) end
      tensor:resize(torch.LongStorage { #given })
      for k, number in ipairs(given) do tensor.store.pointer[k - 1] = number end
      return tensor
    end
  end

  function torch.data(tensor)
    assert(tensor.store, "torch.data: a tensor with elements is expected")
    return tensor.store.pointer
  end
  return torch
end

describe("the stand-in for Torch", function()
  it("takes a LongTensor's storage for its elements, and other tensors' for sizes", function()
    local torch = fake_torch()
    local sizes = torch.LongStorage { 2, 3 }
    assert.same({ 2 }, torch.LongTensor(sizes).sizes)
    assert.same({ 2, 3 }, torch.IntTensor(sizes).sizes)
    assert.same({ 2, 3 }, torch.LongTensor():resize(sizes).sizes)
    assert.is_false(pcall(torch.DoubleTensor, { 2, 3 }))
    assert.is_false(pcall(function() torch.DoubleTensor():resize { 2, 3 } end))
    local beyond = torch.LongTensor(sizes)
    beyond.store.pointer[2] = 1
    assert.is_false(is_intact(beyond.store))
  end)
end)

describe("totensor", function()
  local loaded, path, cpath = package.loaded.torch, package.path, package.cpath
  local torch
  before_each(function()
    torch = fake_torch()
    package.loaded.torch = torch
  end)
  after_each(function()
    package.loaded.torch, package.path, package.cpath = loaded, path, cpath
  end)

  it("says when Torch is not there", function()
    package.loaded.torch, package.path, package.cpath = nil, "", ""
    raises("OPT", "totensor needs Torch7", function() meissa.zeros(2):totensor() end)
  end)

  local names = { float = "FloatTensor", double = "DoubleTensor", int32 = "IntTensor",
    int64 = "LongTensor" }
  for kind, name in pairs(names) do
    for _, dims in ipairs { { 7 }, { 2, 3 }, { 3, 1, 4 }, { 1 }, { 0 }, { 2, 0 } } do
      local shape = table.concat(dims, "x")
      it(("copies elements into a tensor of the same type and size: %s %s"):format(kind, shape),
        function()
          local count = 1
          for _, extent in ipairs(dims) do count = count * extent end
          local A = meissa.zeros(dims, { type = kind })
          local data = A:data()
          for k = 1, count do data[k - 1] = k * 3 - 5 end
          local t = A:totensor()
          assert.equal(name, t.name)
          assert.same(dims, t.sizes)
          for k = 1, count do assert.equal(k * 3 - 5, tonumber(t.store.pointer[k - 1])) end
          for _, made in ipairs(torch.made) do
            assert.is_true(not made.store or is_intact(made.store))
          end
        end)
    end
  end

  it("copies views in the order of their subscripts", function()
    local A = meissa.from({ { 1, 2, 3 }, { 4, 5, 6 } }, { type = "int64" })
    local t = A:transpose():totensor()
    assert.same({ 3, 2 }, t.sizes)
    local seen = {}
    for k = 0, 5 do seen[k + 1] = tonumber(t.store.pointer[k]) end
    assert.same({ 1, 4, 2, 5, 3, 6 }, seen)
    assert.is_true(is_intact(t.store))
  end)

  it("refuses sparse arrays", function()
    raises("ARR", "sparse", function()
      meissa.sparse({ 2, 2 }, { i = {}, j = {} }):totensor()
    end)
  end)
end)
