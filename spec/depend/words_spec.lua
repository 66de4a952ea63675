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
    assert.is_nil(reason_of(function() for i in parallel(N) do out[i] = i end end))
    assert.equal("`out` is a plain table, which only LuaJIT fills with what is no number",
      reason_of(function() for i in parallel(N) do local t = {i} out[i] = t end end))
    assert.equal("`\"x\"` is a string",
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
    assert.is_nil(
      reason_of(function() for i in parallel(N) do A[i] = model:predict(i) end end))
    local X, Y = meissa.ones(N, 2), meissa.ones({ N, 2 }, { type = "float" })
    local function one_of(i) if i > 3 then return X[i] end return Y[i] end
    local function some(i) if i > 3 then return X[i] end end
    local words = "` does not always give a row of the same array, or the same table"
    assert.equal("`one_of(i)" .. words,
      reason_of(function() for i in parallel(N) do local r = one_of(i) A[i] = r[1] end end))
    assert.equal("`some(i)" .. words,
      reason_of(function() for i in parallel(N) do local r = some(i) A[i] = r and 1 or 0 end end))
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

describe("refusals of stores", function()
  local function said(fn) return tostring(refusal(fn)) end

  it("advise a buffer where all stores are sums only", function()
    local bindings = { B = meissa.shape(N), key = meissa.opaque, n = N }
    for _, case in ipairs {
      { true, "B[key[i]] = B[key[i]] + 1" },
      { true, "B[key[i]] = B[key[i]] + 1 B[i] = B[i] - i" },
      { false, "B[key[i]] = B[key[i]] + 1 B[i] = 3" },
      { false, "B[key[i]] = B[key[i]] + 1 B[key[i]] = 2 * B[key[i]]" },
      { false, "B[key[i]] = B[key[i]] + 1 B[key[i]], B[i] = 1, 2" },
      { false, "B[key[i]] = B[key[i]] + 1 B:scal(2)" } } do
      local text = "for i in parallel(n) do " .. case[2] .. " end"
      local advised = false
      for _, what in ipairs(fixes_of(text, bindings)) do advised = advised or what == SUM end
      assert.equal(case[1], advised, text)
    end
  end)

  it("advise no snapshot of what is written through it", function()
    local T, U, V = meissa.shape(N, N), meissa.shape(N), meissa.shape(N)
    for _, text in ipairs {
      "T:select(2, i % 2 + 1):scal(2)", "T[i % 2 + 1]:axpy(1, T[i])",
      "T[{{1, 2}}]:transpose():scal(2)", "local c = T[{{1, 2}}]:transpose() c:add(i)" } do
      text = "for i in parallel(n) do " .. text .. " end"
      for _, what in ipairs(fixes_of(text, { T = T, n = N })) do
        assert.are_not.equal(OLD, what, text)
      end
    end
    local found = fixes_of("for i in parallel(n - 1) do " ..
      "T:select(2, i):copy(U) V[i] = T[1][i + 1] end", { T = T, U = U, V = V, n = N })
    assert.equal(OLD, found[1])
  end)

  it("into tables say that arrays cannot be sent to the driver, and what can", function()
    local X, rows = meissa.ones(N, 3), {}
    for _, part in ipairs { function(i) return X[i] end, function() return X end,
      function(i) return X:select(1, i) end, function(i) return X[i]:clone() end } do
      local text = said(function() for i in parallel(N) do rows[i] = part(i) end end)
      assert.truthy(text:find("words_spec.lua:%d+: BDY: rows%[1%] is an array"), text)
    end
    for i in parallel(N) do rows[i] = X[i]:totable() end
    assert.same({ 1, 1, 1 }, rows[N])
    local copied = meissa.zeros(N, 3)
    for i in parallel(N) do copied[i] = X[i] end
    assert.equal(3 * N, copied:sum())
  end)

  it("into arrays of objects call them so, methods and locals included", function()
    local O, M = meissa.objects(N), meissa.objects(N, 2)
    for i = 1, N do O[i] = { x = i } end
    for _, fn in ipairs {
      function() for i in parallel(N) do O[i] = { O[1].x } end end,
      function() for i in parallel(N) do O[i].x = 1 end end,
      function() for i in parallel(N) do O[#O + 1] = i end end,
      function() for i in parallel(N) do O[1] = (O[1] or 0) + i end end,
      function() for i in parallel(N) do table.insert(O, i) end end,
      function() for i in parallel(N) do O:fill(i) end end,
      function() for _ in parallel(N) do O:free() end end,
      function() for i in parallel(N) do M[i][1] = i end end,
      function() for i in parallel(N) do M[i]:fill(i) end end,
      function() for i in parallel(N) do local row = M[i] row[2] = i end end } do
      local text = said(fn)
      assert.truthy(text:find("[DEP120 write into an array of objects]", 1, true), text)
      assert.truthy(text:find("array of objects", 1, true) and not text:find "plain table", text)
    end
    local new = meissa.objects(N)
    for i in parallel(N) do new[i] = { x = O[i].x + 1 } end
    assert.equal(N + 1, new[N].x)
  end)
end)

describe("lookups in package", function()
  it("are told to load the module before the loop, those of variables to look these up", function()
    local name = "ffi"
    local function loaded() return package.loaded[name] end
    for _, fn in ipairs {
      function() meissa.map({ 1, 2, 3 }, function() return loaded() and 1 end) end,
      function() meissa.map({ 1, 2, 3 }, function() return package.loaded[name] and 1 end) end } do
      local text = tostring(refusal(fn))
      assert.truthy(text:find("DEP119", 1, true), text)
      assert.truthy(text:find('local module = require("name")', 1, true), text)
      assert.is_nil(text:find("_G[name]", 1, true))
    end
    local text = tostring(refusal(function()
      meissa.map({ 1 }, function() return _G[name] and 1 end)
    end))
    assert.truthy(text:find("local value = _G[name]", 1, true), text)
  end)
end)

describe("what a variable starts from", function()
  local words = {"b", "a", "c", "b"}

  after_each(function() meissa.init {} end)

  local function says(what, fn)
    for _, workers in ipairs { 0, 2 } do
      meissa.init { workers = workers }
      local text = tostring(refusal(fn))
      for _, each in ipairs(what) do assert.truthy(text:find(each, 1, true), text) end
    end
  end

  it("is told where no reduction can start from it, before anything runs", function()
    local best, sum, flag, at = "aa", "0", true, 0
    says({ "DEP104", "best is a string before the loop, and the reduction 'max'",
      "best = nil  ... if not best or value > best then best = value end" }, function()
      for i in parallel(4) do if words[i] > best then best, at = words[i], i end end
    end)
    says({ "DEP104", "sum is a string before the loop, and the reduction '+'", "sum = 0" },
      function() for i in parallel(4) do sum = sum + i end end)
    says({ "DEP104", "flag is a boolean before the loop" },
      function() for i in parallel(4) do flag = flag * i end end)
    assert.same({ "aa", "0", true, 0 }, { best, sum, flag, at })
    best = nil -- as the fix has it
    for i in parallel(4) do
      if not best or words[i] > best then best, at = words[i], i end
    end
    assert.same({ "c", 3 }, { best, at })
  end)

  it("is a string that the body appends to, which a list of pieces replaces", function()
    local text, unset = "", nil
    local fix = "parts[#parts + 1] = piece  ... text = text .. table.concat(parts)"
    says({ "DEP104", "is a string that each iteration appends to", fix },
      function() for i in parallel(4) do text = text .. words[i] .. "," end end)
    says({ "appends to", "unset = \"\" .. table.concat(parts)" },
      function() for i in parallel(4) do unset = (unset or "") .. words[i] end end)
    local looked = tostring(refusal(function()
      for i in parallel(4) do text = text .. #text .. words[i] end
    end))
    assert.falsy(looked:find("appends to", 1, true), looked)
    for _, workers in ipairs { 0, 1, 2 } do
      meissa.init { workers = workers }
      local parts = {}
      for i in parallel(4) do parts[#parts + 1] = words[i] .. "," end
      assert.equal("b,a,c,b,", text .. table.concat(parts))
    end
  end)
end)

describe("stores into tables", function()
  local A, mine = meissa.zeros(N), {1, 2, 3}

  it("that the body may have made are not called stores into ones from outside", function()
    local text = tostring(refusal(function()
      for i in parallel(N) do
        local t = {mine}
        t[2] = {}
        t[2][1] = i
        A[i] = t[2][1]
      end
    end))
    assert.truthy(text:find("t[2] is not known to be a table that the body", 1, true), text)
    assert.falsy(text:find("writes into a plain table from outside", 1, true), text)
    for i in parallel(N) do -- as the fix has it
      local t, own = {mine}, {}
      own[1] = i
      t[2] = own
      A[i] = t[2][1]
    end
    assert.equal(N * (N + 1) / 2, A:sum())
  end)

  it("from outside are called so", function()
    local text = tostring(refusal(function()
      for i in parallel(N) do local t = mine t[1] = i A[i] = t[1] end
    end))
    assert.truthy(text:find("writes into a plain table from outside", 1, true), text)
  end)
end)

describe("a range and more variables than it has", function()
  it("are refused with what a loop over a list is", function()
    local list, A = {5, 6, 7}, meissa.zeros(3)
    for _, workers in ipairs { 0, 2 } do
      meissa.init { workers = workers }
      for _, loop in ipairs {
        function() for i, v in parallel({5, 6, 7}) do A[i] = v end end,
        function() for i, v in parallel(3) do A[i] = v end end,
        function() for i, v in parallel({1, 3}, { serial = true }) do A[i] = v end end,
      } do
        local err = refusal(loop)
        assert.equal("OPT", err.code)
        assert.truthy(err.message:find(
          "for i in parallel(#list) do local v = list[i]", 1, true), err.message)
      end
      local function more() for i, j, v in parallel(3, 3) do A[i] = v + j end end
      assert.equal("OPT", refusal(more).code)
      for i in parallel(#list) do local v = list[i] A[i] = v end
      assert.equal(18, A:sum())
      for i, v in parallel(A) do A[i] = v end
      A:fill(0)
    end
    meissa.init {}
  end)
end)

describe("meissa.last()", function()
  it("is the plan of a loop that failed or was refused, too", function()
    local A = meissa.zeros(N)
    for _, workers in ipairs { 0, 2 } do
      meissa.init { workers = workers }
      for i in parallel(N) do A[i] = 0 end
      refusal(function() for i in parallel({2, N}) do A[i] = A[i-1] + 1 end end)
      assert.equal("serial", meissa.last().strategy)
      assert.equal("DEP101", meissa.last().reasons[1].code)
      refusal(function() for i in parallel(N) do A[i] = 1 error "no" end end)
      assert.equal("independent", meissa.last().strategy)
      assert.is_nil(meissa.last().seconds)
    end
    meissa.init { workers = 2 }
    local stop = false
    local function loop() for i in parallel(N) do A[i] = 2 if stop then error "no" end end end
    loop()
    assert.is_number(meissa.last().seconds)
    stop = true
    refusal(loop)
    assert.is_nil(meissa.last().seconds)
    meissa.init {}
  end)
end)

describe("what has no name, or no contents,", function()
  it("is said to be an array without a name", function()
    local A = meissa.zeros(N)
    local held = { [A] = true }
    local function put(i) for B in pairs(held) do B[i] = B[i - 1] end end
    local message = refusal(function() for i in parallel({ 2, N }) do put(i) end end)
    assert.truthy(tostring(message):find("write (an array without a name)", 1, true))
  end)

  it("is to be overwritten, and then is there again", function()
    local A = meissa.zeros(2, 2)
    meissa.init { workers = 2 }
    refusal(function()
      for i in parallel(2, { transaction = false }) do
        A[i][1] = 1
        error "no"
      end
    end)
    local known, err = pcall(A.sum, A)
    assert.is_false(known)
    assert.truthy(tostring(err):find("overwrite all of it first, by fill or copy", 1, true))
    assert.equal(8, A:gemm(meissa.ones(2, 2), meissa.ones(2, 2)):sum())
    meissa.init {}
  end)
end)
