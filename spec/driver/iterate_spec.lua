-- SPDX-License-Identifier: MIT
--
-- meissa.iterate: rounds that read the round before, against plain loops with a snapshot; what is
-- refused, and what a failure leaves.

local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"
local expect = require "spec.support.expect"
local rounds = require "spec.support.rounds"

local ENVIRONMENTS = {{0, true}, {1, true}, {2, true}, {6, true}, {2, false}, {3, false}}
local FEW = {{0, true}, {3, true}, {2, false}}

-- Programs by what they are about.
local programs = {
  ["a chain of neighbours, with a sum over all rounds"] = {
    arrays = {"A"}, rounds = 7, indices = {"j"}, bounds = {"1, n"},
    world = function()
      return {meissa = meissa, n = 100, sum = 0, A = meissa.rand({100}, {seed = 1})}
    end,
    body = [[
      local left, right = 0, 0
      if j > 1 then left = OLD.A[j - 1] end
      if j < n then right = OLD.A[j + 1] end
      local new = 0.25 * left + 0.5 * OLD.A[j] + 0.25 * right
      sum = sum + math.abs(new - OLD.A[j])
      NEW.A[j] = new]]},
  ["ranges of a matrix, whose other elements keep their values"] = {
    arrays = {"u"}, rounds = 6, indices = {"i", "j"}, bounds = {"2, n - 1", "2, m - 1"},
    ranges = {"{2, n - 1}", "{2, m - 1}"},
    world = function()
      return {meissa = meissa, n = 17, m = 12, u = meissa.rand({17, 12}, {seed = 2})}
    end,
    body = [[
      NEW.u[i][j] = 0.25 * (OLD.u[i-1][j] + OLD.u[i+1][j] + OLD.u[i][j-1] + OLD.u[i][j+1])]]},
  ["three dimensions, floats, elements that stay as they are"] = {
    arrays = {"u"}, rounds = 4, indices = {"i", "j", "k"}, bounds = {"1, 6", "1, 5", "1, 4"},
    world = function()
      return {meissa = meissa, u = meissa.rand({6, 5, 4}, {seed = 3, type = "float"})}
    end,
    body = [[
      if (i + j + k + t) % 3 > 0 then
        NEW.u[i][j][k] = OLD.u[7 - i][j][k] * 0.5 + OLD.u[i][6 - j][k] * 0.25
      end]]},
  ["several arrays"] = {
    arrays = {"w", "b"}, rounds = 5, indices = {"j"}, bounds = {"1, 30"},
    world = function()
      return {meissa = meissa, w = meissa.rand({30}, {seed = 4}),
              b = meissa.rand({30}, {seed = 5})}
    end,
    body = [[
      local old = OLD.w[j]
      NEW.w[j] = OLD.b[j % 30 + 1] + t
      NEW.b[j] = 0.5 * (old + OLD.b[j])]]},
  ["subscripts from data, rows, functions that are given the array"] = {
    arrays = {"A"}, rounds = 5, indices = {"i"}, bounds = {"1, 40"},
    ranges = {"40"},
    world = function()
      local p = meissa.zeros({40}, {type = "int32"})
      for i = 1, 40 do p[i] = (i * 7) % 40 + 1 end
      return {meissa = meissa, p = p, A = meissa.rand({40, 3}, {seed = 6}),
              pick = function(a, k) return a[k][1] end}
    end,
    body = [[
      local row = OLD.A[p[i] ]
      for k = 1, 3 do NEW.A[i][k] = row[4 - k] * 0.5 + pick(OLD.A, i) end]]},
}

-- Runs a function with each kind of session.
local function everywhere(fn, environments)
  for _, each in ipairs(environments or FEW) do
    kept_workers.init {workers = each[1], shm = each[2]}
    fn(("%d workers, shm %s"):format(each[1], tostring(each[2])))
  end
end

-- What the plain loops leave of each program, made once.
local function make_plain()
  local plain = {}
  for name, program in pairs(programs) do
    plain[name] = rounds.run(rounds.plain_text(program), program.world())
  end
  return plain
end

-- A program's arrays are those of the plain loop, and its sum is the same everywhere.
local function check(where, name, plain, sums)
  local program = programs[name]
  for _, engine in ipairs {"lua", "native"} do
    program.options = ("{engine = %q}"):format(engine)
    local world = rounds.run(rounds.iterate_text(program), program.world())
    for _, array in ipairs(program.arrays) do
      assert.equal(rounds.bits(plain[array]), rounds.bits(world[array]),
                   ("%s: %s, %s"):format(name, where, engine))
    end
    sums[name] = sums[name] or world.sum
    assert.equal(sums[name], world.sum, where)
    if world.sum then
      assert.is_true(math.abs(world.sum - plain.sum) <= 1e-9 * math.abs(plain.sum), where)
    end
  end
