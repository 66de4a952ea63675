-- SPDX-License-Identifier: MIT
-- A worker that nobody asks for anything collects what bodies have left; who asks does not wait.
local child = require "spec.support.child"
local idle_collection = require "meissa.worker.idle_collection"

-- A worker whose driver says something once it has been asked so many times, and with which ms.
local function worker_of(times)
  local worker = {asked = {}}
  function worker:rest(ms)
    self.asked[#self.asked + 1] = ms
    return #self.asked <= times
  end
  return worker
end

local function litter()
  local lost = setmetatable({}, {__mode = "v"})
  for k = 1, 60000 do lost[k] = {k} end
  return lost
end

describe("a worker without a job", function()
  before_each(function()
    idle_collection.await(worker_of(math.huge))
    collectgarbage("stop")
  end)
  after_each(function() collectgarbage("restart") end)

  it("collects what was left, once nothing came for a while", function()
    local lost, worker = litter(), worker_of(math.huge)
    idle_collection.await(worker)
    assert.is_nil(next(lost))
    assert.is_true(worker.asked[1] > 0 and #worker.asked > 10)
    for k = 2, #worker.asked do assert.equal(0, worker.asked[k]) end
  end)

  it("does not end by what finalizers raise", function()
    local proxy, count = newproxy(true), 0
    getmetatable(proxy).__gc = function() count = count + 1 error "raised" end
    for _ = 1, 10 do newproxy(proxy) end
    proxy = nil -- luacheck: ignore
    local lost = litter()
    idle_collection.await(worker_of(math.huge))
    idle_collection.await(worker_of(math.huge))
    assert.is_nil(next(lost))
    collectgarbage()
    assert.is_true(count > 0)
  end)

  it("looks for little", function()
    local worker = worker_of(math.huge)
    idle_collection.await(worker)
    assert.equal(0, #worker.asked)
  end)

  it("leaves it when something comes, and goes on later", function()
    local lost, first, second = litter(), worker_of(0), worker_of(5)
    idle_collection.await(first)
    idle_collection.await(second)
    assert.truthy(next(lost))
    assert.equal(1, #first.asked)
    assert.equal(6, #second.asked)
    local last = worker_of(math.huge)
    idle_collection.await(last)
    assert.is_nil(next(lost))
    assert.equal(0, last.asked[1])
  end)
end)

it("a job that comes at any time meanwhile is run", function()
  for _, env in ipairs {"", "MEISSA_SHM=0"} do
    local output = child.script([[
      local meissa = require "meissa"
      local ffi = require "ffi"
      ffi.cdef "int usleep(unsigned);"
      local A, right = meissa.zeros(200), 0
      for round = 1, 80 do
        local list = {}
        for i in meissa.parallel(200) do
          local made = {}
          for k = 1, 100 do made[k] = {k} end
          A[i] = A[i] + #made
          list[i] = "x" .. i
        end
        right = right + (A[200] == 100 * round and list[200] == "x200" and 1 or 0)
        ffi.C.usleep(round * 53 % 4000)
      end
      print("right", right)]], {env = "MEISSA_WORKERS=2 " .. env})
    assert.equal("right\t80\n", output)
  end
end)
