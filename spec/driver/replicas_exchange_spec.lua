-- SPDX-License-Identifier: MIT
-- r:exchange in functions of meissa.replicas: a round of what loops over replicas do. Against the
-- model of exchanges that are done at once, bit for bit, with workers and without.
local ffi = require "ffi"
local meissa = require "meissa"
local models = require "spec.driver.exchange_model"
local settings_of = require "meissa.sync.settings"

local K, N, ROUNDS = 4, 5, 7

local CASES = {
  {}, {topology = "ring"}, {topology = "ring-both"}, {topology = "root-expander", biased = true},
  {topology = "one-peer-exponential"}, {topology = "tree-allreduce"},
  {topology = "ring-allreduce", merge = {add = 0.5}},
  {topology = {matrix = {{0.5, 0.5, 0, 0}, {0.25, 0.5, 0.25, 0}, {0, 0.25, 0.5, 0.25},
                         {0.25, 0, 0.25, 0.5}}}, biased = true},
  {merge = {add = 1}}, {merge = {add = 0.25}}, {merge = {add = 0.5, sigma = 2}},
  {topology = "chain", push_sum = true}, {topology = "ring", push_sum = true},
  {topology = "ring", merge = "take"}, {topology = "ring-both", merge = {weighted = 0.4}},
  {merge = {weighted = 0.4, form = "normalised"}},
  {topology = "ring", merge = function(own, received) return 0.75 * own + 0.25 * received end},
  {filter = {magnitude = 0.3}}, {topology = "ring", filter = {magnitude = 0.3}},
  {merge = {add = 0.25}, filter = {magnitude = 0.3}},
  {merge = {add = 0.25}, filter = {relative = 0.2, floor = 0.1}, residual = "invalidate"},
  {topology = "ring", filter = {relative = 0.3}, residual = "drop"},
  {quota = 180, filter = {priority = "magnitude"}},
  {topology = "ring", quota = 60, filter = {priority = "random", seed = 3}},
  {topology = "ring-both", filter = {sketch = "count", width = 8, depth = 3}},
  {filter = {sketch = "count", width = 8, depth = 3}},
}

-- What a replica adds in a round.
local function step(k, t, f) return math.sin(3 * k + 5 * t + 7 * f) end

local function vectors()
  local list = {}
  for k = 1, K do list[k] = ffi.new("double[?]", N) end
  return list
end

-- The values after all rounds by the model, and the bytes that were sent. From round `turn` on
-- `other` options hold.
local function expected(options, kind, other, turn)
  local function read(each) return settings_of.read("a model", each, K) end
  local before, out, bytes = vectors(), vectors(), 0
  local exchange = models.new(read(options), N, before)
  for t = 1, ROUNDS do
    local after = vectors()
    for k = 1, K do
      local held = ffi.new(kind .. "[?]", N)
      for f = 1, N do
        held[f - 1] = before[k][f - 1]
        held[f - 1] = held[f - 1] + step(k, t, f)
        after[k][f - 1] = held[f - 1]
      end
    end
    if t == turn then exchange:change(read(other), before) end
    bytes = bytes + exchange:round(t, before, after, out)
    for k = 1, K do
      local rounded = ffi.new(kind .. "[?]", N)
      for f = 0, N - 1 do
        rounded[f] = out[k][f]
        before[k][f] = rounded[f]
      end
    end
  end
  local rows = {}
  for k = 1, K do
    rows[k] = {}
    for f = 1, N do rows[k][f] = before[k][f - 1] end
  end
  return rows, bytes
end

-- The same by replicas.
local function exchanged(options, kind, other, turn)
  local list = meissa.replicas(K, {}, function(r)
    local w = meissa.zeros({N}, {type = kind})
    for t = 1, ROUNDS do
      for f = 1, N do w[f] = w[f] + step(r.index, t, f) end
      r:exchange(w, t >= (turn or math.huge) and other or options)
    end
    local row = {}
    for f = 1, N do row[f] = w[f] end
    return {row = row, bytes = r.netStats().bytes}
  end)
  local rows, bytes = {}, 0
  for k = 1, K do rows[k], bytes = list[k].row, bytes + list[k].bytes end
  return rows, bytes
