-- SPDX-License-Identifier: MIT
--
-- Renames files, identifiers and modules all over the tree, as a list in tools/renames says.
--
--   luajit tools/rename.lua tools/renames/x.lua        in a clean work tree; then build and commit
--
-- A branch that began before such a commit is brought over it by running the same list on it.
-- A list returns a table of
--   files        { {"csrc/room/old", "csrc/room/new"} }, in this order: old.c, old.h, old_test.c,
--                includes, header guards, flags in the Makefile and comments that name them; Lua
--                files likewise
--   identifiers  { {"ms_old", "ms_new", within = {"csrc/room"}} }: whole words; "ms_old_*" renames
--                what begins so, and ms_old, MS_OLD_*, too. `within`: only files whose paths begin
--                so. A new name that stands in the tree already is an error
--   words        the same for any words, without that check; {"*item*", "operand"} renames each
--                part of a word between underscores: item_count, base_items
-- In Lua, a local that is named as the module that it holds is renamed with it.

local files = require "tools.files"

-- Literal text as a pattern.
local function literal(text)
  return (text:gsub("%p", "%%%0"))
end

local SUFFIXES = {".c", ".h", "_test.c", "_fuzz.c", "_fuzz.dict", ".lua", "_spec.lua"}

local function exists(path)
  local file = io.open(path, "rb")
  return file ~= nil and file:close()
end

-- Whether other rooms have a C file of that name, too.
local function is_shared(short, folder)
  for _, path in ipairs(files.lines("git ls-files csrc")) do
    local other = path:match "^(.*)/[^/]*$"
    if other ~= folder and path:match "[^/]*$":gsub("%.[ch]$", "") == short then return true end
  end
  return false
end

-- Moves the files of a stem; the substitutions that follow from it. What another room has a file of
-- that name for is replaced without its folder in its own room only.
local function move(old, new, substitutions)
  local moved = false
  local folder = old:match "^(.*)/[^/]*$"
  local within = is_shared(old:match "[^/]*$", folder) and {folder .. "/"} or nil
  for _, suffix in ipairs(SUFFIXES) do
    if exists(old .. suffix) then
      assert(not exists(new .. suffix), "there is a file: " .. new .. suffix)
      files.must(("git mv %s %s"):format(old .. suffix, new .. suffix))
      moved = true
    end
  end
  assert(moved, "no file: " .. old)
  local function also(from, to, only)
    substitutions[#substitutions + 1] = {
      "%f[%w_/.]" .. literal(from) .. "%f[^%w_]", to, within = only,
    }
  end
  local function guard(path)
    return "MS_" .. path:upper():gsub("[^%w]", "_") .. "_H"
  end
  local from, to = old:gsub("^csrc/", ""), new:gsub("^csrc/", "")
  if from ~= old then
    also(from, to)
    also("csrc/" .. from, "csrc/" .. to)
    also("FLAGS_" .. from, "FLAGS_" .. to)
    also(guard(from), guard(to))
    local short, other = from:match("[^/]*$"), to:match("[^/]*$")
    for _, suffix in ipairs { ".c", ".h", "_test.c" } do
      also(short .. suffix, other .. suffix, within)
    end
  else
    from, to = old:gsub("^lua/", ""), new:gsub("^lua/", "")
    also(from:gsub("/", "."), (to:gsub("/", ".")))
    also(from, to)
    also(old, new)
  end
end

-- Renames what a Lua text calls a moved module, where its new name is free.
local function rename_local(text, old, new)
  local from, to = old:match("[^/]*$"), new:match("[^/]*$")
  local module = literal(new:gsub("^lua/", ""):gsub("/", "."))
  local declared = "local " .. from .. "( = require[( ]+\"" .. module .. "\")"
  if from == to or not text:find(declared) or text:find("%f[%w_]" .. to .. "%f[^%w_\"]") then
    return text
  end
  text = text:gsub(declared, "local " .. to .. "%1")
  return (text:gsub("%f[%w_.]" .. from .. "%.", to .. "."))
end

local function prefix_rule(name)
  return name:match("^(.*)_%*$")
end

-- The whole words of a text, each given to `change`, which returns another one or nil.
local function each_word(text, change)
  return (text:gsub("[%a_][%w_]*", change))
end

-- From a rule {"*old*", "new"}: a function of a word.
local function renaming_parts(old, new)
  return function(word)
    local padded = "_" .. word:gsub("_", "__") .. "_"
    local changed, count = padded:gsub("_" .. old .. "(s?)_", "_" .. new .. "%1_")
    return count > 0 and changed:sub(2, -2):gsub("__", "_") or nil
  end
end

-- From a rule {"ms_old_*", "ms_new_*"}: a function of a word.
local function renaming(rule)
  local part = rule[1]:match("^%*(.*)%*$")
  if part then return renaming_parts(part, rule[2]) end
  local old, new = prefix_rule(rule[1]), prefix_rule(rule[2])
  if not old then
    return function(word) return word == rule[1] and rule[2] or nil end
  end
  return function(word)
    if word == old then return new end
    for _, pair in ipairs { {old, new}, {old:upper(), new:upper()} } do
      local old_head, new_head = pair[1] .. "_", pair[2] .. "_"
      if word:sub(1, #old_head) == old_head then return new_head .. word:sub(#old_head + 1) end
    end
  end
end

local function is_within(path, folders)
  if not folders then return true end
  for _, folder in ipairs(folders) do
    if path:sub(1, #folder) == folder then return true end
  end
  return false
end

local list = assert(dofile(assert(arg[1], "usage: luajit tools/rename.lua tools/renames/x.lua")))
assert(#files.lines("git status --porcelain") == 0, "the work tree has changes")

local substitutions = {}
for _, pair in ipairs(list.files or {}) do move(pair[1], pair[2], substitutions) end

local paths = {}
for _, path in ipairs(files.lines("git ls-files")) do
  local fixed = path:find "^spec/data/" or path:find "^tools/rename" or path:find "^CHANGELOG"
  if not fixed then paths[#paths + 1] = path end
end

-- What stands in the tree before anything is renamed, by word.
local texts, known = {}, {}
for _, path in ipairs(paths) do
  texts[path] = files.read(path)
  if path:find "%.[ch]$" then each_word(texts[path], function(word) known[word] = path end) end
end

local rules = {}
for _, kind in ipairs { "identifiers", "words" } do
  for _, rule in ipairs(list[kind] or {}) do
    rules[#rules + 1] = {
      name = rule[1], change = renaming(rule), within = rule.within, fresh = kind == "identifiers",
      used = 0,
    }
  end
end

local function renamed(path, text)
  for _, each in ipairs(substitutions) do
    if is_within(path, each.within) then text = text:gsub(each[1], each[2]) end
  end
  if path:find "%.lua$" then
    for _, pair in ipairs(list.files or {}) do text = rename_local(text, pair[1], pair[2]) end
  end
  return each_word(text, function(word)
    for _, rule in ipairs(rules) do
      local new = is_within(path, rule.within) and rule.change(word)
      if new then
        if rule.fresh and known[new] then
          error(("%s: %s would be %s, which stands in %s"):format(path, word, new, known[new]), 0)
        end
        rule.used = rule.used + 1
        return new
      end
    end
  end)
end

local results = {}
for _, path in ipairs(paths) do results[path] = renamed(path, texts[path]) end
for _, path in ipairs(paths) do
  if results[path] ~= texts[path] then files.write(path, results[path]) end
end
for _, rule in ipairs(rules) do
  if rule.used == 0 then print("not used: " .. rule.name) end
end
files.must("git ls-files '*.c' '*.h' | xargs clang-format -i")
