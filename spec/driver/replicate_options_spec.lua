-- SPDX-License-Identifier: MIT
-- What options of an exchange go together, and what reports and notices say of them.
local child = require "spec.support.child"
local expect = require "spec.support.expect"
local ffi = require "ffi"
local meissa = require "meissa"
local parallel = meissa.parallel

local function refused(text, fn, ...)
  local arguments = {...}
  expect.raises("OPT", text, function() fn(unpack(arguments)) end)
end

-- What replicas come to over 24 values with these options, as text, and the plan.
local function run(options)
  options.replicas, options.every = options.replicas or 4, options.every or 2
  options.final = "none"
  local r = meissa.replicate(meissa.full({3}, 0.5), options)
  for e in parallel(24) do
    r[1] = 0.75 * r[1] + 0.1 * e
    r[2] = r[2] + (e % 5 == 0 and 0.3 or 0)
    r[3] = r[3] - 0.01 * e
  end
  local lines = {}
  for k = 1, options.replicas do lines[k] = table.concat(r:replica(k):totable(), " ") end
  return table.concat(lines, "\n"), meissa.last()
end

local function matrix_of(n, value)
  local rows = {}
  for i = 1, n do
    rows[i] = {}
    for j = 1, n do rows[i][j] = value(i, j) end
  end
  return {matrix = rows}
end

local function ones(n) return matrix_of(n, function() return 1 end) end

describe("a graph in which all hear all", function()
  after_each(function() meissa.init {workers = 2, quiet = true} end)

  it("is \"all\", whatever its name", function()
    local graphs = {{"ring", 2}, {"ring-both", 3}, {{regular = 3}, 4}, {ones(4), 4}, {"chain", 2},
                    {"server", 2}, {"one-peer-exponential", 2}}
    for _, workers in ipairs {0, 2} do
      meissa.init {workers = workers, quiet = true}
      for _, merge in ipairs {{add = 1}, {add = 0.25, sigma = 2}, "mean"} do
        for _, filter in ipairs {{}, {magnitude = 0.2}, {sketch = "count", width = 2, depth = 2}} do
          for _, graph in ipairs(graphs) do
            local function with(topology)
              return (run {topology = topology, replicas = graph[2], merge = merge,
                           filter = next(filter) and filter or nil})
            end
            assert.equal(with "all", with(graph[1]))
          end
        end
      end
    end
  end)

  it("has the weights that it is given", function()
    local given = matrix_of(3, function(i, j) return i == j and 0.5 or 0.25 end)
    local options = {topology = given, replicas = 3, every = 1, final = "none"}
    local r = meissa.replicate(meissa.zeros(1), options)
    for e in parallel(3) do r[1] = r[1] + 4 * e end
    assert.same({7, 8, 9}, {r:replica(1)[1], r:replica(2)[1], r:replica(3)[1]})
    options.filter = {magnitude = 1e-9}
    local filtered = meissa.replicate(meissa.zeros(1), options)
    for e in parallel(3) do filtered[1] = filtered[1] + 4 * e end
    for k = 1, 3 do assert.equal(r:replica(k)[1], filtered:replica(k)[1]) end
  end)

  it("is no graph in which somebody is not heard", function()
    local gap = matrix_of(3, function(i, j) return i == 1 and j == 3 and 0 or 1 end)
    for _, graph in ipairs {{"ring", 3}, {"chain", 3}, {"ring-both", 4}, {{regular = 2}, 4},
                            {"one-peer-exponential", 4}, {"server", 3}, {gap, 3}} do
      refused("not everyone's arrive", meissa.replicate, meissa.zeros(1),
              {replicas = graph[2], every = 1, topology = graph[1], merge = {add = 1}})
    end
  end)
end)

