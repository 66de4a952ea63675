-- SPDX-License-Identifier: MIT
--- Records of loops: what is known of a loop's text, found once.
--
-- A record is {loop =, captures =, names =, calls =, info =, file =, line =, source =, place =,
-- keys =, variables = its own names, plans =, kernels =}, and as they are found out
-- `slots`, of its captures, and `settled`: records of the same loop with the names that its body
-- has in captured strings taken for what they are, so that `_G[name]` is the variable that `_G.x`
-- is.
-- @module meissa.driver.record

local core = require "meissa.core"
local errors = require "meissa.base.errors"
local known = require "meissa.capture.known"
local remember = require "meissa.base.remember"
local source_text = require "meissa.capture.source_text"
local tables = require "meissa.base.tables"

local M = {}

-- Loops found so far: by function and line (weak), and by text and place for functions made anew.
local by_function = setmetatable({}, {__mode = "k"})
local by_text = {}

-- Bytes of a loop, and of a letter of its own text; see remember.lua.
local LOOP_BYTES, LOOP_LETTER = 56000, 60

-- The name of a chunk as messages show it.
local function display_name(info)
  local first = string.sub(info.source, 1, 1)
  return (first == "@" or first == "=") and string.sub(info.source, 2) or info.short_src
end

local function forget(record)
  local places = by_text[record.source]
  places[record.place] = nil
  if tables.next(places) == nil then by_text[record.source] = nil end
end

--- How long a loop's own text is.
function M.length(record)
  return record.info.finish - record.info.begin
end

local function keep(record, forget_it)
  remember.keep(record, LOOP_BYTES + LOOP_LETTER * M.length(record), forget_it)
end

-- What a loop of the core tells of itself.
local function describe(loop)
  return {loop = loop, captures = loop:captures(), names = loop:names(), calls = loop:calls(),
          info = loop:info(), variables = loop:indices(), plans = {}, kernels = {}}
end

local function parse(func, info, line)
  local text, ordinal = source_text.text(func, info.source)
  local place = string.format("%d:%s:%s", ordinal, line or "",
                              string.sub(info.source, 1, 1) == "@" and info.source or "")
  local record = by_text[text] and by_text[text][place]
  if record then return record end
  local name, last = info.source, info.lastlinedefined -- and nothing that leads to the function
  local first = info.what == "main" and 0 or info.linedefined
  local function make(other)
    return core.loop(other or text, name, first, last, ordinal, line)
  end
  local loop, err = make()
  if not loop then errors.raise_core(err) end
  record = describe(loop)
  record.file, record.line = display_name(info), line or info.linedefined
  record.own = errors.is_own_source(info.source) or nil
  record.source, record.place, record.again, record.keys = text, place, make, loop:keys()
  -- A loop over one named thing is called after it in reports.
  local call = record.info.callee and string.sub(text, record.info.call_begin,
    record.info.call_finish)
  record.over = call and string.match(call, "%(%s*([%a_][%w_.]*)%s*[,)]")
  by_text[text] = by_text[text] or {}
  by_text[text][place] = record
  keep(record, forget)
  return record
end

--- The record of the loop that the function runs. `line` is that of the running call; nil for a
-- closure, which is its own loop.
-- Errors: SRC for loops that cannot be found, OPT.
function M.find(func, info, line)
  local lines = by_function[func]
  if not lines then
    lines = setmetatable({}, {__mode = "v"})
    by_function[func] = lines
  end
  local record = lines[line or 0]
  if record then
    remember.touch(record)
  else
    if info.what == "C" then
      errors.raise("OPT", "meissa.each needs a Lua function, not one written in C")
    end
    record = parse(func, info, line)
    lines[line or 0] = record
  end
  return record
end

