-- SPDX-License-Identifier: MIT
--
-- The analyser against brute force on random loops over packed triangles and other subscripts that
-- are quadratic in indices, written out, counted up or by a helper: all distances at which
-- iterations touch one element are among those that it tells, and what it calls serial has some.
-- MEISSA_TEST_SEED replays a run, MEISSA_PACKED changes its length.
local analyze = require "meissa.analyze"
local row_major = require "spec.support.row_major"
local seed = require "spec.support.seed"
local affines = require "spec.depend.affine"

local COUNT = tonumber(os.getenv "MEISSA_PACKED" or "") or 1200

-- Where a row x begins; most have a row of x elements, or of n - x.
local ROWS = {
  "X*(X-1)/2", "X*(X-1)/2", "(X-1)*X/2", "X*(X+1)/2", "(X-1)*(X-2)/2", "X*(X-1)*0.5", "X/2*(X-1)",
  "0.5*X*X - X/2", "math.floor(X*(X-1)/2)", "bit.rshift(X*X + X, 1)", "(X-1)*n - X*(X-1)/2",
  "(X-1)*n - X*(X-1)/2", "n*X - X*(X+1)/2", "X*X", "-(X*X)", "2*X*X - X", "X*X/4", "X*X/2",
  "X*X - (X-1)*(X-1)", "half(X*(X-1))", "math.floor(X*X/2)", "math.floor(X/2)",
}

local function row(rng, names)
  local x = rng:pick(names)
  local roll = rng:int(1, 100)
  if roll <= 25 then x = ("(%s %s)"):format(x, rng:pick {"- 1", "+ 1", "- 2", "+ 2"}) end
  if roll > 90 then x = ("(n + %d - %s)"):format(rng:int(0, 1), x) end
  if roll > 85 and roll <= 90 then x = ("(%s + %s)"):format(x, rng:pick(names)) end
  return (rng:pick(ROWS):gsub("X", x))
end

local function place(rng, names, inner)
  local text = row(rng, names)
  if inner then text = ("%s + %s"):format(text, inner) end
  if rng:chance(15) then text = ("%s + %d"):format(text, rng:int(-2, 2)) end
  return ("P[%s]"):format(text)
end

-- The ends of an inner loop.
local function ends(rng, names)
  local x = rng:pick(names)
  return rng:pick {"1, X", "1, X", "1, X", "1, X - 1", "X, n", "X, n", "X + 1, n", "1, X + 1",
    "X, 1, -1", "1, n - X", "2, X, 2", "1, X, 2", "X, 2, -3"}:gsub("X", x)
end

local function guard(rng, names)
  local a, b = rng:pick(names), rng:pick(names)
  return ("%s %s %s"):format(a, rng:pick {"<=", "<", ">=", "=="}, rng:chance(70) and b or
    rng:int(1, 4))
end

local function assignment(rng, names, inner)
  local value = {"1"}
  for k = 1, rng:int(0, 2) do value[k] = place(rng, names, inner) end
  return ("%s = %s"):format(place(rng, names, inner), table.concat(value, " + "))
end

-- An inner loop with its counter.
local function counted(rng, names)
  local first = row(rng, names)
  local body = rng:pick {"p = p + 1 P[p] = R", "P[p] = R p = p + 1", "p = p - 1 P[p] = R",
    "p = p + 1 if j > 2 then P[p] = R end", "p = p + 1 for k = 1, j do P[p + k] = R end"}
  body = body:gsub("R", rng:chance(50) and "1" or (place(rng, names, "j"):gsub("%%", "%%%%")))
  local after = rng:chance(20) and "P[p + 1] = 2" or ""
  return ("local p = %s for j = %s do %s end %s"):format(first, ends(rng, names), body, after)
end

local function plain(rng, names)
  local body = assignment(rng, names, "j")
  local inside = {"j", unpack(names)}
  if rng:chance(20) then body = ("if %s then %s end"):format(guard(rng, inside), body) end
  if rng:chance(15) then
    body = ("for k = %s do %s end"):format(ends(rng, inside),
      assignment(rng, {"k", unpack(inside)}, rng:pick {"k", "j"}))
  end
  return ("for j = %s do %s end"):format(ends(rng, names), body)
end

-- A row from its first element to its last, or nearly so.
local function from_end_to_end(rng, names)
  local first, x, y = row(rng, names), rng:pick(names), rng:int(0, 1)
  local last = ("%s + %s + %d"):format(first, x, rng:pick {0, 0, 0, y, -1})
  if rng:chance(30) then last = row(rng, names) end
  local body = rng:pick {"P[p] = R", "P[p] = P[p] + P[p - 1]", "q = q + 1 P[q] = R", "Q[p + q] = R"}
  body = body:gsub("R", rng:chance(60) and "1" or (place(rng, names, "1"):gsub("%%", "%%%%")))
  local step = rng:pick {1, 1, 1, 2, -1}
  first = first .. " + 1"
  if step < 0 then first, last = last, first end
  return ("local q = %s for p = %s, %s, %d do %s end"):format(x, first, last, step,
    body:gsub("Q", "P"))
