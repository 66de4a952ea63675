-- SPDX-License-Identifier: MIT
--- Rounds, and what waits in them, against what they are to reach:
--
--   stragglers  ranges that sleep, one in fifty for ten times as long, and read their neighbours:
--               the gain over a barrier after each round against that of a max-plus model of the
--               same draws, in which waiting costs nothing; at least 0.7 of it. The lags that were
--               seen reach the staleness.
--   driver      Jacobi's method and PageRank against the fastest driver loop there is, two arrays
--               that change places and one parallel loop a round: never slower, and 1.3 times as
--               fast where a round takes about 50 us by itself.
--   levels      a sparse triangular solve that runs level by level, or as written where that is
--               faster, against the same levels in C by hand, on one or two threads: within 1.5
--               times, and finding the levels takes no longer than 5 passes of the loop as written.
--   gate        whether a block may begin: under 0.2 us at 8 workers.
--
-- What is compared runs in turns, and the shortest time of each counts. A row without its goal says
-- so in its last column.
--   luajit bench/rounds.lua [--part levels] [--repeats 5] [--rounds 200] [--json]
local directory = arg[0]:match("^(.*/)") or "./"
package.path = directory .. "support/?.lua;" .. directory .. "../examples/support/?.lua;" ..
  package.path
local argparse = require "argparse"
local against = require "rounds_against"
local ffi = require "ffi"
local hand = require "hand"
local meissa = require "meissa"
local run = require "run"
local stragglers = require "stragglers"
local triangle = require "triangle"

