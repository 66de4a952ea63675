-- SPDX-License-Identifier: MIT
--- How many of the workers take part in a job, and what is how heavy.
--
-- Another worker takes time to get going, and blocks that follow each other on different workers
-- cost hand-overs. A loop that is too short for that runs faster on fewer workers; how long its
-- iterations take is known from its last execution, and so is which ranges take long. This decides
-- nothing but who runs what: the grid and the results are the same for any number.
-- @module meissa.driver.worker_count

local ffi = require "ffi"
local grids = require "meissa.plan.grid"
local strategies = require "meissa.plan.strategy"
local system = require "meissa.base.system"

local M = {}

-- Seconds until another worker is at work and has told of its end; and for a hand-over: by a worker
-- that looks for it, by one that sleeps because the cores are taken, and by messages.
local START = {memory = 1.5e-5, messages = 6e-5}
-- Seconds more where as many workers as cores take part: one of them, and the driver at the job's
-- end, have to be woken, which others need not (job/spin.h).
local WAKE = 5e-5
local HAND_ON = {looking = 2e-6, sleeping = 2e-5, messages = 4e-5}

-- What is left, after another execution, of what was known about hand-overs.
local FORGET = 0.9

-- The most that a pace rises from one execution to the next: a block that lost its core to others
-- says nothing about the loop.
local RISE = 2

-- The busiest worker's share of the mean from which on ranges are given out by what they took: less
-- is noise, and where memory is not shared a range that changes its owner has to be sent again.
local UNEVEN = 1.1

local costs = setmetatable({}, {__mode = "k"}) -- of each session, and how arrays travel there

local function costs_of(session)
  local known = costs[session]
  if known then return known end
  local info = session:info()
  local start, hand_on, wake = START.messages, HAND_ON.messages, 0
  if info.memory then
    start, wake = START.memory, WAKE
    hand_on = info.workers <= system.cores() and HAND_ON.looking or HAND_ON.sleeping
  end
  known = {workers = info.workers, cores = system.cores(), by_value = not info.shm,
           start = start, hand_on = hand_on, wake = wake}
  costs[session] = known
  return known
end

--- Whether arrays travel by value.
function M.by_value(session)
  return costs_of(session).by_value
end

-- Hand-overs that follow each other: a worker waits once for each range of the axes that are not
-- its own.
local function steps_of(grid, strategy)
  if not strategies[strategy].waits then return 0 end
  return grid.blocks / grid.ranges[grids.space_axis(grid)]
end

--- How many workers a job is worth, 0 meaning all.
-- @param session the session
-- @tab grid its grid
-- @string strategy the plan's
-- @tab[opt] known what M.learn gave after the loop's last execution
function M.size(session, grid, strategy, known)
  if not known then return 0 end
  local cost = costs_of(session)
  local work, steps = known.pace * grid.volume, steps_of(grid, strategy)
  local hand_on = math.max(cost.hand_on, known.hand_on)
  local best, least = 1, work
  for workers = 2, cost.workers do
    local time = work / workers + (workers - 1) * cost.start + steps * hand_on
    if workers >= cost.cores then time = time + cost.wake end
    if time < least then best, least = workers, time end
  end
  return best == cost.workers and 0 or best
end

--- Seconds that the workers spent in blocks.
-- @tab shares of the workers, from an outcome
function M.busy(shares)
  local busy = 0
  for _, share in ipairs(shares) do busy = busy + share.busy end
  return busy
end

-- Whether the busiest worker had clearly more to do than the others.
local function is_uneven(shares, workers)
  local most = 0
  for _, share in ipairs(shares) do most = math.max(most, share.busy) end
  return most > UNEVEN * M.busy(shares) / workers
end

-- What the ranges of the space axis took, as a vector of uint64 in ns; nil as long as numbers of
-- iterations or entries say enough, and again when what was known has led to uneven work that is
-- too short to be looked into. What was known counts half, and no range gets much heavier at once:
-- it may have lost its core to others. A first execution says nothing: its first blocks may have
-- run before the loop's kernel was there.
local function learn_loads(outcome, workers, grid, known)
  local old = known and known.grid == grid and known.loads or nil
  if not is_uneven(outcome.workers, workers) then return old end
  if not known or not outcome.spent then return nil end
  local ranges = grid.ranges[grids.space_axis(grid)]
  local loads = ffi.new("uint64_t[?]", ranges)
  ffi.copy(loads, outcome.spent, 8 * ranges)
  local mean = M.busy(outcome.workers) * 1e9 / ranges
  for r = 0, old and ranges - 1 or -1 do
    local was = tonumber(old[r])
    loads[r] = (was + math.min(tonumber(loads[r]), RISE * was + mean)) / 2
  end
  return loads
end

--- What the ranges of a job's space axis weigh, uint64_t *, or nil where that is not known better
-- than from their blocks.
-- @tab grid the job's grid
-- @tab[opt] known what M.learn gave after the loop's last execution
function M.loads(grid, known)
  if not known or not known.loads or known.grid ~= grid then return nil end
  return ffi.cast("uint64_t *", known.loads)
end

--- What an execution tells about the next one: {pace = seconds of an iteration, hand_on = seconds
-- waited for a hand-over, loads and grid (see M.loads)}. Waiting for a hand-over includes waiting
-- for slower workers and, on a busy machine, for cores; one worker alone learns nothing about it,
-- and slowly forgets.
-- @tab outcome of the session
-- @tab grid the grid
-- @string strategy the plan's
-- @tab[opt] known what was known before
function M.learn(outcome, grid, strategy, known)
  local shares = outcome.workers
  local waited, workers = 0, 0
  for _, share in ipairs(shares) do
    waited = waited + share.waited
    if share.blocks > 0 then workers = workers + 1 end
  end
  local hand_on = known and known.hand_on * FORGET or 0
  if workers > 1 then hand_on = waited / workers / math.max(1, steps_of(grid, strategy)) end
  local pace = M.busy(shares) / grid.volume
  if known then pace = math.min(pace, known.pace * RISE) end
  return {pace = pace, hand_on = hand_on, grid = grid,
          loads = learn_loads(outcome, workers, grid, known)}
end

return M
