-- SPDX-License-Identifier: MIT
--- Slices: texts made of a loop's body as functions of its variables, and what these depend on.
--
-- A text names the loop's captured variables, `meissa_marks_k` (arrays that it is given), and of
-- each range d `meissa_lo_d`, `meissa_hi_d`, `meissa_step_d` and `meissa_width_d`, of which the
-- number of an iteration is the sum (csrc/depend/inspector.h). All become local variables around
-- the function, so that it can be run by `each` like any closure. Lives on the driver.
-- @module meissa.driver.inspector_function

local array = require "meissa.array"
local c_api = require "meissa.array.c_api"
local errors = require "meissa.base.errors"
local inspect = require "meissa.plan.inspect"
local tables = require "meissa.base.tables"
local content_versions = require "meissa.array.content_version"

local M = {}

-- More names than these make no Lua function.
local MOST_NAMES = 58

-- Adds the captured variables that a text names, each once.
local function add_captured(run, text, add)
  local known = {}
  for c, each in ipairs(run.record.captures) do
    if not known[each.root] and inspect.has_name(text, each.root) then
      known[each.root] = true
      add(each.root, run.roots[c])
    end
  end
end

-- Adds what a text is given beside them, where it names that.
local function add_own(run, text, given, add)
  local width = 1
  local function offer(name, value)
    if inspect.has_name(text, "meissa_" .. name) then add("meissa_" .. name, value) end
  end
  for k, each in ipairs(given.marks or {}) do offer("marks_" .. k, each) end
  for d = #run.space.ranges, 1, -1 do
    local range = run.space.ranges[d]
    offer("lo_" .. d, range[1])
    offer("hi_" .. d, range[2])
    offer("step_" .. d, range[3])
    offer("width_" .. d, width)
    width = width * ((range[2] - range[1]) / range[3] + 1)
  end
  for name, value in tables.each(given.own or {}) do offer(name, value) end
end

--- A text as a function.
-- @tab run the loop's run @string text "function(i, j) ... end"
-- @tab given `marks`, a list of arrays; `own`, values of variables `meissa_<name>`; `lines`, how
-- many lines come before the text's first one where it was written
-- @treturn func|nil it; nil: it has too many variables
-- @treturn func values() gives the present values of all variables, by name
-- @treturn func renew(run) gives the captured variables the values that they have in another run
function M.closure(run, text, given)
  local names, values, fields, count = {}, {}, {}, 0
  local function add(name, value)
    count = count + 1
    names[count], values[count], fields[count] = name, value, name .. " = " .. name
  end
  add_captured(run, text, add)
  local captured = math.max(count, 1)
  add_own(run, text, given, add)
  if count > MOST_NAMES then return nil end
  if count == 0 then add("meissa_nothing", nil) end
  local chunk = loadstring(string.format(
    "%s%slocal %s = ... return %s, function() return {%s} end, function(...) %s = ... end",
    errors.MADE, string.rep("\n", given.lines or 0), table.concat(names, ", "), text,
    table.concat(fields, ", "), table.concat(names, ", ", 1, captured)))
  local fn, read, set = setfenv(chunk, run.env)(unpack(values, 1, count))
  return fn, read, function(again)
    local fresh, n = {}, 0
    add_captured(again, text, function(_, value)
      n = n + 1
      fresh[n] = value
    end)
    if n > 0 then set(unpack(fresh, 1, n)) end
  end
end

-- ------------------------------------------------------------------------------ what they read

-- Where the entries of a sparse array are, and their values, as a string.
local function entries_of(value, about)
  local core, words = array.core(value), {tostring(about.id)}
  local function add(name, pointer, bytes)
    local id = string.format("inspected %d %s", about.id, name)
    words[#words + 1] = tostring(content_versions.of(id, pointer, bytes * about.count))
  end
  add("values", core.data, c_api.element_sizes[about.type])
  for d = 1, #about.dims do add(d, core.coords[d - 1], 4) end
  return table.concat(words, ":")
end

-- The contents of an array, as a string.
local function contents_of(value)
  local about = array.describe(value)
  if about.sparse then return entries_of(value, about) end
  local box = {pointer = array.core(value).data, dims = about.dims, strides = about.strides}
  local id = string.format("inspected %d", about.id)
  local version = content_versions.of_boxes(id, {box}, c_api.element_sizes[about.type])
  return string.format("%d:%d", about.id, version)
end

-- Values that say all of themselves.
local PLAIN = {number = true, boolean = true, string = true, ["nil"] = true, builtin = true}

local function is_whole(value) return value % 1 == 0 end

-- Whether a captured value leads to nothing but whole numbers.
local function is_integral(binding, value)
  if binding.kind == "array" then return binding.integer end
  return binding.kind == "number" and is_whole(value)
end

--- Whether a text computes the subscripts that the body does: in fast arithmetic those of whole
-- numbers alone are the same in both.
-- @tab run the loop's run @string text the slice's @tab marked bindings of the arrays that it has
-- marks for
function M.is_exact(run, text, marked)
  if run.space.numeric == "strict" then return true end
  local is_marked = {}
  for _, b in ipairs(marked) do is_marked[run.bindings[b].array] = true end
  for c, capture in ipairs(run.record.captures) do
    local binding = run.bindings[c]
    local own = binding.kind == "array" and is_marked[binding.array]
    if inspect.has_name(text, capture.root) and not own and
       not is_integral(binding, run.values[c]) then
      return false
    end
  end
  return not string.find(text, "%d%.%d")
end

--- What running a text gives depends on, beside the plan, as a string; nil if it cannot be said.
-- @tab run the loop's run @string text the slice's @tab marked bindings of the arrays that it has
-- marks for
function M.state(run, text, marked)
  local parts, is_marked = {}, {}
  for _, b in ipairs(marked) do is_marked[run.bindings[b].array] = true end
  for c, binding in ipairs(run.bindings) do
    local capture = run.record.captures[c]
    if not capture then return nil end -- functions and tables lead on
    if inspect.has_name(text, capture.root) then
      local value = run.values[c]
      if binding.kind == "array" and not is_marked[binding.array] then
        if binding.scratch then return nil end
        parts[#parts + 1] = contents_of(value)
      elseif PLAIN[binding.kind] then
        parts[#parts + 1] = tostring(value)
      elseif binding.kind ~= "array" then
        return nil
      end
    end
  end
  for _, range in ipairs(run.space.ranges) do parts[#parts + 1] = table.concat(range, ":") end
  if run.space.array then parts[#parts + 1] = contents_of(run.space.array) end
  return table.concat(parts, "|")
end

return M
