-- SPDX-License-Identifier: MIT
-- Loops over replicas against the serial model of replicate_model.lua, bit for bit, on all roads.
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"
local model = require "spec.driver.replicate_model"
local parallel = meissa.parallel

local SEED = tonumber(os.getenv "MEISSA_TEST_SEED") or 11
print("MEISSA_TEST_SEED=" .. SEED)

local ROADS = {
  {workers = 0}, {workers = 1}, {workers = 2}, {workers = 6}, {workers = 2, shm = false},
  {workers = 0, engine = "lua"}, {workers = 2, engine = "lua"}, {workers = 0, engine = "native"},
}

local function on(road, fn)
  kept_workers.init {workers = road.workers, shm = road.shm, quiet = true}
  return fn(road.engine or "auto")
end

local n, m = 37, 5
local X = meissa.randn({n, m}, {seed = SEED})
local y = meissa.randn({n}, {seed = SEED + 1})

-- Least squares by SGD; what it leaves.
local function train(options, engine, passes)
  local w, hits = meissa.full({m}, 0.5), meissa.zeros(n)
  local r, loss, lr = meissa.replicate(w, options), 0, 0.05
  for pass, e in parallel(passes, n, {engine = engine}) do
    local p = 0
    for f = 1, m do p = p + r[f] * X[e][f] end
    local g = p - y[e]
    loss = loss + g * g
    hits[e] = hits[e] + pass * (1 + w[1])
    for f = 1, m do r[f] = r[f] - lr * g * X[e][f] end
  end
  return {w = w:totable(), hits = hits:totable(), loss = loss, r = r, plan = meissa.last()}
end

-- The model's body of the same.
local function body_of(hits)
  return function(row, e, pass)
    local p = 0
    for f = 1, m do p = p + row[f] * X[e][f] end
    local g = p - y[e]
    hits[e] = (hits[e] or 0) + pass * 1.5
    for f = 1, m do row[f] = row[f] - 0.05 * g * X[e][f] end
  end
end

local function expected(options, passes)
  local hits, topology = {}, meissa.topology(options.topology or "all", options.replicas)
  local complete = {all = true, ["tree-allreduce"] = true, ["ring-allreduce"] = true}
  local w, rows, rounds = model.run({
    passes = passes, n = n, replicas = options.replicas, every = options.every,
    topology = topology, merge = options.merge or "mean", w = {0.5, 0.5, 0.5, 0.5, 0.5},
    complete = complete[options.topology or "all"] or options.replicas == 1}, body_of(hits))
  return w, rows, rounds, hits
end

local TOPOLOGIES = {"all", "ring", "ring-both", "chain", "server", "root-expander",
                    "one-peer-exponential", "tree-allreduce", "ring-allreduce"}

-- A random loop against the model.
local function compare(trial, engine)
  local options = {replicas = math.random(1, 9), topology = TOPOLOGIES[trial % 9 + 1],
                   every = ({1, 3, 7, 0.5, 0.3, math.huge})[math.random(6)]}
  if options.topology == "all" and math.random(2) == 1 then
    options.merge = {add = math.random() / options.replicas}
  end
  local passes = math.random(1, 3)
  local w, rows, rounds, hits = expected(options, passes)
  local got = train(options, engine, passes)
  assert.same(w, got.w)
  assert.same(hits, got.hits)
  assert.equal(rounds, got.plan.rounds)
  for k = 1, options.replicas do assert.same(w, got.r:replica(k):totable()) end
  if trial % 3 > 0 then return end
  options.final = "none"
  got = train(options, engine, passes)
  assert.same({0.5, 0.5, 0.5, 0.5, 0.5}, got.w)
  for k = 1, options.replicas do assert.same(rows[k], got.r:replica(k):totable()) end
end

describe("meissa.replicate", function()
  teardown(kept_workers.stop)
  after_each(function() kept_workers.init {workers = 2, quiet = true} end)

  it("is the serial model, bit for bit, on all roads", function()
    math.randomseed(SEED)
    for number, road in ipairs(ROADS) do
      on(road, function(engine)
        for trial = number, number + 8, 2 do compare(trial, engine) end
      end)
    end
  end)

  it("has the same bits for any number of workers, with sums", function()
    local options, first = {replicas = 5, every = 4, topology = "root-expander"}, nil
    for _, road in ipairs(ROADS) do
      local got = on(road, function(engine) return train(options, engine, 2) end)
      first = first or got
      assert.same(first.w, got.w)
      assert.equal(first.loss, got.loss)
    end
  end)

  it("is the plain loop with one replica", function()
    local w = meissa.full({m}, 0.5)
    local r = meissa.replicate(w, {replicas = 1, every = 3})
    local plain = {0.5, 0.5, 0.5, 0.5, 0.5}
    for _ = 1, 2 do
      for e = 1, n do
        local p = 0
        for f = 1, m do p = p + plain[f] * X[e][f] end
        for f = 1, m do plain[f] = plain[f] - 0.05 * (p - y[e]) * X[e][f] end
      end
    end
    for _, e in parallel(2, n) do
      local p = 0
      for f = 1, m do p = p + r[f] * X[e][f] end
      local g = p - y[e]
      for f = 1, m do r[f] = r[f] - 0.05 * g * X[e][f] end
    end
    assert.same(plain, w:totable())
  end)

  it("has no dependences between replicas, and one on everything else", function()
    local w, z = meissa.zeros(4), meissa.zeros(12)
    local r = meissa.replicate(w, {replicas = 3, every = 2})
    local function refused(fn, code)
      local ok, err = pcall(fn)
      assert.is_false(ok)
      assert.equal(code, err.code)
      return err.message
    end
    assert.truthy(refused(function()
      for i in parallel(12) do
        r[1] = i
        w[2] = i
      end
    end, "DEP"):find("DEP117", 1, true))
    refused(function()
      for i in parallel({2, 12}) do
        r[1] = r[1] + 1
        z[i] = z[i - 1] + 1
      end
    end, "DEP")
    refused(function()
      for i, j in parallel(3, 12) do
        r[1] = r[1] + j
        z[1] = i
      end
    end, "DEP")
    assert.same({0, 0, 0, 0}, w:totable())
    for i, j in parallel(3, 12) do
      r[1] = r[1] + j
      z[j] = z[j] + i
    end
    assert.equal(6, z[7])
  end)
end)
