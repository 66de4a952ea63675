-- SPDX-License-Identifier: MIT
--
-- Analyser, schedule and execution against the recorder, on random programs. The seed is printed;
-- MEISSA_TEST_SEED replays it, MEISSA_PROGRAMS changes how many programs there are.

local meissa = require "meissa"
local mutants = require "spec.check.programs_mutants"
local random = require "spec.check.programs_random"
local run = require "spec.check.programs_run"
local texts = require "spec.check.programs_text"

local count = tonumber(os.getenv("MEISSA_PROGRAMS") or "") or 500
local seed = require "spec.support.seed"

-- The report of a failure, with the program as small as it gets.
local function report(number, problem, kind)
  local program = random.program(number)
  texts.shrink(program, function(smaller)
    local _, other = run.examine(smaller, nil, true)
    return other == kind
  end)
  return ("MEISSA_TEST_SEED=%d MEISSA_PROGRAMS=1: %s: %s\nafter shrinking: %s\n%s"):format(
    number, kind, problem, tostring(run.examine(program, nil, true)), texts.of(program))
end

describe("random programs", function()
  setup(function() meissa.init { workers = 2 } end)
  teardown(function() meissa.init {} end)

  it("do what their plans predict, and the same on two workers", function()
    local answers, invalid, number = {}, 0, seed - 1
    -- The generator must keep reaching every kind of answer; rare ones may take more programs.
    local function misses()
      for _, answer in ipairs { "independent", "partition", "rotate", "wavefront",
        "hyperplane", "serial" } do
        if not answers[answer] then return answer end
      end
    end
    while number < seed + count - 1 or count >= 500 and misses() and number < seed + 4 * count do
      number = number + 1
      local problem, kind, plan = run.examine(random.program(number), nil, true)
      assert(not problem, problem and report(number, problem, kind))
      if kind == "invalid" then
        invalid = invalid + 1
      else
        answers[plan.strategy] = (answers[plan.strategy] or 0) + 1
      end
    end
    local list = {}
    for answer, times in pairs(answers) do list[#list + 1] = times .. " " .. answer end
    table.sort(list)
    print(("seed %d: %d programs, %d invalid; %s"):format(seed, count, invalid,
      table.concat(list, ", ")))
    if count >= 500 then
      assert.is_true(invalid < count / 20)
      assert.is_nil(misses())
    end
  end)
end)

describe("the recorder", function()
  for name, make in pairs(mutants.list) do
    it("catches: " .. name, function()
      local changed, caught = 0, nil
      for number = 1, 500 do
        local noted = false
        local mutant = make(function() noted = true end)
        local problem, kind = run.examine(random.program(number), mutant, false)
        if noted then changed = changed + 1 end
        if noted and problem and (not mutant.kinds or mutant.kinds[kind]) then
          caught = number
          break
        end
      end
      assert.is_truthy(caught, ("not caught in %d programs that it changed"):format(changed))
    end)
  end
end)
