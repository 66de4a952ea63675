-- SPDX-License-Identifier: MIT
--- What an all-reduce of meissa.replicas costs, on workers and in one process, beside
-- MPI_Allreduce of OpenMPI (Debian packages openmpi-bin and libopenmpi-dev) between as many
-- processes as there are replicas.
--
-- Sums of arrays of doubles in place, and the same with an operation that is given; what the
-- replica or process takes that is slowest. MPI yields when it waits, as workers sleep. `copies` is
-- the time in units of copying the same memory once, in one process, where it is not in a cache:
-- what is exchanged has to be copied twice, at the least.
-- Prints a table on stderr and the same figures as JSON on stdout, an object a line.
--   luajit bench/replicas.lua [workers] [repeats]
local directory = arg[0]:match("^(.*/)") or "./"
package.path = directory .. "support/?.lua;" .. package.path
local arguments = require "arguments"
local ffi = require "ffi"
local json = require "dkjson"
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

-- Seconds in which so many bytes are copied in one process, out of any cache.
local function copying(bytes)
  local many = math.max(2, math.ceil(2 ^ 27 / bytes))
  local from, to = ffi.new("char[?]", many * bytes, 1), ffi.new("char[?]", many * bytes, 1)
  local begun = meissa.clock()
  for k = 0, many - 1 do ffi.copy(to + k * bytes, from + k * bytes, bytes) end
  return (meissa.clock() - begun) / many
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
