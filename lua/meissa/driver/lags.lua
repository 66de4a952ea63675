-- SPDX-License-Identifier: MIT
--- Injected staleness: rounds that read versions of a chosen age (option `lags`).
--
-- Blocks wait as in exact rounds, so that how old what they read is depends on nobody's speed: what
-- a round gains by staleness, and what it loses by it, can be measured apart. The lag of a range in
-- a round is the same for all who read it; a block sees what it writes itself as of the round
-- before. No version is older than the first one of its job, that of the last stop test.
-- @module meissa.driver.lags

local errors = require "meissa.base.errors"
local ffi = require "ffi"
local random = require "meissa.kernel.random"
local tables = require "meissa.base.tables"
local waits = require "meissa.sync.waits"

local M = {}

-- A lag by its weight.
local function draw(lags, loop, t, range, ranges)
  local before = random.swap(random.place_of(loop, -(t * ranges + range)))
  local left = random.random() * lags.total
  random.close(before)
  for _, each in ipairs(lags.list) do
    left = left - each[2]
    if left < 0 then return each[1] end
  end
  return lags.list[#lags.list][1]
end

local function ask(lags, t, range, what)
  local lag = lags.call(t, range)
  if waits.is_lag(lag) and lag <= lags.most then return lag end
  errors.raise("OPT", "%s: 'lags' returned %s for round %d and %s %d, which is no whole " ..
               "number from 0 to staleness = %d", lags.where, tostring(lag), t, what, range,
               lags.most)
end

--- The lags of rounds `first` .. `last`, each of so many ranges: uint16 in a string, round by
-- round.
-- @tab lags of meissa.sync.waits @tab loop what its random numbers belong to
-- @string[opt] what what a range is called
-- Errors: OPT for what a function returns.
function M.table(lags, loop, first, last, ranges, what)
  local numbers = ffi.new("uint16_t[?]", (last - first + 1) * ranges)
  for t = first, last do
    for range = 1, ranges do
      numbers[(t - first) * ranges + range - 1] =
        lags.call and ask(lags, t, range, what or "range") or draw(lags, loop, t, range, ranges)
    end
  end
  return ffi.string(numbers, ffi.sizeof(numbers))
end

--- The lags of replicas' messages of round t as a pointer, by replica from 0.
-- @tab lags of meissa.sync.waits @tab loop what its random numbers belong to
-- Errors: OPT for what a function returns.
function M.of_round(lags, loop, t, replicas)
  local numbers = ffi.new("uint16_t[?]", replicas)
  ffi.copy(numbers, M.table(lags, loop, t, t, replicas, "replica"), 2 * replicas)
  return numbers
end

--- What the blocks of a job read by such a string: reads[n][range] is the version that block n
-- sees of a range, blocks and ranges from 0, versions from the job's start.
-- @tab sets of each range (from 1), which it may read
function M.reads(bytes, sets, ranges)
  local numbers = ffi.cast("const uint16_t *", bytes)
  local function of(_, n)
    local own, versions = n % ranges, {}
    local round = (n - own) / ranges
    for range in tables.each(sets[own + 1]) do
      local lag = range - 1 == own and 0 or numbers[n - own + range - 1]
      versions[range - 1] = math.max(0, round - lag)
    end
    return versions
  end
  return setmetatable({bytes = bytes}, {__index = of})
end

return M
