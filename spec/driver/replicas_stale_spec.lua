-- SPDX-License-Identifier: MIT
-- r:exchange with staleness: replicas go on without those that are late, hear nothing older than
-- they may, and lose nothing.
local child = require "spec.support.child"
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"

local SEED = tonumber(os.getenv "MEISSA_TEST_SEED") or os.time()
print("MEISSA_TEST_SEED=" .. SEED)

local K, ROUNDS = 4, 20

local TOPOLOGIES = {
  "all", "ring", "ring-both", "root-expander", "one-peer-exponential", "chain", "server",
  {regular = 2, seed = 3}, {matrix = {{0.5, 0, 0.5, 0}, {0.25, 0.5, 0.25, 0}, {0, 0, 0.5, 0.5},
                                      {0.25, 0.25, 0, 0.5}}},
}

-- How exchanges may wait, and how many rounds what is heard is older or newer at most.
local WAITS = {
  {options = {staleness = 1}, old = 1, new = 0}, {options = {staleness = 3}, old = 3, new = 0},
  {options = {staleness = 2, depth = 4}, old = 2, new = 0},
  {options = {sync = "ssp", staleness = 2}, old = 2, new = 2},
  {options = {sync = "pd-delay", staleness = 1}, old = 1, new = 1},
  {options = {staleness = math.huge}, old = math.huge, new = math.huge},
  {options = {sync = "barrier"}, old = 0, new = 1},
}

-- A merge by which the newer of two rounds is heard.
local function newer(own, received) return math.max(own, received) end

local function with(options, more)
  local all = {}
  for name, value in pairs(options) do all[name] = value end
  for name, value in pairs(more) do all[name] = value end
  return all
end

-- Replicas of uneven speed tell each other in which round they are: by receiver and round, what
-- has been heard of each.
local function versions(options, seed)
  return meissa.replicas(K, {seed = seed}, function(r)
    local w, heard, newest = meissa.zeros(r.count), {}, {}
    for t = 1, ROUNDS do
      for _ = 1, math.random() < 0.2 and math.random(500000) or 0 do end
      w:fill(0)
      w[r.index] = t
      r:exchange(w, options) -- what was heard before is not in a message
      heard[t] = {}
      for j = 1, r.count do
        newest[j] = math.max(newest[j] or 0, w[j])
        heard[t][j] = newest[j]
      end
    end
    return heard
  end)
end

