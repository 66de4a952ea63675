-- SPDX-License-Identifier: MIT
-- Errors in loops of the other classes: their place, their iteration, and what the options allow.
local child = require "spec.support.child"

-- Runs a script that has `meissa`, `parallel`, a matrix A and expect(fn), which prints the error's
-- code, line, iteration and message. The script's first line is line 9.
local function output_of(environment, text)
  local output, status = child.script([[
local meissa = require "meissa"
local parallel = meissa.parallel
local A = meissa.rand({20, 20}, {seed = 1})
local function expect(fn)
  local ok, err = pcall(fn)
  assert(not ok, "no error")
  print(err.code, err.line, table.concat(err.iteration or {}, " "), err.message)
end
]] .. text, {env = environment})
  assert(status == 0, output)
  return output
end

local ENVIRONMENTS = {"MEISSA_WORKERS=0", "MEISSA_WORKERS=2", "MEISSA_WORKERS=3 MEISSA_SHM=0"}

describe("an error in the body", function()
  for _, environment in ipairs(ENVIRONMENTS) do
    it("of a collapsed loop names all indices, " .. environment, function()
      assert.equal("BDY\t12\t7 5\tstop\n", output_of(environment, [[
expect(function()
  for i in parallel({2, 19}, {collapse = 2, ordered = false}) do
    for j = i, 2, -1 do
      if i == 7 and j == 5 then error("stop") end
      A[i][j] = A[i][j+1] * 0.5 + A[i-1][j-1] * 0.25 + A[i-1][j+1]
    end
  end
end)]]))
    end)

    it("of a sweep names all indices, " .. environment, function()
      assert.equal("BDY\t11\t9 4\tstop\n", output_of(environment, [[
expect(function()
  for i, j in parallel({17, 3, -2}, {2, 19}, {ordered = false}) do
    if i == 9 and j == 4 then error("stop") end
    A[i][j] = A[i][j-1] * 0.5 + A[i+1][j+1]
    A[i][j] = A[i][j] + A[i+2][j+1]
  end
end)]]))
    end)
  end
end)

describe("the option grid", function()
  it("has one number for each axis that is not swept", function()
    local output = output_of("MEISSA_WORKERS=1", [[
for i, j in parallel({2, 20}, {2, 19}, {grid = {3}}) do
  A[i][j] = A[i][j-1] * 0.5 + A[i-1][j+1]
end
print(meissa.last().strategy, table.concat(meissa.last().grid, " "))
for i, j in parallel({2, 20}, {2, 20}, {grid = {4, 5}}) do A[i][j] = A[i-1][j] + A[i][j-1] end
print(meissa.last().strategy, table.concat(meissa.last().grid, " "))
expect(function()
  for i, j in parallel({2, 20}, {2, 19}, {grid = {3, 4}}) do
    A[i][j] = A[i][j-1] * 0.5 + A[i-1][j+1]
  end
end)]])
    assert.is_truthy(output:find("hyperplane\t54 3\nwavefront\t4 5\nOPT", 1, true), output)
    assert.is_truthy(output:find("option 'grid' has 2 entries, but the plan (hyperplane) cuts " ..
                                 "1 dimension", 1, true), output)
  end)

  it("is as long without workers, where ordered loops are not cut", function()
    local output = output_of("MEISSA_WORKERS=0", [[
for i in parallel(20, {grid = {3}}) do A[i][1] = i end
expect(function() for i in parallel(20, {grid = {3, 4}}) do A[i][1] = i end end)
expect(function() meissa.each(20, {grid = {3, 4}}, function(i) A[i][1] = i end) end)]])
    assert.equal(2, select(2, output:gsub("OPT\t", "")), output)
  end)
end)

describe("a loop inside the body", function()
  it("runs plainly, in this process too", function()
    for _, environment in ipairs(ENVIRONMENTS) do
      assert.equal("hyperplane\t54\n", output_of(environment, [[
local meissa_parallel = parallel
local D = meissa.zeros({20, 20})
for i in parallel({2, 19}, {collapse = 2, ordered = false}) do
  for j = i, 2, -1 do
    local sum = 0
    for k in meissa_parallel(3) do sum = sum + k end
    D[i][j] = sum * 9 + (A[i][j+1] + A[i-1][j-1] + A[i-1][j+1]) * 0
    A[i][j] = A[i][j+1] * 0.5 + A[i-1][j-1] * 0.25 + A[i-1][j+1]
  end
end
print(meissa.last().strategy, D[7][5])]]))
    end
  end)
end)
