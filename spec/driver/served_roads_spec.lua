-- SPDX-License-Identifier: MIT
-- Loops with served arrays have the same bits on every road, for every strategy and engine, also
-- when values travel while blocks run, when loops fail, and when workers die.
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"
local child = require "spec.support.child"
local support = require "spec.support.served"
local parallel = meissa.parallel
local bits, name_of, ROADS = support.bits, support.name_of, support.roads

require("meissa.driver.small").most[0] = 0 -- small loops go to workers, too

describe("long lists", function()
  local n, m, k = 60000, 400000, 90000
  local first, second = meissa.zeros({n}, {type = "int32"}), meissa.zeros({n}, {type = "int32"})
  local w, v, A = meissa.rand({m}, {seed = 1}), meissa.rand({k}, {seed = 2}), meissa.zeros {n}
  for i = 1, n do first[i], second[i] = (i * 7919) % m + 1, (i * 104729) % k + 1 end

  teardown(kept_workers.stop)

  -- Elements that a pass got wrong.
  local function wrong()
    local count = 0
    for i = 1, n do
      if A[i] ~= w[first[i]] * 2 + v[second[i]] then count = count + 1 end
    end
    return count
  end

  for _, road in ipairs {{workers = 1, shm = false}, {workers = 2, shm = false},
                         {workers = 3, shm = false, transport = "tcp"}} do
    for _, engine in ipairs {"lua", "native"} do
      it(("travel while blocks run: %s, %s"):format(name_of(road), engine), function()
        kept_workers.init(road)
        for pass = 1, 4 do
          for i in parallel(n, {engine = engine}) do A[i] = w[first[i]] * 2 + v[second[i]] end
          assert.equal(0, wrong())
          w:fill(pass)
          if pass == 2 then v:fill(-pass) end
        end
      end)
    end
  end

  it("are sent again after a loop that failed while they travelled", function()
    kept_workers.init {workers = 2, shm = false}
    local function run(limit)
      for i in parallel(n) do
        if i == limit then error "enough" end
        A[i] = w[first[i]] * 2 + v[second[i]]
      end
    end
    run(0)
    for _, bad in ipairs {1, n / 2 + 1, 5, n - 3, n / 2, 20000} do
      w:fill(bad + 0.5)
      v:fill(bad)
      local ok, err = pcall(run, bad)
      assert.is_false(ok)
      assert.matches("enough", tostring(err))
      run(0)
      assert.equal(0, wrong())
    end
  end)
end)

describe("every strategy", function()
  local LOOPS = {
    partition = "for i, j in parallel(40, {2, 40}, {engine = E}) do " ..
                "C[i][j] = C[i][j-1] + w[idx[j]] end",
    skew = "for i, j in parallel({2, 40}, {2, 40}, {engine = E}) do " ..
           "C[i][j] = C[i-1][j-1] + w[idx[j]] end",
    rotate = "for i, j in parallel(40, 40, {ordered = false, engine = E}) do " ..
             "D[i] = D[i] + w[idx[j]] F[j] = F[j] + w[idx[i] + 1] end",
    wavefront = "for i, j in parallel({2, 40}, {2, 40}, {engine = E}) do " ..
                "C[i][j] = 0.5 * C[i-1][j] + 0.25 * C[i][j-1] + w[idx[i] + j] end",
    hyperplane = "for t, i in parallel({2, 40}, {2, 39}, {engine = E}) do " ..
                 "C[t][i] = 0.5 * C[t-1][i-1] + 0.25 * C[t-1][i+1] + w[idx[i] + t] end",
    collapsed = "for i in parallel(40, {collapse = 2, engine = E}) do for j = 1, i do " ..
                "C[i][j] = w[idx[i] + j] end end",
    sparse = "for i, j, r in parallel(R, {engine = E}) do D[i] = D[i] + r * w[idx[j]] " ..
             "F[j] = F[j] + w[idx[i]] end",
  }

  teardown(kept_workers.stop)

  local function run(text, engine)
    local e = {i = {}, j = {}, v = {}}
    for k = 1, 300 do e.i[k], e.j[k], e.v[k] = k % 40 + 1, k * k % 40 + 1, k end
    local env = {C = meissa.zeros(40, 40), D = meissa.zeros(40), F = meissa.zeros(40),
                 w = meissa.rand({3000}, {seed = 4}), R = meissa.sparse({40, 40}, e),
                 idx = meissa.zeros({40}, {type = "int32"}), E = engine}
    for k = 1, 40 do env.idx[k] = k * 71 + 1 end
    local results = {}
    for pass = 1, 3 do
      support.run(text, env)
      results[pass] = bits(env.C:narrow(1, 1, 40):select(2, 3)) .. bits(env.D) .. bits(env.F) ..
        ("%a"):format(env.C:sum())
      env.w:fill(pass)
    end
    return table.concat(results, "\n"), meissa.last()
  end

  -- What each loop leaves on one worker.
  local wanted = {}
  for name, text in pairs(LOOPS) do
    it("reads what is served: " .. name, function()
      kept_workers.init {workers = 1}
      local plan
      wanted[name], plan = run(text)
      assert.equal("served", plan.arrays.w.placement)
      if name ~= "collapsed" and name ~= "sparse" then assert.equal(name, plan.strategy) end
    end)
  end

  for _, road in ipairs(ROADS) do
    it("reads what is served with " .. name_of(road), function()
      kept_workers.init(road)
      for name, text in pairs(LOOPS) do
        for _, engine in ipairs {"lua", "native"} do
          local got, last = run(text, engine)
          assert.is_true(wanted[name] == got, name .. ", " .. engine)
          assert.is_true(road.shm ~= false or support.is_listed(last), name .. ", " .. engine)
        end
      end
    end)
  end
end)

