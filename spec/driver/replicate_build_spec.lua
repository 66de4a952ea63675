-- SPDX-License-Identifier: MIT
-- Where and how often models of replicas are built.
local child = require "spec.support.child"
local expect = require "spec.support.expect"
local meissa = require "meissa"
local parallel = meissa.parallel

local function params(model) return model.w end

describe("a model's build", function()
  teardown(function() meissa.init {} end)

  -- What is printed by models that print when they are built.
  local function printed(text, workers)
    local output, status = child.script([[
      local meissa = require "meissa"
      local r = meissa.replicate(function(k)
        print("build " .. k)
        return {w = meissa.zeros(1)}
      end, {replicas = 2, every = 1, params = function(model) return model.w end})
      local function run()
        for _ in meissa.parallel(4) do
          local model = r()
          model.w[1] = model.w[1] + 1
        end
      end
    ]] .. text, {env = "MEISSA_WORKERS=" .. workers})
    assert.equal(0, status, output)
    return (output:gsub("\n", " "))
  end

  it("runs once for each replica where there are no workers", function()
    assert.equal("build 1 begin build 2 end ", printed([[
      print "begin"
      run()
      run()
      print "end"]], 0))
  end)

  it("runs once more in the driver's process where there are, to count parameters", function()
    assert.equal("build 1 begin build 1 build 2 end ", printed([[
      print "begin"
      run()
      run()
      print "end"]], 2))
  end)

  it("runs once more for the program that asks for a model of its own", function()
    for workers = 0, 2, 2 do
      local text = [[
        run()
        print(r().w[1])
        r().w[1] = 100 -- is no replica's
        run()
        print(r:replica(1)[1], r().w[1])]]
      assert.matches("2 4\t4 $", printed(text, workers))
      assert.matches("4 6\t6 $", printed("r().w[1] = 100\nrun()" .. text, workers))
    end
    assert.equal("build 1 build 1 build 2 ", printed("r()\nrun()\nr()", 0))
    assert.equal("build 1 build 2 build 1 ", printed("run()\nr()\nr()", 0))
  end)

  it("gives models of one size, whenever it is asked", function()
    meissa.init {workers = 0}
    local size = 2
    local r = meissa.replicate(function() return {w = meissa.zeros(size)} end,
                               {replicas = 2, every = 1, params = params})
    for _ in parallel(4) do
      local model = r()
      model.w[1] = model.w[1] + 1
    end
    size = 2 ^ 20
    for _, fn in ipairs {function() r() end, function() r:reset() end} do
      expect.raises("OPT", "the model of replica 1 has 1048576 parameters", fn)
    end
  end)

  it("is refused where no loop is shared out: in bodies and functions of replicas", function()
    local said = {}
    local function refused(fn)
      local ok, err = pcall(fn)
      assert.is_false(ok)
      assert.equal("OPT", err.code, err.message)
      said[#said + 1] = err.message
      assert.truthy(err.message:find("in another loop's body, or in a function of meissa.replicas",
                                     1, true), err.message)
    end
    local function one() return {w = meissa.zeros(1)} end
    local function made()
      return meissa.replicate(one, {replicas = 2, every = 1, params = params})
    end
    for _, road in ipairs {{workers = 0}, {workers = 1}, {workers = 2},
                           {workers = 2, shm = false}} do
      meissa.init {workers = road.workers, shm = road.shm, quiet = true}
      local r = meissa.replicate(function()
        return {w = meissa.zeros(1), step = function() return made().w end}
      end, {replicas = 2, every = 1, params = params})
      refused(function()
        for _ in parallel(4) do r():step() end
      end)
      refused(function() -- a plain loop, where there are no workers
        for _ in parallel(4) do
          meissa.replicate(one, {replicas = 2, every = 1, params = params})
        end
      end)
      refused(function()
        for _ in parallel(4) do meissa.replicate(meissa.zeros(3), {replicas = 2, every = 1}) end
      end)
      refused(function() meissa.replicas(2, {}, function() return made().w end) end)
      local after = made()
      for i in parallel(4) do after().w[1] = i end -- the program's own
      assert.equal((2 + 4) / 2, after().w[1])
    end
    for i = 1, #said do assert.equal(said[(i - 1) % 4 + 1], said[i]) end
  end)

  it("is nothing that functions of meissa.replicas get at by a handle", function()
    local function built()
      return meissa.replicate(function() return {w = meissa.full({1}, 5)} end,
                              {replicas = 2, every = 1, params = params})
    end
    local r = built()
    local t = {field = r}
    rawset(_G, "a_global", r)
    -- By what is refused: what its function does, and the variable that is named.
    local ways = {
      {"'r'", function() r().w[1] = 9 end},
      {"'r'", function() return r() end},
      {"'r'", function() r:reset() end},
      {"'field'", function() t.field().w[1] = 9 end},
      {"'a_global'", function() a_global().w[1] = 9 end}, -- luacheck: globals a_global
      {"'r'", function()
        for _ = 1, 2 do pcall(r) end
        for _ in parallel(2) do r().w[1] = 9 end
      end},
    }
    local function refused(where, name, fn)
      local ok, err = pcall(fn)
      assert.is_false(ok)
      assert.equal("BDY", err.code, err.message)
      assert.equal(1, err.message:find(where .. ": " .. name .. " stands for the models of 2", 1,
                                       true), err.message)
    end
    for _, workers in ipairs {0, 2} do
      meissa.init {workers = workers, quiet = true}
      for _, way in ipairs(ways) do
        refused("replica 1", way[1], function() meissa.replicas(2, {}, way[2]) end)
      end
      refused("replica 1", "what is called here", function()
        meissa.replicas(2, {}, function(_, given) given().w[1] = 9 end, r)
      end)
      refused("setup", "what is called here", function()
        meissa.replicas(2, {setup = function() r().w[1] = 9 end}, function() end)
      end)
      assert.equal(5, r().w[1])
      -- What on_round shows is the program's own, but for functions of meissa.replicas in it.
      local w, seen, told = meissa.zeros(1), {}, nil
      local q = meissa.replicate(w, {replicas = 2, every = 1, on_round = function()
        seen[#seen + 1] = r().w[1]
        local ok, err = pcall(meissa.replicas, 2, {}, ways[1][2])
        told = not ok and err.message
        seen[#seen + 1] = r().w[1]
      end})
      for _ in parallel(4) do q[1] = q[1] + 1 end
      assert.same({5, 5, 5, 5}, seen)
      assert.truthy(told:find("'r' stands for", 1, true), told)
      assert.same({5, 5}, meissa.replicas(2, {}, function() return r:replica(1)[1] end))
      assert.same({5, 5}, meissa.replicas(2, {}, function(_, v) return v[1] end, r().w))
    end
    for i in parallel(4) do r().w[1] = i end -- loops train it as before
    assert.equal((2 + 4) / 2, r().w[1])
    rawset(_G, "a_global", nil)
  end)
end)
