-- SPDX-License-Identifier: MIT
--- What is remembered of texts: loops with their plans and kernels, captured functions, sources.
--
-- All of it can be found again. It stays while it is used and there is room: what has been used
-- least lately goes first (least recently used, a list from the newest to the oldest). Weights are
-- estimates of bytes, those of the core's memory included, that depend on texts alone.
-- @module meissa.base.remember

local M = {}

--- Most bytes, of all and of one item. A loop with moving bounds has a plan for each, so one may
-- take nearly all.
M.MOST, M.MOST_OF_ONE = 24 * 2 ^ 20, 22 * 2 ^ 20

local total = 0
local ring = {} -- its `newer` is the oldest item, its `older` the newest
ring.newer, ring.older = ring, ring

-- The place of an item in the list: {item =, weight =, forget =, newer =, older =}.
local places = setmetatable({}, {__mode = "k"})

local function unlink(place)
  place.newer.older, place.older.newer = place.older, place.newer
end

local function put_first(place)
  place.older, place.newer = ring.older, ring
  ring.older.newer, ring.older = place, place
end

local function drop(place)
  unlink(place)
  total = total - place.weight
  places[place.item] = nil
  place.forget(place.item)
end

--- Remembers an item. Nothing else refers to it strongly for long.
-- @tab item what is remembered @number weight its bytes, more or less
-- @func forget forget(item) takes it out of where it is found
function M.keep(item, weight, forget)
  local place = {item = item, weight = 0, forget = forget}
  places[item] = place
  put_first(place)
  M.charge(item, weight)
end

--- An item is used.
function M.touch(item)
  local place = places[item]
  if not place or ring.older == place then return end
  unlink(place)
  put_first(place)
end

--- An item has become heavier by so many bytes; others may have to go.
function M.charge(item, bytes)
  local place = places[item]
  if not place then return end
  place.weight, total = place.weight + bytes, total + bytes
  while total > M.MOST and ring.newer ~= place do drop(ring.newer) end
end

--- What an item weighs.
function M.weight(item)
  return places[item] and places[item].weight or 0
end

--- What all items weigh.
function M.total()
  return total
end

return M
