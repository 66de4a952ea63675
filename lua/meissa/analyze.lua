-- SPDX-License-Identifier: MIT
--
-- Analysis of a loop given as text, without running it.
--
--     local plan = meissa.analyze("for i in parallel(9) do A[i+3] = A[i] end",
--                                 { A = meissa.shape(12) })
--     print(plan.verdict, plan.strategy)
-- @module meissa.analyze

local capture = require "meissa.capture"
local captured = require "meissa.plan.captured"
local core = require "meissa.core"
local engine = require "meissa.kernel.engine"
local errors = require "meissa.base.errors"
local families = require "meissa.kernel.family"
local grids = require "meissa.plan.grid"
local picture = require "meissa.plan.picture"
local public = require "meissa.base.public"
local inspect = require "meissa.plan.inspect"
local report = require "meissa.plan.report"
local spaces = require "meissa.plan.space"
local views = require "meissa.plan.views"

local M = {}

local LARGEST = 2 ^ 53
local MOST_DIMS = 8
local OPTIONS = { "ordered", "serial", "grid", "collapse", "explain", "reduce", "numeric", "engine",
  "transaction", "impure", "check", "assume" }

--- A plain table of unknown contents, for the bindings of `analyze`: data, no arrays in it.
M.opaque = setmetatable({}, { __tostring = function() return "meissa.opaque" end })

-- Shapes: arrays that have extents and nothing else.
-- Their numbers are far above those of real arrays.
local Shape = {}
local shapes = 2 ^ 50

function Shape.__index(_, key)
  if type(key) == "number" then
    errors.raise("ARR", "a shape has no elements; it only stands for an array in analyze")
  end
  return Shape[key]
end

function Shape.__tostring(shape)
  return string.format("shape(%s)", table.concat(shape.dims, ", "))
end

function Shape:size(dim)
  if dim then return self.dims[dim] end
  return self.dims
end

function Shape:dim()
  return #self.dims
end

function Shape:nnz()
  return self.entries
end

