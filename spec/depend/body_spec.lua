-- SPDX-License-Identifier: MIT
--
-- What the analyser makes of bodies: values followed, effects, what it refuses, placements, spaces.
-- See also scalars_spec.lua.

local analyze = require "meissa.analyze"
local plans = require "spec.depend.plans"

local shape, opaque = analyze.shape, analyze.opaque
local plan, plan2, codes, distances = plans.plan, plans.plan2, plans.codes, plans.distances

describe("values", function()
  local cases = {
    { "local k = i + 1\nA[k] = A[k - 1]", "(1)" },
    { "local k = i\nlocal m = 2 * k\nA[m] = A[m + 1]", "" },
    { "local k = i\nk = k + 1\nA[k] = 1", "" }, { "local k = i\nk = 5\nA[k] = 1", "(+)" },
    { "local k = i\nwhile A[k] > 0 do k = k + 1 end\nA[k] = 1", "(+)" }, -- anything
    { "local k\nif A[1] > 0 then k = 1 else k = 2 end\nB[i] = k", "" },
    { "i = i + 1\nA[i] = 1", "(+)" },
    { "A[i + n] = A[i]", "(3)" },
    { "A[n * i] = A[n * i + 1]", "" },
    { "A[(2 * i) / 2] = A[i + 1]", "(1)" },
    { "A[i / 2] = 1", "(+)" },
    { "A[-(-i)] = 1", "" },
    { "A[i % 3] = 1", "(+)" },
    { "A[i - i % 2] = A[i - i % 2 + 1]", "(1)" },
    { "A[math.floor(i / 2)] = 1", "(1)" },
    { "A[math.floor(i)] = 1", "" },
    { "local B2 = B\nB2[i] = B[i + 1]", "(1)" },
    { "local a, b = i, i + 1\nA[a] = A[b]", "(1)" },
    { "A[i], B[i] = B[i + 1], A[i]", "(1)" },
    { "A[i + 0.5] = 1", "(+)" },
    { "A[2 ^ i] = 1", "(+)" },
    { "A[C[i][1]] = 1", "(+)" },
    { "A[p[i]] = 1", "(+)" },
    { "local x = p[i]\nA[i] = x * 2", "" },
    { "local w = C[i]\nw[1] = w[2]", "" },
    { "local w = C[i]\nlocal v = C[i + 1]\nw[1] = v[1]", "(1)" },
    { "local w = C[i]\nlocal v = C[i + 1]\nw[1] = v[2]", "" },
    { "C[{i, 1}] = C[{i - 1, 1}]", "(1)" },
    { "C[{{i, i + 1}, 1}]:fill(0)", "(1)" },
    { "C[{{i, i + 1}, 1}]:fill(C[i][2])", "(1)" },
    { "for k = 1, 3 do C[i][k] = C[i][k + 1] end", "" },
    { "for k = i, i + 1 do A[k] = 1 end", "(1)" },
    { "for k = 1, n do A[k] = i end", "(+)" },
    { "for k = 1, p[i] do A[k] = i end", "(+)" },
    { "for k = 1, 0 do A[k] = i end", "" },
    { "for k = 1, C:size(2) do C[i][k] = 0 end", "" },
    { "while p[1] do A[i] = A[i + 2] end", "(2)" },
    { "repeat local k = i + 1 until A[k] > 0\nB[i] = 1", "" },
    { "goto done\nA[1] = i\n::done::", "" },
    { "do local k = i\nA[k] = 1 end", "" },
    { "local t = { i, i + 1 }\nA[t[1]] = 1", "(+)" },
    { "local t = {}\nt[1] = A\nt[1][i] = 1", "(+)" },
    { "local function f(k) A[k] = 1 end\nf(i)", "" },
    { "local function f(k) A[k] = 1 end\nlocal g = f\ng(i)", "(+)" },
    { "local f = function(a) return a * 2 end\nA[i] = f(i)", "" },
    { "A[i] = 1\nlocal s = (A):sum()", "(+)" },
    { "A[i] = n > 2 and A[i + 1] or A[i]", "(1)" },
    { "A[i] = n > 3 and A[i + 1] or A[i]", "" },
    { "local w = C[i]\nif n > 1 then w = C[i] end\nw[1] = 0", "" },
    { "local w = C[i]\nif i > 5 then w = C[i - 5] end\nw[1] = 0", "(5)" },
    { "local k = i - 1\nif k < 1 then k = 10 end\nA[k] = 1", "" },
    { "local ok = false\nif i > n then ok = true end\nif ok then A[i] = A[n] end", "" },
    { "local k = i\nif p[i] then k = 5 end\nA[k] = 1", "(+)" },
    { "local k = i\nlocal f = function() k = 3 end\nif i > 2 then f() end\nA[k] = 1", "(+)" },
  }
  for _, case in ipairs(cases) do
    it(case[1]:gsub("\n", "; "), function()
      local p = plan(case[1], { A = shape(60), B = shape(60), C = shape(20, 8), p = opaque, n = 3 })
      assert.are.equal(case[2], distances(p))
    end)
  end
end)

