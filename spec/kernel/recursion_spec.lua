-- SPDX-License-Identifier: MIT
--
-- Functions that call themselves, as machine code: the bits and errors of plain LuaJIT and of the
-- Lua engine, whose stack they do not need.
-- MEISSA_TEST_SEED=n replays the random functions, MEISSA_TEST_COUNT=n sets how many programs there
-- are.
local child = require "spec.support.child"
local compiler = require "meissa.kernel.compiler"
local meissa = require "meissa"
local functions = dofile("spec/kernel/recursive_functions.lua")
local recursive = dofile("spec/kernel/recursive.lua")
local seed = require "spec.support.seed"
local small = require "meissa.driver.small"

local count = tonumber(os.getenv("MEISSA_TEST_COUNT") or "") or 12
local parallel = meissa.parallel

-- A spec's environment looks globals up by a metatable, which the analyser does not.
local math = math

local N = 24
local shown, W = functions.shown, functions.W

-- Where LuaJIT's own stack ends.
local function deep(n) if n == 0 then return 0 end return 1 + deep(n - 1) end
local function deepest()
  local low, high = 1, 1e6
  while high - low > 1 do
    local middle = math.floor((low + high) / 2)
    if pcall(deep, middle) then low = middle else high = middle end
  end
  return low
end

local function down(n, wide)
  if n == 0 then return wide end
  local a, b, c, d, e, f, g = n + 1, n * 2, n / 3, n - 4, n % 5, wide * n, wide + n
  local rest = down(n - 1, wide)
  return rest + a - b + c - d + e * f - g / (a + b + c + d + e + f + g)
end

local function without_end(n)
  return 1 + without_end(n + 1)
end

local function outside(n)
  if n == 0 then
    return W[0]
  end
  return 1 + outside(n - 1)
end

local function no_number(n)
  local x = n > 0 and n or nil
  if n == 0 then return 1 + x end
  return 1 + no_number(n - 1)
end

local says, asserts
do
  local error, assert = error, package.loaded._G.assert -- luacheck: ignore
  function says(n)
    if n == 0 then error("far down") end
    return 1 + says(n - 1)
  end

  function asserts(n)
    assert(n > 0, "far down")
    return 1 + asserts(n - 1)
  end
end

-- The bits of the elements of the array that `run(options)` gives, or its error.
local function outcome(run, options)
  local ok, got = pcall(run, options)
  if not ok then
    return { code = got.code, line = got.line, message = got.message, file = got.file,
             iteration = got.iteration and got.iteration[1] }
  end
  local bits, data = {}, got:data()
  for e = 1, got:nnz() do
    bits[e] = ("%a"):format(tonumber(data[e - 1])):gsub("-nan", "nan")
  end
  return bits
end

-- LuaJIT's compiled code may have 0 where its interpreter has -0.
local function unsigned(bits)
  for e, each in ipairs(bits) do bits[e] = each:gsub("^%-0x0p%+0$", "0x0p+0") end
  return bits
end

-- A loop that sets element i to fn(i).
local function loop_of(fn)
  return function(options)
    local A = meissa.zeros { N }
    for i in parallel(N, options) do A[i] = fn(i) end
    return A
  end
end

