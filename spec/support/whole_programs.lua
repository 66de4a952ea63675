-- SPDX-License-Identifier: MIT
--- Runs whole random programs, and prints for each a line of tabs: its number, and its results, the
-- code of its refusal, or what it raised.
--
--     luajit spec/support/whole_programs.lua GENERATOR FIRST LAST WORKERS [MUTANT]
--
-- GENERATOR: "names" for spec/capture/names_random.lua. WORKERS: "plain" runs them without the
-- module, over plain tables. MUTANT: see spec/capture/names_mutants.lua. A generator's
-- `early(number)` is a text that is run before the module is loaded, one for a group of so many
-- programs.
local generator, first, last = arg[1], tonumber(arg[2]), tonumber(arg[3])
local workers, mutant = arg[4], arg[5]
local child = require "spec.support.child"
local random = require("spec.capture." .. generator .. "_random")

-- Programs may change libraries, so what is called here is taken before they run.
local concat, format, gsub, match = table.concat, string.format, string.gsub, string.match
local pcall, print, tostring, open = pcall, print, tostring, io.open
local rawset, next, type, ipairs, getmetatable = rawset, next, type, ipairs, getmetatable
local setmeta, getmeta = debug.setmetatable, debug.getmetatable

local function word(value)
  if type(value) ~= "number" then return tostring(value) end
  return value ~= value and "nan" or format("%.17g", value)
end

local function words(result)
  local parts = {}
  for _, list in ipairs(result) do
    for k = 1, #list do parts[#parts + 1] = word(list[k]) end
  end
  return concat(parts, " ")
end

-- The numbers of an array or table, in order.
local function flat(value, into)
  if type(value) == "cdata" or getmetatable(value) then value = value:totable() end
  for _, each in ipairs(value) do
    if type(each) == "table" then flat(each, into) else into[#into + 1] = each end
  end
  return into
end

-- What programs may change: libraries, other tables, and metatables of plain values.
local LIBRARIES = {string = string, math = math, table = table, bit = bit}
local TABLES = {string, math, table, bit, package, package.loaded, package.preload}
local SAMPLES = {"", 0, true, print, n = 5} -- the last is nil

local function copy_of(content)
  local copy = {}
  for key, value in next, content do copy[key] = value end
  return copy
end

local function refill(content, copy)
  for key in next, copy_of(content) do
    if copy[key] == nil then rawset(content, key, nil) end
  end
  for key, value in next, copy do rawset(content, key, value) end
end

-- What a value's metatable is, and holds.
local function meta_of(value)
  local meta = getmeta(value)
  return {meta = meta, content = meta and copy_of(meta)}
end

-- A plain value's metatable is set where it is another: LuaJIT throws away all machine code then.
local function wear(value, kept)
  if getmeta(value) ~= kept.meta then setmeta(value, kept.meta) end
  if kept.meta then refill(kept.meta, kept.content) end
end

-- Gives a function that restores all this.
local function remember()
  local copies, metas, basics = {}, {}, {}
  for k, content in ipairs(TABLES) do copies[k], metas[k] = copy_of(content), meta_of(content) end
  for k = 1, SAMPLES.n do basics[k] = meta_of(SAMPLES[k]) end
  return function()
    for k, content in ipairs(TABLES) do
      wear(content, metas[k])
      refill(content, copies[k])
    end
    for name, content in next, LIBRARIES do rawset(_G, name, content) end
    for k = 1, SAMPLES.n do wear(SAMPLES[k], basics[k]) end
  end
end

-- What is said when a method of plain values is called that no loop may call: nothing remains.
local LATE = "a parallel loop cannot call it as a method or operator of plain values"

-- A directory for modules that programs write.
local directory = child.directory()
local tools = {path = directory .. "/?.lua;"}

function tools.write(name, text)
  local file = assert(open(directory .. "/" .. name .. ".lua", "w"))
  file:write(text)
  file:close()
end

local texts, world = {}
for number = first, last do texts[number] = random.text(number) end
if random.early then assert(loadstring(random.early(first)))() end
if workers == "plain" then
  world = require "spec.support.plain_array"
else
  local meissa = require "meissa"
  if mutant then require("spec.capture." .. generator .. "_mutants")[mutant]() end
  meissa.init {workers = tonumber(workers)}
  world = {parallel = meissa.parallel, each = meissa.each, zeros = meissa.zeros,
           list = function(value) return flat(value, {}) end}
end

for number = first, last do
  local program = assert(loadstring(texts[number]))
  local restore = remember()
  local ok, result = pcall(program, world.parallel, world.each, world.zeros, world.list, tools)
  restore()
  if ok then
    result = words(result)
  else
    result = tostring(result)
    result = match(result, "%[(DEP1%d%d)") or match(result, LATE) and "DEP, late" or
      "raised " .. gsub(result, "%s+", " ")
  end
  print(number .. "\t" .. result)
end
os.execute("rm -r " .. directory)
