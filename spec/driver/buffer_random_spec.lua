-- SPDX-License-Identifier: MIT
-- Random loops with buffers against a serial run of the same text over plain tables, on every road
-- and both engines. Where blocks and stages begin is taken from what the loop itself saw, as in
-- buffer_spec.lua. MEISSA_TEST_SEED replays, MEISSA_BUFFER_LOOPS says how many loops.
local meissa = require "meissa"
local plain = require "spec.support.plain"
local random = require "spec.driver.buffer_random"

local seed = require "spec.support.seed"
local LOOPS = tonumber(os.getenv "MEISSA_BUFFER_LOOPS") or 8

local ROADS = {}
for _, workers in ipairs {1, 2, 3, 5} do
  ROADS[#ROADS + 1] = {workers = workers}
  ROADS[#ROADS + 1] = {workers = workers, shm = false}
end

local make, on_workers, RULES, ROWS = random.make, random.run, random.RULES, random.ROWS

-- Rows of plain tables that the text takes for those of a sparse array.
local function plain_rows(X)
  local rows = {} -- equal columns in the order of the entries
  for i, j, value in X:each() do
    rows[i] = rows[i] or {}
    table.insert(rows[i], {j, value, #rows[i]})
  end
  local function before(a, b)
    if a[1] ~= b[1] then return a[1] < b[1] end
    return a[3] < b[3]
  end
  for _, row in pairs(rows) do table.sort(row, before) end
  return setmetatable({}, {__index = function(_, i)
    return {nonzeros = function()
      local row, k = rows[i] or {}, 0
      return function()
        k = k + 1
        if row[k] then return row[k][1], row[k][2] end
      end
    end}
  end})
end

local function zeros(m)
  local list = {}
  for k = 1, m do list[k] = 0 end
  return list
end

-- Merges what blocks have put into a vector, as the manual says.
local function merge(vector, pendings, rule, helper)
  for _, pending in ipairs(pendings) do
    for k, g in ipairs(pending) do
      if g ~= 0 and rule then
        local new, more = rule(vector[k], g, helper and helper[k])
        vector[k] = new
        if helper and more then helper[k] = more end
      elseif g ~= 0 then
        vector[k] = vector[k] + g
      end
    end
  end
end

-- The serial run, with the blocks and stages that `ran` saw: the arrays w, z and v.
local function as_written(case, ran)
  local made = make(meissa, case)
  local w, z, v, count = made.w:totable(), made.z:totable(), made.v:totable(), {0}
  local wb, vb, counts = zeros(case.m), {}, {0}
  for r = 1, ROWS do vb[r] = zeros(case.m) end
  local rule, left = RULES[case.rule], {}
  local function end_block()
    local block = {w = {unpack(wb)}, count = counts[1], v = {}}
    for r = 1, ROWS do block.v[r] = {unpack(vb[r])} end
    left[#left + 1] = block
    counts[1] = 0
    for k = 1, case.m do
      wb[k] = 0
      for r = 1, ROWS do vb[r][k] = 0 end
    end
  end
  local function end_stage()
    local ws, vs = {}, {{}, {}, {}}
    for b, block in ipairs(left) do
      ws[b], count[1] = block.w, count[1] + block.count
      for r = 1, ROWS do vs[r][b] = block.v[r] end
    end
    merge(w, ws, rule, case.rule == "adaptive" and z or nil)
    for r = 1, ROWS do merge(v[r], vs[r]) end
    for k = 1, case.m do made.w[k] = w[k] end -- rounds
    for k, value in ipairs(made.w:totable()) do w[k] = value end
    left = {}
  end
  local function iterate()
    return coroutine.wrap(function()
      for i = 1, case.n do
        if i > 1 and ran.before[i] == 0 then end_block() end
        if i > 1 and ran.seen[i] ~= ran.seen[i - 1] then end_stage() end
        coroutine.yield(i)
      end
    end)
  end
  local x, idx = made.x:totable(), made.idx:totable()
  assert(loadstring(case.text))(iterate, case.n, case.m, w, v, wb, vb, x, idx, plain_rows(made.X),
    {}, count, counts, {}, {}, {})
  end_block()
  end_stage()
  return w, z, v
end

describe("random loops with buffers", function()
  teardown(function() meissa.init {} end)

  local cases, expected, checked = {}, {}, {}
  math.randomseed(seed)
  for k = 1, LOOPS do cases[k] = random.case() end

  for _, road in ipairs(ROADS) do
    local name = ("%d workers%s"):format(road.workers, road.shm == false and ", by value" or "")
    it(("seed %d, %s"):format(seed, name), function()
      meissa.init(road)
      for k, case in ipairs(cases) do
        for _, engine in ipairs {"native", "lua"} do
          local ran = on_workers(meissa, case, {engine = engine, grid = case.grid})
          assert.equal(engine, ran.engine)
          local got = plain.numbers(ran.w:totable(), ran.z:totable(), ran.v:totable())
          if not checked[k] then
            checked[k] = true
            assert.equal(plain.numbers(as_written(case, ran)), got, case.text)
          end
          got = got .. plain.numbers(ran.sum, ran.seen:totable(), ran.before:totable())
          expected[k] = expected[k] or got
          assert.is_true(expected[k] == got, name .. ", " .. engine .. "\n" .. case.text)
          assert.equal(case.n, ran.count[1])
        end
      end
    end)
  end
end)
