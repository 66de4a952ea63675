-- SPDX-License-Identifier: MIT
-- What replicas refuse, and what they say of themselves; each case once did something else
-- silently, or ended in an error of Lua's own.
local child = require "spec.support.child"
local meissa = require "meissa"
local parallel = meissa.parallel

local function refused(code, pattern, fn, ...)
  local ok, err = pcall(fn, ...)
  assert.is_false(ok)
  assert.equal(code, err.code, tostring(err))
  assert.truthy(tostring(err):find(pattern, 1, true), tostring(err))
end

describe("meissa.replicate refuses", function()
  local function two(a, b, other)
    local r = meissa.replicate(a, {replicas = 2, every = 5})
    other = other or {every = 5}
    other.replicas = 2
    local q = meissa.replicate(b, other)
    for _ in parallel(20) do
      r[1] = r[1] + 1
      q[1] = q[1] + 1
    end
  end

  it("two objects over the same memory", function()
    local w = meissa.zeros(6)
    refused("OPT", "share memory", two, w, w)
    refused("OPT", "share memory", two, w, w:narrow(1, 6, 1))
    refused("OPT", "share memory", meissa.replicate, {w, w}, {replicas = 2, every = 5})
    refused("OPT", "share memory", meissa.replicate, {w:narrow(1, 1, 3), w:narrow(1, 3, 2)},
            {replicas = 2, every = 5})
    assert.equal(0, w:sum())
    two(w:narrow(1, 1, 3), w:narrow(1, 4, 2)) -- these do not
    two(w, w, {exchange = false}) -- private copies write nothing back
    two(w, w, {every = 5, final = "none"})
    assert.same({30, 0, 0, 10, 0, 0}, w:totable())
  end)

  it("an order among replicas", function()
    local r = meissa.replicate(meissa.zeros(1), {replicas = 2, every = 1})
    local ok, err = pcall(function()
      for _ in meissa.parallel(4, {ordered = true}) do r[1] = r[1] + 1 end
    end)
    assert.is_false(ok)
    assert.matches("^.-OPT: a loop over replicas has no order among them", tostring(err))
  end)

  it("numbers that are not whole", function()
    local w = meissa.zeros(4)
    local function sketch(width, depth, seed)
      return {replicas = 2, every = 5,
              filter = {sketch = "count", width = width, depth = depth, seed = seed}}
    end
    refused("OPT", "whole number", meissa.replicate, w, sketch(1.5, 2))
    refused("OPT", "whole number", meissa.replicate, w, sketch(2, 1.5))
    refused("OPT", "whole number", meissa.replicate, w, sketch(2, 2, 0.5))
    refused("OPT", "whole number", meissa.replicate, w, sketch(2))
    local r = meissa.replicate(w, {replicas = 2, every = 1, on_round = function()
      return {every = 1.5}
    end})
    refused("OPT", "whole number", function() for _ in parallel(9) do r[1] = r[1] + 1 end end)
    assert.equal(0, w[1])
  end)

  it("nothing of a filter under check = \"all\"", function()
    local w = meissa.zeros(1)
    local r = meissa.replicate(w, {replicas = 2, every = 1, filter = {magnitude = 0},
                                   merge = {add = 1}})
    for _ in parallel(10, {check = "all"}) do r[1] = r[1] + 1 end
    assert.equal(10, w[1])
  end)
end)

describe("the plan of a loop over replicas", function()
  it("says which index is shared out, and promises no more than holds", function()
    local w, X = meissa.zeros(1), meissa.ones(20)
    local function words(options)
      options.replicas = 2
      local r = meissa.replicate(w, options)
      for _, e in parallel(3, 20) do r[1] = r[1] + X[e] end
      return tostring(meissa.last())
    end
    assert.truthy(words({every = 5}):find("2 replicas, shares: e, topology all", 1, true))
    assert.truthy(words({exchange = false}):find("2 replicas, shares: e, private", 1, true))
    local stale = words {every = 5, staleness = 2}
    assert.truthy(stale:find("bounded(0, 2), values of up to 2 rounds earlier may be merged", 1,
                             true), stale)
    assert.truthy(words({every = 5, sync = "ssp", staleness = 1}):find(
      "bounded(-1, 1), values of up to 1 rounds earlier, or 1 later, may be merged", 1, true))
    assert.truthy(words({every = 5, sync = "async"}):find("none, values of any earlier", 1, true))
    assert.truthy(words({every = 5, lags = {{1, 1}}}):find("reproducible, values of up to 1", 1,
                                                           true))
  end)
end)

describe("filters of values and of changes", function()
  it("do with small steady changes what the manual says", function()
    local function last(topology, merge)
      local w = meissa.zeros(1)
      local r = meissa.replicate(w, {replicas = 4, every = 1, topology = topology, merge = merge,
                                     filter = {magnitude = 0.05}})
      for _ in parallel(400) do r[1] = r[1] + 0.02 end
      return ("%.2f"):format(w[1])
    end
    assert.equal("2.00", last("all", "mean"))
    assert.equal("0.02", last("ring", "mean"))
    assert.equal("2.00", last("all", {add = 1 / 4}))
  end)
end)

