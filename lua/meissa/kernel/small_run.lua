-- SPDX-License-Identifier: MIT
--- Small runs: a kernel's blocks in the driver's process, all by one call of C.
--
-- csrc/job/small_run.h says what they are. An instance of the kernel on the arrays' own memory has
-- one of them.
-- @module meissa.kernel.small_run

local c_api = require "meissa.array.c_api"
local c_core = require "meissa.base.c_core"
local ffi = require "ffi"
local native = require "meissa.kernel.native"
local results_of = require "meissa.kernel.result"

local M = {}

local lib = c_core.lib

local RAN, NOT_NOW, NEVER = 0, 1, 2

-- ms_native_prospect
local ENDS = 0

local new = ffi.metatype("ms_small_run", {__gc = lib.ms_small_run_free})

-- Elements of an array before and behind the one that `data` points to, all of those between its
-- first and its last in memory: what lies there beside the array is put back as it was, too.
local function reach_of(array)
  if array.sparse ~= 0 or array.count == 0 then return 0, tonumber(array.count) end
  local before, behind = 0, 1
  for d = 0, array.dim_count - 1 do
    local reach = tonumber((array.dims[d] - 1) * array.strides[d])
    before, behind = before - math.min(0, reach), behind + math.max(0, reach)
  end
  return before, behind
end

-- The memory of arrays.
local function spans_of(arrays)
  local spans = ffi.new("ms_small_span[?]", #arrays + 1)
  for k, each in ipairs(arrays) do
    local before, behind = reach_of(each)
    local element = c_api.element_sizes[c_api.type_names[each.type]]
    spans[k - 1].data = ffi.cast("char *", each.data) - before * element
    spans[k - 1].size = (before + behind) * element
  end
  return spans
end

-- ms_small_private_kind
local PENDING, TOUCHED, SCRATCH = 0, 1, 2

-- The arguments of an instance that lead to memory that blocks have to themselves.
local function privates_of(instance, own)
  local found, memory = {}, own and own.core
  for n, param in ipairs(memory and instance.info.params or {}) do
    local to = instance.slots[n - 1].pointer
    local pointer, touched = param.kind == "pointer", param.kind == "touched"
    for p = 0, memory.pending_count - 1 do
      local space = memory.pending[p]
      if pointer and to == ffi.cast("void *", space.elements) then
        found[#found + 1] = {n - 1, PENDING, p}
      elseif touched and to == ffi.cast("void *", space.touched) then
        found[#found + 1] = {n - 1, TOUCHED, p}
      end
    end
    for s = 0, memory.scratch_count - 1 do
      if pointer and to == memory.scratch[s].elements then
        found[#found + 1] = {n - 1, SCRATCH, s}
      end
    end
  end
  return {list = ffi.new("ms_small_private[?]", #found + 1, found), count = #found}
end

--- Whether other threads than the one that calls can run blocks: none has to know the end of its
-- stack.
-- @tab instance a native one
function M.is_for_any_thread(instance)
  for _, param in ipairs(instance.info.params) do
    if param.kind == "stack" then return false end
  end
  return true
end

--- What runs an instance's blocks; whoever has it keeps the instance.
-- @tab instance a native one @tab[opt] own its private memory (see block_local.lua)
-- @tab written core's arrays that the loop may write: `own` first, so many, that blocks write
-- themselves, then those that are merged into
-- @tab merged {array = the core's, number = that of its buffer}, in the order of merging
-- @tab info of the kernel, for which kernel.runs_alone holds
-- @return an ms_small_run; what lives as long
function M.make(instance, own, written, merged, info)
  local run, known = new(), results_of.rules(info)
  local arguments, privates = run.arguments, privates_of(instance, own)
  run.entry, run.fault, run.mark = instance.entry, instance.fault, native.MARK
  arguments.slots, arguments.slot_count = instance.slots, #instance.info.params
  arguments.privates, arguments.private_count = privates.list, privates.count
  arguments.memory = own and own.core
  local spans = spans_of(written)
  run.written, run.own_count, run.written_count = spans, written.own, #written
  local merges = ffi.new("ms_small_merge[?]", #merged + 1)
  for m, each in ipairs(merged) do
    merges[m - 1].array, merges[m - 1].number = each.array, each.number - 1
  end
  run.merges, run.merge_count = merges, #merged
  if known then run.rules, run.count, run.scalars = known.rules, known.count, known.scalars end
  return run, {spans, merges, privates.list}
end

--- How many threads may run blocks of a plan at the same time.
-- @param plan an ms_plan @number members there are so many
function M.members(plan, members) return (lib.ms_small_run_members(plan, members)) end

--- Whether all blocks of a plan are known to go through to their ends.
-- @param run what make gave, its instance filled @param plan an ms_plan
function M.ends(run, plan)
  return lib.ms_small_run_prospect(run, plan) == ENDS
end

--- Runs all blocks of a plan.
-- @param run what make gave, its instance filled
-- @tab info of the kernel @tab values the captured values before the loop
-- @param plan an ms_plan
-- @treturn table|nil what is to be assigned, a list of {capture =, value =}; or {left = the
-- results of the blocks as kernel.combine takes them}; nil: nothing has been done
-- @treturn boolean with nil: whether it would always be so
function M.run(run, info, values, plan)
  if run.count > 0 and not results_of.begin_scalars(info, values) then return nil, false end
  local answer = lib.ms_small_run_blocks(run, plan)
  if answer == RAN then return run.count > 0 and results_of.end_scalars(info) or {} end
  if answer == NOT_NOW or answer == NEVER then return nil, answer == NEVER end
  local size = 8 * (1 + 2 * run.count) * plan.blocks
  return {left = {flat = ffi.string(run.left, size), blocks = plan.blocks}}
end

return M
