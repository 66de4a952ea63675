-- SPDX-License-Identifier: MIT
--
-- Loops whose blocks read and overwrite what others wrote: on every road and with any number of
-- workers they have the bits of the blocks' serial order, computed here by plain Lua, and where the
-- loop is ordered those of the loop as written.

local ffi = require("ffi")
local core = require("meissa.core")
local support = require("spec.runtime_support")

-- Blocks in serial order, from the strategies' definitions: lists of ranges from 0.
local function row_major(ranges)
  local list = {{}}
  for _, count in ipairs(ranges) do
    local longer = {}
    for _, each in ipairs(list) do
      for r = 0, count - 1 do
        local at = {unpack(each)}
        at[#at + 1] = r
        longer[#longer + 1] = at
      end
    end
    list = longer
  end
  return list
end

local function rotation(ranges)
  local n, steps, list = math.max(unpack(ranges)), {}, {}
  for d = 2, #ranges do steps[d - 1] = n end
  for _, step in ipairs(row_major(steps)) do
    for a = 0, ranges[1] - 1 do
      local at, exists = {a}, true
      for d = 2, #ranges do
        at[d] = (a + step[d - 1]) % n
        exists = exists and at[d] < ranges[d]
      end
      if exists then list[#list + 1] = at end
    end
  end
  return list
end

local function wavefront(ranges)
  local list = {}
  for b = 0, ranges[2] - 1 do
    for a = 0, ranges[1] - 1 do list[#list + 1] = {a, b} end
  end
  return list
end

local orders = {
  rotate = rotation, wavefront = wavefront, hyperplane = row_major, skew = row_major,
  partition = row_major,
}

local function number_of(at, ranges)
  local block = 0
  for d = 1, #ranges do block = block * ranges[d] + at[d] end
  return block
end

-- Each case: strategy, extents of the axes, ranges, arrays {dims, item fields} and a kernel, made
-- of a prelude that sees `items`, `starts` (lists of first indices for each axis) and a block
-- function of (block, ranges ...). `cut(d, r)` gives the first and last index of a range.
local header = support.prelude .. [[
local items, given = ...
local starts = given.starts
local function cut(d, r) return starts[d][r + 1], starts[d][r + 2] - 1 end
]]

local N = 24

local cases = {
  {
    name = "a wavefront", strategy = "wavefront", extents = {N, N},
    sizes = {{5, 7}, {1, 4}, {6, 1}},
    arrays = {
      {{N + 1, N + 1}, {movement = "exchanged"}},
      {{N}, {movement = "rotated", cut = 2}, "float"},
      {{N}, {movement = "local", cut = 1}},
    },
    kernel = [[
      local a, s = vector(items[1], "double")
      local b, bs = vector(items[2], "float")
      local c, cs = vector(items[3], "double")
      return function(block, ra, rb)
        local i1, i2 = cut(1, ra)
        local j1, j2 = cut(2, rb)
        for i = i1, i2 do
          for j = j1, j2 do
            local x = 0.5 * a[i * s + j] + 0.3 * a[(i - 1) * s + j] - 0.7 * a[i * s + j - 1]
            a[i * s + j] = x
            b[(j - 1) * bs] = 0.9 * b[(j - 1) * bs] + x
            c[(i - 1) * cs] = 0.8 * c[(i - 1) * cs] - 0.1 * x
          end
        end
      end]],
    ordered = true,
  },
  {
    name = "a hyperplane of rows", strategy = "hyperplane", sequential = 1, extents = {N, N},
    sizes = {{N, 5}, {N, 1}, {N, 9}},
    arrays = {{{N + 1, N + 2}, {movement = "exchanged"}}},
    kernel = [[
      local a, s = vector(items[1], "double")
      return function(block, ri, rj)
        local i = cut(1, ri)
        local j1, j2 = cut(2, rj)
        for j = j1, j2 do
          a[i * s + j] = 0.4 * a[(i - 1) * s + j - 1] - 0.5 * a[(i - 1) * s + j + 1]
            + 0.3 * a[i * s + j]
        end
      end]],
    ordered = true,
  },
  {
    name = "an elimination", strategy = "hyperplane", sequential = 1, extents = {N, N},
    sizes = {{N, 6}},
    arrays = {{{N, N}, {movement = "exchanged"}}, {{N}, {movement = "local", cut = 2}}},
    kernel = [[
      local a, s = vector(items[1], "double")
      local d, ds = vector(items[2], "double")
      return function(block, rk, ri)
        local k = cut(1, rk) - 1
        local i1, i2 = cut(2, ri)
        for i = math.max(i1 - 1, k + 1), i2 - 1 do
          local f = a[i * s + k] / (a[k * s + k] + 3)
          d[i * ds] = d[i * ds] + f
          for j = k, given.n - 1 do a[i * s + j] = a[i * s + j] - f * a[k * s + j] end
        end
      end]],
    ordered = true,
  },
  {
    name = "a hyperplane with two sequential axes", strategy = "hyperplane", sequential = 2,
    extents = {3, 4, N}, sizes = {{3, 4, 4}},
    arrays = {{{N + 2}, {movement = "exchanged"}}},
    kernel = [[
      local a = vector(items[1], "double")
      local b = {}
      return function(block, ri, rj, rk)
        local k1, k2 = cut(3, rk)
        -- every other one reads its neighbours
        for k = k1 + (k1 + ri + rj) % 2, k2, 2 do
          a[k] = 0.5 * a[k] + 0.2 * a[k - 1] - 0.4 * a[k + 1]
        end
      end]],
    ordered = true,
  },
  {
    name = "a rotation of three axes", strategy = "rotate", extents = {7, 9, 8},
    sizes = {{3, 4, 2}, {2, 2, 5}, {4, 1, 3}},
    arrays = {
      {{7}, {movement = "local", cut = 1}}, {{9}, {movement = "rotated", cut = 2}},
      {{8}, {movement = "rotated", cut = 3}, "float"}, {{7, 9}, {movement = "exchanged"}},
      {{9, 8}, {movement = "exchanged"}, "float"},
    },
    kernel = [[
      local x, xs = vector(items[1], "double")
      local y, ys = vector(items[2], "double")
      local z, zs = vector(items[3], "float")
      local p, ps = vector(items[4], "double")
      local q, qs = vector(items[5], "float")
      return function(block, ra, rb, rc)
        local i1, i2 = cut(1, ra)
        local j1, j2 = cut(2, rb)
        local k1, k2 = cut(3, rc)
        for i = i1 - 1, i2 - 1 do
          for j = j1 - 1, j2 - 1 do
            for k = k1 - 1, k2 - 1 do
              local e = 0.1 + x[i * xs] - 0.5 * y[j * ys] + 0.25 * z[k * zs]
              local f = p[i * ps + j] - 0.3 * q[j * qs + k]
              x[i * xs] = 0.6 * x[i * xs] + 0.1 * f
              y[j * ys] = 0.5 * y[j * ys] + 0.2 * e
              z[k * zs] = 0.7 * z[k * zs] - 0.1 * e * f
              p[i * ps + j] = 0.4 * p[i * ps + j] + 0.3 * e
              q[j * qs + k] = 0.9 * q[j * qs + k] - 0.2 * e
            end
          end
        end
      end]],
  },
  {
    name = "a rotation with neighbours", strategy = "rotate", extents = {N, N},
    sizes = {{5, 4}, {3, 8}, {6, 1}},
    arrays = {{{N + 2, N + 2}, {movement = "exchanged"}}, {{N}, {movement = "local", cut = 1}}},
    kernel = [[
      local a, s = vector(items[1], "double")
      local w, ws = vector(items[2], "double")
      return function(block, ra, rb)
        local i1, i2 = cut(1, ra)
        local j1, j2 = cut(2, rb)
        for i = i1, i2 do
          for j = j1, j2 do
            local x = a[(i - 1) * s + j] - a[(i + 1) * s + j] + 0.5 * a[i * s + j - 1]
              - 0.5 * a[i * s + j + 1]
            a[i * s + j] = 0.6 * a[i * s + j] + 0.2 * x + 0.1 * w[(i - 1) * ws]
            w[(i - 1) * ws] = 0.5 * w[(i - 1) * ws] - x
          end
        end
      end]],
  },
  {
    name = "a skewed loop", strategy = "skew", extents = {2 * N - 1}, sizes = {{6}, {1}, {11}},
    arrays = {{{2 * N - 1}, {movement = "scattered"}}, {{2 * N - 1}, {movement = "exchanged"}}},
    kernel = [[
      local a = vector(items[1], "double")
      local b = vector(items[2], "double")
      return function(block, r)
        local s1, s2 = cut(1, r)
        for i = 0, given.n - 1 do
          for j = 0, given.n - 1 do
            local s = i + j
            if s1 <= s + 1 and s + 1 <= s2 then
              a[s] = 0.7 * a[s] + i - 0.3 * j
              b[s] = 0.6 * b[s] + a[s]
            end
          end
        end
      end]],
    ordered = true,
  },
}

local function new_arrays(case)
  local arrays = {}
  for i, about in ipairs(case.arrays) do arrays[i] = support.array(about[1], 20 + i, about[3]) end
  return arrays
end

local function all_bytes(arrays)
  local list = {}
  for i, a in ipairs(arrays) do list[i] = a:bytes() end
  return table.concat(list)
end

local function cuts(case, ranges)
  local lists, vectors = {}, {}
  for d, extent in ipairs(case.extents) do
    lists[d], vectors[d] = support.starts(extent, ranges[d])
  end
  return lists, vectors
end

local function run_plainly(case, ranges)
  local arrays, items = new_arrays(case), {}
  for i, a in ipairs(arrays) do items[i] = {pointer = a.data, strides = a.strides} end
  local block = assert(loadstring(header .. case.kernel))(items, {
    starts = cuts(case, ranges), n = N,
  })
  for _, at in ipairs(orders[case.strategy](ranges)) do
    block(number_of(at, ranges), unpack(at))
  end
  return all_bytes(arrays)
end

-- Blocks that take odd times, so that changes arrive in many orders.
local shaken = [[
  require("ffi").cdef "int usleep(unsigned);"
  local run, salt = (function(...) %s end)(...), %d
  return function(block, ...)
    local noise = (block * 7919 + salt * 104729) %% 1009
    if noise %% 3 == 0 then require("ffi").C.usleep(noise) end
    return run(block, ...)
  end]]

local function make_job(case, ranges, arrays)
  local starts, vectors = cuts(case, ranges)
  local items, bounds = {}, {}
  for i, about in ipairs(case.arrays) do
    local fields = {written = true, along = 1}
    for key, value in pairs(about[2]) do fields[key] = value end
    items[i] = arrays[i]:item(fields)
  end
  for d, vector in ipairs(vectors) do bounds[d] = support.pointer(vector) end
  return {
    key = case.name, kernel = header .. case.kernel, strategy = case.strategy, ranges = ranges,
    sequential = case.sequential, run = support.encode {starts = starts, n = N}, bounds = bounds,
    items = items,
  }, vectors
end

describe("serial orders", function()
  it("are those of the definitions", function()
    for _, case in ipairs(cases) do
      for _, ranges in ipairs(case.sizes) do
        local expected = {}
        for i, at in ipairs(orders[case.strategy](ranges)) do
          expected[i] = number_of(at, ranges)
        end
        assert.are.same(expected, core.serial_order(case.strategy, ranges, case.sequential))
      end
    end
  end)

  it("of ordered loops give the bits of the loop as written", function()
    for _, case in ipairs(cases) do
      if case.ordered then
        local whole = {}
        for d = 1, #case.extents do
          whole[d] = d <= (case.sequential or 0) and case.extents[d] or 1
        end
        local bits = run_plainly(case, whole)
        for _, ranges in ipairs(case.sizes) do
          assert.is_true(bits == run_plainly(case, ranges))
        end
      end
    end
  end)

  it("are refused for grids that do not fit", function()
    local order, err = core.serial_order("hyperplane", {3, 4})
    assert.is_nil(order)
    assert.are.equal("OPT", err.code)
    assert.is_nil((core.serial_order("hyperplane", {3, 4}, 2)))
    assert.is_nil((core.serial_order("rotate", {2, 2, 2, 2, 2})))
    assert.is_nil((core.serial_order("wavefront", {2, 2}, 1)))
  end)
end)

for _, road in ipairs(support.roads) do
  for _, workers in ipairs {1, 2, 3, 5} do
    describe(("blocks that exchange (%s, workers: %d)"):format(road.name, workers), function()
      local session

      setup(function()
        session = assert(support.session {
          workers = workers, transport = road.transport, shm = road.shm,
        })
      end)

      teardown(function() session:stop() end)

      for _, case in ipairs(cases) do
        it("have the bits of the serial order: " .. case.name, function()
          for _, ranges in ipairs(case.sizes) do
            local expected = run_plainly(case, ranges)
            for turn = 1, 3 do
              local arrays = new_arrays(case)
              local job, keep = make_job(case, ranges, arrays)
              if turn > 1 then
                job.key = job.key .. turn
                job.kernel = shaken:format(job.kernel, turn)
              end
              local outcome, err = session:run(job)
              assert.is_table(outcome, err and err.message)
              assert.is_true(expected == all_bytes(arrays))
              assert.is_table(keep)
            end
          end
        end)
      end
    end)
  end
end

describe("an exchange by value", function()
  local kill_self = 'require("ffi").cdef "int kill(int, int); int getpid(void);" '
    .. "local C = require('ffi').C "

  -- The first worker does not wait for the second, which sleeps first; what it changes is more
  -- than the window.
  it("makes who runs ahead wait", function()
    local session = assert(support.session {workers = 2, shm = false})
    local half, steps = 200000, 24
    local a, log = support.array({2 * half}, 4), support.array({steps})
    local expected, sum = ffi.new("double[?]", 2 * half), 0
    for e = 0, 2 * half - 1 do
      expected[e] = a.data[e]
      for _ = 1, steps do expected[e] = expected[e] * 0.75 + 1 end
    end
    local outcome = assert(session:run {
      key = "ahead", strategy = "wavefront", ranges = {2, steps},
      kernel = support.prelude .. [[
        ffi.cdef "int usleep(unsigned);"
        local items = ...
        local a, log = vector(items[1], "double"), vector(items[2], "double")
        local half = 200000
        return function(block, ra, rb)
          if ra == 1 and rb == 0 then ffi.C.usleep(400000) end
          for e = ra * half, ra * half + half - 1 do a[e] = a[e] * 0.75 + 1 end
          if ra == 0 then log[rb] = a[rb] end
          if ra == 1 then return ("%.17g"):format(log[rb]) end
        end]],
      items = {
        a:item {movement = "exchanged", written = true},
        log:item {movement = "exchanged", written = true},
      },
    })
    assert.is_true(ffi.string(expected, 2 * half * 8) == a:bytes())
    for rb = 0, steps - 1 do
      assert.are.equal(("%.17g"):format(log.data[rb]), outcome.results[steps + rb])
      sum = sum + log.data[rb]
    end
    assert.is_true(sum > 0)
    assert.is_true(outcome.workers[1].waited > 0.2)
    assert.is_true(outcome.workers[1].moved > steps * half * 8)
    session:stop()
  end)

  it("sends only what was changed", function()
    local session = assert(support.session {workers = 2, shm = false})
    local n = 100000
    local a = support.array({n}, 4)
    local outcome = assert(session:run {
      key = "few", strategy = "hyperplane", ranges = {50, 4}, sequential = 1,
      kernel = support.prelude .. [[
        local items = ...
        local a = vector(items[1], "double")
        return function(block, p, r) a[p * 4 + r] = p end]],
      items = {a:item {movement = "exchanged", written = true}},
    })
    for p = 0, 49 do
      for r = 0, 3 do assert.are.equal(p, a.data[p * 4 + r]) end
    end
    assert.is_true(outcome.moved < 2.1 * n * 8) -- to both workers, and hardly anything back
    session:stop()
  end)

  for _, road in ipairs(support.roads) do
    it("ends when a worker is killed (" .. road.name .. ")", function()
      local session = assert(support.session {
        workers = 3, transport = road.transport, shm = road.shm,
      })
      for _, case in ipairs(cases) do
        if case.strategy ~= "skew" then
          local ranges = case.sizes[1]
          local job, keep = make_job(case, ranges, new_arrays(case))
          local total = #row_major(ranges)
          local victim = math.floor(total / 2)
          job.key = "killed " .. case.name
          job.kernel = kill_self .. ([[
            local run = (function(...) %s end)(...)
            return function(block, ...)
              if block == %d then C.kill(C.getpid(), 9) end
              return run(block, ...)
            end]]):format(job.kernel, victim)
          local start = support.now()
          local outcome, err = session:run(job)
          assert.is_nil(outcome)
          assert.are.same({"WRK", victim, 9}, {err.code, err.block, err.signal})
          assert.is_true(support.now() - start < 2)
          assert.is_table(keep)
          local arrays = new_arrays(case)
          job, keep = make_job(case, ranges, arrays)
          assert(session:run(job))
          assert.is_true(run_plainly(case, ranges) == all_bytes(arrays))
          assert.is_table(keep)
        end
      end
      session:stop()
    end)
  end

  it("brings a body's error", function()
    local session = assert(support.session {workers = 3, shm = false})
    local a = support.array({100}, 4)
    for _, block in ipairs {0, 17, 35} do
      local outcome, err = session:run {
        key = "body" .. block, strategy = "wavefront", ranges = {6, 6},
        kernel = "return function(b) if b == " .. block .. " then error('no') end end",
        items = {a:item {movement = "exchanged", written = true}},
      }
      assert.is_nil(outcome)
      assert.are.same({"BDY", block}, {err.code, err.block})
    end
    session:stop()
  end)
end)