describe("r:exchange with staleness", function()
  teardown(kept_workers.stop)

  it("hears nothing that is older, or newer, than it may be", function()
    local late = 0
    for workers = 0, 4 do
      kept_workers.init {workers = workers, quiet = true}
      for n, what in ipairs(TOPOLOGIES) do
        local topology = meissa.topology(what, K)
        for w, wait in ipairs(workers == 2 and WAITS or {WAITS[(n + workers) % #WAITS + 1]}) do
          local options = with(wait.options, {topology = what, biased = true, merge = newer})
          local where = ("seed %d, topology %d, wait %d"):format(SEED, n, w)
          for k, heard in ipairs(versions(options, SEED)) do
            for t = 1, ROUNDS do
              local weights = topology:weights(t)[k]
              assert.equal(t, heard[t][k], where)
              for j = 1, K do
                local version = heard[t][j]
                if weights[j] ~= 0 then
                  assert.is_true(version >= t - wait.old, where)
                  late = late + (version < t and 1 or 0)
                end
                assert.is_true(version <= t + wait.new, where)
              end
            end
          end
        end
      end
    end
    assert.is_true(late > 0) -- somebody has not waited
  end)

  -- What all hold after rounds under `options`, with a change of their own in each, and one more
  -- exchange under `last`, which hears what was told.
  local function settled(options, last, kind, step)
    return meissa.replicas(K, {seed = SEED}, function(r)
      local w, rounds = meissa.zeros({3}, {type = kind}), 0
      for t = 1, ROUNDS do
        for _ = 1, math.random() < 0.2 and math.random(300000) or 0 do end
        for i = 1, 3 do w[i] = w[i] + step(r.index, t, i) end
        r:exchange(w, options)
      end
      local before = w:totable()
      for _ = 1, 80 do
        if rounds > 0 and not last.push_sum then break end
        r:exchange(w, last)
        rounds = rounds + 1
      end
      return {w:totable(), before}
    end)
  end

  local STALE = {{staleness = 1}, {staleness = 3}, {sync = "ssp", staleness = 2},
                 {staleness = math.huge}, {sync = "pd-delay", staleness = 1}, {sync = "barrier"}}

  local function sum_of(step, i)
    local sum = 0
    for k = 1, K do
      for t = 1, ROUNDS do sum = sum + step(k, t, i) end
    end
    return sum
  end

  it("loses no change: an exact exchange hears what has come late", function()
    local function step(k, t, i) return k * 1000 + 10 * t + i end -- sums are exact
    local apart = false
    for workers = 0, 4 do
      kept_workers.init {workers = workers, quiet = true}
      for n, wait in ipairs(STALE) do
        local add, kind = {merge = {add = 1}}, (n + workers) % 3 == 0 and "float" or "double"
        for k, each in ipairs(settled(with(wait, add), add, kind, step)) do
          for i = 1, 3 do
            assert.equal(sum_of(step, i), each[1][i],
                         ("%d workers, wait %d, replica %d"):format(workers, n, k))
            apart = apart or each[2][i] ~= each[1][i]
          end
        end
      end
    end
    assert.is_true(apart) -- something has come late
  end)

  it("keeps the mean of all where weights do", function()
    local function step(k, t, i) return math.sin(7 * k + t + 3 * i) end
    for workers = 0, 4, 2 do
      kept_workers.init {workers = workers, quiet = true}
      for n, wait in ipairs(STALE) do
        -- One that hears nobody for twenty rounds gives all but 1e-9 of its weight away.
        local bounded, graphs = wait.staleness ~= math.huge, {{"all", "ring"}, {"chain", "all"},
                                                             {"root-expander", "ring"}}
        for _, topology in ipairs(bounded and graphs[n % 3 + 1] or {}) do
          local push = {topology = topology, push_sum = true}
          local list = settled(with(wait, push), push, "double", step)
          for i = 1, 3 do
            local mean = sum_of(step, i) / K
            for k = 1, K do
              assert.is_true(math.abs(list[k][1][i] - mean) < 1e-9,
                             ("%d workers, wait %d, %s: %g for %g"):format(
                               workers, n, topology, list[k][1][i], mean))
            end
          end
        end
      end
    end
  end)

  -- Waits until there is a file.
  local function await(name)
    local ffi = require "ffi"
    ffi.cdef "int usleep(unsigned);"
    for _ = 1, 6000 do
      local file = io.open(name)
      if file then return file:close() end
      ffi.C.usleep(5000)
    end
    error(name .. " was waited for in vain")
  end

  -- Replicas, each on a worker of its own, tell of each round that they are through with. One that
  -- is late waits, before its fourth, for others to be through with theirs: it would for ever, if
  -- these waited for it. Of which round each has heard it by round.
  local function straggle(count, late, options, awaited)
    kept_workers.init {workers = count, quiet = true}
    local directory = child.directory()
    local list = meissa.replicas(count, {}, function(r)
      local w, heard, newest = meissa.zeros(r.count), {}, 0
      for t = 1, ROUNDS do
        for _, name in ipairs(r.index == late and t == 4 and awaited or {}) do
          await(directory .. "/" .. name)
        end
        w:fill(0)
        w[r.index] = t
        r:exchange(w, with(options, {merge = newer, biased = true}))
        newest = math.max(newest, w[late])
        heard[t] = newest
        io.open(("%s/%d.%d"):format(directory, r.index, t), "w"):close()
      end
      return heard
    end)
    child.remove(directory)
    return list
  end

  it("does not wait for a late one, as many rounds as there may be", function()
    for _, topology in ipairs {"all", "ring", "ring-both"} do
      for _, s in ipairs {1, 3} do
        local last = 3 + s
        local list = straggle(3, 3, {topology = topology, staleness = s},
                              {"1." .. last, "2." .. last})
        assert.equal(3, list[1][last])
        assert.is_true(list[1][last + 1] > 3)
      end
    end
  end)

  it("waits for nobody where there is no bound, or as many may be left out", function()
    for _, options in ipairs {{staleness = math.huge}, {sync = "async"}, {backup = 1},
                              {backup = 1, topology = "ring-both"}} do
      local last = "." .. ROUNDS
      local list = straggle(3, 2, options, {"1" .. last, "3" .. last})
      assert.is_true(list[1][ROUNDS] <= 3)
    end
  end)

  it("waits for none that it does not hear", function()
    local apart = {matrix = {{0.5, 0.5, 0, 0}, {0.5, 0.5, 0, 0},
                             {0, 0, 0.5, 0.5}, {0, 0, 0.5, 0.5}}}
    local last = "." .. ROUNDS
    for staleness = 0, 1 do
      local list = straggle(4, 3, {topology = apart, staleness = staleness},
                            {"1" .. last, "2" .. last})
      assert.equal(0, list[1][ROUNDS])
    end
    -- Of those whom none of the others hear, but who hear one, as far as that one's rows are kept.
    local line = {matrix = {{1, 0, 0}, {0.5, 0.5, 0}, {0, 0.5, 0.5}}}
    straggle(3, 3, {topology = line, staleness = 1}, {"1.4", "2.4"})
    local list = straggle(3, 3, {topology = line, staleness = 1, depth = 20},
                          {"1" .. last, "2" .. last})
    assert.equal(0, list[2][ROUNDS])
  end)

  it("begins again where a worker dies in the midst of it", function()
    for _, wait in ipairs {{staleness = 2}, {staleness = math.huge}} do
      kept_workers.init {workers = 3, quiet = true}
      local mark, add = os.tmpname(), {merge = {add = 1}}
      local list = meissa.replicas(5, {}, function(r)
        local w = meissa.zeros(2)
        for t = 1, ROUNDS do
          w[1] = w[1] + r.index * t
          if r.index == 4 and t == 11 and io.open(mark) then
            os.remove(mark)
            os.execute "kill -9 $PPID"
          end
          r:exchange(w, with(wait, add))
        end
        r:exchange(w, add)
        return w[1]
      end)
      for k = 1, 5 do assert.equal(15 * ROUNDS * (ROUNDS + 1) / 2, list[k]) end
      assert.is_nil(io.open(mark))
    end
  end)

  it("goes together with all else that replicas do", function()
    local add, mean = {merge = {add = 1}, staleness = 2}, {topology = "ring", staleness = 1}
    local function run()
      local A = meissa.zeros(K)
      local list = meissa.replicas(K, {seed = 2}, function(r)
        local w, v, own, seen = meissa.zeros(2), meissa.full({3}, r.index), r.shard(A), {}
        for t = 1, 12 do
          w[1], own[1] = w[1] + r.index, t
          r:exchange(w, add)
          r:exchange({v}, mean)
          if t % 4 == 0 then
            local sum = r.allReduce {r.index, w[1] - w[1]}
            seen[#seen + 1] = sum[1] .. " " .. A:sum()
          end
          if t % 6 == 0 then r.barrier() end
          if r.index == 2 and t % 5 == 0 then print "" end
        end
        r:exchange(w, {merge = {add = 1}})
        return {w[1], table.concat(seen, ","), v[1] >= 1 and v[1] <= K}
      end)
      list[K + 1] = A:totable()
      return list
    end
    for workers = 0, 4 do
      kept_workers.init {workers = workers, quiet = true}
      local list = run()
      for k = 1, K do
        assert.same({12 * 10, "10 16,10 32,10 48", true}, list[k], workers .. " workers")
      end
      assert.same({12, 12, 12, 12}, list[K + 1])
    end
  end)

  it("meets where memory is not shared: then nobody is late", function()
    for _, road in ipairs {{shm = false}, {shm = false, transport = "tcp"}} do
      road.workers, road.quiet = 2, true
      kept_workers.init(road)
      for _, heard in ipairs(versions({staleness = 2, merge = newer}, SEED)) do
        for t = 1, ROUNDS do assert.same({t, t, t, t}, heard[t]) end
      end
    end
    kept_workers.init {workers = 2, transport = "tcp", quiet = true}
    for _, heard in ipairs(versions({staleness = 2, merge = newer}, SEED)) do
      for t = 1, ROUNDS do
        for j = 1, K do assert.is_true(heard[t][j] >= t - 2 and heard[t][j] <= t) end
      end
    end
  end)
end)
