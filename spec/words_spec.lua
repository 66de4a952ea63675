-- SPDX-License-Identifier: MIT
--
-- What messages and reports claim is so: a fix that computes something else than the loop as
-- written is a condition, the others give its result, and what kept a body from machine code is
-- true of it.
local meissa = require "meissa"
local parallel = meissa.parallel

local N = 12

-- The loop's error.
local function refusal(fn)
  local ok, err = pcall(fn)
  assert.is_false(ok)
  return err
end

-- The fixes of a text, in their order, as what each says before its code.
local function fixes_of(text, bindings)
  local list = {}
  for k, fix in ipairs(meissa.analyze(text, bindings).reasons[1].fixes) do
    list[k] = fix:match "^(.-): "
  end
  return list
end

local SERIAL, COLLAPSE = "run it serially", "with two indices, as a wavefront or sweep"
local OLD, ORDER = "if old values are fine", "if any order of iterations is acceptable"
local SUM = "if sums may be added at the end"

describe("fixes", function()
  local A, B = meissa.shape(N, N), meissa.shape(N)

  it("that keep the result come first where a value flows between iterations", function()
    local cases = {
      { "for i in parallel({2, n}) do B[i] = B[i-1] + 1 end", SERIAL, OLD },
      { "for k, i, j in parallel(n, n, n) do " ..
        "A[i][j] = math.min(A[i][j], A[i][k] + A[k][j]) end", SERIAL, OLD, ORDER },
      { "for i in parallel({2, n}) do for j = 2, n do A[i][j] = A[i-1][j] + A[i][j-1] end end",
        COLLAPSE, SERIAL, OLD },
      { "for i in parallel({2, n}) do for j = 2, n do B[j] = B[j-1] + A[i][j] end end",
        COLLAPSE, SERIAL },
      { "for i in parallel(n) do B[i % 3 + 1] = B[i % 3 + 1] + i end", SERIAL, SUM },
    }
    for _, case in ipairs(cases) do
      local found = fixes_of(case[1], { A = A, B = B, n = N })
      for k = 2, #case do assert.equal(case[k], found[k - 1], case[1]) end
    end
  end)

  it("come with their condition where none does", function()
    local found = fixes_of("for i in parallel(n - 1) do B[i] = B[i+1] + 1 end", { B = B, n = N })
    assert.same({ OLD, SERIAL }, found)
  end)

  it("say that only some loops gain from two indices", function()
    for _, text in ipairs { -- a loop that is not directly inside, and one whose nest is serial, too
      "for i in parallel({2, n}) do B[1] = i for j = 2, n do A[i][j] = A[i-1][j] end end",
      "for i in parallel({2, n}) do for j = 2, n do B[1] = B[1] + A[i][j] end end" } do
      for _, what in ipairs(fixes_of(text, { A = A, B = B, n = N })) do
        assert.not_equal(COLLAPSE, what, text)
      end
    end
  end)

  it("with two indices compute what the loop as written does", function()
    local plain, swept = {}, meissa.zeros(N, N)
    for i = 1, N do
      plain[i] = {}
      for j = 1, N do plain[i][j] = i * j % 7 swept[i][j] = plain[i][j] end
    end
    for i = 2, N do
      for j = 2, N do plain[i][j] = (plain[i-1][j] + 3 * plain[i][j-1]) % 101 end
    end
    local err = refusal(function()
      for i in parallel({2, N}) do
        for j = 2, N do swept[i][j] = (swept[i-1][j] + 3 * swept[i][j-1]) % 101 end
      end
    end)
    assert.truthy(tostring(err):find("parallel({2, N}, {collapse = 2})", 1, true), tostring(err))
    for i in parallel({2, N}, {collapse = 2}) do
      for j = 2, N do swept[i][j] = (swept[i-1][j] + 3 * swept[i][j-1]) % 101 end
    end
    assert.same(plain, swept:totable())
  end)

  it("that permit files say what for", function()
    local err = refusal(function() for i in parallel(3) do io.open("x" .. i) end end)
    local words = "if their order does not matter:  parallel(3, {impure"
    assert.truthy(tostring(err):find(words, 1, true), tostring(err))
  end)
end)

describe("reasons for the Lua engine", function()
  local function reason_of(fn)
    fn()
    return tostring(meissa.last()):match "engine lua %(line %d+: (.-)%)\n?$"
  end

  it("are true of the line", function()
    local A, out, objects, one, two = meissa.zeros(N), {}, {}, { 1, 2 }, { 3, 4 }
    for i = 1, N do objects[i] = { x = i, name = "n" .. i } end
    local model = { W = meissa.ones(N, 2) }
    function model:predict(i) return self.W[i]:sum() end
    assert.equal("`out` is a plain table, which only LuaJIT fills",
      reason_of(function() for i in parallel(N) do out[i] = i end end))
    assert.equal("`out` is a plain table, which only LuaJIT fills",
      reason_of(function() for i in parallel(N) do out[i] = {i, "x"} end end))
    assert.same({1, "x"}, out[1])
    assert.equal("`l` stands for more than one table, array or function",
      reason_of(function()
        for i in parallel(N) do
          local l = one
          if i > 3 then l = two end
          A[i] = l[1]
        end
      end))
    assert.equal("`predict` is a method of a plain table, which only LuaJIT calls",
      reason_of(function() for i in parallel(N) do A[i] = model:predict(i) end end))
    local said = reason_of(function() for i in parallel(N) do A[i] = objects[i].x end end)
    assert.is_nil(said and said:find "would be faster", said)
  end)
end)

describe("meissa.map", function()
  it("speaks of the function that it was given", function()
    local B, first = meissa.zeros(3), debug.getinfo(1, "l").currentline + 1
    local function change(x) B[1] = B[1] + x return x end
    local said = tostring(refusal(function() return meissa.map({ 1, 2, 3 }, change) end))
    assert.truthy(said:find(("words_spec.lua:%d: element 1 writes B[1], element 2 reads B[1]")
      :format(first), 1, true), said)
    assert.is_nil(said:find("results", 1, true), said)
    assert.is_nil(said:find("fn(list[i]", 1, true), said)
  end)
end)
