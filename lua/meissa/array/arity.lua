-- SPDX-License-Identifier: MIT
--
-- Arguments that mean nothing are refused: a method that silently ignored one would give an answer
-- to another question.
-- @module meissa.array.arity

local errors = require("meissa.base.errors")
local objects = require("meissa.array.objects")
local subscript = require("meissa.array.subscript")
local tables = require("meissa.base.tables")
local valid = require("meissa.array.valid")

-- How many arguments methods take at most. Those that are not named look at all of theirs.
local most = {
  size = 1, dim = 0, nnz = 0, type = 0, label = 2, index = 2, data = 0, free = 0,
  fill = 1, copy = 1, scal = 1, add = 2, axpy = 2, cmul = 1,
  sum = 1, mean = 1, prod = 1, var = 2, std = 2, max = 1, min = 1, norm = 2, dot = 1,
  narrow = 3, select = 2, transpose = 2, clone = 0, snapshot = 0,
  each = 0, nonzeros = 0, split = 2, totable = 0, totensor = 0,
}

local function refuse(name, place, value)
  local words = type(value) == "number" and valid.describe(value) or
    type(value) == "string" and valid.describe(value) or "a " .. type(value)
  errors.raise("ARR", "%s: argument %d (%s) means nothing: the method takes %s", name, place, words,
    place == 1 and "none" or place == 2 and "one at most" or string.format("%d at most", place - 1))
end

-- One function for each number of arguments: without `...` LuaJIT compiles them to nothing.
local wrap = {
  [0] = function(name, fn)
    return function(self, extra)
      if extra ~= nil then refuse(name, 1, extra) end
      return fn(self)
    end
  end,
  function(name, fn)
    return function(self, a, extra)
      if extra ~= nil then refuse(name, 2, extra) end
      return fn(self, a)
    end
  end,
  function(name, fn)
    return function(self, a, b, extra)
      if extra ~= nil then refuse(name, 3, extra) end
      return fn(self, a, b)
    end
  end,
  function(name, fn)
    return function(self, a, b, c, extra)
      if extra ~= nil then refuse(name, 4, extra) end
      return fn(self, a, b, c)
    end
  end,
}

local kinds = { subscript.methods, subscript.row_methods, subscript.slice_methods, objects.methods }
for k = 1, #kinds do
  local methods = kinds[k]
  for name, count in tables.each(most) do
    if methods[name] then methods[name] = wrap[count](name, methods[name]) end
  end
end

return most
