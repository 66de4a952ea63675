-- SPDX-License-Identifier: MIT
--
-- How arrays print: one line whatever the size, and the numbers of small ones and of rows.
-- @module meissa.array.show

local c_api = require "meissa.array.c_api"
local element = require "meissa.array.element"
local valid = require "meissa.array.valid"

local lib = c_api.lib
local M = {}

-- Up to so many rows and columns are shown in numbers; of a row so many elements.
local SHOWN, SHOWN_OF_ROW = 10, 20

--- "773 KB", in steps of 1000.
function M.bytes(count)
  local units, k = { "bytes", "KB", "MB", "GB", "TB" }, 1
  while count >= 1000 and k < #units do
    count = count / 1000
    k = k + 1
  end
  return string.format(count < 10 and k > 1 and "%.1f %s" or "%.0f %s", count, units[k])
end

local function number_text(value)
  if type(value) == "cdata" then return (string.gsub(tostring(value), "LL$", "")) end
  return string.format("%.6g", value)
end

local function read(value, key)
  local ok, number = pcall(function() return value[key] end)
  return ok and number_text(number) or "?"
end

local function row_text(value, count, shown)
  local parts = {}
  for j = 1, math.min(count, shown) do parts[j] = read(value, j) end
  if count > shown then parts[#parts + 1] = "..." end
  return parts
end

-- Numbers in columns, right-aligned.
local function align(rows)
  local widths, lines = {}, {}
  for _, row in ipairs(rows) do
    for j, text in ipairs(row) do widths[j] = math.max(widths[j] or 0, #text) end
  end
  for i, row in ipairs(rows) do
    local cells = {}
    for j, text in ipairs(row) do cells[j] = string.rep(" ", widths[j] - #text) .. text end
    lines[i] = "  " .. table.concat(cells, "  ")
  end
  return lines
end

local function headline(array)
  local parts = { valid.name_of(array), array.sparse ~= 0 and " sparse" or " dense" }
  if array.sparse ~= 0 then
    local count = tonumber(array.count)
    parts[#parts + 1] = string.format(", %d entr%s", count, count == 1 and "y" or "ies")
  end
  local blocks = tonumber(lib.ms_partition_blocks(array))
  parts[#parts + 1] = string.format(", %d block%s", blocks, blocks == 1 and "" or "s")
  parts[#parts + 1] = ", " .. M.bytes(tonumber(lib.ms_array_bytes(array)))
  if array.readable == 0 then parts[#parts + 1] = ", contents lost" end
  return table.concat(parts)
end

local function show_numbers(handle, array, lines)
  local rows = {}
  if array.dim_count == 1 then
    rows[1] = row_text(handle, tonumber(array.dims[0]), SHOWN)
  else
    for i = 1, tonumber(array.dims[0]) do
      rows[i] = row_text(handle[i], tonumber(array.dims[1]), SHOWN)
    end
  end
  for _, line in ipairs(align(rows)) do lines[#lines + 1] = line end
end

local function is_small(array)
  if array.dim_count > 2 or array.count == 0 or array.count > SHOWN * SHOWN then return false end
  return array.dims[0] <= SHOWN and (array.dim_count == 1 or array.dims[1] <= SHOWN)
end

--- The text of an array, row or slice.
function M.show(value)
  local array, kind = value.array, element.kind(value)
  if array.id == 0 or array.generation ~= value.generation then return "DistArray (freed)" end
  if kind == "row" then
    if array.readable == 0 then return "row of " .. headline(array) end
    return "[" .. table.concat(row_text(value, value.extent, SHOWN_OF_ROW), "  ") .. "]"
  end
  if kind == "slice" then
    local at = {}
    local positions = element.positions(value)
    for d = 0, value.depth - 1 do at[d + 1] = positions[d] + 1 end
    return string.format("row [%s] of %s", table.concat(at, "]["), headline(array))
  end
  local lines = { headline(array) }
  if array.readable ~= 0 and is_small(array) then show_numbers(value, array, lines) end
  return table.concat(lines, "\n")
end

element.slow.show = M.show

return M
