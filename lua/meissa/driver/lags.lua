-- SPDX-License-Identifier: MIT
--- Injected staleness: rounds that read versions of a chosen age (option `lags` of meissa.iterate).
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

local M = {}

local NAME = "meissa.iterate"
local MOST = 2 ^ 16 - 1

local function is_lag(value)
  return type(value) == "number" and value >= 0 and value <= MOST and value == math.floor(value)
end

-- The sum of the weights of a list of {lag, weight}, and the greatest lag.
local function sum_up(list)
  local total, most = 0, 0
  for _, each in ipairs(list) do
    local good = type(each) == "table" and is_lag(each[1]) and type(each[2]) == "number" and
      each[2] > 0 and each[2] < math.huge
    if not good then
      errors.raise("OPT", "%s: option 'lags' is a list of {lag, weight}, whole rounds from 0 " ..
                   "and positive numbers, or a function(t, range) that returns a lag", NAME)
    end
    total, most = total + each[2], math.max(most, each[1])
  end
  if #list == 0 then errors.raise("OPT", "%s: option 'lags' has no {lag, weight}", NAME) end
  return total, most
end

--- Reads the options: nil without lags, else what the functions below take, with `most`, the
-- greatest lag that there may be.
-- Errors: OPT.
function M.parse(options)
  local lags = options.lags
  if lags == nil then return nil end
  if options.sync ~= nil and options.sync ~= "data-centric" then
    errors.raise("OPT", "%s: 'lags' are for sync = \"data-centric\", not \"%s\": leave out one",
                 NAME, tostring(options.sync))
  end
  if type(lags) == "function" then
    local most = options.staleness
    if not is_lag(most) then
      errors.raise("OPT", "%s: with a function as 'lags' option 'staleness' says what it " ..
                   "returns at most", NAME)
    end
    return {call = lags, most = most}
  end
  if type(lags) ~= "table" then sum_up {0} end
  local total, most = sum_up(lags)
  if options.staleness ~= nil and options.staleness < most then
    errors.raise("OPT", "%s: 'lags' has a lag of %d, more than staleness = %s", NAME, most,
                 tostring(options.staleness))
  end
  return {list = lags, total = total, most = options.staleness or most}
end

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

local function ask(lags, t, range)
  local lag = lags.call(t, range)
  if is_lag(lag) and lag <= lags.most then return lag end
  errors.raise("OPT", "%s: 'lags' returned %s for round %d and range %d, which is no whole " ..
               "number from 0 to staleness = %d", NAME, tostring(lag), t, range, lags.most)
end

--- The lags of rounds `first` .. `last`, each of so many ranges: uint16 in a string, round by
-- round.
-- @tab lags of `parse` @tab loop what its random numbers belong to
-- Errors: OPT for what a function returns.
function M.table(lags, loop, first, last, ranges)
  local numbers = ffi.new("uint16_t[?]", (last - first + 1) * ranges)
  for t = first, last do
    for range = 1, ranges do
      numbers[(t - first) * ranges + range - 1] =
        lags.call and ask(lags, t, range) or draw(lags, loop, t, range, ranges)
    end
  end
  return ffi.string(numbers, ffi.sizeof(numbers))
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
