-- SPDX-License-Identifier: MIT
-- What r:exchange keeps of arrays that a replica makes anew in each step: nothing once they are
-- gone, and what it keeps of others stays theirs.
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"

-- What is known of arrays that are gone is looked for now and then: it is held for as many as came
-- since. So there are many looks with few arrays between them.
local N, STEPS, LOOKS = 4000, 6, 20

-- Bytes in arrays and in Lua's own memory that replica 1 has each time when it has exchanged
-- another STEPS new arrays, once or twice each.
local function held(options, how)
  return meissa.replicas(2, {}, function(r)
    local array = require "meissa.array"
    local log = {}
    for t = 1, STEPS * LOOKS do
      local w = how == "view" and meissa.full({2 * N}, t):narrow(1, 1, N) or meissa.full({N}, t)
      local given = how == "list" and {w, meissa.full({N}, t)} or w
      for _ = 1, t % 2 + 1 do r:exchange(given, options) end
      if w[1] ~= t then error("another array's value was taken") end
      if how == "free" then w:free() end
      w, given = nil, nil -- luacheck: ignore
      if t % STEPS == 0 then
        collectgarbage()
        collectgarbage()
        log[#log + 1] = array.bytes_held() + 1024 * collectgarbage("count")
      end
    end
    return log
  end)[1]
end

describe("memory of r:exchange", function()
  teardown(kept_workers.stop)
  after_each(function() kept_workers.init {workers = 2, quiet = true} end)

  for _, count in ipairs {0, 2} do
    for name, case in pairs {
      ["one array"] = {{}}, ["views"] = {{}, "view"}, ["lists"] = {{}, "list"},
      ["arrays that are freed"] = {{}, "free"}, ["filters"] = {{filter = {magnitude = 0.1}}},
      ["functions that merge"] = {{merge = function(own) return own end}},
      ["lags"] = {{lags = {{0, 1}}}},
      ["staleness"] = {{topology = "ring", staleness = 1}},
    } do
      it("goes with arrays: " .. name .. ", " .. count .. " workers", function()
        kept_workers.init {workers = count, quiet = true}
        local log = held(case[1], case[2])
        local half = LOOKS / 2
        local early = math.max(unpack(log, 1, half))
        -- Less than half a vector more for each array of the second half.
        assert.is_true(math.max(unpack(log, half + 1)) - early < 8 * N * STEPS * half / 2)
      end)
    end

    it("is that of arrays which stay, beside such, " .. count .. " workers", function()
      kept_workers.init {workers = count, quiet = true}
      local sums = meissa.replicas(2, {}, function(r)
        local base = meissa.full({4}, r.index)
        for _ = 1, 40 do
          -- A view that is new each time, of an array that stays: what was told stays, too.
          local w = base:narrow(1, 1, 2)
          w:add(1)
          r:exchange(w, {merge = {add = 1}})
          r:exchange(meissa.full({3}, r.index), {})
          collectgarbage()
        end
        return base:sum()
      end)
      assert.are.same({2 * 83 + 2, 2 * 83 + 4}, sums)
    end)
  end

  it("goes with arrays in the driver, too, where posts lie there", function()
    kept_workers.init {workers = 2, quiet = true}
    local function resident(pid)
      for line in io.lines("/proc/" .. pid .. "/status") do
        local kb = string.match(line, "^VmRSS:%s+(%d+)")
        if kb then return 1024 * tonumber(kb) end
      end
    end
    local pid = io.open("/proc/self/stat"):read("*n")
    local pause = collectgarbage("setpause", 200) -- the driver's garbage is measured, too
    finally(function() collectgarbage("setpause", pause) end)
    local log = meissa.replicas(2, {}, function(r)
      local log = {}
      for t = 1, 120 do
        local w = meissa.full({40000}, t)
        for _ = 1, 3 do r:exchange(w, {topology = "ring", staleness = 1}) end
        w:free()
        if t % 60 == 0 then log[#log + 1] = resident(pid) end
      end
      return log
    end)[1]
    -- What is written of the rows for each step would be more than 30 MB.
    assert.is_true(log[2] - log[1] < 10e6)
  end)

  it("is kept by nobody after the last one has gone", function()
    kept_workers.init {workers = 0, quiet = true}
    local array = require "meissa.array"
    collectgarbage()
    collectgarbage()
    local before = array.bytes_held()
    meissa.replicas(2, {}, function(r)
      for _ = 1, 5 do r:exchange(meissa.full({N}, 1), {topology = "ring", staleness = 1}) end
    end)
    collectgarbage()
    collectgarbage()
    assert.is_true(array.bytes_held() - before < 8 * N)
  end)
end)
