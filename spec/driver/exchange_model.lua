-- SPDX-License-Identifier: MIT
--- A model of exchanges: what replicas' values become at the end of a round, all at once.
--
-- All post before any merges: values are read as they are at the round's end, and merged into
-- others. Vectors are doubles; sums go by sender. Filters belong to edges and have their state from
-- one round to the next. Nothing is posted, no row is kept: what specs compare posts with
-- (meissa.sync.post), bit for bit.

local c_api = require "meissa.array.c_api"
local ffi = require "ffi"
local merging = require "meissa.sync.merging"
local settings_of = require "meissa.sync.settings"
local topologies = require "meissa.sync.topology"
local tables = require "meissa.base.tables"

local M = {}

local lib = c_api.lib
local pointers = merging.pointers
local doubles = ffi.typeof "double[?]"

local Exchange = {}
Exchange.__index = Exchange

--- A new exchange of vectors of `count` elements.
-- @tab settings see meissa.sync.settings @number count
-- @param start what all replicas begin with: a list of vectors (double *)
function M.new(settings, count, start)
  local self = setmetatable({settings = settings, count = count, edges = {}}, Exchange)
  local n = settings.replicas
  self.delta = {}
  if settings.merge.payload == "delta" then
    for k = 1, n do self.delta[k] = doubles(count) end
  end
  if settings.push_sum then
    self.share, self.sums = {}, {}
    for k = 1, n do
      self.share[k], self.sums[k] = 1, doubles(count)
      ffi.copy(self.sums[k], start[k], 8 * count)
    end
  end
  self.start = {}
  for k = 1, n do
    self.start[k] = doubles(count)
    ffi.copy(self.start[k], start[k], 8 * count)
  end
  return self
end

-- ------------------------------------------------------------------------------------- messages

-- What an edge's receiver has of its sender by a sketch.
local function sketched(self, start)
  local filter, count = self.settings.filter, self.count
  local sketch = c_api.call(lib.ms_sketch_new, filter.width, filter.depth, filter.seed)
  local edge = {sketch = ffi.gc(sketch, lib.ms_sketch_free), known = doubles(count),
                pending = doubles(count), estimate = doubles(count)}
  if self.settings.merge.payload == "state" then ffi.copy(edge.known, start, 8 * count) end
  return edge
end

local function send_sketch(self, edge, value, delta)
  local count, known, pending, estimate = self.count, edge.known, edge.pending, edge.estimate
  for i = 0, count - 1 do
    pending[i] = delta and pending[i] + delta[i] or value[i] - known[i]
  end
  lib.ms_sketch_clear(edge.sketch)
  lib.ms_sketch_add(edge.sketch, pending, count)
  lib.ms_sketch_estimate(edge.sketch, estimate, count)
  local along, norm = 0, 0
  for i = 0, count - 1 do
    along, norm = along + estimate[i] * pending[i], norm + estimate[i] ^ 2
  end
  local factor = norm > 0 and math.max(0, math.min(1, along / norm)) or 0
  for i = 0, count - 1 do estimate[i] = factor * estimate[i] end
  for i = 0, count - 1 do
    pending[i] = pending[i] - estimate[i]
    known[i] = delta and estimate[i] or known[i] + estimate[i]
  end
  self.bytes = self.bytes + 24 + lib.ms_sketch_bytes(edge.sketch)
  return known
end

-- An edge with its filter, made when it first carries something.
local function edge_of(self, from, to)
  local key = from * (self.settings.replicas + 1) + to
  local edge = self.edges[key]
  if edge then return edge end
  local settings, start = self.settings, self.start[from]
  if settings.rule then
    local filter = c_api.call(lib.ms_filter_new, settings.rule, self.count, start, false)
    edge = {filter = ffi.gc(filter, lib.ms_filter_free), from = from, to = to}
  else
    edge = sketched(self, start)
    edge.from = from
  end
  self.edges[key] = edge
  return edge
