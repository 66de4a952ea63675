-- SPDX-License-Identifier: MIT
--- Progress bars for what takes long: on stderr, on a terminal only, never in logs.
--
-- A bar appears once its work has gone on for two seconds, and is overwritten by whatever is
-- printed next on its line. MEISSA_QUIET=1 and meissa.init{quiet = true} leave bars out.
-- @module meissa.base.progress

local environment = require "meissa.base.environment"
local ffi = require "ffi"
local system = require "meissa.base.system"

local M = {}

ffi.cdef 'int meissa_isatty(int) __asm__("isatty");'

--- Seconds of work before a bar is worth a line.
M.patience = 2
local WIDTH = 30
local STDERR = 2

--- Whether a file, by its number, is a terminal.
function M.is_terminal(number) return ffi.C.meissa_isatty(number) == 1 end

--- Whether bars are left out, whatever the terminal: meissa.init{quiet = true}.
M.quiet = false

--- Whether bars can be seen at all.
function M.wanted()
  return not M.quiet and not environment.flag "MEISSA_QUIET" and M.is_terminal(STDERR)
end

local Bar = {}
Bar.__index = Bar

--- "1.2 s", "3 min 20 s", "2 h 5 min".
function M.duration(seconds)
  if seconds < 60 then return string.format("%.1f s", seconds) end
  local whole = math.floor(seconds + 0.5)
  if whole < 3600 then return string.format("%d min %d s", whole / 60, whole % 60) end
  return string.format("%d h %d min", whole / 3600, whole % 3600 / 60)
end

-- "950", "12.3 k", "4.56 M": three digits are enough.
local function short(number)
  for _, unit in ipairs {{1e9, " G"}, {1e6, " M"}, {1e3, " k"}} do
    if number >= unit[1] then return string.format("%.3g%s", number / unit[1], unit[2]) end
  end
  return string.format("%.3g", number)
end

--- The text of a bar.
-- @string what is being done @number done @number total how far it is @number passed seconds so
-- far @string unit of `done`
function M.text(what, done, total, passed, unit)
  local share = total > 0 and math.min(1, done / total) or 0
  local full = math.floor(WIDTH * share)
  local text = string.format("%s [%s%s] %d %%", what, string.rep("#", full), string.rep(".",
    WIDTH - full),
                                          math.floor(100 * share))
  if share == 0 or passed == 0 then return text end
  return string.format("%s, %s %s/s, %s left", text, short(done / passed), unit,
                                         M.duration(passed / share - passed))
end

-- What a caller says of the work that another module makes a bar for: see M.called.
local title

--- A bar for something of `total` parts; nil where none is to be seen.
-- @string what names the work: "train.lua:12" @number total @string unit of the parts, in plural
function M.bar(what, total, unit)
  if not M.wanted() then return nil end
  local scale = 1
  if title then what, unit, scale = title.what, title.unit, title.total / total end
  return setmetatable({what = what, total = total * scale, unit = unit, scale = scale,
                       began = system.clock(), shown = false}, Bar)
end

--- Calls a function whose bars are to be about something else than they know.
-- @tab about `what`, `unit`, and `total` in that unit
-- @func work called without arguments
-- @return what it returns
function M.called(about, work)
  local outer = title
  title = about
  local results = {pcall(work)}
  title = outer
  if not results[1] then error(results[2], 0) end
  return unpack(results, 2)
end

--- Shows how many parts are done.
function Bar:show(done)
  done = done * self.scale
  local passed = system.clock() - self.began
  if passed < M.patience then return end
  self.shown = true
  io.stderr:write("\r", M.text(self.what, done, self.total, passed, self.unit),
                  "\27[K")
end

--- Takes the bar off the screen.
function Bar:clear()
  if self.shown then io.stderr:write("\r\27[K") end
end

return M
