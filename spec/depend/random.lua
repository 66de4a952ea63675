-- SPDX-License-Identifier: MIT
--
-- Random affine loops for the analyser's oracle: their text, and what they touch.
--
-- A loop is built as a small tree of its own, from which both the Lua text and the list of
-- accesses of every iteration are made; neither goes through the analyser. Numbers come from a
-- generator of its own, so that a seed means the same loop everywhere.

local affines = require "spec.depend.affine"
local conditions = require "spec.depend.conditions"
local texts = require "spec.depend.text"
local touches = require "spec.depend.touches"

local affine, affine_value = affines.make, affines.value

local M = {}

M.random = affines.random

-- A subscript: affine, opaque (a table look-up), or with a remainder or floor of an affine one.
local function subscript_as_made(rng, names, features)
  local roll = rng:int(1, 100)
  if features.opaque and roll <= 4 then return { kind = "opaque", of = rng:pick(names) } end
  if features.modulo and roll <= 12 then
    return { kind = rng:pick { "modulo", "floor" }, by = rng:int(2, 4), e = affine(rng, names),
      plus = rng:int(-1, 2) }
  end
  return { kind = "affine", e = affine(rng, names) }
end

-- One of two affine ones, or the greater or lesser of them.
local function piecewise(rng, names, features)
  local s = { kind = rng:pick { "either", "either", "max", "min" }, e = affine(rng, names),
    other = affine(rng, names), yes = 1, no = 1 }
  if s.kind == "either" then
    s.test = conditions.make(rng, names, features.weight, true)
  elseif features.weight > 4 then
    return { kind = "affine", e = s.e }
  end
  s.other.constant = s.other.constant + features.shift
  return s
end

-- A subscript, moved by features.shift unless it is a look-up.
local function subscript(rng, names, features, piece)
  local s = piece and piecewise(rng, piece, features) or subscript_as_made(rng, names, features)
  if s.plus then
    s.plus = s.plus + features.shift
  elseif s.e then
    s.e.constant = s.e.constant + features.shift
  end
  return s
end

-- ---- accesses and statements ----

local ARRAYS = { { "A", 1 }, { "B", 1 }, { "C", 2 }, { "D", 2 }, { "E", 3 } }

