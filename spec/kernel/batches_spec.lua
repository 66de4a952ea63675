-- SPDX-License-Identifier: MIT
-- Bodies of which machine code makes the draws of many iterations at once, or counts with integers:
-- they give what LuaJIT gives, whoever runs them.
local child = require "spec.support.child"
local expect = require "spec.support.expect"

-- Prints a line for each loop: its name, what it gave, and its engine.
local program = [[
local meissa = require "meissa"
local parallel, each = meissa.parallel, meissa.each
local random, normal = meissa.random, meissa.normal
local options = loadstring("return " .. arg[1])()
local n = 333
local A, M = meissa.zeros(n), meissa.zeros(7, 201)
local function show(name, ...)
  local parts = {}
  for k = 1, select("#", ...) do
    local value = select(k, ...)
    parts[k] = ("%.17g %s"):format(value, 1 / value < 0 and "-" or "+")
  end
  print(name, table.concat(parts, " "), meissa.last().engine)
end
local function digest(X)
  local sum = 0
  for k, v in ipairs(X:totable()) do
    for j, w in ipairs(type(v) == "table" and v or {v}) do sum = sum + w * (k * 7 + j % 13) end
  end
  return sum
end
local function point() local x = random() return x, normal() end
local function seldom(i) if i % 3 == 0 then return 0.5 end return random() end
local function often(i) if i % 3 == 0 then return random() end return random() + random() end
local function deep(x) return (point()) + x end
local kinds = 0
-- Bodies that are written twice: narrow, and wide for blocks in which a number does not fit.
local F, G = meissa.zeros({n, 9}, {type = "float"}), meissa.zeros(n, {type = "float"})
local E = meissa.zeros(n)
local fast = {numeric = "fast", engine = options.engine, ordered = options.ordered}
local function mixed_precision(large)
  local x = large * 1e300
  for i in parallel(n) do G[i] = 1; E[i] = i == 7 and x or 1 end
  for i, v in parallel(E, fast) do
    F[i][9] = G[i] * v
    F[i][1], F[i][2], F[i][3] = random(), random(), random()
    F[i][4], F[i][5], F[i][6] = random(), random(), random()
    F[i][7], F[i][8], F[i][9] = random(), random(), random()
  end
  return digest(F)
end

meissa.seed(5)
for i in parallel(n, options) do A[i] = random() + 2 * normal() - random(9) * random(-i, i) end
show("straight", digest(A))
for i in parallel({n, 2, -3}, options) do A[i] = random() / i end
show("backwards", digest(A))
for i, j in parallel({2, 6}, {201, 3, -2}, options) do M[i][j] = normal() + random() end
show("two", digest(M))
for i in parallel(n, options) do
  local x, y = point()
  A[i] = deep(x) - y
end
show("functions", digest(A))
for i in parallel(n, options) do
  local x = random()
  if x < 0.3 then x = x + random() elseif random() < 0.5 then x = 0 end
  A[i] = x + random()
end
show("branches", digest(A))
for i in parallel(n, options) do A[i] = (i % 4 == 0 and random() or 0.25) + random() end
show("choices", digest(A))
for i in parallel(n, options) do A[i] = seldom(i) + random() end
show("returns", digest(A))
for i in parallel(n, options) do A[i] = often(i) * random() end
show("other returns", digest(A))
each(n, options, function(i)
  if i % 5 == 0 then return end
  A[i] = random()
end)
show("left", digest(A))
for i in parallel(n, options) do
  A[i] = random()
  for _ = 1, i % 3 do A[i] = A[i] + random() end
  A[i] = A[i] * random()
end
show("loops", digest(A))
for i in parallel(n, options) do
  if i % 7 == 0 then goto on end
  A[i] = random()
  ::on::
  A[i] = A[i] + random()
end
show("goto", digest(A))

show("within single precision", mixed_precision(1))
local inside, least, odd, all, mixed, none, products = 0, -0.0, 0, 1e15 + 0.5, 0, -0.0, 0
for i in parallel(n, options) do
  local x, y = random(), random()
  if x * x + y * y < 1 then inside = inside + 1 end
  if x < 0 then least = least + 1 end
  if i % 2 == 1 then odd = 7 + odd end
  all = all + 16
  if x < 0.5 then mixed = mixed + 1 else mixed = mixed + 0.1 end
  if x > 2 then none = none + 1 elseif x > 3 then none = none + 2 end
  for k = 1, 3 do if k * y < 1 then products = products + 3 end end
end
show("counts", inside, least, odd, all, mixed, none, products)
for i in parallel(n, options) do
  local function count(x) if x > 0.5 then kinds = kinds + 1 end end
  count(A[i])
  if i == 3 then kinds = kinds + 1 end
end
show("counted by functions", kinds)
]]

local function run(environment, options)
  local output, status = child.script(program, {env = environment,
                                                arguments = child.quote(options)})
  assert.equal(0, status, output)
  return output
end

describe("draws of many iterations, and counts", function()
  for _, options in ipairs {"{}", "{ordered = false}"} do
    it("are those of LuaJIT, for any workers: " .. options, function()
      local expected = run("MEISSA_WORKERS=1 MEISSA_ENGINE=lua", options)
      local engines = select(2, expected:gsub("\tlua\n", "\n"))
      assert.equal(14, engines, expected)
      expected = expected:gsub("\tlua\n", "\n")
      for _, environment in ipairs {"MEISSA_WORKERS=1", "MEISSA_WORKERS=3"} do
        local got = run(environment .. " MEISSA_ENGINE=native", options)
        assert.equal(expected, (got:gsub("\tnative\n", "\n")))
      end
    end)
  end
end)

-- Each body's machine code is kept by the name of the line that it begins in.
local drawing = [[
local meissa = require "meissa"
local parallel = meissa.parallel
local Model = {}
Model.__index = Model
function Model.new() return setmetatable({w = meissa.randn {8}}, Model) end
function Model:noise() return meissa.normal() end
function Model:rate(x) return self.eta * x end
function Model:twice(i) return self:rate(i) + self:noise() end
local A, model = meissa.zeros(8), setmetatable({eta = 0.5}, Model)
local native = {engine = "native"}
for i in parallel(8, native) do A[i] = model:rate(i) end
for i in parallel(8, native) do A[i] = model.eta + i end
for i in parallel(8, native) do A[i] = model:noise() end
for i in parallel(8, native) do A[i] = model:twice(i) end
for i in parallel(8, native) do A[i] = i > 3 and meissa.random() or model:rate(i) end
]]

it("machine code has the place of draws where it draws, not where captures could", function()
  expect.with_directory(function(directory)
    child.script(drawing, {env = "MEISSA_WORKERS=1 MEISSA_KEEP_C=" .. directory})
    for line, draws in pairs {[11] = false, [12] = false, [13] = true, [14] = true, [15] = true} do
      local text = child.shell(("cat %s/script.lua_%d_*.c"):format(directory, line))
      assert.truthy(text:find("ms_native_run", 1, true), text)
      assert.equal(draws, text:find("ms_place", 1, true) ~= nil, line)
    end
  end)
end)
