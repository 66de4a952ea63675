-- SPDX-License-Identifier: MIT
--- Executions: a job's blocks where they are run, on a worker or in the driver's process.
--
-- The driver tells what goes to a worker once (`kernel` bytes) and with each job (`run` bytes of
-- captured values, `where` things are, `draws`, the `layout` of the blocks), see job.lua. A worker
-- makes of it an instance of the kernel on its own memory. From one job to the next it keeps what
-- it has decoded, and the instance if only numbers have changed.
-- @module meissa.kernel.execution

local c_api = require "meissa.array.c_api"
local damped = require "meissa.kernel.damped"
local encoded = require "meissa.base.encoded"
local ffi = require "ffi"
local kernel = require "meissa.kernel"
local layouts = require "meissa.plan.layout"
local native_runs = require "meissa.kernel.native_run"
local round_runs = require "meissa.kernel.round_run"
local block_local = require "meissa.kernel.block_local"
local system = require "meissa.base.system"
local tables = require "meissa.base.tables"
local trace = require "meissa.base.trace"
local version_places = require "meissa.kernel.version_places"
local views = require "meissa.plan.views"

local M = {}

-- The operands of compressed rows as the kernel takes them.
local function as_rows(operands, numbers)
  if not numbers then return nil end
  local rows = {start = operands[numbers.start].pointer, values = operands[numbers.values].pointer,
                columns = {}}
  for d, number in ipairs(numbers.columns) do rows.columns[d] = operands[number].pointer end
  return rows
end

-- An array's labels, as the kernel takes them.
local function as_labels(operands, packed)
  if not packed then return nil end
  local labels = {}
  for d, each in tables.each(packed) do
    labels[d] = {id = each.id, pointer = operands[each.operand].pointer, count = each.count,
                 strings = each.strings}
  end
  return labels
end

-- An operand as the kernel takes an array; `sparse` says more where it is the values of a sparse
-- one, `view` where it is the base of one.
local function as_array(operands, number, type, sparse, view)
  local operand = operands[number]
  if view then
    local pointer, strides = views.part(operand, view)
    return {pointer = pointer, dims = view.dims, strides = strides, type = type}
  end
  if not sparse then
    return {pointer = operand.pointer, dims = operand.dims, strides = operand.strides, type = type}
  end
  local coords = {}
  for d, place in ipairs(sparse.coords) do coords[d] = operands[place].pointer end
  return {pointer = operand.pointer, dims = sparse.dims, type = type, coords = coords,
          count = sparse.count, id = sparse.id, rows = as_rows(operands, sparse.rows)}
end

--- The kernel, ready to run on operands that are where `where` says.
-- @tab[opt] draws what random numbers of the body belong to
-- @param[opt] layout of the blocks @number[opt] first the job's first block: of rounds
-- @return the instance, with `versions` and `damped` if it has any (see version_places.lua,
-- damped.lua); the private memory that it works with, if any (see block_local.lua)
function M.instance(kernel_bytes, run_bytes, operands, where, draws, layout, first)
  local arrays, own = {}, block_local.of(where, operands)
  for a, number in ipairs(where.arrays) do
    arrays[a] = own and own.arrays[a] or
      as_array(operands, number, where.types[a], where.sparse[a], where.views[a])
    arrays[a].frozen = where.frozen and where.frozen[a]
    arrays[a].labels = as_labels(operands, where.labels[a])
  end
  if where.entries then
    local entries = as_array(operands, where.entries, nil, nil, where.entries_view)
    arrays.space = {pointer = entries.pointer, strides = entries.strides, coords = {},
                    dims = where.limits}
    for d, number in ipairs(where.coords or {}) do
      arrays.space.coords[d] = ffi.cast("const int32_t *", operands[number].pointer)
    end
  end
  arrays.bulk = {}
  for k, each in ipairs(where.bulk) do
    arrays.bulk[k] = {capture = each.capture, pointer = operands[each.operand].pointer,
                      length = each.length, digest = each.digest}
  end
  local host = {print = _G.print, draws = draws,
                versions = version_places.of(where, operands, layout, first)}
  local instance = kernel.prepare(kernel_bytes, run_bytes, arrays, host)
  instance.damped = damped.of(where, arrays)
  return instance, own
end

--- Has the blocks of replicas exchange what they post, if they do: what that takes is loaded with
-- the first ones.
-- @tab own the instance's private memory @number round after which the job begins
function M.post(instance, where, own, round)
  instance.posts = where.posts and
    require("meissa.kernel.block_posts").of(where, own, instance.versions, round) or nil
end

-- `run`, which runs a block, with what is done before and after it, if anything is.
local function within(around, run)
  if not around then return run end
  local function whole(number)
    around:begin(number)
    local bytes, err = run(number)
    if bytes then around:finish(number) end
    return bytes, err
  end
  return function(number)
    local ok, bytes, err = pcall(whole, number)
    if not (ok and bytes) then around:leave() end
    if not ok then error(bytes, 0) end
    return bytes, err
  end
end

--- A function that runs a block, given its number, on the engine that is there when it begins.
function M.runner(instance, layout)
  local native = instance.call and instance
  local function run(number)
    if not native then
      native = instance:native()
      if not native then return instance:run(layouts.block(layout, number)) end
    end
    if instance.versions then instance.versions:serve(native) end
    c_api.lib.ms_layout_bounds(layout, number, native.bounds)
    return native:call()
  end
  return within(instance.posts, within(instance.damped, run))