end

-- What `to` has of `from` after its message: its values, or its changes.
local function send(self, from, to, value, delta)
  local count = self.count
  if not self.settings.filters then
    self.bytes = self.bytes + lib.ms_filter_bytes(count, count)
    return delta or value
  end
  local edge = edge_of(self, from, to)
  if self.sent[edge] then return self.sent[edge] end
  if edge.sketch then
    self.sent[edge] = send_sketch(self, edge, value, delta)
    return self.sent[edge]
  end
  -- Where all hear all, they are told the same.
  local first, sent = self.complete and self.first[from]
  if first then
    sent = tonumber(lib.ms_filter_send_as(edge.filter, first, value, delta))
  else
    local room = (self.settings.quota - self.spent[from]) / self.left[from]
    sent = tonumber(lib.ms_filter_send(edge.filter, value, delta, room))
    self.first[from] = edge.filter
  end
  local bytes = lib.ms_filter_bytes(sent, count)
  self.bytes, self.left[from] = self.bytes + bytes, self.left[from] - 1
  self.spent[from] = self.spent[from] + bytes
  self.sent[edge] = lib.ms_filter_received(edge.filter)
  return self.sent[edge]
end

-- Of values that all tell all, what a replica has told is merged of itself, too.
local function merges_told(self)
  return self.complete and self.settings.filters and self.settings.merge.payload == "state" and
    self.settings.replicas > 1
end

-- ------------------------------------------------------------------------------------- a round

