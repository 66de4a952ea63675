-- SPDX-License-Identifier: MIT
--- Meissa against what people use instead: scikit-learn, scipy, Numba, OpenMP.
--
-- The same data, as many threads as workers, and what comes out is told beside the time: speed is
-- comparable only where quality is. Peers are bench/peers/peers.py and bench/peers/openmp.c, of
-- Debian's packages python3-sklearn, python3-scipy, python3-numba and libgomp1; those that are not
-- there are named, and left out. Meissa runs with its defaults, and in fast mode. Boosting is
-- examples/gbt.lua on a file of Friedman's function. Both sides are warm: a peer's runs come after
-- one more in the same process, Meissa's after two seconds of them, a boosting after five. Boosting
-- counts bins and trees on both sides, and Meissa's also errors on test points after each tree.
--
-- Prints a table on stderr and the same figures as JSON on stdout, an object a line. Goal: at least
-- as fast, 1.5 times in factorization, boosting and svm; the row that misses it is marked.
--   luajit bench/peers.lua [--task kmeans] [--workers 2] [--rounds 3] [--size 1]
local directory = arg[0]:match("^(.*/)") or "./"
package.path = directory .. "support/?.lua;" .. package.path
local argparse = require "argparse"
local json = require "dkjson"
local meissa = require "meissa"

