-- SPDX-License-Identifier: MIT
--- The native engine: runs blocks by calling compiled kernels.
--
-- An instance fills the kernel's arguments once; a block is then one call, which allocates nothing
-- in Lua but its results' bytes. A fault that the kernel reports is raised again by the Lua
-- engine's own helpers, so that errors are the same on both engines.
-- @module meissa.kernel.native
local compiler = require "meissa.kernel.compiler"
local body_failure = require "meissa.kernel.body_failure"
local lib = require("meissa.base.c_core").lib
local ffi = require "ffi"
local helpers = require "meissa.kernel.helpers"
local left = require "meissa.kernel.native_left"
local native_fault = require "meissa.kernel.native_fault"
local merge = require "meissa.kernel.merge"
local outer_lists = require "meissa.kernel.outer_lists"
local random = require "meissa.kernel.random"
local streaks = require "meissa.kernel.streaks"

local M = {}

local MOST_BOUNDS = 18 -- two a dimension and two of a row

local slots_type = ffi.typeof("ms_native_slot[?]")
local fault_type = ffi.typeof("ms_native_fault")
local bounds_type = ffi.typeof("int64_t[?]")

-- ms_native_stop and ms_native_tag.
local DECLINED = 5
local NONE, NUMBER, TRUE, FALSE = left.NONE, left.NUMBER, left.TRUE, left.FALSE

-- Stands for the index of no iteration.
local NOWHERE = -0x8000000000000000LL

--- The tag of a result that a block did not assign.
M.NONE = NONE

-- What results begin with that are the kernel's own slots: no encoded table begins like this.
local MARK = "\255slots\0\0"
local SLOT = 8

--- The same as a slot.
M.MARK = ffi.cast("int64_t *", ffi.cast("const char *", MARK))[0]

-- What random numbers belong to, for a kernel: it makes a place of its own from this one.
local function place_of(draws)
  local before = random.open(draws)
  local place = random.place()
  random.close(before)
  return place
end

-- The variable of a function; and what has it under which key: the function by its number, or the
-- environment by its name.
local function variable_of(fn, name)
  for n = 1, math.huge do
    local found, value = debug.getupvalue(fn, n)
    if not found then return getfenv(fn)[name], getfenv(fn), name end
    if found == name then return value, fn, n end
  end
end

-- What a path (MS_PARAM_INNER in csrc/kernel/emit/emit.h) leads to from a function; and what has it
-- under which key: a function or a table.
local function inner_value(value, path)
  local subject, key
  for mark, name in string.gmatch(path, "([\1\2])([^\1\2]*)") do
    if mark == "\1" then
      value, subject, key = variable_of(value, name)
    else
      value, subject, key = value[name], value, name
    end
  end
  return value, subject, key
end

local function set_value(slot, value)
  if type(value) == "number" then slot.number = value else slot.whole = value and 1 or 0 end
end

-- Fills the slot of a parameter. `slot`, the parameter, info, operands by capture, captured values,
-- the place of random numbers.
local fill_by_kind = {
  coord = function(slot, param, _, operands)
    slot.pointer = ffi.cast("void *", operands.space.coords[param.at])
  end,
  entries = function(slot, _, _, operands)
    slot.pointer = ffi.cast("void *", operands.space.pointer)
  end,
  step = function(slot, param, _, operands) slot.whole = operands.space.strides[param.dim] end,
  pointer = function(slot, param, _, operands)
    slot.pointer = ffi.cast("void *", operands[param.at].pointer)
  end,
  touched = function(slot, param, _, operands)
    slot.pointer = ffi.cast("void *", operands[param.at].touched)
  end,
  stride = function(slot, param, _, operands)
    slot.whole = operands[param.at].strides[param.dim]
  end,
  extent = function(slot, param, _, operands) slot.whole = operands[param.at].dims[param.dim] end,
  limit = function(slot, param, _, operands) slot.whole = operands.space.dims[param.dim] end,
  value = function(slot, param, _, _, values)
    set_value(slot, values[param.at])
  end,
  rows = function(slot, param, _, operands)
    local rows, part = operands[param.at].rows, param.dim
    if not rows then -- no iteration comes to where the body reads them
      slot.pointer = nil
      return
    end
    local vector = part == 1 and rows.start or part == 2 and rows.values or rows.columns[part - 2]
    slot.pointer = ffi.cast("void *", vector)
  end,
  inner = function(slot, param, _, _, values)
    set_value(slot, inner_value(values[param.at], param.path))
  end,
  draws = function(slot, _, _, _, _, place) slot.pointer = ffi.cast("void *", place) end,
  list = function(slot, param, _, _, values, _, lists)
    lists[param] = outer_lists.copy(inner_value(values[param.at], param.path), lists[param])
    lists.last = lists[param]
    slot.pointer = ffi.cast("void *", lists.last.numbers)
  end,
  starts = function(slot, _, _, _, _, _, lists) -- of the list before it
    slot.pointer = ffi.cast("void *", lists.last.starts)
  end,
  length = function(slot, param, _, _, values)
    slot.whole = #inner_value(values[param.at], param.path)
  end,
  stack = function(slot) slot.whole = lib.ms_stack_end() end,
}

