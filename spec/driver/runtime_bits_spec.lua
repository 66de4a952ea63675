-- SPDX-License-Identifier: MIT
--
-- Jobs give the same bits on every road and with any number of workers: those of the plan's
-- serial order, computed here by plain Lua.

local ffi = require "ffi"
local support = require "spec.driver.support"

local ROWS, COLUMNS, K = 23, 17, 3

-- Order matters to the last bit: every update reads what all earlier ones left.
local rotate_kernel = support.prelude .. [[
local operands, given = ...
local w, ws = vector(operands[1], "double")
local h, hs = vector(operands[2], "float")
local a, b = given.a, given.b
return function(block, ra, rb)
  local sum = 0
  for i = a[ra + 1] - 1, a[ra + 2] - 2 do
    for j = b[rb + 1] - 1, b[rb + 2] - 2 do
      for k = 0, given.k - 1 do
        local x, y = w[i * ws + k], h[j * hs + k]
        w[i * ws + k] = 0.9 * x + 0.3 * y + 0.01 * i
        h[j * hs + k] = 0.7 * y - 0.2 * x * y + 0.01 * j
        sum = sum + x * y
      end
    end
  end
  print("block", block, ra, rb)
  return ("%.17g"):format(sum)
end
]]

local function new_arrays()
  return support.array({ROWS, K}, 5), support.array({COLUMNS, K}, 6, "float")
end

