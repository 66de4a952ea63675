-- SPDX-License-Identifier: MIT
--- Synthetic ratings: a planted low-rank model plus noise, with Zipf popularity.
--
-- rating = 3.5 + user bias + item bias + u . v + noise, all normal; users and items are drawn with
-- probability 1 / rank^0.8 (the classical law of popularity), never the same pair twice.
local meissa = require "meissa"
local bit = require "bit"
local ffi = require "ffi"

local M = {}

-- Cumulative Zipf weights, and a draw from them by bisection.
local function zipf(n, exponent)
  local sums, total = ffi.new("double[?]", n + 1), 0
  for k = 1, n do
    total = total + k ^ -exponent
    sums[k] = total
  end
  return function(uniform)
    local target, lo, hi = uniform * total, 1, n
    while lo < hi do
      local middle = math.floor((lo + hi) / 2)
      if sums[middle] < target then lo = middle + 1 else hi = middle end
    end
    return lo
  end
end

--- @param shape {users=, items=, ratings=, rank=, seed=}
-- @return a sparse DistArray<float>, users x items
function M.generate(shape)
  local users, items, count = shape.users, shape.items, shape.ratings
  local rank, seed = shape.rank or 8, shape.seed or 1
  assert(count <= users * items / 4, "too many ratings for that many users and items")
  local scale = 0.5 / math.sqrt(rank)
  -- A raw pointer is good as long as its array lives.
  local arrays = {
    meissa.randn({users, rank}, {seed = seed}),
    meissa.randn({items, rank}, {seed = seed + 1, scale = scale}),
    meissa.randn({users}, {seed = seed + 2, scale = 0.3}),
    meissa.randn({items}, {seed = seed + 3, scale = 0.4}),
    meissa.randn({count}, {seed = seed + 4, scale = 0.5}),
    meissa.rand({4 * count, 2}, {seed = seed + 5}),
  }
  local U, V, bu = arrays[1]:data(), arrays[2]:data(), arrays[3]:data()
  local bi, noise, draws = arrays[4]:data(), arrays[5]:data(), arrays[6]:data()
  local user_of, item_of = zipf(users, 0.8), zipf(items, 0.8)
  local seen = ffi.new("uint8_t[?]", math.floor(users * items / 8) + 1)
  local i, j = meissa.zeros({count}, {type = "int32"}), meissa.zeros({count}, {type = "int32"})
  local v = meissa.zeros({count}, {type = "float"})
  local at, to, value = i:data(), j:data(), v:data()
  local made, draw = 0, 0
  while made < count do
    assert(draw < 4 * count, "popularity too skewed for that many ratings")
    local user, item = user_of(draws[2 * draw]), item_of(draws[2 * draw + 1])
    draw = draw + 1
    local cell = (user - 1) * items + item - 1
    local byte, mask = math.floor(cell / 8), bit.lshift(1, cell % 8)
    if bit.band(seen[byte], mask) == 0 then
      seen[byte] = bit.bor(seen[byte], mask)
      local sum = 3.5 + bu[user - 1] + bi[item - 1] + noise[made]
      for k = 0, rank - 1 do
        sum = sum + U[(user - 1) * rank + k] * V[(item - 1) * rank + k]
      end
      at[made], to[made], value[made] = user, item, sum
      made = made + 1
    end
  end
  for a = 1, #arrays do arrays[a]:free() end
  return meissa.sparse({users, items}, {i = i, j = j, v = v}, {type = "float"})
end

return M
