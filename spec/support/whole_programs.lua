-- SPDX-License-Identifier: MIT
--- Runs programs of spec/names_random.lua, and prints for each a line of tabs: its number, and its
-- results, the code of its refusal, or what it raised.
--
--     luajit spec/support/names.lua FIRST LAST WORKERS [MUTANT]
--
-- WORKERS: "plain" runs them without the module, over plain tables. MUTANT: see
-- spec/names_mutants.lua.
local random = require "spec.names_random"

local first, last, workers, mutant = tonumber(arg[1]), tonumber(arg[2]), arg[3], arg[4]

local function words(result)
  local parts = {}
  for _, list in ipairs(result) do
    for k = 1, #list do
      parts[#parts + 1] = list[k] ~= list[k] and "nan" or ("%.17g"):format(list[k])
    end
  end
  return table.concat(parts, " ")
end

-- The numbers of an array or table, in order.
local function flat(value, into)
  if type(value) == "cdata" or getmetatable(value) then value = value:totable() end
  for _, each in ipairs(value) do
    if type(each) == "table" then flat(each, into) else into[#into + 1] = each end
  end
  return into
end

local world
if workers == "plain" then
  world = require "spec.support.plain_array"
else
  local meissa = require "meissa"
  if mutant then require("spec.names_mutants")[mutant]() end
  meissa.init {workers = tonumber(workers)}
  world = {parallel = meissa.parallel, each = meissa.each, zeros = meissa.zeros,
           list = function(value) return flat(value, {}) end}
end

for number = first, last do
  local program = assert(loadstring(random.text(number)))
  local ok, result = pcall(program, world.parallel, world.each, world.zeros, world.list)
  if ok then
    result = words(result)
  else
    result = tostring(result)
    result = result:match "%[(DEP1%d%d)" or "raised " .. result:gsub("%s+", " ")
  end
  print(number .. "\t" .. result)
end
