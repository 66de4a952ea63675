-- SPDX-License-Identifier: MIT
--- Items: the pieces of memory that a job works on, each with its movement.
--
-- Where memory is shared nothing moves. Where it is not, an array stays with the owner of a range,
-- goes along with ranges, is sent before the job, whole or as far as it is needed, returned after
-- it, or exchanged while it runs.
-- @module meissa.plan.operands

local array = require "meissa.array"
local buffer = require "string.buffer"
local c_api = require "meissa.array.c_api"
local partitions = require "meissa.plan.partition"
local replicas = require "meissa.sync.replica"
local scratches = require "meissa.array.scratch"
local strategies = require "meissa.plan.strategy"
local tables = require "meissa.base.tables"
local versioned = require "meissa.plan.versioned"
local versions = require "meissa.array.version"
local views = require "meissa.plan.views"

local M = {}

local element_size = c_api.element_sizes

-- Arrays and partitions are numbered apart; the vectors of a partition, and the coordinates and
-- rows of a sparse array, get numbers of their own far above those of arrays.
local PARTITIONS, COORDINATES, ROWS, VECTORS = 2 ^ 48, 2 ^ 49, 2 ^ 50, 16

-- Whether the elements lie one behind the other.
local function is_dense(shape)
  local stride = 1
  for d = #shape.dims, 1, -1 do
    if shape.dims[d] > 1 and shape.strides[d] ~= stride then return false end
    stride = stride * shape.dims[d]
  end
  return true
end

-- The version of an operand's contents.
local function version_of(operand)
  if operand.parts then
    return versions.of_boxes(views.part_words(operand), views.part_boxes(operand), operand.element)
  elseif not is_dense(operand) then
    return versions.of_boxes(operand.id, {operand}, operand.element)
  end
  local size = operand.element
  for _, extent in ipairs(operand.dims) do size = size * extent end
  return versions.of(operand.id, operand.pointer, size)
end

-- An operand that the loop only reads, which where memory is not shared need not be sent again as
-- long as it has not changed.
local function keep(run, operand)
  if not run.by_value then return operand end
  operand.movement, operand.version = operand.needs and "served" or "cached", version_of(operand)
  return operand
end

-- An array that the loop only reads.
local function read_operand(value, run, needs)
  local shape, memory = array.describe(value), array.core(value)
  return keep(run, {
    id = shape.id, version = 0, needs = needs,
    pointer = memory.data, segment = memory.store.block.segment, store = shape.store,
    element = element_size[shape.type], dims = shape.dims, strides = shape.strides,
    movement = "broadcast",
  })
end

-- The base of views that the loop only reads, where no more of it travels than they have; or nil.
local function base_operand(value, view, run)
  local base = view and run.by_value and view.base
  if not (base and (base.parts or base.compact)) then return nil end
  return keep(run, views.operand(base, value))
end

-- An array that the loop writes, or the base of views that it writes: the plan in C has how it
-- moves, by the array's number.
local function written_operand(value, view, about)
  local operand = view and views.operand(view.base, value) or read_operand(value, {})
  operand.movement, operand.array = nil, about.number + 1
  return operand
end

-- A sparse array is its values, which a loop may write, and the coordinates of its entries.
local function sparse_operands(value, about, plan)
  local shape, memory = array.describe(value), array.core(value)
  local move = "cached"
  if about.written then
    local traits = strategies[plan.strategy]
    move = (traits.waits or traits.alone) and "exchanged" or "scattered"
  end
  local operands = {{
    id = shape.id, version = tonumber(memory.version), pointer = memory.data,
    segment = memory.store.block.segment, element = element_size[shape.type],
    dims = {shape.count}, movement = move, written = about.written,
  }}
  for d = 1, #shape.dims do
    operands[d + 1] = {
      id = COORDINATES + shape.id * VECTORS + d, version = 0, pointer = memory.coords[d - 1],
      segment = memory.coord_store.block.segment, element = 4, dims = {shape.count},
      movement = "cached",
    }
  end
  return operands, {dims = shape.dims, count = shape.count, id = shape.id}
end

