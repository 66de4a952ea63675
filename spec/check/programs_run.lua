-- SPDX-License-Identifier: MIT
--
-- Runs a program's loop under the recorder and, if asked, on the workers, and says what is wrong.
-- A mutant stands between the analyser and the comparison: it changes what the analyser is told
-- (the text, the bindings, the space) or what it answers.

local core = require "meissa.core"
local check = require "meissa.check"
local errors = require "meissa.base.errors"
local judge = require "meissa.check.judge"
local meissa = require "meissa"
local random = require "spec.check.programs_random"
local recorder = require "meissa.check.recorder"
local texts = require "spec.check.programs_text"

local M = {}

local STOP = {}
local runs = 0

-- A mutant of the text may hide names from the analyser; the recorder finds globals all the same.
local function text_of(program, mutant)
  runs = runs + 1 -- every run is analysed anew
  return ("-- %d\n%s"):format(runs, texts.of(program, mutant and mutant.parse))
end

-- Calls fn with other functions in the place of check.loop, core.plan and core.loop.
local function with_hooks(hooks, fn)
  local saved = { loop = check.loop, plan = core.plan, parse = core.loop }
  check.loop = hooks.loop
  core.plan = hooks.plan and hooks.plan(saved.plan) or saved.plan
  core.loop = hooks.parse and hooks.parse(saved.parse) or saved.parse
  local results = { pcall(fn) }
  check.loop, core.plan, core.loop = saved.loop, saved.plan, saved.parse
  return unpack(results)
end

local function same(a, b)
  if a == b then return true end
  return type(a) == "number" and type(b) == "number"
    and math.abs(a - b) <= 1e-9 * math.max(math.abs(a), math.abs(b))
end

-- What differs after the real run from the recorded one.
local function differences(run, seen, returned)
  local names = seen.world:differing()
  if #names > 0 then return "other bits in " .. table.concat(names, ", ") end
  for _, scalar in ipairs(run.plan.scalar_list) do
    local expected, found = seen.finals[scalar.name], returned[scalar.name]
    local kept = scalar.role == "private" and not run.space.ordered
      and run.plan.strategy ~= "serial"
    if found ~= nil and not kept and not same(expected, found) then
      return ("%s is %s, not %s"):format(scalar.name, tostring(found), tostring(expected))
    end
  end
end

--- Examines a program.
-- @tab[opt] mutant `plan(original)` and `parse(original)` give replacements of core.plan, core.loop
-- @bool[opt] execute run it on the workers, too
-- @treturn string|nil what is wrong
-- @treturn string|nil what kind of wrong: that of the judge, "bits", "error"
-- @treturn table|nil the plan
function M.examine(program, mutant, execute)
  local env = setmetatable({ parallel = meissa.parallel, meissa = meissa }, { __index = _G })
  local chunk, message = loadstring(text_of(program, mutant))
  if not chunk then return nil, "invalid", message end
  setfenv(chunk, env)
  local run, seen, found
  local function loop(...)
    run = check.run_of(...)
    seen = recorder.record(run)
    if not seen or seen.failed then error(STOP) end
    found = judge.unpredicted(run, seen)
    if found or not execute then error(STOP) end
  end
  local arguments = { random.arguments(meissa, program.seed) }
  local ok, returned = with_hooks({ loop = loop, plan = mutant and mutant.plan,
    parse = mutant and mutant.parse }, function() return chunk(unpack(arguments)) end)
  if not run then return "no plan: " .. tostring(returned), "error" end
  if not seen then return "the body cannot be recorded", "error", run.plan end
  if seen.failed then return nil, "invalid", tostring(seen.failed) end
  if found then return found.text, found.kind, run.plan end
  -- Some plans are refused because of what this version does not run.
  local refused = errors.is(returned) and returned.code == "DEP"
  if not ok and returned ~= STOP and not refused then
    return "the loop raised " .. tostring(errors.is(returned) and tostring(returned) or returned),
      "error", run.plan
  end
  local differing = ok and differences(run, seen, returned) or nil
  return differing, differing and "bits", run.plan
end

return M
