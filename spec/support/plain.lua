-- SPDX-License-Identifier: MIT
--- Loops as written, for comparison: a `parallel` that is nothing but nested loops, and images of
-- what a loop left behind. Shares nothing with the module but the arrays.
local ffi = require "ffi"
local core = require "meissa.core"
local memory = require "meissa.kernel.memory"
local entries_of = require("meissa.base.tables").each

local M = {}

local function visit_ranges(ranges, d, index, visit)
  local range = ranges[d]
  if not range then return visit(unpack(index)) end
  local lo, hi, step = 1, range, 1
  if type(range) == "table" then lo, hi, step = range[1], range[2], range[3] or 1 end
  for value = lo, hi, step do
    index[d] = value
    visit_ranges(ranges, d + 1, index, visit)
  end
end

-- Entries of a sparse array row by row, those with equal indices in file order.
local function visit_entries(array, visit)
  local entries, dims = {}, #array:size()
  for a, b, c, d in array:each() do
    entries[#entries + 1] = {at = #entries, a, b, c, d}
  end
  table.sort(entries, function(left, right)
    for d = 1, dims do
      if left[d] ~= right[d] then return left[d] < right[d] end
    end
    return left.at < right.at
  end)
  for _, entry in ipairs(entries) do visit(unpack(entry, 1, dims + 1)) end
end

--- The plain loop: `parallel` for an environment.
function M.parallel(...)
  local spaces = {...}
  return coroutine.wrap(function()
    if memory.is_array(spaces[1]) then return visit_entries(spaces[1], coroutine.yield) end
    local last = spaces[#spaces]
    if type(last) == "table" and last[1] == nil then spaces[#spaces] = nil end
    visit_ranges(spaces, 1, {}, coroutine.yield)
  end)
end

local SIZES = {float = 4, double = 8, int32 = 4, int64 = 8}

--- A digest of every bit of the arrays and tables of an environment, and its numbers as they are:
-- "A=0123..., ... " and "s=0x1p+3 ...".
function M.image(env)
  local arrays, numbers = {}, {}
  for name, value in entries_of(env) do
    if memory.is_array(value) then
      local raw, about = value.array, memory.describe(value)
      local bytes = ffi.string(raw.data, tonumber(raw.count) * SIZES[about.type])
      arrays[#arrays + 1] = name .. "=" .. core.digest(bytes)
    elseif type(value) == "number" then
      numbers[#numbers + 1] = ("%s=%a"):format(name, value)
    end
  end
  table.sort(arrays)
  table.sort(numbers)
  return table.concat(arrays, " "), table.concat(numbers, " ")
end

--- Runs a text with these globals; `parallel` is what loops are run by.
function M.run(text, env, parallel)
  env.parallel = nil
  local chunk = assert(loadstring(text))
  setfenv(chunk, setmetatable(env, {__index = function(_, key)
    if key == "parallel" then return parallel end
    return _G[key]
  end}))
  chunk()
end

--- Numbers, and those in nested lists, as a text that tells all their bits apart.
function M.numbers(...)
  local list = {}
  local function add(value)
    if type(value) ~= "table" then
      list[#list + 1] = ("%a"):format(value)
    else
      for _, each in ipairs(value) do add(each) end
    end
  end
  add {...}
  return table.concat(list, " ")
end

return M
