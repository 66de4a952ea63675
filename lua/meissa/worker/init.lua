-- SPDX-License-Identifier: MIT
--
-- Worker: the main loop of a worker process.
--
-- A job names a kernel; `prepare(kernel, run, operands)` makes of it a function that runs one block
-- and returns the bytes of its result. Whatever goes wrong in either reaches the driver as a
-- failure of the job, encoded by `thrown.encode`; the worker lives on.
-- @module meissa.worker

require "meissa.base.requires"
require "meissa.base.chunks"
local basics = require "meissa.base.basics"
local core = require "meissa.core"
local idle_collection = require "meissa.worker.idle_collection"
local nesting = require "meissa.base.nesting"
local strict = require "meissa.base.strict"
local thrown = require "meissa.base.thrown"
local trace = require "meissa.base.trace"

local M = {}

--- What makes block functions: prepare(kernel_bytes, run_bytes, operands, ranges) returns
-- block(number, range, ...), which returns the block's result as a string or nil, or raises, or
-- returns nil and an error, or the result, nil and whether the rest of it comes with a later
-- block's; further results are those of `execution.prepare`. `operands` is a list of {pointer =
-- lightuserdata, element = bytes, size = elements, dims = {}, strides = {}}, strides in elements;
-- `ranges` says how many there are along each cut dimension. When nil,
-- `require("meissa.kernel.execution").prepare(kernel_bytes, job)` is used.
M.prepare = nil

-- Errors keep their text; a plain string says where in `traceback`.
local function describe(err)
  if type(err) == "table" then return err end
  return {message = thrown.message(err), traceback = debug.traceback("", 2)}
end

local current -- the job that prints now
local plain_print = print

--- `print` as bodies and replicas have it: whole lines that arrive at the driver once the job has
-- committed, after which it has `printed`.
function M.print(...)
  if not current then return plain_print(...) end -- where an operation of replicas was sent
  local count = select("#", ...)
  local words = {}
  for i = 1, count do words[i] = tostring((select(i, ...))) end
  current.printed = true
  current:print(table.concat(words, "\t") .. "\n")
end

-- Runs the blocks of one job; errors of the kernel come out as errors. `native`, if given, tells
-- before a block whether from now on all can be run without Lua: an ms_native_run, and a function
-- that raises what its fault means.
local function run_blocks(job, block, native)
  local function finish(result, err, defers)
    if err ~= nil then error(err, 0) end
    job:block_done(result, defers)
  end
  local function step(number, ...)
    if number == nil then return false end
    finish(block(number, ...))
    return true
  end
  repeat
    local run, raise_fault
    if native then run, raise_fault = native() end
    if run then
      if job:run_native(run) then raise_fault() end
      return
    end
  until not step(job:next_block())
end

-- What the jobs have as their kernel that are steps of replicas, see hosted.lua.
local HOSTED = "meissa.worker.hosted"

local number -- of this worker

-- What replicas need, a quarter of what a worker may need at all, is loaded with their first job.
local function load_hosted()
  local hosted = require "meissa.worker.hosted"
  hosted.worker = number
  require("meissa.worker.replica_coroutine").print = M.print
  return hosted
end

-- What runs a job's blocks: as run_blocks takes it, and order_of(err), see execution.lua.
local function prepare(job, static)
  if static == HOSTED then return load_hosted().prepare(job.run, job) end
  if M.prepare then return M.prepare(static, job.run, job:operands(), job.ranges) end
  return require("meissa.kernel.execution").prepare(static, job)
end

-- Fails the present block, or the job when none is running.
local function fail(job, err, order_of)
  local plain = thrown.encode(err)
  job:fail(plain, order_of and type(err) == "table" and order_of(err) or nil)
end

local function run_job(job, kernels)
  current = job
  if job.kernel then kernels[job.key] = job.kernel end
  local ready, block, native, order_of = xpcall(prepare, describe, job, kernels[job.key])
  if not ready then
    fail(job, block)
    while job:next_block() do error("BUG: a block after a failure") end
    return
  end
  -- After a failure what comes before it in the loop's order is still to be run.
  local ok, err
  repeat
    ok, err = xpcall(run_blocks, describe, job, block, native)
    if not ok then fail(job, err, order_of) end
  until ok
end

--- Runs jobs until the driver ends.
-- @param fd descriptor of the channel to the driver (3 unless said otherwise)
function M.main(fd)
  local worker, err = core.worker(fd or 3)
  if not worker then
    io.stderr:write("meissa worker: ", err.message, "\n")
    os.exit(1, true)
  end
  trace.join()
  local kernels = {}
  nesting.in_body, basics.on_worker = true, true
  number, _G.print = worker:number(), M.print
  _G.pairs, _G.next = strict.pairs, strict.next -- for modules that bodies and replicas use, too
  while true do
    idle_collection.await(worker)
    local job = worker:next()
    if not job then break end
    if job.forgets then kernels = {} end
    run_job(job, kernels)
  end
  worker:close()
end

return M
