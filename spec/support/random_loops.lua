-- SPDX-License-Identifier: MIT
--- Random affine loops, run one after the other: prints for each its seed, the strategy, and a
-- digest of all arrays. Each is run twice, with other captured values the second time.
--   luajit random_loops.lua plain|meissa|check SEED COUNT [guarded]
local meissa = require "meissa"
local conditions = require "spec.depend.conditions"
local enumeration = require "spec.depend.enumeration"
local plain = require "spec.support.plain"
local random = require "spec.depend.random"
local touches = require "spec.depend.touches"
local entries_of = require("meissa.base.tables").each

touches.forgets = false

local mode, first, count, guarded = arg[1], tonumber(arg[2]), tonumber(arg[3]), arg[4] ~= nil

local DIMS = {A = 1, B = 1, C = 2, D = 2, E = 3}

local ROUNDS = {{on = true, off = false, here = 1}, {on = false, off = true, here = 3}}

-- The least and the greatest subscript of a loop in any round.
local function reach_of(loop)
  local least, greatest = math.huge, -math.huge
  local function touch(_, element)
    for k = 1, #element do
      if element[k] ~= "*" then
        least, greatest = math.min(least, element[k]), math.max(greatest, element[k])
      end
    end
  end
  for _, captured in ipairs(ROUNDS) do
    conditions.captured = captured
    for _, iteration in ipairs(enumeration.iterations(loop)) do
      loop.touch(iteration.values, touch)
    end
  end
  conditions.captured = ROUNDS[1]
  if least > greatest then return 1, 1 end
  return least, greatest
end

-- The loop of a seed with subscripts from 1, and the extent of its arrays. In every fourth one with
-- conditions there may be more of them than are followed exactly.
local function loop_of(seed)
  conditions.most = guarded and seed % 4 == 0 and 40 or 8
  local least, greatest = reach_of(random.loop(seed, 0, guarded))
  -- A look-up gives 1 to 4.
  return random.loop(seed, 1 - least, guarded), math.max(greatest - least + 1, 4)
end

-- Most elements of an array.
local MOST = 2e6

local function world(seed, extent, text)
  local env, rng = {p = {}}, random.random(seed)
  for name, dims in entries_of(DIMS) do
    local shape = {}
    for d = 1, dims do shape[d] = extent end
    if text:find(name .. "[", 1, true) then
      if extent ^ dims > MOST then return nil end
      env[name] = meissa.rand(shape, {seed = seed, scale = 0.1})
    end
  end
  for key = -2000, 2000 do env.p[key] = rng:int(1, 4) end
  return env
end

local function with_order(text, ordered)
  local option = "ordered = " .. tostring(ordered) .. (mode == "check" and ", check = true" or "")
  local changed, times = text:gsub("{(collapse = %d)}", "{%1, " .. option .. "}", 1)
  if times == 0 then changed = text:gsub("%) do", ", {" .. option .. "}) do", 1) end
  return changed
end

-- Whether an error says that the loop may not run in parallel, DEP, or leaves an array, ARR.
local function is_error(err, code)
  return type(err) == "table" and err.code == code
end

-- One round; what is refused runs as it is written.
local function round(loop, text, env)
  local parallel = mode == "plain" and plain.parallel or meissa.parallel
  local ok, err = pcall(plain.run, text, env, parallel)
  if ok then return mode == "plain" and "-" or meissa.last().strategy end
  if is_error(err, "ARR") then error(err, 0) end
  if not is_error(err, "DEP") then error(("%s\n%s"):format(tostring(err), text), 0) end
  if loop.ordered then plain.run(text, env, plain.parallel) end
  return "refused"
end

local function run(seed)
  local loop, extent = loop_of(seed)
  local text = loop.before .. with_order(loop.text, loop.ordered)
  local env = world(seed, extent, text)
  local order, strategies = loop.ordered and "ordered" or "unordered", {}
  if not env then return order, "large", "" end
  for number, captured in ipairs(ROUNDS) do
    for name, value in entries_of(captured) do env[name] = value end
    local ok, strategy = pcall(round, loop, text, env)
    if not ok and is_error(strategy, "ARR") then return order, "fails", "" end -- however it runs
    if not ok then error(strategy, 0) end
    strategies[number] = strategy
  end
  return order, table.concat(strategies, ","), (plain.image(env))
end

io.stdout:setvbuf "line" -- notices come between
for seed = first, first + count - 1 do
  local told = {pcall(run, seed)}
  if not told[1] then
    error(("MEISSA_TEST_SEED=%d MEISSA_GUARDS=1: %s"):format(seed, tostring(told[2])), 0)
  end
  print(("%d\t%s\t%s\t%s"):format(seed, unpack(told, 2)))
end
