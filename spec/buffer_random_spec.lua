-- SPDX-License-Identifier: MIT
-- time limit: 240 s
-- Random loops with buffers against a serial run of the same text over plain tables, on every road
-- and both engines. Where blocks and stages begin is taken from what the loop itself saw, as in
-- buffer_spec.lua. MEISSA_TEST_SEED replays, MEISSA_BUFFER_LOOPS says how many loops.
local meissa = require "meissa"
local plain = require "spec.support.plain"

local seed = require "spec.support.seed"
local LOOPS = tonumber(os.getenv "MEISSA_BUFFER_LOOPS") or 8

local ROADS = {}
for _, workers in ipairs {1, 2, 3, 5} do
  ROADS[#ROADS + 1] = {workers = workers}
  ROADS[#ROADS + 1] = {workers = workers, shm = false}
end

local ROWS = 3 -- of the matrix behind vb

-- Statements of bodies: `wb` buffers the vector w of m elements, `vb` the matrix v; x has n
-- numbers, idx n subscripts of w, X n rows of m columns; s is scratch space.
local STATEMENTS = {
  "wb[idx[i]] = wb[idx[i]] + x[i]",
  "for k = 1, 5 do local p = i * k % m + 1 wb[p] = wb[p] + x[i] * k end",
  "for f, t in X[i]:nonzeros() do wb[f] = wb[f] + t * x[i] end",
  "wb[idx[i]] = wb[idx[i]] + 2 * w[i % m + 1]",
  "vb[i % 3 + 1][idx[i]] = vb[i % 3 + 1][idx[i]] + x[i]",
  "for k = 1, m do if (k + i) % 3 == 0 then vb[1][k] = vb[1][k] + v[2][k] + x[i] end end",
  "for k = 1, 4 do s[k] = x[i] * k end wb[idx[i]] = wb[idx[i]] + s[3]",
  "local p = wb[idx[i]] if p > 2 then wb[idx[i]] = wb[idx[i]] - p end",
}

local TEXT = [[
local parallel, n, m, w, v, wb, vb, x, idx, X, s, count, counts, seen, before, how = ...
local sum = 0
for i in parallel(n, how) do
  seen[i], before[i] = count[1], counts[1]
  counts[1] = counts[1] + 1
  %s
  sum = sum + x[i] * 0.1
end
return sum]]

-- Rules of merging, by name; the ones with a helper array have another result.
local RULES = {
  scaled = function(old, g) return old + 0.5 * g end,
  adaptive = function(old, g, squares)
    local new = squares + g * g
    return old + g / math.sqrt(1 + new), new
  end,
}

local function random_case()
  local case = {n = math.random(1, 900), m = math.random(1, 150), body = {}}
  case.data = math.random(1e6)
  for k = 1, math.random(1, 3) do case.body[k] = STATEMENTS[math.random(#STATEMENTS)] end
  case.text = TEXT:format(table.concat(case.body, "\n  "))
  local types, rules = {"double", "double", "float", "int32"}, {"sum", "scaled", "adaptive"}
  case.type = types[math.random(#types)]
  case.rule = case.type == "int32" and "sum" or rules[math.random(#rules)]
  case.delay = math.random() < 0.5 and math.random(1, case.n) or nil
  case.grid = not case.delay and math.random() < 0.3 and {math.random(1, 70)} or nil
  return case
end

-- The arrays of a case, the same each time.
local function make(case)
  math.randomseed(case.data)
  local n, m, entries = case.n, case.m, {i = {}, j = {}, v = {}}
  local made = {x = meissa.zeros(n), idx = meissa.zeros({n}, {type = "int32"}),
                w = meissa.zeros({m}, {type = case.type}), v = meissa.zeros(ROWS, m),
                z = meissa.ones(m), count = meissa.zeros(1), seen = meissa.zeros(n),
                before = meissa.zeros(n)}
  for i = 1, n do
    made.x[i] = case.type == "int32" and math.random(-3, 3) or math.random() - 0.4
    made.idx[i] = math.random(m)
    for _ = 1, math.random(0, 4) do
      local e = #entries.i + 1
      entries.i[e], entries.j[e], entries.v[e] = i, math.random(m), math.random(-4, 4)
    end
  end
  entries.i[#entries.i + 1], entries.j[#entries.j + 1], entries.v[#entries.v + 1] = n, m, 1
  made.X = meissa.sparse({n, m}, entries)
  return made
end

local function on_workers(case, how)
  local made = make(case)
  local rule = RULES[case.rule]
  local wb = meissa.buffer(made.w, {apply = rule, max_delay = case.delay,
                                    with = case.rule == "adaptive" and made.z or nil})
  local counts, vb = meissa.buffer(made.count), meissa.buffer(made.v)
  made.sum = assert(loadstring(case.text))(meissa.parallel, case.n, case.m, made.w, made.v, wb, vb,
    made.x, made.idx, made.X, meissa.scratch(4), made.count, counts, made.seen, made.before, how)
  made.engine = meissa.last().engine
  return made
end

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
  local made = make(case)
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
  for k = 1, LOOPS do cases[k] = random_case() end

  for _, road in ipairs(ROADS) do
    local name = ("%d workers%s"):format(road.workers, road.shm == false and ", by value" or "")
    it(("seed %d, %s"):format(seed, name), function()
      meissa.init(road)
      for k, case in ipairs(cases) do
        for _, engine in ipairs {"native", "lua"} do
          local ran = on_workers(case, {engine = engine, grid = case.grid})
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
