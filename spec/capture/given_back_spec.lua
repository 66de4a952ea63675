-- SPDX-License-Identifier: MIT
-- Tables from outside that a function comes by otherwise than by a name: what another function
-- gives, what a table held for a while, what a closure sees. Stores into them are stores outside of
-- the loop, whether the function's text is walked or not.
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"

-- Statements of a function or method that store into `log`, a captured table.
local STORES = {
  ["what a function gives"] = "shared().n = i",
  ["what a function of its own gives"] =
    "local t = log local f = function() return t end f().n = i",
  ["a local of the name of another"] =
    "local sin = log local f = function() return sin end local t = f() t.n = i",
  ["what a table holds"] = "local t = {log} t[1].n = i",
  ["what a table holds by a name"] = "local t = {} t.l = log local u = t.l u.n = i",
  ["a key"] = "next({[log] = 1}).n = i",
  ["a key, by a variable"] = "local t = {} t[log] = 1 for k in pairs(t) do k.n = i end",
  ["what is gone through"] = "for _, t in ipairs {log} do t.n = i end",
  ["one of several"] = "local t = i > 0 and log or nil t.n = i",
  ["one of several, at the end"] = "local t = log if i < 0 then t = {} end t.n = i",
  ["what closures assign"] = "local t = {} local f = function() t = log end f() t.n = i",
  ["an argument of another"] = "put(log, i)",
  ["an argument given back"] = "local t = same(log) t.n = i",
  ["a metatable's field"] = "local t = getmetatable(setmetatable({}, {l = log})).l t.n = i",
  ["what pcall gives"] = "local _, t = pcall(shared) t.n = i",
  ["what is inserted into"] = "table.insert(shared(), i)",
  ["what is inserted into, by pcall"] = "pcall(table.insert, shared(), i)",
  ["what is inserted into, by a computed name"] = "local k = 'insert' table[k](shared(), i)",
  ["what rawset gets"] = "rawset(shared(), 'n', i)",
  ["what setmetatable gets"] = "setmetatable(shared(), {})",
}

-- What stores into nothing that is outside.
local OWN = {
  ["a table of its own"] = "local t = {} t.n = i return t.n",
  ["one of two of its own"] =
    "local t if i > 3 then t = {} else t = {n = 1} end t.n = i return t.n",
  ["a table filled in a loop"] = "local t = {} for k = 1, 3 do t[k] = k * i end return t[2]",
  ["a list that grows"] = "local t = {} table.insert(t, i) return #t + i",
  ["a list that is sorted"] = "local t = {i, 1} table.sort(t) return t[2]",
  ["tables in tables"] = "local t = {a = {}} t.a.n = i return t.a.n",
  ["what a function makes"] = "local t = new() t.n = i return t.n",
  ["an object"] = "local t = setmetatable({}, {__index = {n = 1}}) t.m = i return t.m + t.n",
  ["the product of captured tables"] = "return product(log.rows, {i, 2})[2]",
  ["sums over what is captured, into its own"] =
    "local t = new() t.s = total(log.rows[1]) return t.s * i",
}

local HEAD = [[
local log = {n = 0, rows = {{1, 2}, {3, 4}}}
local sin = math.sin
local function shared() sin(1) return log end
local function put(t, i) t.n = i end
local function same(t) return t end
local function new() return {} end
local function total(row) local s = 0 for k = 1, #row do s = s + row[k] end return s end
local function product(W, x)
  local y = {}
  for r = 1, #W do
    local row, s = W[r], 0
    for k = 1, #row do s = s + row[k] * x[k] end
    y[r] = s
  end
  return y
end
]]

-- Who has the statements: functions that are walked, that are not, and methods of objects of the
-- body.
local OWNERS = {
  ["a function"] = {"local function f(i) BODY end", "A[i] = f(i) or i"},
  ["a function that is not walked"] = {"local function f(i, ...) BODY end", "A[i] = f(i, 1) or i"},
  ["a method of an object of the body"] = {
    "local C = {} C.__index = C function C:put(i) local _ = sin BODY end",
    "A[i] = setmetatable({}, C):put(i) or i"},
}

local function run(owner, body, loop)
  local A = meissa.zeros(6)
  local text = table.concat {HEAD, (owner[1]:gsub("BODY", function() return body end)),
    " for i in ", loop, " do ", owner[2], " end"}
  if loop == "plain" then text = text:gsub("for i in plain", "for i = 1, 6") end
  local env = setmetatable({A = A, parallel = meissa.parallel}, {__index = _G})
  local ok, message = pcall(setfenv(assert(loadstring(text)), env))
  local elements = {}
  for i = 1, 6 do elements[i] = A[i] end
  return ok, message, elements
end

describe("a function that stores into", function()
  teardown(kept_workers.stop)
  after_each(function() kept_workers.init {} end)

  for name, body in pairs(STORES) do
    it(name .. " changes what is outside", function()
      for kind, owner in pairs(OWNERS) do
        local ok, message = run(owner, body, "parallel(6)")
        assert.is_false(ok, kind)
        assert.truthy(tostring(message):find("DEP1%d%d"), kind .. ": " .. tostring(message))
      end
    end)
  end

  for name, body in pairs(OWN) do
    it(name .. " changes nothing outside", function()
      for kind, owner in pairs(OWNERS) do
        local _, _, expected = run(owner, body, "plain")
        for workers = 0, 2, 2 do
          kept_workers.init {workers = workers}
          local ok, message, elements = run(owner, body, "parallel(6)")
          assert.is_true(ok, kind .. ": " .. tostring(message))
          assert.same(expected, elements, kind)
        end
      end
    end)
  end
end)
