-- SPDX-License-Identifier: MIT
--- meissa.replicas: a function that runs once for each replica, and says itself when to exchange.
--
-- A replica is a coroutine. All run until each has come to an exchange, which is then done for all
-- at once, in the order of the replicas: so the bits depend on the function alone. Where staleness
-- lets a replica go on without the others it does, as soon as it may. The coroutines
-- live on the workers (meissa.worker.hosted), a job for each step; or in this process, where there
-- are no workers, one replica, or something that cannot travel. Nothing that replicas can see tells
-- them where they are: each has copies of what the function captures, and random numbers of its
-- own.
-- @module meissa.driver.replica_functions

local array = require "meissa.array"
local called_functions = require "meissa.driver.called_functions"
local replica_stubs = require "meissa.worker.replica_stub"
local same_values = require "meissa.kernel.same_value"
local replica_coroutines = require "meissa.worker.replica_coroutine"
local replica_groups = require "meissa.sync.replica_group"
local errors = require "meissa.base.errors"
local hosting = require "meissa.driver.hosting"
local meetings = require "meissa.sync.meeting"
local nesting = require "meissa.base.nesting"
local message = require "meissa.kernel.message"
local pool = require "meissa.driver.pool"
local random = require "meissa.kernel.random"
local replay = require "meissa.driver.replay"
local replay_exchanges = require "meissa.driver.replay_exchange"
local tables = require "meissa.base.tables"
local thrown = require "meissa.base.thrown"
local values = require "meissa.sync.values"
local interrupt = require "meissa.base.interrupt"
local lags = require "meissa.driver.lags"

local M = {}

-- Whether all replicas have returned. Raises BDY where replicas wait for one that has returned, or
-- for each other.
local function all_finished(run)
  local finished, waiting, alone, meets
  for _, replica in ipairs(run.replicas) do replica_coroutines.check_recorded(replica) end
  for _, replica in ipairs(run.replicas) do
    if replica.finished then finished = finished or replica else waiting = waiting or replica end
    if replica_coroutines.is_alone(replica) then
      alone = alone or replica
    elseif not replica.finished then
      meets = meets or replica
    end
  end
  if finished and waiting then
    local kind = waiting.request.kind
    errors.raise("BDY", "replica %d has returned while replica %d waits for it in %s: all call " ..
                 "it equally often%s", finished.index, waiting.index, kind,
                 kind ~= "allReduce" and "" or
                   ", or one that has finished calls allReduce(nil, op, zero)")
  end
  if alone and meets and meets.request.kind == "exchange" then
    errors.raise("OPT", "r:exchange: replica %d has other options than replica %d, or exchanges " ..
                 "another array", meets.index, alone.index)
  elseif alone and meets then
    errors.raise("BDY", "replica %d waits for the others in %s, replica %d in %s", meets.index,
                 meets.request.kind, alone.index, alone.request.kind)
  elseif alone then
    errors.raise("BDY", "replica %d waits in r:exchange for one that exchanges another array",
                 alone.index)
  end
  return not waiting
end

local function meet_all(run)
  local requests, kind = {}, run.replicas[1].request.kind
  called_functions.copy(run.replicas)
  for k, replica in ipairs(run.replicas) do
    requests[k] = replica.request
    if requests[k].kind ~= kind then
      errors.raise("BDY", "replica 1 waits for the others in %s, replica %d in %s", kind, k,
                   requests[k].kind)
    end
  end
  replica_stubs.meet(kind, run.count)
  local ok, answer, gets = pcall(meetings[kind], run, requests)
  replica_stubs.meet(nil)
  if not ok then error(answer, 0) end
  return answer, gets
end

-- An array is about to be written by shards: it can be put back.
local function keep(run, target)
  run.kept[target] = run.kept[target] or target:clone()
end

-- ------------------------------------------------------------------------------- in this process

-- All see what was written to shards.
local function publish(run)
  for _, replica in ipairs(run.replicas) do
    for _, each in ipairs(replica_coroutines.shards(replica)) do
      keep(run, each.target)
      each.view:copy(each.own)
    end
  end
end

-- Goes on with those that may without the others, in turns; what they write to shards is not seen
-- before all meet.
local function go_on_alone(run)
  local moves
  repeat
    moves = false
    for _, replica in ipairs(run.replicas) do
      if replica_coroutines.may_go_on(replica) then
        replica_coroutines.go_on(replica)
        moves = true
      end
    end
  until not moves
end

local function run_here(run, fn, setup, arguments, count)
  replica_coroutines.set_up(setup, 1)
  for k = 1, run.count do replica_coroutines.begin(run, k, fn, arguments, count) end
  while true do
    go_on_alone(run)
    publish(run)
    if all_finished(run) then break end
    local answer, gets = meet_all(run)
    for _, replica in ipairs(gets and run.replicas or {}) do
      values.assign(replica.request.values, gets)
    end
    for _, replica in ipairs(run.replicas) do replica_coroutines.go_on(replica, answer) end
  end
  for k, replica in ipairs(run.replicas) do run.results[k] = message.open(replica.result)[1] end
