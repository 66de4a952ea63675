-- SPDX-License-Identifier: MIT
--- Models that replicas have to themselves and that are no arrays: networks, closures, whatever a
-- function builds (`meissa.replicate(build, {params = ...})`).
--
-- A model lives in the process that runs its replica's blocks, from one block to the next: it is
-- built there when it is first asked for. Of it only the parameters are exchanged, a vector that is
-- its own memory (anything with data() and nElement(), or a DistArray): before a block they are
-- given what the replica begins with, and taken when it has ended. What else a model holds is that
-- of the blocks that it has been asked for in. A replica counts these, and so does its model: one
-- that has been through others, as rounds begin again when a worker dies, is built anew. State of
-- every process; one thread.
-- @module meissa.sync.models

local array = require "meissa.array"
local errors = require "meissa.base.errors"
local generators = require "meissa.sync.generators"
local key_orders = require "meissa.sync.key_order"
local parameters = require "meissa.sync.model_parameters"
local tables = require "meissa.base.tables"

local M = {}

-- Models by group and replica. They are dropped when the group's handle has gone.
local made = {}

-- By group: what `enter` was told of its replica whose block is running in this process.
local present = {}

-- The replica (as in `present`) whose random generators are in place, and the generators that were
-- there before: at first the first group's replica, then that whose model the body asked for last.
local placed, outer = nil, nil

-- Whether a function of meissa.replicas runs here, or what sets processes up for such.
local in_function = false

-- ------------------------------------------------------------------------------------- models

-- The models of a group that are in this process.
local function group_here(id)
  made[id] = made[id] or {}
  return made[id]
end

-- Drops the models of all groups but those of a list of numbers.
local function keep(list)
  local has = {}
  for _, id in ipairs(list) do has[id] = true end
  for id in tables.each(made) do
    if not has[id] then made[id] = nil end
  end
end

--- Says which groups there are, by their numbers, and that loops over one of them have failed so
-- often: models of its replicas that are from before the last time, which came as far as this
-- process did then, are built anew when they are asked for. That of the program itself stays.
function M.open(id, failures, groups)
  keep(groups)
  local here = group_here(id)
  if here.failures ~= failures then made[id] = {[0] = here[0], failures = failures} end
end

-- Builds a model with the replica's generators in place; {model =, vector =}.
local function build_here(build, params, k)
  local model = build(k)
  if model == nil then
    errors.raise("OPT", "the function that builds a replica's model gave nil")
  end
  return {model = model, vector = parameters.of(model, params)}
end

-- In place of pcall where a block is running: at its end generators are put back after errors, too.
local function directly(fn, ...) return true, fn(...) end

-- @tab draws the call of meissa.replicate, under which the models' random numbers are drawn
-- @number k the replica @number[opt] place the key of the model among the group's, k by default
local function build_model(id, build, params, draws, k, place)
  local own = generators.new(draws, k, k)
  local before = generators.enter(own)
  local attempt = place and pcall or directly
  local ok, known = attempt(build_here, build, params, k)
  generators.leave(own, before)
  if not ok then error(known, 0) end
  known.generators = own -- as they were left
  group_here(id)[place or k] = known
  return known
end

-- The model of replica k in this process, built if it is not there: {model =, vector = {pointer =,
-- count =, type =}, generators = those of the replica after that}. The one that the driver's
-- process has built to see what a model is like is the first replica's, unless the program has it.
local function model_of(id, build, params, draws, k)
  local here = made[id]
  if here and k == 1 and not here[1] and here[0] and not here[0].shown then
    here[1], here[0] = here[0], nil
  end
  return here and here[k] or build_model(id, build, params, draws, k)
end

-- The model that the driver's process has beside the replicas, built as the first one's.
local function own_model(self)
  local here = made[self.id]
  if here and here[0] then return here[0] end
  return build_model(self.id, key_orders.copy(self.build), self.params, self.draws, 1, 0)
end

-- Raises OPT unless a model has as many parameters, of the same type, as that of replica 1.
local function check_alike(k, own, vector)
  if own.count ~= vector.count or own.type ~= vector.type then
    errors.raise("OPT", "the model of replica %d has %d parameters (%s), and that of replica 1 " ..
                 "has %d (%s)", k, own.count, own.type, vector.count, vector.type)
  end
end

--- The model of replica k in this process if it has been in all of the replica's `blocks` blocks
-- and in no others, and its parameters are `count` doubles, one behind the other; else nil.
function M.going_on(id, k, count, blocks)
  local known = made[id] and made[id][k]
  local vector = known and known.blocks == blocks and known.vector
  local fits = vector and vector.type == "double" and vector.count == count and
    parameters.is_one_piece(vector)
  return fits and known or nil
end

