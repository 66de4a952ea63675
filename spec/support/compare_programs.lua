-- SPDX-License-Identifier: MIT
--- Whole random programs on all roads and both engines, against the same text over plain tables
-- without the module: each gives the same bits, or is refused before anything runs. And that they
-- find it out where a rule is missing. The seed is printed; MEISSA_TEST_SEED replays a run,
-- MEISSA_NAMES changes how many programs there are.
local child = require "spec.support.child"
local seed = require "spec.support.seed"

local M = {}

-- The mutants below are all found within 165.
local count = tonumber(os.getenv("MEISSA_NAMES") or "") or 200

-- Programs that one process runs: LuaJIT of Debian 12 may die of thousands of loaded texts.
local FEW, MANY = 30, 150

-- Environments, on how many workers, how many programs a process, and which part of all programs is
-- run: compilers take their time.
local ROADS = {
  { "MEISSA_ENGINE=lua", "0", FEW, 1 },
  { "MEISSA_ENGINE=lua MEISSA_SHM=1", "1", MANY, 1 },
  { "MEISSA_ENGINE=lua MEISSA_SHM=1", "2", MANY, 1 },
  { "MEISSA_ENGINE=lua MEISSA_SHM=0", "2", MANY, 1 },
  { "MEISSA_ENGINE=native", "0", FEW, 0.1 },
  { "MEISSA_ENGINE=native MEISSA_SHM=1", "2", MANY, 0.1 },
  { "MEISSA_ENGINE=native MEISSA_SHM=0", "2", MANY, 0.1 },
}

-- Adds to `results` what programs give, by number. Those with a mutant are interpreted: that takes
-- half the time, for these texts run once, and what a mutant forgets is no matter of the compiler.
local function run(generator, results, first, last, workers, environment, mutant)
  local output, status = child.shell(
    ("%s luajit %s spec/support/whole_programs.lua %s %d %d %s %s"):format(environment or "",
      mutant and "-joff" or "", generator, first, last, workers,
      mutant and child.quote(mutant) or ""))
  assert(status == 0, output)
  for number, result in output:gmatch "(%d+)\t([^\n]*)\n" do results[tonumber(number)] = result end
  return results
end

-- The same, so many programs a process; a process's programs are of one group of so many.
local function run_all(generator, first, last, most, ...)
  local results, from = {}, first
  while from <= last do
    local to = math.min((math.floor(from / most) + 1) * most - 1, last)
    run(generator, results, from, to, ...)
    from = to + 1
  end
  return results
end

-- The first program that gives something else than a plain loop, and what it gives.
local function differing(first, last, expected, results)
  for number = first, last do
    local result = assert(results[number], "no result")
    if result ~= expected[number] and not result:find "^DEP" then return number, result end
  end
end

local function compare(generator, random)
  local most = random.group or MANY
  local last = seed + count - 1
  local expected, accepted = run_all(generator, seed, last, most, "plain"), 0
  for k, road in ipairs(ROADS) do
    local to = math.min(last, seed + math.ceil(count * road[4]) - 1)
    local results = run_all(generator, seed, to, math.min(road[3], most), road[2], road[1])
    local number, result = differing(seed, to, expected, results)
    assert(not number, number and ("MEISSA_TEST_SEED=%d MEISSA_NAMES=1, %s MEISSA_WORKERS=%s:"
      .. "\n%s, not\n%s\n%s"):format(number, road[1], road[2], result, expected[number],
        random.text(number)))
    for each = seed, k == 1 and to or 0 do
      if results[each] == expected[each] then accepted = accepted + 1 end
    end
  end
  print(("seed %d: %d programs, %d accepted"):format(seed, count, accepted))
  assert(count < 30 or accepted >= count / 3, "too many are refused")
end

--- Adds the tests of a generator, spec/NAME_random.lua, and of its mutants, spec/NAME_mutants.lua.
-- @func it the spec's
function M.test(generator, it)
  local random = require("spec.capture." .. generator .. "_random")
  local mutants = require("spec.capture." .. generator .. "_mutants")

  it("give the same on all roads, or are refused", function() compare(generator, random) end)

  local names = {}
  for name in pairs(mutants) do names[#names + 1] = name end
  table.sort(names)
  local expected = {}
  for _, name in ipairs(names) do
    it("find it out where it is forgotten that " .. name, function()
      local found
      for first = 0, 299, FEW do
        local last = first + FEW - 1
        if not expected[first] then run(generator, expected, first, last, "plain") end
        found = differing(first, last, expected,
          run(generator, {}, first, last, "1", "MEISSA_ENGINE=lua", name))
        if found then break end
      end
      assert(found, "not found within 300 programs")
      print(("program %d, where it is forgotten that %s"):format(found, name))
    end)
  end
end

return M
