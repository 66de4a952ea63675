-- SPDX-License-Identifier: MIT
--
-- Injected staleness: rounds with `lags` against a plain computation that keeps all versions, on
-- any number of workers, and what is refused.
local child = require "spec.support.child"
local history = require "meissa.check.history"
local meissa = require "meissa"

local N, ROUNDS = 402, 25 -- 8 ranges of 50 elements of the 400 inside

local PROGRAM = [[
local meissa = require "meissa"
local u = meissa.rand({402}, {seed = 1})
local function of(t, range) return (t * 7 + range * 3) %% 3 end
for t, j in meissa.iterate(u, 25, {2, 401}, {ranges = 8, %s}) do
  u[j] = 0.4 * (u[j - 1] + u[j + 1]) + 0.1 * u[j]
end
for i = 1, 402 do io.write(("%%a "):format(u[i])) end
]]

-- The same with every version of every element kept; lag_of(t, range).
local function by_hand(lag_of)
  local first, versions, list = meissa.rand({N}, {seed = 1}), {[0] = {}}, {}
  for i = 1, N do versions[0][i] = first[i] end
  for t = 1, ROUNDS do
    local own, new = versions[t - 1], {}
    new[1], new[N] = own[1], own[N]
    for j = 2, N - 1 do
      local function read(k)
        local range = math.floor((k - 2) / 50) + 1
        if k == 1 or k == N or range == math.floor((j - 2) / 50) + 1 then return own[k] end
        return versions[math.max(0, t - 1 - lag_of(t, range))][k]
      end
      new[j] = 0.4 * (read(j - 1) + read(j + 1)) + 0.1 * read(j)
    end
    versions[t] = new
  end
  for i = 1, N do list[i] = ("%a "):format(versions[ROUNDS][i]) end
  return table.concat(list)
end

local function run(options, env)
  local output, status = child.script(PROGRAM:format(options), {env = env})
  assert.equal(0, status, output)
  return output
end

describe("injected staleness", function()
  it("is that of the function, or of the list, on any number of workers", function()
    local expected = {
      ["staleness = 2, lags = of"] = function(t, range) return (t * 7 + range * 3) % 3 end,
      ["lags = {{2, 1}}"] = function() return 2 end,
      ["lags = {{0, 3}}"] = function() return 0 end,
    }
    for options, lag_of in pairs(expected) do
      local by = by_hand(lag_of)
      for _, env in ipairs {"MEISSA_WORKERS=0", "MEISSA_WORKERS=3",
                            "MEISSA_WORKERS=2 MEISSA_SHM=0 MEISSA_ENGINE=lua"} do
        assert.equal(by, run(options, env), options .. ", " .. env)
      end
    end
  end)

  it("is drawn by weight, alike for any number of workers", function()
    local options = "lags = {{0, 1}, {1, 1}, {3, 2}}"
    local output = run(options, "MEISSA_WORKERS=0")
    assert.equal(output, run(options, "MEISSA_WORKERS=2"))
    for lag = 0, 3 do assert.not_equal(by_hand(function() return lag end), output) end
  end)

  it("shows in the history, by its weights", function()
    local directory = child.directory()
    local path, count, total, of_round, mixed = directory .. "/h", {}, 0, {}, false
    run("lags = {{0, 1}, {2, 3}}", "MEISSA_WORKERS=2 MEISSA_HISTORY=" .. path)
    local verdict = history.judge_file(path)
    assert.equal(0, #verdict.problems, verdict.problems[1] and verdict.problems[1].text)
    for block, round, range, version in child.read(path):gmatch
      " read [^\n]- block=(%d+) round=(%d+) range=(%d+) version=(%d+)" do
      if block ~= range and tonumber(round) > 3 then
        local lag = round - 1 - version
        count[lag], total = (count[lag] or 0) + 1, total + 1
        mixed = mixed or of_round[round] ~= nil and of_round[round] ~= lag
        of_round[round] = lag
      end
    end
    child.remove(directory)
    assert.is_true(mixed) -- each range has a lag of its own
    assert.is_nil(count[1])
    assert(count[0] / total > 0.1 and count[0] / total < 0.45)
    assert.equal(total, count[0] + count[2])
  end)

  it("is refused where it means nothing", function()
    local A = meissa.ones(100)
    local function refused(options, words)
      local ok, problem = pcall(function()
        for t, j in meissa.iterate(A, 3, options) do A[j] = 0.5 * A[j] + t end
      end)
      assert.is_false(ok)
      assert.truthy(tostring(problem):find(words, 1, true), tostring(problem))
      assert.equal("OPT", problem.code)
    end
    refused({lags = 3}, "is a list of {lag, weight}")
    refused({lags = {}}, "has no {lag, weight}")
    refused({lags = {{1, 0}}}, "positive numbers")
    refused({lags = {{0.5, 1}}}, "whole rounds from 0")
    refused({lags = {{2, 1}}, staleness = 1}, "a lag of 2, more than staleness = 1")
    refused({lags = {{2, 1}}, sync = "ssp"}, "'lags' are for sync = \"data-centric\"")
    refused({lags = function() return 1 end}, "option 'staleness' says what it returns at most")
    refused({lags = function() return 5 end, staleness = 2, ranges = 4},
      "returned 5 for round 1 and range 1")
    assert.equal(100, A:sum())
  end)
end)
