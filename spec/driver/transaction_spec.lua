-- SPDX-License-Identifier: MIT
-- A parallel loop completes, or its arrays are as before, byte for byte: after a body's error and
-- one of merging. Those that are no transaction lose them. See also transaction_deaths_spec.lua.
local meissa = require "meissa"
local ffi = require "ffi"

local parallel = meissa.parallel

-- The bytes of a dense array without gaps, or of a sparse one's values.
local function bytes(A)
  local size = {float = 4, double = 8, int32 = 4, int64 = 8}
  return ffi.string((A:data()), A:nnz() * size[A:type()])
end

-- Loops that fail at `bad` of many iterations: each writes a good part of its arrays before. They
-- give the arrays that must be as before.
local loops = {}

function loops.rotate(bad)
  local ij = {i = {}, j = {}, v = {}}
  for e = 1, 3000 do ij.i[e], ij.j[e], ij.v[e] = e * 7 % 60 + 1, e * 11 % 50 + 1, e end
  local R = meissa.sparse({60, 50}, ij)
  local W = meissa.rand({60, 8}, {seed = 1, type = "float"})
  local H = meissa.rand({50, 8}, {seed = 2})
  return {W, H}, function()
    local sum = 0
    for i, j, v in parallel(R) do
      local w, h = W[i], H[j]
      sum = sum + v
      for k = 1, 8 do w[k], h[k] = w[k] + 0.1 * h[k], h[k] - 0.1 * w[k] end
      if v == bad then error("stop here") end
    end
    return sum
  end
end

function loops.wavefront(bad)
  local A = meissa.rand({90, 70}, {seed = 3})
  return {A}, function()
    for i, j in parallel({2, 89}, {2, 69}) do
      A[i][j] = 0.25 * (A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1])
      if i * 1000 + j == bad then error("stop here") end
    end
  end
end

function loops.triangle(bad)
  local A, k = meissa.rand({300, 300}, {seed = 4}), 3
  return {A}, function()
    for i in parallel({k + 1, 300}) do
      local f = A[i][k] / A[k][k]
      for j = k, 300 do A[i][j] = A[i][j] - f * A[k][j] end
      if i == bad then error("stop here") end
    end
  end
end

function loops.columns(bad) -- a transposed view: the log follows columns
  local A = meissa.rand({400, 50}, {seed = 5})
  local T = A:transpose(1, 2)
  return {A}, function()
    for i in parallel(400) do
      for j = 1, 50 do T[j][i] = -T[j][i] end
      if i == bad then error("stop here") end
    end
  end
end

function loops.view(bad) -- a part with rows that do not follow one another
  local A = meissa.rand({200, 200}, {seed = 6})
  local B = A:narrow(2, 31, 100)
  return {A}, function()
    for i in parallel(200) do
      B[i]:scal(-1)
      if i == bad then error("stop here") end
    end
  end
end

function loops.anywhere(bad) -- places that the data tell
  local A, where = meissa.rand({70, 3000}, {seed = 7, type = "float"}), meissa.zeros({3000})
  for i = 1, 3000 do where[i] = i * 7919 % 70 + 1 end
  return {A}, function()
    for i in parallel(3000) do
      A[where[i]][i] = A[where[i]][i] + i
      if i == bad then error("stop here") end
    end
  end
end

function loops.sparse(bad)
  local ij = {i = {}, j = {}, v = {}}
  for e = 1, 4000 do ij.i[e], ij.j[e], ij.v[e] = e % 200 + 1, math.ceil(e / 200), e end
  local X = meissa.sparse({200, 20}, ij)
  return {X}, function()
    for i, j, v in parallel(X) do
      X[i][j] = -v
      if v == bad then error("stop here") end
    end
  end
end

function loops.sweep(bad)
  local A = meissa.rand({40, 60}, {seed = 8})
  return {A}, function()
    for i, j in parallel({2, 40}, {1, 60}) do
      A[i][j] = A[i - 1][61 - j] + A[i][j]
      if i * 1000 + j == bad then error("stop here") end
    end
  end
end

