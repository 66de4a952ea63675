-- SPDX-License-Identifier: MIT
--
-- MEISSA_HISTORY and MEISSA_REPLAY of functions of replicas: which posts these have heard where
-- they did not all meet is recorded, judged, and can be heard again, with the same bits.
local child = require "spec.support.child"
local history = require "meissa.check.history"

local SEED = tonumber(os.getenv "MEISSA_TEST_SEED") or os.time()
print("MEISSA_TEST_SEED=" .. SEED)

-- Replicas are held up now and then, at random, so that what they hear is a matter of luck; not in
-- a replay, where nothing of that kind may matter.
local HEAD = [[
local meissa = require "meissa"
local function pause()
  if os.getenv "MEISSA_REPLAY" then return end
  local address = tonumber(tostring({}):match "0x%x*(%x%x%x)%x$", 16)
  local ffi = require "ffi"
  pcall(ffi.cdef, "int usleep(unsigned);")
  if address % 3 == 0 then ffi.C.usleep(address) end
end
local function text(w)
  local list = {}
  for i, x in ipairs(w:totable()) do list[i] = ("%a"):format(x) end
  return table.concat(list, " ")
end
]]

local ROUNDS = [[
local list = meissa.replicas(4, {seed = 3}, function(r)
  local w = meissa.zeros({3}, {type = "float"})
  for t = 1, 25 do
    pause()
    for i = 1, 3 do w[i] = 0.7 * w[i] + math.random() end
    r:exchange(w, OPTIONS)
    if t % 10 == 0 then r.allReduce(w) end
  end
  return text(w) .. " missed " .. r.netStats().missed
end)
print(table.concat(list, "\n"))
]]

