-- SPDX-License-Identifier: MIT
--- A plan's schedule as a picture of letters and digits: `print(plan:picture())`.
--
-- Steps are what the blocks' conflicts allow: a block runs one step after the last block that it
-- waits for. Workers may run ahead of the picture or behind it, never against it. Pure text from
-- the plan and its grid.
-- @module meissa.plan.picture

local core = require "meissa.core"
local grids = require "meissa.plan.grid"
local rows_of = require "meissa.plan.row"
local strategies = require "meissa.plan.strategy"
local tables = require "meissa.base.tables"

local M = {}

local MOST = 16 -- rows, and columns of steps
local BAR = 32  -- width of the largest share

-- 1..count, or its beginning, false for what is left out, and its end.
local function shown(count)
  local list = {}
  for k = 1, math.min(count, MOST) do list[k] = k end
  if count > MOST then list[MOST - 1], list[MOST] = false, count end
  return list
end

-- Ordinals of an extent, the first and the last: how many steps behind the first index, or, where
-- outer indices bound it, the index in loop direction.
local function ordinals(extent)
  local lo, hi, step = extent[1], extent[2], extent[3]
  if extent.low then return lo * step, hi * step end
  return 0, (hi - lo) / step
end

-- "i", "i + 2*j": what an axis cuts.
local function name_of(plan, axis)
  return axis.row and rows_of.name(plan) or plan.indices[axis.dim]
end

-- What a row's values are short of the sum that it is named by: rows sum ordinals, which begin at 0
-- where an index begins elsewhere. nil where a step is not 1, and no number mends that.
local function row_offset(plan)
  local offset = 0
  for d, extent in ipairs(plan.extents) do
    if plan.row[d] ~= 0 then
      if extent[3] ~= 1 then return nil end
      offset = offset + plan.row[d] * (extent[1] - ordinals(extent))
    end
  end
  return offset
end

-- "i 1..94", "(i - j) -17": range r of an axis and its values.
local function range_words(plan, grid, axis, r)
  local first, last = grids.values(grid, axis.number, r)
  local name, step = name_of(plan, axis), axis.values[3]
  if axis.row then
    local offset = row_offset(plan)
    name = string.format("(%s)", name)
    if not offset then return string.format("%s part %d", name, r) end
    first, last = first + offset, last + offset
  end
  if first == last then return string.format("%s %d", name, first) end
  return string.format("%s %d..%d%s", name, first, last, step == 1 and "" or " step " .. step)
end

-- The ranges (from 1) of block b (from 0) along each axis.
local function ranges_of(b, ranges)
  local at = {}
  for a = #ranges, 1, -1 do
    at[a] = b % ranges[a] + 1
    b = (b - at[a] + 1) / ranges[a]
  end
  return at
end

