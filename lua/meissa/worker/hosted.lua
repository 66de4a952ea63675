-- SPDX-License-Identifier: MIT
--- Replicas of meissa.replicas on a worker, which stay there while others are waited for.
--
-- A job of the driver's has a block for each replica: the first begins it, each later one goes on
-- with it after an exchange, with what has come of that. A process that has not carried a replica
-- up to there (it took the place of one that has died) says that the replica is lost.
-- @module meissa.worker.hosted

local mailboxes = require "meissa.kernel.mailbox"
local buffer = require "string.buffer"
local encoded = require "meissa.base.encoded"
local message = require "meissa.kernel.message"
local replica_coroutines = require "meissa.worker.replica_coroutine"
local tables = require "meissa.base.tables"
local thrown = require "meissa.base.thrown"
local values = require "meissa.sync.values"

local M = {}

--- The number of this worker, from 1.
M.worker = 1

--- The key of the jobs that are steps of replicas, in place of a kernel's.
M.KEY = "a step of meissa.replicas"

local run -- what this process has of the present run; earlier ones are over

-- Where something is sent from here, r is not there.
local AWAY, named = "meissa.worker.replica_stub", setmetatable({}, {__mode = "k"})

local WORDS = {named = named, code = "BDY", whither = "other replicas", path = function()
  return "what a replica gives"
end, remedy = "Replicas give each other numbers, strings, dense arrays, tensors, tables of these."}

-- Nothing fits into it.
local NO_MAILBOX = mailboxes.new(nil, 0, 0)

-- The run that the driver speaks of, begun here if it is new.
local function run_of(told)
  if run and run.id == told.id then return run end
  if told.torch then pcall(require, "torch") end -- its generator is to be the replicas' own
  local sent, arrays = message.open(told.sent)
  run = {id = told.id, count = told.count, draws = told.draws, replicas = {}, reduces = 0,
         bytes = 0, fn = sent[1], arguments = sent[2], given = sent[3], arrays = arrays,
         numbers = {}, seen = 0}
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

-- What a replica has written to its shards since it was last asked.
local function written(replica)
  local list = {}
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

-- Gives a replica what its request has come to; what its call returns.
local function answer(replica, told)
  local request, done = replica.request, told.answer.done
  run.reduces, run.bytes = told.reduces, told.bytes
  local packed = told.answer.all or told.answer[replica.index]
  if packed and request.kind == "exchange" then
    request.array:copy(message.open(packed, told.read)[1])
  elseif packed then
    values.assign(request.values, message.open(packed, told.read)[1], replica.index)
  end
  return done
end

-- A message of what a replica has come to, with its large arrays in the mailbox that is written;
-- and the bytes that these need there.
local function leave(k, request, told)
  local options = tables.copy(WORDS)
  options.row = (told.written or NO_MAILBOX):begin(k, told.stamp)
  return message.pack({request}, 1, options), options.row.used
end

local function go_on(k, told)
  local replica
  if told.step == 0 then
    replica = replica_coroutines.begin(run, k, run.fn, run.arguments, run.given)
  else
    replica = run.replicas[k]
    publish(told)
    local done = answer(replica, told)
    if told.read and not told.read:is_intact() then return {torn = true} end
    replica_coroutines.go_on(replica, done)
  end
  replica.step, named[replica.face] = told.step, AWAY
  local shards = written(replica)
  if not replica.finished then
    local request, needed = leave(k, replica.request, told)
    return {request = request, needed = needed, shards = shards}
  end
  run.replicas[k] = nil
  return {result = message.pack({replica.result}, 1, WORDS), needed = 0, shards = shards}
end

local function is_lost(k, told)
  if told.step == 0 then return false end
  local replica = run and run.id == told.id and run.replicas[k]
  return not replica or replica.step ~= told.step - 1
end

-- Begins replica k, or goes on with it: {lost = true}, {torn = true}, {failed = an error},
-- {request =, shards =} or {result =, shards =}, with messages.
local function step(k, told)
  if is_lost(k, told) then return {lost = true} end
  local ok, left = pcall(function()
    run_of(told)
    return go_on(k, told)
  end)
  return ok and left or {failed = thrown.encode(left)}
end

-- A mailbox where a job's operand has it.
local function mailbox_of(about, operands)
  if not about then return nil end
  local operand = operands[about.number]
  return mailboxes.new(operand.pointer, operand.dims[1], about.size)
end

--- A function that runs a block of such a job, given its number: what the replica with that number
-- has left, encoded.
-- @string bytes what the driver tells @tab operands the job's
function M.prepare(bytes, operands)
  local told = encoded.from_message(bytes)
  told.read, told.written = mailbox_of(told.read, operands), mailbox_of(told.written, operands)
  return function(number) return buffer.encode(step(number + 1, told)) end
end

return M
