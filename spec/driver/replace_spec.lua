-- SPDX-License-Identifier: MIT
-- A worker that dies in the middle of a loop: on one host the block that it had begun is undone and
-- run again by its replacement, and no other; where that is not exact, the whole loop is. Always
-- the same bits. Bodies leave a line in a file for each iteration that they run.
local child = require "spec.support.child"
local deaths = require "spec.driver.deaths"
local expect = require "spec.support.expect"

local HEAD = deaths.HEAD .. [[
local function note(key)
  local file = io.open("ran", "a")
  file:write(key, "\n")
  file:close()
end
local function bytes(A)
  local size = {float = 4, double = 8}
  return ffi.string((A:data()), A:nnz() * size[A:type()])
end
-- How many iterations were run twice, and how often any was.
local function counts()
  local times, twice, most = {}, 0, 0
  for line in io.lines "ran" do times[line] = (times[line] or 0) + 1 end
  local all = 0
  for _, count in pairs(times) do
    all, most = all + 1, math.max(most, count)
    if count == 2 then twice = twice + 1 end
  end
  return twice, most, all
end
-- Runs `loop` undisturbed, then with a death: what happened.
local function compare(loop)
  make "died"
  make "ran"
  local right = loop()
  local _, _, all = counts()
  os.remove "died"
  make "ran"
  local got = loop()
  local twice, most, now = counts()
  local plan = meissa.last()
  print("same", got == right, "all", now == all)
  print("twice", twice, "most", most)
  print("deaths", plan.deaths, "redone", plan.redone, "repeated", plan.repeated)
end
]]
local has = expect.has

local function run(text, env)
  return child.script(HEAD .. text, {env = "MEISSA_WORKERS=2 " .. (env or "")})
end

-- Loops whose worker dies once in the middle, and how many iterations its block had begun.
local exact = {
  ["factorization"] = {begun = 60, [[
    local at = {i = {}, j = {}, v = {}}
    for e = 1, 600 do at.i[e], at.j[e], at.v[e] = e * 7 % 60 + 1, e * 11 % 50 + 1, e end
    local R = meissa.sparse({60, 50}, at)
    compare(function()
      local W = meissa.rand({60, 4}, {seed = 1, type = "float"})
      local H = meissa.rand({50, 4}, {seed = 2})
      local sum, reached = 0, 0
      for i, j, v in parallel(R, {impure = true, grid = {4, 4}}) do
        local w, h = W[i], H[j]
        sum = sum + v * w[1]
        for k = 1, 4 do
          local x = w[k]
          w[k], h[k] = x + 0.1 * h[k], h[k] - 0.1 * x
        end
        note(v)
        if v == 301 then die_once() end
      end
      return bytes(W) .. bytes(H) .. ("%.17g"):format(sum)
    end)]]},
  ["Gauss-Seidel"] = {begun = 12, [[
    compare(function()
      local A = meissa.rand({42, 42}, {seed = 3})
      local top = 0
      for i, j in parallel({2, 41}, {2, 41}, {impure = true, grid = {4, 4}}) do
        A[i][j] = 0.25 * (A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1])
        top = math.max(top, A[i][j])
        note(i * 100 + j)
        if i == 23 and j == 23 then die_once() end
      end
      return bytes(A) .. ("%.17g"):format(top)
    end)]]},
  ["a sweep"] = {begun = 5, [[
    compare(function()
      local A = meissa.rand({12, 64}, {seed = 4})
      for i, j in parallel({2, 12}, {1, 64}, {impure = true}) do
        A[i][j] = A[i][j] + A[i - 1][65 - j]
        note(i * 100 + j)
        if i == 7 and j == 61 then die_once() end
      end
      return bytes(A)
    end)]]},
  ["rows apart"] = {begun = 5, [[
    compare(function()
      local A, B = meissa.rand({640}, {seed = 5}), meissa.zeros {640}
      local sum, squares = 0, {}
      for i in parallel(640, {impure = true}) do
        A[i] = A[i] * 3
        B[641 - i] = A[i]
        sum, squares[i] = sum + A[i], i * i
        note(i)
        if i == 635 then die_once() end
      end
      return bytes(A) .. bytes(B) .. ("%.17g"):format(sum) .. table.concat(squares, " ")
    end)]]},
  ["the first block of all"] = {begun = 1, [[
    compare(function()
      local A = meissa.rand({640}, {seed = 6})
      for i in parallel(640, {impure = true}) do
        A[i] = A[i] + 1
        note(i)
        if i == 1 then die_once() end
      end
      return bytes(A)
    end)]]},
  ["no array at all, and long results"] = {begun = 10, [[
    compare(function()
      local texts = {}
      for i in parallel(640, {impure = true}) do
        texts[i] = ("%d "):format(i):rep(2000)
        note(i)
        if i == 600 then die_once() end
      end
      return table.concat(texts)
    end)]]},
  ["an array that is only written, anywhere"] = {begun = 2, [[
    compare(function()
      local A = meissa.zeros(64 * 20)
      for i in parallel(64, {impure = true, grid = {16}}) do
        for k = 1, 20 do A[(i - 1) * 20 + k] = i * k end
        note(i)
        if i == 34 then die_once() end
      end
      return bytes(A)
    end)]]},
}

