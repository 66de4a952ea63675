-- SPDX-License-Identifier: MIT
-- Random affine loops on workers against the loop as written (ordered) and the plan's serial order
-- (unordered), on the Lua engine, and every tenth as machine code. The seed is printed;
-- MEISSA_TEST_SEED replays a run, MEISSA_TEST_COUNT changes its length.
local child = require "spec.support.child"

local seed = require "spec.support.seed"
local count = tonumber(os.getenv("MEISSA_TEST_COUNT") or "") or 200

-- {[seed] = {order =, strategy =, arrays =}} of so many loops.
local function run(mode, environment, loops)
  local output, status = child.shell(("%s luajit spec/support/random_loops.lua %s %d %d"):format(
    environment, mode, seed, loops or count), 30 + count / 5)
  assert(status == 0, output)
  local results = {}
  for number, order, strategy, arrays in output:gmatch("(%d+)\t(%a+)\t(%S+)\t([^\n]*)\n") do
    results[tonumber(number)] = {order = order, strategy = strategy, arrays = arrays}
  end
  return results
end

describe("random loops", function()
  it("leave the same bits, however they run", function()
    local written = run("plain", "MEISSA_WORKERS=0")
    local serial = run("meissa", "MEISSA_WORKERS=0")
    local kinds, told = {}, {}
    for environment, loops in pairs {
      ["MEISSA_WORKERS=2 MEISSA_SHM=1 MEISSA_ENGINE=lua"] = count,
      ["MEISSA_WORKERS=3 MEISSA_SHM=0 MEISSA_ENGINE=lua"] = count,
      ["MEISSA_WORKERS=2 MEISSA_ENGINE=native"] = math.ceil(count / 10),
    } do
      local results = run("meissa", environment, loops)
      for number = seed, seed + loops - 1 do
        local result = results[number]
        local right = (result.order == "ordered" and written or serial)[number]
        for kind in result.strategy:gmatch "[^,]+" do kinds[kind] = (kinds[kind] or 0) + 1 end
        assert(result.arrays == right.arrays,
               ("MEISSA_TEST_SEED=%d MEISSA_TEST_COUNT=1, %s: another result as %s"):format(
                 number, environment, result.strategy))
      end
    end
    for kind, times in pairs(kinds) do told[#told + 1] = times .. " " .. kind end
    table.sort(told)
    print(("seed %d: %s"):format(seed, table.concat(told, ", ")))
    assert.is_true(count < 100 or (kinds.partition or 0) > 0)
  end)
end)
