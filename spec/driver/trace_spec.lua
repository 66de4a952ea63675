-- SPDX-License-Identifier: MIT
-- MEISSA_TRACE: what the lines of all processes tell is what the plan says, whole lines, and only
-- of the categories that are asked for.
local child = require "spec.support.child"
local traces = require "spec.support.traces"

-- A rotation of 5 x 5 blocks, twice; a wavefront of 3 x 4 blocks.
local LOOPS = [[
local meissa = require "meissa" require("meissa.driver.small").most[0] = 0
local parallel = meissa.parallel
local i, j, v = {}, {}, {}
for e = 1, 4000 do i[e], j[e], v[e] = e * 7919 % 50 + 1, e * 4177 % 50 + 1, e % 5 end
local R, W, H = meissa.sparse({50, 50}, {i = i, j = j, v = v}), meissa.ones(50), meissa.ones(50)
for epoch = 1, 2 do
  for a, b, r in parallel(R, {grid = {5, 5}}) do
    W[a] = W[a] * 0.99 + 1e-3 * r * H[b]
    H[b] = H[b] * 0.99 + 1e-3 * r * W[a]
  end
end
local function show(plan) print(plan.strategy, plan.grid[1] .. "x" .. plan.grid[2]) end
show(meissa.last())
local A = meissa.ones(30, 40)
for i, j in parallel({2, 30}, {2, 40}, {grid = {3, 4}}) do
  A[i][j] = 0.25 * (A[i - 1][j] + A[i][j - 1]) + 1
end
show(meissa.last())
]]
local PRINTED = "rotate\t5x5\nwavefront\t3x4\n"

-- Runs a script with a trace: its events, what it printed, lines of the trace that are no events.
local function traced(text, env, categories)
  local directory = child.directory()
  child.write(directory .. "/script.lua", text)
  local output = child.shell(("cd %s && MEISSA_TRACE=%s MEISSA_TRACE_FILE=trace.txt %s " ..
    "luajit script.lua"):format(directory, categories or "all", env))
  local lines = child.read(directory .. "/trace.txt") or ""
  child.remove(directory)
  local events, others = traces.read(lines)
  return events, output, others
end

local function copy(events)
  local list = {}
  for k, each in ipairs(events) do
    list[k] = {}
    for name, value in pairs(each) do list[k][name] = value end
  end
  return list
end

local NONE = {}
local KINDS = {TASK = true, DONE = true, TOKEN = true, HELLO = true}

