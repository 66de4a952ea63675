-- SPDX-License-Identifier: MIT
--- Jobs without a loop of the program's: a step of all replicas that workers carry.
--
-- Such a job has a block for each worker, that of its replicas, and no kernel: workers call
-- meissa.worker.hosted. With even loads each process gets the block that it had before.
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
local interrupt = require "meissa.base.interrupt"

local M = {}

-- A loop as short as can be, whose plan cuts the replicas into blocks.
local function nothing(_) end

-- The first replica of each block, and one after the last.
local function firsts_of(count, blocks)
  local firsts = {}
  for b = 0, blocks do firsts[b + 1] = math.floor(count * b / blocks) + 1 end
  return firsts
end

--- What the jobs of `count` replicas are made of.
function M.new(count)
  local blocks = math.min(count, pool.workers())
  local space = spaces.parse(blocks, {grid = {blocks}, ordered = false})
  local record = records.find(nothing, debug.getinfo(nothing, "S"), nil)
  local run = planning.frame(record, space, nothing)
  local loads = ffi.new("uint64_t[?]", blocks)
  for b = 0, blocks - 1 do loads[b] = 1 end
  return {firsts = firsts_of(count, blocks), blocks = blocks, loads = loads,
          grid = grids.cut(run.plan, space)}
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

--- Memory of this process, an array of doubles; nil where that is too much, or there is none.
function M.memory_here(doubles)
  if 8 * doubles > MOST_BOARD then return nil end
  local ok, memory = interrupt.pcall(array.zeros, {doubles})
  return ok and memory or nil
end

--- Memory that the workers see, likewise; nil where memory is not shared, too.
function M.memory(doubles)
  if worker_count.by_value(pool.session()) then return nil end
  return M.memory_here(doubles)
end

--- A mailbox there; nil likewise.
-- @number rows how many @number size bytes of each, at least
function M.mailbox(rows, size)
  local doubles = math.ceil(size / 8)
  local memory = M.memory(rows * doubles)
  return memory and mailboxes.new(array.core(memory).data, rows, 8 * doubles, memory)
end

-- The operands of a job with mailboxes and rings, and what tells of them; nil where there are none.
-- Nothing is undone in them.
local function place(told, read, written, other, rings)
  if not written then return nil end
  local operands = ffi.gc(c_api.call(c_api.lib.ms_operands_new, 0), c_api.lib.ms_operands_free)
  local function add(mailbox)
    return mailbox and {size = mailbox.size,
      number = c_api.call(c_api.lib.ms_operands_array, operands, array.core(mailbox.keep), 0, nil)}
  end
  told.read, told.written, told.other = add(read), add(written), add(other)
  told.rings = {}
  for slot, ring in tables.each(rings) do
    if ring:is_placed() then
      told.rings[slot] = {number = add(ring).number, began = ring.began, workers = ring.workers,
                          job = ring.told and ring.told.job, first = ring.first}
    end
  end
  return operands
end

-- What the blocks of a step give, together.
local function gather(hosting, results)
  local all = {left = {}, meetings = 0, needed = 0, reduces = 0, bytes = 0, closed = {}}
  for b = 1, hosting.blocks do
    local each = encoded.from_message(results[b - 1])
    for _, name in ipairs {"meetings", "needed", "reduces", "bytes"} do
      all[name] = math.max(all[name], each[name])
    end
    for number, replicas in tables.each(each.closed) do
      all.closed[number] = (all.closed[number] or 0) + replicas
    end
    for k = hosting.firsts[b], hosting.firsts[b + 1] - 1 do all.left[k] = each.left[k] end
  end
  return all
end

--- Has all replicas make a step on the workers that carry them. Replicas that need no others for it
-- go on from step to step by themselves.
-- @tab hosting what `new` gave @tab told what all are told
-- @tab[opt] read the mailbox that `told` speaks of
-- @tab[opt] written the mailbox for what they leave, @tab[opt] other another one
-- @tab rings by slot, those that replicas exchange in (meissa.sync.post_ring)
-- @treturn table what their blocks give (meissa.worker.hosted), together
-- Errors: WRK INT NET.
function M.step(hosting, told, read, written, other, rings)
  local session = pool.session()
  told.firsts = hosting.firsts
  local operands = place(told, read, written, other, rings)
  local outcome, failure = pool.during_loop(session.run, session, {
    key = hosted.KEY, kernel = hosted.KEY, run = buffer.encode(told), operands = operands,
    plan = hosting.grid.core,
    transaction = true, workers = hosting.blocks, buffers = 0,
    loads = ffi.cast("uint64_t *", hosting.loads),
  })
  show(outcome or failure)
  if not outcome then raise(failure) end
  if outcome.interrupted then errors.raise("INT", "meissa.replicas was interrupted") end
  return gather(hosting, outcome.results)
end

return M
