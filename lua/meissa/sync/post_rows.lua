-- SPDX-License-Identifier: MIT
--- Rows of posts: what is where in what a replica leaves for others (meissa.sync.post), and who are
-- its neighbours.
--
-- A row, where there is need of it:
--   value   what the replica holds at the end of the round
--   base    deltas: what it held when the rows began
--   total   deltas: what its rounds have changed since then
--   made    models: in how many blocks the replica's has been asked for
--   drawn   models: the replica's generators of random numbers (meissa.sync.generators)
--   sum, share   push-sum: what it has of the sum of all, and of the weight
--   taken   push-sum, but where all take their parts from that: of each sender, what was taken of
--           all it has sent, and of its weight; deltas, with lags: the newest total that was seen
--   changed   those of deltas: what its rounds have changed since the rows began, where `base` and
--           `total` are of the last round (`by_round`)
--   edges   filters, and push-sum likewise: of each receiver, or for all together, what it has been
--           told, and the filter's state
--   heard   of each sender, the round of the last message that was merged
--   bytes, missed   what was sent; how many messages of the last round were not there
--   times   if controllers ask for them, of private state, too: seconds of exchanges, of bodies
-- @module meissa.sync.post_rows

local tables = require "meissa.base.tables"
local topologies = require "meissa.sync.topology"

local M = {}

local function others_of(settings, k)
  local list = {}
  for j = 1, settings.replicas do
    if j ~= k then list[#list + 1] = j end
  end
  return list
end

--- Whom replica k hears in round t, and with what weights: everybody, of a reduction.
function M.senders(settings, k, t)
  local topology = settings.topology
  if not topologies.reduces(topology) then return topologies.senders(topology, k, t) end
  local list, weights = others_of(settings, k), {}
  for s = 1, #list do weights[s] = 1 / settings.replicas end
  return list, weights
end

-- By replica, what is made when it is first asked for: where all hear all others most is not.
local function lazy(make)
  return setmetatable({}, {__index = function(made, k)
    made[k] = make(k)
    return made[k]
  end})
end

--- By phase of the topology's period and by replica, whom it tells.
function M.tells(settings)
  local tells, complete = {}, topologies.is_complete(settings.topology)
  for phase = 0, settings.topology.period - 1 do
    local of = complete and lazy(function(k) return others_of(settings, k) end) or {}
    for k = 1, complete and 0 or settings.replicas do of[k] = {} end
    for to = 1, complete and 0 or settings.replicas do
      for _, from in ipairs((M.senders(settings, to, phase))) do table.insert(of[from], to) end
    end
    tells[phase] = of
  end
  return tells
end

--- How many a replica tells at most in a round.
function M.most_receivers(settings)
  if topologies.is_complete(settings.topology) then return settings.replicas - 1 end
  local most = 0
  for _, of in tables.each(M.tells(settings)) do
    for _, receivers in ipairs(of) do most = math.max(most, #receivers) end
  end
  return most
end

-- The number of each neighbour of replica k in any round, from 0, and how many there are.
local function number_all_of(settings, list_of, k)
  local seen, count = {}, 0
  for phase = 0, settings.topology.period - 1 do
    for _, other in ipairs(list_of(k, phase)) do
      if not seen[other] then seen[other], count = count, count + 1 end
    end
  end
  return seen, count
end

--- These numbers of all replicas: number[k][other]; and how many there are at most.
function M.number_all(settings, list_of)
  if topologies.is_complete(settings.topology) then
    return lazy(function(k) return (number_all_of(settings, list_of, k)) end),
      settings.replicas - 1
  end
  local numbers, most = {}, 0
  for k = 1, settings.replicas do
    local count
    numbers[k], count = number_all_of(settings, list_of, k)
    most = math.max(most, count)
  end
  return numbers, most
end

-- Numbers of a filter's state.
local function state_size(settings, count, ledgers)
  if settings.filter.kind == "sketch" then return count end
  if not settings.rule then return 0 end
  return count * (settings.merge.payload == "delta" and 3 or 2) + 2 + (ledgers and 8 * count or 0)
end

-- Numbers to a line of the cache: rows begin with one, so that no two writers share one.
local LINE = 8

--- Where things are in a row; `size` of it; `anew`, how many of the first numbers each round makes.
function M.lay_out(settings, count, receivers, senders, told)
  local at = {value = 0, size = count, anew = count}
  local function take(name, size) at[name], at.size = at.size, at.size + size end
  local function take_model()
    if not told.model then return end
    take("made", 1)
    take("drawn", told.drawn)
  end
  local function take_times()
    if told.timed then take("times", 2) end
  end
  if not settings then
    take_model()
    take_times()
    return at
  end
  at.edge = count + 1 + state_size(settings, count, told.ledgers)
  if settings.merge.payload == "delta" then
    take("base", count)
    take("total", count)
    if told.by_round then at.anew = at.size end
  end
  take_model()
  if settings.push_sum then take("sum", count + 1) end
  local gives = settings.push_sum and not told.mixes
  if gives or told.lagged and at.total then take("taken", senders * (count + 1)) end
  if told.shared and at.total then take("changed", count) end
  local edges = told.shared and 1 or receivers
  if settings.filters or gives then take("edges", edges * at.edge) end
  take("heard", topologies.is_complete(settings.topology) and settings.replicas or senders)
  take("bytes", 1)
  take("missed", 1)
  take_times()
  at.size = LINE * math.ceil(at.size / LINE)
  return at
end

return M
