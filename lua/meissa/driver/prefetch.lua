-- SPDX-License-Identifier: MIT
--- Prefetching: which elements of its served arrays each block of a loop will read. The loop's
-- slice is the inspector, the loop the executor (inspector/executor, Saltz et al., 1991).
--
-- Where arrays travel by value, an array that a loop reads at data-dependent subscripts is not sent
-- whole: before the loop, the workers run a slice of its body that only computes the subscripts
-- (csrc/depend/inspector.h) and marks them in buffers. What each block has marked is kept with the
-- loop's grid, for as long as nothing changes that the slice has read: then further passes send
-- values only. (Bulk prefetching: Wei et al., EuroSys 2019.) Where iterations meet in the order of
-- their levels, the slice also marks what blocks write, so that what they read of each other
-- follows, which is all that they hand over (csrc/plan/block_flow.h). Lives on the driver.
-- @module meissa.driver.prefetch

local array = require "meissa.array"
local buffer = require "string.buffer"
local buffers = require "meissa.array.buffer"
local captured = require "meissa.plan.captured"
local core = require "meissa.core"
local element_lists = require "meissa.driver.element_lists"
local engine = require "meissa.kernel.engine"
local errors = require "meissa.base.errors"
local families = require "meissa.kernel.family"
local ffi = require "ffi"
local job_operands = require "meissa.plan.operands"
local c_core = require "meissa.base.c_core"
local plans = require "meissa.plan"
local system = require "meissa.base.system"
local tables = require "meissa.base.tables"

local M = {}

local lib = c_core.lib

-- Names of the arrays of marks in the slice's text; as in csrc/depend/inspector.h.
local MARKS = "meissa_marks_"

-- Errors of the slice that the loop itself will have, too, or that do not concern it.
local HARMLESS = {BDY = true, ARR = true, OPT = true, SRC = true, DEP = true}

-- ------------------------------------------------------------------------------- the slice's loop

-- Slices of one loop that are kept.
local MOST_SLICES = 20

-- A buffer of marks for an array of each of these extents.
local function make_marks(extents)
  local marks = {}
  for k, dims in ipairs(extents) do marks[k] = buffers.marks(dims) end
  return marks
end

-- Reads a slice's text: {record =, marks =}.
local function read_slice(run, text, extents)
  local loop, err = core.loop(text, "=prefetch")
  if not loop then errors.raise_core(err) end
  local record = {loop = loop, captures = loop:captures(), names = loop:names(),
                  calls = loop:calls(), info = loop:info(), plans = {}, kernels = {},
                  file = run.record.file, line = run.record.line, source = text}
  return {record = record, marks = make_marks(extents)}
end

