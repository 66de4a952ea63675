-- SPDX-License-Identifier: MIT
-- Where arrays travel by value, blocks of loops with levels get, hand over and return what is on
-- their lists: random loops have the bits of the loop as written, and move few bytes.
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"
local child = require "spec.support.child"
local deaths = require "spec.driver.deaths"
local expect = require "spec.support.expect"
local seed = require "spec.support.seed"
local served = require "spec.support.served"
local small = require "meissa.driver.small"
local worker_count = require "meissa.driver.worker_count"
local parallel = meissa.parallel
local bits, contents, copy_of = served.bits, served.contents, served.copy_of
local expect_contents, loop_of, name_of = served.expect_contents, served.loop_of, served.name_of

local N, M = 60, 8000 -- iterations; elements, at most

-- Statements; g, p, q: anywhere, so that iterations meet; c: where nobody meets anybody.
local STATEMENTS = {
  "X[p[i]] = X[g[i]] * 0.5 + b[i]",
  "X[p[i]] = X[p[i]] + X[q[i]]",
  "X[p[i]] = i",
  "Y[q[i]] = X[p[i]] + Y[g[i]]",
  "if i % 3 == 0 then X[p[i]] = b[i] else Y[p[i]] = Y[q[i]] end",
  "if X[q[i]] > 0.5 then X[p[i]] = X[g[i]] - i end",
  "if Y[g[i]] < b[i] then Y[p[i]] = 7 end",
  "for k = i, math.min(i + 3, N) do X[g[k]] = X[g[k]] * 0.75 + Y[p[k]] end",
  "for k = 1, 4 do if k > p[i] % 3 then break end Y[p[i]] = Y[p[i]] + k end",
  "W[p[i]][1] = W[q[i]][3] + i",
  "local w = W[g[i]] w[2] = w[1] + b[i]",
  "W[p[i]]:add(W[q[i]])",
  "W[q[i]]:fill(b[i])",
  "O[c[i]] = X[p[i]]",
  "O[c[i]] = O[c[i]] + i",
  "F[p[i]] = F[g[i]] + 0.25",
}
local LAST = "if i % 4 == 0 then goto continue end Y[p[i]] = X[g[i]] ::continue::"

local WRITTEN = {"X", "Y", "W", "O", "F"}

