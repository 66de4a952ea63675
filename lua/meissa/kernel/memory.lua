-- SPDX-License-Identifier: MIT
--- Arrays as kernels see them.
-- @module meissa.kernel.memory
local array = require "meissa.array"
local buffers = require "meissa.array.buffer"
local element = require "meissa.array.element"
local ffi = require "ffi"
local replicas = require "meissa.sync.replica"

local M = {}

--- Whether a value is an array, or a row or slice of one (dense ones are arrays of their own).
function M.is_array(value)
  return element.kind(value) ~= nil
end

--- A function from array values to the number of the capture that they are: by identity, as rows
-- that stand for their views, and arrays also by their id; false for other arrays, nil for what is
-- no array.
-- @tab values captured values @tab bindings theirs, each with its `value`, or `seen` in their place
function M.finder(values, bindings)
  local known, ids = {}, {}
  local seen = bindings.seen or {}
  for c, binding in ipairs(bindings) do
    local kind, given = element.kind(values[c]), binding.value or seen[c]
    if kind then known[values[c]] = known[values[c]] or c end
    if kind and M.is_array(given) then known[given] = known[given] or c end
    if kind == "handle" then
      local id = tonumber(values[c].array.id)
      ids[id] = ids[id] or c
    end
  end
  return function(value)
    value = replicas.copy(buffers.pending(value))
    local kind = element.kind(value)
    if not kind then return nil end
    return known[value] or kind == "handle" and ids[tonumber(value.array.id)] or false
  end
end

--- For results: nil for what is no array, false for arrays and parts of arrays.
function M.refuse(value)
  if element.kind(value) then return false end
  return nil
end

--- What is known about an array: id, type, dims, strides, sparse, count...
M.describe = array.describe

-- Sparse arrays of earlier jobs by their id: their index is built once.
local sparse = {}
local sparse_count = 0
local MOST_SPARSE = 32

local function wrap(operand)
  local coords
  if operand.coords then
    coords = {}
    for d, vector in ipairs(operand.coords) do coords[d] = ffi.cast("int32_t *", vector) end
  end
  return array.wrap_foreign { type = operand.type, dims = operand.dims, strides = operand.strides,
    data = ffi.cast("void *", operand.pointer), coords = coords, count = operand.count,
    keep = operand, frozen = operand.frozen, labels = operand.labels }
end

-- Where an operand's values and coordinates are: each may have moved since the last job.
local function address_of(operand)
  local parts = { tostring(ffi.cast("void *", operand.pointer)) }
  for d, vector in ipairs(operand.coords or {}) do
    parts[d + 1] = tostring(ffi.cast("void *", vector))
  end
  return table.concat(parts, " ")
end

local function wrap_once(operand)
  if not operand.id then return wrap(operand) end
  local address = address_of(operand)
  local known = sparse[operand.id]
  if not known or known.address ~= address then
    if sparse_count >= MOST_SPARSE then sparse, sparse_count = {}, 0 end
    known = { address = address, object = wrap(operand) }
    sparse[operand.id], sparse_count = known, sparse_count + 1
  end
  -- The rows' values may be newer than those of the last job, or the array is written now.
  array.set_rows(known.object, operand.rows)
  return known.object
end

--- A function from a capture's number to its array as an object, made when first asked for.
-- @tab operands {pointer =, type =, dims =, strides =} by capture; sparse ones have coords (vectors
-- of 0-based int32), count, an id that no other array of the driver gets, and perhaps `rows`, as
-- array.set_rows takes them
function M.object_maker(operands)
  local objects = {}
  return function(capture)
    if not objects[capture] then objects[capture] = wrap_once(operands[capture]) end
    return objects[capture]
  end
end

return M
