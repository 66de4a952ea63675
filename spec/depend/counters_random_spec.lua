-- SPDX-License-Identifier: MIT
--
-- The analyser against brute force on random loops whose locals are counted in inner loops that
-- run as often as indices, remainders, quotients and extremes of them say: what it calls
-- independent has no two iterations that touch one element, one of them writing, and what it
-- calls serial has. MEISSA_TEST_SEED replays a run, MEISSA_COUNTERS changes its length.
local analyze = require "meissa.analyze"
local seed = require "spec.support.seed"
local affines = require "spec.depend.affine"

local COUNT = tonumber(os.getenv "MEISSA_COUNTERS" or "") or 1500
local STEPS, ADDED = {1, 1, 1, -1, -1, 2, 2, -2, 3}, {1, 1, -1, 2, -3}

local function sum(rng, names)
  local terms = {tostring(rng:int(-3, 6))}
  for _, name in ipairs(names) do
    if rng:chance(60) then terms[#terms + 1] = ("%d * %s"):format(rng:int(-2, 3), name) end
  end
  return table.concat(terms, " + ")
end

-- An end of an inner loop.
local function bound(rng, names)
  local roll = rng:int(1, 100)
  if roll <= 15 then return ("(%s) %% %d"):format(sum(rng, names), rng:int(2, 4)) end
  if roll <= 25 then return ("math.floor((%s) / %d)"):format(sum(rng, names), rng:int(2, 3)) end
  if roll <= 35 then return ("math.max(%s, %s)"):format(sum(rng, names), sum(rng, names)) end
  return sum(rng, names)
end

local function with(first, names)
  local all = {unpack(first)}
  for _, name in ipairs(names) do all[#all + 1] = name end
  return all
end

local statement -- recursive

local function block(rng, names, depth)
  local lines = {}
  for k = 1, rng:int(1, 2) do lines[k] = statement(rng, names, depth) end
  return table.concat(lines, " ")
end

local function inner_loop(rng, names, depth)
  local name = "j" .. depth + 1
  local inner = with({name}, names)
  local body = block(rng, inner, depth + 1)
  local count = ("p = p %s %d"):format(rng:pick {"+", "+", "-"}, rng:pick(ADDED))
  if rng:chance(30) then count = ("q = %d + q"):format(rng:pick(ADDED)) end
  if rng:chance(5) then count = ("%s if %s > 2 then break end"):format(count, sum(rng, inner)) end
  if rng:chance(50) then count, body = body, count end
  if count:find "break end$" then count = "do " .. count .. " end" end
  local first, last = bound(rng, names), bound(rng, names)
  if rng:chance(20) then first, last = tostring(rng:int(-2, 3)), tostring(rng:int(-1, 6)) end
  return ("for %s = %s, %s, %d do %s %s end"):format(name, first, last, rng:pick(STEPS), body,
    count)
end

function statement(rng, names, depth)
  local roll = rng:int(1, 100)
  if roll <= 50 and depth < 2 then return inner_loop(rng, names, depth) end
  if roll <= 60 then return ("if %s > 1 then p = p + 1 end"):format(sum(rng, names)) end
  if roll <= 66 then return ("local r = (%s) %% %d"):format(sum(rng, names), rng:int(2, 4)) end
  if roll <= 70 then return "p = " .. sum(rng, names) end
  local all = with({"p", "q"}, names)
  local read = rng:chance(40) and ("A[%s]"):format(sum(rng, all)) or "1"
  return ("A[%s] = %s"):format(sum(rng, all), read)
end

-- Whether two iterations touch one element, and one of them writes it.
local function collides(body, n)
  local now, found, writer, reader = 0, false, {}, {}
  local function of(list, k)
    return list[k] ~= nil and list[k] ~= now
  end
  local A = setmetatable({}, {
    __index = function(_, k)
      found = found or of(writer, k)
      reader[k] = of(reader, k) and -1 or now
      return 0
    end,
    __newindex = function(_, k)
      found = found or of(writer, k) or of(reader, k)
      writer[k] = now
    end})
  local run = setfenv(assert(loadstring("return function(i) " .. body .. " end")),
    {A = A, math = math})()
  for i = 1, n do
    now = i
    run(i)
  end
  return found
end

describe("the analyser, on random counters", function()
  it("agrees with enumeration", function()
    local free = 0
    for number = seed, seed + COUNT - 1 do
      local rng = affines.random(number)
      local n = rng:int(3, 6)
      local body = ("local p, q = %s, %s %s A[%d * i + p] = 1"):format(sum(rng, {"i"}),
        sum(rng, {"i"}), block(rng, {"i"}, 0), rng:int(-3, 6))
      local text = ("for i in parallel(%d) do %s end"):format(n, body)
      local plan = analyze.analyze(text, {A = analyze.shape(100000), math = math}, {ordered = true})
      local found = collides(body, n)
      local told = ("MEISSA_TEST_SEED=%d MEISSA_COUNTERS=1: %s: %s"):format(number, plan.strategy,
                                                                            text)
      if plan.strategy == "independent" then
        free = free + 1
        assert(not found, told)
      end
      assert(plan.verdict ~= "serial" or found, told)
    end
    assert.is_true(free > COUNT / 5 or COUNT < 1000)
  end)
end)
