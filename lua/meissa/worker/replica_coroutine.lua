-- SPDX-License-Identifier: MIT
--- A replica of meissa.replicas where it is carried: a coroutine, and what its function calls r.
--
-- It runs until it has to wait for others: then it has a request, {kind = "allReduce", "scatter",
-- "barrier" or "exchange", and what goes with it}; one to exchange gets `merged`, or, with `ring`,
-- is gone on with as soon as it may (`may_go_on`), and then merges by itself. Whoever carries
-- replicas of one run in this process has {count =, draws =, replicas = by index, reduces =, bytes
-- =, rings = by slot, tell() = called after each post to a ring, close(number) = called when a
-- replica does not use a slot any more}, with `meeting` while they meet here and `ended` in the
-- end. One thread.
-- @module meissa.worker.replica_coroutine

local array = require "meissa.array"
local replica_stubs = require "meissa.worker.replica_stub"
local builtin = require "meissa.base.builtin"
local errors = require "meissa.base.errors"
local exchange_slots = require "meissa.worker.exchange_slots"
local exchanged_arrays = require "meissa.sync.exchanged_array"
local generators = require "meissa.sync.generators"
local isolate = require "meissa.sync.isolate"
local message = require "meissa.kernel.message"
local models = require "meissa.sync.models"
local random = require "meissa.kernel.random"
local settings_of = require "meissa.sync.settings"
local tables = require "meissa.base.tables"
local thrown = require "meissa.base.thrown"
local values = require "meissa.sync.values"
local interrupt = require "meissa.base.interrupt"

local M = {}

-- ------------------------------------------------------------------------------- the replica

-- What a replica asks for, by its metatable told from what a function yields by itself.
local Request = {}

local function refuse_call(kind, why)
  errors.raise("BDY", "r.%s was called %s", kind, why)
end

-- Raises BDY where a replica cannot wait.
local function check_call(self, kind)
  if self.run.ended or self.run.meeting then
    replica_stubs.refuse(kind, not self.run.ended and self.run.meeting)
  elseif coroutine.running() ~= self.thread then
    refuse_call(kind, "in a coroutine of the body's own: a replica waits for others in its " ..
                "function itself; let the coroutine yield what is to be exchanged")
  elseif not coroutine.isyieldable() then
    refuse_call(kind, "in a function that was called by one in C, such as that of " ..
                "table.sort or string.gsub: a replica cannot wait there; call it outside")
  end
end

-- Waits until all replicas have come to the same.
local function meet(self, request)
  check_call(self, request.kind)
  return (coroutine.yield(setmetatable(request, Request)))
end

-- Raises OPT where a function of r was called with a colon that has a dot, or the other way round.
local function check_dot(self, kind, value)
  if value == self.face then
    errors.raise("OPT", "r.%s is called with a dot: r.%s(...), not r:%s(...)", kind, kind, kind)
  end
end

local function as_table(value)
  if type(value) == "table" and not array.is_any(value) then return value, true end
  return {value}, false
end

local function check_function(what, fn)
  if fn ~= nil and type(fn) ~= "function" then
    errors.raise("OPT", "r.allReduce(value, op, zero): %s is a function, not %s", what,
                 tostring(fn))
  end
end

-- Reduces; a replica that has finished its steps (`zero`) answers until all have.
local function all_reduce(self, value, op, zero)
  check_dot(self, "allReduce", value)
  check_function("the operation", op)
  check_function("zero", zero)
  if value == nil then value = self.last end
  if value == nil then
    errors.raise("OPT", "allReduce(nil) takes the value of the last allReduce, and there was none")
  end
  local t, is_table = as_table(value)
  values.check("allReduce", t)
  self.last = value
  local done
  repeat
    local e = 0
    values.walk(zero and t or {}, function(each)
      e = e + 1
      return zero(each, e)
    end)
    done = meet(self, {kind = "allReduce", values = t, alone = not is_table, op = op,
                       done = zero ~= nil})
  until not zero or done == self.count
  if not is_table then self.last = t[1] end
  return is_table and t or t[1], self.count - done
end

local function scatter(self, value)
  check_dot(self, "scatter", value)
  if value == nil then
    errors.raise("OPT", "r.scatter(value) takes a value from every replica, which has the form " ..
                 "of what replica 1 gives: not nil")
  end
  local t, is_table = as_table(value)
  values.check("scatter", t)
  meet(self, {kind = "scatter", values = t, alone = not is_table})
  return is_table and t or t[1]
end

local function check_vector(w)
  local fits = array.is(w) and not array.describe(w).sparse and
    (array.describe(w).type == "double" or array.describe(w).type == "float")
  if not fits then
    local is_dense = array.is(w) and not array.describe(w).sparse
    errors.raise("OPT", "r:exchange(w, options) takes a dense array of floats or doubles, or a " ..
                 "list of such, not %s%s", errors.shown(w),
                 is_dense and ": exchange a copy, meissa.from(w, {type = \"double\"}); sums of " ..
                   "integers r.allReduce(w) gives" or "")
  end
