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
  local output, status = child.script(text, {seconds = 60, env = "MEISSA_WORKERS=2 MEISSA_HISTORY="
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