local function draw_body(random)
  local list = {}
  for k = 1, 1 + random(3) do list[k] = STATEMENTS[random(#STATEMENTS)] end
  list[#list + 1] = random(4) == 1 and LAST or nil
  return "do " .. table.concat(list, " end do ") .. " end"
end

local function make_world(random)
  local int, places = {type = "int32"}, M / 4
  local env = {N = N, math = math, error = error, parallel = parallel,
               X = meissa.rand({M}, {seed = 1}), Y = meissa.rand({M}, {seed = 2}),
               W = meissa.rand({M / 4, 3}, {seed = 3}), O = meissa.rand({M}, {seed = 4}),
               F = meissa.rand({M}, {seed = 5, type = "float"}), b = meissa.rand({N}, {seed = 6}),
               c = meissa.zeros({N}, int)}
  local few = 5 + random(3 * N) -- the fewer places, the more levels
  for _, name in ipairs {"g", "p", "q"} do
    env[name] = meissa.zeros({N}, int)
    for i = 1, N do env[name][i] = random(few) * 7919 % places + 1 end
  end
  for i = 1, N do env.c[i] = (i * 7919) % M + 1 end
  return env
end

local ROADS = {{workers = 1, shm = false}, {workers = 2, shm = false},
               {workers = 3, shm = false, transport = "tcp"}, {workers = 4, shm = false}}

describe("what blocks of loops with levels hand over", function()
  teardown(kept_workers.stop)
  local most, size = small.most[0], worker_count.size

  setup(function() -- no loop is too small for workers, and for all of them
    small.most[0] = 0
    worker_count.size = function() return 0 end
  end)

  teardown(function()
    small.most[0], worker_count.size = most, size
    kept_workers.init {}
  end)

  for road_number, road in ipairs(ROADS) do
    it("keeps the bits of the loop as written: " .. name_of(road), function()
      kept_workers.init(road)
      math.randomseed(seed + road_number)
      local random, levelled, few, failed = math.random, 0, 0, 0
      for round = 1, tonumber(os.getenv "MEISSA_HANDED_LOOPS") or 5 do
        local body = draw_body(random)
        local options = ("{engine = '%s', transaction = true, check = false}"):format(
          random(4) > 1 and "lua" or "auto")
        local env = make_world(random)
        local serial, found = loop_of(N, body, "{serial = true}"), loop_of(N, body, options)
        local told = ("seed %d round %d: %s %s"):format(seed, round, body, options)
        for pass = 1, 3 do
          local expected = copy_of(env, WRITTEN)
          setfenv(serial, expected)()
          local ok, refusal = pcall(setfenv(found, env))
          if not ok then -- where iterations meet may depend on what they write
            assert.equal("DEP", refusal.code, told .. tostring(refusal))
            break
          end
          expect_contents(contents(expected, WRITTEN), env, WRITTEN, told .. " pass " .. pass)
          local last = meissa.last()
          if last.strategy == "levels" and last.workers == road.workers then
            levelled = levelled + 1
            few = few + (pass > 1 and last.moved < 8 * M and 1 or 0)
          end
          if random(3) == 1 then env.g[random(N)] = random(M / 4) end
          env.X[random(M)] = pass
        end
        if random(2) == 1 and meissa.last().strategy == "levels" then
          local before, bad = contents(env, WRITTEN), random(N)
          local failing = ("if i == %d then error 'enough' end "):format(bad) .. body
          local ok, err = pcall(setfenv(loop_of(N, failing, options), env))
          assert.is_false(ok, told)
          assert.matches("enough", tostring(err))
          expect_contents(before, env, WRITTEN, told)
          failed = failed + 1
        end
      end
      assert.is_true(levelled > 3 and few > 2 and failed > 0,
                     ("%d levelled, %d by lists, %d failed"):format(levelled, few, failed))
    end)
  end

  -- Bytes that passes move at the least, when all is known.
  local function moved(run)
    local least = math.huge
    for pass = 1, 4 do
      run(pass)
      assert.equal("levels", meissa.last().strategy)
      assert.equal(2, meissa.last().workers)
      least = math.min(least, meissa.last().moved)
    end
    return least
  end

  it("is what others read, and nothing else moves", function()
    kept_workers.init {workers = 2, shm = false}
    local n, m = 800, 60000
    local p, x = meissa.zeros({n}, {type = "int32"}), meissa.rand({m})
    local options = {transaction = false}
    for i = 1, n do p[i] = (i * 7919) % m + 1 end
    -- An iteration reads what one before it has left, at a distance that is crossed by few.
    local near = moved(function()
      for i in parallel(n, options) do
        if i > 10 then x[p[i]] = x[p[i - 10]] + 1 else x[p[i]] = i end
      end
    end)
    assert.is_true(near > 8 * n and near < 8 * n + 8 * 160, near)
    -- Half of them read what the first ones leave, which everybody has to hear of.
    local first = moved(function()
      for i in parallel(n, options) do
        if i <= n / 2 then x[p[i]] = i else x[p[i]] = x[p[i - n / 2]] end
      end
    end)
    assert.is_true(first >= 8 * n + 8 * n / 4 and first <= 8 * n + 8 * n / 2, first)
    -- What an iteration adds to has to come before.
    local read = moved(function()
      for i in parallel(n, options) do
        x[p[i]] = x[p[i]] + (i > 10 and x[p[i - 10]] or 0)
      end
    end)
    assert.is_true(read > 16 * n and read < 16 * n + 8 * 160, read)
  end)

  it("goes in as many messages as it takes", function()
    kept_workers.init {workers = 2, shm = false}
    local n = 600000 -- a message has 131,072 elements, a worker hands over 150,000
    local p, x = meissa.zeros({n}, {type = "int32"}), meissa.rand({n}, {seed = 8})
    for i = 1, n do p[i] = (i * 7919) % n + 1 end
    local expected = x:clone()
    local function hand_over(y, options)
      for i in parallel(n, options) do
        if i <= n / 2 then y[p[i]] = i + y[p[i]] else y[p[i]] = y[p[i - n / 2]] end
      end
    end
    for _ = 1, 3 do
      hand_over(expected, {serial = true})
      hand_over(x, {transaction = false})
      assert.same({"levels", 2}, {meissa.last().strategy, meissa.last().workers})
    end
    assert.is_true(bits(expected) == bits(x))
    assert.is_true(meissa.last().moved >= 8 * (n + n / 4)) -- all goes back, that to each other
  end)

  it("is no array that moves with others and that no two blocks meet in", function()
    kept_workers.init {workers = 2, shm = false}
    local n, m, wide = 20, 30, 4000
    local w, h, H = meissa.rand({n}), meissa.rand({m}), meissa.rand({m, wide})
    local q, p = meissa.zeros({n}, {type = "int32"}), meissa.zeros({n * m}, {type = "int32"})
    local out, before = meissa.zeros(20000), H:clone()
    for i = 1, n do q[i] = (i * 791) % wide + 1 end
    for k = 1, n * m do p[k] = (k * 7919) % 20000 + 1 end
    local least = math.huge
    for _ = 1, 4 do
      for i, j in parallel(n, m, {ordered = false}) do
        w[i] = w[i] + 1
        h[j] = h[j] + 2
        H[j][q[i]] = H[j][q[i]] + 1
        out[p[(i - 1) * m + j]] = i
      end
      assert.equal("rotate", meissa.last().strategy)
      least = math.min(least, meissa.last().moved)
    end
    assert.is_true(least < 8 * n * m * 3 + 8 * 40 * m, least)
    expect.has(tostring(meissa.last()), "H[j]  read+write  moves with j (no two blocks meet there)",
               "h[j]  read+write  moves with j (16 hand-overs a pass")
    for i = 1, n do
      for j = 1, m do before[j][q[i]] = before[j][q[i]] + 1 + 1 + 1 + 1 end
    end
    assert.is_true(bits(before) == bits(H))
    assert.equal(20, out[p[n * m]])
  end)

  it("is looked for where buffers are merged between blocks", function()
    kept_workers.init {workers = 2, shm = false}
    local n, m = 400, 40000
    local p, x = meissa.zeros({n}, {type = "int32"}), meissa.rand({m}, {seed = 3})
    local total, expected = meissa.zeros(m), x:clone()
    for i = 1, n do p[i] = (i * 7919) % m + 1 end
    for i = 1, n do expected[p[i]] = (i > 10 and expected[p[i - 10]] or 0) + i end
    local sums = meissa.buffer(total, {max_delay = 40})
    for i in parallel(n) do
      x[p[i]] = (i > 10 and x[p[i - 10]] or 0) + i
      sums[p[i]] = sums[p[i]] + x[p[i]]
    end
    assert.equal("levels", meissa.last().strategy)
    assert.equal(bits(expected), bits(x))
    assert.equal(expected[p[n]], total[p[n]])
  end)

  it("comes again where a worker dies", function()
    local output = child.script(deaths.HEAD .. [=[
      require("meissa.driver.small").most[0] = 0
      local n, m = 400, 40000
      local p, y = meissa.zeros({n}, {type = "int32"}), meissa.rand({m}, {seed = 1})
      for i = 1, n do p[i] = (i * 7919) % m + 1 end
      local before, expected = y:clone(), y:clone()
      for i = 1, n do
        expected[p[i]] = expected[p[i]] * 2 + (i > 20 and expected[p[i - 20]] or 0)
      end
      local function pass(options)
        for i in parallel(n, options) do
          local s = y[p[i]] * 2 + (i > 20 and y[p[i - 20]] or 0)
          for k = 1, 4000 do s = s + math.sin(k) * 0 end
          y[p[i]] = s
        end
      end
      local wrong, repeated = 0, 0
      for try = 1, 40 do
        for k = 1, m do y[k] = before[k] end
        local pid = (meissa.workers().pids or {})[try % 2 + 1] or 0
        if pid > 0 then
          os.execute(string.format("(sleep 0.0%d; kill -9 %d) 2> /dev/null &", try % 8 + 1, pid))
        end
        pass {engine = "lua"}
        repeated = repeated + meissa.last().repeated
        for k = 1, m do wrong = wrong + (y[k] ~= expected[k] and 1 or 0) end
        if repeated > 2 then break end
      end
      print(meissa.last().strategy, repeated > 2, "wrong", wrong)]=],
      {env = "MEISSA_WORKERS=2 MEISSA_SHM=0"})
    expect.has(output, "levels\ttrue\twrong\t0")
  end)
end)
