-- SPDX-License-Identifier: MIT
--- Consistent reduces (ASAP, figure 8), counted in the history of a run of replicas that all hear
-- all: how many of the others' messages a merge had of the very round before, and how many that
-- were new to it, of whichever round. A torn one, which the paper counts out, there never is.
local M = {}

local function field(line, name) return tonumber(line:match(" " .. name .. "=(%d+)%f[%D]")) end

--- Counts in a history.
-- @func lines an iterator of its lines @number others how many a merge hears
-- @treturn table {total = merges, before =, new = by how many messages of the round before, new
-- ones, were there, from 0, the number of merges}
function M.count(lines, others)
  local found, known, now = {total = 0, before = {}, new = {}}, {}, {}
  for k = 0, others do found.before[k], found.new[k] = 0, 0 end
  for line in lines do
    local kind = line:match "^%d+ %S+ %S+ %d+ (%S+)"
    local block, round = field(line, "block"), field(line, "round")
    local key = block and field(line, "job") .. " " .. block
    if kind == "begin" then
      now[key] = {before = 0, new = 0}
    elseif (kind == "pin" or kind == "read") and field(line, "range") ~= block then
      local version, edge = field(line, "version"), key .. " " .. field(line, "range")
      local merge = now[key]
      if version == round - 1 then merge.before = merge.before + 1 end
      if version > (known[edge] or 0) then merge.new = merge.new + 1 end
      known[edge] = math.max(known[edge] or 0, version)
    elseif kind == "write" and round > 1 then -- in the first nothing is merged
      local before, new = now[key].before, now[key].new
      found.before[before], found.new[new] = found.before[before] + 1, found.new[new] + 1
      found.total = found.total + 1
    end
  end
  return found
end

--- Calls visit(version, round) for each message that a merge reads: the sender's round, and that of
-- the receiver, which has ended the one before.
-- @func lines an iterator of a history's lines
function M.each_heard(lines, visit)
  for line in lines do
    local kind = line:match "^%d+ %S+ %S+ %d+ (%S+)"
    if kind == "pin" or kind == "read" then
      local round = field(line, "round")
      if round > 1 and field(line, "range") ~= field(line, "block") then
        visit(field(line, "version"), round)
      end
    end
  end
end

--- How many messages that were read, by the sender's round less the receiver's, which has ended the
-- one before that in which it merges: {[difference] = count}.
-- @func lines an iterator of a history's lines
function M.differences(lines)
  local counts = {}
  M.each_heard(lines, function(version, round)
    local difference = version - (round - 1)
    counts[difference] = (counts[difference] or 0) + 1
  end)
  return counts
end

--- The part of merges, in percent, that had so many messages or more.
-- @tab counts `before` or `new` @number total
function M.percent(counts, total, least)
  local sum = 0
  for k = least, #counts do sum = sum + counts[k] end
  return 100 * sum / total
end

return M
