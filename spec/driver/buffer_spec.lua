-- SPDX-License-Identifier: MIT
-- Buffers against a serial model: where stages and blocks begin is taken from what the loop itself
-- saw (an element that counts iterations), everything else is computed anew in plain Lua.
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"
local plain = require "spec.support.plain"
local parallel = meissa.parallel

local SEED = tonumber(os.getenv "MEISSA_BUFFER_SEED") or 20
print("MEISSA_BUFFER_SEED=" .. SEED)

local ROADS = {
  {workers = 0}, {workers = 1}, {workers = 2}, {workers = 3}, {workers = 5},
  {workers = 2, shm = false}, {workers = 3, shm = false, transport = "tcp"},
}

local function name_of(road)
  return ("%d workers%s%s"):format(road.workers, road.shm == false and ", by value" or "",
                                   road.transport == "tcp" and ", tcp" or "")
end

-- Deterministic data that every road sees alike.
local n, m = 700, 12
local X = meissa.randn({n, m}, {seed = SEED})
local Y = meissa.randn({n}, {seed = SEED + 1})

-- One pass of least squares with AdaGrad's rule when `helper`, else plain SGD.
local function pass(delay, helper)
  local w, z = meissa.zeros(m), meissa.full({m}, 1)
  local count, seen, before = meissa.zeros(1), meissa.zeros(n), meissa.zeros(n)
  local rule = helper and function(old, g, sum)
    local new = sum + g * g
    return old + 0.1 * g / math.sqrt(new), new
  end or nil
  local wb = meissa.buffer(w, {apply = rule, with = helper and z or nil, max_delay = delay})
  local counts = meissa.buffer(count, {max_delay = delay})
  for i in parallel(n) do
    seen[i], before[i] = count[1], counts[1]
    counts[1] = counts[1] + 1
    local x = X[i]
    local e = 0.01 * (Y[i] - w:dot(x))
    for k = 1, m do wb[k] = wb[k] + e * x[k] end
  end
  return {w = w, z = z, seen = seen, before = before, count = count, plan = meissa.last()}
end

