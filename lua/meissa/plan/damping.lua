-- SPDX-License-Identifier: MIT
--- Damping: which rows of an array that merges damp are which replica's (meissa.kernel.damped does
-- it, block by block).
--
-- A loop over replicas writes other arrays along its shares: what goes with a share's range of the
-- shared index is its replica's alone.
-- @module meissa.plan.damping

local array = require "meissa.array"
local errors = require "meissa.base.errors"

local M = {}

-- How an array that the loop writes follows the shared index; nil: it does not.
local function follow_of(run, c, shares)
  for _, follow in ipairs(run.plan.array_of[c].writes.follow or {}) do
    if follow.loop_dim == shares.dim + 1 then return follow end
  end
end

-- The first and the last row, from 1, of each replica; none where the last is before the first.
local function rows_of(run, shares, follow, length)
  local first, last = {}, {}
  local step = run.space.shared and run.space.ranges[shares.dim + 1][3] or 1
  for k = 1, shares.replicas do
    local from, to = tonumber(shares.bounds[k - 1]), tonumber(shares.bounds[k]) - step
    local a, b = follow.scale * from + follow.offset, follow.scale * to + follow.offset
    first[k], last[k] = math.max(1, math.min(a, b)), math.min(length, math.max(a, b))
    if (to - from) * step < 0 then last[k] = first[k] - 1 end
  end
  return first, last
end

-- Whether two arrays are the same elements, seen alike.
local function same_elements(a, b)
  if a.store ~= b.store or a.offset ~= b.offset or #a.dims ~= #b.dims then return false end
  for d = 1, #a.dims do
    if a.dims[d] ~= b.dims[d] or a.strides[d] ~= b.strides[d] then return false end
  end
  return true
end

local function name_of(run, c)
  local capture = run.record.captures[c]
  return table.concat({capture.root, unpack(capture.fields)}, ".")
end

local function refuse(run, c, why)
  errors.raise("OPT", "a merge damps '%s', %s", name_of(run, c), why)
end

-- What is damped of an array that is captured as number c, or nothing.
local function told_of(run, shares, c, value, gamma)
  local about, wanted = array.describe(run.values[c]), array.describe(value)
  local same = about.id == wanted.id
  if not same and not array.overlap(value, run.values[c]) then return nil end
  if not same and not same_elements(about, wanted) then
    refuse(run, c, "of which the loop writes a view, or the other way round: give the merge the " ..
           "array that the loop writes ({damp = {...}})")
  end
  local follow = follow_of(run, c, shares)
  if not follow then
    local index = run.plan.indices[shares.dim + 1]
    refuse(run, c, string.format("which the loop does not write along '%s', the index that the " ..
      "replicas share out, at one place an iteration, such as [%s]", index, index))
  end
  local first, last = rows_of(run, shares, follow, about.dims[follow.array_dim])
  return {capture = c, gamma = gamma, dim = follow.array_dim, first = first, last = last}
end

--- What a loop's merges damp: a list of {capture =, gamma =, dim = the dimension of whose rows,
-- from 1, replica k has `first[k]` to `last[k]`}; nil: nothing.
-- @tab run the loop's run @tab merges of its exchanges, as meissa.sync.settings has them
-- @param shares that are in force
-- Errors: OPT for arrays of which this cannot be said.
function M.of(run, merges, shares)
  local list = {}
  for _, merge in ipairs(merges) do
    for _, value in ipairs(merge.gamma ~= 1 and merge.damp or {}) do
      local seen = false
      for c, binding in ipairs(run.bindings) do
        local written = binding.kind == "array" and not (binding.replica or binding.scratch or
          binding.buffers or binding.sparse) and run.plan.array_of[c].written
        local told = written and not seen and told_of(run, shares, c, value, merge.gamma)
        if told then list[#list + 1], seen = told, true end
      end
    end
  end
  list.replicas = shares.replicas
  return #list > 0 and list or nil
end

return M