-- The names of a list and the counters that can be seen.
local function with_counters(names, counters)
  if #counters == 0 then return names end
  local all = {unpack(names)}
  for _, name in ipairs(counters) do all[#all + 1] = name end
  return all
end

-- An element or a row of a row that a local holds.
local function access_by_row(rng, names, features)
  local row = rng:pick(features.rows)
  local a = { name = row.array, dims = row.dims, row_of = row.name, style = 2,
    subscripts = { { kind = "kept", name = row.name } } }
  for k = 2, a.dims do a.subscripts[k] = subscript(rng, names, features) end
  return a
end

-- A range from an affine number on, and so many more: what its ends have beside that number. Of
-- some, one or both of the ends count from the dimension's end.
local function range_of(features, from, more)
  local last = features.shift == 0 and -(touches.EXTENT + 1) or 0
  from.constant = from.constant + features.shift
  return { from, more, more % 2 == 1 and last or 0, more + (more % 3 == 1 and last or 0) }
end

local function access(rng, names, features)
  if #features.rows > 0 and rng:chance(40) then return access_by_row(rng, names, features) end
  local array = rng:pick(features.arrays)
  local plain = names
  names = with_counters(names, features.counters)
  local a = { name = array[1], dims = array[2], subscripts = {}, style = rng:int(1, 4) }
  local count = a.dims
  if a.dims > 1 and rng:chance(20) then count = a.dims - 1 end
  local piece = features.pieces and rng:chance(40) and rng:int(1, count)
  for k = 1, count do
    a.subscripts[k] = subscript(rng, names, features, piece == k and plain)
  end
  a.row = count < a.dims
  if not a.row and features.ranges and rng:chance(6) then
    a.range = range_of(features, affine(rng, plain, { simple = true }), rng:int(0, 3))
    a.subscripts[count] = nil
    a.row = true
  end
  return a
end

local function counter(rng, names, features)
  features.locals = features.locals + 1
  return { kind = "counter", name = "c" .. features.locals, e = affine(rng, names) }
end

-- A counter goes up or down, or begins anew.
local function counting(rng, names, features)
  local name = rng:pick(features.own)
  if rng:chance(10) then return { kind = "reset", name = name, e = affine(rng, names) } end
  return { kind = "step", name = name, by = rng:pick { 1, 1, 1, 1, -1, -1, 2, 3, -2 },
    style = rng:int(1, 2) }
end

local block -- recursive

-- What `make` gives with a condition of this weight around it.
local function under(weight, features, make)
  local outer = features.weight
  features.weight = outer * weight
  local made = make()
  features.weight = outer
  return made
end

-- A condition here; `known` where what it depends on must be.
local function condition(rng, names, features, known)
  return conditions.make(rng, names, features.weight, known, features.flags)
end

local function branches(rng, names, features, depth)
  local s = { kind = "if", test = condition(rng, names, features) }
  local rest = s.test.no
  s.body = under(s.test.yes, features, function()
    return block(rng, names, features, depth, 2)
  end)
  if rng:chance(15) then
    s.second = under(rest, features, function()
      return condition(rng, names, features)
    end)
    s.middle = under(rest * s.second.yes, features, function()
      return block(rng, names, features, depth, 1)
    end)
    rest = rest * s.second.no
  end
  s.other = rng:chance(30) and under(rest, features, function()
    return block(rng, names, features, depth, 1)
  end) or nil
  return s
end

-- A condition, or a row, that a local holds.
local function kept(rng, names, features)
  features.locals = features.locals + 1
  local array = rng:pick(features.arrays)
  if array[2] > 1 and rng:chance(50) then
    local s = { kind = "row", name = "w" .. features.locals, array = array[1], dims = array[2],
      style = rng:int(1, 2), of = subscript(rng, names, features, features.weight <= 2 and
        features.pieces and rng:chance(50) and names) }
    table.insert(features.rows, s)
    return s
  end
  local s = { kind = "flag", name = "f" .. features.locals, style = rng:int(1, 4),
    test = conditions.make(rng, names, features.weight, true) }
  table.insert(features.flags, s)
  return s
end

local function skip(rng, names, features, known)
  features.skips = features.skips + 1
  local s = { kind = "skip", test = condition(rng, names, features, known) }
  s.label = "skip" .. features.skips
  features.weight = features.weight * s.test.no
  return s
end

-- A block, or function that is called once, whose rest is skipped under a condition; what follows
-- it is not.
local function section(rng, names, features, depth)
  local outer = features.weight
  local first = skip(rng, names, features, true)
  local body = block(rng, names, features, depth + 1, 2)
  table.insert(body, 1, first)
  features.weight = outer
  local called = features.guarded and rng:chance(50)
  for _, s in ipairs(body) do s.returns = called and s.kind == "skip" end
  return { kind = "section", body = body, called = called and "part" .. features.skips }
end

local function statement(rng, names, features, depth)
  local roll = rng:int(1, 100)
  if roll <= (features.counting and 40 or 12) and depth < 2 and features.inner then
    local name = "k" .. depth + 1
    local s = { kind = "for", name = name, lo = affine(rng, names, { simple = true }),
      more = rng:int(-1, 3), step = rng:pick { 1, 1, 1, 2, -1, -2 } }
    s.hi = rng:chance(features.counting and 15 or 60) and affine(rng, names, { simple = true })
      or nil
    if features.bands and not features.counting then
      local single = features.guarded or math.abs(s.step) == 1
      s.first = single and rng:chance(30) and affine(rng, names, { simple = true }) or nil
      s.last = rng:chance(30) and affine(rng, names, { simple = true }) or nil
      s.wide = features.guarded and (s.first or s.last) and rng:chance(40)
    end
    local inner, own = { name }, features.own
    for k, each in ipairs(names) do inner[k + 1] = each end
    -- Counters are changed where it is known how often.
    if s.hi or depth > 0 and #features.own > 0 and #s.lo.terms > 0 then features.own = {} end
    s.body = block(rng, inner, features, depth + 1, 2)
    if #features.own > 0 and rng:chance(70) then
      table.insert(s.body, rng:int(1, #s.body + 1), counting(rng, inner, features))
    end
    features.own = own
    return s
  end
  if roll <= 22 and features.conditional then return branches(rng, names, features, depth) end
  if roll <= 26 and features.conditional and not features.counting then
    if depth < 2 and rng:chance(40) then return section(rng, names, features, depth) end
    return skip(rng, names, features)
  end
  if roll <= 32 and features.keeps and rng:chance(60) then return kept(rng, names, features) end
  if roll <= 32 and features.guarded then
    features.locals = features.locals + 1
    return { kind = "choice", name = "q" .. features.locals, e = affine(rng, names),
      choice = conditions.make(rng, names, 1, true, features.flags), second = affine(rng, names),
      between = rng:chance(30) and conditions.make(rng, names, 1, true, features.flags) or nil,
      third = affine(rng, names),
      other = rng:chance(40) and affine(rng, names) or nil }
  end
  if roll <= 34 and features.guarded and depth > 0 and not features.counting then
    return { kind = "stop", test = conditions.make(rng, names, 1, false, features.flags) }
  end
  if roll <= 36 then
    features.locals = features.locals + 1
    return { kind = "local", name = "q" .. features.locals, e = affine(rng, names) }
  end
  if roll <= 50 and #features.own > 0 then return counting(rng, names, features) end
  local s = { kind = "assign", to = access(rng, names, features), from = {} }
  for k = 1, rng:int(0, 2) do
    local when = features.pieces and rng:chance(30) and
      condition(rng, names, features, true)
    s.from[k] = under(when and when.yes or 1, features, function()
      return access(rng, names, features)
    end)
    s.from[k].when = when
  end
  s.read_only = rng:chance(25) and #s.from > 0
  return s
end

function block(rng, names, features, depth, most)
  local body, scope, weight = {}, {}, features.weight
  for k, each in ipairs(names) do scope[k] = each end
  local counters, own, flags, rows = features.counters, features.own, features.flags, features.rows
  features.counters, features.own = { unpack(counters) }, { unpack(own) }
  features.flags, features.rows = { unpack(flags) }, { unpack(rows) }
  if features.counting and rng:chance(depth == 0 and 90 or 20) then
    body[1] = counter(rng, names, features)
    table.insert(features.counters, body[1].name)
    table.insert(features.own, body[1].name)
  end
  for _ = 1, rng:int(1, most) do
    local s = statement(rng, scope, features, depth)
    body[#body + 1] = s
    if s.kind == "local" or s.kind == "choice" then scope[#scope + 1] = s.name end
  end
  features.counters, features.own, features.weight = counters, own, weight
  features.flags, features.rows = flags, rows
  return body
end

-- ---- loops ----

local NAMES = { "i", "j", "l" }

-- Ranges {lo, hi, step}; the extents are small, since the oracle visits all pairs.
local function ranges(rng, dims)
  local most = ({ 9, 5, 4 })[dims]
  local list = {}
  for d = 1, dims do
    local step = rng:pick { 1, 1, 1, 1, 2, -1, 3, -2 }
    local lo, count = rng:int(-2, 4), rng:chance(4) and 0 or rng:int(1, most)
    list[d] = { lo, lo + (count - 1) * step, step }
  end
  return list
end

-- The last dimensions as collapsed numeric loops, with bounds that depend on the outer indices.
local function collapse(rng, loop_ranges, names)
  for d = 2, #loop_ranges do
    local outer = {}
    for k = 1, d - 1 do outer[k] = names[k] end
    local step = rng:pick { 1, 1, 1, -1 }
    local lo, more = affine(rng, outer, { simple = true }), rng:int(1, 3)
    local hi = rng:chance(60) and affine(rng, outer, { simple = true }) or nil
    -- A band: no further than another affine end.
    local first = rng:chance(30) and affine(rng, outer, { simple = true }) or nil
    local last = rng:chance(30) and affine(rng, outer, { simple = true }) or nil
    loop_ranges[d] = { lo = lo, hi = hi, more = more, step = step, first = first, last = last }
  end
end

-- First and last value and step of dimension d, and the ordinal of its first value. Ordinals of
-- collapsed loops are their values (negated for step -1), so that distances mean iterations.
local function bounds_of(range, values)
  if not range.lo then return range[1], range[2], range[3], 0 end
  local lo = affine_value(range.lo, values)
  local hi = range.hi and affine_value(range.hi, values) or lo + range.step * range.more
  local begins, ends = math.max, math.min
  if range.step < 0 then begins, ends = ends, begins end
  if range.first then lo = begins(lo, affine_value(range.first, values)) end
  if range.last then hi = ends(hi, affine_value(range.last, values)) end
  return lo, hi, range.step, lo * range.step
end

-- Adds the lines of a body, or of the call of a function that is the body, from which jumps to its
-- end return. Gives the text that goes before the loop: the function, if the loop captures it.
local function call(rng, body, names, lines, captured)
  if not rng:chance(25) then
    texts.body(body, lines, 1)
    return ""
  end
  for _, s in ipairs(body) do s.returns = s.kind == "skip" end
  local list, outer = table.concat(names, ", "), captured and {} or lines
  outer[#outer + 1] = ("local function body(%s)"):format(list)
  texts.body(body, outer, 1)
  outer[#outer + 1] = "end"
  lines[#lines + 1] = ("body(%s)"):format(list)
  return captured and table.concat(outer, "\n") .. "\n" or ""
end

--- A random loop from a seed: {text =, dims =, names =, touch =, bounds =, step =, ordered =,
-- before = what goes before the text}.
-- @number[opt=0] shift added to every subscript that is a number, so that they can be made positive
-- @bool[opt] guarded whether it surely may have conditions
function M.loop(seed, shift, guarded)
  local rng = M.random(seed)
  local dims = rng:pick { 1, 1, 2, 2, 2, 2, 3, 3 }
  local features = { shift = shift or 0, locals = 0, skips = 0, weight = 1, arrays = {},
    opaque = rng:chance(25),
    modulo = rng:chance(30), inner = rng:chance(40), conditional = rng:chance(40),
    ranges = rng:chance(25), pieces = rng:chance(25),
    counting = rng:chance(20), counters = {}, own = {}, flags = {}, rows = {},
    keeps = rng:chance(30), bands = rng:chance(30) }
  features.inner = features.inner or features.counting
  features.guarded = guarded
  if guarded then features.conditional, features.pieces = true, true end
  features.pieces = features.pieces and not features.ranges
  for k = 1, rng:int(1, 2) do features.arrays[k] = rng:pick(ARRAYS) end
  local names = {}
  for d = 1, dims do names[d] = NAMES[d] end
  local space = ranges(rng, dims)
  local body = block(rng, names, features, 0, 3)
  local unsure = touches.mark(body)
  local arguments, collapsed = {}, dims > 1 and rng:chance(15)
  for d, r in ipairs(space) do
    arguments[d] = r[3] == 1 and ("{%d, %d}"):format(r[1], r[2])
      or ("{%d, %d, %d}"):format(r[1], r[2], r[3])
  end
  if collapsed then collapse(rng, space, names) end
  local lines = { ("for %s in parallel(%s) do"):format(table.concat(names, ", "),
    table.concat(arguments, ", ")) }
  if collapsed then
    lines[1] = ("for i in parallel(%s, {collapse = %d}) do"):format(arguments[1], dims)
    for d = 2, dims do lines[d] = texts.collapsed(names[d], space[d]) end
  end
  local before = call(rng, body, names, lines, guarded and rng:chance(50))
  for _ = 1, collapsed and dims or 1 do lines[#lines + 1] = "end" end
  return { text = table.concat(lines, "\n"), before = before, dims = dims, names = names,
    unsure = unsure, rectangle = dims == 2 and not collapsed,
    ordered = rng:chance(50), bounds = function(d, values) return bounds_of(space[d], values) end,
    step = function(d) return space[d].step or space[d][3] end,
    touch = function(values, touch) touches.body(body, values, touch) end }
end

return M
