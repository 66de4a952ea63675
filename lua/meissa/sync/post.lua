-- SPDX-License-Identifier: MIT
--- Posts: what replicas leave for each other at the end of a round, and what each makes of it
-- before its next one, without anybody between them.
--
-- Each replica has a row of doubles, of which there is a version for each round: its values, and
-- what has to be known of its messages. Who runs a replica's block of a round writes that row and
-- reads those of the senders, of whichever rounds the gate lets it see. All that is known of an
-- exchange is in rows (post_rows.lua), so a block that is run again, elsewhere or along a record,
-- gives the same.
--
-- Deltas and push-sum are told as sums since the rows began: so a message that comes late, or
-- together with the next one, loses nothing. Where each hears just the round before, it is done as
-- in exchanges with a barrier, with the same bits: deltas, if all hear all, are those of the round,
-- which are added to what all began it with; of sums each takes its part from the sender's row.
-- @module meissa.sync.post

local c_api = require "meissa.array.c_api"
local ffi = require "ffi"
local filters = require "meissa.sync.post_filters"
local merging = require "meissa.sync.merging"
local rows_of = require "meissa.sync.post_rows"
local settings_of = require "meissa.sync.settings"
local tables = require "meissa.base.tables"
local topologies = require "meissa.sync.topology"

local M = {}

local lib = c_api.lib
local doubles = ffi.typeof "double[?]"

local edge_of = filters.edge_of

local Posts = {}
Posts.__index = Posts

-- A vector of the posts' own, made when it is needed: fresh memory takes longer than what is done
-- with it.
local function own(self, name)
  local vector = self.vectors[name] or doubles(self.count)
  self.vectors[name] = vector
  return vector
end

--- Posts of a group of replicas, in a process that runs some of their blocks, or all.
-- @tab settings of meissa.sync.settings; nil: what is private, of which nobody hears
-- @number count elements of a replica
-- @tab told {lagged = whether what is seen of a sender may be older than what was seen before,
-- model = whether replicas are models, exact = whether all see the round before, alike = whether
-- they do for now and have begun with the same bits, by_round = whether changes are added to what
-- each round begins with anyhow, check = whether filters keep ledgers}
function M.new(settings, count, told)
  local self = setmetatable({settings = settings, count = count, vectors = {},
                             lagged = told.lagged, exact = told.exact}, Posts)
  local receivers, senders = 0, 0
  if settings then
    self.tells = rows_of.tells(settings)
    self.to, receivers = rows_of.number_all(settings, function(k, t) return self.tells[t][k] end)
    self.from, senders = rows_of.number_all(settings, function(k, t)
      return (rows_of.senders(settings, k, t))
    end)
  end
  -- Where all hear the same, a process merges it once for all of its replicas. What changes are
  -- added to must be the same, too.
  self.complete = settings ~= nil and topologies.is_complete(settings.topology)
  local agree = settings ~= nil and settings_of.agree(settings)
  if agree and not settings.filters then
    local adds = settings.merge.kind == "add"
    self.by_round = adds and (told.alike or told.by_round) or false
    local is_common = not adds and told.exact or adds and told.alike
    self.common = is_common or nil
  end
  -- Where all hear all of the round before, what a filter leaves out is left out for all.
  self.shared = settings and settings.filters and told.exact and receivers > 0 and self.complete
  self.by_round = self.by_round or self.shared and settings.merge.payload == "delta"
  self.ledgers = told.check and settings and settings.rule ~= nil and
    settings.merge.payload == "delta" or false
  self.mixes = told.exact and settings ~= nil and settings.push_sum
  self.at = rows_of.lay_out(settings, count, receivers, senders,
                            {model = told.model, drawn = told.drawn, timed = told.timed,
                             lagged = told.lagged, mixes = self.mixes,
                             shared = self.shared, ledgers = self.ledgers,
                             by_round = self.by_round})
  local begins = settings and (settings.filters or self:are_changes()) -- with zeros, until it holds
  self.before = begins and own(self, "kept") or nil
  return self
end

--- Whom each replica reads in any round, itself among them: sets, by number, where each reads all
-- the same one.
function Posts:sets(replicas)
  local sets, everyone = {}, {}
  for k = 1, self.complete and replicas or 0 do
    everyone[k] = true
    sets[k] = everyone
  end
  for k = 1, self.complete and 0 or replicas do
    sets[k] = {[k] = true}
    for j in tables.each(self.from and self.from[k] or {}) do sets[k][j] = true end
  end
  return sets
end

-- ------------------------------------------------------------------------------------- messages

local function copy(to, from, count) ffi.copy(to, from, 8 * count) end

local function add(to, from, count) lib.ms_replica_accumulate(to, 1, from, nil, count) end

-- Gives equal parts of a replica's sum and weight away, and keeps one (Kempe, Dobra, Gehrke,
-- "Gossip-based computation of aggregate information", 2003).
local function give_away(self, row, k, receivers)
  local sum, parts = row + self.at.sum, #receivers + 1
  lib.ms_replica_divide(sum, sum, parts, self.count + 1)
  for _, to in ipairs(receivers) do add(edge_of(self, row, k, to), sum, self.count + 1) end