-- What a receiver has heard at the end of round t, as merges take it.
local function heard(self, to, t, after)
  local senders, weights = topologies.senders(self.settings.topology, to, t)
  local list, from, own = {}, {}, nil
  for k, sender in ipairs(senders) do
    if not own and sender > to then
      own = #list + 1
      list[own] = false
    end
    list[#list + 1] = send(self, sender, to, after[sender], self.delta[sender])
    from[#list] = weights[k]
  end
  own = own or #list + 1
  list[own] = self.delta[to] or after[to]
  if merges_told(self) then list[own] = send(self, to, to == 1 and 2 or 1, after[to]) end
  return {to = to, list = list, own = own, weights = from, complete = true}
end

-- All hear all, unfiltered: their mean is computed once; changes are added to what each had.
local function merge_alike(self, before, after, out)
  local kind, n = self.settings.merge.kind, self.settings.replicas
  local all, number = pointers(kind == "add" and self.delta or after)
  for k = 1, n do
    if kind == "add" then
      lib.ms_replica_add(out[k], before[k], self.settings.merge.factor, all, number, self.count)
    else
      lib.ms_replica_mean(out[k], all, number, self.count)
    end
  end
  if topologies.reduces(self.settings.topology) then
    self.bytes = self.bytes + topologies.reduction_bytes(self.settings.topology, self.count)
  else
    self.bytes = self.bytes + n * (n - 1) * lib.ms_filter_bytes(self.count, self.count)
  end
end

-- Ratio consensus: each keeps and gives away equal parts of its sum and of its weight (Kempe,
-- Dobra, Gehrke, "Gossip-based computation of aggregate information", 2003).
local function push_sum(self, t, before, after, out)
  local n, count, topology = self.settings.replicas, self.count, self.settings.topology
  local receivers, hears = {}, {}
  for k = 1, n do receivers[k] = 1 end
  for k = 1, n do
    hears[k] = topologies.senders(topology, k, t)
    for _, sender in ipairs(hears[k]) do receivers[sender] = receivers[sender] + 1 end
  end
  for k = 1, n do
    for i = 0, count - 1 do self.sums[k][i] = self.sums[k][i] + (after[k][i] - before[k][i]) end
  end
  local sums, share = {}, {}
  for k = 1, n do
    local list, weights = {unpack(hears[k])}, {}
    list[#list + 1] = k
    table.sort(list)
    share[k], sums[k] = 0, doubles(count)
    for s, sender in ipairs(list) do
      list[s], weights[s] = self.sums[sender], 1 / receivers[sender]
      share[k] = share[k] + weights[s] * self.share[sender]
    end
    local all, number = pointers(list)
    lib.ms_replica_mix(sums[k], all, doubles(number, weights), number, count)
    for i = 0, count - 1 do out[k][i] = sums[k][i] / share[k] end
    self.bytes = self.bytes + (number - 1) * (lib.ms_filter_bytes(count, count) + 8)
  end
  self.sums, self.share = sums, share
end

-- What merges do to the state of filters, and to what is not told.
local function settle_filters(self, after, out)
  local merged = {}
  for k = 1, merges_told(self) and self.settings.replicas or 0 do
    merged[k] = doubles(self.count)
    ffi.copy(merged[k], out[k], 8 * self.count)
    local told = send(self, k, k == 1 and 2 or 1)
    for i = 0, self.count - 1 do
      if after[k][i] ~= told[i] then out[k][i] = out[k][i] + (after[k][i] - told[i]) end
    end
  end
  for _, edge in tables.each(self.edges) do
    local from = edge.from
    if edge.filter then
      lib.ms_filter_settle(edge.filter, after[from], out[from],
                           merged[from] or self.complete and out[from] or nil)
    elseif merged[from] then
      ffi.copy(edge.known, merged[from], 8 * self.count)
    end
  end
end

--- Whether replicas have the same bits after each exchange.
function Exchange:is_alike()
  return settings_of.is_exact(self.settings) and settings_of.agree(self.settings) and
    not self.settings.filters
end

-- The changes of a round.
local function take_changes(self, before, after)
  for k = 1, self.settings.replicas do
    lib.ms_replica_change(self.delta[k], after[k], before[k], self.count)
  end
end

--- Exchanges at the end of round t (from 1).
-- @param before lists of vectors: each replica's values when the round began, @param after when it
-- ended, @param out with which the replica goes on
-- @return the canonical bytes that were sent
function Exchange:round(t, before, after, out)
  self.bytes, self.first, self.sent = 0, {}, {}
  self.spent, self.left = {}, {} -- by sender: bytes, and to how many more it sends
  for k = 1, self.settings.replicas do self.spent[k], self.left[k] = 0, 0 end
  for k = 1, self.settings.replicas do
    for _, from in ipairs((topologies.senders(self.settings.topology, k, t))) do
      self.left[from] = self.left[from] + 1
    end
  end
  self.complete = topologies.is_complete(self.settings.topology)
  if self.settings.merge.payload == "delta" then take_changes(self, before, after) end
  if self.settings.push_sum then
    push_sum(self, t, before, after, out)
  elseif self:is_alike() then
    merge_alike(self, before, after, out)
  else
    for to = 1, self.settings.replicas do
      merging.merge(self.settings, heard(self, to, t, after), before[to], self.count, out[to])
    end
    if self.settings.filters then settle_filters(self, after, out) end
  end
  return self.bytes
end

--- Other filters or merges from the next round on. Where filters begin, as they do when changes are
-- told in place of values, receivers know what their senders hold.
-- @tab settings @param values what replicas hold: a list of vectors
function Exchange:change(settings, values)
  local rule, other = settings.rule, settings.merge.payload ~= self.settings.merge.payload
  if other then
    self.delta = {}
    for k = 1, settings.merge.payload == "delta" and settings.replicas or 0 do
      self.delta[k] = doubles(self.count)
    end
  end
  if other or (rule ~= nil) ~= (self.settings.rule ~= nil) or settings.filter.kind == "sketch" then
    self.edges = {}
    for k, start in ipairs(self.start) do ffi.copy(start, values[k], 8 * self.count) end
  end
  for _, edge in tables.each(self.edges) do
    if edge.filter and rule then c_api.call(lib.ms_filter_set_rule, edge.filter, rule) end
  end
  self.settings = settings
end

return M
