-- SPDX-License-Identifier: MIT
-- Workers are killed at random moments while replicas learn (chaos.lua): where they exchange all at
-- once, and where each waits for those that it hears.
local chaos = require "spec.driver.chaos"
local meissa = require "meissa"

-- Least squares on replicas with a momentum of their own; a sum, and an array that goes along.
local function learn(options)
  local n, m, loss = 300, 30, 0
  local X, y = meissa.randn({n, m}, {seed = 1}), meissa.randn({n}, {seed = 2})
  local w, hits = meissa.zeros(m), meissa.zeros(n)
  options.replicas, options.every = 6, 10
  local r = meissa.replicate(w, options)
  local v = meissa.replicate(meissa.zeros(m), {replicas = 6, exchange = false})
  for pass, e in meissa.parallel(12, n) do
    local p = 0
    for f = 1, m do p = p + r[f] * X[e][f] end
    local g = p - y[e]
    loss = loss + g * g
    hits[e] = hits[e] + pass
    for f = 1, m do
      v[f] = 0.5 * v[f] + g * X[e][f]
      r[f] = r[f] - 0.001 * v[f]
    end
  end
  return chaos.bytes(w) .. chaos.bytes(hits) .. chaos.bytes(v:replica(4)) .. ("%.17g"):format(loss)
end

chaos.describe(getfenv(1), "replicas over an expander", function()
  return learn {topology = "root-expander"}
end, 1 / 3)
chaos.describe(getfenv(1), "replicas that hear old values", function()
  return learn {topology = "ring-both", staleness = 2,
                lags = function(t, k) return (t + k) % 3 end}
end, 1 / 3)
chaos.describe(getfenv(1), "replicas with filters", function()
  return learn {topology = "ring-both", filter = {magnitude = 0.001}}
end, 1 / 3)
