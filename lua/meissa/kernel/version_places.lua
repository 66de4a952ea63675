-- SPDX-License-Identifier: MIT
--- Versions where blocks are run: where the kernel finds the last version of an array and the next
-- (csrc/job/version.h). Before each block the core says where they are.
-- @module meissa.kernel.version_places

local c_api = require "meissa.array.c_api"
local element = require "meissa.array.element"
local ffi = require "ffi"
local tables = require "meissa.base.tables"

local M = {}

local pointers, arrays_type = ffi.typeof "void *[?]", ffi.typeof "ms_version_array[?]"
local places_type, versions_type = ffi.typeof "ms_version_place[?]", ffi.typeof "ms_versions"

local Versions = {}
Versions.__index = Versions

local whole_numbers = ffi.typeof "int64_t[?]"

-- Memory for the image of an array.
local function image_of(told, keep)
  local memory = ffi.new("uint8_t[?]", told.outer * told.rows * told.row)
  keep[#keep + 1] = memory
  return memory
end

local function fill_array(core, told, operands, keep)
  local ring = pointers(#told.ring)
  for slot, number in ipairs(told.ring) do
    ring[slot - 1] = ffi.cast("void *", operands[number].pointer)
  end
  keep[#keep + 1] = ring
  core.start = ffi.cast("const void *", operands[told.start].pointer)
  core.ring, core.depth, core.steady = ring, #told.ring, told.steady and 1 or 0
  core.outer, core.rows, core.row = told.outer, told.rows, told.row
  core.scale, core.offset, core.anew = told.scale, told.offset, told.anew or 0
  if told.starts then
    local starts = whole_numbers(#told.starts, told.starts)
    core.starts = starts
    keep[#keep + 1] = starts
  end
end

--- The versions of a job; nil if it has none.
-- @tab where what collect of meissa.plan.operands tells
-- @tab operands the job's
-- @param layout of its blocks
-- @number first its first block
function M.of(where, operands, layout, first)
  local told = where.versions
  if not told then return nil end
  local self = setmetatable({keep = {layout}, told = told, arrays = arrays_type(#told.arrays),
                             core = versions_type(), filled = told.filled}, Versions)
  for k, each in ipairs(told.arrays) do
    fill_array(self.arrays[k - 1], each, operands, self.keep)
  end
  local core = self.core
  if told.images then
    local wanted, held = whole_numbers(told.ranges), whole_numbers(told.ranges)
    for k, each in ipairs(told.arrays) do
      self.arrays[k - 1].image = image_of(each, self.keep)
    end
    core.wanted, core.held = wanted, held
    self.keep[#self.keep + 1], self.keep[#self.keep + 2] = wanted, held
  end
  if told.lags then
    core.lags = ffi.cast("const uint16_t *", told.lags)
    self.keep[#self.keep + 1] = told.lags
  end
  core.arrays, core.array_count, core.layout = self.arrays, #told.arrays, layout
  core.ranges, core.first, core.at = told.ranges, first, told.at
  core.filled = told.filled and 1 or 0
  return self
end

--- Sets up for another job on the same memory.
function Versions:renew(first)
  self.core.first, self.core.filled, self.core.imaged = first, self.filled and 1 or 0, 0
end

-- Calls visit(n, place) for each parameter of a kernel that is the address of a version: parameter
-- n of array `place.array`, its next or its last version.
local function each_place(self, params, captures, visit)
  for n, param in ipairs(params) do
    local place = param.kind == "pointer" and self.told.places[captures[param.at]]
    if place then visit(n, place) end
  end
end

-- The numbers of a kernel's arrays by capture.
local function numbers_of(info)
  local numbers = {}
  for a, about in ipairs(info.arrays) do numbers[about.capture] = a end
  return numbers
end

--- Has the core set the slots of a native instance before each block, beginning with the present.
function Versions:serve(native)
  if self.served == native then return end
  local places, count = places_type(math.max(1, #native.info.params)), 0
  each_place(self, native.info.params, numbers_of(native.lua.info), function(n, place)
    local at = places[count]
    at.at = ffi.cast("void **", native.slots + (n - 1))
    at.array, at.next = place.array - 1, place.next and 1 or 0
    at.own, at.offset = place.own and 1 or 0, place.offset or 0
    at.at[0] = self:address(place)
    count = count + 1
  end)
  self.served, self.places = native, places
  self.core.places, self.core.place_count = places, count
end

--- Where the version is that a place stands for, in the present block.
function Versions:address(place)
  local core = self.arrays[place.array - 1]
  if not place.next then return ffi.cast("void *", core.last) end
  if not place.own then return core.next end
  local at = self.core.present * core.row + place.offset
  return ffi.cast("void *", ffi.cast("char *", core.next) + at)
end

--- Gives an instance of the Lua engine the addresses of the present block.
-- @tab instance its `arguments`, and `taken`: the captures that it has as objects
function Versions:enter(instance)
  local info, found = instance.kernel.info, instance.found
  local numbers = numbers_of(info)
  each_place(self, info.params, numbers, function(n, place)
    local param = info.params[n]
    instance.arguments[instance.bound_count + n] =
      ffi.cast(c_api.pointer_ctypes[c_api.type_numbers[found[param.at].type]],
               self:address(place))
  end)
  for c, operand in tables.each(found) do
    local place = self.told.places[numbers[c]]
    if place then
      operand.pointer = self:address(place)
      if instance.taken[c] then element.move(instance.object(c), operand.pointer) end
    end
  end
end

--- Makes ready for a block in this process.
-- @number block its number @tab reads where it may see other versions than those of the round
-- before: by range (from 0), which version it is to see, counted from the job's start
function Versions:begin(block, reads)
  c_api.lib.ms_versions_begin(self.core, block)
  if not reads then return end
  for range, version in tables.each(reads) do
    self.core.wanted[range] = version
    c_api.lib.ms_versions_load(self.core, block, range)
  end
end

return M
