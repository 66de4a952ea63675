-- SPDX-License-Identifier: MIT
--- How rounds wait for each other, as options say it: `sync`, `staleness`, `depth`, `lags`
-- (csrc/sync/gate_setting.h has what the names stand for).
-- @module meissa.sync.waits

local c_api = require "meissa.array.c_api"
local errors = require "meissa.base.errors"
local ffi = require "ffi"

local M = {}

--- What options of those who wait are called: of rounds of meissa.iterate, and of exchanges of
-- replicas, of which all that are of one kind have an option `staleness`.
M.OF_ROUNDS = {"depth", "staleness", "sync", "lags"}
M.OF_EXCHANGES = {"sync", "depth", "lags", "backup", "timeout"}

-- What `sync` may be.
local NAMES = {"data-centric", "notify-ack", "bsp", "bsp-2barrier", "pd-delay", "ssp", "barrier",
               "async"}

local MOST_LAG, MOST_FACTOR = 2 ^ 16 - 1, 1e5

-- An option that is a whole number from `least` to `most`.
local function whole(value, where, name, least, most)
  return errors.check_whole(value, where .. ": option '" .. name .. "'", least, most)
end

-- ---- lags

--- Whether a value is a number of rounds by which what is read may be older.
function M.is_lag(value)
  return type(value) == "number" and value >= 0 and value <= MOST_LAG and value == math.floor(value)
end

local is_lag = M.is_lag

-- The sum of the weights of a list of {lag, weight}, and the greatest lag.
local function sum_up(where, list)
  local total, most = 0, 0
  for _, each in ipairs(list) do
    local good = type(each) == "table" and is_lag(each[1]) and type(each[2]) == "number" and
      each[2] > 0 and each[2] < math.huge
    if not good then
      errors.raise("OPT", "%s: option 'lags' is a list of {lag, weight}, whole rounds from 0 " ..
                   "and positive numbers, or a function of the round, and of the range or " ..
                   "replica that is read, which returns a lag", where)
    end
    total, most = total + each[2], math.max(most, each[1])
  end
  if #list == 0 then errors.raise("OPT", "%s: option 'lags' has no {lag, weight}", where) end
  return total, most
end

-- The lags that are asked for: nil without any, else with `most`, the greatest that there may be.
local function lags_of(where, options)
  local lags = options.lags
  if lags == nil then return nil end
  if options.sync ~= nil and options.sync ~= "data-centric" then
    errors.raise("OPT", "%s: 'lags' are for sync = \"data-centric\", not \"%s\": leave out one",
                 where, tostring(options.sync))
  end
  if type(lags) == "function" then
    local most = options.staleness
    if not is_lag(most) then
      errors.raise("OPT", "%s: with a function as 'lags' option 'staleness' says what it " ..
                   "returns at most", where)
    end
    return {call = lags, most = most, where = where}
  end
  if type(lags) ~= "table" then sum_up(where, {0}) end
  local total, most = sum_up(where, lags)
  if options.staleness ~= nil and options.staleness < most then
    errors.raise("OPT", "%s: 'lags' has a lag of %d, more than staleness = %s", where, most,
                 tostring(options.staleness))
  end
  return {list = lags, total = total, most = options.staleness or most, where = where}
end

-- ---- settings

local setting = ffi.new "ms_gate_setting"
local UNBOUNDED = 0x7fffffffffffffffLL

local function lag_of(value)
  return value == ffi.cast("int64_t", UNBOUNDED) and math.huge or tonumber(value)
end

-- Finds a setting; Errors: OPT.
local function find(asked, workers)
  local staleness = asked.staleness == math.huge and UNBOUNDED or asked.staleness or -1
  c_api.call(c_api.lib.ms_gate_setting_find, asked.sync, staleness, asked.depth or -1, setting)
  c_api.lib.ms_gate_setting_rename(setting, math.max(1, workers))
  c_api.lib.ms_gate_setting_excuse(setting, asked.backup or 0, asked.timeout or 0,
                                   math.max(1, workers))
end

-- Who is late may be left out: `backup` of those that are waited for, or after `timeout` times as
-- long as it usually takes.
local function excuse(asked, options)
  if options.backup ~= nil then
    asked.backup = whole(options.backup, asked.where, "backup", 0)
  end
  local factor = options.timeout
  if factor ~= nil and not (type(factor) == "number" and factor >= 1 and factor <= MOST_FACTOR) then
    errors.raise("OPT", "%s: option 'timeout' says after how many times as long as it usually " ..
                 "takes an exchange goes on without those who are late: a number from 1 to %d, " ..
                 "not %s", asked.where, MOST_FACTOR, errors.shown(factor))
  end
  asked.timeout = factor and math.floor(100 * factor + 0.5)
  local excuses = asked.timeout or asked.backup and asked.backup > 0
  local plain = asked.sync == nil or asked.sync == "data-centric" or asked.sync == "notify-ack"
  if excuses and (not plain or asked.lags or asked.staleness == math.huge) then
    errors.raise("OPT", "%s: options 'backup' and 'timeout' leave out who is late, and %s has " ..
                 "nobody late: leave out one of the two", asked.where, asked.lags and "'lags'" or
                 asked.sync and string.format("sync = \"%s\"", asked.sync) or
                 "staleness = math.huge")
  end