function loops.integers(bad)
  local A = meissa.zeros({5000}, {type = "int32"})
  local B = meissa.full({5000}, 9, {type = "int64"})
  return {A, B}, function()
    for i in parallel(5000) do
      A[i], B[5001 - i] = i, -i
      if i == bad then error("stop here") end
    end
  end
end

-- An iteration late in each loop, as its body tells it.
local bad = {rotate = 2500, wavefront = 80 * 1000 + 60, triangle = 290, columns = 390, view = 190,
             anywhere = 2900, sparse = 3500, sweep = 35 * 1000 + 30, integers = 4800}

local roads = {}
for _, transport in ipairs {"ipc", "tcp"} do
  for _, shm in ipairs {true, false} do
    roads[#roads + 1] = {transport = transport, shm = shm, workers = 2}
  end
end

local function name_of(road)
  return road.transport .. (road.shm and ", shared" or ", by value")
end

for _, road in ipairs(roads) do
  describe("a loop that fails (" .. name_of(road) .. ")", function()
    setup(function() meissa.init(road) end)
    teardown(function() meissa.init {} end)

    for name, make in pairs(loops) do
      it("leaves its arrays as before: " .. name, function()
        local arrays, run = make(bad[name])
        local before = {}
        for k, A in ipairs(arrays) do before[k] = bytes(A) end
        for _ = 1, 2 do
          local ok, err = pcall(run)
          assert.is_false(ok)
          assert.equal("BDY", err.code, tostring(err))
          assert.truthy(err.message:find("stop here", 1, true), tostring(err))
          for k, A in ipairs(arrays) do assert.is_true(before[k] == bytes(A)) end
        end
        -- The same loop without its fault changes them.
        arrays, run = make(nil)
        run()
        for k, A in ipairs(arrays) do assert.is_false(before[k] == bytes(A)) end
      end)
    end

    it("leaves its arrays as before when merging its buffers fails", function()
      local A, w = meissa.rand({2000}, {seed = 9}), meissa.rand({50}, {seed = 10})
      local b = meissa.buffer(w, {max_delay = 300, apply = function(old, pending)
        return pending == 3 and "no number" or old + pending
      end})
      local before = {bytes(A), bytes(w)}
      local ok, err = pcall(function()
        for i in parallel(2000) do
          A[i] = -i
          b[i % 50 + 1] = b[i % 50 + 1] + math.floor(i / 500)
        end
      end)
      assert.is_false(ok)
      assert.equal("BDY", err.code, tostring(err))
      assert.same(before, {bytes(A), bytes(w)})
      ok = pcall(function()
        for i in parallel(2000, {transaction = false}) do
          A[i] = -i
          b[i % 50 + 1] = b[i % 50 + 1] + math.floor(i / 500)
        end
      end)
      assert.is_false(ok)
      for _, X in ipairs {A, w} do
        local fine, why = pcall(X.sum, X)
        assert.is_false(fine)
        assert.matches("did not finish", tostring(why))
      end
    end)

    it("marks them lost with transaction = false, until a loop writes all of them", function()
      local A, B = meissa.rand({2000}, {seed = 1}), meissa.rand({2000}, {seed = 1})
      local ok, err = pcall(function()
        for i in parallel(2000, {transaction = false}) do
          A[i], B[i] = i, i
          if i == 1900 then error("stop here") end
        end
      end)
      assert.is_false(ok)
      assert.equal("BDY", err.code)
      local fine, why = pcall(function() return A[1] end)
      assert.is_false(fine)
      assert.equal("ARR", why.code)
      assert.matches("transaction_spec.lua:%d+ did not finish: .*stop here", why.message)
      for i in parallel(1999) do A[i] = i end -- not all
      assert.is_false(pcall(A.sum, A))
      for i in parallel(2000) do if i * i > 0 then A[i] = i end end -- not surely
      assert.is_false(pcall(A.sum, A))
      for i in parallel(2000) do A[i] = i end
      assert.equal(2001000, A:sum())
      assert.is_false(pcall(B.sum, B)) -- another array
    end)
  end)
end

describe("the log of a transaction", function()
  setup(function() meissa.init {workers = 2} end)
  teardown(function() meissa.init {} end)

  local array = require "meissa.array"

  it("holds what a loop may write, not the rest of the array", function()
    local A = meissa.zeros {2000, 4000} -- 64 MB
    local before = array.bytes_held()
    for i in parallel(4000) do A[1][i] = i end
    for i in parallel({1001, 1100}) do A[i][i] = i end
    for i in parallel(100) do
      local row = A[2 * i + 1]
      for j = 11, 20 do row[j] = j end
    end
    assert.is_true(array.bytes_held() - before < 2e6)
    local ok = pcall(function()
      for i in parallel(4000) do
        A[1][i] = -1
        if i == 3900 then error("stop here") end
      end
    end)
    assert.is_false(ok)
    assert.equal(4000 * 4001 / 2, A[1]:sum())
  end)

  it("is kept between loops, and given back when loops need much less", function()
    local A, B = meissa.zeros {4000000}, meissa.zeros {1000}
    local small = array.bytes_held()
    for i in parallel(4000000) do A[i] = i end
    assert.is_true(array.bytes_held() - small > 30e6)
    for k = 1, 100 do
      for i in parallel(1000, {transaction = k % 2 == 0}) do B[i] = i end
    end
    assert.is_true(array.bytes_held() - small < 1e6)
  end)

  it("gives way when memory is short", function()
    local A = meissa.zeros {4000000}
    local small = array.bytes_held()
    for i in parallel(4000000) do A[i] = i end
    assert.is_true(array.bytes_held() - small > 30e6)
    local ok, err = pcall(meissa.zeros, {2 ^ 30, 2 ^ 12})
    assert.is_false(ok)
    assert.truthy(tostring(err):find("not enough memory", 1, true), tostring(err))
    assert.is_true(array.bytes_held() - small < 1e6)
    for i in parallel(4000000) do A[i] = -i end -- with a new log
    assert.equal(-8000002000000, A:sum())
  end)

  it("that memory has no room for is an error that names the option", function()
    local file = io.open("/proc/meminfo")
    local available = tonumber(file:read("*a"):match("MemAvailable:%s*(%d+)")) * 1024
    file:close()
    local columns, where = math.floor(available * 0.6 / 8 / 1000), meissa.ones {1000}
    local A = meissa.zeros {1000, columns} -- not touched
    local ok, err = pcall(function()
      for i in parallel(1000) do A[i][where[i]] = 1 end
    end)
    assert.is_false(ok)
    assert.equal("ARR", err.code)
    assert.truthy(err.message:find("{transaction = false}", 1, true), tostring(err))
    assert.equal(0, A[1000][1]) -- nothing ran, and the array is fine
    for i in parallel(1000, {transaction = false}) do A[i][where[i]] = 1 end
    assert.equal(1, A[1000][1])
    assert.equal(0, A[1000][2])
    A:free()
  end)
end)

describe("Views beside one that a loop without a log has lost", function()
  it("stay readable unless they share elements with it", function()
    local A = meissa.ones(6, 10)
    local lost = A:select(2, 1)
    local sharing = {A, A:narrow(1, 2, 3), A[5], A:transpose()[1], A:narrow(2, 1, 2)}
    local others = {A:select(2, 2), A:narrow(2, 2, 9), A:select(2, 10), meissa.ones(5)}
    local ok = pcall(function()
      for i in parallel(3, {transaction = false}) do
        lost[i] = 3
        if i == 2 then error("stop") end
      end
    end)
    assert.is_false(ok)
    for k, view in ipairs(sharing) do
      local read, err = pcall(view.sum, view)
      assert.are.same({k, false, "ARR"}, {k, read, err and err.code})
    end
    for _, view in ipairs(others) do assert.are.equal(view:nnz(), view:sum()) end
    lost:fill(2)
    assert.are.equal(66, A:sum())
  end)
end)

describe("A loop with buffers that declines a log", function()
  after_each(function() meissa.init {} end)

  for workers = 0, 2 do
    it("is merged without, on workers: " .. workers, function()
      meissa.init {workers = workers}
      local y = meissa.zeros(3)
      local sums = meissa.buffer(y)
      for i in parallel(9, {transaction = false}) do
        sums[i % 3 + 1] = sums[i % 3 + 1] + i
      end
      assert.same({18, 12, 15}, y:totable())
    end)
  end
end)
