-- SPDX-License-Identifier: MIT
-- Shapes that change from one execution of a loop to the next: how often the C compiler runs, that
-- no subscript escapes its check, and that every shape means what the text says. MEISSA_TEST_SEED
-- replays a run.
local array = require "meissa.array"
local child = require "spec.support.child"
local native = dofile("spec/kernel/native.lua")

local seed = require "spec.support.seed"

describe("shapes that change (seed " .. seed .. ")", function()
  local where

  before_each(function()
    where = child.directory()
    child.write(where .. "/cc", ('#!/bin/sh\necho run >>%s/runs\nexec cc "$@"\n'):format(where))
    os.execute("chmod +x " .. where .. "/cc")
  end)
  after_each(function() child.remove(where) end)

  local function runs()
    return select(2, (child.read(where .. "/runs") or ""):gsub("run", ""))
  end

  local function run(text)
    local output, status = child.script("local meissa = require 'meissa'\n" ..
      "local parallel = meissa.parallel\n" .. text, {
        env = ("MEISSA_CACHE=%s/cache CC=%s/cc MEISSA_WORKERS=2 MEISSA_ENGINE= "):format(where,
          where)})
    assert.are.equal(0, status, output)
    return output
  end

  local SCALE = [[
local function scale(A)
  local n, K = A:size(1), A:size(2)
  for i in parallel(n, {engine = "native"}) do
    local a = A[i]
    for k = 1, K do a[k] = a[k] * 2 + i + #a end
  end
  for i = 1, n do
    for k = 1, K do assert(A[i][k] == 2 + i + K, i .. " " .. k) end
  end
end
]]

  it("are compiled for once, however many rows there are and however long they are", function()
    run(SCALE .. [[
for n = 1, 40 do scale(meissa.ones({n, 3})) end
for K = 1, 12 do scale(meissa.ones({9, K})) end
]])
    assert.are.equal(1, runs())
  end)

  it("are compiled for once more where extents differ, not where only ranges do", function()
    local ADD = [[
local function add(A, first)
  for i in parallel({first, A:size(1)}, {engine = "native"}) do
    for k = 1, 2 do A[i][k] = A[i][k] + 10 * i + k end
  end
  for i = 1, A:size(1) do
    for k = 1, A:size(2) do
      local sum = i >= first and k < 3 and 10 * i + k or 0
      assert(A[i][k] == sum, i .. " " .. k)
    end
  end
end
for first = 1, 4 do add(meissa.zeros({9, 3}), first) end
]]
    run(ADD)
    assert.are.equal(1, runs())
    run(ADD .. [[
for K = 4, 9 do add(meissa.zeros({K + 5, K}), 2) end
for first = 5, 7 do add(meissa.zeros({9, 3}), first) end
]])
    assert.are.equal(2, runs())
  end)

  it("are constants of a text of their own when long rows are met again", function()
    run(SCALE .. [[
local short, long = meissa.ones({20000, 2}), meissa.ones({60000, 5})
scale(short:clone())
for _ = 1, 3 do scale(long:clone()) end
-- That text is compiled beside the loops that go on.
local function compiled()
  local count = 0
  for _ in io.lines((os.getenv("CC"):gsub("cc$", "runs"))) do count = count + 1 end
  return count
end
local started = os.time()
while compiled() < 2 and os.time() - started < 100 do scale(long:clone()) end
for _ = 1, 3 do scale(long:clone()) end
scale(short:clone())
]])
    assert.are.equal(2, runs())
  end)

  local LAUNCHED = [[
local launches, small = require "meissa.driver.launch", require "meissa.driver.small"
small.most[0] = math.huge
local special
local run_small = small.run
function small.run(run)
  special = run.kernel.special
  return run_small(run)
end
local function scale(A)
  for i in parallel(A:size(1), OPTIONS) do
    for k = 1, A:size(2) do A[i][k] = A[i][k] * 0.5 + i end
  end
end
local function launched(A)
  local before = launches.executions
  scale(A)
  return launches.executions > before
end
local short, long = meissa.ones({3000, 2}), meissa.ones({3000, 5})
local started = os.time()
while not launched(short) and os.time() - started < 100 do end
for _ = 1, 16 do assert(not launched(long), "a kernel that another may take the place of") end
while not launched(long) and os.time() - started < 100 do end
assert(special and launched(long) and launched(short))
]]

  it("have that text in short loops that launches run, too", function()
    run((LAUNCHED:gsub("OPTIONS", "{engine = 'native'}")))
    assert.are.equal(3, runs()) -- for short rows, any, and long ones
  end)

  it("have it by default, and the one for any rows once these have taken some time", function()
    run((LAUNCHED:gsub("OPTIONS", "{}")))
    assert.is_true(runs() == 2 or runs() == 3)
  end)

  -- Where one is run is a matter of time.
  it("give the same bits in fast mode, whether a loop is small or not", function()
    local FAST = [[
require("meissa.driver.small").most[0] = %s
local function pass(A, B)
  local K = A:size(2)
  for i in parallel(A:size(1), {numeric = "fast"}) do
    local a, b, x = A[i], B[i %% 100 + 1], 0
    for k = 1, K do x = x + a[k] * b[k] end
    for k = 1, K do a[k] = a[k] + (1 - x) * 0.001 * b[k] end
  end
end
local A, B = meissa.rand({4000, 8}, {seed = 1}), meissa.rand({100, 8}, {seed = 2})
local C, D = meissa.rand({4000, 37}, {seed = 3}), meissa.rand({100, 37}, {seed = 4})
for _ = 1, 30 do
  pass(A, B)
  pass(C, D)
end
local sum = 0
for i = 1, 4000 do
  for k = 1, 37 do sum = sum + C[i][k] * (i + k) end
end
io.write(("%%.17g"):format(sum))
]]
    assert.are.equal(run(FAST:format "0"), run(FAST:format "math.huge"))
    assert.are.equal(2, runs())
  end)

  it("are checked where the next array has fewer rows or the next space more entries", function()
    local output = run [[
local function add(W, ratings, options)
  for i, j, v in parallel(ratings, options) do W[i][1] = W[i][1] + v end
end
local function of(rows)
  return meissa.sparse({rows, 3}, {i = {1, rows, 3}, j = {1, 2, 3}, v = {1, 2, 3}})
end
for _, numeric in ipairs {"strict", "fast"} do
  local options = {numeric = numeric, engine = "native"}
  local W = meissa.zeros({10, 2})
  add(W, of(10), options)
  for _, rows in ipairs {11, 12, 100, 2000000} do
    local ok, err = pcall(add, W, of(rows), options)
    assert(not ok and err.code == "ARR", tostring(err))
    assert(tostring(err):find("subscript " .. rows .. " is outside 1..10", 1, true), tostring(err))
  end
  local narrow = meissa.zeros({3, 2})
  local ok, err = pcall(add, narrow, of(10), options)
  assert(not ok and tostring(err):find("subscript 10 is outside 1..3", 1, true), tostring(err))
  for i = 1, 10 do
    assert(W[i][1] == (i == 1 and 1 or i == 10 and 2 or i == 3 and 3 or 0))
  end
end
print "checked"
]]
    assert.are.equal("checked\n", output)
  end)

  it("are refused where rows that were as long as each other no longer are", function()
    local output = run [[
local function product(A, B)
  local sum = 0
  for i in parallel(A:size(1)) do sum = sum + A[i]:dot(B[i]) end
  return sum
end
for K = 1, 5 do assert(product(meissa.ones({4, K}), meissa.ones({4, K})) == 4 * K) end
print(pcall(product, meissa.ones({4, 3}), meissa.ones({4, 2})))
assert(product(meissa.ones({4, 7}), meissa.ones({4, 7})) == 28)
]]
    assert.truthy(output:find("^false.*:5: ARR: "), output)
  end)

  it("have kernels of their own where a captured step of a collapsed loop differs", function()
    local output = run [[
local function fill(A, step)
  local n, m = A:size(1), A:size(2)
  for i in parallel(n, {collapse = 2, engine = "native"}) do
    for j = 1, m, step do A[i][j] = 10 * i + j end
  end
end
for step = 1, 4 do
  for m = 1, 6 do
    local A = meissa.zeros({3, m})
    fill(A, step)
    for i = 1, 3 do
      for j = 1, m do
        assert(A[i][j] == ((j - 1) % step == 0 and 10 * i + j or 0), step .. " " .. i .. " " .. j)
      end
    end
  end
end
print "checked"
]]
    assert.are.equal("checked\n", output)
  end)

  it("have kernels of their own where another range leaves 32 bits", function()
    local output = run [[
local function rest(first, second, engine)
  local A, B = meissa.zeros({5, 7}), 2 ^ 43
  for i, j in parallel(first, second, {ordered = false, engine = engine}) do
    A[i % 5 + 1][j % 7 + 1] = (i * 1048573) % 101 + (j * 1048573) % 103
  end
  return A
end
local wide = {2 ^ 43, 2 ^ 43 + 4}
for _, ranges in ipairs {{3, wide}, {wide, 3}, {3, 3}, {{-2 ^ 31, 3 - 2 ^ 31}, 3}, {wide, 2}} do
  local A = rest(ranges[1], ranges[2], "native")
  local B = rest(ranges[1], ranges[2], "lua")
  for i = 1, 5 do
    for j = 1, 7 do assert(A[i][j] == B[i][j], i .. " " .. j) end
  end
end
print "checked"
]]
    assert.are.equal("checked\n", output)
  end)

  -- Too few iterations for the compiler: what is not asked for runs on the Lua engine.
  for _, engine in ipairs {"native", "auto"} do
    it("give the same bits, whatever came before: " .. engine, function()
      local output = run(([[
math.randomseed(%d)
local pick = math.random
local function work(A, B, X, idx, options)
  local sum, n = 0, A:size(1)
  for i in parallel(n, options) do
    local a, b = A[i], B[idx[i] ]
    local s = a:dot(a) + #A / #b
    for f, v in X[i]:nonzeros() do s = s + v * B[f][1] end
    for k = 1, #a do a[k] = a[k] * 0.5 + b[(k - 1) %% #b + 1] + s end
    sum = sum + s
  end
  return sum
end
local function transposed(A) return A:transpose() end
local function case(n, K, m, L, turned)
  local A = turned and transposed(meissa.rand({K, n}, {seed = n})) or
    meissa.rand({n, K}, {seed = n, type = pick(2) == 1 and "float" or "double"})
  local B = meissa.rand({m, L}, {seed = m})
  local i, j, v, idx = {}, {}, {}, meissa.zeros({n}, {type = "int32"})
  for e = 1, 2 * n do i[e], j[e], v[e] = pick(n), pick(m), pick() end
  i[1], j[1] = n, m
  local X = meissa.sparse({n, m}, {i = i, j = j, v = v})
  for k = 1, n do idx[k] = pick(m) end
  return A, B, X, idx
end
local wrong = 0
for step = 1, 60 do
  local A, B, X, idx = case(pick(30), pick(9), pick(12), pick(4), pick(3) == 1)
  if pick(6) == 1 then idx[pick(A:size(1))] = B:size(1) + 1 end
  local C = A:clone()
  local ok, sum = pcall(work, A, B, X, idx, {engine = %q})
  local fine, other = pcall(work, C, B, X, idx, {engine = "lua"})
  local place = "step " .. step .. ": "
  assert(ok == fine, place .. tostring(ok and other or sum))
  if ok then assert(sum == other, place .. sum .. " " .. other) end
  if not ok then
    wrong = wrong + 1
    sum, other = tostring(sum):gsub("worker %%d", ""), tostring(other):gsub("worker %%d", "")
    assert(sum == other, place .. sum .. "\n" .. other)
  end
  for i = 1, A:size(1) do
    for k = 1, A:size(2) do assert(A[i][k] == C[i][k], place .. i .. " " .. k) end
  end
end
print(wrong > 0 and wrong < 30)
]]):format(seed, engine))
      assert.are.equal("true\n", output)
    end)
  end

  it("leave no checks in the Lua text of a plan that proves the subscripts", function()
    local output = run [[
local families = require "meissa.kernel.family"
local find, text = families.find, nil
families.find = function(...)
  local static = find(...)
  text = static.info.text
  return static
end
local A = meissa.zeros({30, 4})
for i, k in parallel(30, 4, {engine = "lua"}) do A[i][k] = A[31 - i][k] + i end
print(text:find("check", 1, true) == nil, text:find("*4+", 1, true) ~= nil)
]]
    assert.are.equal("true\ttrue\n", output)
  end)
end)

