-- SPDX-License-Identifier: MIT
--
-- Workers are killed at random moments while jobs run: each job has the right bits, soon.
-- MEISSA_TEST_SEED replays a run.

local support = require "spec.driver.support"

local ROWS, COLUMNS, RANGES = 200, 100, 8
local SECONDS = 1.5

local seed = require "spec.support.seed"

local kernel = support.prelude .. [[
local operands, given = ...
local w, ws = vector(operands[1], "double")
local h, hs = vector(operands[2], "double")
local a, b = given.a, given.b
return function(block, ra, rb)
  for i = a[ra + 1] - 1, a[ra + 2] - 2 do
    for j = b[rb + 1] - 1, b[rb + 2] - 2 do
      local x, y = w[i * ws], h[j * hs]
      w[i * ws], h[j * hs] = x * 0.9 + y * 0.1, y * 0.8 + x * 0.15
    end
  end
  return tostring(block)
end
]]

local a, a_vector = support.starts(ROWS, RANGES)
local b, b_vector = support.starts(COLUMNS, RANGES)

local function run(session)
  local w, h = support.array({ROWS}, 5), support.array({COLUMNS}, 6)
  local outcome, err = session:run {
    key = "chaos", kernel = kernel, run = support.encode {a = a, b = b},
    strategy = "rotate", ranges = {RANGES, RANGES},
    bounds = {support.pointer(a_vector), support.pointer(b_vector)},
    operands = support.operands {
      w:operand {movement = "local", written = true, along = 1, cut = 1},
      h:operand {movement = "rotated", written = true, along = 1, cut = 2},
    },
  }
  assert.is_nil(err and err.message)
  return w:bytes() .. h:bytes(), outcome.notices or ""
end

describe("workers that are killed at random (seed " .. seed .. ")", function()
  for _, road in ipairs(support.roads) do
    it("cost nothing but time (" .. road.name .. ")", function()
      math.randomseed(seed)
      local session = assert(support.session {
        workers = 3, transport = road.transport, shm = road.shm,
      })
      local right = run(session)
      local finish, redone, worst = support.now() + SECONDS, 0, 0
      while support.now() < finish do
        local pid = session:pids()[math.random(3)]
        if pid and math.random() < 0.5 then
          os.execute(("(sleep 0.00%d; kill -9 %d) 2>/dev/null &"):format(math.random(0, 6), pid))
        end
        local from = support.now()
        local bytes, notices = run(session)
        worst = math.max(worst, support.now() - from)
        assert.is_true(bytes == right)
        if notices:find("run again", 1, true) or notices:find("nothing is lost", 1, true) then
          redone = redone + 1
        end
      end
      session:stop()
      assert.is_true(redone > 0)
      assert.is_true(worst < 2)
    end)
  end
end)
