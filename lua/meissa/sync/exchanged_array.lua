-- SPDX-License-Identifier: MIT
--- An array of a replica of meissa.replicas, or several as one vector, that is exchanged, round
-- after round.
--
-- A round is one of posts (meissa.sync.post), as in loops: a replica's row has what it holds and
-- tells. The replica itself keeps its row and posts; whoever has the rows of all merges, which is
-- the worker that carries it, or the driver, and gives it its next row, with what it goes on with.
-- The first rounds by some options all come to together, and by exact ones every round; so they do
-- where `lags` are injected, by which each hears older ones. Else, where there is memory for a ring
-- (meissa.sync.post_ring), a replica's row is there from then on, and it merges by itself what it
-- hears, as soon as it may; before it goes over to other options, what has come late.
-- Before the first round each holds zeros: all is change. One thread.
-- @module meissa.sync.exchanged_array

local array = require "meissa.array"
local c_api = require "meissa.array.c_api"
local errors = require "meissa.base.errors"
local ffi = require "ffi"
local guarantees = require "meissa.sync.guarantee"
local posts = require "meissa.sync.post"
local settings_of = require "meissa.sync.settings"
local tables = require "meissa.base.tables"
local topologies = require "meissa.sync.topology"
local values = require "meissa.sync.values"
local vectors = require "meissa.sync.vector"
local waits = require "meissa.sync.waits"

local M = {}

-- ------------------------------------------------------------------------------------- options

--- Whether options say the same. Each replica has copies of its own of functions and arrays, which
-- are `alike`, {functions = whether they are, arrays = a function of two that says it; nil: no}.
function M.same_options(a, b, alike)
  if a == b or a ~= a and b ~= b then return true end
  if type(a) ~= type(b) or array.is_any(a) ~= array.is_any(b) then return false end
  if array.is_any(a) then return alike.arrays ~= nil and alike.arrays(a, b) end
  if type(a) == "function" then return alike.functions end
  if type(a) ~= "table" then return false end
  for name, value in tables.each(a) do
    if not M.same_options(value, b[name], alike) then return false end
  end
  for name in tables.each(b) do
    if a[name] == nil then return false end
  end
  return true
end

--- The same options with a topology as plain data, which other processes can be told of.
-- Errors: OPT for one of another number of replicas.
function M.by_value(options, replicas)
  if not topologies.is(options.topology) then return options end
  local plain = tables.copy(options)
  plain.topology = topologies.topology(options.topology, replicas).what
  return plain
end

--- What of options is no other where functions are.
M.RULES = {functions = true}

--- Options as text, which is the same for those that say the same; nil where there is more in them
-- than numbers, strings and booleans.
function M.text(options)
  if type(options) ~= "table" then
    local form = type(options) == "number" and "%.17g" or "%s"
    local plain = tables.PLAIN[type(options)]
    return plain and string.format("%s " .. form, type(options), options) or nil
  end
  if array.is_any(options) or getmetatable(options) ~= nil then return nil end
  local words = {}
  for n, name in ipairs(tables.keys(options)) do
    local text = M.text(options[name])
    if not text or type(name) ~= "string" and type(name) ~= "number" then return nil end
    words[n] = string.format("%q=%s", name, text)
  end
  return "{" .. table.concat(words, ",") .. "}"
end

-- Raises OPT for options that only loops over replicas have.
local function check(options)
  if options.staleness == "auto" then
    errors.raise("OPT", "r:exchange: staleness = \"auto\" is chosen while a loop runs " ..
                 "(meissa.replicate): give a number of rounds")
  end
  if type(options.merge) == "table" and options.merge.damp ~= nil then
    errors.raise("OPT", "r:exchange: a merge damps arrays in loops (meissa.replicate), which " ..
                 "know what a round has written: leave out 'damp', and give 'sigma', and let " ..
                 "the function itself do alpha = old + gamma * (alpha - old)")
  end
end

-- What exchanges by options that text says, as long as anybody has it: it keeps nothing from one
-- call to the next but what `forget` forgets, so that all replicas here and all arrays share it.
local opened = setmetatable({}, {__mode = "v"})

local function open_new(options, count, replicas, alike)
  check(options)
  local settings = settings_of.read("r:exchange", options, replicas)
  if options.timeout ~= nil then
    errors.raise("OPT", "r:exchange: option 'timeout' measures how long exchanges of loops " ..
                 "(meissa.replicate) take; here 'backup' says how many need not be waited for")
  end
  local lags = waits.open(settings.waits, 1).lags
  local exact = settings_of.is_exact(settings)
  return posts.new(settings, count, {lagged = lags ~= nil, exact = exact, by_round = exact,
                                     alike = exact and alike}), lags
end