describe("replicas of one loop", function()
  it("wait with one depth", function()
    local r = meissa.replicate(meissa.zeros(1), {replicas = 2, every = 1, depth = 3})
    local s = meissa.replicate(meissa.zeros(1), {replicas = 2, every = 1})
    refused("'depth'", function()
      for e in parallel(8) do
        r[1] = e
        s[1] = e
      end
    end)
    for _, name in ipairs {"depth", "sync", "lags"} do
      refused("leave out '" .. name .. "'", meissa.replicate, meissa.zeros(1),
              {replicas = 2, every = 1, staleness = "auto", [name] = 2})
    end
  end)
end)

describe("a filter that leaves hardly anything out", function()
  it("changes next to nothing, however replicas merge", function()
    local function rule(own, received, weight) return own + weight * (received - own) end
    for _, merge in ipairs {"mean", {weighted = 0.5}, {weighted = 2, form = "printed"}, rule,
                            {add = 0.25}} do
      for _, topology in ipairs {"all", ones(4)} do
        local plain = run {merge = merge, topology = topology}
        local filtered = run {merge = merge, topology = topology, filter = {magnitude = 1e-9}}
        local others = filtered:gmatch "%S+"
        for each in plain:gmatch "%S+" do
          assert.is_true(math.abs(each - others()) < 1e-7, filtered .. "\nis not\n" .. plain)
        end
      end
    end
  end)
end)

describe("merges that on_round changes", function()
  it("may add changes after values, and merge values after changes", function()
    -- Shares 1 .. 4 and 5 .. 8; what all have come to after each round.
    local function values(first, answers)
      local list = {}
      local w = meissa.zeros(1)
      local r = meissa.replicate(w, {replicas = 2, every = 1, merge = first, on_round = function(s)
        list[s.round] = s.value()[1]
        return {merge = answers[s.round]}
      end})
      for i in parallel(8) do r[1] = r[1] + i end
      list[5] = w[1]
      return list
    end
    assert.same({3, 7, 17, 29, 29}, values("mean", {nil, {add = 1}}))
    assert.same({3, 7, 17, 23, 23}, values("mean", {nil, {add = 1}, "mean"}))
    assert.same({6, 10, 15, 21, 21}, values({add = 1}, {"mean", nil, {add = 0.5}}))
    local list = values({weighted = 0.5}, {{add = 1}, {weighted = 0.5}})
    for t, value in ipairs {3, 11, 16, 22, 22} do
      assert.is_true(math.abs(list[t] - value) < 1e-12, list[t])
    end
  end)
end)

describe("private state", function()
  after_each(function() meissa.init {workers = 2, quiet = true} end)

  it("is of any type of number, as nothing of it is merged", function()
    local K, n, large = 3, 31, 2 ^ 53
    for _, road in ipairs {{0}, {2}, {2, false}, {5}} do
      meissa.init {workers = road[1], shm = road[2], quiet = true}
      for _, engine in ipairs {"lua", "native"} do
        for _, name in ipairs {"int32", "int64", "float", "double"} do
          for _, exchanged in ipairs {true, false} do
            local counts = meissa.zeros({2, 2}, {type = name})
            counts[1][2] = name == "int64" and large or 7
            local private = meissa.replicate(counts, {replicas = K, exchange = false})
            local r = meissa.replicate(meissa.zeros(1), exchanged and
              {replicas = K, every = 2} or {replicas = K, exchange = false})
            for _, e in parallel(2, n, {engine = engine}) do
              private[2][1] = private[2][1] + e
              private[1][1] = private[1][1] - 1
              r[1] = r[1] + private[2][1]
            end
            local all = 0
            for k = 1, K do
              local own = private:replica(k)
              all = all + own[2][1]
              assert.equal(name, own:type())
              assert.equal(counts[1][2], own[1][2])
              assert.equal(k == 1 and -22 or -20, own[1][1])
            end
            assert.equal(n * (n + 1), all)
          end
        end
      end
    end
    refused("floats or doubles, not DistArray<int32>[2] dense, 2 blocks, 8 bytes; merge a copy, " ..
            "meissa.from(w, {type = \"double\"}); private state", meissa.replicate,
            meissa.zeros({2}, {type = "int32"}), {replicas = 2, every = 1})
    refused("must be a dense array of numbers, not", meissa.replicate,
            meissa.sparse({1}, {i = {1}}), {replicas = 2, exchange = false})
  end)
end)

