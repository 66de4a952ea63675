-- SPDX-License-Identifier: MIT
-- Functions that a body calls with different tables and arrays, and choices between rows, as
-- machine code: the bits and errors of the Lua engine.
local compiler = require "meissa.kernel.compiler"
local meissa = require "meissa"
local parallel = meissa.parallel

local N, K = 20, 4

local function make(seed)
  return { W = meissa.randn({ K, K }, { seed = seed }), b = meissa.rand({ K }, { seed = seed + 1 }),
    rate = seed / 10, name = { list = { seed, 2, 3, 4 } } }
end

local function scale(x, by) return x * by end
local function gate(W, b, x, k) return b[k] + W[k]:dot(x) end
local function forward(cell, x, y)
  for k = 1, K do
    y[k] = scale(gate(cell.W, cell.b, x, k), cell.rate) + gate(cell.W, x, cell.b, k)
  end
end

local function both(first, second, x, y)
  forward(first, x, y)
  if second then forward(second, x, y) end
end

local function fib(cell, n)
  if n < 2 then return cell.rate end
  return fib(cell, n - 1) + fib(cell, n - 2)
end

local function even(cell, n, odd)
  if n == 0 then return cell.rate end
  return odd(cell, n - 1, even)
end

local function listed(cell, k) return cell.name.list[k] end
local Layer = {}
Layer.__index = Layer
function Layer:apply(other, x) return self.rate * x + other.rate end

local BODIES = {
  "forward(a, X[i], Y[i]) forward(c, X[i], Z[i])",
  "both(a, c, X[i], Y[i]) both(c, a, X[i], Z[i])",
  "both(a, a, X[i], Y[i]) both(a, c, X[i], Z[i]) both(c, c, X[i], T)",
  "forward(a, X[i], T) forward(c, T, Y[i])",
  "Y[i][1] = fib(a, 7) + fib(c, 8) - fib(a, 3)",
  "Y[i][2] = listed(a, 2) + listed(c, 1)",
  "Y[i][1] = gate(a.W, a.b, X[i], 2) + gate(c.W, c.b, X[i], 3) + gate(a.W, X[i], a.b, 1)",
  "local w = i % 3 == 0 and X[i] or X[1] Y[i][1] = w:dot(w) + w[2]",
  "local w = i > 4 and X[i] or X[N + 1 - i] for k = 1, K do Y[i][k] = w[k] end",
  "Y[i]:axpy(2, i % 2 == 1 and X[i] or (i % 4 == 0 and X[2] or X[3]))",
  "Y[i]:copy((X[i][1] > 0 and a.W or a.W)[1])",
  "local w = Y[i][1] == 0 and Y[i] or Z[i] --",
  "local w = i > 3 and X[i] or nil Y[i][1] = w and 1 or 0 --",
}

describe("functions called with different tables", function()
  if compiler.missing() then
    pending("native kernels: " .. compiler.missing())
    return
  end
  setup(function() meissa.init { workers = 1 } end)

  local function run(body, engine)
    local env = { a = make(1), c = make(5), X = meissa.randn({ N, K }, { seed = 9 }), N = N, K = K,
      Y = meissa.zeros(N, K), Z = meissa.zeros(N, K), T = meissa.scratch(K), forward = forward,
      both = both, fib = fib, listed = listed, gate = gate, engine = engine }
    local text = "local parallel = ... for i in parallel(N, {engine = engine}) do " .. body ..
      "\nend"
    local ok, err = pcall(setfenv(assert(loadstring(text)), env), parallel)
    local bits = {}
    for _, value in ipairs(meissa.cat({ env.Y, env.Z }, 1):reshape(2 * N * K):totable()) do
      bits[#bits + 1] = ("%a"):format(value)
    end
    return ok, ok and table.concat(bits, " ") or err
  end

  for _, body in ipairs(BODIES) do
    it("have the same bits: " .. body, function()
      local _, expected = run(body, "lua")
      assert.is_string(expected, tostring(expected))
      local ok, got = run(body, "native")
      assert.equal(not body:find("--", 1, true), ok, tostring(got))
      if ok then assert.equal(expected, got) end
    end)
  end

  it("may be methods, and functions that call each other", function()
    local a, c = setmetatable({ rate = 2 }, Layer), setmetatable({ rate = 3 }, Layer)
    local out = meissa.zeros(N)
    local function odd(which, n, other)
      if n == 0 then return -which.rate end
      return other(which, n - 1, odd)
    end
    for i in parallel(N, { engine = "native" }) do out[i] = a:apply(c, i) + c:apply(a, i) end
    assert.equal(5 * 20 + 5, out[20])
    for i in parallel(N) do out[i] = even(a, i % 4, odd) + even(c, 3, odd) end
    assert.equal(2 - 3, out[20])
  end)

  it("stop where a row that is chosen has no such element", function()
    local function refused(engine)
      local X, Y = meissa.ones(N, K), meissa.zeros(N)
      local ok, err = pcall(function()
        for i in parallel(N, { engine = engine }) do
          local w = i < 3 and X[i] or X[N + 1]
          Y[i] = w[1]
        end
      end)
      assert.is_false(ok)
      return tostring(err)
    end
    assert.equal(refused "lua", refused "native")
  end)
end)
