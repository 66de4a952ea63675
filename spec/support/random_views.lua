-- SPDX-License-Identifier: MIT
--- Random loops over views (spec/plan/views_random.lua), run one after the other: prints for each
-- its number, how it ran, a number, and the memory behind all views. Plain ones say whether two
-- iterations touch one element, one of them writing it, where the analysis is to find out exactly;
-- their number is how many elements the views have together. That of the others is how many
-- elements' bytes moved.
--   luajit random_views.lua plain|meissa FIRST COUNT [MUTANT]
-- Numbers below 0 are the examples.
local meissa = require "meissa"
local plain_views = require "spec.support.plain_views"
local random = require "spec.plan.views_random"
local views = require "meissa.plan.views"

local mode, first, count, mutant = arg[1], tonumber(arg[2]), tonumber(arg[3]), arg[4]

local resolve = views.resolve
local mutants = {
  -- The analyser believes that each view begins where its base does.
  offset = function(bindings, named)
    resolve(bindings, named)
    for _, binding in ipairs(bindings) do
      local view = binding.view
      if view then
        local changed = {}
        for key, value in pairs(view) do changed[key] = value end
        changed.first = {}
        for k in ipairs(view.first) do changed.first[k] = 1 end
        binding.view = changed
      end
    end
  end,
  -- All of a base travels.
  whole = function(bindings, named)
    resolve(bindings, named)
    for _, binding in ipairs(bindings) do
      if binding.view then binding.view.base.parts = nil end
    end
  end,
  -- All views are arrays of their own.
  apart = function(bindings)
    for _, binding in ipairs(bindings) do
      if binding.kind == "array" then binding.storage = 2 ^ 52 + binding.array end
    end
  end,
}
if mutant then views.resolve = mutants[mutant] end

-- Functions that lead to the views.
local function functions_of(program)
  local list = {"local function take(v, k) return v[k] end",
                "local function put(v, k, x) v[k] = x end"}
  for _, name in ipairs(program.names) do
    list[#list + 1] = ("local function take_%s(k) return %s[k] end"):format(name, name)
  end
  return table.concat(list, "\n")
end

local function run(program, env, parallel)
  local names, values = {"parallel", "p", "fields"}, {parallel, env.p or {}, {}}
  for k, name in ipairs(program.names) do
    names[k + 3], values[k + 3], values[3][name] = name, env[name], env[name]
  end
  local text = ("local %s = ...\n%s\n%s\n"):format(table.concat(names, ", "),
                                                 functions_of(program), program.text)
  return pcall(loadstring(text), unpack(values))
end

local function range_of(argument)
  if type(argument) == "number" then return 1, argument end
  return argument[1], argument[2]
end

-- The iterations of one or two ranges, as functions that give the indices.
local function iterations_of(one, other)
  local list, lo, hi = {}, range_of(one)
  if type(other) == "table" and not other[1] then other = nil end -- options
  local inner_lo, inner_hi = range_of(other or 1)
  for i = lo, hi do
    for j = inner_lo, inner_hi do
      list[#list + 1] = function() return i, j end
    end
  end
  return list
end

-- Serial iterations, each told to `begin`.
local function plain_parallel(begin)
  return function(one, other)
    local whole = getmetatable(one)
    local iterations = whole and plain_views.iterations(one) or iterations_of(one, other)
    local at = 0
    return function()
      at = at + 1
      if not iterations[at] then return nil end
      begin(at)
      return iterations[at]()
    end
  end
end

-- How many elements the views of a program have together.
local function count_union(program, env)
  local seen, union = {}, 0
  for _, name in ipairs(program.names) do
    for _, view in ipairs(env[name].dims and {env[name]} or env[name]) do
      plain_views.places(view, function(at)
        if not seen[at] then union, seen[at] = union + 1, true end
      end)
    end
  end
  return union
end

local function run_plain(program)
  local base, now, conflict = plain_views.new(program.shape), 0, false
  local readers, writers = {}, {}
  base.memory.touched = function(at, write)
    local other = writers[at]
    conflict = conflict or (other and other ~= now)
    if write then
      conflict = conflict or (readers[at] and (readers[at] ~= now))
      writers[at] = now
    elseif readers[at] ~= now then
      readers[at] = readers[at] and -1 or now -- several
    end
  end
  local env = random.views(program, base)
  local ok, err = run(program, env, plain_parallel(function(at) now = at end))
  assert(ok, tostring(err) .. "\n" .. program.text)
  local union = program.exact and count_union(program, env) or 1 / 0
  if not program.ordered then return "unordered", base.memory, union end
  return program.exact and (conflict and "meets" or "free") or "unsure", base.memory, union
end

local env -- of the program that runs: keeps all of its arrays

local SIZES = {double = 8, float = 4, int32 = 4, int64 = 8}

-- Sums of rows may be beyond what other types than double hold.
local function type_of(program, seed)
  if string.find(program.text, "axpy", 1, true) then return "double" end
  return ({"double", "float", "int32", "int64"})[seed % 4 + 1]
end

local function run_meissa(program, seed)
  local base, size = meissa.zeros(program.shape, {type = type_of(program, seed)}), 1
  for _, extent in ipairs(program.shape) do size = size * extent end
  local data = base:data()
  for k = 1, size do data[k - 1] = k end
  env = random.views(program, base)
  local ok, err = run(program, env, meissa.parallel)
  local refused = not ok and type(err) == "table" and err.code == "DEP"
  assert(ok or refused, tostring(err) .. "\n" .. program.text)
  local memory = {}
  for k = 1, size do memory[k] = tonumber(data[k - 1]) end
  if refused then return "refused", memory, 0 end
  return meissa.last().strategy, memory, (meissa.last().moved or 0) / SIZES[base:type()]
end

for seed = first, first + count - 1 do
  local program = random.examples[-seed] or random.program(seed)
  local how, memory, number = (mode == "plain" and run_plain or run_meissa)(program, seed)
  print(("%d\t%s\t%g\t%s"):format(seed, how, number, table.concat(memory, " ")))
end
