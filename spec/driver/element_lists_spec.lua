-- SPDX-License-Identifier: MIT
-- Inspected loops log, send and return the elements on their blocks' lists: random loops have the
-- bits of the loop as written on every road, leave nothing when they fail, and move few bytes.
local meissa = require "meissa"
local child = require "spec.support.child"
local deaths = require "spec.driver.deaths"
local expect = require "spec.support.expect"
local seed = require "spec.support.seed"
local served = require "spec.support.served"
local small = require "meissa.driver.small"
local parallel = meissa.parallel
local bits, contents, copy_of = served.bits, served.contents, served.copy_of
local expect_contents, loop_of, name_of = served.expect_contents, served.loop_of, served.name_of

local N = 120 -- iterations

-- Statements; p, q: where each iteration writes; u: where nobody does; r: anywhere; c: CSR.
local STATEMENTS = {
  "A[p[i]] = A[p[i]] * 2 + i",
  "A[p[i]] = i",
  "F[q[i]] = V[r[i]] + 0.5",
  "F[q[i]] = A[p[i]] + F[u[i]]",
  "A[p[i]] = A[u[i]] - F[q[i]]",
  "if i % 3 == 0 then A[p[i]] = i end",
  "if V[i] > 0.5 then F[q[i]] = V[i] end",
  "if V[r[i]] > 0.5 then A[p[i]] = i end",
  "if A[p[i]] > 0.5 then A[p[i]] = -i end",
  "if F[u[i]] > 0.5 then I[q[i]] = i else I[q[i]] = I[q[i]] + 1 end",
  "local b = A[u[i]] > 0.5 if b then I[q[i]] = 7 end",
  "I[q[i]] = I[q[i]] + r[i]",
  "W[p[i] % M + 1][1 + i % 3] = i",
  "local w = W[p[i] % M + 1] w:add(i)",
  "W[p[i] % M + 1]:fill(V[i])",
  "W[p[i] % M + 1][2] = W[u[i] % M + 1][3] + 1",
  "for k = c[i], c[i + 1] - 1 do X[g[k]] = X[g[k]] + V[i] end",
  "for k = c[i], c[i + 1] - 1 do if A[u[i]] > 0.4 then break end X[g[k]] = k end",
  "for k = 1, 2 do T[p[i]][k][i % 2 + 1] = k + i end",
  "if A[p[i]] > A[u[i]] then s = s + r[i] end",
}
local LAST = "if V[i] > 0.9 then goto continue end A[p[i]] = A[p[i]] + 1 ::continue::"
local OWN = "if A[u[i]] > 0.7 then goto continue end A[p[i]] = 5 ::continue::"

local WRITTEN = {"s", "A", "F", "I", "W", "X", "T"}

