-- SPDX-License-Identifier: MIT
--- What plans say of inspections: proofs at run time that iterations do not meet.
--
-- Pure tables and text; who inspects is meissa.driver.inspection.
-- @module meissa.plan.inspect

local tables = require "meissa.base.tables"

local M = {}

-- Whether there is a letter, a digit or "_" at a place of a text.
local function has_letter(text, place)
  return place > 0 and string.find(text, "^[%w_]", place) ~= nil
end

--- Whether a path ("perm", "model.order") stands in a text. Texts are long, and a plain search
-- passes over what a pattern would look at letter by letter.
function M.has_name(text, path)
  local first, last = string.find(text, path, 1, true)
  while first and (has_letter(text, first - 1) or has_letter(text, last + 1)) do
    first, last = string.find(text, path, first + 1, true)
  end
  return first ~= nil
end

--- Names of the arrays that an inspection reads, in the order of the loop's captures.
-- @tab captures the loop's @tab bindings what these mean
-- @tab collisions {stores =, looks = texts of slices, arrays = bindings of those written}
function M.names(captures, bindings, collisions)
  local text = (collisions.stores or "") .. (collisions.looks or "") .. (collisions.levels or "")
  local names, known = {}, {}
  for _, list in ipairs {collisions.arrays, collisions.levelled} do
    for _, b in ipairs(list) do known[bindings[b].array] = true end
  end
  for c, each in ipairs(captures) do
    local binding = bindings[c]
    local path = table.concat({each.root, unpack(each.fields, 1, binding.depth)}, ".")
    if binding.kind == "array" and not known[binding.array] and M.has_name(text, path) then
      known[binding.array], names[#names + 1] = true, path
    end
  end
  return names
end

--- A plan's reasons without the notices of what was taken on the user's word: it is proved.
function M.proved(reasons)
  local kept = {}
  for _, reason in ipairs(reasons) do
    if reason.code ~= "DEP203" then kept[#kept + 1] = reason end
  end
  return kept
end

local function changed(t, changes)
  local new = tables.copy(t)
  for key, value in tables.each(changes) do new[key] = value end
  return new
end

-- A plan with its first possible dependence changed.
local function with_reason(plan, verdict, changes_of)
  local reasons, done = {}, false
  for k, reason in ipairs(plan.reasons) do
    local is = reason.code == "DEP102" and not done
    reasons[k], done = is and changed(reason, changes_of(reason)) or reason, done or is
  end
  return setmetatable(changed(plan, {verdict = verdict, reasons = reasons}), getmetatable(plan))
end

--- "inspection of perm", by names of arrays.
function M.words(names)
  return "inspection" .. (names[1] and " of " .. table.concat(names, ", ") or "")
end

--- A plan whose possible dependence was found to be one.
-- @tab plan a plan with `inspect`
-- @tab met two iterations that meet: {from =, to = indices}
-- @string[opt] obstacle why it has no levels
function M.refuted(plan, met, obstacle)
  local found = "found by " .. M.words(plan.inspect)
  if obstacle then found = found .. "; it cannot run level by level: " .. obstacle end
  return with_reason(plan, "serial", function(reason)
    return {
      code = "DEP101", title = "carried dependence", witness = {from = met.from, to = met.to},
      distance = found,
      first = changed(reason.first, {does = "touches an element here"}),
      second = changed(reason.second or reason.first, {does = "touches the same one"}),
    }
  end)
end

-- The fix of loops that only add to elements; nil of others.
local function buffered(plan)
  for _, reason in ipairs(plan.reasons) do
    for _, fix in ipairs(reason.fixes) do
      if string.find(fix, "meissa.buffer(", 1, true) then return fix end
    end
  end
end

--- A plan whose iterations have levels, as it is shown where it runs as written; `unlevelled`: what
-- does without them.
function M.levelled(plan)
  local reasons = {}
  for _, reason in ipairs(plan.reasons) do
    if string.sub(reason.code, 1, 4) == "DEP2" then reasons[#reasons + 1] = reason end
  end
  local new = changed(plan, {verdict = "parallel", strategy = "levels", reasons = reasons,
                          inspected = plan.inspect, unlevelled = buffered(plan)})
  return setmetatable(new, getmetatable(plan))
end

--- A plan whose inspection ended in an error, which proves nothing.
-- @tab plan a plan with `inspect` @param err the error object
function M.stopped(plan, err)
  local where = type(err.iteration) == "table" and
    string.format(" (iteration %s)", table.concat(err.iteration, ", ")) or ""
  return with_reason(plan, plan.verdict, function()
    return {distance = M.words(plan.inspect) .. " ended in an error: " .. err.message .. where}
  end)
end

return M