end

local function give_back(run)
  for _, replica in ipairs(run.replicas) do replica_coroutines.give_back(replica) end
end

-- ------------------------------------------------------------------------------- on workers

-- What is raised where a replica is not where it was, and where others wrote what was read.
local LOST = {what = "a worker has died with the replicas that it had"}
local TORN = {what = "what replicas exchange was written while it was read"}

local last_id = 0

-- What replicas have written to shards.
local function take_shards(run, left)
  local shards = {}
  for k = 1, run.count do
    for _, each in ipairs(left[k] and left[k].shards or {}) do
      local target = run.arrays[each.number]
      keep(run, target)
      target:narrow(1, each.first, each.length):copy(message.open(each.rows)[1])
      shards[#shards + 1] = each
    end
  end
  return shards
end

-- Takes what a step has left; the shards that were written.
-- Errors: LOST, TORN, and those of the first replica that failed.
local function take(run, left)
  local lost, gone = false, false
  for k = 1, run.count do
    if left[k].torn then error(TORN, 0) end
    lost, gone = lost or left[k].lost, gone or left[k].gone
  end
  if lost then error(LOST, 0) end
  for k = 1, run.count do
    if left[k].failed then error(errors.new(thrown.decode(left[k].failed)), 0) end
  end
  if gone then error(LOST, 0) end -- nobody has failed whom others have waited for
  for k, replica in ipairs(run.replicas) do
    replica.request = nil
    if left[k].request then
      replica.request = message.open(left[k].request, run.mailbox)[1]
    elseif left[k].result then
      replica.finished, run.results[k] = true, message.open(left[k].result)[1]
    end
  end
  return take_shards(run, left)
end

-- What replicas are told of a meeting. What lies in the mailbox is told by its place.
local function told_of(run, done, gets)
  local told, first = {done = done}, run.replicas[1].request
  local options = {whither = "replicas", mailbox = run.mailbox,
                   path = function() return "what replicas have come to" end}
  if first.kind == "exchange" then
    for k, replica in ipairs(run.replicas) do
      told[k] = message.pack({replica.request.merged}, 1, options)
    end
  elseif gets then
    told.all = message.pack({gets}, 1, options)
  end
  return told
end

local function meet_there(run)
  local ok, answer = nesting.pcall(function() return told_of(run, meet_all(run)) end)
  if run.mailbox and not run.mailbox:is_intact() then error(TORN, 0) end
  if not ok then error(answer, 0) end
  return answer
end

-- Bytes of a row of the first mailboxes.
local FIRST_ROW = 8192

-- The two mailboxes of the next step, for what replicas have been found to need, and the one that
-- holds what they came with, from which answers are read. That may be the second one: nobody writes
-- there before all have met on the first one, and so have read it.
local function turn_mailboxes(run)
  local read = run.mailbox
  run.mailbox, run.other, run.read = run.other, read, read
  if not run.mailbox then return end
  if run.needed > run.mailbox.size then
    run.mailbox = hosting.mailbox(run.count, run.needed) or run.mailbox
  end
  if run.needed > run.other.size then
    run.other = hosting.mailbox(run.count, run.needed) or run.other
  end
end

-- Has all replicas make a step, and more as far as they need nobody else for that; the shards that
-- were written.
local function make_step(run, told)
  run.told = run.told + 1
  told.count = run.count
  told.id, told.step, told.stamp = last_id, run.told, last_id * 2 ^ 32 + run.stamps
  told.reduces, told.bytes = run.reduces, run.bytes
  local met = hosting.step(run.hosting, told, run.read, run.mailbox, run.other, run.rings)
  run.stamps = run.stamps + 2 * (met.meetings + 1)
  run.reduces, run.bytes = met.reduces, met.bytes
  run.needed = math.max(run.needed, met.needed)
  for number, replicas in tables.each(met.closed) do meetings.close(run, number, replicas) end
  if met.meetings > 0 and met.meetings % 2 == 0 then
    run.mailbox, run.other = run.other, run.mailbox -- where the last meeting was
  end
  if run.mailbox then run.mailbox:clear() end
  return take(run, met.left)
end

-- Whether some replica may go on without the others.
local function any_goes_on(run)
  for k, replica in ipairs(run.replicas) do
    local request = replica.request
    local ring = request and request.ring and run.rings[request.slot]
    if ring and ring:is_open(k, request.round, request.late) then return true end
  end
  return false
end

local function run_there(run, sent)
  last_id = last_id + 1
  run.told, run.stamps, run.needed = -1, 0, FIRST_ROW
  run.mailbox, run.read = hosting.mailbox(run.count, FIRST_ROW), nil
  run.other = run.mailbox and hosting.mailbox(run.count, FIRST_ROW)
  if not run.other then run.mailbox = nil end
  for k = 1, run.count do run.replicas[k] = {index = k, held = {}} end
  local shards = make_step(run, {draws = run.draws, sent = sent,
                                 torch = package.loaded.torch ~= nil})
  while true do
    while any_goes_on(run) do
      turn_mailboxes(run)
      -- What was written to shards is not seen before all meet.
      local more = make_step(run, {shards = {}, held = #shards > 0})
      for _, each in ipairs(more) do shards[#shards + 1] = each end
    end
    if all_finished(run) then break end
    local answer = meet_there(run)
    turn_mailboxes(run)
    shards = make_step(run, {answer = answer, shards = shards})
  end
end

local function put_back(run)
  for target, before in tables.each(run.kept) do target:copy(before) end
end

-- Runs replicas on workers; once more from the beginning where one has died with what it had.
local function run_on_workers(run, sent)
  io.stdout:flush() -- what is printed here comes before what replicas print
  run.hosting = hosting.new(run.count)
  run.owned, run.workers, run.share = true, pool.workers(), hosting.memory
  for attempt = 1, 2 do
    local ok, err = pcall(run_there, run, sent)
    if ok then return end
    if err ~= LOST and err ~= TORN then error(err, 0) end
    put_back(run)
    if attempt == 2 then
      errors.raise("WRK", "meissa.replicas: %s, for the second time", err.what)
    end
    meetings.leave(run, true)
    io.stderr:write("meissa: meissa.replicas: ", err.what, ": all begin again\n")
    run.slots, run.closed, run.reduces, run.bytes = {}, {}, 0, 0
  end
end

-- ------------------------------------------------------------------------------- the face

local function check(count, options, fn)
  errors.check_whole(count, "meissa.replicas: the number of replicas", 1, replica_groups.MOST)
  errors.check_options("meissa.replicas", options, {"setup", "seed"})
  if type(fn) ~= "function" then
    errors.raise("OPT", "meissa.replicas(K, options, fn, ...): fn is a function of a replica, " ..
                 "not %s", tostring(fn))
  end
  local setup, seed = options.setup, options.seed
  if setup ~= nil and type(setup) ~= "function" then
    errors.raise("OPT", "meissa.replicas: option 'setup' is a function, not %s", tostring(setup))
  end
  if seed ~= nil then
    errors.check_whole(seed, "meissa.replicas: option 'seed'", -2 ^ 53, 2 ^ 53)
  end
end

-- What replicas begin with, as bytes, and the arrays that it leads to; nil where it cannot travel.
local function send(fn, setup, arguments, count)
  local ok, sent, arrays = interrupt.pcall(message.pack, {fn, arguments, count, setup}, 4,
                                           {path = tostring})
  if ok then return sent, arrays end
  return nil
end

-- Runs the functions of all replicas: on workers, or in this process where they cannot travel.
local function run_all(run, fn, setup, ...)
  local arguments, count, sent = {...}, select("#", ...), nil
  if run.count > 1 and not nesting.in_body and pool.workers() > 0 and not run.replayed then
    sent, run.arrays = send(fn, setup, arguments, count)
  end
  if sent then
    run_on_workers(run, sent)
  else
    local ok, err = nesting.pcall(run_here, run, fn, setup, arguments, count)
    if not ok then error(err, 0) end
  end
  meetings.leave(run, false)
end

-- Calls of this function by the program, not by bodies of its loops.
local calls = 0

-- Which call this is, where histories have it; a replay runs it in this process.
local function number_call(run)
  if nesting.within() then return end
  calls = calls + 1
  run.call = calls
  local record = replay.record()
  if not record then return end
  function run.recorded(exchange) return replay_exchanges.recorded(record, exchange, run.count) end
  if not record.calls[calls] then return end
  run.replayed = true
  function run.share(doubles) return array.zeros {doubles} end -- they had it when it was recorded
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
  local draws = random.next_loop()
  if options.seed then draws = {seed = options.seed, ordinal = 0} end
  local run = {count = count, replicas = {}, results = {}, slots = {}, reduces = 0, bytes = 0,
               kept = {}, draws = draws, rings = {}, workers = 1, closed = {},
               share = hosting.memory_here, same_arrays = same_values.is, tell = function() end,
               lags_of = function(given, t) return lags.of_round(given, draws, t, count) end}
  run.close = function(number) meetings.close(run, number, 1) end
  run.same = function(k, ...) return called_functions.same(run.replicas[k], ...) end
  number_call(run)
  local ok, err = pcall(run_all, run, fn, options.setup, ...)
  run.ended = true
  meetings.leave(run, true) -- where it has failed
  give_back(run)
  if ok then return run.results end
  put_back(run)
  if interrupt.is(err) then errors.raise("INT", "meissa.replicas was interrupted") end
  error(err, 0)
end

return M