end

-- The arrays of an exchange: a list of them, or the one that is given.
local function arrays_of(w)
  local list = {w}
  if type(w) == "table" and not array.is_any(w) then
    local what = "r:exchange: the list of arrays"
    if tables.next(w) == nil then errors.raise("OPT", "%s is empty", what) end
    if errors.is_list(w, what) then list = {unpack(w)} end
  end
  for _, each in ipairs(list) do check_vector(each) end
  return list
end

-- Waits until it may go on with the round of a slot, and does so; nothing is to be waited for
-- meanwhile.
local function go_on_there(self, slot, late, take)
  meet(self, {kind = "exchange", slot = slot.number, ring = true, late = late,
              round = slot.exchanged:round()})
  local run = self.run
  run.meeting = "exchange"
  local ok, err = pcall(take)
  run.meeting = nil
  if not ok then error(err, 0) end
end

-- Exchanges what all have come to a meeting with, or by itself.
local function exchange_list(self, slot, list, options)
  local exchanged, run = slot.exchanged, self.run
  self.exchanging = exchanged
  if exchanged:has_late() and exchanged:changes(options) then
    go_on_there(self, slot, true, function() exchanged:take_late(list) end)
  end
  local request = exchanged:post(list, options, run.rings[slot.number])
  self.sent = self.sent + exchanged.sent
  if request.ring then
    run.tell()
    go_on_there(self, slot, false, function() exchanged:take_there(list) end)
    self.missed = self.missed + exchanged:take_missed()
  else
    request.kind, request.slot = "exchange", slot.number
    meet(self, request)
    exchanged:take(list, request.merged)
  end
end

-- Exchanges an array of this replica's, or several as one: the first that it exchanges with the
-- first of each other, and so on.
local function exchange(self, face, w, options)
  if face ~= self.face then
    errors.raise("OPT", "r:exchange is called with a colon: r:exchange(w, options), not " ..
                 "r.exchange(...)")
  end
  local list = arrays_of(w)
  errors.check_options("r:exchange", options, settings_of.OF_LOOPS)
  check_call(self, "exchange")
  options = exchanged_arrays.by_value(options or {}, self.count)
  exchange_list(self, self.slots:of(list), list, options)
  return w
end

-- First and length of this replica's rows of so many.
local function rows_of(self, rows)
  local each, longer = math.floor(rows / self.count), rows % self.count
  return (self.index - 1) * each + math.min(self.index - 1, longer) + 1,
    each + (self.index <= longer and 1 or 0)
end

-- Raises OPT for arrays of which others would not see what is written.
local function check_captured(self, value)
  if self.originals[value] then return end
  local what = "one that is the replica's own, a copy or an argument, and can be written as it is"
  for _, original in tables.each(self.originals) do
    if array.overlap(original, value) then
      what = "a view that it makes of one: make the view outside of it, or take it of r.shard(A)"
    end
  end
  errors.raise("OPT", "r.shard(A) takes an array that the function captures, not %s", what)
end

