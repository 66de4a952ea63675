-- SPDX-License-Identifier: MIT
-- The world of the random bodies in engines_random.lua: arrays and numbers, the same on every
-- machine for a seed.
local array = require "meissa.array"
local c_api = require "meissa.array.c_api"
local draws = require "spec.support.draws"
local meissa_random = require "meissa.kernel.random"
local scratch = require "meissa.array.scratch"

local M = {}

--- The draws of a seed (draws.lua).
function M.draw(seed) return draws.skip(draws.numerical_recipes(seed % 2 ^ 32), 5) end

--- A function of n: the same as whole numbers from 1 to n.
function M.generator(seed) return draws.whole(M.draw(seed)) end

-- ------------------------------------------------------------------------------------ the world

local special = { 0, -0, 1, -1, 0.5, -0.5, 2, 3, -3, 7, 0 / 0, 1 / 0, -1 / 0, 5e-324, -2.2e-308,
  1e300, -1e300, 2 ^ 31, -2 ^ 31, 2 ^ 31 - 1, 2 ^ 53, 1e-30, 3.4e38, 0.1, 1 / 3 }

local function fill_floating(A, random, positive)
  local data = A:data()
  for k = 0, tonumber(A.array.count) - 1 do
    if positive then
      data[k] = 0.5 + random(3000) / 2001
    else
      data[k] = random(8) == 1 and special[random(#special)] or (random(8001) - 4001) / 997
    end
  end
  return A
end

local function fill_whole(A, random)
  local data = A:data()
  for k = 0, tonumber(A.array.count) - 1 do
    data[k] = random(10) == 1 and -random(1000) or random(9)
  end
  return A
end

-- A sparse matrix of 6 columns with no entry twice; some rows are empty.
local function entries(n, random, positive)
  local i, j, v = {}, {}, {}
  for row = 1, n do
    for column = 1, 6 do
      if random(3) == 1 then
        i[#i + 1], j[#j + 1] = row, column
        v[#v + 1] = positive and 0.5 + random(3000) / 2001 or (random(8001) - 4001) / 997
      end
    end
  end
  if #i == 0 then i[1], j[1], v[1] = 1, 1, 1 end
  return array.sparse({ n, 6 }, { i = i, j = j, v = v })
end

local function transposed(A)
  return array.wrap(c_api.call(c_api.lib.ms_array_transpose, A.array, 0, 1))
end

--- Names and values for a body of n iterations. Rows of all arrays but R and Q belong to an
-- iteration; P and N overlap; Z is a scratch array; in O bodies show what they computed.
-- @bool[opt] positive whether all contents are numbers between 0.5 and 2
function M.world(seed, n, positive)
  local random = M.generator(seed)
  local float = { type = "float" }
  local wide = fill_floating(array.zeros({ n, 8 }), random, positive)
  local env = {
    A = wide, P = wide:narrow(2, 1, 6), N = wide:narrow(2, 2, 6),
    E = fill_floating(array.zeros({ n, 6 }), random, positive),
    F = fill_floating(array.zeros({ n, 6 }, float), random, positive),
    G = fill_floating(array.zeros({ n, 19 }, float), random, positive),
    H = fill_floating(array.zeros({ n, 19 }), random, positive),
    O = array.zeros({ n, 12 }),
    B = fill_floating(array.zeros({ n }), random, positive),
    V = fill_floating(array.zeros({ n }, float), random, positive),
    T = fill_floating(array.zeros({ n, 2, 6 }), random, positive),
    S = transposed(fill_floating(array.zeros({ 6, n }), random, positive)),
    U = transposed(fill_floating(array.zeros({ 6, n }, float), random, positive)),
    C = fill_whole(array.zeros({ n, 6 }, { type = "int32" }), random),
    D = fill_whole(array.zeros({ n }, { type = "int32" }), random),
    L = fill_whole(array.zeros({ n, 6 }, { type = "int64" }), random),
    R = fill_floating(array.zeros({ 12 }), random, positive),
    Q = array.zeros({ 12 }, { type = "int32" }),
    n = n, m = 6, x = 0.37, y = -2, z = 3, big = 1e308, tiny = 5e-324, zero = 0, negative = -0.0,
    infinite = 1 / 0, undefined = 0 / 0, half = 0.5, flag = true, off = false,
    sum = 0.5, product = 1.25, most = -1e300, least = 1e300, all = true, some = false, hits = 0,
    Z = scratch.scratch(6), X = entries(n, random, positive),
    last = 0, random = meissa_random.random, normal = meissa_random.normal,
  }
  for k = 1, 12 do env.Q[k] = random(6) end
  return env
end

return M
