-- SPDX-License-Identifier: MIT
--
-- DistArrays: n-dimensional arrays, dense or sparse, whose memory workers share.
--
-- This file gathers the parts and is what other rooms of the module use. The parts: element.lua
-- (the C structs and fast access), subscript.lua (everything else about `A[...]`), make.lua
-- (constructors), and the methods: shape, arith, part, sparse, convert, show.
-- @module meissa.array

local ffi = require "ffi"
local c_api = require "meissa.array.c_api"
local element = require "meissa.array.element"
local subscript = require "meissa.array.subscript"
local valid = require "meissa.array.valid"
local make = require "meissa.array.make"
local objects = require "meissa.array.objects"
local sparse = require "meissa.array.sparse"
local convert = require "meissa.array.convert"
local labels = require "meissa.array.labels"
local overlaps = require "meissa.array.overlap"
local partition = require "meissa.array.partition"
local errors = require "meissa.base.errors"
require "meissa.array.shape"
require "meissa.array.arith"
local functions = require "meissa.array.functions"
local part = require "meissa.array.part"
require "meissa.array.sort"
require "meissa.array.product"
require "meissa.array.map"
require "meissa.array.group"
require "meissa.array.show"
require "meissa.array.arity"

local lib = c_api.lib

local M = {
  zeros = make.zeros,
  ones = make.ones,
  full = make.full,
  rand = make.rand,
  randn = make.randn,
  seed = make.seed,
  from = convert.from,
  sparse = sparse.sparse,
  empty = sparse.empty,
  objects = objects.make,
  cat = part.cat,
  abs = functions.abs, exp = functions.exp, log = functions.log, pow = functions.pow,
  sqrt = functions.sqrt, tanh = functions.tanh,
  after_collection = make.after_collection,
  partition = partition.get, find_partition = partition.find,
}

--- Whether a value is an array, or a row or slice of one.
function M.is(value)
  return element.kind(value) ~= nil
end

--- Whether a value is an array of any element type, or a row of one.
function M.is_any(value)
  return element.kind(value) ~= nil or objects.is(value)
end

--- What a value is: "handle" (an array), "row", "slice", or nil.
M.kind = element.kind

--- Whether a value is an array, not a row or slice.
function M.is_handle(value)
  return element.kind(value) == "handle"
end

--- The core's array (an ms_array pointer) behind an array, row or slice; not checked.
function M.core(value)
  return value.array
end

--- The core's array that shows what an array, row or slice shows; good as long as `value` lives
-- and nothing else is asked of arrays.
function M.core_of_part(value)
  return subscript.to_handle(value, true).array
end

--- The core's array behind an array that must be readable; raises ARR otherwise.
function M.checked(value)
  valid.check(value.array, value.generation)
  return value.array
end

--- An array for what a row or slice shows (a view); an array is returned as it is.
M.to_handle = subscript.to_handle
M.check_method = subscript.check_method

--- Wraps an ms_array pointer; its reference becomes the handle's.
M.wrap = element.wrap

-- What must live as long as an array over memory of somebody else.
local keep = setmetatable({}, { __mode = "k" })

--- An array over memory owned by somebody else.
-- @tab spec `type` (name), `dims`, `data` (a pointer), `strides` (in elements; row-major if nil);
-- sparse ones `coords` (a list of int32 pointers, 0-based) and `count`; `keep`: a value that lives
-- as long as the array; `labels`, as meissa.array.labels attaches them
function M.wrap_foreign(spec)
  local rank = #spec.dims
  local number = make.type_number("wrap_foreign", spec.type)
  local strides = spec.strides and ffi.new("int64_t[8]", spec.strides) or nil
  local coords
  if spec.coords then
    coords = ffi.new("int32_t *[8]")
    for d = 1, rank do coords[d - 1] = spec.coords[d] end
  end
  local A = element.wrap(c_api.call(lib.ms_array_foreign, number, rank,
    ffi.new("int64_t[8]", spec.dims), strides, spec.data, coords, spec.count or 0))
  if spec.labels then labels.attach(A, spec.labels) end
  if spec.frozen then lib.ms_array_freeze(A.array) end
  keep[A] = spec.keep
  return A
end

local no_columns = ffi.new("int32_t *[8]")

--- Makes an array, not its memory, read only.
function M.freeze(value)
  lib.ms_array_freeze(value.array)
end

-- Why arrays are held, as ms_array_write_bar has it.
local HELD = {rounds = 1, replicas = 2, merged = 3}

--- Makes an array, not its memory, read only until the function is called that this returns.
-- @string why "rounds", "replicas" or "merged"
function M.hold(value, why)
  local is_sparse = value.array.sparse ~= 0
  local held = is_sparse and value.array or subscript.to_handle(value, true).array
  local id, writable, before = held.id, held.writable, held.held
  held.writable = 0
  if writable ~= 0 then held.held = HELD[why] end
  return function()
    if held.id == id then held.writable, held.held = writable, before end
  end
end

--- The same for all of a list, in which an array may be twice.
function M.hold_all(list, why)
  local releases = {}
  for n, each in ipairs(list) do releases[n] = M.hold(each, why) end
  return function()
    for n = #releases, 1, -1 do releases[n]() end
  end
end

--- Whether an array is a snapshot, which nobody can write.
function M.is_frozen(value)
  return subscript.to_handle(value, true).array.writable == 0
end

--- Why a frozen array cannot be written, and what to do, in words that follow its name.
function M.held_words(value)
  return ffi.string(lib.ms_array_held_words(subscript.to_handle(value, true).array))
end

