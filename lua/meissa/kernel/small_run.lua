-- SPDX-License-Identifier: MIT
--- Small runs: a kernel's blocks in the driver's process, all by one call of C.
--
-- csrc/job/small_run.h says what they are. An instance of the kernel on the arrays' own memory has
-- one of them.
-- @module meissa.kernel.small_run

local c_api = require "meissa.array.c_api"
local core = require "meissa.base.ffi"
local ffi = require "ffi"
local native = require "meissa.kernel.native"
local results_of = require "meissa.kernel.result"

local M = {}

local lib = core.lib

local RAN, NOT_NOW, NEVER = 0, 1, 2

-- ms_native_prospect
local ENDS = 0

local new = ffi.metatype("ms_small_run", {__gc = lib.ms_small_run_free})

-- Bytes that are kept for a loop that may stop: workers get going in the time that copying twice as
-- many takes.
local MOST_KEPT, UNKEPT = 2 ^ 17, 2 ^ 32 - 1

-- The memory of arrays; nil where that is more than is kept, or not in one piece.
local function spans_of(arrays)
  local spans, size = ffi.new("ms_small_span[?]", #arrays + 1), 0
  for k, each in ipairs(arrays) do
    if each.sparse == 0 and lib.ms_array_contiguous(each) == 0 then return nil end
    local bytes = tonumber(each.count) * c_api.element_sizes[c_api.type_names[each.type]]
    spans[k - 1].data, spans[k - 1].size, size = each.data, bytes, size + bytes
  end
  return size <= MOST_KEPT and spans or nil
end

--- What runs an instance's blocks; whoever has it keeps the instance.
-- @tab instance a native one @tab[opt] own its private memory (see block_local.lua)
-- @tab written core's arrays that the loop may write
-- @tab info of the kernel, for which kernel.runs_alone holds
-- @return an ms_small_run; what lives as long
function M.make(instance, own, written, info)
  local run, known = new(), results_of.rules(info)
  run.entry, run.slots, run.fault = instance.entry, instance.slots, instance.fault
  run.mark, run.memory = native.MARK, own and own.core
  local spans = spans_of(written)
  run.written, run.written_count = spans, spans and #written or UNKEPT
  if known then run.rules, run.count, run.scalars = known.rules, known.count, known.scalars end
  return run, spans
end

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
