-- SPDX-License-Identifier: MIT
--
-- The analyser against brute force on random loops. The seed is printed; MEISSA_TEST_SEED replays
-- a run, MEISSA_LOOPS changes its length.

local analyze = require "meissa.analyze"
local conditions = require "spec.depend.conditions"
local oracle = require "spec.depend.oracle"
local random = require "spec.depend.random"

local seed = require "spec.support.seed"
local asked = tonumber(os.getenv("MEISSA_LOOPS") or "")
local count = asked or 2500

local function bindings()
  return { A = analyze.shape(50), B = analyze.shape(50), C = analyze.shape(50, 50),
    D = analyze.shape(50, 50), E = analyze.shape(50, 50, 50), p = analyze.opaque,
    on = true, off = false, here = conditions.captured.here }
end

local function plan_of(loop, text, ordered)
  if ordered == nil then ordered = loop.ordered end
  return analyze.analyze(text or loop.text, bindings(), { ordered = ordered })
end

local function tell(number, loop, problem)
  return ("seed %d (MEISSA_TEST_SEED=%d MEISSA_LOOPS=1), %s:\n%s\n%s"):format(number, number,
    loop.ordered and "ordered" or "unordered", loop.text, problem)
end

describe("the analyser, on random loops", function()
  it("agrees with enumeration", function()
    local worst, total, answers = 0, 0, {}
    for number = seed, seed + count - 1 do
      local loop = random.loop(number)
      local start = os.clock()
      local ok, plan = pcall(plan_of, loop)
      local seconds = os.clock() - start
      assert(ok, tell(number, loop, tostring(plan)))
      local problem = oracle.compare(loop, plan)
      assert(not problem, tell(number, loop, problem))
      worst, total = math.max(worst, seconds), total + seconds
      local answer = plan.strategy .. "/" .. plan.verdict
      answers[answer] = (answers[answer] or 0) + 1
    end
    local list = {}
    for answer, times in pairs(answers) do list[#list + 1] = times .. " " .. answer end
    table.sort(list)
    print(("seed %d: %d loops, %.2f ms on average, %.1f ms at worst; %s"):format(seed, count,
      total / count * 1000, worst * 1000, table.concat(list, ", ")))
    if count >= 1000 then -- the generator must keep reaching every kind of answer
      for _, answer in ipairs { "independent/parallel", "partition/parallel", "rotate/parallel",
        "skew/parallel", "wavefront/parallel", "hyperplane/parallel", "serial/serial",
        "serial/unknown" } do
        assert.is_truthy(answers[answer], "no loop was " .. answer)
      end
    end
  end)
end)

-- The body as a function of the indices that the loop makes and calls.
local function with_function(loop)
  local names = table.concat(loop.names, ", ")
  local text, changed = loop.text:gsub("^(for [^\n]* do\n)(.*)\nend$", function(first, body)
    return ("%slocal function body(%s)\n%s\nend\nbody(%s)\nend"):format(first, names, body, names)
  end)
  local plain = not loop.text:find("collapse", 1, true) and not loop.text:find("goto", 1, true)
    and not loop.text:find("body(", 1, true)
  return changed == 1 and plain and text or nil
end

describe("the analyser, on functions that random loops make", function()
  it("agrees with enumeration", function()
    for number = seed, seed + count / 5 do
      local loop = random.loop(number)
      local text = with_function(loop)
      local problem = text and oracle.compare(loop, plan_of(loop, text))
      assert(not problem, tell(number, loop, problem))
    end
  end)
end)

-- Faults that an analyser could have, put between it and the comparison: each changes the text
-- that is analysed, or the plan that came out. The oracle must notice every one.
local function in_text(pattern, replacement)
  return function(loop)
    local text, changed = loop.text:gsub(pattern, replacement)
    if changed > 0 and loadstring(text) then return plan_of(loop, text) end
  end
end

local function in_plan(change)
  return function(loop)
    local plan = plan_of(loop)
    if change(plan, loop) then return plan end
  end
end

local mutants = {
  ["a minus read as a plus"] = in_text(" %- (%d)", " + %1"),
  ["coefficients dropped"] = in_text("%f[%d][23]%*", ""),
  ["steps dropped"] = in_text("({%-?%d+, %-?%d+), [23]}", "%1}"),
  ["remainders dropped"] = in_text(" %% %d", ""),
  ["counters that stand still"] = in_text("(c%d+) = %1 [+-] %d+", "%1 = %1"),
  ["conditional code skipped"] = in_text("(if [^\n]* then\n)[^\n]*\n", "%1"),
  ["only the first statement seen"] = in_text("^(for[^\n]*\n[^\n]*\n).*$", "%1end"),
  ["writes by methods not seen"] = in_text(":fill", ":sum"),
  ["conditional taken as certain"] = in_text("p%[0%]", "on"),
  ["conditions not seen"] = in_text("if [^\n]- then\n", "if p[0] then\n"),
  ["a comparison off by one"] = in_text(" ([<>]) ", " %1= "),
  ["the other branch taken"] = in_text("if ([^\n]-) then\n", "if not (%1) then\n"),
  ["equality dropped"] = in_text(" == ", " >= "),
  ["jumps not seen"] = in_text("if [^\n]- then goto %w+ end", ""),
  ["jumps taken as certain"] = in_text("if [^\n]- (then goto %w+ end)", "if on %1"),
  ["and taken as or"] = in_text(" and ", " or "),
  ["the first piece always"] = in_text("%b() and (%S)", "on and %1"),
  ["greatest taken as least"] = function(loop)
    local text, changed = loop.text:gsub("math%.max", "math.min")
    if changed > 0 and not text:find("collapse", 1, true) then return plan_of(loop, text) end
  end,
  ["dead branches taken as live"] = in_text("%f[%w]off%f[%W]", "on"),
  ["a captured number changed"] = in_text("%f[%w]here%f[%W]", "(here + 1)"),
  ["inner loops end too soon"] = in_text("(for k%d = [^,]+, )[^\n]+ do", "%10 do"),
  ["opaque subscripts taken as the index"] = in_text("p%[(%w+)%]", "%1"),
  ["anti-dependences forgotten"] = in_plan(function(plan)
    if #plan.distances < 2 then return false end
    table.remove(plan.distances)
    return true
  end),
  ["a sign lost"] = in_plan(function(plan)
    for _, d in ipairs(plan.distances) do
      for k = 1, #d do
        if d[k] == "-" then
          d[k] = "+"
          return true
        end
      end
    end
  end),
  ["an integer widened to a sign"] = in_plan(function(plan)
    for _, d in ipairs(plan.distances) do
      for k = 1, #d do
        if type(d[k]) == "number" and d[k] > 0 then
          d[k] = "+"
          return true
        end
      end
    end
  end),
  ["the order given up"] = function(loop)
    if loop.ordered then return plan_of(loop, nil, false) end
  end,
  ["serial called parallel"] = in_plan(function(plan)
    if plan.strategy ~= "serial" then return false end
    plan.strategy, plan.verdict = "partition", "parallel"
    return true
  end),
  ["possible called proven"] = in_plan(function(plan)
    if plan.verdict ~= "unknown" then return false end
    plan.verdict = "serial"
    return true
  end),
  ["the wrong dimension cut"] = in_plan(function(plan, loop)
    if plan.strategy ~= "partition" or loop.dims < 2 then return false end
    plan.dims[1] = loop.names[plan.dims[1] == "i" and 2 or 1]
    return true
  end),
  ["another row"] = in_plan(function(plan)
    if not plan.row then return false end
    plan.row[1] = plan.row[1] - 1
    return true
  end),
  ["other dimensions pipelined"] = in_plan(function(plan)
    if plan.strategy ~= "wavefront" then return false end
    plan.dims[1], plan.dims[2] = plan.dims[2], plan.dims[1]
    return true
  end),
  ["too few sequential dimensions"] = in_plan(function(plan)
    if plan.strategy ~= "hyperplane" or plan.row then return false end
    plan.sequential = plan.sequential - 1
    return true
  end),
  ["a pair that does not collide"] = in_plan(function(plan)
    local reason = plan.reasons[1]
    if not reason or not reason.witness then return false end
    reason.witness.to = reason.witness.from
    return true
  end),
}

describe("the oracle", function()
  for name, mutant in pairs(asked and {} or mutants) do
    it("catches: " .. name, function()
      local tried, caught = 0, 0
      for number = 1, 3000 do
        local loop = random.loop(number)
        local plan = mutant(loop)
        if plan then
          tried = tried + 1
          if oracle.compare(loop, plan) then caught = caught + 1 end
        end
        if caught >= 3 then break end
      end
      assert.is_true(caught >= 3, ("%d of %d caught"):format(caught, tried))
    end)
  end
end)
