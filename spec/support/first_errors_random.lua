-- SPDX-License-Identifier: MIT
-- Random ordered loops over two indices, of all strategies, in which some iterations fail: prints
-- the texts of those that do not raise the error of the plain loop, or of which something remains.
-- luajit first_errors_random.lua <seed> <loops>
local meissa = require "meissa"

math.randomseed(tonumber(arg[1]))
local ran = 0

local function range(extent)
  if math.random(2) == 1 then return {5, extent + 4, 1} end
  return {extent + 4, 5, -1}
end

local function term()
  return (" + A[i - %d][j - %d]"):format(math.random(-2, 2), math.random(-2, 2))
end

-- The first of the plain loop's iterations that reads a fraction.
local function first(is, js, V)
  for i = is[1], is[2], is[3] do
    for j = js[1], js[2], js[3] do
      if V[i][j] ~= 0 then return i .. "," .. j end
    end
  end
end

for _ = 1, tonumber(arg[2]) do
  local n, k = math.random(3, 40), math.random(3, 40)
  local dims = {n + 8, k + 8}
  local A, V = meissa.zeros(dims), meissa.zeros(dims)
  local whole = meissa.zeros(dims, {type = "int32"})
  for _ = 1, math.random(12) do V[math.random(5, n + 4)][math.random(5, k + 4)] = 0.5 end
  local is, js, terms = range(n), range(k), ""
  for _ = 1, math.random(0, 3) do terms = terms .. term() end
  local text = ([[local A, whole, V, parallel = ...
    for i, j in parallel({%d, %d, %d}, {%d, %d, %d}) do
      A[i][j] = 1%s
      whole[i][j] = V[i][j]
    end]]):format(is[1], is[2], is[3], js[1], js[2], js[3], terms)
  local ok, err = pcall(assert(loadstring(text)), A, whole, V, meissa.parallel)
  if ok or err.code ~= "DEP" then
    ran = ran + 1
    local told = not ok and err.iteration and table.concat(err.iteration, ",")
    if told ~= first(is, js, V) then print(text, "raised", told or err, first(is, js, V)) end
    if A:sum() ~= 0 or whole:sum() ~= 0 then print(text, "left something") end
  end
end
print(ran > tonumber(arg[2]) / 2 and "done" or "too few loops ran: " .. ran)
