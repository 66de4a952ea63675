-- SPDX-License-Identifier: MIT
--
-- Arguments that mean nothing are refused: a method that silently ignored one would give an answer
-- to another question.
-- @module meissa.array.arity

local errors = require "meissa.base.errors"
local method = require "meissa.array.method"
local objects = require "meissa.array.objects"
local subscript = require "meissa.array.subscript"
local valid = require "meissa.array.valid"

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

local M = {}

--- A method of the table, refusing (ARR) more arguments than it takes.
-- @string name @func fn
function M.limit(name, fn)
  local most = method.of[name].most
  return most and wrap[most](name, fn) or fn
end

local kinds = { subscript.methods, subscript.row_methods, subscript.slice_methods, objects.methods }
for k = 1, #kinds do
  local methods = kinds[k]
  for m = 1, #method.list do
    local name = method.list[m].name
    if methods[name] then methods[name] = M.limit(name, methods[name]) end
  end
end

return M
