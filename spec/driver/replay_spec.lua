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
    return child.script(PROGRAM:format(options), {env = env})
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

  -- Rounds of which one raises what it reads: what that is depends on who was how fast. The first
  -- loop fails and is caught, the second one follows.
  local FAILING = [[
    local meissa = require "meissa"
    local n, fails = 162, tonumber(os.getenv "FAILS")
    local function pause(j)
      if j % 40 ~= 3 or os.getenv "MEISSA_REPLAY" then return end
      local ffi = require "ffi"
      pcall(ffi.cdef, "int usleep(unsigned);")
      ffi.C.usleep(100 + j)
    end
    local u = meissa.rand({n}, {seed = 1})
    for pass = 1, 2 do
      local failing = pass == 1 and fails or 0
      local ok, err = pcall(meissa.iterate, u, 60, {2, n - 1},
                            {impure = true, ranges = 6, sync = "async"}, function(t, j)
        pause(j)
        local new = 0.5 * (u[j - 1] + u[j + 1])
        if t == failing and j == 83 then error(("x = %.17g"):format(new)) end
        u[j] = new
      end)
      print(ok, ok or tostring(err):match "x = %S+" or err, u[83])
    end]]

  it("of runs that fail fail as these did, and go on", function()
    local path = directory .. "/failing"
    local env = "FAILS=40 MEISSA_WORKERS=3 MEISSA_HISTORY=" .. path
    local recorded, status = child.script(FAILING, {env = env})
    assert.equal(0, status, recorded)
    assert.matches("^false\tx = [%d.e-]+\t.*\ntrue\ttrue", recorded)
    for workers = 0, 2 do
      env = ("FAILS=40 MEISSA_WORKERS=%d MEISSA_REPLAY=%s"):format(workers, path)
      assert.equal(recorded, (child.script(FAILING, {env = env})))
    end
    -- Another program, which does not fail there.
    local replayed = child.script(FAILING, {env = "FAILS=0 MEISSA_REPLAY=" .. path})
    assert.matches("^false\tscript.lua:%d+: OPT: MEISSA_REPLAY: the record in '.*' ends in " ..
                   "its job 1 of rounds, which failed: all that it has of it was run again, " ..
                   "and nothing failed", replayed)
  end)

  it("of runs that failed by a block that ends each worker say that they failed", function()
    local path = directory .. "/deadly"
    local text = [[
      local meissa = require "meissa"
      require("meissa.driver.small").most[0] = 0
      local x, deadly = meissa.rand({200}, {seed = 1}), os.getenv "DEADLY" == "1"
      print(pcall(function()
        for t, i in meissa.iterate(x, 30, {sync = "async", engine = "lua", impure = true}) do
          if deadly and t == 20 and i == 77 then
            local f = require "ffi"
            f.cdef "int kill(int pid, int signal); int getpid(void);"
            f.C.kill(f.C.getpid(), 9)
          end
          x[i] = 0.5 * (x[i] + x[i % 200 + 1])
        end
      end))]]
    local recorded = child.script(text, {env = "DEADLY=1 MEISSA_WORKERS=2 MEISSA_HISTORY=" .. path})
    assert.matches("false\t.*WRK: .*the second worker", recorded)
    for workers = 0, 2, 2 do
      local env = ("DEADLY=0 MEISSA_WORKERS=%d MEISSA_REPLAY=%s"):format(workers, path)
      assert.matches("ends in its job 1 of rounds, which failed: all that it has of it was run " ..
                     "again, and nothing failed", (child.script(text, {env = env})))
    end
  end)

  it("of runs that were killed end where these did", function()
    local path = directory .. "/killed"
    local env = "FAILS=0 MEISSA_WORKERS=2 MEISSA_HISTORY=" .. path
    assert.equal(0, (select(2, child.script(FAILING, {env = env}))))
    local text = child.read(path)
    child.write(path, text:sub(1, math.floor(#text / 3))) -- most likely in the midst of a line
    local replayed = child.script(FAILING, {env = "FAILS=0 MEISSA_REPLAY=" .. path})
    assert.matches("^false\tscript.lua:%d+: OPT: MEISSA_REPLAY: the record in '.*' ends in " ..
                   "its job 1 of rounds, which was never over", replayed)
  end)

  it("are not written over", function()
    local path = directory .. "/both"
    assert.equal(0, (select(2, run("staleness = 1", "MEISSA_WORKERS=2 MEISSA_HISTORY=" .. path))))
    local before = child.read(path)
    refuse(("MEISSA_HISTORY=%s MEISSA_REPLAY=%s"):format(path, path),
           "MEISSA_HISTORY and MEISSA_REPLAY both name '.*both': what is replayed would be written")
    child.shell(("ln -s %s %s.other"):format(path, path))
    refuse(("MEISSA_HISTORY=%s.other MEISSA_REPLAY=%s"):format(path, path), "both name '.*other'")
    assert.equal(before, child.read(path))
  end)

  it("and records are files, which may be written", function()
    refuse("MEISSA_REPLAY=" .. directory, "MEISSA_REPLAY: '.*': Is a directory")
    refuse("MEISSA_REPLAY=/dev/zero", "MEISSA_REPLAY: '/dev/zero' is no history")
    refuse("MEISSA_HISTORY=/dev/full", "'/dev/full' cannot be written: No space left on device")
  end)

  it("need a record that was made with workers", function()
    local path = directory .. "/alone"
    run("staleness = 1", "MEISSA_WORKERS=0 MEISSA_HISTORY=" .. path)
    refuse("MEISSA_WORKERS=2 MEISSA_REPLAY=" .. path,
           "has no rounds: the record is of another program, or of a run without workers")
  end)

  it("of records that cannot be run are refused", function()
    local path = directory .. "/mended"
    run("staleness = 2", "MEISSA_WORKERS=2 MEISSA_HISTORY=" .. path)
    local text = child.read(path)
    local function without(pattern) return (text:gsub("[^\n]*" .. pattern .. "[^\n]*\n", "", 1)) end
    local function with(pattern, other) return (text:gsub(pattern, other, 1)) end
    local DAMAGED = {
      range = text:gsub("range=7 version=", "range=8 version="),
      ["no commits"] = text:gsub("[^\n]* commit [^\n]*\n", ""),
      ["no begin"] = without " begin .- round=3", ["no read"] = without " read .- round=4 ",
      ["one commit less"] = without " commit .- block=2", more = with("rounds=30 ", "rounds=31 "),
      fraction = with("version=(%d+)", "version=%1.5"), letters = with("version=%d+", "version=3x"),
      ["too new"] = with("version=0", "version=7"), negative = with("version=0", "version=-1"),
      huge = with("version=0", "version=1e15"), garbage = with("\n", "\ngarbage\n"),
      rounds = with("rounds=%d+", "rounds=x"), set = with("reads=%S+", "reads=0-9"),
      ["huge set"] = with("reads=%S+", "reads=0-99999999"),
    }
    for what, damaged in pairs(DAMAGED) do
      assert.not_equal(text, damaged, what)
      child.write(path, damaged)
      refuse("MEISSA_REPLAY=" .. path, "is damaged: meissa check%-history says where")
    end
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

-- Loops that are steered, and held up now and then; what each leaves, and what was decided.
local STEERED = [[
local meissa = require "meissa"
local replayed = os.getenv "MEISSA_REPLAY" ~= nil
local function sleep()
  if replayed then return end
  local ffi = require "ffi"
  pcall(ffi.cdef, "int usleep(unsigned);")
  ffi.C.usleep(1000)
end
local n, m = 300, 6
local X, y = meissa.randn({n, m}, {seed = 1}), meissa.randn({n}, {seed = 2})
for _, options in ipairs {{every = "auto"}, {every = 3, staleness = "auto"},
    {every = "auto", staleness = "auto", merge = {weighted = 0.5, form = "normalised"}},
    {every = "auto", filter = {relative = 0.01, floor = 0.1}}} do
  local w = meissa.zeros(m)
  options.replicas, options.topology = 4, "ring-both"
  local r = meissa.replicate(w, options)
  for _ = 1, 2 do
    for pass, e in meissa.parallel(6, n, {impure = true}) do
      if e %% 97 == 0 and pass %% 3 == 1 then sleep() end
      local p = 0
      for f = 1, m do p = p + r[f] * X[e][f] end
      for f = 1, m do r[f] = r[f] - 0.01 * (p - y[e]) * X[e][f] end
    end
    local words = {}
    for f = 1, m do words[f] = ("%%a"):format(w[f]) end
    print(meissa.last().rounds, table.concat(words, " "))
    for _, each in ipairs(meissa.last().decisions or {}) do
      print(each.round, each.every, each.staleness, each.filter and each.filter.relative,
            each.filter and each.filter.floor, each.merge and each.merge.weighted,
            each.merge and each.merge.form)
    end
  end
end
]]

describe("replays of what was decided", function()
  local directory
  setup(function() directory = child.directory() end)
  teardown(function() child.remove(directory) end)

  local function run(env) return child.script(STEERED:format(), {env = env}) end

  for _, workers in ipairs {0, 3} do
    it("have the bits of the run that was recorded on " .. workers .. " workers", function()
      local path = directory .. "/" .. workers
      local recorded, status = run(("MEISSA_WORKERS=%d MEISSA_HISTORY=%s"):format(workers, path))
      assert.equal(0, status, recorded)
      assert.truthy(recorded:find("\n5\t", 1, true), recorded) -- something is
      local verdict = history.judge_file(path)
      assert.equal(0, #verdict.problems, verdict.problems[1] and verdict.problems[1].text)
      for _, env in ipairs {"MEISSA_WORKERS=0", "MEISSA_WORKERS=2 MEISSA_SHM=0"} do
        local replayed, ended = run(env .. " MEISSA_REPLAY=" .. path)
        assert.equal(0, ended, replayed)
        assert.equal(recorded, replayed, env)
      end
    end)
  end

  -- Of which number machine code takes the least where one of them is none, as t % math.huge is,
  -- depends on its registers: jobs of a replay then had more rounds than those that were recorded.
  it("have jobs whose rounds are counted by numbers", function()
    local text = [[
      require "meissa"
      local own = require("meissa.base.globals").libraries.math
      for _, name in ipairs {"min", "max"} do
        local chosen = own[name]
        own[name] = function(...)
          for k = 1, select("#", ...) do
            local each = select(k, ...)
            if each ~= each then error(("argument %d of math.%s is nan"):format(k, name), 2) end
          end
          return chosen(...)
        end
      end
    ]] .. STEERED:format()
    local path = directory .. "/0"
    local recorded, status = child.script(text, {env = "MEISSA_WORKERS=2"})
    assert.equal(0, status, recorded)
    recorded, status = child.script(text, {env = "MEISSA_WORKERS=0 MEISSA_REPLAY=" .. path})
    assert.equal(0, status, recorded)
  end)

  it("do what the record says, whatever that is", function()
    local path = directory .. "/0"
    local count = 0
    local text = child.read(path):gsub("(decide rounds=)%d+[^\n]*", function(head)
      count = count + 1
      return count == 1 and head .. "4 every=450 eps=0.125 lambda=0.25" or head .. "4"
    end)
    child.write(path, text)
    local output = run("MEISSA_REPLAY=" .. path)
    assert.truthy(output:find("\n5\t450\tnil\t0.125\tnil\t0.25\tnil\n", 1, true), output)
    assert.truthy(output:find("decision 2 in '.*' was made after round 4, where the program has " ..
                              '"auto" decide after round'), output)
  end)

  it("need a record that has decisions", function()
    local path = directory .. "/none"
    local text = child.read(directory .. "/0"):gsub("[^\n]*decide[^\n]*\n", "")
    child.write(path, text)
    local output, status = run("MEISSA_REPLAY=" .. path)
    assert.not_equal(0, status)
    assert.truthy(output:find("decision 1 in '.*' is missing"), output)
    child.write(path, "meissa-history 1\n0 0.1 driver 0 decide every=3\n")
    assert.truthy(history.judge_file(path).problems[1].text:find("lacks its field 'rounds'"))
  end)
end)
