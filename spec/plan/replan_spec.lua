-- SPDX-License-Identifier: MIT
--
-- A plan never depends on which instance of its loop was met before: a driver loop's plans, made
-- one after the other for many numbers and ranges, are those of the loop met for the first time.
-- MEISSA_TEST_SEED replays a run.

local meissa = require "meissa"
local tables = require "meissa.base.tables"

local seed = require "spec.support.seed"
local N, LOOPS, INSTANCES = 40, 25, 30

-- Most loops that people write name their index alone.
local SUBSCRIPTS = { "i", "i", "i", "i", "i", "k", "i + k", "i - k", "2 * i + k", "k * i", "j",
  "i + m", "i % k + 1", "math.floor(i / k) + 1", "n - i + 1", "k + 1" }

local function access(pick)
  local array = ({ "A", "B", "C" })[pick(3)]
  local first, second = SUBSCRIPTS[pick(#SUBSCRIPTS)], SUBSCRIPTS[pick(#SUBSCRIPTS)]
  return ("%s[%s][%s]"):format(array, first, second)
end

-- A loop's text with numbers k, m and n, over i and j or with an inner loop over j.
local function text_of(pick)
  local lines = {}
  for s = 1, pick(3) do
    lines[s] = ("      %s = %s + %s"):format(access(pick), access(pick),
      pick(3) == 1 and "k" or access(pick))
  end
  if pick(4) == 1 then lines[#lines + 1] = "      s = s + i * m" end
  local body = table.concat(lines, "\n")
  local inner = pick(2) == 1 and "j = k + 1, n" or "j = 1, m"
  local over = pick(2) == 1 and "{ordered = false}, function(i, j)" or "function(i, j)"
  local loop = pick(2) == 1 and ("{1, n}, %s\n%s\n"):format(over, body) or
    ("function(i)\n    for %s do\n%s\n    end\n"):format(inner, body)
  return ([[
local meissa, A, B, C = ...
return function(k, m, n, lo, hi, step)
  local s = 0
  local plan = meissa.plan({lo, hi, step}, %s  end)
  return plan, s
end]]):format(loop)
end

-- What a plan says, as plain data without what it belongs to.
local function plain(value, seen)
  local handle = type(value) == "userdata" or type(value) == "cdata"
  if type(value) ~= "table" then return handle and "handle" or value end
  if seen[value] then return "seen" end
  seen[value] = true
  local copy = {}
  for key, each in tables.each(value) do
    if key ~= "record" and key ~= "kernels" and key ~= "kind" then
      copy[key] = plain(each, seen)
    end
  end
  seen[value] = nil
  return copy
end

describe("plans of a driver loop (seed " .. seed .. ")", function()
  it("are those of the loop met for the first time", function()
    math.randomseed(seed)
    local pick, strategies = math.random, {}
    local A, B, C = meissa.zeros({N, N}), meissa.zeros({N, N}), meissa.zeros({N, N})
    for round = 1, LOOPS do
      local text = text_of(pick)
      local replanned = assert(loadstring(text))(meissa, A, B, C)
      for instance = 1, INSTANCES do
        local k, m, n = pick(N), pick(5), pick(N)
        if pick(3) == 1 then n = N end
        local lo, hi, step = pick(N), pick(N), pick(4) == 1 and -1 or 1
        if pick(2) == 1 then lo, hi, step = k + 1, n, 1 end
        local plan = replanned(k, m, n, lo, hi, step)
        -- A line more makes it another text: nothing is known of it.
        local other = assert(loadstring(text .. ("\n-- %d"):format(instance)))
        local fresh = other(meissa, A, B, C)(k, m, n, lo, hi, step)
        local what = ("round %d, instance %d, k = %d, m = %d, n = %d, {%d, %d, %d}\n%s"):format(
          round, instance, k, m, n, lo, hi, step, text)
        assert.are.same(plain(fresh, {}), plain(plan, {}), what)
        strategies[plan.strategy] = (strategies[plan.strategy] or 0) + 1
      end
    end
    local kinds = 0
    for _ in tables.each(strategies) do kinds = kinds + 1 end
    assert.is_true(kinds >= 3)
    assert.is_true(strategies.serial < LOOPS * INSTANCES * 0.9)
  end)
end)
