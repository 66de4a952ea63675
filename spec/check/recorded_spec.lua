-- SPDX-License-Identifier: MIT
--
-- MEISSA_HISTORY: what workers do is recorded, and the checker accepts it, for every published way
-- of running rounds, for loops and buffers, on every road, and when workers die. A record that was
-- tampered with is refused.
local child = require "spec.support.child"
local history = require "meissa.check.history"

local directory = child.directory()
local path = directory .. "/run.history"

-- Runs a script with a record of it; the verdict, and the record.
local function record(text, env)
  local output, status = child.script(text, {env = "MEISSA_WORKERS=2 MEISSA_HISTORY="
    .. path .. " " .. (env or "")})
  assert.equal(0, status, output)
  local verdict = assert(history.judge_file(path))
  local first = verdict.problems[1]
  assert(not first, first and ("line %d: %s"):format(first.line, first.text))
  return verdict, child.read(path), output
end

local function count(text, pattern)
  local _, found = text:gsub(pattern, "")
  return found
end

local ROUNDS = [[
local meissa = require "meissa"
local n = 50000
local u = meissa.rand({n}, {seed = 1})
for t, j in meissa.iterate(u, 12, {2, n - 1}, {%s}) do
  u[j] = 0.5 * (u[j - 1] + u[j + 1])
end
]]