end

local function near(expect, got)
  for k = 1, K do
    for f = 1, N do
      assert.is_true(math.abs(expect[k][f] - got[k][f]) <= 1e-13, tostring(got[k][f]))
    end
  end
end

for _, workers in ipairs {0, 3} do
  describe("r:exchange on " .. workers .. " workers", function()
    setup(function() meissa.init {workers = workers, quiet = true} end)
    teardown(function() meissa.init {workers = 2, quiet = true} end)

    it("is an exchange of loops, bit for bit", function()
      for n, options in ipairs(CASES) do
        for _, kind in ipairs {"double", "float"} do
          local rows, bytes = expected(options, kind)
          local got, sent = exchanged(options, kind)
          if not options.topology and options.filter and options.filter.sketch then
            near(rows, got) -- means of sketches are added up in another order
          else
            assert.same(rows, got, "case " .. n)
          end
          assert.equal(bytes, sent, "case " .. n)
        end
      end
    end)

    it("goes on with other options", function()
      for n, pair in ipairs {
        {{topology = "ring"}, {topology = "ring-both"}},
        {{filter = {magnitude = 0.3}}, {filter = {magnitude = 0.01}}},
        {{topology = "ring", filter = {magnitude = 0.3}}, {topology = "ring",
                                                           filter = {relative = 0.1}}},
        {{}, {filter = {magnitude = 0.2}}}, {{filter = {magnitude = 0.2}}, {}},
        {{merge = {add = 0.25}}, {merge = {add = 0.5}}},
        {{merge = {add = 0.25}, filter = {magnitude = 0.3}}, {merge = {add = 0.5}}},
        {{merge = {add = 0.25}, filter = {magnitude = 0.3}, residual = "drop"},
         {merge = {add = 0.5}}},
        {{}, {merge = {add = 0.25}}}, {{merge = {add = 0.25}}, {}},
        {{merge = {weighted = 0.5}}, {merge = {add = 0.25}, filter = {magnitude = 0.3}}},
        {{merge = {add = 0.25}, filter = {magnitude = 0.3}}, {filter = {relative = 0.1}}},
      } do
        local rows = expected(pair[1], "double", pair[2], 4)
        assert.same(rows, (exchanged(pair[1], "double", pair[2], 4)), "pair " .. n)
      end
    end)

    it("hears messages as old as lags say, each once", function()
      local function lag(t, j) return (2 * t + j) % 3 end
      local function rows_of(options)
        return (exchanged(options, "double"))
      end
      -- Each hears the next but one and the next before it, of versions that it has not heard.
      local history, known = {}, {}
      local topology = meissa.topology("ring-both", K)
      local rows = {}
      for k = 1, K do
        rows[k], known[k] = {}, {}
        for f = 1, N do rows[k][f] = 0 end
        for j = 1, K do known[k][j] = 0 end
      end
      for t = 1, ROUNDS do
        history[t] = {}
        for k = 1, K do
          history[t][k] = {}
          for f = 1, N do history[t][k][f] = rows[k][f] + step(k, t, f) end
        end
        for k = 1, K do
          local weights, list = topology:weights(t)[k], {}
          for j = 1, K do
            local version = j == k and t or math.max(0, t - lag(t + 1, j))
            if j == k then
              list[#list + 1] = history[t][k]
            elseif weights[j] ~= 0 and version > known[k][j] then
              list[#list + 1], known[k][j] = history[version][j], version
            end
          end
          for f = 1, N do
            local sum = 0
            for n, each in ipairs(list) do sum = n == 1 and each[f] or sum + each[f] end
            rows[k][f] = sum / #list
          end
        end
      end
      assert.same(rows, rows_of {topology = "ring-both", lags = lag, staleness = 2})
      -- Drawn ones are the same for each number of workers.
      local drawn = {topology = "ring-both", lags = {{0, 1}, {2, 1}}}
      local first = rows_of(drawn)
      assert.not_same(first, rows_of {topology = "ring-both"})
      meissa.seed(1)
      local one = rows_of(drawn)
      meissa.init {workers = 1 - workers % 2, quiet = true}
      meissa.seed(1)
      assert.same(one, rows_of(drawn))
      meissa.init {workers = workers, quiet = true}
    end)

    it("does nothing where a replica cannot wait", function()
      local list = meissa.replicas(K, {}, function(r)
        local w = meissa.full({1}, r.index)
        local options, refused = {merge = {add = 1}, staleness = 1}, 0
        local function try()
          if not pcall(r.exchange, r, w, options) then refused = refused + 1 end
          return false
        end
        if r.index < 3 then table.sort({2, 1}, try) end
        if r.index == 4 then coroutine.wrap(try)() end
        r:exchange(w, options)
        return {w[1], refused}
      end)
      for k = 1, K do assert.same({10, k == 3 and 0 or 1}, list[k]) end
    end)

    it("has the same bits however it waits, where all hear the round before", function()
      for _, options in ipairs {{}, {topology = "ring"}, {merge = {add = 0.25}},
                                {topology = "ring", push_sum = true}} do
        local rows = expected(options, "double")
        for _, how in ipairs {{staleness = 0}, {sync = "bsp"}, {sync = "bsp-2barrier"},
                              {sync = "notify-ack"}, {sync = "ssp", staleness = 0},
                              {depth = 3}, {sync = "pd-delay", staleness = 0}} do
          for name, value in pairs(options) do how[name] = value end
          assert.same(rows, (exchanged(how, "double")))
        end
      end
    end)
  end)
end

describe("what r:exchange refuses", function()
  -- Options with all that loops refuse, and more that they take.
  local WRONG = {
    {topology = "rings"}, {topology = "ring", merge = {add = 1}}, {merge = "take"},
    {topology = "root-expander", push_sum = true, filter = {magnitude = 1}},
    {push_sum = true, merge = {weighted = 1}}, {topology = "tree-allreduce", quota = 100},
    {topology = "ring-allreduce", merge = {weighted = 1}}, {staleness = -1}, {staleness = 1.5},
    {filter = {sketch = "count", width = 4, depth = 2}, residual = "drop"}, {sync = "spp"},
    {sync = "bsp", staleness = 2}, {backup = 1, merge = {add = 1}}, {timeout = 0.5},
    {sync = "async", backup = 1}, {lags = {}}, {lags = {{1, 1}}, sync = "ssp"}, {lags = 3},
    {lags = {{3, 1}}, staleness = 2}, {filter = {priority = "random"}}, {bound = 1},
    {residual = "drop"}, {filter = {magnitude = 1, floor = 2}}, {quota = 3}, {merges = "mean"},
  }

  it("is what loops refuse, in the same words", function()
    for n, options in ipairs(WRONG) do
      local given = {replicas = 3, every = 1}
      for name, value in pairs(options) do given[name] = value end
      local fine, loops = pcall(meissa.replicate, meissa.zeros(2), given)
      assert.is_false(fine, "case " .. n)
      local ok, err = pcall(meissa.replicas, 3, {}, function(r)
        r:exchange(meissa.zeros(2), options)
      end)
      assert.is_false(ok, "case " .. n)
      assert.equal(loops.code, err.code)
      local function words(text)
        return (text:gsub("^replica 1: ", ""):gsub("meissa%.replicate", "r:exchange")
                    :gsub("; its options are .*", ""))
      end
      assert.equal(words(loops.message), words(err.message), "case " .. n)
    end
  end)

  it("is, beside that, what only loops can do", function()
    local alpha = meissa.zeros(2)
    for message, options in pairs {
      ["staleness = \"auto\" is chosen while a loop runs"] = {staleness = "auto"},
      ["a merge damps arrays in loops"] = {merge = {add = 1, damp = {alpha}}},
      ["option 'timeout' measures how long exchanges of loops"] = {timeout = 2},
    } do
      local ok, err = pcall(meissa.replicas, 3, {}, function(r)
        r:exchange(meissa.zeros(2), options)
      end)
      assert.is_false(ok)
      assert.truthy(err.message:find(message, 1, true), err.message)
    end
  end)
end)