--- The numbers that kernels take from captured functions and tables, without those in lists.
-- @tab info of the kernel @tab values the captured values
function M.single_numbers(info, values)
  local found = {}
  for _, param in ipairs(info.params) do
    local value = param.kind == "inner" and inner_value(values[param.at], param.path)
    if type(value) == "number" then found[#found + 1] = value end
  end
  return found
end

--- The numbers that an instance has taken from captured functions and tables: a list of {slot =
-- where it has put one, single = whether it is in no list, subject =, key =, what has it: a
-- function by the number of its variable, or a table, itself or by `__index`}. Valid as long as the
-- instance is, and lists have as many elements.
-- @tab instance a native one @tab values the captured values that it was filled with
function M.inner_numbers(instance, values)
  local found = {}
  local function add(slot, value, subject, key)
    if type(value) ~= "number" then return end
    found[#found + 1] = {slot = ffi.cast("void *", slot), subject = subject, key = key}
  end
  for n, param in ipairs(instance.info.params) do
    if param.kind == "inner" then
      local before = #found
      add(instance.slots + (n - 1), inner_value(values[param.at], param.path))
      if #found > before then found[#found].single = true end
    elseif param.kind == "list" then
      outer_lists.each_number(inner_value(values[param.at], param.path), instance.lists[param], add)
    end
  end
  return found
end

-- Kinds of parameters that are an execution's own; the others tell where memory is.
local OWN = {value = true, inner = true, draws = true, list = true, length = true, starts = true,
             stack = true}

--- Whether the engine can fill this parameter of a kernel.
function M.takes(param)
  return fill_by_kind[param.kind] ~= nil
end

local Instance = {}
Instance.__index = Instance

-- How many values each entry of a kernel's streaks has, in the order in which blocks leave them.
local function widths_of(info)
  local widths = {}
  for _, result in ipairs(info.results) do
    if streaks.has(result) then widths[#widths + 1] = select(2, streaks.member(info, result)) end
  end
  return widths
end

-- The numbers of the results that are sliced tables.
local function slices_of(info)
  local list = {}
  for n, result in ipairs(info.results) do
    if result.role == "sliced" then list[#list + 1] = n end
  end
  return list
end

--- An instance for one job.
-- @param object the loaded ms_loaded_kernel
-- @tab info of the native kernel
-- @tab found the operands by capture, and `space`
-- @tab values captured values
-- @tab lua the Lua engine's info and functions that native blocks share with it: `info`, `object`
-- (a capture's array as an object), `encode(results)`, `draws`: what random numbers belong to,
-- `versions` of rounds; `run(bounds)` runs a block that the kernel declines, where its info says
-- that it may
function M.instance(object, info, found, values, lua)
  local slots = slots_type(math.max(1, #info.params))
  local tracked = 0
  for _, result in ipairs(info.results) do
    local is_tracked, begun = merge.is_tracked(info, result)
    tracked = tracked + (is_tracked and 1 or 0) + (begun and 1 or 0)
  end
  local count = 2 * #info.results + info.positions * tracked
  local widths, slices = widths_of(info), slices_of(info)
  -- One slot more, in front: the mark.
  local results = slots_type(1 + count + 2 * #widths + 2 * #slices)
  ffi.copy(results, MARK, SLOT)
  local self = setmetatable({
    entry = object.block, object = object, info = info, found = found, lua = lua,
    versions = lua.versions, slots = slots, space = results, results = results + 1,
    fault = fault_type(), bounds = bounds_type(MOST_BOUNDS),
    encoded = info.positions > 0 or #slices > 0,
    streaks = widths, slices = slices,
    size = #info.results > 0 and (1 + count) * SLOT or 0, own = {},
    lists = {},
  }, Instance)
  for n, param in ipairs(info.params) do
    if OWN[param.kind] then
      self.own[#self.own + 1] = n
    else
      fill_by_kind[param.kind](slots[n - 1], param, info, found)
    end
  end
  self:fill(values, lua.draws)
  return self
end

--- Makes the instance ready for an execution, over the same memory as the last one.
-- @tab values captured values
-- @tab[opt] draws what random numbers of the body belong to
function Instance:fill(values, draws)
  local info, place = self.info, nil
  for _, n in ipairs(self.own) do
    local param = info.params[n]
    if param.kind == "draws" then
      place = place_of(draws or {seed = 0, ordinal = 0})
      self.place = place
    end
    fill_by_kind[param.kind](self.slots[n - 1], param, info, self.found, values, place,
                             self.lists)
  end
end

-- The file as errors of the Lua engine name it.
local function file_of(chunkname)
  local first = string.sub(chunkname, 1, 1)
  if first == "@" or first == "=" then return string.sub(chunkname, 2) end
  return debug.getinfo(loadstring("", chunkname), "S").short_src
end

-- The error table of the fault that the last block met.
local function describe(self)
  local fault, info = self.fault, self.lua.info
  helpers.enter(self.lua.object)
  local _, err = pcall(native_fault.raise, self.found, self.info.messages or {}, fault)
  local found = body_failure.plain(err)
  local chunkname = fault.file > 0 and self.info.messages[fault.file] or info.chunkname
  found.file, found.line, found.iteration = file_of(chunkname), fault.line, {}
  for d = 1, info.dim_count do found.iteration[d] = tonumber(fault.index[d - 1]) end
  return found
end

-- The results as the Lua engine's block function returns them.
local function values_of(self)
  local info, results, values = self.info, self.results, {}
  for n = 1, #info.results do
    values[n] = left.value(results + 2 * n - 2)
  end
  local count, at = #info.results, 2 * #info.results
  local positions = self.size / SLOT - 1 - at
  for k = 1, positions do
    local whole = results[at + k - 1].whole
    if whole ~= NOWHERE then values[count + k] = tonumber(whole) end
  end
  count, at = count + positions, at + positions
  for k, members in ipairs(self.streaks) do
    local flat, length = left.streak(results + at + 2 * k - 2, members, info.positions)
    values[count + 2 * k - 1], values[count + 2 * k] = flat, length
  end
  at = at + 2 * #self.streaks
  for _, n in ipairs(self.slices) do
    values[n], at = left.slice(results + at), at + 2
  end
  return values
end

--- Runs the block whose bounds are in `self.bounds`.
-- @treturn string|nil the block's results; nil when it failed
-- @treturn table the error {code, message, file, line, iteration}
function Instance:call()
  local stop = self.entry(self.bounds, self.slots, self.results, self.fault)
  if stop == DECLINED then return self.lua.run(self.bounds) end
  if stop ~= 0 then return nil, describe(self) end
  if self.size == 0 then return "" end
  if not self.encoded then return ffi.string(self.space, self.size) end
  return self.lua.encode(values_of(self))
end

--- The error table of the fault that the last block met.
function Instance:error()
  return describe(self)
end

--- Runs a block given as a table, see kernel/init.lua.
function Instance:run(block)
  local bounds = self.bounds
  if self.info.entries then
    bounds[0], bounds[1] = block.first, block.last
  else
    local dims = #block.lo
    for d = 1, dims do bounds[2 * d - 2], bounds[2 * d - 1] = block.lo[d], block.hi[d] end
    if block.row_lo then bounds[2 * dims], bounds[2 * dims + 1] = block.row_lo, block.row_hi end
  end
  return self:call()
end

--- Whether a block's results are slots as the kernel filled them.
function M.is_slots(bytes)
  return string.sub(bytes, 1, #MARK) == MARK
end

--- Whether the bytes of several blocks can be such slots, of so many results each: they have the
-- length, and the first is some. Blocks that the Lua engine ran, because a worker had no machine
-- code yet, may be as long.
-- @tab results {flat =, blocks =} @number count of results
function M.is_flat(results, count)
  return #results.flat == results.blocks * (1 + 2 * count) * SLOT and M.is_slots(results.flat)
end

--- What a result's two slots hold: whether it was assigned, and the value.
function M.value(slots)
  local tag = tonumber(slots[1].whole)
  if tag == NUMBER then return true, left.number(slots[0]) end
  if tag == TRUE or tag == FALSE then return true, tag == TRUE end
  return tag ~= NONE, nil
end

--- Slots as the Lua engine's results: values by number, then which were assigned, "101".
-- @string bytes results for which is_slots holds
-- @number count of results
function M.decode(bytes, count)
  local slots = ffi.cast("const ms_native_slot *", bytes) + 1
  local values, set = {}, {}
  for n = 1, count do
    local assigned
    assigned, values[n] = M.value(slots + 2 * n - 2)
    set[n] = assigned and "1" or "0"
  end
  values[count + 1], values[count + 2] = table.concat(set), ""
  return values
end

-- Seconds between looks for an object that is being made.
local PATIENCE = 0.001

--- A function that gives the loaded object once it is in the cache, and nil before; it looks no
-- more often than every millisecond.
-- @tab where {key =, directory =}
-- @func clock seconds
function M.watch(where, clock)
  local next_look = 0
  return function()
    local now = clock()
    if now < next_look then return nil end
    next_look = now + PATIENCE
    local bytes = compiler.find(where.directory, where.key)
    return bytes and compiler.load(where.key, bytes)
  end
end

return M
