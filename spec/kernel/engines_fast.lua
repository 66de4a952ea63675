-- SPDX-License-Identifier: MIT
-- Random bodies for `numeric = "fast"`: sums, products, quotients, roots and row builtins of
-- positive numbers, so that nothing cancels and every rounding adds a known share to the error.
local draws = require "spec.support.draws"
local worlds = dofile("spec/kernel/engines_world.lua")

local M = {}

local DEEPEST = 2 -- loops in loops

local Body = draws.class()

local leaves = { "x", "z", "half", "0.5", "3", "1.25", "i" }

-- The name of an array, and of a row of it.
local singles, doubles = { "F", "U" }, { "E", "S" }

function Body:element()
  local names = self.single and singles or doubles
  return ("%s[i][%s]"):format(self:pick(names), self:pick(self.columns))
end

function Body:row()
  return self:pick(self.single and singles or doubles) .. "[i]"
end

function Body:number(depth)
  if depth == 0 then
    local roll = self:random(3)
    if roll == 1 and #self.locals > 0 then return self:pick(self.locals) end
    return roll == 2 and self:pick(leaves) or self:element()
  end
  local a, roll = self:number(depth - 1), self:random(8)
  if roll <= 5 then
    return ("(%s %s %s)"):format(a, self:pick { "+", "+", "*", "/" }, self:number(depth - 1))
  elseif roll == 6 then
    return ("math.sqrt(%s)"):format(a)
  elseif roll == 7 then
    return ("math.%s(%s, %s)"):format(self:pick { "max", "min" }, a, self:number(depth - 1))
  end
  return self:pick { ("%s:dot(%s)"):format(self:row(), self:row()), ("%s:sum()"):format(self:row()),
    ("%s:norm()"):format(self:row()) }
end

function Body:statement(depth)
  local roll = self:random(6)
  if roll == 1 then
    self.made = self.made + 1
    local text = ("local v%d = %s"):format(self.made, self:number(2))
    table.insert(self.locals, "v" .. self.made)
    return text
  elseif roll == 2 and depth > 0 then
    local locals, columns = { unpack(self.locals) }, self.columns
    self.made = self.made + 1
    local name = "k" .. self.made
    self.columns = { name, name, "7 - " .. name }
    local text = ("for %s = 1, m do\n%s\nend"):format(name, self:block(depth - 1))
    self.locals, self.columns = locals, columns
    return text
  elseif roll == 3 and depth == DEEPEST then
    return ("%s:axpy(%s, %s)"):format(self:row(), self:pick(leaves), self:row())
  elseif roll == 4 and depth == DEEPEST then
    return ("%s:scal(%s)"):format(self:row(), self:pick { "0.5", "x", "0.75" })
  end
  -- Kept near 1, or the numbers would leave the range of float.
  return ("%s = 1 / (1 + %s)"):format(self:element(), self:number(2))
end

function Body:block(depth)
  local lines = {}
  for n = 1, self:random(3) + 1 do lines[n] = self:statement(depth) end
  return table.concat(lines, "\n")
end

--- A random loop: {text =, n =, pieces =, seed =, single = whether it computes in float}.
function M.loop(seed)
  local self = setmetatable({ draw = worlds.draw(seed * 104729 + 3), made = 0, locals = {},
    columns = { "1", "3", "6" } }, Body)
  self.single = self:random(2) == 1
  local body = self:block(DEEPEST) .. ("\nsum = sum + %s"):format(self:element())
  return { text = "for i in parallel(n) do\n" .. body .. "\nend", n = 9, seed = seed, pieces = 3,
    single = self.single, positive = true }
end

return M
