-- SPDX-License-Identifier: MIT
--- Replicas of meissa.replicas on a worker, which stay there while others are waited for.
--
-- A job of the driver's has a block for each worker: the first job begins the worker's replicas,
-- each later one goes on with them after an exchange, with what has come of that. Where memory is
-- shared they then exchange with those of other workers (meissa.worker.collective) and go on in the
-- same job, until something is to be done that needs the driver: what one of them has printed is to
-- be shown, has written to a shard to be seen by all, or waits for takes more than a sum or a
-- simple operation; or some time is over. A process that has not carried a replica up to there (it
-- took the place of one that has died) says that the replica is lost.
-- @module meissa.worker.hosted

local buffer = require "string.buffer"
local collectives = require "meissa.worker.collective"
local encoded = require "meissa.base.encoded"
local mailboxes = require "meissa.kernel.mailbox"
local meetings = require "meissa.sync.meeting"
local message = require "meissa.kernel.message"
local post_rings = require "meissa.sync.post_ring"
local replica_coroutines = require "meissa.worker.replica_coroutine"
local replica_stubs = require "meissa.worker.replica_stub"
local system = require "meissa.base.system"
local tables = require "meissa.base.tables"
local thrown = require "meissa.base.thrown"
local values = require "meissa.sync.values"

local M = {}

--- The number of this worker, from 1.
M.worker = 1

--- The key of the jobs that are steps of replicas, and in place of their kernel (init.lua).
M.KEY = "meissa.worker.hosted"

local run -- what this process has of the present run; earlier ones are over

-- Names by which r and its functions travel: where they arrive, replica_stub stands for them.
local named = setmetatable({}, {__mode = "k"})

local WORDS = {named = named, code = "BDY", whither = "other replicas", path = function()
  return "what a replica gives"
end, remedy = "Replicas give each other numbers, strings, dense arrays, tensors, tables of these."}

-- In place of a mailbox where there is no shared memory: nothing fits into it.
local NO_MAILBOX = mailboxes.new(nil, 0, 0)

-- Seconds after which the driver is to know that replicas are still at work, where all meet, or has
-- what they have printed;
local PATIENCE = 0.25

-- and after which it comes back to the driver in any case.
local LONGEST = 10

-- The run that the driver speaks of, begun here if it is new.
local function run_of(told)
  if run and run.id == told.id then return run end
  if told.torch then pcall(require, "torch") end -- its generator is to be the replicas' own
  local sent, arrays = message.open(told.sent)
  run = {id = told.id, count = told.count, draws = told.draws, replicas = {}, reduces = 0,
         bytes = 0, rings = {}, closed = {}, fn = sent[1], arguments = sent[2],
         given = sent[3], arrays = arrays, numbers = {}, seen = 0}
  function run.close(slot) run.closed[slot] = (run.closed[slot] or 0) + 1 end
  for number, each in ipairs(arrays) do run.numbers[each] = number end
  replica_coroutines.set_up(sent[4], M.worker)
  return run
end

-- What all shards had written, in this process's copies.
local function publish(told)
  if run.seen == told.step then return end
  run.seen = told.step
  for _, each in ipairs(told.shards) do
    local rows = message.open(each.rows)[1]
    run.arrays[each.number]:narrow(1, each.first, each.length):copy(rows)
  end
end

-- The rings of a job, where its operands have them. Each was begun with options that the replicas
-- here exchange by.
local function place_rings(told, first)
  local replica = run.replicas[first]
  for slot in tables.each(told.rings and run.rings or {}) do
    if not told.rings[slot] then run.rings[slot] = nil end -- no replica uses it any more
  end
  for slot, each in tables.each(told.rings or {}) do
    local known, exchanged = run.rings[slot], replica_coroutines.exchanged(replica, slot)
    if not known or known.began ~= each.began then
      known = exchanged and post_rings.new(exchanged.posts, each.workers, each.began)
      if known then known:join(each.job, each.first) end
      run.rings[slot] = known
    end
    if known then known:place(each.pointer) end
  end
end

