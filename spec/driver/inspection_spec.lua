-- SPDX-License-Identifier: MIT
-- Loops whose subscripts come from data: proved by inspection where no two iterations meet, refused
-- with two that do where some meet. The oracle is a table of who touched what.
local meissa = require "meissa"
local parallel = meissa.parallel
local seed = require "spec.support.seed"

local N = 40

-- Bodies as text, with what they touch: touch(array's name, subscript, writes).
local BODIES = {
  {"A[p[i]] = A[p[i]] + i", function(i, p, _, touch) touch("A", p[i], true) end},
  {"A[p[i]] = B[q[i]]; B[p[i]] = i", function(i, p, q, touch)
    touch("A", p[i], true) touch("B", q[i], false) touch("B", p[i], true)
  end},
  {"if q[i] % 2 == 0 then A[p[i]] = 1 else B[p[i]] = A[i] end", function(i, p, q, touch)
    if q[i] % 2 == 0 then
      touch("A", p[i], true)
    else
      touch("A", i, false) touch("B", p[i], true)
    end
  end},
  {"for k = p[i], math.min(p[i] + 1, N) do A[k] = A[k] + q[k] end", function(i, p, _, touch)
    for k = p[i], math.min(p[i] + 1, N) do touch("A", k, true) end
  end},
  {"local w = W[p[i]] w:add(i) w[1] = w[2] + W[q[i]]:sum()", function(i, p, q, touch)
    touch("W", p[i], true) touch("W", q[i], false)
  end},
  {"W[p[i]]:add(i) s = s + W[q[i]][2]", function(i, p, q, touch)
    touch("W", p[i], true) touch("W", q[i], false)
  end},
  {"local k = p[i] if k > 3 then k = q[i] end A[k] = i; s = s + A[k]", function(i, p, q, touch)
    touch("A", p[i] > 3 and q[i] or p[i], true)
  end},
  {"local c = p[i] > 9 if c then goto continue end A[q[i]] = i ::continue::",
    function(i, p, q, touch)
      if p[i] <= 9 then touch("A", q[i], true) end
    end},
}

-- Whether two iterations of lo, lo + step .. hi touch an element that one of them writes.
local function meets(body, lo, hi, step, p, q)
  local touched = {}
  for i = lo, hi, step do
    body[2](i, p, q, function(name, at, writes)
      local key = name .. at
      touched[key] = touched[key] or {}
      touched[key][#touched[key] + 1] = {i = i, writes = writes}
    end)
  end
  for _, list in pairs(touched) do
    for _, one in ipairs(list) do
      for _, other in ipairs(list) do
        if one.i ~= other.i and (one.writes or other.writes) then return true end
      end
    end
  end
  return false
end

-- The pairs that may be told of: the first iteration that touches an element which another one has
-- written last, with that one.
local function pairs_told(body, lo, hi, step, p, q)
  local last, told = {}, {}
  for i = lo, hi, step do
    body[2](i, p, q, function(name, at, writes) if writes then last[name .. at] = i end end)
  end
  for i = lo, hi, step do
    body[2](i, p, q, function(name, at)
      local other = last[name .. at]
      if other and other ~= i then
        told[math.min(i, other) .. " " .. math.max(i, other)] = true
      end
    end)
    if next(told) then return told end
  end
  return told
end

-- Fresh arrays, and p and q as integers.
local function world(p, q)
  local int = {type = "int32"}
  local env = {A = meissa.rand({N}, {seed = 1}), B = meissa.rand({N}, {seed = 2}),
               W = meissa.rand({N, 3}, {seed = 3}), p = meissa.zeros({N}, int),
               q = meissa.zeros({N}, int), N = N, s = 0, math = math, parallel = parallel}
  for i = 1, N do env.p[i], env.q[i] = p[i], q[i] end
  return env
end

local function run(body, space, options, env)
  local text = string.format("for i in parallel(%s, %s) do %s end", space, options, body[1])
  local chunk = assert(loadstring(text))
  return pcall(setfenv(chunk, env))
end

local function numbers(env)
  return {env.A:totable(), env.B:totable(), env.W:totable()}
end

describe("inspection", function()
  setup(function() meissa.init {workers = 2} end)
  teardown(function() meissa.init {} end)

  it("accepts what does not meet and refuses what does, with the bits of the loop as written",
     function()
    math.randomseed(seed)
    local random = math.random
    local accepted, refused = 0, 0
    for round = 1, tonumber(os.getenv "MEISSA_INSPECTIONS") or 60 do
      local body = BODIES[random(#BODIES)]
      local p, q = {}, {}
      for i = 1, N do p[i], q[i] = i, i end
      for i = N, 2, -1 do
        local j, k = random(i), random(i)
        p[i], p[j], q[i], q[k] = p[j], p[i], q[k], q[i]
      end
      if random(2) == 1 then p[random(N)] = random(N) end
      if random(3) == 1 then for i = 1, N do q[i] = p[i] end end
      local lo, step = random(3), random(2)
      local hi = lo + step * math.floor((random(lo, N) - lo) / step)
      local space = string.format("{%d, %d, %d}", lo, hi, step)
      local expected, found = world(p, q), world(p, q)
      local options = "{ordered = false, engine = " ..
        (random(2) == 1 and "'lua'}" or "'auto'}")
      assert.is_true(run(body, space, "{serial = true}", expected))
      local ok, err = run(body, space, options, found)
      local told = string.format("seed %d round %d: %s over %s", seed, round, body[1], space)
      assert.equal(not meets(body, lo, hi, step, p, q), ok, told .. ": " .. tostring(err))
      if ok then
        accepted = accepted + 1
        assert.same(numbers(expected), numbers(found), told)
      else
        refused = refused + 1
        assert.truthy(tostring(err):find("DEP101", 1, true), told .. tostring(err))
        local from, to = tostring(err):match("iteration (%d+) touches.-iteration (%d+) touches")
        assert.is_true(pairs_told(body, lo, hi, step, p, q)[from .. " " .. to],
                       told .. tostring(err))
        assert.same(numbers(world(p, q)), numbers(found), told)
      end
    end
    assert.is_true(accepted > 5 and refused > 5)
  end)

  -- Loops over entries, of which some may have equal subscripts: those follow each other.
  local ENTRIES = {
    {"out[p[i]][q[j]] = out[p[i]][q[j]] * 0.5 + v",
     function(i, j, p, q) return p[i] * N + q[j] end},
    {"row[p[i]] = row[p[i]] * 0.5 + v", function(i, _, p) return p[i] end},
    {"row[v] = row[v] + i", function(_, _, _, _, v) return v end},
  }

  it("goes over the entries of sparse arrays, too", function()
    math.randomseed(seed)
    local random, int, proved = math.random, {type = "int32"}, 0
    for round = 1, 40 do
      local body = ENTRIES[random(#ENTRIES)]
      local at, env = {i = {}, j = {}, v = {}}, {N = N, parallel = parallel}
      local order, p, q = {}, meissa.zeros({N}, int), meissa.zeros({N}, int)
      for k = 1, N do order[k], p[k], q[k] = k, N + 1 - k, k end
      for k = N, 2, -1 do
        local other = random(k)
        order[k], order[other] = order[other], order[k]
      end
      for k = 1, N do
        at.i[k], at.j[k], at.v[k] = order[k], random(N), k
      end
      if random(2) == 1 then
        at.i[2], at.j[2], at.v[2] = at.i[1], at.j[1], at.v[1] -- the same entry twice
      end
      if random(3) == 1 then p[random(N)] = random(N) end
      if random(4) == 1 then at.v[random(N)] = random(N) end
      env.S = meissa.sparse({N, N}, at)
      env.p, env.q, env.row = p, q, meissa.rand({N}, {seed = 1})
      env.out = meissa.rand({N, N}, {seed = 2})
      local touched, meet = {}, false
      for k = 1, N do
        local i, j = at.i[k], at.j[k]
        local place = body[2](i, j, p, q, at.v[k])
        local last = touched[place]
        if last and (last[1] ~= i or last[2] ~= j) then meet = true end
        touched[place] = {i, j}
      end
      local before = {env.row:clone(), env.out:clone()}
      local loop = setfenv(assert(loadstring("for i, j, v in parallel(S, {serial = ...}) do " ..
        body[1] .. " end")), env)
      loop(true)
      local wanted = {env.row:totable(), env.out:totable()}
      env.row:copy(before[1])
      env.out:copy(before[2])
      local ok, err = pcall(loop, false)
      local told = string.format("seed %d round %d: %s: %s", seed, round, body[1], tostring(err))
      assert.equal(not meet, ok, told)
      if ok then
        assert.same(wanted, {env.row:totable(), env.out:totable()}, told)
        proved = proved + 1
      end
    end
    assert.is_true(proved > 5 and proved < 40)
  end)

  it("keeps a proof about entries until these change", function()
    local S = meissa.sparse({4, 4}, {i = {1, 2, 3}, j = {1, 2, 3}, v = {1, 2, 3}})
    local out = meissa.zeros(4)
    local function fill()
      for _, _, v in parallel(S) do out[v] = out[v] + 1 end
    end
    fill()
    fill()
    for i, j in parallel(S, {serial = true}) do S[i][j] = 2 end
    assert.is_false((pcall(fill)))
    assert.same({2, 2, 2, 0}, out:totable())
  end)

  it("is done where the arrays are, where they travel by value", function()
    meissa.init {workers = 2, shm = false}
    local n, moved = 20000, 0
    local p, out = meissa.zeros({n}, {type = "int32"}), meissa.zeros(n)
    for i = 1, n do p[i] = n + 1 - i end
    local job = require "meissa.driver.job"
    local run_job, inspections = job.run, 0
    function job.run(of)
      local assigned, measured, left = run_job(of)
      moved = moved + measured.moved
      if of.space.unchecked then inspections = inspections + 1 end
      return assigned, measured, left
    end
    local ok, err = pcall(function() for i in parallel(n) do out[p[i]] = i end end)
    job.run = run_job
    meissa.init {workers = 2}
    assert(ok, err)
    assert.same({1, n, 0}, {out[n], out[1], inspections})
    assert.is_true(moved > 0)
  end)

  it("names two iterations that meet, and the arrays", function()
    local p, out = meissa.zeros({2, 3}, {type = "int32"}), meissa.zeros(6)
    for i = 1, 2 do for j = 1, 3 do p[i][j] = 3 * i + j - 3 end end
    for i, j in parallel(2, 3) do out[p[i][j]] = 10 * i + j end
    assert.same({11, 12, 13, 21, 22, 23}, out:totable())
    local plan = meissa.last()
    assert.equal("parallel", plan.verdict)
    assert.truthy(tostring(plan):find("proved by inspection of p", 1, true))
    p[2][2] = p[1][3]
    local ok, err = pcall(function()
      for i, j in parallel(2, 3, {ordered = false}) do out[p[i][j]] = i * j end
    end)
    assert.is_false(ok)
    assert.equal("DEP", err.code)
    assert.truthy(err.message:find("iteration (1, 3) touches an element here, iteration (2, 2) " ..
      "touches the same one: found by inspection of p", 1, true))
  end)

  it("keeps a proof until what it read changes", function()
    local p, out = meissa.zeros({50}, {type = "int32"}), meissa.zeros(50)
    for i = 1, 50 do p[i] = 51 - i end
    local function fill() for i in parallel(50, {ordered = false}) do out[p[i]] = i end end
    for _ = 1, 3 do fill() end
    p[7] = 1
    assert.is_false(pcall(fill))
    p[7] = 44
    fill()
    assert.equal(7, out[44])
  end)

  it("plans without looking, and lists what it would look at", function()
    local p, q, out = meissa.ones({5}), meissa.ones({5}), meissa.zeros(5)
    local plan = meissa.plan(5, function(i) out[p[q[i]]] = i end)
    assert.equal("unknown", plan.verdict)
    assert.same({"p", "q"}, plan.inspect)
    plan = meissa.analyze("for i in parallel(5) do out[p[i]] = i end",
                          {out = meissa.shape(5), p = meissa.shape(5)})
    assert.equal("unknown", plan.verdict)
    assert.same({"p"}, plan.inspect)
    assert.is_nil(meissa.analyze("for i in parallel(5) do p[p[i]] = i end",
                                 {p = meissa.shape(5)}).inspect)
  end)

  it("tells the error that it ended in", function()
    local p, out = meissa.zeros({5}, {type = "int32"}), meissa.zeros(5)
    local ok, err = pcall(function() for i in parallel(5) do out[p[i]] = i end end)
    assert.is_false(ok)
    assert.truthy(err.message:find("inspection of p ended in an error: subscript 0", 1, true) or
                  err.message:find("inspection of p ended in an error: .*0", 1))
  end)

  it("trusts fast arithmetic with whole numbers only", function()
    local p, f, out = meissa.ones({9}, {type = "int32"}), meissa.ones(9), meissa.zeros(9)
    for i = 1, 9 do p[i], f[i] = 10 - i, (10 - i) / 3 end
    for i in parallel(9, {numeric = "fast"}) do out[p[i]] = i end
    assert.equal(9, out[1])
    assert.is_false(pcall(function()
      for i in parallel(9, {numeric = "fast"}) do out[math.floor(f[i] * 3)] = i end
    end))
    for i in parallel(9) do out[math.floor(f[i] * 3)] = i + 1 end
    assert.equal(10, out[1])
  end)

  it("does not count as loops of the program's", function()
    local p, out = meissa.zeros({9}, {type = "int32"}), meissa.zeros(9)
    for i = 1, 9 do p[i] = 10 - i end
    local function draw()
      meissa.seed(4)
      for i in parallel(9) do out[p[i]] = i end
      local drawn = meissa.zeros(9)
      for i in parallel(9) do drawn[i] = meissa.random() end
      return drawn:totable()
    end
    local first = draw()
    assert.same(first, draw())
  end)
end)
