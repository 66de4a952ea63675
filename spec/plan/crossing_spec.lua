-- SPDX-License-Identifier: MIT
-- Written and read views that cross each other, where arrays travel by value: the elements that
-- they have together move to each worker, those that may be written come back, and nothing else.
-- What is left is compared with plain tables, element by element.
local meissa = require "meissa"
local plain_views = require "spec.support.plain_views"
local plain = require "spec.support.plain"

require("meissa.driver.small").most[0] = 0 -- small loops go to workers, too

local ROWS, COLUMNS = 1000, 2000
local SIZES = {double = 8, float = 4, int64 = 8}

-- The loops: `views` of a matrix X, `union` of which are elements of the loop's views, `written` of
-- them may be written; `s` is a vector of 1000 elements beside it.
local cases = {
  {name = "a row that a column crosses, written", union = 2999, written = 1000,
   views = function(X) return {r = X[500], c = X:select(2, 700)} end,
   text = "for i in parallel(1000, {engine = engine}) do r[i + 1000] = -c[i] - r[i] end"},
  {name = "a column that a row crosses, written", union = 2999, written = 1000,
   views = function(X) return {r = X[500], c = X:select(2, 700)} end,
   text = "for i in parallel(1000, {engine = engine}) do c[i] = -i - r[i + 1000] end"},
  {name = "both, written", union = 2999, written = 2999,
   views = function(X) return {r = X[500], c = X:select(2, 700)} end,
   text = "for i in parallel(499, {engine = engine}) do\n" ..
          "r[i], c[i] = -c[1001 - i], -r[i + 1000] end"},
  {name = "a row and a column, read", union = 2999, written = 0, s = true,
   views = function(X) return {r = X[500], c = X:select(2, 700)} end,
   text = "for i in parallel(1000, {engine = engine}) do s[i] = c[i] + r[i] end"},
  {name = "blocks along the diagonal, written", union = 300 * 300 * 2 - 100 * 100,
   written = 100 * 100,
   views = function(X)
     return {a = X:narrow(1, 1, 300):narrow(2, 1, 300),
             b = X:narrow(1, 201, 300):narrow(2, 201, 300)}
   end,
   text = "for i in parallel(100, {engine = engine}) do\n" ..
          "for j = 1, 100 do a[i][j] = -b[i][j + 150] - a[i + 100][j] end end"},
  {name = "blocks along the diagonal, read", union = 300 * 300 * 2 - 100 * 100, written = 0,
   s = true,
   views = function(X)
     return {a = X:narrow(1, 1, 300):narrow(2, 1, 300),
             b = X:narrow(1, 201, 300):narrow(2, 201, 300)}
   end,
   text = "for i in parallel(300, {engine = engine}) do s[i] = a[i][300] + b[i][301 - i] end"},
  {name = "columns and a row", union = 3 * 1000 + 2000 - 3, written = 1000,
   views = function(X)
     return {a = X:select(2, 1), b = X:select(2, 400), c = X:select(2, 1600), r = X[30]}
   end,
   text = "for i in parallel(1000, {engine = engine}) do a[i] = -b[i] - c[i] - r[i + 1] end"},
  {name = "three narrow parts that overlap, written", union = 1000 * 200, written = 1000,
   views = function(X)
     return {a = X:narrow(2, 1, 100), b = X:narrow(2, 51, 100), c = X:narrow(2, 101, 100)}
   end,
   text = "for i in parallel(1000, {engine = engine}) do a[i][1] = -b[i][1] - c[i][100] end"},
  {name = "three narrow parts that overlap, read", union = 1000 * 200, written = 0, s = true,
   views = function(X)
     return {a = X:narrow(2, 1, 100), b = X:narrow(2, 51, 100), c = X:narrow(2, 101, 100)}
   end,
   text = "for i in parallel(1000, {engine = engine}) do s[i] = a[i][1] + b[i][1] + c[i][100] end"},
  {name = "parts of the transposed matrix", union = 1000 * 25, written = 1000,
   views = function(X) return {t = X:transpose():narrow(1, 5, 10), n = X:narrow(2, 10, 20)} end,
   text = "for i in parallel(1000, {engine = engine}) do t[1][i] = -n[i][20] - t[10][i] end"},
}

local initial = {}
for k = 1, ROWS * COLUMNS do initial[k] = k end

