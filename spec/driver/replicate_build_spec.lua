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
end)