--- What exchanges vectors of `count` elements by some options; `forget` is to be called before it
-- merges what replicas of one round hear.
-- @bool alike whether all replicas begin with the same
-- @treturn table of meissa.sync.post, whose `settings` are those of the options
-- @treturn table lags that are injected, of meissa.sync.waits; nil: none
-- Errors: OPT.
function M.open(options, count, replicas, alike)
  local text = M.text(options)
  local key = text and string.format("%d %d %s %s", count, replicas, tostring(alike), text)
  if key and opened[key] then return opened[key] end
  local made, lags = open_new(options, count, replicas, alike)
  if key and not lags then opened[key] = made end
  return made, lags
end

-- ------------------------------------------------------------------------------------- a replica

local Exchanged = {}
Exchanged.__index = Exchanged

--- A row's memory.
function M.pointer(row) return ffi.cast("double *", array.core(row).data) end

local pointer = M.pointer

--- One of `count` elements, of replica number `index`.
function M.new(count, index, replicas)
  local held = array.zeros {count}
  return setmetatable({count = count, index = index, replicas = replicas, t = 0, held = held,
                       before = pointer(held), missed = 0}, Exchanged)
end

--- Gives its memory back: nothing is exchanged any more.
function Exchanged:free()
  for _, each in ipairs {"held", "row", "spare", "began"} do
    if self[each] then self[each]:free() end
  end
end

-- Options as they are now: a table that is changed later is another one.
local function copy_of(options)
  if type(options) ~= "table" or array.is_any(options) then return options end
  local copy = {}
  for name, value in tables.each(options) do copy[name] = copy_of(value) end
  return copy
end

-- The memory of the row that it is at.
local function row_of(self)
  if self.ring then return self.ring:row(self.index, self.t - self.first + 1) end
  return pointer(self.row)
end

--- In which round by some options a ring is opened: what is exchanged just once needs none.
M.OPENS = 2

--- Whether what is heard may depend on who is how fast.
function M.is_stale(exchange, lags) return not exchange.exact and not lags end

--- Whether replicas may go on without meeting: not all need be waited for.
function M.go_alone(exchange, lags)
  if lags then return false end
  return not exchange.exact or
    not exchange.complete and not waits.open(exchange.settings.waits, 1).global
end

-- Begins a row by other options, or the first ones; rounds are counted from here.
local function begin(self, options)
  local earlier = self.posts
  self.alike = not earlier or earlier.common ~= nil
  local made, lags = M.open(options, self.count, self.replicas, self.alike)
  local row = array.zeros {made.at.size}
  if self.index == 1 then guarantees.notice("r:exchange", made.settings) end
  made:begin(self.index, self.before, pointer(row))
  if earlier then
    local from = row_of(self)
    earlier:renew(self.before, from)
    made:carry(earlier, self.index, from, pointer(row))
  end
  self.posts, self.row, self.options, self.first = made, row, copy_of(options), self.t
  self.spare, self.ring = nil, nil
  self.stale, self.alone = M.is_stale(made, lags), M.go_alone(made, lags)
  self.text = not lags and M.text(options) or nil
  self.began = lags and row:clone() or nil
end

-- The memory of arrays whose elements lie one behind the other, or of copies, as vectors take it;
-- these copies, by the number of the array.
local function copies_of(list)
  local copies, made = {}, {}
  for n, w in ipairs(list) do
    made[n] = not values.are_apart {w} and w:clone() or nil
    local about, core = array.describe(w), array.core_of_part(made[n] or w)
    copies[n] = {pointer = ffi.cast(about.type .. " *", core.data), type = about.type,
                 count = about.count, keep = made[n] or w}
  end
  return copies, made
end