local function run(case, env)
  local names, values = {}, {}
  for name, value in pairs(env) do names[#names + 1], values[#values + 1] = name, value end
  local text = ("local %s = ...\n%s"):format(table.concat(names, ", "), case.text)
  assert(loadstring(text))(unpack(values))
end

-- A plain matrix whose elements are `initial`, and what a loop has changed of it.
local function plain_matrix()
  local changed = {count = ROWS * COLUMNS}
  local memory = setmetatable(changed, {__index = initial})
  local X = plain_views.new {1, 1}
  X.memory, X.dims, X.strides = memory, {ROWS, COLUMNS}, {COLUMNS, 1}
  return X, changed
end

-- What the loop leaves on plain tables: changed elements of X by their number, and `s`.
local function expected(case)
  local X, changed = plain_matrix()
  local env = case.views(X)
  local s = {}
  env.parallel, env.s, env.engine = plain.parallel, s, "none"
  run(case, env)
  changed.count = nil
  return changed, s
end

-- The union's size, element by element.
local function union_of(case)
  local seen, count = {}, 0
  for _, view in pairs(case.views((plain_matrix()))) do
    local function walk(d, at)
      if d > #view.dims then
        count, seen[at] = count + (seen[at] and 0 or 1), true
        return
      end
      for k = 0, view.dims[d] - 1 do walk(d + 1, at + k * view.strides[d]) end
    end
    walk(1, view.first)
  end
  return count
end

local function fill(data)
  for k = 1, ROWS * COLUMNS do data[k - 1] = k end
end

-- The first element that is not what it should be, or nil.
local function difference(data, changed)
  for k = 1, ROWS * COLUMNS do
    if data[k - 1] ~= (changed[k] or k) then return k end
  end
end

-- Runs a loop three times over; what moved each time.
local function moved_by(case, X, engine)
  local env, moved = case.views(X), {}
  env.s = meissa.zeros(1000)
  env.parallel, env.engine = meissa.parallel, engine
  local data = X:data()
  local changed, s = expected(case)
  for round = 1, 3 do
    fill(data)
    run(case, env)
    moved[round] = meissa.last().moved
    assert.is_nil(difference(data, changed), case.name)
    if case.s then
      for i = 1, #s do assert.are.equal(s[i], env.s[i], case.name) end
    end
  end
  return moved
end

local most = 16 * 16 -- bytes in which it says which elements are changed ones

local function check(case, type, workers, engine)
  local X = meissa.zeros({ROWS, COLUMNS}, {type = type})
  local moved = moved_by(case, X, engine)
  local size, beside = SIZES[type], case.s and 1000 * 8 or 0
  local whole = workers * (case.union * size + beside) + case.written * size + beside + most
  local about = ("%s: %s, %d workers, %s"):format(case.name, type, workers, engine)
  for round = 1, 3 do assert.is_true(moved[round] <= whole, about .. ", " .. moved[round]) end
  if case.written == 0 then -- once to each worker
    local sum, again = moved[1] + moved[2] + moved[3], (workers + 1) * beside + most
    assert.is_true(sum <= workers * case.union * size + 3 * again, about .. ", in all " .. sum)
  end
end

describe("views that cross each other, by value", function()
  it("have as many elements as the cases say", function()
    for _, case in ipairs(cases) do assert.are.equal(union_of(case), case.union, case.name) end
  end)

  for workers = 1, 2 do
    it(("move as their elements, to %d workers"):format(workers), function()
      meissa.init {workers = workers, shm = false}
      finally(function() meissa.init {} end)
      for k, case in ipairs(cases) do
        check(case, "double", workers, "native")
        check(case, k % 2 == 0 and "float" or "int64", workers, "lua")
      end
    end)
  end

  it("are as before a loop that fails, and what is beside them stays untouched", function()
    meissa.init {workers = 2, shm = false}
    finally(function() meissa.init {} end)
    local X = meissa.zeros(ROWS, COLUMNS)
    local data, r, c = X:data(), X[500], X:select(2, 700)
    fill(data)
    for _, transaction in ipairs {true, false} do
      local ok, err = pcall(function()
        for i in meissa.parallel(499, {transaction = transaction}) do
          r[i], c[i] = -1, -2
          if i == 400 then error("here") end
        end
      end)
      assert.are.same({false, "BDY"}, {ok, err.code})
      if transaction then assert.is_nil(difference(data, {})) end
    end
    local changed = {}
    for k = 1, COLUMNS do changed[499 * COLUMNS + k] = tonumber(data[499 * COLUMNS + k - 1]) end
    for k = 0, ROWS - 1 do changed[k * COLUMNS + 700] = tonumber(data[k * COLUMNS + 699]) end
    assert.is_nil(difference(data, changed))
  end)

  it("take no more of a worker's memory than pages with their elements", function()
    meissa.init {workers = 1, shm = false}
    finally(function() meissa.init {} end)
    local X, pages = meissa.zeros(2000, 8000), meissa.zeros(2) -- 128 MB
    local r, c = X[500], X:select(2, 700)
    for i in meissa.parallel(1, {impure = true}) do
      local file = io.open "/proc/self/statm"
      pages[i] = tonumber((file:read "*l"):match "%d+ (%d+)")
      file:close()
    end
    for i in meissa.parallel(1, {impure = true}) do
      for k = 1, 499 do r[k], c[k] = k, k end
      local file = io.open "/proc/self/statm"
      pages[i + 1] = tonumber((file:read "*l"):match "%d+ (%d+)")
      file:close()
    end
    assert.is_true(pages[1] > 0 and pages[2] > pages[1])
    assert.is_true((pages[2] - pages[1]) * 4096 < 2 ^ 25, (pages[2] - pages[1]) * 4096)
    assert.are.equal(499, X[500][499])
    assert.are.equal(499, X[499][700])
  end)
end)
