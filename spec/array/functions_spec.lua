-- SPDX-License-Identifier: MIT
--
-- exp, log, sqrt, tanh, abs, pow of whole arrays and of rows against math's functions.
local meissa = require "meissa"
local raises = require("spec.support.expect").raises
local strict = require "meissa.base.strict"

local functions = {
  exp = math.exp, log = math.log, sqrt = math.sqrt, tanh = math.tanh, abs = math.abs,
  pow = function(x) return strict.pow(x, -1.5) end,
}

local function same(a, b) return a == b or a ~= a and b ~= b end

-- More elements than one thread takes; some below 0.
local function numbers(kind) return meissa.randn({ 70, 1000 }, { seed = 5, type = kind }) end

describe("Functions of all elements", function()
  for name, fn in pairs(functions) do
    local given = name == "pow" and -1.5 or nil

    it("give what math gives, in place and anew: " .. name, function()
      for _, kind in ipairs { "float", "double" } do
        local A, cell = numbers(kind), meissa.zeros({ 1 }, { type = kind })
        local B = meissa[name](A, given)
        assert.equal(kind, B:type())
        assert.equal(0, A:clone():add(-1, numbers(kind)):norm(1))
        local C, V = A:clone(), A:transpose():clone():transpose()
        assert.equal(C, C[name](C, given))
        V[name](V, given)
        for i = 1, 70, 3 do
          for j = i, 1000, 41 do
            cell[1] = fn(A[i][j])
            assert.is_true(same(cell[1], B[i][j]))
            assert.is_true(same(cell[1], C[i][j]) and same(cell[1], V[i][j]))
          end
        end
        local R = A:clone()
        R[2][name](R[2], given)
        R:narrow(1, 3, 2)[name](R:narrow(1, 3, 2), given)
        for j = 1, 1000, 37 do
          for i = 2, 4 do assert.is_true(same(B[i][j], R[i][j])) end
          assert.equal(A[1][j], R[1][j])
        end
      end
    end)
  end

  it("are the same in bodies, on both engines", function()
    local E, L, Q, T, M, P = numbers("float"), numbers("double"), numbers("float"),
      numbers("double"), numbers("float"), numbers("double")
    local e, l, q, t, m, p = meissa.exp(L), meissa.log(Q), meissa.sqrt(T), meissa.tanh(E),
      meissa.abs(P), meissa.pow(M, -1.5)
    local want = { meissa.exp(E), meissa.log(L), meissa.sqrt(Q), meissa.tanh(T), meissa.abs(M),
      meissa.pow(P, -1.5), e, l, q, t, m, p }
    for _, engine in ipairs { "lua", "native" } do
      local A = { E:clone(), L:clone(), Q:clone(), T:clone(), M:clone(), P:clone(), L:clone(),
        Q:clone(), T:clone(), E:clone(), P:clone(), M:clone() }
      local a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12 = unpack(A)
      for i in meissa.parallel(70, { engine = engine }) do
        a1[i]:exp()
        a2[i]:log()
        a3[i]:sqrt()
        a4[i]:tanh()
        a5[i]:abs()
        a6[i]:pow(-1.5)
        a7[i]:exp()
        a8[i]:log()
        a9[i]:sqrt()
        a10[i]:tanh()
        a11[i]:abs()
        a12[i]:pow(-1.5)
      end
      assert.equal(engine, meissa.last().engine)
      for k = 1, 12 do
        for i = 1, 70, 3 do
          for j = i, 1000, 41 do assert.is_true(same(A[k][i][j], want[k][i][j])) end
        end
      end
    end
  end)

  it("stay near under fast", function()
    local A, B = numbers("float"), meissa.tanh(numbers("float"))
    for i in meissa.parallel(70, { numeric = "fast", engine = "native" }) do A[i]:tanh() end
    assert.is_true(A:add(-1, B):norm(math.huge) < 1e-6)
  end)

  it("take integers and entries of sparse arrays", function()
    local N = meissa.from({ 1, -4, 9 }, { type = "int32" })
    assert.same({ 1, 4, 9 }, meissa.abs(N):totable())
    assert.equal("int32", meissa.abs(N):type())
    assert.same({ 1, 16, 81 }, N:clone():pow(2):totable())
    assert.same({ 1, 2, 3 }, N:clone():abs():sqrt():totable())
    assert.equal(math.exp(9), meissa.exp(N)[3])
    assert.equal("double", meissa.exp(N):type())
    raises("ARR", "does not fit into type int32", function() N:exp() end)
    assert.same({ 1, -4, 9 }, N:totable())
    local S = meissa.sparse({ 3, 3 }, { i = { 3, 1 }, j = { 1, 2 }, v = { 4, 9 } })
    local R = meissa.sqrt(S)
    assert.same({ 2, 3 }, R:totable().v)
    assert.equal(0, R[2][2])
    assert.equal(13, S:sum())
    assert.equal(3, S:sqrt()[1][2])
    assert.equal(math.exp(1), meissa.exp(meissa.ones(2, 3)[2])[3])
  end)

  it("say what is wrong", function()
    raises("ARR", "exp: expected an array, not a number; for numbers there is math.exp",
      function() meissa.exp(2) end)
    raises("ARR", "sqrt: expected an array, not a table", function() meissa.sqrt {} end)
    raises("ARR", "pow: expected a number, not a nil", function() meissa.pow(meissa.ones(2)) end)
    raises("ARR", "argument 1 (2) means nothing", function() meissa.ones(2):exp(2) end)
    raises("ARR", "snapshot", function() meissa.ones(2):snapshot():exp() end)
    local A = meissa.ones(3)
    A:free()
    raises("ARR", "freed", function() meissa.log(A) end)
  end)
end)
