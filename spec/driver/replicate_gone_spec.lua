-- SPDX-License-Identifier: MIT
--- Models of handles that the program has no more are dropped, wherever they are; those of handles
-- that it has stay, however many others there were.
local child = require "spec.support.child"
local meissa = require "meissa"

local REPLICAS, SIZE = 4, 200000

-- A handle on models of so many numbers, trained by one loop.
local function train(build)
  local r = meissa.replicate(build, {replicas = REPLICAS, every = 5,
                                     params = function(m) return m.w end})
  for e in meissa.parallel(20) do
    local m = r()
    m.w[e] = m.w[e] + 1
    m.seen = (m.seen or 0) + 1
  end
  return r
end

local function resident(pid)
  local text = child.read(("/proc/%s/status"):format(pid))
  return tonumber(text:match "VmRSS:%s+(%d+)") / 1024
end

describe("models of replicas", function()
  teardown(function() meissa.init {} end)

  for workers = 0, 2, 2 do
    it(("take no more memory with each handle that is gone, with %d workers"):format(workers),
       function()
      meissa.init {workers = workers}
      local pids, before
      for run = 1, 60 do
        train(function() return {w = meissa.zeros(SIZE)} end)
        collectgarbage()
        collectgarbage()
        if run == 10 then
          pids, before = {"self", unpack(meissa.workers().pids)}, {}
          for n, pid in ipairs(pids) do before[n] = resident(pid) end
        end
      end
      -- Models of 50 handles have 320 MB in all. The collector looks for those that have gone when
      -- arrays have 64 MB more than twice what they had after it was there last.
      assert.equal(1 + workers, #pids)
      for n, pid in ipairs(pids) do assert.is_true(resident(pid) - before[n] < 100, pid) end
    end)

    it(("stay with theirs, whatever comes after, with %d workers"):format(workers), function()
      meissa.init {workers = workers}
      local r = train(function() return {w = meissa.zeros(30)} end)
      for _ = 1, 70 do train(function() return {w = meissa.zeros(30)} end) end
      local seen = meissa.zeros(REPLICAS)
      for e in meissa.parallel(REPLICAS) do
        local m = r()
        m.w[e] = 0
        seen[e] = m.seen
      end
      for k = 1, REPLICAS do assert.equal(20 / REPLICAS, seen[k]) end
    end)
  end
end)
