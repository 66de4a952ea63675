-- SPDX-License-Identifier: MIT
--- The option `check = true`: before the loop runs, its first iterations run under the recorder, on
-- copies of the arrays, and what the plan does not predict is an error. With `check = "all"` all
-- iterations do.
-- @module meissa.check

local array = require "meissa.array"
local buffers = require "meissa.array.buffer"
local errors = require "meissa.base.errors"
local loops = require "meissa.driver.loop"
local judge = require "meissa.check.judge"
local random = require "meissa.kernel.random"
local recorder = require "meissa.check.recorder"
local scratches = require "meissa.array.scratch"
local spaces = require "meissa.plan.space"
local tables = require "meissa.base.tables"

local M = {}

local MOST_ITERATIONS = 10000
local MOST_SECONDS = 5

-- A parallel loop inside a body is the plain loop.
local function plain(...)
  return spaces.iterate(spaces.parse(...))
end

--- What the recorder needs of a loop (see meissa.check.recorder).
function M.run_of(record, plan, space, values, roots, func)
  local replaced = {[loops.parallel] = plain}
  -- What is put into a buffer is no access to its array: it goes to a plain array, unrecorded. So
  -- does what a scratch array holds.
  for _, c in ipairs(plan.buffers) do
    replaced[buffers.of(values[c])] = array.zeros(array.describe(values[c]).dims)
  end
  for _, value in tables.each(values) do
    if scratches.is(value) then replaced[value] = value:clone() end
  end
  return {record = record, plan = plan, space = space, values = values, roots = roots,
          func = func, replaced = replaced}
end

-- The captured objects that the body changed and must not change, as "'a', 'b'", or nil.
local function changed_names(plan, seen)
  local names, listed = {}, {}
  for _, name in ipairs(seen.world:changes()) do
    if not plan.scalars[name] and not listed[name] then
      listed[name] = true
      names[#names + 1] = "'" .. name .. "'"
    end
  end
  return #names > 0 and table.concat(names, ", ") or nil
end

-- Refusals of bodies that can be recorded nevertheless: what they are refused for is no effect.
local HARMLESS = {DEP101 = true, DEP102 = true, DEP103 = true, DEP114 = true, DEP115 = true}

-- Why a loop is not recorded, or nil.
local function obstacle(plan, space)
  if space.impure then return "the loop is impure, and what it does would happen twice" end
  for _, reason in ipairs(plan.strategy == "serial" and plan.reasons or {}) do
    if string.find(reason.code, "^DEP1") and not HARMLESS[reason.code] then
      return string.format("its body is more than can be recorded: %s [%s]", reason.title,
        reason.code)
    end
  end
end

-- Says once for each loop that it was not recorded.
local function skip(record, space, why)
  if record.unchecked then return end
  record.unchecked = true
  io.stderr:write(string.format("meissa: %s:%d: check = %s was skipped, because %s\n",
    record.file, record.line, space.check == "all" and '"all"' or "true", why))
end

-- What is said of what a plan does not predict, and the error's code.
local function words_of(plan, space, found, changed)
  if changed then
    return string.format("the loop's plan (%s) does not hold: %s. The body, or a function that " ..
      "it calls, changes %s, which a loop takes for constant; keep what changes in an array",
      plan.strategy, found.text, changed), "DEP"
  elseif space.assume and (found.kind == "distance" or found.kind == "schedule") then
    return string.format("assume = \"independent\" does not hold: %s. Without that option the " ..
      "loop is refused, or runs in another way", found.text), "DEP"
  end
  return string.format("the loop's plan (%s) does not predict that %s. %slease report it with " ..
    "the loop's text", plan.strategy, found.text,
    (space.serial or space.replicas) and "P" or "Run the loop with {serial = true}, and p"), "BUG"
end

--- Records and judges a loop that asks for it; says so where that cannot be. A loop that is refused
-- is not recorded. Raises DEP or BUG if the loop does what its plan does not predict; a body's own
-- error is left to the real run.
function M.loop(record, plan, space, values, roots, func)
  if space.count == 0 then return end
  if plan.strategy == "serial" and not space.serial then return end
  local why = obstacle(plan, space)
  if why then return skip(record, space, why) end
  local run = M.run_of(record, plan, space, values, roots, func)
  if space.check ~= "all" then run.most, run.seconds = MOST_ITERATIONS, MOST_SECONDS end
  local before = random.open {seed = 0, ordinal = 0} -- its draws are nobody else's
  local seen = recorder.record(run)
  local found = seen and judge.unpredicted(run, seen)
  random.close(before)
  if not seen then return skip(record, space, "its body cannot be taken apart") end
  if not found then return end
  local message, code = words_of(plan, space, found, changed_names(plan, seen))
  error(errors.new {code = code, message = message, file = record.file, line = record.line}, 0)
end

return M