end

--- Runs blocks of rounds by one call of C, where nothing is done between them.
-- @number first of the blocks @number last one, not included
-- @treturn table|nil|boolean what they have left; nil: one has stopped; false: they are no such
-- blocks, and nothing has run
function M.run_rounds(instance, first, last)
  local native = instance.call and instance or instance:native()
  local alone = native and not (native.encoded or native.info.declines or instance.posts or
    instance.damped)
  if not alone or instance.versions.core.wanted ~= nil then return false end
  instance.versions:serve(native)
  return round_runs.run(native, instance.versions.core, first, last)
end

-- What stays the same for many jobs, decoded; of so many kinds of jobs, which driver loops with
-- moving bounds have, and of so many bytes.
local MOST_DECODED, MOST_BYTES = 256, 2 ^ 21

-- A function that decodes, each of the last strings once.
local function decoder(decode)
  local known, count, bytes = {}, 0, 0
  return function(words)
    local value = known[words]
    if value then return value end
    if count == MOST_DECODED or bytes + #words > MOST_BYTES then known, count, bytes = {}, 0, 0 end
    value = decode(words)
    known[words], count, bytes = value, count + 1, bytes + #words
    return value
  end
end

local decode_static, decode_where = decoder(encoded.from_message), decoder(encoded.from_message)
local read_layout = decoder(layouts.read)

-- Instances of a kernel that are kept: loops whose arrays change places from call to call, as those
-- of two grids do, come back to the same few. One with memory of its own is alone.
local MOST_KEPT = 4

local function keep(fixed, made)
  local kept = fixed.kept
  if not kept or made.own or kept[1] and kept[1].own then
    kept = {next = 1}
    fixed.kept = kept
  end
  kept[kept.next], kept.next = made, kept.next % MOST_KEPT + 1
end

-- The one that a job can use: of its kind, on memory in the same places.
local function kept_for(fixed, told, job)
  for _, each in ipairs(fixed.kept or {}) do
    if each.where == told.where and each.mark == job.mark and
       kernel.renew(each.instance, told.run, told.draws) then
      return each
    end
  end
end

-- A job's instance, given what is decoded of it. Large tables are made for each job.
-- @return the instance, its private memory, and the blocks' layout
local function instance_of(fixed, told, job)
  local known, layout = kept_for(fixed, told, job), read_layout(told.layout)
  if known then
    if known.instance.versions then known.instance.versions:renew(told.first) end
    if known.instance.posts then known.instance.posts:renew(told.posted) end
    return known.instance, known.own, known.entries or layout
  end
  local where, operands, entries = decode_where(told.where), job:operands(), nil
  if where.starts then
    entries = layouts.read(told.layout, ffi.cast("const int64_t *", operands[where.starts].pointer))
  end
  local instance, own = M.instance(fixed.kernel, told.run, operands, where, told.draws, layout,
                                   told.first)
  M.post(instance, where, own, told.posted)
  if trace.on.kernel then trace.say("kernel", "instance operands=%d", #where.arrays) end
  if #where.bulk == 0 then
    keep(fixed, {instance = instance, where = told.where, mark = job.mark, own = own,
                 entries = entries})
  else
    fixed.kept = nil
  end
  return instance, own, entries or layout
end

--- A function that tells where in the loop's order an error was raised: a string that is less the
-- earlier it was; nil of loops whose order is the plan's.
-- @tab layout of layout.lua
-- @treturn function order_of(err), err with an `iteration`
function M.order(layout)
  if layout.ordered == 0 then return nil end
  local directions = {}
  for d = 1, layout.dims do directions[d] = layout.extents[d - 1].step < 0 and -1 or 1 end
  return function(err)
    local words = {}
    for d, value in ipairs(err.iteration or {}) do
      if type(value) ~= "number" then return nil end
      words[d] = string.format("%017.0f", 2 ^ 52 + (directions[d] or 1) * value)
    end
    return table.concat(words)
  end
end

-- Seconds of blocks whose results may wait, so that they are run again if the worker ends.
local MOST_DEFERRED = 0.005

-- A function that tells after a block whether its results may come with those of a later one.
local function deferring(job)
  local told = system.clock()
  return function()
    local now = system.clock()
    local may = now - told < MOST_DEFERRED and job:may_defer()
    if not may then told = now end
    return may
  end
end

--- On a worker: the function that runs one block of the job, given its number; for jobs whose
-- blocks need nothing else, what worker/init.lua runs them by without Lua; what M.order gives.
-- @string static what goes to a worker once
-- @param job the job
function M.prepare(static, job)
  local fixed, told = decode_static(static), encoded.from_message(job.run)
  local instance, own, layout = instance_of(fixed, told, job)
  if own then
    job.own = own -- lives as long as the job
    job:equip(own.core)
  end
  if instance.versions then
    job.versions = instance.versions -- as well
    job:version(instance.versions.core)
  end
  local run_block -- seldom needed
  local function run(number)
    run_block = run_block or M.runner(instance, layout)
    local bytes, err, defers = run_block(number)
    if not bytes then error(err, 0) end
    return bytes, nil, defers
  end
  local plain = not (instance.posts or instance.damped)
  if plain and not (instance.call or own or instance.versions) then
    instance:defer(deferring(job))
  end
  local without_lua = plain and native_runs.maker(instance, layout) or nil
  return run, without_lua, M.order(layout)
end

return M