-- A program at random: several calls, arrays that come and go, options that change.
local RANDOM = [[
local WAITS = {{staleness = 1}, {staleness = 3}, {staleness = math.huge}, {},
               {sync = "ssp", staleness = 1}, {sync = "pd-delay", staleness = 1},
               {sync = "barrier"}, {backup = 1}}
local MORE = {{}, {topology = "ring"}, {topology = "ring-both"},
              {topology = "ring", push_sum = true},
              {merge = {add = 0.5}}, {merge = function(a, b) return 0.5 * a + 0.5 * b end},
              {filter = {magnitude = 0.1}}, {topology = "one-peer-exponential", push_sum = true}}
local draw = tonumber(arg[1])
local function pick(n)
  draw = (draw * 16807) % 2147483647
  return draw % n + 1
end
local plan = {}
for call = 1, 2 do
  plan[call] = {}
  for step = 1, pick(6) do
    local options = {biased = true}
    for name, value in pairs(WAITS[pick(#WAITS)]) do options[name] = value end
    local more = MORE[pick(#MORE)]
    if options.backup then more = MORE[pick(3)] end
    for name, value in pairs(more) do options[name] = value end
    plan[call][step] = {options = options, rounds = pick(8), array = pick(3), anew = pick(4) == 1}
  end
end
local K = pick(5) + 1
for call = 1, 2 do
  local list = meissa.replicas(K, {seed = call}, function(r)
    local arrays = {meissa.zeros(3), meissa.zeros({4}, {type = "float"}), meissa.zeros(2)}
    for _, step in ipairs(plan[call]) do
      if step.anew then arrays[step.array] = meissa.zeros(5) collectgarbage() end
      local w = arrays[step.array]
      for t = 1, step.rounds do
        pause()
        for i = 1, w:size(1) do w[i] = 0.5 * w[i] + math.random() end
        r:exchange(w, step.options)
      end
    end
    return text(arrays[1]) .. text(arrays[2]) .. text(arrays[3])
  end)
  print(table.concat(list, "\n"))
end
]]

describe("replays of r:exchange", function()
  local directory
  setup(function() directory = child.directory() end)
  teardown(function() child.remove(directory) end)

  local function run(body, env, arguments)
    return child.script(HEAD .. body, {env = env, arguments = arguments})
  end

  -- A recorded run, and whether its replays have its bits.
  local function check(body, env, path, arguments)
    local recorded, status = run(body, env .. " MEISSA_HISTORY=" .. path, arguments)
    assert.equal(0, status, recorded)
    local verdict = history.judge_file(path)
    assert.equal(0, #verdict.problems, verdict.problems[1] and verdict.problems[1].text)
    for _, again in ipairs {"MEISSA_WORKERS=0", "MEISSA_WORKERS=3"} do
      local copy = (" MEISSA_REPLAY=%s MEISSA_HISTORY=%s.again"):format(path, path)
      local replayed, ended = run(body, again .. copy, arguments)
      assert.equal(0, ended, replayed)
      assert.equal(recorded, replayed, env .. ", " .. again)
      verdict = history.judge_file(path .. ".again")
      assert.equal(0, #verdict.problems, verdict.problems[1] and verdict.problems[1].text)
    end
    return recorded
  end

  it("have the bits of the run that was recorded, and miss what that missed", function()
    local missed = 0
    for number, options in ipairs {
      "{staleness = 2}", "{staleness = math.huge, merge = {add = 0.5}}", "{backup = 1}",
      "{sync = 'ssp', staleness = 1, topology = 'ring', biased = true}", "{sync = 'barrier'}",
      "{sync = 'pd-delay', staleness = 1}",
    } do
      local path, body = directory .. "/" .. number, ROUNDS:gsub("OPTIONS", options)
      local recorded = check(body, "MEISSA_WORKERS=3", path)
      -- All have posted 23 rounds after the two in which they met.
      assert.matches(" end job=4294967297 round=23\n", child.read(path))
      -- Of a replay it is not said that its replicas wait as the options say.
      assert.matches(" scope=nobody [^\n]* exchange=1%.1%.0", child.read(path .. ".again"))
      for count in recorded:gmatch "missed (%d+)" do missed = missed + tonumber(count) end
    end
    assert.is_true(missed > 0)
  end)

  it("are of runs in which all met, and of those without workers, too", function()
    local body = ROUNDS:gsub("OPTIONS", "{staleness = 2}")
    for number, env in ipairs {"MEISSA_WORKERS=2 MEISSA_SHM=0", "MEISSA_WORKERS=0"} do
      check(body, env, directory .. "/met" .. number)
    end
  end)

  it("have the bits of random programs", function()
    for k = 1, 6 do
      local env = ("MEISSA_WORKERS=%d"):format(k % 3 == 0 and 0 or k % 3 + 1)
      check(RANDOM, env, directory .. "/random", ("%d"):format((SEED + k) % 2147483646 + 1))
    end
  end)

  it("hear what is recorded, whatever that is", function()
    local body = ROUNDS:gsub("OPTIONS", "{staleness = math.huge, topology = 'ring', biased = true}")
    local path = directory .. "/odd"
    run(body, "MEISSA_WORKERS=2 MEISSA_SHM=0 MEISSA_HISTORY=" .. path) -- all meet
    local text, outputs = child.read(path), {}
    for lag = 0, 2 do
      child.write(path, (text:gsub("( read job=%d+ block=%d+ round=(%d+) range=%d+ version=)%d+",
        function(head, round) return head .. ("%d"):format(math.max(0, round - 1 - lag)) end)))
      local replayed, status = run(body, "MEISSA_WORKERS=2 MEISSA_REPLAY=" .. path)
      assert.equal(0, status, replayed)
      outputs[lag] = replayed:gsub(" missed %d+", "")
    end
    assert.not_equal(outputs[1], outputs[2])
    -- What is always heard late by so many rounds is what injected lags are.
    local lagged = run(ROUNDS:gsub("OPTIONS", [[
      {lags = function(t) return t < 4 and 0 or t == 4 and 1 or 2 end, staleness = 2,
       topology = 'ring', biased = true}]]), "MEISSA_WORKERS=0"):gsub(" missed %d+", "")
    assert.equal(lagged, outputs[2])
  end)

  local FAILING = [[
    local mark = os.getenv "MARK"
    print(pcall(meissa.replicas, 4, function(r)
      local w = meissa.zeros(3)
      for t = 1, 30 do
        pause()
        w[1] = 0.5 * w[1] + r.index * t
        if r.index == 3 and t == 20 then
          if mark and io.open(mark) then
            os.remove(mark)
            os.execute "kill -9 $PPID"
          elseif os.getenv "FAILS" then
            error(("w = %.17g"):format(w[1]))
          end
        end
        r:exchange(w, {staleness = 3})
      end
      return w[1]
    end))]]

  it("of runs that fail fail as these did", function()
    local path = directory .. "/failing"
    local recorded = run(FAILING, "FAILS=1 MEISSA_WORKERS=3 MEISSA_HISTORY=" .. path)
    assert.matches("^false\t.*w = [%d.]+", recorded)
    assert.equal(0, #history.judge_file(path).problems)
    for workers = 0, 2, 2 do
      local env = ("FAILS=1 MEISSA_WORKERS=%d MEISSA_REPLAY=%s"):format(workers, path)
      assert.equal(recorded, (run(FAILING, env)))
    end
    assert.matches("the record in '.*' ends in call 1 of meissa.replicas, which failed: all " ..
                   "that it has was run again, and replica %d goes on",
                   (run(FAILING, "MEISSA_REPLAY=" .. path)))
  end)

  it("of runs that began again because a worker died are of the last one", function()
    local path, mark = directory .. "/killed", directory .. "/mark"
    child.write(mark, "")
    local env = ("FAILS=1 MARK=%s MEISSA_WORKERS=3 MEISSA_HISTORY=%s"):format(mark, path)
    local recorded = run(FAILING, env)
    assert.matches("all begin again\nfalse\t.*w = [%d.]+", recorded)
    local verdict = history.judge_file(path)
    assert.equal(0, #verdict.problems, verdict.problems[1] and verdict.problems[1].text)
    assert.matches("fail job=4294967297\n", child.read(path)) -- of the run before
    assert.equal(recorded:match "false.*", (run(FAILING, "FAILS=1 MEISSA_REPLAY=" .. path)))
  end)

  it("of runs that were killed end where these did", function()
    local path = directory .. "/torn"
    run(FAILING, "MEISSA_WORKERS=2 MEISSA_HISTORY=" .. path)
    local text = child.read(path)
    child.write(path, text:sub(1, math.floor(#text / 2)))
    assert.matches("ends in call 1 of meissa.replicas, which was never over: all that it has",
                   (run(FAILING, "MEISSA_REPLAY=" .. path)))
  end)

  it("of other programs, and of records that cannot be run, are refused", function()
    local path = directory .. "/mended"
    local body = ROUNDS:gsub("OPTIONS", "{staleness = 2}")
    run(body, "MEISSA_WORKERS=2 MEISSA_HISTORY=" .. path)
    local function refuse(other, message, what)
      local output, status = run(other, "MEISSA_WORKERS=2 MEISSA_REPLAY=" .. path)
      assert.not_equal(0, status, what or message)
      assert.truthy(output:find(message, 1, true), output)
    end
    refuse(body:gsub("replicas%(4", "replicas(5"), "has no exchanges of 5 replicas")
    refuse(body:gsub("staleness = 2", "lags = {{0, 1}}"):gsub("r.allReduce%(w%)",
           "r:exchange(w, {staleness = 1}) r:exchange(w, {staleness = 1})"),
           "call 1 of meissa.replicas in '" .. path .. "' has no exchanges")
    for _, rounds in ipairs {24, 26} do
      refuse(body:gsub("t = 1, 25", "t = 1, " .. rounds), "has other exchanges than replica")
    end
    refuse(body:gsub("staleness = 2", "staleness = 2, topology = 'ring', biased = true"),
           "has other exchanges than replica")
    local text = child.read(path)
    child.write(path, (text:gsub("( read [^\n]* block=1 round=20 range=0 version=)%d+", "%15")))
    refuse(body, "has other exchanges than replica 2") -- which hears nothing as old as that
    local function with(pattern, other) return (text:gsub(pattern, other, 1)) end
    for what, damaged in pairs {
      name = with("exchange=%S+", "exchange=x"), block = with(" block=3 ", " block=4 "),
      begin = with("[^\n]* begin [^\n]* round=3\n", ""),
      read = with("( read [^\n]* block=1 [^\n]*range=)%d", "%19"),
      ["too new"] = with("version=0", "version=9"),
      commit = with("[^\n]* commit job=4294967297 [^\n]*\n", ""),
    } do
      assert.not_equal(text, damaged, what)
      child.write(path, damaged)
      refuse(body, "is damaged: meissa check-history says where", what)
    end
  end)
end)
