-- SPDX-License-Identifier: MIT
--- Mutation testing: takes one thing after the other out of a copy of the sources, and says which
-- spec finds that out. What nothing finds shows a spec, or a generator, that is too weak.
--
--     luajit tools/mutants.lua DIRECTORY [WORD ...]    mutants whose rule or name has a word in it
--
-- The copy and its build are made anew in the directory. The mutants, and what must find each, are
-- in spec/mutants; those of one rule are written down together. A run may take the memory and the
-- time that are given below: what hangs or grows without end is found, too. Exit status 1: a mutant
-- has survived, or something fails without any.
local files = require "tools.files"
local rules = require "spec.mutants.rules"
local seed = require "spec.support.seed"

local MEMORY = 12e6            -- kB of addresses that one process may have
local SHORT, LONG = 200, 7200  -- seconds for few draws, and for many

-- Draws of a generator, one attempt after the other; MEISSA_MUTANTS_STEPS=n makes n attempts.
local STEPS = {60, 300, 3000, 20000}
local LAST = tonumber(os.getenv "MEISSA_MUTANTS_STEPS" or "") or #STEPS

local must, quote = files.must, files.quote
local directory, words = arg[1], {unpack(arg, 2)}

-- ---- the copy

-- Dates are kept, so that what is built stays so.
local function copy()
  must("rm -rf " .. quote(directory) .. " && mkdir -p " .. quote(directory .. "/build"))
  must("cp -a csrc lua spec tools mk bin examples bench docs Makefile *.md " .. quote(directory))
  must("cp -a build/obj build/gen build/meissa build/bin build/libmeissa.a build/packages " ..
       "build/flags " .. quote(directory .. "/build"))
end

-- A command in the copy, as nobody's sub-make.
local function inside(command)
  return ("cd %s && unset MAKEFLAGS MFLAGS MAKELEVEL && ulimit -v %d && %s"):format(
    quote(directory), MEMORY, command)
end

local function build()
  local output, status = files.run(inside "make -s -j2 build")
  return status == 0, output
end

-- ---- finding out

-- Where a generator's program failed, counted from 1; or which test did.
local function place_of(output)
  local at = output:match "MEISSA_TEST_SEED=(%d+)"
  if at then return ("program %d"):format(at - seed + 1) end
  at = output:match "%f[%a]file (%d+): "
  if at then return ("file %d"):format(at) end
  return output:match "FAILED: ([^\n]*)" or output:match "ERROR: ([^\n]*)"
    or output:match "_test%.c:(%d+: not true[^\n]*)" or output:match "spec%.lua ([^\n]*)\n" or "?"
end

-- What runs a spec, or a C test by its source.
local function runs(path)
  local test = path:match "^csrc/(.*)%.c$"
  if not test then return "make -s spec SPECS=" .. quote(path) end
  return ("sh -c 'make -s build/test/%s && tools/test.sh build/test/%s'"):format(test, test)
end

-- Runs a spec with so many draws: nil, or where it failed and all that it said.
local function attempt(finder, draws)
  local limit = draws and draws > 300 and LONG or SHORT
  local set = draws and ("%s=%d"):format(finder.draws, draws) or ""
  local command = ("MEISSA_TEST_FIRST=1 MEISSA_TEST_SLOWDOWN=%d %s timeout -k 5 %d %s")
    :format(limit / SHORT, set, limit, runs(finder.spec))
  local output, status = files.run(inside(command))
  if status == 0 then return nil end
  return status == 124 and ("no end within %d s"):format(limit) or place_of(output), output
end

-- Draws of the n-th attempt; false: it has had its last.
local function draws_of(finder, n)
  if not finder.draws then return n == 1 and {} end
  if n > 1 and STEPS[n - 1] >= finder.most then return false end
  return {math.min(STEPS[n], finder.most)}
end

-- The first of the specs that finds something: its finder, where, the output. Each has its first
-- attempt before any has another.
local function find(finders, last)
  for n = 1, last or LAST do
    for _, finder in ipairs(finders) do
      local draws = draws_of(finder, n)
      if draws then
        local place, output = attempt(finder, draws[1])
        if place then return finder, place, output end
      end
    end
  end
end

local function is_wanted(rule, mutant)
  if #words == 0 then return true end
  for _, word in ipairs(words) do
    if (rule.rule .. ": " .. mutant.name):find(word, 1, true) then return true end
  end
end

-- {rule =, mutant =} that are asked for.
local function wanted()
  local list = {}
  for _, rule in ipairs(rules.list) do
    for _, mutant in ipairs(rule.mutants or {}) do
      if is_wanted(rule, mutant) then list[#list + 1] = {rule = rule, mutant = mutant} end
    end
  end
  return list
end

-- Without a mutant nothing may be found.
local function check_finders(list)
  local seen, failed = {}, 0
  for _, each in ipairs(list) do
    for _, finder in ipairs(each.mutant.finders or each.rule.finders) do
      if not seen[finder.spec] then
        seen[finder.spec] = true
        local _, place, output = find({finder}, 1)
        if place then
          failed = failed + 1
          print(("%s fails without a mutant: %s\n%s"):format(finder.spec, place, output))
        end
      end
    end
  end
  return failed
end

-- Runs one mutant: what is told of it, and whether it was found.
local function try(each)
  local path = directory .. "/" .. each.mutant.file
  local text = files.read(path)
  local changed = rules.apply(each.mutant, text)
  files.write(path, changed)
  local built, problem = build()
  local finder, place
  if built then finder, place = find(each.mutant.finders or each.rule.finders) end
  files.write(path, text)
  if not built then return "does not build:\n" .. problem, false end
  if not finder then return "SURVIVES", false end
  return ("%s, %s"):format(finder.spec:match "[^/]*$", place), true
end

io.stdout:setvbuf "line"
local list, alive = wanted(), 0
copy()
assert(build())
local failed = check_finders(list)
local rule
for _, each in ipairs(list) do
  if each.rule ~= rule then print("\n" .. each.rule.rule) end
  rule = each.rule
  local began = os.time()
  local told, found = try(each)
  if not found then alive = alive + 1 end
  print(("  %-54s %4d s  %s"):format(each.mutant.name, os.time() - began, told))
end
print(("\n%d mutants, %d found"):format(#list, #list - alive))
os.exit(alive + failed == 0 and #list > 0 and 0 or 1)
