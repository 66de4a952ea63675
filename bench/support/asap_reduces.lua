-- SPDX-License-Identifier: MIT
--- ASAP's figure 8: of 8 replicas on 8 workers that all hear all, which part of merges had the
-- messages of the round before of 7, and of 5 or more, of the others, and which part something new
-- of 5 or more; counted in histories of runs of their own.
local history_of = require "history_of"
local meissa = require "meissa"
local points = require "points"
local reduces = require "reduces"
local sleep = require("sleeping").sleep
local svm = require "train_svm"

local M = {}

-- Ways of waiting, as the paper calls them, and the part of reduces with 5 or more in its figure 8.
local WAYS = {{"notify-ack", "NOTIFY-ACK", 100}, {"barrier", "BSP", 77}, {"async", "ASYNC", 39}}

-- How many microseconds a round takes on average where workers sleep in place of computing.
local NAP = 1000

--- What a child runs: an SVM, or with `naps` rounds in which workers sleep, as if each had a core.
function M.child(asked)
  local nodes, naps = asked.nodes, asked.naps
  meissa.init {workers = nodes, quiet = true}
  local options = {replicas = nodes, every = naps and 1 or asked.every, topology = "all",
                   sync = asked.merge_by}
  if naps then
    local r, began = meissa.replicate(meissa.zeros(1000), options), meissa.zeros(nodes)
    for t, k in meissa.parallel(asked.quick and 12 or 100, nodes, {impure = true}) do
      began[k] = t
      sleep(naps, t, k)
      r[k] = r[k] + 1
    end
    return
  end
  local X, y = points.take({data = asked.data, points = asked.points, seed = 1},
                           points.mostly_right)
  y = points.signs(y)
  local r = meissa.replicate(meissa.zeros(X:size(2)), options)
  for pass = 1, asked.passes do svm.pass(r, X, y, asked.rates[1] / pass, asked.reg, {}) end
end

local function count_of(asked, report, naps)
  for _, way in ipairs(WAYS) do
    local words = "--merge-by " .. way[1] .. (naps and " --naps " .. naps or "")
    local found = history_of(asked, words, function(lines)
      return reduces.count(lines, asked.nodes - 1)
    end)
    local function percent(what, least)
      return reduces.percent(found[what], found.total, least)
    end
    local row = {reduces = way[1], naps = naps, count = found.total,
                 all = percent("before", asked.nodes - 1), most = percent("before", 5),
                 new = percent("new", 5), published = way[3]}
    if asked.json then
      report:row(row)
    else
      print(("  %-12s%10d%8.1f %%%10.1f %%%12.1f %%%10.0f %%  %s"):format(
        way[1], row.count, row.all, row.most, row.new, way[3], way[2]))
    end
  end
end

--- Counts reduces by way of waiting.
function M.run(asked, report)
  local function say(...)
    if not asked.json then print((...):format(select(2, ...))) end
  end
  say("\nFigure 8: consistent reduces, %d replicas on %d workers; with messages of the round " ..
    "before, new", asked.nodes, asked.nodes)
  say("  %-12s%10s%10s%12s%14s%12s", "", "reduces", "all 7", "5 or more", "5 or more new",
      "published")
  count_of(asked, report)
  say("  The same, workers that sleep for %d microseconds, half to half as much again", NAP)
  count_of(asked, report, NAP)
  say [[
Published: messages that were there and not torn. None is torn here, and none late. On fewer cores
than workers one goes through many rounds of async while others have no core, and hears nothing new;
workers that sleep in place of computing are as machines that have their own.]]
end

return M