end

describe("meissa.iterate", function()
  teardown(kept_workers.stop)

  it("has the bits of plain loops with a snapshot", function()
    local plain, sums = make_plain(), {}
    everywhere(function(where)
      for name in pairs(programs) do check(where, name, plain[name], sums) end
    end, ENVIRONMENTS)
  end)

  it("runs bodies for whole ranges", function()
    local X, y = meissa.randn({30, 23}, {seed = 7}), meissa.randn({30}, {seed = 8})
    local function descend(w, old, lo, hi)
      local r = {}
      for e = 1, 30 do r[e] = X[e]:dot(old) - y[e] end
      for f = lo, hi do
        local g = 0
        for e = 1, 30 do g = g + r[e] * X[e][f] end
        w[f] = old[f] - 0.01 * g
      end
    end
    local right = meissa.zeros(23)
    for _ = 1, 8 do descend(right, right:clone(), 3, 20) end
    everywhere(function(where)
      local w = meissa.zeros(23)
      for _, lo, hi in meissa.iterate(w, 8, {3, 20}, {by = "range", ranges = 5}) do
        local r = {}
        for e = 1, 30 do r[e] = X[e]:dot(w) - y[e] end
        for f = lo, hi do
          local g = 0
          for e = 1, 30 do g = g + r[e] * X[e][f] end
          w[f] = w[f] - 0.01 * g
        end
      end
      assert.equal(rounds.bits(right), rounds.bits(w), where)
    end)
    local w = meissa.zeros(23)
    local function refused(fn)
      expect.has(expect.refusal(meissa.iterate, w, 3, {by = "range", ranges = 5}, fn), "DEP123")
    end
    refused(function(_, lo, hi) w[lo - 1] = hi end)
    refused(function(t, lo, hi) for f = lo, hi + 1 do w[f] = t end end)
    refused(function(t, lo, hi) for f = hi, lo, -1 do w[24 - f] = t end end)
    local seen = {}
    meissa.iterate(w, 1, {by = "range", ranges = 5}, function(_, lo, hi)
      for f = lo, hi do w[f] = hi - lo + 1 end
    end)
    for f = 1, 23 do seen[w[f]] = true end
    assert.same({[4] = true, [5] = true}, seen)
  end)

  it("holds what blocks touch to the plan", function()
    for _, workers in ipairs {0, 2} do
      kept_workers.init {workers = workers}
      for name, program in pairs(programs) do
        program.options = "{check = true}"
        local plain = rounds.run(rounds.plain_text(program), program.world())
        local world = rounds.run(rounds.iterate_text(program), program.world())
        for _, each in ipairs(program.arrays) do
          assert.equal(rounds.bits(plain[each]), rounds.bits(world[each]), name)
        end
      end
      -- A plan that says too little.
      local versioned = require "meissa.plan.versioned"
      local read_sets, A = versioned.read_sets, meissa.rand({20}, {seed = 9})
      local function shift()
        meissa.iterate(A, 3, {ranges = 4, check = true}, function(_, j) A[j] = A[j % 20 + 1] end)
      end
      shift()
      for r, where in ipairs {"j = 1 to 5", "j = 6 to 10"} do
        function versioned.read_sets(...)
          local found, sets = read_sets(...), {}
          for k, set in ipairs(found.sets) do sets[k] = k == r and {} or set end
          return {sets = sets, most = found.most, line = found.line, full = false}
        end
        local said = expect.refusal(shift)
        versioned.read_sets = read_sets
        expect.has(said, "BUG: ", where .. " reads elements of ranges that its plan does not")
      end
      -- A plan that has ranges where they are not: of the first one's rows, the first, or the last.
      local shape = versioned.shape
      for _, row in ipairs {0, 4} do
        function versioned.shape(...)
          local found = shape(...)
          found.range_of[row] = 2
          return found
        end
        local beside = expect.refusal(shift)
        versioned.shape = shape
        expect.has(beside, "BUG: ", "j = 1 to 5 writes elements of array 1 of meissa.iterate that")
      end
    end
  end)

  it("runs where it is in the body of another loop", function()
    local function solve(value)
      local x = meissa.zeros(10)
      x[10] = value
      for _, j in meissa.iterate(x, 50, {2, 9}) do x[j] = 0.5 * (x[j - 1] + x[j + 1]) end
      return x[5]
    end
    local right = {}
    for i = 1, 4 do right[i] = solve(i) end
    everywhere(function(where)
      local A, B, C = meissa.zeros(4), meissa.zeros(4), meissa.zeros(4)
      for i in meissa.parallel(4) do A[i] = solve(i) end
      for i in meissa.parallel(4) do
        local x = meissa.zeros(10)
        x[10] = i
        for _, j in meissa.iterate(x, 50, {2, 9}) do x[j] = 0.5 * (x[j - 1] + x[j + 1]) end
        B[i] = x[5]
      end
      for i in meissa.parallel(4) do
        local x = meissa.zeros(10)
        x[10] = i
        meissa.iterate(x, 50, {2, 9}, function(_, j) x[j] = 0.5 * (x[j - 1] + x[j + 1]) end)
        C[i] = x[5]
      end
      assert.same(right, A:totable(), where)
      assert.same(right, B:totable(), where)
      assert.same(right, C:totable(), where)
    end)
  end)

  it("carries arrays that belong to the elements from round to round", function()
    kept_workers.init {workers = 2}
    local x, v = meissa.zeros(20), meissa.zeros(20)
    for t, j in meissa.iterate(x, 10) do
      v[j] = v[j] + x[j % 20 + 1] + j
      x[j] = v[j] / t
    end
    local X, V = meissa.zeros(20), meissa.zeros(20)
    for t = 1, 10 do
      local old = X:clone()
      for j = 1, 20 do
        V[j] = V[j] + old[j % 20 + 1] + j
        X[j] = V[j] / t
      end
    end
    assert.equal(rounds.bits(X), rounds.bits(x))
    assert.equal(rounds.bits(V), rounds.bits(v))
  end)

  it("asks whether to stop, and leaves the array as it was when a body fails", function()
    everywhere(function(where)
      local A, sum, asked = meissa.full({10}, 1), 100, {}
      local function stop(t, snapshot, sums)
        asked[#asked + 1] = {t, snapshot[3], sums.sum}
        assert.has_error(function() snapshot[1] = 0 end)
        return snapshot[3] >= 64
      end
      for _, j in meissa.iterate(A, math.huge, {stop = stop, test = 3}) do
        local new = 2 * A[j]
        sum = sum + new
        A[j] = new
      end
      assert.same({{3, 8, 80}, {6, 64, 640}}, asked, where)
      assert.equal(64, A[10], where)
      assert.equal(100 + 20 + 40 + 80 + 160 + 320 + 640, sum, where)
      assert.equal(6, meissa.last().rounds, where)
      local ok, err = pcall(function()
        for t, j in meissa.iterate(A, 5) do
          if t == 3 and j == 7 then error("stop here") end
          A[j] = A[j] + 1
        end
      end)
      assert.is_false(ok)
      assert.same({3, 7}, err.iteration, where)
      assert.equal(640, A:sum(), where)
    end)
  end)

  it("leaves all arrays as they were when it fails, whichever round that is in", function()
    everywhere(function(where)
      local x, v, sum = meissa.zeros(10), meissa.zeros(10), 0
      local function run(options, failing)
        return pcall(function()
          for t, j in meissa.iterate(x, 6, options) do
            x[j] = x[j] + 1
            v[j] = v[j] + 1
            sum = sum + 1
            if t == failing and j == 2 then error("stop here") end
          end
        end)
      end
      for _, each in ipairs {{{}, 5}, {{test = 2, stop = function() return false end}, 5},
                             {{test = 2, stop = function() return false end, depth = 1}, 5},
                             {{stop = function(t) if t == 3 then error("no") end end}, nil},
                             {{stop = function(t) if t == 3 then v[1] = 100 end end}, nil}} do
        assert.is_false((run(unpack(each, 1, 2))), where)
        assert.same({0, 0, 0}, {x:sum(), v:sum(), sum}, where)
      end
      assert.is_true((run {test = 2, stop = function(t) return t == 4 end}))
      assert.same({40, 40, 40}, {x:sum(), v:sum(), sum}, where)
    end)
  end)

  it("changes nothing where a condition never lets it write", function()
    everywhere(function(where)
      local x, y, never = meissa.full({10}, 3), meissa.zeros(10), false
      for _, j in meissa.iterate(x, 3) do if never then x[j] = 2 end end
      assert.equal(3, meissa.last().rounds, where)
      for _, j in meissa.iterate(x, 3) do if j > 30 then x[j] = 2 end end
      for t, j in meissa.iterate(x, 3, {2, 1}) do if j > t then x[j] = 2 end end
      for t, lo, hi in meissa.iterate(x, 3, {1, 1}, {by = "range"}) do
        for j = lo, hi do if j > t then x[j] = 2 end end
      end
      for _, j in meissa.iterate({x, y}, 3) do y[j] = y[j] + x[j] end
      assert.same({30, 90}, {x:sum(), y:sum()}, where)
    end)
  end)

  it("has a closure form, and plans without running", function()
    kept_workers.init {workers = 2}
    local A = meissa.ones(10)
    local plan = meissa.iterate(A, 5, {dry = true}, function(t, j) A[j] = t * A[11 - j] end)
    assert.equal("rounds", plan.strategy)
    assert.equal(10, A:sum())
    meissa.iterate(A, 3, function(t, j) A[j] = t * A[11 - j] end)
    assert.equal(60, A:sum())
    assert.equal(3, meissa.last().rounds)
    for t, j in meissa.iterate(A, 3, {dry = true}) do A[j] = t end
    assert.equal(60, A:sum())
    assert.equal("rounds", meissa.last().strategy)
    for t, j in meissa.iterate(A, 0) do A[j] = t end
    assert.equal(60, A:sum())
  end)

  it("refuses what has no meaning in rounds", function()
    kept_workers.init {workers = 2}
    local A, s = meissa.ones(10), 0
    local function refused(text, fn) expect.has(expect.refusal(fn), text) end
    refused("DEP122", function()
      for t, j in meissa.iterate(A, 3) do A[j] = t; s = s + A[j] end
    end)
    refused("DEP101", function() for t, j in meissa.iterate(A, 3) do A[1] = A[j] + t end end)
    refused("through a view", function()
      local M = meissa.ones{4, 4}
      for t, i in meissa.iterate(M, 3, 4) do local row = M[i]; row[1] = t end
    end)
    refused("another way than its name", function()
      local function f(i) return A[i] end
      for t, j in meissa.iterate(A, 3) do A[j] = f(j) + t end
    end)
    refused("uses none of its arrays", function()
      for t, j in meissa.iterate(A, 3) do s = s + t * j end
    end)
    refused("reads A and writes no version of it", function()
      local B = meissa.ones(10)
      for t, j in meissa.iterate(A, 3) do B[j] = B[j] + A[j] * t end
    end)
    refused("'stop' looks at 's', which is what it was before", function()
      local function stop() return s > 5 end
      for t, j in meissa.iterate(A, 3, {stop = stop}) do s, A[j] = s + t, t end
    end)
    refused("for each 'j'", function()
      for t, j in meissa.iterate(A, 3, 5) do A[2 * j] = t; A[2 * j - 1] = t end
    end)
  end)

  it("refuses arguments that mean nothing", function()
    local A = meissa.ones(10)
    local function refused(text, ...)
      local arguments, count = {...}, select("#", ...)
      arguments[count + 1] = function(t, j) A[j] = t end
      expect.has(expect.refusal(meissa.iterate, unpack(arguments, 1, count + 1)), text)
    end
    refused("needs an array and a number", A)
    refused("no DistArray", {1, 2}, 3)
    refused("is sparse", meissa.sparse({3}, {i = {1}, v = {1}}), 3)
    refused("snapshot", A:snapshot(), 3)
    refused("share memory", {A, A}, 3)
    refused("number of rounds", A, -1)
    refused("number of rounds", A, 1.5)
    refused("need a 'stop'", A, math.huge)
    refused("option 'test'", A, 3, {test = 2})
    refused("option 'test'", A, 3, {test = 0, stop = print})
    refused("option 'stop'", A, 3, {stop = 1})
    refused("did you mean 'staleness'", A, 3, {stalenes = 1})
    refused("are a list", A, 3, A)
    refused("argument 3 of meissa.iterate is nil: what follows the number of rounds", A, 3, nil)
    local alone = expect.refusal(meissa.iterate, A, 3, function(t) A[1] = t end)
    expect.has(alone, "the loop has one variable, the round", "write `for t, i in meissa.iterate")
    local few = expect.refusal(meissa.iterate, meissa.ones(3, 3), 3, function(i, j) A[i] = j end)
    expect.has(few, "the loop has 2 variables (i, j), and meissa.iterate gives 3: the round first")
  end)
end)
