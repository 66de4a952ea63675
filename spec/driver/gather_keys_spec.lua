-- SPDX-License-Identifier: MIT
-- Sums by key where evaluating what is added may change the key: plain Lua reads h[k] by the old k
-- and stores by the new one, so such statements are no sums.
local meissa = require "meissa"
local plain = require "spec.support.plain"

-- Evaluated while `k` is used.
local changes = {
  "local function f() k = 7 return 1 end h[k] = (h[k] or 0) + f()",
  "h[k] = (h[k] or 0) + (function() k = 7 return 1 end)()",
  "h[k] = (h[k] or 0) + (pcall(function() k = 7 end) and 1 or 0)",
  "local t = setmetatable({}, {__unm = function() k = 7 return 1 end}) h[k] = (h[k] or 0) + -t",
  "local t = setmetatable({}, {__index = function() k = 7 return 1 end}) h[k] = (h[k] or 0) + t.x",
  "local function f() local function g() k = 7 end g() return 1 end h[k] = f() + (h[k] or 0)",
  "local function f() k = 7 return 1 end if h[k] then h[k] = h[k] + f() else h[k] = f() end",
  "local function f() k = 7 return 1 end h[k] = h[k] or 0 h[k] = h[k] + f()",
  "local function f() k = 7 return 1 end if not h[k] then h[k] = 0 end h[k] = h[k] + f()",
  "local function f() k = 7 return 1 end h[k + 1] = (h[k + 1] or 0) + f()",
  "local a = {b = k} local function f() a.b = 7 return 1 end h[a.b] = f() + (h[a.b] or 0)",
  "local function f() function k() end return 1 end h[k] = (h[k] or 0) + f()",
}

-- Not, or not by a function.
local keeps = {
  "if k == 1 then k = 2 end h[k] = (h[k] or 0) + 1",
  "local function f() return k end h[k] = (h[k] or 0) + f()",
  "if k == 1 then k = 2 end local function f() return k end h[k] = f() + (h[k] or 0)",
  "local a = {b = k} local function f() a.b = 7 return 1 end h[a.b] = (h[a.b] or 0) + f()",
  "local a = {b = k} h[a.b] = math.abs(-i) + (h[a.b] or 0)",
  "local function f() local k = 7 k = k + 1 return k end h[k] = (h[k] or 0) + f()",
}

local function body(text)
  return ("for i in parallel(20) do local k = i %% 3 %s end"):format(text)
end

describe("sums by key", function()
  setup(function() meissa.init {workers = 2} end)
  teardown(function() meissa.init {} end)

  it("are none where a function of the body assigns the key", function()
    for _, text in ipairs(changes) do
      local env = {h = {}}
      local ok, err = pcall(plain.run, body(text), env, meissa.parallel)
      assert.are.same({false, "DEP"}, {ok, not ok and err.code}, text)
      assert.are.same({}, env.h)
    end
  end)

  it("are those of the plain loop where none does", function()
    for _, text in ipairs(keeps) do
      local written, env = {h = {}}, {h = {}}
      plain.run(body(text), written, plain.parallel)
      plain.run(body(text), env, meissa.parallel)
      assert.are.equal("independent", meissa.last().strategy, text)
      assert.are.same(written.h, env.h, text)
    end
  end)

  it("and elements of arrays and tables: a key that a function assigns is none that is known",
     function()
    for _, text in ipairs {
      "A[k] = (function() k = 7 return i end)()",
      "A[k] = A[k] + (function() k = 7 return i end)()",
      "A[i] = (function() i = 7 return 1 end)()",
      "t[i] = (function() i = 7 return 1 end)()",
    } do
      local env = {A = meissa.zeros(20), t = {}}
      local ok, err = pcall(plain.run, body(text), env, meissa.parallel)
      assert.are.same({false, "DEP"}, {ok, not ok and err.code}, text)
    end
  end)
end)
