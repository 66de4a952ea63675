-- SPDX-License-Identifier: MIT
--- Going through tables: what this module's own code uses instead of `pairs` and `next`.
--
-- In Debian 12's LuaJIT neither is safe in hot code. A generic `for` over `pairs` or `next` is an
-- instruction of its own, by these names, which in nested loops can end early or fault (LuaJIT
-- issue 827). And machine code that calls `next` may swap the two registers of its result as 32
-- bits, so that what it reads then is no address (mended in LuaJIT on 2022-04-05: "Fix RETHI/RETLO
-- swap after call"). What is here LuaJIT never compiles.
-- @module meissa.base.tables

local M = {}

--- The types of values that lead to no others.
M.PLAIN = { ["nil"] = true, number = true, string = true, boolean = true }

local next = next -- whatever becomes of the program's

--- The `next` of Lua.
function M.next(t, key) return next(t, key) end
jit.off(M.next)

local advance = M.next

--- All entries of a table in no order that can be relied on: `for key, value in each(t) do`.
-- Metatables are not asked.
function M.each(t) return advance, t, nil end

--- Another table with the same entries, without a metatable.
function M.copy(t)
  local copy = {}
  for key, value in advance, t do copy[key] = value end
  return copy
end

-- Keys in an order of their own: numbers, then strings, then booleans, then the rest as it comes.
local rank = { number = 1, string = 2, boolean = 3 }

--- Whether key a comes before key b; neither of two keys that are no numbers, strings or booleans
-- does. Nan is no key.
function M.before(a, b)
  local ra, rb = rank[type(a)] or 4, rank[type(b)] or 4
  if ra ~= rb then return ra < rb end
  if ra == 3 then return a == false and b == true end
  return ra < 3 and a < b
end

--- The keys of a table as a list: those with an order in it, then the rest as it comes.
function M.keys(t)
  local keys, rest = {}, {}
  for key in advance, t do
    local list = rank[type(key)] and keys or rest
    list[#list + 1] = key
  end
  table.sort(keys, M.before)
  for _, key in ipairs(rest) do keys[#keys + 1] = key end
  return keys
end

--- What the first fields of a path, as many as `depth` says, lead to, without calling anything.
function M.follow(value, fields, depth)
  for n = 1, depth do
    if type(value) ~= "table" then return nil end
    value = M.field_of(value, fields[n])
  end
  return value
end

-- What is found under a key, whether what is not found is not known, and the table that has it.
local function look_up(value, key)
  for _ = 1, 100 do
    local found = rawget(value, key)
    if found ~= nil then return found, nil, value end
    local meta = debug.getmetatable(value)
    local index = type(meta) == "table" and rawget(meta, "__index")
    if type(index) ~= "table" then return nil, index and true or false end
    value = index
  end
  return nil, true
end

--- A field of a plain table without calling anything: raw, then through __index tables. The second
-- result says that there is an __index that is no table: what it gives is not known.
function M.field_of(value, key)
  local found, asks = look_up(value, key)
  return found, asks
end

--- The table that has the field `key`: `value` itself, or a table behind its `__index`; nil if none
-- has.
function M.holder_of(value, key)
  return (select(3, look_up(value, key)))
end

return M
