-- SPDX-License-Identifier: MIT
-- `pairs` and `next` in functions of meissa.replicas and in models of replicas: by the keys,
-- whichever process these run in.
local child = require "spec.support.child"
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"

local LAYERS = 12

-- What is visited in the order of the keys, which is not that of the numbers.
local function expected()
  local names = {}
  for i = 1, LAYERS do names[i] = "layer" .. i end
  table.sort(names)
  return table.concat(names, " ")
end

local function net()
  local made = {}
  for i = 1, LAYERS do made["layer" .. i] = i end
  return made
end

local captured = net()

local function visited(t)
  local names = {}
  for name in pairs(t) do names[#names + 1] = name end
  return table.concat(names, " ")
end

-- The same as a number: layers are digits to the base of 13.
local function number_of(names)
  local number = 0
  for name in string.gmatch(names, "%d+") do number = number * 13 + tonumber(name) end
  return number
end

local WAYS = {
  ["a captured table"] = function() return visited(captured) end,
  ["a table made inside"] = function() return visited(net()) end,
  ["a literal"] = function()
    return visited {layer1 = 1, layer2 = 2, layer3 = 3, layer4 = 4, layer5 = 5, layer6 = 6,
                    layer7 = 7, layer8 = 8, layer9 = 9, layer10 = 1, layer11 = 1, layer12 = 1}
  end,
  ["next"] = function()
    local names, name = {}, next(captured)
    while name do
      names[#names + 1] = name
      name = next(captured, name)
    end
    return table.concat(names, " ")
  end,
  ["next in a for"] = function()
    local names = {}
    for name in next, captured do names[#names + 1] = name end
    return table.concat(names, " ")
  end,
  ["a function in a variable"] = (function()
    local walk, table_of = pairs, net
    return function()
      local names = {}
      for name in walk(table_of()) do names[#names + 1] = name end
      return table.concat(names, " ")
    end
  end)(),
  ["a coroutine"] = function()
    return coroutine.wrap(function() return visited(captured) end)()
  end,
}

-- A module whose functions visit keys: by what is global, and by what was when it was loaded.
local VISITING = [[
  local walk = pairs
  local M = {}
  function M.global(t)
    local n = {}
    for k in pairs(t) do n[#n + 1] = k end
    return table.concat(n, " ")
  end
  function M.own(t)
    local n = {}
    for k in walk(t) do n[#n + 1] = k end
    return table.concat(n, " ")
  end
  return M]]

describe("the order of keys", function()
  teardown(kept_workers.stop)

  for name, way in pairs(WAYS) do
    it("is that of the keys in all replicas, everywhere: " .. name, function()
      for workers = 0, 3 do
        kept_workers.init {workers = workers, quiet = true}
        local same = expected()
        assert.same({same, same, same}, meissa.replicas(3, {}, function(r)
          r.barrier()
          return way()
        end))
      end
    end)
  end

  it("has replicas exchange what belongs together", function()
    for workers = 0, 2 do
      kept_workers.init {workers = workers, quiet = true}
      local results = meissa.replicas(3, {}, function(r)
        local made = {}
        for i = 1, LAYERS do made["layer" .. i] = meissa.full({2}, i) end
        for _, each in pairs(made) do
          r.allReduce(each)
          r:exchange(each, {})
        end
        local sums = {}
        for i = 1, LAYERS do sums[i] = made["layer" .. i][1] / 3 end
        return sums
      end)
      for _, sums in ipairs(results) do
        for i = 1, LAYERS do assert.equal(i, sums[i]) end
      end
    end
  end)

  it("is that of the keys in an operation, wherever it runs", function()
    for workers = 0, 2 do
      kept_workers.init {workers = workers, quiet = true}
      for _, drawn in ipairs {false, true} do -- what draws is left to the driver
        local results = meissa.replicas(2, {}, function(r)
          return (r.allReduce(1, function()
            if drawn then math.random() end
            return number_of(visited(captured))
          end))
        end)
        local number = number_of(expected())
        assert.same({number, number}, results)
      end
    end
  end)

  it("is that of the keys in modules that workers load", function()
    local folder = child.directory()
    child.write(folder .. "/spec_visiting.lua", VISITING)
    kept_workers.init {workers = 2, quiet = true}
    local own = package.path
    local ok, results = pcall(meissa.replicas, 2, {setup = function()
      package.path = folder .. "/?.lua;" .. package.path
    end}, function()
      local name = "spec_" .. "visiting" -- which nobody sends
      local visiting = require(name)
      return {visiting.global(captured), visiting.own(captured)}
    end)
    child.remove(folder)
    kept_workers.init {workers = 1, quiet = true} -- these workers have it
    assert.equal(own, package.path)
    assert.is_true(ok, tostring(results))
    local same = expected()
    assert.same({{same, same}, {same, same}}, results)
  end)

  it("is that of the keys in modules that a loop's body has workers load", function()
    local folder, own = child.directory(), package.path
    child.write(folder .. "/spec_visiting.lua", VISITING)
    package.path = folder .. "/?.lua;" .. own
    kept_workers.init {workers = 2, quiet = true}
    local seen = meissa.zeros(4)
    local ok, err = pcall(function()
      for i in meissa.parallel(4, {impure = true, engine = "lua"}) do
        local visiting = require("spec_" .. "visiting") -- which nobody sends
        seen[i] = number_of(i % 2 == 1 and visiting.global(captured) or visiting.own(captured))
      end
    end)
    package.path = own
    child.remove(folder)
    assert.is_true(ok, tostring(err))
    for i = 1, 4 do assert.equal(number_of(expected()), seen[i]) end
  end)
end)

-- Models whose methods visit keys, by what their function `build` and they call.
local Class = {}
Class.__index = Class
function Class.go(self) self.w[1] = self.w[1] + number_of(visited(self.layers)) end

local walk, step = pairs, next
local MODELS = {
  ["pairs"] = function()
    local model = {w = meissa.zeros(1), layers = net()}
    function model.go(self)
      local names = {}
      for name in pairs(self.layers) do names[#names + 1] = name end
      self.w[1] = self.w[1] + number_of(table.concat(names, " "))
    end
    return model
  end,
  ["pairs under another name"] = function()
    local model = {w = meissa.zeros(1), layers = net()}
    function model.go(self)
      local names = {}
      for name in walk(self.layers) do names[#names + 1] = name end
      self.w[1] = self.w[1] + number_of(table.concat(names, " "))
    end
    return model
  end,
  ["next under another name"] = function()
    local model = {w = meissa.zeros(1), layers = net()}
    function model.go(self)
      local names, name = {}, step(self.layers)
      while name do
        names[#names + 1] = name
        name = step(self.layers, name)
      end
      self.w[1] = self.w[1] + number_of(table.concat(names, " "))
    end
    return model
  end,
  ["a class"] = function()
    return setmetatable({w = meissa.zeros(1), layers = net()}, Class)
  end,
}

describe("the order of keys in models of replicas", function()
  teardown(kept_workers.stop)

  for name, build in pairs(MODELS) do
    it("is that of the keys, everywhere: " .. name, function()
      for workers = 0, 2 do
        kept_workers.init {workers = workers, quiet = true}
        local r = meissa.replicate(build, {replicas = 3, every = 1, final = "none",
                                           params = function(model) return model.w end})
        for _ in meissa.parallel(6) do
          local model = r()
          model:go()
        end
        for k = 1, 3 do assert.equal(2 * number_of(expected()), r:replica(k)[1]) end
        assert.equal(walk, pairs)
        assert.equal(step, next)
      end
    end)
  end

  it("lays parameters out alike for the program and all replicas", function()
    for workers = 0, 2 do
      kept_workers.init {workers = workers, quiet = true}
      local r = meissa.replicate(function()
        local w, at = meissa.zeros(LAYERS), 0
        local model = {w = w, parts = {}}
        for name in pairs(net()) do
          at = at + 1
          model.parts[name] = w:narrow(1, at, 1)
        end
        function model.go(self)
          for i = 1, LAYERS do
            local part = self.parts["layer" .. i]
            part[1] = part[1] + i
          end
        end
        return model
      end, {replicas = 3, every = 1, params = function(model) return model.w end})
      for _ in meissa.parallel(6) do
        local model = r()
        model:go()
      end
      for i = 1, LAYERS do assert.equal(2 * i, r().parts["layer" .. i][1]) end
    end
  end)

  it("is the program's again after an error", function()
    for workers = 0, 2 do
      kept_workers.init {workers = workers, quiet = true}
      local fails = false
      local function build(k)
        if fails and k > 1 then error "no model" end
        return {w = meissa.zeros(1), go = function(self) self.w[1] = self.w[2] end}
      end
      local options = {replicas = 3, every = 1, params = function(model) return model.w end}
      for _, late in ipairs {false, true} do
        fails = late
        local r = meissa.replicate(build, options)
        assert.is_false(pcall(function()
          for _ in meissa.parallel(6) do
            local model = r()
            model:go()
          end
        end))
        assert.equal(walk, pairs)
        assert.equal(step, next)
      end
      options.params = function() error "no parameters" end
      assert.is_false(pcall(meissa.replicate, build, options))
      assert.is_false(pcall(meissa.replicas, 2, {}, function() error "no step" end))
      assert.equal(walk, pairs)
      assert.equal(step, next)
    end
  end)
end)
