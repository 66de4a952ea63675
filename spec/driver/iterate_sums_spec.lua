-- SPDX-License-Identifier: MIT
-- What tests of rounds are told of reductions.
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
end)
