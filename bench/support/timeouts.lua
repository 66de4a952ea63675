-- SPDX-License-Identifier: MIT
--- Messages that are delivered late: replicas on a worker each, which hold back what they have
-- computed for a drawn time before it is sent, now and then for long, and all for longer in the
-- second half of the rounds. What a time-out gains that follows what waiting usually takes (option
-- `timeout`), what one of a fixed length would cost, and what leaving out messages does to what
-- replicas come to.
--
-- The model: a replica waits for all messages of the round before or for its patience, which costs
-- nothing else. Runs are of the same draws; who was left out is counted in their histories.
local meissa = require "meissa"
local parallel = meissa.parallel
local reduces = require "reduces"

local usleep = require("sleeping").usleep

local M = {}

-- How a worker learns what waiting usually takes, and its least patience in microseconds
-- (csrc/worker/rounds.c).
local LEARN, LEAST = 0.25, 1000

--- Microseconds by which what replica k has computed in round t is held back: lists [t][k].
-- @tab how {rounds =, replicas =, nap = on average, slower = factor of the second half, late = how
-- many times as long what is late is held back, often = the share of messages that are late}
function M.draw(how)
  local draws, list = meissa.rand({how.rounds, 2 * how.replicas}, {seed = 1}), {}
  for t = 1, how.rounds do
    list[t] = {}
    for k = 1, how.replicas do
      local nap = how.nap * (0.5 + draws[t][2 * k])
      if t > how.rounds / 2 then nap = nap * how.slower end
      list[t][k] = draws[t][2 * k - 1] < how.often and nap * how.late or nap
    end
  end
  return list
end

-- How long a replica is willing to wait.
local patience = {
  exact = function() return math.huge end,
  fixed = function(way) return way.fixed end,
  timeout = function(way, usual)
    return usual and math.max(LEAST, way.timeout * usual) or math.huge
  end,
}

--- What the model says of a way of waiting: {}: for all, {timeout = factor} or {fixed =
-- microseconds}.
-- @treturn table {microseconds =, missing = {share of the messages that are left out in the first
-- half, in the second}, waits = {microseconds that waiting takes in both, on average}}
function M.predict(naps, way)
  local rounds, replicas = #naps, #naps[1]
  local limit_of = patience[way.timeout and "timeout" or way.fixed and "fixed" or "exact"]
  local ends, usual = {}, {}
  local missing, waited, waits = {0, 0}, {0, 0}, {0, 0}
  for k = 1, replicas do ends[k] = naps[1][k] end
  for t = 2, rounds do
    local last, half = 0, t > rounds / 2 and 2 or 1
    for k = 1, replicas do last = math.max(last, ends[k]) end
    local next_ends = {}
    for k = 1, replicas do
      local wait = math.min(last - ends[k], limit_of(way, usual[k]))
      local goes_on = ends[k] + wait
      if wait > 0 then
        usual[k] = usual[k] and usual[k] + LEARN * (wait - usual[k]) or wait
        waited[half], waits[half] = waited[half] + wait, waits[half] + 1
      end
      for j = 1, replicas do
        if ends[j] > goes_on then missing[half] = missing[half] + 1 end
      end
      next_ends[k] = goes_on + naps[t][k]
    end
    ends = next_ends
  end
  local last, messages = 0, (rounds / 2 - 0.5) * replicas * (replicas - 1)
  for k = 1, replicas do last = math.max(last, ends[k]) end
  return {microseconds = last, missing = {missing[1] / messages, missing[2] / messages},
          waits = {waited[1] / math.max(1, waits[1]), waited[2] / math.max(1, waits[2])}}
end

--- Runs it: each replica goes a tenth of the way to a target of its own in each round, and is
-- averaged with all.
-- @number[opt] timeout of replicate
-- @treturn number seconds, one round's start of all workers included
-- @treturn number how far the merged values are from the mean of all targets, over the distance at
-- the beginning
function M.run(naps, timeout)
  local rounds, replicas, width = #naps, #naps[1], 100
  local held, targets = meissa.from(naps), meissa.randn({replicas, width}, {seed = 2})
  local x, began = meissa.zeros(width), meissa.zeros(replicas)
  local r = meissa.replicate(x, {replicas = replicas, every = 1, timeout = timeout})
  for t, k in parallel(rounds, replicas, {impure = true, engine = "lua"}) do
    began[k] = t
    for f = 1, width do r[f] = r[f] + 0.1 * (targets[k][f] - r[f]) end
    usleep(held[t][k])
  end
  local seconds, off, whole = meissa.last().seconds, 0, 0
  for f = 1, width do
    local mean = 0
    for k = 1, replicas do mean = mean + targets[k][f] / replicas end
    off, whole = off + (x[f] - mean) ^ 2, whole + mean ^ 2
  end
  return seconds, math.sqrt(off / whole)
end

--- The share of messages of the round before that were not there, in the first half of the rounds
-- and in the second, as a history has it.
-- @func lines an iterator of its lines @int rounds
function M.count(lines, rounds)
  local there, heard = {0, 0}, {0, 0}
  reduces.each_heard(lines, function(version, round)
    local half = round > rounds / 2 and 2 or 1
    heard[half] = heard[half] + 1
    if version == round - 1 then there[half] = there[half] + 1 end
  end)
  return {1 - there[1] / math.max(1, heard[1]), 1 - there[2] / math.max(1, heard[2])}
end

return M
