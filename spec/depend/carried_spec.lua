-- SPDX-License-Identifier: MIT
--
-- First ones that are asked for nil, and what variables are told that are like reductions but are
-- none: what to write, which then runs.
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"
local parallel = meissa.parallel

local N = 60

describe("the first value, asked for by s == nil,", function()
  teardown(kept_workers.stop)
  local A = meissa.rand({ N }, { seed = 1 })
  local one, name, flag, rows = 1, "x", false, {}
  for i = 1, N do rows[i] = { id = i } end

  after_each(function() kept_workers.init {} end)

  -- The values of each loop, plain and parallel, on several numbers of workers and by each engine.
  local function are_equal(loop, engines)
    local expected = loop(function(n)
      local i = 0
      return function() i = i < n and i + 1 or nil return i end
    end)
    for _, workers in ipairs { 0, 1, 2 } do
      kept_workers.init { workers = workers }
      for _, engine in ipairs(engines) do
        assert.same(expected, loop(parallel, { engine = engine }))
      end
    end
  end

  it("is that of the plain loop where values are never false", function()
    local function shell(body)
      local text = "local A, one, name, rows, N = ... return function(parallel, options) " ..
        "local s, at for i in parallel(N, options) do " .. body .. " end " ..
        "return {s or 0, at or 0} end"
      return assert(loadstring(text))(A, one, name, rows, N)
    end
    for _, body in ipairs {
      "if s == nil and i > 20 then s = A[i] end", "if s == nil and i > 20 then s, at = i, A[i] end",
      "local v = A[i] if s == nil and v > 0.9 then s, at = v, i end",
      "if A[i] > 0.9 and s == nil then s = math.floor(9 * A[i]) end",
      "if s == nil and i > 5 then s = one end",
    } do
      are_equal(shell(body), { "lua", "native" })
    end
    for _, body in ipairs {
      "if s == nil and i > 5 then s = name end",
      "if s == nil and i > 7 then s = rows[i].id or 0 end",
      "if s == nil and i > 7 then s = tostring(i) end", "if s == nil and i > N then s = A[i] end",
    } do
      are_equal(shell(body), { "lua" })
    end
  end)

  it("is refused where they may be false, with what to write", function()
    for _, body in ipairs { "s = rows[i].id", "s = flag", "local v = rows[i].id s = v",
      "s = i > 3", "s = one and flag", "s = flag or rows[i].id" } do
      local text = ("for i in parallel(20) do if s == nil and i > 5 then %s end end"):format(body)
      if body:find "local" then
        text = "for i in parallel(20) do local v = rows[i].id if s == nil and v then s = v end end"
      end
      local plan = meissa.analyze(text, { rows = rows, flag = flag, one = one, s = nil })
      assert.equal("DEP104", plan.reasons[1].code, body)
      assert.truthy(plan.reasons[1].message:find("may be false, which would last, too", 1, true))
      assert.truthy(plan.reasons[1].fixes[2]:find("if not s and ... then s = ... end", 1, true))
    end
  end)
end)

describe("extremes in other forms", function()
  it("are told a form that is one", function()
    local more, less = "if not s or e > s then s = e end", "if not s or e < s then s = e end"
    for body, fix in pairs {
      ["s = s and math.max(s, e) or e"] = more, ["s = math.max(s or e, e)"] = more,
      ["s = math.min(e, s or e)"] = less, ["s = (s and s > e) and s or e"] = more,
      ["s = s and s < e and s or e"] = less, ["s = (not s or e < s) and e or s"] = less,
      ["s = math.min(s or 9, e)"] = "s = s or 9  ... s = math.min(s, e)",
      ["s = math.max(s or 0, e)"] = "s = s or 0  ... s = math.max(s, e)",
    } do
      local text = ("for i in parallel(20) do local e = i * 37 %% 41 %s end"):format(body)
      local plan = meissa.analyze(text, { s = nil })
      assert.equal("DEP104", plan.reasons[1].code, body)
      assert.truthy(plan.reasons[1].fixes[2]:find(fix, 1, true), plan.reasons[1].fixes[2])
      assert.truthy(plan.reasons[1].message:find("in a form that blocks cannot combine", 1, true))
    end
  end)

  it("are none where something else is chosen", function()
    for _, body in ipairs { "s = s .. (s > i and i or 2)", "s = s > 3 and 7 or 5",
      "s = s and s > e and s or 5", "s = s and math.max(s, e) or 5", "s = e > s and e or s + 1" } do
      local plan = meissa.analyze(("for i in parallel(20) do local e = i * 37 %% 41 %s end")
        :format(body), { s = 1 })
      assert.equal("DEP104", plan.reasons[1].code, body)
      assert.falsy(plan.reasons[1].message:find("in a form that", 1, true), body)
    end
  end)

  it("are not blamed on methods that do not look at the field", function()
    local Model = {}
    Model.__index = Model
    function Model.err(_, i) return i * 37 % 41 end
    local model = setmetatable({}, Model)
    local ok, err = pcall(function()
      for i in parallel(20) do
        local e = model:err(i)
        model.worst = (model.worst and model.worst > e) and model.worst or e
      end
    end)
    assert.is_false(ok)
    local text = tostring(err)
    assert.truthy(text:find("DEP104", 1, true) and not text:find("as a whole", 1, true), text)
    assert.truthy(text:find("if not model.worst or e > model.worst then model.worst = e end", 1,
      true), text)
    for i in parallel(20) do
      local e = model:err(i)
      if not model.worst or e > model.worst then model.worst = e end
    end
    assert.equal(38, model.worst)
  end)
end)
