-- SPDX-License-Identifier: MIT
--- What an all-reduce of meissa.replicas costs, on workers and in one process, beside
-- MPI_Allreduce of OpenMPI (Debian packages openmpi-bin and libopenmpi-dev) between as many
-- processes as there are replicas; and what an exchange of 1 MB between two replicas of
-- meissa.replicate does, of an array and of a model's parameters.
--
-- Sums of arrays of doubles in place, and the same with an operation that is given; what the
-- replica or process takes that is slowest. MPI yields when it waits, as workers sleep. `copies` is
-- the time in units of copying the same memory once, in one process, where it is not in a cache:
-- what is exchanged has to be copied twice, at the least.
-- Of an exchange that is the time of a core that each replica takes for a round with it (what two
-- loops of different length take more), which other programs do not change much: 1.5 copies at
-- most, 2.5 of a model.
-- Last, how fast a body runs on a replica, beside the same body on a plain array: of dense and of
-- sparse points, by what blocks take on one worker, where one replica is exchanged once. 0.9 is the
-- goal.
-- Prints a table on stderr and the same figures as JSON on stdout, an object a line.
--   luajit bench/replicas.lua [workers] [repeats]
local directory = arg[0]:match("^(.*/)") or "./"
package.path = directory .. "support/?.lua;" .. package.path
local arguments = require "arguments"
local cores = require "cores"
local ffi = require "ffi"
local json = require "dkjson"
local median = require "median"
local meissa = require "meissa"

local workers, repeats = arguments("replicas.lua", "All-reduces of replicas, beside MPI's.",
  {"workers", "Worker processes.", 2}, {"repeats", "All-reduces of the smallest size.", 2000})

local SIZES = {1, 8192, 524288} -- elements

local function repeats_of(elements)
  return math.max(20, math.floor(repeats / (1 + elements / 4096)))
end

local function sum_of(a, b) return a:add(b) end

-- Shortest and mean seconds of an all-reduce of K replicas, each of the slowest one.
local function measure(count, elements, op)
  local times = repeats_of(elements)
  local list = meissa.replicas(count, {}, function(r)
    local v, best, sum = meissa.zeros(elements), math.huge, 0
    for n = -5, times do
      v:fill(r.index)
      r.barrier()
      local begun = meissa.clock()
      r.allReduce(v, op)
      local taken = meissa.clock() - begun
      if n > 0 then best, sum = math.min(best, taken), sum + taken end
    end
    return {best, sum / times, v[1]}
  end)
  local best, mean = 0, 0
  for _, each in ipairs(list) do
    best, mean = math.max(best, each[1]), math.max(mean, each[2])
    assert(each[3] == count * (count + 1) / 2, "another sum")
  end
  return best, mean
end

-- Seconds of a core in which so many bytes are copied in one process, out of any cache.
local function copying(bytes)
  local many = math.max(2, math.ceil(2 ^ 27 / bytes))
  local from, to = ffi.new("char[?]", many * bytes, 1), ffi.new("char[?]", many * bytes, 1)
  local best = math.huge
  for _ = 1, 3 do
    local begun = os.clock()
    for k = 0, many - 1 do ffi.copy(to + k * bytes, from + k * bytes, bytes) end
    best = math.min(best, (os.clock() - begun) / many)
  end
  return best
end

local function has(command) return os.execute("command -v " .. command .. " >/dev/null") == 0 end

-- The peer's program, or nil.
local function build_peer()
  if not (has "mpicc" and has "mpirun") then
    io.stderr:write("No mpicc or mpirun (openmpi-bin, libopenmpi-dev): MPI is left out.\n")
    return nil
  end
  local program = os.tmpname()
  local ok = os.execute(("mpicc -O2 -o %s %speers/allreduce.c"):format(program, directory)) == 0
  assert(ok, "bench/peers/allreduce.c cannot be compiled")
  return program
end

local function measure_peer(program, count, elements)
  local pipe = io.popen(("OMPI_MCA_mpi_yield_when_idle=1 mpirun --allow-run-as-root " ..
    "--oversubscribe -np %d %s %d %d"):format(count, program, elements, repeats_of(elements)))
  local best, mean, sum = pipe:read("*n", "*n", "*n")
  pipe:close()
  assert(sum == count * (count + 1) / 2, "MPI gave another sum")
  return best, mean
end

local program = build_peer()
local last_line = "%-9s %-10s %10s  %10s %10s %8s  %s\n"
io.stderr:write(last_line:format("replicas", "bytes", "who", "best us", "mean us", "copies",
                                 "MPI's best / this"))

local function report(count, elements, who, best, mean, copy, peer)
  local ratio = peer and ("%.2f"):format(peer / best) or ""
  io.stderr:write(last_line:format(count, elements * 8, who, ("%.1f"):format(best * 1e6),
    ("%.1f"):format(mean * 1e6), ("%.1f"):format(best / copy), ratio))
  print(json.encode({replicas = count, bytes = elements * 8, who = who, best = best, mean = mean,
                     copies = best / copy, peer = peer and peer / best},
                    {keyorder = {"replicas", "bytes", "who", "best", "mean", "copies", "peer"}}))
end

