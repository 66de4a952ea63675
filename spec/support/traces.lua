-- SPDX-License-Identifier: MIT
--- Traces (MEISSA_TRACE): reads their lines, and checks them against a plan's rules, from scratch.
local M = {}

local CATEGORIES = {plan = true, kernel = true, blocks = true, messages = true, waits = true,
                    workers = true}

-- "3,4" and "worker-2" stay text, whole numbers become numbers.
local function fields_of(rest)
  local fields = {}
  for name, value in rest:gmatch("(%a+)=(%S+)") do
    fields[name] = value:find("^%-?%d+$") and tonumber(value) or value
  end
  return fields
end

--- The events of a trace's text, in the order of its lines: {time (ns), process, category, event,
-- and the fields}.
-- @return the events; the lines that are none
function M.read(text)
  local events, others = {}, {}
  for line in text:gmatch("[^\n]*\n?") do
    local seconds, ns, process, category, event, rest =
      line:match("^trace (%d+)%.(%d%d%d%d%d%d%d%d%d) (%S+) (%l+) (%S+)([^\n]*)\n$")
    local known = CATEGORIES[category] and (process == "driver" or process:find "^worker%-%d+$")
    if known then
      local found = fields_of(rest)
      found.time, found.process = tonumber(seconds) * 1e9 + tonumber(ns), process
      found.category, found.event = category, event
      events[#events + 1] = found
    elseif line ~= "" then
      others[#others + 1] = line
    end
  end
  return events, others
end

--- The events of a category, of one kind if it is given.
function M.of(events, category, event)
  local list = {}
  for _, each in ipairs(events) do
    if each.category == category and (not event or each.event == event) then
      list[#list + 1] = each
    end
  end
  return list
end

--- The runs of a job's blocks: {[block] = {begin =, finish =, process =, ended = "end", "fail"}},
-- and what is wrong: blocks that begin or end twice, elsewhere, or while their worker is in
-- another.
function M.blocks(events, job)
  local runs, faults, running = {}, {}, {}
  local function fault(...) faults[#faults + 1] = string.format(...) end
  local function begin(each, run)
    if run then fault("block %d begins twice", each.block) end
    if running[each.process] then fault("block %d begins in another", each.block) end
    runs[each.block] = {begin = each.time, process = each.process}
    running[each.process] = each.block
  end
  local function finish(each, run)
    if not run or run.finish then fault("block %d ends without begin", each.block) end
    if running[each.process] ~= each.block then fault("block %d ends elsewhere", each.block) end
    running[each.process] = nil
    if run then run.finish, run.ended = each.time, each.event end
  end
  for _, each in ipairs(M.of(events, "blocks")) do
    if each.job == job and each.event ~= "skip" then
      local step = each.event == "begin" and begin or finish
      step(each, runs[each.block])
    end
  end
  for block, run in pairs(runs) do
    if not run.finish then fault("block %d does not end", block) end
  end
  return runs, faults
end

--- What is wrong with the order of blocks: `before(a, b)` says that block a must have ended when
-- block b begins. Blocks are numbered from 0.
function M.disorder(runs, count, before)
  local faults = {}
  for a = 0, count - 1 do
    if not runs[a] then faults[#faults + 1] = ("block %d is not run"):format(a) end
    for b = 0, count - 1 do
      local wrong = runs[a] and runs[b] and a ~= b and before(a, b)
        and not (runs[a].finish and runs[a].finish <= runs[b].begin)
      if wrong then faults[#faults + 1] = ("block %d runs before %d ends"):format(b, a) end
    end
  end
  return faults
end

--- Of a rotation's n x n blocks: those in one row or one column run by step, (t - s) mod n.
function M.rotation(n)
  return function(a, b)
    local sa, ta, sb, tb = math.floor(a / n), a % n, math.floor(b / n), b % n
    return (sa == sb or ta == tb) and (ta - sa) % n < (tb - sb) % n
  end
end

--- Of a wavefront's blocks, `columns` in a row: each follows its upper and its left neighbour.
function M.wavefront(columns)
  return function(a, b)
    return b == a + columns or b == a + 1 and b % columns > 0
  end
end

--- What is wrong with waits: those of a process that do not end, or end before the block that they
-- wait for has; blocks that begin while their worker waits.
function M.waits(events, runs, job)
  local faults, open = {}, {}
  local function fault(...) faults[#faults + 1] = string.format(...) end
  for _, each in ipairs(events) do
    local wait = open[each.process]
    if each.category == "waits" and each.event == "begin" then
      if wait then fault("%s waits for two things", each.process) end
      open[each.process] = each
    elseif each.category == "waits" then
      if not wait or wait["for"] ~= each["for"] then fault("%s has not waited", each.process) end
      open[each.process] = nil
      local awaited = each["for"] == "block" and each.job == job and runs[each.block]
      if awaited and not (awaited.finish and awaited.finish <= each.time) then
        fault("the wait for block %d ends before it does", each.block)
      end
      if awaited and wait and runs[wait.before] and runs[wait.before].begin < each.time then
        fault("block %d begins before its wait ends", wait.before)
      end
    elseif each.category == "blocks" and wait then
      fault("%s is in block %d and waits", each.process, each.block)
    end
  end
  for process, wait in pairs(open) do
    if wait["for"] ~= "job" then fault("%s waits for ever", process) end
  end
  return faults
end

--- What is wrong with messages: frames of a kind that were received without having been sent
-- before, or of the kinds that are named were sent and not received.
function M.messages(events, kinds)
  local faults, sent = {}, {}
  for _, each in ipairs(M.of(events, "messages")) do
    if each.frame then
      local from, to = each.from or each.process, each.to or each.process
      local key = ("%s of job %d from %s to %s, %s"):format(each.frame, each.job, from, to, each.a)
      sent[key] = sent[key] or {sent = {}, received = {}, frame = each.frame}
      local list = each.event == "send" and sent[key].sent or sent[key].received
      list[#list + 1] = each.time
    end
  end
  for key, both in pairs(sent) do
    for k, time in ipairs(both.received) do
      if not both.sent[k] or both.sent[k] > time then
        faults[#faults + 1] = key .. " is received before it is sent"
      end
    end
    if kinds[both.frame] and #both.sent ~= #both.received then
      faults[#faults + 1] = key .. " is not received"
    end
  end
  return faults
end

return M