describe("verdicts", function()
  it("tell proven from possible", function()
    local B = { A = shape(60), p = opaque, n = 3 }
    assert.are.equal("serial", plan("A[i + 1] = A[i]", B).verdict)
    assert.are.equal("unknown", plan("if p[1] > 4 then A[i + 1] = A[i] end", B).verdict)
    assert.are.equal("unknown", plan("A[p[i]] = 1", B).verdict)
    assert.are.equal("unknown", plan("if p[1] > 4 then goto done end\nA[i + 1] = A[i]\n::done::",
      B).verdict)
    assert.are.equal("unknown", plan("while p[1] do A[1] = i end", B).verdict)
    assert.are.equal("serial", plan("for k = 1, 2 do A[k] = i end", B).verdict)
    assert.are.equal("unknown", plan("for k = 1, 2 do A[k] = i\nif p[k] then break end end",
      B).verdict)
    assert.are.equal("unknown", plan("local x = p[i] and A[1]\nA[i] = x", B).verdict)
    assert.are.equal("serial", plan("A[n + 1] = A[i]", B).verdict)
    assert.are.equal("serial", plan("local function f() A[1] = i end\nf()", B).verdict)
    assert.are.equal("unknown", plan("local function f() A[1] = i end\n(f)()", B).verdict)
  end)
end)

describe("effects", function()
  local function arrays() return { A = shape(60), B = shape(60), C = shape(20, 8) } end
  local cases = {
    { "B[i] = A:sum() + A:norm()", "independent" },
    { "C[i]:fill(0)", "independent" },
    { "C[i]:copy(C[i + 1])", "serial" },
    { "C[i]:axpy(2, A)\nC[i]:scal(3)", "independent" },
    { "A:fill(i)", "serial" },
    { "B[i] = C[i]:dot(A)", "independent" },
    { "local c = C[i]:clone()\nc[1] = 2\nB[i] = c:sum()", "independent" },
    { "C[i]:frobnicate()", "serial" }, -- unknown: reads and writes all of C
    { "B[i] = math.max(A[1], 2) + tonumber('3')", "independent" },
    { "print(A)\nB[i] = 1", "independent" },
    { "B[i] = type(B)", "serial" },
    { "for k, v in C[i]:nonzeros() do B[i] = B[i] + v end", "independent" },
    { "C:transpose()[i][1] = 1", "independent" },
    { "C:transpose()[1][i % 2 + 1] = 1", "serial" },
    { "C:transpose(1, A[1])[i][1] = 1", "serial" }, -- unknown: writes all of C
  }
  for _, case in ipairs(cases) do
    it(case[1]:gsub("\n", "; "), function()
      assert.are.equal(case[2], plan(case[1], arrays()).strategy)
    end)
  end

  it("of functions are looked through", function()
    local Z, W = shape(9), shape(9)
    local function reads(k) return Z[k] * 2 end
    local function writes(k) Z[1] = k end
    local deep = { inner = { call = writes } }
    local function nested(k) return deep.inner.call(k) end
    local function pure(x) return x * x end
    local count = 0
    local function counts(x) count = count + 1 return x end
    local function stores(t) t[1] = 2 end
    local B = function(f) return { f = f, W = W, Z = Z, list = { 1, 2 } } end
    assert.are.equal("independent", plan("W[i] = f(i)", B(pure)).strategy)
    assert.are.equal("", distances(plan("W[i] = f(i)", B(pure))))
    assert.are.equal("", distances(plan("W[i] = f(i)", B(reads))))
    assert.are.equal("read", plan("W[i] = f(i)", B(reads)).arrays.Z.access)
    assert.are.equal("", distances(plan("Z[i] = f(i)", B(reads))))
    assert.are.equal("(1)", distances(plan("Z[i+1] = f(i)", B(reads))))
    assert.are.equal("(+)", distances(plan("W[i] = f(i)", B(writes))))
    assert.are.equal("serial", plan("W[i] = f(i)", B(writes)).strategy)
    assert.are.equal("serial", plan("f(i)", B(nested)).strategy)
    local C = shape(9, 3)
    local function fills(a) a[1] = 2 end
    assert.are.equal("", distances(plan("f(C)", { f = pure, C = C })))
    assert.are.equal("(+)", distances(plan("f(C)", { f = fills, C = C })))
    assert.are.equal("", distances(plan("f(C, { C })", { f = pure, C = C })))
    assert.are.equal("(+)", distances(plan("f(C, { C })", { f = fills, C = C })))
    assert.are.equal("", distances(plan("f(C[i])", { f = pure, C = C }))) -- it has only the row
    assert.are.equal("DEP112", codes(plan("W[i] = f(i)", B(counts))))
    assert.are.equal("DEP112", codes(plan("f(list)", B(stores))))
    assert.are.equal("", codes(plan("local t = {}\nf(t)\nW[i] = 1", B(stores))))
  end)

  it("of arrays inside captured tables are followed", function()
    local A = shape(9)
    local model = { W = A, other = { W = A } }
    assert.are.equal("", distances(plan("model.W[i] = 1", { model = model })))
    assert.are.equal("(1)", distances(plan("model.W[i] = A[i + 1]", { model = model, A = A })))
    assert.are.equal("(+)", distances(plan("A[i] = model[n][1]",
      { model = model, A = A, n = "W" })))
    assert.are.equal("local", plan("model.W[i] = 1", { model = model }).arrays["model.W"].placement)
  end)

  it("of views that may overlap in unknown ways touch all of the storage", function()
    local describe_view = function(value)
      if type(value) == "table" and value.view then
        return { array = value.view, storage = 77, dims = { 9 } }
      end
    end
    analyze.add_describer(describe_view)
    local a, b = { view = 1001 }, { view = 1002 }
    local p = plan("a[i] = b[i]", { a = a, b = b })
    assert.are.equal("(+)", distances(p))
    assert.are.equal("DEP103", p.reasons[1].code)
    assert.are.equal("unknown", p.verdict)
    assert.are.equal("", distances(plan("a[i] = 1", { a = a })))
    p = analyze.analyze("for i, v in parallel(b) do a[i] = v end", { a = a, b = b })
    assert.are.equal("DEP103", p.reasons[1].code) -- the entries that it runs over change
    assert.are.equal("(1)", distances(plan("a[i] = b[i + 1]", { a = a, b = { view = 1001 } })))
  end)
end)

