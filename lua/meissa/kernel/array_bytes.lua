-- SPDX-License-Identifier: MIT
--- Arrays as plain data: copies of them, for messages.
--
-- Dense arrays that see the same memory do so as copies, too. Large ones lie in a mailbox
-- (meissa.kernel.mailbox) where both ends have one. Of sparse arrays go coordinates and values.
-- @module meissa.kernel.array_bytes

local array = require "meissa.array"
local ffi = require "ffi"
local tables = require "meissa.base.tables"

local M = {}

-- Bytes of an array that is worth a place in a mailbox.
local LARGE = 1024

local bytes_at = ffi.typeof "char *"

-- Where a dense array lies in the mailbox, if it does, or is put there; and its stamp.
local function place_of(value, options)
  if array.describe(value).bytes < LARGE then return nil end
  if options.row then return options.row:put(value) end
  if options.mailbox then return options.mailbox:place_of(value) end
  return nil
end

-- The labels of an array's dimensions, as bytes; nil where there are none.
local function labels_of(value)
  local told
  for d, about in tables.each(array.labels(value) or {}) do
    local holder = array.core(about.array)
    told = told or {}
    told[d] = {count = about.count, strings = about.strings,
               bytes = ffi.string(ffi.cast(bytes_at, holder.data), 8 * tonumber(holder.count))}
  end
  return told
end

-- Why a copy cannot be written, as its array has it; nil: it can. Copies of what somebody holds can
-- be if they are `free`, those of snapshots cannot.
local function frozen_of(value, options)
  if not array.is_frozen(value) then return nil end
  local held = array.core(value).held
  if options.free and held ~= 0 then return nil end
  return held
end

-- What a message says of an array of any kind.
local function head_of(value, options)
  return {dims = array.describe(value).dims, labels = labels_of(value),
          frozen = frozen_of(value, options)}
end

local function finish(made, told)
  local labels = {}
  for d, each in tables.each(told.labels or {}) do
    labels[d] = {count = each.count, strings = each.strings,
                 pointer = ffi.cast("const char *", each.bytes)}
  end
  array.attach_labels(made, labels)
  if told.frozen then array.core(made).writable, array.core(made).held = 0, told.frozen end
  return made
end

local function pack_dense(value, options)
  local about, told = array.describe(value), head_of(value, options)
  told.type = about.type
  told.at, told.stamp = place_of(value, options)
  if told.at then return told end
  local now = value:clone()
  told.bytes = ffi.string(ffi.cast(bytes_at, array.core(now).data), about.bytes)
  return told
end

-- Bytes of the values of a sparse array's entries, or of their subscripts.
local function pack_sparse(value, options)
  local about, core, told = array.describe(value), array.checked(value), head_of(value, options)
  told.type, told.count, told.coords = about.type, about.count, {}
  for d = 1, #about.dims do told.coords[d] = ffi.string(core.coords[d - 1], 4 * about.count) end
  told.bytes = ffi.string(core.data, about.bytes - 4 * #about.dims * about.count)
  return told
end

local function unpack_sparse(told)
  local made = array.empty(told.dims, told.count, {type = told.type})
  local core = array.core(made)
  for d, bytes in ipairs(told.coords) do ffi.copy(core.coords[d - 1], bytes, #bytes) end
  ffi.copy(core.data, told.bytes, #told.bytes)
  return finish(made, told)
end

local function unpack(told, mailbox)
  if told.at then return finish(mailbox:array(told), told) end
  if told.coords then return unpack_sparse(told) end
  local made = array.zeros(told.dims, {type = told.type})
  ffi.copy(ffi.cast(bytes_at, array.core(made).data), told.bytes, #told.bytes)
  return finish(made, told)
end

-- The dense arrays of a list that see the same memory, as views of one each, in `bases`.
local function pack_sharing(list, told, options)
  local dense, numbers, bases = {}, {}, {}
  for n, value in ipairs(list) do
    if array.core(value).sparse == 0 then dense[#dense + 1], numbers[#numbers + 1] = value, n end
  end
  for g, group in ipairs(array.sharing(dense)) do
    bases[g] = pack_dense(group.base, options)
    for _, each in ipairs(group.members) do
      local value = dense[each.number]
      local one = head_of(value, options)
      one.base, one.first, one.strides = g, each.at, array.describe(value).strides
      told[numbers[each.number]] = one
    end
  end
  return bases
end

--- Arrays as plain data.
-- @tab list of arrays, rows and slices of dense ones
-- @tab options `row` of a mailbox, where large dense arrays are put, `mailbox`, on which some may
-- lie; `apart`: each array by itself, whatever memory it sees; `free`: copies are not held as what
-- replicas capture is
function M.pack(list, options)
  local told = {}
  local bases = options.apart and {} or pack_sharing(list, told, options)
  for n, value in ipairs(list) do
    local pack = array.core(value).sparse == 0 and pack_dense or pack_sparse
    told[n] = told[n] or pack(value, options)
  end
  return {list = told, bases = bases}
end

--- What was packed: arrays by number, and a function that makes one of them, by its number, when it
-- is first asked for.
-- @tab[opt] mailbox where large arrays lie: they stay there
function M.unpack(told, mailbox)
  local made, bases = {}, {}
  return made, function(number)
    local each = told.list[number]
    local g = each.base
    if not made[number] and g then
      bases[g] = bases[g] or unpack(told.bases[g], mailbox)
      made[number] = finish(array.view(bases[g], each, each.first), each)
    end
    made[number] = made[number] or unpack(each, mailbox)
    return made[number]
  end
end

return M