-- The slots that replicas here do not use any more since it was last asked, with how many do not.
local function take_closed()
  local closed = run and run.closed or {}
  if run then run.closed = {} end
  return closed
end

-- The rows of its shards that a replica has written since they were last taken; none of a replica
-- that goes on by itself, since others see shards where all meet.
local function written(replica)
  local list = {}
  if replica_coroutines.is_alone(replica) then return list end
  for _, each in ipairs(replica_coroutines.shards(replica)) do
    local rows = message.pack({each.own}, 1, WORDS)
    if rows ~= each.sent then
      list[#list + 1] = {number = run.numbers[each.target], first = each.first,
                         length = each.length, rows = rows}
      each.sent = rows
    end
  end
  return list
end

-- Puts the answer to a replica's request into the arrays that it gave. Returns what its call
-- returns.
local function answer(replica, told)
  local request, done = replica.request, told.answer.done
  local packed = told.answer.all or told.answer[replica.index]
  if packed and request.kind == "exchange" then
    request.merged = message.open(packed, told.read)[1]:clone()
  elseif packed then
    values.assign(request.values, message.open(packed, told.read)[1])
  end
  return done
end

-- ------------------------------------------------------------------------------- a job

-- The replicas that a worker has in a job, one after the other; what each has come to is noted in
-- `left`: {torn = true}, {failed = an error}, or {shards =} of one that waits or is finished.
local Crew = {}
Crew.__index = Crew

-- Calls fn, which works on replica k; an error becomes the replica's failure.
function Crew:attempt(k, fn, ...)
  local ok, err = pcall(fn, ...)
  if not ok then self.left[k] = {failed = thrown.encode(err)} end
end

-- Begins a replica.
local function begin(crew, k)
  local replica = replica_coroutines.begin(run, k, run.fn, run.arguments, run.given)
  replica_stubs.name(replica.face, named)
  crew.left[k] = {shards = written(replica)}
end

-- Goes on with a replica that has got what it asked for.
local function go_on(crew, k, done)
  replica_coroutines.go_on(run.replicas[k], done)
  crew.left[k] = {shards = written(run.replicas[k])}
end

-- Goes on with a replica where the driver has an answer for it; else it waits as before.
local function take_up(crew, k)
  local told, replica = crew.told, run.replicas[k]
  if not told.answer then
    crew.left[k] = {shards = {}}
    return
  end
  publish(told)
  local done = answer(replica, told)
  if told.read and not told.read:is_intact() then
    crew.left[k] = {torn = true}
  else
    go_on(crew, k, done)
  end
end

function Crew:each(fn, ...)
  for k = self.first, self.last do
    self:attempt(k, fn, self, k, ...)
    if run.replicas[k] then run.replicas[k].step = self.told.step end
  end
end

-- Has all replicas make a step that need not wait for others. Returns whether there was one, and
-- whether some still wait for posts; nil where one has failed.
function Crew:step_alone()
  local moves, waits = false, false
  for k = self.first, self.last do
    local replica = run.replicas[k]
    if replica_coroutines.may_go_on(replica) then
      self:attempt(k, go_on, self, k)
      if self.left[k].failed then return nil end
      moves = true
    end
    waits = waits or replica_coroutines.is_alone(replica)
  end
  return moves, waits
end

-- Goes on with replicas that need no meeting, until none of them does; false: they are to be left
-- to the driver. Sleeps only when none of them may go on.
function Crew:go_on_alone()
  while true do
    local seen = self.job:posts() -- of what comes later it is told
    local moves, waits = self:step_alone()
    if moves == false and not waits then return true end
    local late = system.clock() - self.begun > (self.job.printed and PATIENCE or LONGEST)
    if moves == nil or not seen or late then break end
    if not moves and not self.job:await_posts(seen) then break end
  end
  self.job:post(false)
  return false
end