-- The compressed rows of a sparse array that the loop reads and does not write: `start`, the
-- values, the columns of each further dimension. Nil where it has none.
local function row_operands(value, about)
  local rows = about.access == "read" and array.rows(value)
  if not rows then return nil end
  local shape = array.describe(value)
  local first = ROWS + shape.id * VECTORS
  local structure, segment = rows.structure.block.segment, rows.value_store.block.segment
  local operands = {
    {id = first, version = 0, pointer = rows.start, segment = structure, element = 8,
     dims = {shape.dims[1] + 1}, movement = "cached"},
    {id = first + 1, version = tonumber(rows.version), pointer = rows.values, segment = segment,
     element = element_size[shape.type], dims = {shape.count}, movement = "cached"},
  }
  for d = 2, #shape.dims do
    operands[d + 1] = {id = first + d, version = 0, pointer = rows.columns[d - 1],
                    segment = structure, element = 4, dims = {shape.count}, movement = "cached"}
  end
  return operands
end

-- Vectors of a partition's entries: coordinates of each dimension, then the values.
local function entry_operands(partition, space)
  local shape = array.describe(space.array)
  local operands, count = {}, tonumber(partition.count)
  local base = partition.entries.block.segment
  local function add(pointer, element, place)
    operands[#operands + 1] = {
      id = PARTITIONS + tonumber(partition.id) * VECTORS + place,
      version = tonumber(partition.version),
      pointer = pointer, segment = base, element = element, dims = {count}, movement = "cached",
      offsets = partition.start,
    }
  end
  for d = 1, #space.ranges do add(partitions.coords(partition, d), 4, d) end
  add(partitions.values(partition), element_size[shape.type], 0)
  return operands
end

-- Where the blocks of a partition begin, and the last one ends.
local function starts_operand(partition)
  return {
    id = PARTITIONS + (tonumber(partition.id) + 1) * VECTORS - 1,
    version = tonumber(partition.version), pointer = partition.start,
    segment = partition.offsets.block.segment, element = 8,
    dims = {tonumber(partition.blocks) + 1}, movement = "cached",
  }
end

-- The array that holds the bytes of a captured table, or of an array's labels.
local function bulk_operand(holder)
  local shape, memory = array.describe(holder.array), array.core(holder.array)
  return {
    id = shape.id, version = 1, pointer = memory.data, segment = memory.store.block.segment,
    element = 8, dims = shape.dims, movement = "cached",
  }
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

-- What tells workers of posts (meissa.kernel.posts), with the numbers of the replicas' arrays.
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
                      count = group.count, lagged = group.lagged, exact = group.exact,
                      model = group.model, members = members}
  end
  return told
end