for name, case in pairs(exact) do
  describe("a worker that dies in " .. name, function()
    it("costs the block that it had begun", function()
      local output = run(case[1])
      has(output, "same\ttrue\tall\ttrue", "deaths\t1\tredone\t1\trepeated\t0",
          "was killed by signal 9 (Killed) and is replaced; the block that it was in is undone " ..
          "and run again")
      local twice = tonumber(output:match "twice\t(%d+)\tmost\t2")
      assert.truthy(twice, output)
      assert.is_true(twice >= 1 and twice <= case.begun, output)
    end)

    it("costs a run where arrays travel by value", function()
      local output = run(case[1], "MEISSA_SHM=0")
      has(output, "same\ttrue\tall\ttrue", "deaths\t1\tredone\t0\trepeated\t1",
          "is replaced; the loop is undone and run again")
    end)
  end)
end

-- Loops of which no block can be undone alone.
local whole = {
  ["written at places that follow no cut"] = [[
    compare(function()
      local A = meissa.rand({64 * 20}, {seed = 7})
      for i in parallel(64, {impure = true}) do
        for k = 1, 20 do A[(i - 1) * 20 + k] = A[(i - 1) * 20 + k] + i * k end
        note(i)
        if i == 34 then die_once() end
      end
      return bytes(A)
    end)]],
  ["cut along a skewed row"] = [[
    compare(function()
      local A = meissa.rand({40, 40}, {seed = 9})
      for i, j in parallel({2, 40}, {1, 39}, {impure = true}) do
        A[i][j] = A[i - 1][j + 1] + A[i][j]
        note(i * 100 + j)
        if i == 20 and j == 20 then die_once() end
      end
      return bytes(A)
    end)]],
}

for name, text in pairs(whole) do
  it("a loop over arrays " .. name .. " is repeated when its worker dies", function()
    local output = run(text)
    has(output, "same\ttrue\tall\ttrue", "deaths\t1\tredone\t0\trepeated\t1",
        "is replaced; the loop is undone and run again")
  end)
end

-- What happens after a block was redone.
describe("a loop with a block that was redone", function()
  local TWO = [[
    local A = meissa.rand({640}, {seed = 1})
    local before = bytes(A)
  ]]

  it("is undone to its beginning by a body's error", function()
    local output = run(TWO .. [[
      local ok, err = pcall(function()
        for i in parallel(640, {impure = true}) do
          A[i] = -i
          A[i] = A[i] + 1
          if i == 200 then die_once() end
          if i == 300 then
            while not exists "died" do end
            error("after that")
          end
        end
      end)
      print(ok, err.code, bytes(A) == before)
      for i in parallel(640) do A[i] = i end
      print("usable", A:sum(), #meissa.workers().pids)]])
    has(output, "run again", "false\tBDY\ttrue", "usable\t205120\t2")
  end)

  it("is undone to its beginning by Ctrl-C", function()
    local output = child.interrupted(HEAD .. TWO .. [[
      local ok, err = pcall(function()
        for i in parallel(640, {impure = true}) do
          A[i] = A[i] + 1
          if i == 5 then die_once() end
          if i == 60 then make "ready" end
          if i > 60 then sleep(0.02) end
        end
      end)
      print(ok, err.code, bytes(A) == before)]], {env = "MEISSA_WORKERS=2", once = "ready"})
    has(output, "run again", "false\tINT\ttrue")
  end)

  it("prints every line once, in the order of the plan", function()
    local output = run [[
      local lines = 0
      for i in parallel(64, {impure = true}) do
        print("line", i)
        if i == 7 or i == 40 then die_once() end
        lines = lines + 1
      end
      print("lines", lines)]]
    local expected = {}
    for i = 1, 64 do expected[i] = "line\t" .. i .. "\n" end
    has(output, table.concat(expected) .. "lines\t64")
  end)

  it("survives a death in another block, at the same time or later", function()
    local output = run [[
      local A = meissa.zeros(640)
      for i in parallel(640, {impure = true}) do
        A[i] = A[i] + i
        if i == 11 or i == 345 or i == 356 or i == 600 then die_once("died" .. i) end
      end
      local plan = meissa.last()
      print("sum", A:sum(), plan.deaths, plan.redone, plan.repeated)]]
    has(output, "sum\t205120\t4\t4\t0")
  end)
end)

describe("a worker that dies while it waits for a block", function()
  it("costs no block", function()
    local output = run [[
      for i in parallel(2) do end
      local pids = meissa.workers().pids
      local A = meissa.rand({40, 40}, {seed = 2})
      local B = A:clone()
      local function slow(i, j)
        if i ~= 2 or j ~= 2 or exists "died" then return end
        local f = require "ffi"
        f.cdef "int kill(int pid, int signal); int usleep(unsigned);"
        f.C.usleep(200000)
        make "died"
        f.C.kill(pids[2], 9)
      end
      make "ran"
      for i, j in parallel({2, 40}, {2, 40}, {impure = true}) do
        slow(i, j)
        A[i][j] = A[i - 1][j] + A[i][j - 1]
        note(i * 100 + j)
      end
      for i = 2, 40 do
        for j = 2, 40 do B[i][j] = B[i - 1][j] + B[i][j - 1] end
      end
      local twice = counts()
      local plan = meissa.last()
      print("same", bytes(A) == bytes(B), "twice", twice)
      print("deaths", plan.deaths, "redone", plan.redone, "repeated", plan.repeated)]]
    has(output, "same\ttrue\ttwice\t0", "deaths\t1\tredone\t0\trepeated\t0",
        "is replaced; nothing is lost")
  end)
end)
