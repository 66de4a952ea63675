-- SPDX-License-Identifier: MIT
--- What generators of random texts have in common: numbers that depend on the text's number alone,
-- and lines.
local draws = require "spec.support.draws"

local M = {}

local Text = draws.class()

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
  object.draw, object.lines = draws.skip(draws.of_number(number), 5), {}
  return setmetatable(object, class)
end

return M
