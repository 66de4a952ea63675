-- SPDX-License-Identifier: MIT
--- Random draws for generators of programs: numbers that depend on a seed alone, on every machine.
local M = {}

--- Park and Miller's generator: a function that gives numbers from 0 to below 1.
-- @number state from 1 to 2^31 - 2
function M.park_miller(state)
  return function()
    state = state * 16807 % 2147483647
    return state / 2147483647
  end
end

--- The same from any whole number, small ones too.
function M.of_number(number) return M.park_miller(number % 2147483646 + 1) end

--- That of Numerical Recipes.
function M.numerical_recipes(state)
  return function()
    state = (state * 1664525 + 1013904223) % 2 ^ 32
    return state / 2 ^ 32
  end
end

--- Draws that are thrown away: the first ones of neighbouring seeds are alike.
function M.skip(draw, count)
  for _ = 1, count do draw() end
  return draw
end

--- From such a function: one of n that gives whole numbers from 1 to n.
function M.whole(draw)
  return function(n) return math.floor(draw() * n) + 1 end
end

-- Methods of objects with such a function in their field `draw`.
local Draws = {}

function Draws:int(lo, hi) return lo + math.floor(self.draw() * (hi - lo + 1)) end
function Draws:random(n) return self:int(1, n) end
function Draws:chance(percent) return self:int(1, 100) <= percent end
function Draws:pick(list) return list[self:int(1, #list)] end

--- A class of generators, which have these methods.
function M.class()
  local class = setmetatable({}, {__index = Draws})
  class.__index = class
  return class
end

local Plain = M.class()

--- An object with these methods and nothing else.
function M.new(draw) return setmetatable({draw = draw}, Plain) end

return M
