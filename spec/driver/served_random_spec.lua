-- SPDX-License-Identifier: MIT
-- Random loops that gather, by value: they give what they give serially, and what is sent is what a
-- walk through the body reads.
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"
local plain = require "spec.support.plain"
local random = require "spec.driver.served_random"
local support = require "spec.support.served"

require("meissa.driver.small").most[0] = 0 -- small loops go to workers, too

local SEED = require "spec.support.seed"
print("MEISSA_TEST_SEED=" .. SEED)

describe("random loops that gather", function()
  teardown(kept_workers.stop)
  local n, m, r, c = 60, 400, 50, 6

  local function run(text, env, options)
    env.options = options
    support.run(text, env)
    return support.bits(env.A)
  end

  after_each(function() kept_workers.init {} end)

  -- How many arrays were served in `count` loops, each run three times.
  local function check(count, road, engine)
    local served = 0
    kept_workers.init(road)
    for seed = SEED, SEED + count - 1 do
      local env, draw = random.world(meissa, seed)
      local text = random.loop(seed)
      for pass = 1, 3 do
        local wanted = run(text, env, {serial = true})
        env.A:fill(-1)
        local got = run(text, env, {engine = engine})
        assert.is_true(wanted == got, ("seed %d, pass %d:\n%s"):format(seed, pass, text))
        if road.shm == false then assert.is_true(support.is_listed(meissa.last()), text) end
        random.change(env, pass, draw)
      end
      served = served + (meissa.last().prefetch and #meissa.last().prefetch.arrays or 0)
    end
    return served
  end

  -- An array that counts which of its elements are read: {count =}.
  local function counting(values, seen, columns)
    local function note(k)
      if not seen[k] then seen[k], seen.count = true, seen.count + 1 end
    end
    if not columns then
      return setmetatable({}, {__index = function(_, k)
        note(k)
        return values[k]
      end})
    end
    return setmetatable({}, {__index = function(_, row)
      if type(row) == "table" then
        note((row[1] - 1) * columns + row[2])
        return values[row[1]][row[2]]
      end
      local methods = {sum = function()
        for k = 1, columns do note((row - 1) * columns + k) end
        return values[row]:sum()
      end}
      return setmetatable({}, {__index = function(_, k)
        if methods[k] then return methods[k] end
        note((row - 1) * columns + k)
        return values[row][k]
      end})
    end})
  end

  it("get exactly what a walk through the body reads", function()
    kept_workers.init {workers = 1, shm = false}
    local checked = 0
    for seed = SEED, SEED + 40 do
      local env = random.world(meissa, seed)
      local text = random.loop(seed, true)
      run(text, env, {})
      env.w:fill(seed % 7)
      env.v:fill(seed % 7)
      env.W:fill(seed % 7)
      run(text, env, {}) -- the second time lists pay
      local plan, bytes = meissa.last(), 16 * n -- A goes to the worker and back
      local own = setmetatable({parallel = plain.parallel}, {
        __index = function(_, name) return env[name] or _G[name] end})
      local seen = {w = {count = 0}, v = {count = 0}, W = {count = 0}}
      for name, list in pairs(seen) do
        local served = plan.arrays[name] and plan.arrays[name].placement == "served"
        if served then
          own[name] = counting(env[name], list, name == "W" and c or nil)
          checked = checked + 1
        end
        env[name]:fill(seed % 7 + 0.25)
        local whole = name == "W" and r * c or m
        list.bytes = function()
          if plan.arrays[name] and not served then return 8 * whole end
          return 8 * math.min(list.count, whole)
        end
      end
      setfenv(assert(loadstring(text)), own)()
      for _, list in pairs(seen) do bytes = bytes + list.bytes() end
      run(text, env, {})
      -- A condition on what is itself fetched is not known to the slice: it takes both branches.
      local lists = plan.arrays
      local unknown = lists.idx and lists.idx.placement == "served" or
        lists.jdx and lists.jdx.placement == "served"
      if unknown then
        assert.is_true(bytes <= meissa.last().moved, text)
      else
        assert.equal(bytes, meissa.last().moved, text)
      end
    end
    assert.is_true(checked > 30)
  end)

  for _, road in ipairs {{workers = 1, shm = false}, {workers = 2, shm = false},
                         {workers = 3, shm = false, transport = "tcp"}, {workers = 2}} do
    it("give what they give serially: " .. support.name_of(road), function()
      assert.is_true(check(25, road, "lua") > 10)
      check(10, road, "auto")
    end)
  end
end)
