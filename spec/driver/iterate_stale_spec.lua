-- SPDX-License-Identifier: MIT
--
-- What rounds may see under each setting of meissa.iterate: elements hold the round that made them,
-- so the body sees how old what it reads is.
local meissa = require "meissa"
local expect = require "spec.support.expect"

local N, T, RANGES = 48, 40, 6

-- Runs rounds of which some ranges take longer now and then. The greatest lag, and how much newer
-- than the round before what was read was; whether each element's own value was of that round.
local function run(options)
  local A = meissa.zeros {N}
  local old, new, own, noise = 0, 0, 0, 0
  options.ranges = RANGES
  for t, j in meissa.iterate(A, T, options) do
    local left, right, mine = 0, 0, t - 1 - A[j]
    if j > 1 then left = t - 1 - A[j - 1] end
    if j < N then right = t - 1 - A[j + 1] end
    if left > old then old = left end
    if right > old then old = right end
    if left < new then new = left end
    if right < new then new = right end
    if mine ~= 0 then own = own + 1 end
    local x = 0
    if (j + t) % 16 < 3 then for k = 1, 2000 do x = x + math.sqrt(k) end end
    noise = noise + x
    A[j] = t
  end
  assert.equal(N * T, A:sum())
  assert.equal(0, own)
  return old, -new
end

-- {options, the most that reads lag behind the round before, the most that they are ahead}
local SETTINGS = {
  {{}, 0, 0}, {{depth = 3}, 0, 0}, {{depth = 1}, 0, 0}, {{sync = "data-centric"}, 0, 0},
  {{sync = "bsp"}, 0, 0}, {{sync = "bsp-2barrier"}, 0, 0}, {{sync = "pd-delay"}, 0, 0},
  {{sync = "ssp"}, 0, 0}, {{staleness = 1}, 1, 0}, {{staleness = 3}, 3, 0},
  {{staleness = 3, depth = 5}, 3, 0}, {{sync = "pd-delay", staleness = 2}, 2, 2},
  {{sync = "ssp", staleness = 2}, 2, 2}, {{sync = "async"}, T, T}, {{staleness = math.huge}, T, T},
  {{sync = "notify-ack"}, 0, 0}, {{sync = "notify-ack", depth = 4}, 0, 0},
  {{sync = "notify-ack", depth = 1}, 0, 0}, {{sync = "barrier"}, 0, 1},
}

local function words(options)
  local list = {}
  for name, value in pairs(options) do list[#list + 1] = name .. "=" .. tostring(value) end
  table.sort(list)
  return table.concat(list, " ")
end

describe("what rounds see", function()
  teardown(function() meissa.init {} end)

  for _, each in ipairs {{0, true}, {1, true}, {2, true}, {5, true}, {3, false}} do
    local workers, shm = each[1], each[2]
    it(("is within the window (%d workers, shm %s)"):format(workers, tostring(shm)), function()
      meissa.init {workers = workers, shm = shm}
      for _, setting in ipairs(SETTINGS) do
        local where = words(setting[1])
        local old, new = run(setting[1])
        assert.is_true(old <= setting[2], where .. " lags " .. old)
        assert.is_true(new <= setting[3], where .. " is ahead " .. new)
      end
    end)
  end

  -- The first range takes long in every 8th round.
  local function lag_of(staleness)
    local A, worst = meissa.zeros {8}, 0
    for t, j in meissa.iterate(A, 32, {staleness = staleness, ranges = 2}) do
      local lag = t - 1 - A[9 - j]
      if j > 4 and lag > worst then worst = lag end
      local x = 0
      if j == 1 and t % 8 == 0 then for k = 1, 8000000 do x = x + math.sqrt(k) end end
      A[j] = t + 0 * x
    end
    return worst
  end

  it("never passes the bound when one range falls behind", function()
    meissa.init {workers = 2}
    for _, staleness in ipairs {0, 1, 3} do assert.is_true(lag_of(staleness) <= staleness) end
  end)

  -- The second range is far behind when the first one fails; whose later rounds are left out.
  it("are rounds that were made, when another range has failed", function()
    for way, options in ipairs {{sync = "async"}, {sync = "ssp", staleness = 30},
                            {sync = "async"}} do
      meissa.init {workers = 2, quiet = true, shm = way < 3}
      options.ranges = 2
      local A, last = meissa.zeros(2), meissa.zeros(2)
      local ok, err = pcall(meissa.iterate, A, T, options, function(t, j)
        if j == 2 then
          local x = 0
          for k = 1, 300000 do x = x + math.sqrt(k) end
          if x > 0 and (A[1] > 30 or A[1] < last[j]) then error("never made") end
          last[j] = A[1]
        elseif t == 31 then
          error("as it should")
        end
        A[j] = t
      end)
      assert.is_false(ok)
      expect.has(tostring(err), "as it should")
    end
  end)

  it("is told of in the report", function()
    meissa.init {workers = 2}
    local A = meissa.zeros {N}
    local function report(options)
      options.dry, options.ranges = true, RANGES
      return tostring(meissa.iterate(A, T, options, function(t, j)
        A[j] = t + (j > 1 and A[j - 1] or 0)
      end))
    end
    expect.has(report {}, "a range reads at most 2 of 6", "2 versions, 768 bytes",
               "every read is of the round before")
    expect.has(report {staleness = 2}, "6 versions", "up to 2 rounds older than the one before")
    expect.has(report {sync = "bsp"}, "a barrier after each round")
    local near, far = meissa.zeros({N}, {type = "int32"}), meissa.zeros({N}, {type = "int32"})
    for j = 1, N do near[j], far[j] = math.min(j + 2, N), N + 1 - j end
    local function readers(indices)
      return meissa.iterate(A, T, {dry = true, ranges = RANGES}, function(_, j)
        A[j] = 0.5 * A[indices[j]]
      end).readers
    end
    assert.equal(2, readers(near))
    assert.equal(1, readers(far))
    assert.equal(RANGES, meissa.iterate(A, T, {dry = true, ranges = RANGES}, function(t, j)
      A[j] = 0.5 * A[near[(j + t) % N + 1]] -- others in each round
    end).readers)
    local plan = meissa.iterate(A, T, {dry = true}, function(t, j) A[j] = t + A:sum() end)
    expect.has(tostring(plan), "each range reads all (line ")
  end)

  it("refuses what does not go together", function()
    local A = meissa.ones(10)
    local function refused(text, options)
      expect.has(expect.refusal(meissa.iterate, A, 3, options, function(t, j) A[j] = t end), text)
    end
    refused("is one: leave out staleness", {sync = "async", staleness = 2})
    refused("is the same as sync = \"async\"", {sync = "ssp", staleness = math.huge})
    refused("too few versions", {staleness = 1, depth = 1})
    refused("is never stale", {sync = "bsp", staleness = 1})
    refused("leave out depth", {sync = "bsp", depth = 2})
    refused("option 'sync'", {sync = "notify-ak"})
    refused("is never stale", {sync = "notify-ack", staleness = 1})
    refused("leave out depth", {sync = "barrier", depth = 2})
    refused("option 'staleness'", {staleness = -1})
    refused("option 'staleness'", {staleness = 0.5})
    refused("option 'depth'", {depth = 0})
  end)
end)
