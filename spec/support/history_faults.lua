-- SPDX-License-Identifier: MIT
--- What can be wrong with a history: each fault takes the lines of a valid one, and makes those of
-- one that is not, or nil where it cannot.
local histories = require "spec.support.histories"

local M = {}

local function copy(lines)
  local made = {}
  for k, line in ipairs(lines) do made[k] = line end
  return made
end

-- Numbers of the lines that a pattern matches, but for the header.
local function find(lines, pattern)
  local found = {}
  for k = 2, #lines do
    if lines[k]:find(pattern) then found[#found + 1] = k end
  end
  return found
end

local function pick(lines, pattern, draw)
  local found = find(lines, pattern)
  if #found > 0 then return found[draw(#found)] end
end

local function process_of(line) return line:match "^%S+ %S+ (%S+ %d+) " end
local function value_of(line, name) return tonumber(line:match(" " .. name .. "=(%-?%d+)")) end

-- The lines of a block between a begin and its commit.
local function segment(lines, from)
  local block, of, members = value_of(lines[from], "block"), process_of(lines[from]), {}
  for k = from, #lines do
    local same = process_of(lines[k]) == of and value_of(lines[k], "block") == block
    if same then members[#members + 1] = k end
    if same and lines[k]:find " commit " then return members end
  end
end

-- Moves a line behind a later one, if its process does nothing in between.
local function move(lines, from, to)
  local of = process_of(lines[from])
  for k = from + 1, to do
    if process_of(lines[k]) == of then return nil end
  end
  local made = copy(lines)
  table.insert(made, to + 1, made[from])
  table.remove(made, from)
  return histories.renumber(made)
end

-- A line changed by a pattern.
local function change(pattern, find_this, by)
  return function(lines, draw)
    local at = pick(lines, pattern, draw)
    if not at then return nil end
    local made = copy(lines)
    made[at] = made[at]:gsub(find_this, by)
    return made[at] ~= lines[at] and made or nil
  end
end

local function drop(pattern)
  return function(lines, draw)
    local at = pick(lines, pattern, draw)
    if not at then return nil end
    local made = copy(lines)
    table.remove(made, at)
    return histories.renumber(made)
  end
end

local function double(pattern)
  return function(lines, draw)
    local at = pick(lines, pattern, draw)
    if not at then return nil end
    local made = copy(lines)
    table.insert(made, at, made[at])
    return histories.renumber(made)
  end
end

local function is_exact(about) return about.setting[2] == 0 and about.setting[4] == 0 end

-- Shifts the version that a block of an exact job reads.
local function shift_version(by)
  return function(lines, draw, about)
    local at = is_exact(about) and pick(lines, " pin ", draw)
    local version = at and value_of(lines[at], "version")
    if not at or version + by < 0 then return nil end
    local made = copy(lines)
    made[at] = made[at]:gsub("version=%d+", "version=" .. version + by):gsub(" hash=%S+", "")
    return made
  end
end

-- Takes all lines of a block's round out, or puts them in again behind it.
local function whole_round(last, again)
  return function(lines, draw, about)
    if about.deaths > 0 or about.setting[3] == 0 or about.setting[4] > 0 then return nil end
    local round = last and about.rounds or draw(about.rounds)
    local at = pick(lines, " begin .* round=" .. round .. "$", draw)
    local members = at and segment(lines, at)
    if not members or not last and not again and round == about.rounds then return nil end
    local made = copy(lines)
    for k = #members, 1, -1 do
      if again then
        table.insert(made, members[#members] + 1, lines[members[k]])
      else
        table.remove(made, members[k])
      end
    end
    return histories.renumber(made)
  end
end

-- The line of a block's commit of a round.
local function commit_of(lines, block, round)
  for _, at in ipairs(find(lines, " commit .* block=" .. block .. "$")) do
    round = round - 1
    if round == 0 then return at end
  end
end

local function early_read(lines, draw, about)
  local at = is_exact(about) and pick(lines, " pin ", draw)
  if not at then return nil end
  local block, range = value_of(lines[at], "block"), value_of(lines[at], "range")
  local commit = commit_of(lines, range, value_of(lines[at], "round") - 1)
  return block ~= range and commit and commit < at and move(lines, commit, at) or nil
end

local function early_write(lines, draw, about)
  local setting = about.setting
  if setting[3] == math.huge or setting[3] == 0 or setting[4] > 0 then return nil end
  local fills = find(lines, " fill ")
  for from = draw(#fills), #fills do
    local at = fills[from]
    local block, round = value_of(lines[at], "block"), value_of(lines[at], "round")
    for _, reader in ipairs(about.blocks) do
      local commit = commit_of(lines, reader.number, round - setting[3])
      local made = reader.number ~= block and reader.reads[block] and commit and commit < at
        and move(lines, commit, at)
      if made then return made end
    end
  end
end

local function goes_back(lines, draw, about)
  if is_exact(about) then return nil end
  local at = pick(lines, " [pr][ie][na]d? .* version=[1-9]", draw)
  if not at or value_of(lines[at], "block") == value_of(lines[at], "range") then return nil end
  local made, prefix = copy(lines), lines[at]:match " block=%d+ round="
  for k = at + 1, #lines do
    if lines[k]:find(prefix, 1, true) and lines[k]:find " version="
      and value_of(lines[k], "range") == value_of(lines[at], "range") then
      made[k] = made[k]:gsub("version=%d+", "version=0"):gsub(" hash=%S+", "")
      return made
    end
  end
end

local function fenced_goes_on(lines, draw)
  local at = pick(lines, " fence ", draw)
  if not at then return nil end
  local process, incarnation = lines[at]:match "worker=(%S+) incarnation=(%d+)"
  local made, last = copy(lines), nil
  for k = 2, at do
    if process_of(lines[k]) == process .. " " .. incarnation then last = lines[k] end
  end
  if not last then return nil end
  table.insert(made, at + 1, last)
  return histories.renumber(made)
end

local function lost_event(lines, draw)
  local at = 1 + draw(#lines - 1)
  for k = at + 1, #lines do
    if process_of(lines[k]) == process_of(lines[at]) then
      local made = copy(lines)
      table.remove(made, at)
      return made
    end
  end
end

-- Two blocks of a loop that touch the same elements, one of them writing.
local function pair(about, draw)
  for _ = 1, 20 do
    local one, other = about.blocks[draw(#about.blocks)], about.blocks[draw(#about.blocks)]
    local a, b = one.touches[2], other.touches[2]
    if one ~= other and a and b and a.write + b.write > 0 and a.first <= b.last
      and b.first <= a.last then
      return one.number, other.number
    end
  end
end

local function overlap(lines, draw, about)
  local one, other = pair(about, draw)
  if not one then return nil end
  local commit, touch = commit_of(lines, one, 1), find(lines, " touch .* block=" .. other .. " ")
  return commit < touch[#touch] and move(lines, commit, touch[#touch]) or nil
end

local function wrong_order(lines, draw, about)
  if about.ordered == 0 then return nil end
  local one, other = pair(about, draw)
  if not one then return nil end
  local made, names = {}, {[one] = other, [other] = one}
  for k, line in ipairs(lines) do
    made[k] = line:gsub("block=(%d+)", function(number)
      return "block=" .. (names[tonumber(number)] or number)
    end)
  end
  return made
end

local function swap_merges(lines, draw, about)
  if not about.merges then return nil end
  local merges, made = find(lines, " merge "), copy(lines)
  local at = draw(#merges - 1)
  made[merges[at]], made[merges[at + 1]] = made[merges[at + 1]], made[merges[at]]
  return histories.renumber(made)
end

local function early_merge(lines, draw)
  local at = pick(lines, " merge ", draw)
  local made = at and copy(lines)
  if not at then return nil end
  table.insert(made, 3, table.remove(made, at))
  return histories.renumber(made)
end

local function early_end(lines)
  local made = copy(lines)
  local last = table.remove(made)
  local commits = find(made, " commit ")
  table.insert(made, commits[#commits], last)
  return histories.renumber(made)
end

-- A block is left in place of its end, as if it had failed, and the job is over all the same.
local function left(lines, draw)
  local at = pick(lines, " commit ", draw)
  if not at then return nil end
  local made, block = copy(lines), value_of(lines[at], "block")
  local round
  for k = 1, at do
    local begins = lines[k]:find " begin " and value_of(lines[k], "block") == block
    round = begins and value_of(lines[k], "round") or round
  end
  made[at] = made[at]:gsub(" commit ", " leave "):gsub(" round=%d+", "")
  if round then made[at] = made[at] .. " round=" .. round end
  return made
end

--- Name; the rules that may find it; of which jobs: "rounds" or "loop"; the fault.
M.list = {
  {"a block of rounds is left, and the job is over", "rounds", "rounds", left},
  {"a block is left, and the job is over", "blocks stages", "loop", left},
  {"an event is lost", "order form", "rounds", lost_event},
  {"time goes back", "order", "rounds", change(" commit ", "^(%d+) %S+", "%1 0.0")},
  {"the header is another's", "form", "rounds", function(lines)
    local made = copy(lines)
    made[1] = "meissa-history 2"
    return made
  end},
  {"a kind is not known", "form", "rounds", change(" commit ", " commit ", " comit ")},
  {"a field is missing", "form", "rounds", change(" begin ", " round=%d+", "")},
  {"a field is not known", "form", "rounds", change(" commit ", "$", " colour=3")},
  {"the last update of a block is lost", "rounds", "rounds", whole_round(true)},
  {"an update is left out", "rounds gate version window", "rounds", whole_round(false)},
  {"a block's round is run twice", "rounds order", "rounds", whole_round(false, true)},
  {"a begin is there twice", "order", "rounds", double " begin "},
  {"a block reads a range twice", "rounds", "rounds", double " pin "},
  {"a version is written twice", "rounds", "rounds", double " write "},
  {"an older version is read", "window", "rounds", shift_version(-1)},
  {"a newer version is read", "window", "rounds", shift_version(1)},
  {"reads go back to an older version", "window gate version", "rounds", goes_back},
  {"a read comes before what it reads", "gate", "rounds", early_read},
  {"memory is written that is being read", "gate version", "rounds", early_write},
  {"what is read is not what was written", "version", "rounds",
   change(" version=[1-9]%d* hash=", "hash=%S+", "hash=3")},
  {"a range is read that is not of the set", "sets", "rounds",
   change(" pin ", "range=%d+", "range=99")},
  {"a range is written that is not of the set", "sets", "rounds",
   change(" fill ", "range=%d+", "range=99")},
  {"another process ends a block", "order", "rounds", function(lines, draw)
    local at = pick(lines, " commit ", draw)
    local made = copy(lines)
    made[at] = made[at]:gsub("worker%-%d+", "worker-9")
    return histories.renumber(made)
  end},
  {"a fenced process goes on", "fence", "rounds", fenced_goes_on},
  {"the end is missing", "order", "rounds", drop " end "},
  {"a round too many", "rounds", "rounds", function(lines, _, about)
    local made = copy(lines)
    made[2] = made[2]:gsub(" rounds=%d+", " rounds=" .. about.rounds - 1)
    return made
  end},
  {"the end comes too early", "order rounds", "rounds", early_end},
  {"a block is not run", "blocks stages", "loop", function(lines, draw, about)
    local made, block = {}, about.blocks[draw(#about.blocks)].number
    for _, line in ipairs(lines) do
      if value_of(line, "block") ~= block then made[#made + 1] = line end
    end
    return histories.renumber(made)
  end},
  {"a block is run twice", "blocks conflict", "loop", function(lines, draw)
    local at = pick(lines, " begin ", draw)
    local members, made = segment(lines, at), copy(lines)
    for k = #members, 1, -1 do table.insert(made, members[#members] + 1, lines[members[k]]) end
    return histories.renumber(made)
  end},
  {"blocks that meet run at the same time", "conflict", "loop", overlap},
  {"blocks that meet come in the wrong order", "conflict", "loop", wrong_order},
  {"merges come in the wrong order", "stages", "loop", swap_merges},
  {"a merge comes before its block's end", "stages", "loop", early_merge},
  {"what a block has pending is merged twice", "stages", "loop", double " merge "},
  {"what a block has pending is not merged", "stages", "loop", drop " merge "},
  {"a filter loses a change", "ledger", "loop", change(" ledger ", "pending=0.5", "pending=0.25")},
  {"a loop ends before its blocks", "order blocks", "loop", early_end},
}

return M
