-- SPDX-License-Identifier: MIT
-- Operations of allReduce, which workers carry out between them where they can: as in one process,
-- whatever the operation does.
local child = require "spec.support.child"
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"

-- What `fn` gives without workers it gives on any, and by value.
local function alike(fn)
  kept_workers.init {workers = 0}
  local expected = fn()
  for workers = 1, 4 do
    kept_workers.init {workers = workers}
    assert.same(expected, fn(), workers .. " workers")
  end
  kept_workers.init {workers = 2, shm = false}
  assert.same(expected, fn(), "by value")
  kept_workers.init {}
  return expected
end

local function list_of(value)
  return type(value) == "number" and value or value:totable()
end

describe("Operations of allReduce", function()
  teardown(kept_workers.stop)

  it("combine numbers and arrays in the order of the replicas", function()
    local list = alike(function()
      return meissa.replicas(3, {}, function(r)
        local seen, v = {}, meissa.full(3, r.index)
        local function take(value) seen[#seen + 1] = list_of(value) end
        take(r.allReduce(r.index * 1.5, math.max))
        take(r.allReduce(10 ^ -r.index, function(a, b) return 10 * a + b end))
        take(r.allReduce(v, function(a, b) return a:mul(2):add(b) end))
        take(r.allReduce(v, function(_, b) return b end))
        take(r.allReduce(v, function(a, b) return a:clone():cmul(b) end))
        take(r.allReduce(v, function(a, b) b:add(a) end)) -- nothing: a, as it is
        local t = {r.index, {z = meissa.full({2, 2}, r.index, {type = "int32"})}, v, v}
        r.allReduce(t, function(a, b)
          if type(a) == "number" then return a - b end
          return a:add(b)
        end)
        for _, each in ipairs {t[1], t[2].z, v} do take(each) end
        return {seen, select(2, r.allReduce(nil, function(a, b)
          if type(a) == "number" then return a + b end
          return a:add(b)
        end, function(a) return type(a) == "number" and 0 or a:fill(0) end)), r.netStats()}
      end)
    end)
    for k = 1, 3 do
      local seen, contributors, stats = unpack(list[k])
      assert.equal(4.5, seen[1])
      assert.is_true(math.abs(seen[2] - (10 * (10 * 0.1 + 0.01) + 0.001)) < 1e-15)
      assert.same({{11, 11, 11}, {11, 11, 11}, {1331, 1331, 1331}, {1331, 1331, 1331}},
                  {seen[3], seen[4], seen[5], seen[6]})
      assert.same({-4, {{6, 6}, {6, 6}}, {3993, 3993, 3993}}, {seen[7], seen[8], seen[9]})
      assert.equal(0, contributors)
      assert.equal(8, stats.reduces)
    end
  end)

  it("change nothing but their arguments", function()
    local list = alike(function()
      return meissa.replicas(2, {}, function(r)
        local calls, seen, own = 0, {n = 0}, {}
        for step = 1, 3 do
          own[step] = r.allReduce({r.index, 2, 3}, function(a, b)
            calls = calls + 1
            _G.meissa_calls = (_G.meissa_calls or 0) + 1
            other_calls = (rawget(_G, "other_calls") or 0) + 1 -- luacheck: ignore
            return a + b + calls
          end)[3]
          r.allReduce(1, function(a, b)
            seen.n = seen.n + 1
            return a + b
          end)
          counted_by = rawget(_G, "counted_by") or {n = 0} -- luacheck: ignore
          r.allReduce(1, function(a, b)
            counted_by.n = counted_by.n + 1 -- luacheck: ignore
            return a + b
          end)
        end
        return {calls, seen.n, own, other_calls or "none", counted_by.n} -- luacheck: ignore
      end)
    end)
    for k = 1, 2 do assert.same({0, 0, {9, 9, 9}, "none", 0}, list[k]) end
    _G.meissa_calls, _G.other_calls = nil, nil
  end)

  it("cannot write arrays from outside, of any size, wherever they run", function()
    for _, size in ipairs {3, 300} do
      for _, captured in ipairs {true, false} do
        local G = meissa.zeros {size}
        local function fails()
          local ok, err = pcall(meissa.replicas, 2, {}, function(r)
            local own = captured and G or meissa.zeros {size}
            return (r.allReduce(1, function(a, b)
              own[1] = own[1] + 1
              return a + b
            end))
          end)
          return {ok, type(err) == "table" and err.code or "none"}
        end
        assert.same({false, "ARR"}, alike(fails))
        assert.equal(0, G[1])
      end
    end
  end)

  it("may draw random numbers, as the driver does", function()
    alike(function()
      meissa.seed(3)
      math.randomseed(3)
      return meissa.replicas(2, {}, function(r)
        local seen = {}
        for step = 1, 3 do
          seen[step] = r.allReduce({r.index, 5}, function(a, b)
            return a + b * meissa.random() + math.random()
          end)[1]
          seen[step] = seen[step] + r.allReduce(1, function(a) return a + meissa.normal() end)
        end
        return seen
      end)
    end)
  end)

  it("print once, where all have come to", function()
    local function printed(workers)
      return child.script([[
        local meissa = require "meissa"
        meissa.init {workers = tonumber(arg[1])}
        meissa.replicas(3, {}, function(r)
          for step = 1, 2 do
            r.allReduce(step, function(a, b) print("op", a, b) return a + b end)
            print("replica", r.index, step)
          end
        end)
      ]], {arguments = workers})
    end
    local expected = printed(0)
    assert.truthy(expected:find("op\t3\t1\n", 1, true) or expected:find("op\t2\t1\n", 1, true))
    for workers = 1, 3 do assert.equal(expected, printed(workers)) end
  end)

  it("fail as the driver says", function()
    local function failure(op, value)
      return function()
        local ok, err = pcall(meissa.replicas, 2, {}, function(r)
          r.allReduce(r.index)
          return r.allReduce(value or meissa.zeros(3), op)
        end)
        assert.is_false(ok)
        return {err.code, err.message}
      end
    end
    local boo = alike(failure(function() error "boo" end, 1))
    assert.equal("BDY", boo[1])
    assert.truthy(boo[2]:find("failed on two numbers", 1, true))
    alike(failure(function() return 3 end))
    alike(failure(function() return meissa.zeros(4) end))
    alike(failure(function() coroutine.yield() end))
    alike(failure(function() return nil end, 5))
  end)
end)
