-- SPDX-License-Identifier: MIT
-- Methods of captured tables and classes, and the fields that they read, as machine code: the bits
-- and errors of the Lua engine and of the plain loop.
local compiler = require "meissa.kernel.compiler"
local meissa = require "meissa"
local parallel = meissa.parallel

-- A model of a class, with what its methods name.
local Base = {}
Base.__index = Base

function Base:bias(i, j) return self.b[i] + self.c[j] * self.scale end

local Model = setmetatable({}, { __index = Base })
Model.__index = Model

function Model:predict(i, j)
  local w, h = self.W[i], self.H[j]
  return self.mu + self:bias(i, j) + w:dot(h)
end

function Model.update(self, i, j, e)
  local w, h, lr = self.W[i], self.H[j], self.options.lr
  for k = 1, self.rank do
    local wk = w[k]
    w[k] = wk + lr * (e * h[k] - self.options.reg * wk)
    h[k] = h[k] + lr * (e * wk - self.options.reg * h[k])
  end
  if self.biased then
    self.b[i] = self.b[i] + lr * e
    self.c[j] = self.c[j] + lr * e
  end
end

function Model:both(x) return x * self.mu, x + self.mu end

local N, M, K = 40, 30, 6

local function make()
  return setmetatable({
    W = meissa.randn({ N, K }, { seed = 1 }), H = meissa.randn({ M, K }, { seed = 2 }),
    b = meissa.rand({ N }, { seed = 3 }), c = meissa.rand({ M }, { seed = 4 }),
    mu = 0.25, scale = 0.5, rank = K, biased = true, options = { lr = 0.05, reg = 0.01 },
  }, Model)
end

local function image(model)
  local parts = {}
  for _, name in ipairs { "W", "H", "b", "c" } do
    for _, value in ipairs(model[name]:clone():reshape { model[name]:nnz() }:totable()) do
      parts[#parts + 1] = ("%a"):format(value)
    end
  end
  return table.concat(parts, " ")
end

describe("methods", function()
  if compiler.missing() then
    pending("native kernels: " .. compiler.missing())
    return
  end
  setup(function() meissa.init { workers = 1 } end)

  -- Runs `loop(model, options)` on both engines: the same arrays and results, by machine code.
  local function agree(loop)
    local results = {}
    for n, engine in ipairs { "lua", "native" } do
      local model = make()
      local ok, got = pcall(loop, model, { engine = engine })
      results[n] = { ok, tostring(got), image(model) }
      if ok then assert.equal(engine, meissa.last().engine) end
    end
    assert.same(results[1], results[2])
    return results[2]
  end

  it("of a captured table, through __index, and methods that they call", function()
    assert.is_true(agree(function(model, options)
      local sum = 0
      for i, j in parallel(N, M, options) do
        local e = 0.5 - model:predict(i, j)
        model:update(i, j, e)
        sum = sum + e * e
      end
      return ("%.17g"):format(sum)
    end)[1])
  end)

  it("called as functions of their class", function()
    assert.is_true(agree(function(model, options)
      local y = meissa.zeros(N)
      for i in parallel(N, options) do
        y[i] = Model.predict(model, i, 3) + Base.bias(model, i, 2)
      end
      return ("%.17g"):format(y:sum())
    end)[1])
  end)

  it("of tables with other names in the body, and of fields", function()
    assert.is_true(agree(function(model, options)
      local y, all = meissa.zeros(N), { model = model, shift = 2 }
      for i in parallel(N, options) do
        local m = all.model
        local p, q = m:both(i)
        y[i] = p + q * all.shift + all.model:predict(i, 1) + m.options.lr
      end
      return ("%.17g"):format(y:sum())
    end)[1])
  end)

  it("read their table's numbers anew in each loop", function()
    local model, y = make(), meissa.zeros(N)
    for _, mu in ipairs { 0.25, 4, -1 } do
      model.mu, model.options.lr = mu, mu / 2
      for i in parallel(N, { engine = "native" }) do
        local p, q = model:both(i)
        y[i] = p + q + model.options.lr
      end
      assert.equal(3 * mu + 3 + mu + mu / 2, y[3])
    end
  end)

  it("name the line of an error in them", function()
    local lua, native = {}, {}
    for engine, into in pairs { lua = lua, native = native } do
      local model = make()
      model.rank = K + 1
      local ok, err = pcall(function()
        for i in parallel(N, { engine = engine }) do model:update(i, 1, 0.5) end
      end)
      into[1], into[2], into[3] = ok, err.line, err.message
    end
    assert.is_false(lua[1])
    assert.same(lua, native)
  end)

  it("are named where they stay on the Lua engine", function()
    local named = { name = "x", width = function(self) return #self.name end }
    local y = meissa.zeros(3)
    for i in parallel(3) do y[i] = named:width() end
    assert.equal("lua", meissa.last().engine)
    assert.equal(1, y[2])
  end)
end)
