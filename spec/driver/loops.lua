-- SPDX-License-Identifier: MIT
--
-- Loops whose blocks read and overwrite what others wrote, for the runtime's specs: as jobs, and
-- run by plain Lua in the blocks' serial order.

local row_major = require "spec.support.row_major"
local support = require "spec.driver.support"

local M = {}

--- All combinations of ranges, from 0, the last one fastest.
function M.row_major(ranges)
  local axes = {}
  for d, count in ipairs(ranges) do axes[d] = {0, count - 1} end
  return row_major(axes)
end

-- Blocks in serial order, from the strategies' definitions: lists of ranges from 0.
local function rotation(ranges)
  local n, steps, list = math.max(unpack(ranges)), {}, {}
  for d = 2, #ranges do steps[d - 1] = n end
  for _, step in ipairs(M.row_major(steps)) do
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

M.orders = {
  rotate = rotation, wavefront = wavefront, hyperplane = M.row_major, skew = M.row_major,
  partition = M.row_major,
}

--- The number of the block with these ranges.
function M.number_of(at, ranges)
  local block = 0
  for d = 1, #ranges do block = block * ranges[d] + at[d] end
  return block
end

-- Each case: strategy, extents of the axes, ranges, arrays {dims, operand fields} and a kernel,
-- made of a prelude that sees `operands`, `starts` (lists of first indices for each axis) and a
-- block function of (block, ranges ...). `cut(d, r)` gives the first and last index of a range.
local header = support.prelude .. [[
local operands, given = ...
local starts = given.starts
local function cut(d, r) return starts[d][r + 1], starts[d][r + 2] - 1 end
]]

-- Extent of most dimensions.
local N = 24

M.cases = {
  {
    name = "a wavefront", strategy = "wavefront", extents = {N, N},
    sizes = {{5, 7}, {1, 4}, {6, 1}},
    arrays = {
      {{N + 1, N + 1}, {movement = "exchanged"}},
      {{N}, {movement = "rotated", cut = 2}, "float"},
      {{N}, {movement = "local", cut = 1}},
    },
    kernel = [[
      local a, s = vector(operands[1], "double")
      local b, bs = vector(operands[2], "float")
      local c, cs = vector(operands[3], "double")
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
      local a, s = vector(operands[1], "double")
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
      local a, s = vector(operands[1], "double")
      local d, ds = vector(operands[2], "double")
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
      local a = vector(operands[1], "double")
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
      local x, xs = vector(operands[1], "double")
      local y, ys = vector(operands[2], "double")
      local z, zs = vector(operands[3], "float")
      local p, ps = vector(operands[4], "double")
      local q, qs = vector(operands[5], "float")
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
      local a, s = vector(operands[1], "double")
      local w, ws = vector(operands[2], "double")
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
      local a = vector(operands[1], "double")
      local b = vector(operands[2], "double")
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

--- Fresh arrays of a case, always with the same contents.
function M.new_arrays(case)
  local arrays = {}
  for i, about in ipairs(case.arrays) do arrays[i] = support.array(about[1], 20 + i, about[3]) end
  return arrays
end

--- What all arrays hold, as one string.
function M.all_bytes(arrays)
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

--- Runs a case in its serial order; returns what its arrays hold then.
function M.run_plainly(case, ranges)
  local arrays, operands = M.new_arrays(case), {}
  for i, a in ipairs(arrays) do operands[i] = {pointer = a.data, strides = a.strides} end
  local block = assert(loadstring(header .. case.kernel))(operands, {
    starts = cuts(case, ranges), n = N,
  })
  for _, at in ipairs(M.orders[case.strategy](ranges)) do
    block(M.number_of(at, ranges), unpack(at))
  end
  return M.all_bytes(arrays)
end

--- A case as a job on `arrays`; the second value has to be kept as long as the job.
function M.make_job(case, ranges, arrays)
  local starts, vectors = cuts(case, ranges)
  local operands, bounds = {}, {}
  for i, about in ipairs(case.arrays) do
    local fields = {written = true, along = 1}
    for key, value in pairs(about[2]) do fields[key] = value end
    operands[i] = arrays[i]:operand(fields)
  end
  for d, vector in ipairs(vectors) do bounds[d] = support.pointer(vector) end
  return {
    key = case.name, kernel = header .. case.kernel, strategy = case.strategy, ranges = ranges,
    sequential = case.sequential, run = support.encode {starts = starts, n = N}, bounds = bounds,
    operands = support.operands(operands),
  }, vectors
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

--- Gives a job's blocks odd times, which `salt` varies.
function M.shake(job, salt)
  job.key = job.key .. salt
  job.kernel = shaken:format(job.kernel, salt)
end

return M
