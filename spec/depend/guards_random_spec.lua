-- SPDX-License-Identifier: MIT
-- Random loops with conditions, piecewise subscripts, jumps and counters, each with two sets of
-- captured values: what they do is what the recorder sees predicted, and leaves the bits of the
-- loop as written (ordered) or of the plan's serial order (unordered). The seed is printed;
-- MEISSA_TEST_SEED replays it, MEISSA_GUARDS changes how many loops there are.
local child = require "spec.support.child"
local seed = require "spec.support.seed"

local count = tonumber(os.getenv "MEISSA_GUARDS" or "") or 300
local SHARE = 500 -- loops of one process

-- Calls each(number, order, strategies, image) for loops that run in one way.
local function run(mode, environment, first, last, each)
  local output, status = child.shell(
    ("%s luajit spec/support/random_loops.lua %s %d %d guarded"):format(environment, mode, first,
                                                                      last - first + 1), 300)
  assert(status == 0, output)
  local pattern = "(%d+)\t(%a+)\t(%S+)\t([^\n]*)\n"
  for number, order, strategies, image in output:gmatch(pattern) do
    each(tonumber(number), order, strategies, image)
  end
end

local function results_of(mode, environment, first, last)
  local list = {}
  run(mode, environment, first, last, function(number, order, strategies, image)
    list[number] = {order = order, strategies = strategies, image = image}
  end)
  return list
end

local function compare(first, last, kinds)
  local written = results_of("plain", "MEISSA_WORKERS=0", first, last)
  local serial = results_of("meissa", "MEISSA_WORKERS=0", first, last)
  -- As machine code a part of them: compilers take their time.
  local few = first + math.ceil((last - first + 1) / 10) - 1
  local ways = {{"check", "MEISSA_WORKERS=2", last},
                {"meissa", "MEISSA_WORKERS=3 MEISSA_SHM=0 MEISSA_ENGINE=lua", last},
                {"meissa", "MEISSA_WORKERS=2 MEISSA_ENGINE=native", few}}
  for _, way in ipairs(ways) do
    local results = results_of(way[1], way[2], first, way[3])
    for number = first, way[3] do
      local result = results[number]
      local right = (result.order == "ordered" and written or serial)[number]
      local words = ("MEISSA_TEST_SEED=%d MEISSA_GUARDS=1, %s: "):format(number, way[2])
      assert.are.equal(serial[number].strategies, result.strategies, words .. "another plan")
      assert.are.equal(right.image, result.image, words .. "another result")
      assert.are.equal(written[number].strategies == "fails", result.strategies == "fails", words)
      for strategy in result.strategies:gmatch "[^,]+" do
        kinds[strategy] = (kinds[strategy] or 0) + 1
      end
    end
  end
end

describe("random loops with conditions", function()
  it("do what is predicted, and leave the same bits however they run", function()
    local kinds, told = {}, {}
    for first = seed, seed + count - 1, SHARE do
      compare(first, math.min(first + SHARE, seed + count) - 1, kinds)
    end
    for kind, times in pairs(kinds) do told[#told + 1] = times .. " " .. kind end
    table.sort(told)
    print(("seed %d: %s"):format(seed, table.concat(told, ", ")))
    if count < 300 then return end
    for _, kind in ipairs {"independent", "partition", "wavefront", "refused"} do
      assert.is_truthy(kinds[kind], kind)
    end
  end)
end)
