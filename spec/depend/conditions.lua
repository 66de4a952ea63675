-- SPDX-License-Identifier: MIT
--
-- Random conditions: their text, and when they hold.
--
-- A condition is {text =, value = function of the names' values -> true, false or nil (not known),
-- known = whether it always is, yes =, no = how many conjunctions of inequalities say when it holds
-- and when it does not}.

local affines = require "spec.depend.affine"

local M = {}

--- What the names of the texts below mean, beside p, a table that is not known.
M.captured = { on = true, off = false, here = 1 }

--- The most conjunctions around one statement: of more than 8 the analyser leaves some out.
M.most = 8

local OPERATORS = {
  { "==", function(a, b) return a == b end, 1, 2 },
  { "~=", function(a, b) return a ~= b end, 2, 1 },
  { "<", function(a, b) return a < b end, 1, 1 },
  { "<=", function(a, b) return a <= b end, 1, 1 },
  { ">", function(a, b) return a > b end, 1, 1 },
  { ">=", function(a, b) return a >= b end, 1, 1 },
}

-- Of another number than the comparison `like`, if that is given: both may bound one sum.
local function compare(rng, names, like)
  local op = rng:pick(OPERATORS)
  local left = like and like.left or affines.make(rng, names, { simple = rng:chance(60) })
  local right = affines.make(rng, names, { simple = true })
  local by, here = rng:chance(25) and rng:int(2, 4), rng:chance(25)
  if like then
    right = { constant = like.right.constant + rng:int(-2, 2), terms = like.right.terms }
    by, here = like.by, false
  end
  local text = affines.text(left)
  if by and like then
    right.constant = right.constant % by
  elseif by then
    right = { constant = rng:int(0, by - 1), terms = {} }
  end
  if by then text = ("(%s) %% %d"):format(text, by) end
  return {
    text = ("%s %s %s"):format(text, op[1], here and "here" or affines.text(right)),
    value = function(values)
      local a = affines.value(left, values)
      local b = here and M.captured.here or affines.value(right, values)
      return op[2](by and a % by or a, b)
    end,
    known = true, yes = op[3], no = op[4], left = left, right = right, by = by,
  }
end

-- A captured boolean, or what is not known.
local function named(text)
  local value = M.captured[text]
  return { text = text, value = function() return M.captured[text] end, known = value ~= nil,
    yes = value == false and 0 or 1, no = value == true and 0 or 1 }
end

-- A local that holds what a condition gave.
local function flag(of)
  return { text = of.name, value = function(values) return values[of.name] end, known = true,
    yes = of.test.yes, no = of.test.no }
end

local function atom(rng, names, known, flags, like)
  if like and like.left and rng:chance(30) then return compare(rng, names, like) end
  if flags and #flags > 0 and rng:chance(50) then return flag(rng:pick(flags)) end
  local roll = rng:int(1, 100)
  if roll <= 12 and not known then return named "p[0]" end
  if roll <= 16 then return named "on" end
  if roll <= 20 then return named "off" end
  return compare(rng, names)
end

local function negate(a)
  return { text = "not (" .. a.text .. ")", known = a.known, yes = a.no, no = a.yes,
    value = function(values)
      local value = a.value(values)
      if value == nil then return nil end
      return not value
    end }
end

local function both(a, b)
  return { text = ("(%s) and (%s)"):format(a.text, b.text), known = a.known and b.known,
    yes = a.yes * b.yes, no = a.no + b.no,
    value = function(values)
      local x, y = a.value(values), b.value(values)
      if x == false or y == false then return false end
      return x and y
    end }
end

local function either(a, b)
  local other = negate(both(negate(a), negate(b)))
  other.text = ("(%s) or (%s)"):format(a.text, b.text)
  return other
end

--- A random condition under `weight` conjunctions, if need be a `known` one, of `flags` too.
function M.make(rng, names, weight, known, flags)
  local made = atom(rng, names, known, flags)
  local roll = rng:int(1, 100)
  if roll <= 20 then made = both(made, atom(rng, names, known, flags, made)) end
  if roll > 20 and roll <= 40 then made = either(made, atom(rng, names, known, flags, made)) end
  if roll % 5 == 0 then made = negate(made) end
  if weight * (made.yes + made.no) <= M.most then return made end
  return rng:chance(50) and named "on" or named "off"
end

return M
