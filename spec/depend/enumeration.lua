-- SPDX-License-Identifier: MIT
--
-- The iterations of a loop and the distances at which two of them touch one element, by plain
-- enumeration: every iteration is visited, every pair of touches of one element is looked at.
-- Shares nothing with the core.

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

--- A distance as a key.
function M.key(d) return table.concat(d, ",") end

-- Adds the distance between two touches of one element by different iterations.
local function meet(sets, list, a, b)
  if a.n == b.n or not (a.write or b.write) then return end
  if a.n > b.n then a, b = b, a end
  local from, to, d = list[a.n].at, list[b.n].at, {}
  for k = 1, #from do d[k] = to[k] - from[k] + 0 end -- no -0
  local key = M.key(d)
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

return M
