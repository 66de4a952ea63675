-- SPDX-License-Identifier: MIT
--- Histories of rounds, versions: whether one that a block reads is there, is one that it may see,
-- and is what was written. `self` is the state of a job (meissa.check.history_rounds). Each
-- function returns the rule that is broken, and how; nothing where none is.
-- @module meissa.check.history_versions

local format = string.format
local M = {}

-- Whether a version is finished, and its memory has not been given to a later one: where it is
-- pinned, from when that is begun; where ranges are copied and written at once, when that is over.
function M.check_version(self, block, range, version, pinned)
  local depth = self.setting.depth
  for _, q in ipairs(self.writers[range] or {}) do
    if self.done[q][range] < version then
      return "version",
        format("block %d reads version %d of range %d, of which block %d has finished "
        .. "%d", block, version, range, q, self.done[q][range])
    end
    local latest = pinned and self.begun[q][range] or self.done[q][range]
    if depth > 0 and latest >= version + depth then
      return "version",
        format("block %d reads version %d of range %d, which block %d overwrites with "
        .. "version %d", block, version, range, q, latest)
    end
  end
end

-- Whether a version is one that a block may see in a round.
function M.check_window(self, block, range, round, version)
  local setting, of = self.setting, self.blocks[block]
  local writers = self.writers[range] or {}
  local lag, ahead = setting.read_lag, setting.read_ahead
  if #writers == 1 and writers[1] == block then
    lag, ahead = 0, 0
  elseif of.observer then
    lag, ahead = 0, setting.depth > 0 and 0 or ahead
  end
  if setting.delivered == 0 then lag = math.huge end
  local oldest, newest = math.max(0, round - 1 - lag), round - 1 + ahead
  if version < oldest or version > newest then
    return "window",
      format("block %d sees version %d of range %d in round %d, where it may see %.0f to "
      .. "%.0f", block, version, range, round, oldest, newest)
  end
  local before = self.latest[block][range]
  if before and version < before and setting.injected ~= 1 then
    return "window", format("block %d sees version %d of range %d after version %d", block,
      version, range, before)
  end
end

-- Whether what was read is what was written.
function M.check_hash(self, event)
  local written = self.hashes[event.range] and self.hashes[event.range][event.version]
  if event.hash and written and event.hash ~= written then
    return "version", ("block %d reads %s as version %d of range %d, which was written as %s")
      :format(event.block, event.hash, event.version, event.range, written)
  end
end

return M