end

local function quoted(names)
  return string.format("\"%s\" or \"%s\"", table.concat(names, "\", \"", 1, #names - 1),
                       names[#names])
end

--- What the options ask for.
-- @string where the function's name @tab options
-- @treturn table {where =, sync =, staleness =, depth =, lags =, backup =, timeout = in
-- hundredths}, as far as they were given
-- Errors: OPT.
function M.parse(where, options)
  local known = options.sync == nil
  for _, name in ipairs(NAMES) do known = known or options.sync == name end
  if not known then
    local near = type(options.sync) == "string" and errors.nearest(options.sync, NAMES)
    errors.raise("OPT", "%s: option 'sync' is %s, not %s%s", where, quoted(NAMES),
                 errors.shown(options.sync),
                 near and string.format(" (did you mean \"%s\"?)", near) or "")
  end
  if options.staleness ~= nil then whole(options.staleness, where, "staleness", 0, math.huge) end
  local lags = lags_of(where, options)
  local asked = {where = where, sync = options.sync, lags = lags, depth = options.depth,
                 staleness = lags and lags.most or options.staleness}
  if asked.depth ~= nil then whole(asked.depth, where, "depth", 1) end
  excuse(asked, options)
  find(asked, 1)
  return asked
end

--- The same for so many workers: `sync`, `staleness`, `depth`, `workers`, `backup`, `timeout` as a
-- job takes them; `oldest`, the lag of the oldest that is heard where who is late is left out;
-- `versions`, how many are kept; `lag` and `ahead`, how much older or newer than the round before
-- what is read may be; `images`: whether it may; `global`: whether everybody waits for everybody.
function M.open(asked, workers)
  find(asked, workers)
  local lag = lag_of(setting.read_lag)
  return {where = asked.where, sync = asked.sync, staleness = asked.staleness, depth = asked.depth,
          workers = math.max(1, workers), versions = tonumber(setting.depth), lag = lag,
          ahead = lag_of(setting.read_ahead), global = setting.scope == 3,
          images = (lag > 0 or setting.read_ahead > 0) or nil,
          lags = lag > 0 and asked.lags or nil, backup = asked.backup, timeout = asked.timeout,
          oldest = (setting.backup > 0 or setting.timeout > 0) and lag or nil}
end

--- Sets of ranges, by range, as M.packed takes them: whether each has all is found out.
function M.found(sets)
  local full, known = true, nil
  for r = 1, #sets do
    for other = 1, sets[r] == known and 0 or #sets do full = full and sets[r][other] == true end
    known = sets[r]
  end
  return {sets = sets, full = full}
end

--- Sets of ranges as a job, or a gate, takes them: two strings, nil where each range reads all.
-- @tab found {sets = by range, from 1, the ranges that are read, full = whether these are all}
function M.packed(found)
  if found.full then return nil, nil end
  local ranges, total = #found.sets, 0
  local starts, list = ffi.new("uint64_t[?]", ranges + 1), {}
  for r = 1, ranges do
    for other = 1, ranges do
      if found.sets[r][other] then
        total = total + 1
        list[total] = other - 1
      end
    end
    starts[r] = total
  end
  local reads = ffi.new("uint32_t[?]", total + 1, list)
  return ffi.string(starts, 8 * (ranges + 1)), ffi.string(reads, 4 * (total + 1))
end

--- The gate of replicas that exchange each when it may (csrc/sync/replica_gate.h).
-- @tab asked what M.parse gave @number workers as M.open takes it @number replicas how many
-- @tab found whom each hears, itself among them, as M.packed takes it
function M.gate(asked, workers, replicas, found)
  local first, reads = M.packed(found)
  find(asked, workers)
  local gate = c_api.call(c_api.lib.ms_replica_gate_new, setting, replicas,
                          ffi.cast("const uint64_t *", first), ffi.cast("const uint32_t *", reads))
  return ffi.gc(gate, c_api.lib.ms_replica_gate_free)
end

--- How the blocks of a job wait, as it takes it.
-- @tab open what M.open gave
-- @param first @param reads what each block reads, packed @tab sets the same, of ranges
-- @param[opt] images whether blocks work on images of what they read
function M.of_job(open, first, reads, sets, images)
  return {sync = open.sync, staleness = open.staleness, depth = open.depth, workers = open.workers,
          backup = open.backup, timeout = open.timeout, read_first = first, reads = reads,
          lagged = open.lags and 1 or nil, sets = sets, images = images and true or nil}
end

return M
