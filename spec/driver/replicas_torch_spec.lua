-- SPDX-License-Identifier: MIT
-- meissa.replicas over Torch's tensors and generators: with Torch where it is installed, else with
-- a stand-in for it. The same bits for any number of workers; no replica sees another's.
if not pcall(require, "torch") then
  package.path = "spec/support/torch_stand_in/?.lua;" .. package.path
end
local torch = require "torch"
local meissa = require "meissa"
local roads = require "spec.driver.all_roads"

local BITS = "%.17g"

-- What fn gives, which is the same on each road.
local function on_all_roads(fn)
  return roads.on_all_roads(fn, function()
    torch.manualSeed(11)
    math.randomseed(12)
  end)
end

local function vector(...)
  local made = torch.DoubleTensor(select("#", ...))
  for i, value in ipairs {...} do made:narrow(1, i, 1):fill(value) end
  return made
end

local function numbers(tensor)
  local list = {}
  for i = 1, tensor:nElement() do list[i] = tensor:data()[i - 1] end
  return list
end

describe("meissa.replicas with Torch", function()
  teardown(roads.stop)

  it("runs on the workers", function()
    meissa.init {workers = 2}
    local function number() return io.open("/proc/self/stat"):read "*n" end
    local list = meissa.replicas(2, {}, function(_, t) return {number(), torch.isTensor(t)} end,
                                 vector(1))
    assert.is_true(list[1][2] and list[2][2])
    assert.is_true(list[1][1] ~= list[2][1] and list[1][1] ~= number())
  end)

  it("reduces and scatters tensors, in place", function()
    local seen = on_all_roads(function()
      local list = meissa.replicas(3, {}, function(r)
        local t = {w = vector(1, 2, r.index), n = r.index}
        local w = t.w
        r.allReduce(t, function(a, b)
          return type(a) == "number" and a * b or a:add(b)
        end)
        local first = r.scatter(vector(r.index, 7))
        return {numbers(w), t.n, numbers(first), r.netStats().bytes}
      end)
      return list
    end)
    -- 2 (K - 1) times three doubles and a number, then K - 1 times two.
    for k = 1, 3 do assert.same({{3, 6, 6}, 6, {1, 7}, 4 * 32 + 2 * 16}, seen[k]) end
  end)

  it("returns them, and takes them as arguments", function()
    on_all_roads(function()
      local given = vector(1, 2)
      local list = meissa.replicas(2, {}, function(r, t)
        t.x:mul(r.index + 1)
        return {t = t.x, same = t.x}
      end, {x = given})
      assert.same({1, 2}, numbers(given))
      assert.same({{2, 4}, {3, 6}}, {numbers(list[1].t), numbers(list[2].t)})
      assert.equal(list[2].t, list[2].same)
      return {numbers(list[1].t), numbers(list[2].t)}
    end)
  end)

  it("lets tensors that share memory share it in each replica's copy", function()
    local flat = vector(1, 2, 3, 4)
    local parts = {flat:narrow(1, 1, 1), flat:narrow(1, 2, 3)}
    local all = vector(7, 8)
    local seen = on_all_roads(function()
      local list = meissa.replicas(3, {}, function(r, given)
        parts[2]:add(10 * r.index)
        given.all:fill(r.index)
        return {numbers(flat), numbers(given.part), {flat, parts[1]}}
      end, {all = all, part = all:narrow(1, 2, 1)})
      list[2][3][1]:fill(5)
      assert.same({5}, numbers(list[2][3][2]))
      return {list[1][1], list[3][1], list[1][2], list[3][2]}
    end)
    assert.same({{1, 12, 13, 14}, {1, 32, 33, 34}, {1}, {3}}, seen)
    assert.same({1, 2, 3, 4}, numbers(flat))
    assert.same({7, 8}, numbers(all))
  end)

  it("reduces tensors that share memory, each once", function()
    local seen = on_all_roads(function()
      return meissa.replicas(3, {}, function(r)
        local all = vector(1, 2, r.index)
        r.allReduce {all = all, part = all:narrow(1, 2, 2)}
        local each = vector(1, r.index)
        r.allReduce({each, each}, function(a, b) return a:add(b) end)
        return {numbers(all), numbers(each)}
      end)
    end)
    assert.same({{3, 6, 6}, {3, 6}}, seen[2])
  end)

  it("trains as distlearn does, with uneven steps", function()
    on_all_roads(function()
      local list = meissa.replicas(3, {seed = 2}, function(r)
        local sgd, ea = meissa.sgd(r), meissa.ea(r, 2, 0.25)
        local params = {torch.rand(3)}
        sgd.synchronizeParameters(params)
        for _ = 1, math.random(2, 5) do
          local grads = {torch.rand(3)}
          sgd.sumAndNormalizeGradients(grads)
          params[1]:add(-0.5, grads[1])
        end
        sgd.synchronizeParameters(params)
        for _ = 1, math.random(2, 5) do
          params[1]:add(torch.rand(3))
          ea.averageParameters(params)
        end
        ea.synchronizeCenter(params)
        return params
      end)
      local text = {}
      for k = 1, 3 do text[k] = BITS:format(list[k][1]:sum()) end
      return text
    end)
  end)
end)

