-- SPDX-License-Identifier: MIT
-- The proof that a captured function stores into no array: what it must see through, and what it
-- must never believe.
local read_only = require "meissa.capture.read_only"

-- Outside of the runner's environment, whose globals are found by a function.
local globals = {math = math, string = string, table = table, pairs = pairs, ipairs = ipairs,
  next = next, type = type, rawset = rawset, setmetatable = setmetatable, unpack = unpack,
  print = print, coroutine = coroutine, pcall = pcall, select = select}
local libraries, builtins = {[globals] = true}, {}
for _, name in ipairs {"math", "string", "table", "coroutine"} do
  libraries[globals[name]] = true
  for key, value in pairs(globals[name]) do
    if type(value) == "function" then builtins[value] = name .. "." .. key end
  end
end
for name, value in pairs(globals) do
  if type(value) == "function" and name ~= "pcall" then builtins[value] = name end
end

local A = {}

local function world_of(is_array)
  return {is_array = is_array, is_scratch = function() return false end, field_of = rawget,
          builtins = builtins, library = function(value) return libraries[value] end}
end

local function proves(text)
  local source = "local A, helper, lib = ... local floor = math.floor return " .. text
  local chunk = setfenv(assert(loadstring(source)), globals)
  local fn = chunk(A, function() end, {floor = math.floor, insert = table.insert})
  return read_only.only(fn, world_of(function(value) return value == A end))
end

local READS = {
  "function(x) return A[x] + 1 end",
  "function(x) local t = {} for k = 1, 10 do t[k] = A[x] * k end return t[3] end",
  "function(x) local t = {1, 2, n = 3} t.m = x[1] t[2] = nil return t end",
  "function(x) local s = 0 for k, v in pairs(x) do s = s + v end return s end",
  "function(x) local s = 0 for k, v in A:nonzeros() do s = s + v end return s end",
  "function(w, h) return w:dot(h) + math.sqrt(w:sum()) end",
  "function(w) return helper(w) end",
  "function(w) return lib.floor(w[1]) end",
  "function(w) local s = 0 while s < 10 do s = s + floor(w[s]) end return s end",
  "function(w) for k = 1, 2 do w = w[k] end local t = {} t[1] = w return t end",
  "function(w) local s = 0 repeat s = s + w[s] until s > 4 return s end",
  "function(w) if w[1] > 0 then return floor(w[2]) end return math.huge end",
  "function(w) local g = function(x) return x + w[1] end return 1 end",
  "function(w) return {a = w[1], b = floor(2)} end",
  "function(...) local a, b = ... return select('#', ...) + a[1] end",
}

local MAY_STORE = {
  "function(x) A[x] = 1 end",
  "function(x) x[1] = 1 end",
  "function(x) x.field = 1 end",
  "function(x) local t = A if x then t = {} end t[1] = 0 end",
  "function(x) local t = {} if x then t = A end t[1] = 0 end",
  "function(x) local t = {} repeat t[1] = 2 t = x until t end",
  "function(x, ...) local t = {} local a, t = ... t[1] = 1 end",
  "function(x) local t = {A} local u = t[1] u[1] = 0 end",
  "function(x) local t = {A} for _, u in pairs(t) do u[1] = 0 end end",
  "function(x) local t = {} while x do t = A if x then t[1] = 0 end end end",
  "function(x) local t while x do if t then t[1] = 0 end t = A end t = {} end",
  "function(x) do local t = {} t[1] = 1 end local u = A u[1] = 1 end",
  "function(x) do local t = {} t[1] = 1 end for u in pairs(x) do u[1] = 1 end end",
  "function(x) A:fill(0) end",
  "function(x) x[1]:copy(A) end",
  "function(x) return A:map(print) end",
  "function(x) local f = x and floor or table.insert f(A, 1) end",
  "function(x) (x and table.insert or floor)(A, 1) end",
  "function(x) local f = floor if x then f = table.insert end f(A, 1) end",
  "function(x) x(A) end",
  "function(x) return x.call(A) end",
  "function(x) table.insert(A, 1) end",
  "function(x) lib.insert(A, 1) end",
  "function(x) lib[x](A, 1) end",
  "function(x) table[x](A, 1) end",
  "function(x) return rawset(A, 1, 2) end",
  "function(x) return unknown(A) end",
  "function(x) return pcall(x, A) end",
  "function(x) local t = setmetatable({}, x) return t end",
  "function(x) return coroutine.wrap(x)(A) end",
  "function(x) local t = {} local g = function() t = A end g() t[1] = 0 end",
  "function(x) local g = function() A[1] = 0 end end",
  "function(x) local floor = table.insert return function(y) floor(A, y) end end",
  "function(x) for k in x do end end",
  "function(x) for k in A:rows() do end end",
}

describe("functions that only read", function()
  for _, text in ipairs(READS) do
    it(text, function() assert.is_true(proves(text)) end)
  end
end)

describe("functions that may store", function()
  for _, text in ipairs(MAY_STORE) do
    it(text, function() assert.is_false(proves(text)) end)
  end
end)

it("compiled loops do not change what is proved", function()
  local source = [[return function(x, n)
    local s, t = 0, {}
    for i = 1, n do s = s + x[1] end
    for _, v in pairs(x) do s = s + v end
    while s > 0 do s = s - 100 t[1] = s end
    return t
  end]]
  local fn = setfenv(assert(loadstring(source)), globals)()
  local function only()
    return read_only.only(fn, world_of(function() return false end))
  end
  assert.is_true(only())
  for _ = 1, 200 do fn({1, 2, 3}, 100) end
  assert.is_true(only())
end)
