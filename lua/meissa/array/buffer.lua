-- SPDX-License-Identifier: MIT
--- DistArray buffers: permission to add to elements that other iterations read and add to.
--
-- A buffer stands in for an array in a loop's body. What an iteration puts there goes to a copy of
-- its block's own, so it is no dependence; between the stages of the loop, what all blocks have
-- put there is merged into the array, block by block in the plan's order, so the result has the
-- same bits for any number of workers. (Orion: Wei et al., EuroSys 2019, "DistArray Buffers".)
-- @module meissa.array.buffer

local array = require "meissa.array"
local arrays = require "meissa.array.c_api"
local core = require "meissa.core"
local errors = require "meissa.base.errors"
local ffi = require "ffi"
local thrown = require "meissa.base.thrown"

local M = {}

local lib = arrays.lib
local OPTIONS = {"apply", "with", "max_delay"}

local Buffer = {}

-- Buffers by the id of the array that stands for their pending elements.
local by_pending = setmetatable({}, {__mode = "v"})

-- The array that a buffer is while a loop runs as the plain loop that it is.
local function plainly(self)
  if rawget(self, "open") then return self.pending end
  errors.raise("ARR", "a %s is for the body of a parallel loop, whose text is kept (at a " ..
               "prompt: meissa.run); outside of one nothing is pending: use the array itself",
               tostring(self))
end

function Buffer.__index(self, key)
  local pending = plainly(self)
  local found = pending[key]
  if type(found) ~= "function" then return found end
  return function(_, ...) return found(pending, ...) end -- a method
end

function Buffer.__newindex(self, key, value)
  plainly(self)[key] = value
end

function Buffer.__tostring(self)
  local delay = rawget(self, "max_delay")
  return string.format("buffer of %s%s", string.match(tostring(self.target), "^[^\n]*"),
    delay and string.format(", merged every %d iterations", delay) or "")
end

--- Whether a value is a buffer.
function M.is(value)
  return type(value) == "table" and getmetatable(value) == Buffer
end

--- The array that stands for a buffer's pending elements, of the target's extents and type double;
-- any other value as it is.
function M.pending(value)
  if M.is(value) then return value.pending end
  return value
end

--- The buffer whose pending elements an array stands for, or nil.
function M.of(pending)
  return by_pending[array.describe(pending).id]
end

local function check_array(value, what)
  if not array.is_handle(value) or array.describe(value).sparse then
    errors.raise("OPT", "%s must be a dense array, not %s", what, tostring(value))
  end
  array.checked(value)
  return value
end

local function same_dims(a, b)
  local left, right = array.describe(a).dims, array.describe(b).dims
  if #left ~= #right then return false end
  for d, extent in ipairs(left) do
    if extent ~= right[d] then return false end
  end
  return true
end

local function helpers_of(options, target)
  local list = options.with
  if list == nil then return {} end
  if array.is(list) then list = {list} end
  if type(list) ~= "table" or #list == 0 then
    errors.raise("OPT", "meissa.buffer: option 'with' is an array or a list of arrays, not %s",
                 tostring(list))
  end
  local helpers = {}
  for k, each in ipairs(list) do
    helpers[k] = check_array(each, string.format("meissa.buffer: helper array %d", k))
    if not same_dims(each, target) then
      errors.raise("OPT", "meissa.buffer: helper array %d is %s; it must have the extents of %s", k,
                   tostring(each), tostring(target))
    end
  end
  return helpers
end

