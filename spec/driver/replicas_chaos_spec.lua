-- SPDX-License-Identifier: MIT
-- Workers that carry the replicas of meissa.replicas are killed at random moments: all begin again,
-- and end with the bits of a run that nobody disturbed, what they wrote to shards included.
local chaos = require "spec.driver.chaos"
local meissa = require "meissa"

local X, y = meissa.rand({240, 6}, {seed = 1}), meissa.rand({240}, {seed = 2})
local errors = meissa.zeros(240)

-- Averaged SGD, random numbers, a ring exchange; what each replica found, and its shard's errors.
local function train()
  errors:fill(0)
  local models = meissa.replicas(5, {seed = 3}, function(r)
    local w, own = meissa.zeros(6), r.shard(errors)
    local first, size = math.floor((r.index - 1) * 48), 48
    for pass = 1, 6 do
      for e = first + 1, first + size do
        w:axpy(0.05 * (y[e] - w:dot(X[e])) * meissa.random(), X[e])
      end
      if pass % 3 == 0 then
        r:exchange(w, {topology = "ring"})
      else
        local _, count = r.allReduce(w)
        w:scal(1 / count)
      end
    end
    for e = 1, size do own[e] = y[first + e] - w:dot(X[first + e]) end
    r.barrier()
    return w
  end)
  local words = {chaos.bytes(errors)}
  for k, w in ipairs(models) do words[k + 1] = chaos.bytes(w) end
  return table.concat(words)
end

chaos.describe(getfenv(1), "functions of replicas", train)
