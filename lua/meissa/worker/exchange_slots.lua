-- SPDX-License-Identifier: MIT
--- What a replica of meissa.replicas exchanges: arrays, or lists of such, each with what is known
-- of it (meissa.sync.exchanged_array) and a number, its slot. The first that a replica exchanges
-- goes with the first of each other, and so on: numbers are never given again.
--
-- What is known goes with the arrays' memory: once that of one in a list is gone nobody can
-- exchange that list again. One thread.
-- @module meissa.worker.exchange_slots

local array = require "meissa.array"
local errors = require "meissa.base.errors"
local exchanged_arrays = require "meissa.sync.exchanged_array"
local tables = require "meissa.base.tables"

local M = {}

local Slots = {}
Slots.__index = Slots

local function is_gone(slot)
  for _, gone in ipairs(slot.watches) do
    if gone() then return true end
  end
  return false
end

-- Closes slots without arrays.
local function sweep(self)
  for number, slot in tables.each(self.known) do
    if is_gone(slot) then
      self.known[number], self.by_place[slot.place] = nil, nil
      self.count = self.count - 1
      slot.exchanged:free()
      self.close(number)
    end
  end
  self.left = self.count
end

--- Those of replica `index`, none yet.
-- @func close close(number) is called when a slot is not used any more
function M.new(index, replicas, close)
  local self = setmetatable({index = index, replicas = replicas, close = close, last = 0,
                             known = {}, by_place = {}, count = 0, left = 0}, Slots)
  self.sweep = function() sweep(self) end
  array.after_collection(self.sweep)
  return self
end

-- Where an array's elements are, as a string: views of the same ones are the same array.
local function place_of(w)
  local about = array.describe(w)
  return string.format("%d %s %s %s", about.store, tostring(array.core_of_part(w).data),
                       table.concat(about.dims, "x"), table.concat(about.strides, ","))
end

-- Where all of a list are, and how many elements they have.
local function places_of(list)
  local places, count = {}, 0
  for n, each in ipairs(list) do
    places[n], count = place_of(each), count + array.describe(each).count
  end
  return table.concat(places, "; "), count
end

-- Raises OPT where arrays of a list have elements in common.
local function check_apart(list)
  for n, each in ipairs(list) do
    for m = 1, n - 1 do
      if array.overlap(list[m], each) then
        errors.raise("OPT", "r:exchange: arrays %d and %d of the list share memory: what one is " ..
                     "given the other would lose; exchange each element once", m, n)
      end
    end
  end
end

--- The slot of a list of arrays, opened if it is the first time: {number =, exchanged =}.
-- Errors: OPT where the arrays share memory.
function Slots:of(list)
  local place, count = places_of(list)
  if self.by_place[place] then return self.by_place[place] end
  check_apart(list)
  if self.count > 2 * self.left then -- so looking costs no more than opening
    array.drain()
    sweep(self)
  end
  self.last, self.count = self.last + 1, self.count + 1
  local slot = {number = self.last, place = place, watches = {},
                exchanged = exchanged_arrays.new(count, self.index, self.replicas)}
  for n, each in ipairs(list) do slot.watches[n] = array.watch(each) end
  self.by_place[place], self.known[slot.number] = slot, slot
  return slot
end

--- What is known of a slot by that number, of meissa.sync.exchanged_array; nil: it is closed.
function Slots:exchanged(number)
  return self.known[number] and self.known[number].exchanged
end

return M