-- See M.collect.
local function collect(run, apart, served)
  local operands, numbers, where = {}, {}, {arrays = {}, types = {}, sparse = {}, pending = {},
                                    buffers = {}, scratch = {}, replica = {}, views = {},
                                    labels = {}}
  local function place(operand)
    if not numbers[operand.id] then
      operands[#operands + 1] = operand
      numbers[operand.id] = #operands
    end
    return numbers[operand.id]
  end
  local function place_array(c)
    local value, about, view = run.values[c], run.plan.array_of[c], run.bindings[c].view
    if view and numbers[view.base.id] then return numbers[view.base.id], view end
    if about.written then return place(written_operand(value, view, about)), view end
    local needs = served and served[array.describe(value).id]
    local base = not needs and base_operand(value, view, run)
    if base then return place(base), view end
    return place(read_operand(value, run, needs)), nil
  end
  -- Weak: the arrays keep what their labels were packed into.
  local labels, label_count = setmetatable({}, {__mode = "v"}), 0
  local function place_labels(value)
    local packed = array.labels(value)
    if not packed then return nil end
    local list = {}
    for d, each in tables.each(packed) do
      local operand = bulk_operand(each)
      list[d] = {operand = place(operand), id = operand.id, count = each.count,
                 strings = each.strings}
    end
    label_count = label_count + 1
    labels[label_count] = packed
    return list
  end
  where.versions = run.versions and versioned.place(run, place) or nil
  for c, binding in ipairs(run.bindings) do
    if binding.kind == "array" then
      local a, value, about = #where.arrays + 1, run.values[c], run.plan.array_of[c]
      where.labels[a] = place_labels(value)
      where.types[a] = array.describe(value).type
      if binding.frozen then
        where.frozen = where.frozen or {}
        where.frozen[a] = true
      end
      if binding.replica then
        local copies = replicas.of(value)
        where.arrays[a] = false
        where.replica[a] = replicas.told(copies, not run.posts and
                                         place(read_operand(copies.rows, run)) or nil)
      elseif binding.scratch then
        where.arrays[a], where.scratch[a] = false, scratches.describe(value)
      elseif binding.buffers then
        local shape = array.describe(value)
        where.arrays[a] = false
        where.pending[a] = {id = shape.id, dims = shape.dims, strides = shape.strides,
                            count = shape.count, marks = binding.marks,
                            number = number_of(where.buffers, shape.id)}
      elseif binding.sparse then
        local parts, sparse = sparse_operands(value, about, run.plan)
        where.arrays[a], sparse.coords = place(parts[1]), {}
        for d = 2, #parts do sparse.coords[d - 1] = place(parts[d]) end
        local rows = row_operands(value, about)
        if rows then
          sparse.rows = {start = place(rows[1]), values = place(rows[2]), columns = {}}
          for d = 3, #rows do sparse.rows.columns[d - 2] = place(rows[d]) end
        end
        where.sparse[a] = sparse
      elseif run.versions and run.versions.of[c] then
        local version = run.versions.of[c]
        local told = where.versions.arrays[version.array]
        where.arrays[a] = version.next and told.ring[1] or told.start
        where.versions.places[a] = version
      else
        local view
        where.arrays[a], view = place_array(c)
        where.views[a] = placed(view)
      end
    end
  end
  for _, about in tables.each(not run.posts and where.replica or {}) do
    about.number = number_of(where.buffers, about.id) -- behind those of buffers
  end
  where.posts = run.posts and posts_of(run.posts, where.replica) or nil
  local space = run.space
  if run.grid.partition then
    where.coords, where.limits = {}, {}
    for d, range in ipairs(space.ranges) do where.limits[d] = math.max(range[1], range[2]) end
    local entries = entry_operands(run.grid.partition, space)
    for d = 1, #entries - 1 do where.coords[d] = place(entries[d]) end
    where.entries = place(entries[#entries])
    where.starts = place(starts_operand(run.grid.partition))
  elseif space.array then
    local view, source = nil, space.source or 0
    if source > 0 then
      where.entries, view = place_array(source)
    else
      where.entries = place(read_operand(space.array, run))
    end
    where.entries_view = placed(view)
  end
  where.bulk = {}
  for k, each in ipairs(apart) do
    where.bulk[k] = {capture = each.capture, operand = place(bulk_operand(each.holder)),
                     length = each.holder.length, digest = each.holder.digest}
  end
  operands.labels, operands.label_count = labels, label_count
  return operands, where
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
  local stores = {}
  for _, value in ipairs(changed) do stores[array.describe(value).store] = true end
  for _, operand in ipairs(operands) do
    local again = operand.store and stores[operand.store] and
                  (operand.movement == "cached" or operand.movement == "served")
    if again then operand.version = version_of(operand) end
  end
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
-- They are kept with what the loop has captured, for all plans to which its arrays mean the same.
-- @tab run the run; `by_value`: memory is not shared @tab apart what kernel.pack gave
-- @tab[opt] served what blocks need of arrays, by their ids
-- @treturn table operands
-- @treturn string the encoded table that tells where things are
-- @treturn table that table
function M.collect(run, apart, served)
  local situation, partition, uses = run.situation, run.grid.partition, run.plan.uses
  local id = partition and tonumber(partition.id)
  local version = partition and tonumber(partition.version)
  local known, lasting = situation.operands, lasts(run, apart)
  local stores = lasting and sparse_stores(run)
  if known and known.uses == uses and known.partition == id and lasting and
     known.version == version and same_list(known.stores, stores) and
     has_labels(known.operands) then
    return known.operands, known.words, known.where
  end
  local operands, where = collect(run, apart, served)
  local words = buffer.encode(where)
  operands.lasting = lasting
  situation.operands = lasting and {operands = operands, where = where, words = words,
                                    uses = uses, partition = id, version = version,
                                    stores = stores} or nil
  return operands, words, where
end

return M