describe("refusals", function()
  local cases = {
    { "if A[i] > 0 then break end", "DEP108", "unknown" },
    { "break", "DEP108", "serial" },
    { "do return end", "DEP108", "serial" },
    { "t[i] = 1", "DEP107", "serial" },
    { "t.count = i", "DEP107", "serial" },
    { "A[i].name = 1", "DEP107", "unknown" },
    { "_G[t[i]][1] = 2", "DEP107", "unknown" },
    { "t[i][1] = 1", "DEP107", "unknown" },
    { "table.insert(t, i)", "DEP107", "serial" },
    { "local u = t\nu[i] = 1", "DEP107", "serial" },
    { "coroutine.yield(i)", "DEP110", "serial" },
    { "A[i] = math.random()", "DEP111", "serial" },
    { "A = t", "DEP106", nil },
    { "A[i] = ...", "DEP109", "serial" },
  }
  for _, case in ipairs(cases) do
    it(case[1]:gsub("\n", "; "), function()
      local p = plan(case[1], { A = shape(20), t = opaque })
      assert.are.equal("serial", p.strategy)
      assert.is_truthy(codes(p):find(case[2]), codes(p))
      if case[3] then assert.are.equal(case[3], p.verdict) end
      assert.is_true(#p.reasons[1].fixes >= 1)
    end)
  end

  it("private tables and inner exits are fine", function()
    local B = { A = shape(20), t = opaque }
    assert.are.equal("independent", plan("local u = {}\nu[1] = i\nA[i] = u[1]", B).strategy)
    assert.are.equal("independent",
      plan("for k = 1, 3 do if A[i] > k then break end end\nA[i] = 0", B).strategy)
    assert.are.equal("independent",
      plan("if A[i] > 2 then goto continue end\nA[i] = 0\n::continue::", B).strategy)
    assert.are.equal("independent",
      plan("local f = function() return 1 end\nA[i] = f()", B).strategy)
  end)
end)

describe("placements", function()
  it("follow the cut", function()
    local p = plan2("W[i] = W[i] + H[j] + M[1]\nH[j] = W[i]",
      { W = shape(6), H = shape(6), M = shape(3) }, { ordered = false })
    assert.are.equal("rotate", p.strategy)
    assert.are.same({ "i", "j" }, p.dims)
    assert.are.equal("local", p.arrays.W.placement)
    assert.are.equal("rotated", p.arrays.H.placement)
    assert.are.equal("broadcast", p.arrays.M.placement)
    assert.are.equal("j", p.arrays.H.follows)
  end)

  it("give scale and offset in index values", function()
    local p = analyze.analyze("for i in parallel({3, 9, 2}) do A[2*i - 1] = B[i] end",
      { A = shape(20), B = shape(20) })
    assert.are.equal(2, p.arrays.A.scale)
    assert.are.equal(-1, p.arrays.A.offset)
    assert.are.equal(1, p.arrays.A.array_dim)
    assert.are.equal("write", p.arrays.A.access)
    assert.are.equal(1, p.arrays.B.scale)
    assert.are.equal(0, p.arrays.B.offset)
  end)

  it("cut where written arrays align", function()
    local p = plan2("B[j] = i\nlocal x = B[j]", { B = shape(6) }, { ordered = true })
    assert.are.same({ "j" }, p.dims)
    p = plan2("C[j][i] = C[j][i] + 1\nC[j][i] = 2", { C = shape(6, 6) })
    assert.are.equal("independent", p.strategy)
    assert.are.equal(2, p.arrays.C.array_dim)
  end)

  it("need halos where neighbours' elements are read", function()
    local p = plan2("A[i][j] = A[i - 1][j] + A[i][j - 1]", { A = shape(7, 7) },
      { ordered = false })
    assert.are.equal("rotate", p.strategy)
    assert.are.equal("halo", p.arrays.A.placement)
  end)

  it("are local where elements stay with one worker in no simple way", function()
    local p = plan("A[2*i] = A[2*i + 1]", { A = shape(30) })
    assert.are.equal("local", p.arrays.A.placement)
    assert.is_nil(p.arrays.A.array_dim)
  end)
end)

describe("spaces", function()
  it("count distances in iterations", function()
    local p = analyze.analyze("for i in parallel({1, 9, 2}) do A[i] = A[i - 2] end",
      { A = shape(9) })
    assert.are.equal("(1)", distances(p))
    p = analyze.analyze("for i in parallel({9, 1, -1}) do A[i] = A[i - 1] end", { A = shape(9) })
    assert.are.equal("(1)", distances(p))
    assert.are.same({ 9 }, p.reasons[1].witness.from)
  end)

  it("over arrays are unordered, and their entries are read", function()
    local R = shape(6, 6, { sparse = true })
    local text = "for i, j, r in parallel(R) do %s end"
    local p = analyze.analyze(text:format("W[i] = W[i] + H[j] * r\nH[j] = r"),
      { R = R, W = shape(6), H = shape(6) })
    assert.are.equal("rotate", p.strategy)
    p = analyze.analyze(text:format("R[i][j] = r * 2"), { R = R })
    assert.are.equal("independent", p.strategy)
    assert.are.equal("read+write", p.arrays.R.access)
    p = analyze.analyze(text:format("R[j][i] = r * 2"), { R = R })
    assert.are.equal("(+,-)", distances(p))
    p = analyze.analyze(text:format("A[i] = r\nA[r] = 1"), { R = R, A = shape(9) })
    assert.are.equal("serial", p.strategy)
  end)

  it("may be empty or tiny", function()
    local p = analyze.analyze("for i in parallel(0) do A[1] = A[1] + i end", { A = shape(9) })
    assert.are.equal("independent", p.strategy)
    p = analyze.analyze("for i in parallel(1) do A[1] = A[1] + i end", { A = shape(9) })
    assert.are.equal("independent", p.strategy)
  end)

  it("take in nested loops", function()
    local p = analyze.analyze("for i in parallel({1, 5}, {collapse = 2}) do\nfor j = 1, i do\n" ..
      "A[i][j] = 1 end end", { A = shape(5, 5) })
    assert.are.same({ "i", "j" }, p.indices)
    assert.has_error(function()
      analyze.analyze("for i in parallel({1, 5}, {collapse = 2}) do A[i] = 1 end", { A = shape(5) })
    end)
    assert.has_error(function()
      analyze.analyze("for i in parallel({1, 5}, {collapse = 2}) do\n" ..
        "for j = 1, p[i] do A[j] = 1 end end",
        { A = shape(5), p = opaque })
    end)
  end)

  it("beyond exact indices are opaque, never wrong", function()
    local p = analyze.analyze("for i in parallel({1, 2^40}) do A[i] = 1 end", { A = shape(2 ^ 41) })
    assert.are.equal("unknown", p.verdict)
    p = analyze.analyze("for i in parallel(9) do A[i * 2^30] = 1 end", { A = shape(2 ^ 41) })
    assert.are.equal("unknown", p.verdict)
    p = analyze.analyze("for i in parallel(9) do for k = 2^40, 2^40 + i do A[k] = 1 end end",
      { A = shape(2 ^ 41) })
    assert.are.equal("unknown", p.verdict)
    p = analyze.analyze("for i in parallel(9) do A[i + 2^70] = 1 end", { A = shape(9) })
    assert.are.equal("unknown", p.verdict)
    p = analyze.analyze("for i in parallel({-2^53, 2^53, 2^52}) do A[1] = i end", { A = shape(9) })
    assert.are.equal("(+)", distances(p))
  end)
end)
