-- SPDX-License-Identifier: MIT
-- Served arrays: what is read at subscripts from data is found out beforehand, and only that is
-- sent where arrays travel by value. The analysis, the bytes that move, and when lists are good.
local child = require "spec.support.child"
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"
local support = require "spec.support.served"
local parallel = meissa.parallel

require("meissa.driver.small").most[0] = 0 -- small loops go to workers, too

-- Distinct numbers of a list.
local function distinct(list)
  local seen, count = {}, 0
  for _, value in ipairs(list) do
    if not seen[value] then seen[value], count = true, count + 1 end
  end
  return count
end

describe("a served array", function()
  local function f(j) return 2 * j end
  local shape = meissa.shape
  local bindings = {
    A = shape(100), w = shape(1000), v = shape(1000), idx = shape(100), W = shape(50, 8),
    X = shape(100, 1000, {sparse = true}), f = f, lists = {{1, 2}, {3}},
  }
  bindings.holder = {w = bindings.w}
  function bindings.reader(j) return bindings.w[j] end

  -- body -> what arrays are, and what is marked (the slice without its first and last line)
  local CASES = {
    {"A[i] = w[idx[i]]", "w served", "meissa_marks_1[idx[i]] = 1;"},
    {"A[i] = w[idx[i] + 1] + w[3]", "w served",
     "meissa_marks_1[idx[i] + 1] = 1; meissa_marks_1[3] = 1;"},
    {"A[i] = w[idx[idx[i]]]", "w served, idx broadcast", "meissa_marks_1[idx[idx[i]]] = 1;"},
    {"for j, x in X[i]:nonzeros() do A[i] = A[i] + w[j] * x end", "w served",
     "for j, x in X[i]:nonzeros() do meissa_marks_1[j] = 1; end;"},
    {"for j, x in X[i]:nonzeros() do A[i] = A[i] + x end A[i] = w[idx[i]]", "w served",
     "meissa_marks_1[idx[i]] = 1;"},
    {"local r = W[idx[i]] for k = 1, 8 do A[i] = A[i] + r[k] end", "W served",
     "local r = meissa_marks_1[idx[i]]; for k = 1, 8 do r[k] = 1; end;"},
    {"A[i] = W[idx[i]]:dot(W[3])", "W served",
     "meissa_marks_1[idx[i]]:fill(1); meissa_marks_1[3]:fill(1);"},
    {"A[i] = W[{idx[i], 2}] + W:size(1)", "W served", "meissa_marks_1[{idx[i], 2}] = 1;"},
    {"if idx[i] > 0 then A[i] = w[idx[i]] else A[i] = 0 end", "w served",
     "if idx[i] > 0 then meissa_marks_1[idx[i]] = 1; end;"},
    {"if w[idx[i]] > 0 then A[i] = v[idx[i] + 1] elseif i > 3 then A[i] = v[idx[i]] end",
     "w served, v served", "meissa_marks_1[idx[i]] = 1; do meissa_marks_2[idx[i] + 1] = 1; end; " ..
     "do if i > 3 then meissa_marks_2[idx[i]] = 1; end; end;"},
    {"A[i] = idx[i] > 0 and w[idx[i]] or v[idx[i] + 1]", "w served, v served",
     "if (idx[i] > 0) then meissa_marks_1[idx[i]] = 1; end; meissa_marks_2[idx[i] + 1] = 1;"},
    {"A[i] = idx[i] or v[idx[i] + 1]", "v served",
     "if not (idx[i]) then meissa_marks_1[idx[i] + 1] = 1; end;"},
    {"local j = f(idx[i]) local z = j * 2 A[i] = w[j] + z", "w served",
     "local j = f(idx[i]); meissa_marks_1[j] = 1;"},
    {"local j, k = 1, 2 if i > 3 then j = idx[i] end A[i] = w[j] * k", "w served",
     "local j, k = 1; if i > 3 then j = idx[i]; end; meissa_marks_1[j] = 1;"},
    {"for _, j in ipairs(lists[1]) do A[i] = A[i] + w[j] end", "w served",
     "for _, j in ipairs(lists[1]) do meissa_marks_1[j] = 1; end;"},
    {"if idx[i] < 1 then goto continue end A[i] = w[idx[i]] ::continue::", "w served",
     "if idx[i] < 1 then goto continue; end; meissa_marks_1[idx[i]] = 1; ::continue::"},
    {"local j = idx[i] while j > 0 do A[i] = A[i] + w[j] j = j - 7 end", "w served",
     "local j = idx[i]; while j > 0 do meissa_marks_1[j] = 1; j = j - 7; end;"},
    {"for _, k in ipairs(lists[1]) do if w[k] > 3 then break end A[i] = v[k + idx[1]] end",
     "v served, w served", "for _, k in ipairs(lists[1]) do meissa_marks_1[k] = 1; " ..
     "meissa_marks_2[k + idx[1]] = 1; end;"},
    -- what decides about subscripts is itself sent whole
    {"local j = 1 if w[idx[i]] > 0 then j = 2 end A[i] = v[idx[j]]", "v served, w broadcast"},
    {"for k = 1, 9 do if w[idx[k]] > 3 then break end A[i] = A[i] + v[idx[k]] end",
     "v served, w broadcast"},
    {"local j = idx[i] repeat j = w[j] A[i] = A[i] + v[j] until j < 5", "v served, w broadcast"},
    {"if w[idx[i]] > 0 then local j = i repeat j = idx[j] A[i] = A[i] + v[j] until j == i end",
     "v served, w broadcast"},
    {"local j = 1 for _, k in ipairs(lists[1]) do j = k if w[idx[k]] > 3 then break end end " ..
     "A[i] = v[j]", "v served, w broadcast"},
    {"local j = idx[i] if w[j] > 0 then goto on end j = j + 1 ::on:: A[i] = v[j]",
     "v served, w broadcast"},
    -- what the slice cannot compute
    {"local k = idx[i] local function f() k = 5 end f() A[i] = w[k]", "w broadcast"},
    {"local k = idx[i] A[i] = (function() k = 5 return 0 end)() + w[k]", "w broadcast"},
    {"A[i] = w[A[i]]", "w broadcast"},
    {"A[i] = w[meissa.random(1000)]", "w broadcast"},
    {"local t = {idx[i]} A[i] = w[t[1]]", "w broadcast"},
    {"A[i] = holder.w[idx[i]]", "holder.w served"},
    {"local g = function() return w[idx[i]] end A[i] = g()", "w broadcast"},
    {"A[i] = reader(idx[i]) + w[idx[i]]", "w broadcast"},
    {"A[i] = W:narrow(1, idx[i], 2):sum()", "W broadcast"},
    -- what follows a cut stays with it
    {"A[i] = w[i] + idx[i]", "w local"},
    {"A[i] = W[i % 50 + 1][idx[i] % 8 + 1]", "W served"},
  }

  for _, case in ipairs(CASES) do
    it("is found: " .. case[1], function()
      local plan = meissa.analyze("for i in parallel(100) do " .. case[1] .. " end", bindings)
      assert.equal("parallel", plan.verdict)
      for name, placement in case[2]:gmatch "([%w.]+) (%a+)" do
        assert.equal(placement, plan.arrays[name].placement, name)
        assert.equal(placement == "broadcast", plan.arrays[name].whole ~= nil, name)
      end
      if not case[3] then return end
      local text = plan.prefetch.text:gsub("%s+", " ")
      assert.equal("for i in parallel() do " .. case[3] .. " end", text)
    end)
  end

  it("is none in a loop that is refused", function()
    local plan = meissa.analyze("for i in parallel({2, 100}) do A[i] = A[i-1] + w[idx[i]] end",
                                bindings)
    assert.equal("serial", plan.strategy)
    assert.equal("broadcast", plan.arrays.w.placement)
    assert.is_nil(plan.prefetch)
  end)

  it("is named by reports", function()
    local plan = meissa.analyze("for i in parallel(100) do A[i] = w[idx[idx[i]]] end", bindings)
    assert.matches("w  read  served: what is read is fetched", tostring(plan), 1, true)
    assert.matches("idx  read  read everywhere (sent whole: its elements decide about other " ..
                   "subscripts)", tostring(plan), 1, true)
  end)
end)

