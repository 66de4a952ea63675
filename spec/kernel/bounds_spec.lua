-- SPDX-License-Identifier: MIT
-- time limit: 600 s
-- Bounds are unbreakable: random loops that aim at the checks of subscripts end alike on the Lua
-- engine, in native kernels and as plain loops: with the same error in the same iteration, and the
-- same memory, that beside the arrays included. Kernels with checks taken out are found.
-- MEISSA_TEST_SEED=n replays a run, MEISSA_BODIES=n sets how many loops it has. Without a seed all
-- runs have the same loops; `make fuzz-engines` draws others each time.
local compiler = require "meissa.kernel.compiler"
local random = dofile("spec/kernel/bounds_random.lua")
local runner = dofile("spec/kernel/engines_run.lua")

local seed = require "spec.support.seed"
local count = tonumber(os.getenv("MEISSA_BODIES") or "") or 90
-- Kernels in one compilation; of a mutant, and how often more are tried.
local BATCH, FEW, MOST_TRIES = 30, 2, 40

-- Loops that have native kernels from a number on: their studies, texts, and the last number; only
-- those that end in words of which concerned(words) holds, if that is given.
local function studies(number, wanted, last, concerned)
  local list, texts, without = {}, {}, 0
  while #list < wanted and number < last do
    number = number + 1
    local studied, why = runner.study(random.loop(number))
    assert(studied, why)
    if not studied.static.native then
      without = without + 1
    elseif not concerned or concerned(runner.reference(studied).failed or "") then
      list[#list + 1], texts[#texts + 1] = studied, studied.static.native.text
    end
  end
  return list, texts, number, without
end

local function one_more(words)
  local key, extent = words:match("subscript (%d+) is outside 1%.%.(%d+)")
  return key ~= nil and tonumber(key) == tonumber(extent) + 1
end

local function zero(words) return words:find("subscript 0 is", 1, true) ~= nil end
local function fraction(words) return words:find("subscript %-?%d.* is not a whole") ~= nil end

-- Bugs for native kernels: each lets wrong subscripts pass that the checks are there for, in loops
-- that end in such words.
local mutants = {
  { name = "guards allow one more", concerned = one_more, old = "<= (%(double%)e[%d_]+)( &&\n)",
    new = "<= %1 + 1%2" },
  { name = "guards allow one less", concerned = zero, old = ">= 1( &&\n)", new = ">= 0%1" },
  { name = "checks allow one more", concerned = one_more,
    old = "ms_whole_of%(key%) %- 1 < %(uint64_t%)extent",
    new = "ms_whole_of(key) - 1 < (uint64_t)extent + 1" },
  { name = "checks allow 0", concerned = zero,
    old = "ms_whole_of%(key%) %- 1 < %(uint64_t%)extent",
    new = "ms_whole_of(key) <= (uint64_t)extent" },
  { name = "fractions are cut", concerned = fraction,
    old = "&& %(double%)ms_whole_of%(key%) == key", new = "" },
  { name = "guards take any number for whole", concerned = fraction,
    old = "return x >= %-0x1p31 && x < 0x1p31 && %(double%)%(int64_t%)x == x",
    new = "return x >= -0x1p31 && x < 0x1p31 && x == x" },
}

describe("bounds (MEISSA_TEST_SEED=" .. seed .. ")", function()
  if compiler.missing() then
    pending("native kernels: " .. compiler.missing())
    return
  end

  local function fail(studied, words)
    error(("loop %d (MEISSA_TEST_SEED=%d): %s\n%s"):format(studied.loop.seed, seed, words,
      studied.loop.text), 0)
  end

  it("hold on all engines", function()
    local number, last, failed, without, all = seed * 1000, seed * 1000 + count, 0, 0, 0
    while number < last do
      local list, texts, more
      list, texts, number, more = studies(number, BATCH, last)
      without, all = without + more, all + #list
      local finish = #texts > 0 and runner.compile(texts, false)
      for _, studied in ipairs(list) do
        local words = runner.compare_lua(studied) or runner.compare_plain(studied)
        if words then fail(studied, words) end
        if studied.expected.failed then failed = failed + 1 end
      end
      local entries, unload
      if finish then entries, unload = finish() end
      for n, studied in ipairs(list) do
        local words = runner.compare_native(studied, entries[n])
        if words then fail(studied, words) end
      end
      if unload then unload() end
    end
    -- The test means something only if most loops run natively, and many end in errors.
    assert.is_true(without < all / 5)
    if count >= 90 then assert.is_true(failed > count / 5 and failed < count * 4 / 5) end
  end)

  for _, mutant in ipairs(mutants) do
    it("are seen to break when " .. mutant.name, function()
      local seen, number = nil, 0
      for _ = 1, MOST_TRIES do
        local list, texts
        list, texts, number = studies(number, FEW, math.huge, mutant.concerned)
        local entries, unload = runner.compile(texts, false, function(text)
          local changed, times = text:gsub(mutant.old, mutant.new)
          assert.is_true(times > 0)
          return changed
        end)()
        for n, studied in ipairs(list) do
          seen = seen or runner.compare_native(studied, entries[n])
        end
        unload()
        if seen then break end
      end
      assert.is_string(seen)
    end)
  end
end)
