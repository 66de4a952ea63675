-- SPDX-License-Identifier: MIT
-- Random numbers of models: each replica's own, wherever its code runs, whoever else is there, and
-- whoever dies. With Torch where it is installed, else with a stand-in for it.
local root = os.getenv "PWD"
local FIND_TORCH = ([[
if not pcall(require, "torch") then
  package.path = "%s/spec/support/torch_stand_in/?.lua;" .. package.path
end
local torch = require "torch"
]]):format(root)
assert(loadstring(FIND_TORCH))()
local torch = require "torch"
local child = require "spec.support.child"
local deaths = require "spec.driver.deaths"
local expect = require "spec.support.expect"
local meissa = require "meissa"
local roads = require "spec.driver.all_roads"
local parallel = meissa.parallel

local all_differ = roads.all_differ

-- What fn gives, which is the same on each road.
local function on_all_roads(fn)
  return roads.on_all_roads(fn, function()
    torch.manualSeed(11)
    math.randomseed(12)
  end)
end

local library = math.random -- as programs keep it
local kept = require "spec.support.kept_random"

-- One number of each generator.
local DRAWS = {
  function() return meissa.random() end,
  function() return meissa.normal() end,
  function() return math.random() end,
  function() return library(1000) end,
  function() return torch.uniform() end,
  function() return kept.draw() end,
  function() return meissa.rand(3)[2] end,
  function() return meissa.randn({2}, {type = "float"})[1] end,
  function() return meissa.ones(50):map(function(x, i) return x + i end):randomize()[7] end,
}
local KINDS = #DRAWS

local REPLICAS, EACH = 3, 4 -- iterations of a replica
local n = REPLICAS * EACH

local function params(model) return model.w end

-- Models that draw when they are built, and when they are asked to.
local function drawing(options)
  options = options or {}
  options.replicas, options.params = REPLICAS, params
  options.every = options.every or 2
  return meissa.replicate(function(k)
    local self = {w = meissa.zeros(KINDS), built = {}, k = k}
    for d = 1, KINDS do self.built[d] = DRAWS[d]() end
    function self.draw(me, d)
      me.w[d] = me.w[d] + DRAWS[d]()
      return DRAWS[d]()
    end
    return self
  end, options)
end

-- Numbers drawn by models: by iteration, those of the building and of the method.
local function draw(r)
  local seen = meissa.zeros(n, 2 * KINDS)
  for e in parallel(n) do
    local model = r()
    for d = 1, KINDS do
      seen[e][d] = model.built[d]
      seen[e][KINDS + d] = model:draw(d)
    end
  end
  return seen:totable()
end

