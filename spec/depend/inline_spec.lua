-- SPDX-License-Identifier: MIT
-- Captured functions, methods and metatables: what they do to arrays is seen where the body calls
-- them, and the results are those of the loop as written.
local meissa = require "meissa"
local parallel = meissa.parallel
-- Specs run in an environment that finds globals by a function, which the analyser never calls.
local math, setmetatable, rawset, pcall, tostring = math, setmetatable, rawset, pcall, tostring

local A, B, C, count = meissa.zeros(20), meissa.zeros(20), meissa.zeros(20, 3), 0

local function left(k) return B[k - 1] end
local function row(k) return C[k] end
local function put(X, k, v) X[k] = v end
local function pick(k) if k % 2 == 1 then return A end return B end
local function twice(k) return left(k) + left(k + 1) end
local function fibonacci(n)
  if n < 2 then return n end
  return fibonacci(n - 1) + fibonacci(n - 2)
end

local function halves(k) local h = math.floor(k / 2) return h end
local function smooth(k)
  local sum = 0
  for d = -1, 1 do sum = sum + B[k + d] end
  return sum / 3
end

local function any(...) return B[(...)] end
local function counted(x) count = count + 1 return x end
local function through(f, k) return f(k) end
local function early(k, stop) if stop then return 0 end A[k] = 1 return 1 end

local Class = {}
Class.__index = Class
function Class.new(x) return setmetatable({x = x, W = B}, Class) end
function Class:get(k) return self.W[k] + self.x end
function Class:set(k) self.W[k] = self.x end
function Class:rows(k) return self.other.W[k] end
function Class:grow() self.x = self.x + 1 end
local object, objects = Class.new(3), {Class.new(1), Class.new(2)}
object.other = {W = C}
local called = setmetatable({}, {__call = function(_, k) return A[k] end})

-- body, distances ("-": refused before that), a code that is among the reasons
local functions = {
  {"A[i] = left(i + 1)", ""}, {"B[i] = left(i)", "(1)"}, {"B[i] = left(i + 1)", ""},
  {"B[2 * i] = left(2 * i)", ""}, {"local w = row(i) w[1] = 2", ""},
  {"row(i)[1] = row(i + 1)[2]", ""}, {"row(i)[1] = row(i + 1)[1]", "(1)"},
  {"put(A, i, i)", ""}, {"put(A, 1, i)", "(+)"}, {"put(A, i, B[i]) put(B, i, 1)", ""},
  {"pick(i)[i] = 1", ""}, {"pick(i)[1] = 1", "(+)"},
  {"B[i] = twice(i)", "(1)"}, {"A[i] = fibonacci(i)", ""},
  {"A[halves(i)] = 1", "(1)"}, {"A[i] = A[halves(2 * i)]", ""}, {"A[i] = smooth(i)", ""},
  {"B[i] = smooth(i)", "(1)"}, {"A[i] = any(i)", ""}, {"B[i] = any(i)", "(+)"},
  {"B[i] = through(left, i)", "(1)"}, {"A[i] = through(left, i)", ""},
  {"early(i, i > 3)", ""}, {"A[i + 1] = early(i, false)", "(1)"},
  {"A[i] = counted(i)", "", "DEP112"}, {"B[i] = object:get(i)", ""},
  {"B[i + 1] = object:get(i)", "(1)"}, {"A[i] = object:get(i)", ""}, {"object:set(i)", ""},
  {"object:set(1)", "(+)"}, {"C[i][2] = object:rows(i)[1]", ""}, {"object:grow()", "", "DEP112"},
  {"local o = Class.new(i) A[i] = o.x", ""}, {"A[i] = called(i)", ""},
  {"A[i] = called(i + 1)", "(1)"}, {"local o = object B[i] = o:get(i)", ""},
}

local function bind()
  return {A = A, B = B, C = C, left = left, row = row, put = put, pick = pick, twice = twice,
          fibonacci = fibonacci, halves = halves, smooth = smooth, any = any, counted = counted,
          through = through, early = early, object = object, objects = objects, Class = Class,
          called = called}
end

local function distances(plan)
  local parts = {}
  for k, each in ipairs(plan.distances) do
    for d, component in ipairs(each) do each[d] = tostring(component) end
    parts[k] = "(" .. table.concat(each, ", ") .. ")"
  end
  return table.concat(parts, " ")
end

local function codes(plan)
  local list = {}
  for k, reason in ipairs(plan.reasons) do list[k] = reason.code end
  return table.concat(list, " ")
end

describe("captured functions are looked into:", function()
  for _, case in ipairs(functions) do
    it(case[1], function()
      local plan = meissa.analyze("for i in parallel({2, 9}) do " .. case[1] .. " end", bind())
      assert.equal(case[2], distances(plan))
      assert.equal(case[3] or "", (codes(plan):gsub("DEP10[12] ?", "")))
      if case[2] == "" then
        assert.equal(case[3] and "serial" or "independent", plan.strategy)
      end
    end)
  end
end)

