-- SPDX-License-Identifier: MIT
-- `if c then A[i] = x end`: where c compares the same element and nothing may stop, C writes it in
-- any case, with what it was or x; else only where c holds. `if c then A[i] = x else A[i] = y end`:
-- where x and y are quick and stop nowhere, both are computed. All give the bits of the Lua engine.
local array = require "meissa.array"
local bodies = dofile "spec/kernel/bodies.lua"
local native = dofile "spec/kernel/native.lua"

-- Texts over i = 1, 12; whether an element is written in any case.
local texts = {
  {"a minimum", true, "local t = lr * i if t < B[i] then B[i] = t end"},
  {"in an inner loop", true, "for k = 1, m do if A[i][k] <= lr then A[i][k] = A[i][k] + k end end"},
  {"of a row", true, "local w = A[i] for k = 1, m do if w[k] > 0.5 then w[k] = 0.5 end end"},
  {"of a float array", true, "for k = 1, m do if lr < F[i][k] then F[i][k] = lr * k end end"},
  {"of whole numbers", true, "for k = 1, m do if C[i][k] ~= k then C[i][k] = 2 end end"},
  {"of nan", true, "local x = 0 / 0 if B[i] ~= x then B[i] = x end if B[i] < x then B[i] = 1 end"},
  {"another element", false, "if B[i] > 0.5 then A[i][2] = 1 end"},
  {"a condition that keeps iterations apart", false,
   "if i > 5 and B[i] < 2 then B[i] = 1 end if i > 3 or B[i] < 2 then B[i] = 3 end"},
  {"a condition on the index alone", false, "if i > 5 then B[i] = 1 end"},
  {"a value that may stop", false, "if B[i] > 0.1 then B[i] = A[C[i][1] + i][2] end"},
  {"a value that takes time", false, "if B[i] > 0.1 then B[i] = math.exp(B[i]) end"},
  {"a value that does not fit", false, "if L[i] < 5 then L[i] = B[i] - B[i] end"},
  {"an element found by another", false, "if B[C[i][1] + i] < 2 then B[C[i][1] + i] = 1 end"},
  {"one of two", false, "if B[i] > 0.5 then B[i] = 1 else B[i] = 2 end"},
  {"two at a time", false, "if B[i] > 0.5 then B[i], A[i][1] = 1, 2 end"},
  {"a variable", false, "local t = 1 if B[i] > t then t = B[i] end A[i][1] = t"},
}

-- Texts where an element takes one of two values; whether both are computed.
local selections = {
  {"numbers", true, "if B[i] > 0.5 then B[i] = 1 else B[i] = 2 end"},
  {"neighbours", true, "for k = 2, m do if A[i][1] == k % 3 then A[i][k] = A[i][k - 1] + 1 else " ..
    "A[i][k] = math.max(A[i][k], A[i][k - 1]) end end"},
  {"whole numbers", true,
   "for k = 1, m do if i > 4 then C[i][k] = 1 else C[i][k] = C[i][1] end end"},
  {"floats", true,
   "for k = 1, m do if k > lr or i == 2 then F[i][k] = lr else F[i][k] = -B[i] end end"},
  {"a condition that stops", true, "if A[i][C[i][1] + i] then B[i] = 1 else B[i] = 2 end"},
  {"what may stop", false, "if i < 5 then B[i] = A[C[i][1] + 40][2] else B[i] = 3 end"},
  {"what does not fit", false, "if i < 9 then C[i][1] = B[i] * 1e10 else C[i][1] = 3 end"},
  {"what takes time", false, "if B[i] > 0.1 then B[i] = math.exp(B[i]) else B[i] = 3 end"},
  {"two elements", false, "if B[i] > 0.5 then A[i][1] = 1 else A[i][2] = 2 end"},
  {"elements of two arrays", false, "if B[i] > 0.5 then B[i] = 1 else A[i][1] = 2 end"},
  {"variables", false, "local t if B[i] > 0.5 then t = 1 else t = 2 end A[i][1] = t"},
  {"more than an assignment", false,
   "if B[i] > 0.5 then B[i] = 1 A[i][1] = 2 else B[i] = 2 end"},
  {"one of three", false,
   "if B[i] > 0.5 then B[i] = 1 elseif B[i] > 0.2 then B[i] = 2 else B[i] = 3 end"},
}

-- Whether a kernel's text writes an element in any case.
local function chooses(text)
  return text:find("\n *([^\n=]-%]) = [^\n]+ %? [^\n]+ : %1;") ~= nil
