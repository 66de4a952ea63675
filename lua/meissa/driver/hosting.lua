-- SPDX-License-Identifier: MIT
--- Jobs without a loop of the program's: a step of all replicas that workers carry.
--
-- Such a job has a block for each replica and no kernel: workers call meissa.worker.hosted. With
-- even loads each process gets the replicas that it had before.
-- @module meissa.driver.hosting

local array = require "meissa.array"
local mailboxes = require "meissa.kernel.mailbox"
local buffer = require "string.buffer"
local c_api = require "meissa.array.c_api"
local encoded = require "meissa.base.encoded"
local errors = require "meissa.base.errors"
local ffi = require "ffi"
local grids = require "meissa.plan.grid"
local hosted = require "meissa.worker.hosted"
local planning = require "meissa.driver.planning"
local pool = require "meissa.driver.pool"
local records = require "meissa.driver.record"
local spaces = require "meissa.plan.space"
local tables = require "meissa.base.tables"
local thrown = require "meissa.base.thrown"
local worker_count = require "meissa.driver.worker_count"

local M = {}

-- A loop as short as can be, whose plan cuts the replicas into blocks.
local function nothing(_) end

--- What the jobs of `count` replicas are made of.
function M.new(count)
  local space = spaces.parse(count, {grid = {count}, ordered = false})
  local record = records.find(nothing, debug.getinfo(nothing, "S"), nil)
  local run = planning.frame(record, space, nothing)
  local loads = ffi.new("uint64_t[?]", count)
  for k = 0, count - 1 do loads[k] = 1 end
  return {count = count, grid = grids.cut(run.plan, space), loads = loads}
end

local function show(told)
  for line in string.gmatch(told.notices or "", "[^\n]+") do
    io.stderr:write("meissa: ", line, "\n")
  end
  if told.printed and told.printed ~= "" then io.stdout:write(told.printed) end
end

local function raise(failure)
  local fields = {code = failure.code, message = failure.message, worker = failure.worker}
  for name, value in tables.each(failure.payload and thrown.decode(failure.payload) or {}) do
    fields[name] = value
  end
  fields.traceback = nil
  error(errors.new(fields), 0)
end

-- Bytes of the largest mailbox: beyond that memory arrays travel.
local MOST_BOARD = 2 ^ 30

--- A mailbox that the workers see; nil where memory is not shared, or there is none.
-- @number rows how many @number size bytes of each, at least
function M.mailbox(rows, size)
  if worker_count.by_value(pool.session()) or rows * size > MOST_BOARD then return nil end
  local doubles = math.ceil(size / 8)
  local ok, memory = pcall(array.zeros, {rows, doubles})
  if not ok then return nil end
  return mailboxes.new(array.core(memory).data, rows, 8 * doubles, memory)
end

-- The operands of a job for which mailboxes are read and written, and what tells of them; of both
-- nil where there are none. Nothing is undone in them.
local function place(told, read, written)
  if not read and not written then return nil end
  local operands = ffi.gc(c_api.call(c_api.lib.ms_operands_new, 0), c_api.lib.ms_operands_free)
  local function add(mailbox)
    return mailbox and {size = mailbox.size,
      number = c_api.call(c_api.lib.ms_operands_array, operands, array.core(mailbox.keep), 0, nil)}
  end
  told.read, told.written = add(read), add(written)
  return operands
end

--- Has all replicas make a step, each where it is; what hosted.step gives, by replica.
-- @tab hosting what `new` gave @tab told what all are told
-- @tab[opt] read the mailbox that `told` speaks of
-- @tab[opt] written the mailbox for what they leave
-- Errors: WRK INT NET.
function M.step(hosting, told, read, written)
  local session, left = pool.session(), {}
  local operands = place(told, read, written)
  local outcome, failure = pool.during_loop(session.run, session, {
    key = hosted.KEY, kernel = hosted.KEY, run = buffer.encode(told), operands = operands,
    plan = hosting.grid.core,
    transaction = true, workers = 0, loads = ffi.cast("uint64_t *", hosting.loads), buffers = 0,
  })
  show(outcome or failure)
  if not outcome then raise(failure) end
  if outcome.interrupted then errors.raise("INT", "meissa.replicas was interrupted") end
  for k = 1, hosting.count do left[k] = encoded.from_message(outcome.results[k - 1]) end
  return left
end

return M
