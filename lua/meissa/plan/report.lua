-- SPDX-License-Identifier: MIT
--
-- Reports: a plan in words, with the user's own lines.
--
-- Pure text from tables; prints nothing. The wording is under test.
-- @module meissa.plan.report

local public = require "meissa.base.public"
local rows_of = require "meissa.plan.row"
local source_text = require "meissa.capture.source_text"
local strategies = require "meissa.plan.strategy"
local tables = require "meissa.base.tables"

local M = {}

local WIDTH = 140 -- columns after which a row of items is broken
local LINE = 160  -- columns of a source line that are shown

-- Joins items with a gap, on as many lines as they need.
local function rows(items, indent, gap)
  local lines, line = {}, nil
  for _, item in ipairs(items) do
    local longer = line and line .. gap .. item
    if longer and #longer <= WIDTH then
      line = longer
    else
      lines[#lines + 1] = line
      line = indent .. item
    end
  end
  lines[#lines + 1] = line
  return lines
end

local function append(lines, more)
  for _, line in ipairs(more) do lines[#lines + 1] = line end
end

-- ---- the head line ----

local function loop_name(plan, context)
  local names = table.concat(plan.indices, ", ")
  if context.over then return string.format("loop over %s (%s)", context.over, names) end
  return string.format("loop over %s", names)
end

local function head(plan, context)
  local line = context.line or plan.line
  local place = context.file or "text"
  if line then place = place .. ":" .. line end
  return string.format("%s: %s", place, loop_name(plan, context))
end

-- The names in a strategy's words (csrc/depend/strategy_traits.h).
local words_of = {
  dims = function(plan) return table.concat(plan.dims, ", ") end,
  row = function(plan) return rows_of.name(plan) end,
  outer = function(plan)
    return plan.row and rows_of.name(plan) or table.concat(plan.dims, ", ", 1, plan.sequential)
  end,
  last = function(plan) return plan.dims[#plan.dims] end,
}

-- The strategy with what it cuts along.
local function strategy_words(plan, context)
  local words = {(string.gsub(strategies[plan.strategy].words, "%$(%a+)", function(name)
    return words_of[name](plan)
  end))}
  if context.grid and #context.grid > 0 then
    words[#words + 1] = table.concat(context.grid, " x ") .. " blocks"
  end
  local ordered = context.ordered
  if ordered == nil then ordered = plan.ordered end
  if ordered ~= nil then words[#words + 1] = ordered and "ordered" or "unordered" end
  if context.inspected then words[#words + 1] = "proved by " .. context.inspected end
  return table.concat(words, ", ")
end

-- ---- arrays and scalars ----

-- "W[i]", "A[*][2*j+1]": the array along the index that it follows.
local function array_name(path, array)
  if not array.array_dim or not array.follows or array.base then return path end
  local index = array.follows
  if array.scale == -1 then
    index = "-" .. index
  elseif array.scale ~= 1 then
    index = string.format("%d*%s", array.scale, index)
  end
  if array.offset ~= 0 then index = string.format("%s%+d", index, array.offset) end
  return path .. string.rep("[*]", array.array_dim - 1) .. "[" .. index .. "]"
end

-- How often a buffer is merged.
local function merge_words(array, context)
  if not array.delay then return "merged once, at the loop's end" end
  local times = context.stages and string.format(" (%d times)", context.stages) or ""
  return string.format("merged every %d iterations at most%s", array.delay, times)
end

-- How an array that is only read reaches those who read it.
local function reading_words(array)
  local words = array.placement == "served" and "served: what is read is fetched" or
    "read everywhere"
  if array.whole then words = string.format("%s (sent whole: %s)", words, array.whole) end
  return words
end

local function placement_words(path, array, context)
  local follows = array.follows
  if array.placement == "reduced" then return merge_words(array, context) end
  if array.stale then
    local age = array.stale == math.huge and "as it is when the loop begins" or
      string.format("up to %d iterations old", array.stale)
    return string.format("%s, %s", reading_words(array), age)
  end
  if array.placement == "local" then
    return follows and "stays with " .. follows or "stays where it is"
  elseif array.placement == "rotated" then
    local moved = context.moves and context.moves[path]
    return string.format("moves with %s%s", follows, moved and " (" .. moved .. ")" or "")
  elseif array.placement == "halo" then
    return "neighbours' elements are read"
  end
  return reading_words(array)
end

-- The keys of a map in the order of a field of their values.
local function keys_by(map, field)
  local keys = {}
  for key in tables.each(map) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b) return map[a][field] < map[b][field] end)
  return keys
end

local function array_items(plan, context)
  local items = {}
  for _, path in ipairs(keys_by(plan.arrays, "binding")) do
    local array = plan.arrays[path]
    if array.access ~= "none" and array.version ~= "last" then
      local access = array.version and "versions" or array.access
      if array.version then path = string.gsub(path, " %(next%)$", "") end
      if array.placement == "reduced" then
        access = array.buffer_of and "buffer of " .. array.buffer_of or "buffer"
      end
      local words = placement_words(path, array, context)
      if array.base then
        local named = string.sub(array.base, 1, 1) ~= "["
        words = words .. (named and ", part of " .. array.base or ", overlaps others")
      end
      items[#items + 1] = string.format("%s  %s  %s", array_name(path, array), access, words)
    end
  end
  return items
end

local function scalar_items(plan)
  local items = {}
  for _, path in ipairs(keys_by(plan.scalars, "capture")) do
    local scalar = plan.scalars[path]
    if scalar.role == "reduction" and scalar.op == "with" then
      items[#items + 1] = string.format("%s  with %s", path, scalar.leader)
    elseif scalar.role == "reduction" then
      items[#items + 1] = string.format("%s  reduction %s", path, scalar.op)
    elseif scalar.role == "private" then
      items[#items + 1] = path .. "  private"
    elseif scalar.role == "listed" then
      items[#items + 1] = path .. "  output in the loop's order"
    elseif scalar.role == "counted" then
      items[#items + 1] = path .. "  sums by key"
    elseif scalar.role == "marked" then
      items[#items + 1] = path .. "  set of keys"
    elseif scalar.role == "sliced" then
      items[#items + 1] = string.format("%s  output sliced by %s", path, scalar.indices)
    end
  end
  return items
end

-- ---- source lines with marks ----

local function source_line(context, plan, line)
  local source = context.source or plan.text
  if type(source) == "function" then return source(line) end
  return type(source) == "string" and source_text.line(source, line) or nil
end

local function iteration_words(at, in_rounds)
  local words = table.concat(at, ", ", in_rounds and 2 or 1)
  if string.find(words, ",", 1, true) then words = "(" .. words .. ")" end
  return in_rounds and string.format("%s of round %d", words, at[1]) or words
end

-- What is said under a place.
local function label(plan, place, at, otherwise)
  if not (place.does and at) then return place.does or otherwise end
  return string.format("iteration %s %s", iteration_words(at, plan.in_rounds), place.does)
end

-- Marks of one source line, left to right: {column =, length =, text =}.
local function mark_line(prefix, marks)
  local line = ""
  for k, mark in ipairs(marks) do
    local at = prefix + mark.column - 1
    if k > 1 then at = math.max(at, #line + 6) end
    line = line .. string.rep(" ", at - #line) .. string.rep("^", mark.length) .. " " .. mark.text
  end
  return line
end

-- What is shown of a source line: all, or of a very long one the part around its first mark, with
-- the marks moved along. Marks are sorted.
local function window(text, marks)
  if #text <= LINE then return text end
  local first = math.max(1, marks[1].column - LINE / 4)
  local last = math.min(#text, first + LINE - 1)
  for _, mark in ipairs(marks) do
    mark.column = math.max(1, math.min(mark.column, last) - first + 1)
    mark.length = math.max(1, math.min(mark.length, last - first + 2 - mark.column))
  end
  return string.sub(text, first, last)
end

local function render_line(context, plan, number, marks)
  local text = source_line(context, plan, number)
  local words = {}
  if not text then
    for k, mark in ipairs(marks) do words[k] = string.format("%s %s", mark.code, mark.text) end
    return { string.format("  line %d: %s", number, table.concat(words, "; ")) }
  end
  local prefix = string.format("  %d | ", number)
  table.sort(marks, function(a, b) return a.column < b.column end)
  return { prefix .. string.gsub(window(text, marks), "\t", " "), mark_line(#prefix, marks) }
end

local function mark_of(place, text)
  local length = math.max(1, place.end_column - place.column)
  return { column = place.column, length = length, text = text, code = place.text or "" }
end

local function place_lines(plan, reason, context)
  local first, second, witness = reason.first, reason.second, reason.witness or {}
  if not first and not second then return { "  " .. reason.message } end
  if not second then
    return render_line(context, plan, first.line, { mark_of(first, reason.message) })
  end
  local later = label(plan, second, witness.to, reason.message)
  if reason.distance then later = later .. ": " .. reason.distance end
  if not first then
    return render_line(context, plan, second.line, { mark_of(second, reason.message) })
  end
  local earlier = label(plan, first, witness.from, reason.message)
  local same = first.line == second.line and first.column == second.column
  if same and first.end_column == second.end_column then
    return render_line(context, plan, first.line, { mark_of(first, earlier .. ", " .. later) })
  elseif first.line == second.line then
    return render_line(context, plan, first.line,
      { mark_of(first, earlier), mark_of(second, later) })
  end
  local above, below = { first, earlier }, { second, later }
  if second.line < first.line then above, below = below, above end
  local lines = render_line(context, plan, above[1].line, { mark_of(above[1], above[2]) })
  append(lines, render_line(context, plan, below[1].line, { mark_of(below[1], below[2]) }))
  return lines
end

-- Fixes of all reasons, each once: "what:  code". A loop that runs serially is not told how to.
local function fix_lines(reasons, serial)
  local items, seen = {}, {}
  for _, reason in ipairs(reasons) do
    for _, fix in ipairs(reason.fixes) do
      if not seen[fix] and not (serial and string.find(fix, "^run it serially")) then
        seen[fix] = true
        items[#items + 1] = (string.gsub(fix, ": ", ":  ", 1))
      end
    end
  end
  return rows(items, "  ", "        ")
end

-- ---- the two kinds of report ----

local function is_notice(reason)
  return string.sub(reason.code, 1, 4) == "DEP2"
end

local function notice_lines(plan, context)
  local lines = {}
  for _, reason in ipairs(plan.reasons) do
    if is_notice(reason) then
      lines[#lines + 1] = string.format("  note [%s %s]", reason.code, reason.title)
      append(lines, place_lines(plan, reason, context))
      append(lines, fix_lines { reason })
    end
  end
  return lines
end

local function success(plan, context)
  local words = context.serial and "runs serially, as written; without that option:"
    or "is parallel:"
  local lines = { string.format("%s %s %s", head(plan, context), words, strategy_words(plan,
    context)) }
  local items = array_items(plan, context)
  append(items, scalar_items(plan))
  append(items, plan.notes or {})
  if context.engine then
    local why = context.engine_reason and string.format(" (%s)", context.engine_reason) or ""
    items[#items + 1] = string.format("engine %s%s", context.engine, why)
  end
  append(lines, rows(items, "  ", "      "))
  append(lines, context.replicated or {})
  append(lines, context.proposals or {})
  append(lines, notice_lines(plan, context))
  return lines
end

-- Reasons for which iterations collide; others say what no worker can do.
local COLLIDE = { DEP101 = true, DEP102 = true, DEP103 = true, DEP104 = true, DEP114 = true }

local function refusal_words(plan, context, reasons)
  if context.serial then return "runs serially, as written:" end
  if plan.verdict ~= "serial" then return "cannot be proved parallel" end
  local first = reasons[1]
  return first and not COLLIDE[first.code] and "cannot be run on workers" or "is not parallel"
end

local function refusal(plan, context)
  local reasons = {}
  for _, reason in ipairs(plan.reasons) do
    if not is_notice(reason) then reasons[#reasons + 1] = reason end
  end
  local what = refusal_words(plan, context, reasons)
  local lines = {}
  for k, reason in ipairs(reasons) do
    local title = string.format("[%s %s]", reason.code, reason.title)
    lines[#lines + 1] = k == 1 and string.format("%s %s %s", head(plan, context), what, title)
      or "  also " .. title
    append(lines, place_lines(plan, reason, context))
  end
  if #reasons == 0 then lines[1] = head(plan, context) .. " " .. what end
  append(lines, fix_lines(reasons, context.serial))
  append(lines, notice_lines(plan, context))
  return lines
end

-- Whether everything of this module that a line of code names is there.
local function is_possible(fix)
  local meissa = public.names
  if not meissa then return true end -- the analyser is used on its own
  for name in string.gmatch(fix, "meissa%.([%a_]+)") do
    if meissa[name] == nil then return false end
  end
  return true
end

--- Takes out of a plan's reasons the fixes that this version could not run.
function M.drop_impossible_fixes(plan)
  for _, reason in ipairs(plan.reasons) do
    local kept = {}
    for _, fix in ipairs(reason.fixes) do
      if is_possible(fix) then kept[#kept + 1] = fix end
    end
    reason.fixes = kept
  end
end

--- A plan as text, without a final newline.
-- @tab plan what core.plan or analyze returns
-- @tab[opt] context `file`, `line` of the loop; `over`, the name of the data set; `source`, the
-- text that lines are counted in, or a function from a line number to the line; `grid`, blocks
-- along each cut; `moves`, by array path what moving it takes ("16 hand-overs a pass, 0.5 MB");
-- `engine`, `engine_reason`; `proposals`, lines; `ordered`; `inspected`, the proof, if that is by
-- inspection; `stages`, into how many a loop with buffers is cut; `replicated`, lines
function M.text(plan, context)
  local write = plan.strategy == "serial" and refusal or success
  local users = context and source_text.users(context.source)
  if users then return users:report(write, plan, context) end
  return table.concat(write(plan, context or {}), "\n")
end

return M
