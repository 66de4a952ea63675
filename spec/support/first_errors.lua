-- SPDX-License-Identifier: MIT
-- Loops of which several iterations fail, of every strategy: prints for each which error is raised,
-- "name: words", and then whether anything of the loop has remained. Loops whose order is known
-- from their text are also run as plain loops over Lua tables: "name= words".
local meissa = require "meissa"
local parallel, each = meissa.parallel, meissa.each

local N = 60

-- Numbers that an int32 array can hold, but for those at `broken` positions.
local function source(broken)
  local v = meissa.zeros({N, N})
  for _, at in ipairs(broken) do v[at[1]][at[2]] = at[1] + at[2] / 100 end
  return v
end

local v = source {{60, 1}, {17, 60}, {17, 3}, {40, 40}, {16, 59}, {41, 2}, {18, 1}}
local line = meissa.zeros(N)
for _, i in ipairs {59, 31, 23, 24, 44} do line[i] = i + 0.5 end
local whole = meissa.zeros({N, N}, {type = "int32"})
local list = meissa.zeros({N}, {type = "int32"})
local C, D = meissa.zeros(N, N), meissa.zeros(N)
local total, slow = 0, tonumber(os.getenv "SLOW") or 20000

-- Takes a while in early blocks: late ones fail first by the clock.
local function dawdle(i)
  local s = 0
  for k = 1, i < 20 and slow or 0 do s = s + k % 7 end
  return s
end

local function show(name, ok, err)
  local text = ok and "no error" or tostring(err)
  local iteration = type(err) == "table" and err.iteration
  local place = iteration and table.concat(iteration, ",") or "?" -- a plain loop knows no place
  print(("%s: %s @ %s"):format(name, text:match "cannot store (%S+)" or text, place))
  local left = whole:sum() + list:sum() + C:sum() + D:sum() + total
  if left ~= 0 and os.getenv "MEISSA_WORKERS" ~= "0" then print(name .. " left " .. left) end
  whole:fill(0) list:fill(0) C:fill(0) D:fill(0)
  total = 0
end

local function try(name, fn) show(name, pcall(fn)) end

-- The first iteration of a plain loop that reads a fraction.
local function plainly(name, is, js, read)
  for i = is[1], is[2], is[3] or 1 do
    for j = js[1], js[2], js[3] or 1 do
      if read(i, j) % 1 ~= 0 then
        print(("%s= %s @ %s"):format(name, read(i, j), js.none and i or i .. "," .. j))
        return
      end
    end
  end
end

local none = {1, 1, none = true}
local function element(i) return line[i] end
local function matrix(i, j) return v[i][j] end

try("independent", function()
  for i in parallel(N) do
    D[i] = dawdle(i)
    list[i] = line[i]
    total = total + i
  end
end)
plainly("independent", {1, N}, none, element)

try("backwards", function()
  for i in parallel({N, 1, -1}) do list[i] = line[i] end
end)
plainly("backwards", {N, 1, -1}, none, element)

try("error", function()
  for i in parallel(N) do
    D[i] = dawdle(i)
    if line[i] % 1 ~= 0 then error("cannot store " .. line[i] .. " here") end
  end
end)
plainly("error", {1, N}, none, element)

try("unordered", function()
  for i in parallel(N, {ordered = false}) do
    D[i] = dawdle(i)
    list[i] = line[i]
  end
end)

try("outer", function()
  for i, j in parallel(N, N) do
    C[i][j] = dawdle(i)
    whole[i][j] = v[i][j]
  end
end)
plainly("outer", {1, N}, {1, N}, matrix)

try("inner", function()
  for i, j in parallel({2, N}, {N, 1, -1}) do
    C[i][j] = C[i - 1][j] + 1
    whole[i][j] = v[i][j]
  end
end)
plainly("inner", {2, N}, {N, 1, -1}, matrix)

try("wavefront", function()
  for i, j in parallel({2, N}, {2, N}) do
    C[i][j] = C[i - 1][j] + C[i][j - 1] + 1
    whole[i][j] = v[i][j]
  end
end)
plainly("wavefront", {2, N}, {2, N}, matrix)

try("sweep", function()
  for t, i in parallel(N, {2, N - 1}) do
    D[i] = 0.5 * (D[i - 1] + D[i + 1]) + 1
    whole[t][i] = v[t][i]
  end
end)
plainly("sweep", {1, N}, {2, N - 1}, matrix)

try("skew", function()
  for i, j in parallel({2, N}, {1, N - 1}) do
    C[i][j] = C[i - 1][j + 1] + 1
    whole[i][j] = v[i][j]
  end
end)
plainly("skew", {2, N}, {1, N - 1}, matrix)

local entries = meissa.sparse({N, N}, (function()
  local list_i, list_j, values = {}, {}, {}
  for k = 1, 900 do
    local i, j = (k * 37) % N + 1, (k * 101 + math.floor(k / N)) % N + 1
    list_i[k], list_j[k], values[k] = i, j, k % 97 == 5 and k + 0.25 or k
  end
  return {i = list_i, j = list_j, v = values}
end)())
local kept = meissa.zeros({N, 2}, {type = "int32"})

try("rotate", function()
  for i, j, r in parallel(entries) do
    C[i][1] = C[i][1] + dawdle(i)
    D[j] = D[j] + 1
    kept[i][1] = r
  end
end)
kept:fill(0)

try("entries in order", function()
  for i, j, r in parallel(entries, {ordered = true}) do
    C[i][j] = dawdle(i)
    kept[i][1] = r
  end
end)
local first
for i, j, r in entries:each() do
  local earlier = not first or i < first[1] or i == first[1] and j < first[2]
  if r % 1 ~= 0 and earlier then first = {i, j, r} end
end
print(("entries in order= %s @ %d,%d"):format(first[3], first[1], first[2]))
kept:fill(0)

try("collapsed", function()
  for i in parallel(N, {collapse = 2}) do
    for j = 1, N do
      C[i][j] = dawdle(i)
      whole[i][j] = v[i][j]
    end
  end
end)

local sum = meissa.buffer(D)
try("buffers", function()
  for i in parallel(N) do
    sum[i % 7 + 1] = sum[i % 7 + 1] + dawdle(i)
    list[i] = line[i]
  end
end)
plainly("buffers", {1, N}, none, element)

-- Blocks are ranges of columns, and each has iterations before some of another.
try("buffered columns", function()
  for i, j in parallel({2, N}, N) do
    sum[i % 7 + 1] = sum[i % 7 + 1] + 1
    C[i][j] = C[i - 1][j] + 1
    whole[i][j] = v[i][j]
  end
end)
plainly("buffered columns", {2, N}, {1, N}, matrix)

local staged = meissa.buffer(D, {max_delay = 4})
try("stages", function()
  for i in parallel(N, {ordered = false}) do
    staged[i % 7 + 1] = staged[i % 7 + 1] + dawdle(i)
    list[i] = line[i]
  end
end)

try("map", function()
  meissa.map(line:totable(), function(x, i)
    dawdle(i)
    if x % 1 ~= 0 then error("cannot store " .. line[i] .. " here") end
    return x
  end)
end)
plainly("map", {1, N}, none, element)

try("each", function()
  each(N, function(i)
    D[i] = dawdle(i)
    if line[i] % 1 ~= 0 then error("cannot store " .. line[i] .. " here") end
  end)
end)
plainly("each", {1, N}, none, element)
