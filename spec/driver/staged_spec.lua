-- SPDX-License-Identifier: MIT
-- Loops of several stages are one transaction: whatever fails in whichever stage (a body, a rule of
-- merging, a worker, the session), and whatever shares memory, all is as it was before the loop.
local ffi = require "ffi"
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"
local parallel = meissa.parallel

ffi.cdef "int meissa_spec_kill(int pid, int signal) __asm__(\"kill\");"

local ROADS = {
  {workers = 0}, {workers = 2}, {workers = 3, shm = false},
  {workers = 2, shm = false, transport = "tcp"},
}

local function name_of(road)
  return ("%d workers%s%s"):format(road.workers, road.shm == false and ", by value" or "",
                                   road.transport == "tcp" and ", tcp" or "")
end

-- Elements as 17 digits each.
local function bits(array)
  local words = {}
  for k, x in ipairs(array:clone():totable()) do words[k] = ("%.17g"):format(x) end
  return table.concat(words, " ")
end

local n, m = 600, 9000 -- w: more than one slice

-- Arrays that are merged into: `w`; `z`, which helps it and shares memory with `even`, which the
-- body writes; `times`, which helps, too; `odd`, every other element of its memory; `small`, of
-- another type.
local function make()
  local pair = meissa.randn({m, 2}, {seed = 3})
  return {
    w = meissa.randn({m}, {seed = 1}), z = pair:select(2, 1), even = pair:select(2, 2),
    times = meissa.zeros(m),
    odd = meissa.randn({m, 2}, {seed = 4}):select(2, 1), direct = meissa.randn({n}, {seed = 2}),
    small = meissa.full({5}, 7, {type = "int32"}),
  }
end

local function state(a)
  local words = {}
  for _, name in ipairs {"w", "z", "times", "odd", "even", "direct", "small"} do
    words[#words + 1] = name .. " " .. bits(a[name])
  end
  return table.concat(words, "\n")
end

-- One loop of seven stages over these arrays. `trouble` is what goes wrong, late: "body", "rule",
-- "result", "type", or nothing; `stop` is called by the rule at its so many-th call.
local function run(a, trouble, options)
  local w, z, even, direct, calls = a.w, a.z, a.even, a.direct, 0
  local function rule(old, g, sum, t)
    calls = calls + 1
    if calls == options.stop_at then options.stop() end
    if trouble == "rule" and calls == 900 then error({code = "MINE"}, 0) end
    if trouble == "result" and calls == 900 then return old, "many", t end
    return old + 0.5 * g, sum + 1, t + 1
  end
  local wb = meissa.buffer(w, {max_delay = 100, with = {z, a.times}, apply = rule})
  local ob, sb = meissa.buffer(a.odd), meissa.buffer(a.small)
  local bad, half = trouble == "body" and 555 or 0, trouble == "type" and 555 or 0
  for i in parallel(n, {transaction = options.transaction}) do
    direct[i] = direct[i] + w[i]
    even[i] = even[i] + 1
    for k = 1, 3 do
      local p = i * 7919 * k % 9000 + 1
      wb[p] = wb[p] + k + 0.25
    end
    ob[i * 13 % 9000 + 1] = ob[i * 13 % 9000 + 1] + i
    sb[i % 5 + 1] = sb[i % 5 + 1] + (i == half and 0.5 or 1)
    if i == bad then direct[n + 1] = 1 end
  end
  return meissa.last()
end

local EXPECTED = {body = "ARR", rule = "BDY", result = "BDY", type = "ARR"}

describe("a loop of several stages", function()
  teardown(kept_workers.stop)
  teardown(function() kept_workers.init() end)

  it("is undone whole, on every road, whatever fails", function()
    local good
    for _, road in ipairs(ROADS) do
      kept_workers.init(road)
      local a = make()
      local before = state(a)
      for _, trouble in ipairs {"body", "rule", "result", "type"} do
        local ok, err = pcall(run, a, trouble, {})
        assert.is_false(ok, trouble)
        assert.equal(EXPECTED[trouble], err.code, name_of(road) .. ": " .. tostring(err))
        if trouble == "rule" then assert.equal("MINE", err.value.code) end
        assert.is_true(before == state(a), name_of(road) .. ": " .. trouble)
      end
      assert.equal(7, run(a, nil, {}).stages)
      good = good or state(a)
      assert.is_true(good == state(a), name_of(road))
      assert.is_true(before ~= good)
    end
  end)

  it("loses its arrays if it is no transaction, merged ones too", function()
    for _, road in ipairs {ROADS[1], ROADS[2]} do
      kept_workers.init(road)
      for _, trouble in ipairs {"body", "rule", "type"} do
        local a = make()
        assert.is_false(pcall(run, a, trouble, {transaction = false}))
        for _, name in ipairs {"w", "z", "direct", "small"} do
          local ok, err = pcall(function() return a[name][1] end)
          assert.is_false(ok, name .. " after " .. trouble)
          assert.equal("ARR", err.code)
          assert.matches("did not finish", err.message)
        end
      end
    end
  end)

  it("has the same bits when workers die in its stages", function()
    kept_workers.init {workers = 2}
    local a = make()
    run(a, nil, {})
    local good = state(a)
    for _, stop_at in ipairs {3, 500, 1700} do -- the next stage meets it
      local b = make()
      local plan = run(b, nil, {stop_at = stop_at, stop = function()
        ffi.C.meissa_spec_kill(assert(meissa.workers().pids[1]), 9)
      end})
      assert.equal(7, plan.stages)
      assert.is_true(good == state(b), ("a kill at call %d"):format(stop_at))
    end
  end)

  it("is undone when a rule asks for other workers", function()
    kept_workers.init {workers = 2}
    local a = make()
    local before = state(a)
    local ok, err = pcall(run, a, nil, {stop_at = 700, stop = function() kept_workers.init {} end})
    assert.is_false(ok)
    assert.matches("workers cannot be changed while a loop runs", tostring(err), 1, true)
    assert.is_true(before == state(a))
    kept_workers.init {workers = 2}
    assert.equal(7, run(a, nil, {}).stages)
  end)

  it("runs loops with buffers inside its rules", function()
    local expected
    for k = 2, #ROADS do
      kept_workers.init(ROADS[k])
      local w, total = meissa.zeros(50), meissa.zeros(50)
      local tb = meissa.buffer(total, {max_delay = 20, apply = function(old, g) return old + g end})
      local wb = meissa.buffer(w, {max_delay = 100, apply = function(old, g)
        for e in parallel(50) do tb[e] = tb[e] + e end
        return old + g
      end})
      for i in parallel(300) do wb[i % 4 * 7 + 1] = wb[i % 4 * 7 + 1] + i * 0.1 end
      local got = bits(w) .. bits(total)
      expected = expected or got
      assert.is_true(expected == got, name_of(ROADS[k]))
      assert.is_true(total[1] > 0 and total[50] == 50 * total[1])
    end
  end)
end)