end

--- Posts what replica k has come to at the end of round t (from 1).
-- @param row its row, which has what it holds, and else what the last round's had
function Posts:post(k, t, row)
  local settings, count, at, value = self.settings, self.count, self.at, row
  if not settings then return end
  local of, change = self.tells[t % settings.topology.period], nil
  local told = self.complete and settings.replicas - 1 or #of[k]
  if self:are_changes() then
    change = self.by_round and row + at.total or own(self, "change")
    lib.ms_replica_change(change, value, self.before, count)
  end
  if settings.merge.payload == "delta" then
    if not self.by_round then add(row + at.total, change, count) end
    if at.changed then add(row + at.changed, change, count) end
  end
  local bytes
  if settings.push_sum then
    add(row + at.sum, change, count)
    bytes = told * (lib.ms_filter_bytes(count, count) + 8)
    if not self.mixes then give_away(self, row, k, of[k]) end
  elseif settings.filters then
    bytes = filters.tell(self, row, k, of[k], value,
                         settings.merge.payload == "delta" and change or nil)
  elseif topologies.reduces(settings.topology) then
    bytes = k == 1 and topologies.reduction_bytes(settings.topology, count) or 0
  else
    bytes = told * lib.ms_filter_bytes(count, count)
  end
  row[at.bytes] = row[at.bytes] + bytes
end

-- ------------------------------------------------------------------------------------- merging

-- Where replica k's row has which round of a sender it has heard.
local function heard_of(self, row, k, sender)
  return row + (self.at.heard + (self.complete and sender - 1 or self.from[k][sender]))
end

-- Where replica k's row has what was taken of a sender.
local function taken_of(self, row, k, sender)
  return row + (self.at.taken + self.from[k][sender] * (self.count + 1))
end

-- Takes what senders have sent since it was last looked at.
local function merge_push_sum(self, k, rows, row)
  local at, count = self.at, self.count
  local sum = row + at.sum
  for j = 1, self.settings.replicas do
    local place = self.from[k][j] and heard_of(self, row, k, j)
    if place and rows.seen(j) > place[0] then
      local sent, taken = edge_of(self, rows.of(j), j, k), taken_of(self, row, k, j)
      place[0] = rows.seen(j)
      lib.ms_replica_accumulate(sum, 1, sent, taken, count + 1)
      copy(taken, sent, count + 1)
    end
  end
  lib.ms_replica_divide(self.into, sum, sum[count], count)
end

