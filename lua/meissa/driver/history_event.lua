-- SPDX-License-Identifier: MIT
--- Events of a recorded history, as replays read them (docs/formats.md has the format).
--
-- A record is believed as far as it says what can be run; what is wrong raises DAMAGED.
-- @module meissa.driver.history_event

local errors = require "meissa.base.errors"

local M = {}

local HEADER = "meissa-history 1"

--- What is raised where a record cannot be run.
M.DAMAGED = {}

function M.expect(holds)
  if not holds then error(M.DAMAGED, 0) end
end

--- A field of an event as text; nil: it has none of that name.
function M.word(line, name) return string.match(line, " " .. name .. "=(%S+)") end

--- A whole number of an event.
function M.field(line, name)
  local text = M.word(line, name)
  M.expect(text and string.find(text, "^%d+$") and #text < 16)
  return tonumber(text)
end

-- The most ranges, and replicas, that there are.
local MOST_RANGES = 4096

--- The members of a list such as "0,2-4", or "-"; how many they are.
function M.set_of(text)
  local set, count = {}, 0
  for part in string.gmatch(text == "-" and "" or text, "[^,]+") do
    local first, last = string.match(part, "^(%d+)%-?(%d*)$")
    local from, to = tonumber(first), tonumber(last ~= "" and last or first)
    M.expect(from and to < MOST_RANGES)
    for member = from, to do
      M.expect(not set[member])
      set[member], count = true, count + 1
    end
  end
  return set, count
end

--- The lines of a history behind its header. The last one is none without its end: whoever wrote it
-- was killed.
-- Errors: FIL for what is no history.
function M.lines_of(path)
  local file, problem = io.open(path)
  if not file then errors.raise("FIL", "MEISSA_REPLAY: %s", problem) end
  local head, unreadable = file:read(#HEADER + 1)
  local text = head == HEADER .. "\n" and file:read("*a")
  file:close()
  if unreadable then errors.raise("FIL", "MEISSA_REPLAY: '%s': %s", path, unreadable) end
  if not text then
    errors.raise("FIL", "MEISSA_REPLAY: '%s' is no history: record one with MEISSA_HISTORY", path)
  end
  local at = 1
  return function()
    local ends = string.find(text, "\n", at, true)
    if not ends then return nil end
    local line = string.sub(text, at, ends - 1)
    at = ends + 1
    return line
  end
end

return M
