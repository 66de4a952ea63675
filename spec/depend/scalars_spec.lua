-- SPDX-License-Identifier: MIT
--
-- What the analyser makes of the variables that a body assigns, and of fields of captured tables.

local analyze = require "meissa.analyze"
local plans = require "spec.depend.plans"

local shape = analyze.shape
local plan, codes = plans.plan, plans.codes

describe("scalars", function()
  local function roles(body, bindings, opts)
    bindings = bindings or {}
    bindings.A, bindings.B = shape(20), shape(20)
    for _, name in ipairs { "s", "m", "t" } do
      if bindings[name] == nil then bindings[name] = 0 end
    end
    local p = plan(body, bindings, opts)
    local list = {}
    for _, name in ipairs { "s", "m", "t" } do
      local scalar = p.scalars[name]
      if scalar then
        list[#list + 1] = name .. " " .. scalar.role .. (scalar.op and " " .. scalar.op or "")
      end
    end
    return table.concat(list, ", "), codes(p), p
  end

  local reductions = {
    { "s = s + A[i]", "+" }, { "s = A[i] + s", "+" }, { "s = s - A[i]", "+" },
    { "s = A[i] + s - 2 + A[i]", "+" }, { "s = (s + A[i])", "+" }, { "s = s * A[i]", "*" },
    { "s = 2 * s * A[i]", "*" }, { "s = math.max(s, A[i])", "max" },
    { "s = math.min(A[i], s)", "min" }, { "if A[i] > s then s = A[i] end", "max" },
    { "if A[i] >= s then s = A[i] end", "max" }, { "if s < A[i] then s = A[i] end", "max" },
    { "if A[i] < s then s = A[i] end", "min" }, { "if s > A[i] then s = A[i] end", "min" },
    { "s = s and A[i] > 0", "and" }, { "s = s or A[i] > 0", "or" },
    { "s = s + 1\nif A[i] > 2 then s = s + 2 end\nfor k = 1, 3 do s = s - k end", "+" },
    { "local x = A[i]\nif x > s then s = x end\ns = math.max(s, 3)", "max" },
    { "if math.abs(A[i]) > s then s = math.abs(A[i]) end", "max" },
    { "if (A[i] + 1) <= s then s = A[ i ]+1 end", "min" },
    { "if A:norm() > s then s = A:norm() end", "max" },
    { "s = math.max(s, A[i], B[i])", "max" }, { "s = math.min(A[i], s, 3, B[i])", "min" },
    { "s = A[i] > s and A[i] or s", "max" }, { "s = s > A[i] and s or A[i]", "max" },
    { "s = A[i] <= s and A[i] or s", "min" }, { "s = A[i] > 0 or s", "or" },
    { "s, B[i] = s + i, i", "+" }, { "B[i], s = i, s * A[i]", "*" },
  }
  for _, case in ipairs(reductions) do
    it("reduce: " .. case[1]:gsub("\n", "; "), function()
      local found, reasons = roles(case[1])
      assert.are.equal("s reduction " .. case[2], found)
      assert.are.equal("", reasons)
    end)
  end

  it("reduce: by setting, where the variable is true, false or nil", function()
    for _, case in ipairs {
      { "if A[i] > 1 then t = true end", "or" }, { "if A[i] > 1 then t = false end", "and" },
      { "if A[i] > 1 and not t then t = true end", "or" }, { "t = true", "or" },
      { "if A[i] > 1 then B[i] = 1 elseif A[i] > 2 then t = true end", "or" },
    } do
      local found, reasons = roles(case[1], { t = false })
      assert.are.equal("t reduction " .. case[2], found)
      assert.are.equal("", reasons)
    end
    local unset = plan("if A[i] > 1 then found = true end", { A = shape(20) })
    assert.are.equal("or", unset.scalars.found.op)
    for _, case in ipairs {
      { "if A[i] > 1 then t = true end", 0 }, { "if A[i] > 1 then t = 1 end", false },
      { "if A[i] > 1 then t = true else t = false end B[i] = t and 1 or 0\nif t then t = true end",
        false },
      { "if not t then B[i] = 1 t = true end", false }, { "if t then t = true end", false },
      { "if not t then t = true else B[i] = 1 end", false },
      { "if A[i] > 1 then t = true end\nt = t or A[i]", false },
      { "if A[i] > 1 then t = true else t = false end", false },
    } do
      local found = roles(case[1], { t = case[2] })
      assert.are_not.equal("t reduction or", found, case[1])
    end
  end)

  it("reduce: quotients, and in functions that the body makes", function()
    assert.are.equal("s reduction *", (roles("s = s / A[i]")))
    assert.are.equal("s reduction +", (roles("local f = function() s = s + 1 end\nf()")))
  end)

  it("reduce: several at once", function()
    assert.are.equal("s reduction +, t reduction +", (roles("s, t = s + i, t + 2*i")))
    assert.are.equal("s reduction max, t reduction min",
      (roles("local x = A[i]\ns, t = math.max(s, x), math.min(t, x)")))
    assert.are.equal("s carried, t carried", (roles("s, t = t + i, s + 2*i")))
    assert.are.equal("s carried", (roles("s, s = s + 1, s + 2")))
    assert.are.equal("s reduction +, t carried", (roles("s, t = s + t, t + 2*i")))
  end)

  local carried = {
    "if math.random() > s then s = math.random() end", "if A[i] > s then s = A[i] * 2 end",
    "if A:fill(1) > s then s = A:fill(1) end", "s = A[i] > s and s or A[i + 1]",
    "if A[i] > s then s = A[i] elseif A[i] < 0 then s = s + 1 end",
      "s = math.max(A[i], B[i]) + s / 2",
    "s = A[i] - s", "s = 2 / s", "s = s + s", "s = s + A[i]\ns = s * 2", "s = s + A[i]\nB[i] = s",
    "B[i] = s\ns = i", "s = s ^ 2", "if A[i] > s then s = A[i + 1] end",
    "if A[i] > s then s = A[i] else s = 0 end", "s = 2 and s", "s = math.max(s, s)",
    "if A[i] > 2 then s = i end\nB[i] = s", "for k = 1, A[i] do s = k end\nB[i] = s",
    "local f = function() s = s + 1 return s end\nB[i] = f()",
    "repeat if A[i] > 2 then break end\ns = 1 until true\nB[i] = s",
    "if A[i] > s then s = A[i] B[1] = i end", "s = s .. 'x'", "while s < 3 do s = s + 1 end",
  }
  for _, body in ipairs(carried) do
    it("carry: " .. body:gsub("\n", "; "), function()
      local found, reasons, p = roles(body)
      assert.are.equal("s carried", found)
      assert.is_truthy(reasons:find("DEP104"))
      assert.are.equal("serial", p.strategy)
    end)
  end

  it("private: assigned on every path before any read", function()
    assert.are.equal("s private", (roles("s = A[i]\nB[i] = s")))
    assert.are.equal("s private", (roles("if A[i] > 2 then s = 1 else s = 2 end\nB[i] = s")))
    assert.are.equal("s private", (roles("repeat s = 1 until s > 0\nB[i] = s")))
    assert.are.equal("s private, t private", (roles("s, t = 1, 2\nB[i] = s + t")))
    assert.are.equal("s private", (roles("if B[1] then goto skip end\n::skip:: s = 1\nB[i] = s")))
  end)

  it("only read: broadcast", function()
    assert.are.equal("s broadcast", (roles("B[i] = s")))
  end)

  it("say so when they are global", function()
    local _, reasons = roles("t = A[i]\nB[i] = t")
    assert.are.equal("DEP201", reasons)
  end)

  it("assigned on some paths have a last value where there is a last iteration", function()
    local found, reasons = roles("if A[i] > 2 then s = i end")
    assert.are.equal("s private", found)
    assert.are.equal("DEP201", reasons)
    found, reasons = roles("if A[i] > 2 then s = i end", nil, { ordered = false })
    assert.are.equal("s carried", found)
    assert.are.equal("DEP105", reasons)
  end)

  it("verdict serial only where it is certain", function()
    local _, _, certain = roles("B[i] = s\ns = i")
    assert.are.equal("serial", certain.verdict)
    local _, _, perhaps = roles("if A[i] > 2 then B[i] = s end\ns = i")
    assert.are.equal("unknown", perhaps.verdict)
  end)

  it("of unordered loops must not be read afterwards", function()
    local text = "local last\nfor i in parallel(9) do last = i\nB[i] = last end\n%s"
    local function code(after, ordered)
      return codes(analyze.analyze(text:format(after), { B = shape(9) }, { ordered = ordered }))
    end
    assert.are.equal("DEP113", code("local x = last", false))
    assert.are.equal("", code("local x = last", true))
    assert.are.equal("", code("last = 3", false))
  end)

  it("of unordered loops may be read once they have another value", function()
    local around = "local last, other\n%s\nfor i in parallel(9) do last = i\nB[i] = last end\n%s"
    local function code(after, before)
      local text = around:format(before or "", after)
      return codes(analyze.analyze(text, { B = shape(9) }, { ordered = false }))
    end
    for _, after in ipairs { "last = 3 return last", "other = 2 last, other = other, 1 return last",
      "local x = other last = x x = last", "return other",
      "for k = 1, 3 do other = k end last = 1 return last" } do
      assert.are.equal("", code(after), after)
    end
    for _, after in ipairs { "last = last + 1 return last", "other = last last = 3 return last",
      "if other then last = 3 end return last", "do last = 3 end return last",
      "B[last], last = 1, 2 return last", "::again:: other = 1 last = 2 return last",
      "if other then return last end last = 3", "goto on last = 3 ::on:: return last" } do
      assert.are.equal("DEP113", code(after), after)
    end
    local shared = "local function get() return last end"
    assert.are.equal("DEP113", code("other = get() last = 3 return last", shared))
    local text = "local other, last\nfor k = 1, 3 do other = last\n" ..
      "for i in parallel(9) do last = i B[i] = last end\n%s end"
    local function inside(after)
      return codes(analyze.analyze(text:format(after), { B = shape(9) }, { ordered = false }))
    end
    assert.are.equal("", inside("last = k"))
    assert.are.equal("DEP113", inside("other = k"))
  end)

  it("conditional ones of unordered loops are private if nothing reads them after", function()
    local free = { ordered = false }
    local text = "local t\nfor i in parallel(9) do if B[i] > 0 then t = i\nB[i] = t end end\n%s"
    local p = analyze.analyze(text:format(""), { B = shape(9) }, free)
    assert.are.equal("private", p.scalars.t.role)
    p = analyze.analyze(text:format("local x = t"), { B = shape(9) }, free)
    assert.are.equal("carried", p.scalars.t.role)
    p = analyze.analyze("local t\nfor e = 1, 2 do\nlocal x = t\n" ..
      "for i in parallel(9) do if B[i] > 0 then t = i\nB[i] = t end end\nend",
      { B = shape(9) }, free)
    assert.are.equal("carried", p.scalars.t.role)
  end)
end)

describe("fields of tables", function()
  it("may be reduced into where the body has no other way to them", function()
    local self = { loss = 0, W = shape(9), sub = { n = 1 } }
    local function p(body, more)
      local bindings = { self = self, A = shape(9) }
      for name, value in pairs(more or {}) do bindings[name] = value end
      return plan(body, bindings)
    end
    local good = p("self.loss = self.loss + self.W[i]")
    assert.are.equal("independent", good.strategy)
    assert.are.equal("reduction", good.scalars["self.loss"].role)
    assert.are.equal("+", good.scalars["self.loss"].op)
    assert.are.equal("independent", p("self.sub.n = math.max(self.sub.n, A[i])").strategy)
    assert.are.equal("DEP107", codes(p("self.loss = i")))
    assert.are.equal("DEP107", codes(p("self.loss = self.loss + 1\nA[i] = self.loss")))
    assert.are.equal("DEP107", codes(p("self.loss = self.loss + other.loss", { other = self })))
    assert.is_truthy(codes(p("self.loss = self.loss + f(i)",
      { f = function(k) return k * self.loss end })):find("DEP107"))
    assert.are.equal("DEP107", codes(p("self.loss = self.loss + #list",
      { list = { 1, { self } } })))
    assert.are.equal("", codes(p("self.fresh = self.fresh + 1")))
    setmetatable(self, { __index = { old = 1 } })
    assert.are.equal("DEP107", codes(p("self.old = self.old + 1")))
  end)
end)