describe("parameters of a model", function()
  after_each(function() meissa.init {workers = 2, quiet = true} end)

  it("may be an array in C", function()
    for _, name in ipairs {"double[4]", "float[4]", "struct {float w[4];}"} do
      local function new()
        local numbers = ffi.new(name)
        local is_struct = name:find "struct"
        return {data = function() return is_struct and numbers.w or numbers end,
                nElement = function() return 4 end}
      end
      local results = {}
      for n, workers in ipairs {0, 2} do
        meissa.init {workers = workers, quiet = true}
        local r = meissa.replicate(new, {replicas = 2, every = 2,
                                         params = function(model) return model end})
        for e in parallel(20) do
          local numbers = r().data()
          numbers[e % 4] = numbers[e % 4] + e
        end
        local numbers = r().data()
        results[n] = table.concat({numbers[0], numbers[1], numbers[2], numbers[3]}, " ")
      end
      assert.equal("30 22.5 25 27.5", results[1])
      assert.equal(results[1], results[2])
    end
  end)
end)

describe("the report of replicas", function()
  local function words(options) return tostring((select(2, run(options)))) end

  it("tells how they merge, and what becomes of what is not sent", function()
    local alpha = meissa.zeros(24)
    for _, case in ipairs {
      {{}, "topology all, merge mean, 3 exchanges: reproducible"},
      {{merge = {add = 0.5}}, "merge add (gamma 0.5), 3"},
      {{merge = {add = 0.5, damp = {}}}, "merge add (gamma 0.5, sigma 2), 3"},
      {{merge = {add = 1, sigma = 8}}, "merge add (gamma 1, sigma 8), 3"},
      {{merge = {weighted = 0.25}}, "merge weighted (lambda 0.25, form shifted), 3"},
      {{merge = {weighted = 2, form = "normalised"}}, "(lambda 2, form normalised), 3"},
      {{topology = "ring", push_sum = true}, "topology ring, merge mean (push-sum), 3"},
      {{topology = "ring", merge = "take"}, "merge take, 3"},
      {{biased = true}, "merge mean (biased), 3"},
      {{sync = "bsp"}, "merge mean, sync bsp, 3"},
      {{sync = "notify-ack", depth = 3}, "merge mean, sync notify-ack, depth 3, 3"},
      {{backup = 1, timeout = 1.5}, "merge mean, backup 1, timeout 1.5, 3"},
      {{filter = {relative = 0.1, floor = 2}},
       "sent: changes from 0.1 on, relative, floor 2, residual keep: reproducible"},
      {{filter = {magnitude = 0.5}, residual = "drop"},
       "sent: changes from 0.5 on, magnitude, residual drop: reproducible"},
      {{quota = 90, bound = 3, residual = "invalidate", filter = {priority = "random"}},
       "sent: 90 bytes a round, priority random, changes beyond 3 at once, residual invalidate"},
    } do
      local text = words(case[1])
      assert.truthy(text:find(case[2], 1, true), text .. " has no " .. case[2])
    end
    local r = meissa.replicate(meissa.zeros(1), {replicas = 2, every = 5,
                                                 merge = {add = 1, damp = {alpha}}})
    for e in parallel(24) do
      alpha[e] = alpha[e] + 1
      r[1] = r[1] + 1
    end
    assert.truthy(tostring(meissa.last()):find("(gamma 1, sigma 2, damps 1 array)", 1, true))
  end)

  it("says what is guaranteed of private state, too", function()
    local function private(replicas, exchanged)
      local v = meissa.replicate(meissa.zeros(1), {replicas = replicas, exchange = false})
      local r = exchanged and meissa.replicate(meissa.zeros(1), exchanged)
      for e in parallel(12) do
        v[1] = v[1] + e
        if r then r[1] = r[1] + v[1] end
      end
      return meissa.last().guarantee, tostring(meissa.last())
    end
    local guarantee, text = private(3)
    assert.equal("reproducible", guarantee)
    assert.truthy(text:find("shares: e, private: reproducible, the same bits", 1, true), text)
    assert.equal("sequential", (private(1)))
    assert.equal("bounded(0, 2)", (private(2, {replicas = 2, every = 1, staleness = 2})))
    assert.equal("reproducible", (private(2, {replicas = 2, every = 1})))
  end)
end)

