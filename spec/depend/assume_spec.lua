-- SPDX-License-Identifier: MIT
-- The option `assume`: which dependences it lifts, what the report says of that, and that the
-- checker holds loops against it.
local meissa = require "meissa"
local parallel = meissa.parallel

local SHAPES = {
  A = meissa.shape(90), B = meissa.shape(90), M = meissa.shape(90, 90), p = meissa.shape(90),
  c = meissa.opaque,
}

-- The verdict on a body with the option, and the strategy.
local function judge(body, space)
  local text = string.format("for %s {assume = 'independent'}) do %s end",
    space or "i in parallel(90,", body)
  local plan = meissa.analyze(text, SHAPES)
  return plan.verdict .. " " .. plan.strategy, plan
end

-- Bodies with possible dependences, without the option and with it.
local LIFTED = {
  {"A[p[i]] = i", "parallel independent"},
  {"A[p[i]] = A[p[i]] + 1", "parallel independent"},
  {"A[i] = A[p[i]] + 1", "parallel independent"},
  {"A[p[i]] = B[p[90 - i]]; B[p[i]] = 1", "parallel independent"},
  {"M[p[i]][i] = M[p[91 - i]][p[i]]", "parallel independent"},
  {"if c[i] then A[p[i]] = 2 end", "parallel independent"},
}

-- Those with a proven one, too: what that alone would give.
local KEPT = {
  {"A[p[i]] = i; B[1] = B[1] * 2 + i", "serial serial"},
  {"A[p[i]] = i; B[i] = B[math.max(i - 1, 1)] + 1", "serial serial"},
  {"s = s * 2 + i; A[p[i]] = s", "serial serial"},
}

describe("assume = 'independent'", function()
  setup(function() meissa.init {workers = 2} end)
  teardown(function() meissa.init {} end)

  for _, case in ipairs(LIFTED) do
    it("lifts what is possible: " .. case[1], function()
      local text = string.format("for i in parallel(90) do %s end", case[1])
      assert.not_equal("parallel", meissa.analyze(text, SHAPES).verdict)
      local verdict, plan = judge(case[1])
      assert.equal(case[2], verdict)
      assert.equal("DEP203", plan.reasons[1].code)
      assert.same({}, plan.distances)
    end)
  end

  for _, case in ipairs(KEPT) do
    it("leaves what is proven: " .. case[1], function()
      assert.equal(case[2], (judge(case[1])))
    end)
  end

  it("keeps the strategy that proven distances ask for", function()
    local nest = "i, j in parallel(90, 90,"
    local verdict, plan = judge("M[i][j] = M[i][math.max(j - 1, 1)]; A[p[i]] = 1", nest)
    assert.equal("parallel partition", verdict)
    assert.equal("i", plan.dims[1])
    assert.equal("parallel wavefront", (judge(
      "if i > 1 and j > 1 then M[i][j] = M[i - 1][j] + M[i][j - 1] end A[p[i]] = 1", nest)))
  end)

  it("says nothing where nothing is lifted", function()
    local _, plan = judge("A[i] = p[i]")
    assert.same({}, plan.reasons)
  end)

  it("tells both places", function()
    local _, plan = judge("A[i] = A[p[i]] + 1")
    assert.truthy(tostring(plan):find("note [DEP203 independence assumed]", 1, true))
    assert.truthy(tostring(plan):find("^^^^ and", 1, true))
  end)

  it("runs as written where the word is true, on all roads", function()
    local n = 3000
    local to = meissa.zeros({n}, {type = "int32"})
    for i = 1, n do to[i] = i * 7 % n + 1 end
    for _, engine in ipairs {"native", "lua"} do
      local out, twice = meissa.zeros(n), meissa.ones(n)
      for i in parallel(n, {assume = "independent", engine = engine}) do
        out[to[i]] = i
        twice[to[i]] = 2 * twice[to[i]] + i
      end
      for i = 1, n do
        assert.equal(i, out[to[i]])
        assert.equal(2 + i, twice[to[i]])
      end
      assert.equal("parallel", meissa.last().verdict)
    end
  end)

  it("is held against all iterations with check = 'all'", function()
    local n = 10020
    local to, out = meissa.zeros({n}, {type = "int32"}), meissa.zeros(n)
    for i = 1, n do to[i] = n + 1 - i end
    for i in parallel(n, {assume = "independent", check = "all"}) do out[to[i]] = i end
    to[n] = to[5]
    for i in parallel(n, {assume = "independent", check = true}) do out[to[i]] = i end
    local ok, err = pcall(function()
      for i in parallel(n, {assume = "independent", check = "all"}) do out[to[i]] = i end
    end)
    assert.is_false(ok)
    assert.equal("DEP", err.code)
    assert.truthy(err.message:find('assume = "independent" does not hold: iteration (i = 5) ' ..
      "writes out[10016]", 1, true))
    assert.truthy(err.message:find("iteration (i = 10020) writes out[10016]", 1, true))
  end)

  it("undoes what a failing body wrote at unknown places", function()
    local to, out = meissa.from {3, 1, 2, 5, 4}, meissa.ones(5)
    assert.is_false(pcall(function()
      for i in parallel(5, {assume = "independent"}) do
        out[to[i]] = i
        if i == 4 then error("no") end
      end
    end))
    assert.same({1, 1, 1, 1, 1}, out:totable())
  end)

  it("takes nothing else", function()
    for _, options in ipairs {{assume = "parallel"}, {assume = true}, {check = "some"}} do
      local ok, err = pcall(meissa.plan, 5, options, function() end)
      assert.is_false(ok)
      assert.equal("OPT", err.code)
    end
  end)
end)
