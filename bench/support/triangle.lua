-- SPDX-License-Identifier: MIT
--- A sparse triangular solve: as a loop that runs level by level, as it is written, and the same
-- levels in C by hand.
local ffi = require "ffi"
local hand = require "hand"
local meissa = require "meissa"
local parallel = meissa.parallel

ffi.cdef [[
double levels_solve(const int64_t *starts, const int32_t *rows, double levels,
                    const int32_t *first, const int32_t *column, const double *value,
                    const double *b, double *x, int threads);
]]

local Triangle = {}
Triangle.__index = Triangle

-- The rows' levels, one more than the greatest of those that a row reads; as C takes them.
local function find_levels(self)
  local level, most, n = {}, 0, self.n
  for i = 1, n do
    local own = 1
    for k = self.first[i], self.first[i + 1] - 1 do
      own = math.max(own, level[self.column[k]] + 1)
    end
    level[i], most = own, math.max(most, own)
  end
  self.levels, self.starts = most, ffi.new("int64_t[?]", most + 2)
  self.rows = ffi.new("int32_t[?]", n)
  for i = 1, n do self.starts[level[i]] = self.starts[level[i]] + 1 end
  for l = 1, most do self.starts[l] = self.starts[l] + self.starts[l - 1] end
  local place = {}
  for l = 1, most do place[l] = self.starts[l - 1] end
  for i = 1, n do
    local l = level[i]
    self.rows[place[l]], place[l] = i - 1, place[l] + 1
  end
end

--- A matrix of n rows, of which each but the first ones has `each` entries before the diagonal.
local function new(n, each)
  local int = {type = "int32"}
  local self = setmetatable({n = n, first = meissa.zeros({n + 1}, int)}, Triangle)
  local count = 0
  for i = 1, n do
    self.first[i], count = count + 1, count + math.min(each, i - 1)
  end
  self.first[n + 1] = count + 1
  self.column, self.value = meissa.zeros({count}, int), meissa.rand({count}, {seed = 1})
  local draws = meissa.rand({count}, {seed = 2})
  for i = 2, n do
    for k = self.first[i], self.first[i + 1] - 1 do
      self.column[k] = 1 + math.floor(draws[k] * (i - 1))
    end
  end
  self.b, self.x = meissa.rand({n}, {seed = 3}), meissa.zeros(n)
  self.value:mul(1 / each)
  self.entries = count
  find_levels(self)
  self.library = hand.compile("levels.c", 1, "double", "strict")
  self.whole = ffi.new("int64_t[2]", 0, n)
  self.in_order = ffi.new("int32_t[?]", n)
  for i = 0, n - 1 do self.in_order[i] = i end
  return self
end

--- Solves by a parallel loop, in levels. @bool serial whether it runs as written
function Triangle:solve(serial)
  local first, column, value, b, x = self.first, self.column, self.value, self.b, self.x
  for i in parallel(self.n, {serial = serial}) do
    local s = b[i]
    for k = first[i], first[i + 1] - 1 do s = s - value[k] * x[column[k]] end
    x[i] = s * 0.5
  end
end

--- Solves in C, on so many threads; on none row after row, without levels.
function Triangle:by_hand(threads)
  local serial = threads == 0
  local done = self.library.levels_solve(serial and self.whole or self.starts,
    serial and self.in_order or self.rows, serial and 1 or self.levels, self.first:data(),
    self.column:data(), self.value:data(), self.b:data(), self.x:data(), math.max(1, threads))
  assert(done == 0, "there is no second thread")
end

--- Has the loop find its levels anew, which stay what they are: two entries of the last row change
-- places.
function Triangle:forget()
  local k, column, value = self.first[self.n], self.column, self.value
  column[k], column[k + 1] = column[k + 1], column[k]
  value[k], value[k + 1] = value[k + 1], value[k]
end

return new