describe("the C text of a body", function()
  teardown(native.finish)

  -- How often a body's text has the quick function.
  local function copies(text, options)
    local source, info = native.emit(text, { A = array.zeros({ 12, 6 }),
      B = array.zeros({ 12 }), n = 12, m = 6 }, { ranges = { { 1, 12 } } }, options)
    return select(2, source:gsub("return ms_quick%(", "")), info.shaped
  end

  it("is quick for the extents of now, unless it is asked for others or would not know", function()
    local text = "for i in parallel(n) do for k = 1, 3 do A[i][k] = A[i][k] * k end end"
    assert.same({1, true}, {copies(text)})
    assert.same({1, false}, {copies(text, {general = true})})
    assert.same({2, false}, {copies(text, {fast = true})})
    local rows = "for i in parallel(n) do local a = A[i] for k = 1, m do a[k] = k end end"
    assert.same({2, false}, {copies(rows)})
    assert.same({1, false}, {copies(rows, {general = true})})
    assert.same({1, false}, {copies "for i in parallel(n) do B[i] = i end"})
  end)

  it("keeps the compiler from unrolling short loops that it could make vectors of", function()
    local function kept(body)
      local source = native.emit("for i in parallel(n) do for k = 1, 6 do " .. body .. " end end",
        { A = array.zeros({ 12, 6 }), B = array.zeros({ 12 }), n = 12,
          C = array.ones({ 12, 6 }, { type = "int32" }), H = array.zeros({ 12, 8, 6 }) },
        { ranges = { { 1, 12 } } })
      return source:find("#pragma GCC unroll 1", 1, true) ~= nil
    end
    for _, body in ipairs { "A[i][k] = A[i][k] * k", "local b = k + 1 H[i][b][1] = B[i]",
                            "local b = C[i][k] A[i][k] = b" } do
      assert.is_true(kept(body), body)
    end
    for _, body in ipairs { "H[i][C[i][k] ][k] = B[i]", "local b = C[i][k] H[i][b][1] = B[i]",
                            "local c = C[i][k] local b = c + 1 A[i][b] = A[i][b] + 1" } do
      assert.is_false(kept(body), body)
    end
  end)

  it("means the same for other extents than those of its making", function()
    local text = "for i in parallel(4) do local a = A[i] for k = 1, 3 do " ..
      "a[k] = a[k] * k + C[k][i] s = s + a[k] end end"
    local function of(rows, columns, more)
      return function()
        return { A = array.rand({ rows, columns }, { seed = 1 }), s = 0,
          C = array.rand({ columns, rows + more }, { seed = 2, type = "float" }) }
      end
    end
    for _, general in ipairs { false, true } do
      for _, each in ipairs { { 4, 6, 0 }, { 5, 6, 0 }, { 4, 5, 1 }, { 9, 7, 3 }, { 4, 3, 0 },
                              { 4, 2, 0 }, { 3, 6, 0 }, { 3, 6, 1 } } do
        assert.is_nil(native.compare(text, of(unpack(each)), function()
          return { ranges = { { 1, 4 } } }
        end, { written_for = of(4, 6, 0), general = general }))
      end
    end
  end)
end)