end

-- Whether it computes two values for an element.
local function selects(text)
  return text:find("%] = [^\n]+ %? t%d+ : t%d+;") ~= nil
end

-- Choices between numbers; whether they are computed.
local choices = {
  {"one and zero", true, "B[i] = B[i] > 0.5 and 1 or 0"},
  {"zero and one", true, "B[i] = B[i] + (B[i] > 0.5 and 0 or 1)"},
  {"others", true, "local c = i > 5 and A[i][C[i][1] + 1] > 0.5 C[i][1] = 2 * i + (c and 3 or -7)"},
  {"of a condition on whatever", true, "local t if i > 4 then t = B[i] end B[i] = t and 5 or 2"},
  {"minus zero", false, "B[i] = 1 / (B[i] > 0.5 and 0 or -0)"},
  {"fractions", false, "B[i] = B[i] > 0.5 and 0.5 or 2"},
  {"large ones", false, "B[i] = B[i] > 0.5 and 1e10 or 2"},
  {"elements", false, "B[i] = A[i][1] > 0.5 and A[i][2] or 1"},
}

local function loop(text) return ("for i in parallel(n) do %s end"):format(text) end

describe("elements behind a comparison", function()
  teardown(native.finish)

  for _, each in ipairs(texts) do
    it("are written as they are compared: " .. each[1], function()
      local text = native.emit(loop(each[3]), bodies.world(), bodies.over_rows())
      assert.is_string(text)
      assert.are.equal(each[2], chooses(text))
      assert.is_nil(native.compare(loop(each[3]), bodies.world, bodies.over_rows,
        {pieces = 3, flags = "-O3"}))
    end)
  end

  for _, each in ipairs(selections) do
    it("are chosen from two values: " .. each[1] .. (each[2] and "" or ", not"), function()
      local text = native.emit(loop(each[3]), bodies.world(), bodies.over_rows())
      assert.is_string(text)
      assert.are.equal(each[2], selects(text))
      assert.is_nil(native.compare(loop(each[3]), bodies.world, bodies.over_rows,
        {pieces = 3, flags = "-O3"}))
    end)
  end

  for _, each in ipairs(choices) do
    it("may be one of two numbers: " .. each[1], function()
      local text = native.emit(loop(each[3]), bodies.world(), bodies.over_rows())
      assert.is_string(text)
      assert.are.equal(each[2], text:find("%.0 %* %(double%)%(") ~= nil or
        text:find("= %(double%)%(%(p%d") ~= nil)
      assert.is_nil(native.compare(loop(each[3]), bodies.world, bodies.over_rows,
        {pieces = 3, flags = "-O3"}))
    end)
  end

  it("are left alone in arrays that fit into no cache", function()
    local text = loop "if B[i] < 2 then B[i] = 1 end"
    local function emit(size)
      local world = bodies.world()
      world.B = array.zeros(size)
      return native.emit(text, world, bodies.over_rows())
    end
    assert.is_true(chooses(emit(2 ^ 20)))
    assert.is_false(chooses(emit(2 ^ 24)))
  end)

  it("are the same only where their subscripts are written alike", function()
    local meissa = require "meissa"
    local A, B = meissa.zeros(10, 10), meissa.rand({10}, {seed = 1})
    meissa.init {workers = 1}
    for i in meissa.parallel(10) do
      if B[i] > 0.5 then A[{i, [2] = 1}] = 1 else A[{i, 1}] = 2 end
    end
    assert.equal("lua", meissa.last().engine)
    for i = 1, 10 do assert.equal(B[i] > 0.5 and 1 or 2, A[i][1]) end
    meissa.init {}
  end)

  it("are elements: fields are variables, of which blocks note where they found them", function()
    local meissa = require "meissa"
    local parallel, N, M = meissa.parallel, 30, 40
    meissa.init {workers = 2}
    for _, engine in ipairs {"native", "lua"} do
      local R, o, zero = meissa.rand({N + 1, M + 1}, {seed = 3}), {best = -9}, 0
      for i, j in parallel(N, M, {engine = engine}) do
        R[i+1][j+1] = R[i][j+1] * 0.5 + R[i+1][j] * 0.3
        if zero > o.best then o.best = zero end
      end
      assert.equal(engine, meissa.last().engine)
      assert.equal(0, o.best)
    end
    meissa.init {}
  end)
end)
