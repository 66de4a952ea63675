-- SPDX-License-Identifier: MIT
--
-- Making arrays: zeros, ones, full, rand, randn, from, sparse.
--
-- Dimensions are a table or plain integers; options come last. Memory is taken from the core, and
-- Lua's collector is asked to run when much of it was taken since it last ran: a handle looks like
-- a few bytes to the collector, whatever it holds.
-- @module meissa.array.make

local ffi = require "ffi"
local c_api = require "meissa.array.c_api"
local element = require "meissa.array.element"
local nesting = require "meissa.base.nesting"
local subscript = require "meissa.array.subscript"
local errors = require "meissa.base.errors"
local tables = require "meissa.base.tables"
local interrupt = require "meissa.base.interrupt"

local lib = c_api.lib
local floor = math.floor

local M = {}

-- Bytes that may be taken before the collector is asked to look for arrays nobody holds.
local PATIENCE = 64 * 2 ^ 20
local bytes_after_collection = 0

-- Functions that free what nobody needs once others' arrays are gone; held by whom they serve.
local followers = setmetatable({}, { __mode = "k" })

--- Has fn() called when arrays that nobody holds were looked for and freed, until nobody holds it.
function M.after_collection(fn)
  followers[fn] = true
end

--- Frees the arrays that the collector found unused; lets it look for more when much is held.
-- To be called before `bytes` are taken; arrays in use must be held by a handle on the stack.
function M.collect_if_much(bytes)
  lib.ms_array_drain()
  local held = tonumber(lib.ms_segment_bytes()) + bytes
  if held < 2 * bytes_after_collection + PATIENCE then return end
  collectgarbage()
  lib.ms_array_drain()
  for fn in tables.each(followers) do fn() end
  bytes_after_collection = tonumber(lib.ms_segment_bytes())
end

--- Why so many bytes cannot be taken, in words; nil where they can. Takes none.
function M.why_not(bytes)
  local ok, problem
  for attempt = 1, 2 do
    ok, problem = interrupt.pcall(c_api.call, lib.ms_segment_check, bytes)
    if ok then return nil end
    if attempt == 1 then
      collectgarbage()
      lib.ms_array_drain()
    end
  end
  return problem.message
end

-- Calls a constructor of the core; when memory is short, once more after a collection. Arrays that
-- nobody holds are freed here: arguments must be held by a handle on the caller's stack.
local function take(bytes, constructor, ...)
  M.collect_if_much(bytes)
  local ok, result = interrupt.pcall(c_api.call, constructor, ...)
  if not ok then
    collectgarbage()
    lib.ms_array_drain()
    result = c_api.call(constructor, ...)
  end
  return result
end

local function is_count(value)
  return type(value) == "number" and floor(value) == value and value >= 0
end

