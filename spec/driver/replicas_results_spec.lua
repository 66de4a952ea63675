-- SPDX-License-Identifier: MIT
-- What functions of meissa.replicas return: the same with workers and without.
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"

describe("what a replica returns", function()
  teardown(kept_workers.stop)

  -- What it returns, and how that is called where it cannot travel.
  local RESULTS = {
    {function() return coroutine.create(print) end, " is a coroutine"},
    {function() return newproxy() end, " is a userdata"},
    {function() return {a = {b = {1, io.stdout}}} end, ".a.b[2] is a userdata"},
    {function() return require("ffi").new "int[3]" end, " is a cdata"},
    {function()
      local thread = coroutine.create(print)
      return {f = function() return thread end}
    end, ".f (upvalue thread) is a coroutine"},
  }
  for n, each in ipairs(RESULTS) do
    it("refuses a result that cannot travel, the same everywhere: " .. n, function()
      local expected = "replica 2: its result" .. each[2] .. ": it cannot be sent to the caller " ..
        "of meissa.replicas. A replica returns numbers, strings, arrays, tensors, tables of " ..
        "these, and functions over such: return what is needed of anything else."
      local line = debug.getinfo(each[1], "S").linedefined
      for workers = 0, 3 do
        kept_workers.init {workers = workers, quiet = true}
        local shown = meissa.zeros(3)
        local ok, err = pcall(meissa.replicas, 3, {}, function(r)
          r.shard(shown):fill(1)
          r.barrier()
          return r.index > 1 and each[1]() or nil
        end)
        assert.is_false(ok)
        assert.same({"BDY", expected}, {err.code, err.message})
        assert.equal(0, shown:sum()) -- nothing is left of it
        assert.truthy(err.file:find("replicas_results_spec", 1, true))
        ok, err = pcall(meissa.replicas, 1, {}, each[1])
        assert.is_false(ok)
        assert.same({(expected:gsub("replica 2", "replica 1")), line}, {err.message, err.line})
      end
    end)
  end

  it("gives back functions that a replica returns, with what they capture, everywhere", function()
    for workers = 0, 2 do
      kept_workers.init {workers = workers, quiet = true}
      local results = meissa.replicas(2, {}, function(r)
        local sum = meissa.full({2}, r.index)
        return {sum = function(x) return sum:sum() + x end}
      end)
      assert.same({12, 14}, {results[1].sum(10), results[2].sum(10)})
    end
  end)

  it("gives back copies of captured arrays, which can be written, everywhere", function()
    for _, road in ipairs {{0, 2}, {2, 2}, {2, 2, shm = false}, {2, 1}} do
      kept_workers.init {workers = road[1], shm = road.shm, quiet = true}
      local A, large = meissa.ones(3), meissa.ones(500)
      local S = meissa.sparse({3, 3}, {i = {1, 3}, j = {2, 1}, v = {5, 6}})
      local results = meissa.replicas(road[2], {}, function()
        local own = A
        return {all = A, part = A:narrow(1, 2, 2), large = large, S = S, kept = A:snapshot(),
                sum = function(x)
                  own[1] = x
                  return own:sum()
                end}
      end)
      A:fill(9)
      for k, each in ipairs(results) do
        assert.same({1, 1, 1}, each.all:totable())
        each.part[1] = 7
        assert.same({1, 7, 1}, each.all:totable()) -- as they shared memory
        for i in meissa.parallel(500) do each.large[i] = i end
        assert.equal(500 * 501 / 2, each.large:sum())
        each.S:fill(k)
        assert.equal(2 * k, each.S:sum())
        assert.equal(20 + 8, each.sum(20))
        assert.equal(20, each.all[1])
        local ok, err = pcall(function() each.kept[1] = 2 end) -- a snapshot stays one
        assert.is_false(ok)
        assert.truthy(err.message:find("is a snapshot", 1, true), err.message)
      end
      assert.same({9, 9, 9}, A:totable())
      assert.same({500, 11}, {large:sum(), S:sum()})
    end
  end)
end)
