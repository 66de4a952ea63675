-- SPDX-License-Identifier: MIT
--- What generators of random texts have in common: numbers that depend on the text's number alone,
-- and lines.
local M = {}

local Text = {}
Text.__index = Text

--- 1..n, by a generator of its own (Park and Miller).
function Text:random(n)
  self.seed = (self.seed * 16807) % 2147483647
  return math.floor(self.seed / 2147483647 * n) + 1
end

function Text:chance(percent) return self:random(100) <= percent end
function Text:pick(list) return list[self:random(#list)] end

--- Adds a line.
function Text:add(...) self.lines[#self.lines + 1] = string.format(...) end

--- A class of such generators.
function M.class()
  local class = setmetatable({}, Text)
  class.__index = class
  return class
end

--- Makes an object of a class the generator of text `number`.
function M.new(class, number, object)
  object.seed, object.lines = number % 2147483646 + 1, {}
  setmetatable(object, class)
  for _ = 1, 5 do object:random(2) end
  return object
end

return M
