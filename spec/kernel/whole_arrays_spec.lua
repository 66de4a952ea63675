-- SPDX-License-Identifier: MIT
-- Methods that change matrices and blocks of arrays, as machine code: the bits of the Lua engine,
-- and its errors.
local compiler = require "meissa.kernel.compiler"
local meissa = require "meissa"
local parallel = meissa.parallel

local N, R, C = 10, 3, 5

-- What bodies use, of one type of element.
local function make(kind)
  local function rand(seed, ...) return meissa.randn({...}, {seed = seed, type = kind}) end
  local turned = rand(4, N, C, R)
  return { A = rand(1, N, R, C), B = rand(2, N, R, C), G = rand(3, R, C),
    S = meissa.scratch({R, C}, {type = kind}), T = turned:transpose(2, 3), turned = turned,
    x = rand(5, N, R), y = rand(6, N, C), D = rand(7, N, 2, R, C), out = meissa.zeros(N),
    sum = rand(8, N, C, C) }
end

-- Bodies of `for i in parallel(N)`; what is behind `--` is no machine code.
local BODIES = {
  "A[i]:fill(i)", "A[i]:scal(0.5 + i)", "A[i]:abs() A[i]:sqrt()", "A[i]:add(i)", "T[i]:fill(1 / i)",
  "A[i]:copy(B[i])", "A[i]:copy(G)", "A[i]:add(B[i])", "A[i]:add(1 / i, B[i])", "A[i]:axpy(i, G)",
  "A[i]:cmul(B[i])", "A[i]:copy(T[i])", "T[i]:axpy(2, A[i])", "D[i]:scal(i)",
  "D[i][2]:copy(D[i][1])",
  "D[i][1]:add(1 / 3, A[i])", "A[i]:copy(A[i]) A[i]:add(A[i])",
  "S:fill(i) S[2]:scal(3) A[i]:add(S)",
  "A[i]:ger(x[i], y[i])", "A[i]:ger(1, 1, x[i], y[i])", "A[i]:ger(1 / 3, i, x[i], y[i])",
  "T[i]:ger(0.1, -i, x[i], y[i])", "S:ger(0, 2, x[i], y[i]) A[i]:copy(S)",
  "sum[i]:ger(0.5, 1, y[i], y[i])", "local w = A[i] w:ger(out[i], 1 + out[i], x[i], y[i])",
  "x[i]:gemv(A[i], y[i])", "x[i]:gemv(0.5, 1 / i, A[i], y[i])", "x[i]:gemv(1, 1, B[i], y[i])",
  "x[i]:gemv(T[i], y[i])", "D[i][1][1]:gemv(0, 3, turned[i], x[i])",
  "local w = x[i] w:gemv(G, y[i])",
  "y[i]:gemv(sum[i], y[i]) --",
  "A[i]:ger(1, 1, D[i][1]:select(2, 2), y[i]) --", "A[i]:ger(1, 1, x[i], A[i][1]) --",
}

describe("matrices", function()
  if compiler.missing() then
    pending("native kernels: " .. compiler.missing())
    return
  end
  setup(function() meissa.init { workers = 1 } end)

  local function run(body, kind, engine)
    local env = setmetatable(make(kind), { __index = _G })
    local text = ("local parallel = ... for i in parallel(N, {engine = %q}) do %s\n end")
      :format(engine, body)
    env.N = N
    local ok, err = pcall(setfenv(assert(loadstring(text)), env), parallel)
    local bits = {}
    for _, name in ipairs { "A", "D", "turned", "sum", "x", "y" } do
      for _, value in ipairs(env[name]:reshape(env[name]:nnz()):totable()) do
        bits[#bits + 1] = ("%a"):format(value)
      end
    end
    return ok, ok and table.concat(bits, " ") or err
  end

  local function same(body, is_native)
    for _, kind in ipairs { "double", "float" } do
      local _, expected = run(body, kind, "lua")
      assert.is_string(expected, tostring(expected))
      local ok, got = run(body, kind, "native")
      assert.equal(is_native, ok, tostring(got))
      if ok then assert.equal(expected, got) end
    end
  end

  -- Several at a time: the compiler takes as long for each kernel as for what is in it.
  local some = {}
  for n, body in ipairs(BODIES) do
    local is_native = not body:find("--", 1, true)
    if is_native then some[#some + 1] = "do " .. body .. " end" end
    if #some == 6 or n == #BODIES then
      local text = table.concat(some, "\n")
      it("have the same bits: " .. text, function() same(text, true) end)
      some = {}
    end
    if not is_native then
      it("are no machine code: " .. body, function() same(body, false) end)
    end
  end

  it("have the errors of the Lua engine", function()
    for _, body in ipairs { "A[i]:copy(sum[i])", "A[i]:ger(1, 1, y[i], x[i])",
                            "A[i]:copy(x[i])", "x[i]:gemv(A[i], x[i])", "x[i]:copy(A[i])",
                            "local w = i > 0 and x[i] or x[1] w:ger(x[i], y[i])" } do
      local ok, err = run(body, "double", "lua")
      assert.is_false(ok)
      assert.equal("ARR", err.code)
      ok, err = run(body, "double", "auto")
      assert.is_false(ok)
      assert.equal("ARR", err.code)
    end
  end)

  it("may be other views of what is written: that is copied first", function()
    local base = meissa.randn({4, 4}, {seed = 1})
    local upper, lower = base:narrow(1, 1, 3), base:narrow(1, 2, 3)
    local expected = base:clone()
    expected:narrow(1, 2, 3):copy(base:narrow(1, 1, 3):clone())
    local ok, err = pcall(function()
      for _ in parallel(1, {engine = "native"}) do lower:copy(upper) end
    end)
    assert.truthy(not ok and tostring(err):find("or that overlap", 1, true))
    for _ in parallel(1) do lower:copy(upper) end
    assert.same(expected:totable(), base:totable())
  end)
end)
