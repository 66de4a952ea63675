-- SPDX-License-Identifier: MIT
--
-- Loops with known answers (spec/data/loops.jsonl): distances exact, strategies among the listed
-- ones.

local analyze = require "meissa.analyze"
local json = require "dkjson"

local function bindings_of(case)
  local bindings = {}
  for name, what in pairs(case.bindings) do
    if what.shape then
      bindings[name] = analyze.shape(unpack(what.shape))
    elseif what.opaque then
      bindings[name] = analyze.opaque
    else
      bindings[name] = what.number
    end
  end
  return bindings
end

local function text_of(distances)
  local lines = {}
  for n, distance in ipairs(distances) do
    local parts = {}
    for k, component in ipairs(distance) do parts[k] = tostring(component) end
    lines[n] = "(" .. table.concat(parts, ", ") .. ")"
  end
  return table.concat(lines, " ")
end

local function same_set(a, b)
  if #a ~= #b then return false end
  local set = {}
  for _, name in ipairs(a) do set[name] = true end
  for _, name in ipairs(b) do
    if not set[name] then return false end
  end
  return true
end

local function is_listed(answers, plan)
  for _, answer in ipairs(answers) do
    local same_dims = not answer.dims or same_set(answer.dims, plan.dims)
    local same_row = not answer.row or plan.row ~= nil
      and table.concat(answer.row, " ") == table.concat(plan.row, " ")
    if answer.strategy == plan.strategy and same_dims and same_row then return true end
  end
  return false
end

local function check(case, ordered)
  local plan = analyze.analyze(case.source, bindings_of(case), { ordered = ordered })
  assert.are.equal(text_of(case.distances), text_of(plan.distances))
  local answers = ordered and case.ordered or case.unordered
  assert.is_true(is_listed(answers, plan), ("%s, dims %s, row %s"):format(plan.strategy,
    table.concat(plan.dims, " "), table.concat(plan.row or {}, " ")))
  assert.are.equal(plan.strategy == "serial", plan.verdict ~= "parallel")
end

describe("loops with known answers:", function()
  local worst, slowest, cases = 0, "", 0
  for line in io.lines("spec/data/loops.jsonl") do
    local case = assert(json.decode(line))
    cases = cases + 1
    for _, ordered in ipairs { true, false } do
      it(case.id .. (ordered and " ordered" or " unordered"), function()
        check(case, ordered)
        local seconds = math.huge -- the least of three: others use this machine, too
        for _ = 1, 3 do
          local start = os.clock()
          analyze.analyze(case.source, bindings_of(case), { ordered = ordered })
          seconds = math.min(seconds, os.clock() - start)
        end
        if seconds > worst then worst, slowest = seconds, case.id end
      end)
    end
  end

  it("are all there, and take under 5 ms each", function()
    assert.are.equal(49, cases)
    print(("slowest: %s, %.2f ms"):format(slowest, worst * 1000))
    local slowdown = tonumber(os.getenv "MEISSA_TEST_SLOWDOWN") or 1
    assert.is_true(worst < 0.005 * slowdown, slowest .. " took " .. worst * 1000 .. " ms")
  end)
end)
