-- SPDX-License-Identifier: MIT
-- Conditions on the round and the index: what a round reads was written in any round before, so who
-- reads whom is not told by what one round writes.
local expect = require "spec.support.expect"
local meissa = require "meissa"
local rounds = require "spec.support.rounds"

local N, RANGES, ROUNDS = 14, 4, 9

-- Each over t = 1 .. ROUNDS and j = 2 .. N - 1.
local GUARDS = {
  "(j + t) % 2 == 0", "(j + t) % 2 == 1", "(j + t) % 3 == 0", "(j - t) % 3 ~= 0",
  "j % 2 == t % 2", "j == t + 1", "j == 14 - t", "j <= t", "j > t", "j % 2 == 0", "t % 3 == 0",
  "t == 4 or j == 7", "j + t == 9",
}
local READS = {"OLD.u[j - 1] + OLD.u[j + 1]", "OLD.u[j - 1]", "OLD.u[N + 1 - j]"}

local function program_of(guard, read)
  return {arrays = {"u"}, rounds = ROUNDS, indices = {"j"}, bounds = {"2, N - 1"},
          ranges = {"{2, N - 1}"}, options = ("{ranges = %d}"):format(RANGES),
          body = ("if %s then NEW.u[j] = 0.5 * (%s) + t end"):format(guard, read),
          world = function() return {meissa = meissa, N = N, u = meissa.rand({N}, {seed = 5})} end}
end

-- The most ranges of which one range reads what any round writes.
local function readers_of(guard, read)
  local holds = assert(loadstring(("return function(t, j) return %s end"):format(guard)))()
  local text = read:gsub("OLD%.u%[([^%]]*)%]", "%1")
  local reads = assert(loadstring(("return function(j, N) return {%s} end"):format(
    text:gsub(" %+ j", ", j"))))()
  local first, written, sets, most = {}, {}, {}, 0
  for r = 0, RANGES do first[r + 1] = 2 + math.floor(r * (N - 2) / RANGES) end
  local function range_of(j)
    for r = 1, RANGES do
      if j >= first[r] and j < first[r + 1] then return r end
    end
  end
  for t = 1, ROUNDS do
    for j = 2, N - 1 do written[j] = written[j] or holds(t, j) end
  end
  for r = 1, RANGES do sets[r] = {} end
  for t = 1, ROUNDS do
    for j = 2, N - 1 do
      for _, k in ipairs(holds(t, j) and reads(j, N) or {}) do
        if written[k] then sets[range_of(j)][range_of(k)] = true end
      end
    end
  end
  for r = 1, RANGES do
    local count = 0
    for _ in pairs(sets[r]) do count = count + 1 end
    most = math.max(most, count)
  end
  return most
end

describe("rounds with conditions on the round and the index", function()
  teardown(function() meissa.init {} end)

  for _, shm in ipairs {true, false} do
    it(("have the bits of plain loops, and wait for all that they read, shm %s"):format(
      tostring(shm)), function()
      meissa.init {workers = 2, shm = shm}
      for _, guard in ipairs(GUARDS) do
        for _, read in ipairs(READS) do
          local program = program_of(guard, read)
          local plain = rounds.run(rounds.plain_text(program), program.world())
          local text = rounds.iterate_text(program)
          local world = rounds.run(text, program.world())
          assert.equal(rounds.bits(plain.u), rounds.bits(world.u), text)
          local least = readers_of(guard, read)
          assert.is_true(meissa.last().readers >= least, ("%s: %d readers, not %d"):format(text,
            meissa.last().readers, least))
        end
      end
    end)
  end

  it("are checked without an alarm, where elements that nobody writes are read, too", function()
    meissa.init {workers = 2}
    for _, guard in ipairs(GUARDS) do
      for _, read in ipairs(READS) do
        local program = program_of(guard, read)
        program.options = ("{ranges = %d, check = true}"):format(RANGES)
        local plain = rounds.run(rounds.plain_text(program), program.world())
        local world = rounds.run(rounds.iterate_text(program), program.world())
        assert.equal(rounds.bits(plain.u), rounds.bits(world.u))
      end
    end
    local u = meissa.rand({3, 9}, {seed = 1})
    for _, i, j in meissa.iterate(u, 3, {2, 2}, {2, 8}, {ranges = 3, check = true}) do
      u[i][j] = u[i + 1][j]
    end
    assert.equal(u[3][5], u[2][5])
  end)

  it("are found to read more than a plan says that reads too little", function()
    local versioned = require "meissa.plan.versioned"
    local read_sets, program = versioned.read_sets, program_of(GUARDS[1], READS[1])
    program.options = ("{ranges = %d, check = true}"):format(RANGES)
    function versioned.read_sets(...)
      local found, sets = read_sets(...), {}
      for r in ipairs(found.sets) do sets[r] = {} end
      return {sets = sets, most = 0, full = false}
    end
    local said = expect.refusal(rounds.run, rounds.iterate_text(program), program.world())
    versioned.read_sets = read_sets
    expect.has(said, "reads elements of ranges that its plan does not")
  end)
end)
