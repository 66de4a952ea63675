-- SPDX-License-Identifier: MIT
-- Methods of elements of captured lists of objects: of all functions that the class has, those
-- that the body names are judged, of each element.
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"
local parallel = meissa.parallel

-- Specs run in an environment that finds globals by a function, which the analyser never calls.
local setmetatable, ipairs, pairs, next = setmetatable, ipairs, pairs, next

local X, Y, log = meissa.rand(20), meissa.zeros(20), {}

local Model = {}
Model.__index = Model
function Model:predict(x) return self.a * x end
function Model:dot(x)
  local s = 0
  for j = 1, 4 do s = s + self.w[j] * x end
  return s
end

function Model:both(x) return self:predict(x) + self:dot(x) end
function Model:me() return self end
function Model:self() return self, self.part end
function Model:fit(v) self.a = v return self end
function Model:train(i) self.w[i % 4 + 1] = i return 1 end
function Model:note(i) log[i] = self.a return 1 end
function Model:put(t, i) t[i] = self.a return 1 end -- luacheck: ignore self
function Model:walk() return next, {self.part} end

local Twice = setmetatable({}, Model)
Twice.__index = Twice
function Twice:predict(x) return 2 * Model.predict(self, x) end

local Storing = setmetatable({}, Model)
Storing.__index = Storing
function Storing:predict(x) self.a = x return x end

local function object(class, k)
  local w = meissa.zeros(4)
  for j = 1, 4 do w[j] = k / j end
  local part = setmetatable({a = k, w = w}, Storing)
  return setmetatable({a = k / 3, w = w, part = part}, class)
end

local function list(length)
  local models = {}
  for k = 1, length do models[k] = object(k % 2 == 0 and Twice or Model, k) end
  return models
end

-- What may be put into a list to make it another.
local OTHERS = {
  ["an object of a class that stores"] = function(t) t[2] = object(Storing, 1) end,
  ["one with a function of its own"] = function(t) t[3].predict = Storing.predict end,
  ["one beside the list"] = function(t) t.best = object(Storing, 1) end,
  ["one behind a gap"] = function(t) t[2], t[3] = nil, object(Storing, 1) end,
  ["one beside the list, and a gap"] = function(t) t[2], t.best = nil, object(Storing, 1) end,
  ["one by a metatable"] = function(t) setmetatable(t, {__index = {best = object(Storing, 1)}}) end,
  ["one whose methods a function gives"] = function(t)
    t[4] = setmetatable({}, {__index = function() return Storing.predict end})
  end,
  ["one with a method that is a table"] = function(t)
    t[4].predict = setmetatable({}, {__call = function(_, each, x) each.a = x return x end})
  end,
  ["a number"] = function(t) t[3] = 1 end,
}

-- Bodies that change nothing outside, of `m` models.
local GOOD = {
  "local s = 0 for k = 1, #m do s = s + m[k]:predict(X[i]) end Y[i] = s",
  "local s = 0 for k = 1, #m do local each = m[k] s = s + each:dot(X[i]) end Y[i] = s",
  "local s = 0 for k = #m, 1, -1 do s = s + m[k]:both(i) end Y[i] = s",
  "local s = 0 for k, each in ipairs(m) do s = s + each:both(k) * i end Y[i] = s",
  "local s = 0 for _, each in pairs(m) do s = s + each:predict(X[i]) end Y[i] = s",
  "local each = m[1] if i > 9 then each = m[i % #m + 1] end Y[i] = each:predict(i)",
  "Y[i] = m[i % #m + 1]:me():predict(i)",
  "m[i % #m + 1]:put(Y, i)",
}

-- Bodies that do: the code of the refusal.
local BAD = {
  ["for k = 1, #m do m[k]:fit(i) end Y[i] = 1"] = "DEP112",
  ["for k = 1, #m do local each = m[k] each:fit(i) end Y[i] = 1"] = "DEP112",
  ["for _, each in ipairs(m) do each:fit(i) end Y[i] = 1"] = "DEP112",
  ["for _, each in pairs(m) do each:fit(i) end Y[i] = 1"] = "DEP112",
  ["for k = 1, #m do Y[i] = m[k]:train(i) end"] = "DEP1",
  ["for k = 1, #m do Y[i] = m[k]:note(i) end"] = "DEP112",
  ["for k = 1, #m do m[k]:put(Y, 1) end"] = "DEP10",
  ["for k = 1, #m do m[k]:put(log, i) end Y[i] = 1"] = "DEP112",
  ["Y[i] = m[i % #m + 1]:self():fit(i) and 1"] = "DEP112",
  ["local _, part = m[i % #m + 1]:self() Y[i] = part:predict(i)"] = "DEP112",
  ["for _, part in m[i % #m + 1]:walk() do Y[i] = part:predict(i) end"] = "DEP1",
  ["local f = m[i % #m + 1].fit f(m[1], i) Y[i] = 1"] = "DEP112",
  ["m[i % #m + 1] = m[1] Y[i] = m[1]:predict(i)"] = "DEP107",
}

