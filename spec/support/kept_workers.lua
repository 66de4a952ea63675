-- SPDX-License-Identifier: MIT
--- Workers that are kept from one test to the next that asks for as many on the same road: starting
-- them takes longer than most tests do. For tests of what is computed, not of how workers start.
local meissa = require "meissa"
local pool = require "meissa.driver.pool"

local M = {}

-- A variable of the pool's, by its name.
local function place_of(name)
  for k = 1, 60 do
    local found = debug.getupvalue(pool.session, k)
    if found == name then return k end
    assert(found, name)
  end
end

local SESSION, RUNNING = place_of "session", place_of "running"
local _, configuration = debug.getupvalue(pool.session, place_of "configuration")

-- Sessions that are put aside, by their configuration: {session, configuration}.
local kept = {}

local function key_of(config)
  return ("%d %s %s"):format(config.workers, config.transport, tostring(config.shm))
end

local function put(session, running)
  debug.setupvalue(pool.session, SESSION, session)
  debug.setupvalue(pool.session, RUNNING, running)
end

local generation -- the pool's since the last call

--- meissa.init, but the workers that there are stay for the next call that asks for such; not those
-- that meissa.init itself was asked for since.
function M.init(options)
  local _, session = debug.getupvalue(pool.session, SESSION)
  local _, running = debug.getupvalue(pool.session, RUNNING)
  if session and pool.generation == generation then
    local key = key_of(running)
    kept[key] = {session, running}
    put(nil, nil)
  end
  meissa.init(options)
  local key = key_of(configuration())
  if kept[key] then put(unpack(kept[key])) end
  kept[key], generation = nil, pool.generation
end

--- Stops them all.
function M.stop()
  meissa.init {}
  for key, each in pairs(kept) do
    each[1]:stop()
    kept[key] = nil
  end
end

return M
