-- SPDX-License-Identifier: MIT
-- Reductions along a dimension, against plain Lua over nested tables; and arguments of methods that
-- mean nothing.
local errors = require "meissa.base.errors"
local meissa = require "meissa"
local row_major = require "spec.support.row_major"
local seed = require "spec.support.seed"
local parallel = meissa.parallel

local TYPES = { "float", "double", "int32", "int64" }

-- All subscripts of a box, row-major, with those of dimension d, if it is given, held at 1.
local function subscripts(dims, d)
  local axes = {}
  for k = 1, #dims do axes[k] = { 1, k == d and 1 or dims[k] } end
  return row_major(axes)
end

-- Small whole numbers: sums of them are exact in every order.
local function random_array(dims, type)
  local A = meissa.zeros(dims, { type = type })
  for _, at in ipairs(subscripts(dims)) do A[at] = math.random(-9, 9) end
  return A
end

-- The elements in one lane along d.
local function lane(A, at, d)
  local list, place = {}, { unpack(at) }
  for k = 1, A:size(d) do
    place[d] = k
    list[k] = A[place]
  end
  return list
end

local function total(list, fn)
  local sum = 0
  for _, x in ipairs(list) do sum = sum + fn(x) end
  return sum
end

local function extreme(list, better)
  local best, at
  for k, x in ipairs(list) do
    if not best or better(x, best) then best, at = x, k end
  end
  return best, at
end

