-- SPDX-License-Identifier: MIT
--
-- What the distances of a loop allow, from the definitions: their canonical patterns, and which
-- strategies are legal. Shares nothing with the core.

local entries_of = require("meissa.base.tables").each
local enumeration = require "spec.depend.enumeration"

local key_of = enumeration.key
local M = {}

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

--- Whether a test holds for all distances.
function M.every(distances, test)
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

--- Whether each distance of these patterns leads forward across the planes of a row.
function M.sweeps(row, patterns)
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

--- Whether a plane of a row has two of the iterations.
function M.plane_is_shared(row, list)
  local seen = {}
  for _, iteration in ipairs(list) do
    local plane = 0
    for k = 1, #row do plane = plane + row[k] * iteration.at[k] end
    if seen[plane] then return true end
    seen[plane] = true
  end
  return false
end

--- Whether a row sweeps: the small ones are tried.
function M.any_hyperplane(loop, distances)
  local patterns = M.patterns(distances)
  local list = loop.planes ~= "free" and enumeration.iterations(loop)
  local most = loop.dims == 2 and 20 or 10
  local row, found = {}, false
  local function try(k)
    if found then return end
    if k > loop.dims then
      found = M.sweeps(row, patterns) and (not list or M.plane_is_shared(row, list))
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
  return M.every(distances, function(d)
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
    if M.every(distances, function(d) return d[k] == 0 end) then legal[k] = true end
  end
  return legal
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
      if M.every(distances, function(d)
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
    if M.every(distances, function(d) return d[pair[1]] >= 0 and d[pair[2]] >= 0 end) then
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
  return loop.dims > 1 and M.any_hyperplane(loop, distances)
end

return M