-- A pass of logistic regression with a gather behind it: rows of a sparse matrix, a buffer, stages,
-- a condition; as bits, with the plan.
local function learn(X, y, delay, engine)
  local n, features = X:size(1), X:size(2)
  local w = meissa.full({features}, 0.01)
  local gradient = meissa.buffer(w, {max_delay = delay})
  local loss, seen = 0, meissa.zeros {n}
  local options = {ordered = false, engine = engine}
  for _ = 1, 2 do
    for i in parallel(n, options) do
      local margin = 0
      for f, v in X[i]:nonzeros() do margin = margin + w[f] * v end
      seen[i] = margin
      local g = (y[i] > 0 and 1 or 0) - 1 / (1 + math.exp(-margin))
      loss = loss + g * g
      for f, v in X[i]:nonzeros() do gradient[f] = gradient[f] + 0.1 * g * v end
    end
  end
  return ("%a %s %s"):format(loss, bits(w), bits(seen)), meissa.last()
end

describe("served arrays have the same bits", function()
  local entries, y = {i = {}, j = {}, v = {}}, meissa.zeros {200}
  for p = 1, 200 do
    for k = 1, 5 do
      local e = #entries.i + 1
      entries.i[e], entries.j[e], entries.v[e] = p, (p * 31 + k * k * 97) % 3000 + 1, k / 3
    end
    y[p] = p % 3 - 1
  end
  local X = meissa.sparse({200, 3000}, entries)
  local wanted = {}

  teardown(kept_workers.stop)

  for _, road in ipairs(ROADS) do
    for _, engine in ipairs {"lua", "native"} do
      it(("with %s, %s"):format(name_of(road), engine), function()
        kept_workers.init(road)
        for _, delay in ipairs {60, 1000} do
          local got, plan = learn(X, y, delay, engine)
          assert.equal("served", plan.arrays.w.placement)
          wanted[delay] = wanted[delay] or got
          assert.is_true(wanted[delay] == got, "delay " .. delay)
        end
      end)
    end
  end
end)

describe("a worker that dies", function()
  it("is replaced, and gets what it needs", function()
    local output = child.script([[
      local meissa = require "meissa"
      local parallel = meissa.parallel
      meissa.init {workers = 2, shm = false}
      local n, flag = 400, os.tmpname()
      local idx, w, A = meissa.zeros {n}, meissa.rand({9000}, {seed = 1}), meissa.zeros {n}
      for k = 1, n do idx[k] = k * 7 % 800 + 1 end
      local function die(i)
        if i ~= 300 then return end
        local file = io.open(flag)
        if not file then return end
        file:close()
        os.remove(flag)
        local f = require "ffi"
        f.cdef "int kill(int pid, int signal); int getpid(void);"
        f.C.kill(f.C.getpid(), 9)
      end
      for pass = 1, 3 do
        if pass == 2 then io.open(flag, "w"):close() else os.remove(flag) end
        for i in parallel(n, {impure = true}) do
          A[i] = w[idx[i] ] * pass
          die(i)
        end
        local wrong = 0
        for k = 1, n do wrong = wrong + (A[k] == w[idx[k] ] * pass and 0 or 1) end
        print(pass, wrong, meissa.last().arrays.w.placement)
        w:fill(pass + 0.5)
      end
    ]])
    assert.matches("1\t0\tserved\n.*2\t0\tserved\n.*3\t0\tserved", output)
  end)
end)
