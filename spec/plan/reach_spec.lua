-- SPDX-License-Identifier: MIT
-- Sweeps wait for the ranges that distances reach, and for no others: random stencils in time,
-- whose results are those of plain loops, whose waits `check = true` finds enough, and which have
-- the reach that their offsets say. The seed is printed; MEISSA_TEST_SEED replays it.
local meissa = require "meissa"
local plain = require "spec.support.plain"
local seed = require "spec.support.seed"

local PROGRAMS = tonumber(os.getenv "MEISSA_STENCILS") or 40

local env = setmetatable({parallel = meissa.parallel}, {__index = _G})

-- A stencil: time steps over `n` points in `ranges` ranges, with rows for every step or two that
-- take turns, read at random offsets. Every third point is heavy, so that blocks do not keep step.
local function draw()
  local stencil = {n = math.random(12, 60), steps = math.random(3, 12),
                   ranges = math.random(3) == 1 and 2 or math.random(3, 12),
                   rotating = math.random(2) == 1}
  stencil.offsets = {-math.random(4), math.random(4)} -- with one side alone it is a wavefront
  for k = 3, math.random(2, 4) do stencil.offsets[k] = math.random(-4, 4) end
  return stencil
end

local function text_of(stencil, options)
  local to, from = "t + 1", "t"
  if stencil.rotating then to, from = "t % 2 + 1", "(t + 1) % 2 + 1" end
  local terms = {}
  for k, o in ipairs(stencil.offsets) do
    terms[k] = string.format("%d * A[%s][i + %d]", k + 1, from, o + 4)
  end
  return string.format([[
for t, i in parallel(steps, n, %s) do
  local s = 0
  for k = 1, i %% 3 * 200 do s = s + k end
  A[%s][i + 4] = (%s + s %% 7) %% 1000
end]], options, to, table.concat(terms, " + "))
end

-- Runs a stencil over an array; gives it back.
local function run(stencil, parallel, options)
  local rows = stencil.rotating and 2 or stencil.steps + 1
  local A = meissa.zeros(rows, stencil.n + 8)
  for r = 1, rows do for i = 1, stencil.n + 8 do A[r][i] = (r * 31 + i * 17) % 101 end end
  env.parallel, env.A, env.n, env.steps = parallel, A, stencil.n, stencil.steps
  setfenv(assert(loadstring(text_of(stencil, options))), env)()
  return A, rows
end

-- How far ranges reach down and up: by offsets of reads of what earlier iterations wrote, and where
-- rows take turns by those of writes over what earlier ones read.
local function reach_of(stencil)
  local furthest = {0, 0}
  for _, o in ipairs(stencil.offsets) do
    furthest[1], furthest[2] = math.max(furthest[1], -o), math.max(furthest[2], o)
    if stencil.rotating then
      furthest[1], furthest[2] = math.max(furthest[1], o), math.max(furthest[2], -o)
    end
  end
  local reach = {}
  for side = 1, 2 do
    local ranges = 1 + math.ceil(furthest[side] / math.floor(stencil.n / stencil.ranges))
    reach[side] = ranges < stencil.ranges and ranges or 0
  end
  return reach
end

for _, road in ipairs {"shared", "value"} do
  describe("ranges of a sweep, " .. road .. ",", function()
    setup(function() meissa.init {workers = 3, shm = road == "shared"} end)
    teardown(function() meissa.init {} end)

    it("wait as far as distances reach", function()
      print("MEISSA_TEST_SEED=" .. seed)
      math.randomseed(seed)
      local narrow, wide = 0, 0
      for number = 1, PROGRAMS do
        local stencil = draw()
        local grid = string.format("{grid = {%d}, check = %s}", stencil.ranges, number % 2 == 0)
        local expected, rows = run(stencil, plain.parallel, grid)
        local A = run(stencil, meissa.parallel, grid)
        for r = 1, rows do
          for i = 1, stencil.n + 8 do
            assert(A[r][i] == expected[r][i], text_of(stencil, grid))
          end
        end
        local last = meissa.last()
        assert.equal("hyperplane", last.strategy)
        assert.same(reach_of(stencil), last.cut.reach, text_of(stencil, grid))
        if last.cut.reach[1] > 0 then narrow = narrow + 1 else wide = wide + 1 end
      end
      print(narrow .. " with a limit, " .. wide .. " without")
      assert.is_true(narrow > PROGRAMS / 5 and wide > PROGRAMS / 20)
    end)
  end)
end