describe("serving by value", function()
  teardown(kept_workers.stop)
  local n, m = 300, 5000
  local idx, w, A

  before_each(function()
    kept_workers.init {workers = 2, shm = false}
    idx, w, A = meissa.zeros({n}, {type = "int32"}), meissa.rand({m}, {seed = 3}), meissa.zeros {n}
    for k = 1, n do idx[k] = k * 37 % 500 + 1 end
  end)

  after_each(function() kept_workers.init {} end)

  local function gather(options)
    local s = 0
    for i in parallel(n, options or {}) do s = s + w[idx[i]] end
    return s, meissa.last()
  end

  local function expected(first, last)
    local list = {}
    for k = first or 1, last or n do list[#list + 1] = idx[k] end
    return distinct(list)
  end

  it("sends exactly what is read", function()
    kept_workers.init {workers = 1, shm = false}
    gather()
    w[idx[1]] = 7
    local _, plan = gather()
    assert.equal(8 * expected(), plan.moved)
  end)

  it("sends each worker what its own blocks read", function()
    local moved, wanted
    for try = 1, 50 do -- how many workers take part may change from pass to pass
      w[idx[1]] = try
      local _, plan = gather {grid = {2}}
      wanted = plan.shares[1].blocks == 1 and expected(1, n / 2) + expected(n / 2 + 1) or expected()
      moved = plan.moved
      if moved == 8 * wanted then break end
    end
    assert.equal(8 * wanted, moved)
  end)

  it("sends nothing again that has not changed", function()
    kept_workers.init {workers = 1, shm = false}
    local first = gather()
    local second, plan = gather()
    assert.equal(first, second)
    assert.equal(0, plan.moved)
  end)

  it("sends all where that is less", function()
    kept_workers.init {workers = 1, shm = false}
    w = meissa.rand({500}, {seed = 1})
    gather()
    w[5] = 1
    local _, plan = gather()
    assert.is_true(plan.moved <= 8 * 500)
    w[5] = 2
    local sum = 0
    for i = 1, n do sum = sum + w[idx[i]] end
    assert.is_true(math.abs(sum - gather()) < 1e-9)
  end)

  -- Runs the loop on workers and as it is written: the same elements.
  local function same(text, env)
    local wanted
    for _, how in ipairs {{serial = true}, {}} do
      env.A:fill(-1)
      env.how = how
      support.run(text, env)
      wanted = wanted or support.bits(env.A)
    end
    assert.is_true(wanted == support.bits(env.A), text)
    return meissa.last()
  end

  it("looks again when an array of subscripts changes", function()
    local text, env = "for i in parallel(300, how) do A[i] = w[idx[i]] end",
                      {A = A, w = w, idx = idx}
    same(text, env)
    for change = 1, 5 do
      idx[change * 50] = m - change
      same(text, env)
    end
  end)

  it("looks again when a captured value changes", function()
    local text = "for i in parallel(300, how) do A[i] = w[idx[i] + shift + add(i)] end"
    for shift = 1, 3 do
      local by = 10 * shift
      same(text, {A = A, w = w, idx = idx, shift = shift,
                  add = function(j) return j % 3 + by end})
    end
    local lists = {}
    for k = 1, 300 do lists[k] = {k, 2 * k} end
    text = "for i in parallel(300, how) do for _, j in ipairs(lists[i]) do A[i] = w[j] end end"
    same(text, {A = A, w = w, lists = lists})
    lists[7][2] = 4711
    same(text, {A = A, w = w, lists = lists})
  end)

  it("looks again when the grid or the number of workers changes", function()
    local text = "for i in parallel(n, {grid = how.serial and {1} or {g}, serial = how.serial}) " ..
                 "do A[i] = w[idx[i]] end"
    for _, g in ipairs {4, 7, 64, 4} do same(text, {A = A, w = w, idx = idx, n = n, g = g}) end
    for _, count in ipairs {100, 300, 299} do
      same(text, {A = A, w = w, idx = idx, n = count, g = 4})
    end
    for _, workers in ipairs {3, 1, 5} do
      kept_workers.init {workers = workers, shm = false}
      same(text, {A = A, w = w, idx = idx, n = n, g = 64})
    end
  end)

  it("follows blocks along rows, whatever row comes next, on both engines", function()
    for _, name in ipairs {"lua", "native"} do
      local output, status = child.script([=[
local meissa = require "meissa"
local n, distinct = 40, 500
local idx, w = meissa.zeros({n, n}, {type = "int32"}), meissa.rand({20000}, {seed = 3})
for i = 1, n do for j = 1, n do idx[i][j] = (i * 17 + j * 31) % distinct + 1 end end
local function sweep(A, c, how)
  for i, j in meissa.parallel({3, n - 2}, {3, n - 2}, how) do
    A[i][j] = A[i - c][j - 1] + w[idx[i][j]]
  end
end
for pass, c in ipairs {1, 2, 2, -1, -2, 1} do
  local A, B = meissa.ones({n, n}), meissa.ones({n, n})
  w[pass * 37 % distinct + 1] = pass
  sweep(A, c, {})
  local plan = meissa.last()
  sweep(B, c, {serial = true})
  for i = 1, n do for j = 1, n do assert(A[i][j] == B[i][j]) end end
  assert(plan.strategy == "skew" and plan.arrays.w.placement == "served")
  assert(plan.moved < 8 * 20000, pass .. ": " .. plan.moved)
end
print "followed"
]=], {env = ("MEISSA_WORKERS=2 MEISSA_SHM=0 MEISSA_ENGINE=%s "):format(name)})
      assert.equal(0, status, output)
      assert.equal("followed\n", output)
    end
  end)

  it("takes another array in the place of the first, of other extents, too", function()
    local text = "for i in parallel(300, how) do A[i] = w[idx[i]] + W[idx[i] % 20 + 1][2] end"
    for seed = 1, 6 do
      same(text, {A = A, w = meissa.rand({m - seed % 2}, {seed = seed}), idx = idx,
                  W = meissa.rand({20, 3 + seed % 3}, {seed = seed})})
    end
  end)

  it("goes by an array's identity, whatever leads to it", function()
    local model = {w = w, part = {w = w}}
    same("for i in parallel(300, how) do A[i] = w[idx[i]] + model.w[idx[i] + 1] + " ..
         "model.part.w[5] end", {A = A, w = w, idx = idx, model = model})
    assert.equal("served", meissa.last().arrays.w.placement)
  end)

  it("sends all in fast arithmetic", function()
    kept_workers.init {workers = 1, shm = false}
    gather {numeric = "fast", engine = "lua"}
    w[idx[1]] = 7
    local _, plan = gather {numeric = "fast", engine = "lua"}
    assert.equal(8 * m, plan.moved)
  end)

  it("looks again when a large captured table changes", function()
    local list = {}
    for k = 1, 20000 do list[k] = k % m + 1 end
    local text = "for i in parallel(300, how) do A[i] = w[list[idx[i] * 30]] end"
    for change = 1, 3 do
      same(text, {A = A, w = w, idx = idx, list = list})
      for k = change, 20000, 7 do list[k] = m - k % 1000 end
    end
  end)

  it("is not confused by what other loops do with the same array", function()
    local env = {A = A, w = w, idx = idx, m = m}
    local text = "for i in parallel(300, how) do A[i] = w[idx[i]] end"
    same(text, env)
    local before = w:clone()
    for i in parallel(m) do w[i] = -i end
    same(text, env)
    for i in parallel(m) do w[i] = i end
    w:fill(2)
    same(text, env)
    for i in parallel(m) do w[i] = i end
    w:fill(2) -- as it was when it was last sent
    same(text, env)
    w:copy(before)
    same(text, env)
    same("for i in parallel(300, how) do A[i] = w[i] + w[5000 - i] end", env)
    same(text, env)
  end)

  it("reads views, rows and matrices of any type", function()
    local W = meissa.rand({200, 30}, {seed = 5, type = "float"})
    local T = W:transpose()
    local env = {A = A, W = W, T = T, idx = idx, V = W:narrow(1, 50, 100)}
    for _, body in ipairs {
      "A[i] = W[idx[i] % 200 + 1][idx[i] % 30 + 1]",
      "A[i] = T[idx[i] % 30 + 1][idx[i] % 200 + 1]",
      "A[i] = V[idx[i] % 100 + 1]:sum()",
      "local r, q = W[idx[i] % 200 + 1], W[i % 200 + 1] A[i] = r:dot(q) + r[3]",
    } do
      local plan = same("for i in parallel(300, how) do " .. body .. " end", env)
      assert.is_not_nil(plan.prefetch, body)
      W[17]:fill(2)
      same("for i in parallel(300, how) do " .. body .. " end", env)
    end
  end)

  it("takes nan and infinities, and loops that read nothing", function()
    w[idx[3]], w[idx[4]] = 0 / 0, 1 / 0
    for _, body in ipairs {"A[i] = w[idx[i]]", "if idx[i] < 0 then A[i] = w[idx[i]] end"} do
      same("for i in parallel(300, how) do " .. body .. " end", {A = A, w = w, idx = idx})
    end
    for i in parallel(0) do A[i] = w[idx[i]] end
    for i in parallel({5, 5}) do A[i] = w[idx[i]] end
    assert.equal(w[idx[5]], A[5])
  end)

  -- The error of a loop, with its place.
  local function failure(options, text)
    kept_workers.init(options)
    local ok, err = pcall(support.run, text, {A = A, w = w, idx = idx})
    assert.is_false(ok)
    return ("%s %s %s %s"):format(err.code, err.message, tostring(err.line),
                                  table.concat(err.iteration or {}, ","))
  end

  it("reports subscripts out of range as ever", function()
    for _, bad in ipairs {m + 1, 0, -3} do
      idx[111] = bad
      local text = "for i in parallel(300) do\n  local z = 1\n  A[i] = w[idx[i]] + z\nend"
      local shared = failure({workers = 1}, text)
      assert.matches("ARR subscript " .. bad, shared, 1, true)
      assert.matches(" 3 111", shared, 1, true)
      assert.equal(shared, failure({workers = 1, shm = false}, text))
    end
    idx[111] = 5
    assert.equal(w[5], (function()
      for i in parallel(n) do A[i] = w[idx[i]] end
      return A[111]
    end)())
  end)

  it("is right after a subscript out of range that the body never uses", function()
    local far, flags = idx:clone(), meissa.ones {n}
    for k = 1, n, 3 do far[k], flags[k] = m + k, 0 end
    same("for i in parallel(300, how) do if flags[idx[i] % 300 + 1] > 0 and flags[i] > 0 then " ..
         "A[i] = w[far[i]] end end", {A = A, w = w, far = far, flags = flags, idx = idx})
  end)
end)
