-- SPDX-License-Identifier: MIT
--
-- Methods of rows, and of the parts that narrow and select give, as machine code: against the plain
-- loop, in results and errors; and what the report says of those that have no C form.

local meissa = require "meissa"

local HEAD = "local meissa, A, F, B, T, out = ... for %s in meissa.parallel(%d, {%s}) do " ..
  "local r, q = A[(i - 1) %% 12 + 1], F[(i - 1) %% 12 + 1] %s end"

-- What a loop with a body leaves, and its error.
local function run(body, count, options)
  local A, F = meissa.rand({12, 9}, {seed = 1}), meissa.rand({12, 9}, {seed = 2, type = "float"})
  local B, T = meissa.rand({12, 9}, {seed = 3}), meissa.rand({2, 12, 9}, {seed = 4})
  local out = meissa.zeros(count)
  local loop = assert(loadstring(HEAD:format("i", count, options, body)))
  local ok, err = pcall(loop, meissa, A, F, B, T, out)
  local left = {}
  for i = 1, count do left[#left + 1] = ("%.17g"):format(out[i]) end
  for _, v in ipairs(B:totable()) do
    for _, x in ipairs(v) do left[#left + 1] = ("%.17g"):format(x) end
  end
  return ok and table.concat(left, " ") or err.message, ok
end

local function same(body, count)
  local want, fine = run(body, count or 12, "serial = true")
  local got = run(body, count or 12, "engine = 'native'")
  assert.equal(want, got, body)
  return fine, want
end

-- The reason for which a body stays on the Lua engine.
local function reason(body)
  local loop = HEAD:format("i", 12, "", body):gsub("meissa.parallel", "meissa.plan")
  local A, F = meissa.zeros(12, 9), meissa.zeros({12, 9}, {type = "float"})
  assert(loadstring(loop))(meissa, A, F, meissa.zeros(12, 9), meissa.zeros(2, 12, 9),
    meissa.zeros(12))
  return meissa.last().engine_reason
end

local function every(bodies, fn)
  for body in bodies:gmatch "[^\n]+" do fn((body:gsub("^%s+", ""))) end
end

describe("methods of rows that have a C form", function()
  it("give what the plain loop gives", function()
    every([[out[i] = r:prod() + q:prod()
      B[i]:add(A:select(1, 13 - i)) B[i]:narrow(1, 2, 5):add(q:narrow(1, 1, 5))
      out[i] = r:var() + q:var()
      out[i] = r:std() + q:std()
      out[i] = T[2][i]:std() - T[1][i]:prod()
      local f = function(x) return x:std() / x:mean() end out[i] = f(r)]], function(body)
      assert.is_true(same(body), body)
    end)
  end)

  it("refuse rows without elements as the plain loop does", function()
    every([[out[i] = r:narrow(1, 3, 0):std()
      out[i] = r:narrow(1, 3, 0):var()
      out[i] = q:narrow(1, 3, 0):mean()
      out[i] = q:narrow(1, 3, 0):max()]], function(body)
      local fine, why = same(body)
      assert.is_false(fine, body)
      assert.truthy(why:find "empty", why)
    end)
    assert.is_true(same "out[i] = r:narrow(1, 3, 0):prod() + r:narrow(1, 10, 0):sum()")
  end)
end)

describe("parts of rows and matrices", function()
  it("are rows to methods", function()
    every([[out[i] = r:narrow(1, 3, 5):sum()
      out[i] = r:narrow(1, i % 5 + 1, i % 4 + 1):mean() + q:narrow(1, i % 3 + 1, 2):norm()
      local w = r:narrow(1, 3, 5) out[i] = w:dot(q:narrow(1, 2, 5)) + w:max() + w:argmin() + w:std()
      out[i] = A:select(2, i % 9 + 1):sum() + A:select(1, i):max() + F:select(2, 2):argmax()
      out[i] = T[2][i]:narrow(1, 2, 3):sum() + T[1]:select(2, 4):min() + T[2]:select(1, i):prod()
      local f = function(x) return x:sum() end out[i] = f(r:narrow(1, 2, 3)) + f(r:narrow(1, 2, 4))
      out[i] = r:norm(1) + q:narrow(1, i % 9 + 1, 1):norm(2) + q:narrow(1, 4, 3):norm(1)
      out[i] = A:select(2, i % 9 + 1):norm(1) + F:select(2, 2):norm(1) + r:narrow(1, 3, 0):norm(1)
      local w = r:narrow(1, 2, 2) if i > 3 then w = r:narrow(1, 5, 3) end out[i] = w:sum()]],
      function(body) assert.is_true(same(body), body) end)
  end)

  it("are changed by methods, also where they overlap", function()
    every([[B[i]:narrow(1, 2, 4):scal(i)
      B[i]:narrow(1, 1, 4):axpy(2, B[i]:narrow(1, 2, 4))
      B[i]:narrow(1, 2, 4):axpy(2, B[i]:narrow(1, 1, 4))
      B[i]:narrow(1, 2, 3):copy(B[i]:narrow(1, 1, 3))
      B[i]:narrow(1, 1, 3):cmul(q:narrow(1, i % 6 + 1, 3))
      B[i]:narrow(1, 5, 4):exp()
      B:select(1, i):fill(i)]], function(body) assert.is_true(same(body), body) end)
    every([[B:select(2, i):fill(i)
      B:select(2, i):add(2)
      B:select(2, i):axpy(i, T[1]:select(2, i))]], function(body)
      assert.is_true(same(body, 9), body)
    end)
  end)

  it("are refused where the plain loop refuses them", function()
    every([[out[i] = r:narrow(1, 3, 8):sum()
      out[i] = r:narrow(1, 0, 2):sum()
      out[i] = r:narrow(1, 3, -1):sum()
      out[i] = r:narrow(1, 1.5, 2):sum()
      out[i] = r:narrow(1, 1, 2.5):sum()
      out[i] = r:narrow(1, 0 / 0, 1):sum()
      out[i] = r:narrow(1, i, 1):sum()
      out[i] = A:select(2, 10):sum()
      out[i] = A:select(2, i):sum()
      out[i] = A:select(1, 0):sum()
      out[i] = T[2][i]:narrow(1, 8, 3):sum()
      out[i] = T[2]:select(2, 9 + i):sum()
      out[i] = r:narrow(1, 3, 5):dot(q:narrow(1, 2, i))
      out[i] = r:dot(q:narrow(1, 2, 5))
      out[i] = r:norm(i)
      out[i] = q:narrow(1, 2, 5):norm(i - 0.5)
      out[i] = r:norm(-math.huge) + r:norm(0 / 0)
      out[i] = r:narrow(1, 3, 0):norm(i + 1 / 0)
      B[i]:narrow(1, 1, 3):axpy(1, r:narrow(1, 1, 4))
      B[i]:narrow(1, 1, i):copy(q:narrow(1, 1, 4))]], function(body)
      assert.is_false((same(body)), body)
    end)
  end)
end)

describe("elements of parts", function()
  it("are read", function()
    every([[local v, s = r:narrow(1, 3, 5), 0 for j = 1, 5 do s = s + v[j] * j end out[i] = s
      local v, s = q:narrow(1, 3, 5), 0 for j = #v, 1, -1 do s = s * 0.5 + v[j] end out[i] = s
      local v, s = A:select(2, i % 9 + 1), 0 for j = 1, v:size(1) do s = s + v[j] end out[i] = s
      local v = T[2]:select(1, i) out[i] = v[i % 9 + 1] + v[{3}] + #v + v:size(1) + v:dim()
      out[i] = r:narrow(1, i % 4 + 1, 3)[2] - F:select(2, 3)[math.floor(i / 2) + 1]
      local f = function(x, k) return x[k] + x[#x] end out[i] = f(r:narrow(1, 2, 3), i % 3 + 1)
      local v = r:narrow(1, 2, 2) if i > 3 then v = r:narrow(1, 5, 3) end out[i] = v[#v] + v[1]
      local v, k = r:narrow(1, 2, 5), 1.5 out[i] = v[k * 2] + v[i / i]
      local v, n = r:narrow(1, 3, 5), 0 for j = 1, 5 do if v[j] > 0.5 then n = j end end out[i] = n
      local v, s = r:narrow(1, 3, 0), 0 for j = 1, #v do s = s + v[j] end out[i] = s]],
      function(body) assert.is_true(same(body), body) end)
  end)

  it("are stored, once all of an assignment is evaluated", function()
    every([[local v = B[i]:narrow(1, 2, 4) for j = 1, #v do v[j] = v[j] * i + j end
      local v = B[i]:narrow(1, 2, 4) v[1], v[2], v[3] = v[3], v[1], v[2]
      local v, w = B[i]:narrow(1, 2, 4), B[i]:narrow(1, 1, 3) v[1], w[1] = w[3], v[3]
      local v = B[i]:narrow(1, 2, 4) v, v[1] = B[i]:narrow(1, 5, 2), 7 v[2] = 8
      local v, k = B[i]:narrow(1, 2, 4), 1 k, v[k] = 3, i v[k] = 2 * i
      local v = B[i]:narrow(1, 1, 9) for j = 2, 9 do v[j] = v[j - 1] + v[j] end
      local v = B[i]:narrow(1, 3, 4) if r[1] > 0.5 then v[1] = r[2] else v[1] = r[3] end
      local v = B[i]:narrow(1, 3, 4) for j = 1, 4 do if r[j] > v[j] then v[j] = r[j] end end
      B:select(1, i)[3] = i B[i]:narrow(1, 5, 2)[2] = -i]],
      function(body) assert.is_true(same(body), body) end)
    assert.is_true(same("local v = B:select(2, i) for j = 2, 9 do v[j] = v[j] + T[1][j][i] end", 9))
  end)

  it("are refused where the plain loop refuses them", function()
    every([[local v = r:narrow(1, 3, 5) out[i] = v[6]
      local v = r:narrow(1, 3, 5) out[i] = v[i]
      local v = r:narrow(1, 3, 5) out[i] = v[i - 4]
      local v = q:narrow(1, 3, 5) out[i] = v[i / 2]
      local v = r:narrow(1, 3, 5) out[i] = v[0 / 0]
      local v = F:select(2, 5) out[i] = v[12 + i]
      local v = r:narrow(1, 3, 0) out[i] = v[1]
      local v = B[i]:narrow(1, 3, 5) v[0] = 1
      local v = B[i]:narrow(1, 3, 5) for j = 1, 6 do v[j] = j end
      local v = B[i]:narrow(1, 3, 5) v[2], v[i] = 1, 2]],
      function(body) assert.is_false((same(body)), body) end)
  end)

  it("of buffers are added", function()
    local function added(engine)
      local sums = meissa.zeros(40, 6000) -- rows so long that elements are marked one by one
      local buffer, A = meissa.buffer(sums), meissa.rand({300, 30}, {seed = 3})
      for i in meissa.parallel(300, {engine = engine}) do
        local v = buffer[i % 40 + 1]:narrow(1, i * 19 + 1, 5)
        for j = 1, #v do v[j] = v[j] + A[i][j] end
      end
      assert.equal(engine, meissa.last().engine)
      return sums:totable()
    end
    assert.same(added "lua", added "native")
  end)

  it("are integers, too", function()
    for _, type in ipairs {"int32", "int64"} do
      local function left(options)
        local words = meissa.rand({40, 30}, {seed = 2, scale = 20, type = type})
        local table_of, out = meissa.rand({20}, {seed = 3}), meissa.zeros({40}, {type = type})
        local sums, squares = meissa.zeros(40), meissa.zeros({40, 5}, {type = type})
        for i in meissa.parallel(40, options) do
          local v, s = words[i]:narrow(1, i % 20 + 1, 8), 0
          for j = 1, #v do s = s + table_of[v[j] + 1] * v[j] end
          sums[i], out[i] = s, v[3] * 2 - v[#v]
          local w = squares[i]:narrow(1, 2, 3)
          for j = 1, 3 do w[j] = v[j] * v[j] + w[j] end
        end
        assert.equal(options.engine or "plain", options.serial and "plain" or meissa.last().engine)
        return {sums:totable(), out:totable(), squares:totable()}
      end
      assert.same(left {serial = true}, left {engine = "native"})
    end
    local words = meissa.zeros({4, 9}, {type = "int32"})
    local function refused(options)
      local ok, err = pcall(function()
        for i in meissa.parallel(4, options) do
          local v = words[i]:narrow(1, 2, 5)
          v[i] = i / 2
        end
      end)
      assert.is_false(ok)
      return err.code .. err.message
    end
    assert.equal(refused {serial = true}, refused {engine = "native"})
    for i in meissa.parallel(4) do words[i]:narrow(1, 2, 5):fill(i) end
    assert.truthy(meissa.last().engine_reason:find("is no row of float or double", 1, true))
  end)

  it("of floats make fast mode compute in float", function()
    local function last_of(row, numeric)
      local F = meissa.rand({50, 40}, {seed = 3, type = "float"})
      local G = meissa.zeros({50}, {type = "float"})
      local text = "local F, G, meissa, numeric = ... " ..
        "for i in meissa.parallel(50, {engine = 'native', numeric = numeric}) do " ..
        "local v = " .. row ..
        " for j = 1, 40 do local x = v[j] * v[j] + 0.1 G[i] = x * v[j] / 3 - x end end"
      assert(loadstring(text))(F, G, meissa, numeric)
      return G:totable()
    end
    local want = last_of("F[i]", "fast")
    assert.same(want, last_of("F[i]:narrow(1, 1, 40)", "fast"))
    assert.not_same(want, last_of("F[i]", "strict"))
  end)
end)

describe("norms of rows", function()
  -- Longer than the pieces that sums are made of, of both signs, apart from each other, with nan.
  local function norms(type, engine)
    local options = {seed = 4, type = type}
    local A, T = meissa.randn({6, 2500}, options), meissa.randn({1100, 6}, options)
    local out = meissa.zeros(6, 7)
    A[6][2000] = 0 / 0
    for i in meissa.parallel(6, {engine = engine}) do
      out[i][1] = A[i]:norm(1)
      out[i][2] = A[i]:norm(2)
      out[i][3] = A[i]:norm()
      out[i][4] = T:select(2, i):norm(1)
      out[i][5] = A[i]:norm(math.huge)
      out[i][6] = T:select(2, i):norm(2 - i % 2)
      out[i][7] = A[i]:narrow(1, 7, 9):norm(i > 3 and math.huge or 1)
    end
    assert.equal(engine, meissa.last().engine)
    return out, A, T
  end

  it("have the bits of those of arrays", function()
    for _, type in ipairs {"float", "double"} do
      local out, A, T = norms(type, "native")
      local other = norms(type, "lua")
      for i = 1, 6 do
        local want = {A[i]:norm(1), A[i]:norm(2), A[i]:norm(), T:select(2, i):norm(1),
                      A[i]:norm(math.huge), T:select(2, i):norm(2 - i % 2),
                      A[i]:narrow(1, 7, 9):norm(i > 3 and math.huge or 1)}
        local magnitudes = 0
        for k = 1, 2500 do magnitudes = magnitudes + math.abs(A[i][k]) end
        for k = 1, 7 do
          local a, b, c = out[i][k], other[i][k], want[k]
          assert.is_true(a == b and a == c or a ~= a and b ~= b and c ~= c, type .. i .. k)
        end
        assert.is_true(i == 6 or math.abs(out[i][1] - magnitudes) < 1e-3 * magnitudes)
      end
      assert.is_true(out[6][1] ~= out[6][1])
    end
  end)
end)

describe("the report", function()
  it("names the method that keeps a body on the Lua engine", function()
    every([[out[i] = r:clone():sum() -- the method `clone` has no C form
      local w = r:clone() out[i] = w:sum() -- the method `clone` has no C form
      out[i] = r:norm(nil) -- `nil` is not known to be a number
      out[i] = r:norm(2, 1) -- the method `norm` has no C form with these arguments
      out[i] = r:reduce(math.max) -- the method `reduce` has no C form
      out[i] = r[{{3, 5}}]:sum() -- `{{3, 5}}` takes a range of an array
      out[i] = r:narrow(1, 1, 3)[2][1] -- has more subscripts than dimensions
      out[i] = r:narrow(1, 1, 3)[i > 3 and 2 or nil] -- is not known to be a number
      out[i] = r:narrow(1, 1, 3):narrow(1, 1, 2):sum() -- the method `narrow` has no C form]],
      function(line)
        local body, want = line:match "^(.*) %-%- (.*)$"
        local why = tostring(reason(body))
        assert.truthy(why:find(want, 1, true), body .. ": " .. why)
      end)
  end)
end)
