-- SPDX-License-Identifier: MIT
-- Random bodies: kernel and plain loop give the same bits, compiled and interpreted.
-- MEISSA_TEST_SEED=n replays a run, MEISSA_TEST_COUNT=n sets how many bodies it has.
local bodies = dofile("spec/kernel/random.lua")
local run = dofile("spec/kernel/run.lua")

local seed = require "spec.support.seed"
local count = tonumber(os.getenv("MEISSA_TEST_COUNT") or "") or 400

describe("random bodies (MEISSA_TEST_SEED=" .. seed .. ")", function()
  it("agree with the plain loop", function()
    local space = { ranges = { { 1, 9 } } }
    for number = 1, count do
      local text = bodies.generate(seed * 1000 + number)
      local ok, difference = pcall(run.compare, text, bodies.world, function() return space end,
        { pieces = 1 })
      if not ok or difference then
        error(("body %d of seed %d: %s\n%s"):format(number, seed, tostring(difference), text), 0)
      end
    end
  end)
end)
