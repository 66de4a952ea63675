-- SPDX-License-Identifier: MIT
-- Reductions of every form give the bits of the plain serial loop, on any number of workers, both
-- engines and both roads; and what is like one and none is refused.
local analyze = require "meissa.analyze"
local child = require "spec.support.child"
local meissa = require "meissa"

local shape = meissa.shape

local function agree(environment, arguments)
  local output, status = child.shell(("%s luajit spec/support/reductions.lua %s"):format(
    environment, arguments or ""))
  assert.equal(0, status, output)
  assert.is_truthy(output:find("%d+ agree, %d+ native, %d+ refused, 0 differ\n"), output)
end

describe("reductions", function()
  for _, workers in ipairs {0, 1, 2, 5} do
    it(("agree with the plain loop: %d workers, lua"):format(workers), function()
      agree(("MEISSA_WORKERS=%d MEISSA_ENGINE=lua"):format(workers), "8 " .. workers)
    end)
    it(("agree with the plain loop: %d workers, native"):format(workers), function()
      agree(("MEISSA_WORKERS=%d MEISSA_ENGINE=native"):format(workers), "19 " .. workers)
    end)
  end

  it("agree with the plain loop where arrays travel by value", function()
    agree("MEISSA_SHM=0 MEISSA_WORKERS=2 MEISSA_ENGINE=lua", "12")
    agree("MEISSA_SHM=0 MEISSA_WORKERS=2 MEISSA_ENGINE=native", "25 1")
  end)

  local function roles(body, bindings, options)
    bindings = bindings or {}
    bindings.A = shape(20)
    local text = "local x, y\nfor i in parallel(20) do\n%s\nend\nx, y = s, p"
    local plan = analyze.analyze(text:format(body), bindings, options)
    local words = {}
    for _, name in ipairs {"s", "p", "q", "t"} do
      local scalar = plan.scalars[name]
      if scalar then words[#words + 1] = ("%s %s"):format(name, scalar.op or scalar.role) end
    end
    return table.concat(words, ", "), plan.reasons[1] and plan.reasons[1].code, plan
  end

  it("are told by their operators and leaders", function()
    for _, case in ipairs {
      {"s = i + (s or 0)", "s +"}, {"s = (s or 0) - i", "s +", {s = "nothing"}},
      {"s = bit.bor(i, s)", "s bit.bor"}, {"if A[i] > s then s, p = A[i], i end", "s max, p with"},
      {"if A[i] < s then p = {i, A[i]} s = A[i] end", "s min, p with"},
      {"if A[i] < s then s, p = A[i], i elseif A[i] > t then t, q = A[i], i end",
       "s min, p with, q with, t max"},
      {"if A[i] >= s then s = A[i] elseif A[i] <= t then t = A[i]\nq = i end",
       "s max, q with, t min"},
      {"s = -s", "s *"}, {"s = s / 2 * i", "s *"},
      {"local function add(x) s = s + x end add(i) if i > 3 then add(1) end", "s +"},
      {"local function see(x) if x > s then s, p = x, i end end see(A[i])", "s max, p with"},
      {"if not s or A[i] > s then s = A[i] end", "s max", {s = "nothing"}},
      {"if A[i] < s or A[i] == s and i < p then s, p = A[i], i end", "s min, p with"},
      {"if A[i] > s or (s == A[i] and (p < -i or p == -i and 2 * i > q)) then " ..
       "s, p, q = A[i], -i, 2 * i end", "s max, p with, q with"},
      {"for k = i, 9 do if A[k] < s or A[k] == s and k <= p then s, p = A[k], k end end",
       "s min, p with"},
    } do
      local bindings = case[3] and {t = 0} or {s = 0, p = 0, q = 0, t = 0}
      local found, code, plan = roles(case[1], bindings)
      assert.equal(case[2], found)
      assert.is_nil(code, case[1])
      if plan.scalars.p then assert.equal("s", plan.scalars.p.leader) end
    end
  end)

  it("stand under conditions of all kinds", function()
    for _, condition in ipairs {
      "i % 3 > 0 and A[i] < s", "A[i] < s and i % 3 > 0", "i > 3 and (A[i] < s) and i < 9",
      "(i > 3 and A[i] < s) and (i < 9 or i > 12)", "i > 3 and (not s or A[i] < s)",
      "A[i] < s and quiet(i) > 2", "loud(i) and A[i] < s",
    } do
      local bindings = {s = not condition:find("not s") and 9 or nil, p = 0,
                        quiet = function(x) return x end,
                        loud = function(x) print(x) return true end}
      local found, code = roles(("if %s then s, p = A[i], i end"):format(condition), bindings)
      assert.equal("s min, p with", found, condition)
      assert.is_nil(code, condition)
    end
    local nested = "if A[i] < s then if i % 3 > 0 then s, p = A[i], i end end"
    assert.equal("s min, p with", (roles(nested, {s = 9, p = 0})))
  end)

  it("keep what is met first", function()
    for _, case in ipairs {
      {"if not s and A[i] > 3 then s = i end"}, {"if A[i] > 3 and s == nil then s = i end"},
      {"if not s then if A[i] > 3 then s = A[i] end end"},
      {"if not s and A[i] > 3 then s, p = i, A[i] end", "s or, p with"},
      {"if not s and A[i] > 3 then s = i end s = s or A[i] == 2 and -i"},
      {"if not s then if A[i] > 3 then s = true end end"},
    } do
      local found, code = roles(case[1], {p = 0})
      assert.equal(case[2] or "s or", found, case[1])
      assert.is_nil(code, case[1])
    end
    for _, body in ipairs {
      "if s == nil and i > 3 then s = i > 7 end", "if not s and s ~= 3 then s = i end",
      "if not s and i > 3 then s = i else p = i end", "if not s and print(i) then s = i end",
      "if not s and i > 3 then s, A[1] = i, 1 end", "if not s and i > 3 then s = i end A[i] = s",
    } do
      local found = roles(body, {p = 0})
      assert.truthy(found:find("s carried", 1, true), body .. ": " .. found)
    end
    assert.equal("s carried", (roles("if s == nil and i > 3 then s = i end", {s = false})))
  end)

  it("are none where what the blocks leave would not do", function()
    for _, body in ipairs {
      "if A[i] > s then s, p = A[i], s end", "if A[i] > s then s, p = A[i], i A[i] = 1 end",
      "if A[i] > s then s, p = A[i], meissa.random() end",
      "if A[i] > s then s, p = A[i], i else q = i end",
      "if A[i] > s then s, p = A[i], i end if A[i] > 3 then s = math.max(s, 3) end",
      "if A[i] > s then s, p = A[i], i end if A[i] > 5 then p = 0 end",
      "if A[i] > s then s, p = A[i], i end if A[i] > p then p = A[i] end",
      "p = 0 if A[i] > s then s, p = A[i], i end",
      "if A[i] > s then s, p = A[i], i end A[i] = p",
      "if A[i] > s then s = A[i] elseif i < t then t = i end",
      "if A[i] > s then if i > 3 then s = A[i] end elseif A[i] < t then t = A[i] end",
      "if A[i] > s then s = A[i] elseif A[i] < t then if i > 3 then t = A[i] end end",
      "if A[i] > s then s = A[i] elseif A[i] < t and i > 3 then t = A[i] end",
      "if A[i] > s then s = A[i] elseif not t or A[i] < t then t = A[i] end",
      "if A[i] > s then s = A[i] elseif A[i] > t then t = A[i] end",
      "s = s or A[i] > 0 s = A[i] or s",
      "if A[i] > s then s, p = A[i] end", "if A[i] > s then s, A[1] = A[i], i end",
      "s = 2 / s", "s = s * (2 / s)", "local function f(x) s = s + x return s end f(i)",
      "local function f(x) s = s + x return x end s = s + f(i)",
      "local function f(x) s = s + x end f(i) A[i] = s",
      "local function f(x) s = s + x end local g = f g(i)",
      "if A[i] > s and i > p then s, p = A[i], i end",
      "if A[i] > s or i > p then s, p = A[i], i end",
      "if A[i] > s or A[i] == s and A[i + 1] > p then s, p = A[i], A[i + 1] end",
      "if A[i] > s or A[i] == s and i > p then s, p = A[i], -i end",
      "if A[i] > s or A[i] == 3 and i > p then s, p = A[i], i end",
      "if A[i] >= s or A[i] == s and i > p then s, p = A[i], i end",
      "if A[i] > s or A[i] == s and (i >= p or i == p and i < q) then s, p, q = A[i], i, i end",
      "if A[i] > s or A[i] == s and i > p then s, p = A[i], i elseif A[i] < t then t = A[i] end",
      "if A[i] > s or A[i] == s and i > p then s, p = A[i], i end if i > 3 then p = i end",
      "if A[i] > s or A[i] == s and i > p then s, p = A[i], i end " ..
        "if A[i] > s or A[i] == s and i < p then s, p = A[i], i end",
      "if A[i] > s and print(i) then s = A[i] end",
      "if i > 3 and A[i] < s then s = A[i] elseif A[i] > t then t = A[i] end",
      "if A[i] > s or i > 3 then s = A[i] end",
      "s = bit.bor(s, s)", "s = bit.bnot(s)", "s = bit.band(s, i) s = bit.bor(s, i)",
    } do
      local found, code = roles(body, {s = 0, p = 0, q = 0, t = 0, meissa = meissa})
      assert.is_truthy(code == "DEP104" or code == "DEP105" or code == "DEP101",
                       body .. ": " .. found .. " " .. tostring(code))
    end
  end)

  it("whose index decides between equal ones start from a number", function()
    local body = "if A[i] < s or A[i] == s and i < p then s, p = A[i], i end"
    local _, code, plan = roles(body, {s = 0})
    assert.equal("DEP104", code)
    assert.equal("p is nil before the loop, and compared with a number where the values are equal",
                 plan.reasons[1].message)
    assert.equal("if any index is to go before it: p = math.huge", plan.reasons[1].fixes[2])
    assert.equal("min", select(3, roles(body, {s = 0, p = 0})).scalars.p.tie)
    assert.is_nil(select(2, roles((body:gsub("if", "if not s or")))))
  end)

  it("are none where what blocks need not evaluate has effects", function()
    local function quiet(x) for k = 1, 2 do if x == k then return k end end return false end
    local function loud(x) print(x) return false end
    local A = shape(20)
    local function store() A[1] = 1 return false end
    local o = {quiet = function(self, x) return x > self.limit end, limit = 3, loud = loud}
    local bindings = {quiet = quiet, loud = loud, store = store, o = o, s = false,
                      meissa = meissa}
    for _, e in ipairs {"quiet(i)", "o:quiet(i)", "A:sum() > i", "A[i] == 2 and i"} do
      assert.equal("s or", (roles("s = s or " .. e, bindings)), e)
      assert.equal("s and", (roles("s = s and " .. e, bindings)), e)
    end
    for _, e in ipairs {"loud(i)", "o.loud(i)", "store()", "print(i)", "A:fill(i)", "A:save('x')",
                        "meissa.random() > 0.5", "(function() return i end)()"} do
      for _, body in ipairs {"s = s or ", "s = s and "} do
        local found, code = roles(body .. e, bindings)
        assert.equal("s carried", found, e)
        assert.is_truthy(code, e)
      end
    end
    assert.equal("s or", (roles("s = loud(i) or s", bindings)))
  end)

  it("whose values tell the order are refused where blocks have another than the loop", function()
    local function role(e, head)
      local text = "local x\nfor i, j in parallel({1, 9}, {1, 9}) do\n" .. head ..
        " s = s or %s\nend\nx = s"
      return analyze.analyze(text:format(e), {R = shape(20, 20), s = false}).scalars.s.role
    end
    assert.equal("reduction", role("R[i][j] > 0 and i", ""))
    local wave = "R[i + 1][j + 1] = R[i][j + 1] + R[i + 1][j]"
    assert.equal("reduction", role("i * j > 30", wave))
    assert.equal("carried", role("i * j > 30 and i", wave))
  end)

  it("of two branches may be scattered if nothing else combines the first", function()
    local function role(body)
      local text = "local x, y\nfor i, j in parallel({1, 9}, {1, 9}) do\n" ..
        "R[i + 1][j + 1] = R[i][j + 1] + R[i + 1][j]\n%s\nend\nx, y = s, t"
      local scalars = analyze.analyze(text:format(body), {R = shape(20, 20), s = 0, t = 0}).scalars
      return scalars.s.role .. " " .. scalars.t.role
    end
    local both = "if R[%s][j] < s then s = R[%s][j] elseif R[%s][j] >= t then t = R[%s][j] end"
    local one, other = (both:gsub("%%s", "i")), (both:gsub("%%s", "j"))
    assert.equal("reduction reduction", role(one))
    assert.equal("reduction reduction", role(one .. " " .. other))
    assert.equal("reduction carried", role(one .. " if i < s then s = i end"))
    assert.equal("reduction carried", role(other .. " for k = 1, 2 do if k < s then s = k end end"))
  end)

  -- A class; the fields of an object that a body changes, and what the plain loop makes of them.
  local CLASS = [==[
    local meissa, parallel = ...
    local Model = {}
    Model.__index = Model
    function Model:predict(i) return self.W[i] * i + self.bias end
    function Model:err(i) local d = self:predict(i) - i return d * d end
    function Model:reads(i) return self.loss + i end
    function Model:hidden(i) return self:reads(i) end
    function Model:any(i, k) return self[k] + i end
    function Model:alias(i) local x = self return x.bias + i end
    function Model:later(i) return (function() return self.loss + i end)() end
    function Model:inherited(i) return Model.err(self, i) + 1 end
    function Model:handed(i) return Model.reads(self, i) end
    local function other(i, model) return model.bias + i end
    local function given(i, model) return model.loss + i end
    local function returned(i, model) return model end
    local function varied(...) return (select(2, ...)).loss end
    function Model:report() return self.loss end
    local W, n = meissa.ones(300), 300
    for i = 1, n do W[i] = i %% 5 end
    local self = setmetatable({loss = 1, best = math.huge, at = 0, W = W, bias = 2}, Model)
    %s
    %s %s end
    return self.loss .. " " .. self.best .. " " .. self.at
  ]==]

  local function run_class(head, body, before)
    local text = CLASS:format(before or "", head, body)
    return pcall(assert(loadstring(text)), meissa, meissa.parallel)
  end

  for _, workers in ipairs {0, 1, 2, 5} do
    it(("of fields stand beside methods that keep off them: %d workers"):format(workers), function()
      meissa.init {workers = workers}
      for _, body in ipairs {
        "self.loss = self.loss + self:err(i)",
        "local e = self:err(i) self.loss = self.loss + e " ..
          "if e < self.best then self.best, self.at = e, i end",
        "if self:err(i) > 50 then self.at = math.max(self.at, i) end",
        "self.loss = self.loss + Model.err(self, i)", "self.loss = self.loss + other(i, self)",
        "self.loss = self.loss + self:inherited(i) self.at = math.max(Model.err(self, i), self.at)",
      } do
        local _, expected = run_class("for i = 1, n do", body)
        for _, options in ipairs {"", ", {ordered = false}", ", {engine = 'lua', check = true}"} do
          local ok, got = run_class(("for i in parallel(n%s) do"):format(options), body)
          assert.is_true(ok, tostring(got))
          assert.equal(expected, got)
        end
      end
      meissa.init {}
    end)
  end

  it("of fields are none where a method may look at them", function()
    for _, case in ipairs {
      {"self:reads(i)"}, {"self:hidden(i)"}, {"self:any(i, 'bias')"}, {"self:alias(i)"},
      {"self:later(i)"}, {"self:handed(i)"}, {"given(i, self)"},
      {"returned(i, self).bias"}, {"varied(i, self)"}, {"unpack({self}).bias"},
      {"Model.reads(self, i)"}, {"self:err(i) + #other", "local other = {self}"},
      {"self:err(i)", "self.me = self"}, {"self:err(i) + other:err(i)", "local other = self"},
      {"self:err(i)", "self.loss = nil Model.loss = 3"},
      {"self:err(i)", "function Model:predict() return self.loss end"},
      {"self:err(i)", "function Model:predict(i) return rawget(self, 'loss') end"},
      {"self:err(i)", "local o = self function Model:predict(i) return o.loss end"},
      {"self:err(i)", "Model.__index = function(t, k) return Model[k] end"},
    } do
      local body = "self.loss = self.loss + " .. case[1]
      local ok, err = run_class("for i in parallel(n) do", body, case[2])
      assert.is_false(ok, body)
      assert.is_truthy(tostring(err):find("DEP1", 1, true), tostring(err))
    end
  end)

  for _, workers in ipairs {0, 1, 2, 5} do
    it(("raise no error that the loop skips: %d workers"):format(workers), function()
      local output, status = child.script([==[
        local meissa = require "meissa"
        local n, T = 640, {}
        for i = 1, n do T[i] = {x = i} end
        T[300] = nil
        local A, B = meissa.zeros(n), meissa.ones(n)
        for i = 1, n do B[i] = i end
        local function run(start, body, options)
          A:fill(1)
          local env = setmetatable({s = start, T = T, A = A, B = B, n = n, options = options,
                                    parallel = meissa.parallel}, {__index = _G})
          local text = "for i in parallel(n, options) do A[i] = A[i] + i " .. body .. " end"
          local ok, err = pcall(setfenv(assert(loadstring(text)), env))
          io.write(tostring(ok), " ", tostring(env.s), " ", ok and A:sum() or
                   tostring(err):match "attempt to index" or tostring(err):match "subscript 0",
                   "\n")
        end
        for _, options in ipairs {{}, {ordered = false}} do
          run(false, "s = s or T[i].x == 100 and i", options)
          run(false, "s = s or T[i].x == 400", options)
          run(7, "s = s or T[i].x == 400", options)
          run(true, "s = s and T[i].x < 100", options)
          run(true, "s = s and T[i].x < 500", options)
          run(nil, "s = s and T[i].x < 500", options)
          run(nil, "s = s or B[i == 300 and 0 or i] > 250", options)
          run(nil, "s = s or B[i == 300 and 0 or i] > 350", options)
          run(false, "if not s and T[i].x == 100 then s = true end", options)
        end]==], {env = "MEISSA_WORKERS=" .. workers})
      assert.equal(0, status, output)
      local sum = tostring(640 + 640 * 641 / 2)
      local expected = ("true 100 %s\nfalse false attempt to index\ntrue 7 %s\n" ..
        "true false %s\nfalse true attempt to index\ntrue nil %s\ntrue true %s\n" ..
        "false nil subscript 0\ntrue true %s\n"):gsub("%%s", sum)
      local got = output:gsub("false false subscript 0", "false nil subscript 0")
      assert.equal(expected:rep(2), got)
    end)
  end

  it("follow a private variable as the last value", function()
    local found, code = roles("s = A[i] if i > s then s, p = i, -i end", {s = 0, p = 0})
    assert.equal("s private, p private", found)
    assert.equal("DEP201", code)
  end)
end)
