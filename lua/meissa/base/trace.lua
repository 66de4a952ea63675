-- SPDX-License-Identifier: MIT
--- Trace: what the processes do, one line an event; csrc/base/trace.h says how and what.
--
-- The categories that are wanted are bits of a word of the core. Here each is a field of `on`,
-- which costs less to look at where LuaJIT interprets:
--
--     if trace.on.plan then trace.say("plan", "made loop=%s", place) end
-- @module meissa.base.trace

local environment = require "meissa.base.environment"
local errors = require "meissa.base.errors"
local ffi = require "ffi"
local c_core = require "meissa.base.c_core"
local notice = require "meissa.base.notice"

local M = {}

--- Whether a category is wanted, by its name.
M.on = {}

local bits = {} -- of categories, by name

-- Takes the core's word over.
local function look()
  local wanted = c_core.lib.ms_trace_flags()
  for bit_number = 0, 31 do
    local name = c_core.lib.ms_trace_name(bit_number)
    if name == nil then break end
    local category = bit.lshift(1, bit_number)
    bits[ffi.string(name)] = category
    M.on[ffi.string(name)] = bit.band(wanted, category) ~= 0
  end
end

--- In a worker that has its setup: goes on with its driver's trace.
M.join = look

--- Tells the history of an event, where there is one: its kind and fields, as string.format has
-- them.
function M.tell(format, ...)
  c_core.lib.ms_history_tell(string.format(format, ...))
end

--- In the driver: begins what MEISSA_TRACE, MEISSA_TRACE_FILE and MEISSA_HISTORY ask for.
-- Errors: OPT for what is no category, and for a history that is to be replayed; FIL for a file
-- that cannot be written.
function M.open()
  local history = environment.get "MEISSA_HISTORY"
  if history then
    local err = c_core.new_error()
    local opened = c_core.lib.ms_history_open(history, environment.get "MEISSA_REPLAY", err)
    if opened ~= 0 then errors.raise_core(err) end
  end
  local names, path = environment.get "MEISSA_TRACE", environment.get "MEISSA_TRACE_FILE"
  if names then
    local err = c_core.new_error()
    if c_core.lib.ms_trace_open(names, path, err) ~= 0 then errors.raise_core(err) end
    look()
  elseif path then
    notice("MEISSA_TRACE_FILE does nothing without MEISSA_TRACE")
  end
end

--- Tells of an event.
-- @string category that is wanted
-- @string format as for string.format: the event, then name=value
function M.say(category, format, ...)
  c_core.lib.ms_trace_text(bits[category], string.format(format, ...))
end

look()

return M
