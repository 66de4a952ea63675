-- SPDX-License-Identifier: MIT
--- What settings of an exchange leave guaranteed, and what a report says of them.
-- @module meissa.sync.guarantee

local notice = require "meissa.base.notice"
local settings_of = require "meissa.sync.settings"
local waits = require "meissa.sync.waits"

local M = {}

--- What settings leave guaranteed: "sequential", "reproducible", "bounded(a, b)" (what is merged is
-- of a to b rounds before) or "none"; and a sentence for the report.
-- @tab[opt] settings of meissa.sync.settings; nil: those of what is never exchanged
-- @number replicas how many
function M.of(settings, replicas)
  if replicas == 1 then return "sequential", "one replica: the loop as written" end
  if not settings then return "reproducible", "the same bits for any number of workers" end
  local unsent = settings.bound < math.huge and
    string.format("; no change beyond %g stays unsent", settings.bound) or ""
  local open = waits.open(settings.waits, 1)
  local old, new = open.lag, open.ahead
  if settings.auto then old = settings_of.MOST_STALENESS end
  if open.oldest then
    return "none", string.format("values of up to %d rounds earlier, or later, are merged, and " ..
                                 "those who are late are left out%s", old, unsent)
  end
  if settings.auto then
    return string.format("bounded(0, %d)", old),
      string.format("values of up to %d rounds earlier may be merged, as many as pay%s", old,
                    unsent)
  end
  if old == math.huge then
    return "none", "values of any earlier round may be merged" .. unsent
  elseif settings.waits.lags then
    return "reproducible", string.format("values of up to %d rounds earlier are merged, as the " ..
                                         "lags say%s", settings.waits.lags.most, unsent)
  elseif old > 0 or new > 0 then
    return string.format("bounded(%d, %d)", new > 0 and -new or 0, old),
      string.format("values of up to %d rounds earlier%s may be merged%s", old,
                    new > 0 and string.format(", or %d later,", new) or "", unsent)
  end
  return "reproducible", "the same bits for any number of workers" .. unsent
end

local RANKS = {sequential = 0, reproducible = 1, bounded = 2, none = 3}

local function rank_of(name)
  local low, high = string.match(name, "%((%-?%d+), (%d+)%)")
  return RANKS[string.match(name, "^%a+")], high and high - low or 0
end

--- Whether a guarantee, as M.of names it, is less than another one.
function M.is_less(name, other)
  local rank, width = rank_of(name)
  local other_rank, other_width = rank_of(other)
  return rank > other_rank or rank == other_rank and width > other_width
end

-- ------------------------------------------------------------------------------------- reports

local function merge_words(settings)
  local merge, words = settings.merge, {}
  if merge.kind == "add" then
    words[1] = string.format("gamma %g", merge.gamma)
    if merge.sigma then words[2] = string.format("sigma %g", merge.sigma) end
    if merge.damp and #merge.damp > 0 then
      words[3] = string.format("damps %d array%s", #merge.damp, #merge.damp == 1 and "" or "s")
    end
  elseif merge.kind == "weighted" then
    words[1] = string.format("lambda %g", merge.lambda)
    words[2] = "form " .. (merge.form_name or "shifted")
  end
  if settings.push_sum then words[#words + 1] = "push-sum" end
  if settings.biased then words[#words + 1] = "biased" end
  return merge.kind .. (#words > 0 and " (" .. table.concat(words, ", ") .. ")" or "")
end

local function wait_words(settings)
  local asked, words = settings.waits, {}
  if asked.sync then words[#words + 1] = ", sync " .. asked.sync end
  if asked.depth then words[#words + 1] = ", depth " .. asked.depth end
  if asked.backup then words[#words + 1] = ", backup " .. asked.backup end
  if asked.timeout then words[#words + 1] = string.format(", timeout %g", asked.timeout / 100) end
  return table.concat(words)
end

--- Words of a report: whom replicas hear, how they merge and wait.
function M.exchange_words(settings)
  return string.format("topology %s, merge %s%s", settings.topology.name, merge_words(settings),
                       wait_words(settings))
end

--- Words of a report: what messages leave out, and what becomes of that; none where they have all.
function M.filter_words(settings)
  local filter, words = settings.filter, {}
  if filter.kind == "sketch" then
    return string.format(", as sketches of %d x %d", filter.depth, filter.width)
  end
  if not settings.filters then return "" end
  if filter.kind ~= "none" then
    words[1] = string.format("changes from %g on, %s", filter.eps, filter.kind)
    if filter.floor > 0 then words[1] = string.format("%s, floor %g", words[1], filter.floor) end
  end
  if settings.quota < math.huge then words[#words + 1] = settings.quota .. " bytes a round" end
  if filter.priority then words[#words + 1] = "priority " .. filter.priority_name end
  if settings.bound < math.huge then
    words[#words + 1] = string.format("changes beyond %g at once", settings.bound)
  end
  words[#words + 1] = "residual " .. settings.residual_name
  return ", sent: " .. table.concat(words, ", ")
end

-- ------------------------------------------------------------------------------------- notices

-- Whether no message is ever of a later round than those of who hears it.
local function hears_none_ahead(settings)
  return waits.open(settings.waits, 1).ahead == 0
end

--- Says once what is known to lead astray, whoever has asked for it.
-- @string where the function's name
function M.notice(where, settings)
  local merge = settings.merge
  if settings.replicas == 1 then return end
  if merge.sigma and merge.sigma < merge.gamma * settings.replicas then
    notice("%s: merge = {add = gamma, sigma = s} with gamma = %g and sigma = %g of %d replicas " ..
           "may diverge: it is safe from sigma = gamma * replicas = %g on, which is what is " ..
           "taken where sigma is left out", where, merge.gamma, merge.sigma, settings.replicas,
           merge.gamma * settings.replicas)
  end
  if merge.kind == "weighted" and merge.form_name == "printed" then
    notice("%s: merge = {weighted = lambda, form = \"printed\"} halves the replica's own value " ..
           "for each message of its own round, and is negative for older ones: form = " ..
           "\"shifted\" is a mean", where)
  end
  if merge.kind == "weighted" and merge.form_name == "normalised" and
     hears_none_ahead(settings) then
    notice("%s: merge = {weighted = lambda, form = \"normalised\"} gives weight 0 to a message " ..
           "that is of no later round than the replica's own, and with these options none is: " ..
           "replicas do not hear each other. form = \"shifted\" counts those of its own round, " ..
           "too", where)
  end
end

return M