local plain = {
  { "sum", function(A, d) return A:sum(d) end,
    function(list) return total(list, function(x) return x end) end },
  { "norm 1", function(A, d) return A:norm(1, d) end,
    function(list) return total(list, math.abs) end },
  { "norm 2", function(A, d) return A:norm(2, d) end,
    function(list) return math.sqrt(total(list, function(x) return x * x end)) end },
  { "norm", function(A, d) return A:norm(nil, d) end,
    function(list) return math.sqrt(total(list, function(x) return x * x end)) end },
  { "mean", function(A, d) return A:mean(d) end,
    function(list) return total(list, function(x) return x end) / #list end, true },
  { "prod", function(A, d) return A:prod(d) end,
    function(list)
      local product = 1
      for _, x in ipairs(list) do product = product * x end
      return product
    end },
  { "max", function(A, d) return A:max(d) end,
    function(list) return extreme(list, function(a, b) return a > b end) end, true },
  { "min", function(A, d) return A:min(d) end,
    function(list) return extreme(list, function(a, b) return a < b end) end, true },
  { "norm inf", function(A, d) return A:norm(math.huge, d) end,
    function(list)
      return (extreme(list, function(a, b) return math.abs(a) > math.abs(b) end) ~= nil)
        and math.abs((extreme(list, function(a, b) return math.abs(a) > math.abs(b) end)))
    end, true },
}

-- As an element of type float, if the array's are.
local function rounded(x, type)
  local one = meissa.zeros({ 1 }, { type = type == "float" and "float" or "double" })
  one[1] = x
  return one[1]
end

local function check(A, d, name, method, reference)
  local values, places = method(A, d)
  local dims = A:size()
  dims[d] = 1
  assert.same(dims, values:size(), name)
  local whole = A:type():match "^int" ~= nil
  local stays = not whole or name == "sum" or name == "prod" or name == "max" or name == "min"
  assert.equal(stays and A:type() or "double", values:type(), name)
  for _, at in ipairs(subscripts(A:size(), d)) do
    local value, place = reference(lane(A, at, d))
    assert.equal(rounded(value, A:type()), values[at], name)
    if place then assert.equal(place, places[at], name) end
  end
  if places then assert.equal("int64", places:type()) end
end

local function refused(code, words, fn, ...)
  local ok, err = pcall(fn, ...)
  assert.is_false(ok)
  assert.is_true(errors.is(err), tostring(err))
  assert.equal(code, err.code)
  assert.matches(words, err.message, 1, true)
end

describe("a reduction along a dimension", function()
  it("is that of plain Lua, over random shapes and views", function()
    math.randomseed(seed)
    for round = 1, 60 do
      local dims = {}
      for k = 1, math.random(4) do dims[k] = math.random(5) end
      local A = random_array(dims, TYPES[round % 4 + 1])
      if #dims > 1 and round % 3 == 0 then A = A:transpose(1, #dims) end
      if round % 5 == 0 then A = A:narrow(1, 1, math.random(A:size(1))) end
      for d = 1, #dims do
        for _, each in ipairs(plain) do check(A, d, unpack(each)) end
      end
    end
  end)

  it("of empty dimensions sums up to 0; there is no mean, least or largest of nothing", function()
    for _, dims in ipairs { { 0 }, { 0, 3 }, { 3, 0 }, { 2, 0, 3 }, { 0, 0 } } do
      local A = meissa.zeros(dims)
      for d = 1, #dims do
        for _, each in ipairs(plain) do
          if dims[d] > 0 or not each[4] then
            check(A, d, unpack(each))
          else
            refused("ARR", ("dimension %d of DistArray<double>[%s] is empty"):format(d,
              table.concat(dims, "x")), each[2], A, d)
          end
        end
      end
    end
  end)

  it("adds in the order of whole sums", function()
    local A = meissa.randn({ 300, 70 }, { seed = 3 })
    local F = meissa.randn({ 300, 70 }, { seed = 4, type = "float" })
    local rows, columns = A:sum(2), A:sum(1)
    for i = 1, 300 do assert.equal(A[i]:sum(), rows[i][1]) end
    for j = 1, 70 do
      assert.equal(A:select(2, j):sum(), columns[1][j])
      assert.equal(rounded(F:select(2, j):sum(), "float"), F:sum(1)[1][j])
    end
  end)

  it("knows nan and infinity, and takes the first of equal ones", function()
    local A = meissa.from { { 1, 0 / 0, 3 }, { 7, 7, -1 / 0 } }
    local most, at = A:max(2)
    assert.is_true(most[1][1] ~= most[1][1])
    assert.same({ { 2 }, { 1 } }, at:totable())
    assert.equal(7, most[2][1])
    assert.equal(-1 / 0, (A:min(2))[2][1])
  end)

  it("of integers is exact or refused", function()
    local A = meissa.full({ 2, 3 }, 2 ^ 31 - 1, { type = "int32" })
    refused("ARR", "int32", A.sum, A, 1)
    local L = meissa.full({ 2, 3 }, 2 ^ 31 - 1, { type = "int64" })
    assert.equal(2 ^ 32 - 2, L:sum(1)[1][3])
    assert.equal("double", L:mean(1):type())
  end)

  it("of a sparse array sums its entries", function()
    math.randomseed(seed)
    local columns, dims = { i = {}, j = {}, k = {}, v = {} }, { 4, 5, 3 }
    local D = meissa.zeros(dims)
    for e = 1, 40 do
      local at = { math.random(4), math.random(5), math.random(3) }
      columns.i[e], columns.j[e], columns.k[e] = unpack(at)
      columns.v[e] = math.random(9)
      D[at] = D[at] + columns.v[e]
    end
    local S = meissa.sparse(dims, columns)
    for d = 1, 3 do
      assert.same(D:sum(d):totable(), S:sum(d):totable())
      assert.same(S:norm(1, d):totable(), S:sum(d):totable())
      for _, name in ipairs { "mean", "max", "min", "prod", "var", "std" } do
        refused("ARR", name .. ": along a dimension only dense arrays have it", S[name], S, d)
      end
    end
    local one = meissa.sparse({ 3, 3 }, { i = { 1, 1, 2 }, j = { 1, 1, 2 }, v = { 3, 4, 5 } })
    assert.same({ { 5 }, { 5 }, { 0 } }, one:norm(2, 2):totable())
  end)

  for _, engine in ipairs { "lua", "native", "auto" } do
    it("is the same in bodies, engine " .. engine, function()
      local options = engine ~= "native" and { engine = engine } or {}
      local T, A = meissa.rand({ 30, 4, 5 }, { seed = 5 }), meissa.rand({ 30, 5 }, { seed = 6 })
      local C, B, P = meissa.zeros(30, 5), meissa.zeros(30), meissa.zeros(30)
      for i in parallel(30, options) do
        C[i] = T[i]:sum(1)[1]
        local most, at = A[i]:max(1)
        B[i], P[i] = most[1], at[1]
        B[i] = B[i] + A[i]:norm(1, 1)[1] + A[i]:sum(1)[1] + A[i]:sum()
        C[i][2] = C[i][2] + A[i]:prod() + T[i]:var() + A[i]:std(1, true)[1]
      end
      for i = 1, 30 do
        local most, at = A[i]:max(1)
        assert.equal(at[1], P[i])
        assert.equal(most[1] + A[i]:norm(1) + A[i]:sum() + A[i]:sum(), B[i])
        local more = A[i]:prod(1)[1] + T[i]:var(nil, false) + A[i]:std(nil, true)
        for k = 1, 5 do
          local sum = T[i]:select(2, k):sum()
          assert.is_true(math.abs(sum + (k == 2 and more or 0) - C[i][k]) < 1e-14)
        end
      end
      local ok, err = pcall(function()
        for i in parallel(30, options) do B[i] = A[i]:sum(2) end
      end)
      assert.is_false(ok)
      assert.matches("sum: the dimension must be a whole number in 1..1, not 2", err.message, 1,
        true)
    end)
  end
end)

describe("a variance", function()
  -- Of a list, by its definition.
  local function variance(list, biased)
    local mean = total(list, function(x) return x end) / #list
    return total(list, function(x) return (x - mean) ^ 2 end) / (#list - (biased and 0 or 1))
  end

  local function near(expected, found)
    local both_nan = expected ~= expected and found ~= found
    assert.is_true(both_nan or math.abs(expected - found) <= 1e-12 * (1 + math.abs(expected)),
      ("%s, not %s"):format(found, expected))
  end

  it("is that of plain Lua, unbiased unless it is asked for", function()
    math.randomseed(seed)
    for round = 1, 40 do
      local type = ({ "double", "int32", "int64" })[round % 3 + 1]
      local A = random_array({ math.random(4), math.random(5), math.random(3) }, type)
      if round % 2 == 0 then A = A:transpose(1, 3) end
      for d = 1, 3 do
        for _, biased in ipairs { false, true } do
          local var, std = A:var(d, biased), A:std(d, biased)
          assert.equal("double", var:type())
          for _, at in ipairs(subscripts(A:size(), d)) do
            local expected = variance(lane(A, at, d), biased)
            near(expected, var[at])
            near(math.sqrt(expected), std[at])
          end
        end
      end
      local all = {}
      for _, at in ipairs(subscripts(A:size())) do all[#all + 1] = A[at] end
      near(variance(all), A:var())
      near(variance(all, true), A:var(nil, true))
      near(math.sqrt(variance(all)), A:std())
    end
  end)

  it("does not suffer from a large mean, nor from floats", function()
    for _, type in ipairs { "float", "double" } do
      local A = meissa.zeros({ 100000 }, { type = type })
      for i = 1, 100000 do A[i] = 16000000 + i % 2 end
      near(0.25, A:var(nil, true))
    end
  end)

  it("of one element is nan, or 0; of none there is none", function()
    local one = meissa.full({ 1 }, 7)
    assert.is_true(one:var() ~= one:var())
    assert.equal(0, one:var(nil, true))
    assert.equal(0, one:std(1, true)[1])
    refused("ARR", "std: an empty array has none", one.std, meissa.zeros(0))
    refused("ARR", "dimension 1 of", one.var, meissa.zeros(0, 2), 1)
    refused("ARR", "var: `biased` must be true or false, not 1", one.var, one, 1, 1)
    assert.equal(1, meissa.zeros(0):prod())
  end)

  it("and a product of a sparse array are those of its entries", function()
    local S = meissa.sparse({ 9, 9 }, { i = { 1, 2, 5 }, j = { 3, 3, 4 }, v = { 2, 3, 7 } })
    assert.equal(42, S:prod())
    near(7, S:var())
    near(math.sqrt(14 / 3), S:std(nil, true))
  end)
end)

describe("an argument that means nothing", function()
  local A = meissa.from { { 1, 2 }, { 3, 4 } }

  it("is refused by its name", function()
    for _, d in ipairs { 0, 3, -1, 1.5, "1", true } do
      for _, name in ipairs { "sum", "mean", "max", "min", "prod", "var", "std" } do
        refused("ARR", name .. ": the dimension must be a whole number in 1..2, not", A[name], A, d)
      end
      refused("ARR", "norm: the dimension must be", A.norm, A, 2, d)
    end
    refused("OPT", "norm: p must be 1, 2 or math.huge, not 3", A.norm, A, 3, 1)
    refused("OPT", "norm: p must be", A.norm, A, "2")
    refused("ARR", "add: a number comes before the array", A.add, A, A, 2)
  end)

  it("is refused by its place", function()
    for _, method in ipairs(require("meissa.array.method").list) do
      local name, given = method.name, {}
      for k = 1, method.most or 0 do given[k] = 1 end
      given[#given + 1] = "more"
      if method.most then
        refused("ARR", ("%s: argument %d ('more') means nothing"):format(name, #given), A[name], A,
          unpack(given))
      end
    end
    local all = {}
    for _, method in ipairs(require("meissa.array.method").list) do
      if not method.most then all[#all + 1] = method.name end
    end
    assert.equal("gemv ger gemm reshape", table.concat(all, " "))
    refused("OPT", "reshape: too many arguments", A.reshape, A, { 1 }, {}, 2)
    refused("ARR", "fill: argument 2 (7) means nothing", A[1].fill, A[1], 1, 7)
    refused("ARR", "sum: argument 2 (a table) means nothing", A[1].sum, A[1], 1, {})
    local O = meissa.objects({ 2 })
    refused("ARR", "size: argument 2 (2) means nothing", O.size, O, 1, 2)
  end)
end)

describe("a snapshot", function()
  local A, B = meissa.rand({ 40, 5 }, { seed = 1 }), meissa.zeros(40)
  local S = A:snapshot()
  -- What these do with their arguments cannot be known.
  local function stripped(fn) return assert(loadstring(string.dump(fn, true))) end
  local call = stripped(function(x, i, name) return x[i][name](x[i]) end)
  local change = stripped(function(x, i, name) return x[i][name](x[i], 0) end)

  it("has no address", function()
    refused("ARR", "data: the array is a snapshot", S.data, S)
    refused("ARR", "data: the array is a snapshot", S[1].data, S[1])
    assert.is_true(pcall(A.data, A))
  end)

  it("is named where it is written, as are arrays that are held for another reason", function()
    local problem = {values = S}
    refused("ARR", "'S' is a snapshot and cannot be written; clone() it", function()
      S[1][1] = 0
    end)
    refused("ARR", "'problem.values' is a snapshot", function() problem.values:fill(0) end)
    refused("ARR", "'row' is a snapshot", function()
      local row = problem.values[2]
      row[1] = 0
    end)
    refused("ARR", "the array is a snapshot", function() A:snapshot():fill(0) end)
    local part = S:narrow(1, 1, 3)
    refused("ARR", "'part' is a snapshot", function() part:scal(2) end)
    refused("ARR", "'B' cannot be written while the 'stop' of rounds that use it", function()
      for _, i in meissa.iterate(B, 3, {stop = function() B[1] = 0 end}) do B[i] = B[i] + 1 end
    end)
    refused("ARR", "'B' is captured by meissa.replicas, whose replicas share it", function()
      meissa.replicas(2, function() B:fill(1) end)
    end)
    refused("ARR", "'view' is captured by meissa.replicas", function()
      meissa.replicas(2, function()
        local view = A:select(2, 1)
        view:fill(1)
      end)
    end)
    assert.equal(0, B:sum())
  end)

  it("may go to functions that cannot be looked into", function()
    local ok, err = pcall(function()
      for i in parallel(40) do A[i][1] = call(A, i, "sum") end
    end)
    assert.is_false(ok)
    assert.equal("DEP", err.code)
    for i in parallel(40) do B[i] = call(S, i, "sum") end
    for i = 1, 40 do assert.equal(A[i]:sum(), B[i]) end
  end)

  it("is not written by them", function()
    local before = S:sum()
    for _, name in ipairs { "fill", "scal" } do
      local ok, err = pcall(function()
        for i in parallel(40) do B[i] = change(S, i, name) end
      end)
      assert.is_false(ok)
      assert.equal("ARR", err.code)
      assert.matches("snapshot", err.message)
    end
    assert.equal(before, S:sum())
    refused("ARR", "the loop writes 'S', which is a snapshot", function()
      for i in parallel(40) do S[i][1] = 0 end
    end)
  end)
end)
