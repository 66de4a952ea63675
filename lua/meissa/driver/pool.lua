-- SPDX-License-Identifier: MIT
--- The worker processes of this Lua state: how many, when they start, when they stop.
--
-- The first parallel loop starts one worker a core. `meissa.init{workers = n}` wins over the
-- environment's MEISSA_WORKERS; a second init restarts the workers.
-- @module meissa.driver.pool

local core = require "meissa.core"
local environment = require "meissa.base.environment"
local errors = require "meissa.base.errors"
local interpreter = require "meissa.base.interpreter"
local nesting = require "meissa.base.nesting"
local progress = require "meissa.base.progress"
local system = require "meissa.base.system"
local tables = require "meissa.base.tables"

local M = {}

local OPTIONS = {"workers", "transport", "shm", "quiet"}
local MOST_WORKERS = 1024

-- What a worker process runs. The worker's module comes first: it has all that follow loaded as
-- bytecode. What every job needs is loaded before there is one; what drives loops is not, a third
-- of all: only a body that calls Meissa loads it.
local WORKER = [[local worker = require "meissa.worker"
require "meissa.kernel.execution" worker.main(3)]]

--- Another number after workers were stopped or chosen anew.
M.generation = 0

local configured = {}
local session
local running -- the configuration of the session
-- By coroutine, or MAIN, whether a loop goes on with the session there later.
local MAIN = {}
local held = setmetatable({}, {__mode = "k"})

local function whole_number(text, what)
  local value = tonumber(text)
  if not value or value ~= math.floor(value) or value < 0 or value > MOST_WORKERS then
    errors.raise("OPT", "%s must be a whole number from 0 to %d, not '%s'", what, MOST_WORKERS,
                 tostring(text))
  end
  return value
end

local function transport_of(text, what)
  if text ~= "ipc" and text ~= "tcp" then
    errors.raise("OPT", "%s is \"ipc\" or \"tcp\", not '%s'", what, tostring(text))
  end
  return text
end

-- What the next session will be: init's options, then the environment, then the defaults.
local function configuration()
  environment.check()
  local workers, transport, shm = configured.workers, configured.transport, configured.shm
  if workers == nil then
    local text = environment.get "MEISSA_WORKERS"
    workers = text and whole_number(text, "MEISSA_WORKERS") or system.cores()
  end
  if transport == nil then
    transport = environment.choice("MEISSA_TRANSPORT", {"ipc", "tcp"}) or "ipc"
  end
  if shm == nil then
    shm = environment.choice("MEISSA_SHM", {"0", "1"}) ~= "0"
  end
  return {workers = workers, transport = transport, shm = shm}
end

local function goes_on()
  for where in tables.each(held) do
    if where == MAIN or coroutine.status(where) ~= "dead" then return true end
  end
  return false
end

-- Whether a loop is not over; none goes on in a coroutine that nobody can resume.
local function is_held()
  if not goes_on() then return false end
  if not held[MAIN] then collectgarbage() end
  return goes_on()
end

--- Chooses the workers. Options: `workers` (0: run loops in this process), `transport` ("ipc" or
-- "tcp"), `shm` (false: blocks travel by value), `quiet` (true: no progress bars). Running workers
-- are stopped; new ones start with the next parallel loop.
function M.init(options)
  options = options or {}
  if is_held() then
    errors.raise("OPT", "meissa.init: workers cannot be changed while a loop runs; call it " ..
                 "before the loop or after it")
  elseif nesting.within() then
    errors.raise("OPT", "meissa.init: workers cannot be changed in a loop's body or a function " ..
                 "of meissa.replicas; call it before or after")
  end
  if type(options) ~= "table" then
    errors.raise("OPT", "meissa.init takes a table such as {workers = 4}, not %s",
                 tostring(options))
  end
  errors.check_options("meissa.init", options, OPTIONS)
  local fresh = {}
  if options.workers ~= nil then
    fresh.workers = whole_number(options.workers, "option 'workers'")
  end
  if options.transport ~= nil then
    fresh.transport = transport_of(options.transport, "option 'transport'")
  end
  if options.shm ~= nil then
    if type(options.shm) ~= "boolean" then
      errors.raise("OPT", "option 'shm' is true or false, not %s", tostring(options.shm))
    end
    fresh.shm = options.shm
  end
  if options.quiet ~= nil then
    if type(options.quiet) ~= "boolean" then
      errors.raise("OPT", "option 'quiet' is true or false, not %s", tostring(options.quiet))
    end
    progress.quiet = options.quiet
  end
  M.stop()
  configured = fresh
end

local function let_go(where, outer, ok, ...)
  held[where] = outer
  if not ok then error((...), 0) end
  return ...
end

--- Calls a function, the user's perhaps, in the midst of a loop, which needs the workers that there
-- are: what it returns.
-- Errors: what it raises.
function M.during_loop(fn, ...)
  local where = coroutine.running() or MAIN
  local outer = held[where]
  held[where] = true
  return let_go(where, outer, pcall(fn, ...))
end

--- How many workers the next loop runs on; 0 means in this process.
function M.workers()
  return (running or configuration()).workers
end

--- The running session, started if there is none.
-- Errors: WRK, NET.
function M.session()
  if session then return session end
  local config = configuration()
  config.command = interpreter.command(WORKER)
  local before = system.clock()
  local started, err = core.session(config)
  if not started then errors.raise_core(err) end
  config.startup = system.clock() - before
  session, running = started, config
  return session
end

--- The running workers: {workers = how many, pids = {...}, transport =, shm =, directory =,
-- startup = seconds that starting them took}; pids is empty when none runs.
function M.describe()
  local config = running or configuration()
  return {
    workers = config.workers, transport = config.transport, shm = config.shm,
    pids = session and session:pids() or {}, startup = config.startup,
    directory = session and session:info().directory,
  }
end

--- Stops the workers, if there are any.
function M.stop()
  M.generation = M.generation + 1
  if session then
    session:stop()
    session, running = nil, nil
  end
end

return M
