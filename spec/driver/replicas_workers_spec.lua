-- SPDX-License-Identifier: MIT
-- meissa.replicas on worker processes: the same bits for any number of them, and what becomes of
-- replicas whose worker dies.
local meissa = require "meissa"

local SEED = tonumber(os.getenv "MEISSA_TEST_SEED") or os.time()
print("MEISSA_TEST_SEED=" .. SEED)

local BITS = "%.17g"

-- Something of everything that replicas may do, drawn from a seed, with uneven steps.
local function program(K, seed)
  local X, marks = meissa.rand(11, 3, {seed = seed}), meissa.zeros(13, 2)
  local topologies = {"all", "ring", "chain", "root-expander"}
  local chosen = topologies[seed % #topologies + 1]
  local list = meissa.replicas(K, {seed = seed}, function(r, w, about)
    local sgd, ea, seen = meissa.sgd(r), meissa.ea(r, 2, 0.3), {}
    local params, v = {w, n = about.rate}, meissa.full({4}, r.index)
    local own = r.index <= 13 and K <= 13 and r.shard(marks)
    for step = 1, about.steps[r.index] do
      local grads = {meissa.zeros(3), n = meissa.normal()}
      for i = r.index, 11, K do grads[1]:add(meissa.random(), X[i]) end
      sgd.sumAndNormalizeGradients(grads)
      params[1]:add(-about.rate, grads[1])
      if own then own[1][1] = own[1][1] + step * grads.n end
      seen[#seen + 1] = BITS:format(grads.n)
    end
    sgd.synchronizeParameters(params)
    for step = 1, 4 do
      v[step] = v[step] + meissa.random()
      r:exchange(v, {topology = chosen})
      ea.averageParameters {params[1]}
      r.barrier()
      if own then seen[#seen + 1] = BITS:format(marks:sum()) end
      if own then own[1][2] = step end
    end
    local top = r.allReduce({r.index * meissa.random()}, math.max)
    r.scatter(v)
    for _, x in ipairs {w[1], w[3], v[1], v[4], top[1], r.netStats().reduces, r.netStats().bytes} do
      seen[#seen + 1] = BITS:format(x)
    end
    return {table.concat(seen, " "), w}
  end, meissa.ones(3), {rate = 0.1, steps = {3, 1, 2, 2, 1, 3, 2, 1, 1, 2, 3, 1, 1}})
  local words = {}
  for k, each in ipairs(list) do
    words[k] = each[1] .. " " .. BITS:format(each[2]:sum())
  end
  return table.concat(words, "\n") .. "\n" .. BITS:format(marks:sum())
end

-- Runs a program of K replicas on no worker, on up to `most`, and by value: the same bits.
local function compare_roads(run, K, seed, most)
  meissa.init {workers = 0}
  local expected = run(K, seed)
  for workers = 1, most do
    meissa.init {workers = workers}
    assert.equal(expected, run(K, seed), "seed " .. seed .. ", workers " .. workers)
  end
  meissa.init {workers = 2, transport = "tcp", shm = false}
  assert.equal(expected, run(K, seed), "by value, seed " .. seed)
end

describe("meissa.replicas on workers", function()
  teardown(function() meissa.init {} end)

  it("gives the same bits on 0 to 6 workers", function()
    for seed = SEED, SEED + 3 do compare_roads(program, 2 + seed % 8, seed, 6) end
  end)

  -- Arrays of all sizes and types, which grow and shrink, are met twice and seen as views.
  local function exchange_many(K, seed)
    local list = meissa.replicas(K, {seed = seed}, function(r)
      local seen, wide = {}, meissa.zeros(40, 50)
      local function see(...)
        for _, x in ipairs {...} do seen[#seen + 1] = BITS:format(x) end
      end
      for step = 1, 15 do
        local n = ({3, 2000, 100, 5000, 400})[(step + seed) % 5 + 1]
        local a, b = meissa.zeros(n), meissa.zeros({n}, {type = "float"})
        local c = meissa.zeros({n, 2}, {type = "int32"})
        for i = 1, n, 7 do
          a[i], b[i], c[i][2] = meissa.normal(), meissa.normal(), meissa.random(1000)
        end
        wide:fill(r.index + step)
        local column = wide:select(2, 3)
        local t = {a, b, x = {c, column, meissa.random()}, narrow = a:narrow(1, 1, n - 1)}
        if step % 3 == 0 then
          r.allReduce(t, function(x, y)
            return type(x) == "number" and x * y or x:add(-1, y)
          end)
        elseif step % 3 == 1 then
          r.allReduce(t)
          r.allReduce {a, a}
          b:add(r.index)
          r.allReduce {b, c} -- no two share memory: each sum begins where its own term is
          r.allReduce {b, a, a:narrow(1, 1, n - 1)}
          r.allReduce {b, c}
        else
          r.scatter(t)
          r:exchange(a, {topology = "ring"})
        end
        see(a:sum(), a[1], a[n], b:sum(), b:norm(), c:sum(), column:sum(), wide:sum(), t.x[3])
      end
      return {table.concat(seen, " "), meissa.full(3000, r.index)}
    end)
    local words = {}
    for k, each in ipairs(list) do words[k] = each[1] .. BITS:format(each[2]:sum()) end
    return table.concat(words, "\n")
  end

  it("exchanges large arrays of any type with the same bits", function()
    for seed = SEED, SEED + 2 do compare_roads(exchange_many, 2 + seed % 4, seed, 3) end
  end)

  it("keeps what replicas return where it does not change any more", function()
    meissa.init {workers = 2}
    local function run(x)
      return meissa.replicas(2, {}, function(r, value)
        local v = meissa.full(5000, value + r.index)
        r.allReduce(v)
        r.allReduce(v)
        return v
      end, x)
    end
    local first = run(1)
    local second = run(10)
    assert.same({2 * 5, 2 * 23}, {first[1][5000], second[2][1]})
    first[1]:fill(7)
    local sum = 0
    for i in meissa.parallel(5000) do sum = sum + first[1][i] + first[2][i] end
    assert.equal(5000 * 17, sum)
  end)

  it("runs in the worker processes, each set up once", function()
    meissa.init {workers = 3}
    local function status()
      local file = io.open "/proc/self/stat"
      local id = file:read("*a"):match "^(%d+)"
      file:close()
      return tonumber(id)
    end
    local list = meissa.replicas(7, {setup = function(worker)
      _G.meissa_times = (_G.meissa_times or 0) + 1
      _G.meissa_worker = worker
    end}, function(r)
      local before = status()
      r.barrier()
      return {before, status(), _G.meissa_times, _G.meissa_worker}
    end)
    local workers, pids = {}, meissa.workers().pids
    for _, each in ipairs(list) do
      assert.equal(each[1], each[2])
      assert.equal(1, each[3])
      assert.equal(pids[each[4]], each[1])
      workers[each[1]] = true
    end
    for _, pid in ipairs(pids) do assert.is_true(workers[pid]) end
  end)

  it("begins again where a worker dies, once, and puts shards back", function()
    meissa.init {workers = 3}
    local A, mark = meissa.ones(6), os.tmpname()
    local function run(always)
      return meissa.replicas(6, {}, function(r)
        local own = r.shard(A)
        for step = 1, 5 do
          own[1] = own[1] + step
          r.allReduce {step}
          if r.index == 4 and step == 3 and (always or io.open(mark)) then
            os.remove(mark)
            os.execute "kill -9 $PPID"
          end
        end
        r.barrier()
        return A:sum()
      end)
    end
    assert.same({96, 96, 96, 96, 96, 96}, run(false))
    assert.is_nil(io.open(mark))
    assert.equal(96, A:sum())
    local ok, err = pcall(run, true)
    assert.is_false(ok)
    assert.equal("WRK", err.code)
    assert.equal(96, A:sum())
    assert.same({3, 3}, meissa.replicas(2, {}, function(r) return (r.allReduce(r.index)) end))
  end)

  -- A set-up after which the second worker's arrays in a mailbox are written to, when they have
  -- been put there (behind the other end), or when they are about to be read; once, or always.
  local function tearing(method, mark, always)
    return function(worker)
      local ffi, mailboxes = require "ffi", require "meissa.kernel.mailbox"
      local mailbox = mailboxes.new(nil, 0, 0)
      local of = getmetatable(method == "put" and mailbox:begin(1, 0) or mailbox)
      local intact = of[method]
      of[method] = function(self, ...)
        local given, stamp = intact(self, ...)
        if worker ~= 2 or not given or not (always or io.open(mark)) then return given, stamp end
        os.remove(mark)
        local at = method == "put" and given or (...).at
        local first = ffi.cast("double *", (self.mailbox or self).memory + at)
        first[0], first[method == "put" and 3200 or -8] = 1e9, 0
        return given, stamp
      end
    end
  end

  it("never goes on with what was written while it was read", function()
    -- With an operation the driver reads what was put, and workers nothing but what comes of it.
    local function run(method, mark, always)
      local op = method == "put" and function(a, b) return a:add(b) end or nil
      return meissa.replicas(2, {setup = tearing(method, mark, always)}, function(r)
        local v, seen = meissa.full(3200, r.index), {}
        for step = 1, 4 do
          seen[step] = r.allReduce(v, op)[1]
          if step == 2 then v:fill(1) end
        end
        return seen
      end)
    end
    for _, method in ipairs {"put", "array"} do
      local mark = os.tmpname()
      meissa.init {workers = 2}
      local list = run(method, mark)
      assert.is_nil(io.open(mark))
      assert.same({{3, 6, 2, 4}, {3, 6, 2, 4}}, list)
      meissa.init {workers = 2}
      local ok, err = pcall(run, method, mark, true)
      assert.is_false(ok)
      assert.equal("WRK", err.code)
      assert.truthy(err.message:find("was written while it was read", 1, true))
    end
  end)

  it("raises what the first replica raised, and runs here what cannot travel", function()
    meissa.init {workers = 2}
    local ok, err = pcall(meissa.replicas, 4, {}, function(r)
      r.barrier()
      if r.index > 1 then error("no") end
      r.barrier()
    end)
    assert.is_false(ok)
    assert.equal("BDY", err.code)
    assert.truthy(err.message:find("replica 2: no", 1, true))
    assert.truthy(err.file:find("replicas_workers_spec", 1, true))
    local thread = coroutine.create(function() end)
    assert.same({"thread", "thread"}, meissa.replicas(2, {}, function() return type(thread) end))
    local told, why = pcall(meissa.replicas, 2, {}, function() return coroutine.create(print) end)
    assert.is_false(told)
    assert.truthy(tostring(why):find("what a replica gives is a coroutine", 1, true), tostring(why))
  end)
end)