--- Makes a buffer of a dense array for use in loops: `wb[i] = wb[i] + g` adds g to what the block
-- has pending for element i, and wb[i] reads what it has pending (0 if nothing), while w[i] keeps
-- showing what w held when the loop, or its present stage, began. At the end of a stage the
-- pendings that are not 0 are merged into w, block by block.
-- @param target the array
-- @tab[opt] options `apply(old, pending, ...)` gives the element's new value (default: their sum);
-- `with`: an array or a list of arrays of the same extents, whose old values `apply` gets as
-- further arguments and whose new values are its further results; `max_delay`: the most iterations
-- that a stage has over all its blocks (default: the whole loop is one stage)
-- @return the buffer
-- Errors: OPT.
function M.buffer(target, options)
  options = options or {}
  check_array(target, "the argument of meissa.buffer")
  if type(options) ~= "table" then
    errors.raise("OPT", "the options of meissa.buffer are a table, not %s", tostring(options))
  end
  errors.check_options("meissa.buffer", options, OPTIONS)
  local apply, delay = options.apply, options.max_delay
  if apply ~= nil and type(apply) ~= "function" then
    errors.raise("OPT", "meissa.buffer: option 'apply' is a function of the old and the " ..
                 "pending value, not %s", tostring(apply))
  end
  local helpers = helpers_of(options, target)
  if #helpers > 0 and not apply then
    errors.raise("OPT", "meissa.buffer: helper arrays ('with') need a function 'apply' that " ..
                 "uses them")
  end
  if delay ~= nil and (type(delay) ~= "number" or delay < 1 or delay ~= math.floor(delay)) then
    errors.raise("OPT", "meissa.buffer: option 'max_delay' is a whole number of iterations " ..
                 "from 1 on, not %s", tostring(delay))
  end
  local pending = array.zeros(array.describe(target).dims)
  local self = setmetatable({target = target, apply = apply, helpers = helpers, max_delay = delay,
                             pending = pending}, Buffer)
  by_pending[array.describe(pending).id] = self
  return self
end

--- A buffer of marks: what is stored there says no more than that something was, and is not merged.
-- @tab dims its extents
function M.marks(dims)
  local pending = array.zeros(dims)
  return setmetatable({target = array.zeros(1), helpers = {}, pending = pending, marks = true},
                      Buffer)
end

--- Whether what is put into a buffer is added, by no rule of the user's, and is no marks.
function M.adds(buffer)
  return not rawget(buffer, "apply") and not rawget(buffer, "marks")
end

--- What the analysis is told of a buffer, nil for anything else.
function M.describe(value)
  if not M.is(value) then return nil end
  local about = array.describe(value.pending)
  return {array = about.id, storage = about.store, dims = about.dims, sparse = false,
          integer = false, buffers = array.describe(value.target).store,
          delay = rawget(value, "max_delay"), marks = rawget(value, "marks")}
end

