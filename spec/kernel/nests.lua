-- SPDX-License-Identifier: MIT
-- Random nests of loops whose bounds and subscripts may be wrong: what guards of native kernels are
-- about. Used by the native specs.
local draws = require "spec.support.draws"

local M = {}

local Maker = draws.class()

-- A whole number made of loop variables, captured numbers and constants; now and then not whole.
function Maker:index(depth)
  local name = self:pick(self.names)
  if depth <= 0 then return self:pick { name, name, tostring(self:random(5)) } end
  local a, b = self:index(depth - 1), self:index(depth - 1)
  return self:pick {
    name, name, name, ("%s + %d"):format(a, self:random(3) - 2), ("6 - %s"):format(name),
    ("(%s) %% 5 + 1"):format(a), ("math.floor(%s / 2) + 1"):format(a),
    ("math.min(%s, 5)"):format(a), ("math.max(%s, %s, 1)"):format(a, b),
    ("2 * (%s) - 1"):format(a), ("(%s) - (%s)"):format(a, b), ("(%s) * (%s)"):format(a, b),
    ("-(%s)"):format(a), "one", "four", "half * 2", "half",
    ("math.floor(A[%s][1] * 5) + 1"):format(name),
  }
end

function Maker:element()
  return self:pick { ("A[%s][%s]"):format(self:index(1), self:index(1)),
    ("B[%s]"):format(self:index(1)), ("C[%s][%s]"):format(self:index(0), self:index(0)) }
end

function Maker:value()
  return self:pick { self:element(), self:index(1), "1.5",
    ("%s + %s"):format(self:element(), self:index(0)), ("%s * 0.5"):format(self:element()) }
end

function Maker:statement(depth)
  local roll = self:random(10)
  if depth > 0 and roll <= 4 then
    self.made = self.made + 1
    local name = "k" .. self.made
    local bounds = self:pick { ("1, %s"):format(self:index(1)), ("%s, 5"):format(self:index(1)),
      ("%s, %s"):format(self:index(0), self:index(0)), ("%s, 1, -1"):format(self:index(0)),
      "1, 5, 2", "four, one, -one", ("1, %s, half"):format(self:index(0)) }
    local count = #self.names
    table.insert(self.names, name)
    local body = self:block(depth - 1)
    while #self.names > count do table.remove(self.names) end
    return ("for %s = %s do\n%s\nend"):format(name, bounds, body)
  elseif roll == 5 then
    self.made = self.made + 1
    local name = "q" .. self.made
    local text = ("local %s = %s"):format(name, self:index(1))
    table.insert(self.names, name)
    return text
  elseif roll == 6 then
    return ("if %s < %s then %s = %s end"):format(self:index(0), self:value(), self:element(),
      self:value())
  end
  return ("%s = %s"):format(self:pick { self:element(), "sum" },
    self:random(3) == 1 and self:index(1) or self:value())
end

function Maker:block(depth)
  local list, count = {}, #self.names
  for k = 1, self:random(3) do
    local text = self:statement(depth)
    list[k] = text:gsub("^sum = ", "sum = sum + ")
  end
  while #self.names > count do table.remove(self.names) end
  return table.concat(list, "\n")
end

--- A random loop over i, from 1 to 5.
function M.generate(number)
  local self = setmetatable({ names = { "i" }, made = 0,
    draw = draws.skip(draws.numerical_recipes(number), 5) }, Maker)
  return "for i in parallel(n) do\n" .. self:block(3) .. "\nend"
end

--- The world of the loops, and their space.
function M.world(array)
  return { A = array.rand({ 5, 5 }, { seed = 1 }), B = array.rand({ 5 }, { seed = 2 }),
    C = array.zeros({ 5, 5 }, { type = "int32" }), n = 5, one = 1, four = 4, half = 0.5,
    sum = 0.25 }
end

function M.space() return { ranges = { { 1, 5 } } } end

return M
