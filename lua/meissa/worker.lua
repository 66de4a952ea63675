-- SPDX-License-Identifier: MIT
--
-- Worker: the main loop of a worker process, and the command that starts one.
--
-- A job names a kernel; `prepare(kernel, run, items)` makes of it a function that runs one block
-- and returns the bytes of its result. Whatever goes wrong in either reaches the driver as a
-- failure of the job, encoded by `encode_error`; the worker lives on.
-- @module meissa.worker

require "meissa.requires"
require "meissa.chunks"
local core = require "meissa.core"
local encoded = require "meissa.encoded"
local environment = require "meissa.environment"
local errors = require "meissa.errors"
local buffer = require "string.buffer"
local system = require "meissa.system"
local tables = require "meissa.tables"
local thrown = require "meissa.thrown"

local M = {}

--- What makes block functions: prepare(kernel_bytes, run_bytes, items, ranges) returns
-- block(number, range, ...), which returns the block's result as a string or nil, or raises, or
-- returns nil and an error; further results are those of `execution.prepare`. `items` is a list of
-- {pointer = lightuserdata, element = bytes, size = elements, dims = {}, strides = {}}, strides in
-- elements; `ranges` says how many there are along each cut dimension. When nil,
-- `require("meissa.execution").prepare(kernel_bytes, job)` is used.
M.prepare = nil

--- Bytes of an error value for the driver: tables with plain fields keep them, anything else
-- becomes its text.
-- @param err any error value
-- @return string for decode_error
function M.encode_error(err)
  local plain = {}
  if type(err) == "table" then
    for key, value in tables.each(err) do
      local kind = type(value)
      if type(key) == "string" and (kind == "string" or kind == "number" or kind == "boolean") then
        plain[key] = value
      elseif key == "iteration" and kind == "table" then
        plain[key] = {unpack(value)}
      elseif key == "value" then
        plain[key] = thrown.portable(value)
      end
    end
  end
  if plain.message == nil then plain.message = thrown.message(err) end
  return buffer.encode(plain)
end

--- The table that encode_error was given, or one with its text in `message`.
-- @param bytes what encode_error returned
-- @return table
function M.decode_error(bytes)
  return encoded.from_message(bytes)
end

-- Errors keep their text; a plain string says where in `traceback`.
local function describe(err)
  if type(err) == "table" then return err end
  return {message = thrown.message(err), traceback = debug.traceback("", 2)}
end

local current -- the job that prints now

--- `print` as bodies have it: whole lines that arrive at the driver once the job has committed.
function M.print(...)
  local count = select("#", ...)
  local words = {}
  for i = 1, count do words[i] = tostring((select(i, ...))) end
  current:print(table.concat(words, "\t") .. "\n")
end

-- Runs the blocks of one job; errors of the kernel come out as errors. `native`, if given, tells
-- before a block whether from now on all can be run without Lua: an ms_native_run, and a function
-- that raises what its fault means.
local function run_blocks(job, block, native)
  local function finish(result, err)
    if err ~= nil then error(err, 0) end
    job:block_done(result)
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

-- What runs a job's blocks: as run_blocks takes it, and order_of(err), see execution.lua.
local function prepare(job, static)
  if M.prepare then return M.prepare(static, job.run, job:items(), job.ranges) end
  return require("meissa.execution").prepare(static, job)
end

-- Fails the present block, or the job when none is running.
local function fail(job, err, order_of)
  local plain = M.encode_error(err)
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
  local kernels = {}
  require("meissa.loop").on_worker = true
  require("meissa.basics").on_worker = true
  _G.print = M.print
  while true do
    local job = worker:next()
    if not job then break end
    if job.forgets then kernels = {} end
    run_job(job, kernels)
  end
  worker:close()
end

-- True when a path names a LuaJIT (and not a program that embeds one).
local function is_luajit(path)
  return path ~= nil and string.match(errors.last_part(path, "/"), "^luajit") ~= nil
end

--- The program and arguments that start a worker which finds the same files as this process.
-- @param code what it runs, instead of `require("meissa.worker").main(3)`
-- @return list of strings
function M.command(code)
  local program = environment.get("MEISSA_LUAJIT")
  if not program then
    local here = core.executable()
    program = is_luajit(here) and here or "luajit"
  end
  local path, cpath = system.search_paths()
  local text = string.format("package.path = %q package.cpath = %q %s", path, cpath, code or
    'require("meissa.worker").main(3)')
  return {program, "-e", text}
end

return M
