-- SPDX-License-Identifier: MIT
--
-- Whole arrays and views: arithmetic, reductions, narrow, select, transpose, clone.

local array = require "meissa.array"
local raises = require("spec.support.expect").raises

describe("views", function()
  local A
  before_each(function() A = array.from { { 1, 2, 3 }, { 4, 5, 6 } } end)

  it("are no types", function()
    local ffi, any = require "ffi", array.zeros { 2, 2, 2 }
    local sparse = array.sparse({ 2 }, { i = { 1 }, v = { 1 } })
    for _, value in ipairs { any, any[1], any[1][2], sparse } do
      assert.is_true(array.is(value))
      assert.is_false(array.is(ffi.typeof(value)))
    end
  end)

  it("share their elements", function()
    local N, S, T = A:narrow(2, 2, 2), A:select(1, 2), A:transpose()
    assert.same({ { 2, 3 }, { 5, 6 } }, N:totable())
    assert.same({ 4, 5, 6 }, S:totable())
    assert.same({ { 1, 4 }, { 2, 5 }, { 3, 6 } }, T:totable())
    T[3][2] = 60
    assert.equal(60, N[2][2])
    assert.equal(60, S[3])
    local C = T:clone()
    C:fill(0)
    assert.equal(60, A[2][3])
    A = nil
    collectgarbage()
    assert.equal(60, S[3])
  end)

  it("of rows are taken as those of arrays", function()
    local I = array.from({ { 1, 2, 3 }, { 4, 5, 6 } }, { type = "int64" })
    for _, a in ipairs { A, I, A:transpose():clone():transpose() } do
      local row = a[2]
      assert.same({ 5, 6 }, row[{ { 2, 3 } }]:totable())
      assert.same({ 5, 6 }, row[{ { -2, -1 } }]:totable())
      assert.same({ 4, 5, 6 }, row[{ {} }]:totable())
      assert.same({ 6 }, row[{ { -1 } }]:totable())
      row[{ { 1, 2 } }] = 7
      row[{ { -1 } }] = { 8 }
      assert.same({ { 1, 2, 3 }, { 7, 7, 8 } }, a:totable())
    end
  end)

  local bad = {
    { "range {2, 4} is outside 1..3", function(a) return a[1][{ { 2, 4 } }] end },
    { "2 subscripts for the 1 dim", function(a) return a[1][{ { 1, 2 }, 1 }] end },
    { "2 subscripts for the 1 dim", function(a) a[1][{ 1, 2 }] = 0 end },
    { "1..3", function(a) a:narrow(2, 3, 2) end }, { "1..3", function(a) a:narrow(2, 0, 1) end },
    { "1..2", function(a) a:narrow(3, 1, 1) end }, { "whole", function(a) a:narrow(1, 1.5, 1) end },
    { "1..2", function(a) a:select(1, 3) end }, { "1..2", function(a) a:select(0, 1) end },
    { "1..2", function(a) a:transpose(1, 3) end },
    { "two dimensions", function(a) a:select(1, 1):select(1, 1) end },
    { "1..2", function(a) a:size(3) end }, { "1..2", function(a) a:size("x") end },
  }
  for k, case in ipairs(bad) do
    it("refuse what is outside, case " .. k, function()
      raises("ARR", case[1], function() case[2](A) end)
    end)
  end
end)

describe("arithmetic", function()
  it("does what its name says, and returns the array", function()
    local A, B = array.from { { 1, 2 }, { 3, 4 } }, array.from { { 10, 20 }, { 30, 40 } }
    assert.same({ { 21, 42 }, { 63, 84 } }, A:axpy(2, B):totable())
    assert.same({ { 42, 84 }, { 126, 168 } }, A:scal(2):totable())
    assert.same({ { 43, 85 }, { 127, 169 } }, A:add(1):totable())
    assert.same({ { 33, 65 }, { 97, 129 } }, A:add(-1, B):totable())
    assert.same({ { 43, 85 }, { 127, 169 } }, A:add(B):totable())
    assert.same({ { 430, 1700 }, { 3810, 6760 } }, A:cmul(B):totable())
    assert.equal(3000, array.from({ { 1, 2 }, { 3, 4 } }):dot(B) * 10)
    A:copy(B:transpose())
    assert.same({ { 10, 30 }, { 20, 40 } }, A:totable())
    A:copy(A:transpose()) -- overlapping
    assert.same({ { 10, 20 }, { 30, 40 } }, A:totable())
  end)

  it("computes in double and rounds once, as the loop does", function()
    for _, kind in ipairs { "float", "double" } do
      local X = array.randn({ 500 }, { type = kind, seed = 1 })
      local Y = array.randn({ 500 }, { type = kind, seed = 2 })
      local Z = Y:clone()
      Y:axpy(0.1, X)
      for k = 1, 500 do Z[k] = Z[k] + 0.1 * X[k] end
      assert.same(Z:totable(), Y:totable())
    end
  end)

  it("mixes types", function()
    local F = array.from({ 1.5, 2.5 }, { type = "float" })
    local I = array.from({ 2, 4 }, { type = "int32" })
    assert.equal(13, F:dot(I))
    F:axpy(1, I)
    assert.same({ 3.5, 6.5 }, F:totable())
    raises("ARR", "3.5", function() I:copy(F) end)
    assert.same({ 2, 4 }, I:totable())
    raises("ARR", "int32", function() I:scal(0.25) end)
    assert.same({ 2, 4 }, I:totable())
    I:scal(0.5)
    assert.same({ 1, 2 }, I:totable())
  end)

  it("sums with the same bits whatever the strides", function()
    local A = array.randn({ 37, 91 }, { type = "float", seed = 3 })
    local T = A:transpose()
    local C = T:clone()
    assert.equal(C:sum(), T:sum())
    assert.equal(C:norm(), T:norm())
    assert.equal(C:dot(C), T:dot(T))
    assert.equal(C[5]:sum(), T[5]:sum())
    assert.equal(C[5]:dot(C[6]), T[5]:dot(T[6]))
    assert.equal(C[5]:dot(C[6]), array.from(C[5]:totable(), { type = "float" }):dot(C[6]))
  end)

  local bad = {
    { "does not match", function(a) a:copy(array.zeros(3, 2)) end },
    { "does not match", function(a) a:axpy(1, array.zeros(2, 2)) end },
    { "does not match", function(a) a:dot(array.zeros(6)) end },
    { "expected an array", function(a) a:dot(3) end },
    { "expected an array", function(a) a:axpy(2) end },
    { "expected an array", function(a) a:cmul() end },
    { "expected a number", function(a) a:scal() end },
    { "expected a number", function(a) a:add("x") end },
    { "cannot store", function(a) a:fill("x") end },
    { "expected an array", function(a) a:copy(3) end },
    { "one array", function(a) a:copy(array.sparse({ 2, 3 }, { i = {}, j = {} })) end },
  }
  for k, case in ipairs(bad) do
    it("refuses what does not fit, case " .. k, function()
      local text = case[1] == "one array" and "dense" or case[1]
      raises("ARR", text, function() case[2](array.zeros(2, 3)) end)
    end)
  end
  it("knows three norms", function()
    raises("OPT", "p must be", function() array.zeros(3):norm(3) end)
  end)
end)
