-- SPDX-License-Identifier: MIT
-- time limit: 300 s
-- Differential test of the engines on random numeric bodies: the Lua engine interpreted and
-- compiled, native kernels, blocks of several sizes, and the plain loop give the same bits, and
-- errors the same words and places; bugs put into native kernels on purpose are found.
-- MEISSA_TEST_SEED=n replays a run, MEISSA_BODIES=n sets how many bodies it has. Without a seed all
-- runs have the same bodies; `make fuzz-engines` draws others each time.
local compiler = require("meissa.kernel.compiler")
local fast = dofile("spec/engines_fast.lua")
local mutants = dofile("spec/engines_mutants.lua")
local random = dofile("spec/engines_random.lua")
local runner = dofile("spec/engines_run.lua")

local seed = tonumber(os.getenv("MEISSA_TEST_SEED") or "") or 20261120
local count = tonumber(os.getenv("MEISSA_BODIES") or "") or 300
-- Kernels in one compilation; and for a mutant, and how often more are tried.
local BATCH, FEW, MOST_TRIES = 30, 5, 12

-- Bodies that are studied: {loop =, ...}; how many have no native kernel.
local function study_all(from, to)
  local list, refused, reasons = {}, 0, {}
  for number = from, to do
    local studied, why = runner.study(random.loop(number))
    if studied then
      list[#list + 1] = studied
      if not studied.static.native then why = studied.static.refusal.message end
    end
    if why then
      refused = refused + 1
      reasons[#reasons + 1] = ("body %d: %s"):format(number, why)
    end
  end
  return list, refused, reasons
end

local function fail(studied, words)
  error(("body %d (MEISSA_TEST_SEED=%d): %s\n%s"):format(studied.loop.seed, seed, words,
    studied.loop.text), 0)
end

-- Has the native kernels of a list compiled; a function that calls visit(studied, entry) for each.
local function each_native(list, visit, change)
  local texts, chosen = {}, {}
  for _, studied in ipairs(list) do
    if studied.static.native then
      texts[#texts + 1] = studied.static.native.text
      chosen[#chosen + 1] = studied
    end
  end
  if #texts == 0 then return function() end end
  local finish = runner.compile(texts, false, change)
  return function()
    local entries, unload = finish()
    for n, studied in ipairs(chosen) do visit(studied, entries[n]) end
    unload()
  end
end

-- What the engines disagreed on once, or compilers do.
local found = {
  "for t = 1, undefined do O[i][1] = t end for t = undefined, 3 do O[i][2] = t end",
  "for t = 1, B[i] do O[i][1] = t if t > 5 then break end end",
  "for t = B[i], infinite, 1e308 do O[i][1] = t if t > 1e300 then break end end",
  "for t = -0.0, 0 do O[i][1] = 1 / t end for t = zero, 0 do O[i][2] = 1 / t end",
  "for t = negative, 1 do O[i][1] = 1 / t break end for t = -zero, 1 do O[i][2] = 1 / t break end",
  "for k = 1, 12 do O[i][k] = bit.tobit(R[k] + 1) + bit.band(R[k] - R[1], 1023) end",
  "for k = 1, 6 do F[i]:scal(k) end",
  "for k = 1, 6 do F[i]:scal(1.1) F[i]:axpy(0.3, F[i]) end V[i] = F[i]:dot(F[i])",
}

describe("the engines (MEISSA_TEST_SEED=" .. seed .. ")", function()
  local missing = compiler.missing()

  it("agree on random bodies", function()
    local refused, failed, reasons = 0, 0, {}
    for first = seed * 1000 + 1, seed * 1000 + count, BATCH do
      local last = math.min(first + BATCH - 1, seed * 1000 + count)
      local list, more, why = study_all(first, last)
      refused = refused + more
      for _, each in ipairs(why) do reasons[#reasons + 1] = each end
      local run_native = not missing and each_native(list, function(studied, entry)
        local words = runner.compare_native(studied, entry)
        if words then fail(studied, words) end
      end)
      for _, studied in ipairs(list) do
        local words = runner.compare_lua(studied)
        if not words and runner.is_plain(studied.loop) then
          words = runner.compare_plain(studied)
        end
        if words then fail(studied, words) end
        if studied.expected.failed then failed = failed + 1 end
      end
      if run_native then run_native() end
    end
    -- The test means something only if most bodies run natively, and some end in errors.
    if not missing and refused > count * 0.1 then
      error(("%d of %d bodies have no native kernel:\n%s"):format(refused, count,
        table.concat(reasons, "\n", 1, math.min(#reasons, 20))), 0)
    end
    if count >= 100 then assert.is_true(failed > count / 100 and failed < count / 3) end
  end)

  if missing then
    pending("native kernels: " .. missing)
    return
  end

  it("agree on what they did not agree on", function()
    local list = {}
    for n, text in ipairs(found) do
      list[n] = assert(runner.study {
        text = "for i in parallel(n) do\n" .. text .. "\nend", n = 40, pieces = 3, seed = n,
      })
    end
    local run_native = each_native(list, function(studied, entry)
      local words = runner.compare_native(studied, entry)
      if words then fail(studied, words) end
    end)
    for _, studied in ipairs(list) do
      local words = runner.compare_lua(studied)
      if words then fail(studied, words) end
      assert.is_truthy(studied.static.native)
    end
    run_native()
  end)

  it("differ by no more than roundings in fast mode", function()
    local list, texts = {}, {}
    for number = seed * 1000 + 1, seed * 1000 + math.ceil(count / 10) do
      local studied, why = runner.study(fast.loop(number), true)
      assert.is_truthy(studied, why)
      local native = studied.static.native
      assert.is_truthy(native, studied.static.refusal and studied.static.refusal.message)
      list[#list + 1], texts[#texts + 1] = studied, native.text
    end
    local entries = runner.compile(texts, true)()
    local seen = false
    for n, studied in ipairs(list) do
      local worst = runner.fast_error(studied, entries[n])
      -- Roundings that do not cancel add up to a few dozen, by 2^-24 or 2^-53 each.
      local most = 64 * 2 ^ (studied.loop.single and -24 or -53)
      if worst ~= worst or worst > most then
        fail(studied, ("relative error %g"):format(worst))
      end
      seen = seen or worst > 0
    end
    assert.is_true(seen) -- that it is another arithmetic
  end)

  -- The next bodies, after `number`, that a mutant's change concerns; the number of the last.
  local function concerned(mutant, number)
    local list = {}
    while #list < FEW do
      number = number + 1
      local studied = runner.study(random.loop(number))
      local native = studied and studied.static.native
      local own = native and native.text:sub(#runner.prelude() + 1)
      if own and mutant.concerns(own, studied.loop) then list[#list + 1] = studied end
    end
    return list, number
  end

  for _, mutant in ipairs(mutants) do
    it("are told apart when " .. mutant.name, function()
      local seen, from = nil, 0
      for _ = 1, MOST_TRIES do
        local list, last = concerned(mutant, from)
        from = last
        each_native(list, function(studied, entry)
          seen = seen or runner.compare_native(studied, entry)
        end, function(text)
          local changed = mutant.change(text)
          assert.are_not.equal(text, changed)
          return changed
        end)()
        if seen then break end
      end
      assert.is_string(seen)
    end)
  end
end)
