-- SPDX-License-Identifier: MIT
--
-- Numbers from a seed, and random affine expressions of them.

local draws = require "spec.support.draws"

local M = {}

-- ---- numbers ----

--- Draws for a seed: the same numbers everywhere.
function M.random(seed)
  local draw = draws.numerical_recipes((seed * 2654435761 + 12345) % 2 ^ 32)
  return draws.new(function()
    draw()
    return draw()
  end)
end

-- ---- affine expressions over the names in scope ----

--- A random affine expression: {constant =, terms = {{name =, factor =}}}.
-- @tab[opt] opts `simple`: at most one name
function M.make(rng, names, opts)
  local e = { constant = rng:int(-3, 3), terms = {} }
  local count = rng:pick { 0, 1, 1, 1, 1, 2, 2, 3 }
  if opts and opts.simple then count = math.min(count, 1) end
  for _ = 1, count do
    local name = rng:pick(names)
    e.terms[#e.terms + 1] = { name = name, factor = rng:pick { 1, 1, 1, 1, -1, 2, 2, 3, -2, -3 } }
  end
  return e
end

--- Its Lua text.
function M.text(e)
  local parts = {}
  for _, term in ipairs(e.terms) do
    if term.factor == 1 then
      parts[#parts + 1] = term.name
    elseif term.factor == -1 then
      parts[#parts + 1] = "-" .. term.name
    else
      parts[#parts + 1] = ("%d*%s"):format(term.factor, term.name)
    end
  end
  local text = table.concat(parts, " + ")
  if e.constant ~= 0 or text == "" then
    text = text == "" and tostring(e.constant) or
      ("%s %s %d"):format(text, e.constant < 0 and "-" or "+", math.abs(e.constant))
  end
  return text
end

--- Its value, of those of the names.
function M.value(e, values)
  local sum = e.constant
  for _, term in ipairs(e.terms) do sum = sum + term.factor * values[term.name] end
  return sum
end

return M
