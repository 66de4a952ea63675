-- SPDX-License-Identifier: MIT
-- What becomes of each kind of variable that a body uses: on workers and in this process, as the
-- loop's report words it, and why loops are refused.
local expect = require "spec.support.expect"
local meissa = require "meissa"
local parallel = meissa.parallel
-- Specs run in an environment that finds globals by a function, which the analyser never calls.
local math = math

local contains, refusal = expect.has, expect.refusal

local function report() return tostring(meissa.last()) end

for _, workers in ipairs {0, 1, 2, 3} do
  describe(("with %d workers"):format(workers), function()
    setup(function() meissa.init {workers = workers} end)
    teardown(function() meissa.init {} end)

    describe("a plain table that is only assigned", function()
      it("is output by slices", function()
        local t = {}
        for i in parallel(100) do t[i] = i * 2 end
        assert.equal(100, #t)
        for i = 1, 100 do assert.equal(2 * i, t[i]) end
        contains(report(), "t  output sliced by i")
      end)

      it("takes strings, booleans and tables, in any order", function()
        local out, flags = {}, {}
        local function run_one(i) return {name = "run " .. i, scores = {i, i * i}} end
        for i in parallel(30, {ordered = false}) do
          out[i] = run_one(i)
          flags[i] = i % 2 == 0
        end
        for i = 1, 30 do
          assert.same({name = "run " .. i, scores = {i, i * i}}, out[i])
          assert.equal(i % 2 == 0, flags[i])
        end
      end)

      it("keeps what the loop does not assign, and loses what it assigns nil", function()
        local t = {1, 2, 3, 4, 5, name = "t"}
        for i in parallel({2, 4}) do
          if i ~= 3 then t[i] = i == 2 and "two" or nil end
        end
        assert.same({1, "two", 3, nil, 5, name = "t"}, t)
      end)

      it("may be a field, a global, an upvalue, and have affine keys", function()
        local results = {runs = {}, rate = 2}
        for i in parallel(10) do results.runs[2 * i - 1] = results.rate * i end
        for i = 1, 10 do assert.equal(2 * i, results.runs[2 * i - 1]) end
        assert.is_nil(results.runs[2])
        contains(report(), "results.runs  output sliced by i")
        local env = setmetatable({parallel = parallel, t = {}}, {__index = _G})
        setfenv(assert(loadstring("for i in parallel(5) do t[6 - i] = i end")), env)()
        assert.same({5, 4, 3, 2, 1}, env.t)
      end)

      it("is cut so that the last assignment wins", function()
        local t, flat = {}, {}
        for i, j in parallel(6, 7) do
          t[j] = 10 * i + j
          flat[(i - 1) * 7 + j] = i * j
        end
        for j = 1, 7 do assert.equal(60 + j, t[j]) end
        assert.equal(42, #flat)
        assert.equal(12, flat[13])
        assert.same({"j"}, meissa.last().dims)
        contains(report(), "t  output sliced by j", "flat  output sliced by i, j")
      end)

      it("works in closures and over entries", function()
        local t = {}
        meissa.each(12, function(i)
          if i % 3 == 0 then return end
          t[i] = -i
        end)
        assert.equal(-11, t[11])
        assert.is_nil(t[12])
        local A, seen = meissa.zeros(20), {}
        A:fill(3)
        for i, a in parallel(A) do seen[i] = a + i end
        for i = 1, 20 do assert.equal(3 + i, seen[i]) end
      end)

      it("is refused where it is read, reached otherwise, or given other keys", function()
        local t, keys = {}, {3, 2, 1}
        local alias, holder = t, {inner = {t}}
        local function peek() return t[1] end
        local guarded = setmetatable({}, {__newindex = function() end})
        local function refused(fn) contains(refusal(fn), "DEP107 write into a plain table") end
        refused(function() for i in parallel(3) do t[i] = (t[i] or 0) + t[1] end end)
        refused(function() for i in parallel(3) do t[#t + i] = i end end)
        refused(function() for i in parallel(3) do t[keys[i]] = i end end)
        refused(function() for i in parallel(3) do t[1] = i end end)
        refused(function() for i in parallel(3) do t["k" .. i] = i end end)
        refused(function() for i in parallel(3) do t[i] = #alias end end)
        refused(function() for i in parallel(3) do t[i] = #holder.inner end end)
        refused(function() for i in parallel(3) do t[i] = peek() end end)
        refused(function() for i in parallel(3) do guarded[i] = i end end)
        refused(function() for i in parallel(3) do holder.inner[1][i] = i end end)
        refused(function() for i in parallel(3) do (function() t[i] = i end)() end end)
        local text = refusal(function()
          for i, j in parallel(3, 3) do t[i + j] = i end -- luacheck: ignore
          for i, j in parallel(3, 3) do t[i + j], keys[i] = i, keys[j] end
        end)
        contains(text, "DEP107")
        assert.same({3, 2, 1}, keys)
      end)

      if workers > 0 then
        it("takes no functions of C and no arrays", function()
          local t, A = {}, meissa.zeros(3, 3)
          contains(refusal(function() for i in parallel(3) do t[i] = {row = A[i]} end end),
                   "t[", ".row is an array", "cannot be sent to the driver")
          assert.is_nil(next(t))
        end)
      end
    end)

    it("broadcasts what is only read", function()
      local A, factor, opts, label = meissa.zeros(10), 3, {rate = {fast = 0.5}}, "x"
      for i in parallel(10) do A[i] = i * factor * opts.rate.fast + #label end
      assert.equal(16, A[10])
      assert.equal("broadcast", meissa.last().scalars.factor.role)
      assert.equal("broadcast", meissa.last().scalars["opts.rate.fast"].role)
    end)

    it("reduces, and names the operator", function()
      local sum, most, any, product, self = 1, 0, false, 1, {loss = 0}
      for i in parallel(20) do
        sum = sum + i
        if i > most then most = i end
        any = any or i == 7
        product = product * (i % 2 + 1)
        self.loss = self.loss + 0.5
      end
      assert.same({211, 20, true, 1024, 10}, {sum, most, any, product, self.loss})
      contains(report(), "sum  reduction +", "most  reduction max", "any  reduction or",
               "product  reduction *", "self.loss  reduction +")
    end)

    it("reduces by every form to what the loop as written gives", function()
      local strict = require "meissa.base.strict"
      local A, Z = meissa.randn({400}, {seed = 3}), meissa.zeros(400)
      for i = 1, 400 do Z[i] = i * 7 % 13 < 6 and 0 or -0 end
      local function bits(x)
        return type(x) == "number" and ("%.17g %s"):format(x, 1 / x) or tostring(x)
      end
      local function run(head, body, array, start)
        local env = setmetatable({A = array, s = start, parallel = parallel, math = math},
                                 {__index = _G})
        if head == "1, 400" then -- the plain loop, with the extremes that the engines have
          env.math = strict.math
          body = "for i = 1, 400 do " .. body .. " end"
        else
          body = ("for i in parallel(400, {ordered = %s}) do %s end"):format(head, body)
        end
        setfenv(assert(loadstring(body)), env)()
        return bits(env.s)
      end
      local function compare(body, array, start)
        local expected = run("1, 400", body, array, start)
        assert.equal(expected, run("true", body, array, start), body .. ", ordered")
        assert.equal(expected, run("false", body, array, start), body .. ", unordered")
      end
      local extremes = {
        "if A[i] > s then s = A[i] end", "if A[i] >= s then s = A[i] end",
        "if s < A[i] then s = A[i] end", "if s <= A[i] then s = A[i] end",
        "if A[i] < s then s = A[i] end", "if A[i] <= s then s = A[i] end",
        "s = A[i] > s and A[i] or s", "s = s > A[i] and s or A[i]",
        "s = s < A[i] and s or A[i]", "s = A[i] <= s and A[i] or s",
        "if math.abs(A[i]) > s then s = math.abs(A[i]) end",
      }
      if workers > 0 then -- in this process these are LuaJIT's own
        for _, body in ipairs {"s = math.max(s, A[i])", "s = math.max(A[i], s, -A[i])",
                               "s = math.min(s, A[i])", "s = math.min(A[i], s)",
                               "if i % 3 == 0 then s = math.max(s, A[i]) end"} do
          extremes[#extremes + 1] = body
        end
      end
      for _, body in ipairs(extremes) do
        for _, start in ipairs {0, -0, 1, -math.huge, math.huge, 0 / 0} do
          compare(body, A, start)
          compare(body, Z, start)
        end
      end
      for _, body in ipairs {
        "if A[i] > 2 then s = true end", "if A[i] > 99 then s = true end",
        "if A[i] > 2 and not s then s = true end", "s = A[i] > 2 and i or s",
        "s = A[i] > 99 and i or s", "s = s or A[i] > 2", "s = s or A[i] > 99 or nil",
        "s = s and A[i] > -99",
      } do
        for _, start in ipairs {true, false} do compare(body, A, start) end
        if not body:find " and A" then compare(body, A, nil) end
      end
      compare("if A[i] < -2 then s = false end", A, true)
    end)

    it("refuses a reduction whose value is read", function()
      local A, sum = meissa.zeros(5), 0
      contains(refusal(function()
        for i in parallel(5) do
          sum = sum + i
          A[i] = sum
        end
      end), "DEP104 carried variable", "sum is combined by `+`, but also used here",
        "if each iteration may start afresh:  local sum = ...")
    end)

    it("keeps the last value of a private variable of an ordered loop", function()
      local A, last = meissa.zeros(50), 0
      for i in parallel(50) do
        last = i * 2
        A[i] = last
      end
      assert.equal(100, last)
      assert.equal(100, A[50])
      contains(report(), "last  private")
    end)

    it("refuses to tell which iteration of an unordered loop was the last", function()
      local last = 0
      contains(refusal(function()
        for i in parallel(5, {ordered = false}) do last = i end
        return last
      end), "DEP113", "last is read after the loop, but in an unordered loop no iteration is",
        "if it is not needed after the loop:  local last")
    end)

    it("notes a forgotten local", function()
      local env = setmetatable({parallel = parallel, A = meissa.zeros(5)}, {__index = _G})
      setfenv(assert(loadstring("for i in parallel(5) do tmp = i * 2 A[i] = tmp end")), env)()
      assert.equal(10, env.A[5])
      assert.equal(10, env.tmp)
      contains(report(), "note [DEP201 global variable assigned]",
               "tmp is a global that the body assigns before it reads it",
               "if it is not needed after the loop:  local tmp")
    end)

    it("refuses what leaves the loop", function()
      local A = meissa.zeros(5)
      contains(refusal(function()
        for i in parallel(5) do if A[i] > 0 then break end end
      end), "DEP108 leaves the loop", "the body can leave the loop before its end")
      contains(refusal(function()
        for i in parallel(5) do if A[i] == 0 then return i end end
      end), "DEP108")
      contains(refusal(function()
        for i in parallel(5) do if A[i] == 0 then goto done end end
        ::done::
      end), "DEP108")
      for i in parallel(5) do -- these stay inside
        if i == 2 then goto continue end
        for k = 1, 3 do if k == i then break end A[i] = k end
        ::continue::
      end
      assert.same({0, 0, 2, 3, 3}, A:totable())
    end)

    it("refuses varargs, yields and random numbers", function()
      local A = meissa.zeros(5)
      contains(refusal(function(...)
        for i in parallel(5) do A[i] = ... end
      end, 1), "DEP109 varargs in the body", "local first, second = ...")
      contains(refusal(coroutine.wrap(function()
        for i in parallel(5) do coroutine.yield(i) end
      end)), "DEP110 yields in the body", "collect the values, and yield after the loop")
      contains(refusal(function() for i in parallel(5) do A[i] = math.random() end end),
               "DEP111", "use meissa.random() or meissa.normal()")
    end)

    it("refuses to bind captured arrays, tables and functions anew", function()
      local A = meissa.zeros(5)
      assert.equal(5, A:size(1))
      contains(refusal(function() for i in parallel(5) do A = i end end), -- luacheck: ignore
               "DEP106 captured array or function assigned")
    end)

    it("refuses functions that change captured variables", function()
      local A, count = meissa.zeros(5), 0
      local function counted(x)
        count = count + 1
        return x
      end
      contains(refusal(function() for i in parallel(5) do A[i] = counted(i) end end),
               "DEP112 function that changes captured variables")
    end)

    it("refuses misspelt options", function()
      contains(refusal(function() for _ in parallel(5, {orderd = true}) do end end),
               "OPT: parallel: unknown option 'orderd' (did you mean 'ordered'?)")
      contains(refusal(meissa.each, 5, {sreial = true}, function() end),
               "unknown option 'sreial' (did you mean 'serial'?)")
      contains(refusal(meissa.run, "for i in parallel(5, {impur = true}) do end"),
               "unknown option 'impur' (did you mean 'impure'?)")
    end)

    it("runs functions that only read arrays", function()
      local A, B, total = meissa.zeros(10, 4), meissa.zeros(10), 0
      A:fill(2)
      local function weight(row) return row:sum() + math.sqrt(A[1][1] * 2) end
      for i in parallel(10) do
        B[i] = weight(A[i]) + weight(A[11 - i])
        total = total + weight(A[1])
      end
      assert.equal(20, B[3])
      assert.equal(100, total)
      assert.equal("read", meissa.last().arrays.A.access)
      local function spoil(row) row[1] = 1 end
      contains(refusal(function() for i in parallel(9) do spoil(A[i]) spoil(A[i + 1]) end end),
               "DEP10")
    end)
  end)

  describe(("names, with %d workers,"):format(workers), function()
    setup(function() meissa.init {workers = workers} end)
    teardown(function() meissa.init {} end)

    it("that nothing defines are refused before anything runs", function()
      local lambda, A = 2, meissa.zeros(5)
      local text = refusal(function()
        for i in parallel(5) do
          A[i] = lambda
          A[i] = lamda * i -- luacheck: ignore
        end
      end)
      contains(text, "SRC: undefined name 'lamda' (did you mean 'lambda'?)")
      assert.is_truthy(text:find("variables_spec.lua:%d+:"))
      assert.same({0, 0, 0, 0, 0}, A:totable())
      contains(refusal(function()
        for i in parallel(5) do A[i] = mth.floor(i) end -- luacheck: ignore
      end), "undefined name 'mth' (did you mean 'math'?)")
      contains(refusal(function()
        for i in parallel(5) do
          local total = i
          A[i] = total + totl -- luacheck: ignore
        end
      end), "undefined name 'totl' (did you mean 'total'?)")
      contains(refusal(meissa.each, 5, function(i)
        A[i] = lamda -- luacheck: ignore
      end), "undefined name 'lamda'")
      contains(refusal(meissa.run, "\nfor i in parallel(5) do print(indeks) end"),
               "]:2: SRC: undefined name 'indeks'")
    end)

    it("that are nil cannot be called", function()
      local A, missing = meissa.zeros(5), nil
      contains(refusal(function() for i in parallel(5) do A[i] = math.flor(i) end end),
               "'math.flor' is nil, and the loop's body calls it (did you mean 'math.floor'?)")
      contains(refusal(function() for i in parallel(5) do A[i] = missing(i) end end),
               "'missing' is nil, and the loop's body calls it")
    end)

    it("that are nil are values otherwise", function()
      local opts, gone, A = {}, nil, meissa.zeros(5)
      for i in parallel(5) do
        if meissa_spec_debug then print(meissa_spec_debug) end -- luacheck: ignore
        if meissa_spec_other == nil and gone == opts.rate then A[i] = 1 end -- luacheck: ignore
        if gone then gone(i) end
      end
      assert.same({1, 1, 1, 1, 1}, A:totable())
    end)
  end)
end
