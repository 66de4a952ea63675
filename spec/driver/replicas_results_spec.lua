-- SPDX-License-Identifier: MIT
-- What functions of meissa.replicas return: the same with workers and without.
local meissa = require "meissa"

describe("what a replica returns", function()
  teardown(function() meissa.init {workers = 2, quiet = true} end)

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
        meissa.init {workers = workers, quiet = true}
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
      meissa.init {workers = workers, quiet = true}
      local results = meissa.replicas(2, {}, function(r)
        local sum = meissa.full({2}, r.index)
        return {sum = function(x) return sum:sum() + x end}
      end)
      assert.same({12, 14}, {results[1].sum(10), results[2].sum(10)})
    end
  end)
end)
