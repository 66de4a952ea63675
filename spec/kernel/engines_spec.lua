-- SPDX-License-Identifier: MIT
-- time limit: 900 s
-- Differential test of the engines on random numeric bodies: the Lua engine interpreted and
-- compiled, native kernels, blocks of several sizes, and the plain loop give the same bits, and
-- errors the same words and places; bugs put into native kernels on purpose are found.
-- MEISSA_TEST_SEED=n replays a run, MEISSA_BODIES=n sets how many bodies it has. Without a seed all
-- runs have the same bodies; `make fuzz-engines` draws others each time.
local compiler = require "meissa.kernel.compiler"
local fast = dofile("spec/kernel/engines_fast.lua")
local mutants = dofile("spec/kernel/engines_mutants.lua")
local random = dofile("spec/kernel/engines_random.lua")
local runner = dofile("spec/kernel/engines_run.lua")
local behind_prelude = dofile("spec/kernel/run.lua").behind_prelude

local seed = require "spec.support.seed"
local count = tonumber(os.getenv("MEISSA_BODIES") or "") or 300
-- Kernels in one compilation; and for a mutant, and how often more are tried.
local BATCH, FEW, MOST_TRIES = 30, 3, 20

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
  "local k = 3 for t = 1, k do if k < 9 then k = k + 1 end O[i][t] = k end",
  "for k = 1, 6 do F[i]:scal(1.1) F[i]:axpy(0.3, F[i]) end V[i] = F[i]:dot(F[i])",
}

-- Bodies in which two errors wait, or a function changes what a subscript is made of: Lua's order
-- of evaluation decides, and LuaJIT's, which leaves locals in their registers.
local changing = "local k = 1 local function f() k = 2 return 1 end "
local absent = "local v if i > 100 then v = 1 end "
local ordered = {
  "O[i][13] = L[i][0/0]", "O[i][i] = L[i][-i]", "O[i + n][i] = L[i][-i]",
  "O[i][13], O[i][14] = 1, 2", "C[i][1], C[i][2] = 0.5, 1.5", "C[i][1], O[i][14] = 0.5, L[i][9]",
  "C[i][77] = 0.5", "C[i][1], C[i][2] = 5", "O[i][1], O[i][2] = 5", "C[i][i] = x + L[i][8]",
  "T[{i, 1, undefined}] = L[i][77]", "T[{i, m + 5, z}] = L[i][77]", "T[i][m + 5][z] = L[i][77]",
  "local w = E[i] w[m + i] = L[i][77]", "local w = T[i] w[1][x] = O[i][y]",
  "O[i][8] = T[{i, m + i, L[i][9]}]", "O[i][8] = T[{i, L[i][9], m + i}]",
  "O[i][8] = A[{L[i][1] + 100, L[i][9]}]", "T[{i, L[i][9], m + i}] = L[i][10]",
  "O[i][z * 100] = O[i][z]\n + 3", "C[i][9] =\n L[i][\n7]\n",
  "C[i][z], C[i]\n[9]\n=\n 1,\n L[1][z]",
  "E[i]:axpy(L[i][88], P[i + n])", "E[i]:axpy(L[i][1], P[i + n])",
  "O[i][D[i] % 3 + 11] = L[i][4 + D[i] % 4]", "O[i][1] = V[i + n] + D[i + n]",
  "O[i][1] = random(0)", "O[i][1] = random(3, 1)", "O[i][1] = random(1.5)",
  changing .. "O[i][k] = f() * 7", changing .. "O[i][k + 0] = f() * 7",
  changing .. "O[i][k], O[i][5] = f(), 3", changing .. "O[i][k], k = f(), 3 O[i][3] = k",
  changing .. "O[i][8] = E[i][k] + T[{i, k, f()}]", changing .. "O[i][8] = T[i][k][f()]",
  changing .. "T[i][k][f()] = f() + 8", changing .. "T[{i, k, f()}] = f() + 8",
  changing .. "O[i][f()], O[i][k] = k, f() + 3", changing .. "O[i][k] = f() O[i][k] = k * f()",
  changing .. "k, O[i][k] = f() + 4, k", changing .. "O[i][k + f()], k = k, f() + 9",
  changing .. "for t = k, f() + k do O[i][t] = t end", changing .. "O[i][4] = k + f() * k",
  changing .. "O[i][4] = math.max(k, f()) + bit.band(k, f() + k)",
}
for _, rest in ipairs {
  "O[i][1] = math.floor(v)", "O[i][1] = math.max(1, v)", "O[i][1] = math.log(v)",
  "O[i][1] = math.log(2, v)", "O[i][1] = math.fmod(v, v)", "O[i][1] = math.pow(2, v)",
  "O[i][1] = math.ceil(v)", "O[i][1] = bit.band(3, v)", "O[i][1] = bit.bor(v, 1, v)",
  "O[i][1] = bit.bnot(v)", "O[i][1] = bit.lshift(v, O[i][99])", "O[i][1] = math.ldexp(v, 3)",
  "O[i][1] = -v", "O[i][1] = v + O[i][77]", "O[i][1] = v % 3", "O[i][v] = 3", "O[v][1] = 3",
  "O[i][1] = O[i][v]", "O[i][1] = v", "C[i][1] = v", "C[i][77] = v", "C[i][77] = v + 1",
  "if v < 1 then O[i][1] = 2 end", "if v < O[i][99] then O[i][1] = 2 end",
  "for k = v, O[i][99] do O[i][1] = 2 end", "for k = 1, v do O[i][1] = 2 end",
  "for k = 1, 2, v do O[i][1] = 2 end", "local b if v then b = 1 end O[i][v] = b",
  "O[i][1] = math.deg(v)", "local u if v then u = 1 end if v < u then O[i][1] = 1 end",
  "local b = i < 50 if v then b = 2 end if v < b then O[i][1] = 1 end",
  "local b = i < 50 if v then b = 2 end if b >= v then O[i][1] = 1 end",
  "local b, c = i < 50, i > 50 if v then b, c = 2, 3 end if b <= c then O[i][1] = 1 end",
  "local function f(x)\n return math.floor(x) end\nO[i][1] = f(v)",
  "local function f(x)\n return math.ceil(x) end\nO[i][1] = f(v)",
  "local function f(x)\n return (math.sqrt(x)) end\nO[i][1] = f(v)",
  "local function f(x)\n return math.log(x) end local function g(x)\n return f(x)\n end\n"
    .. "O[i][1] = g(v)",
  "local function f(x)\n return random(x, 0)\n end\nO[i][1] = f(1)",
  "local function f(x)\n return L[i][x]\n end\nO[i][1] = f(v)",
} do
  ordered[#ordered + 1] = absent .. rest
end

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

  -- Both engines, and the plain loop if `plainly`, on bodies of 40 iterations.
  local function agree(texts, plainly)
    local list = {}
    for n, text in ipairs(texts) do
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
      if not words and plainly then words = runner.compare_plain(studied) end
      if words then fail(studied, words) end
      assert.is_truthy(studied.static.native)
    end
    run_native()
  end

  it("agree on what they did not agree on", function() agree(found, false) end)
  it("name the error that the plain loop names", function() agree(ordered, true) end)

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
      local studied = runner.study(random.loop(number, true))
      local native = studied and studied.static.native
      local own = native and behind_prelude(native.text)
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
