-- SPDX-License-Identifier: MIT
--- Replicas: permission for the parts of a loop to work on copies of an array of their own.
--
-- `meissa.replicate(w, options)` gives an object that stands for this part's copy in a loop's body.
-- Several arrays that are replicated together are a group, each with such an object. The group owns
-- the copies: one array a replicated one, of one dimension more, with a row for each replica, made
-- when first needed. The driver changes them between rounds. One thread.
-- @module meissa.sync.replica_group

local array = require "meissa.array"
local c_api = require "meissa.array.c_api"
local errors = require "meissa.base.errors"
local ffi = require "ffi"
local guarantees = require "meissa.sync.guarantee"
local models = require "meissa.sync.models"
local nesting = require "meissa.base.nesting"
local parameters = require "meissa.sync.model_parameters"
local replicas = require "meissa.sync.replica"
local settings_of = require "meissa.sync.settings"

local M = {}

--- The most replicas that an array, or a function, may have.
M.MOST = 4096

local OPTIONS = {"replicas", "every", "final", "exchange", "shuffle", "on_round", "cut", "params",
                 "bandwidth"}
for _, name in ipairs(settings_of.OF_LOOPS) do OPTIONS[#OPTIONS + 1] = name end

local Replica = replicas.Replica

-- Replicas by the id of the array that stands for this part's copy.
local by_copy = setmetatable({}, {__mode = "v"})

--- The replica whose copy an array stands for, or the first one of the group whose models a
-- function gives; nil for anything else.
function M.of(copy)
  local model = models.of(copy)
  if model then return model.group.members[1] end
  return by_copy[array.describe(copy).id]
end

function Replica.__tostring(self)
  local group = self.group
  return string.format("replica of %s, one of %d%s",
                       string.match(tostring(self.target), "^[^\n]*"), group.replicas,
                       group.every and string.format(", exchanged every %s", group.every) or "")
end

-- ------------------------------------------------------------------------------------- copies

local sizes = c_api.element_sizes

-- Types that can be merged.
local MERGED = {float = true, double = true}

--- Bytes of a copy.
function M.size(self)
  local about = array.describe(self.target)
  return about.count * sizes[about.type]
end

-- The memory of a contiguous array, as bytes.
local function bytes_of(value)
  return ffi.cast("char *", array.core(value).data)
end

--- The memory of replica k's copy, from 1, as bytes.
function M.row(self, k)
  return bytes_of(self.rows) + (k - 1) * M.size(self)
end

--- What a process that runs blocks must know of a copy, as plain data.
-- @number operand where it finds the copies of all replicas
function M.told(self, operand)
  local about = array.describe(self.copy)
  return {id = about.id, dims = about.dims, strides = about.strides, type = about.type,
          size = M.size(self), count = self.group.replicas, operand = operand}
end

--- Makes the copies of a group what its arrays are, unless they are kept from an earlier loop.
-- Errors: ARR.
function M.begin(group)
  for _, each in ipairs(group.members) do
    array.checked(each.target)
    local about = array.describe(each.target)
    local fresh = not rawget(each, "rows")
    if fresh then
      each.rows = array.zeros({group.replicas, unpack(about.dims)}, {type = about.type})
    end
    if fresh or not group.keeps then
      local now = each.target:clone()
      for k = 1, group.replicas do ffi.copy(M.row(each, k), bytes_of(now), M.size(each)) end
    end
  end
end

--- Gives an array of a replica's type and extents, of doubles one after the other, its values.
function M.assign(value, numbers)
  local about = array.describe(value)
  local made = array.zeros(about.dims, {type = about.type})
  local to = ffi.cast(about.type .. " *", array.core(made).data)
  for i = 0, about.count - 1 do to[i] = numbers[i] end
  value:copy(made)
end

-- r:replica(k): a new array with what replica k holds.
local function replica(self, k)
  local group = self.group
  errors.check_whole(k, "replica(k): k", 1, group.replicas)
  if not rawget(self, "rows") then return self.target:clone() end
  local about = array.describe(self.target)
  local made = array.zeros(about.dims, {type = about.type})
  ffi.copy(bytes_of(made), M.row(self, k), M.size(self))
  return made
end

-- r:reset(): the next loop begins with copies of the arrays as they are.
local function reset(self)
  if self.group.running then
    errors.raise("OPT", "r:reset() is for between two loops: one over these replicas runs now")
  end
  for _, each in ipairs(self.group.members) do each.rows = nil end
end

local METHODS = {replica = replica, reset = reset}

function Replica.__index(self, key)
  if METHODS[key] then return METHODS[key] end
  if key == "rows" then return nil end
  if nesting.within() then
    errors.raise("ARR", "a %s is shared out by a loop of the program itself: one in another " ..
                 "loop's body, or in a function of meissa.replicas, runs in place", tostring(self))
  end
  errors.raise("ARR", "a %s is for the body of a parallel loop; outside of one, r:replica(k) " ..
               "gives what replica k holds", tostring(self))
end

function Replica.__newindex(self, key, value)
  if key == "rows" then
    rawset(self, key, value)
    return
  end
  errors.raise("ARR", "a %s is for the body of a parallel loop: outside of one it is not written",
               tostring(self))
end

-- ------------------------------------------------------------------------------------- making

local function refuse_target(value, what, private)
  local is_dense = array.is(value) and array.core(value).sparse == 0
  errors.raise("OPT", "%s of meissa.replicate must be a dense array%s, not %s%s", what,
               private and " of numbers" or " of floats or doubles", errors.shown(value),
               is_dense and "; merge a copy, meissa.from(w, {type = \"double\"}); private state " ..
                 "(exchange = false) may be of any numbers" or "")
end

-- What is to be replicated, or damped, as an array: a row or slice as the view that it is. What is
-- `private` is not merged, and of any type of number.
local function check_target(value, what, private)
  local fits = array.is(value) and array.core(value).sparse == 0 and
    (private or MERGED[array.describe(value).type])
  if not fits then refuse_target(value, what, private) end
  value = array.to_handle(value)
  if #array.describe(value).dims == 8 then
    errors.raise("OPT", "meissa.replicate takes arrays of at most 7 dimensions")
  end
  return value
end

local function whole(options, name, most)
  return errors.check_whole(options[name], "meissa.replicate: option '" .. name .. "'", 1, most)
end

--- Raises OPT unless `every` says after how many iterations there is an exchange.
-- @string what names it
function M.check_every(every, what)
  if type(every) ~= "number" or every ~= every or every <= 0 or
     every >= 1 and every ~= math.huge and every ~= math.floor(every) then
    errors.raise("OPT", "%s says after how many iterations of a replica there is an exchange: " ..
                 "a whole number, a fraction of a share, math.huge for the end of the loop, or " ..
                 "\"auto\", not %s", what, errors.shown(every))
  end
  return every
end

local function check_every(options)
  local every = options.every
  if options.exchange == false then
    if every ~= nil then
      errors.raise("OPT", "meissa.replicate: what is private (exchange = false) is never " ..
                   "exchanged: leave out 'every'")
    end
    return nil
  end
  if every == "auto" then return every end
  return M.check_every(every, "meissa.replicate: option 'every'")
end

-- What private state, which has no exchange, cannot have.
local EXCHANGES = {"final", "on_round", "cut", "bandwidth"}
for _, name in ipairs(settings_of.OF_LOOPS) do EXCHANGES[#EXCHANGES + 1] = name end

local function check_private(options)
  if options.exchange ~= nil and type(options.exchange) ~= "boolean" then
    errors.raise("OPT", "meissa.replicate: option 'exchange' is true or false, not %s",
                 errors.shown(options.exchange))
  end
  for _, name in ipairs(options.exchange == false and EXCHANGES or {}) do
    if options[name] ~= nil then
      errors.raise("OPT", "meissa.replicate: option '%s' is one of exchanges, and there are " ..
                   "none (exchange = false)", name)
    end
  end
end

local function check_others(options)
  local final = options.final
  if final ~= nil and final ~= "mean" and final ~= "none" then
    errors.raise("OPT", "meissa.replicate: option 'final' is \"mean\" or \"none\", not %s",
                 errors.shown(final))
  end
  if options.cut ~= nil and options.on_round == nil then
    errors.raise("OPT", "meissa.replicate: option 'cut' says how often on_round is called, and " ..
                 "there is no 'on_round'")
  end
  if options.on_round ~= nil and type(options.on_round) ~= "function" then
    errors.raise("OPT", "meissa.replicate: option 'on_round' is a function, not %s",
                 errors.shown(options.on_round))
  end
  local bandwidth = options.bandwidth
  if bandwidth ~= nil and not (type(bandwidth) == "number" and bandwidth > 0) then
    errors.raise("OPT", "meissa.replicate: option 'bandwidth' is how many bytes a second can be " ..
                 "sent, not %s", errors.shown(bandwidth))
  end
  if bandwidth and options.every ~= "auto" and options.staleness ~= "auto" then
    errors.raise("OPT", "meissa.replicate: option 'bandwidth' is what every = \"auto\" and " ..
                 "staleness = \"auto\" count sent bytes by, and neither is given")
  end
  local seed = options.shuffle
  if seed ~= nil and (type(seed) ~= "number" or seed < 0 or seed ~= math.floor(seed) or
                      seed > 2 ^ 53) then
    errors.raise("OPT", "meissa.replicate: option 'shuffle' is a seed, a whole number, not %s",
                 errors.shown(seed))
  end
end

-- Arrays that a merge damps.
local function check_damped(group)
  for _, each in ipairs(group.settings and group.settings.merge.damp or {}) do
    local what = "an array that is damped by a merge"
    if not array.is_handle(each) then refuse_target(each, what) end
    check_target(each, what)
  end
end

-- What two groups, or one, may not both write at the end of a loop.
local function raise_shared(left, right)
  errors.raise("OPT", "%s and %s share memory: of what one writes the other would know nothing; " ..
               "replicate it once, and use that object",
               string.match(tostring(left), "^[^\n]*"), string.match(tostring(right), "^[^\n]*"))
end

--- Raises OPT where groups of one loop both write, at its end, elements that are the same.
-- @tab groups a list
function M.check_apart(groups)
  local written = {}
  for _, group in ipairs(groups) do
    for _, each in ipairs(group.exchange and group.final ~= "none" and group.members or {}) do
      for _, other in ipairs(written) do
        if other.group ~= group and array.overlap(other.target, each.target) then
          raise_shared(other.target, each.target)
        end
      end
      written[#written + 1] = each
    end
  end
end

-- What the options ask for, without members.
local function new_group(options)
  check_private(options)
  check_others(options)
  local group = {replicas = whole(options, "replicas", M.MOST), members = {},
                 every = check_every(options), exchange = options.exchange ~= false,
                 final = options.final or "mean", shuffle = options.shuffle,
                 on_round = options.on_round, bandwidth = options.bandwidth,
                 cut = options.cut == nil and 1 or whole(options, "cut", 2 ^ 31)}
  group.keeps = not group.exchange or group.final == "none"
  group.auto_every = group.every == "auto"
  if group.exchange then
    group.settings = settings_of.read("meissa.replicate", options, group.replicas)
    guarantees.notice("meissa.replicate", group.settings)
  end
  check_damped(group)
  return group
end

local function add_member(group, target)
  local about = array.describe(target)
  local copy = array.zeros(about.dims, {type = about.type})
  local member = setmetatable({target = target, group = group, copy = copy}, Replica)
  group.members[#group.members + 1] = member
  by_copy[array.describe(copy).id] = member
end

-- Replicas of what a function builds. Of the first one it is found out how many parameters there
-- are.
local function replicate_models(build, options)
  if type(options.params) ~= "function" then
    errors.raise("OPT", "meissa.replicate(build, options): option 'params' is a function that " ..
                 "gives a model's parameters, params = function(m) return m:getParameters() " ..
                 "end, not %s", errors.shown(options.params))
  end
  if options.exchange == false then
    errors.raise("OPT", "meissa.replicate: models are exchanged: leave out 'exchange = false'")
  end
  local group = new_group(options)
  group.model = models.new(build, options.params)
  group.model.group = group
  local vector = models.parameters(group.model)
  if vector.count < 1 then
    errors.raise("OPT", "meissa.replicate: the model has no parameters to be exchanged")
  end
  local target = array.zeros({vector.count}, {type = vector.type})
  parameters.take(vector, bytes_of(target))
  add_member(group, target)
  return group.model
end

--- Permission for the parts of a loop to work on copies of their own; see the manual.
-- @param target a dense array (of floats or doubles, but with exchange = false), or a list of such;
-- or a function build(k) that makes the model of replica k, of which option `params` gives what is
-- exchanged
-- @tab options see the manual; `replicas` and `every` are required
-- @return an object for each array; for models a function that gives that of the body's replica
-- @usage local r = meissa.replicate(w, {replicas = 8, every = 500})
-- for pass, e in parallel(10, n) do ... r[f] = r[f] - lr * g ... end
-- Errors: OPT.
function M.replicate(target, options)
  if nesting.within() then
    errors.raise("OPT", "meissa.replicate is for loops of the program itself, which are shared " ..
                 "out to replicas: one in another loop's body, or in a function of " ..
                 "meissa.replicas, runs in place")
  end
  errors.check_options("meissa.replicate", options, OPTIONS)
  if type(options) ~= "table" then
    errors.raise("OPT", "meissa.replicate needs options: how many replicas, and every how many " ..
                 "iterations they exchange")
  end
  if type(target) == "function" then return replicate_models(target, options) end
  if options.params ~= nil then
    errors.raise("OPT", "meissa.replicate: option 'params' belongs to models that a function " ..
                 "builds: meissa.replicate(build, {params = ...})")
  end
  local is_list = type(target) == "table" and not array.is_any(target) and
    not replicas.is(target) and errors.is_list(target, "meissa.replicate: the list of arrays")
  local list = is_list and target or {target}
  local group = new_group(options)
  for k, each in ipairs(list) do
    local checked = check_target(each, k == 1 and "the argument" or "an array",
                                 not group.exchange)
    for _, other in ipairs(group.members) do
      if array.overlap(other.target, checked) then raise_shared(other.target, checked) end
    end
    add_member(group, checked)
  end
  return unpack(group.members)
end

--- What the analysis is told of a replica, nil for anything else.
function M.describe(value)
  if not replicas.is(value) then return nil end
  local about = array.describe(value.copy)
  return {array = about.id, storage = about.store, dims = about.dims, sparse = false,
          integer = string.find(about.type, "^int") ~= nil, type = about.type, scratch = true,
          replica = true, buffers = array.describe(value.target).store}
end

return M
