-- SPDX-License-Identifier: MIT
--- ASAP's figure 8: of 8 replicas on 8 workers that all hear all, which part of merges had the
-- messages of the round before of 7, and of 5 or more, of the others, and which part something new
-- of 5 or more; counted in histories of runs of their own.
local history_of = require "history_of"
local reduces = require "reduces"

local M = {}

-- Ways of waiting, as the paper calls them, and the part of reduces with 5 or more in its figure 8.
local WAYS = {{"notify-ack", "NOTIFY-ACK", 100}, {"barrier", "BSP", 77}, {"async", "ASYNC", 39}}

--- Counts reduces by way of waiting.
function M.run(asked, report)
  local nodes = asked.nodes
  if not asked.json then
    print(("\nFigure 8: consistent reduces, %d replicas on %d workers; with messages of the " ..
      "round before, new"):format(nodes, nodes))
    print(("  %-12s%10s%10s%12s%14s%12s"):format("", "reduces", "all 7", "5 or more",
                                                 "5 or more new", "published"))
  end
  for _, way in ipairs(WAYS) do
    local found = history_of(asked, "--merge-by " .. way[1], function(lines)
      return reduces.count(lines, nodes - 1)
    end)
    local function percent(what, least)
      return reduces.percent(found[what], found.total, least)
    end
    local row = {reduces = way[1], count = found.total, all = percent("before", nodes - 1),
                 most = percent("before", 5), new = percent("new", 5), published = way[3]}
    if asked.json then
      report:row(row)
    else
      print(("  %-12s%10d%8.1f %%%10.1f %%%12.1f %%%10.0f %%  %s"):format(
        way[1], row.count, row.all, row.most, row.new, way[3], way[2]))
    end
  end
  if asked.json then return end
  print [[
Published: messages that were there and not torn. None is torn here, and none late: on fewer cores
than workers one goes through many rounds of async while others have no core, so that what it reads
is of no round near its own.]]
end

return M