for _, count in ipairs {2, 4} do
  for _, elements in ipairs(SIZES) do
    local copy, peer = copying(elements * 8), nil
    if program then
      local peer_mean
      peer, peer_mean = measure_peer(program, count, elements)
      report(count, elements, "MPI", peer, peer_mean, copy)
    end
    for _, road in ipairs {{"workers", workers}, {"here", 0}} do
      meissa.init {workers = road[2]}
      local best, mean = measure(count, elements)
      report(count, elements, road[1], best, mean, copy, peer)
    end
    meissa.init {workers = workers}
    local best, mean = measure(count, elements, sum_of)
    report(count, elements, "operation", best, mean, copy, peer)
  end
end
if program then os.remove(program) end

-- ------------------------------------------------------------------------------- exchanges

local EXCHANGED = 131072 -- elements

local function train_array(rounds)
  local r = meissa.replicate(meissa.zeros(EXCHANGED), {replicas = 2, every = 1})
  for _, e in meissa.parallel(rounds, 2) do r[e] = r[e] + 1 end
end

local function train_model(rounds)
  local count = EXCHANGED
  local r = meissa.replicate(function() return {w = meissa.zeros(count)} end,
                             {replicas = 2, every = 1, params = function(m) return m.w end})
  for _, e in meissa.parallel(rounds, 2) do
    local m = r()
    m.w[e] = m.w[e] + 1
  end
end

-- For how long the workers have worked in a loop of so many rounds.
local function work_of(train, rounds)
  local begun = cores.of_workers()
  train(rounds)
  return cores.of_workers() - begun
end

-- What a round with an exchange takes of a replica's core, and how many copies that is: copies and
-- loops take turns, as what else a machine does makes both of them slow; the turn in the middle.
local function measure_exchange(train)
  local turns = {}
  for n = 1, 9 do
    local copy = copying(EXCHANGED * 8)
    local cost = (work_of(train, 420) - work_of(train, 20)) / 800
    turns[n] = {cost = cost, copies = cost / copy}
  end
  return median(turns, function(a, b) return a.copies < b.copies end)
end

meissa.init {workers = 2}
for _, each in ipairs {{"array", train_array}, {"model", train_model}} do
  each[2](2)
  local turn = measure_exchange(each[2])
  io.stderr:write(last_line:format(2, EXCHANGED * 8, each[1], ("%.1f"):format(turn.cost * 1e6), "",
                                   ("%.2f"):format(turn.copies), ""))
  print(json.encode({replicas = 2, bytes = EXCHANGED * 8, who = each[1], work = turn.cost,
                     copies = turn.copies}, {keyorder = {"replicas", "bytes", "who", "work"}}))
end

-- ------------------------------------------------------------------------------- bodies

local POINTS, PASSES = 20000, 50

local function dense_pass(X, y, w, passes, how)
  local features = X:size(2)
  for _, e in meissa.parallel(passes, X:size(1), how) do
    local error = -y[e]
    for f = 1, features do error = error + w[f] * X[e][f] end
    for f = 1, features do w[f] = w[f] - 1e-4 * error * X[e][f] end
  end
end

local function sparse_pass(X, y, w, passes, how)
  for _, e in meissa.parallel(passes, X:size(1), how) do
    local sum = 0
    for f, x in X[e]:nonzeros() do sum = sum + w[f] * x end
    if sum * y[e] < 1 then
      for f, x in X[e]:nonzeros() do w[f] = w[f] + 0.01 * y[e] * x end
    end
  end
end

-- What the blocks of the last loop took.
local function busy()
  local plan = meissa.last()
  return plan.workers == 0 and plan.seconds or plan.shares[1].busy
end

-- Seconds of so many passes on a plain array, of which a loop has one, and on a replica: of a few
-- turns the least of each.
local function race(pass, X, y)
  local w = meissa.zeros(X:size(2))
  local r = meissa.replicate(w:clone(), {replicas = 1, every = math.huge})
  local plain, replica = math.huge, math.huge
  for _ = 1, 7 do
    local sum = 0
    for _ = 1, PASSES do
      pass(X, y, w, 1, {ordered = true})
      sum = sum + busy()
    end
    pass(X, y, r, PASSES, {})
    plain, replica = math.min(plain, sum), math.min(replica, busy())
  end
  return plain, replica
end

local function draw_sparse()
  local draws, i, j, v = meissa.rand({POINTS, 14}, {seed = 3}), {}, {}, {}
  for e = 1, POINTS do
    for k = 1, 14 do
      i[#i + 1], j[#j + 1], v[#v + 1] = e, 9 * (k - 1) + 1 + math.floor(9 * draws[e][k]), 1
    end
  end
  return meissa.sparse({POINTS, 126}, {i = i, j = j, v = v})
end

meissa.init {workers = 1}
local signs = meissa.randn({POINTS}, {seed = 2})
for e = 1, POINTS do signs[e] = signs[e] > 0 and 1 or -1 end
io.stderr:write("bodies    points        plain us replica us   plain / replica\n")
for _, each in ipairs {{"dense", dense_pass, meissa.randn({POINTS, 64}, {seed = 1})},
                       {"sparse", sparse_pass, draw_sparse()}} do
  local plain, replica = race(each[2], each[3], signs)
  io.stderr:write(("%-9s %-10s %11.1f %10.1f %11.2f\n"):format("", each[1], plain / PASSES * 1e6,
    replica / PASSES * 1e6, plain / replica))
  print(json.encode({body = each[1], plain = plain / PASSES, replica = replica / PASSES,
                     ratio = plain / replica}, {keyorder = {"body", "plain", "replica", "ratio"}}))
end