-- What the loop's keys are: strings by the declaration of their variable, whether getfenv gives the
-- loop's globals, and all of it as one string; nil if there is nothing to settle.
local function settlement(record, roots, env)
  local strings, words, getfenv_at = {}, {}, record.keys.getfenv
  for c = 1, #record.captures do
    local symbol, value = record.keys[c], roots[c]
    if symbol and type(value) == "string" then
      strings[symbol] = value
      words[#words + 1] = string.format("%d:%d:%s", symbol, #value, value)
    end
  end
  local own = getfenv_at ~= nil and known.builtins[roots[getfenv_at]] == "getfenv"
  local all = own and getfenv(0) == env
  if #words == 0 and not own then return nil end
  return strings, own, all, string.format("%s %s %s", own, all, table.concat(words, " "))
end

local function make_settled(record, strings, own, all, key)
  local loop, err = record.again():settle(strings, own, all)
  if not loop then errors.raise_core(err) end
  local settled = describe(loop)
  settled.file, settled.line, settled.source = record.file, record.line, record.source
  settled.over, settled.own, settled.strings = record.over, record.own, {}
  for c, each in ipairs(record.captures) do
    local symbol = record.keys[c]
    if symbol and strings[symbol] then settled.strings[each.root] = strings[symbol] end
  end
  record.settled = record.settled or {}
  record.settled[key] = settled
  keep(settled, function() record.settled[key] = nil end)
  return settled
end

-- A loop's variables, as they stand between `for` and `in` or after `function`.
local VARIABLES = "^(%%a+[%%s(]+%s[%%s,]+)%s[%%s,]+%s"

-- The flags of captures for another text of the same loop.
local function moved_flags(record, loop, flags)
  local by_path, moved = {}, {}
  local function path_of(capture)
    return capture.root .. "\0" .. table.concat(capture.fields, "\0")
  end
  for c, each in ipairs(record.captures) do by_path[path_of(each)] = flags[c] end
  for c, each in ipairs(loop:captures()) do moved[c] = by_path[path_of(each)] end
  return moved
end

-- Where a body stands that begins in `text` after `head`: its line, and its column there.
local function place_after(text, begin, head)
  local before = string.sub(text, 1, begin - 1) .. head
  local _, lines = string.gsub(before, "\n", "")
  return lines + 1, #errors.last_part(before, "\n") + 1
end

--- The text of a loop over ranges of elements, `for t, lo, hi in ...`, as one over the numbers of
-- the ranges: its body begins with finding lo and hi. No line changes its number.
-- @tab record of the loop as it is written
-- @string variable that counts ranges @string bounds the expressions for lo and hi
-- @treturn string the text
-- @treturn table {line =, column =, by =}: what is on this line from this column on has moved to
-- the right
function M.by_range(record, variable, bounds)
  local info, text = record.info, record.source
  local first, low, high = unpack(record.variables)
  local head = string.sub(text, info.begin, info.body_begin - 1)
  local pattern = string.format(VARIABLES, first, low, high)
  local counted, found = string.gsub(head, pattern, "%1" .. variable)
  if found == 0 then
    errors.raise("SRC", "the variables of a loop by range are to be written one after the " ..
                 "other: for t, lo, hi in meissa.iterate(...) do")
  end
  counted = counted .. string.format(" local %s, %s = %s; ", low, high, bounds)
  local _, written = place_after(text, info.begin, head)
  local line, column = place_after(text, info.begin, counted)
  return string.sub(text, 1, info.begin - 1) .. counted .. string.sub(text, info.body_begin),
    {line = line, column = column, by = column - written}
end

--- The record of the same loop in which what is written of some captures is a capture of its own
-- (csrc/syntax/version_split.h), which has `next`.
-- @tab record of the loop as it is written
-- @tab flags by capture, whether it is split
-- @string[opt] text another one of the same loop @tab[opt] moved what has moved in it
function M.split(record, flags, text, moved)
  local words = {text and "ranges " or ""}
  for c = 1, #record.captures do words[c + 1] = flags[c] and "1" or "0" end
  local key = table.concat(words)
  record.splits = record.splits or {}
  local split = record.splits[key]
  if split then
    remember.touch(split)
    return split
  end
  local loop, err = record.again(text)
  if not loop then errors.raise_core(err) end
  loop, err = loop:split(text and moved_flags(record, loop, flags) or flags)
  if not loop then errors.raise_core(err) end
  split = describe(loop)
  split.file, split.line, split.source = record.file, record.line, record.source
  split.over, split.own, split.moved = record.over, record.own, moved
  record.splits[key] = split
  keep(split, function() record.splits[key] = nil end)
  return split
end

--- The record of the same loop with its keys settled for these values; nil if it has none that can
-- be.
-- @tab record of the loop as it is written
-- @tab roots values of its captures' root variables
-- @tab env globals of its function
function M.settle(record, roots, env)
  if tables.next(record.keys) == nil then return nil end
  local strings, own, all, key = settlement(record, roots, env)
  if not strings then return nil end
  local settled = record.settled and record.settled[key]
  if settled then
    remember.touch(settled)
    return settled
  end
  return make_settled(record, strings, own, all, key)
end

return M