--- An array that has only extents, for the bindings of `analyze`.
-- @param ... the extents, and at the end optionally {sparse = true, nnz = 1000, type = "int32"}
-- @usage meissa.shape(100, 32)
function M.shape(...)
  local dims, options = { ... }, {}
  if type(dims[#dims]) == "table" then options = table.remove(dims) end
  errors.check_options("shape", options, { "sparse", "type", "nnz" })
  if #dims < 1 or #dims > MOST_DIMS or select("#", ...) > #dims + 1 then
    errors.raise("OPT", "a shape has 1 to %d extents", MOST_DIMS)
  end
  for d, extent in ipairs(dims) do
    if type(extent) ~= "number" or extent < 0 or extent ~= math.floor(extent) or
      extent > LARGEST then
      errors.raise("OPT", "extent %d of a shape must be a whole number, not %s", d,
        tostring(extent))
    end
  end
  local entries = options.nnz or 0
  if type(entries) ~= "number" or entries < 0 or entries ~= math.floor(entries) then
    errors.raise("OPT", "nnz of a shape must be a whole number, not %s", tostring(entries))
  end
  shapes = shapes + 1
  local element = options.type or "double"
  return setmetatable({ id = shapes, dims = dims, sparse = options.sparse and true or false,
    entries = entries, integer = element == "int32" or element == "int64", type = element }, Shape)
end

local function describe(value)
  if type(value) ~= "table" or getmetatable(value) ~= Shape then return nil end
  return { array = value.id, storage = value.id, dims = rawget(value, "dims"),
    sparse = rawget(value, "sparse"), integer = rawget(value, "integer"),
    type = rawget(value, "type") }
end

-- Real arrays can be given as well.
local describers = { describe, captured.describe_array }

--- Adds a function that describes values which are arrays (see meissa.capture.resolve).
function M.add_describer(fn)
  describers[#describers + 1] = fn
end

local function describe_any(value)
  for k = 1, #describers do
    local about = describers[k](value)
    if about then return about end
  end
end

local function range_of(value, position)
  local range = type(value) == "table" and { value[1], value[2], value[3] or 1 } or { 1, value, 1 }
  for k = 1, 3 do
    local bound = range[k]
    if type(bound) ~= "number" or bound ~= math.floor(bound) or math.abs(bound) > LARGEST then
      errors.raise("OPT", "argument %d of parallel: a range is n, {lo, hi} or {lo, hi, step} of "
        .. "whole numbers", position)
    end
  end
  if range[3] == 0 then
    errors.raise("OPT", "argument %d of parallel: the step is 0", position)
  end
  return range
end

-- The space of recorded arguments, and the array that it is about.
local function space_of(recorded, opts)
  local count, options = recorded.n, {}
  local last = recorded[count]
  if type(last) == "table" and not describe_any(last) and last[1] == nil then
    options, count = last, count - 1
  end
  errors.check_options("parallel", options, OPTIONS)
  local space = { ranges = {}, serial = options.serial, collapse = options.collapse,
    impure = options.impure, assume = spaces.assumption(options) }
  local about = count == 1 and describe_any(recorded[1])
  if about then
    for d, extent in ipairs(about.dims) do space.ranges[d] = { 1, extent, 1 } end
    space.source, space.sparse = 0, about.sparse
  else
    if count < 1 or count > MOST_DIMS then
      errors.raise("OPT", "parallel takes an array or 1 to %d ranges", MOST_DIMS)
    end
    for k = 1, count do space.ranges[k] = range_of(recorded[k], k) end
  end
  space.ordered = not about
  if options.ordered ~= nil then space.ordered = options.ordered end
  if opts.ordered ~= nil then space.ordered = opts.ordered end
  spaces.check_grid(options.grid)
  space.options, space.numeric = options, options.numeric or "strict"
  return space, about
end

local TYPES = { float = "float", int32 = "int32", int64 = "int64" }

-- How the arrays would lie in memory, by capture.
local function layout_of(bindings)
  local arrays = {}
  for c, binding in ipairs(bindings) do
    if binding.kind == "array" then
      local strides, size = {}, 1
      for d = #binding.dims, 1, -1 do strides[d], size = size, size * binding.dims[d] end
      local about = describe_any(binding.value)
      arrays[c] = { type = TYPES[about.type] or "double", strides = strides,
        rows = binding.sparse }
    end
  end
  return arrays
end

-- Finds out which engine would run a plan.
local function judge(plan, loop, bindings, space, about)
  plan.engine = "lua"
  if plan.strategy == "serial" or space.serial then return end
  local native, refusal = families.emit_native(loop, plan, bindings, space, layout_of(bindings),
    about and (TYPES[about.type] or "double"))
  engine.judge(plan, { native = native, refusal = refusal }, space)
end

local function locals_at(level)
  local values = {}
  for slot = 1, 250 do
    local name, value = debug.getlocal(level + 1, slot)
    if not name then break end
    values[name] = { value }
  end
  return values
end

-- Runs the text with a `parallel` that remembers its first call and runs nothing.
local function record(text, chunkname, bindings)
  local recorded
  local function parallel(...)
    if not recorded then
      recorded = { n = select("#", ...), locals = locals_at(2), ... }
    end
    return function() end
  end
  capture.register(parallel, "meissa.parallel")
  local meissa = setmetatable({ parallel = parallel }, { __index = public.names })
  local env = setmetatable({}, { __index = function(_, name)
    if bindings[name] ~= nil then return bindings[name] end
    if name == "parallel" then return parallel end
    if name == "meissa" then return meissa end
    return _G[name]
  end })
  local chunk, message = loadstring(text, chunkname)
  if not chunk then errors.raise("SRC", "%s", message) end
  setfenv(chunk, env)
  local ok, problem = pcall(chunk)
  if not recorded then
    if not ok then
      errors.raise("SRC", "the text does not run up to its loop: %s", tostring(problem))
    end
    errors.raise("SRC", "the text has no loop of the form `for i in parallel(n) do ... end`")
  end
  return recorded, env
end

-- print(plan) shows the report.
local Analysis = {}

Analysis.__index = {}

function Analysis.__tostring(plan)
  return report.text(plan, { serial = plan.serial, grid = plan.grid, engine = plan.engine,
    engine_reason = plan.engine_reason })
end

-- The schedule as a picture, as of other plans.
function Analysis.__index:picture()
  return picture.text(self)
end

-- Cuts the plan's space as a run would. Of the entries of a sparse shape only the number may be
-- known: then the cuts are even, and as few as the rule has.
local function cut(plan, space, entries)
  plan.grid = {}
  if plan.strategy == "serial" then return end
  for _, extent in ipairs(plan.extents) do
    if spaces.length(extent) < 1 then return end
  end
  plan.grid = grids.cut(plan, { ranges = space.ranges, options = space.options,
    ordered = space.ordered, entries = space.sparse and entries or nil }).ranges
end

--- Plans a loop given as text.
-- @string text Lua text with a loop over `parallel(...)`
-- @tab[opt] bindings what its names mean: arrays, shapes, numbers, `meissa.opaque`
-- @tab[opt] opts `ordered` overrides the loop's own order
-- @treturn table the plan: verdict, strategy, dims, row, distances, arrays, scalars, reasons, grid;
-- plan:picture() draws its schedule
-- @raise SRC text without a loop; OPT a bad space
function M.analyze(text, bindings, opts)
  if type(text) ~= "string" then errors.raise("OPT", "analyze takes the text of a loop") end
  opts, bindings = opts or {}, bindings or {}
  errors.check_options("analyze", opts, { "ordered", "chunkname" })
  local chunkname = opts.chunkname or "=text"
  local loop, problem = core.loop(text, chunkname)
  if not loop then errors.raise_core(problem) end
  local recorded, env = record(text, chunkname, bindings)
  local space, about = space_of(recorded, opts)
  local captures = loop:captures()
  local resolved = capture.resolve(captures, function(each)
    local value = each.reach ~= "global" and recorded.locals[each.root]
    if value then return value[1] end
    return env[each.root]
  end, describe_any, { env = env, opaque = { [M.opaque] = true }, names = loop:names(),
    calls = loop:calls() })
  if about then space.source = capture.source(resolved, about, recorded[1]) end
  views.resolve(resolved, #captures)
  local plan
  plan, problem = core.plan(loop, resolved, space)
  if not plan then errors.raise_core(problem) end
  report.drop_impossible_fixes(plan)
  if plan.collisions then plan.inspect = inspect.names(captures, resolved, plan.collisions) end
  views.name_bases(plan.arrays, resolved)
  plan.text, plan.line, plan.ordered = text, loop:info().line, space.ordered
  plan.serial = space.serial
  cut(plan, space, about and about.sparse and recorded[1]:nnz())
  judge(plan, loop, resolved, space, about)
  return setmetatable(plan, Analysis)
end

return M