local function loop(body, m)
  local text = "local parallel, m, X, Y, log, ipairs, pairs = ... " ..
    "for i in parallel(20) do\n" .. body .. "\nend"
  return assert(loadstring(text))(parallel, m, X, Y, log, ipairs, pairs)
end

describe("methods of elements of captured lists", function()
  teardown(kept_workers.stop)
  after_each(function() kept_workers.init {} end)

  for _, workers in ipairs {0, 1, 2} do
    it(("give the same bits as plain Lua with %d workers"):format(workers), function()
      kept_workers.init {workers = workers}
      for _, body in ipairs(GOOD) do
        for _, length in ipairs {1, 3, 40} do
          local models, expected = list(length), {}
          local plain = "local m, X, Y, ipairs, pairs = ... for i = 1, 20 do " .. body .. " end"
          assert(loadstring(plain))(models, X, Y, ipairs, pairs)
          for i = 1, 20 do expected[i] = Y[i] end
          Y:fill(-1)
          loop(body, models)
          assert.equal("independent", meissa.last().strategy)
          for i = 1, 20 do assert.equal(expected[i], Y[i], body) end
        end
      end
    end)
  end

  for body, code in pairs(BAD) do
    it("are refused: " .. body, function()
      for _, length in ipairs {3, 40} do
        local ok, err = pcall(loop, body, list(length))
        assert.is_false(ok)
        assert.is_truthy(tostring(err):find(code, 1, true), tostring(err))
      end
    end)
  end

  for what, change in pairs(OTHERS) do
    it("are refused where the list has " .. what, function()
      for _, length in ipairs {4, 40} do
        local models = list(length)
        loop("Y[i] = m[i % 2 + 3]:predict(i)", models)
        change(models)
        local ok, err = pcall(loop, "Y[i] = m[i % 2 + 3]:predict(i)", models)
        assert.is_false(ok)
        assert.is_truthy(tostring(err):find("DEP112", 1, true), tostring(err))
      end
    end)
  end

  it("are refused with the name of the method that is to blame", function()
    local Line = {predict = Model.predict, fit = Model.fit, dot = Model.dot}
    Line.__index = Line
    local models = {setmetatable({a = 1}, Line), 1, setmetatable({a = 2}, Line)}
    local ok, err = pcall(loop, "Y[i] = m[i % 2 * 2 + 1]:predict(i)", models)
    local line = debug.getinfo(Model.fit, "S").linedefined
    assert.is_false(ok)
    assert.is_truthy(tostring(err):find(
      ("outside of the loop, as fit (elements_spec.lua:%d) does"):format(line), 1, true))
  end)

  it("are followed in lists in lists as far as there is a limit", function()
    local Net = {}
    Net.__index = Net
    function Net:layer(x)
      local s = 0
      for k = 1, #self.layers do s = s + self.layers[k]:predict(x) end
      return s
    end
    function Net:grow() self.layers = {} end
    local function nets(outer, inner)
      local all = {}
      for k = 1, outer do all[k] = setmetatable({layers = list(inner)}, Net) end
      return all
    end
    local small = nets(3, 4)
    loop("local s = 0 for k = 1, #m do s = s + m[k]:layer(X[i]) end Y[i] = s", small)
    local expected = 0
    for k = 1, 3 do expected = expected + small[k]:layer(X[7]) end
    assert.equal(expected, Y[7])
    local ok, err = pcall(loop, "Y[i] = m[i % 2 + 1]:layer(i)", nets(20, 20))
    assert.is_false(ok)
    assert.truthy(tostring(err):find("DEP112", 1, true), err)
  end)

  it("are not asked for by ipairs, whose lists may have a metatable", function()
    local calls = 0
    local T = setmetatable({1, 2, 3}, {__index = function() calls = calls + 1 end})
    loop("local s = 0 for _, v in ipairs(m) do s = s + v end Y[i] = s", T)
    assert.equal(6, Y[7])
    assert.equal(0, calls)
  end)
end)