-- The slice as a loop of its own. Plans that differ in their ranges alone share it, if they are of
-- one kind.
local function slice_of(run)
  local prefetch = run.plan.prefetch
  local extents, key = {}, {prefetch.text, run.plan.kind}
  for _, marked in ipairs {prefetch.arrays, prefetch.stored} do
    for _, b in ipairs(marked) do
      extents[#extents + 1] = array.describe(run.values[b]).dims
      key[#key + 1] = table.concat(extents[#extents], "x")
    end
  end
  key = table.concat(key, "|")
  local slices = run.record.slices
  if not slices or slices.count == MOST_SLICES then slices = {count = 0, by_key = {}} end
  run.record.slices = slices
  if not slices.by_key[key] then
    slices.by_key[key] = read_slice(run, run.plan.prefetch.text, extents)
    slices.count = slices.count + 1
  end
  return slices.by_key[key]
end

-- The root variables of the slice's captures.
local function roots_of(run, own)
  local by_name, roots = {}, {}
  for c, each in ipairs(run.record.captures) do by_name[each.root] = run.roots[c] end
  for k, marks in ipairs(own.marks) do by_name[MARKS .. k] = marks end
  for c, each in ipairs(own.record.captures) do roots[c] = by_name[each.root] end
  return roots
end

-- The loop's space without what was asked for its own execution.
local function space_of(space)
  local own = {}
  for name, value in tables.each(space) do own[name] = value end
  own.source, own.key, own.shape, own.positions = nil, nil, nil, nil
  own.versions, own.parts_of = nil, nil
  own.numeric, own.reduce = "strict", "blocks"
  own.engine = space.engine == "lua" and "lua" or "auto"
  own.options = {engine = own.engine}
  own.check, own.explain, own.transaction, own.impure = false, false, true, false
  return own
end

-- Makes the slice's plan cut blocks as the loop's plan does; false where it cannot. Where a row is
-- cut, the row and the extents are a part of the kernel's text.
local function follow_plan(plan, main)
  if plan.follows then return true end
  if not core.follow(plan, main) then return false end
  plan.follows = true
  if main.row then plan.kind = plan.kind .. "|" .. buffer.encode {main.row, main.extents} end
  for _, name in ipairs {"strategy", "row", "cut_dims", "dims", "sequential", "extents"} do
    plan[name] = main[name]
  end
  return true
end

-- A run of the slice in the blocks of the loop's grid; nil if it cannot be.
local function prepare(run, own)
  local record, space = own.record, space_of(run.space)
  local found = captured.find(record, space, roots_of(run, own), run.env)
  local plan = found.plan
  if not plan then
    plan = plans.get(record, space, found.bindings, found.situation)
    if plan.strategy == "serial" or not follow_plan(plan, run.plan) then return nil end
    captured.remember(record, space, plan, found)
  end
  local static = families.find(record.loop, plan, found.bindings, found.values, space, plan.kernels,
                             record.kernels, engine.prefers_native(space))
  return {
    record = record, plan = plan, space = space, bindings = found.bindings,
    values = found.values, situation = found.situation, ready = found.ready,
    basics = run.basics, grid = run.grid, follows = true, kernel = static,
    native = engine.choose(plan, static, space), session = run.session, by_value = run.by_value,
  }
end

--- The slice of a run that marks what its blocks read: {record =, marks =}, and its own run, in the
-- blocks of that one's grid, on the Lua engine; nil where it cannot be.
function M.slice(run)
  local own = slice_of(run)
  local slice = prepare(run, own)
  if slice then slice.native = nil end
  return own, slice
end

-- ------------------------------------------------------------------------------------- the lists

local function new_needs(blocks, elements)
  local err = c_core.new_error()
  local needs = lib.ms_needs_new(blocks, elements, err)
  if needs == nil then errors.raise_core(err) end
  return ffi.gc(needs, lib.ms_needs_free)
end

-- What the blocks have marked, in the order of the marked arrays.
local function read_marks(run, own, marked)
  local lists, err = {}, c_core.new_error()
  for k, marks in ipairs(own.marks) do
    local about = array.describe(marks.pending)
    local needs = new_needs(run.grid.blocks, about.count)
    for block = 0, run.grid.blocks - 1 do
      local bytes = marked[about.id] and marked[about.id][block] or ""
      if lib.ms_needs_add(needs, bytes, #bytes, err) ~= 0 then errors.raise_core(err) end
    end
    lists[k] = needs
  end
  return lists
end

-- All that the lists depend on beside loop and grid, as a string; nil if something has no version.
local function state_of(told)
  local parts, contents = {told.values}, job_operands.contents(told.operands)
  if not contents then return nil end
  for _, each in ipairs(told.apart) do parts[#parts + 1] = each.holder.digest end
  parts[#parts + 1] = contents
  return table.concat(parts, "|")
end

-- Finds what goes from block to block of the arrays of which writes are marked: their lists are
-- then those of what comes from before the loop, and `flows` has the others, by capture.
local function find_flows(run, lists)
  local prefetch, flows, err = run.plan.prefetch, {}, c_core.new_error()
  local place = {}
  if #run.plan.buffers > 0 then return flows end -- its blocks may be several jobs
  for k, b in ipairs(prefetch.arrays) do place[b] = k end
  for k, b in ipairs(prefetch.stored) do
    local flow, at = ffi.new "ms_block_flow", place[b]
    local writes = lists[#prefetch.arrays + k]
    if lib.ms_block_flow_find(writes, lists[at], run.grid.core, flow, err) ~= 0 then
      errors.raise_core(err)
    end
    local needs, handed = ffi.gc(flow.last, lib.ms_needs_free),
                          ffi.gc(flow.handed, lib.ms_needs_free)
    lists[at] = ffi.gc(flow.first, lib.ms_needs_free)
    flows[b] = {needs = needs, handed = handed, holder = element_lists.hold(needs, handed)}
  end
  return flows
end

-- The lists of a slice that marks nothing: what blocks write without having to see it.
local function find_nothing(run)
  local own, kept = slice_of(run), run.grid.needs
  if not (kept and kept.slice == own) then
    kept = {slice = own, lists = read_marks(run, own, {}), flows = {}}
    run.grid.needs = kept
  end
  return kept, 0
end

-- Runs the slice, unless the lists of the last time are still good: {lists =, flows =}, and the
-- bytes sent.
local function find_lists(run, pack, execute)
  if not string.find(run.plan.prefetch.text, MARKS, 1, true) then return find_nothing(run) end
  local own = slice_of(run)
  local slice = prepare(run, own)
  if not slice then return {}, 0 end
  local told = pack(slice)
  local state, kept = state_of(told), run.grid.needs
  if kept and kept.slice == own and state and kept.state == state then return kept, 0 end
  local marked, moved = execute(slice, told)
  local found = {slice = own, state = state, lists = marked and read_marks(run, own, marked)}
  found.flows = marked and find_flows(run, found.lists)
  run.grid.needs = found
  return found, moved
end

-- Lists by the id of the array that they are of. Those of what blocks hand over become the run's.
local function by_id(run, found)
  local needs = {}
  for k, b in ipairs(run.plan.prefetch.arrays) do
    needs[array.describe(run.values[b]).id] = found.lists[k]
  end
  for b, flow in tables.each(found.flows) do
    run.lists = run.lists or {}
    run.lists[array.describe(run.values[b]).id] = flow
  end
  return needs
end

-- Whether a marked array is served, or comes back by lists.
local function is_of_use(run)
  if #run.plan.prefetch.stored > 0 then return true end
  for _, b in ipairs(run.plan.prefetch.arrays) do
    local listed = run.lists and run.lists[array.describe(run.values[b]).id]
    if listed or not run.plan.array_of[b].written then return true end
  end
  return false
end

--- Finds out what the blocks of a run need of its served arrays, and have to see of those that come
-- back by lists.
-- @tab run the loop's run
-- @func pack pack(run): what a job of the run tells its workers
-- @func execute execute(run, told): what blocks have marked by the id of the array of marks and by
-- block, and the bytes sent; nil when the body failed
-- @treturn table|nil needs by the id of the array; nil: everything
-- @treturn number bytes sent @treturn number seconds that it took
-- Errors: WRK INT NET.
function M.find(run, pack, execute)
  -- In fast arithmetic a subscript might come out differently in the slice and in the body.
  local exact = run.space.numeric == "strict"
  local wanted = run.by_value and run.plan.prefetch and not run.versions
  if not (wanted and exact and is_of_use(run)) then return nil, 0, 0 end
  local began = system.clock()
  local ok, found, moved = pcall(find_lists, run, pack, execute)
  if not ok then
    if type(found) ~= "table" or not HARMLESS[found.code] then error(found, 0) end
    found, moved = {}, 0
  end
  return found.lists and by_id(run, found), moved, system.clock() - began
end

return M