local function draw_body(random)
  local list, total = {}, random(4)
  for k = 1, total do list[k] = STATEMENTS[random(#STATEMENTS)] end
  local last = random(6)
  list[#list + 1] = last == 1 and LAST or last == 2 and OWN or nil
  return "do " .. table.concat(list, " end do ") .. " end"
end

-- Places 1 .. M in random order.
local function shuffled(random, M)
  local list = {}
  for k = 1, M do list[k] = k end
  for k = M, 2, -1 do
    local other = random(k)
    list[k], list[other] = list[other], list[k]
  end
  return list
end

local function make_world(random)
  local M, int = N * ({2, 3, 25})[random(3)], {type = "int32"}
  local env = {M = M, s = 0, error = error, parallel = parallel,
               A = meissa.rand({M}, {seed = 1}), F = meissa.rand({M}, {seed = 2, type = "float"}),
               I = meissa.zeros({M}, int), W = meissa.rand({M, 3}, {seed = 3}),
               X = meissa.rand({3 * M}, {seed = 4}), T = meissa.rand({M, 2, 2}, {seed = 5}),
               V = meissa.rand({N}, {seed = 6}), p = meissa.zeros({N}, int),
               q = meissa.zeros({N}, int), u = meissa.zeros({N}, int), r = meissa.zeros({N}, int),
               c = meissa.zeros({N + 1}, int), g = meissa.zeros({3 * N}, int)}
  local order, places = shuffled(random, M), shuffled(random, 3 * M)
  env.c[1] = 1
  for i = 1, N do
    -- Places of p and of q are the same ones, so those of u are free in every array.
    env.p[i], env.q[i], env.u[i], env.r[i] = order[i], order[N + 1 - i],
                                             order[N + random(M - N)], random(N)
    env.c[i + 1] = env.c[i] + random(0, 3)
  end
  for k = 1, 3 * N do env.g[k] = places[k] end
  return env
end

-- Swaps two places of p, which makes other lists.
local function change(env, random)
  local i, j = random(N), random(N)
  env.p[i], env.p[j] = env.p[j], env.p[i]
end

-- Lists of a plan: by how many arrays.
local function listed(plan)
  local count = 0
  for _ in pairs(plan.listed and plan.listed.lists or {}) do count = count + 1 end
  return count
end

local ROADS = {{workers = 1}, {workers = 3}, {workers = 2, shm = false},
               {workers = 4, shm = false, transport = "tcp"}, {workers = 0}}

describe("element lists", function()
  local most = small.most[0]

  setup(function() small.most[0] = 0 end) -- small loops go to workers, too

  teardown(function()
    small.most[0] = most
    meissa.init {}
  end)

  for road_number, road in ipairs(ROADS) do
    it("keep the bits of the loop as written: " .. name_of(road), function()
      meissa.init(road)
      math.randomseed(seed + road_number)
      local random, with_lists, failed, refused = math.random, 0, 0, 0
      for round = 1, tonumber(os.getenv "MEISSA_LISTED_LOOPS") or 8 do
        local body = draw_body(random)
        local options = ("{ordered = %s, engine = '%s', grid = {%d}}"):format(
          random(2) == 1, random(2) == 1 and "lua" or "auto", random(9))
        local env = make_world(random)
        local bad = random(4) == 1 and random(N) or 0
        local failing = ("if i == %d then error 'enough' end "):format(bad) .. body
        local serial, found = loop_of(N, body, "{serial = true}"), loop_of(N, body, options)
        local told = ("seed %d round %d: %s %s"):format(seed, round, body, options)
        local proved = true
        for pass = 1, 3 do
          local expected = copy_of(env, WRITTEN)
          setfenv(serial, expected)()
          local ok, refusal = pcall(setfenv(found, env))
          proved = ok
          if not proved then
            assert.equal("DEP", refusal.code, told .. tostring(refusal))
            refused = refused + 1
            break
          end
          with_lists = with_lists + listed(meissa.last())
          expect_contents(contents(expected, WRITTEN), env, WRITTEN, told .. " pass " .. pass)
          if random(3) == 1 then change(env, random) end
          env.A:mul(0.5)
          env.X[random(3 * env.M)] = pass
        end
        if bad > 0 and proved and road.workers > 0 then
          local before = contents(env, WRITTEN)
          local ok, err = pcall(setfenv(loop_of(N, failing, options), env))
          assert.is_false(ok)
          assert.matches("enough", tostring(err))
          expect_contents(before, env, WRITTEN, told)
          failed = failed + 1
        end
      end
      if road.workers > 0 then assert.is_true(with_lists > 8 and failed > 0 and refused < 8) end
    end)
  end

  it("move what is read, and what is written", function()
    meissa.init {workers = 2, shm = false}
    local n, m = 2000, 200000
    local p, y, out = meissa.zeros({n}, {type = "int32"}), meissa.rand({m}), meissa.zeros({m})
    for i = 1, n do p[i] = (i * 7919) % m + 1 end
    local function moved(run, bytes)
      local least = math.huge
      for pass = 1, 6 do
        y:add(pass)
        run(pass)
        least = math.min(least, meissa.last().moved)
      end
      assert.is_true(least >= bytes and least < bytes + 2000, least)
    end
    moved(function(k) for i in parallel(n) do out[p[i]] = i + k end end, 8 * n)
    moved(function() for i in parallel(n) do y[p[i]] = y[p[i]] + 1 end end, 16 * n)
    moved(function() for i in parallel(n) do out[p[i]] = y[p[i]] + out[p[i]] end end, 24 * n)
    moved(function(k) for i in parallel(n) do if i % 4 == 0 then out[p[i]] = k end end end, 2 * n)
    moved(function(k)
      for i in parallel(n) do if out[p[i]] > -1 then out[p[i]] = k end end
    end, 16 * n)
  end)

  it("are given up where they change, and made for other grids", function()
    meissa.init {workers = 2, shm = false}
    local p, out = meissa.zeros({50}, {type = "int32"}), meissa.zeros(5000)
    for i = 1, 50 do p[i] = 100 * i end
    local function fill(k, grid)
      for i in parallel(50, {ordered = false, grid = grid}) do out[p[i]] = i + k end
      return meissa.last().listed
    end
    local first = fill(1, {5})
    assert.equal(first, fill(2, {5}))
    local second = fill(3, {7})
    assert.not_equal(first, second)
    p[7] = 1
    local third = fill(4, {7})
    assert.not_equal(second, third)
    assert.same({4 + 7, 3 + 7, 4 + 50}, {out[1], out[700], out[5000]})
    p[8] = 1
    assert.is_false((pcall(fill, 5, {7})))
    p[8] = 800
    fill(6, {7})
    assert.same({6 + 7, 6 + 8}, {out[1], out[800]})
  end)

  it("of views and of whole arrays are none", function()
    for _, shm in ipairs {true, false} do
      meissa.init {workers = 2, shm = shm}
      local p, base = meissa.zeros({60}, {type = "int32"}), meissa.rand({60, 40}, {seed = 9})
      local column, narrow = base:select(2, 7), base:narrow(1, 11, 40)
      for i = 1, 60 do p[i] = (i * 7) % 60 + 1 end
      local expected = base:clone()
      for i = 1, 60 do
        local k = (i * 7) % 60 + 1
        expected[k][7] = expected[k][7] * 2 + i
      end
      for i in parallel(60) do column[p[i]] = column[p[i]] * 2 + i end
      assert.equal(bits(expected), bits(base))
      for i = 1, 40 do expected[p[i] % 40 + 11][3] = i end
      for i in parallel(40) do narrow[p[i] % 40 + 1][3] = i end
      assert.equal(bits(expected), bits(base))
    end
  end)

  it("are checked like all that a loop touches", function()
    meissa.init {workers = 2}
    local p, y = meissa.zeros({40}, {type = "int32"}), meissa.zeros(4000)
    for i = 1, 40 do p[i] = 4001 - 100 * i end
    for i in parallel(40, {check = true}) do y[p[i]] = y[p[i]] + i end
    assert.same({40, 1, 0}, {y[1], y[3901], y[2]})
  end)

  for _, shm in ipairs {1, 0} do
    local env = "MEISSA_WORKERS=2 MEISSA_SHM=" .. shm

    -- A loop that reads what it writes, at one place in a hundred.
    local HEAD = deaths.HEAD .. [=[
      require("meissa.driver.small").most[0] = 0
      local n, m = 400, 40000
      local p, y = meissa.zeros({n}, {type = "int32"}), meissa.rand({m}, {seed = 1})
      for i = 1, n do p[i] = (i * 7919) % m + 1 end
      local before = y:clone()
      local function differences(expected)
        local count = 0
        for k = 1, m do count = count + (y[k] ~= expected[k] and 1 or 0) end
        return count
      end
      local expected = y:clone()
      for i = 1, n do expected[p[i]] = expected[p[i]] * 2 + i end
    ]=]

    it(("undo and redo what a dead worker's block had begun (shm = %d)"):format(shm), function()
      local output = child.script(HEAD .. [=[
        for i in parallel(n, {impure = true}) do
          y[p[i]] = y[p[i]] * 2 + i
          if i == 150 then sleep(0.1) die_once() end
        end
        local last = meissa.last()
        print("listed", last.listed ~= nil, last.redone, last.repeated)
        print("wrong", differences(expected))]=], {env = env})
      expect.has(output, shm == 1 and "listed\ttrue\t1\t0" or "listed\ttrue\t0\t1", "wrong\t0")
    end)

    it(("leave nothing after a crash and after Ctrl-C (shm = %d)"):format(shm), function()
      local output = child.script(HEAD .. [=[
        local ok, err = pcall(function()
          for i in parallel(n, {impure = true}) do
            y[p[i]] = y[p[i]] * 2 + i
            if i == 300 then die() end
          end
        end)
        print("crash", ok, err.code, differences(before))
        local driver = ffi.C.getpid()
        ok, err = pcall(function()
          for i in parallel(n, {impure = true}) do
            y[p[i]] = y[p[i]] * 2 + i
            if i == 200 then
              local f = require "ffi"
              f.cdef "int kill(int pid, int signal);"
              f.C.kill(driver, 2)
              sleep(0.1)
            end
          end
        end)
        print("Ctrl-C", ok, err.code, differences(before))
        for i in parallel(n) do y[p[i]] = y[p[i]] * 2 + i end
        print("again", differences(expected))]=], {env = env})
      expect.has(output, "crash\tfalse\tWRK\t0", "Ctrl-C\tfalse\tINT\t0", "again\t0")
    end)
  end
end)
