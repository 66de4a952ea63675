-- SPDX-License-Identifier: MIT
--- Views: which of a loop's arrays share elements, and where these lie in a common base.
--
-- A view is a box of its memory's subscripts. Those of all views of one memory are counted alike:
-- one subscript for each stride that any of them has, the largest first. So boxes can be compared:
-- views whose boxes are apart are arrays of their own. The others have a base, the box around them,
-- which the analyser is told of, and whose elements that are in any of them travel in their place.
-- @module meissa.plan.views

local array = require "meissa.array"
local c_api = require "meissa.array.c_api"
local ffi = require "ffi"
local tables = require "meissa.base.tables"

local M = {}

local element_size = c_api.element_sizes
local MOST_DIMS = 8

-- Numbers of memory beside those of stores (`storage`) and of arrays (`id` of a base).
local APART, BASES = 2 ^ 52, 2 ^ 51

-- The arrays of a storage, each with its bindings: {about =, first = (elements from the storage's
-- beginning on), bindings =, named = (it is among the first `named` bindings)}; nil where one has
-- no such place.
local function members_of(bindings, storage, named)
  local members, by_array, type = {}, {}, nil
  for index, binding in ipairs(bindings) do
    if binding.kind == "array" and binding.storage == storage then
      local known = by_array[binding.array]
      if not array.is(binding.value) then return nil end
      if not known then
        local about = array.describe(binding.value)
        type = type or about.type
        if binding.sparse or binding.buffers or about.store == 0 or about.type ~= type then
          return nil
        end
        local block = array.core(binding.value).store.block
        local bytes = about.offset - tonumber(block.offset)
        known = {about = about, first = bytes / element_size[type], bindings = {},
                 id = binding.array, named = index <= named}
        by_array[binding.array], members[#members + 1] = known, known
      end
      known.bindings[#known.bindings + 1] = binding
    end
  end
  return members
end

-- All strides of the members in descending order, 1 the last.
local function strides_of(members)
  local strides, seen = {1}, {true}
  for _, member in ipairs(members) do
    for d, extent in ipairs(member.about.dims) do
      local stride = member.about.strides[d]
      if extent > 1 and not seen[stride] then
        seen[stride], strides[#strides + 1] = true, stride
      end
    end
  end
  table.sort(strides, function(a, b) return a > b end)
  return strides
end

-- Gives a member its box: `low` and `high` (0-based, `high` below `low` when it is empty), and
-- along which subscript each of its dimensions goes, so many at a time.
local function place(member, strides)
  local rest = member.first
  member.low, member.high, member.along, member.factor = {}, {}, {}, {}
  for k, stride in ipairs(strides) do
    member.low[k] = math.floor(rest / stride)
    member.high[k], rest = member.low[k], rest - member.low[k] * stride
  end
  for d, extent in ipairs(member.about.dims) do
    local k = extent > 1 and 1 or 0
    while k > 0 and k < #strides and strides[k] ~= member.about.strides[d] do k = k + 1 end
    member.along[d] = k
    member.factor[d] = k > 0 and member.about.strides[d] / strides[k] or 0
    if k > 0 then member.high[k] = member.high[k] + member.factor[d] * (extent - 1) end
  end
end

-- Widens a box by another one.
local function widen(box, other)
  for k, low in ipairs(other.low) do
    box.low[k], box.high[k] = math.min(box.low[k], low), math.max(box.high[k], other.high[k])
  end
end

local function copy_of(box)
  return {low = {unpack(box.low)}, high = {unpack(box.high)}}
end

-- Whether each element has one place in terms of these strides: whatever the later subscripts are,
-- they do not reach as far as one step of an earlier one.
local function is_unique(members, strides)
  local all, reach = copy_of(members[1]), 0
  for _, member in ipairs(members) do widen(all, member) end
  for k = #strides, 2, -1 do
    reach = reach + strides[k] * (all.high[k] - all.low[k])
    if reach >= strides[k - 1] then return false end
  end
  return true
end

-- Places all members; gives the strides of their common subscripts.
local function place_all(members)
  local strides = strides_of(members)
  for try = 1, 2 do
    for _, member in ipairs(members) do place(member, strides) end
    local fits = #strides <= MOST_DIMS and strides[#strides] == 1 and is_unique(members, strides)
    if try == 2 or fits then break end
    strides = {1} -- elements one after the other
  end
  return strides
end

local function meet(one, other)
  for k, low in ipairs(one.low) do
    if low > other.high[k] or other.low[k] > one.high[k] then return false end
  end
  return true
end

-- One pass of uniting boxes that meet, in the order of where they begin.
local function unite(boxes)
  table.sort(boxes, function(a, b)
    if a.low[1] ~= b.low[1] then return a.low[1] < b.low[1] end
    return a.number < b.number
  end)
  local united, open = {}, {}
  for _, box in ipairs(boxes) do
    local still, host = {}, nil
    for _, other in ipairs(open) do
      if other.high[1] >= box.low[1] then
        still[#still + 1] = other
        host = host or meet(other, box) and other or nil
      end
    end
    open = still
    if host then
      widen(host, box)
      for _, member in ipairs(box.members) do host.members[#host.members + 1] = member end
    else
      united[#united + 1], open[#open + 1] = box, box
    end
  end
  return united
end

-- Of so many arrays that only tables and functions lead to it is not worth knowing which is which.
local MOST_UNNAMED = 60

-- A box for each member; one for all of them if they are to stay `together`, and for those without
-- a name where they are many.
local function boxes_of(members, together)
  local boxes, unnamed, shared = {}, 0, nil
  for _, member in ipairs(members) do unnamed = unnamed + (member.named and 0 or 1) end
  for _, member in ipairs(members) do
    local joins = together or not member.named and unnamed > MOST_UNNAMED
    if joins and shared then
      widen(shared, member)
      shared.members[#shared.members + 1] = member
    else
      local box = copy_of(member)
      box.number, box.members = #boxes + 1, {member}
      boxes[box.number], shared = box, joins and box or shared
    end
  end
  return boxes
end

-- The members in groups whose boxes are apart.
local function groups_of(members, together)
  local boxes = boxes_of(members, together)
  while true do
    local count = #boxes
    boxes = unite(boxes)
    if #boxes == count then return boxes end
  end
end

-- More views than these travel as the box around them.
local MOST_PARTS = 256

-- The boxes of a group's members in the base, {low =, high =} counted from 1; nil where one is all
-- of it, or no box of its subscripts.
local function parts_of(group)
  local parts = {}
  if #group.members > MOST_PARTS then return nil end
  for p, member in ipairs(group.members) do
    local part, whole = {low = {}, high = {}}, true
    for _, factor in ipairs(member.factor) do
      if factor > 1 then return nil end
    end
    for k, low in ipairs(member.low) do
      part.low[k], part.high[k] = low - group.low[k] + 1, member.high[k] - group.low[k] + 1
      whole = whole and low == group.low[k] and member.high[k] == group.high[k]
    end
    if whole then return nil end
    parts[p] = part
  end
  return parts
end

-- The base of a group: {id =, dims =, strides =, place = (bytes from its segment's beginning),
-- parts = (what of it travels; nil: all), compact = (it is no more than its views together)}.
local function base_of(group, strides)
  local one = group.members[1].about
  local size, first, id = element_size[one.type], 0, math.huge
  local base, count = {dims = {}, strides = strides}, 1
  for k, stride in ipairs(strides) do
    base.dims[k] = group.high[k] - group.low[k] + 1
    first, count = first + group.low[k] * stride, count * base.dims[k]
  end
  for _, member in ipairs(group.members) do
    id, count = math.min(id, member.id), count - member.about.count
  end
  base.compact, base.parts = count <= 0, parts_of(group)
  base.id = BASES + id
  base.place = one.offset + (first - group.members[1].first) * size
  return base
end

-- Whether a view is its base.
local function is_whole(view)
  for k, extent in ipairs(view.dims) do
    if view.extents[k] ~= extent or extent > 1 and view.along[k] ~= k then return false end
  end
  return #view.extents == #view.dims
end

-- Tells the bindings of a group that they are views of one base.
local function relate(group, strides)
  local base = base_of(group, strides)
  for _, member in ipairs(group.members) do
    local first = {}
    for k, low in ipairs(member.low) do first[k] = low - group.low[k] + 1 end
    local view = {base = base, dims = base.dims, first = first, along = member.along,
                  factor = member.factor, extents = member.about.dims}
    view.whole = is_whole(view)
    for _, binding in ipairs(member.bindings) do binding.view = view end
  end
end

-- The members of a group have memory of their own.
local function set_apart(group)
  for _, member in ipairs(group) do
    for _, binding in ipairs(member.bindings) do binding.storage = APART + group[1].id end
  end
end

-- Finds the groups of a storage's arrays; where they are to stay `together`, one.
local function arrange(bindings, storage, named, together)
  local members = {}
  for _, member in ipairs(members_of(bindings, storage, named) or {}) do
    if member.about.count > 0 then
      members[#members + 1] = member
    elseif not together then
      set_apart {member}
    end
  end
  if #members == 0 then return end
  local strides = place_all(members)
  for _, group in ipairs(groups_of(members, together)) do
    if #group.members > 1 then relate(group, strides) end
    if not together then set_apart(group.members) end
  end
end

--- Finds out which arrays of a loop share elements. Those of a storage that do not get a `storage`
-- of their own; those that do get a `view`, see M.part.
-- @tab bindings what capture.resolve gave, with the values @number named how many of them are
-- captures, which have names in the body
function M.resolve(bindings, named)
  local first, several, buffered = {}, nil, {}
  for _, binding in ipairs(bindings) do
    if binding.kind == "array" then
      local storage, other = binding.storage, first[binding.storage]
      if not other then
        first[storage] = binding
      elseif other.array ~= binding.array then
        several = several or {}
        several[storage] = true
      end
      if binding.buffers then buffered[binding.buffers] = true end
    end
  end
  for storage in tables.each(several or {}) do
    arrange(bindings, storage, named, buffered[storage] or false)
  end
end

--- What the analysis depends on of a view, as a string.
function M.words(view)
  local parts = {}
  for _, list in ipairs {view.dims, view.first, view.along, view.factor} do
    parts[#parts + 1] = table.concat(list, ",")
  end
  return "(" .. table.concat(parts, ";") .. ")"
end

--- Gives the arrays of a plan that are parts of a base its name, or its extents where the body has
-- no name for it, as `base`.
-- @tab arrays by name, with their `binding` @tab bindings the loop's
function M.name_bases(arrays, bindings)
  local names, parts = {}, {}
  for name, about in tables.each(arrays) do
    local view = bindings[about.binding].view
    local known = view and names[view.base]
    if view and view.whole and not (known and arrays[known].binding < about.binding) then
      names[view.base] = name
    end
    if view then parts[name] = view end
  end
  for name, view in tables.each(parts) do
    local base = names[view.base]
    if base ~= name then arrays[name].base = base or "[" .. table.concat(view.dims, "x") .. "]" end
  end
end

--- The base of a view as csrc/job/operands.h takes it.
-- @tab base that of a binding's `view`
function M.base(base)
  if base.core then return base.core end
  local parts, core = base.parts or {}, ffi.new "ms_view_base"
  local sections = ffi.new("ms_section[?]", #parts + 1)
  core.id, core.place, core.dim_count = base.id, base.place, #base.dims
  core.part_count, core.parts = #parts, sections
  for k, extent in ipairs(base.dims) do
    core.dims[k - 1], core.strides[k - 1] = extent, base.strides[k]
  end
  for p, part in ipairs(parts) do
    for k, low in ipairs(part.low) do
      sections[p - 1].low[k - 1], sections[p - 1].high[k - 1] = low - 1, part.high[k]
    end
  end
  base.core, base.sections = core, sections
  return core
end

--- A view of an operand: where its element [1]...[1] is, and its strides.
-- @tab operand the base where a kernel works on it: `pointer`, `strides`, `element` (bytes)
-- @tab view `first`, `along` and `factor`: see csrc/depend/meaning.h
function M.part(operand, view)
  local offset, strides = 0, {}
  for k, first in ipairs(view.first) do offset = offset + (first - 1) * operand.strides[k] end
  for d, k in ipairs(view.along) do
    strides[d] = k > 0 and view.factor[d] * operand.strides[k] or 1
  end
  return ffi.cast("void *", ffi.cast("char *", operand.pointer) + offset * operand.element), strides
end

return M
