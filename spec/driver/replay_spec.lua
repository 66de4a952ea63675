-- SPDX-License-Identifier: MIT
--
-- MEISSA_REPLAY: what a recorded run of stale or unsynchronised rounds read, another one reads
-- again: the same bits, on any number of workers.
local child = require "spec.support.child"
local history = require "meissa.check.history"

-- Workers are held up now and then, at random, so that what is read is a matter of luck; not in a
-- replay, where nothing of that kind may matter.
local PROGRAM = [[
local meissa = require "meissa"
local ffi = require "ffi"
local n, replayed = 402, os.getenv "MEISSA_REPLAY" ~= nil
local function pause(j)
  if replayed or j %% 50 ~= 0 then return end
  local address = tonumber(tostring({}):match "0x%%x*(%%x%%x%%x)%%x$", 16)
  if address %% 4 > 0 then return end
  pcall(ffi.cdef, "int usleep(unsigned);")
  ffi.C.usleep(300 + address)
end
local total, ranges = 0, tonumber(os.getenv "RANGES" or 8)
local u = meissa.rand({n}, {seed = 1})
for t, j in meissa.iterate(u, 30, {2, n - 1}, {impure = true, ranges = ranges, %s}) do
  pause(j)
  u[j] = 0.4 * (u[j - 1] + u[j + 1]) + 0.1 * u[j]
  total = total + u[j - 1] * j
end
local list = {}
for i = 1, n do list[i] = ("%%a"):format(u[i]) end
print(table.concat(list, " "))
print(("%%a"):format(total))
]]

describe("replays", function()
  local directory
  setup(function() directory = child.directory() end)
  teardown(function() child.remove(directory) end)

  local function run(options, env)
    return child.script(PROGRAM:format(options), {seconds = 60, env = env})
  end

  local function refuse(env, message)
    local output, status = run("staleness = 1", env)
    assert.not_equal(0, status)
    assert.truthy(output:find(message), output)
  end

  for number, options in ipairs {"staleness = 2", "sync = 'ssp', staleness = 2", "sync = 'async'",
                                 "staleness = 0"} do
    it("have the bits of the run that was recorded: {" .. options .. "}", function()
      local path = directory .. "/" .. number
      local recorded, status = run(options, "MEISSA_WORKERS=3 MEISSA_HISTORY=" .. path)
      assert.equal(0, status, recorded)
      local verdict = history.judge_file(path)
      assert.equal(0, #verdict.problems, verdict.problems[1] and verdict.problems[1].text)
      for _, env in ipairs {"MEISSA_WORKERS=0", "MEISSA_WORKERS=4 MEISSA_SHM=0"} do
        local replayed, ended = run(options, env .. " MEISSA_REPLAY=" .. path)
        assert.equal(0, ended, replayed)
        assert.equal(recorded, replayed, env)
      end
    end)
  end

  -- The program with reads of other ranges that are all as old as they may be; what it prints of u.
  local function by_hand(lag)
    local meissa = require "meissa"
    local n, first, versions = 402, meissa.rand({402}, {seed = 1}), {[0] = {}}
    for i = 1, n do versions[0][i] = first[i] end
    for t = 1, 30 do
      local new, own, others = {}, versions[t - 1], versions[math.max(0, t - 1 - lag)]
      new[1], new[n] = own[1], own[n]
      for j = 2, n - 1 do
        local function read(k)
          local outside = k == 1 or k == n
          local same = math.floor((k - 2) / 50) == math.floor((j - 2) / 50)
          return (outside or same) and own[k] or others[k]
        end
        new[j] = 0.4 * (read(j - 1) + read(j + 1)) + 0.1 * read(j)
      end
      versions[t] = new
    end
    local list = {}
    for i = 1, n do list[i] = ("%a"):format(versions[30][i]) end
    return table.concat(list, " ")
  end

  it("read what is recorded, whatever that is", function()
    local path = directory .. "/odd"
    assert.equal(0, (select(2, run("staleness = 2", "MEISSA_WORKERS=2 MEISSA_HISTORY=" .. path))))
    local text = child.read(path):gsub(
      "( read .- block=(%d+) round=(%d+) range=(%d+) version=)%d+",
      function(head, block, round, range)
        local version = block == range and round - 1 or math.max(0, round - 3)
        return head .. ("%d"):format(version)
      end)
    child.write(path, text)
    local replayed, status = run("staleness = 2", "MEISSA_WORKERS=0 MEISSA_REPLAY=" .. path)
    assert.equal(0, status, replayed)
    assert.equal(by_hand(2), replayed:match "^[^\n]*")
    assert.not_equal(by_hand(1), replayed:match "^[^\n]*")
  end)

  it("need a record that was made with workers", function()
    local path = directory .. "/alone"
    run("staleness = 1", "MEISSA_WORKERS=0 MEISSA_HISTORY=" .. path)
    refuse("MEISSA_WORKERS=2 MEISSA_REPLAY=" .. path,
           "has no rounds: the record is of another program, or of a run without workers")
  end)

  it("of other programs, and of what is no history, are refused", function()
    local path = directory .. "/refused"
    run("staleness = 1", "MEISSA_WORKERS=2 MEISSA_HISTORY=" .. path)
    refuse("RANGES=4 MEISSA_REPLAY=" .. path, "job 1 of rounds in '.*' has 30 rounds of 8 ranges")
    child.write(path, child.read(path):gsub("range=%d+", "range=x"))
    refuse("MEISSA_REPLAY=" .. path, "is damaged: meissa check%-history says where")
    refuse("MEISSA_REPLAY=" .. directory .. "/none", "MEISSA_REPLAY: .*none: No such file")
    child.write(path, "something else\n")
    refuse("MEISSA_REPLAY=" .. path, "is no history: record one with MEISSA_HISTORY")
  end)
end)
