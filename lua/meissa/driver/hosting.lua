-- SPDX-License-Identifier: MIT
--- Jobs without a loop of the program's: a step of all replicas that workers carry.
--
-- Such a job has a block for each replica and no kernel: workers call meissa.worker.hosted. With
-- even loads each process gets the replicas that it had before.
-- @module meissa.driver.hosting

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

--- Has all replicas make a step, each where it is; what hosted.step gives, by replica.
-- @tab hosting what `new` gave @string told what all are told
-- Errors: WRK INT NET.
function M.step(hosting, told)
  local session, left = pool.session(), {}
  local outcome, failure = pool.during_loop(session.run, session, {
    key = hosted.KEY, kernel = hosted.KEY, run = told, plan = hosting.grid.core,
    transaction = true, workers = 0, loads = ffi.cast("uint64_t *", hosting.loads), buffers = 0,
  })
  show(outcome or failure)
  if not outcome then raise(failure) end
  if outcome.interrupted then errors.raise("INT", "meissa.replicas was interrupted") end
  for k = 1, hosting.count do left[k] = encoded.from_message(outcome.results[k - 1]) end
  return left
end

return M
