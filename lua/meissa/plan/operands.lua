-- SPDX-License-Identifier: MIT
--- Operands: which pieces of memory a job works on, and where its kernel finds what among them.
-- What each of them is and how it moves is the core's (csrc/job/operands.h).
-- @module meissa.plan.operands

local array = require "meissa.array"
local buffer = require "string.buffer"
local c_api = require "meissa.array.c_api"
local ffi = require "ffi"
local replica_groups = require "meissa.sync.replica_group"
local scratches = require "meissa.array.scratch"
local tables = require "meissa.base.tables"
local versioned = require "meissa.plan.versioned"
local content_versions = require "meissa.array.content_version"
local views = require "meissa.plan.views"

local M = {}

local lib, call = c_api.lib, c_api.call

local print_of = ffi.new "uint64_t[2]"
local SERVED = lib.ms_movement_find "served"

-- An empty list of operands in the core.
local function new_operands(by_value)
  return ffi.gc(call(lib.ms_operands_new, by_value and 1 or 0), lib.ms_operands_free)
end

-- Gives an operand the version of its contents.
local function find_version(operands, number)
  local each = operands.list[number - 1]
  local id, size = tonumber(each.operand.id), lib.ms_operands_print(operands, number, print_of)
  local sections = tonumber(each.operand.section_count)
  if sections > 0 then
    id = id .. ";" .. ffi.string(each.operand.sections, sections * ffi.sizeof "ms_section")
  end
  each.operand.version = content_versions.of_print(id, print_of, tonumber(size))
end

-- Adds what a loop only reads; where it travels by value, it need not be sent again as long as it
-- has not changed.
local function add_read(operands, fn, ...)
  local count = operands.count
  local number = call(fn, operands, ...)
  if operands.by_value ~= 0 and operands.count > count then find_version(operands, number) end
  return number
end

-- Adds a dense array that the loop only reads.
local function place_read(operands, value, needs)
  return add_read(operands, lib.ms_operands_array, array.core(value), 0, needs)
end

-- Whether an operand is what the job's plan says of capture c. It is not where the plan is that of
-- another loop, nor if it is only read and travels by value: then it has a version.
local function is_planned(run, c)
  return not (run.follows or run.by_value and not run.plan.array_of[c].written)
end

-- Adds a dense array as the plan has it; where it is known what each block writes, with that.
local function place_planned(operands, run, c, served)
  local value = run.values[c]
  local memory, id = array.core(value), array.describe(value).id
  local number = call(lib.ms_operands_array, operands, memory, c, nil)
  local own = run.lists and not run.damped and run.lists[id]
  if own then
    call(lib.ms_operands_list, operands, number, own.needs, own.handed, array.core(own.holder),
         served and served[id])
  end
  return number
end

-- Adds a dense array, or the base of views: its number, and where the array is seen through its
-- base, the view.
local function place_dense(operands, run, c, served)
  local value, view = run.values[c], run.bindings[c].view
  local known = view and lib.ms_operands_number(operands, view.base.id) or 0
  if known > 0 then return known, view end
  local memory = array.core(value)
  if is_planned(run, c) then
    if not view then return place_planned(operands, run, c, served), nil end
    return call(lib.ms_operands_base, operands, memory, views.base(view.base), c), view
  end
  local needs = served and served[array.describe(value).id]
  local base = not needs and run.by_value and view and view.base
  if base and (base.parts or base.compact) then -- no more of it travels than the views have
    return add_read(operands, lib.ms_operands_base, memory, views.base(base), 0), view
  end
  return place_read(operands, value, needs), nil
end

-- Adds a sparse array: its values, which a loop may write, the coordinates of its entries, and its
-- compressed rows where the loop only reads it.
local function place_sparse(operands, run, c)
  local value = run.values[c]
  local shape, memory = array.describe(value), array.core(value)
  local told = {dims = shape.dims, count = shape.count, id = shape.id, coords = {}}
  local number = call(lib.ms_operands_values, operands, memory, is_planned(run, c) and c or 0)
  for d = 1, #shape.dims do
    told.coords[d] = call(lib.ms_operands_coords, operands, memory, d - 1)
  end
  local rows = run.plan.array_of[c].access == "read" and array.rows(value)
  if rows then
    local numbers = {}
    for part = 0, #shape.dims do
      numbers[part] = call(lib.ms_operands_rows, operands, memory, rows, part)
    end
    told.rows = {start = numbers[0], values = numbers[1], columns = {unpack(numbers, 2)}}
  end
  return number, told
end

-- Adds the entries of a partition, over which the loop is.
local function place_entries(operands, where, partition, space)
  where.coords, where.limits = {}, {}
  for d, range in ipairs(space.ranges) do
    where.limits[d] = math.max(range[1], range[2])
    where.coords[d] = call(lib.ms_operands_entries, operands, partition, d)
  end
  where.entries = call(lib.ms_operands_entries, operands, partition, 0)
  where.starts = call(lib.ms_operands_starts, operands, partition)
end

