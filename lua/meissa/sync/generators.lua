-- SPDX-License-Identifier: MIT
--- Generators of random numbers that replicas have to themselves: the place that meissa.random
-- draws from (see meissa.kernel.random), that of math.random, and Torch's. They are put in place
-- whenever code of a replica runs, and taken back after: so its numbers depend on what it has drawn
-- before, not on who runs it, or what else that process runs. So does the order of keys in
-- meissa.sync.key_order. State of every process; one thread.
-- @module meissa.sync.generators

local builtin = require "meissa.base.builtin"
local ffi = require "ffi"
local key_orders = require "meissa.sync.key_order"
local make = require "meissa.array.make"

local M = {}

--- What meissa.kernel.random has for this: next_loop, place_of, swap, and `seed`, which draws one.
M.draws = nil

-- ------------------------------------------------------------------------------------- math.random

-- What math.random and math.randomseed hold is the generator's state, a userdata that begins with
-- four words. Functions of bodies draw from LuaJIT's library as Meissa has it, all others from the
-- program's: from here on both are one generator.
local function library_state()
  local theirs, _, state = package.loaded.math, nil, nil
  for _, name in ipairs {"random", "randomseed"} do
    local fn = type(theirs) == "table" and theirs[name]
    if fn and builtin.same_once(fn, math[name]) then
      _, state = debug.getupvalue(fn, 1)
      break
    end
  end
  if state then
    for _, name in ipairs {"random", "randomseed"} do debug.setupvalue(math[name], 1, state) end
  else
    _, state = debug.getupvalue(math.random, 1)
  end
  return ffi.cast("uint64_t *", state), state
end

local library, library_held = library_state()
M.library_held = library_held -- the pointer does not keep it
local LIBRARY = 4 * ffi.sizeof("uint64_t")

-- ------------------------------------------------------------------------------------- Torch

-- Torch, where the program has loaded it.
local function loaded_torch()
  local torch = package.loaded.torch
  return type(torch) == "table" and type(torch.getRNGState) == "function" and torch or nil
end

-- Its generator's state, a tensor; nil where there is none.
local function torch_state()
  local torch = loaded_torch()
  return torch and torch.getRNGState()
end

local function set_torch_state(state)
  if state then loaded_torch().setRNGState(state) end
end

local function torch_bytes(state) return state and state:nElement() * state:elementSize() or 0 end

-- ------------------------------------------------------------------------------------- a replica's

-- All but the last field of a place, which is the same for all.
local PLACE = ffi.offsetof("ms_draws", "normal")
-- Where the doubles that generators are kept in have them: first whether they follow others.
local AT_PLACE = 1
local AT_LIBRARY = AT_PLACE + PLACE / 8
local AT_TORCH = AT_LIBRARY + LIBRARY / 8

--- Generators of replica k that have not been drawn from.
-- @tab draws what next_loop of meissa.kernel.random gave
-- @number[opt] seed of math.random and Torch
function M.new(draws, k, seed)
  return {place = M.draws.place_of(draws, k), seed = seed, library = ffi.new("uint64_t[4]")}
end

--- Generators for `recall`.
function M.kept() return M.new({seed = 0, ordinal = 0}, 0) end

-- Puts the generators that are no place of meissa.random in place.
local function put(own)
  if own.seed then
    math.randomseed(own.seed)
    local torch = loaded_torch()
    if torch then torch.manualSeed(own.seed) end
  else
    ffi.copy(library, own.library, LIBRARY)
    set_torch_state(own.torch)
  end
end

-- Notes the state that the generators have come to.
local function note(own)
  ffi.copy(own.library, library, LIBRARY)
  own.seed, own.torch = nil, torch_state()
end

--- Puts a replica's generators in place: random arrays without a seed draw one from there, too.
-- @return what `leave` is to put back
function M.enter(own)
  local outer = {library = ffi.new("uint64_t[4]"), seeds = make.seeds,
                 place = M.draws.swap(own.place), keys = key_orders.enter()}
  note(outer)
  put(own)
  make.seeds = M.draws.seed
  return outer
end

--- Takes them back, as they are now.
function M.leave(own, outer)
  note(own)
  M.draws.swap(outer.place)
  make.seeds = outer.seeds
  key_orders.leave(outer.keys)
  put(outer)
end

--- Puts a replica's generators in the place of another's. Where a body itself draws, meissa.random
-- stays with its iteration.
function M.turn(from, to)
  note(from)
  local place = M.draws.swap(to.place)
  if not rawequal(place, from.place) then M.draws.swap(place) end
  put(to)
end

--- Puts generators in place that show whether anything was drawn; what `has_drawn` is to be given.
function M.watch()
  local own = M.kept()
  note(own)
  own.before = ffi.string(own.library, LIBRARY)
  return own, M.enter(own)
end

--- Takes them back. Whether meissa.random, math.random or random arrays were drawn from them.
function M.has_drawn(own, outer)
  M.leave(own, outer)
  return own.place.draw ~= 0 or ffi.string(own.library, LIBRARY) ~= own.before
end

--- Has generators, which are in place, go on as others, which were left, would.
function M.follow(own, others)
  ffi.copy(own.place, others.place, PLACE)
  ffi.copy(own.library, others.library, LIBRARY)
  own.seed, own.torch, own.follows = nil, others.torch, true
  put(own)
end

--- Numbers of doubles in which generators can be kept.
function M.size() return AT_TORCH + math.ceil(torch_bytes(torch_state()) / 8) end

--- Has Torch at hand where kept generators, of so many doubles, have its.
function M.load_torch(size)
  if size > AT_TORCH then pcall(require, "torch") end
end

--- Keeps generators that were left.
-- @param to doubles @number size of M.size
function M.keep(own, to, size)
  to[0] = own.follows and 1 or 0
  ffi.copy(to + AT_PLACE, own.place, PLACE)
  ffi.copy(to + AT_LIBRARY, own.library, LIBRARY)
  local bytes = torch_bytes(own.torch)
  if bytes > 0 and bytes <= 8 * (size - AT_TORCH) then
    ffi.copy(to + AT_TORCH, own.torch:data(), bytes)
  end
end

--- Makes generators those that were kept.
-- @param from doubles @number size of M.size
function M.recall(own, from, size)
  ffi.copy(own.place, from + AT_PLACE, PLACE)
  ffi.copy(own.library, from + AT_LIBRARY, LIBRARY)
  own.seed, own.follows = nil, from[0] == 1
  own.torch = size > AT_TORCH and torch_state() or nil
  local bytes = torch_bytes(own.torch)
  if bytes > 0 and bytes <= 8 * (size - AT_TORCH) then
    ffi.copy(own.torch:data(), from + AT_TORCH, bytes)
  end
end

-- What tells what is drawn before a model is built from what its building draws.
local BEFORE, SEEDS_BEFORE = 2, 2 ^ 31

--- Keeps generators that nobody has drawn from, for what is drawn before replica k has a model.
function M.keep_new(draws, k, to, size)
  local own = M.new(draws, k, SEEDS_BEFORE + k)
  own.place.index[1] = BEFORE
  M.leave(own, M.enter(own))
  M.keep(own, to, size)
end

return M
