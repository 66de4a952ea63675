-- SPDX-License-Identifier: MIT
-- What on_round answers: from which round on it governs, and which settings may follow which.
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"
local model = require "spec.driver.replicate_model"
local parallel = meissa.parallel

local N, PASSES, EVERY = 24, 4, 3

-- What four replicas have come to that take steps of their own, as a string.
local function train(options)
  local w = meissa.zeros(4)
  options.replicas, options.every = 4, EVERY
  local r = meissa.replicate(w, options)
  for _, i in parallel(PASSES, N) do r[i % 4 + 1] = r[i % 4 + 1] + 0.1 * i end
  return table.concat(w:totable(), " ")
end

local function text_of(rows)
  for k, row in ipairs(rows) do rows[k] = table.concat(row, " ") end
  return table.concat(rows, "\n")
end

-- What the model of exchanges gives with answers by round, and its bytes.
local function modelled(options, answers)
  options.final, options.cut, options.replicas, options.every = "none", 1, 4, 2
  local rows, bytes = model.run_at_once({passes = PASSES, n = N, w = {0, 0, 0, 0}}, options,
    function(row, i)
      row[i % 4 + 1] = 0.9 * row[i % 4 + 1] + 0.1 * i
      row[1] = row[1] + 0.01 * i
    end, answers)
  return text_of(rows), bytes
end

-- The same of replicas.
local function stepped(options)
  local r, rows = meissa.replicate(meissa.zeros(4), options), {}
  for _, i in parallel(PASSES, N) do
    r[i % 4 + 1] = 0.9 * r[i % 4 + 1] + 0.1 * i
    r[1] = r[1] + 0.01 * i
  end
  for k = 1, 4 do rows[k] = r:replica(k):totable() end
  return text_of(rows), meissa.last().exchanged
end

-- An on_round that answers once.
local function at(round, answer)
  return function(s) return s.round == round and answer or nil end
end

local CHANGES = {
  {"a filter", {}, {filter = {magnitude = 0.5}}},
  {"a filter over a ring", {topology = "ring"}, {filter = {relative = 0.1, floor = 0.1}}},
  {"a smaller threshold", {filter = {magnitude = 0.5}}, {filter = {magnitude = 0.1}}},
  {"a function that merges", {}, {merge = function(own, heard) return (own + heard) / 2 end}},
  {"a mean after a function", {merge = function(own, heard) return (own + heard) / 2 end},
   {merge = "mean"}},
  {"weights", {}, {merge = {weighted = 0.5}}},
  {"a filter of chosen staleness", {lags = {{0, 1}, {1, 1}}}, {filter = {magnitude = 0.5}}},
}