-- Adds the array that holds the bytes of a captured table, or of an array's labels.
local function place_bulk(operands, holder)
  return call(lib.ms_operands_constant, operands, array.core(holder.array))
end

-- The place of an id in a list of them, where it is put if it is not there.
local function number_of(ids, id)
  for n, each in ipairs(ids) do
    if each == id then return n end
  end
  ids[#ids + 1] = id
  return #ids
end

-- What tells a kernel where a view lies in its base; nil for an array by itself.
local function placed(view)
  return view and {first = view.first, along = view.along, factor = view.factor,
                   dims = view.extents}
end

-- What tells workers of posts (meissa.kernel.block_posts), with the numbers of the replicas'
-- arrays.
local function posts_of(posts, arrays)
  local number = {}
  for a, about in tables.each(arrays) do number[about.id] = a end
  local told = {replicas = posts.replicas, oldest = posts.oldest, groups = {}}
  for g, group in ipairs(posts.groups) do
    local members = {}
    for m, member in ipairs(group.members) do
      members[m] = {array = number[member.id], type = member.type, count = member.count}
    end
    told.groups[g] = {number = g, replicas = posts.replicas, options = group.options,
                      rule = group.rule, count = group.count, lagged = group.lagged,
                      exact = group.exact, alike = group.alike,
                      by_round = group.by_round, check = group.check,
                      model = group.model, failures = group.failures, groups = group.groups,
                      drawn = group.drawn, timed = group.timed, members = members}
  end
  return told
end

-- Copies of doubles are what their rows begin with: a body works on these, and nothing is copied.
local function place_rows(posts, where)
  for g, group in ipairs(posts.groups) do
    local at, in_rows, size = {}, true, 0
    for _, member in ipairs(group.members) do
      at[member.id], size = size, size + 8 * member.count
      in_rows = in_rows and member.type == "double"
    end
    where.posts.groups[g].in_rows = in_rows
    for a, about in tables.each(in_rows and where.replica or {}) do
      local offset = at[about.id]
      if offset then
        where.versions.places[a] = {array = g, next = true, own = true, offset = offset}
      end
    end
  end
end

-- What tells workers of the arrays that merges damp (meissa.kernel.damped). What was there before a
-- block is looked at, though the loop may not read it.
local function damped_of(run, operands, where, numbers)
  if not run.damped then return nil end
  local told = {replicas = run.damped.replicas}
  for d, each in ipairs(run.damped) do
    local a = numbers[each.capture]
    told[d] = {array = a, type = where.types[a], dim = each.dim, first = each.first,
               last = each.last, gamma = each.gamma}
    operands.list[where.arrays[a] - 1].seen = 1
  end
  return told
end

-- See M.collect.
local function collect(run, apart, served)
  local operands = new_operands(run.by_value)
  local where = {arrays = {}, types = {}, sparse = {}, pending = {}, buffers = {}, scratch = {},
                 replica = {}, views = {}, labels = {}}
  -- Weak: the arrays keep what their labels were packed into.
  local labels, label_count = setmetatable({}, {__mode = "v"}), 0
  local function place_labels(value)
    local packed = array.labels(value)
    if not packed then return nil end
    local list = {}
    for d, each in tables.each(packed) do
      list[d] = {operand = place_bulk(operands, each), id = array.describe(each.array).id,
                 count = each.count, strings = each.strings}
    end
    label_count = label_count + 1
    labels[label_count] = packed
    return list
  end
  where.versions = run.versions and versioned.place(run, operands) or nil
  local numbers = {} -- of arrays, by capture
  for c, binding in ipairs(run.bindings) do
    if binding.kind == "array" then
      local a, value = #where.arrays + 1, run.values[c]
      numbers[c] = a
      where.labels[a] = place_labels(value)
      where.types[a] = array.describe(value).type
      if binding.frozen then
        where.frozen = where.frozen or {}
        where.frozen[a] = true
      end
      if binding.replica then
        local copies = replica_groups.of(value)
        where.arrays[a] = false
        where.replica[a] = replica_groups.told(copies, not run.posts and
                                               place_read(operands, copies.rows) or nil)
      elseif binding.scratch then
        where.arrays[a], where.scratch[a] = false, scratches.describe(value)
      elseif binding.buffers then
        local shape = array.describe(value)
        where.arrays[a] = false
        where.pending[a] = {id = shape.id, dims = shape.dims, strides = shape.strides,
                            count = shape.count, marks = binding.marks,
                            number = number_of(where.buffers, shape.id)}
      elseif binding.sparse then
        where.arrays[a], where.sparse[a] = place_sparse(operands, run, c)
      elseif run.versions and run.versions.of[c] then
        local version = run.versions.of[c]
        local told = where.versions.arrays[version.array]
        where.arrays[a] = version.next and told.ring[1] or told.start
        where.versions.places[a] = version
      else
        local view
        where.arrays[a], view = place_dense(operands, run, c, served)
        where.views[a] = placed(view)
      end
    end
  end
  for _, about in tables.each(not run.posts and where.replica or {}) do
    about.number = number_of(where.buffers, about.id) -- behind those of buffers
  end
  if run.posts then
    where.posts = posts_of(run.posts, where.replica)
    place_rows(run.posts, where)
  end
  where.damped = damped_of(run, operands, where, numbers)
  local space = run.space
  if run.grid.partition then
    place_entries(operands, where, run.grid.partition, space)
  elseif space.array then
    local view, source = nil, space.source or 0
    if source > 0 then
      where.entries, view = place_dense(operands, run, source, served)
    else
      where.entries = place_read(operands, space.array)
    end
    where.entries_view = placed(view)
  end
  where.bulk = {}
  for k, each in ipairs(apart) do
    where.bulk[k] = {capture = each.capture, operand = place_bulk(operands, each.holder),
                     length = each.holder.length, digest = each.holder.digest}
  end
  return {core = operands, labels = labels, label_count = label_count, served = served,
          lists = run.lists}, where
end

-- Whether the labels among the operands are still where they were.
local function has_labels(operands)
  for k = 1, operands.label_count do
    if not operands.labels[k] then return false end
  end
  return true
end

--- Looks again at the contents of arrays that travel by value: some may have changed.
-- @tab operands what collect gave @tab changed arrays
function M.renew(operands, changed)
  local stores, core = {}, operands.core
  for _, value in ipairs(changed) do stores[array.describe(value).store] = true end
  for number = 1, core.count do
    local each = core.list[number - 1]
    local again = each.store ~= 0 and stores[tonumber(each.store)] and
                  each.binding == 0 and each.operand.movement <= SERVED
    if again then find_version(core, number) end
  end
end

--- Which contents a job's operands have, as a string; nil if it writes one of them.
function M.contents(operands)
  local parts, core = {}, operands.core
  for k = 0, core.count - 1 do
    local operand = core.list[k].operand
    if core.list[k].binding ~= 0 or operand.movement > SERVED then return nil end
    parts[k + 1] = string.format("%d:%d", tonumber(operand.id), tonumber(operand.version))
  end
  return table.concat(parts, "|")
end

--- The operands as a kernel of this process takes them: {pointer =, element = bytes, dims =,
-- strides =} of each.
function M.pieces(operands)
  local pieces, core = {}, operands.core
  for k = 0, core.count - 1 do
    local operand, dims, strides = core.list[k].operand, {}, {}
    for d = 1, operand.dim_count do
      dims[d], strides[d] = tonumber(operand.dims[d - 1]), tonumber(operand.strides[d - 1])
    end
    pieces[k + 1] = {pointer = ffi.cast("void *", core.list[k].data), element = operand.element,
                     dims = dims, strides = strides}
  end
  return pieces
end

-- The memory that a run's sparse arrays are in, by its numbers: values, and the rows that are read,
-- which are brought up to date.
local function sparse_stores(run)
  local stores = {}
  for c, binding in ipairs(run.bindings) do
    if binding.kind == "array" and binding.sparse then
      local value = run.values[c]
      local rows = run.plan.array_of[c].access == "read" and array.rows(value) or nil
      stores[#stores + 1] = array.describe(value).id
      stores[#stores + 1] = rows and tonumber(rows.structure.id) or 0
      stores[#stores + 1] = rows and tonumber(rows.value_store.id) or 0
    end
  end
  return stores
end

local function same_list(a, b)
  for k, each in ipairs(b) do
    if a[k] ~= each then return false end
  end
  return #a == #b
end

-- Whether the operands of a run may be those of the next one, too: what travels apart, and what is
-- sent by value, may change.
local function lasts(run, apart)
  return not run.by_value and #apart == 0 and not run.versions
end

--- The job's operands, and where the kernel finds its arrays, the space's entries and the captured
-- tables that travel apart among them. What is pending in a buffer and scratch arrays are no
-- operands: each process that runs blocks has its own (`pending` and `scratch`, by the array's
-- number; `buffers`, the ids of the pending arrays, once each).
-- They are kept with what the loop has captured, for all plans: these say which of them are
-- written, and how they move.
-- @tab run the run; `by_value`: memory is not shared @tab apart what kernel.pack gave
-- @tab[opt] served what blocks need of arrays, by their ids
-- @treturn table operands, whose `core` (ms_operands *) a job takes
-- @treturn string the encoded table that tells where things are
-- @treturn table that table
function M.collect(run, apart, served)
  local situation, partition = run.situation, run.grid.partition
  local id = partition and tonumber(partition.id)
  local version = partition and tonumber(partition.version)
  local known, lasting = situation.operands, lasts(run, apart)
  local stores = lasting and sparse_stores(run)
  if known and known.partition == id and lasting and known.version == version and
     same_list(known.stores, stores) and known.operands.lists == run.lists and
     has_labels(known.operands) then
    return known.operands, known.words, known.where
  end
  local operands, where = collect(run, apart, served)
  local words = buffer.encode(where)
  situation.operands = lasting and {operands = operands, where = where, words = words,
                                    partition = id, version = version, stores = stores} or nil
  return operands, words, where
end

return M
