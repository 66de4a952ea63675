-- SPDX-License-Identifier: MIT
--- A plan's schedule as a picture of letters and digits: `print(plan:picture())`.
--
-- Steps are what the blocks' conflicts allow: a block runs one step after the last block that it
-- waits for. Workers may run ahead of the picture or behind it, never against it. Pure text from
-- the plan and its grid.
-- @module meissa.picture

local core = require "meissa.core"

local M = {}

local MOST = 16 -- rows, and columns of steps
local BAR = 32  -- width of the largest share

-- 1..count, or its beginning, false for what is left out, and its end.
local function shown(count)
  local list = {}
  for k = 1, count do list[k] = k end
  if count <= MOST then return list end
  list = {unpack(list, 1, MOST - 2)}
  list[MOST - 1], list[MOST] = false, count
  return list
end

-- "1..94": the index values of range r along cut dimension c.
local function range_words(grid, c, r)
  local step = grid.cut_ranges[c][3]
  local first, last = grid.bounds[c][r], grid.bounds[c][r + 1] - step
  if first == last then return tostring(first) end
  local words = ("%d..%d"):format(first, last)
  return step == 1 and words or words .. " step " .. step
end

-- The ranges (from 1) of block b (from 0) along each cut dimension.
local function ranges_of(b, ranges)
  local at = {}
  for c = #ranges, 1, -1 do
    at[c] = b % ranges[c] + 1
    b = (b - at[c] + 1) / ranges[c]
  end
  return at
end

-- What a block waits for: the blocks before it that share a range with it along some dimension
-- (rotate), or its neighbours below along each dimension (wavefront). `seen` remembers steps.
local function after_rotation(seen, at)
  local step = 0
  for c, r in ipairs(at) do step = math.max(step, seen[c .. ":" .. r] or 0) end
  for c, r in ipairs(at) do seen[c .. ":" .. r] = step + 1 end
  return step + 1
end

local function after_neighbours(seen, at)
  local step = 0
  for c, r in ipairs(at) do
    at[c] = r - 1
    step = math.max(step, seen[table.concat(at, ",")] or 0)
    at[c] = r
  end
  seen[table.concat(at, ",")] = step + 1
  return step + 1
end

local rules = {rotate = after_rotation, wavefront = after_neighbours}

--- The step of each block of a rotation or wavefront, by its number from 0; and how many there are.
function M.steps(strategy, ranges)
  local steps, seen, most = {}, {}, 0
  for _, block in ipairs(core.serial_order(strategy, ranges)) do
    steps[block] = rules[strategy](seen, ranges_of(block, ranges))
    most = math.max(most, steps[block])
  end
  return steps, most
end

-- Rows of cells as lines; columns are as wide as their widest cell, the first one to the left.
local function align(rows)
  local widths, lines = {}, {}
  for _, row in ipairs(rows) do
    for c, cell in ipairs(row) do widths[c] = math.max(widths[c] or 0, #cell) end
  end
  for k, row in ipairs(rows) do
    local cells = {}
    for c, cell in ipairs(row) do
      local gap = (" "):rep(widths[c] - #cell)
      cells[c] = c == 1 and cell .. gap or gap .. cell
    end
    lines[k] = "  " .. table.concat(cells, " "):gsub("%s+$", "")
  end
  return lines
end

-- A line for each range of the first dimension, a column for each step, in it the ranges of the
-- other dimensions that the block has.
local function timetable(plan, grid)
  local steps, count = M.steps(plan.strategy, grid.ranges)
  local cells = {}
  for block, step in pairs(steps) do
    local at = ranges_of(block, grid.ranges)
    cells[at[1]] = cells[at[1]] or {}
    local others = table.concat(at, ",", 2)
    local same = cells[at[1]][step]
    cells[at[1]][step] = same and same .. "+" .. others or others
  end
  local columns, head = shown(count), {"step"}
  for _, step in ipairs(columns) do head[#head + 1] = step and tostring(step) or ".." end
  local rows = {head}
  for _, r in ipairs(shown(grid.ranges[1])) do
    local row = {r and ("%s %s"):format(plan.indices[grid.dims[1]], range_words(grid, 1, r)) or ".."}
    for _, step in ipairs(columns) do
      row[#row + 1] = not (r and step) and ".." or cells[r] and cells[r][step] or "-"
    end
    rows[#rows + 1] = row
  end
  return align(rows), count
end

-- How many iterations the ranges of the first dimension have, as shares of all.
local function shares(grid)
  local list, total = {}, 0
  local row = grid.blocks / grid.ranges[1]
  for r = 1, grid.ranges[1] do
    if grid.partition then
      list[r] = tonumber(grid.partition.start[r * row] - grid.partition.start[(r - 1) * row])
    else
      list[r] = (grid.bounds[1][r + 1] - grid.bounds[1][r]) / grid.cut_ranges[1][3]
    end
    total = total + list[r]
  end
  for r = 1, #list do list[r] = total > 0 and list[r] / total or 0 end
  return list
end

local function share_lines(plan, grid)
  local part, most = shares(grid), 0
  for _, share in ipairs(part) do most = math.max(most, share) end
  local rows = {}
  for _, r in ipairs(shown(grid.ranges[1])) do
    if r then
      local bar = ("#"):rep(most > 0 and math.floor(BAR * part[r] / most + 0.5) or 0)
      rows[#rows + 1] = {("%s %s"):format(plan.indices[grid.dims[1]], range_words(grid, 1, r)),
                         ("%.1f %%"):format(100 * part[r]), bar .. (" "):rep(BAR - #bar)}
    else
      rows[#rows + 1] = {"..", "..", ""}
    end
  end
  return align(rows)
end

local function name_of(plan, grid, c)
  return plan.indices[grid.dims[c]]
end

local function moving_names(plan, grid)
  local names = {}
  for c = 2, #grid.dims do
    names[#names + 1] = ("%d of %s"):format(grid.ranges[c], name_of(plan, grid, c))
  end
  return table.concat(names, ", ")
end

local heads = {
  rotate = function(plan, grid, steps)
    return ("rotate: %d ranges of %s stay, %s move; %d steps, the blocks of a step run together")
      :format(grid.ranges[1], name_of(plan, grid, 1), moving_names(plan, grid), steps)
  end,
  wavefront = function(plan, grid, steps)
    return ("wavefront: %d ranges of %s, %s; %d steps, the blocks of a step run together")
      :format(grid.ranges[1], name_of(plan, grid, 1), moving_names(plan, grid), steps)
  end,
}

--- The schedule of a plan that has been cut into blocks.
-- @tab plan what meissa.plan or meissa.last gave
-- @treturn string lines, without a final newline
function M.text(plan)
  if plan.strategy == "serial" then
    return "serial: one iteration after the other, as written"
  end
  local _, grid = next(plan.grids or {})
  if not grid then return plan.strategy .. ": nothing to run" end
  if heads[plan.strategy] then
    local lines, steps = timetable(plan, grid)
    return heads[plan.strategy](plan, grid, steps) .. "\n" .. table.concat(lines, "\n")
  end
  local what = plan.strategy == "partition" and "partition by " .. plan.dims[1] or plan.strategy
  return ("%s: %d ranges of %s, all at once; shares of the iterations\n%s"):format(what,
    grid.ranges[1], name_of(plan, grid, 1), table.concat(share_lines(plan, grid), "\n"))
end

return M