--- The arrays that merging a buffer writes: its target, then the helpers.
function M.targets(buffer)
  local list = {buffer.target}
  for _, helper in ipairs(buffer.helpers) do list[#list + 1] = helper end
  return list
end

-- ----------------------------------------------------------------------------------- a block's

local room, room_size = nil, 0

-- Memory for so many bytes of what a block has left, until it is asked for again.
local function room_for(size)
  if room_size < size then room, room_size = ffi.new("char[?]", size), size end
  return room
end

--- Takes what a block has put into its copy, as bytes, and makes the copy zero again.
-- @param pointer a double pointer @number count elements
function M.take(pointer, count)
  local bytes = room_for(8 * count + 16) -- MS_PENDING_ROOM
  return ffi.string(bytes, lib.ms_pending_take(pointer, count, bytes))
end

-- ------------------------------------------------------------------------------------- merging

-- The walk over what blocks have put into a buffer, for so many arrays (the target and its
-- helpers): text, so that LuaJIT sees no varargs and compiles `apply` into it.
--   return function(apply, at, pending, count, v1, v2, ...)
-- It gives the results where `apply` gave something else than numbers, after a true.
local function walk_text(arrays_count)
  local v, old, new, checks, casts = {}, {}, {}, {}, {}
  for k = 1, arrays_count do
    v[k], new[k] = "v" .. k, "n" .. k
    old[#old + 1] = k > 1 and string.format(", v%d[e]", k) or nil
    checks[k] = string.format('type(n%d) ~= "number"', k)
    casts[k] = string.format("v%d = cast(doubles, v%d)", k, k)
  end
  local vectors, results = table.concat(v, ", "), table.concat(new, ", ")
  return string.gsub([[
    local ffi, type, tonumber = require("ffi"), type, tonumber
    local cast, integers, doubles = ffi.cast, ffi.typeof "const int64_t *", ffi.typeof "double *"
    return function(apply, at, pending, count, $vectors)
      at, pending = cast(integers, at), cast(doubles, pending)
      $casts
      for k = 0, count - 1 do
        local e = tonumber(at[k])
        local $results = apply(v1[e], pending[k]$old)
        if $checks then return true, $results end
        $stores
      end
    end]], "%$(%w+)", {
      vectors = vectors, results = results, checks = table.concat(checks, " or "),
      old = table.concat(old), casts = table.concat(casts, " "),
      stores = string.format("%s = %s", table.concat(v, "[e], ") .. "[e]", results),
    })
end

local walks = {}

local function walk_of(arrays_count)
  walks[arrays_count] = walks[arrays_count] or assert(loadstring(walk_text(arrays_count)))()
  return walks[arrays_count]
end

-- Raises what a walk stopped for, or failed with.
local function check_walk(buffer, ok, stopped, ...)
  if not ok then thrown.raise(stopped, "'apply' of " .. tostring(buffer) .. " failed") end
  for k = 1, stopped and select("#", ...) or 0 do
    local value = (select(k, ...))
    if type(value) ~= "number" then
      errors.raise("BDY", "'apply' of %s gave %s as result %d; it gives a number for the array " ..
                   "and one for each helper array", tostring(buffer), tostring(value), k)
    end
  end
end

-- What the core calls with elements to which `apply` is to be applied, nil if they are added.
local function rule_of(buffer)
  local apply = rawget(buffer, "apply")
  if not apply then return nil end
  local walk = walk_of(1 + #buffer.helpers)
  return function(...) check_walk(buffer, pcall(walk, apply, ...)) end
end

-- What the core is told of a buffer (csrc/binding/merge.h), with more fields.
local function describe_merge(buffer, fields)
  if not rawget(buffer, "rule") then rawset(buffer, "rule", rule_of(buffer)) end
  fields.apply, fields.arrays = rawget(buffer, "rule"), {}
  for k, target in ipairs(M.targets(buffer)) do
    fields.arrays[k] = ffi.cast("ms_array *", array.core(target))
  end
  return fields
end

--- How what blocks put into a buffer is merged, as session:run takes it.
-- @param buffer the buffer @number number its number among those of the loop
function M.merging(buffer, number)
  return describe_merge(buffer, {number = number})
end

--- Merges what blocks have put into buffers into their arrays. After an error some of it may be
-- merged.
-- @tab list {buffer =, parts =} for each buffer; the parts are what `take` gave of blocks, in their
-- order
-- @param[opt] log is told of what changes (core.undo)
-- Errors: ARR for a value that the array's type cannot hold; BDY for errors of `apply`, and results
-- that are no numbers.
function M.merge(list, log)
  local merges = {}
  for k, each in ipairs(list) do
    merges[k] = describe_merge(each.buffer, {parts = each.parts})
  end
  local merged, err = core.merge(merges, log or nil)
  if not merged then errors.raise_core(err) end
end

-- ------------------------------------------------------------------------------ the plain loop

local function flush(list)
  local left = {}
  for k, buffer in ipairs(list) do
    local pending = array.core(buffer.pending)
    local bytes = M.take(ffi.cast("double *", pending.data), tonumber(pending.count))
    left[k] = {buffer = buffer, parts = bytes ~= "" and {bytes} or {}}
  end
  M.merge(left)
end

--- The iterator of a plain loop whose body uses buffers: they are merged after every `delay`
-- iterations and at the end.
-- @tab list the buffers @number delay the most iterations of a stage @func step the loop's iterator
function M.iterate(list, delay, step, state)
  for _, buffer in ipairs(list) do
    buffer.pending:fill(0)
    rawset(buffer, "open", true)
  end
  local count = 0
  local function visit(first, ...)
    if first == nil or count == delay then
      flush(list)
      count = 0
    end
    if first == nil then
      for _, buffer in ipairs(list) do rawset(buffer, "open", nil) end
    end
    count = count + 1
    return first, ...
  end
  return function() return visit(step(state)) end
end

return M
