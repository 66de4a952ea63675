-- SPDX-License-Identifier: MIT
--- meissa.replicas: a function that runs once for each replica, and says itself when to exchange.
--
-- A replica is a coroutine. All run until each has come to an exchange, which is then done for all
-- at once, in the order of the replicas: so the bits depend on the function alone. At present the
-- coroutines are carried by the driver's process, one after the other; nothing that they can see
-- tells them so: each has copies of what the function captures, and random numbers of its own.
-- @module meissa.driver.replicas

local array = require "meissa.array"
local copies = require "meissa.sync.replica"
local errors = require "meissa.base.errors"
local isolate = require "meissa.sync.isolate"
local meetings = require "meissa.sync.meeting"
local nesting = require "meissa.base.nesting"
local random = require "meissa.kernel.random"
local settings_of = require "meissa.sync.settings"
local values = require "meissa.sync.values"
local tables = require "meissa.base.tables"

local M = {}

-- ------------------------------------------------------------------------------- the replica

-- What a replica asks for, by its metatable told from what a function yields by itself.
local Request = {}

local function refuse_call(kind, why)
  errors.raise("BDY", "r.%s was called %s", kind, why)
end

-- Raises BDY where a replica cannot wait.
local function check_call(self, kind)
  if self.run.ended then
    refuse_call(kind, "after meissa.replicas had ended: r is for the function of a replica, and " ..
                "what is needed later is what that returns")
  elseif self.run.meeting then
    refuse_call(kind, "in a function that r." .. self.run.meeting .. " called, while all " ..
                "replicas wait: exchange before or after it")
  elseif coroutine.running() ~= self.thread then
    refuse_call(kind, "in a coroutine of the body's own: a replica waits for others in its " ..
                "function itself; let the coroutine yield what is to be exchanged")
  end
end

-- Waits until all replicas have come to the same.
local function meet(self, request)
  check_call(self, request.kind)
  local ok, answer = pcall(coroutine.yield, setmetatable(request, Request))
  if not ok then
    refuse_call(request.kind, "in a function that was called by one in C, such as that of " ..
                "table.sort or string.gsub: a replica cannot wait there; call it outside")
  end
  return answer
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
  local t, is_table = as_table(value)
  values.check("scatter", t)
  meet(self, {kind = "scatter", values = t, alone = not is_table})
  return is_table and t or t[1]
end

local function check_vector(w)
  local fits = array.is(w) and not array.describe(w).sparse and
    (array.describe(w).type == "double" or array.describe(w).type == "float")
  if not fits then
    errors.raise("OPT", "r:exchange(w, options) takes a dense array of floats or doubles, not %s",
                 tostring(w))
  end
end

-- Exchanges an array of this replica's: the first one that it exchanges with the first one of each
-- other, and so on.
local function exchange(self, face, w, options)
  if face ~= self.face then
    errors.raise("OPT", "r:exchange is called with a colon: r:exchange(w, options), not " ..
                 "r.exchange(...)")
  end
  check_vector(w)
  errors.check_options("r:exchange", options, settings_of.OPTIONS)
  local id = array.describe(w).id
  if not self.slots[id] then
    self.slot_count = self.slot_count + 1
    self.slots[id] = self.slot_count
  end
  meet(self, {kind = "exchange", array = w, slot = self.slots[id], options = options or {}})
  return w
end

-- This replica's rows of a captured array.
local function shard(self, value)
  check_dot(self, "shard", value)
  local target = self.originals[value] or value
  if not array.is_handle(target) or array.describe(target).sparse then
    errors.raise("OPT", "r.shard(A) takes a dense array, not %s", tostring(value))
  end
  local rows = array.describe(target).dims[1]
  local each, longer = math.floor(rows / self.count), rows % self.count
  local length = each + (self.index <= longer and 1 or 0)
  if length == 0 then
    errors.raise("OPT", "r.shard(A): %d rows cannot be shared out to %d replicas", rows, self.count)
  end
  self.keep(target)
  return target:narrow(1, (self.index - 1) * each + math.min(self.index - 1, longer) + 1, length)
end

local function new_replica(run, index)
  local self = {index = index, count = run.count, slots = {}, slot_count = 0, keep = run.keep,
                run = run}
  self.face = {
    index = index, count = run.count, nodeIndex = index, numNodes = run.count,
    walkTable = function(t, fn)
      check_dot(self, "walkTable", t)
      return values.walk(t, fn)
    end,
    allReduce = function(value, op, zero) return all_reduce(self, value, op, zero) end,
    scatter = function(value) return scatter(self, value) end,
    barrier = function() meet(self, {kind = "barrier"}) end,
    shard = function(value) return shard(self, value) end,
    netStats = function() return {reduces = run.reduces, bytes = run.bytes} end,
    exchange = function(face, w, options) return exchange(self, face, w, options) end,
  }
  return self
end

-- ------------------------------------------------------------------------------- the schedule

-- What Ctrl-C raises in Lua code, under the code of the same in loops.
local function code_of(message)
  return string.find(message, "interrupted!$") and "INT" or "BDY"
end

