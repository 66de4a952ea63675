-- SPDX-License-Identifier: MIT
--- Spreading: runs a function for 1 to n on the workers where its captured values allow that, and
-- in this process where they do not. Readers and sets of arrays call users' functions through it.
-- @module meissa.base.spread

local errors = require "meissa.base.errors"
local progress = require "meissa.base.progress"
local thrown = require "meissa.base.thrown"
local interrupt = require "meissa.base.interrupt"

local M = {}

-- Each number is a block; a grid has at most so many.
local MOST_BLOCKS = 4096

--- meissa.each, which meissa.driver.loop puts here; nil where arrays and readers are used alone.
M.each = nil

-- Whether an error says that the loop cannot run on workers, before anything ran: a dependence
-- (such as a function that counts in an outer variable), or a value that cannot be sent.
local function is_refusal(err)
  if not errors.is(err) then return false end
  return err.code == "DEP" or err.code == "BDY" and not err.iteration and not err.worker
end

-- What the body raised, as an error object like those of loops.
local function as_error(err)
  if errors.is(err) then
    err.iteration = nil
    if errors.is_own(err.file) then err.file, err.line = errors.place() end
    return err
  end
  local message = thrown.message(err)
  if type(err) ~= "string" then
    return errors.new {code = "BDY", message = message, value = thrown.value(err)}
  end
  local file, line, text = string.match(message, "^(.-):(%d+): (.*)$")
  return errors.new {code = interrupt.is(err) and "INT" or "BDY", message = text or message,
                     file = file, line = tonumber(line)}
end

local function run_here(count, body)
  local bar = progress.bar("calling", count, "calls")
  local ok, err
  for k = 1, count do
    ok, err = pcall(body, k)
    if not ok then break end
    if bar then bar:show(k) end
  end
  if bar then bar:clear() end
  if not ok and count > 0 then error(as_error(err), 0) end
end

--- Runs body(1), body(2), ... body(count), in any order where it runs on workers. The body must be
-- a function whose text can be had, and do nothing but assign `t[k] = value` to a table that is
-- empty before.
-- @number count
-- @bool serial run it here
-- @func body
-- Errors: what the body raises.
function M.run(count, serial, body)
  if serial or count <= 1 or not M.each then return run_here(count, body) end
  local options = {grid = {math.min(count, MOST_BLOCKS)}, ordered = false, impure = true}
  local ok, err = pcall(M.each, count, options, body)
  if ok then return end
  if not is_refusal(err) then error(as_error(err), 0) end
  run_here(count, body)
end

return M
