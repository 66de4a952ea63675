-- SPDX-License-Identifier: MIT
-- Errors of bodies: the user's file and line, the iteration, and the words of the arrays' face.
local array = require "meissa.array"
local errors = require "meissa.base.errors"
local run = dofile("spec/kernel/run.lua")

local function world()
  return setmetatable({
    A = array.rand({ 200, 5 }, { seed = 1 }), B = array.rand({ 200 }, { seed = 2 }),
    C = array.zeros({ 200, 5 }, { type = "int32" }), L = array.zeros({ 200 }, { type = "int64" }),
    F = array.zeros({ 200 }, { type = "float" }), n = 200, at = 150, opts = { deep = {} },
  }, { __index = _G })
end

local rows = { ranges = { { 1, 200 } } }

-- Runs a text whose loop must fail and gives the error table.
local function failure(text, space, options, env)
  local ok, failed = run.kernel(text, env or world(), space or rows, options)
  assert.is_nil(ok)
  return failed
end

-- Texts that fail in iteration `at` on the line of the word HERE.
local failing = {
  { "error", "if i == at then\n error('HERE') end", "HERE" },
  { "error of the caller", "if i == at then\n error('HERE', 2) end", "HERE" },
  { "error of a caller's caller", "if i == at then\n error('HERE', 4) end", "HERE" },
  { "error of a function's caller",
      "local function f() error('m', 2) end\nif i == at then f() --[[HERE]] end", "m" },
  { "error of a function's caller's caller",
      "local function f() error('m', 3) end\nif i == at then f() --[[HERE]] end", "m" },
  { "nil arithmetic", "if i == at then\n B[i] = B[i] + missing --[[HERE]] end",
    "attempt to perform arithmetic on global 'missing' (a nil value)" },
  { "a field of a capture", "if i == at then\n B[i] = opts.deep.rate * 2 --[[HERE]] end",
    "attempt to perform arithmetic on field 'rate' (a nil value)" },
  { "a local", "local q\nif i == at then\n q.x = 1 --[[HERE]] end",
    "attempt to index local 'q' (a nil value)" },
  { "a nested function",
      "local function f(x)\n return x.y --[[HERE]]\nend\nif i == at then f() end",
    "attempt to index local 'x' (a nil value)" },
  { "after many lines", "local x = [[\n\n]]\n--[==[\n\n]==]\nif i ==\n at then error('HERE') end",
    "HERE" },
  { "after a path over lines",
      "B[i] = opts\n .deep\n .x or 1\nif i == at then error('HERE') end", "HERE" },
  { "a compiled loop",
      "for k = 1, 5 do\n A[i][k] = k\n if i == at and k == 4 then error('HERE') end end",
    "HERE" },
  { "a coroutine",
      "if i == at then local ok, m = coroutine.resume(coroutine.create(function()\n " ..
      "error('HERE') end)) error(m, 0) end",
    "HERE" },
}

-- Statements that the arrays' face refuses.
local refused = {
  "B[n + 1] = 1", "B[0] = 1", "local x = B[n + 1]", "local x = A[at][6]", "A[at][0] = 1",
  "A[n + i][1] = 1",
  "local x = A[{at, 6}]", "A[{at, 0}] = 3", "local x = A[{1, 2, 3}]", "B[1.5] = 1",
  "local x = A[1.5][1]",
  "local x = A[1][2.5]", "B['x'] = 1", "B[{}] = 2", "local x = B[nil]", "local x = A[nil][1]",
  "B[0/0] = 1", "B[1/0] = 1", "local w = A[at] w[6] = 1", "local w = A[at] local x = w[0]",
  "local w = A[n + i] local x = w[1]", "B[1] = 'x'", "B[1] = nil", "B[1] = {}", "F[1] = true",
  "C[1][1] = 0.5", "C[1][1] = 0/0", "C[1][1] = 2^31", "C[1][1] = '3'", "L[1] = 0.5", "L[1] = 2^60",
  "local c = C[2] c[1] = 1.5", "B[1], C[1][1] = 1, 2.5", "local x = B.nothing",
  "for k = 1, 6 do A[at][k] = k end", "for k = 5, 0, -1 do local x = A[at][k] end",
  "for k = 1, n do local x = A[k][k] end", "local k = i * 2 B[k] = 1", "B[351 - i] = 1",
  "B[i * i] = 1", "B[-i] = 1", "B:nothing()",
}