--- Gives an array over foreign memory rows over foreign memory, or takes them away.
-- @param A what wrap_foreign gave
-- @tab[opt] rows `start` (int64), `columns` (a list of int32 vectors, for dimension 2 and on),
-- `values`: pointers, laid out as in csrc/array/csr.h, that live as long as the array
function M.set_rows(A, rows)
  if not rows then
    c_api.call(lib.ms_csr_foreign, A.array, nil, no_columns, nil)
    return
  end
  local columns = ffi.new("int32_t *[8]")
  for d, vector in ipairs(rows.columns) do columns[d] = ffi.cast("int32_t *", vector) end
  c_api.call(lib.ms_csr_foreign, A.array, ffi.cast("int64_t *", rows.start), columns,
    ffi.cast("void *", rows.values))
end

--- The rows of a sparse array (an ms_csr pointer, see csrc/array/csr.h), made or brought up to
-- date; nil for an array that has none: dense, with one dimension, or many more rows than entries.
function M.rows(A)
  if lib.ms_csr_suit(A.array) == 0 then return nil end
  return c_api.call(lib.ms_csr_get, A.array)
end

--- The labels of an array, packed: see meissa.array.labels.
M.labels = labels.packed

--- Gives an array without labels those that were packed: see meissa.array.labels.
M.attach_labels = labels.attach

--- Whether several entries of a sparse array have equal subscripts.
function M.repeats(A)
  return c_api.call(lib.ms_index_repeats, A.array) == 1
end

-- What describe gave for a handle: nothing in it changes while the array lives.
local described = setmetatable({}, { __mode = "k" })

--- What other rooms need to know of an array, as a table: id, store (id of its memory, 0 for
-- foreign memory), type, sparse, dims, strides, count, bytes, segment (id) and offset (bytes from
-- the segment's start to element [1]...[1]).
-- The table is made once for an array and is not to be changed.
function M.describe(value)
  local handle = subscript.to_handle(value, true)
  local info, array = described[handle], handle.array
  if info then return info end
  info = { id = tonumber(array.id), type = c_api.type_names[array.type],
    sparse = array.sparse ~= 0, dims = {}, strides = {}, count = tonumber(array.count),
    bytes = tonumber(lib.ms_array_bytes(array)), store = 0,
    rows = lib.ms_csr_suit(array) ~= 0 }
  for d = 1, array.dim_count do
    info.dims[d] = tonumber(array.dims[d - 1])
    info.strides[d] = tonumber(array.strides[d - 1])
  end
  if array.store ~= nil then
    local segment = array.store.block.segment
    info.store = tonumber(array.store.id)
    info.segment = tonumber(segment.id)
    info.offset = tonumber(ffi.cast("unsigned char *", array.data) - segment.base)
  end
  described[handle] = info
  return info
end

--- A function that says whether the memory of a dense array is gone, with all arrays over it. Who
-- has it keeps none of it. Nobody knows that of memory of somebody else: it stays.
function M.watch(value)
  local array = M.core_of_part(value)
  if array.store == nil then return function() return false end end
  local watch = ffi.gc(c_api.call(lib.ms_watch_open, array), lib.ms_watch_release)
  return function() return lib.ms_watch_gone(watch) ~= 0 end
end

--- Whether two dense arrays have elements in common.
function M.overlap(left, right)
  return overlaps.overlap(M.describe(left), M.describe(right))
end

--- A view of an array in one piece: `about.dims` and `about.strides`, from its element number
-- `first` (from 0) on.
function M.view(base, about, first)
  local core, size = M.core(base), c_api.element_sizes[M.describe(base).type]
  return element.wrap(c_api.call(lib.ms_array_view, core, #about.dims,
    ffi.new("int64_t[8]", about.dims), ffi.new("int64_t[8]", about.strides),
    ffi.cast("char *", core.data) + first * size))
end

--- Dense arrays that see the same memory: groups of `members` (see meissa.array.overlap), each with
-- `base`, a view of all memory between their ends.
-- @tab list of arrays, rows and slices
function M.sharing(list)
  local abouts = {}
  for n, value in ipairs(list) do abouts[n] = M.describe(value) end
  local groups = overlaps.groups(abouts)
  for _, group in ipairs(groups) do
    local first = group.members[1]
    group.base = M.view(subscript.to_handle(list[first.number], true),
                        {dims = {group.high - group.low}, strides = {1}}, -first.at)
  end
  return groups
end

--- Copies of dense arrays, by number: those that see the same memory do so as copies, too.
function M.copies(list)
  local made = {}
  for _, group in ipairs(M.sharing(list)) do
    local base = group.base:clone()
    for _, each in ipairs(group.members) do
      local value = subscript.to_handle(list[each.number], true)
      made[each.number] = M.view(base, M.describe(value), each.at)
      lib.ms_array_share_labels(made[each.number].array, value.array)
    end
  end
  for n, value in ipairs(list) do made[n] = made[n] or value:clone() end
  return made
end

--- Marks the contents of an array (and of all that share its memory) as lost.
-- @string why names the loop
function M.mark_invalid(value, why)
  if element.kind(value) ~= "handle" then errors.raise("BUG", "mark_invalid: not an array") end
  lib.ms_array_invalidate(value.array, why)
end

--- Says that all elements were overwritten by other means than the methods.
function M.mark_overwritten(value)
  lib.ms_array_overwritten(value.array)
end

--- Says that a loop wrote entries of a sparse array: its partitions hold old values from now on.
function M.mark_written(value)
  value.array.version = value.array.version + 1
end

--- Frees the arrays that the collector found unused. Making an array does so, too.
function M.drain()
  lib.ms_array_drain()
end

--- Bytes in arrays (and partitions) that are not freed.
function M.bytes_held()
  lib.ms_array_drain()
  return tonumber(lib.ms_segment_bytes())
end

M.type_names = c_api.type_names

return M
