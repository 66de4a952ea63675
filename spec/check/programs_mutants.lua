-- SPDX-License-Identifier: MIT
--
-- Faults that an analyser could have, put between it and the comparison: each changes what it is
-- told, or what it answers, where the program gives it something to change. `kinds`: what the fault
-- must be caught as; without, anything will do.
local claims = require "spec.support.claim"

local M = {}

-- A mutant of the answer: change(plan) says whether it changed something.
local function in_plan(change, kinds)
  return function(note)
    return { kinds = kinds, plan = function(original)
      return function(loop, bindings, space)
        local plan, problem = original(loop, bindings, space)
        if plan and change(plan, space) then note() end
        return plan, problem
      end
    end }
  end
end

-- A mutant of what is known about captures and the space.
local function in_input(change)
  return function(note)
    return { plan = function(original)
      return function(loop, bindings, space)
        local given = {}
        for c, binding in ipairs(bindings) do
          given[c] = setmetatable({}, { __index = binding })
          for key, value in pairs(binding) do given[c][key] = value end
        end
        local other = setmetatable({}, { __index = space })
        for key, value in pairs(space) do other[key] = value end
        if change(given, other) then note() end
        return original(loop, given, other)
      end
    end }
  end
end

-- A mutant of the text that is analysed; the program itself stays.
local function in_text(pattern, replacement)
  return function(note)
    return { parse = function(original)
      return function(text, ...)
        local at = text:find("parallel(", 1, true)
        local head, rest = text:sub(1, at - 1), text:sub(at)
        local changed, count = rest:gsub(pattern, replacement)
        if count == 0 or not loadstring(head .. changed) then return original(text, ...) end
        note()
        return original(head .. changed, ...)
      end
    end }
  end
end

local function each_component(plan, change)
  for _, d in ipairs(plan.distances) do
    for k = 1, #d do
      local value = change(d[k])
      if value ~= nil then
        d[k] = value
        return true
      end
    end
  end
end

local function scalar_of(plan, role, op)
  for _, scalar in pairs(plan.scalars) do
    if scalar.role == role and (op == nil or scalar.op == op) then return scalar end
  end
end

local function claim(plan, strategy, dims)
  claims.strategy(plan, strategy, dims)
  return true
end

-- A role for a variable that is none of the kind, in an otherwise parallel loop.
local function claim_role(role)
  return function(plan)
    local scalar = scalar_of(plan, "carried")
    if not scalar or #plan.distances > 0 then return false end
    scalar.role, scalar.op = role, role == "reduction" and "+" or nil
    return claim(plan, "independent", { 1 })
  end
end

-- Two names of one array, or two views of one memory.
local function split(field)
  return function(bindings)
    for a, first in ipairs(bindings) do
      for b = a + 1, #bindings do
        local second = bindings[b]
        local shared = first.kind == "array" and second.kind == "array"
          and first.storage == second.storage
        if shared and (first.array == second.array) == (field == "array") then
          for c = b, #bindings do
            local other = bindings[c]
            if other.kind == "array" and other.array == second.array and c ~= a then
              other.array, other.storage = other.array + 2 ^ 40, other.storage + 2 ^ 40
            end
          end
          return true
        end
      end
    end
  end
end

--- The mutants by name: make(note) gives what spec.check.programs_run takes; note() is called when
-- something was changed.
M.list = {
  ["a distance dropped"] = in_plan(function(plan)
    return table.remove(plan.distances) ~= nil
  end, { distance = true }),
  ["a sign flipped"] = in_plan(function(plan)
    return each_component(plan, function(c)
      if c == "+" then return "-" end
      if c == "-" then return "+" end
      if type(c) == "number" and c ~= 0 then return -c end
    end)
  end, { distance = true }),
  ["a distance off by one"] = in_plan(function(plan)
    return each_component(plan, function(c) return type(c) == "number" and c + 1 or nil end)
  end, { distance = true }),
  ["the wrong dimension cut"] = in_plan(function(plan)
    if plan.strategy ~= "partition" or #plan.indices < 2 then return false end
    return claim(plan, "partition", { plan.cut_dims[1] == 1 and 2 or 1 })
  end, { schedule = true }),
  ["independence claimed"] = in_plan(function(plan)
    if plan.strategy ~= "rotate" and plan.strategy ~= "partition" then return false end
    return claim(plan, "independent", { 1 })
  end, { schedule = true }),
  ["a rotation called a partition"] = in_plan(function(plan)
    if plan.strategy ~= "rotate" then return false end
    return claim(plan, "partition", { 1 })
  end, { schedule = true }),
  ["a serial loop called parallel"] = in_plan(function(plan)
    if plan.strategy ~= "serial" or #plan.distances == 0 then return false end
    return claim(plan, "partition", { 1 })
  end, { schedule = true }),
  ["a rotation claimed"] = in_plan(function(plan)
    if plan.strategy ~= "serial" or #plan.distances == 0 or #plan.indices < 2 then return false end
    return claim(plan, "rotate", { 1, 2 })
  end, { schedule = true }),
  ["a written array called read"] = in_plan(function(plan)
    for _, about in pairs(plan.arrays) do
      if about.access ~= "read" then
        about.access = "read"
        return true
      end
    end
  end, { access = true }),
  ["a reduction claimed"] = in_plan(claim_role "reduction", { reduction = true }),
  ["a private claimed"] = in_plan(claim_role "private", { scalar = true }),
  ["a broadcast claimed"] = in_plan(claim_role "broadcast", { scalar = true }),
  ["the wrong operation"] = in_plan(function(plan)
    local scalar = plan.strategy ~= "serial" and scalar_of(plan, "reduction", "+")
    if scalar then scalar.op = "max" end
    return scalar
  end, { reduction = true }),
  ["two names of one array taken apart"] = in_input(split "array"),
  ["two views of one memory taken apart"] = in_input(split "storage"),
  ["the order given up"] = in_input(function(_, space)
    local ordered = space.ordered
    space.ordered = false
    return ordered
  end),
  ["writes by methods not seen"] = in_text(":fill%(", ":norm("),
  ["updates by methods taken for reads"] = in_text(":axpy%(", ":norm("),
  ["a minus read as a plus"] = in_text(" %- ", " + "),
  ["coefficients dropped"] = in_text("2 %* ", "    "),
  ["opaque subscripts taken as the index"] = in_text("p%[(%w+)%]", "  %1 "),
  ["helpers that do nothing"] = in_text("put%((.-), %(.-\n", "\n"),
  ["conditional code not seen"] = in_text("if [^\n]- then\n[^\n]*\n", "if true then\n\n"),
  ["row views taken for something else"] = in_text("local w%d+ = [^\n]*", function(line)
    return (line:gsub("= .*", "= {}"))
  end),
}

return M
