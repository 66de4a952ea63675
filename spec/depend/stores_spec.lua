-- SPDX-License-Identifier: MIT
--
-- What refused stores into plain tables are told: what keeps the table from being output, and what
-- to write, which then runs.
local expect = require "spec.support.expect"
local meissa = require "meissa"
local tables = require "meissa.base.tables"
local parallel = meissa.parallel

describe("plain tables that are no output", function()
  local Model, words = {}, {"a", "b", "c"}
  Model.__index = Model
  function Model:f(i) return i * self.k end

  -- A loop's text, what its refusal says, and what the text is given.
  local function told(text, ...)
    local ok, err = pcall(assert(loadstring(text[1]))(...))
    assert.is_false(ok)
    assert.equal("DEP", err.code)
    for k = 2, #text do
      assert.truthy(err.message:find(text[k], 1, true), err.message)
    end
    assert.truthy(err.message:find("cannot be run on workers [DEP107", 1, true) or
                  err.message:find("cannot be proved parallel [DEP107", 1, true), err.message)
  end

  it("are said to be reached by what is used as a whole", function()
    local model = setmetatable({ k = 7, out = {}, list = {} }, Model)
    local head = "local self = ... local parallel = require 'meissa'.parallel return function() "
    told({ head .. "for i in parallel(9) do self.out[i] = self:f(i) end end",
      "writes into self.out, and self, which it uses as a whole",
      "for ... do new[...] = ... end  self.out = new" }, model)
    told({ head .. "local out = self.out for i in parallel(9) do out[i] = self:f(i) end end",
      "writes into out, and self, which it uses as a whole" }, model)
    told({ head .. "for i in parallel(9) do self.list[#self.list + 1] = self:f(i) end end",
      "appends to self.list, and self, which", "self.list = new" }, model)
    local new = {}
    for i in parallel(9) do new[i] = model:f(i) end
    model.out = new
    assert.equal(63, model.out[9])
  end)

  it("are said to be none, where they are something else", function()
    local head = "local F = ... local parallel = require 'meissa'.parallel return function() "
    for word, value in tables.each {["a number"] = 3, ["a string"] = "s", ["a boolean"] = false} do
      told({ head .. "for i in parallel(9) do F[i] = F[i] + 1 end end",
        "F is " .. word .. " before the loop", "F = meissa.zeros(n)" }, value)
    end
    told({ head .. "for i in parallel(9) do F[i] = i end end", "F is nil before the loop" })
    local text = "local n = ... for i in require('meissa').parallel(9) do n.t[i] = i end"
    assert.is_nil(tostring(expect.refusal(assert(loadstring(text)), 5)):find("n.t is a number"))
    told({ head .. "F = {} for i in parallel(9) do F.x[i] = i end end", "F.x is nil before" })
  end)

  it("are said to be read, or to hold tables", function()
    local head = "local q = ... local parallel = require 'meissa'.parallel return function() "
    told({ head .. "for i in parallel(9) do q[i] = q[i] * 2 end end",
      "writes into q and also reads it", "local new = {}  ... new[i] = value" }, { 1, 2, 3 })
    told({ head .. "for i in parallel(9) do q[i] = {} for j = 1, 3 do q[i][j] = i * j end end end",
      "writes into what q[i] holds", "local own = {}  own[...] = value  ... q[i] = own" }, {})
    told({ head .. "for i in parallel(9) do for j = 1, 3 do q[i][j] = i * j end end end",
      "writes into what q[i] holds", "... q[i] = own" }, {})
    told({ head .. "for i in parallel(9) do local k = i % 2 q[k] = q[k] or {} q[k].x = i end end",
      "keys[#keys + 1], values[#values + 1] = key, value" }, {})
    told({ head .. "for i in parallel(9) do local k = i % 3 q[k] = math.max(q[k] or 1, i) end end",
      "writes into q and also reads it", "keys[#keys + 1], values[#values + 1] = key" }, {})
    told({ "local n, q = 0, ... " .. head:gsub("local q = ... ", "") ..
      "for i in parallel(9) do n = n + 1 q[n] = i end end",
      "stores at n, which it counts", "append, its length counts:  q[#q + 1] = value" }, {})
    local M, keys, values = {}, {}, {}
    for i in parallel(9) do
      local own = {}
      for j = 1, 3 do own[j] = i * j end
      M[i] = own
      keys[#keys + 1], values[#values + 1] = i % 2, i
    end
    assert.same({ 9, 18, 27, 1, 9 }, { M[9][1], M[9][2], M[9][3], keys[9], values[9] })
  end)

  it("are appended to by one value of a call", function()
    local t = {}
    told({ "local t, words = ... local parallel = require 'meissa'.parallel return function() " ..
      "for i in parallel(3) do table.insert(t, words[i]:upper()) end end",
      "words[i]:upper() may give two values", "table.insert(t, (words[i]:upper()))" }, t, words)
    for i in parallel(3) do table.insert(t, (words[i]:upper())) end
    assert.same({ "A", "B", "C" }, t)
  end)
end)

describe("what a called function stores outside of itself", function()
  local Model, seen, list, count = {}, {}, {}, 0
  Model.__index = Model
  function Model:add(v) self.total = self.total + v end
  function Model.value(_, v) return v end
  local model = setmetatable({ total = 0 }, Model)
  local function square(x)
    if seen[x] == nil then seen[x] = x * x end
    return seen[x]
  end
  local function push(x) list[#list + 1] = x end
  local function next_one() count = count + 1 return count end

  local function fix_of(loop)
    local ok, err = pcall(loop)
    assert.is_false(ok)
    assert.truthy(tostring(err):find("DEP112", 1, true), tostring(err))
    local text = tostring(err)
    return text:match "\n  ([^\n]-) +run it serially" or text:match "\n  (a [^\n]*)"
  end

  it("is told what to return, or to do before the loop", function()
    assert.equal("let it return v, and sum that in the body:  total = total + what it gives",
      fix_of(function() for i in parallel(9) do model:add(i) end end))
    assert.equal("let it return the value, and append in the body:  t[#t + 1] = what it gives",
      fix_of(function() for i in parallel(9) do push(i) end end))
    assert.equal("let it return the new value instead of assigning an outer variable",
      fix_of(function() for i in parallel(9) do list[i] = next_one() + i end end))
    assert.truthy(fix_of(function() for i in parallel(9) do list[i] = square(i % 3) end end)
      :find("a table of what was computed before:  fill it before the loop", 1, true))
    local total = 0
    for i in parallel(9) do total = total + model:value(i) end
    assert.equal(45, total)
  end)
end)