local function fail(replica, err)
  local fields = {code = code_of(tostring(err)),
                  message = "replica " .. replica.index .. ": " .. tostring(err)}
  if errors.is(err) then
    for name, value in tables.each(err) do fields[name] = value end
    fields.message = "replica " .. replica.index .. ": " .. tostring(err.message)
  else
    local file, line, message = string.match(tostring(err), "^(.-):(%d+): (.*)$")
    if file then
      fields.file, fields.line = file, tonumber(line)
      fields.message = "replica " .. replica.index .. ": " .. message
    end
  end
  error(errors.new(fields), 0)
end

-- Goes on with a replica until it waits, or has returned.
local function go_on(run, replica, ...)
  local outer = random.swap(replica.place)
  local ok, request = coroutine.resume(replica.thread, ...)
  replica.place = random.swap(outer)
  if not ok then fail(replica, request) end
  replica.request = nil
  if coroutine.status(replica.thread) == "dead" then
    replica.finished, run.results[replica.index] = true, request
  elseif getmetatable(request) == Request then
    replica.request = request
  else
    fail(replica, errors.new {code = "BDY", message = "the function of a replica yields, and " ..
                              "nobody takes it: call coroutine.yield in coroutines of its own, " ..
                              "and r.barrier() to wait for other replicas"})
  end
end

-- Whether all have returned; raises where some wait for one that has.
local function all_finished(run)
  local finished, waiting
  for _, replica in ipairs(run.replicas) do
    if replica.finished then finished = finished or replica else waiting = waiting or replica end
  end
  if finished and waiting then
    errors.raise("BDY", "replica %d has returned while replica %d waits for it in %s: all call " ..
                 "it equally often, or one that has finished calls allReduce(nil, op, zero)",
                 finished.index, waiting.index, waiting.request.kind)
  end
  return not waiting
end

local function meet_all(run)
  local requests, kind = {}, run.replicas[1].request.kind
  for k, replica in ipairs(run.replicas) do
    requests[k] = replica.request
    if requests[k].kind ~= kind then
      errors.raise("BDY", "replica 1 waits for the others in %s, replica %d in %s", kind, k,
                   requests[k].kind)
    end
  end
  run.meeting = kind
  local answer = meetings[kind](run, requests)
  run.meeting = nil
  return answer
end

local function run_all(run, fn, arguments, count)
  for k = 1, run.count do
    local replica = new_replica(run, k)
    run.replicas[k] = replica
    local own, given
    own, given, replica.originals = isolate.copy(fn, arguments, count)
    replica.thread = coroutine.create(function()
      return own(replica.face, unpack(given, 1, count))
    end)
    replica.place = random.place_of(run.draws, k)
    go_on(run, replica)
  end
  while not all_finished(run) do
    local answer = meet_all(run)
    for _, replica in ipairs(run.replicas) do go_on(run, replica, answer) end
  end
end

-- ------------------------------------------------------------------------------- the face

local function check(count, options, fn)
  if type(count) ~= "number" or count < 1 or count ~= math.floor(count) or
     count > copies.MOST then
    errors.raise("OPT", "meissa.replicas: the number of replicas is a whole number from 1 to " ..
                 "%d, not %s", copies.MOST, tostring(count))
  end
  errors.check_options("meissa.replicas", options, {"setup", "seed"})
  if type(fn) ~= "function" then
    errors.raise("OPT", "meissa.replicas(K, options, fn, ...): fn is a function of a replica, " ..
                 "not %s", tostring(fn))
  end
  local setup, seed = options.setup, options.seed
  if setup ~= nil and type(setup) ~= "function" then
    errors.raise("OPT", "meissa.replicas: option 'setup' is a function, not %s", tostring(setup))
  end
  if seed ~= nil and (type(seed) ~= "number" or seed ~= math.floor(seed) or
                      math.abs(seed) > 2 ^ 53) then
    errors.raise("OPT", "meissa.replicas: option 'seed' is a whole number, not %s", tostring(seed))
  end
end

-- What shards may write, as it was: by array.
local function keeper()
  local kept = {}
  return kept, function(target)
    kept[target] = kept[target] or target:clone()
  end
end

--- Runs a function once for each replica; see the manual.
-- @number count how many replicas
-- @tab[opt] options `setup(worker)`, called once in each process before; `seed` of random numbers
-- @func fn fn(r, ...), which gets copies of the further arguments
-- @treturn table what it returned, by replica
-- Errors: OPT, BDY, and what the function raises; then all is as it was.
function M.replicas(count, options, fn, ...)
  if type(options) == "function" then return M.replicas(count, {}, options, fn, ...) end
  options = options or {}
  check(count, options, fn)
  local kept, keep = keeper()
  local draws = random.next_loop()
  if options.seed then draws = {seed = options.seed, ordinal = 0} end
  local run = {count = count, replicas = {}, results = {}, slots = {}, reduces = 0, bytes = 0,
               keep = keep, draws = draws}
  local ok, err = nesting.pcall(function(...)
    if options.setup then options.setup(1) end
    run_all(run, fn, {...}, select("#", ...))
  end, ...)
  run.ended = true
  if ok then return run.results end
  for target, before in tables.each(kept) do target:copy(before) end
  if type(err) == "string" and code_of(err) == "INT" then
    errors.raise("INT", "meissa.replicas was interrupted")
  end
  error(err, 0)
end

return M