describe("notices of replicas", function()
  -- What a program with these options of meissa.replicate says on stderr.
  local function notices(...)
    local lines = {'local meissa = require "meissa" meissa.init {workers = 0}'}
    for _, options in ipairs {...} do
      lines[#lines + 1] = ("meissa.replicate(meissa.zeros(1), {every = 1, %s})"):format(options)
    end
    return (child.script(table.concat(lines, "\n")))
  end

  it("say once that CoCoA's pair may diverge", function()
    local text = notices("replicas = 4, merge = {add = 1, sigma = 1, damp = {}}",
                         "replicas = 4, merge = {add = 0.5, sigma = 1}")
    assert.truthy(text:find("meissa: meissa.replicate: merge = {add = gamma, sigma = s} with " ..
                            "gamma = 1 and sigma = 1 of 4 replicas may diverge", 1, true), text)
    assert.truthy(text:find("gamma * replicas = 4", 1, true), text)
    assert.is_nil(text:find("gamma = 0.5", 1, true))
    assert.equal("", notices("replicas = 1, merge = {add = 1, sigma = 1}",
                             "replicas = 4, merge = {add = 1, sigma = 4}",
                             "replicas = 4, merge = {add = 0.25, sigma = 1}",
                             "replicas = 4, merge = {add = 1, damp = {}}",
                             "replicas = 4, merge = {add = 1}"))
  end)

  it("say that the printed form of weights is no mean", function()
    local text = notices "replicas = 2, merge = {weighted = 0.5, form = 'printed'}"
    assert.truthy(text:find("halves the replica's own value", 1, true), text)
    assert.equal("", notices("replicas = 2, merge = {weighted = 0.5}"))
  end)

  it("say that the normalised form hears nobody where nobody is ahead", function()
    local function hears(options)
      local text = notices("replicas = 2, merge = {weighted = 0.5, form = 'normalised'}" .. options)
      if text == "" then return true end
      assert.truthy(text:find("replicas do not hear each other", 1, true), text)
      return false
    end
    for _, options in ipairs {"", ", staleness = 2", ", lags = {{1, 1}}", ", sync = 'bsp'",
                              ", sync = 'ssp'", ", staleness = 'auto'"} do
      assert.is_false(hears(options), options)
    end
    for _, options in ipairs {", sync = 'barrier'", ", sync = 'ssp', staleness = 1", ", backup = 1",
                              ", sync = 'pd-delay', staleness = 1", ", staleness = math.huge"} do
      assert.is_true(hears(options), options)
    end
    assert.equal("", notices("replicas = 1, merge = {weighted = 0.5, form = 'normalised'}",
                             "replicas = 2, merge = {weighted = 0.5}"))
  end)

  it("are given for answers of on_round, and for exchanges of functions", function()
    local text = child.script [[
      local meissa = require "meissa"
      meissa.init {workers = 2, quiet = true}
      local r = meissa.replicate(meissa.zeros(1), {replicas = 2, every = 1, on_round = function(s)
        return {merge = {weighted = 1, form = "printed"}}
      end})
      for e in meissa.parallel(8) do r[1] = r[1] + e end
      meissa.replicas(2, {}, function(r)
        local w = meissa.zeros(1)
        for t = 1, 3 do r:exchange(w, {merge = {add = 1, sigma = 1}}) end
      end)
    ]]
    local _, printed = text:gsub("halves", "")
    local _, pairs_told = text:gsub("r:exchange: merge[^\n]* may diverge", "")
    assert.same({1, 1}, {printed, pairs_told}, text)
  end)
end)