describe("functions that call themselves", function()
  if compiler.missing() then
    pending("native kernels: " .. compiler.missing())
    return
  end

  local most
  setup(function()
    meissa.init { workers = 1 }
    most, small.most[0] = small.most[0], 0
  end)
  teardown(function()
    small.most[0] = most
    functions.finish()
  end)

  -- What both engines give, and plain LuaJIT, if it gives anything.
  local function agree(run, options)
    options = options or {}
    local native = outcome(run, { engine = "native", assume = options.assume })
    assert.is_true(native.code ~= nil or meissa.last().engine == "native")
    assert.same(outcome(run, { engine = "lua", assume = options.assume }), native)
    if not options.fails then
      assert.is_nil(native.code, native.message)
      assert.same(unsigned(outcome(run, { serial = true })), unsigned(native))
    end
    return native
  end

  local names = {}
  for name in pairs(shown) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    it("give what LuaJIT gives: " .. name, function()
      local native = agree(loop_of(shown[name]))
      for i = 1, N do assert.equal(("%a"):format(shown[name](i)), native[i]) end
    end)
  end

  it("may be made by the body", function()
    local native = agree(function(options)
      local A = meissa.zeros { N }
      for i in parallel(N, options) do
        local function sum(k) if k == 0 then return W[1] end return k + sum(k - 1) end
        A[i] = sum(i)
      end
      return A
    end)
    assert.equal(("%a"):format(10 + W[1]), native[4])
  end)

  it("are told apart by what they name, if they are of one text", function()
    local two
    local function make(rate)
      return function(n)
        if n == 0 then return 0 end
        return two(n - 1) + n * rate
      end
    end
    local one = make(1)
    two = make(100)
    local native = agree(loop_of(function() return one(3) end))
    assert.equal(("%a"):format(303), native[1])
  end)

  it("may store into arrays", function()
    agree(function(options)
      local A, stored = meissa.zeros { N, 9 }, 0
      local function put(row, low, high, x)
        if low > high then return 0 end
        local middle = math.floor((low + high) / 2)
        row[middle] = x
        return 1 + put(row, low, middle - 1, x / 2) + put(row, middle + 1, high, x + 1)
      end
      for i in parallel(N, options) do stored = stored + put(A[i], 1, 8, i) + A[i][3] end
      A[1][9] = stored
      return A
    end)
  end)

  it("see what the body has just stored, and it what they store", function()
    agree(function(options)
      local A = meissa.ones { N }
      local function sum(i, n)
        if n == 0 then return A[i] end
        A[i] = A[i] + n
        return sum(i, n - 1) * 2 - A[i]
      end
      for i in parallel(N, options) do
        A[i] = i * 3
        local before = A[i]
        local got = sum(i, 4)
        A[i] = got + before * A[i]
      end
      return A
    end, { assume = "independent" })
  end)

  it("may go as deep as LuaJIT's stack, with whatever they hold", function()
    local n = deepest()
    assert.is_true(n > 1000)
    local options = { engine = "native" }
    assert.equal(("%a"):format(n), outcome(loop_of(function() return deep(n) end), options)[1])
    while not pcall(down, n, 1) do n = n - 100 end
    local far = outcome(loop_of(function(i) return down(n, i) end), options)
    assert.equal(("%a"):format(down(n, 3)), far[3])
  end)

  it("without an end are an error in their text, and workers stay usable", function()
    local native = outcome(loop_of(without_end), { engine = "native" })
    local file = debug.getinfo(1, "S").source:sub(2)
    assert.same({ code = "BDY", line = debug.getinfo(without_end, "S").linedefined, file = file,
                  message = "stack overflow", iteration = 1 }, native)
    local lua = outcome(loop_of(without_end), { engine = "lua" })
    assert.equal(native.code, lua.code)
    assert.equal(native.message, lua.message)
    local sum = 0
    for i in parallel(N, { engine = "native" }) do sum = sum + i end
    assert.equal(N * (N + 1) / 2, sum)
  end)

  it("stay on a stack that is smaller than others", function()
    local output, status = child.script([[
      local meissa = require "meissa"
      local A = meissa.zeros(8)
      local function deep(n) return n == 0 and 0 or 1 + deep(n - 1) end
      local function fill(n)
        for i in meissa.parallel(8, {engine = "native"}) do A[i] = deep(n) end
      end
      fill(3000)
      print(A[1], select(2, pcall(fill, 1e9)))]], {
      env = "ulimit -s 768 && MEISSA_WORKERS=1"})
    assert.equal(0, status, output)
    assert.matches("^3000\t[^\n]*BDY: stack overflow %(", output)
  end)

  it("raise the Lua engine's errors far down", function()
    for _, fn in ipairs { outside, no_number, says, asserts } do
      local native, about = agree(loop_of(fn), { fails = true }), debug.getinfo(fn, "S")
      assert.equal(1, native.iteration)
      assert.is_true(native.line >= about.linedefined and native.line <= about.lastlinedefined)
    end
  end)

  it("take and give doubles in fast mode", function()
    local F = meissa.ones({ N }, { type = "float" })
    local function up(n, x) if n == 0 then return 2 ^ 30 end return up(n - 1, x) + x end
    for i in parallel(N, { numeric = "fast" }) do F[i] = up(i, F[i] / 3) + F[i] - 2 ^ 30 end
    assert.equal("native", meissa.last().engine)
    for i = 1, N do assert.near(1 + i / 3, F[i], 1e-5) end
  end)

  it("never run in the driver's process, where they might not come back", function()
    small.most[0] = most
    local few = loop_of(function() return deep(3) end)
    for _ = 1, 20 do
      outcome(few, { engine = "native" })
      assert.equal(1, meissa.last().workers)
    end
    small.most[0] = 0
  end)

  it("stay on the Lua engine with what belongs to the iteration, with the reason", function()
    local function reason(fill)
      local ok, err = pcall(fill, meissa.zeros { N }, { engine = "native" })
      return ok and "native" or err.message
    end
    assert.matches("draws in a function that calls itself", reason(function(A, options)
      local function walk(n) if n == 0 then return 0 end return meissa.random() + walk(n - 1) end
      for i in parallel(N, options) do A[i] = walk(3) end
    end))
    assert.matches("is made by a function that calls itself", reason(function(A, options)
      local function list(n)
        local t = { n }
        return n == 0 and 0 or t[1] + list(n - 1)
      end

      for i in parallel(N, options) do A[i] = list(3) end
    end))
    assert.matches("belongs to another function", reason(function(A, options)
      local B = meissa.rand { N, 4 }
      for i in parallel(N, options) do
        local row = B[1]
        local function last(n) if n > 0 then row = B[n] last(n - 1) end end
        last(i)
        A[i] = row[1]
      end
    end))
    assert.matches("with tables, functions that it makes", reason(function(A, options)
      local make
      local function ask(n, get)
        if n == 0 then return get() end
        local before = make(n - 1)
        return before + get()
      end

      function make(n)
        local function mine() return n end
        return 1 + ask(n, mine)
      end
      for i in parallel(N, options) do A[i] = make(i % 4) end
    end))
    assert.matches("may be no number where a function that calls itself ends",
      reason(function(A, options)
        local function half(n, x) if n == 0 then return math.floor(x) end return 1 + half(n - 1) end
        for i in parallel(N, options) do A[i] = half(1, i) end
      end))
  end)

  it("agree at random (MEISSA_TEST_SEED=" .. seed .. ")", function()
    local file, natives = os.tmpname(), 0
    for number = 1, count do
      local faulty = number % 3 == 0
      local text = recursive.generate(seed * 1000 + number, faulty)
      local out = assert(io.open(file, "w"))
      out:write(text)
      out:close()
      local run = assert(loadfile(file))(meissa)
      local ok, got = pcall(agree, run, { assume = "independent", fails = faulty })
      local refused = not ok and outcome(run, { engine = "native", assume = "independent" })
      if ok then
        natives = natives + 1
      elseif refused.code ~= "OPT" then
        error(("program %d of seed %d: %s\n%s"):format(number, seed, tostring(got), text), 0)
      end
    end
    os.remove(file)
    assert.is_true(natives >= count * 0.7, natives .. " of " .. count)
  end)
end)
