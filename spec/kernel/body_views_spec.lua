-- SPDX-License-Identifier: MIT
-- Views that a body forms itself, by select, narrow, transpose, subscripts and ranges: the analyser
-- knows their elements exactly. Random bodies are compared with the elements that the views then
-- have. The seed is printed; MEISSA_TEST_SEED replays a run.
local meissa = require "meissa"
local seed = require "spec.support.seed"

local parallel = meissa.parallel
local EXTENT, ITERATIONS, BODIES = 5, 3, 600

local POSITIONS = {"i", "i + 1", "i + 2", "4 - i", "2 * i - 1", "1", "2", "3"}

-- Some are negative, and count from the end, in all iterations or in some of them.
local ENDS = {"i", "i + 1", "4 - i", "2", "-1", "-2", "-i", "i - 6", "2 * i - 3", "3 - 2 * i",
              "(math.max(i - 5, -3))"}

-- A list of subscripts with ranges, and how many dimensions it leaves of three.
local function random_list(random)
  local keys, left = {}, 3
  for d = 1, random(3) do
    local kind, first = random(8), ENDS[random(#ENDS)]
    if kind <= 3 then
      keys[d], left = POSITIONS[random(#POSITIONS)], left - 1
    elseif kind <= 5 then
      keys[d] = ("{%s}"):format(first)
    elseif kind <= 7 then
      keys[d] = ("{%s, %s}"):format(first, ENDS[random(#ENDS)])
    else
      keys[d] = "{}"
    end
  end
  return "T[{" .. table.concat(keys, ", ") .. "}]", left
end

-- A random expression for a part of T, and how many dimensions the part has.
local function random_part(random)
  if random(3) == 1 then return random_list(random) end
  local text, left = "T", 3
  for _ = 1, random(1, 4) do
    local position, kind = POSITIONS[random(#POSITIONS)], random(4)
    if kind == 1 and left > 1 then
      text, left = ("%s[%s]"):format(text, position), left - 1
    elseif kind == 2 and left > 1 then
      text, left = ("%s:select(%d, %s)"):format(text, random(left), position), left - 1
    elseif kind == 3 then
      local length = random(3) == 1 and "i" or random(2)
      text = ("%s:narrow(%d, %s, %s)"):format(text, random(left), position, length)
    elseif kind == 4 and left > 1 then
      text = ("%s:transpose(%d, %d)"):format(text, random(left), random(left))
    end
  end
  if random(2) == 1 then
    for _ = 1, left do text = ("%s[%s]"):format(text, POSITIONS[random(#POSITIONS)]) end
    left = 0
  end
  return text, left
end

-- The numbers of the elements that a part has in each iteration; nil if some are outside.
local function elements_of(part, left)
  local T, sets = meissa.zeros(EXTENT, EXTENT, EXTENT), {}
  local code = "local T, i = ... " .. part .. (left > 0 and ":fill(1)" or " = 1")
  for i = 1, ITERATIONS do
    T:fill(0)
    if not pcall(assert(loadstring(code)), T, i) then return nil end
    sets[i] = {}
    for a, b, c, value in T:each() do
      if value == 1 then sets[i][(a * 10 + b) * 10 + c] = true end
    end
  end
  return sets
end

local function meets(written, touched)
  for i = 1, ITERATIONS do
    for j = 1, ITERATIONS do
      for element in pairs(i ~= j and written[i] or {}) do
        if touched[j][element] then return true end
      end
    end
  end
  return false
end

local function random_body(random)
  while true do
    local target, target_left = random_part(random)
    local source, source_left = random_part(random)
    local written, read = elements_of(target, target_left), elements_of(source, source_left)
    if written and read then
      local text = ("for i in parallel(%d) do local e = %s local x = %s %s end"):format(ITERATIONS,
        source_left > 0 and source or 0, source_left > 0 and "e:sum()" or source,
        target_left > 0 and target .. ":fill(x)" or target .. " = x")
      return text, meets(written, written) or meets(written, read)
    end
  end
end

describe("views that a body forms", function()
  it("have the elements that the analyser says", function()
    local T = meissa.zeros(EXTENT, EXTENT, EXTENT)
    math.randomseed(seed)
    local free = 0
    for _ = 1, BODIES do
      local text, collides = random_body(math.random)
      local strategy = meissa.analyze(text, {T = T}).strategy
      assert.are.equal(not collides, strategy == "independent",
                       ("MEISSA_TEST_SEED=%d: %s: %s"):format(seed, text, strategy))
      free = free + (collides and 0 or 1)
    end
    assert.is_true(free > BODIES / 20 and free < BODIES * 19 / 20, "" .. free)
  end)

  it("are written in parallel, with the bits of the plain loop, on every road", function()
    finally(function() meissa.init {} end)
    for _, how in ipairs {{workers = 0}, {workers = 2}, {workers = 2, shm = false}} do
      meissa.init(how)
      local T, S = meissa.rand({6, 40}, {seed = 1}), meissa.rand({6, 40}, {seed = 1})
      for f in parallel(40) do
        T:select(2, f):scal(f)
        local column = T:transpose()[f]
        for k = 2, 6 do column[k] = column[k] + column[k - 1] end
        T:narrow(2, f, 1):select(2, 1):add(1)
      end
      assert.are.equal("independent", meissa.last().strategy)
      for f = 1, 40 do
        for k = 1, 6 do S[k][f] = S[k][f] * f end
        for k = 2, 6 do S[k][f] = S[k][f] + S[k - 1][f] end
        for k = 1, 6 do S[k][f] = S[k][f] + 1 end
      end
      assert.are.same(S:totable(), T:totable())
    end
  end)

  it("stay with the range of the loop that they follow", function()
    local T = meissa.zeros(5, 7)
    for f in parallel(7) do T:select(2, f):fill(f) end
    assert.are.equal("local", meissa.last().arrays.T.placement)
    local ok, err = pcall(function()
      for f in parallel(6) do T:select(2, f):copy(T:select(2, f + 1)) end
    end)
    assert.are.same({false, "DEP"}, {ok, err.code})
    assert.is_truthy(tostring(err):find("writes T[1][2]", 1, true), tostring(err))
  end)
end)
