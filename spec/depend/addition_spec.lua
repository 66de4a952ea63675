-- SPDX-License-Identifier: MIT
-- When a report proposes a buffer: the body does nothing with the array but add to it. That what is
-- proposed gives the sums of the loop as written is shown by running both.
local analyze = require "meissa.analyze"
local meissa = require "meissa"

local shape, opaque = analyze.shape, analyze.opaque

local function fixes_of(plan)
  local all = {}
  for _, reason in ipairs(plan.reasons) do all[#all + 1] = table.concat(reason.fixes, "\n") end
  return table.concat(all, "\n")
end

-- Bodies of a loop over i, with arrays A and M, W of as many columns, and a table p of indices.
local ADDED = {
  {"A", "A[1] = A[1] + i"},
  {"A", "A[1] = i - 2 + (A[1] - 3)"},
  {"A", "A[i % 3 + 1] = A[i%3+1] + 1"},
  {"A", "A[p[i]] = A[ p[i] ] + 1"},
  {"A", "local t = A[1] A[1] = t + i*2"},
  {"A", "local t = A[1] + 1 local u = t - 2 A[1] = 3 + u"},
  {"A", "local k = p[i] local t = A[k] local u = i * 2 A[k] = t + u"},
  {"A", "if i > 3 then A[1] = A[1] + i end A[2] = A[2] - A:size(1)"},
  {"A", "A:axpy(i, W[1])", rows = true},
  {"A", "A:add(i)", rows = true},
  {"M", "M[i%3+1]:axpy(i, W[1])", rows = true},
  {"M", "local row = M[i%3+1] row:add(i, W[2])", rows = true},
  {"M", "local row = M[i%3+1] for k = 1, 4 do row[k] = row[k] + i * k end", rows = true},
  {"M", "M[2]:add(W[i%2+1]) M[i%3+1][2] = M[i%3+1][2] + 1", rows = true},
}

-- The same, where a sum that is added at the end would be another.
local OTHERS = {
  {"A", "A[1] = A[1] * 2 + i"},
  {"A", "A[1] = i - A[1]"},
  {"A", "A[i%3+1] = A[i%3+2] + 1"},
  {"A", "A[1] = A[1] + A[1]"},
  {"A", "A[1] = A[1] + 1 A[2] = A[1]"},
  {"A", "local t = A[1] B[i] = t A[1] = t + 1"},
  {"A", "local t = A[1] A[1] = A[1] + 1 A[1] = t + 1"},
  {"A", "local k = 1 local t = A[k] k = 2 A[k] = t + 1"},
  {"A", "local t = A[1] t = t * 2 A[1] = t + 1"},
  {"A", "A[1] = A[1] + 1 if A[2] > 3 then A[2] = A[2] + 1 end"},
  {"A", "A[p[i]] = 0.5 * A[p[i]] + 1"},
  {"A", "A:axpy(A[1], W[1])", rows = true},
  {"A", "A:scal(2) A:add(1)", rows = true},
  {"M", "M[1]:add(W[1], 2, W[2])", rows = true},
  {"M", "M[i%3+1]:add(1) M[1]:fill(0)", rows = true},
  {"M", "local row = M[i%3+1] row:add(i) B[i] = row[1]", rows = true},
}

local function plan_of(case)
  local shapes = {A = shape(4), B = shape(9), M = shape(4, 4), W = shape(4, 4), p = opaque}
  return analyze.analyze("for i in parallel(9) do " .. case[2] .. " end", shapes)
end

-- The arrays after the loop, each element as a number; `through`: the array to buffer, or nil.
local function run(case, through)
  local body, head = case[2], ""
  if through then
    body = body:gsub("%f[%w]" .. through .. "%f[%W]", "sum")
    head = "local sum = meissa.buffer(" .. through .. ")"
  end
  local text = ([[
    local meissa, A, M, B, W, p = ...
    %s
    for i in meissa.parallel(9%s) do %s end
  ]]):format(head, through and "" or ", {serial = true}", body)
  local A, M = meissa.from {1, 2, 3, 4}, meissa.ones(4, 4)
  local W = meissa.from {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 1, 2, 3}, {4, 5, 6, 7}}
  assert(loadstring(text))(meissa, A, M, meissa.zeros(9), W, {1, 2, 1, 3, 1, 4, 4, 2, 1})
  return {A:totable(), M:totable()}
end

describe("a buffer", function()
  setup(function() meissa.init {workers = 2} end)

  it("is proposed for what is only added to, and gives the same sums", function()
    for _, case in ipairs(ADDED) do
      local plan = plan_of(case)
      assert.are_not.equal("parallel", plan.verdict, case[2])
      assert.has_match("meissa%.buffer%(" .. case[1] .. "%)", fixes_of(plan), case[2])
      assert.has_no_match("snapshot", fixes_of(plan), case[2])
      assert.are.same(run(case), run(case, case[1]), case[2])
    end
  end)

  it("is not proposed where the body does anything else with the array", function()
    for _, case in ipairs(OTHERS) do
      local plan = plan_of(case)
      assert.are_not.equal("parallel", plan.verdict, case[2])
      assert.has_no_match("buffer", fixes_of(plan), case[2])
    end
  end)

  it("is not all that is proposed where data name what is read", function()
    local text = "for x, y in parallel(6, 6) do local r = W[p[x]]:sum() W[x]:fill(r) end"
    local plan = analyze.analyze(text, {W = shape(12, 4), p = opaque})
    assert.are.equal("unknown", plan.verdict)
    assert.are.equal("DEP102", plan.reasons[1].code)
    assert.has_match("W:snapshot%(%)", fixes_of(plan))
    assert.has_match("meissa%.buffer%(W%)", fixes_of(plan))
  end)

  it("is not proposed where something else is legal", function()
    local text = "for i, j in parallel(6, 6) do A[i] = A[i] + B[j] B[j] = B[j] + i end"
    local plan = analyze.analyze(text, {A = shape(6), B = shape(6)})
    assert.are.equal("wavefront", plan.strategy)
    assert.has_no_match("buffer", fixes_of(plan))
  end)
end)
