-- SPDX-License-Identifier: MIT
--- Iteration spaces: the arguments of `parallel(...)` as ranges or the entries of an array.
--
-- A space is {ranges = {{lo, hi, step}, ...}, array = the DistArray or nil, sparse =, ordered =,
-- serial =, collapse =, options = {...}}. Entries of an array have one range {1, extent, 1} a
-- dimension.
-- @module meissa.plan.space

local array = require "meissa.array"
local errors = require "meissa.base.errors"
local objects = require "meissa.array.objects"
local partition_entries = require "meissa.plan.partition_entries"
local tables = require "meissa.base.tables"

local M = {}

local OPTIONS = {
  "ordered", "serial", "grid", "collapse", "explain", "reduce", "numeric", "engine", "impure",
  "check", "transaction", "assume",
}

local MOST_DIMS = 8
local LARGEST = 2 ^ 53

local function is_options(value)
  return type(value) == "table" and getmetatable(value) == nil and value[1] == nil
end

-- An integer of a range, or an error that names it.
-- @string[opt] what of a range it is; nil: all of the argument
local function integer(value, what, position)
  local found = type(value) == "number" and tostring(value) or value == nil and "nil" or
    "a " .. type(value)
  if type(value) ~= "number" or value ~= math.floor(value) then
    errors.raise("OPT", "argument %d of parallel%s must be a whole number%s, not %s", position,
                 what and ": " .. what or "",
                 what and "" or ", a range {first, last} or an array", found)
  end
  what = what or "the last value"
  if value < -LARGEST or value > LARGEST then
    errors.raise("OPT", "argument %d of parallel: %s must be within 2^53, not %s", position, what,
                 tostring(value))
  end
  return value
end

-- A value of an option as messages show it.
local function shown(value)
  return type(value) == "string" and string.format('"%s"', value) or tostring(value)
end

