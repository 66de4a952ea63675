-- SPDX-License-Identifier: MIT
--- How replicas wait where all passes are one loop, so that nobody waits for all between two of
-- them, and where messages are late on purpose (bench/adaptive.lua): the objective over the
-- optimum after so many passes, each a run from the beginning, and the passes to the target.
local descent = require "descent"

local M = {}

local PASSES = {5, 8, 10, 12, 15, 20, 30, 40}

-- By how many rounds messages are late, one by one in turn, or all.
local function late(from, to)
  local lags = {}
  for lag = from, to do lags[#lags + 1] = {lag, 1} end
  return {lags = lags}
end

local WAITS = {{"bsp", {sync = "bsp"}}, {"ssp 2", {sync = "ssp", staleness = 2}},
               {"async", {sync = "async"}}, {"0 to 2 rounds old", late(0, 2)},
               {"8 rounds old", late(8, 8)}}

--- Runs the settings on a set, and reports them.
-- @tab asked options @tab report of run.report @tab set of descent.set @number goal the objective
function M.run(asked, report, set, goal)
  local quick = asked.passes < PASSES[#PASSES]
  local list = quick and {asked.passes} or PASSES
  if not asked.json then
    local titles = {}
    for n, passes in ipairs(list) do titles[n] = ("%9s"):format(passes .. " p.") end
    print(("\nThe same, all passes in one loop: objective over that of the target, after passes" ..
      "\n  %-26s%8s%s   to target"):format("", "sigma", table.concat(titles)))
  end
  for _, H in ipairs {0.1, 1} do
    for _, wait in ipairs(WAITS) do
      local setting = {name = ("H %g, %s"):format(H, wait[1]), H = H, options = wait[2],
                       -- a share in each pass, of however many
                       every = H == 1 and math.ceil(set.columns:size(1) / asked.replicas) or nil}
      local sigma, at, losses = descent.at_once(asked, setting, set, list, goal)
      if asked.json then
        report:row {one_loop = setting.name, set = set.name, sigma = sigma, passes = at,
                    loss = losses[at or list[#list]], goal = goal}
      else
        local words = {}
        for n, passes in ipairs(list) do
          words[n] = ("%9s"):format(losses[passes] and ("%.4g"):format(losses[passes] / goal) or "")
        end
        print(("  %-26s%8g%s   %s"):format(setting.name, sigma, table.concat(words),
                                           at and at .. " passes" or "-"))
      end
    end
  end
end

return M