--- Begins a block of a replica: `at` is {k =, vector = {pointer =, count =, type =}, what the
-- replica begins with; given = the model, if its parameters are that already, and `vector` is to be
-- filled; blocks = in how many the replica has asked for its model by now, in none where what it
-- begins with is what that has when it is built; loaded = function() called when the model has been
-- asked for; generators = the replica's}.
function M.enter(id, at)
  present[id] = at
  if not placed then placed, outer = at, generators.enter(at.generators) end
end

--- Ends the block of a group's replica, if there is one: its vector gets the model's parameters,
-- and `generators` the state of the random generators. Whether the body has asked for the model.
function M.leave(id)
  local at = present[id]
  if not at then return false end
  present[id] = nil
  if placed == at then
    generators.leave(at.generators, outer)
    placed, outer = nil, nil
  end
  if not at.model then
    if at.given then parameters.take(at.given.vector, at.vector.pointer) end
    return false
  end
  parameters.take(at.model.vector, at.vector.pointer)
  return true
end

local function load_model(id, build, params, draws, at)
  local known = model_of(id, build, params, draws, at.k)
  if known.blocks and known.blocks ~= at.blocks then
    known = build_model(id, build, params, draws, at.k)
  end
  known.blocks = at.blocks + 1
  local own = known.vector
  check_alike(at.k, own, at.vector)
  if at.blocks == 0 then
    parameters.take(own, at.vector.pointer)
  elseif known ~= at.given then
    parameters.give(own, at.vector.pointer)
  end
  at.model = known
  if not at.generators.follows then
    generators.follow(at.generators, known.generators)
  end
  if known ~= at.given then at.loaded() end
  return known.model
end

--- The model of the replica that is being run here, whose generators are in place from now on.
-- Errors: BDY OPT, and what `build` and `params` raise.
function M.get(id, build, params, draws)
  local at = present[id]
  if not at then
    errors.raise("BDY", "a replica's model is there in the body of a loop over replicas alone")
  end
  if placed ~= at then
    generators.turn(placed.generators, at.generators)
    placed = at
  end
  if at.model then return at.model.model end
  return load_model(id, build, params, draws, at)
end

--- What the body calls: a function without arguments that gives it. It travels to workers, and what
-- it needs of this module by name.
function M.call(id, build, params, draws)
  return function() return M.get(id, build, params, draws) end
end

-- ------------------------------------------------------------------------------------- handles

local Model = {}
Model.__index = Model

local last_id = 0

-- Handles by the functions that stand for them, and by their groups, as long as the program has
-- them.
local by_call = setmetatable({}, {__mode = "kv"})
local by_id = setmetatable({}, {__mode = "v"})

--- The numbers of the groups whose handles the program has.
function M.groups()
  local list = {}
  for id in tables.each(by_id) do list[#list + 1] = id end
  table.sort(list)
  return list
end

local function restore(before, ...)
  in_function = before
  return ...
end

--- fn(...), a function of meissa.replicas, in which handles give no models.
function M.apart(fn, ...)
  local before = in_function
  in_function = true
  return restore(before, fn(...))
end

-- Raises BDY in a function of meissa.replicas, whose copies of a handle lead to the program's own
-- model, which all replicas would train.
local function check_apart(self)
  if not in_function then return end
  errors.raise("BDY", "%s stands for the %s of meissa.replicate, which are trained by loops: a " ..
               "function of meissa.replicas would train the program's own one; let it build a " ..
               "model, or give it the parameters as an argument",
               self.name and "'" .. self.name .. "'" or "what is called here", tostring(self))
end

-- Gives a handle a new number, under which there are no models yet.
local function begin(self)
  last_id = last_id + 1
  self.failures = 0
  self.id, self.call = last_id, M.call(last_id, self.build, self.params, self.draws)
  by_call[self.call], by_id[self.id] = self, self
end

--- A handle on the models of a group: what the program has. `call` of it is for bodies. Random
-- numbers of the models belong to this call, as those of a loop do to the loop.
function M.new(build, params)
  local self = {build = build, params = params, draws = generators.draws.next_loop()}
  begin(self)
  keep(M.groups())
  return setmetatable(self, Model)
end

--- A loop over the replicas of a handle has failed: their models begin anew.
function M.give_up(self) self.failures = self.failures + 1 end

--- The parameters of the model that the driver's process has: {pointer =, count =, type =}.
-- Errors: OPT, and what `build` and `params` raise.
function M.parameters(self) return own_model(self).vector end

--- Whether a value is such a handle.
function M.is(value) return type(value) == "table" and getmetatable(value) == Model end

--- The function that stands for a handle in a body; any other value as it is.
function M.function_of(value)
  if M.is(value) then return value.call end
  return value
end

--- The handle that such a function stands for, or nil.
function M.of(call) return by_call[call] end

--- Tells a copied handle the name of the variable by which a function of meissa.replicas has it,
-- for errors. Any other value is left alone.
function M.name_copy(copy, name)
  if M.is(copy) and type(name) == "string" then copy.name = name end
end

function Model.__tostring(self)
  return string.format("models of %d replicas", self.group.replicas)
end

--- r:replica(k): a new array with the parameters of replica k.
function Model:replica(k) return self.group.members[1]:replica(k) end

--- r:reset(): the next loop begins with models that are built anew, and so does r().
function Model:reset()
  check_apart(self)
  self.group.members[1]:reset() -- refuses it while a loop runs
  self.group.begun, self.group.drawn, self.group.merged = nil, nil, nil
  made[self.id], by_call[self.call], by_id[self.id] = nil, nil, nil
  begin(self)
  local vector, target = own_model(self).vector, self.group.members[1].target
  check_alike(1, vector, array.describe(target))
  parameters.take(vector, array.core(target).data)
end

--- r() outside of a loop: a model with what the replicas have come to together.
function Model:__call()
  if present[self.id] then return self.call() end
  check_apart(self)
  local known, target = own_model(self), self.group.members[1].target
  known.shown = true
  if not self.group.merged then return known.model end
  check_alike(1, known.vector, array.describe(target))
  self.group.merged = nil
  parameters.give(known.vector, array.core(target).data)
  return known.model
end

return M