-- {lo, hi, step} with hi the last value that is reached; an empty range has hi = lo - step.
local function range(value, position)
  local lo, hi, step = 1, value, 1
  if type(value) == "table" then
    if #value < 2 or #value > 3 then
      errors.raise("OPT", "argument %d of parallel: a range is {first, last} or " ..
                   "{first, last, step}, not a table of %d; a loop over the elements t[i] of a " ..
                   "list is one over parallel(#t)", position, #value)
    end
    lo, hi = integer(value[1], "the first value", position), value[2]
    step = value[3] == nil and 1 or integer(value[3], "the step", position)
    if step == 0 then
      errors.raise("OPT", "argument %d of parallel: the step of a range must not be 0", position)
    end
  end
  hi = integer(hi, type(value) == "table" and "the last value" or nil, position)
  -- Counting goes one step beyond the last value; the number of values must be exact, too.
  local least, most = math.min(lo, hi), math.max(lo, hi)
  if hi > LARGEST - math.max(step, 0) or hi < -LARGEST - math.min(step, 0)
    or most > LARGEST + least then
    errors.raise("OPT", "argument %d of parallel: a range from %.0f to %.0f by %.0f cannot be " ..
                 "counted exactly: numbers are exact up to 2^53 = 9007199254740992 only, for " ..
                 "the value after the last one and for the range's length, too", position, lo, hi,
                 step)
  end
  local count = math.max(0, math.floor((hi - lo) / step) + 1)
  return {lo, lo + (count - 1) * step, step}, count
end

local function boolean_option(options, name)
  local value = options[name]
  if value ~= nil and type(value) ~= "boolean" then
    errors.raise("OPT", "option '%s' is true or false, not %s", name, shown(value))
  end
  return value
end

local function choice(options, name, choices)
  local value = options[name]
  if value == nil then return choices[1] end
  for _, each in ipairs(choices) do
    if value == each then return value end
  end
  errors.raise("OPT", "option '%s' is \"%s\", not %s", name, table.concat(choices, "\" or \""),
               shown(value))
end

--- The option `assume`: "independent" or nil. Raises OPT for anything else.
function M.assumption(options)
  return options.assume ~= nil and choice(options, "assume", {"independent"}) or nil
end

--- Ranges of a dimension that there may be at most.
M.MOST_RANGES = 4096

--- Raises OPT for an option `grid` that is none.
function M.check_grid(grid)
  if grid == nil then return end
  if type(grid) ~= "table" or #grid == 0 then
    errors.raise("OPT", "option 'grid' is a table with the number of ranges of each cut " ..
                 "dimension, such as {16, 16}")
  end
  for d, count in ipairs(grid) do
    if type(count) ~= "number" or count < 1 or count ~= math.floor(count) or
       count > M.MOST_RANGES then
      errors.raise("OPT", "option 'grid': entry %d must be a whole number from 1 to %d, not %s",
                   d, M.MOST_RANGES, tostring(count))
    end
  end
end

-- A loop without options.
local NO_OPTIONS = {}

local function apply_defaults(space)
  space.ordered = space.array == nil
  space.serial, space.impure, space.explain, space.check = false, false, false, false
  space.transaction, space.collapse = true, 1
  space.numeric, space.reduce, space.engine = "strict", "blocks", "auto"
  space.options = NO_OPTIONS
end

local function apply_options(space, options)
  if tables.next(options) == nil then return apply_defaults(space) end
  errors.check_options("parallel", options, OPTIONS)
  local ordered = boolean_option(options, "ordered")
  space.ordered = ordered == nil and space.array == nil or ordered == true
  space.serial = boolean_option(options, "serial") or false
  space.impure = boolean_option(options, "impure") or false
  space.explain = boolean_option(options, "explain") or false
  local check = options.check
  if check ~= nil and type(check) ~= "boolean" and check ~= "all" then
    errors.raise("OPT", "option 'check' is true, \"all\" (every iteration, however long that " ..
                 "takes) or false, not %s", shown(check))
  end
  space.check = check or false
  space.transaction = boolean_option(options, "transaction") ~= false
  space.collapse = options.collapse == nil and 1 or options.collapse
  if type(space.collapse) ~= "number" or space.collapse < 1 or
     space.collapse ~= math.floor(space.collapse) then
    errors.raise("OPT", "option 'collapse' is how many nested loops to take in, not %s",
                 shown(options.collapse))
  end
  space.assume = M.assumption(options)
  space.numeric = choice(options, "numeric", {"strict", "fast"})
  space.reduce = choice(options, "reduce", {"blocks", "serial"})
  space.engine = choice(options, "engine", {"auto", "native", "lua"})
  M.check_grid(options.grid)
  space.options = options
end

-- The entries of an array as a space.
local function entries_of(value)
  local about = array.describe(value)
  local space = {ranges = {}, array = value, sparse = about.sparse, count = about.count}
  for d, extent in ipairs(about.dims) do space.ranges[d] = {1, extent, 1} end
  return space
end

--- The space described by the arguments of `parallel`.
-- Errors: OPT, naming the argument.
function M.parse(...)
  local count, arguments = select("#", ...), {...}
  local options, none = NO_OPTIONS, false
  if count > 0 and is_options(arguments[count]) then
    options, count = arguments[count], count - 1
  elseif count == 2 and arguments[2] == nil and array.is(arguments[1]) then
    count, none = 1, true -- nothing but options can stand there
  end
  if count == 0 then
    errors.raise("OPT", "parallel needs something to run over: parallel(n), " ..
                 "parallel({first, last}), or parallel(a DistArray)")
  end
  if type(arguments[count]) == "function" then
    errors.raise("OPT", "parallel stands in a `for`, and the body in the loop: for i in " ..
                 "parallel(n) do ... end; a function is for meissa.each(n, function(i) ... end)")
  end
  local space
  if objects.is(arguments[1]) then
    errors.raise("OPT", "argument 1 of parallel: a loop over an array of objects runs over its " ..
                 "positions: for i in parallel(O:size(1)) do local value = O[i] ... end")
  end
  if array.is(arguments[1]) then
    if count > 1 then
      errors.raise("OPT", "argument 2 of parallel: a loop over the entries of an array takes no " ..
                   "further spaces; its options come last, as a table")
    end
    space = entries_of(arguments[1])
  else
    if count > MOST_DIMS then
      errors.raise("OPT", "parallel takes at most %d ranges, not %d", MOST_DIMS, count)
    end
    space = {ranges = {}, sparse = false, count = 1}
    for d = 1, count do
      local size
      space.ranges[d], size = range(arguments[d], d)
      space.count = space.count * size
    end
  end
  apply_options(space, options)
  space.no_options = none
  return space
end

-- What a plan depends on beside the ranges.
local OF_PLANS = {
  "ordered", "serial", "sparse", "collapse", "reduce", "impure", "engine", "numeric",
  "methods", "operators", "barred", "no_options", "assume", "rounds", "replicas", "shared",
  "in_order",
}

--- The space's options that a plan depends on, and its steps, as one string; the array behind it,
-- and where ranges begin and end, do not count.
function M.shape(space)
  local parts = {space.array and "entries" or "ranges"}
  for k, name in ipairs(OF_PLANS) do parts[k + 1] = tostring(space[name]) end
  for _, r in ipairs(space.ranges) do parts[#parts + 1] = string.format("%.17g", r[3]) end
  return table.concat(parts, "|")
end

--- What `compare` needs of a space. Does not keep its array alive.
function M.outline(space)
  local outline = {entries = space.array ~= nil, ranges = space.ranges}
  for _, name in ipairs(OF_PLANS) do outline[name] = space[name] end
  return outline
end

local function same_options(space, outline)
  for _, name in ipairs(OF_PLANS) do
    if space[name] ~= outline[name] then return false end
  end
  return (space.array ~= nil) == outline.entries and #space.ranges == #outline.ranges
end

--- Whether a space has the shape (see M.shape) of an outline; and whether its ranges begin and end
-- where those do.
function M.compare(space, outline)
  if not same_options(space, outline) then return false, false end
  local same = true
  for d, r in ipairs(space.ranges) do
    local other = outline.ranges[d]
    if r[3] ~= other[3] then return false, false end
    same = same and r[1] == other[1] and r[2] == other[2]
  end
  return true, same
end

--- How many values a range has.
function M.length(r)
  return (r[2] - r[1]) / r[3] + 1
end

-- The text of the function that walks over so many ranges, from a state that it changes. One for
-- all walks, not a closure for each: LuaJIT compiles a loop for the function that it calls. And
-- without lists of results and loops over dimensions, which LuaJIT does not compile. It begins one
-- step before the first value; `fresh`: with that, where there is no exact number before it.
local function walk_text(dims, with_values, fresh)
  local names, steps, ends = {}, {}, {}
  for d = 1, dims do
    names[d] = "s.i" .. d
    ends[d] = string.format("s.i%d = s.hi%d", d, d)
  end
  local list = table.concat(names, ", ")
  local results = list .. (with_values and string.format(", s.values[{%s}]", list) or "")
  for d = dims, 1, -1 do
    local step = "if s.iD ~= s.hiD then s.iD = s.iD + s.stepD return RESULTS end s.iD = s.loD"
    steps[#steps + 1] = string.gsub(string.gsub(step, "D", d), "RESULTS", results)
  end
  local first = fresh and "if s.fresh then s.fresh = false return " .. results .. " end" or ""
  return string.format("local s = ... %s %s %s return nil", first, table.concat(steps, " "),
    table.concat(ends, " "))
end

local walks = {}

local function ended() return nil end

--- The iterations of ranges, last index fastest, for a generic `for`: a function, and the state
-- that it takes, which returns the next one's indices (and, with an array, the element there), then
-- nil.
function M.walk(ranges, array_of_values)
  local dims, state = #ranges, { values = array_of_values }
  for d, r in ipairs(ranges) do
    if M.length(r) < 1 then return ended end
    state["lo" .. d], state["hi" .. d], state["step" .. d] = r[1], r[2], r[3]
    state["i" .. d] = r[1]
  end
  local r = ranges[dims]
  local fresh = r[1] - r[3] + r[3] ~= r[1]
  if fresh then state.fresh = true else state["i" .. dims] = r[1] - r[3] end
  local key = (array_of_values and -dims or dims) * (fresh and 100 or 1)
  walks[key] = walks[key] or assert(loadstring(walk_text(dims, array_of_values, fresh), "=walk"))
  return walks[key], state
end

--- Raises OPT for a loop with more variables than its ranges give numbers: with
-- `for i, v in parallel({5, 6, 7})` the elements of a list are meant.
-- @tab space @tab names the loop's variables
function M.check_variables(space, names)
  local dims = #space.ranges
  if space.array or #names <= dims then return end
  errors.raise("OPT", "the loop has %d variables (%s), and runs over %d range%s: each n or " ..
    "{first, last, step} gives one number. For a list: for %s in parallel(#list) do local %s = " ..
    "list[%s]; for more numbers: parallel(n, m)", #names, table.concat(names, ", "), dims,
    dims == 1 and "" or "s", names[1], names[#names], names[1])
end

--- The loop as written over a space, for a generic `for`: ranges in their order; a sparse array's
-- entries row by row if the loop is ordered, in the order of A:each() if not.
-- Errors: ARR.
function M.iterate(space)
  if space.sparse then
    return space.ordered and partition_entries.row_major(space.array) or space.array:each()
  end
  return M.walk(space.ranges, space.array)
end

return M