for _, workers in ipairs {0, 2} do
  describe("meissa.init with " .. workers .. " workers", function()
    setup(function() meissa.init {workers = workers} end)
    teardown(function() meissa.init {} end)

    it("is refused in the midst of a loop", function()
      local w = meissa.zeros(8)
      local function restart() meissa.init {workers = 1} end
      local r = meissa.replicate(w, {replicas = 2, every = 2, on_round = restart})
      refused("OPT", "while a loop runs", function()
        for _ in parallel(8) do r[1] = r[1] + 1 end
      end)
      refused("OPT", "while a loop runs", function()
        for _, i in meissa.iterate(w, 5, {stop = restart}) do w[i] = w[i] + 1 end
      end)
      assert.equal(0, w:sum())
      for i in parallel(8) do w[i] = i end
      assert.equal(36, w:sum())
      assert.equal(workers, meissa.workers().workers)
    end)
  end)
end

describe("meissa.replicas refuses", function()
  local function of(code, pattern, fn, ...)
    refused(code, pattern, meissa.replicas, 2, {}, fn, ...)
  end

  it("to wait where a replica cannot", function()
    of("BDY", "in a coroutine of the body's own", function(r)
      coroutine.wrap(function() r.allReduce(1) end)()
    end)
    of("BDY", "replica 1: the function of a replica yields", function() coroutine.yield(3) end)
    of("BDY", "called by one in C", function(r)
      table.sort({3, 2, 1}, function(a, b)
        r.barrier()
        return a < b
      end)
    end)
    of("BDY", "in a function that r.allReduce called", function(r)
      r.allReduce(1, function(a, b)
        r.barrier()
        return a + b
      end)
    end)
    of("BDY", "in a coroutine of the body's own", function(r) -- replicas in replicas
      meissa.replicas(2, {}, function() r.barrier() end)
    end)
    local late
    meissa.replicas(1, {}, function(r) return r end)
    late = meissa.replicas(2, {}, function(r) return r end)[2]
    refused("BDY", "after meissa.replicas had ended", late.barrier)
    refused("BDY", "after meissa.replicas had ended", late.allReduce, 1)
    local list = meissa.replicas(2, {}, function(r) -- what may be done
      local sum = 0
      for v in coroutine.wrap(function() for v = 1, 3 do coroutine.yield(v) end end) do
        sum = sum + r.allReduce(v * r.index)
      end
      local own = meissa.replicas(2, {}, function(q) return (q.allReduce(q.index)) end)
      return sum + r.allReduce(own[1])
    end)
    assert.same({24, 24}, list)
  end)

  it("values of different forms, and different options", function()
    of("OPT", "replica 2 gives a table, replica 1 a value", function(r)
      r.allReduce(r.index == 1 and 1 or {1})
    end)
    of("OPT", "replica 2 gives values of another form", function(r)
      r.allReduce {r.index == 1 and 1 or {1}}
    end)
    of("OPT", "replica 2 gives values of another form", function(r)
      r.allReduce {[r.index == 1 and "a" or "b"] = 1}
    end)
    of("OPT", "replica 2 gives values of another form", function(r)
      r.scatter(meissa.zeros({2}, {type = r.index == 1 and "double" or "int32"}))
    end)
    for _, staleness in ipairs {0, 1} do
      of("OPT", "replica 2 exchanges float, replica 1 double: arrays of one type", function(r)
        r:exchange(meissa.zeros({2}, {type = r.index == 1 and "double" or "float"}),
                   {staleness = staleness})
      end)
    end
    of("OPT", "replica 2 exchanges 2 x float, double, replica 1 3 x float", function(r)
      local function zeros(type) return meissa.zeros({2}, {type = type}) end
      r:exchange({zeros "float", zeros "float", zeros(r.index == 1 and "float" or "double")}, {})
    end)
    of("OPT", "replica 2 has other options than replica 1", function(r)
      r:exchange(meissa.zeros(2), {filter = {magnitude = r.index}})
    end)
    of("OPT", "replica 2 has other options than replica 1", function(r)
      r:exchange(meissa.zeros(2), r.index == 2 and {topology = "ring"} or nil)
    end)
    local list = meissa.replicas(2, {}, function(r) -- tables that say the same are the same
      local w = meissa.full({1}, r.index)
      for _ = 1, 2 do
        r:exchange(w, {filter = {magnitude = 0}, merge = function(a, b) return a + b end})
      end
      return w[1]
    end)
    assert.same({6, 6}, list)
  end)

  it("calls of a wrong kind", function()
    of("OPT", "the operation is a function", function(r) r.allReduce(1, "x") end)
    of("OPT", "zero is a function", function(r) r.allReduce(1, nil, 4) end)
    of("OPT", "cyclic", function(r)
      local t = {1}
      t.t = t
      r.allReduce(t)
    end)
    for _, name in ipairs {"allReduce", "scatter", "shard", "walkTable"} do
      of("OPT", "with a dot", function(r) r[name](r, 2) end)
    end
    of("OPT", "with a colon", function(r) r.exchange(meissa.zeros(2), {}) end)
    of("OPT", "fn is a function of a value, not nil", function(r) r.walkTable({1}) end)
    refused("OPT", 'whole number from 1 to 4096, not "3"', meissa.replicate, meissa.zeros(1),
            {replicas = "3", every = 1})
    of("BDY", "the operation of an allReduce failed on two arrays: bad argument", function(r)
      r.allReduce(meissa.zeros(2), math.max)
    end)
    of("BDY", "the operation of an allReduce yields", function(r)
      r.allReduce(1, function(a) return coroutine.yield(a) end)
    end)
    for name, values in pairs {sumGradients = "sgd", sumAndNormalizeGradients = "sgd",
                               averageParameters = "ea", synchronizeCenter = "ea"} do
      of("OPT", name .. " is called with a dot: s." .. name .. "(...), not s:", function(r)
        local s = meissa[values](r, 1, 0.5)
        s[name](s, {meissa.zeros(2)})
      end)
    end
    of("OPT", "the factor of a merge ({add = gamma}) is finite", function(r)
      r:exchange(meissa.zeros(1), {merge = {add = math.huge}})
    end)
    of("OPT", "a filter's threshold is a number from 0 on, not nan", function(r)
      r:exchange(meissa.zeros(1), {filter = {magnitude = 0 / 0}})
    end)
    local one = meissa.replicate(meissa.zeros(1), {replicas = 2, every = 1})
    of("ARR", "one in another loop's body, or in a function of meissa.replicas, runs in place",
       function()
         for _ in meissa.parallel(4) do one[1] = one[1] + 1 end
       end)
    of("OPT", "meissa.ea moves arrays and tensors", function(r)
      meissa.ea(r, 1, 0.5).averageParameters(5)
    end)
    local list = meissa.replicas(2, {}, function(r) -- a table in two places is none
      local inner = {r.index}
      return r.allReduce({inner, {inner[1]}, inner})[2][1]
    end)
    assert.same({3, 3}, list)
  end)

  it("to go on after Ctrl-C", function()
    local output = child.script [[
      local ffi, meissa = require "ffi", require "meissa"
      ffi.cdef "int raise(int);"
      meissa.init {workers = 0}
      jit.off()
      local A = meissa.zeros(4)
      local ok, err = pcall(meissa.replicas, 2, {}, function(r)
        r.shard(A):fill(9)
        ffi.C.raise(2)
        for _ = 1, 10 do r.barrier() end
      end)
      print(ok, err.code, A:sum())]]
    assert.equal("false\tINT\t0\n", output)
    output = child.script [[
      local ffi, meissa = require "ffi", require "meissa"
      ffi.cdef "int getpid(void);"
      meissa.init {workers = 2}
      local A, driver = meissa.zeros(4), ffi.C.getpid()
      local ok, err = pcall(meissa.replicas, 2, {}, function(r)
        r.shard(A):fill(9)
        r.barrier()
        if r.index == 2 then os.execute("kill -INT " .. driver) end
        for _ = 1, 1000 do r.barrier() end
      end)
      print(ok, err.code, A:sum())]]
    assert.equal("false\tINT\t0\n", output)
  end)
end)

