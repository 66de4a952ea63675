-- SPDX-License-Identifier: MIT
--- The environment variables that the module looks at: their names, and what their values may be.
--
-- What decides about results or where they are computed is an error when it is malformed; what only
-- shows or hides something gets a notice. A variable that is nearly one of these is most likely
-- misspelt, and gets a notice, too. An empty variable counts as absent.
-- @module meissa.base.environment

local errors = require "meissa.base.errors"
local ffi = require "ffi"
local notice = require "meissa.base.notice"

local M = {}

-- By names of our own: see meissa.base.c_core.
ffi.cdef [[
extern char **meissa_environ __asm__("environ");
char *meissa_getenv(const char *name) __asm__("getenv"); /* os.getenv ends a trace */
]]

local PREFIX = "MEISSA_"
local NAMES = {"WORKERS", "TRANSPORT", "SHM", "QUIET", "EXPLAIN", "LUAJIT", "ENGINE", "CACHE",
               "KEEP_C", "CC_LIMIT", "TRACE", "TRACE_FILE", "HISTORY",
               "REPLAY"}
local MOST_SECONDS = 1e6 -- as csrc/kernel/compile/compile.c has it

local known = {}
for _, name in ipairs(NAMES) do known[PREFIX .. name] = true end

--- The value of a variable, or nil.
-- @string name "MEISSA_ENGINE"
function M.get(name)
  assert(known[name], name)
  local value = ffi.C.meissa_getenv(name)
  local text = value ~= nil and ffi.string(value) or ""
  if text ~= "" then return text end
end

--- A variable that has one of some values; nil if it is absent.
-- @string name of the variable
-- @tab choices list of its values, at least two
-- Errors: OPT.
function M.choice(name, choices)
  local text = M.get(name)
  if not text then return nil end
  for _, choice in ipairs(choices) do
    if text == choice then return text end
  end
  local words = {}
  for k, choice in ipairs(choices) do
    words[k] = tonumber(choice) and choice or '"' .. choice .. '"'
  end
  local last = table.remove(words)
  errors.raise("OPT", "%s is %s or %s, not '%s'", name, table.concat(words, ", "), last, text)
end

--- Whether a variable that is 0 or 1 is 1. Other values count as 1, with a notice.
function M.flag(name)
  local text = M.get(name)
  if text and text ~= "0" and text ~= "1" then
    notice(name .. " is 0 or 1, not '%s', which counts as 1", text)
  end
  return text ~= nil and text ~= "0"
end

-- The names in the environment that are nearly one of ours.
local function misspelt(visit)
  local at = ffi.C.meissa_environ
  while at[0] ~= nil do
    local own = string.match(ffi.string(at[0]), "^" .. PREFIX .. "([^=]*)=")
    local near = own and not known[PREFIX .. own] and errors.nearest(own, NAMES)
    if near then visit(PREFIX .. own, PREFIX .. near) end
    at = at + 1
  end
end

local checked = false

--- Gives notices of misspelt variables, and of values that would be ignored, once in a process.
function M.check()
  if checked then return end
  checked = true
  misspelt(function(name, near)
    notice(name .. " is not looked at: did you mean %s?", near)
  end)
  M.flag "MEISSA_QUIET"
  M.flag "MEISSA_EXPLAIN"
  local limit = M.get "MEISSA_CC_LIMIT"
  local seconds = tonumber(limit)
  if limit and not (seconds and seconds > 0 and seconds < MOST_SECONDS) then
    notice("MEISSA_CC_LIMIT is a number of seconds above 0, not '%s', and is ignored", limit)
  end
end

return M
