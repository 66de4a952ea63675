-- SPDX-License-Identifier: MIT
--- The source text of a running function, with proof.
--
-- A parallel loop is planned from its text, so the text must be that of the function that runs.
-- It is looked for where LuaJIT says the function came from (a file, the chunk string, or the
-- interpreter's -e argument) and *proved*: the function's bytecode must occur in the bytecode of
-- the recompiled text (meissa.capture.dump says what is the same). Nothing is trusted that was not
-- proved: an edited file is refused.
-- @module meissa.capture.source_text

local errors = require "meissa.base.errors"
local dumps = require "meissa.capture.dump"
local progress = require "meissa.base.progress"
local interrupt = require "meissa.base.interrupt"
local remember = require "meissa.base.remember"

local M = {}

--- Line `number` of a text, or nil.
function M.line(text, number)
  local n = 0
  for line in string.gmatch(text .. "\n", "(.-)\r?\n") do
    n = n + 1
    if n == number then return line end
  end
end

local HOW_TO = " Write meissa.run[=[ for i in parallel(n) do ... end ]=] there (each, iterate " ..
               "and plan may stand in the brackets, too), or keep the loop in a file. With " ..
               "{serial = true} parallel and each run it as it stands."
local STDIN = 0

-- A relative file name means the directory at the time of `require`: scripts may change it later.
local base = require("meissa.base.system").directory()

-- Proved texts by chunk source: a list of {text=, records=} (see meissa.capture.dump); usually one,
-- more after a file changed.
local texts = {}

-- Texts that kernels were made of, by chunk source, the newest last: loops in a body that runs as
-- Lua are found there. So many are kept of one source.
local carried = {}
local MOST_CARRIED = 8

-- What users had written in the place of such texts (see meissa.capture.users_text), by text.
local users = {}

--- What a user had written in the place of a text; nil for one that is the user's own.
function M.users(text) return users[text] end

--- Says that functions of a chunk source may come from this text, which no file has.
-- @tab of what the user had written in its place
function M.carry(source, text, of)
  local list = carried[source] or {}
  carried[source] = list
  for _, each in ipairs(list) do
    if each == text then return end
  end
  list[#list + 1], users[text] = text, of
  if #list > MOST_CARRIED then users[table.remove(list, 1)] = nil end
end

-- Bytes of a text, and of a letter; see remember.lua.
local BYTES, LETTER = 2000, 5

local function forget(entry)
  local known = texts[entry.source]
  for k = #known, 1, -1 do
    if known[k] == entry then table.remove(known, k) end
  end
  if #known == 0 then texts[entry.source] = nil end
end

local function read_file(name)
  local path = string.sub(name, 1, 1) == "/" and name or base .. "/" .. name
  local file = io.open(path, "rb")
  if not file then return nil end
  local text = file:read("*a")
  file:close()
  -- loadfile skips a first line that starts with '#'; loadstring does not. Keep the line count.
  return text and (string.gsub(text, "^#[^\r\n]*", ""))
end

-- The texts given to the interpreter's -e options.
local function command_line()
  local found = {}
  local arg = rawget(_G, "arg")
  if type(arg) ~= "table" then return found end
  local first = 0
  while arg[first - 1] ~= nil do first = first - 1 end
  for i = first, -1 do
    local option = arg[i]
    if option == "-e" and type(arg[i + 1]) == "string" then
      found[#found + 1] = arg[i + 1]
    elseif type(option) == "string" and string.find(option, "^%-e.") then
      found[#found + 1] = string.sub(option, 3)
    end
  end
  return found
end

-- Candidate texts for a chunk source, and how to name them in an error.
local function candidates(source)
  local kind, name = string.sub(source, 1, 1), string.sub(source, 2)
  if kind == "@" then
    local text = read_file(name)
    if not text then
      errors.raise("SRC", "the text of this loop cannot be read: no file '%s' (it was loaded " ..
                   "from there, relative to %s).%s", name, base, HOW_TO)
    end
    return {text}, name
  elseif source == "=(command line)" then
    return command_line(), "the command line"
  elseif kind == "=" then
    local where = "a chunk named '" .. name .. "'"
    if source == "=stdin" then
      where = progress.is_terminal(STDIN) and "a line typed at the prompt"
        or "a program that comes through a pipe"
    end
    errors.raise("SRC", "the text of %s is not kept by LuaJIT, so a parallel loop in it cannot " ..
                 "be analysed.%s", where, HOW_TO)
  end
  return {source}, "the chunk"
end

-- The place of a function in the text of an entry; nil if it is not from there.
local function prove(entry, records)
  return entry.records and dumps.find(entry.records, records)
end

--- Whether the text of a chunk source may be had: LuaJIT keeps none of what comes from a prompt, a
-- pipe or bytecode, or has a name or is stripped.
-- @param source as of M.text
function M.is_kept(source)
  local kind = string.sub(source, 1, 1)
  return kind ~= "\27" and (kind ~= "=" or source == "=(command line)")
end

--- The proved text of a function.
-- @param func a Lua function
-- @param source its chunk source, as debug.getinfo(func, "S").source
-- @return the text, the same string for every function of one chunk
-- @return the function's place among those of the text (see meissa.capture.dump.find)
-- Errors: SRC, when the text is not to be had or is not that of the running function.
function M.text(func, source)
  if string.sub(source, 1, 1) == "\27" then
    errors.raise("SRC", "this function was loaded from bytecode, which has no text.%s", HOW_TO)
  end
  local dumped, dump = interrupt.pcall(string.dump, func)
  local records = dumped and dumps.records(dump)
  if not records then
    errors.raise("SRC", "this function was compiled without debug information (stripped), so " ..
                 "its loops cannot be found.%s", HOW_TO)
  end
  local known = texts[source] or {}
  for _, entry in ipairs(known) do
    local place = prove(entry, records)
    if place then
      remember.touch(entry)
      return entry.text, place
    end
  end
  local function try(text)
    local chunk = loadstring(text, source)
    local entry = {source = source, text = text,
                   records = chunk and dumps.records(string.dump(chunk))}
    local place = prove(entry, records)
    if not place then return nil end
    known[#known + 1] = entry
    texts[source] = known
    remember.keep(entry, BYTES + LETTER * #text, forget)
    return text, place
  end
  local function try_all(list)
    for _, text in ipairs(list) do
      local proved, place = try(text)
      if proved then return proved, place end
    end
  end
  local text, place = try_all(carried[source] or {})
  if text then return text, place end
  local found, name = candidates(source)
  text, place = try_all(found)
  if text then return text, place end
  errors.raise("SRC", "the text of %s is no longer that of the running function: it was edited " ..
               "since it was loaded. Load it again.", name)
end

return M
