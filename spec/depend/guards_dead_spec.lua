-- SPDX-License-Identifier: MIT
-- Captured variables and what captured booleans switch off: a place that no iteration comes to
-- neither reads nor assigns them, on all roads.
local meissa = require "meissa"
local plain = require "spec.support.plain"

-- What the loop does; whether it is parallel.
local BODIES = {
  {"A[i] = i if off then p = p + 1 end", true},
  {"A[i] = p * i if off then p = p * 2 end", true},
  {"A[i] = p * i if not off and on then A[i] = 2 else p = A[i] end", true},
  {"if on then p = i else A[i] = p end A[i] = A[i] + p", true},
  {"if on then p = i end A[i] = p", true},
  {"if on then elseif i > 3 then p = 1 end A[i] = p", true},
  {"if off then A[i] = 0 elseif on then p = i end A[i] = p", true},
  {"if not on then goto skip end p = p + 1 ::skip:: if off then A[i] = p end", true},
  {"if on then goto skip end A[i] = p p = p + 1 ::skip:: A[i] = p", true},
  {"p = p + 1 A[i] = off and p or i", true},
  {"p = p + 1 A[i] = on or p", nil}, -- an error, but no dependence
  {"if off then o.sum = 2 end A[i] = o.sum", true},
  {"o.sum = o.sum + i if off then A[i] = o.sum end", true},
  {"o.sum = o.sum + i if on then A[i] = o.sum end", false},
  {"if on then p = p + 1 end A[i] = p", false},
  {"if on then elseif i > 3 then p = 1 end A[i] = p p = 2", false},
  {"if i > 2 then p = i end A[i] = p", false},
  {"if off then else A[i] = p end p = i", false},
  {"if i > 99 then p = p + A[i] A[i] = p end", true}, -- no iteration is
  -- Mentions of a form that nothing comes to do not stand for others.
  {"if not p and i > 99 then p = i end A[i] = p * i", true},
  {"if i > 99 and A[i] > p then p = A[i] end p = math.max(p, i) A[i] = p + p", false},
  {"if i > 99 and A[i] > p then p = A[i] end p = math.max(p, i) A[i] = 1", true},
  -- What is no number stays what it is, too.
  {"if not t and i > 99 then t = i end A[i] = t[1] * i", true},
  {"if i > 99 then t = {i} end A[i] = t[1] * i", true},
  {"if off then t = nil end A[i] = t and t[1] or 0", true},
  {"if i > 99 then t = {i} end A[i] = i", true},
  {"if not f and i > 99 then f = i end A[i] = f(i)", true},
  {"if i > 99 then f = nil end A[i] = f(i)", true},
  {"if not long and i > 99 then long = i end A[i] = type(long) == 'cdata' and 1 or 2", true},
  {"if not B and i > 99 then B = i end A[i] = B[i] + 1", true},
  {"if i > 99 then B = A end A[i] = B[i] + 1", true},
  {"if off then o.t = {i} end A[i] = o.t[1]", true},
  {"if i > 9 then t = {i} end A[i] = t[1]", false},
}

local function world(array)
  local A, B = array(), array()
  for k = 1, 12 do A[k], B[k] = k % 5, k * k end
  return {A = A, B = B, p = 3, on = true, off = false, o = {sum = 1, t = {6}}, t = {7},
          f = function(x) return 2 * x end, long = 2LL ^ 40}
end

local function text_of(body) return "for i in parallel(12) do " .. body .. " end" end

describe("variables in places that no iteration comes to", function()
  teardown(function() meissa.init {} end)

  it("are neither read nor assigned there", function()
    for _, case in ipairs(BODIES) do
      local env = world(function() return meissa.zeros(12) end)
      local plan = meissa.analyze(text_of(case[1]), env)
      assert.equal(case[2] ~= false, plan.strategy == "independent", case[1])
    end
  end)

  for workers = 0, 2, 2 do
    for _, engine in ipairs {"lua", "native"} do
      it(("are what the plain loop leaves: %d workers, %s"):format(workers, engine), function()
        meissa.init {workers = workers}
        for _, case in ipairs(BODIES) do
          if case[2] then
            local written, env = world(function() return {} end),
              world(function() return meissa.zeros(12) end)
            plain.run(text_of(case[1]), written, plain.parallel)
            env.options = engine == "lua" and {engine = "lua"} or {}
            plain.run(text_of(case[1]):gsub("%(12%)", "(12, options)"), env, meissa.parallel)
            assert.equal(plain.numbers(written.A), plain.numbers(env.A:totable()), case[1])
            assert.equal(written.p, env.p, case[1])
            assert.equal(written.o.sum, env.o.sum, case[1])
            assert.equal("table function cdata", table.concat({type(env.t), type(env.f),
              type(env.long)}, " "), case[1])
          end
        end
      end)
    end
  end

  it("are planned again with the boolean", function()
    local parallel, A, on, p = meissa.parallel, meissa.zeros(12), false, 5
    local function launch()
      for i in parallel(12) do
        A[i] = p
        if on then p = p + 1 end
      end
    end
    launch()
    on = true
    assert.has_error(launch)
    on = false
    launch()
    assert.equal(60, A:sum())
  end)
end)