describe("random numbers of models", function()
  teardown(roads.stop)

  it("are each replica's own, on all roads", function()
    for _, options in ipairs {{}, {topology = "ring", push_sum = true}, {merge = {add = 0.5}},
                              {filter = {magnitude = 0.01}, every = 1}} do
      local seen = on_all_roads(function() return draw(drawing(options)) end)
      for d = 1, KINDS do
        local built, drawn = {}, {}
        for e = 1, n do
          drawn[e] = seen[e][KINDS + d]
          if e % EACH == 1 then built[#built + 1] = seen[e][d] end
        end
        -- Numbers below 1000, and of 50 elements, may well be equal.
        if d ~= 4 and d ~= 9 then
          assert.is_true(all_differ(built) and all_differ(drawn), "kind " .. d)
        end
      end
    end
  end)

  it("go on where those of the building ended", function()
    local seen = on_all_roads(function()
      local r = meissa.replicate(function()
        local self = {w = meissa.zeros(1), first = {DRAWS[1](), DRAWS[3](), DRAWS[5]()}}
        function self.draw(_, kind) return DRAWS[kind]() end
        return self
      end, {replicas = REPLICAS, every = 1, params = params})
      local list = meissa.zeros(n, 6)
      for e in parallel(n) do
        local model = r()
        for d = 1, 3 do
          list[e][d], list[e][d + 3] = model.first[d], model:draw(2 * d - 1)
        end
      end
      return list:totable()
    end)
    for d = 1, 3 do
      for e = 1, n do assert.is_true(seen[e][d] ~= seen[e][d + 3]) end
    end
  end)

  it("are other ones of each meissa.replicate, and the same after meissa.seed", function()
    on_all_roads(function()
      local first, second = draw(drawing()), draw(drawing())
      meissa.seed(5)
      assert.same(first, draw(drawing()))
      for e = 1, n do assert.is_true(first[e][1] ~= second[e][1]) end
      for e = 1, n do assert.equal(first[e][3], second[e][3]) end -- seeded by the replica
      meissa.seed(6)
      local third = draw(drawing())
      for e = 1, n do assert.is_true(first[e][1] ~= third[e][1]) end
      return {}
    end)
  end)

  it("go on from loop to loop and round to round, and begin anew after a reset", function()
    on_all_roads(function()
      local function by_replica(lists)
        local all = {}
        for k = 1, REPLICAS do
          all[k] = {}
          for _, seen in ipairs(lists) do
            for e = (k - 1) * EACH + 1, k * EACH do all[k][#all[k] + 1] = seen[e][KINDS + 1] end
          end
        end
        return all
      end
      local function two(options)
        meissa.seed(5)
        local r = drawing(options)
        local first = draw(r)
        return by_replica {first, draw(r)}, first, r
      end
      local both, first, r = two {}
      for k = 1, REPLICAS do assert.is_true(all_differ(both[k])) end
      -- Rounds that end elsewhere, one of whose cuts has other settings.
      assert.same(both, (two {every = 1}))
      assert.same(both, (two {every = 1, topology = "ring", on_round = function(s)
        return s.round == 2 and {staleness = 1} or nil
      end}))
      r:reset()
      assert.same(first, draw(r))
      return both
    end)
  end)

  it("are the same after a loop that was undone, whatever its rounds were", function()
    on_all_roads(function()
      local function failing(r, last)
        local model_count = meissa.zeros(n)
        local ok = pcall(function()
          for e in parallel(n) do
            local model = r()
            model_count[e] = model:draw(1)
            if e == last then error("stop here") end
          end
        end)
        assert.is_false(ok)
      end
      local right = draw(drawing {cut = 1, on_round = function() end})
      meissa.seed(5)
      local r = drawing {cut = 1, on_round = function() end}
      failing(r, 4) -- in the second round
      assert.same(right, draw(r))
      local next_one = draw(r)
      meissa.seed(5)
      r = drawing {cut = 1, on_round = function() end}
      draw(r)
      failing(r, 8)
      local seen = draw(r)
      for e = 1, n do assert.equal(next_one[e][KINDS + 1], seen[e][KINDS + 1]) end
      return right
    end)
  end)

  it("belong to the iteration where the body itself draws", function()
    on_all_roads(function()
      local r, seen = drawing(), meissa.zeros(n, 3)
      for e in parallel(n) do
        seen[e][1] = meissa.random()
        local model = r()
        seen[e][2], seen[e][3] = model:draw(1), meissa.normal()
      end
      return seen:totable()
    end)
  end)

  it("of two groups in a loop are the same everywhere", function()
    on_all_roads(function()
      local a, b = drawing(), drawing()
      local seen = meissa.zeros(n, 2 * KINDS)
      for round = 1, 2 do
        for e in parallel(n) do
          local second, first = b(), a()
          for d = 1, KINDS do
            seen[e][d] = first:draw(d) + round * second.built[d]
            seen[e][KINDS + d] = second:draw(d)
          end
        end
      end
      return seen:totable()
    end)
  end)

  it("leave those of the program alone", function()
    on_all_roads(function()
      local function numbers()
        local list = {}
        for d = 1, KINDS do list[d] = DRAWS[d]() end
        return list
      end
      local function start()
        torch.manualSeed(11)
        math.randomseed(12)
        meissa.seed(5)
      end
      start()
      local right = numbers()
      start()
      local r = drawing()
      draw(r)
      r() -- the driver's own is built
      assert.is_false((pcall(meissa.replicate, function() error("x" .. math.random()) end,
                             {replicas = 2, every = 1, params = params})))
      assert.same(right, numbers())
      return {}
    end)
  end)

  it("are the program's again where another group's merge fails, or the body", function()
    local function failed(workers, what)
      meissa.init {workers = workers, quiet = true}
      local w, failing = meissa.zeros(1), nil
      local r = meissa.replicate(function()
        local self = {w = meissa.zeros(1)}
        function self.step(me) me.w[1] = me.w[1] + math.random() end
        return self
      end, {replicas = 2, every = 1, params = params})
      local rv = meissa.replicate(w, {replicas = 2, every = 1, merge = function(own)
        if failing == "merge" then error("boom") end
        return own
      end})
      local outside = r()
      failing = what
      math.randomseed(3)
      local said = expect.refusal(function()
        for _ in parallel(6) do
          r():step()
          if failing == "body" then error("boom") end
          rv[1] = rv[1] + 1
        end
      end)
      expect.has(said, "boom")
      local drawn = math.random()
      math.randomseed(3)
      assert.equal(math.random(), drawn)
      assert.equal(outside, r())
    end
    for _, workers in ipairs {0, 1, 2} do
      failed(workers, "merge")
      failed(workers, "body")
    end
  end)

  it("of the model that the driver has are those of the first replica", function()
    on_all_roads(function()
      local r = drawing()
      local seen = draw(r)
      assert.same({unpack(seen[1], 1, KINDS)}, r().built)
      return {}
    end)
  end)
end)

-- Models that draw, of which workers die; what was drawn, round by round.
local DEADLY = FIND_TORCH .. deaths.HEAD .. [[
  local n = 24
  local function train(options, fatal)
    meissa.seed(9)
    options.replicas, options.every = 4, 2
    options.params = function(model) return model.w end
    local r = meissa.replicate(function(k)
      local self = {w = meissa.randn(1)}
      function self.draw()
        return meissa.random() + math.random() + torch.uniform() + meissa.rand(1)[1]
      end
      return self
    end, options)
    local seen, again = meissa.zeros(n), 1
    for pass, e in parallel(3, n, {impure = true}) do
      local model = r()
      local x = model:draw()
      model.w[1] = model.w[1] + x * again
      seen[e] = seen[e] + pass * x
      if fatal and pass == 2 and e % 5 == 0 then fatal(e) end
    end
    return {seen = seen:totable(), w = r().w[1], deaths = meissa.last().deaths}
  end
  local function same(a, b)
    assert(a.w == b.w, "w")
    for e = 1, n do assert(a.seen[e] == b.seen[e], e) end
  end
]]

for _, shm in ipairs {1, 0} do
  describe(("random numbers of models whose workers die (MEISSA_SHM=%d)"):format(shm), function()
    it("are what they would have been", function()
      local output, status = child.script(DEADLY .. [[
        for number, options in ipairs {{topology = "ring"}, {merge = {add = 0.5}},
                                       {topology = "ring", cut = 2, on_round = function() end}} do
          local right = train(options)
          local died = train(options, function(e) die_once(number .. "died" .. e) end)
          same(right, died)
          print("deaths", died.deaths > 0)
        end]], {env = "MEISSA_WORKERS=3 MEISSA_SHM=" .. shm})
      assert.equal(0, status, output)
      assert.equal(3, select(2, output:gsub("deaths\ttrue", "")), output)
    end)

    it("are what a record has", function()
      local path = os.tmpname()
      local function run(env)
        local output, status = child.script(DEADLY .. [[
          local it = train {topology = "ring-both", staleness = 2}
          print(("%.17g %.17g"):format(it.w, it.seen[7]))]], {env = env})
        assert.equal(0, status, output)
        return output
      end
      local recorded = run("MEISSA_WORKERS=3 MEISSA_HISTORY=" .. path .. " MEISSA_SHM=" .. shm)
      assert.equal(recorded, run("MEISSA_WORKERS=2 MEISSA_REPLAY=" .. path))
      os.remove(path)
    end)
  end)
end
