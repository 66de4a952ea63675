-- SPDX-License-Identifier: MIT
-- What is said of a loop in a loop's body is said in the user's words wherever that runs: the
-- message of a worker is that of the driver's process, where the text is the user's own.
local child = require "spec.support.child"
local expect = require "spec.support.expect"
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"
local parallel = meissa.parallel

-- The message of what fn raises, without what only a worker tells, and carets under the source.
local function message_of(fn)
  local ok, err = pcall(fn)
  assert.is_false(ok)
  return (tostring(err):gsub(" %(iteration [%d, ]+; worker %d+%)", ""))
end

local A, n, about = meissa.ones(4, 5), 5, {rate = 2, rounds = 3, deep = {er = 1}}
local steps = {[2] = 3}

-- Loops whose inner loops are refused, and a piece of what stands under the carets.
local LOOPS = {
  {"x[j] +", function()
    for i in parallel(4) do
      local x = meissa.zeros(n)
      for _, j in meissa.iterate(x, about.rounds) do x[j] = i x[j] = x[j] + i end
    end
  end},
  {"x[j] *", function()
    for i in parallel(4) do
      local x, s = meissa.zeros(n), about.deep.er ^ 2 + A[i][1]
      for _, j in meissa.iterate(x, 3) do x[j] = s ^ 2 x[j] = x[j] * about.rate end
    end
  end},
  {"x[j] = A", function()
    for i in parallel(4) do
      local x = meissa.zeros(n)
      for _, j in meissa.iterate(x, steps[2], {2, n}) do
        x[j] = A[i][j] ^ about.rate; x[j - 1] = A[i][j] ^ about.rate
      end
    end
  end},
  {"x[lo] +", function()
    for i in parallel(4) do
      local x = meissa.zeros(n)
      for _, lo, hi in meissa.iterate(x, 3, {by = "range", ranges = 2}) do
        x[lo] = about.deep.er ^ 2
        x[hi] = x[lo] + i + about.rate ^ 2
      end
    end
  end},
  {"x[k]", function()
    for i in parallel(4) do
      local x = meissa.zeros(n)
      meissa.iterate(x, about.rounds, function(_, k)
        x[k] = about.rate
        x[k] = i + x[k]
      end)
    end
  end},
}

describe("messages of loops in bodies", function()
  teardown(kept_workers.stop)

  for number, case in ipairs(LOOPS) do
    it(("are the user's, %d"):format(number), function()
      kept_workers.init {workers = 0}
      local expected = message_of(case[2])
      for _, road in ipairs {{workers = 1}, {workers = 2}, {workers = 2, shm = false}} do
        kept_workers.init(road)
        assert.equal(expected, message_of(case[2]))
      end
      local shown, carets = expected:match "\n(  %d+ | [^\n]*)\n( *%^+)[^\n]*"
      assert.truthy(carets, expected)
      local first = #carets:match "^ *" + 1
      assert.equal(case[1]:sub(1, 4), shown:sub(first, first + 3), expected)
    end)
  end

  it("name captured values as the user does", function()
    local named = {A = A}
    kept_workers.init {workers = 2}
    local message = message_of(function()
      for i in parallel(4) do
        local x = meissa.zeros(n)
        for _, j in meissa.iterate(x, 3) do x[j] = named.A[i][j] + about.missing end
      end
    end)
    assert.is_nil(message:find "_m%d*_?[cp]%d")
    expect.has(message, "'about.missing' (a nil value)")
  end)

  it("are not raised for what only a kernel's text has", function()
    local function run()
      local sums = meissa.zeros(4)
      for i in parallel(4) do
        local x = meissa.zeros(n)
        for _, j in meissa.iterate(x, 3) do x[j] = (x[j] + i) ^ about.rate end
        sums[i] = x:sum()
      end
      return sums:totable()
    end
    kept_workers.init {workers = 0}
    local expected = run()
    kept_workers.init {workers = 2}
    assert.same(expected, run())
  end)

  it("are the user's in explanations", function()
    local output, status = child.script([[
      local meissa = require "meissa"
      local about = {rate = 2}
      for i in meissa.parallel(1) do
        local x = meissa.zeros(5)
        for _, j in meissa.iterate(x, 3) do x[j] = i ^ about.rate end
      end]], {env = "MEISSA_EXPLAIN=1 MEISSA_WORKERS=1"})
    assert.equal(0, status, output)
    expect.has(output, "x[j]")
    assert.is_nil(output:find "_m%d*_?[cp]%d")
    assert.is_nil(output:find "kernel%.")
  end)
end)