-- This replica's rows of an array. The rows of a captured array are the replica's own until it
-- waits for others: then all replicas see their new contents.
local function shard(self, value)
  check_dot(self, "shard", value)
  local target = self.originals[value] or value
  if not array.is_handle(target) or array.describe(target).sparse then
    errors.raise("OPT", "r.shard(A) takes a dense array, not %s", tostring(value))
  end
  check_captured(self, value)
  local known = self.shards[target]
  if known then return known.own end
  for _, each in ipairs(self.shard_list) do
    if array.overlap(each.target, target) then
      errors.raise("OPT", "r.shard(A): A shares memory with an array of which replica %d has a " ..
                   "shard: take views of that shard", self.index)
    end
  end
  local first, length = rows_of(self, array.describe(target).dims[1]) -- none beyond the last row
  local view = target:narrow(1, first, length)
  if array.is_frozen(target) then return view end
  known = {target = target, first = first, length = length, own = view:clone(), view = view}
  self.shards[target], self.shard_list[#self.shard_list + 1] = known, known
  return known.own
end

local function new_replica(run, index)
  local self = {index = index, count = run.count, shards = {}, shard_list = {}, run = run,
                sent = 0, missed = 0,
                slots = exchange_slots.new(index, run.count, run.close)}
  self.face = {
    index = index, count = run.count, nodeIndex = index, numNodes = run.count,
    walkTable = function(t, fn)
      check_dot(self, "walkTable", t)
      if type(fn) ~= "function" then
        errors.raise("OPT", "r.walkTable(t, fn): fn is a function of a value, not %s", tostring(fn))
      end
      return values.walk(t, fn)
    end,
    allReduce = function(value, op, zero) return all_reduce(self, value, op, zero) end,
    scatter = function(value) return scatter(self, value) end,
    barrier = function() meet(self, {kind = "barrier"}) end,
    shard = function(value) return shard(self, value) end,
    netStats = function()
      return {reduces = run.reduces, bytes = run.bytes + self.sent, missed = self.missed}
    end,
    exchange = function(face, w, options) return exchange(self, face, w, options) end,
  }
  return self
end

-- ------------------------------------------------------------------------------- its run

-- @string who in words
local function fail(who, err)
  local fields = {code = interrupt.is(err) and "INT" or "BDY",
                  message = who .. ": " .. thrown.message(err)}
  if fields.code == "BDY" then fields.value = thrown.value(err) end
  if errors.is(err) then
    for name, value in tables.each(err) do fields[name] = value end
    fields.message = who .. ": " .. tostring(err.message)
  else
    local file, line, text = string.match(thrown.message(err), "^(.-):(%d+): (.*)$")
    if file then
      fields.file, fields.line = file, tonumber(line)
      fields.message = who .. ": " .. text
    end
  end
  error(errors.new(fields), 0)
end

--- Calls the function that a process is set up by, if there is one.
-- Errors: what it raises.
function M.set_up(setup, worker)
  if not setup then return end
  local ok, err = models.apart(pcall, setup, worker)
  if not ok then fail("setup", err) end
end

--- What `print` is for replicas, where that is another one than this process's.
M.print = nil

local function instead_of(fn)
  local library, name = builtin.find(fn)
  return library == "_G" and name == "print" and M.print or nil
end

local RESULT = {code = "BDY", free = true, whither = "the caller of meissa.replicas",
                path = function() return "its result" end,
                remedy = "A replica returns numbers, strings, arrays, tensors, tables of these, " ..
                         "and functions over such: return what is needed of anything else."}

-- What a replica's function has returned, as bytes: nothing of it is anybody else's, wherever the
-- replica is.
-- Errors: BDY for what cannot travel, at the function's place.
local function pack_result(replica, result)
  local options = tables.copy(RESULT)
  options.named = replica_stubs.name(replica.face, {})
  local ok, bytes = pcall(message.pack, {result}, 1, options)
  if ok then return bytes end
  if errors.is(bytes) then
    local info = debug.getinfo(replica.fn, "S")
    bytes.file, bytes.line = string.gsub(info.source, "^[@=]", ""), info.linedefined
  end
  fail("replica " .. replica.index, bytes)
end

--- Goes on with a replica until it waits, and has a `request`, or is `finished`, with a `result`
-- (of meissa.kernel.message).
-- @param ... what others have come to
-- Errors: what its function raises, with its index; BDY where that yields by itself, or returns
-- what cannot travel.
function M.go_on(replica, ...)
  local outer = generators.enter(replica.generators)
  local ok, request = models.apart(coroutine.resume, replica.thread, ...)
  generators.leave(replica.generators, outer)
  local who = "replica " .. replica.index
  if not ok then fail(who, request) end
  replica.request = nil
  if coroutine.status(replica.thread) == "dead" then
    replica.finished, replica.result = true, pack_result(replica, request)
  elseif getmetatable(request) == Request then
    replica.request = request
  else
    fail(who, errors.new {code = "BDY", message = "the function of a replica yields, and " ..
                              "nobody takes it: call coroutine.yield in coroutines of its own, " ..
                              "and r.barrier() to wait for other replicas"})
  end
end

--- What a replica exchanges by that number, of meissa.sync.exchanged_array; nil: nothing.
function M.exchanged(replica, number)
  return replica.slots and replica.slots:exchanged(number)
end

--- Whether a replica waits for nothing but that it may go on in a ring;
function M.is_alone(replica) return replica.request ~= nil and replica.request.ring == true end

--- and whether it may.
function M.may_go_on(replica)
  return M.is_alone(replica) and replica.exchanging:is_open(replica.request.late)
end

--- Raises OPT where it waits for that in vain, as a replay has no more of it.
function M.check_recorded(replica)
  if replica.exchanging and M.is_alone(replica) then
    replica.exchanging:check_recorded(replica.request.late)
  end
end

--- Makes a replica and runs it until it waits or is finished.
-- @tab run see above @number index @func fn the function, of which it gets a copy
-- @tab arguments further ones, which are copied, too @number count how many
-- Errors: those of `go_on`.
function M.begin(run, index, fn, arguments, count)
  local self = new_replica(run, index)
  run.replicas[index] = self
  local own, given
  self.held = {}
  own, given, self.originals = isolate.copy(fn, arguments, count, instead_of, self.held)
  self.fn = own
  self.thread = coroutine.create(function() return own(self.face, unpack(given, 1, count)) end)
  self.generators = generators.new(run.draws, index, random.seed_of(run.draws, index))
  M.go_on(self)
  return self
end

--- Sparse arrays that a replica's function captures can be written again.
function M.give_back(replica)
  for _, release in ipairs(replica.held or {}) do release() end
end

--- The shards that a replica has of captured arrays: a list of {target =, first = row, length =,
-- own = an array, view = those rows of the target}.
function M.shards(replica) return replica.shard_list end

return M
