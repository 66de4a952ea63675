-- SPDX-License-Identifier: MIT
--
-- totensor and from, against a stand-in for Torch7 that takes arguments as Torch does, and whose
-- memory has guards on both sides.

local ffi = require "ffi"
local meissa = require "meissa"
local expect = require "spec.support.expect"
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
  Storage.__index = {
    totable = function(self) return { unpack(self) } end,
  }

  for name, ctype in pairs { FloatTensor = "float", DoubleTensor = "double",
    IntTensor = "int32_t", LongTensor = "int64_t", ByteTensor = "uint8_t", CharTensor = "int8_t",
    ShortTensor = "int16_t" } do
    local Tensor = { name = name }
    Tensor.__index = Tensor

    function Tensor:resize(sizes)
      assert(getmetatable(sizes) == Storage, name .. ":resize: a torch.LongStorage is expected")
      local count, dims = 0, {}
      for d, size in ipairs(sizes) do -- up to the first that is not positive
        if size <= 0 then break end
        count, dims[d] = math.max(count, 1) * size, size
      end
      self.sizes, self.count, self.store = dims, count, memory(ctype, count)
      return self
    end

    function Tensor:contiguous() return self end
    function Tensor:nElement() return self.count end
    function Tensor:size()
      return setmetatable({ unpack(self.sizes) }, Storage)
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

  function torch.typename(value)
    local class = getmetatable(value)
    return type(class) == "table" and class.name and "torch." .. class.name or nil
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
    assert.same({ 2 }, torch.IntTensor():resize(torch.LongStorage { 2, 0 }).sizes)
    assert.same({}, torch.IntTensor():resize(torch.LongStorage { 0, 2 }).sizes)
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
          assert.same(count > 0 and dims or {}, t.sizes)
          assert.equal(count, t.count)
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

  for name, kind in pairs { FloatTensor = "float", DoubleTensor = "double", IntTensor = "int32",
    LongTensor = "int64", ByteTensor = "int32", CharTensor = "int32", ShortTensor = "int32" } do
    it("is undone by from: " .. name, function()
      local t = torch[name]():resize(torch.LongStorage { 2, 3 })
      for k = 0, 5 do t.store.pointer[k] = k * 3 end
      assert.same({ { 0, 3, 6 }, { 9, 12, 15 } }, meissa.from(t):totable())
      assert.equal("double", meissa.from(t):type())
      local A = meissa.from(t, { type = kind })
      assert.equal(kind, A:type())
      assert.same({ { 0, 3, 6 }, { 9, 12, 15 } }, A:totable())
      assert.same({ 0 }, meissa.from(torch[name](), { type = kind }):size())
    end)
  end

  it("is undone by from to the last bit of an int64, which doubles may not hold", function()
    local A = meissa.zeros(2, { type = "int64" })
    A:data()[1] = 2LL ^ 53 + 1
    local t = A:totensor()
    assert.is_true(meissa.from(t, { type = "int64" }):data()[1] == 2LL ^ 53 + 1)
    raises("ARR", "2^53", function() meissa.from(t) end)
  end)

  it("is undone by from for NaNs of any bits", function()
    for name, bits in pairs { FloatTensor = "uint32_t *", DoubleTensor = "uint64_t *" } do
      local t = torch[name]():resize(torch.LongStorage { 2 })
      ffi.cast(bits, t.store.pointer)[0] = -1LL
      ffi.cast(bits, t.store.pointer)[1] = 0xfffa000000000010ULL % 2LL ^ 32
      if name == "DoubleTensor" then ffi.cast(bits, t.store.pointer)[1] = 0xfffa000000000010ULL end
      local A = meissa.from(t, { type = name == "FloatTensor" and "float" or nil })
      assert.equal("number", type(A[1]))
      assert.equal("number", type(A[2]))
      assert.is_true(A[1] ~= A[1])
    end
  end)

  it("leaves other values to from", function()
    assert.same({ 1, 2 }, meissa.from({ 1, 2 }):totable())
    raises("ARR", "not a boolean", function() meissa.from(true) end)
  end)

  it("refuses sparse arrays", function()
    raises("ARR", "sparse", function()
      meissa.sparse({ 2, 2 }, { i = {}, j = {} }):totensor()
    end)
  end)
end)

describe("a tensor that a body uses", function()
  local loaded = package.loaded.torch
  local A = meissa.zeros(4)
  after_each(function()
    package.loaded.torch = loaded
    meissa.init {}
  end)

  for _, workers in ipairs { 0, 1, 2 } do
    it("is told to become an array, read or written, on " .. workers, function()
      meissa.init { workers = workers }
      local torch = fake_torch()
      package.loaded.torch = torch
      local t = torch.DoubleTensor(torch.LongStorage { 4 })
      local net = { layer = { weight = t } }
      for path, loop in pairs {
        t = function() for i in meissa.parallel(4) do A[i] = t[i] end end,
        ["net.layer.weight"] = function()
          for i in meissa.parallel(4) do net.layer.weight[i] = i end
          return net
        end,
      } do
        raises("DEP", ("'%s' is a torch.DoubleTensor, which workers"):format(path), loop)
        raises("DEP", ("meissa.from(%s)"):format(path), loop)
      end
      local r = meissa.replicate(meissa.zeros(1), {replicas = 2, every = 1})
      for over, serially in pairs {[A] = true, [r] = false} do -- replicas never run serially
        local _, err = pcall(function()
          for i in meissa.parallel(4) do over[1] = over[1] + t[i] end
        end)
        assert.equal(serially, tostring(err):find("or run it serially", 1, true) ~= nil)
        assert.truthy(tostring(err):find("t:totensor()", 1, true))
      end
      for k = 0, 3 do t.store.pointer[k] = k end
      local weight = meissa.from(t) -- as the fix has it
      for i in meissa.parallel(4) do A[i] = weight[i] end
      assert.equal(6, A:sum())
      local sum = 0
      for i in meissa.parallel(4, { serial = true }) do sum = sum + i * 0 + t.count end
      assert.equal(16, sum)
    end)
  end
end)
