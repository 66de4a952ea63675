-- SPDX-License-Identifier: MIT
--- What a call of meissa.iterate asks for.
-- @module meissa.driver.round_request

local array = require "meissa.array"
local errors = require "meissa.base.errors"
local pool = require "meissa.driver.pool"
local spaces = require "meissa.plan.space"
local tables = require "meissa.base.tables"
local version_memory = require "meissa.driver.version_memory"
local waits = require "meissa.sync.waits"

local M = {}

local NAME = "meissa.iterate"

-- Options that a loop in rounds has by itself, and those that it has in common with others.
local OWN = {"stop", "test", "dry", "ranges", "by", "check"}
local COMMON = {"explain", "engine", "numeric", "reduce", "impure"}
local OPTIONS = {}
for _, list in ipairs {OWN, waits.OF_ROUNDS, COMMON} do
  for _, name in ipairs(list) do OPTIONS[#OPTIONS + 1] = name end
end

local function whole(value, what, least, most)
  return errors.check_whole(value, NAME .. ": " .. what, least, most)
end

local function is_plain(value)
  return type(value) == "table" and getmetatable(value) == nil and not array.is(value)
end

-- The arrays of the first argument.
local function arrays_of(value)
  if not is_plain(value) then
    version_memory.check(value, "its first argument")
    return {value}, false
  end
  if #value == 0 then
    errors.raise("OPT", "%s: its first argument is the array that rounds make anew, or a list " ..
                 "of such arrays", NAME)
  end
  for k, each in ipairs(value) do
    version_memory.check(each, string.format("array %d of its first argument", k))
    for other = 1, k - 1 do
      if array.describe(value[other]).store == array.describe(each).store then
        errors.raise("OPT", "%s: arrays %d and %d of its first argument share memory; each has " ..
                     "versions of its own", NAME, other, k)
      end
    end
  end
  return value, true
end

local function check_stop(options, request)
  local stop, test = options.stop, options.test
  if stop ~= nil and type(stop) ~= "function" then
    errors.raise("OPT", "%s: option 'stop' is a function(t, array, sums) that is true when no " ..
                 "further round is needed, not a %s", NAME, type(stop))
  end
  if test ~= nil then whole(test, "option 'test'", 1) end
  if test ~= nil and not stop then
    errors.raise("OPT", "%s: option 'test' says how often 'stop' is asked, which is missing", NAME)
  end
  if request.rounds == math.huge and not stop then
    errors.raise("OPT", "%s: rounds without an end need a 'stop': {stop = function(t, array, " ..
                 "sums) return ... end}", NAME)
  end
  request.stop, request.test = stop, test or 1
end

-- The iteration space of one round: the given ranges, else the first array's dimensions.
local function space_of(ranges, count, options, values)
  local own, given = {}, {}
  for _, name in ipairs(COMMON) do own[name] = options[name] end
  for d = 1, count do given[d] = ranges[d] end
  if count == 0 then
    for d, extent in ipairs(array.describe(values[1]).dims) do given[d] = extent end
  end
  for d = 1, count do
    if given[d] == nil then
      errors.raise("OPT", "argument %d of %s is nil: what follows the number of rounds are " ..
        "ranges, n or {first, last}, and options", d + 2, NAME)
    elseif array.is(given[d]) then
      errors.raise("OPT", "%s: what follows the number of rounds are ranges, n or {first, " ..
                   "last}; several arrays are a list, %s({A, B}, T)", NAME, NAME)
    end
  end
  if options.ranges ~= nil then
    own.grid = {whole(options.ranges, "option 'ranges'", 1, spaces.MOST_RANGES)}
  end
  given[#given + 1] = own
  return spaces.parse(unpack(given, 1, #given))
end

-- Elements of a range of a loop by range, and the least and most ranges, if none are asked for.
local EACH, LEAST, MOST = 4096, 8, 64

-- The space of a loop by range: the numbers of the ranges into which the elements of `space`, the
-- first dimension of the array or the range that was given, are cut; `parts`, of which elements.
local function ranges_of(space, options, given)
  local elements = space.ranges[1]
  if #space.ranges > 1 and given or elements[3] ~= 1 then
    errors.raise("OPT", "%s: by = \"range\" goes over the first dimension of the array, or over " ..
                 "one range {first, last}", NAME)
  end
  local count = math.max(0, elements[2] - elements[1] + 1)
  local parts = options.ranges or math.min(MOST, math.max(LEAST, math.ceil(count / EACH)))
  parts = math.min(parts, count)
  local own = tables.copy(space)
  own.ranges, own.count = {{1, parts, 1}}, parts
  own.options = tables.copy(space.options)
  own.options.grid = {math.max(1, parts)}
  return own, {first = elements[1], count = count, parts = parts}
end

--- Reads the arguments: `values`, the arrays; `list`, whether they came as one; `rounds`; `space`,
-- that of one round; `fn`, the closure; `stop`, `test`, `dry`, `depth`.
-- Errors: OPT, ARR.
function M.parse(...)
  local count, arguments = select("#", ...), {...}
  local request, options = {}, {}
  if count > 0 and type(arguments[count]) == "function" then
    request.fn, count = arguments[count], count - 1
  end
  if count > 1 and is_plain(arguments[count]) and arguments[count][1] == nil then
    if arguments[count].serial ~= nil then
      errors.raise("OPT", "%s has no option 'serial': a round reads what the round before it " ..
                   "has left, which a plain loop would have overwritten. MEISSA_WORKERS=0 runs " ..
                   "the rounds in this process", NAME)
    end
    options, count = errors.check_options(NAME, arguments[count], OPTIONS), count - 1
  end
  if count < 2 then
    errors.raise("OPT", "%s needs an array and a number of rounds: for t, j in %s(A, 100) do", NAME,
                 NAME)
  end
  request.values, request.list = arrays_of(arguments[1])
  request.rounds = whole(arguments[2], "the number of rounds", 0, math.huge)
  request.given = count > 2
  request.space = space_of({unpack(arguments, 3, count)}, count - 2, options, request.values)
  if options.by ~= nil and options.by ~= "range" then
    errors.raise("OPT", "%s: option 'by' is \"range\", not %s", NAME, tostring(options.by))
  end
  if options.by then
    request.space, request.parts = ranges_of(request.space, options, request.given)
  end
  request.sync = waits.open(waits.parse(NAME, options), pool.workers())
  for _, name in ipairs {"dry", "check"} do
    if options[name] ~= nil and type(options[name]) ~= "boolean" then
      errors.raise("OPT", "%s: option '%s' is true or false, not %s", NAME, name,
                   tostring(options[name]))
    end
    request[name] = options[name]
  end
  check_stop(options, request)
  version_memory.limit(request)
  return request
end

--- Raises OPT for a loop with another number of variables than rounds and ranges give.
function M.check_variables(request, names)
  local wanted = #request.space.ranges + 1
  if request.parts and #names ~= 3 then
    errors.raise("OPT", "a loop by range has three variables, the round and the first and last " ..
      "element of a range: for t, lo, hi in %s(A, T, {by = \"range\"}) do", NAME)
  end
  if #names == 1 and wanted > 1 then
    errors.raise("OPT", "the loop has one variable, the round: its body runs for each element " ..
      "of each round: write `for %s, %s in %s(...) do`", names[1], names[1] == "i" and "j" or "i",
      NAME)
  end
  if request.parts or #names == wanted then return end
  errors.raise("OPT", "the loop has %d variables (%s), and %s gives %d: the round first, and " ..
    "then an index for each %s", #names, table.concat(names, ", "), NAME, wanted,
    request.given and "range" or "dimension of the array")
end

--- The space of rounds first .. last of a request.
function M.space(request, first, last)
  local space = tables.copy(request.space)
  space.ranges = {{first, last, 1}, unpack(request.space.ranges)}
  space.count = request.space.count * (last - first + 1)
  space.rounds, space.ordered = true, true
  if request.parts then
    space.parts_of, space.parts_first = request.parts.count, request.parts.first
  end
  return space
end

return M
