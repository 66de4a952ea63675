-- SPDX-License-Identifier: MIT
-- Every construct of a body gives the same bits as a kernel as in the plain loop.
local array = require "meissa.array"
local run = dofile("spec/kernel/run.lua")

local bodies = dofile("spec/kernel/bodies.lua")
local world, over_rows = bodies.world, bodies.over_rows

describe("a body", function()
  for _, body in ipairs(bodies.list) do
    it("agrees with the plain loop: " .. body[1], function()
      local options = { ordered = body.ordered, pieces = body.pieces }
      local over = body.space and function() return body.space end or over_rows
      assert.is_nil(run.compare(body[2], world, over, options))
    end)
  end

  it("runs over the entries of a sparse array", function()
    local entries = { coords = { { 1, 2, 2, 12, 7 }, { 5, 1, 5, 3, 3 } },
      values = { 1.5, 2.5, -1, 4, 0.125 } }
    local function over() return { ranges = { { 1, 12 }, { 1, 5 } }, entries = entries } end
    assert.is_nil(run.compare([[
      for i, j, r in parallel(ratings) do
        local w, f = A[i], F[j]
        for k = 1, 5 do w[k] = w[k] + r * f[k] end
        sum = sum + r
      end]], world, over))
    assert.is_nil(run.compare("for i in parallel(ratings) do B[i] = B[i] + 1 end", world, over))
    assert.is_nil(run.compare("for i, j in parallel(ratings) do A[i][j] = i * j end", world, over))
    assert.is_nil(run.compare(
        "for i, j, r, extra in parallel(ratings) do A[i][j] = r; B[i] = extra and 1 or 2 end",
      world, over))
    for _, kind in ipairs { "float", "int32", "int64" } do
      entries.type, entries.values = kind, { 1, 2, -3, 4, 5 }
      assert.is_nil(run.compare(
          "for i, j, r in parallel(ratings) do A[i][j] = r / 2 end", world, over))
    end
  end)

  it("runs over the entries of a dense array", function()
    local function over(env) return { ranges = { { 1, 12 }, { 1, 5 } }, array = env.A } end
    assert.is_nil(run.compare("for i, j, v in parallel(A) do F[i][j] = v * 2 end", world, over))
    assert.is_nil(run.compare("for i, j, v in parallel(A) do A[i][j] = v * 2 end", world, over))
  end)

  it("runs over several ranges, up and down", function()
    local text = "for i, j in parallel(x) do A[i][j] = i * 10 + j sum = sum + 1 end"
    for _, ranges in ipairs {
      { { 1, 12 }, { 1, 5 } }, { { 12, 1, -1 }, { 1, 5, 2 } }, { { 2, 2 }, { 5, 1, -4 } },
      { { 5, 4 }, { 1, 5 } },
    } do
      assert.is_nil(run.compare(text, world, function() return { ranges = ranges } end))
    end
  end)

  it("runs collapsed loops", function()
    local text =
        "for i in parallel(n, {collapse = 2}) do for j = 1, 5 do A[i][j] = i * 10 + j end end"
    local env, expected = world(), world()
    run.plain(text, expected, over_rows())
    assert(run.kernel(text, env, over_rows(), { collapse = 2 }))
    assert.is_nil(run.difference(expected, env))
  end)

  it("runs collapsed loops whose bounds depend on outer indices", function()
    for _, bounds in ipairs { "1, i", "i, 5", "5, i - 6, -1", "i - 7, i - 5",
      "2 * i - 7, 12 - 2 * i", "math.max(1, i - 1), math.min(5, i + 1)",
      "math.min(5, i + 2, 9 - i), math.max(i - 1, 1, 2 * i - 6), -1" }
    do
      local text = ("for i in parallel(n, {collapse = 2}) do for j = %s do " ..
        "if j > 0 and j < 6 then A[i][j] = i * 10 + j end end end"):format(bounds)
      local env, expected = world(), world()
      run.plain(text, expected, over_rows())
      assert(run.kernel(text, env, over_rows(), { collapse = 2 }))
      assert.is_nil(run.difference(expected, env))
    end
  end)

  it("runs the closure form, where return ends an iteration", function()
    local text = [[each(n, function(i)
      if i == 3 then return end
      for k = 1, m do
        if k == i then return A[i][k] end
        A[i][k] = -1
      end
      local f = function(x) return x * 2 end
      local function g(x) return x + 1 end
      local o = {}
      function o.h(x) return g(x) end
      B[i] = f(i) + o.h(i)
      sum = sum + 1
      return
    end)]]
    assert.is_nil(run.compare(text, world, over_rows, { closure = true }))
    assert.is_nil(run.compare("each(n, function() sum = sum + 1 end)", world, over_rows,
      { closure = true }))
  end)

  it("takes a hundred captures, and more names than locals fit", function()
    local names, makes = {}, {}
    for c = 1, 100 do
      names[c] = "v" .. c
      makes["v" .. c] = c / 7
    end
    local function wide()
      local env = world()
      for name, value in pairs(makes) do env[name] = value end
      return env
    end
    assert.is_nil(run.compare("for i in parallel(n) do B[i] = i + " .. table.concat(names, " + ") ..
    " sum = sum + v7 end", wide, over_rows))
    local locals = {}
    for c = 1, 150 do locals[c] = "local l" .. c .. " = i" end
    local declared = table.concat(locals, " ")
    assert.is_nil(run.compare("for i in parallel(n) do " .. declared .. " B[i] = l7 + "
      .. table.concat(names, " + ") .. " end", wide, over_rows))
    assert.is_nil(run.compare("for i in parallel(n) do local f = function() return "
      .. table.concat(names, " + ", 1, 58) .. " end B[i] = f() end", wide, over_rows))
  end)

  it("keeps names of the body apart from its own", function()
    assert.is_nil(run.compare(
        "for i in parallel(n) do local _m, _mc1, _mp1 = 1, 2, 3 B[i] = _m + _mc1 + _mp1 end",
      world, over_rows))
  end)

  it("works on views with any strides", function()
    local function strided()
      local env = world()
      env.whole = array.rand({ 5, 12 }, { seed = 9 })
      env.V = run.transposed(env.whole)
      return env
    end
    assert.is_nil(run.compare(
        "for i in parallel(n) do local v = V[i] for k = 1, 5 do v[k] = v[k] + V[i][1] V[{i, " ..
        "k}] = v[k] end end",
      strided, over_rows))
  end)
end)
