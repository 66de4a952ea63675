-- SPDX-License-Identifier: MIT
--
-- Sketches of what replicas tell each other that are too small for what changes.
local meissa = require "meissa"
local parallel = meissa.parallel

describe("sketches of replicas", function()
  it("get nearer from round to round where they are too small", function()
    local size, wanted = 200, {}
    for f = 1, size do wanted[f] = math.sin(3 * f) end
    local moves, apart = meissa.from(wanted), {[0] = math.huge}
    local w, began = meissa.zeros(size), meissa.zeros(2)
    local r = meissa.replicate(w, {
      replicas = 2, every = 1, merge = {add = 1 / 2}, final = "none",
      filter = {sketch = "count", width = 16, depth = 3}, on_round = function(s)
        local sum = 0
        for f = 1, size do sum = sum + (s.replica(1)[f] - wanted[f]) ^ 2 end
        apart[s.round] = math.sqrt(sum)
      end})
    for t, k in parallel(12, 2) do
      began[k] = t
      if t == 1 then
        for f = 1, size do r[f] = r[f] + moves[f] end
      end
    end
    for t = 1, 12 do assert.is_true(apart[t] <= apart[t - 1] * (1 + 1e-12), "round " .. t) end
    assert.is_true(apart[12] < apart[1])
  end)
end)