describe("random numbers of replicas", function()
  teardown(roads.stop)

  local library = math.random -- as programs keep it

  local function draw(options)
    return meissa.replicas(4, options, function(r)
      local list = {math.random(), torch.uniform()}
      r.barrier()
      list[3], list[4], list[5] = library(), torch.uniform(), math.random(100)
      return list
    end)
  end

  it("are each replica's own, on any number of workers", function()
    local seen = on_all_roads(function() return draw {seed = 3} end)
    local known = {}
    for k = 1, 4 do
      for e = 1, 4 do
        assert.is_nil(known[seen[k][e]])
        known[seen[k][e]] = true
        assert.is_true(seen[k][e] >= 0 and seen[k][e] < 1)
      end
    end
    assert.not_same(seen, draw {seed = 4})
  end)

  it("are others in each run without a seed, and the same after meissa.seed", function()
    meissa.seed(5)
    local first = draw()
    assert.not_same(first, draw())
    meissa.seed(5)
    assert.same(first, draw())
    meissa.seed(0)
  end)

  it("begin anew with math.randomseed and torch.manualSeed", function()
    on_all_roads(function()
      local list = meissa.replicas(3, {}, function(r)
        for _ = 1, r.index do math.random() end
        math.randomseed(1.5)
        torch.manualSeed(9)
        local before = {math.random(), torch.uniform()}
        r.barrier()
        math.randomseed(1.5)
        return {before, {math.random()}}
      end)
      assert.same(list[1][1], list[3][1])
      assert.equal(list[1][1][1], list[2][2][1])
      return list
    end)
  end)

  it("take limits as LuaJIT's do", function()
    local list = meissa.replicas(2, {}, function()
      local least, most, sum = 10, 0, 0
      for _ = 1, 1000 do
        local x = math.random(3.9)
        least, most, sum = math.min(least, x), math.max(most, x), sum + math.random(-2, 2)
      end
      return {least, most, math.abs(sum) < 400}
    end)
    assert.same({{1, 4, true}, {1, 4, true}}, list) -- floor(u * 3.9) + 1, as LuaJIT has it
  end)

  it("leave the program's as they were, errors or not", function()
    on_all_roads(function()
      local before = {math.random, math.randomseed}
      local expected = {math.random(), torch.uniform()}
      torch.manualSeed(11)
      math.randomseed(12)
      draw()
      pcall(meissa.replicas, 2, {}, function() error("x" .. math.random()) end)
      assert.equal(before[1], math.random)
      assert.equal(before[2], math.randomseed)
      assert.same(expected, {math.random(), torch.uniform()})
      return {}
    end)
  end)
end)