local function list_of(text)
  local list = {}
  for each in text:gmatch "[^,]+" do
    list[#list + 1] = tonumber(each)
    if not list[#list] then return nil, "not numbers with commas between: " .. text end
  end
  return list
end

local parser = argparse("rounds.lua", "Rounds against what they are to reach.")
parser:option("--part", "Only this part."):choices {"stragglers", "driver", "levels", "gate"}
parser:option("--repeats", "Runs of each, in turns."):convert(tonumber):default "5"
parser:option("--rounds", "Rounds of a run."):convert(tonumber):default "500"
parser:option("--workers", "Workers that compute."):convert(tonumber):default "2"
parser:option("--sleepers", "Workers that sleep."):convert(list_of):default "6,40"
parser:option("--nap", "How long they do, in microseconds."):convert(tonumber):default "4000"
parser:option("--grids", "Sides of Jacobi's grids."):convert(list_of):default "66,258,454,1026"
parser:option("--pages", "Pages to rank."):convert(list_of):default "2000,4500,20000,100000"
parser:option("--rows", "Rows of the triangular matrix."):convert(tonumber):default "100000"
parser:flag("--json", "Print one JSON object a line and nothing else.")
local asked = parser:parse()

local report = run.report({json = asked.json, quiet = true}, {
  {key = "part", title = "part", format = "%s", width = 11},
  {key = "what", title = "what", format = "%s", width = 30},
  {key = "microseconds", title = "us", format = "%.2f", width = 11},
  {key = "other", title = "against", format = "%.2f", width = 11},
  {key = "gain", title = "gain", format = "%.2f", width = 8},
  {key = "goal", title = "goal", format = "%.2f", width = 8},
  {key = "verdict", title = "", format = "%s", width = 8},
  {key = "note", title = "", format = "  %s", width = 1},
})

-- Adds a row; `met`: whether it has reached its goal.
local function add(met, row)
  row.verdict = met and "" or "MISSED"
  row.met = met
  report:row(row)
end

local function time(fn, ...)
  local started = meissa.clock()
  fn(...)
  return meissa.clock() - started
end

-- The shortest times of functions that run in turns.
local function race(list)
  local best = {}
  for k = 1, #list do best[k] = math.huge end
  for _ = 1, asked.repeats do
    for k, fn in ipairs(list) do best[k] = math.min(best[k], time(fn)) end
  end
  return unpack(best)
end

local SLOW, OFTEN, SHARE = 10, 0.02, 0.7

local function add_stragglers(workers)
  meissa.init {workers = workers, quiet = true}
  local rounds = math.ceil(asked.rounds / 2)
  local times = stragglers.draw(rounds, workers, SLOW, OFTEN)
  local least, lags = {}, {}
  for _ = 1, math.min(asked.repeats, 3) do
    for _, name in ipairs {"bsp", 0, 3} do
      local options = name == "bsp" and {sync = name} or {staleness = name}
      local seconds, counts = stragglers.run(times, asked.nap, options)
      least[name] = math.min(least[name] or math.huge, seconds)
      lags[name] = counts
    end
  end
  local barrier = stragglers.ceiling(times)
  for _, staleness in ipairs {0, 3} do
    local ceiling = barrier / stragglers.ceiling(times, staleness)
    local gain = least.bsp / least[staleness]
    local share = (gain - 1) / (ceiling - 1)
    -- Against a barrier as the model has it: what others do on the machine makes real ones longer.
    local ideal = (barrier * asked.nap * 1e-6 / least[staleness] - 1) / (ceiling - 1)
    local reached = lags[staleness][staleness + 1] > 0
    add(share >= SHARE and reached, {
      part = "stragglers", what = ("%d workers, staleness %d"):format(workers, staleness),
      microseconds = least[staleness] / rounds * 1e6, other = least.bsp / rounds * 1e6,
      gain = gain, goal = 1 + SHARE * (ceiling - 1), ceiling = ceiling, share = share,
      share_of_ideal = ideal,
      workers = workers, staleness = staleness, lags = lags[staleness],
      note = ("%.2f of the ceiling's gain (%.2f), %.2f over an ideal barrier; lags %s"):format(
        share, ceiling, ideal, table.concat(lags[staleness], " ")),
    })
  end
end

-- Rounds that take about so long by themselves are to be this much faster than the driver loop.
local ABOUT, FASTER = {35e-6, 70e-6}, 1.3

local function add_driver(what, in_rounds, by_barrier)
  local left, right = in_rounds(asked.rounds):clone(), by_barrier(asked.rounds):clone()
  left:axpy(-1, right)
  assert(left:norm() == 0, "other bits")
  local workers
  local best, barrier = race {
    function()
      in_rounds(asked.rounds)
      workers = meissa.last().workers
    end,
    function() by_barrier(asked.rounds) end,
  }
  best, barrier = best / asked.rounds, barrier / asked.rounds
  local goal = best >= ABOUT[1] and best <= ABOUT[2] and FASTER or 1
  add(barrier / best >= goal, {
    part = "driver", what = what, microseconds = best * 1e6, other = barrier * 1e6,
    gain = barrier / best, goal = goal, workers = workers,
    note = workers == 0 and "in the driver's process" or "",
  })
end

local function add_levels()
  local own, used = triangle(asked.rows, 10), 0
  local function pass() own:solve() end
  for _ = 1, 50 do pass() end -- it finds out by itself which way is faster
  assert(meissa.last().strategy == "levels", "the loop runs as " .. meissa.last().strategy)
  local x = own.x:clone()
  own:by_hand(asked.workers)
  x:axpy(-1, own.x)
  assert(x:norm() == 0, "other bits than in C")
  local found, steady, c, one, serial, written = race {
    function()
      own:forget()
      pass()
    end,
    function()
      pass()
      used = 0
      for _, share in ipairs(meissa.last().shares) do
        if share.blocks > 0 then used = used + 1 end
      end
    end,
    function() own:by_hand(2) end,
    function() own:by_hand(1) end,
    function() own:by_hand(0) end,
    function() own:solve(true) end,
  }
  local fastest = math.min(c, one)
  add(steady / fastest <= 1.5, {
    part = "levels", what = ("%d non-zeros, %d levels"):format(own.entries, own.levels),
    microseconds = steady * 1e6, other = fastest * 1e6, gain = fastest / steady, goal = 1 / 1.5,
    workers = used, two_threads = c * 1e6, one_thread = one * 1e6, row_by_row = serial * 1e6,
    note = ("%s; C on 2 threads %.0f, on one %.0f, row by row %.0f us"):format(
      used == 0 and "as written, in the driver's process" or ("on %d workers"):format(used),
      c * 1e6, one * 1e6, serial * 1e6),
  })
  local passes = (found - steady) / written
  add(passes <= 5, {
    part = "levels", what = "finding them", microseconds = (found - steady) * 1e6,
    other = written * 1e6, gain = 5 / passes, goal = 1, passes = passes,
    note = ("takes as long as %.1f passes of the loop as written"):format(passes),
  })
end

ffi.cdef "double gate_decisions(double workers, double rounds, int everyone);"

local function add_gate(what, everyone)
  local library = hand.compile("gate.c", 1, "double", "strict",
    {"sync/gate.c", "sync/gate_make.c", "sync/gate_sets.c", "sync/gate_setting.c", "base/error.c"})
  local workers, rounds, open = 8, 2000, nil
  local best = race {function() open = library.gate_decisions(workers, rounds, everyone and 1 or 0)
  end}
  assert(open >= 0, "there is no gate")
  best = best / (rounds * workers * 8)
  add(best <= 2e-7, {part = "gate", what = what, microseconds = best * 1e6, other = 0.2,
                     gain = 2e-7 / best, goal = 1})
end

local function wanted(part) return not asked.part or asked.part == part end

if wanted "gate" then
  add_gate("8 workers, all read all", true)
  add_gate("8 workers, read degree 2", false)
end
meissa.init {workers = asked.workers, quiet = true}
if wanted "driver" then
  for _, n in ipairs(asked.grids) do
    add_driver(("Jacobi, %d x %d"):format(n, n), against.jacobi(n))
  end
  for _, n in ipairs(asked.pages) do
    add_driver(("PageRank, %d pages"):format(n), against.pagerank(n))
  end
end
if wanted "levels" then add_levels() end
if wanted "stragglers" then
  for _, workers in ipairs(asked.sleepers) do add_stragglers(workers) end
end