for _, workers in ipairs {0, 2} do
  describe(("meissa.replicas on %d workers refuses"):format(workers), function()
    setup(function() meissa.init {workers = workers} end)
    teardown(function() meissa.init {} end)

    it("an operation that gives nothing, or something else", function()
      for _, gives in ipairs {false, "x"} do
        refused("BDY", "op(a, b) gives what a becomes with b", meissa.replicas, 2, {}, function(r)
          return r.allReduce(1, function() return gives or nil end)
        end)
      end
      refused("BDY", "for two arrays", meissa.replicas, 2, {}, function(r)
        return r.allReduce(meissa.ones(1), function() return 3 end)
      end)
      local words = "the operation of an allReduce gave an array of 3 for two of 2x2"
      refused("BDY", words, meissa.replicas, 2, {}, function(r)
        r.allReduce(meissa.zeros(2, 2), function() return meissa.zeros(3) end)
      end)
      local found = meissa.replicas(2, {}, function(r) -- in place
        return r.allReduce(meissa.ones(1), function(a, b) a:axpy(2, b) end)
      end)
      assert.equal(3, found[2][1])
    end)

    it("an operation that waits for others", function()
      local words = "r.barrier was called in a function that r.allReduce called"
      refused("BDY", words, meissa.replicas, 2, {}, function(r)
        r.allReduce(1, function(a)
          r.barrier()
          return a
        end)
      end)
      refused("BDY", words, meissa.replicas, 2, {}, function(r)
        local barrier = r.barrier
        r.allReduce(1, function(a)
          barrier()
          return a
        end)
      end)
    end)

    it("a set-up that fails, and writing what it captured", function()
      local function run(setup, fn) meissa.replicas(2, {setup = setup}, fn) end
      refused("BDY", "setup: no", run, function() error "no" end, function() end)
      local A = meissa.zeros(1)
      refused("ARR", "by r.shard", run, nil, function() A[1] = 2 end)
    end)
  end)
end
