-- SPDX-License-Identifier: MIT
-- Texts of loops, plans, kernels and captured functions do not pile up: what has not been used for
-- long is forgotten, by the driver and by its workers, and found again when it is needed.
local child = require "spec.support.child"
local meissa = require "meissa"
local remember = require "meissa.base.remember"
local support = require "spec.driver.support"

-- Runs COUNT different loops of each kind, and says how much driver and workers have grown since
-- the first tenth, in MB.
local growth = [=[
local meissa = require "meissa"
local parallel = meissa.parallel
local COUNT = %d
A = meissa.zeros(100)
local function resident(pid)
  local file = io.open("/proc/" .. pid .. "/status")
  local kilobytes = file:read("*a"):match "VmRSS:%%s*(%%d+)"
  file:close()
  return tonumber(kilobytes) / 1024
end
local function children()
  local list = {}
  local file = io.open("/proc/self/task/" .. io.open("/proc/self/stat"):read "*n" .. "/children")
  for pid in file:read("*a"):gmatch "%%d+" do list[#list + 1] = pid end
  file:close()
  return list
end
local kept = {}
local function step(k)
  meissa.run("for i in parallel(100) do A[i] = A[i] + " .. k .. " end")
  local loop = "local A, parallel = ... for i in parallel(100) do A[i] = A[i] - " .. k .. " end"
  assert(loadstring(loop))(A, parallel)
  local scale = assert(loadstring("return function(x) return x * " .. k .. " end"))()
  kept[k] = scale
  for i in parallel(100) do A[i] = scale(A[i]) end
end
local function all()
  collectgarbage() collectgarbage()
  local sizes = {resident "self"}
  for w, pid in ipairs(children()) do sizes[w + 1] = resident(pid) end
  return sizes
end
local before
for k = 1, COUNT do
  step(k)
  if k == COUNT / 10 then before = all() end
end
for w, size in ipairs(all()) do print(w, size - before[w]) end
print(A:sum())
]=]

describe("what is remembered", function()
  it("takes no more than 32 MB, whatever is run", function()
    local output, status = child.script(growth:format(600), {
      env = "MEISSA_WORKERS=2 MEISSA_ENGINE=lua"})
    assert.equal(0, status, output)
    local processes = 0
    for _, grown in output:gmatch "(%d+)\t(%S+)\n" do
      processes = processes + 1
      assert.is_true(tonumber(grown) < 32, output)
    end
    assert.equal(3, processes, output)
  end)

  it("is bounded, and forgotten in the order of its last use", function()
    local forgotten, items = {}, {}
    local function forget(item) forgotten[#forgotten + 1] = item.name end
    local half = remember.MOST / 2
    for k = 1, 5 do
      items[k] = {name = k}
      remember.keep(items[k], half / 2, forget)
      remember.touch(items[1])
      assert.is_true(remember.total() <= remember.MOST)
    end
    assert.same({2}, forgotten)
    remember.charge(items[5], half)
    assert.same({2, 3, 4}, forgotten)
    assert.equal(half * 1.5, remember.weight(items[5]))
    remember.charge(items[1], 2 * remember.MOST) -- what is in use stays
    assert.same({2, 3, 4, 5}, forgotten)
    remember.keep(items[2], 10, forget)
    assert.equal(1, forgotten[5])
    assert.equal(10, remember.total())
  end)

  it("is found again", function()
    local A = meissa.zeros(20)
    local function once(n)
      for i in meissa.parallel(n) do A[i] = A[i] + i end
    end
    once(20)
    for _ = 1, 3 do
      remember.keep({}, 2 * remember.MOST, function() end) -- everything else goes
      collectgarbage()
      collectgarbage()
      once(20)
      once(10)
    end
    for i = 1, 20 do assert.equal(i <= 10 and 7 * i or 4 * i, A[i]) end
  end)

  it("of kernels is what fits: workers are sent them again", function()
    local session = assert(support.session {workers = 2})
    local function run(k)
      return assert(session:run {
        key = "large " .. k, strategy = "independent", ranges = {2},
        kernel = ("collectgarbage() return function(b) return tostring(b + %d) end --"):format(k)
          .. ("x"):rep(2 ^ 20),
      }).results[1]
    end
    for _ = 1, 2 do
      for k = 1, 40 do assert.equal(tostring(k + 1), run(k)) end
    end
    for _, pid in ipairs(session:pids()) do
      local file = io.open("/proc/" .. pid .. "/status")
      local resident = tonumber(file:read("*a"):match "VmRSS:%s*(%d+)")
      file:close()
      assert.is_true(resident < 50 * 1024, resident)
    end
    session:stop()
  end)

  it("has as many plans as a loop with moving bounds makes", function()
    local small = require "meissa.driver.small"
    local most = small.most[0]
    finally(function() small.most[0] = most end)
    small.most[0] = 0 -- small loops need no plan for each
    local A, n = meissa.zeros(1000), 1000
    local function triangle()
      for k = 1, n do
        for i in meissa.parallel({k, n}, {serial = false}) do A[i] = A[i] + 1 end
      end
    end
    local core = require "meissa.core"
    local plan, made = core.plan, 0
    core.plan = function(...)
      made = made + 1
      return plan(...)
    end
    triangle()
    local first = made
    triangle()
    core.plan = plan
    assert.is_true(first >= n and made == first, first .. " " .. made)
    assert.equal(2 * n, A[n])
  end)
end)