-- All that can be wrong with the job's events.
local function faults_of(events, job, count, before)
  local all = {}
  local function add(list) for _, each in ipairs(list) do all[#all + 1] = each end end
  local runs, faults = traces.blocks(events, job)
  add(faults)
  add(traces.disorder(runs, count, before))
  add(traces.waits(events, runs, job))
  add(traces.messages(events, KINDS))
  return all
end

local ROADS = {"MEISSA_WORKERS=2", "MEISSA_WORKERS=3", "MEISSA_WORKERS=1",
               "MEISSA_WORKERS=2 MEISSA_SHM=0", "MEISSA_WORKERS=3 MEISSA_TRANSPORT=tcp",
               "MEISSA_WORKERS=2 MEISSA_ENGINE=native", "MEISSA_WORKERS=3 MEISSA_ENGINE=lua"}

describe("a trace", function()
  for _, road in ipairs(ROADS) do
    it("follows the plan with " .. road, function()
      local events, output, others = traced(LOOPS, road)
      assert.equal(PRINTED, output)
      assert.same(NONE, others)
      for job = 1, 2 do assert.same(NONE, faults_of(events, job, 25, traces.rotation(5))) end
      assert.same(NONE, faults_of(events, 3, 12, traces.wavefront(4)))
    end)
  end

  it("tells of plans, kernels, jobs and workers", function()
    local events = traced(LOOPS, "MEISSA_WORKERS=2 MEISSA_ENGINE=native MEISSA_CACHE=$PWD/cache")
    local jobs = traces.of(events, "plan", "job")
    assert.same({"rotate", "5x5", 25, 2},
                {jobs[1].strategy, jobs[1].grid, jobs[1].blocks, jobs[1].workers})
    assert.same({3, "wavefront", "3x4", 12},
                {#jobs, jobs[3].strategy, jobs[3].grid, jobs[3].blocks})
    assert.equal(3, #traces.of(events, "plan", "done"))
    assert.equal(2, #traces.of(events, "plan", "analysed"))
    local loops = traces.of(events, "plan", "loop")
    assert.equal(3, #loops)
    assert.equal("script.lua:7", loops[1].loop:match "[^/]*$")
    local made, compiled = traces.of(events, "kernel", "text"),
      traces.of(events, "kernel", "compiled")
    assert.equal(made[1].key, compiled[1].key)
    assert.equal("native", traces.of(events, "kernel", "engine")[1].engine)
    local started, ready, ended, buried = traces.of(events, "workers", "start"),
      traces.of(events, "workers", "ready"), traces.of(events, "workers", "end"),
      traces.of(events, "workers", "bury")
    local pids = {}
    for _, each in ipairs(started) do pids[each.pid] = "worker-" .. each.worker end
    assert.same({2, 2, 2, 2}, {#started, #ready, #ended, #buried})
    for _, each in ipairs(ended) do assert.equal(each.process, pids[each.pid]) end
  end)

  it("tells of blocks that fail, and of those that are not needed any more", function()
    local events = traced([[
      local meissa = require "meissa"
      local A = meissa.zeros(400)
      pcall(meissa.each, 400, {grid = {8}}, function(i)
        if i == 1 then error "no" end
        A[i] = i
      end)]], "MEISSA_WORKERS=2")
    local failed = traces.of(events, "blocks", "fail")
    assert.same({1, 0, "worker-1"}, {#failed, failed[1].block, failed[1].process})
    assert.equal(1, #traces.of(events, "plan", "failed"))
  end)

  it("tells of a worker that dies, and of its block's second run", function()
    local events = traced([[
      local meissa = require "meissa"
      local A = meissa.ones(400)
      meissa.each(400, {grid = {8}, impure = true}, function(i)
        A[i] = A[i] + i
        if i == 130 and not io.open "died" then
          io.open("died", "w"):close()
          local ffi = require "ffi"
          ffi.cdef "int kill(int, int); int getpid(void);"
          ffi.C.kill(ffi.C.getpid(), 9)
        end
      end)]], "MEISSA_WORKERS=2")
    local lost, ready = traces.of(events, "workers", "lost"), traces.of(events, "workers", "ready")
    assert.same({1, 2}, {#lost, lost[1].block})
    assert.equal(3, #ready)
    local _, faults = traces.blocks(events, 1)
    assert.same({"block 2 begins twice"}, {faults[1]})
  end)

  it("tells of blocks in the driver's process", function()
    local events = traced(LOOPS, "MEISSA_WORKERS=0 MEISSA_ENGINE=native", "blocks")
    for _, each in ipairs(events) do assert.equal("driver", each.process) end
    assert.equal(100, #events) -- of 2 x 25 blocks; the ordered loop runs as written
  end)

  it("tells of the blocks of small loops, and of launches", function()
    local events, output = traced([[
      local meissa, runs = require "meissa", 0
      local A = meissa.ones(30)
      repeat
        for i in meissa.parallel(30, {engine = "native"}) do A[i] = A[i] + 1 end
        runs = runs + 1
      until require("meissa.driver.launch").executions == 2 or runs == 3000
      print(runs < 3000)]], "MEISSA_WORKERS=2", "plan,blocks")
    assert.equal("true\n", output)
    assert.equal(2, #traces.of(events, "plan", "launch"))
    local here = {begin = 0, ["end"] = 0}
    for _, each in ipairs(events) do
      if each.process == "driver" and here[each.event] then
        here[each.event] = here[each.event] + 1
      end
    end
    assert.is_true(here.begin >= 90 and here.begin == here["end"])
  end)

  it("has only what is asked for", function()
    local seen = {}
    for _, each in ipairs((traced(LOOPS, "MEISSA_WORKERS=2", "plan,waits"))) do
      seen[each.category] = true
    end
    assert.same({plan = true, waits = true}, seen)
    assert.same({}, (traced(LOOPS, "MEISSA_WORKERS=2 MEISSA_TRACE=")))
  end)

  it("goes to stderr without a file, in whole lines", function()
    local output = child.script(LOOPS, {env = "MEISSA_WORKERS=3 MEISSA_TRACE=blocks"})
    local events, others = traces.read(output)
    assert.equal(PRINTED, table.concat(others))
    assert.equal(124, #events)
  end)

  it("is appended to its file, wherever its workers are started", function()
    local directory = child.directory()
    child.write(directory .. "/script.lua", [[require("ffi").cdef "int chdir(const char *);"
      local meissa = require "meissa"
      require("ffi").C.chdir "/"
      meissa.each(10, {grid = {2}}, function(i) end)]])
    child.shell(("cd %s && echo before >t && MEISSA_TRACE=blocks MEISSA_TRACE_FILE=t " ..
      "MEISSA_WORKERS=2 luajit script.lua"):format(directory))
    local events, others = traces.read(child.read(directory .. "/t"))
    child.remove(directory)
    assert.same({4, {"before\n"}}, {#events, others})
  end)

  it("is refused with words that are no categories, and a file that cannot be", function()
    local script = 'print(pcall(require, "meissa"))'
    local output = child.script(script, {env = "MEISSA_TRACE=plan,block"})
    assert.truthy(output:find("OPT: MEISSA_TRACE is a list of categories with commas between " ..
      "them; 'block' is none; they are: plan, kernel, blocks, messages, waits, workers, or all",
      1, true), output)
    output = child.script(script, {env = "MEISSA_TRACE=all MEISSA_TRACE_FILE=/no/such/file"})
    assert.truthy(output:find("FIL: MEISSA_TRACE_FILE: '/no/such/file' cannot be written", 1, true))
    output = child.script(script, {env = "MEISSA_TRACE_FILE=t"})
    assert.truthy(output:find("MEISSA_TRACE_FILE does nothing without MEISSA_TRACE", 1, true))
  end)
end)

-- Traces that would not do.
describe("the check of traces", function()
  local events

  setup(function() events = traced(LOOPS, "MEISSA_WORKERS=2 MEISSA_SHM=0") end)

  -- The first fault that a trace with changed events has.
  local function first_fault(change)
    local changed = copy(events)
    change(changed)
    return faults_of(changed, 1, 25, traces.rotation(5))[1] or "none"
  end

  local function find(list, category, event, skip)
    for k, each in ipairs(list) do
      if each.category == category and each.event == event then
        if skip == 0 then return k, each end
        skip = skip - 1
      end
    end
  end

  it("misses none of these", function()
    assert.equal("none", first_fault(function() end))
    for _, event in ipairs {"begin", "end"} do
      for skip = 0, 24, 6 do
        assert.truthy(first_fault(function(list)
          table.remove(list, (find(list, "blocks", event, skip)))
        end):find "^block")
        assert.truthy(first_fault(function(list)
          local at, each = find(list, "blocks", event, skip)
          table.insert(list, at, each)
        end):find "^block")
      end
    end
    assert.truthy(first_fault(function(list) -- a block that begins before its predecessor ends
      for _, each in ipairs(list) do
        if each.category == "blocks" and each.event == "end" then each.time = each.time + 1e9 end
      end
    end):find "runs before")
    assert.truthy(first_fault(function(list)
      for k = #list, 1, -1 do
        if list[k].category == "waits" and list[k]["for"] == "block"
          and list[k].event == "end" then
          table.remove(list, k)
        end
      end
    end):find "wait")
    assert.truthy(first_fault(function(list)
      for k = #list, 1, -1 do
        if list[k].frame == "TOKEN" and list[k].event == "receive" then table.remove(list, k) end
      end
    end):find "not received")
    assert.truthy(first_fault(function(list)
      for k = #list, 1, -1 do
        if list[k].frame == "TASK" and list[k].event == "send" then table.remove(list, k) end
      end
    end):find "before it is sent")
  end)

  it("takes no torn line for an event", function()
    local whole = "trace 0.000000001 worker-1 blocks begin job=1 block=0\n"
    assert.equal(1, #traces.read(whole))
    for _, torn in ipairs {whole:sub(2), whole:sub(1, -2), whole:sub(1, 20) .. whole,
                           whole:gsub("blocks", "block"), whole:gsub("worker%-1", "worker"),
                           whole:gsub("0000", "000")} do
      if type(torn) == "string" then
        local found, others = traces.read(torn)
        assert.same({0, 1}, {#found, #others}, torn)
      end
    end
  end)
end)
