-- SPDX-License-Identifier: MIT
-- meissa.replicas on worker processes: the same bits for any number of them, and what becomes of
-- replicas whose worker dies.
local child = require "spec.support.child"
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

-- Runs programs of 2 + seed % span replicas on no worker, on up to `most`, and by value: the same
-- bits.
local function compare_roads(run, seeds, span, most)
  local roads, expected = {{workers = 0}}, {}
  for workers = 1, most do roads[workers + 1] = {workers = workers} end
  roads[#roads + 1] = {workers = 2, transport = "tcp", shm = false}
  for number, road in ipairs(roads) do
    meissa.init(road)
    for seed = SEED, SEED + seeds - 1 do
      local got = run(2 + seed % span, seed)
      expected[seed] = expected[seed] or got
      assert.equal(expected[seed], got, ("seed %d, road %d"):format(seed, number))
    end
  end
end

describe("meissa.replicas on workers", function()
  teardown(function() meissa.init {} end)

  it("gives the same bits on 0 to 6 workers", function()
    compare_roads(program, 4, 8, 6)
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
    compare_roads(exchange_many, 3, 4, 3)
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

  -- A set-up after which what the second worker has in a mailbox is written to, once or always:
  -- when it has been put there for the driver ("put", behind the other end), when the driver's
  -- answer is about to be read ("array"), when all have put theirs (1), or have summed their slices
  -- (2).
  local function tearing(what, mark, always)
    return function(worker)
      local ffi, collectives = require "ffi", require "meissa.worker.collective"
      local mailboxes = require "meissa.kernel.mailbox"
      local function is_due()
        local due = worker == 2 and (always or io.open(mark))
        if due then os.remove(mark) end
        return due
      end
      if type(what) == "number" then
        local new = collectives.new
        collectives.new = function(job, about)
          local made = new(job, about)
          made.job = {leave = function() job:leave() end, meet = function(_, count, stays)
            local board = made:board()
            local first = board.memory + board.size + mailboxes.HEAD -- of the second row
            if stays and count % 2 == what % 2 and ffi.cast("double *", first)[what - 1] ~= 0 and
               is_due() then
              ffi.cast("double *", first)[what - 1] = 0
            end
            return job:meet(count, stays)
          end}
          return made
        end
        return
      end
      local mailbox = mailboxes.new(nil, 0, 0)
      local of = getmetatable(what == "put" and mailbox:begin(1, 0) or mailbox)
      local intact = of[what]
      of[what] = function(self, ...)
        local given, stamp = intact(self, ...)
        if not given or not is_due() then return given, stamp end
        local at = what == "put" and given or (...).at
        local first = ffi.cast("double *", (self.mailbox or self).memory + at)
        first[0], first[what == "put" and 6400 or -8] = 1e9, 0
        return given, stamp
      end
    end
  end

  it("never goes on with what was written while it was read", function()
    local function add(a, b) return a:add(b) end
    local once = {1}
    local function add_there(a, b) return a:add(once[1], b) end -- which the driver is to do
    local function run(what, mark, always, by_worker)
      local op = type(what) == "string" and add_there or by_worker and add or nil
      return meissa.replicas(2, {setup = tearing(what, mark, always)}, function(r)
        local v, seen = meissa.full(6400, r.index), {}
        for step = 1, 4 do
          seen[step] = r.allReduce(v, op)[1]
          if step == 2 then v:fill(1) end
        end
        return seen
      end)
    end
    for n, what in ipairs {"put", "array", 1, 2, 1} do
      local mark, by_worker = os.tmpname(), n == 5
      meissa.init {workers = 2}
      local list = run(what, mark, false, by_worker)
      assert.is_nil(io.open(mark))
      assert.same({{3, 6, 2, 4}, {3, 6, 2, 4}}, list)
      meissa.init {workers = 2}
      local ok, err = pcall(run, what, mark, true, by_worker)
      assert.is_false(ok)
      assert.equal("WRK", err.code)
      assert.truthy(err.message:find("was written while it was read", 1, true))
    end
  end)

  it("exchanges sums without the driver, by any number of workers, with the same bits", function()
    -- Arrays that are shared out and that are not, alone and together, contiguous or not, twice.
    local function exchange_sums(K, seed)
      local list = meissa.replicas(K, {seed = seed}, function(r)
        local seen, n = {}, 6000 + 7 * seed % 13
        local a, b = meissa.zeros(n), meissa.zeros({n, 3}, {type = "float"})
        local c, column = meissa.zeros({9000}, {type = "int32"}), b:select(2, 2)
        for i = 1, n, 5 do
          a[i], b[i][2], c[i] = meissa.normal(), meissa.normal(), meissa.random(9)
        end
        local small = meissa.full(5, meissa.random())
        for step = 1, 12 do
          local kind = (step + seed) % 6
          if kind == 0 then r.allReduce {a, x = {b, meissa.random()}, c, small} end
          if kind == 1 then r.allReduce(column) end
          if kind == 5 then
            r.allReduce({a, x = {column, r.index, small}, c}, function(one, other)
              if type(one) == "number" then return one - 2 * other end
              return one:mul(3):add(other)
            end)
          end
          if kind == 2 then r.allReduce {a, a:narrow(1, 2, n - 1), small} end
          if kind == 3 then r.scatter {column, a, step * r.index} end
          if kind == 4 then r.allReduce(r.index * meissa.random()) end
          r.barrier()
          a:mul(0.5)
          b:mul(0.25)
          seen[step] = BITS:format(a:sum() + b:sum()) .. BITS:format(c:sum() + small:sum())
        end
        return table.concat(seen, " ") .. BITS:format(r.netStats().bytes)
      end)
      return table.concat(list, "\n")
    end
    compare_roads(exchange_sums, 2, 5, 4)
  end)

  it("prints by step and replica, as without workers", function()
    local function printed(workers)
      return child.script([[
        local meissa = require "meissa"
        meissa.init {workers = tonumber(arg[1])}
        local say = print
        meissa.replicas(5, {}, function(r)
          for step = 1, 4 do
            print("replica", r.index, "step", step)
            for _ = 1, step do r.allReduce(step) end
            r.barrier()
            if (r.index + step) % 3 == 0 then say(r.index, r.scatter(step)) else r.scatter(0) end
            r.allReduce(meissa.full(3, step))
          end
        end)
        print "over"
      ]], {arguments = workers})
    end
    local expected = printed(0)
    assert.truthy(expected:find("replica\t5\tstep\t4\n", 1, true), expected)
    for workers = 1, 4 do assert.equal(expected, printed(workers)) end
  end)

  it("asks the driver for what only that can do", function()
    meissa.init {workers = 2}
    local jobs = 0
    local hosting = require "meissa.driver.hosting"
    local step = hosting.step
    finally(function() hosting.step = step end)
    hosting.step = function(...)
      jobs = jobs + 1
      return step(...)
    end
    local function count(fn)
      jobs = 0
      meissa.replicas(4, {}, fn)
      return jobs
    end
    local few = count(function(r)
      local v = meissa.full(100, r.index)
      for _ = 1, 100 do r.allReduce(v) end
      for _ = 1, 100 do r.allReduce(v, function(a, b) return b:add(a) end) end
      for _ = 1, 100 do r.allReduce({1, 2}, math.max) end
      r.scatter {v, r.index}
      r.barrier()
    end)
    local many = count(function(r)
      local v, twice = meissa.full(100, r.index), {2}
      for _ = 1, 100 do r.allReduce(v, function(a, b) return a:add(twice[1], b) end) end
    end)
    assert.truthy(few < 30, few) -- more than one where that takes longer than a while
    assert.equal(101, many)
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
  end)
end)
