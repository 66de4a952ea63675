-- SPDX-License-Identifier: MIT
--- Stop tests of rounds: what `stop` is given, and rounds that go on before it has answered.
--
-- A job of rounds takes longer to begin than short rounds do. So where nothing that later rounds do
-- shows before they count, a job has the rounds of several tests, which are asked one after the
-- other from what each round's blocks have left. If one of them stops the loop, the rounds up to it
-- are run again from where the job began, which nothing has written: they leave the same bits.
-- @module meissa.driver.round_tests

local environment = require "meissa.base.environment"
local errors = require "meissa.base.errors"
local facts = require "meissa.capture.bytecode_facts"
local kernel = require "meissa.kernel"
local pool = require "meissa.driver.pool"
local tables = require "meissa.base.tables"

local M = {}

--- For how long, in seconds, rounds are run before anybody is asked: so much is lost at most,
-- twice.
M.long = 4e-3

-- ------------------------------------------------------------------------------ what is given

-- What the blocks of a round have left. @int round counted from the job's first, from 1
local function results_of(left, ranges, round)
  local results = left.results
  local first, last = (round - 1) * ranges + 1, round * ranges
  if results.flat then
    local size = #results.flat / results.blocks
    return {flat = string.sub(results.flat, (first - 1) * size + 1, last * size), blocks = ranges}
  end
  local list = {}
  for k = first, last do list[#list + 1] = results[k] end
  return list
end

-- Raises OPT for a name that no reduction has.
local function strict(sums, reduced)
  return setmetatable(sums, {__index = function(_, name)
    if reduced[name] then return nil end -- it has no value yet
    local names = tables.keys(reduced)
    errors.raise("OPT", "meissa.iterate: option 'stop': no variable '%s' is reduced in the " ..
      "body; sums has %s", tostring(name), #names > 0 and table.concat(names, ", ") or "none")
  end})
end

-- A round's reductions by the names of their variables.
local function sums_of(run, round)
  local values, sums, of, reduced = {}, {}, {}, {}
  for c, value in tables.each(run.values) do values[c] = value end
  for _, scalar in ipairs(run.plan.scalar_list) do
    if scalar.role == "reduction" then
      local identity = kernel.identity(scalar, scalar.start ~= "nil" and 0 or nil)
      values[scalar.capture], sums[scalar.name] = identity, identity
      of[scalar.capture], reduced[scalar.name] = scalar, true
    end
  end
  if tables.next(of) == nil then return strict(sums, reduced) end
  local left = run.left
  local results = results_of(left, run.grid.ranges[2], round)
  for _, each in ipairs(kernel.combine(left.bytes, values, results, left.known)) do
    if of[each.capture] then sums[of[each.capture].name] = each.value end
  end
  for _, scalar in tables.each(of) do
    local sum = scalar.op == "+" and sums[scalar.name]
    -- As of a variable that was 0.
    if type(sum) == "number" then sums[scalar.name] = 0 + sum end
  end
  return strict(sums, reduced)
end

-- The arrays of the last round, read only.
local function snapshot(self)
  if not self.shows then return nil end
  local list = {}
  for k, each in ipairs(self.versions.memory.arrays) do list[k] = each.start:snapshot() end
  if self.request.list then return list end
  return list[1]
end

-- The arrays that a body reads beside the versions.
local function read_by(run)
  local list = {}
  for c, binding in ipairs(run.bindings) do
    local about = binding.kind == "array" and run.plan.array_of[c]
    local own = about and not (binding.scratch or binding.buffers or run.versions.of[c])
    if own and string.find(about.access, "read", 1, true) then list[#list + 1] = run.values[c] end
  end
  return list
end

-- Asks whether to stop after round t, the job's round number `round`.
local function ask(self, run, t, round)
  run.read_by = run.read_by or read_by(run)
  return self.versions.memory:ask(run.read_by, pool.during_loop, self.request.stop, t,
                                  snapshot(self), sums_of(run, round)) and true or false
end

-- --------------------------------------------------------------------------- several at a time

local function prints(bindings)
  for _, binding in ipairs(bindings or {}) do
    if binding.kind == "builtin" and binding.name == "print" then return true end
  end
  return false
end

-- Whether rounds leave nothing but versions, and sums.
local function leaves_versions_only(run)
  if run.space.impure or #run.plan.buffers > 0 then return false end
  for c, binding in ipairs(run.bindings) do
    local about = binding.kind == "array" and run.plan.array_of[c]
    if about and about.written and not run.versions.of[c] then return false end
  end
  return not prints(run.bindings) and not prints(run.bindings.inner)
end

-- Whether rounds may go on before a test has been asked about them.
local function may_go_on(self, run)
  local sync = self.request.sync
  if self.shows or self.request.bounded or sync.depth == 1 then return false end
  if sync.images or sync.lags or environment.get "MEISSA_HISTORY" then return false end
  return leaves_versions_only(run)
end

--- Makes ready for a loop.
function M.begin(self)
  self.shows = self.request.stop and facts.names_parameter(self.request.stop, 2)
  self.tests = 1
end

--- Raises OPT for a `stop` that looks at a variable which the body reduces: in this there is what
-- it was before the loop, until all is over. One that assigns variables may have its own by the
-- same name.
function M.check(self, run)
  local stop, reduced = self.request.stop, {}
  if stop and facts.about(stop).assigns then return end
  for _, scalar in ipairs(stop and run.plan.scalar_list or {}) do
    if scalar.role == "reduction" then reduced[scalar.name] = run.values[scalar.capture] end
  end
  for u = 1, stop and debug.getinfo(stop, "u").nups or 0 do
    local name, value = debug.getupvalue(stop, u)
    if value ~= nil and rawequal(reduced[name], value) then
      errors.raise("OPT", "meissa.iterate: option 'stop' looks at '%s', which is what it was " ..
        "before the loop until that is over. What a round has formed is given to it: " ..
        "stop = function(t, array, sums) ... sums.%s ... end", name, name)
    end
  end
end

--- The last round of the next job, as far as tests are concerned.
function M.target(self, done)
  local request = self.request
  if not request.stop then return request.rounds end
  return math.min(request.rounds, (math.floor(done / request.test) + self.tests) * request.test)
end

-- How many tests the next job has, after one of so many rounds that took so long.
local function plan_ahead(self, run, rounds, seconds)
  if run.goes_on == nil then run.goes_on = may_go_on(self, run) end
  if not run.goes_on or self.careful then return end
  local fitting = math.floor(M.long / (seconds / rounds * self.request.test))
  self.tests = math.max(1, math.min(2 * self.tests, fitting))
end

--- Asks all tests of a job of the rounds after `done` up to `last`.
-- @number seconds that it took
-- @treturn int|nil the round after which one of them stops the loop
-- Errors: what `stop` raises.
function M.ask(self, run, done, last, seconds)
  local request = self.request
  if not request.stop then return nil end
  for t = (math.floor(done / request.test) + 1) * request.test, last, request.test do
    if ask(self, run, t, t - done) then return t end
  end
  plan_ahead(self, run, last - done, seconds)
end

--- Whether what a job has failed with may be of rounds that never come, since a test before them
-- stops the loop: then one test at a time is asked from now on.
function M.may_be_of_later(self, err)
  if self.tests == 1 or type(err) ~= "table" or err.code ~= "BDY" then return false end
  self.tests, self.careful = 1, true
  return true
end

return M
