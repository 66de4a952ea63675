-- SPDX-License-Identifier: MIT
--- How busy a wavefront and a rotation keep two workers: a million iterations of about 1 us each.
--
-- Busy is the time that workers spend in blocks over all their time in the pass, launch included.
-- Prints a table and then the same figures as one JSON object.
--   luajit bench/busy.lua [side]
package.path = (arg[0]:match("^(.*/)") or "./") .. "support/?.lua;" .. package.path
local arguments = require "arguments"
local json = require "dkjson"
local median = require "median"
local meissa = require "meissa"
local parallel = meissa.parallel

local n = arguments("busy.lua", "How busy a wavefront and a rotation keep two workers.",
  {"side", "Iterations along a side.", 1000})
local WORKERS, ROUNDS, WORK = 2, 5, 300

meissa.init {workers = WORKERS}
local A = meissa.rand({n + 1, n + 1}, {seed = 1})
local x, y = meissa.rand({n}, {seed = 2}), meissa.rand({n}, {seed = 3})

local function wavefront()
  for i, j in parallel({2, n + 1}, {2, n + 1}) do
    local s = A[i - 1][j] + A[i][j - 1]
    for k = 1, WORK do s = s * 0.999 + k * 1e-9 end
    A[i][j] = s
  end
end

local function rotate()
  for i, j in parallel(n, n, {ordered = false}) do
    local s = x[i] + y[j]
    for k = 1, WORK do s = s * 0.999 + k * 1e-9 end
    x[i], y[j] = s, x[i]
  end
end

local figures = {iterations = n * n, workers = WORKERS}

for name, loop in pairs {wavefront = wavefront, rotate = rotate} do
  loop()
  local shares, seconds = {}, {}
  for round = 1, ROUNDS do
    loop()
    local last, busy = meissa.last(), 0
    assert(last.strategy == name, last.strategy)
    for _, share in ipairs(last.shares) do busy = busy + share.busy end
    shares[round], seconds[round] = busy / (WORKERS * last.seconds), last.seconds
  end
  figures[name .. "_busy"], figures[name .. "_seconds"] = median(shares), median(seconds)
end

for _, name in ipairs {"rotate", "wavefront"} do
  print(("%-12s %6.1f %% busy  (at least 85)   %7.3f s a pass"):format(
    name, 100 * figures[name .. "_busy"], figures[name .. "_seconds"]))
end
print(json.encode(figures, {keyorder = {"iterations", "workers"}}))