-- Step s: space range a meets time range (a + s) mod n.
local function rotation(space, time)
  local order, n = {}, math.max(space, time)
  for s = 0, n - 1 do
    for a = 0, space - 1 do
      local b = (a + s) % n
      if b < time then order[#order + 1] = {a * time + b, a, b} end
    end
  end
  return order
end

local function plain(a)
  return {pointer = a.data, strides = a.strides}
end

local function run_plainly(space, time)
  local w, h = new_arrays()
  local a, b = support.starts(ROWS, space), support.starts(COLUMNS, time)
  local printed, results = {}, {}
  local chunk = assert(loadstring(rotate_kernel))
  setfenv(chunk, setmetatable({print = function(...)
    printed[#printed + 1] = table.concat({...}, "\t") .. "\n"
  end}, {__index = _G}))
  local block = chunk({plain(w), plain(h)}, {a = a, b = b, k = K})
  for _, each in ipairs(rotation(space, time)) do results[each[1]] = block(unpack(each)) end
  return w:bytes(), h:bytes(), results, table.concat(printed)
end

local function run_rotation(session, space, time, workers)
  local w, h = new_arrays()
  local a, a_starts = support.starts(ROWS, space)
  local b, b_starts = support.starts(COLUMNS, time)
  local outcome, err = session:run {
    key = "rotate", kernel = rotate_kernel, run = support.encode {a = a, b = b, k = K},
    strategy = "rotate", ranges = {space, time}, workers = workers,
    bounds = {support.pointer(a_starts), support.pointer(b_starts)},
    operands = support.operands {
      w:operand({movement = "local", written = true, along = 1, cut = 1}),
      h:operand({movement = "rotated", written = true, along = 1, cut = 2}),
    },
  }
  assert.is_table(outcome, err and err.message)
  return w:bytes(), h:bytes(), outcome
end

for _, road in ipairs(support.roads) do
  describe("a rotated matrix pair (" .. road.name .. ")", function()
    for _, workers in ipairs {1, 2, 3, 5} do
      it("has the bits of the serial order on " .. workers .. " workers", function()
        local session = assert(support.session {
          workers = workers, transport = road.transport, shm = road.shm,
        })
        for _, grid in ipairs {{1, 1}, {4, 4}, {7, 3}, {3, 8}, {1, 6}, {6, 1}} do
          local space, time = unpack(grid)
          local w, h, results, printed = run_plainly(space, time)
          for _ = 1, 2 do
            local got_w, got_h, outcome = run_rotation(session, space, time)
            assert.is_true(w == got_w)
            assert.is_true(h == got_h)
            assert.are.same(results, outcome.results)
            assert.are.equal(printed, outcome.printed)
          end
        end
        session:stop()
      end)
    end
  end)
end

-- A partitioned loop with every other movement: entries, a broadcast table, scattered writes.
local partition_kernel = support.prelude .. [[
local operands, given = ...
local rows, columns = vector(operands[1], "int32_t"), vector(operands[2], "int32_t")
local values = vector(operands[3], "double")
local table_, ts = vector(operands[4], "double")
local out, o1, o2 = vector(operands[5], "double")
local sums, ss = vector(operands[6], "double")
return function(block)
  for e = given.offsets[block + 1], given.offsets[block + 2] - 1 do
    local i, j = rows[e], columns[e]
    out[(j * 7 + i * 3) % given.n * o1 + i * o2] = values[e] * table_[j * ts]
    sums[i * ss] = sums[i * ss] * 0.5 + values[e]
  end
end
]]

local function run_partition(session, changed)
  local n, extent, ranges = 400, 20, 6
  local rows, columns = support.array({n}, nil, "int32"), support.array({n}, nil, "int32")
  local values, lookup = support.array({n}, 8), support.array({11}, 9)
  local out, sums = support.array({extent, extent}), support.array({extent}, 10)
  local starts, starts_vector = support.starts(extent, ranges)
  local offsets, offsets_vector = support.starts(n, ranges)
  for r = 0, ranges do
    offsets[r + 1] = offsets[r + 1] - 1
    offsets_vector[r] = offsets[r + 1]
  end
  for r = 1, ranges do
    for e = offsets[r], offsets[r + 1] - 1 do
      rows.data[e] = starts[r] - 1 + e % (starts[r + 1] - starts[r])
      columns.data[e] = e * 5 % 11
    end
  end
  if changed then values.data[3] = 42 end
  local offsets_pointer = support.pointer(offsets_vector)
  local function cached(a)
    return a:operand({movement = "cached", offsets = offsets_pointer})
  end
  local job = {
    key = "partition", kernel = partition_kernel,
    run = support.encode {offsets = offsets, n = extent},
    strategy = "partition", ranges = {ranges}, bounds = {support.pointer(starts_vector)},
    operands = support.operands {
      cached(rows), cached(columns), cached(values),
      lookup:operand({movement = "broadcast"}),
      out:operand({movement = "scattered", written = true}),
      sums:operand({movement = "local", written = true, along = 1, cut = 1}),
    },
  }
  local first = assert(session:run(job))
  local once = out:bytes() .. sums:bytes()
  local second = assert(session:run(job))
  return once, out:bytes() .. sums:bytes(), first, second
end

describe("cached, broadcast and scattered arrays", function()
  for _, road in ipairs(support.roads) do
    it("have the same bits everywhere (" .. road.name .. ")", function()
      local once, twice
      for _, workers in ipairs {1, 2, 3, 5} do
        local session = assert(support.session {
          workers = workers, transport = road.transport, shm = road.shm,
        })
        local a, b, first, second = run_partition(session)
        once, twice = once or a, twice or b
        assert.is_true(a == once and b == twice)
        assert.is_true(a ~= b)
        if road.shm then
          assert.are.equal(0, first.moved)
        else
          assert.is_true(second.moved < first.moved - 400 * 16 + 1) -- entries were sent once
        end
        local c = run_partition(session, true)
        assert.is_true(c ~= once)
        session:stop()
      end
    end)
  end
end)

describe("cached arrays by value", function()
  it("are sent once for each version, and as far as they are needed", function()
    local session = assert(support.session {workers = 3, shm = false})
    local n, ranges = 60, 6
    local entries = support.array({n}, nil, "int32")
    local offsets, vector = support.starts(n, ranges)
    for r = 0, ranges do vector[r] = offsets[r + 1] - 1 end
    local offset = support.pointer(vector)
    local operand = entries:operand {movement = "cached", version = 1, offsets = offset}
    local function sums(workers)
      local outcome = assert(session:run {
        key = "sums", strategy = "partition", ranges = {ranges}, workers = workers,
        operands = support.operands {operand},
        kernel = support.prelude .. [[
          local operands = ...
          local v = vector(operands[1], "int32_t")
          return function(b)
            local sum = 0
            for e = b * 10, b * 10 + 9 do sum = sum + v[e] end
            return tostring(sum)
          end]],
      })
      local list = {}
      for b = 0, ranges - 1 do list[#list + 1] = outcome.results[b] end
      return table.concat(list, " "), outcome.moved
    end
    local function fill(value)
      for e = 0, n - 1 do entries.data[e] = value + e % 2 end
    end
    fill(0)
    local text, moved = sums(3)
    assert.are.equal("5 5 5 5 5 5", text)
    assert.are.equal(n * 4, moved)
    fill(1)
    text, moved = sums(3) -- the same version: the copies are good
    assert.are.equal("5 5 5 5 5 5", text)
    assert.are.equal(0, moved)
    operand.version = 2
    text, moved = sums(3)
    assert.are.equal("15 15 15 15 15 15", text)
    assert.are.equal(n * 4, moved)
    text, moved = sums(1) -- worker 1 lacks what the two others have, and has its own third
    assert.are.equal("15 15 15 15 15 15", text)
    assert.are.equal(n * 4 * 2 / 3, moved)
    text, moved = sums(3)
    assert.are.equal("15 15 15 15 15 15", text)
    assert.are.equal(0, moved)
    session:forget(operand.id)
    text, moved = sums(3)
    assert.are.equal("15 15 15 15 15 15", text)
    assert.are.equal(n * 4, moved)
    session:stop()
  end)
end)

describe("strided views", function()
  for _, shm in ipairs {true, false} do
    it("are seen with their strides" .. (shm and "" or " by value"), function()
      local session = assert(support.session {workers = 2, shm = shm})
      local whole = support.array({6, 10})
      local view = whole:operand {movement = "local", written = true, along = 1, cut = 1}
      view.dims, view.strides = {10, 6}, {1, 10} -- transposed
      local _, starts = support.starts(10, 4)
      assert(session:run {
        key = "view", strategy = "partition", ranges = {4}, bounds = {support.pointer(starts)},
        kernel = support.prelude .. [[
          local operands, given = ...
          local v, s1, s2 = vector(operands[1], "double")
          return function(block)
            for i = math.floor(10 * block / 4), math.floor(10 * (block + 1) / 4) - 1 do
              for j = 0, 5 do v[i * s1 + j * s2] = 100 * (i + 1) + j + 1 end
            end
          end]],
        operands = support.operands {view},
      })
      for j = 1, 6 do
        for i = 1, 10 do assert.are.equal(100 * i + j, whole.data[(j - 1) * 10 + i - 1]) end
      end
      session:stop()
    end)
  end
end)

describe("large arrays by value", function()
  it("travel in pieces, both ways and from worker to worker", function()
    local session = assert(support.session {workers = 2, shm = false})
    local rows, columns = 8, 400000 -- 25 MB
    local w, h = support.array({rows}), support.array({columns, rows}, 3)
    local last = rows * columns - 1
    local before = h.data[last]
    local _, a = support.starts(rows, 2)
    local _, b = support.starts(columns, 2)
    local outcome = assert(session:run {
      key = "large", strategy = "rotate", ranges = {2, 2},
      bounds = {support.pointer(a), support.pointer(b)},
      kernel = support.prelude .. [[
        local operands = ...
        local h, s = vector(operands[2], "double")
        return function(block, ra, rb)
          for j = rb * 200000, rb * 200000 + 199999 do
            for k = 0, 7 do h[j * s + k] = h[j * s + k] * 2 end
          end
        end]],
      operands = support.operands {
        w:operand({movement = "local", written = true, along = 1, cut = 1}),
        h:operand({movement = "rotated", written = true, along = 1, cut = 2}),
      },
    })
    assert.are.equal(before * 4, h.data[last])
    assert.is_true(outcome.moved > 2 * 8 * rows * columns)
    session:stop()
  end)
end)

describe("reports", function()
  it("may be larger than a message", function()
    local session = assert(support.session {workers = 2})
    local outcome = assert(session:run {
      key = "report", strategy = "independent", ranges = {8},
      kernel = "return function(b) print(('y'):rep(500000)) return (b .. ','):rep(700000) end",
    })
    assert.are.equal(8 * 500001, #outcome.printed)
    for b = 0, 7 do assert.are.equal((b .. ","):rep(700000), outcome.results[b]) end
    session:stop()
  end)

  it("come from workers that share the load evenly", function()
    local session = assert(support.session {workers = 2})
    local loads = ffi.new("uint64_t[6]", {101, 1, 11, 11, 11, 71})
    local outcome = assert(session:run {
      key = "even", strategy = "partition", ranges = {6}, loads = support.pointer(loads),
      kernel = "return function(b) return tostring(b) end",
    })
    assert.are.equal(2, outcome.workers[1].blocks)
    assert.are.equal(4, outcome.workers[2].blocks)
    session:stop()
  end)

  it("may be asked of fewer workers than there are", function()
    local session = assert(support.session {workers = 3})
    local outcome = assert(session:run {
      key = "few", strategy = "independent", ranges = {6}, workers = 2,
      kernel = "return function(b) return tostring(b) end",
    })
    assert.are.equal(6, outcome.workers[1].blocks + outcome.workers[2].blocks)
    assert.are.equal(0, outcome.workers[3].blocks)
    session:stop()
  end)

  it("count each block once with a serial plan", function()
    local session = assert(support.session {workers = 2})
    local outcome = assert(session:run {
      key = "serial", strategy = "serial", ranges = {3, 2},
      kernel = "local n = 0 return function() n = n + 1 return tostring(n) end",
    })
    assert.are.same({[0] = "1", "2", "3", "4", "5", "6"}, outcome.results)
    assert.are.same({0, 1, 2, 3, 4, 5}, outcome.order)
    session:stop()
  end)
end)