-- Metatables: the table, a body that uses it, a code of the refusal or the access to A.
local metatables = {
  {{__add = function(_, b) count = count + 1 return b end}, "B[i] = V + i", "DEP112"},
  {{__add = function(_, b) return A[3] + b end}, "B[i] = V + i", "read"},
  {{__add = function(_, b) return A[3] + b end}, "A[i] = V + i", "DEP102"},
  {{__unm = function() A[1] = 2 return 1 end}, "B[i] = -V", "DEP102"},
  {{__index = function(_, k) return A[k] end}, "B[i] = V[i]", "read"},
  {{__index = function(_, k) return A[k] end}, "A[i] = V[i]", "DEP102"},
  {{__index = function() return A[1] end}, "A[i] = V.field", "DEP102"},
  {{__index = function(_, k) count = count + 1 return k end}, "B[i] = V[i]", "DEP112"},
  {{__index = function(t, k) rawset(t, k, k) return k end}, "B[i] = V[i]", "DEP112"},
  {{__newindex = function(_, k, v) A[k] = v end}, "V[i] = i", "DEP107"},
  {{__eq = function() count = count + 1 return true end}, "B[i] = V == W and 1 or 0", "DEP112"},
  {{__concat = function() A[2] = 1 return "" end}, "B[i] = #(V .. 'x')", "DEP102"},
  {{__tostring = function() count = count + 1 return "" end}, "B[i] = #tostring(V)", "DEP112"},
  {{__lt = function(a) return a[1] > A[1] end}, "B[i] = V < W and 1 or 0", "read"},
  {{__index = {n = 1}}, "A[i] = V.n", "write"},
  {{__call = function(_, k) A[k] = 1 end}, "V(i)", "write"},
  {{__call = function(_, k) A[1] = k end}, "V(i)", "DEP101"},
}

describe("metatables of captured tables", function()
  for _, case in ipairs(metatables) do
    it("with " .. next(case[1]) .. ": " .. case[2] .. ": " .. case[3], function()
      local V, W = setmetatable({1}, case[1]), setmetatable({1}, case[1])
      local plan = meissa.analyze("for i in parallel(9) do " .. case[2] .. " end",
                                  {V = V, W = W, A = A, B = B, tostring = tostring})
      if case[3]:find "DEP" then
        assert.equal("serial", plan.strategy)
        assert.is_truthy(codes(plan):find(case[3], 1, true), codes(plan))
      else
        assert.equal("independent", plan.strategy)
        assert.equal(case[3], plan.arrays.A.access)
      end
    end)
  end
end)

-- A model whose methods do all the work, and the same by hand.
local function make_model()
  local model = {W = meissa.randn({30, 4}, {seed = 1}), H = meissa.randn({20, 4}, {seed = 2}),
                 rate = 0.01}
  function model:predict(i, j) return self.W[i]:dot(self.H[j]) end
  function model:step(i, j, e)
    local w, h = self.W[i], self.H[j]
    for k = 1, 4 do
      local wk = w[k]
      w[k] = wk + self.rate * e * h[k]
      h[k] = h[k] + self.rate * e * wk
    end
  end
  return model
end

local function ratings()
  local t = {i = {}, j = {}, v = {}}
  for i = 1, 30 do
    for j = 1, 20 do
      if i * j % 3 == 0 then
        local n = #t.i + 1
        t.i[n], t.j[n], t.v[n] = i, j, i / j
      end
    end
  end
  return meissa.sparse({30, 20}, t)
end

describe("a model's methods", function()
  local expected
  after_each(function() meissa.init {} end)
  for _, workers in ipairs {0, 1, 2, 3} do
    it(("give the same bits with %d workers"):format(workers), function()
      meissa.init {workers = workers}
      local model, R, error = make_model(), ratings(), 0
      for i, j, r in parallel(R) do
        local e = r - model:predict(i, j)
        error = error + e * e
        model:step(i, j, e)
      end
      local plan = meissa.last()
      assert.equal("rotate", plan.strategy)
      assert.equal("read+write", plan.arrays["model.W"].access)
      local text = ("%.17g %.17g %.17g"):format(error, model.W:sum(), model.H:norm())
      expected = expected or text
      assert.equal(expected, text)
    end)
  end

  it("that are not told apart count as one that may store", function()
    local models, R = {make_model(), make_model()}, ratings()
    local ok, err = pcall(function()
      for i, j in parallel(R) do models[i % 2 + 1]:step(i, j, 1) end
    end)
    assert.is_false(ok)
    assert.is_truthy(tostring(err):find("DEP1", 1, true))
    local sum = 0
    for k = 1, 2 do models[k].step = nil end
    for i, j in parallel(R) do sum = sum + models[i % 2 + 1]:predict(i, j) end
    assert.is_true(sum == sum)
  end)
end)

describe("functions that are looked into", function()
  it("are planned anew when what they mean changes", function()
    local offset, X = 1, meissa.zeros(20)
    local function before(k) return X[k - offset] end
    local function plan()
      return meissa.plan({5, 15}, function(i) X[i] = before(i) end)
    end
    assert.equal("(1)", distances(plan()))
    offset = 0
    assert.equal("", distances(plan()))
    offset = 12
    assert.equal("", distances(plan()))
    before = function(k) return X[1] + k end
    assert.equal("(+)", distances(meissa.plan({1, 15}, function(i) X[i] = before(i) end)))
  end)

  it("get numbers that reach subscripts", function()
    local shift, X = 2, meissa.zeros(40)
    local function at(k, by) return X[k + by] end
    local function plan()
      return meissa.plan({5, 15}, function(i) X[i] = at(i, shift) end)
    end
    assert.equal("(2)", distances(plan()))
    shift = 20
    assert.equal("", distances(plan()))
  end)
end)