-- Reads `dims..., opts` from arguments: a table of extents or plain integers, then options.
local function read_shape(where, allowed, ...)
  local n = select("#", ...)
  local args = { ... }
  local dims, opts = {}, nil
  if type(args[1]) == "table" then
    dims, opts = args[1], args[2]
    if n > 2 then errors.raise("OPT", "%s: too many arguments after {dims}, {options}", where) end
  else
    for k = 1, n do
      if type(args[k]) == "table" and k == n then
        opts = args[k]
      else
        dims[k] = args[k]
      end
    end
  end
  if #dims < 1 or #dims > 8 then
    errors.raise("ARR", "%s: an array has 1 to 8 dimensions, not %d", where, #dims)
  end
  for d = 1, #dims do
    if not is_count(dims[d]) or dims[d] >= 2 ^ 31 then
      errors.raise("ARR", "%s: extent %s of dimension %d is not a whole number in 0..2^31-1", where,
        tostring(dims[d]), d)
    end
  end
  for key in tables.each(dims) do
    if type(key) ~= "number" or key > #dims then
      errors.raise("OPT", "%s: {%s = ...} among the extents; options are the last argument", where,
        tostring(key))
    end
  end
  return dims, errors.check_options(where, opts, allowed)
end

--- The number of an element type's name; raises OPT with the nearest one.
function M.type_number(where, name)
  if name == nil then return c_api.type_numbers.double end
  local number = c_api.type_numbers[name]
  if number then return number end
  if name == "object" then
    errors.raise("OPT", "%s makes numbers; meissa.objects(dims) makes an array of objects", where)
  end
  local known = { "float", "double", "int32", "int64" }
  local near = type(name) == "string" and errors.nearest(name, known)
  errors.raise("OPT", "%s: no element type '%s'%s", where, tostring(name),
    near and string.format(" (did you mean '%s'?)",
      near) or " (types: float, double, int32, int64)")
end

local function dense(dims, number)
  local count = 1
  for d = 1, #dims do count = count * dims[d] end
  local size = ffi.sizeof(c_api.element_ctypes[number])
  local array = take(count * size, lib.ms_array_dense, number, #dims, ffi.new("int64_t[8]", dims))
  return element.wrap(array)
end

-- For the other files.
M.dense = dense
M.take = take
M.read_shape = read_shape

--- An array of zeros.
-- @usage local A = meissa.zeros({100, 32}, {type = "float"})
-- @usage local A = meissa.zeros(100, 32)
function M.zeros(...)
  local dims, opts = read_shape("zeros", { "type" }, ...)
  return dense(dims, M.type_number("zeros", opts.type))
end

--- An array of ones.
function M.ones(...)
  local dims, opts = read_shape("ones", { "type" }, ...)
  local A = dense(dims, M.type_number("ones", opts.type))
  subscript.methods.fill(A, 1)
  return A
end

--- An array with the same value everywhere: full(dims, value, opts), or plain extents and then the
-- value.
-- @usage local A = meissa.full({10, 10}, 0.5)
-- @usage local A = meissa.full(10, 10, 0.5)
function M.full(dims, value, opts, ...)
  if type(opts) == "number" then
    local numbers = { dims, value, opts, ... }
    local last = type(numbers[#numbers]) == "table" and table.remove(numbers) or nil
    value = table.remove(numbers)
    dims, opts = numbers, last
  end
  if type(dims) == "number" then dims = { dims } end
  if type(dims) ~= "table" then errors.raise("OPT", "full: the extents must be a table") end
  local shape, options = read_shape("full", { "type" }, dims, opts)
  local A = dense(shape, M.type_number("full", options.type))
  subscript.methods.fill(A, value)
  return A
end

-- Arrays without a seed: the ordinal of the call, under the session's seed.
local session_seed, session_draws = 0, 0

--- Whether a loop's body is running, in this process or because it is a worker.
function M.in_body()
  return nesting.in_body
end

--- Sets the seed that random arrays without one of their own are drawn under.
function M.seed(seed)
  session_seed = M.seed_number("seed", seed)
  session_draws = 0
end

--- A function that gives a seed, a whole number, where random arrays without one of their own do
-- not follow the session's seed; nil where they do.
M.seeds = nil

--- Checks a seed: a whole number of at most 2^53.
function M.seed_number(where, seed)
  if seed == nil and M.seeds then seed = M.seeds() end
  if seed == nil then
    if M.in_body() then
      errors.raise("OPT", "%s in a loop's body needs a seed, or its numbers would depend on the " ..
        "worker: {seed = i}", where)
    end
    session_draws = session_draws + 1
    -- Spreads the sum over 64 bits so that seeds and ordinals do not collide.
    return (ffi.cast("uint64_t", session_seed) + 1) * 0x9E3779B97F4A7C15ULL + session_draws
  end
  if type(seed) ~= "number" or floor(seed) ~= seed or math.abs(seed) > 2 ^ 53 then
    errors.raise("OPT", "%s: seed must be a whole number, not %s", where, tostring(seed))
  end
  return ffi.cast("uint64_t", ffi.cast("int64_t", seed))
end

local function random(where, fill, ...)
  local dims, opts = read_shape(where, { "type", "seed", "scale" }, ...)
  local number = M.type_number(where, opts.type)
  local scale = opts.scale or 1
  if type(scale) ~= "number" or scale ~= scale or math.abs(scale) == math.huge then
    errors.raise("OPT", "%s: scale must be a finite number, not %s", where, tostring(opts.scale))
  end
  local seed = M.seed_number(where, opts.seed)
  local A = dense(dims, number)
  c_api.call(fill, A.array, seed, scale)
  return A
end

--- Uniform random numbers in [0, scale); whole ones for integer types. The same for any number of
-- processes: element k depends on the seed and k alone.
-- @usage local A = meissa.rand({100, 32}, {scale = 0.1, seed = 1})
function M.rand(...)
  return random("rand", lib.ms_random_fill_uniform, ...)
end

--- Normal random numbers of deviation `scale`, by Box and Muller's method; seeds as for rand.
-- @usage local W = meissa.randn({100, 32}, {scale = 0.1, seed = 1})
function M.randn(...)
  return random("randn", lib.ms_random_fill_normal, ...)
end

return M
