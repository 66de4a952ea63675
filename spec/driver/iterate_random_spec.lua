-- SPDX-License-Identifier: MIT
--
-- Random programs in rounds have the bits of plain loops with a snapshot, wherever they run.
-- MEISSA_TEST_SEED replays a run, MEISSA_ROUNDS says how many.
local meissa = require "meissa"
local programs = require "spec.driver.iterate_random"
local rounds = require "spec.support.rounds"
local seed = require "spec.support.seed"

local COUNT = tonumber(os.getenv "MEISSA_ROUNDS") or 24
local ENVIRONMENTS = {{0, true}, {1, true}, {2, true}, {4, true}, {2, false}, {3, false}}

describe(("%d random programs in rounds (seed %d)"):format(COUNT, seed), function()
  local list = {}

  setup(function()
    math.randomseed(seed)
    for k = 1, COUNT do
      local program = programs.program()
      program.plain = rounds.run(rounds.plain_text(program), program.world())
      list[k] = program
    end
  end)

  teardown(function() meissa.init {} end)

  for _, each in ipairs(ENVIRONMENTS) do
    local where = ("%d workers, shm %s"):format(each[1], tostring(each[2]))
    it("have the bits of plain loops, " .. where, function()
      meissa.init {workers = each[1], shm = each[2]}
      for k, program in ipairs(list) do
        program.options = ("{ranges = %d, depth = %d, engine = %q}"):format(k % 7 + 1, k % 3 + 2,
          (k + each[1]) % 12 == 0 and "native" or "lua")
        local text = rounds.iterate_text(program)
        local ok, world = pcall(rounds.run, text, program.world())
        assert.is_true(ok, ("program %d: %s\n%s"):format(k, tostring(world), text))
        for _, name in ipairs(program.arrays) do
          assert.equal(rounds.bits(program.plain[name]), rounds.bits(world[name]),
                       ("program %d, %s:\n%s"):format(k, name, text))
        end
        program.sum = program.sum or world.sum
        assert.equal(program.sum, world.sum, text)
      end
    end)
  end
end)