local parser = argparse("peers.lua", "Meissa against what people use instead.")
parser:option("--task", "Only this one.")
parser:option("--workers", "Workers, and threads of peers."):convert(tonumber):default "2"
parser:option("--rounds", "Runs, of which the best counts."):convert(tonumber):default "3"
parser:option("--size", "Times the usual size."):convert(tonumber):default "1"
local asked = parser:parse()

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- What a command prints, by lines.
local function lines_of(command)
  local threads = ("OMP_NUM_THREADS=%d NUMBA_NUM_THREADS=%d OPENBLAS_NUM_THREADS=%d "):format(
    asked.workers, asked.workers, asked.workers)
  local pipe, list = io.popen(threads .. command), {}
  for line in pipe:lines() do list[#list + 1] = line end
  pipe:close()
  return list
end

local function write(path, text)
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
end

local room = lines_of("mktemp -d")[1]

local function show(task, who, seconds, quality, ratio)
  io.stderr:write(("%-14s %-38s %10.2f  %-9s %-12.6g %s\n"):format(task.name, who, seconds * 1e3,
    task.quality, quality, not ratio and "" or ("%.2f%s"):format(ratio,
      ratio < task.goal and (" below %.1f"):format(task.goal) or "")))
  print(json.encode({task = task.name, who = who, seconds = seconds, quality = quality,
    ratio = ratio, goal = task.goal}, {keyorder = {"task", "who", "seconds"}}))
end

local function absent(task, peer, why)
  io.stderr:write(("%-14s %s SKIPPED: %s\n"):format(task.name, peer, why))
  print(json.encode {task = task.name, who = peer, absent = why})
end

-- The peers of a task: {who, seconds, quality} each.
local function python_peers(task)
  local list = {}
  local command = ("python3 %s %s %s"):format(quoted(directory .. "peers/peers.py"), task.name,
                                              quoted(room))
  local lines = lines_of(command)
  if #lines == 0 then absent(task, "Python", "it failed, or there is none") end
  for _, line in ipairs(lines) do
    local said = json.decode(line) or {absent = line}
    if said.absent then
      absent(task, said.peer or "Python", said.absent)
    else
      list[#list + 1] = {said.peer, said.seconds, said.quality}
    end
  end
  return list
end

local openmp

-- The compiled program, or false.
local function openmp_program()
  if openmp == nil then
    local command = ("%s -O3 -march=native -ffp-contract=off -fopenmp -o %s/openmp %s -lm")
      :format(os.getenv "CC" or "cc", quoted(room), quoted(directory .. "peers/openmp.c"))
    openmp = os.execute(command .. " 2>/dev/null") == 0 and room .. "/openmp"
  end
  return openmp
end

local function openmp_peer(task, numbers)
  local program = openmp_program()
  if not program then return absent(task, "OpenMP C", "it does not compile: libgomp1, gcc") end
  local given = task.name == "stencil" and ("stencil %s %d %d"):format(quoted(room .. "/grid.npy"),
    numbers.n, numbers.passes) or ("monte_carlo %d"):format(numbers.n)
  local line = lines_of(("%s %s %d"):format(quoted(program), given, asked.rounds))[1] or ""
  local seconds, quality = line:match "^(%S+) (%S+)$"
  if not seconds then return absent(task, "OpenMP C", "it failed") end
  return {"OpenMP C", tonumber(seconds), tonumber(quality)}
end

-- The least seconds of a run by Meissa, and its quality, after the compiler had its time.
local function own(case, options)
  local best, quality, from, rounds = math.huge, nil, meissa.clock(), 0
  repeat
    case.reset()
    case.run(options)
    rounds = rounds + 1
  until rounds >= 2 and meissa.clock() - from > 2
  for _ = 1, asked.rounds do
    case.reset()
    local started = meissa.clock()
    quality = case.run(options)
    best = math.min(best, meissa.clock() - started)
  end
  return best / (case.per or 1), quality
end

local function compare(task, peers, ours)
  for _, peer in ipairs(peers) do show(task, peer[1], peer[2], peer[3]) end
  for _, each in ipairs(ours) do
    for _, peer in ipairs(peers) do
      show(task, each[1] .. " x " .. peer[1], each[2], each[3], peer[2] / each[2])
    end
    if #peers == 0 then show(task, each[1], each[2], each[3]) end
  end
end

local function run_task(task)
  local case = task.make(asked.size)
  case.numbers.rounds = asked.rounds
  for name, array in pairs(case.arrays) do meissa.save(("%s/%s.npy"):format(room, name), array) end
  write(room .. "/task.json", json.encode(case.numbers))
  local peers = python_peers(task)
  if task.name == "stencil" or task.name == "monte_carlo" then
    peers[#peers + 1] = openmp_peer(task, case.numbers)
  end
  local ours = {}
  for _, numeric in ipairs {"strict", "fast"} do
    local seconds, quality = own(case, {numeric = numeric})
    ours[#ours + 1] = {"Meissa " .. numeric, seconds, quality}
  end
  compare(task, peers, ours)
end

-- Friedman's first function with noise: the last column is the target.
local function friedman(points)
  local X, noise = meissa.rand({points, 11}, {seed = 1}), meissa.randn({points}, {seed = 2})
  for i in meissa.parallel(points) do
    local x = X[i]
    x[11] = 10 * math.sin(math.pi * x[1] * x[2]) + 20 * (x[3] - 0.5) ^ 2 + 10 * x[4] + 5 * x[5] +
      noise[i]
  end
  return X
end

local function run_boosting()
  local task = {name = "boosting", goal = 1.5, quality = "test R2"}
  local trees, depth, X = 50, 6, friedman(math.floor(45730 * asked.size))
  meissa.save(room .. "/points.npy", X)
  write(room .. "/task.json", json.encode {trees = trees, depth = depth, rounds = asked.rounds})
  local rows = {}
  for i = 1, X:size(1) do rows[i] = table.concat(X[i]:clone():totable(), ",") end
  write(room .. "/points.csv", table.concat(rows, "\n") .. "\n")
  local command = ("luajit %s --json --data %s --epochs %d --depth %d --workers %d --fits 6")
    :format(quoted(directory .. "../examples/gbt.lua"), quoted(room .. "/points.csv"), trees, depth,
            asked.workers) .. " 2>/dev/null"
  local best, quality = math.huge, 0
  for _ = 1, asked.rounds do
    for _, line in ipairs(lines_of(command)) do
      local said = json.decode(line)
      if said and said.workers then
        best, quality = math.min(best, said.binning + said.seconds), said.test_r2
      end
    end
  end
  compare(task, python_peers(task), {{"Meissa strict", best, quality}})
end

meissa.init {workers = asked.workers, quiet = true}
io.stderr:write(("%-14s %-38s %10s  %-22s %s\n"):format("task", "", "ms", "quality", "of peer"))
local ok, why = pcall(function()
  if not asked.task or asked.task == "boosting" then run_boosting() end
  for _, task in ipairs(require "peer_tasks") do
    if not asked.task or asked.task == task.name then run_task(task) end
  end
end)
os.execute("rm -rf " .. quoted(room))
if not ok then error(why, 0) end