describe("recorded histories", function()
  teardown(function() child.remove(directory) end)

  for _, options in ipairs {"", "staleness = 2", "sync = 'bsp'", "sync = 'async'",
                            "sync = 'ssp', staleness = 1"} do
    it("of rounds are accepted: {" .. options .. "}", function()
      local verdict, text = record(ROUNDS:format(options))
      assert.equal(1, verdict.jobs)
      assert.equal(1, count(text, " rounds job="))
      local blocks = count(text, " block job=")
      assert(blocks > 1)
      assert.equal(12 * blocks, count(text, " commit "))
      assert.equal(12 * blocks, count(text, " write "))
    end)
  end

  for _, env in ipairs {"MEISSA_SHM=0", "MEISSA_SHM=0 MEISSA_TRANSPORT=tcp", "MEISSA_ENGINE=lua"} do
    it("are accepted with " .. env, function()
      record(ROUNDS:format "staleness = 1", env)
    end)
  end

  it("of loops have each block once, of loops with buffers by stages", function()
    local verdict, text = record [[
      local meissa = require "meissa"
      local n = 60000
      local A, w = meissa.zeros(n), meissa.zeros(8)
      for i in meissa.parallel(n, {grid = {7}}) do
        local s = 0
        for k = 1, 200 do s = s * 0.5 + math.sin(i + k) end
        A[i] = s
      end
      local b = meissa.buffer(w, {max_delay = 20000})
      for i in meissa.parallel(n) do
        local s = 0
        for k = 1, 100 do s = s * 0.5 + math.sin(A[i] + k) end
        b[i % 8 + 1] = b[i % 8 + 1] + s + w[1]
      end
    ]]
    assert(verdict.jobs > 2)
    assert.equal(count(text, " begin "), count(text, " commit "))
    assert.equal(7, count(text, " commit job=1 "))
  end)

  it("of runs in which a worker dies are accepted, with the blocks that are run again", function()
    for staleness = 0, 1 do
      local marker = directory .. "/died" .. staleness
      local _, text, output = record(([[
        local meissa = require "meissa"
        local n = 30000
        local u = meissa.rand({n}, {seed = 1})
        local kill = "test -e %s || { touch %s; kill -9 $PPID; }"
        for t, j in meissa.iterate(u, 12, {2, n - 1}, {staleness = %d, impure = true}) do
          if t == 7 and j == 20000 then os.execute(kill) end
          u[j] = 0.5 * (u[j - 1] + u[j + 1])
        end
        print("deaths", meissa.last().deaths)
      ]]):format(marker, marker, staleness))
      assert.truthy(output:find "deaths\t1", output)
      assert(count(text, " begin ") > count(text, " commit "))
      local at = text:find " fence "
      assert(at and text:find(" begin ", at, true))
    end
  end)

  it("of loops that fail say so", function()
    local _, text = record [[
      local meissa = require "meissa"
      local A = meissa.zeros(50000)
      print(pcall(function()
        for i in meissa.parallel(50000) do
          local s = 0
          for k = 1, 100 do s = s * 0.5 + math.sin(i + k) end
          A[i] = s
          if i == 40000 then error("no") end
        end
      end))
    ]]
    assert.equal(1, count(text, " fail job="))
  end)

  for _, options in ipairs {"", "staleness = 2", "sync = 'bsp'", "sync = 'async'",
                            "sync = 'ssp', staleness = 1"} do
    it("of rounds that fail are accepted, and say who left them: {" .. options .. "}", function()
      for _, env in ipairs {"", "MEISSA_SHM=0"} do
        local _, text, output = record([[
          local meissa = require "meissa"
          require("meissa.driver.small").most[0] = 0
          local u = meissa.rand({600}, {seed = 1})
          print(pcall(function()
            local options = {engine = "lua",]] .. options .. [[}
            for t, j in meissa.iterate(u, 30, {2, 599}, options) do
              local s = 0
              for k = 1, 40 do s = s + math.sin(k + j) end
              if t == 17 and j == 300 then error "no" end
              u[j] = 0.5 * (u[j - 1] + u[j + 1]) + s
            end
          end))
        ]], "MEISSA_WORKERS=3 " .. env)
        assert.matches("false.*no.*iteration 300 of round 17", output)
        assert.equal(1, count(text, " fail job="))
        assert(count(text, " leave ") >= 1)
        local function judge(made)
          child.write(path, made)
          return history.judge_file(path).problems
        end
        assert.equal(0, #judge(text))
        assert(#judge((text:gsub(" fail job=", " end job="))) > 0) -- as if nothing had failed
        assert(#judge((text:gsub(" leave (job=%d+ block=%d+)", " begin %1", 1))) > 0)
      end
    end)
  end

  -- Blocks that were run, by job; in the order of the record.
  local function blocks_of(text)
    local jobs, list = {}, {}
    for kind, job, rest in text:gmatch " driver 0 (%l+) job=(%d+)([^\n]*)" do
      if kind == "loop" or kind == "rounds" then
        jobs[job] = {kind = kind, head = rest, begun = 0, ended = 0}
        list[#list + 1] = jobs[job]
      elseif kind == "begin" then
        jobs[job].begun = jobs[job].begun + 1
      elseif kind == "commit" then
        jobs[job].ended = jobs[job].ended + 1
      elseif kind == "end" or kind == "fail" then
        jobs[job].over = kind
      end
    end
    return list
  end

  local HERE = [[
    local meissa = require "meissa"
    local n, s = 900, 0
    local A, w, u = meissa.zeros(n), meissa.zeros(8), meissa.rand({900}, {seed = 1})
    for i in meissa.parallel(n) do A[i] = i end
    for i in meissa.parallel(n, {ordered = false, grid = {7}}) do s = s + A[i] end
    for i in meissa.parallel(n, {ordered = false, grid = {5}, engine = "native"}) do A[i] = i end
    for t, j in meissa.iterate(u, 6, {2, n - 1}) do u[j] = 0.5 * (u[j - 1] + u[j + 1]) end
    for t, j in meissa.iterate(u, 6, {2, n - 1}, {staleness = 2, lags = {{0, 1}, {2, 1}}}) do
      u[j] = 0.5 * (u[j - 1] + u[j + 1])
    end
    local b = meissa.buffer(w, {max_delay = 300})
    for i in meissa.parallel(n) do b[i % 8 + 1] = b[i % 8 + 1] + A[i] end
    for _, engine in ipairs {"lua", "native"} do
      assert(not pcall(function()
        for i in meissa.parallel(n, {ordered = false, engine = engine, grid = {9}}) do
          A[i] = A[i + math.floor(i / 500) * n]
        end
      end))
    end
    collectgarbage()
  ]]

  it("tell of loops and rounds in the driver's process", function()
    local verdict, text = record(HERE, "MEISSA_WORKERS=0")
    local list = blocks_of(text)
    assert.equal(#list, verdict.jobs)
    assert.truthy(list[1].head:find("blocks=1 ordered=1", 1, true))
    assert.same({7, 7, 5, 5}, {list[2].begun, list[2].ended, list[3].begun, list[3].ended})
    assert.truthy(list[4].head:find("rounds=6 sync=data-centric read_lag=0", 1, true))
    assert.equal(list[4].ended, list[5].ended)
    assert.equal(0, list[4].ended % 6)
    assert.truthy(text:find " read job=%d+ block=%d+ round=5 range=%d+ version=2\n")
    local stages = 0
    for k = 6, #list - 2 do
      stages = stages + 1
      assert.equal(list[k].begun, list[k].ended)
    end
    assert(stages > 1)
    for k = 1, #list do assert.equal(k > #list - 2 and "fail" or "end", list[k].over) end
    assert(list[#list].begun > list[#list].ended and list[#list - 1].begun > list[#list - 1].ended)
  end)

  it("tell of loops that are too short for workers", function()
    local _, text = record [[
      local meissa = require "meissa"
      local A = meissa.zeros(4000)
      local options = {grid = {4}, engine = "native"}
      for k = 1, 50 do for i in meissa.parallel(4000, options) do A[i] = A[i] + k end end
      assert(A[7] == 1275)
    ]]
    local list, here = blocks_of(text), 0
    assert.equal(50, #list)
    for _, job in ipairs(list) do
      if job.begun > 0 then
        here = here + 1
        assert.same({4, 4, "end"}, {job.begun, job.ended, job.over})
      end
    end
    assert(here > 20, here)
  end)

  it("of rounds in the driver's process are replayed", function()
    local text = ROUNDS:format "staleness = 2, lags = {{0, 1}, {2, 1}}" .. "print(u:sum())"
    local _, _, first = record(text, "MEISSA_WORKERS=0")
    local again, status = child.script(ROUNDS:format "staleness = 2" .. "print(u:sum())", {
      env = "MEISSA_WORKERS=2 MEISSA_REPLAY=" .. path})
    assert.equal(0, status, again)
    assert.equal(first, again)
  end)

  it("that were tampered with are refused", function()
    local _, text = record(ROUNDS:format "")
    local lines, at = {}, nil
    for line in text:gmatch "[^\n]+" do
      lines[#lines + 1] = line
      if line:find " version=3" then at = #lines end
    end
    lines[at] = lines[at]:gsub("version=3", "version=2")
    local k = 0
    local verdict = history.judge(function()
      k = k + 1
      return lines[k]
    end)
    assert.equal("window", verdict.problems[1].rule)
    assert.equal(at, verdict.problems[1].line)
  end)

  it("that cannot be written are an error that names the file", function()
    local output, status = child.script('require "meissa"', {
      env = "MEISSA_HISTORY=" .. directory .. "/none/x"})
    assert.not_equal(0, status)
    assert.truthy(output:find "MEISSA_HISTORY: '.*/none/x' cannot be written: No such file")
  end)
end)
