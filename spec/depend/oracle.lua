-- SPDX-License-Identifier: MIT
--
-- The oracle: a plan held against the distances, patterns and legal strategies of its loop, by
-- plain enumeration (enumeration.lua, legality.lua).

local entries_of = require("meissa.base.tables").each
local enumeration = require "spec.depend.enumeration"
local legality = require "spec.depend.legality"

local key_of = enumeration.key
local M = {}

local function compare_patterns(expected, plan)
  local seen = {}
  for _, p in ipairs(plan.distances) do
    local key = key_of(p)
    if not expected[key] then return "distance (" .. key .. ") is not there" end
    seen[key] = true
  end
  for key in entries_of(expected) do
    if not seen[key] then return "distance (" .. key .. ") is missing" end
  end
end

local function same_dims(loop, plan, dims)
  for n, k in ipairs(dims) do
    if plan.dims[n] ~= loop.names[k] then return false end
  end
  return #dims == #plan.dims
end

local function is_orthogonal(row, distances)
  return legality.every(distances, function(d)
    local sum = 0
    for k = 1, #d do sum = sum + row[k] * d[k] end
    return sum == 0
  end)
end

local function compare_row(loop, sets, plan)
  local row, zero = plan.row, true
  if not row or #row ~= loop.dims then return "no row" end
  for k = 1, #row do zero = zero and row[k] == 0 end
  if zero then return "the row is zero" end
  if plan.strategy == "skew" then
    return not is_orthogonal(row, sets.all) and "the row is not orthogonal" or nil
  elseif not legality.sweeps(row, legality.patterns(sets.all)) then
    return "the row does not sweep"
  elseif not legality.plane_is_shared(row, enumeration.iterations(loop)) then
    return "no plane of the row has two iterations"
  end
end

-- What is wrong with the dimensions or the row of a plan.
local function compare_dims(loop, sets, plan, detail)
  if plan.strategy == "partition" then
    for k, name in ipairs(loop.names) do
      if name == plan.dims[1] then
        local legal = legality.cuts(sets.all, loop.dims)[k]
        return not legal and "cut along " .. name .. " is illegal" or nil
      end
    end
    return "partition without a dimension"
  elseif plan.strategy == "rotate" or plan.strategy == "wavefront" then
    return not same_dims(loop, plan, detail) and plan.strategy .. "s along other dimensions" or nil
  elseif plan.strategy == "skew" or plan.strategy == "hyperplane" and plan.row then
    return compare_row(loop, sets, plan)
  elseif plan.strategy == "hyperplane" then
    return plan.sequential ~= detail and "other sequential dimensions" or nil
  end
end

-- The colliding pair of each reason is one: its distance occurs.
local function compare_witness(loop, sets, plan)
  for _, reason in ipairs(plan.reasons) do
    if reason.witness then
      local d = {}
      for k = 1, loop.dims do
        d[k] = (reason.witness.to[k] - reason.witness.from[k]) / loop.step(k) + 0 -- no -0
      end
      if not sets.all[key_of(d)] then return "witness of " .. reason.code .. " does not collide" end
    end
  end
end

local function right_verdict(loop, sets, plan)
  local truth = plan.strategy ~= "serial" and "parallel"
    or legality.any_class(loop, sets.proven) and "unknown" or "serial"
  if plan.verdict == truth then return nil end
  if loop.unsure and truth == "unknown" and plan.verdict == "serial" then return nil end
  return ("verdict %s, not %s"):format(plan.verdict, truth)
end

-- A plan for a loop that only a sweep along a row can run: that, or serial if there is none.
local function right_sweep(loop, sets, plan)
  if plan.strategy == "hyperplane" and plan.row then return nil end
  if plan.strategy ~= "serial" then return ("strategy %s is not legal"):format(plan.strategy) end
  if legality.any_hyperplane(loop, sets.all) then return "strategy serial, but a row sweeps" end
end

--- nil if the plan is right, else what is wrong with it.
function M.compare(loop, plan)
  local sets = enumeration.distances(loop)
  local problem = compare_patterns(legality.patterns(sets.all), plan)
  if problem then return problem end
  local strategy, detail = legality.first_class(sets.all, loop.dims, loop.ordered)
  if strategy and plan.strategy ~= strategy then
    return ("strategy %s, not %s"):format(plan.strategy, strategy)
  end
  return not strategy and right_sweep(loop, sets, plan) or right_verdict(loop, sets, plan)
    or compare_dims(loop, sets, plan, detail) or compare_witness(loop, sets, plan)
end

return M
