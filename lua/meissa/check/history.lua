-- SPDX-License-Identifier: MIT
--- Judges recorded histories: `meissa check-history file`.
--
-- Lines are taken in the order in which they are there, as what happened; the first event that
-- breaks a rule is told of for each job, since others follow from it.
-- @module meissa.check.history

local blocks = require "meissa.check.history_blocks"
local tables = require "meissa.base.tables"
local form = require "meissa.check.history_form"
local history_rounds = require "meissa.check.history_rounds"

local M = {}

-- A problem is told of once for each job, and once for all that is of none.
local function note(state, event, rule, problem)
  local key = event.job or "all"
  if state.told[key] then return end
  state.told[key] = true
  table.insert(state.problems, {line = event.line, rule = rule, text = problem})
end

local function open_job(state, event)
  if state.jobs[event.job] then
    return "form", string.format("job %d begins twice", event.job)
  end
  local kind = event.kind == "rounds" and history_rounds or blocks
  state.jobs[event.job] = kind.new(event)
  state.count = state.count + 1
end

local function close_job(state, event)
  local job = state.jobs[event.job]
  state.jobs[event.job], state.over[event.job] = nil, event.line
  if event.kind == "end" then return job:finish(event) end
end

-- What an event means for the jobs.
local function take(state, event)
  if event.kind == "fence" then
    for _, job in tables.each(state.jobs) do job:fence(event.worker .. " " .. event.incarnation) end
    return
  end
  if event.kind == "decide" then return end -- of no job: it says what the next ones are like
  if event.kind == "rounds" or event.kind == "loop" then return open_job(state, event) end
  local job = state.jobs[event.job]
  if not job then
    local over = state.over[event.job]
    return "order", over and string.format("job %d was over in line %d", event.job, over)
      or string.format("job %d has not begun", event.job)
  end
  if event.kind == "end" or event.kind == "fail" then return close_job(state, event) end
  if event.kind == "ledger" then return blocks.check_ledger(event) end
  if event.kind == "block" and job.block then return job:block(event) end
  return job:take(event)
end

--- Judges a history.
-- @func lines an iterator of its lines, the header first
-- @treturn table `events`, `jobs`: how many there are; `problems`: a list of tables with `line`,
-- `rule` and `text`, empty for a history that is accepted
function M.judge(lines)
  local state = {jobs = {}, over = {}, told = {}, problems = {}, count = 0}
  local of_processes, number, events = form.processes(), 0, 0
  for line in lines do
    number = number + 1
    if number == 1 then
      if line ~= form.HEADER then
        note(state, {line = 1}, "form", "a history begins with '" .. form.HEADER .. "'")
        break
      end
    else
      local event, problem = form.parse(line)
      if event then
        event.line, events = number, events + 1
        local rule, text = of_processes(event)
        if rule then note(state, {line = number}, rule, text) end
        rule, text = take(state, event)
        if rule then note(state, event, rule, text) end
      else
        note(state, {line = number}, "form", problem)
      end
    end
  end
  if number == 0 then note(state, {line = 1}, "form", "the history is empty") end
  for job in tables.each(state.jobs) do
    note(state, {line = number, job = job}, "order", string.format("job %d is not over", job))
  end
  return {events = events, jobs = state.count, problems = state.problems}
end

--- Judges a file; returns what `judge` does, or nil and what keeps it from being read.
function M.judge_file(path)
  local file, problem = io.open(path)
  if not file then return nil, problem end
  local some, unreadable = file:read(0)
  if not some and unreadable then return nil, path .. ": " .. unreadable end
  local verdict = M.judge(file:lines())
  file:close()
  return verdict
end

return M