--- The step of each block of a rotation or wavefront, by its number from 0; and how many there are.
-- A block waits for those before it in the plan's order that share a range with it.
function M.steps(strategy, ranges)
  local steps, free, most = {}, {}, 0
  for block in core.serial_order(strategy, ranges, 0) do
    local at, step = ranges_of(block, ranges), 1
    for a, r in ipairs(at) do step = math.max(step, free[a .. ":" .. r] or 1) end
    for a, r in ipairs(at) do free[a .. ":" .. r] = step + 1 end
    steps[block], most = step, math.max(most, step)
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
      local gap = string.rep(" ", widths[c] - #cell)
      cells[c] = c == 1 and cell .. gap or gap .. cell
    end
    lines[k] = "  " .. (string.match(table.concat(cells, " "), "^.*%S") or "")
  end
  return lines
end

-- A line for each range of an axis, a column for each step; cell(range, step) says what runs.
local function timetable(plan, grid, axis, steps, cell)
  local columns, head = shown(steps), {"step"}
  for _, step in ipairs(columns) do head[#head + 1] = step and tostring(step) or ".." end
  local rows = {head}
  for _, r in ipairs(shown(axis.ranges)) do
    local row = {r and range_words(plan, grid, axis, r) or ".."}
    for _, step in ipairs(columns) do
      row[#row + 1] = not (r and step) and ".." or cell(r, step) or "-"
    end
    rows[#rows + 1] = row
  end
  return align(rows)
end

-- In each cell the ranges of the other axes that meet the first one's there.
local function draw_blocks(plan, grid)
  local steps, count = M.steps(plan.strategy, grid.ranges)
  local cells, others, axes = {}, {}, grids.axes(grid)
  for block, step in tables.each(steps) do
    local at = ranges_of(block, grid.ranges)
    cells[at[1] .. ":" .. step] = table.concat(at, ",", 2)
  end
  for a = 2, #axes do
    others[#others + 1] = string.format("%d of %s", grid.ranges[a], name_of(plan, axes[a]))
  end
  local how = strategies[plan.strategy].rotated and " stay, %s move; " or ", %s; "
  local head = string.format("%s: %d ranges of %s" .. how ..
    "%d steps, the blocks of a step run together", plan.strategy, grid.ranges[1],
    name_of(plan, axes[1]), table.concat(others, ", "), count)
  return head, timetable(plan, grid, axes[1], count, function(r, step)
    return cells[r .. ":" .. step]
  end)
end

-- Whether a plane of the row, if there is one, meets the box of range r of an axis.
local function meets(plan, grid, value, axis, r)
  if not plan.row then return true end
  local least, greatest = 0, 0
  for d, extent in ipairs(plan.extents) do
    local first, last = ordinals(extent)
    if d == axis.dim then
      local low, high = grids.values(grid, axis.number, r)
      local lo, step = extent.low and 0 or extent[1], extent[3]
      first, last = (low - lo) / step, (high - lo) / step
    end
    local one, other = plan.row[d] * first, plan.row[d] * last
    least, greatest = least + math.min(one, other), greatest + math.max(one, other)
  end
  return value >= least and value <= greatest
end

-- A sweep: a step is one value of each sequential axis.
local function draw_sweep(plan, grid)
  local names, phases, axes = {}, 1, grids.axes(grid)
  for a = 1, grid.sequential do
    names[a] = name_of(plan, axes[a])
    phases = phases * grid.ranges[a]
  end
  local across = axes[grid.sequential + 1]
  local head = string.format(
    "hyperplane: %d steps, one for each value of %s; %d ranges of %s run together", phases,
    table.concat(names, ", "), across.ranges, name_of(plan, across))
  return head, timetable(plan, grid, across, phases, function(r, step)
    return meets(plan, grid, axes[1].values[1] + step - 1, across, r) and "*"
  end)
end

-- The shares that the ranges of the first axis have of all iterations.
local function shares(grid)
  local list, total, row = {}, 0, grid.blocks / grid.ranges[1]
  for r = 1, grid.ranges[1] do
    list[r] = grids.load(grid, r) - row
    total = total + list[r]
  end
  for r = 1, #list do list[r] = total > 0 and list[r] / total or 0 end
  return list
end

local function draw_shares(plan, grid)
  local part, most, rows, axis = shares(grid), 0, {}, grids.axes(grid)[1]
  for _, share in ipairs(part) do most = math.max(most, share) end
  for _, r in ipairs(shown(axis.ranges)) do
    if r then
      local bar = string.rep("#", most > 0 and math.floor(BAR * part[r] / most + 0.5) or 0)
      rows[#rows + 1] = {range_words(plan, grid, axis, r), string.format("%.1f %%", 100 * part[r]),
                         bar .. string.rep(" ", BAR - #bar)}
    else
      rows[#rows + 1] = {"..", "..", ""}
    end
  end
  return string.format("%s: %d ranges of %s, all at once; shares of the iterations", plan.strategy,
    axis.ranges, name_of(plan, axis)), align(rows)
end

local function drawer_of(plan)
  local traits = strategies[plan.strategy]
  return traits.sweeps and draw_sweep or traits.waits and draw_blocks or draw_shares
end

--- The schedule of a plan that has been cut into blocks.
-- @tab plan what meissa.plan or meissa.last gave
-- @treturn string lines, without a final newline
function M.text(plan)
  if plan.strategy == "serial" or plan.serial then
    return "serial: one iteration after the other, as written"
  end
  local grid = plan.cut
  if not grid then
    return plan.strategy .. ": no blocks; the loop is empty, or runs in this process as written"
  end
  local head, lines = drawer_of(plan)(plan, grid)
  return head .. "\n" .. table.concat(lines, "\n")
end

return M