describe("an error in a body", function()
  for _, case in ipairs(failing) do
    it("is placed: " .. case[1], function()
      local text = "-- a comment\nfor i in parallel(n) do\n" .. case[2] .. "\nend"
      local line = select(2, text:sub(1, text:find("HERE", 1, true)):gsub("\n", "")) + 1
      local failed = failure(text)
      assert.equal("BDY", failed.code)
      assert.equal("body.lua", failed.file)
      assert.equal(line, failed.line)
      assert.equal(case[3], failed.message)
      assert.same({ 150 }, failed.iteration)
    end)
  end

  for _, statement in ipairs(refused) do
    it("has the words of the arrays: " .. statement, function()
      local text = "for i in parallel(n) do if i == at then\n" .. statement .. " end end"
      local ok, plain = pcall(run.plain, text, world(), rows)
      assert.is_false(ok)
      local failed = failure(text)
      if errors.is(plain) then
        assert.equal(plain.code, failed.code)
        assert.equal(plain.message, failed.message)
      else
        assert.equal(plain:gsub("^[^:]*:%d+: ", ""), failed.message)
      end
      assert.equal("body.lua", failed.file)
      assert.equal(2, failed.line)
      assert.same({ 150 }, failed.iteration)
    end)
  end

  it("leaves nothing of the failed assignment behind", function()
    local env = world()
    local before = env.B[3]
    failure("for i in parallel(n) do if i == at then B[3] = 'x' end end", rows, nil, env)
    assert.equal(before, env.B[3])
  end)

  it("names all indices, of ranges, entries and dense arrays", function()
    local text = "for i, j in parallel(n) do if i == 7 and j == 4 then error('x') end end"
    assert.same({ 7, 4 }, failure(text, { ranges = { { 1, 200 }, { 1, 5 } } }).iteration)
    assert.same({ 7, 4 }, failure(text, { ranges = { { 9, 1, -2 }, { 4, 4 } } }).iteration)
    local entries = { coords = { { 3, 7 }, { 1, 4 } }, values = { 1, 2 } }
    assert.same({ 7, 4 },
      failure(text, { ranges = { { 1, 9 }, { 1, 5 } }, entries = entries }).iteration)
    local env = world()
    assert.same({ 7, 4 },
      failure(text, { ranges = { { 1, 200 }, { 1, 5 } }, array = env.A }, nil, env).iteration)
    assert.same({ 7 }, failure(
        "for i in parallel(n) do local i = i * 2 if i == 14 then error('x') end end").iteration)
  end)

  it("keeps the code and words of error objects, and describes other values", function()
    local env = world()
    env.raise = function() errors.raise("OPT", "chosen words") end
    local failed = failure("for i in parallel(n) do\nraise()\nend", rows, nil, env)
    assert.equal("OPT", failed.code)
    assert.equal("chosen words", failed.message)
    assert.same({ 1 }, failed.iteration)
    failed = failure("for i in parallel(n) do\nerror({1})\nend")
    assert.equal("BDY", failed.code)
    assert.equal(2, failed.line)
    assert.equal("a table was raised: the error's `value` has it", failed.message)
    assert.same({ 1 }, failed.value)
    for _, body in ipairs { "local t = {} t.own = t error(t)", "error({ ('x'):rep(40000) })" } do
      failed = failure("for i in parallel(n) do\n" .. body .. "\nend")
      assert.truthy(failed.message:find("^a table was raised that does not travel: "))
      assert.equal("string", type(failed.value))
    end
    failed = failure("for i in parallel(n) do\nerror()\nend")
    assert.equal(2, failed.line)
    failed = failure("for i in parallel(n) do\nerror('no place', 0)\nend")
    assert.equal("no place", failed.message)
    assert.equal(2, failed.line)
  end)

  it("has a place in chunks without a file", function()
    local failed = failure("for i in parallel(n) do\n\nerror('x') end", rows,
      { name = "for i in parallel(n) do error('x') end" })
    assert.equal(3, failed.line)
    assert.equal("x", failed.message)
    failed = failure("for i in parallel(n) do\n\nerror('x') end", rows,
      { name = "@" .. ("d/"):rep(60) .. "long.lua" })
    assert.equal(("d/"):rep(60) .. "long.lua", failed.file)
    assert.equal(3, failed.line)
    assert.equal("x", failed.message)
  end)

  it("of int64 elements that are no Lua numbers is the arrays' own", function()
    local env = world()
    env.L.array.data = env.L.array.data
    local ffi = require "ffi"
    ffi.cast("int64_t *", env.L.array.data)[4] = 2LL ^ 60
    local failed = failure("for i in parallel(n) do\nlocal x = L[i] end", rows, nil, env)
    local ok, plain = pcall(function() return env.L[5] end)
    assert.is_false(ok)
    assert.equal("ARR", failed.code)
    assert.equal(plain.message, failed.message)
    assert.equal(2, failed.line)
    assert.same({ 5 }, failed.iteration)
  end)
end)