-- Takes from each sender's sum, and its own, the part that is its, by sender.
local function mix_sums(self, k, rows, row, t)
  local at, count, tells = self.at, self.count, self.tells[t % self.settings.topology.period]
  local list, weights, share = {}, {}, 0
  for j = 1, self.settings.replicas do
    local is_told = j == k
    for _, to in ipairs(tells[j]) do is_told = is_told or to == k end
    if is_told then
      local sum = (j == k and rows.own or rows.of(j)) + at.sum
      list[#list + 1], weights[#weights + 1] = sum, 1 / (#tells[j] + 1)
      share = share + weights[#weights] * sum[count]
    end
  end
  local all, number = merging.pointers(list)
  lib.ms_replica_mix(row + at.sum, all, doubles(number, weights), number, count)
  row[at.sum + count] = share
  lib.ms_replica_divide(self.into, row + at.sum, share, count)
end

-- What replica k hears, as merges take it.
local function hear(self, k, t, rows, row)
  local settings, at, count = self.settings, self.at, self.count
  local delta = settings.merge.payload == "delta"
  local senders, given = rows_of.senders(settings, k, t)
  local heard = {to = k, list = {}, weights = {}, distance = {}, complete = true}
  local list = heard.list
  local function put_own()
    heard.own = #list + 1
    list[heard.own] = delta and rows.own + at.total or filters.own(self, rows.own)
    heard.distance[heard.own] = 0
  end
  for s, sender in ipairs(senders) do
    local version, place = rows.seen(sender), heard_of(self, row, k, sender)
    if not heard.own and sender > k then put_own() end
    local is_new = version > place[0] and version >= rows.oldest
    if delta or is_new then
      local from = rows.of(sender)
      from = settings.filters and edge_of(self, from, sender, k) or
        from + (delta and at.total or 0)
      if delta and at.taken then
        local taken = taken_of(self, row, k, sender)
        if is_new then copy(taken, from, count) end
        from = taken
      end
      list[#list + 1] = from
      heard.weights[#list], heard.distance[#list] = given[s], version - rows.last
    else
      heard.complete = false
    end
    if version < rows.last and not self.lagged then row[at.missed] = row[at.missed] + 1 end
    place[0] = math.max(place[0], version)
  end
  if not heard.own then put_own() end
  return heard
end

local function merge_heard(self, k, t, rows, row, into)
  local heard = hear(self, k, t, rows, row)
  merging.merge(self.settings, heard, rows.own + (self.at.base or 0), self.count, into)
end

-- Merges what all hear alike. Where a process has several replicas it keeps that for the others of
-- the round.
local function merge_common(self, k, t, rows, row)
  self.several = self.several or self.common_round == t
  if self.kept_round ~= t then
    merge_heard(self, k, t, rows, row, self.several and own(self, "common") or self.into)
    self.common_round, self.kept_round = t, self.several and t or nil
  end
  if self.several then copy(self.into, own(self, "common"), self.count) end
end

--- What replica k goes on with after the exchange of round t (from 1).
-- @tab rows {own = its row of that round, of = function(sender) its row as it is seen, seen =
-- function(sender) of which round that is, oldest = the oldest that is heard at all, last = the
-- round's number}; all as the rows number rounds, from 1
-- @param row its row of the next round, which begins as that of the last one, but for its values
-- @param[opt] into a vector to put it into
-- @return that, or one that is good until the next call
function Posts:merge(k, t, rows, row, into)
  self.into = into or own(self, "out")
  if not self.settings then
    copy(self.into, rows.own, self.count)
  elseif self.settings.push_sum then
    local merge = self.mixes and mix_sums or merge_push_sum
    merge(self, k, rows, row, t)
  elseif self.common then
    merge_common(self, k, t, rows, row)
  else
    merge_heard(self, k, t, rows, row, self.into)
    if self.settings.filters then filters.settle(self, k, rows, row) end
  end
  return self.into
end

--- Adds to the seconds that a replica's exchanges, 0, or its body, 1, have taken.
function Posts:spend(row, what, seconds)
  local at = self.at.times + what
  row[at] = row[at] + seconds
end

--- Merges by another copy of the function that is option `merge`.
function Posts:call(rule)
  local settings = tables.copy(self.settings)
  settings.merge = tables.copy(settings.merge)
  self.settings, settings.merge.rule = settings, rule
end

--- Other rows follow, perhaps of the same rounds.
function Posts:forget() self.common_round, self.kept_round = nil, nil end

--- Whether what is posted are changes, so that it has to be said what a round begins with.
function Posts:are_changes()
  local settings = self.settings
  return settings ~= nil and (settings.merge.payload == "delta" or settings.push_sum)
end

--- Says what a replica begins its round with, as it holds it: what it posts on its row are changes
-- of that.
function Posts:hold(value, row)
  self.before = self.by_round and row + self.at.base or own(self, "kept")
  copy(self.before, value, self.count)
end

--- Raises BUG where what replica k's filters have produced is not what has become of it.
function Posts:check(k, row)
  if self.ledgers then filters.check(self, k, row) end
end

-- ------------------------------------------------------------------------------------- begin, end

--- Fills a row with what replica k begins with.
function Posts:begin(k, value, row)
  local settings, count, at = self.settings, self.count, self.at
  ffi.fill(row, 8 * at.size)
  copy(row, value, count)
  if not settings then return end
  if settings.push_sum then
    copy(row + at.sum, value, count)
    row[at.sum + count] = 1
  end
  if settings.filters then filters.begin(self, k, value, row) end
  self:renew(value, row)
end

--- Goes on in a row with what an earlier one had, of posts with other settings, where neither has
-- messages on the way. What filters of values have held back means nothing to those of changes, nor
-- the other way round: these begin anew with what replicas hold.
-- @tab earlier the posts @number k the replica @param from its row there @param row its row here
function Posts:carry(earlier, k, from, row)
  if self.at.sum and earlier.at.sum then
    copy(row + self.at.sum, from + earlier.at.sum, self.count + 1)
  end
  if not (self.exact and earlier.exact) then return end
  local alike = self.settings.merge.payload == earlier.settings.merge.payload
  if alike and self.settings.rule and earlier.settings.rule then
    filters.carry(self, earlier, k, from, row)
  end
end

--- Has a row begin anew with `value`: from here on rounds and sums are counted; what filters hold
-- back stays.
function Posts:renew(value, row)
  local settings, count, at = self.settings, self.count, self.at
  copy(row, value, count)
  if at.times then ffi.fill(row + at.times, 8 * 2) end
  if not settings then return end
  if at.base then
    copy(row + at.base, value, count)
    ffi.fill(row + at.total, 8 * count)
    if at.changed then ffi.fill(row + at.changed, 8 * count) end
  end
  if at.taken then ffi.fill(row + at.taken, 8 * ((at.edges or at.heard) - at.taken)) end
  local are_sums = not self.mixes and (settings.push_sum or settings.merge.payload == "delta")
  local edges = at.edges and are_sums and math.floor((at.heard - at.edges) / at.edge) or 0
  for e = 0, edges - 1 do ffi.fill(row + (at.edges + e * at.edge), 8 * (count + 1)) end
  ffi.fill(row + at.heard, 8 * (at.size - at.heard))
end

return M
