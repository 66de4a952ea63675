-- SPDX-License-Identifier: MIT
--
-- One variable under two names: programs that reach what they assign by another name, too, against
-- the same text over plain tables by a plain loop. Each either gives that loop's values, with any
-- number of workers, or is refused before anything runs with the code that it names.

local errors = require "meissa.base.errors"
local meissa = require "meissa"

local N = 6

-- {code or "runs", what precedes the loop, its body, what is compared after it beside `A`}
local PROGRAMS = {
  -- globals
  { "DEP104", "g = 5", "g = g + 1 A[i] = _G.g", "g" },
  { "DEP104", "g = 5", "g = g + 1 A[i] = _G['g']", "g" },
  { "DEP107", "g = 5", "_G.g = _G.g + 1 A[i] = g", "g" },
  { "DEP104", "g = 5", "g = i A[i] = _G.g", "g" },
  { "DEP104", "g = nil", "g = i A[i] = _G.g or 0", "g" },
  { "DEP104", "g = 5 local t = {env = _G}", "g = g + 1 A[i] = t.env.g", "g" },
  { "DEP104", "g = 5 local e = _G", "g = g + 1 A[i] = e.g", "g" },
  { "DEP104", "g = 5", "g = g + 1 A[i] = package.loaded._G.g", "g" },
  { "DEP104", "g = 5 local o = setmetatable({}, {__index = _G})", "g = g + 1 A[i] = o.g", "g" },
  { "DEP107", "g = 5 local o = setmetatable({}, {__index = _G, __newindex = _G})",
    "o.g = o.g + 1 A[i] = g", "g" },
  { "DEP107", "g = {n = 1}", "g.n = g.n + 1 A[i] = _G.g.n", "g.n" },
  { "DEP107", "g = {n = 1} local c = g", "g.n = g.n + 1 A[i] = c.n", "g.n" },
  { "DEP107", "g = {0, 0, 0, 0, 0, 0}", "g[i] = i A[i] = _G.g[1]", "g" },
  { "runs", "g, k = 5, 4", "g = g + 1 A[i] = _G.k", "g" },
  { "runs", "g = 5", "g = g + i A[i] = _G.math.floor(i / 2)", "g" },
  { "runs", "g = 5", "_G.g = _G.g + i A[i] = i", "g" },
  -- globals that are looked up by names known only when the body runs
  { "DEP119", "g = 5 local n = 'g'", "n = n .. 'x' A[i] = _G[n] or 0" },
  { "DEP119", "g = 5 local n = 'g' local function f() n = 'h' end", "A[i] = _G[n] or 0 f()" },
  { "DEP119", "g = 5", "A[i] = getfenv(2).g or 1" },
  { "DEP119", "g = 5 local e = getfenv", "A[i] = e(1).g" },
  { "DEP119", "g = 5 local function getfenv() return _G end", "A[i] = getfenv(1).g" },
  { "DEP119", "g = 5 local t = {env = _G}", "g = g + 1 local e = t.env A[i] = e.g", "g" },
  { "DEP119", "g = 5", "g = g + 1 local p = package A[i] = p.loaded._G.g", "g" },
  { "DEP119", "g = 5", "A[i] = rawget(_G, 'g') or 0" },
  { "DEP119", "g = 5", "for k, v in pairs(_G) do if k == 'g' then A[i] = v end end" },
  { "DEP119", "g = 5 local function f(e) return e.g end", "A[i] = f(_G)" },
  { "DEP119", [[package.loaded.meissa_slots = nil
    package.preload.meissa_slots = function() return {x = 3} end]],
    "A[i] = (package.loaded.meissa_slots and 1 or 2) + require('meissa_slots').x" },
  -- names that captured strings hold are the variables that they name
  { "DEP104", "g = 5", "g = g + 1 A[i] = getfenv(0).g", "g" },
  { "DEP104", "g = 5", "g = g + 1 A[i] = getfenv(1).g", "g" },
  { "runs", "g = 5", "A[i] = getfenv(1).g" },
  { "runs", "g = 5", "A[i] = getfenv().g" },
  { "runs", "g = 5 local n = 'g'", "A[i] = getfenv(0)[n]" },
  { "runs", "g = 5 local n = 'g'", "getfenv(1)[n] = getfenv(1)[n] + i", "g" },
  { "DEP119", "g, h = 5, 7 setfenv(1, {g = 8, getfenv = getfenv})", "A[i] = getfenv(0).h" },
  { "runs", "g = 5 setfenv(1, {g = 8, getfenv = getfenv}) local n = 'g'", "A[i] = getfenv(1)[n]" },
  { "DEP104", "g = 5 local n = '_G'", "g = g + 1 A[i] = package.loaded[n].g", "g" },
  { "runs", "g = 5 local n, m = '_G', 'g'", "A[i] = package.loaded[n][m]" },
  { "runs", "g = 5 local n = 'g'", "A[i] = _G[n] or 0" },
  { "DEP104", "g = 5 local n = 'g'", "g = g + 1 A[i] = _G[n] or 0", "g" },
  { "runs", "g = 5 local n = 'g'", "_G[n] = _G[n] + i", "g" },
  { "runs", "g = 5 local n = 'g' n = 'g'", "_G[n] = _G[n] + #n", "g" },
  { "DEP107", "g = 5 local n = 'g'", "_G[n] = _G[n] + i A[i] = g", "g" },
  { "runs", "g = {x = {1, 2, 3, 4, 5, 6}} local n, x = 'g', 'x'", "A[i] = _G[n][x][i]" },
  { "runs", "g = function(x) return x + 1 end local n = 'g'", "A[i] = _G[n](i)" },
  { "runs", "_G['a \"\\n'] = 5 local n = 'a \"\\n'", "A[i] = _G[n] + #n" },
  { "runs", "g = 5 local t, k = {env = _G}, 'env'", "A[i] = t[k].g" },
  { "runs", "g = 5 local o, k = setmetatable({}, {__index = _G}), 'g'", "A[i] = o[k]" },
  { "DEP104", "g = 5 local o, k = setmetatable({}, {__index = _G}), 'g'", "g = g + 1 A[i] = o[k]",
    "g" },
  { "runs", "local t, k = {n = 1}, 'n'", "t[k] = t[k] + i", "t.n" },
  { "runs", "local t, k, x = {n = {x = 1, y = {3}}}, 'n', 'x'",
    "t[k][x] = t[k][x] + t[k].y[1] A[i] = t[k].y[1]", "t.n.x" },
  { "DEP107", "local t, k = {n = 1}, 'n'", "t[k] = t[k] + i A[i] = t.n", "t.n" },
  -- functions
  { "DEP107", "g = 5 local function f() return g end", "_G.g = _G.g + 1 A[i] = f()", "g" },
  { "DEP104", "g = 5 local function f() return g end", "g = g + 1 A[i] = f()", "g" },
  { "DEP104", "g = 5 local function f(...) return g end", "g = g + 1 A[i] = f()", "g" },
  { "DEP104", "g = nil local function f() return _G.g or 2 end", "g = i A[i] = f()", "g" },
  { "DEP107", "local env = {h = 1} local f = setfenv(function() return h end, env)",
    "env.h = env.h + 1 A[i] = f()", "env.h" },
  { "DEP107", "local env = {h = 1} local f = setfenv(function(...) return h end, env)",
    "env.h = env.h + 1 A[i] = f()", "env.h" },
  { "DEP107", [[local env = {h = 1} local f = setfenv(function() return h end, env)
    local h = setmetatable({}, {__index = env, __newindex = env})]],
    "h.h = h.h + 1 A[i] = f()", "env.h" },
  { "DEP104", [[h = 1 local env = setmetatable({}, {__index = _G})
    local f = setfenv(function() return h end, env)]], "h = h + 1 A[i] = f()", "h" },
  { "runs", [[h = 1 local env = setmetatable({h = 1}, {__index = _G})
    local f = setfenv(function() return h end, env)]], "h = h + 1 A[i] = f()", "h" },
  { "DEP107", [[local all = {n = 1}
    local e = setmetatable({}, {__index = function(_, key) return all[key] end})
    local f = setfenv(function() return n end, e)]], "all.n = all.n + 1 A[i] = f()", "all.n" },
  { "DEP104", [[local n = 1 local e = setmetatable({}, {__index = function() return n end})
    local f = setfenv(function() return any end, e)]], "n = n + 1 A[i] = f()", "n" },
  { "DEP104", "local n = 1 setfenv(1, setmetatable({}, {__index = function() return n end}))",
    "n = n + 1 A[i] = any", "n" },
  { "DEP119", [[local n = 1
    setfenv(1, setmetatable({}, {__index = function() n = n + 1 return n end}))]], "A[i] = any" },
  { "DEP119", [[local all = {n = 1} local e = setmetatable({}, {__index = function()
      all.n = all.n + 1
      return all.n
    end})
    local f = setfenv(function() return any end, e)]], "A[i] = f()" },
  { "DEP104", [[local all = {n = 1} setfenv(1, setmetatable({}, {
      __index = function(_, key) return all[key] end,
      __newindex = function(_, key, value) all[key] = value end}))]],
    "n = n + 1 A[i] = all.n", "all.n" },
  { "runs", "g = nil local function f() return _G.g or 2 end", "A[i] = f()" },
  { "runs", "local function f(x) return _G.math.floor(x) end", "A[i] = f(i / 2)" },
  { "DEP119", "g = 5 local function f() return _G.g or 1 end", "A[i] = f()" },
  { "DEP119", "g = 5 local function f(n) return _G[n] or 1 end", "A[i] = f('g')" },
  { "DEP119", "g = 5 local function f(n, ...) return _G[n] or 1 end", "A[i] = f('g')" },
  { "DEP119", "g = 5 local e = _G local function f(n) return e[n] or 1 end", "A[i] = f('g')" },
  { "DEP119", "g = 5 local function f() return getfenv(1).g or 1 end", "A[i] = f()" },
  { "DEP119", "g = 5 local function f(n) return rawget(_G, n) or 1 end", "A[i] = f('g')" },
  { "DEP119", "g = 5 local function f(n) return _G[n] end local function h(n) return f(n) end",
    "A[i] = h('g')" },
  { "DEP119", [[g = 5 local t = {env = _G} local function h(x, k, ...) return x.env[k] end
    local function f(k, ...) return h(t, k) end]], "A[i] = f('g')" },
  { "DEP119", "g = 5 local lib, k = {get = function(n) return _G[n] end}, 'get'",
    "A[i] = lib[k]('g')" },
  { "DEP119", [[g = 5 local C = {} C.__index = C function C.get(_, n) return _G[n] end
    local list = {} for k = 1, 6 do list[k] = setmetatable({}, C) end]],
    "A[i] = list[i]:get('g')" },
  { "DEP119", "g = 5 local o = setmetatable({}, {__add = function() return _G.g end})",
    "A[i] = o + i" },
  -- locals that functions see; nan is not equal to itself
  { "DEP104", "local n = 1 local function f() return n end", "n = n + 1 A[i] = f()", "n" },
  { "DEP104", "local n = 0 / 0 local function f() return n end", "n = i A[i] = f()", "n" },
  { "DEP104", "g = 0 / 0 local function f() return g end", "g = i A[i] = f()", "g" },
  { "DEP104", "local n = 1 local o = {get = function() return n end}", "n = n + 1 A[i] = o.get()",
    "n" },
  { "DEP104", "g = 1 local a = setmetatable({}, {__call = function() return g end})",
    "g = g + 1 A[i] = a()", "g" },
  -- fields, also through __index
  { "DEP107", "local C = {n = 1} C.__index = C local o = setmetatable({}, C)",
    "C.n = C.n + 1 A[i] = o.n", "C.n" },
  { "DEP107", "local C = {n = 1} C.__index = C local o = setmetatable({}, C)",
    "o.n = o.n + 1 A[i] = C.n", "C.n, o.n" },
  { "DEP107", [[local B = {n = 1} B.__index = B local D = setmetatable({}, B) D.__index = D
    local o = setmetatable({}, D)]], "B.n = B.n + 1 A[i] = o.n", "B.n" },
  { "DEP107", [[local C = {n = 1} C.__index, C.__newindex = C, C
    local a, b = setmetatable({}, C), setmetatable({}, C)]], "a.n = a.n + 1 A[i] = b.n", "C.n" },
  { "runs", [[local C = {n = 0} C.__index = C
    local a, b = setmetatable({n = 1}, C), setmetatable({n = 2}, C)]],
    "a.n = a.n + 1 b.n = b.n + 2 A[i] = C.n", "a.n, b.n" },
  { "DEP107", "local a = {n = 1} local b = a", "a.n = a.n + 1 b.n = b.n + 2 A[i] = i", "a.n" },
  { "DEP107", "local a = {n = 1} local b = a", "a.n = a.n + 1 A[i] = b.n", "a.n" },
  { "DEP107", "local t = {n = 1} local u = {t = t}", "t.n = t.n + 1 A[i] = u.t.n", "t.n" },
  { "runs", "local t = {n = 1, x = 2} local u = {t = t}", "t.n = t.n + 1 A[i] = u.t.x", "t.n" },
  { "DEP107", "local t, k = {n = 1}, 'n'", "t.n = t.n + 1 A[i] = t[k]", "t.n" },
  { "DEP107", [[local C = {} C.__index = C function C:get() return self.n end
    local a = setmetatable({n = 1}, C) local b = a]], "a.n = a.n + 1 A[i] = b:get()", "a.n" },
  { "DEP107", [[local C = {n = 1} C.__index = C function C:get() return C.n end
    local a = setmetatable({}, C)]], "C.n = C.n + 1 A[i] = a:get()", "C.n" },
  { "DEP107", "local C = {n = 1} local a = setmetatable({}, {__index = function() return C.n end})",
    "C.n = C.n + 1 A[i] = a.any", "C.n" },
  { "DEP107", "local m = {n = 1} local o = setmetatable({}, m)",
    "m.n = m.n + 1 A[i] = getmetatable(o).n", "m.n" },
  -- fields that are nil before
  { "runs", "local o = {n = 99}", "if 7 - i < o.n then o.n, o.at = 7 - i, i end", "o.n, o.at" },
  { "runs", "local o = {n = 99, at = 0}", "if 7 - i < o.n then o.n, o.at = 7 - i, i end",
    "o.n, o.at" },
  { "runs", "local o = {}", "if not o.n or i * 5 % 7 > o.n then o.n = i * 5 % 7 end", "o.n" },
  { "runs", "local o = {}", "o.n = o.n or i > 2 and i", "o.n" },
  { "runs", "local o = {x = {}}", "if i == 5 then o.x.n = true end", "o.x.n and 1 or 0" },
  { "runs", "local o = {}", "if i == 9 then o.n = true end", "next(o) == nil and 1" },
  { "runs", [[local C = {} C.__index = C function C:e(i) return i * 5 % 7 end
    local o = setmetatable({}, C)]],
    "local e = o:e(i) if not o.n or e > o.n then o.n, o.at = e, i end", "o.n, rawget(o, 'at')" },
  { "DEP107", [[local C = {} C.__index = C function C:e(i) return self.n and 1 or i end
    local o = setmetatable({}, C)]], "local e = o:e(i) if not o.n or e > o.n then o.n = e end",
    "o.n" },
  { "DEP107", "local o = {} local p = o", "if i == 2 then o.n = true end A[i] = p.n and 1 or 0" },
  { "DEP107", "local o = {} local p = {o}",
    "if i == 2 then o.n = true end A[i] = p[1].n and 1 or 0" },
  { "DEP107", "local o = {} local p = setmetatable({}, {__index = o})",
    "if i == 2 then o.n = true end A[i] = p.n and 1 or 0" },
  { "DEP107", "local o = {} local function f() return o.n and 1 or 0 end",
    "if i == 2 then o.n = true end A[i] = f()" },
  { "DEP107", "local o, k = {}, 'n'", "if i == 2 then o.n = true end A[i] = o[k] and 1 or 0" },
  { "DEP107", "local o = {}", "if i == 2 then o.n = true end A[i] = next(o) and 1 or 0" },
  { "DEP107", "local o = setmetatable({}, {__index = {n = 3}})", "if i > o.n then o.n = i end",
    "o.n" },
  { "DEP107", "local m = {} local o = setmetatable({}, {__newindex = m})",
    "if i == 2 then o.n = true end A[i] = m.n and 1 or 0" },
  { "DEP107", "g = nil", "if i == 2 then _G.g = true end A[i] = g and 1 or 0" },
  -- what is read from a variable that the body assigns is no variable of its own
  { "runs", "local p", "p = {n = i} A[i] = p.n", "p.n" },
  { "runs", "g = nil", "g = {n = {m = i}} A[i] = g.n.m", "g.n.m" },
  { "runs", "g = 5", "g = {n = i} A[i] = g.n", "g.n" },
  -- sliced output, lists and counts
  { "DEP107", "local t = {0, 0, 0, 0, 0, 0} local u = {t}", "t[i] = i A[i] = u[1][1]", "t" },
  { "DEP107", "local h = {a = 1} local p = setmetatable({}, {__index = h})",
    "local k = i % 2 == 0 and 'a' or 'b' h[k] = (h[k] or 0) + 1 A[i] = p.a", "h.a" },
  { "DEP107", "local h = {a = 1} local f = setfenv(function() return a end, h)",
    "local k = i % 2 == 0 and 'a' or 'b' h[k] = (h[k] or 0) + 1 A[i] = f()", "h.a" },
  { "DEP107", [[local h = {a = 1}
    local f = setfenv(function() return a end, setmetatable({}, {__index = h}))]],
    "local k = i % 2 == 0 and 'a' or 'b' h[k] = (h[k] or 0) + 1 A[i] = f()", "h.a" },
  { "runs", "local h = {a = 1} local p = setmetatable({}, {__index = {a = 3}})",
    "local k = i % 2 == 0 and 'a' or 'b' h[k] = (h[k] or 0) + 1 A[i] = p.a", "h.a" },
  { "DEP107", "local t = {0, 0, 0, 0, 0, 0} local p = setmetatable({}, {__index = t})",
    "t[i] = i A[i] = p[1]", "t" },
}