-- The replicas, if all wait for others and nothing that they left is for the driver.
function Crew:waiting()
  local late = system.clock() - self.begun > PATIENCE
  if self.job.printed or self.told.held or late then return nil end
  local list = {}
  for k = self.first, self.last do
    local left, replica = self.left[k], run.replicas[k]
    if not left.shards or #left.shards > 0 or replica.finished then return nil end
    list[#list + 1] = replica
  end
  return list
end

-- Exchanges with other workers and goes on, as long as that is all that is needed.
function Crew:meet_others()
  while true do
    local waiting = self:go_on_alone() and self:waiting() or nil
    local met, done, needed = self.collective:join(waiting)
    self.needed = math.max(self.needed, needed)
    if not met then return met end
    local request = run.replicas[self.first].request
    meetings.count(run, request.kind, request.values)
    self:each(go_on, request.kind == "allReduce" and done or nil)
  end
end

-- What a replica leaves for the driver, with large arrays in the mailbox where that looks for them.
local function leave(crew, k, board, stamp)
  local replica, left = run.replicas[k], crew.left[k]
  if not left.shards then return end
  if replica.finished then
    left.result = replica.result
    run.replicas[k] = {index = k, face = replica.face, finished = true, step = replica.step}
    return
  end
  local options = tables.copy(WORDS)
  options.row, options.apart = board:begin(k, stamp), true
  left.request = message.pack({replica.request}, 1, options)
  crew.needed = math.max(crew.needed, options.row.used)
end

local function is_lost(k, told)
  if told.step == 0 then return false end
  local replica = run and run.id == told.id and run.replicas[k]
  return not replica or replica.step ~= told.step - 1
end

-- All replicas of the worker leave the same.
function Crew:fill(left)
  for k = self.first, self.last do self.left[k] = left end
end

function Crew:run()
  local told = self.told
  for k = self.first, self.last do
    if is_lost(k, told) then
      self.job:leave()
      return self:fill {lost = true}
    end
  end
  run_of(told)
  run.reduces, run.bytes = told.reduces, told.bytes
  run.tell = function() self.job:post(true) end
  if told.step > 0 then place_rings(told, self.first) end
  self:each(told.step == 0 and begin or take_up)
  local met = false
  if self.collective then met = self:meet_others() end
  if met == nil then return self:fill {torn = self.collective.torn, gone = true} end
  local board, stamp = NO_MAILBOX, 0
  if self.collective then board, stamp = self.collective:board() end
  for k = self.first, self.last do self:attempt(k, leave, self, k, board, stamp) end
end

-- Does a worker's part of a job.
function Crew:work()
  local ok, err = pcall(self.run, self)
  if ok then return end
  self.job:leave()
  self:fill {failed = thrown.encode(err)}
end

-- A mailbox where a job's operand has it.
local function mailbox_of(about, operands)
  if not about then return nil end
  local operand = operands[about.number]
  return mailboxes.new(operand.pointer, operand.dims[1], about.size)
end

--- A function that runs a block of such a job, given its number: what its replicas have left, by
-- their numbers, encoded, with `meetings`, how many there were, `needed`, the bytes of a row that
-- they would have needed, `reduces` and `bytes`, and `closed`, how many of them use which slots no
-- more.
-- @string bytes what the driver tells @param job the worker's
function M.prepare(bytes, job)
  local told, operands = encoded.from_message(bytes), job:operands()
  for _, name in ipairs {"read", "written", "other"} do
    told[name] = mailbox_of(told[name], operands)
  end
  for _, ring in tables.each(told.rings or {}) do ring.pointer = operands[ring.number].pointer end
  return function(number)
    local crew = setmetatable({told = told, job = job, left = {}, needed = 0,
                               begun = system.clock(), first = told.firsts[number + 1],
                               last = told.firsts[number + 2] - 1}, Crew)
    if told.written then
      crew.collective = collectives.new(job, {
        count = told.count, firsts = told.firsts, block = number + 1, stamp = told.stamp,
        boards = {told.written, told.other},
      })
    end
    crew:work()
    return buffer.encode {left = crew.left, needed = crew.needed,
                          reduces = run and run.reduces or 0,
                          bytes = run and run.bytes or 0,
                          closed = take_closed(),
                          meetings = crew.collective and crew.collective.meetings or 0}
  end
end

return M