for _, shm in ipairs {true, false} do
  describe("what on_round answers" .. (shm and "" or " (by value)"), function()
    teardown(kept_workers.stop)

    local function with(workers, fn, ...)
      kept_workers.init {workers = workers, shm = shm}
      return fn(...)
    end

    for _, change in ipairs(CHANGES) do
      it("may be " .. change[1], function()
        local function run()
          meissa.seed(1)
          local options = {on_round = at(3, change[3]), lags = change[2].lags,
                           topology = change[2].topology, filter = change[2].filter,
                           merge = change[2].merge}
          local result = train(options)
          assert.equal("reproducible", meissa.last().guarantee)
          assert.equal(change[2].lags and 5 or 4, meissa.last().decisions[1].round)
          return result
        end
        local right = with(0, run)
        assert.equal(right, with(2, run))
        assert.equal(right, with(3, run))
      end)
    end

    it("leaves what filters hold back, and what push-sum has", function()
      local answers = {nil, {filter = {relative = 0.02}}, {merge = {weighted = 0.7}}, nil,
                       {filter = {magnitude = 0.05}}, {every = 2}, {filter = {relative = 0.3}}}
      for number, options in ipairs {
        {topology = "ring", filter = {relative = 0.1}}, {topology = "ring-both", quota = 75},
        {topology = "one-peer-exponential", filter = {magnitude = 0.2}, residual = "invalidate"},
        {topology = "ring"}, {topology = "chain", push_sum = true}, {filter = {relative = 0.1}},
        {quota = 84, residual = "invalidate"},
      } do
        local right, bytes = modelled(options, not options.push_sum and answers)
        options.on_round = function(s)
          local answer = answers[s.round]
          return options.push_sum and answer and {merge = "mean"} or answer
        end
        for workers = 0, 2 do
          assert.same({right, bytes}, {with(workers, stepped, options)}, number)
        end
      end
    end)

    it("may add changes after values, and merge values after changes", function()
      local adds = {add = 0.25}
      local answers = {nil, {merge = adds}, nil, {merge = "mean"}, {filter = {magnitude = 0.1}},
                       {merge = {add = 0.5}}, {every = 2}, {merge = {weighted = 0.5}},
                       {merge = adds}}
      for number, options in ipairs {
        {}, {topology = {regular = 3}}, {filter = {magnitude = 0.2}}, {merge = {weighted = 0.5}},
        {filter = {magnitude = 0.3}, residual = "drop"}, {merge = adds, quota = 84},
        {filter = {relative = 0.1}, residual = "invalidate"}, {topology = "ring-allreduce"},
      } do
        local sums = options.topology == "ring-allreduce"
        local own = sums and {nil, {merge = adds}, {merge = "mean"}} or answers
        local right, bytes = modelled(options, own)
        options.on_round = function(s) return own[s.round] end
        for workers = 0, 2 do
          assert.same({right, bytes}, {with(workers, stepped, options)}, number)
        end
      end
    end)

    it("may be a factor of a row's method", function()
      local X = meissa.rand({40, 4}, {seed = 1})
      local function run(body)
        local w = meissa.zeros(4)
        body(meissa.replicate(w, {replicas = 2, every = 5, on_round = function(s)
          return {set = {rate = 1 / s.round}}
        end}))
        return table.concat(w:totable(), " ")
      end
      local function by_method()
        return run(function(r)
          local rate = 1
          for e in parallel(40) do
            local x = X[e]
            r:axpy(rate * e, x)
            r:scal(1 - rate / 8)
          end
        end)
      end
      local right = with(0, function()
        return run(function(r)
          local rate = 1
          for e in parallel(40) do
            for k = 1, 4 do r[k] = (r[k] + rate * e * X[e][k]) * (1 - rate / 8) end
          end
        end)
      end)
      assert.equal(right, with(0, by_method))
      assert.equal(right, with(2, by_method))
    end)

    it("may be no part of a subscript, of another object's either", function()
      local X = meissa.ones(80, 4)
      local other = {axpy = function(_, row) return X[row][1] end}
      local function refuse(body)
        local w = meissa.zeros(4)
        local r = meissa.replicate(w, {replicas = 2, every = 5, on_round = function()
          return {set = {rate = 2}}
        end})
        local ok, err = pcall(body, r)
        assert.is_false(ok)
        assert.matches("on_round cannot set 'rate': the loop's plan may depend on it",
                       tostring(err))
      end
      for _, workers in ipairs {0, 2} do
        with(workers, function()
          refuse(function(r)
            local rate = 1
            for e in parallel(40) do r:axpy(0.5, X[e + rate]) end
          end)
          refuse(function(r)
            local rate = 1
            for e in parallel(40) do r:axpy(X[rate][1], X[e]) end
          end)
          refuse(function(r)
            local rate = 1
            for e in parallel(40) do r[1] = r[1] + other:axpy(rate) + e end
          end)
        end)
      end
    end)

    it("is a number of the body's own", function()
      local function answer(set)
        local rate, w, given = 1, meissa.zeros(2), {factor = 1}
        local function change(x) return rate * x end
        local r = meissa.replicate(w, {replicas = 2, every = 5, on_round = function()
          return {set = set}
        end})
        local ok, err = pcall(function()
          for _ in parallel(40) do r[1] = r[1] + change(given.factor) end
        end)
        assert.is_false(ok)
        return tostring(err)
      end
      assert.matches("cannot set 'rate': the body itself takes no number", answer {rate = 2})
      assert.matches("cannot set 'factor': the body itself takes no number", answer {factor = 2})
      assert.matches("sets 'rate' to x: it sets numbers", answer {rate = "x"})
    end)

    it("is given how many rounds there are, of shares that are dealt out anew, too", function()
      local function rounds_of(change)
        local w, seen = meissa.zeros(1), {}
        local r = meissa.replicate(w, {replicas = 2, every = 5, on_round = function(s)
          seen[#seen + 1] = s.round .. "/" .. s.rounds
          return s.round == 2 and change or nil
        end})
        for _ in parallel(40) do r[1] = r[1] + 1 end
        return table.concat(seen, " ")
      end
      assert.equal("1/4 2/4 3/4 4/4", rounds_of(nil))
      assert.equal("1/4 2/4 3/7 4/7 5/7 6/7 7/7", rounds_of {every = 2})
    end)

    it("is given at once, and resets nothing", function()
      local function answer(on_round)
        local w, r = meissa.zeros(1), nil
        r = meissa.replicate(w, {replicas = 2, every = 5, on_round = function() on_round(r) end})
        local ok, err = coroutine.wrap(function()
          return pcall(function() for _ in parallel(40) do r[1] = r[1] + 1 end end)
        end)()
        assert.is_false(ok)
        assert.equal(0, w[1])
        return tostring(err)
      end
      assert.matches("BDY: 'on_round' yields", answer(function() coroutine.yield(1) end))
      assert.matches("OPT: r:reset%(%) is for between two loops", answer(function(r) r:reset() end))
      local w = meissa.zeros(1) -- and nothing is left behind
      local r = meissa.replicate(w, {replicas = 2, every = 5})
      for _ in parallel(40) do r[1] = r[1] + 1 end
      assert.equal(20, w[1])
    end)

    it("comes soon whatever staleness is asked for, and however many replicas there are", function()
      local w, began = meissa.zeros(1), meissa.clock()
      local r = meissa.replicate(w, {replicas = 3, every = 5, staleness = 1e6})
      for _ in parallel(60) do r[1] = r[1] + 1 end
      local many = meissa.replicate(w, {replicas = 1024, every = 1, topology = "ring"})
      for _ in parallel(1024) do many[1] = many[1] + 1 end
      assert.is_true(meissa.clock() - began < 10)
      local ok, err = pcall(function()
        local far = meissa.replicate(w, {replicas = 3, every = 1, staleness = 1e6})
        for _ in parallel(60000) do far[1] = far[1] + 1 end
      end)
      assert.is_false(ok)
      assert.matches("OPT: meissa.replicate: staleness = 1e%+06 makes 20001 versions",
                     tostring(err))
    end)

    -- Filters tell of changes, exchanges without one of values.
    it("goes on from the same values with a filter before and without", function()
      local function run(options, change)
        local bytes = 0
        local answer = at(3, change)
        function options.on_round(s)
          bytes = bytes + s.bytes
          return answer(s)
        end
        return with(2, function() return train(options) end), bytes
      end
      local change = {filter = {magnitude = 0.5}}
      local values, bytes = run({}, change)
      assert.same({values, bytes}, {run({filter = {magnitude = 0}}, change)})
      assert.is_true(bytes < select(2, run({})))
    end)

    it("governs from its own round on", function()
      for staleness = 0, 2 do
        with(2, function()
          local w, x = meissa.zeros(1), 0
          local r = meissa.replicate(w, {replicas = 2, every = 1, staleness = staleness,
            on_round = function(s) return {set = {x = s.round}} end})
          for _ in parallel(20) do r[1] = r[1] + x end
          local sum = 0
          for t = 1, 10 do sum = sum + math.max(0, t - 1 - staleness) end
          assert.equal(sum, w[1])
          for k, each in ipairs(meissa.last().decisions) do
            if k < 10 - staleness then assert.equal(k + 1 + staleness, each.round) end
          end
        end)
      end
    end)

    it("ends a loop after as many rounds as there may be ahead", function()
      for staleness = 0, 2 do
        with(2, function()
          train {staleness = staleness,
                 on_round = function(s) return {stop = s.round == 3, reason = "enough"} end}
          assert.equal(3 + staleness, meissa.last().rounds)
        end)
      end
    end)

    -- What luajit raises at Ctrl-C where no job of the workers runs.
    it("may be interrupted", function()
      with(2, function()
        local w = meissa.zeros(1)
        local r = meissa.replicate(w, {replicas = 2, every = 1, on_round = function(s)
          if s.round == 3 then error("train.lua:7: interrupted!", 0) end
        end})
        local ok, err = pcall(function() for _ in parallel(20) do r[1] = r[1] + 1 end end)
        assert.is_false(ok)
        assert.equal("INT", err.code)
        assert.equal(0, w[1])
      end)
    end)

    it("leaves no more guaranteed than its settings do", function()
      with(2, function()
        train {on_round = at(3, {staleness = 2})}
        assert.equal("bounded(0, 2)", meissa.last().guarantee)
        assert.truthy(tostring(meissa.last()):find("bounded(0, 2)", 1, true))
        train {staleness = 1, on_round = at(3, {staleness = 0})}
        assert.equal("bounded(0, 1)", meissa.last().guarantee)
        train {on_round = at(3, {staleness = math.huge})}
        assert.equal("none", meissa.last().guarantee)
        train {on_round = at(3, {merge = "mean"})}
        assert.equal("reproducible", meissa.last().guarantee)
      end)
    end)
  end)
end