end

local function bounds(rng, n)
  local first, last = rng:int(1, 2), n
  local step = rng:pick {1, 1, 1, 1, 2, -1}
  if step < 0 then first, last = last, first end
  return ("{%d, %d, %d}"):format(first, last, step)
end

local function loop_of(rng)
  local n = rng:int(4, 7)
  local dims, names, body = 1, {"i"}
  if rng:chance(40) then
    dims, names = 2, {"i", "j"}
    body = assignment(rng, names, rng:pick {"j", "j", "i"})
    if rng:chance(80) then body = ("if %s then %s end"):format(guard(rng, names), body) end
  else
    body = rng:pick {counted, plain, counted, plain, from_end_to_end}(rng, names)
    if rng:chance(10) then body = body .. " " .. assignment(rng, names) end
  end
  local spaces = {}
  for d = 1, dims do spaces[d] = bounds(rng, n) end
  return {n = n, names = names, body = body,
    text = ("for %s in parallel(%s) do %s end"):format(table.concat(names, ", "),
      table.concat(spaces, ", "), body),
    spaces = assert(loadstring("return {" .. table.concat(spaces, ", ") .. "}"))()}
end

local function half(x) return x / 2 end

-- What each iteration reads and writes: {[element] = {{iteration, written}, ...}}.
local function touches_of(loop, all)
  local touched, now = {}, nil
  local function note(k, written)
    touched[k] = touched[k] or {}
    table.insert(touched[k], {now, written})
  end
  local P = setmetatable({}, {
    __index = function(_, k)
      note(k, false)
      return 0
    end,
    __newindex = function(_, k) note(k, true) end})
  local run = setfenv(assert(loadstring(("return function(%s) %s end"):format(
    table.concat(loop.names, ", "), loop.body))), {P = P, math = math, bit = bit, n = loop.n,
      half = half})()
  for number in ipairs(all) do
    now = number
    run(unpack(all[number]))
  end
  return touched
end

-- The distances, later minus earlier iteration in steps, as a set of "1,0".
local function distances_of(loop)
  local all, found = row_major(loop.spaces), {}
  for _, list in pairs(touches_of(loop, all)) do
    for a = 1, #list do
      for b = a + 1, #list do
        local one, other = all[list[a][1]], all[list[b][1]]
        if list[a][1] ~= list[b][1] and (list[a][2] or list[b][2]) then
          local d = {}
          for k, space in ipairs(loop.spaces) do d[k] = (other[k] - one[k]) / space[3] end
          found[table.concat(d, ",")] = d
        end
      end
    end
  end
  return found
end

local function component_fits(pattern, value)
  if pattern == "*" then return true end
  if pattern == "+" then return value > 0 end
  if pattern == "-" then return value < 0 end
  return pattern == value
end

local function fits(pattern, d)
  for k = 1, #d do
    if not component_fits(pattern[k], d[k]) then return false end
  end
  return true
end

local function is_told(patterns, d)
  for _, pattern in ipairs(patterns) do
    if fits(pattern, d) then return true end
  end
  return false
end

-- What is wrong with a plan, or nil; whether the loop is free of conflicts.
local function compare(loop, plan)
  local found = distances_of(loop)
  for text, d in pairs(found) do
    if not is_told(plan.distances, d) then return ("distance (%s) is not told"):format(text) end
  end
  if plan.verdict == "serial" and next(found) == nil then return "nothing collides" end
  local witness = plan.reasons[1] and plan.reasons[1].witness
  if plan.verdict == "serial" and witness then
    local d = {}
    for k, space in ipairs(loop.spaces) do d[k] = (witness.to[k] - witness.from[k]) / space[3] end
    if not found[table.concat(d, ",")] then return "the witness does not collide" end
  end
  return nil, next(found) == nil
end

local function plan_of(loop, text)
  return analyze.analyze(text or loop.text, {P = analyze.shape(100000), math = math, bit = bit,
    n = loop.n, half = half}, {ordered = true})
end

describe("the analyser, on random packed triangles", function()
  it("agrees with enumeration", function()
    local free, known, serial = 0, 0, 0
    for number = seed, seed + COUNT - 1 do
      local loop = loop_of(affines.random(number))
      local plan = plan_of(loop)
      local problem, is_free = compare(loop, plan)
      assert(not problem, problem and ("seed %d: %s: %s %s: %s"):format(number, problem,
        plan.strategy, plan.verdict, loop.text))
      if is_free then
        free = free + 1
        if plan.strategy == "independent" then known = known + 1 end
      elseif plan.verdict == "serial" then
        serial = serial + 1
      end
    end
    print(("seed %d: %d of %d loops without conflicts are known to be, %d are serial"):format(seed,
      known, free, serial))
    assert.is_true(COUNT < 1000 or known > free * 0.6 and serial > COUNT / 20)
  end)
end)
