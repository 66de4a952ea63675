-- SPDX-License-Identifier: MIT
--
-- Memory that goes away in the driver goes away in its workers, mapped or copied.

local child = require "spec.support.child"

local HEAD = [[
local WARM = 40 -- rounds: workers keep some copies for a while
local meissa = require "meissa"
local parallel = meissa.parallel
require("meissa.driver.small").most[0] = 0 -- all loops run on workers, from the first one on

-- The largest address space of a worker in KiB, and the most descriptors.
local function largest()
  local space, descriptors = 0, 0
  for _, pid in ipairs(meissa.workers().pids) do
    local status = io.open("/proc/" .. pid .. "/status")
    space = math.max(space, tonumber(status:read("*a"):match("VmSize:%s*(%d+)")))
    status:close()
    local list = io.popen("ls /proc/" .. pid .. "/fd | wc -l")
    descriptors = math.max(descriptors, list:read("*n"))
    list:close()
  end
  return space, descriptors
end

-- Runs `round`, which takes about 1 MB, often; prints by how many MiB and descriptors a worker grew
-- after the first few.
local function watch(round)
  for _ = 1, WARM do round() end
  local space, descriptors = largest()
  for _ = 1, 60 do round() end
  local space_after, descriptors_after = largest()
  print(("grown by %.0f MiB, %d descriptors"):format((space_after - space) / 1024,
                                                     descriptors_after - descriptors))
end
]]

for _, road in ipairs {"MEISSA_SHM=1", "MEISSA_SHM=0", "MEISSA_SHM=0 MEISSA_TRANSPORT=tcp"} do
  describe("workers (" .. road .. ")", function()
    -- Workers have the kernel, which they hold by a descriptor, from the first round on.
    -- AddressSanitizer keeps what is freed in a quarantine, by default of 256 MiB.
    local env = "MEISSA_WORKERS=2 MEISSA_ENGINE=native " ..
                "ASAN_OPTIONS=$ASAN_OPTIONS:quarantine_size_mb=1 " .. road

    local function steady(code)
      local output = child.script(HEAD .. code, {env = env})
      local space, descriptors = output:match("grown by (%-?%d+) MiB, (%-?%d+) descriptors")
      assert.truthy(space, output)
      assert.is_true(tonumber(space) < 8, output)
      assert.is_true(tonumber(descriptors) <= 0, output)
    end

    it("do not grow with arrays that are freed", function()
      steady [[
        watch(function()
          local A = meissa.zeros(131072)
          for i in parallel(131072) do A[i] = i end
          A = nil
          collectgarbage()
        end)]]
    end)

    it("do not grow with sparse arrays that are freed", function()
      steady [[
        local file = io.open("entries.csv", "w")
        for e = 1, 20000 do file:write(e % 2000 + 1, ",", e * 7 % 1999 + 1, ",1.5\n") end
        file:close()
        watch(function()
          local R, sum = meissa.read.triples("entries.csv", {sep = ","}), 0
          for i, j, value in parallel(R) do sum = sum + value end
          assert(sum == 30000)
          R = nil
          collectgarbage()
          collectgarbage()
        end)]]
    end)
  end)
end
