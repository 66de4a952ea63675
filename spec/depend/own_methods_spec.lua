-- SPDX-License-Identifier: MIT
--
-- Methods of objects that a body makes of captured classes are looked into, and methods of arrays
-- that it makes are known: what they are given from outside is only written where they write it.
-- Not so where an object may have another method by that name. Compared with plain loops.
local meissa = require "meissa"
local plain = require "spec.support.plain"
local tables = require "meissa.base.tables"

local N = 8

local HEAD = [=[
local parallel, A, X, N, meissa = ...
local Base = {} Base.__index = Base
function Base:norm2(x) return x:dot(x) + self.n end
local C = setmetatable({}, {__index = Base}) C.__index = C
function C.new(n) local o = setmetatable({}, C) o.n, o.w = n, meissa.ones(3) return o end
function C:predict(x) return self.w:dot(x) end
function C:update(x, y)
  local e = self:predict(x) - y
  for k = 1, #x do self.w[k] = self.w[k] - 0.1 * e * x[k] end
  return e
end
function C:store(x) x[1] = self.n return 1 end
local D = {} D.__index = D
function D.new(n) local o = setmetatable({}, D) o.n = n return o end
function D:predict(x) x[2] = self.n return 2 end
function D:norm2(x) x[1] = self.n return 4 end
function D:dot(x) x[2] = self.n return 2 end
local function writer(_, x) x[3] = 7 return 3 end
local name = "predict"
for i in parallel(N) do
  local o = C.new(i)
  local function mine(_, x) x[3] = 7 return 3 end
  BODY
end
]=]

local function run(body, parallel)
  local A, X = meissa.zeros(N), meissa.rand({N, 3}, {seed = 1})
  local chunk = assert(loadstring((HEAD:gsub("BODY", function() return body end))))
  local ok, err = pcall(chunk, parallel, A, X, N, meissa)
  return ok and { A:totable(), X:totable() } or err
end

describe("methods of a body's own objects", function()
  local fine = {
    ["that read"] = "A[i] = o:predict(X[1])",
    ["that call others"] = "for k = 1, N do A[i] = A[i] + o:update(X[k], i) end",
    ["of its class's class"] = "A[i] = o:norm2(X[2])",
    ["of what a function gives"] = [=[
      local function make() return C.new(2) end
      local p = make() A[i] = p:predict(X[3])]=],
    ["and of arrays"] = "local w = meissa.ones(3) w:axpy(i, X[1]) A[i] = w:dot(X[2])",
    ["and of arrays in tables"] = [=[
      local t = {w = meissa.ones(3)} t.w:copy(X[1]):scal(i) A[i] = t.w:totable()[2] + o.w:sum()]=],
    ["beside others that are stored"] = "o.other = {i} A[i] = o:predict(X[1]) + #o.other",
    ["beside lists"] = "local t = {} t[#t + 1] = o A[i] = o:predict(X[1]) + #t",
  }
  for what, body in tables.each(fine) do
    it("are looked into: " .. what, function()
      local expected = run(body, plain.parallel)
      assert.is_table(expected[1], tostring(expected))
      assert.same(expected, run(body, meissa.parallel))
      assert.equal("independent", meissa.last().strategy)
    end)
  end

  local refused = {
    ["that write"] = "A[i] = o:store(X[1])",
    ["of their own"] = "o.predict = mine A[i] = o:predict(X[1])",
    ["of their own, stored later"] = [=[
      for k = 1, 2 do A[i] = o:predict(X[1]) o.predict = mine end]=],
    ["of their own, by a variable"] = "o[name] = mine A[i] = o:predict(X[1])",
    ["of their own, by rawset"] = "rawset(o, name, mine) A[i] = o:predict(X[1])",
    ["of their own, by another name"] = [=[
      local p = {o} p[1].predict = mine A[i] = o:predict(X[1])]=],
    ["in a constructor"] = [=[
      local p = setmetatable({predict = mine}, C) A[i] = p:predict(X[1])]=],
    ["of their own, from outside"] = "o.predict = writer A[i] = o:predict(X[1])",
    ["of another class"] = "setmetatable(o, D) A[i] = o:norm2(X[1])",
    ["of one class or another"] = [=[
      local p = i > 3 and o or D.new(1) A[i] = p:predict(X[1])]=],
    ["that arrays have, too"] = "o.w = D.new(i) A[i] = o.w:dot(X[1])",
    ["that arrays have, of a literal class"] = [=[
      o.w = setmetatable({}, {__index = {dot = mine}}) A[i] = o.w:dot(X[1])]=],
    ["that arrays have, of a class by __index"] = [=[
      o.w = setmetatable({}, {__index = D}) A[i] = o.w:dot(X[1])]=],
    ["that arrays have, stored"] = "o.w = {} o.w.dot = mine A[i] = o.w:dot(X[1])",
  }
  for what, body in tables.each(refused) do
    it("may be others: " .. what, function()
      local err = run(body, meissa.parallel)
      assert.equal("DEP", err.code, tostring(err))
    end)
  end
end)
