-- SPDX-License-Identifier: MIT
--
-- Error objects: what every failing call of the module raises.
--
-- A table {code =, message =, file =, line =, iteration =, in_round = whether the first number of
-- that is a round, worker =, value =} with a metatable, so that `tostring(err)` and `..` give
-- "file:line: CODE: message". `value` is a copy of what a body raised if that was no text, see
-- meissa.base.thrown. The place is the user's: the first function on the stack that is not the
-- module's own.
-- @module meissa.base.errors

local tables = require "meissa.base.tables"

local M = {}

-- The metatable outlives a reload of the module, so that old error objects are still recognised.
local registry = debug.getregistry()
local Error = registry["meissa.errors"] or {}
registry["meissa.errors"] = Error

-- "@/some/where/lua/meissa/": what the sources of the module's own functions begin with.
local own_prefix = string.match(debug.getinfo(1, "S").source, "^(@.*meissa/)") or "@meissa/"

--- What texts begin with that the module makes at run time and loads as they are.
M.MADE = "--[[meissa]]"

--- Whether a source, as debug.getinfo has it, is the module's own.
function M.is_own_source(source)
  return string.sub(source, 1, #own_prefix) == own_prefix or
    string.sub(source, 1, #M.MADE) == M.MADE
end

local function iteration_text(iteration, in_round)
  if type(iteration) ~= "table" then return tostring(iteration) end
  local parts = {}
  for k = 1, #iteration do parts[k] = tostring(iteration[k]) end
  if not in_round then return table.concat(parts, ", ") end
  return string.format("%s of round %s", table.concat(parts, ", ", 2), parts[1])
end

-- Whether a message speaks of "worker 2" itself.
local function names_worker(message, worker)
  return string.find(tostring(message), "%f[%w]worker " .. tostring(worker) .. "%f[%W]") ~= nil
end

function Error.__tostring(err)
  local text = (err.code or "BUG") .. ": " .. tostring(err.message)
  if err.file and err.line then
    text = err.file .. ":" .. err.line .. ": " .. text
  elseif err.file then
    text = err.file .. ": " .. text
  end
  local where = {}
  if err.iteration then
    where[#where + 1] = "iteration " .. iteration_text(err.iteration, err.in_round)
  end
  if err.worker and not names_worker(err.message, err.worker) then
    where[#where + 1] = "worker " .. tostring(err.worker)
  end
  if #where > 0 then text = text .. " (" .. table.concat(where, "; ") .. ")" end
  return text
end

function Error.__concat(left, right)
  return tostring(left) .. tostring(right)
end

--- The user's place: file and line of the first function on the stack outside the module.
-- @treturn string|nil file; nil when the caller is a string or the prompt
-- @treturn number|nil line
function M.place()
  for level = 2, 200 do
    local info = debug.getinfo(level, "Sl")
    if not info then return nil end
    local source = info.source
    if info.currentline > 0 and not M.is_own_source(source) then
      local first = string.sub(source, 1, 1)
      if first == "@" or first == "=" then return string.sub(source, 2), info.currentline end
      return info.short_src, info.currentline
    end
  end
end

--- Whether a file, as error objects name it, is the module's own.
function M.is_own(file)
  return file ~= nil and string.sub("@" .. file, 1, #own_prefix) == own_prefix
end

--- Makes an error object without raising it.
-- @tab fields code and message, and what is known of file, line, iteration, worker
function M.new(fields)
  return setmetatable(fields, Error)
end

--- Whether a value is one of our error objects.
function M.is(value)
  return getmetatable(value) == Error
end

--- Raises an error at the user's place.
-- @string code three letters: SRC DEP ARR FIL OPT BDY WRK INT NET BUG
-- @string format as for string.format
function M.raise(code, format, ...)
  local message = select("#", ...) > 0 and string.format(format, ...) or format
  local file, line = M.place()
  error(M.new { code = code, message = message, file = file, line = line }, 0)
end

--- An error object from what the core gives: a table {code, message, file, line} of the binding,
-- or an ms_error cdata. Without a place of its own it gets the user's.
function M.from_core(raw)
  local fields
  if type(raw) == "cdata" then
    local ffi = require "ffi"
    local lib = require("meissa.base.c_core").lib
    fields = { code = ffi.string(lib.ms_code_name(raw.code)), message = ffi.string(raw.message) }
    if raw.file[0] ~= 0 then fields.file = ffi.string(raw.file) end
    if raw.line > 0 then fields.line = raw.line end
  else
    fields = { code = raw.code, message = raw.message, file = raw.file, line = raw.line,
      iteration = raw.iteration, worker = raw.worker }
  end
  if not fields.file then fields.file, fields.line = M.place() end
  return M.new(fields)
end

--- Raises what the core gave.
function M.raise_core(raw)
  error(M.from_core(raw), 0)
end

--- What comes after the last separator of a text; all of it without one.
-- @string text of any length @string separator one character, no letter or digit
function M.last_part(text, separator)
  return string.match(text, "^.*%" .. separator .. "(.*)$") or text
end

-- Edits (insert, delete, replace, swap of neighbours) between two short names: the optimal string
-- alignment distance.
local function edits(a, b)
  local rows = { [-1] = {}, [0] = {} }
  for j = 0, #b do rows[0][j] = j end
  for i = 1, #a do
    rows[i] = { [0] = i }
    for j = 1, #b do
      local same = string.byte(a, i) == string.byte(b, j)
      local best = math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1,
        rows[i - 1][j - 1] + (same and 0 or 1))
      if i > 1 and j > 1 and string.byte(a, i) == string.byte(b, j - 1)
        and string.byte(a, i - 1) == string.byte(b, j) then
        best = math.min(best, rows[i - 2][j - 2] + 1)
      end
      rows[i][j] = best
    end
  end
  return rows[#a][#b]
end

local function common_prefix(a, b)
  local k = 0
  while k < #a and string.byte(a, k + 1) == string.byte(b, k + 1) do k = k + 1 end
  return k
end

-- Whether one name is the other with more behind it, as `separator` is of `sep`.
local function begins(name, other)
  local shared = common_prefix(name, other)
  return shared >= 3 and (shared == #name or shared == #other)
end

--- The name nearest to a misspelt one; of equally near ones that which begins more like it. Where
-- none is near, one that is abbreviated, or that abbreviates it.
-- @string name what was written
-- @tab names a list of what there is
-- @treturn string|nil nil when none is near
function M.nearest(name, names)
  if #name > 64 then return nil end
  local best, least
  for _, each in ipairs(names) do
    local distance = edits(string.lower(name), string.lower(each))
    local tie = distance == least and common_prefix(name, each) > common_prefix(name, best)
    if not least or distance < least or tie then best, least = each, distance end
  end
  if least and least <= math.max(1, math.floor(#name / 3)) then return best end
  for _, each in ipairs(names) do
    if begins(string.lower(name), string.lower(each)) then return each end
  end
end

local function quoted_list(names)
  local sorted = {}
  for k, name in ipairs(names) do sorted[k] = name end
  table.sort(sorted)
  return table.concat(sorted, ", ")
end

-- Up to here all whole numbers are doubles.
local LARGEST = 2 ^ 53

--- Raises OPT unless a value is a whole number from `least` to `most`: 2^53, if that is not given;
-- math.huge stands for no bound, and is taken, too.
-- @param value what somebody gave @string what how an error calls it
-- @treturn number it
function M.check_whole(value, what, least, most)
  local greatest = math.min(most or LARGEST, LARGEST)
  local good = type(value) == "number" and value >= least and
    (value == math.floor(value) and value <= greatest or value == most)
  if good then return value end
  local bound = not most and " on" or most == math.huge and " on, or math.huge" or
    string.format(" to %d", most)
  M.raise("OPT", "%s is a whole number from %d%s, not %s", what, least, bound, M.shown(value))
end

--- Whether a table is a list, one with anything at a number.
-- @string what how an error calls it
-- Errors: OPT where something of it stands elsewhere than at 1, 2, ..., one after the other.
function M.is_list(list, what)
  local count, other = 0, nil
  for key in tables.each(list) do
    if type(key) == "number" then count = count + 1 else other = key end
  end
  for k = 1, count do
    if list[k] == nil then
      M.raise("OPT", "%s has nothing at %d, and something behind it, which would be lost: " ..
        "give a list without holes", what, k)
    end
  end
  if count > 0 and other ~= nil then
    M.raise("OPT", "%s has something under %s, which would be lost: give a list", what,
      M.shown(other))
  end
  return count > 0
end

--- A value in an error's text: strings are quoted, of tables no address is told, and of arrays no
-- elements.
function M.shown(value)
  if type(value) == "string" then return '"' .. value .. '"' end
  if type(value) == "table" and not debug.getmetatable(value) then return "a table" end
  return (string.match(tostring(value), "^[^\n]*"))
end

--- Refuses options that are not known.
-- @string where the function's name, as the user writes it
-- @param opts the options, or nil
-- @tab allowed a list of names
-- @return opts, or an empty table for nil
function M.check_options(where, opts, allowed)
  if opts == nil then return {} end
  if type(opts) ~= "table" then
    M.raise("OPT", "%s: options must be a table, not a %s", where, type(opts))
  end
  local known = {}
  for _, name in ipairs(allowed) do known[name] = true end
  for name in tables.each(opts) do
    if not known[name] then
      local near = type(name) == "string" and M.nearest(name, allowed)
      if near then
        M.raise("OPT", "%s: unknown option '%s' (did you mean '%s'?)", where, name, near)
      end
      M.raise("OPT", "%s: unknown option '%s' (options: %s)", where, tostring(name),
        quoted_list(allowed))
    end
  end
  return opts
end

return M
