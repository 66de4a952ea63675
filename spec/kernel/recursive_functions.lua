-- SPDX-License-Identifier: MIT
-- Functions that call themselves in all ways, and functions of one number that call them: `shown`,
-- by what they show. Used by spec/kernel/recursion_spec.lua.
local meissa = require "meissa"

local W = meissa.zeros { 100 }
local K = meissa.zeros({ 100 }, { type = "int32" })
for k = 1, 100 do W[k], K[k] = k * k / 64, k * 37 % 100 + 1 end
local threshold, strict = 2, true

-- Functions of one number, by what they show.
local shown = {}

local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
shown["twice in an expression"] = function(i) return fib(i % 15) end

local function gcd(a, b) if b == 0 then return a end return gcd(b, a % b) end
shown["at its end"] = function(i) return gcd(i * 6, 36 + i) end

-- As deep as no stack is.
local function count_down(n, sum)
  if n == 0 then return sum end
  return count_down(n - 1, sum + n % 3)
end
shown["at its end, very often"] = function(i) return count_down(i == 7 and 5e6 or i, 0.5) end

local function search(x, low, high)
  if low > high then return low end
  local middle = math.floor((low + high) / 2)
  if W[middle] < x then return search(x, middle + 1, high) end
  return search(x, low, middle - 1)
end
shown["of an array"] = function(i) return search(i * 5, 1, 100) end

local is_odd
local function is_even(n) if n == 0 then return true end return is_odd(n - 1) end
function is_odd(n) if n == 0 then return false end return is_even(n - 1) end
shown["each other, at their ends"] = function(i) return is_even(i == 7 and 5e6 or i) and 1 or 2 end

local female
local function male(n) if n == 0 then return 0 end return n - female(male(n - 1)) end
function female(n) if n == 0 then return 1 end return n - male(female(n - 1)) end
shown["each other"] = function(i) return male(i) * 100 + female(i) end

-- luacheck: push globals ackermann
function ackermann(m, n)
  if m == 0 then return n + 1 end
  if n == 0 then return ackermann(m - 1, 1) end
  return ackermann(m - 1, ackermann(m, n - 1))
end
shown["as globals"] = function(i) return ackermann(2, i) end
-- luacheck: pop

local function half(x) return x / 2 end

local function halves(n) if n == 0 then return 1 end return half(halves(n - 1)) + half(n) end
shown["with a helper that nobody else calls"] = function(i) return halves(i) end

local tree = {}
function tree.depth(k)
  if k > 100 then return 0 end
  return 1 + math.max(tree.depth(2 * k), tree.depth(2 * k + 1))
end

function tree.sum(k)
  if k > 100 or strict and W[k] < threshold then return 0, 0 end
  local left, nodes = tree.sum(2 * k)
  local right, more = tree.sum(2 * k + 1)
  return left + right + W[k], nodes + more + 1
end
shown["as fields of tables"] = function(i) return tree.depth(i) end
shown["with several results"] = function(i)
  local sum, nodes = tree.sum(i)
  return sum * 128 + nodes
end

local shape = { scale = 0.5 }
function shape:area(n)
  if n == 0 then return self.scale end
  return self:area(n - 1) * self.scale + self:area(n - 1)
end
shown["as methods"] = function(i) return shape:area(i % 9) end

local function quad(fn, a, b, fa, fb, most)
  local m = (a + b) / 2
  local fm = fn(m)
  local one, two = (b - a) * (fa + fb) / 2, (b - a) * (fa + 2 * fm + fb) / 4
  if math.abs(one - two) < most then return two end
  return quad(fn, a, m, fa, fm, most / 2) + quad(fn, m, b, fm, fb, most / 2)
end

local function cube(x) return x * x * x + threshold end
shown["with functions as arguments"] = function(i)
  return quad(cube, 0, i / 4, cube(0), cube(i / 4), 1e-4)
end

local function of_row(row, low, high)
  if low == high then return row[low] end
  local middle = math.floor((low + high) / 2)
  return of_row(row, low, middle) - of_row(row, middle + 1, high)
end
shown["with arrays as arguments"] = function(i) return of_row(W, i, 60 + i) + of_row(W, 1, i) end

-- Queens on a board of n, as sets of bits.
local function queens(all, columns, left, right)
  if columns == all then return 1 end
  local ways, free = 0, bit.band(bit.bnot(bit.bor(columns, left, right)), all)
  while free ~= 0 do
    local place = bit.band(free, -free)
    free = bit.bxor(free, place)
    ways = ways + queens(all, bit.bor(columns, place), bit.lshift(bit.bor(left, place), 1),
      bit.rshift(bit.bor(right, place), 1))
  end
  return ways
end
shown["with loops and bits"] = function(i) return queens(bit.lshift(1, i % 7) - 1, 0, 0, 0) end

-- 2^31 and -2^31 as 32 bits and as doubles; elements of int32 arrays.
local function mixed(n, x)
  if n == 0 then return x end
  for k = 1, 3 do x = (x * K[k + n] + bit.tobit(x)) % 2 ^ 33 - 2 ^ 31 end
  return mixed(n - 1, x) + bit.rshift(x, 1) / K[n]
end
shown["of integers and doubles"] = function(i) return mixed(i % 6, i * 1e8) end

local function maybe(n)
  if n == 3 then return end
  return n > 0 and maybe(n - 1) or n % 2 == 0 and n
end
shown["with nil and false"] = function(i)
  local got = maybe(i)
  return got == nil and -1 or got == false and -2 or got
end

local function missing(n, scale)
  if n <= 0 then return scale or 4 end
  return missing(n - 1) + missing(n - 2, n)
end
shown["with arguments left out"] = function(i) return missing(i % 8, i) end

return {
  shown = shown,
  W = W,
  --- Takes away what was defined globally.
  finish = function() ackermann = nil end, -- luacheck: ignore
}
