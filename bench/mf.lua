-- SPDX-License-Identifier: MIT
--- Matrix factorization by SGD: speed-up from a second worker, launch times, the undo log, memory.
--
-- Every ratio is of runs in this process, taken in turn, because machines drift. Compiled kernels
-- are looked for in an empty cache. Prints a table and then the same figures as one JSON object.
--   luajit bench/mf.lua [ratings] [rank] [strict or fast]
local directory = arg[0]:match("^(.*/)") or "./"
package.path = directory .. "support/?.lua;" .. directory .. "../examples/support/?.lua;" ..
  package.path
local arguments = require "arguments"
local ffi = require "ffi"
local json = require "dkjson"
local median = require "median"
local meissa = require "meissa"
local parallel = meissa.parallel

local count, K, numeric = arguments("mf.lua", "Matrix factorization by SGD on one and two workers.",
  {"ratings", "How many; over 2 million: of the users and items of the larger data set.", 1000000},
  {"rank", "Length of a row.", 32},
  {"numeric", "Mode.", "fast", choices = {"strict", "fast"}})
local ROUNDS, EPOCHS = 5, 4

ffi.cdef "int setenv(const char *name, const char *value, int replace);"
local pipe = io.popen "mktemp -d"
local cache = pipe:read "*l"
pipe:close()
ffi.C.setenv("MEISSA_CACHE", cache, 1)

-- The shape of MovieLens' data sets with 1 and 10 million ratings.
local users, items = 6040, 3706
if count > 2e6 then users, items = 69878, 10677 end
local ratings = require("ratings").generate {
  users = users, items = items, ratings = count, seed = 1}
local mu = ratings:mean()
local lr, reg = 0.01, 0.05
local W = meissa.randn({users, K}, {scale = 0.1, seed = 1, type = "float"})
local H = meissa.randn({items, K}, {scale = 0.1, seed = 2, type = "float"})
local usual, without_undo = {numeric = numeric}, {numeric = numeric, transaction = false}

local function pass(options)
  local sse = 0
  for i, j, r in parallel(ratings, options or usual) do
    local w, h = W[i], H[j]
    local e = r - mu - w:dot(h)
    sse = sse + e * e
    for k = 1, K do
      local wk = w[k]
      w[k] = wk + lr * (e * h[k] - reg * wk)
      h[k] = h[k] + lr * (e * wk - reg * h[k])
    end
  end
  return sse
end

-- Seconds of one pass, the median of a few, after one to warm up.
local function epoch_seconds(workers)
  meissa.init {workers = workers}
  pass()
  local times = {}
  for e = 1, EPOCHS do
    local started = meissa.clock()
    pass()
    times[e] = meissa.clock() - started
  end
  return median(times)
end

-- Proportional set size of this process and the workers, in bytes (Linux, smaps_rollup).
local function pss()
  local total = 0
  local pids = {"self", unpack(meissa.workers().pids)}
  for _, pid in ipairs(pids) do
    local file = assert(io.open("/proc/" .. pid .. "/smaps_rollup"))
    total = total + tonumber(file:read("*a"):match("Pss:%s*(%d+) kB")) * 1024
    file:close()
  end
  return total, #pids
end

local function tell(text, ...) print(("%-40s " .. text):format(...)) end

local function shell_seconds(code)
  local started = meissa.clock()
  assert(os.execute("luajit -e '" .. code .. "'") == 0)
  return meissa.clock() - started
end

-- What undo logs cost on one worker, as a share of a pass without.
local function undo_share()
  meissa.init {workers = 1}
  pass()
  local shares = {}
  for round = 1, 2 * ROUNDS do
    local started = meissa.clock()
    pass(without_undo)
    local between = meissa.clock()
    pass()
    shares[round] = (meissa.clock() - between) / (between - started) - 1
  end
  return median(shares)
end

local figures = {ratings = count, rank = K, numeric = numeric}

-- Launch: from parallel(...) to the first iteration, when first met and when met again.
meissa.init {workers = 2}
local tiny = meissa.zeros(1000)
for i in parallel(1000) do tiny[i] = i end
figures.workers_up_seconds = meissa.workers().startup
local before_first = meissa.clock()
pass()
figures.first_pass_seconds = meissa.clock() - before_first
figures.first_met_seconds = meissa.last().launch
local again = {}
for round = 1, ROUNDS do
  pass()
  again[round] = meissa.last().launch
end
figures.engine = meissa.last().engine
figures.met_again_seconds = median(again)
collectgarbage() -- what generating the ratings has left
local bytes, processes = pss()
local data = 2 * count * 12 + (users + items) * K * 4
figures.pss_bytes, figures.processes = bytes, processes
figures.pss_bound_bytes = 1.3 * data + processes * 40 * 2 ^ 20

local nothing, with = {}, {}
for round = 1, ROUNDS do
  nothing[round] = shell_seconds("")
  with[round] = shell_seconds([[require "meissa"]])
end
figures.require_seconds = median(with) - median(nothing)

local ratios, one, two = {}, {}, {}
for round = 1, ROUNDS do
  one[round], two[round] = epoch_seconds(1), epoch_seconds(2)
  ratios[round] = one[round] / two[round]
end
figures.one_worker_updates_per_second = count / median(one)
figures.two_workers_updates_per_second = count / median(two)
figures.two_over_one = median(ratios)
figures.undo_share = undo_share()
os.execute(("rm -rf '%s'"):format(cache))

tell("%8s", "engine", figures.engine)
tell("%8.1f M", "updates a second, one worker", figures.one_worker_updates_per_second / 1e6)
tell("%8.1f M", "updates a second, two workers", figures.two_workers_updates_per_second / 1e6)
tell("%8.2f x   (at least 1.85)", "two workers over one", figures.two_over_one)
tell("%8.1f %%   (under 5)", "undo log", 100 * figures.undo_share)
tell("%8.1f ms  (under 150)", "first pass, empty kernel cache", figures.first_pass_seconds * 1e3)
tell("%8.1f ms  (under 150)", "two workers up", figures.workers_up_seconds * 1e3)
tell("%8.1f ms", "launch, first met, compiler included", figures.first_met_seconds * 1e3)
tell("%8.3f ms  (under 0.5)", "launch, met again", figures.met_again_seconds * 1e3)
tell("%8.1f ms  (under 20)", "require \"meissa\"", figures.require_seconds * 1e3)
tell("%8.1f MB  (under %.1f)", "PSS of driver and workers", bytes / 2 ^ 20,
  figures.pss_bound_bytes / 2 ^ 20)
print(json.encode(figures, {keyorder = {"ratings", "rank", "numeric", "engine"}}))
