-- SPDX-License-Identifier: MIT
-- time limit: 300 s
-- Any order, but always the same one: training on real ratings gives the same bits for every number
-- of workers, over shared memory or by value, over ipc or tcp, and in this process.
local child = require "spec.support.child"

local FILES = {"W.npy", "H.npy", "scaled.npy"}

local function train(environment)
  local where = child.directory()
  local output, status = child.shell(("%s luajit spec/support/mf.lua %s %s"):format(
    environment, "spec/data/ml-latest-small.ratings.csv.gz", where), 60)
  local result = {output = output, status = status}
  for _, name in ipairs(FILES) do result[name] = child.read(where .. "/" .. name) end
  child.remove(where)
  return result
end

describe("training on MovieLens ratings", function()
  local expected

  setup(function()
    expected = train("MEISSA_WORKERS=1")
    assert(expected.status == 0, expected.output)
  end)

  local function same_as_one_worker(environment)
    local result = train(environment)
    assert.equal(0, result.status, result.output)
    assert.equal(expected.output, result.output)
    for _, name in ipairs(FILES) do
      assert.is_true(#result[name] > 1000)
      assert.is_true(expected[name] == result[name], name .. " differs with " .. environment)
    end
  end

  it("learns", function()
    local first, second = expected.output:match("^(%S+) %S+\n(%S+)")
    assert.is_true(tonumber(second) < tonumber(first))
  end)

  for _, workers in ipairs {1, 2, 3, 5} do
    for _, shm in ipairs {1, 0} do
      for _, transport in ipairs {"ipc", "tcp"} do
        local environment = ("MEISSA_WORKERS=%d MEISSA_SHM=%d MEISSA_TRANSPORT=%s"):format(
          workers, shm, transport)
        it(environment, function() same_as_one_worker(environment) end)
      end
    end
  end

  it("MEISSA_WORKERS=0", function() same_as_one_worker("MEISSA_WORKERS=0") end)
end)
