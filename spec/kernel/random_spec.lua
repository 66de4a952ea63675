-- SPDX-License-Identifier: MIT
-- Random numbers of bodies: the same whoever runs the iterations, one stream in each iteration;
-- their distribution; what is refused. Scratch arrays: each iteration's own, undefined at first.
local child = require "spec.support.child"
local meissa = require "meissa"
local math = math -- busted's environment is no plain table

-- Prints lines that must not depend on where iterations run. `serial` lines are those that a serial
-- loop shares.
local program = [[
local meissa = require "meissa"
local core = require "meissa.core"
local parallel, options = meissa.parallel, loadstring("return " .. arg[1])()
local function show(name, A)
  local parts = {}
  for _, v in ipairs(A:totable()) do
    parts[#parts + 1] = type(v) == "table" and table.concat(v, ",") or ("%.17g"):format(v)
  end
  local text = table.concat(parts, " ")
  local digest = core.digest(text):gsub(".", function(c) return ("%02x"):format(c:byte()) end)
  print(name, digest, text:sub(1, 30))
end

local function noisy(x) return x + meissa.normal() end
local lib = {draw = function() return meissa.random(-5, 5) end}

meissa.seed(7)
local A = meissa.zeros(300)
for i in parallel(300, options) do A[i] = noisy(meissa.random(i)) + meissa.random() end
show("range", A)
for i in parallel({300, 1, -1}, options) do
  for _ = 1, i % 4 do A[i] = A[i] + lib.draw() end
end
show("inner", A)
local M = meissa.zeros({20, 30}, {type = "float"})
for i, j in parallel(20, 30, options) do M[i][j] = meissa.random() end
show("two", M)
meissa.each(20, 30, options, function(i, j) M[i][j] = meissa.normal() end)
show("each", M)
local S = meissa.zeros(200, 200)
local rows, columns = {}, {}
for k = 1, 2000 do rows[k], columns[k] = k * 37 % 200 + 1, math.floor(k / 10) + 1 end
local seen, i, j = {}, {}, {}
for k = 1, 2000 do
  local key = rows[k] * 1000 + columns[k]
  if columns[k] <= 200 and not seen[key] then
    seen[key] = true
    i[#i + 1], j[#j + 1] = rows[k], columns[k]
  end
end
local entries = meissa.sparse({200, 200}, {i = i, j = j})
for a, b, v in parallel(entries, options) do S[a][b] = v + meissa.random() end
show("entries", S)
for a in parallel(M, options) do local _ = meissa.random() end
print("outside", meissa.random(), meissa.normal(), meissa.random(9), meissa.rand(1)[1])
if arg[2] == "serial" then return end

-- What a serial loop numbers in another way.
meissa.seed(8)
for a in parallel(20, {collapse = 2, ordered = options.ordered}) do
  for b = 1, 30 do M[a][b] = meissa.random() end
end
show("collapsed", M)
local twice = meissa.sparse({4, 4}, {i = {1, 1, 2, 1, 3}, j = {2, 2, 3, 2, 1}})
local sums = meissa.zeros(4, 4)
for a, b in parallel(twice, options) do sums[a][b] = sums[a][b] * 2 + meissa.random() end
show("duplicates", sums)
local total = 0
for a in parallel(100, options) do total = total + meissa.random(1000) end
print("total", total)
]]

local directory, path

local function run(environment, options, extra)
  local output, status = child.shell(("cd %s && %s luajit %s %s %s"):format(
    child.quote(os.getenv "PWD"), environment, path, child.quote(options), extra or ""))
  assert.equal(0, status, output)
  return output
end

describe("random numbers of bodies", function()
  setup(function()
    directory = child.directory()
    path = directory .. "/random.lua"
    child.write(path, program)
  end)
  teardown(function() child.remove(directory) end)

  for _, options in ipairs {"{}", "{ordered = false}"} do
    it("are the same for any workers, roads and engines, and here: " .. options, function()
      local expected = run("MEISSA_WORKERS=1", options)
      assert.truthy(expected:find "total")
      for _, environment in ipairs {"MEISSA_WORKERS=3", "MEISSA_WORKERS=2 MEISSA_SHM=0",
                                    "MEISSA_WORKERS=0", "MEISSA_WORKERS=2 MEISSA_ENGINE=native",
                                    "MEISSA_WORKERS=2 MEISSA_ENGINE=lua"} do
        assert.equal(expected, run(environment, options))
      end
    end)
  end

  it("are the same in a serial loop", function()
    assert.equal(run("MEISSA_WORKERS=2", "{ordered = true}", "serial"),
                 run("MEISSA_WORKERS=2", "{ordered = true, serial = true}", "serial"))
  end)

  it("do not depend on a recording", function()
    assert.equal(run("MEISSA_WORKERS=2", "{}"), run("MEISSA_WORKERS=2", "{check = true}"))
  end)
end)

describe("random numbers", function()
  local parallel = meissa.parallel

  before_each(function() meissa.seed(11) end)

  local function draw_all(n)
    local A = meissa.zeros(n)
    for i in parallel(n) do A[i] = meissa.random() end
    return A
  end

  it("repeat with the seed, and differ from loop to loop", function()
    local first, second = draw_all(50), draw_all(50)
    meissa.seed(11)
    local again = draw_all(50)
    meissa.seed(12)
    local other = draw_all(50)
    for i = 1, 50 do
      assert.equal(first[i], again[i])
      assert.are_not.equal(first[i], second[i])
      assert.are_not.equal(first[i], other[i])
    end
  end)

  it("are not those of random arrays with the same seed, nor each other's", function()
    local seen, count = {}, 0
    local function see(value)
      assert.is_nil(seen[value])
      seen[value], count = true, count + 1
    end
    local drawn, array = draw_all(2000), meissa.rand(2000, {seed = 11})
    for i = 1, 2000 do
      see(drawn[i])
      see(array[i])
      see(meissa.random())
    end
    assert.equal(6000, count)
  end)

  it("are uniform", function()
    local counts, n, sum = {}, 60000, 0
    for k = 1, 6 do counts[k] = 0 end
    local faces, units = meissa.zeros(n), meissa.zeros(n)
    for i in parallel(n) do faces[i], units[i] = meissa.random(6), meissa.random() end
    for i = 1, n do
      counts[faces[i]] = counts[faces[i]] + 1
      assert.is_true(units[i] >= 0 and units[i] < 1)
      sum = sum + units[i]
    end
    local chi = 0
    for k = 1, 6 do chi = chi + (counts[k] - n / 6) ^ 2 / (n / 6) end
    assert.is_true(chi < 20.5) -- 0.1 % of 5 degrees of freedom
    assert.is_true(math.abs(sum / n - 0.5) < 4 / math.sqrt(12 * n))
  end)

  it("are normal", function()
    local n, sum, squares, tails = 60000, 0, 0, 0
    local A = meissa.zeros(n)
    for i in parallel(n) do A[i] = meissa.normal() end
    for i = 1, n do
      sum, squares = sum + A[i], squares + A[i] ^ 2
      if math.abs(A[i]) > 1.959964 then tails = tails + 1 end
    end
    assert.is_true(math.abs(sum / n) < 4 / math.sqrt(n))
    assert.is_true(math.abs(squares / n - 1) < 4 * math.sqrt(2 / n))
    assert.is_true(math.abs(tails / n - 0.05) < 0.004)
  end)

  it("are whole and within their limits", function()
    local ranges = {{1, 1}, {-3, 3}, {2 ^ 53 - 2, 2 ^ 53}, {-2 ^ 52, 2 ^ 52 - 1}, {0, 0}}
    for _, limits in ipairs(ranges) do
      for _ = 1, 200 do
        local value = meissa.random(limits[1], limits[2])
        assert.is_true(value >= limits[1] and value <= limits[2] and value % 1 == 0)
      end
    end
  end)

  it("refuse limits that have nothing between them", function()
    local ranges = {{0}, {-1}, {1.5}, {2, 1}, {1, 2.5}, {0 / 0}, {1 / 0}, {"6"}, {1, "x"},
                    {-2 ^ 53, 2 ^ 53}, {1, true}}
    for _, limits in ipairs(ranges) do
      local ok, err = pcall(meissa.random, unpack(limits))
      assert.is_false(ok)
      assert.truthy(tostring(err):find("meissa.random takes nothing", 1, true))
    end
    local A = meissa.zeros(9)
    local ok, err = pcall(function()
      for i in parallel(9) do A[i] = meissa.random(5 - i) end
    end)
    assert.is_false(ok)
    assert.truthy(tostring(err):find("meissa.random takes", 1, true))
    assert.is_false(pcall(meissa.seed))
    assert.is_false(pcall(meissa.seed, 0.5))
    assert.is_false(pcall(meissa.seed, "x"))
  end)

  it("take the place of math.random, which is refused", function()
    local A = meissa.zeros(9)
    local function helper() return math.random() end
    local draw = math.random
    local function indirect() return helper() + 1 end
    local bodies = {
      function(i) A[i] = math.random() end,
      function(i) A[i] = helper() end,
      function(i) A[i] = draw(5) end,
      function(i) A[i] = indirect() end,
    }
    for _, body in ipairs(bodies) do
      local ok, err = pcall(meissa.each, 9, body)
      assert.is_false(ok)
      assert.truthy(tostring(err):find("DEP111", 1, true))
      assert.truthy(tostring(err):find("meissa.random()", 1, true))
    end
    meissa.each(9, {serial = true}, function(i) A[i] = math.random() end)
    meissa.each(9, function(i) A[i] = math.floor(2.5) + meissa.random() * 0 end)
    assert.equal(2, A[9])
  end)

  it("of the driver go on after loops that were left", function()
    local seen = {}
    for _ = 1, 3 do
      for i in parallel(9, {serial = true}) do
        seen[meissa.random()] = true
        if i == 3 then break end
      end
      seen[meissa.random()] = true
    end
    local count = 0
    for _ in pairs(seen) do count = count + 1 end
    assert.equal(12, count)
  end)
end)

describe("scratch arrays", function()
  local parallel = meissa.parallel
  local X = meissa.rand({40, 6}, {seed = 2})

  local function expected(i)
    local sum = 0
    for k = 1, 6 do sum = sum + (X[i][k] * i) ^ 2 end
    return sum
  end

  for _, workers in ipairs {0, 1, 3} do
    it("are each iteration's own, with MEISSA_WORKERS=" .. workers, function()
      meissa.init {workers = workers}
      local t, out = meissa.scratch(6), meissa.zeros(40)
      local part = t:narrow(1, 3, 2)
      local function use(i)
        for k = 1, 6 do t[k] = X[i][k] * i end
        return part[1] * part[1] + part[2] * part[2]
      end
      for _, options in ipairs {{}, {ordered = false}, {serial = true}, {check = true}} do
        out:fill(0)
        for i in parallel(40, options) do
          for k = 1, 6 do t[k] = X[i][k] end
          t:scal(i)
          local two = t[3] * t[3] + t[4] * t[4]
          out[i] = t:dot(t) + use(i) - two
        end
        for i = 1, 40 do assert.is_true(math.abs(out[i] - expected(i)) < 1e-9 * expected(i)) end
        if not options.serial then assert.equal("independent", meissa.last().strategy) end
      end
    end)
  end

  it("show what a body reads before it has written", function()
    meissa.init {workers = 2}
    for kind, undefined in pairs {float = 0 / 0, double = 0 / 0, int32 = -2 ^ 31} do
      local t, out = meissa.scratch({3}, {type = kind}), meissa.zeros(40)
      for i in parallel(40) do
        out[i] = t[2] + 0
        t[2] = i
      end
      local first = out[1]
      assert.is_true(first == undefined or first ~= first and undefined ~= undefined)
    end
  end)

  it("leave nothing behind, and do not change the one in the driver", function()
    meissa.init {workers = 2}
    local t = meissa.scratch(2, 3)
    t[1][2] = 5
    for i in parallel(40) do t[1][2] = i end
    assert.equal(5, t[1][2])
    assert.is_true(t[2][3] ~= t[2][3])
  end)

  it("may lie in any number of dimensions, and be row operands", function()
    meissa.init {workers = 2}
    local t, out = meissa.scratch({2, 6}, {type = "float"}), meissa.zeros(40)
    for i in parallel(40) do
      local a, b = t[1], t[2]
      a:copy(X[i])
      b:fill(i)
      out[i] = a:dot(b)
    end
    for i = 1, 40 do assert.is_true(math.abs(out[i] - X[i]:sum() * i) < 1e-3) end
  end)

  it("are refused like other arrays when they are misused", function()
    assert.is_false(pcall(meissa.scratch))
    assert.is_false(pcall(meissa.scratch, 0.5))
    assert.is_false(pcall(meissa.scratch, 3, {type = "complex"}))
    local t, out = meissa.scratch(3), meissa.zeros(9)
    local ok, err = pcall(function() for i in parallel(9) do out[i] = t[i] end end)
    assert.is_false(ok)
    assert.truthy(tostring(err):find("is outside 1..3", 1, true), tostring(err))
  end)
end)