-- The types of arrays, in their order, as text: each with how many of it follow each other.
local function types_of(list)
  local words, last, times = {}, nil, 0
  for n = 1, #list + 1 do
    local type = list[n] and array.describe(list[n]).type
    if type ~= last and last then
      words[#words + 1], times = times > 1 and times .. " x " .. last or last, 0
    end
    last, times = type, times + 1
  end
  return table.concat(words, ", ")
end

--- How many rounds there were by the present options.
function Exchanged:round() return self.t - self.first end

--- Whether an exchange is asked for by other options than the one before.
function Exchanged:changes(options)
  return not (self.options and M.same_options(self.options, options, M.RULES))
end

-- Moves its row into a ring.
local function enter(self, ring)
  local round = self.t - self.first
  ffi.copy(ring:row(self.index, round + 1), pointer(self.row), 8 * self.posts.at.size)
  self.ring, self.row, self.spare = ring, nil, nil
  ring:tell(self.index, round)
end

--- Posts what a list of arrays holds; what has to be known of that where it is merged: {values =
-- {the row}, count, types, options, t, round = the same counted from the last change of options,
-- alike = whether all began that with the same, form = all but the values as text, if others can
-- merge it that know no more, began = with lags, before the first round, the row before it}; or,
-- where the replica merges by itself, {ring = true, round =}.
-- @tab[opt] ring one that all may have begun since (meissa.sync.post_ring)
-- Errors: OPT.
function Exchanged:post(list, options, ring)
  if self:changes(options) then
    begin(self, options)
  elseif ring and ring:is_placed() and not self.ring and ring.began == self.first then
    enter(self, ring)
  end
  if type(options.merge) == "function" then self.posts:call(options.merge) end
  local row = row_of(self)
  self.t = self.t + 1
  local round, exchange = self.t - self.first, self.posts
  vectors.load(copies_of(list), row)
  if exchange:are_changes() then exchange:hold(self.before, row) end
  exchange:post(self.index, self.t, row)
  self.sent = row[exchange.at.bytes]
  if self.ring then
    self.ring:post(self.index, round)
    return {ring = true, round = round}
  end
  -- A ring is the driver's to open, and to tell of where it has no memory.
  local together = self.text and not (self.alone and round >= M.OPENS)
  local types = types_of(list)
  return {values = {self.row}, count = self.count, types = types, options = options, t = self.t,
          round = round, alike = self.alike,
          form = together and string.format("%d %s %d %d %s", self.count, types, self.t, round,
                                            self.text) or nil,
          began = round == 1 and self.began or nil}
end

-- Has arrays hold what a vector says; see copies_of.
local function put(list, copies, made, vector)
  vectors.store(copies, vector)
  for n, copy in tables.each(made) do list[n]:copy(copy) end
end

-- Has the arrays hold what a row says, with which the replica goes on.
local function store(self, list, row)
  local copies, made = copies_of(list)
  put(list, copies, made, row)
  vectors.load(copies, self.before) -- floats are rounded
end

--- Goes on with the next row, and has the arrays hold what it says.
function Exchanged:take(list, row)
  store(self, list, pointer(row))
  self.spare, self.row = self.row, row
end

-- Merges what is heard in the ring.
local function merge_there(self, late)
  local ring, round, k = self.ring, self.t - self.first, self.index
  local row = ring:row(k, round + 1)
  local function merge()
    local heard = ring:heard(k, round, late)
    M.merge_into(self.posts, k, self.t, heard, row)
    return ring:take(k, not late and round or nil, heard)
  end
  repeat until merge()
  local missed = row + self.posts.at.missed
  self.missed, missed[0] = self.missed + missed[0], 0
  return row
end

--- Goes on in the ring, and has the arrays hold what it hears there.
function Exchanged:take_there(list) store(self, list, merge_there(self, false)) end

--- Whether something may have been told by the last options that this replica has not heard, and is
-- lost unless it does.
function Exchanged:has_late()
  return self.ring ~= nil and self.stale and self.posts:are_changes()
end

--- Takes what has come late: the arrays change by it.
function Exchanged:take_late(list)
  local row, count = merge_there(self, true), self.count
  local copies, made = copies_of(list)
  local vector = vectors.new(count)
  vectors.load(copies, vector)
  c_api.lib.ms_replica_accumulate(vector, 1, row, self.before, count)
  put(list, copies, made, vector)
  ffi.copy(self.before, row, 8 * count)
end

--- Whether it may go on with the round that it has posted.
-- @bool late whether it is to take what has come late
function Exchanged:is_open(late)
  return self.ring:is_open(self.index, self.t - self.first, late)
end

--- Raises OPT where it may not, since a replay has no more of it.
function Exchanged:check_recorded(late)
  self.ring:check_recorded(self.index, self.t - self.first, late)
end

--- How many messages were not there when it went on, since this was asked.
function Exchanged:take_missed()
  local missed = self.missed
  self.missed = 0
  return missed
end

-- ------------------------------------------------------------------------------------- merging

--- Makes the next row of replica k, with the value that it goes on with, after round t.
-- @tab exchange of meissa.sync.post @tab heard as Posts:merge takes it
-- @param next_row its memory
-- Errors: BDY.
function M.merge_into(exchange, k, t, heard, next_row)
  local anew = exchange.at.anew
  ffi.copy(next_row + anew, heard.own + anew, 8 * (exchange.at.size - anew))
  local value = exchange:merge(k, t, heard, next_row, next_row)
  if value ~= next_row then ffi.copy(next_row, value, 8 * exchange.count) end
  next_row[exchange.at.bytes] = 0
end

--- The same; the row is new.
-- @tab[opt] spare a row that nobody needs any more
-- @treturn DistArray the row
function M.merge(exchange, k, t, heard, spare)
  local row = spare or array.zeros {exchange.at.size}
  M.merge_into(exchange, k, t, heard, pointer(row))
  return row
end

return M
