-- SPDX-License-Identifier: MIT
-- r:exchange with staleness where replicas do not do the same, fail, print or end early.
local child = require "spec.support.child"
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"

describe("exchanges with staleness that do not go together", function()
  teardown(kept_workers.stop)

  local stale = {staleness = 1, merge = {add = 1}}

  -- What each does in round 5 of 9, for replica 2 something else than for others.
  local CASES = {
    {"one that has returned", function(r) if r.index == 2 then return true end end,
     "BDY", "replica 2 has returned while replica %d waits for it in exchange"},
    {"a barrier", function(r) if r.index == 2 then r.barrier() end end,
     "BDY", "replica 2 waits for the others in barrier, replica 1 in exchange"},
    {"other options",
     function(r, w) if r.index == 2 then r:exchange(w, {merge = {add = 0.5}}) end end,
     "OPT", "replica 2 has other options than replica 1, or exchanges another array"},
    {"another array", function(r, _, v)
      for _ = 1, r.index == 2 and 3 or 0 do r:exchange(v, stale) end
    end, "BDY", "waits in r:exchange for one that exchanges another array"},
    {"a call of r in a merge", function(r, w)
      r:exchange(w, {staleness = 1, merge = function(own) return own end})
      r:exchange(w, {staleness = 1, merge = function(own) return own end})
      r:exchange(w, {staleness = 1, merge = function(own)
        r.barrier()
        return own
      end})
    end, "BDY", "r.barrier was called in a function that r.exchange called"},
    {"a merge that fails", function(r, w)
      for t = 1, 4 do
        r:exchange(w, {staleness = 1, merge = function(own)
          if t > 2 and r.index == 2 then error "no merge" end
          return own
        end})
      end
    end, "BDY", "no merge"},
  }

  for _, case in ipairs(CASES) do
    it("are an error: " .. case[1], function()
      for _, workers in ipairs {0, 1, 3} do
        kept_workers.init {workers = workers, quiet = true}
        local ok, err = pcall(meissa.replicas, 3, {}, function(r)
          local w, v = meissa.zeros(2), meissa.zeros(3)
          for t = 1, 9 do
            if t < 5 then r:exchange(v, stale) end
            if t == 5 and case[2](r, w, v) then return end
            w[1] = w[1] + 1
            r:exchange(w, stale)
          end
        end)
        assert.is_false(ok)
        assert.equal(case[3], err.code, err.message)
        assert.matches((case[4]:gsub("%%d", "%%d")), err.message)
      end
    end)
  end

  it("are none where the others need not wait for one that has returned", function()
    for _, workers in ipairs {0, 2, 3} do
      kept_workers.init {workers = workers, quiet = true}
      local list = meissa.replicas(3, {}, function(r)
        local w = meissa.zeros(2)
        for t = 1, 2 + 3 * r.index do
          w[1] = t
          r:exchange(w, {staleness = math.huge})
        end
        return w[1] > 0 and r.index
      end)
      assert.same({1, 2, 3}, list)
    end
  end)

  it("let all meet where the posts would take too much memory, without workers, too", function()
    local sums = {}
    for n, workers in ipairs {0, 2} do
      kept_workers.init {workers = workers}
      local all = meissa.replicas(4, {seed = 1}, function(r)
        local w = meissa.full({20000}, r.index)
        for _ = 1, 3 do r:exchange(w, {topology = "ring", merge = "mean", staleness = 60000}) end
        return w:sum()
      end)
      sums[n] = table.concat(all, " ")
    end
    kept_workers.init {}
    assert.equal(sums[1], sums[2])
  end)

  it("show what replicas print", function()
    local output, status = child.script [[
      local meissa = require "meissa"
      meissa.init {workers = 2}
      meissa.replicas(3, {}, function(r)
        local w = meissa.zeros(2)
        for t = 1, 200 do
          print(r.index .. " is in " .. t)
          r:exchange(w, {staleness = 2})
        end
      end)
    ]]
    assert.equal(0, status, output)
    local lines = {0, 0, 0}
    for k, t in output:gmatch "(%d) is in (%d+)\n" do
      k = tonumber(k)
      assert.equal(lines[k] + 1, tonumber(t))
      lines[k] = tonumber(t)
    end
    assert.same({200, 200, 200}, lines)
  end)
end)
