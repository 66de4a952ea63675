-- SPDX-License-Identifier: MIT
--
-- The oracle: the distances, patterns and legal strategies of a loop by plain enumeration.
--
-- Written from the definitions, sharing nothing with the core: every iteration is visited, every
-- pair of touches of one element is looked at.

local entries_of = require("meissa.base.tables").each
local M = {}

--- All iterations in row-major order: {at = ordinals, values = by name}.
function M.iterations(loop)
  local list = {}
  local function visit(d, at, values)
    if d > loop.dims then
      local copy, names = {}, {}
      for k = 1, loop.dims do copy[k] = at[k] end
      for name, value in entries_of(values) do names[name] = value end
      list[#list + 1] = { at = copy, values = names }
      return
    end
    local lo, hi, step, ordinal = loop.bounds(d, values)
    for value = lo, hi, step do
      at[d], values[loop.names[d]] = ordinal, value
      visit(d + 1, at, values)
      ordinal = ordinal + 1
    end
  end
  visit(1, {}, {})
  return list
end

local function compatible(a, b)
  for k = 1, #a do
    if a[k] ~= b[k] and a[k] ~= "*" and b[k] ~= "*" then return false end
  end
  return true
end

-- Touches by array: exact elements by key, and the ones with "*" in a list.
local function collect(loop, list)
  local arrays = {}
  for n, iteration in ipairs(list) do
    local seen = {}
    loop.touch(iteration.values, function(name, element, write, possible)
      local array = arrays[name]
      if not array then
        array = { exact = {}, open = {} }
        arrays[name] = array
      end
      local key, open = table.concat(element, ","), false
      for k = 1, #element do open = open or element[k] == "*" end
      local mark = ("%s %s %s %s"):format(name, key, write, possible)
      if seen[mark] then return end
      seen[mark] = true
      local touch = { n = n, write = write, possible = possible, element = element }
      if open then
        array.open[#array.open + 1] = touch
      else
        local cell = array.exact[key] or { element = element }
        array.exact[key] = cell
        cell[#cell + 1] = touch
      end
    end)
  end
  return arrays
end

local function key_of(d)
  return table.concat(d, ",")
end

-- Adds the distance between two touches of one element by different iterations.
local function meet(sets, list, a, b)
  if a.n == b.n or not (a.write or b.write) then return end
  if a.n > b.n then a, b = b, a end
  local from, to, d = list[a.n].at, list[b.n].at, {}
  for k = 1, #from do d[k] = to[k] - from[k] + 0 end -- no -0
  local key = key_of(d)
  sets.all[key] = d
  if not a.possible and not b.possible then sets.proven[key] = d end
end

--- The exact distances of a loop: {all = {key = vector}, proven = {...}}.
function M.distances(loop)
  local list, sets = M.iterations(loop), { all = {}, proven = {} }
  for _, array in entries_of(collect(loop, list)) do
    for _, cell in entries_of(array.exact) do
      for x = 1, #cell do
        for y = x + 1, #cell do meet(sets, list, cell[x], cell[y]) end
        for _, open in ipairs(array.open) do
          if compatible(cell.element, open.element) then meet(sets, list, cell[x], open) end
        end
      end
    end
    for x = 1, #array.open do
      for y = x + 1, #array.open do
        if compatible(array.open[x].element, array.open[y].element) then
          meet(sets, list, array.open[x], array.open[y])
        end
      end
    end
  end
  return sets
end

-- ---- canonical patterns ----

local function sign(x)
  return x > 0 and "+" or x < 0 and "-" or "0"
end

local function groups_of(distances)
  local groups = {}
  for _, d in entries_of(distances) do
    local signs = {}
    for k = 1, #d do signs[k] = sign(d[k]) end
    local name = table.concat(signs)
    local group = groups[name]
    if not group then
      group = {}
      for k = 1, #d do group[k] = d[k] end
      groups[name] = group
    end
    for k = 1, #d do
      if group[k] ~= d[k] then group[k] = sign(d[k]) end
    end
  end
  return groups
end

local function covers(p, q)
  local differs = false
  for k = 1, #p do
    if p[k] ~= q[k] then
      differs = true
      local value = q[k]
      local inside = p[k] == "*" or (p[k] == "+" and type(value) == "number" and value > 0)
        or (p[k] == "-" and type(value) == "number" and value < 0)
      if not inside then return false end
    end
  end
  return differs
end

local function merge_once(patterns)
  for _, p in entries_of(patterns) do
    for k = 1, #p do
      if p[k] == "+" then
        local q = { unpack(p) }
        q[k] = "-"
        local minus = patterns[key_of(q)]
        q[k] = 0
        local zero = patterns[key_of(q)]
        q[k] = "*"
        if minus and zero and not patterns[key_of(q)] then
          patterns[key_of(q)] = q
          return true
        end
      end
    end
  end
  return false
end

--- The canonical patterns of a set of distances, as a set by key.
function M.patterns(distances)
  local patterns = {}
  for _, group in entries_of(groups_of(distances)) do patterns[key_of(group)] = group end
  repeat until not merge_once(patterns)
  local kept = {}
  for key, p in entries_of(patterns) do
    local covered = false
    for _, q in entries_of(patterns) do covered = covered or covers(q, p) end
    if not covered then kept[key] = p end
  end
  return kept
end

-- ---- legality ----

local function every(distances, test)
  for _, d in entries_of(distances) do
    if not test(d) then return false end
  end
  return true
end

local function rank_of(distances, dims)
  local rows, rank = {}, 0
  for _, d in entries_of(distances) do rows[#rows + 1] = { unpack(d) } end
  for column = 1, dims do
    local pivot
    for r = rank + 1, #rows do
      if rows[r][column] ~= 0 then pivot = r break end
    end
    if pivot then
      rank = rank + 1
      rows[rank], rows[pivot] = rows[pivot], rows[rank]
      for r = rank + 1, #rows do
        local a, b = rows[rank][column], rows[r][column]
        for k = 1, dims do rows[r][k] = rows[r][k] * a - rows[rank][k] * b end
      end
    end
  end
  return rank
end

local function sweeps(row, patterns)
  for _, p in entries_of(patterns) do
    local least = 0
    for k = 1, #p do
      if type(p[k]) == "number" then
        least = least + row[k] * p[k]
      elseif p[k] == "*" then
        if row[k] ~= 0 then return false end
      else
        local towards = p[k] == "+" and row[k] or -row[k]
        if towards < 0 then return false end
        least = least + towards
      end
    end
    if least < 1 then return false end
  end
  return true
end

local function plane_is_shared(row, list)
  local seen = {}
  for _, iteration in ipairs(list) do
    local plane = 0
    for k = 1, #row do plane = plane + row[k] * iteration.at[k] end
    if seen[plane] then return true end
    seen[plane] = true
  end
  return false
end

local function any_hyperplane(loop, distances)
  local patterns = M.patterns(distances)
  local list = loop.planes ~= "free" and M.iterations(loop)
  local most = loop.dims == 2 and 20 or 10
  local row, found = {}, false
  local function try(k)
    if found then return end
    if k > loop.dims then
      found = sweeps(row, patterns) and (not list or plane_is_shared(row, list))
      return
    end
    for value = -most, most do
      row[k] = value
      try(k + 1)
    end
  end
  try(1)
  return found
end

local function carried_early(distances, m)
  return every(distances, function(d)
    for k = 1, m do
      if d[k] ~= 0 then return true end
    end
    return false
  end)
end

--- Dimensions along which the loop may be cut.
function M.cuts(distances, dims)
  local legal = {}
  for k = 1, dims do
    if every(distances, function(d) return d[k] == 0 end) then legal[k] = true end
  end
  return legal
end

--- Whether blocks that differ in both dimensions never conflict.
function M.may_rotate(distances, a, b)
  return every(distances, function(d) return d[a] == 0 or d[b] == 0 end)
end

-- Subsets of 1 .. dims with `size` members, in lexicographic order.
local function subsets(dims, size)
  local list, current = {}, {}
  local function grow(from)
    if #current == size then
      list[#list + 1] = { unpack(current) }
      return
    end
    for k = from, dims do
      current[#current + 1] = k
      grow(k + 1)
      current[#current] = nil
    end
  end
  grow(1)
  return list
end

local function first_rotation(distances, dims)
  for size = 2, dims do
    for _, set in ipairs(subsets(dims, size)) do
      if every(distances, function(d)
        for _, k in ipairs(set) do
          if d[k] == 0 then return true end
        end
        return false
      end) then return set end
    end
  end
end

local function first_wavefront(distances, dims)
  for _, pair in ipairs(subsets(dims, 2)) do
    if every(distances, function(d) return d[pair[1]] >= 0 and d[pair[2]] >= 0 end) then
      return pair
    end
  end
end

--- The first class with a legal member, sweeps along rows left out: "independent", "partition",
-- "skew", "rotate" or "wavefront" with its dimensions, "hyperplane" with how many are sequential,
-- or nil.
function M.first_class(distances, dims, ordered)
  if next(distances) == nil then return "independent" end
  if next(M.cuts(distances, dims)) then return "partition" end
  if rank_of(distances, dims) < dims then return "skew" end
  local set = not ordered and first_rotation(distances, dims)
  if set then return "rotate", set end
  local pair = first_wavefront(distances, dims)
  if pair then return "wavefront", pair end
  for m = 1, dims - 1 do
    if carried_early(distances, m) then return "hyperplane", m end
  end
end

--- Whether any class at all is legal.
function M.any_class(loop, distances)
  if M.first_class(distances, loop.dims, loop.ordered) then return true end
  return loop.dims > 1 and any_hyperplane(loop, distances)
end

-- ---- comparison ----

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
  return every(distances, function(d)
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
  elseif not sweeps(row, M.patterns(sets.all)) then
    return "the row does not sweep"
  elseif not plane_is_shared(row, M.iterations(loop)) then
    return "no plane of the row has two iterations"
  end
end

-- What is wrong with the dimensions or the row of a plan.
local function compare_dims(loop, sets, plan, detail)
  if plan.strategy == "partition" then
    for k, name in ipairs(loop.names) do
      if name == plan.dims[1] then
        return not M.cuts(sets.all, loop.dims)[k] and "cut along " .. name .. " is illegal" or nil
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

-- "unknown" is also right where the truth is "serial" only because no sweep that the patterns allow
-- has two iterations on a plane: the analyser looks at one such sweep.
local function right_verdict(loop, sets, plan)
  local truth = plan.strategy ~= "serial" and "parallel"
    or M.any_class(loop, sets.proven) and "unknown" or "serial"
  if plan.verdict == truth then return nil end
  if loop.unsure and truth == "unknown" and plan.verdict == "serial" then return nil end
  if truth == "serial" and plan.verdict == "unknown" and not loop.rectangle then
    local single = { dims = loop.dims, ordered = loop.ordered, names = loop.names,
      planes = "free" }
    if M.any_class(single, sets.proven) then return nil end
  end
  return ("verdict %s, not %s"):format(plan.verdict, truth)
end

-- A plan for a loop that only a sweep along a row can run: that, or serial if there is none.
local function right_sweep(loop, sets, plan)
  if plan.strategy == "hyperplane" and plan.row then return nil end
  if plan.strategy ~= "serial" then return ("strategy %s is not legal"):format(plan.strategy) end
  if any_hyperplane(loop, sets.all) then return "strategy serial, but a row sweeps" end
end

--- nil if the plan is right, else what is wrong with it.
function M.compare(loop, plan)
  local sets = M.distances(loop)
  local problem = compare_patterns(M.patterns(sets.all), plan)
  if problem then return problem end
  local strategy, detail = M.first_class(sets.all, loop.dims, loop.ordered)
  if strategy and plan.strategy ~= strategy then
    return ("strategy %s, not %s"):format(plan.strategy, strategy)
  end
  return not strategy and right_sweep(loop, sets, plan) or right_verdict(loop, sets, plan)
    or compare_dims(loop, sets, plan, detail) or compare_witness(loop, sets, plan)
end

return M
