-- SPDX-License-Identifier: MIT
-- Affine conditions narrow the accesses below them: loops that they make parallel leave what the
-- loop as written does, on all roads.
local meissa = require "meissa"
local child = require "spec.support.child"

local function run(mode, environment)
  local output, status = child.shell(("%s luajit spec/support/guards.lua %s"):format(environment,
                                                                                   mode))
  assert(status == 0, output)
  local list = {}
  for number, strategy, image in output:gmatch("(%d+)\t([^\t]+)\t([^\n]*)\n") do
    list[tonumber(number)] = {strategy = strategy, image = image}
  end
  return list
end

describe("loops that conditions make parallel", function()
  local written = run("plain", "MEISSA_WORKERS=0")
  for _, environment in ipairs {
    "MEISSA_WORKERS=2", "MEISSA_WORKERS=5 MEISSA_SHM=0", "MEISSA_WORKERS=3 MEISSA_ENGINE=lua",
    "MEISSA_WORKERS=0", "MEISSA_WORKERS=2 MEISSA_SHM=0 MEISSA_ENGINE=lua",
  } do
    it("leave what they do as written: " .. environment, function()
      local results = run("meissa", environment)
      assert.is_true(#results > 10)
      for number, result in ipairs(results) do
        assert.are.equal(written[number].strategy, result.strategy)
        if result.strategy ~= "serial" then
          assert.are.equal(written[number].image, result.image)
        end
      end
    end)
  end
end)

describe("a plan", function()
  local shape = meissa.shape
  local function analyze(text, bindings) return meissa.analyze(text, bindings) end

  it("knows what a dead branch would touch as untouched", function()
    local plan = analyze("for i in parallel(9) do if off then A[1] = B[i] end C[i] = 1 end",
                         {A = shape(9), B = shape(9), C = shape(9), off = false})
    assert.are.equal("independent", plan.strategy)
    assert.are.equal("none", plan.arrays.A.access)
    assert.are.equal("none", plan.arrays.B.access)
  end)

  it("does not say that a distance is one of every iteration where conditions are", function()
    local plan = analyze("for i in parallel({2, 9}) do if i < 5 then A[i] = A[i-1] end end",
                         {A = shape(9)})
    assert.are.equal("serial", plan.verdict)
    assert.truthy(plan.reasons[1].message:find("distance 1, some iterations", 1, true))
  end)

  it("takes no condition that is not about whole numbers that stay", function()
    for _, text in ipairs {
      "if i > half then A[i] = A[1] end",
      "if i > nan then A[i] = A[1] end",
      "if i > p[1] then A[i] = A[1] end",
      "local x = 0 if p[i] > 0 then x = p[i] end if x > 1 then A[i] = A[1] end",
      "i = i + 1 if i > 1 then A[i] = A[1] end",
      "if i > 1 or A[i] > 0 then A[i] = A[1] end",
      "if i > 1 then goto skip end ::back:: ::skip:: A[i] = A[1] if p[1] then goto back end",
    } do
      local plan = analyze("for i in parallel(9) do " .. text .. " end",
                           {A = shape(9), half = 0.5, nan = 0 / 0, p = meissa.opaque})
      assert.are_not.equal("parallel", plan.verdict, text)
    end
  end)

  it("knows all ways that lead to a label, and all that a loop's ends let through", function()
    for _, text in ipairs {
      "if i == 1 then goto skip end B[i] = 1 ::skip:: A[i] = A[1]",
      "if i == 1 then goto skip end if i == 2 then goto out end B[i] = 1 ::skip:: A[i] = A[1] " ..
        "::out::",
      "local here = i if i == 9 then here = 1 elseif i == 8 then here = 2 end A[here] = i",
      "for k = math.min(i, 3), i do A[k] = i end",
      "for k = i, math.max(i, 3) do A[k] = i end",
    } do
      local plan = analyze("for i in parallel(9) do " .. text .. " end",
                           {A = shape(9), B = shape(9)})
      assert.are.equal("serial", plan.verdict, text)
    end
  end)

  it("belongs to the booleans and numbers that conditions are about", function()
    local parallel, A, B = meissa.parallel, meissa.ones(20), meissa.ones(20)
    local seen = {}
    for step = 1, 6 do
      local copies, from = step % 2 == 0, step
      for i in parallel(20) do
        if copies then A[i] = B[from] else A[i] = A[i] + 1 end
        if i > from then B[i] = B[i] + 1 end
      end
      seen[step] = meissa.last().strategy
    end
    assert.are.equal("independent", seen[1])
    assert.are.equal("independent", seen[2])
    assert.are.equal(7, B[20])
  end)

  it("changes with what a condition compares with", function()
    local parallel, A = meissa.parallel, meissa.ones(20)
    local function launch(from)
      for i in parallel({2, 20}) do if i > from then A[i] = A[i - 1] + 1 end end
    end
    launch(19)
    assert.are.equal(2, A[20])
    assert.has_error(function() launch(18) end)
    launch(20)
    assert.are.equal(2, A[20])
  end)
end)