-- The same from the definition.
local function model(result, helper)
  local w, z = meissa.zeros(m), meissa.full({m}, 1)
  local function merge(pendings)
    for _, pending in ipairs(pendings) do
      for k = 1, m do
        local g = pending[k]
        if g ~= 0 and helper then
          local sum = z[k] + g * g
          w[k], z[k] = w[k] + 0.1 * g / math.sqrt(sum), sum
        elseif g ~= 0 then
          w[k] = w[k] + g
        end
      end
    end
  end
  local pendings, pending = {}
  for i = 1, n do
    if i > 1 and result.seen[i] ~= result.seen[i - 1] then
      merge(pendings)
      pendings = {}
    end
    if result.before[i] == 0 then
      pending = {}
      for k = 1, m do pending[k] = 0 end
      pendings[#pendings + 1] = pending
    end
    local x = X[i]
    local e = 0.01 * (Y[i] - w:dot(x))
    for k = 1, m do pending[k] = pending[k] + e * x[k] end
  end
  merge(pendings)
  return w, z
end

local function bytes(array) return plain.numbers(array:totable()) end

describe("a buffer", function()
  teardown(kept_workers.stop)

  for _, case in ipairs {{}, {delay = 100}, {delay = 33, helper = true}, {helper = true}} do
    local label = ("max_delay %s%s"):format(case.delay or "none", case.helper and ", helper" or "")

    it("is merged as defined: " .. label, function()
      local expected
      for _, road in ipairs(ROADS) do
        kept_workers.init(road)
        local result = pass(case.delay, case.helper)
        local w, z = model(result, case.helper)
        assert.equal(bytes(w), bytes(result.w), name_of(road))
        assert.equal(bytes(z), bytes(result.z), name_of(road))
        assert.equal(n, result.count[1])
        expected = expected or bytes(result.w)
        assert.equal(expected, bytes(result.w), name_of(road))
      end
    end)
  end

  it("holds no stage longer than max_delay, and few that are much shorter", function()
    kept_workers.init {workers = 2}
    for _, delay in ipairs {1, 7, 100, 699, 700, 5000} do
      local result = pass(delay)
      local stages, begun = 0, nil
      for i = 1, n do
        if result.seen[i] ~= begun then
          begun, stages = result.seen[i], stages + 1
          assert.equal(i - 1, begun) -- it sees all that came before its stage
        end
        assert.is_true(i - 1 - begun < delay, ("iteration %d, max_delay %d"):format(i, delay))
      end
      assert.equal(stages, result.plan.stages)
      assert.is_true(stages <= math.ceil(n / delay * 1.2), ("%d stages"):format(stages))
    end
  end)

  it("keeps exact what is not buffered: rotation with a buffered total", function()
    local entries = {i = {}, j = {}, v = {}}
    for e = 1, 3000 do
      entries.i[e], entries.j[e], entries.v[e] = e * 7 % 100 + 1, e * 13 % 83 + 1, e % 5
    end
    local counts = meissa.sparse({100, 83}, entries)
    local expected
    for _, road in ipairs(ROADS) do
      kept_workers.init(road)
      local docs = meissa.zeros({100, 4}, {type = "int32"})
      local words = meissa.zeros({83, 4}, {type = "int32"})
      local totals, order = meissa.zeros(4, {type = "int32"}), meissa.zeros({100, 83})
      local tb = meissa.buffer(totals, {max_delay = 500})
      for i, j, v in parallel(counts) do
        local topic = (docs[i][1] + words[j][2] + totals[1] + tb[1] + v) % 4 + 1
        docs[i][topic] = docs[i][topic] + 1
        words[j][topic] = words[j][topic] + 1
        tb[topic] = tb[topic] + 1
        order[i][j] = topic
      end
      assert.equal("rotate", meissa.last().strategy)
      assert.is_true(meissa.last().stages >= 6)
      assert.equal(3000, totals:sum())
      for k = 1, 4 do
        local sum = 0
        for i = 1, 100 do sum = sum + docs[i][k] end
        assert.equal(sum, totals[k])
      end
      local got = bytes(docs) .. bytes(words) .. bytes(totals) .. bytes(order)
      expected = expected or got
      assert.is_true(expected == got, name_of(road))
    end
  end)

  it("works in sweeps and wavefronts that are cut into stages", function()
    local size, expected = 40, nil
    for _, road in ipairs(ROADS) do
      kept_workers.init(road)
      local A, sums = meissa.rand({size, size}, {seed = SEED}), meissa.zeros(size)
      local sb = meissa.buffer(sums, {max_delay = 300})
      for i, j in parallel({2, size}, {2, size}, {grid = {8, 8}}) do
        A[i][j] = 0.5 * (A[i - 1][j] + A[i][j - 1]) + 0.01 * sums[j]
        sb[j] = sb[j] + A[i][j]
      end
      assert.equal("wavefront", meissa.last().strategy)
      local B = meissa.rand({size, size}, {seed = SEED})
      for i, j in parallel({2, size}, {2, size - 1}) do
        B[i][j] = B[i - 1][j + 1] + B[i - 1][j - 1] + 0.01 * sums[j]
        sb[j] = sb[j] + B[i][j]
      end
      local got = bytes(A) .. bytes(B) .. bytes(sums)
      expected = expected or got
      assert.is_true(expected == got, name_of(road))
    end
  end)

  it("gives its rule what was put there, and nothing between", function()
    for _, road in ipairs(ROADS) do
      kept_workers.init(road)
      local w, times = meissa.zeros(400), meissa.zeros(400)
      local wb = meissa.buffer(w, {with = times, apply = function(old, g, t)
        return old + g, t + 1
      end})
      for i in parallel(200) do wb[2 * i] = wb[2 * i] + i % 3 end
      for e = 1, 400 do
        local put = e % 2 == 0 and e / 2 % 3 or 0
        assert.equal(put, w[e])
        assert.equal(put > 0 and 1 or 0, times[e], name_of(road))
      end
    end
  end)

  it("may have rules of merging that run loops of their own", function()
    kept_workers.init {workers = 2}
    local w, v, other = meissa.zeros(40), meissa.zeros(40), meissa.zeros(40)
    local ob = meissa.buffer(other)
    local function rule(old, g)
      for i in parallel(40) do ob[i] = ob[i] + 1 end
      return old + g
    end
    local wb, vb = meissa.buffer(w, {apply = rule}), meissa.buffer(v, {apply = rule})
    for i in parallel(40) do
      wb[i] = wb[i] + i
      vb[41 - i] = vb[41 - i] + i
    end
    for i = 1, 40 do assert.same({i, 41 - i, 80}, {w[i], v[i], other[i]}) end
  end)

  it("can be reached through functions, rows and methods", function()
    kept_workers.init {workers = 2}
    local W = meissa.zeros {3, 5}
    local Wb = meissa.buffer(W)
    local ones = meissa.ones(5)
    local function bump(row, by) Wb[row][2] = Wb[row][2] + by end
    for i in parallel(90) do
      local row = Wb[(i - 1) % 3 + 1]
      row[1] = row[1] + 1
      row:axpy(0.5, ones)
      bump(2, 1)
    end
    assert.same({{45, 15, 15, 15, 15}, {45, 105, 15, 15, 15}, {45, 15, 15, 15, 15}}, W:totable())
  end)

  it("is the same in the plain loop, where the whole loop is one block", function()
    kept_workers.init {workers = 2}
    local w, w2 = meissa.zeros(3), meissa.zeros(3)
    local wb, wb2 = meissa.buffer(w, {max_delay = 4}), meissa.buffer(w2)
    local seen = meissa.zeros(10)
    for i in parallel(10, {serial = true}) do
      seen[i] = w[1]
      wb[1] = wb[1] + 1
      wb2[3] = wb2[3] + i
    end
    assert.same({0, 0, 0, 0, 4, 4, 4, 4, 8, 8}, seen:totable())
    assert.same({10, 0, 0}, w:totable())
    assert.same({0, 0, 55}, w2:totable())
  end)

  it("is no dependence for check = true", function()
    kept_workers.init {workers = 2}
    local w = meissa.zeros(3)
    local wb = meissa.buffer(w)
    for i in parallel(100, {check = true}) do wb[i % 3 + 1] = wb[i % 3 + 1] + 1 end
    assert.equal(100, w:sum())
  end)

  it("is reported with how old reads are", function()
    kept_workers.init {workers = 2}
    local w, v = meissa.zeros(3), meissa.zeros(3)
    local wb, vb = meissa.buffer(w, {max_delay = 10}), meissa.buffer(v)
    for i in parallel(100) do
      wb[1] = wb[1] + w[2]
      vb[1] = vb[1] + v[2] + i
    end
    local text = tostring(meissa.last())
    assert.matches("wb  buffer of w  merged every 10 iterations at most (10 times)", text, 1, true)
    assert.matches("w  read  read everywhere, up to 10 iterations old", text, 1, true)
    assert.matches("vb  buffer of v  merged once, at the loop's end", text, 1, true)
    assert.matches("v  read  read everywhere, as it is when the loop begins", text, 1, true)
  end)
end)

describe("a buffer gone wrong", function()
  setup(function() kept_workers.init {workers = 2} end)
  teardown(kept_workers.stop)

  local function fails(code, words, fn)
    local ok, err = pcall(fn)
    assert.is_false(ok)
    assert.equal(code, err.code, tostring(err))
    assert.matches(words, tostring(err), 1, true)
  end

  it("is refused with bad arguments", function()
    local w = meissa.zeros(3)
    local sparse = meissa.sparse({3, 3}, {i = {1}, j = {1}, v = {1}})
    fails("OPT", "must be a dense array", function() meissa.buffer(5) end)
    fails("OPT", "must be a dense array", function() meissa.buffer(sparse) end)
    fails("OPT", "must be a dense array", function() meissa.buffer(meissa.buffer(w)) end)
    fails("OPT", "max_delay", function() meissa.buffer(w, {max_dellay = 1}) end)
    fails("OPT", "'max_delay' is a whole number", function() meissa.buffer(w, {max_delay = 0}) end)
    fails("OPT", "'max_delay' is a whole number", function()
      meissa.buffer(w, {max_delay = 1.5})
    end)
    fails("OPT", "'apply' is a function", function() meissa.buffer(w, {apply = 1}) end)
    fails("OPT", "need a function 'apply'", function() meissa.buffer(w, {with = w}) end)
    fails("OPT", "must have the extents of", function()
      meissa.buffer(w, {with = meissa.zeros(4), apply = math.max})
    end)
  end)

  it("cannot be used outside of a loop", function()
    local wb = meissa.buffer(meissa.zeros(3))
    fails("ARR", "outside of one nothing is pending", function() return wb[1] end)
    fails("ARR", "outside of one nothing is pending", function() wb[1] = 1 end)
    assert.equal("buffer of DistArray<double>[3] dense, 3 blocks, 24 bytes", tostring(wb))
  end)

  it("refuses a body that writes into the array too", function()
    local w = meissa.zeros(100)
    local wb = meissa.buffer(w)
    fails("DEP", "DEP117 array written beside its buffer or replicas", function()
      for i in parallel(100) do
        w[i] = i
        wb[1] = wb[1] + 1
      end
    end)
  end)

  it("refuses stores that disregard what is pending", function()
    local w = meissa.zeros(100, 3)
    local v, k = meissa.zeros(100), 7
    local wb, vb = meissa.buffer(w), meissa.buffer(v)
    local function put(b, at, x) b[at] = x end
    local loops = {
      function() for i in parallel(100) do vb[1] = i end end,
      function() for i in parallel(100) do vb[i % 7 + 1] = 3 end end,
      function() for i in parallel(100) do vb[1] = vb[2] + i end end,
      function() for i in parallel(100) do vb[k] = i end end,
      function() for i in parallel(100) do wb[i % 3 + 1][2] = 3 end end,
      function() for i in parallel(100) do wb[2]:fill(i) end end,
      function() for i in parallel(100) do put(vb, 4, i) end end,
      function() for i, _ in parallel(100, 3) do vb[i] = 3 end end,
    }
    for _, loop in ipairs(loops) do fails("DEP", "DEP118 buffer overwritten", loop) end
    local ok, err = pcall(loops[1])
    assert.is_false(ok)
    assert.truthy(err.message:find("vb[1] = vb[1] + x", 1, true), err.message)
  end)

  it("takes stores into elements of the iteration's own", function()
    local w, v = meissa.zeros(100, 3), meissa.zeros(100)
    local wb, vb = meissa.buffer(w), meissa.buffer(v)
    for i in parallel(100) do vb[101 - i] = i end
    for i in parallel(100) do wb[i]:fill(i) end
    for i, j in parallel(100, 3) do wb[i][j] = wb[i][j] + j end
    for e = 1, 100 do
      assert.equal(101 - e, v[e])
      for j = 1, 3 do assert.equal(e + j, w[e][j]) end
    end
  end)

  it("refuses a delay that no block keeps", function()
    local w = meissa.zeros(100)
    local wb = meissa.buffer(w, {max_delay = 50})
    fails("OPT", "max_delay = 50", function()
      for i, _ in parallel(4, 100, {grid = {4}}) do wb[i] = wb[i] + 1 end
    end)
  end)

  it("leaves everything as it was when the body fails in a later stage", function()
    local w, z, direct = meissa.ones(10), meissa.ones(10), meissa.ones(1000)
    local wb = meissa.buffer(w, {max_delay = 100, with = z, apply = function(old, g, sum)
      return old + g, sum + 1
    end})
    for _, workers in ipairs {0, 2} do
      kept_workers.init {workers = workers}
      fails("ARR", "subscript 11 is outside", function()
        for i in parallel(1000) do
          direct[i] = i
          wb[i == 777 and 11 or i % 10 + 1] = wb[i % 10 + 1] + 1
        end
      end)
      assert.equal(10, w:sum())
      assert.equal(10, z:sum())
      assert.equal(1000, direct:sum())
    end
  end)

  it("leaves everything as it was when the merge fails", function()
    local w, count = meissa.ones({10}, {type = "int32"}), meissa.ones(10)
    local wb = meissa.buffer(w, {max_delay = 100})
    local cb = meissa.buffer(count, {apply = function(old, g)
      return old + g > 40 and "many" or old + g
    end})
    fails("ARR", "does not fit into type int32", function()
      for i in parallel(1000) do
        wb[i % 10 + 1] = wb[i % 10 + 1] + (i > 900 and 0.25 or 1)
      end
    end)
    assert.equal(10, w:sum())
    fails("BDY", "gave many as result 1", function()
      for i in parallel(1000) do
        wb[1] = wb[1] + 1
        cb[i % 10 + 1] = cb[i % 10 + 1] + 1
      end
    end)
    assert.equal(10, w:sum())
    assert.equal(10, count:sum())
  end)
end)
