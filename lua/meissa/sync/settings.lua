-- SPDX-License-Identifier: MIT
--- Settings of an exchange of replicas: topology, filter, merge, staleness, read from options;
-- and which of their combinations there are (guarantee.lua: what they leave guaranteed).
-- @module meissa.sync.settings

local errors = require "meissa.base.errors"
local ffi = require "ffi"
local post_rows = require "meissa.sync.post_rows"
local tables = require "meissa.base.tables"
local topologies = require "meissa.sync.topology"
local waits = require "meissa.sync.waits"

local M = {}

--- Options of an exchange; between the blocks of a loop it has waits.OF_EXCHANGES, too.
M.OPTIONS = {"topology", "staleness", "filter", "merge", "quota", "residual", "bound", "push_sum",
             "biased"}

--- Options of an exchange between the blocks of a loop.
M.OF_LOOPS = {unpack(M.OPTIONS)}
for _, name in ipairs(waits.OF_EXCHANGES) do M.OF_LOOPS[#M.OF_LOOPS + 1] = name end

--- The greatest staleness that is chosen where it is "auto".
M.MOST_STALENESS = 8

local function refuse(format, ...)
  errors.raise("OPT", format, ...)
end

local function number(value, least, what)
  if type(value) ~= "number" or value ~= value or value < least then
    refuse("%s is a number from %g on, not %s", what, least, errors.shown(value))
  end
  return value
end

local function choice(value, names, what)
  for k, name in ipairs(names) do
    if value == name then return k - 1 end
  end
  local near = type(value) == "string" and errors.nearest(value, names)
  refuse("%s is \"%s\", not %s%s", what, table.concat(names, "\" or \""), errors.shown(value),
         near and string.format(" (did you mean \"%s\"?)", near) or "")
end

-- ----------------------------------------------------------------------------------- merges

local FORMS = {"printed", "normalised", "shifted"}

local function finite(value, least, what)
  if value == math.huge then refuse("%s is finite", what) end
  return number(value, least, what)
end

local function parse_weighted(merge)
  errors.check_options("option 'merge'", merge, {"weighted", "form"})
  return {kind = "weighted", payload = "state",
          lambda = finite(merge.weighted, 0, "the weight of a merge ({weighted = lambda})"),
          form = choice(merge.form or "shifted", FORMS, "the form of a weighted merge"),
          form_name = merge.form}
end

local function parse_add(merge, replicas)
  errors.check_options("option 'merge'", merge, {"add", "sigma", "damp"})
  local gamma = finite(merge.add, 0, "the factor of a merge ({add = gamma})")
  local parsed = {kind = "add", payload = "delta", gamma = gamma, factor = gamma}
  if merge.sigma ~= nil or merge.damp ~= nil then
    parsed.sigma = finite(merge.sigma or gamma * replicas, 0, "sigma of a merge")
    if parsed.sigma == 0 then refuse("sigma of a merge must not be 0") end
    parsed.factor = gamma / parsed.sigma
    parsed.damp = merge.damp or {}
    if type(parsed.damp) ~= "table" then
      refuse("what a merge damps is a list of arrays ({damp = {alpha}}), not %s",
             tostring(merge.damp))
    end
  end
  return parsed
end

--- What is meant by an option `merge`: {kind = "mean", "add", "weighted", "take" or "function",
-- payload = "state" or "delta", ...}.
-- Errors: OPT.
function M.merge(merge, replicas)
  if merge == nil or merge == "mean" then return {kind = "mean", payload = "state"} end
  if merge == "take" then return {kind = "take", payload = "state"} end
  if type(merge) == "function" then
    return {kind = "function", payload = "state", rule = merge}
  end
  if type(merge) == "table" and merge.add ~= nil then return parse_add(merge, replicas) end
  if type(merge) == "table" and merge.weighted ~= nil then return parse_weighted(merge) end
  refuse("option 'merge' is \"mean\", {add = gamma, sigma =, damp =}, {weighted = lambda}, " ..
         "\"take\" or a function of the own value, a received one and its weight, not %s",
         errors.shown(merge))
end

-- ----------------------------------------------------------------------------------- filters

local PRIORITIES = {"random", "round-robin", "magnitude", "relative"}
local RESIDUALS = {"keep", "drop", "invalidate"}

local function parse_sketch(filter)
  errors.check_options("option 'filter'", filter, {"sketch", "width", "depth", "seed"})
  choice(filter.sketch, {"count"}, "the sketch of a filter")
  return {kind = "sketch", width = errors.check_whole(filter.width, "the width of a sketch", 1),
          depth = errors.check_whole(filter.depth, "the depth of a sketch", 1),
          seed = errors.check_whole(filter.seed or 1, "the seed of a filter", 0)}
end

local function parse_filter(filter)
  if filter == nil then return {kind = "none"} end
  if type(filter) ~= "table" then
    refuse("option 'filter' is {relative = eps}, {magnitude = eps}, {priority = name} or " ..
           "{sketch = \"count\"}, not %s", errors.shown(filter))
  end
  if filter.sketch ~= nil then return parse_sketch(filter) end
  errors.check_options("option 'filter'", filter,
                       {"relative", "magnitude", "floor", "priority", "seed", "sketch"})
  if filter.relative ~= nil and filter.magnitude ~= nil then
    refuse("a filter's threshold is relative or of the magnitude, not both")
  end
  if filter.relative == nil and filter.magnitude == nil and filter.priority == nil then
    refuse("option 'filter' has no threshold (relative, magnitude) and no priority")
  end
  if filter.floor ~= nil and filter.relative == nil then
    refuse("a filter's floor belongs to a relative threshold")
  end
  return {kind = filter.relative and "relative" or filter.magnitude and "magnitude" or "none",
          eps = number(filter.relative or filter.magnitude or 0, 0, "a filter's threshold"),
          floor = number(filter.floor or 0, 0, "a filter's floor"),
          seed = errors.check_whole(filter.seed or 1, "the seed of a filter", 0),
          priority = filter.priority and choice(filter.priority, PRIORITIES,
                                                "a filter's priority"),
          priority_name = filter.priority}
end

local KINDS = {none = 0, relative = 1, magnitude = 2}

-- The filter as the core takes it.
local function rule_of(filter, settings)
  local rule = ffi.new "ms_filter_rule"
  rule.kind, rule.priority = KINDS[filter.kind], filter.priority or 2
  rule.residual, rule.delta = settings.residual, settings.merge.payload == "delta" and 1 or 0
  rule.eps, rule.floor, rule.seed = filter.eps or 0, filter.floor or 0, filter.seed or 1
  rule.bound = settings.bound
  return rule
end

--- Gives settings a filter: `filter` and, where anything is left out of messages, `rule`.
-- Errors: OPT.
function M.set_filter(settings, filter)
  settings.filter, settings.asked_filter = parse_filter(filter), filter
  settings.rule = nil
  if settings.filter.kind ~= "sketch" and
     (filter ~= nil or settings.quota < math.huge or settings.bound < math.huge) then
    settings.rule = rule_of(settings.filter, settings)
  end
  settings.filters = settings.rule ~= nil or settings.filter.kind == "sketch"
end

-- ------------------------------------------------------------------------------ combinations

-- Bytes of a message of one element.
local LEAST = 28

-- Each a reason why settings are no combination, or nothing.
local REFUSALS = {
  function(s)
    if s.merge.kind ~= "take" then return end
    for i = 1, s.replicas do
      for t = 0, s.topology.period - 1 do
        if #topologies.senders(s.topology, i, t) > 1 then
          return "merge = \"take\" has one writer for each element: replica " .. i .. " hears " ..
            "several others over topology " .. s.topology.name
        end
      end
    end
  end,
  function(s)
    if s.merge.kind == "add" and not topologies.is_complete(s.topology) then
      return "merge = {add = gamma} needs everyone's changes, and over topology " ..
        s.topology.name .. " not everyone's arrive: take \"all\" or an all-reduce"
    end
  end,
  function(s)
    if s.push_sum and s.filters then
      return "push_sum needs all of what is sent: leave out filter, quota and bound"
    end
    if s.push_sum and s.merge.kind ~= "mean" then
      return "push_sum is a way to the mean: merge = \"mean\""
    end
  end,
  function(s)
    if s.merge.kind ~= "mean" or s.push_sum or s.biased then return end
    local ok, why = s.topology:check()
    if not ok then
      return "the mean over topology " .. s.topology.name .. " is not that of all replicas (" ..
        string.gsub(why, "^OPT: ", "") .. "): push_sum = true makes it so, biased = true takes it"
    end
  end,
  function(s)
    if topologies.reduces(s.topology) and s.filters then
      return "the sums of topology " .. s.topology.name .. " pass through others: they are not " ..
        "filtered; take \"all\""
    end
    local mean_or_add = s.merge.kind == "mean" or s.merge.kind == "add"
    if topologies.reduces(s.topology) and not mean_or_add then
      return "topology " .. s.topology.name .. " sums: merge = \"mean\" or {add = gamma}"
    end
  end,
  function(s)
    if s.filter.kind ~= "sketch" then return end
    if s.quota < math.huge or s.bound < math.huge then
      return "a sketch has its size: leave out quota and bound"
    end
    if s.residual ~= 0 then return "what a sketch leaves out is kept: residual = \"keep\"" end
  end,
  function(s)
    if M.excuses(s) and (s.push_sum or s.merge.kind == "add") then
      return "options 'backup' and 'timeout' leave out who is late, and " ..
        (s.push_sum and "push_sum" or "merge = {add = gamma}") .. " needs everyone's messages"
    end
  end,
  function(s)
    if s.filter.priority and s.quota == math.huge then
      return "a filter's priority says what goes first where a quota does not let all go: there " ..
        "is no 'quota'"
    end
  end,
  function(s)
    if s.bound < math.huge and s.quota == math.huge and s.filter.kind == "none" then
      return "option 'bound' sends changes that a filter or a quota would leave out, and there " ..
        "is neither: give 'filter' a threshold, filter = {magnitude = eps}, or leave out 'bound'"
    end
  end,
  function(s)
    local most = s.quota < math.huge and post_rows.most_receivers(s) or 0
    if s.quota < most * LEAST then
      return string.format("quota = %s bytes a round has no room for an element in each message " ..
                           "of a replica, which tells %d others over topology %s: at least %d",
                           s.quota, most, s.topology.name, most * LEAST)
    end
  end,
  function(s)
    if s.residual ~= 0 and not s.filters then
      return "residual says what becomes of what a filter or a quota leaves out: there is none"
    end
  end,
}

--- Raises OPT where settings are no combination.
function M.check(settings)
  for _, refusal in ipairs(REFUSALS) do
    local why = refusal(settings)
    if why then refuse("%s", why) end
  end
end

--- Whether all that is heard now is of the round before, whoever is how fast;
function M.is_prompt(settings)
  local open = waits.open(settings.waits, 1)
  return open.lag == 0 and open.ahead == 0 and not open.oldest
end

--- and whether that stays so.
function M.is_exact(settings) return M.is_prompt(settings) and not settings.auto end

--- Whether all replicas come to the same where each hears all others, of the round before.
function M.agree(settings)
  local kind, topology = settings.merge.kind, settings.topology
  if settings.push_sum or not topologies.is_complete(topology) then return false end
  return kind == "add" or
    kind == "mean" and (topologies.is_uniform(topology) or topologies.reduces(topology))
end

--- Whether who is late may be left out of an exchange.
function M.excuses(settings)
  return waits.open(settings.waits, 1).oldest ~= nil
end

--- Whether the exchanges of two settings wait in one way.
function M.wait_alike(a, b)
  return a.staleness == b.staleness and a.waits.sync == b.waits.sync and
    a.waits.depth == b.waits.depth and a.asked.lags == b.asked.lags and
    a.waits.backup == b.waits.backup and a.waits.timeout == b.waits.timeout
end

local function boolean(options, name)
  if options[name] ~= nil and type(options[name]) ~= "boolean" then
    refuse("option '%s' is true or false, not %s", name, errors.shown(options[name]))
  end
  return options[name] == true
end

--- Checks a staleness.
function M.staleness(value)
  if value == nil or value == "auto" then return 0 end
  local good = type(value) == "number" and value >= 0 and
    (value == math.huge or value == math.floor(value))
  if good then return value end
  refuse("option 'staleness' is a whole number of rounds, math.huge or \"auto\", not %s",
         errors.shown(value))
end

-- Options whose staleness is chosen while the loop runs.
local function without_staleness(options)
  local others = tables.copy(options)
  others.staleness = nil
  return others
end

--- Reads the options of an exchange.
-- @string where the function's name @tab options @number replicas how many
-- @treturn table {replicas, topology, staleness, filter, rule, filters, merge, quota, residual,
-- bound, push_sum, biased, waits (of meissa.sync.waits), asked (the options)}
-- Errors: OPT.
function M.read(where, options, replicas)
  local settings = {replicas = replicas,
                    topology = topologies.topology(options.topology or "all", replicas),
                    staleness = M.staleness(options.staleness),
                    merge = M.merge(options.merge, replicas),
                    quota = options.quota == nil and math.huge or
                      number(options.quota, LEAST, "option 'quota', bytes a round,"),
                    bound = options.bound == nil and math.huge or
                      number(options.bound, 0, "option 'bound'"),
                    residual = choice(options.residual or "keep", RESIDUALS, "option 'residual'"),
                    residual_name = options.residual or "keep",
                    push_sum = boolean(options, "push_sum"), biased = boolean(options, "biased")}
  settings.auto = options.staleness == "auto"
  for _, name in ipairs(settings.auto and {"sync", "depth", "lags"} or {}) do
    if options[name] ~= nil then
      refuse("staleness = \"auto\" chooses among staleness from 0 on: leave out '%s'", name)
    end
  end
  settings.waits = waits.parse(where, settings.auto and without_staleness(options) or options)
  settings.staleness = settings.waits.staleness or settings.staleness
  settings.asked = {}
  for _, name in ipairs(M.OF_LOOPS) do settings.asked[name] = options[name] end
  M.set_filter(settings, options.filter)
  M.check(settings)
  return settings
end

--- The same settings with another filter, merge or staleness.
-- @tab changes options
-- Errors: OPT.
function M.changed(settings, changes)
  local options = {}
  for name, value in tables.each(settings.asked) do options[name] = value end
  for _, name in ipairs {"filter", "merge", "staleness"} do
    if changes[name] ~= nil then options[name] = changes[name] end
  end
  local changed = M.read("the answer of on_round", options, settings.replicas)
  changed.auto = settings.auto
  return changed
end

return M
