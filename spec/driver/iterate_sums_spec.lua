-- SPDX-License-Identifier: MIT
-- What tests of rounds are told of reductions.
local expect = require "spec.support.expect"
local meissa = require "meissa"

describe("rounds", function()
  teardown(function() meissa.init {} end)

  it("tell a test what its own round has formed, of logic, too", function()
    for _, workers in ipairs {0, 1, 2} do
      meissa.init {workers = workers}
      for _, engine in ipairs {"native", "lua"} do
        local forms = {
          function(d, options)
            local busy = false
            for t, j in meissa.iterate(d, 6, options) do
              if t == 2 and j == 3 then busy = true end
              d[j] = t
            end
            return busy
          end,
          function(d, options)
            local busy = false
            for t, j in meissa.iterate(d, 6, options) do
              busy = busy or t == 2 and j == 3
              d[j] = t
            end
            return busy
          end,
          function(d, options)
            local busy = true
            for t, j in meissa.iterate(d, 6, options) do
              busy = busy and not (t == 2 and j == 3)
              d[j] = t
            end
            return not busy
          end,
        }
        for f, form in ipairs(forms) do
          for test = 1, 3 do
            local told = {}
            local result = form(meissa.zeros(4), {engine = engine, test = test, ranges = 4,
              stop = function(t, _, sums) told[#told + 1] = t .. tostring(sums.busy) end})
            local right = {}
            for t = test, 6, test do right[#right + 1] = t .. tostring((t == 2) == (f < 3)) end
            assert.same(right, told)
            assert.is_true(result)
          end
        end
      end
    end
    -- An error that the loop as written skips is none.
    local A, found = meissa.zeros(4), false
    for t, j in meissa.iterate(A, 4, {stop = function() return false end}) do
      found = found or t == 2 or t > 2 and A[j + t] > 0
      A[j] = t
    end
    assert.is_true(found)
    assert.equal(4, A[4])
  end)

  it("tell a test 0 where nothing was added, and refuse names that are none", function()
    for _, workers in ipairs {0, 2} do
      meissa.init {workers = workers}
      local A, n, first, told = meissa.zeros(4), 0, nil, {}
      local function stop(t, _, sums) told[t] = {1 / sums.n, sums.first} end
      for t, j in meissa.iterate(A, 3, {stop = stop}) do
        if t == 2 then n = n + 1 end
        if t == 2 and (first == nil or j > first) then first = j end
        A[j] = t
      end
      assert.same({{math.huge, -math.huge}, {0.25, 4}, {math.huge, -math.huge}}, told)
      local said = expect.refusal(function()
        for t, j in meissa.iterate(A, 3, {stop = function(_, _, sums) return sums.m > 1 end}) do
          n, A[j] = n + j, t
        end
      end)
      expect.has(said, "OPT: meissa.iterate: option 'stop': no variable 'm' is reduced in the " ..
                 "body; sums has n")
    end
  end)

  it("leave a test its own variables, which may have the names of reductions", function()
    local asked = 0
    local function counting()
      local n = 0
      return function()
        n = n + 1
        asked = n
        return n == 2
      end
    end
    local A, n = meissa.zeros(4), 0
    for _, j in meissa.iterate(A, 5, {stop = counting()}) do n, A[j] = n + 1, j end
    assert.same({2, 8}, {asked, n})
  end)

  it("go on from what earlier rounds have left, of equal values the first", function()
    for workers = 0, 2 do
      meissa.init {workers = workers, quiet = true}
      for _, seven in ipairs {7, 0 / 0} do
        local A, least, at, begun, what = meissa.zeros(4), nil, nil, 9, nil
        local told = {}
        local function stop(t, _, sums) told[t] = sums.at end
        for t, j in meissa.iterate(A, 4, {stop = stop}) do
          local v = seven
          if t == 4 and j == 4 then v = 6 end
          if least == nil or v < least then
            least = v
            at = 10 * t + j
          end
          if what == nil or v < begun then
            begun = v
            what = 10 * t + j
          end
          A[j] = t
        end
        if seven == 7 then
          assert.same({6, 44, 6, 44}, {least, at, begun, what})
        else
          assert.same({11, 11}, {at, what})
        end
        assert.same({11, 21, 31}, {unpack(told, 1, 3)})
        A, least, at, begun, what = meissa.zeros(4), nil, nil, 9, nil
        for t, j in meissa.iterate(A, 3, {stop = function() return false end}) do
          if least == nil or 5 < least then
            least = 5
            at = 10 * t + j
          end
          if what == nil or 5 < begun then
            begun = 5
            what = 10 * t + j
          end
          A[j] = t
        end
        assert.same({5, 11, 5, 11}, {least, at, begun, what})
      end
    end
  end)
end)