local function text_of(program)
  return ([[
local parallel, zeros = ...
local A = zeros(%d)
%s
for i in parallel(%d) do %s end
return {A, %s}]]):format(N, program[2], N, program[3], program[4] or "nil")
end

-- What a program leaves, as one text; nil and what it raised.
local function run(text, parallel, zeros)
  local ok, result = pcall(assert(loadstring(text)), parallel, zeros)
  if not ok then return nil, result end
  local words = {}
  for _, value in ipairs(result) do
    local list = type(value) == "number" and { value } or value
    for k = 1, type(value) == "number" and 1 or N do words[#words + 1] = ("%a"):format(list[k]) end
  end
  return table.concat(words, " ")
end

local function plain_parallel(n)
  return function(_, i) if i < n then return i + 1 end end, nil, 0
end

local function plain_zeros(n)
  local list = {}
  for k = 1, n do list[k] = 0 end
  return list
end

for _, workers in ipairs { 0, 1, 2, 5 } do
  describe(("one variable, with %d workers:"):format(workers), function()
    setup(function() meissa.init { workers = workers } end)
    teardown(function() meissa.init {} end)

    for _, program in ipairs(PROGRAMS) do
      it((program[2] .. " / " .. program[3]):gsub("%s+", " "), function()
        local text = text_of(program)
        local expected = assert(run(text, plain_parallel, plain_zeros))
        local found, err = run(text, meissa.parallel, function(n) return meissa.zeros(n) end)
        if program[1] == "runs" then
          assert.equal(expected, found or tostring(err))
        else
          assert.is_true(errors.is(err), found or tostring(err))
          assert.is_truthy(tostring(err):find("[" .. program[1], 1, true), tostring(err))
        end
      end)
    end
  end)
end

describe("the reason", function()
  local function refusal(text)
    local _, err = run("local parallel, zeros = ... local A = zeros(6) " .. text, meissa.parallel,
      function(n) return meissa.zeros(n) end)
    return tostring(err)
  end

  it("names the other name", function()
    assert.is_truthy(refusal("g = 1 for i in parallel(6) do g = g + 1 A[i] = _G.g end"):find(
      "g is assigned by the body, and _G.g is the same variable", 1, true))
    assert.is_truthy(refusal([[local C = {n = 1} C.__index = C local o = setmetatable({}, C)
      for i in parallel(6) do C.n = C.n + 1 A[i] = o.n end]]):find(
      "the body assigns C.n, and o.n is the same variable", 1, true))
  end)

  it("names __index where the value is inherited", function()
    assert.is_truthy(refusal([[local o = setmetatable({}, {__index = {n = 1}})
      for i in parallel(6) do o.n = o.n + 1 end]]):find(
      "the body assigns o.n, and what __index gives is the same variable", 1, true))
  end)

  it("says what looks variables up", function()
    assert.is_truthy(refusal("for i in parallel(6) do A[i] = _G['n' .. i] or 0 end"):find(
      "_G is used as a table of variables", 1, true))
    assert.is_truthy(refusal([[local function f(n) return _G[n] or 1 end
      for i in parallel(6) do A[i] = f(i) end]]):find("f (it looks up variables in _G)", 1, true))
    assert.is_truthy(refusal("local t = {_G} for i in parallel(6) do A[i] = t[1].n or 0 end"):find(
      "t leads to _G", 1, true))
  end)
end)

describe("a name in a captured string", function()
  before_each(function() rawset(_G, "g", 5) rawset(_G, "h", { 1, 2, 3, 4, 5, 6 }) end)
  after_each(function() _G.g, _G.h, _G.W = nil, nil, nil end)

  it("is what it is at this execution", function()
    local A, sums = meissa.zeros(6), { a = 0, b = 0 }
    for _, name in ipairs { "a", "b", "a" } do
      for i in meissa.parallel(6) do
        sums[name] = sums[name] + i
        A[i] = i
      end
    end
    assert.same({ a = 42, b = 21 }, sums)
  end)

  it("is settled in closures, and under check = true", function()
    local A, name = meissa.zeros(6), "h"
    meissa.each(6, { check = true }, function(i) A[i] = _G[name][i] + 5 end)
    assert.same({ 6, 7, 8, 9, 10, 11 }, A:totable())
    name = "g"
    for i in meissa.parallel(6, { check = true }) do A[i] = _G[name] end
    assert.equal(30, A:sum())
  end)

  it("stays itself where it is used otherwise", function()
    local A, name, t = meissa.zeros(6), "g", { g = "g" }
    for i in meissa.parallel(6) do A[i] = t[name] == name and _G[name] * #name or 0 end
    assert.equal(30, A:sum())
  end)

  it("may name arrays, also as another name for one", function()
    local name, other = "W", "W"
    local W = meissa.zeros(6)
    rawset(_G, "W", W)
    for i in meissa.parallel(6) do _G[name][i] = i + 1 end
    assert.equal(27, W:sum())
    local ok, err = pcall(meissa.each, 6, function(i) _G[name][i] = _G[other][i % 6 + 1] end)
    assert.is_false(ok)
    assert.is_truthy(tostring(err):find("DEP10%d"), tostring(err))
  end)
end)

describe("another table under a known path", function()
  it("is met when the loop is met again", function()
    local text = [[
      local parallel, zeros = ...
      g = 5
      local A, t = zeros(6), {env = {g = 7}}
      for pass = 1, 2 do
        for i in parallel(6) do g = g + 1 A[i] = t.env.g end
        t.env = _G
        g = 7
      end]]
    local _, err = run(text, meissa.parallel, function(n) return meissa.zeros(n) end)
    assert.is_truthy(tostring(err):find("t.env.g is the same variable", 1, true), tostring(err))
  end)
end)
