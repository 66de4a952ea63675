-- SPDX-License-Identifier: MIT
-- Bodies as C give the bits of the Lua engine, stop where it stops, and are refused with the line
-- and the reason when C cannot say them.
-- MEISSA_TEST_SEED=n replays the random bodies, MEISSA_TEST_COUNT=n sets how many there are.
local array = require "meissa.array"
local bodies = dofile("spec/kernel/bodies.lua")
local native = dofile("spec/kernel/native.lua")
local nests = dofile("spec/kernel/nests.lua")
local random = dofile("spec/kernel/random.lua")

local seed = require "spec.support.seed"
local count = tonumber(os.getenv("MEISSA_TEST_COUNT") or "") or 15

-- Bodies of the common list that stay on the Lua engine, and why.
local on_lua = {
  ["view that is reassigned"] = "`w` stands for more than one table, array or function",
  ["indirect subscripts"] = "`idx` is a plain table",
  ["private table"] = "`last` is assigned a table, an array or a function",
  ["multiple values of a call"] = "unpack` has no C form",
  ["strings"] = "makes a string",
  ["path and its table"] = "`o` stands for more than one table, array or function",
  ["builtins"] = "`'7'` is a string",
  ["nested functions"] = "takes any number of arguments",
  ["closures in a table"] = "is no small list of numbers",
  ["method definitions"] = "is not known to C",
  ["row builtins that keep objects"] = "has no C form",
  ["fields of a generic for"] = "goes through a table",
  ["long strings and escapes"] = "makes a string",
}

-- Further bodies over i = 1, 12 in the same world.
local more = {
  { "nil-able local",
    "for i in parallel(n) do local x if i > 3 then x = i end if x then B[i] = x end end" },
  { "number or boolean",
    "for i in parallel(n) do local x = i > 3 and i if x == false then B[i] = 0 else B[i] = x " ..
    "end end" },
  { "lua's remainder",
    "for i in parallel(n) do B[i] = -i % 5 + i % -5 + (i - 6) % 4 + (-7.5 * i) % 2.25 end" },
  { "signed zeros", "for i in parallel(n) do local z = -(i - i) local y = 0 * -i B[i] = 1 / z " ..
    "A[i][1] = 1 / y A[i][2] = 1 / ((i - i) * 3) end" },
  { "signed zero of a local that another one takes",
    "for i in parallel(n) do local z = -(i - i) local y = z local x = y B[i] = 1 / x end" },
  { "signed zero of a capture",
    "for i in parallel(n) do local z = low - low z = z * lr B[i] = 1 / (z * -1) end" },
  { "loops from a signed zero",
    "for i in parallel(n) do for k = -0.0, 1 do A[i][k + 1] = 1 / k end " ..
    "for k = -(low - low), 0 do B[i] = 1 / k end local z = low - low for k = z * -1, 0 do " ..
    "A[i][4] = 1 / k end end" },
  { "nan compares", "for i in parallel(n) do local x = 0 / 0 B[i] = (x == x and 1 or 2) + " ..
    "(x < 1 and 4 or 8) + (not (x >= 1) and 16 or 32) end" },
  { "elements behind conditions", [[for i in parallel(n) do
    if i > 1 and B[i - 1] > 0.5 or i == n or B[i + 1] > 0.25 then A[i][1] = 1 else A[i][1] = 0 end
    local near = i > 2 and B[i - 2] < B[i]
    local far = i < n - 1 and not (B[i + 2] * 2 == B[i] or B[i] > 1)
    if near == far then A[i][2] = 5 end
  end]] },
  { "elements that are not there, behind conditions", [[for i in parallel(n) do
    if i < 4 and A[i][i + m] > 0 then B[i] = 1 end
  end]] },
  { "nan behind conditions", [[for i in parallel(n) do
    local x = i > 6 and 0 / 0 or i
    local small, equal = x < 9 and x * 0 == 0, x ~= x or x == 3
    B[i] = (small and 1 or 2) + (equal and 4 or 8)
  end]] },
  { "zero is true", "for i in parallel(n) do B[i] = 0 and 5 or 6 if 0 then A[i][1] = 1 end end" },
  { "triangular loops", [[for i in parallel(n) do
    local s = 0
    for j = 1, math.min(i, m) do for k = j, m do s = s + A[i][j] * A[i][k] end end
    B[i] = s
  end]] },
  { "indirect loops", [[for i in parallel(n) do
    local first = math.floor(B[i] * 3) + 1
    for k = first, first + 2 do A[i][k] = A[i][k] + k end
  end]] },
  { "offset style", [[for i in parallel(2) do
    local base = (i - 1) * m
    for k = 1, m do B[base + k] = B[base + k] * 2 + base end
  end]], space = { ranges = { { 1, 2 } } } },
  { "labels in nests", [[for i in parallel(n) do
    for j = 1, 3 do
      for k = 1, m do
        if k == j then goto continue end
        A[i][k] = A[i][k] + j
        if k > 4 then goto out end
        ::continue::
      end
      ::out::
    end
  end]] },
  { "backward goto",
    "for i in parallel(n) do local k = 0 ::again:: k = k + 1 if k < i then goto again end " ..
    "B[i] = k end" },
  { "several results", [[local function minmax(a, b) if a < b then return a, b end return b, a end
  for i in parallel(n) do A[i][1], A[i][2] = minmax(B[i], 0.5) local x, y, z = minmax(i, 3)
  B[i] = x - y + (z == nil and 1 or 0) end]] },
  { "a helper in a helper", [[for i in parallel(n) do
    local function sq(x) return x * x end
    local function norm2(r) return sq(r[1]) + sq(r[2]) end
    B[i] = norm2(A[i]) - sq(2)
  end]] },
  { "a function that stores", [[for i in parallel(n) do
    local t = 1
    local function bump(x) t = t + x return t end
    B[i] = t + bump(2) * t + bump(3)
  end]] },
  { "library", [[for i in parallel(n) do
    local x = B[i] + 0.1
    B[i] = math.exp(x) + math.log(x) + math.sin(x) * math.cos(x) + math.tan(x) + math.atan2(x, i) +
      math.sqrt(x) + math.fmod(i, 3) + math.pow(x, 2) + math.log10(x) + math.tanh(x) +
      math.max(x, i, 3) - math.min(i, x) + math.ceil(-x) + math.deg(x) + math.rad(x) + x ^ 0.5
  end]] },
  { "bits", [[for i in parallel(n) do
    B[i] = bit.band(i, 6) + bit.bor(i, 8, 16) + bit.bxor(i, -1) + bit.lshift(i, 29) +
      bit.rshift(-i, 3) + bit.arshift(-i, 1) + bit.bnot(i) + bit.tobit(2 ^ 33 + i) +
      bit.rol(i, 31) + bit.bswap(i)
  end]] },
  { "numeric loop that counts by halves",
    "for i in parallel(n) do local s = 0 for x = i, 1, -0.5 do s = s + x end B[i] = s end" },
  { "assigned loop variable",
    "for i in parallel(n) do for k = 1, 3 do k = k * 2 B[i] = B[i] + k end end" },
  { "loop limit that is no integer",
    "for i in parallel(n) do for k = 1, m - 0.5 do A[i][k] = k end end" },
  { "a function that gives a row",
    "for i in parallel(n) do\nlocal function row(k) if k > 3 then return A[k] end return A[1] " ..
    "end\n" ..
    "local w = row(i) B[i] = w[2] + row(2)[3] + row(i):sum() end" },
  { "captured boolean", "for i in parallel(n) do if yes then B[i] = yes and 2 or 3 end end" },
  { "row reads beside writes",
    "for i in parallel(n) do local w = A[i] w[1], w[2], w[3] = w[2], w[3], w[1] end" },
  { "counts in integer arrays", [=[for i in parallel(n) do
    local c = C[i]
    for k = 1, 9 do
      local at = k % 5 + 1
      c[at], L[i] = c[at] + 1, L[i] - c[1]
    end
    local most, old = 1, c[2]
    while c[most] < old + 1 and most < 5 do most = most + 1 end
    A[i][c[3]], B[i] = old - L[i], most
    if old == c[2] and c[4] - 1 >= L[i] then c[old] = c[old] - c[most] + 7 end
  end]=] },
  { "integers at the ends of their types", [=[for i in parallel(n) do
    C[i][1], C[i][2] = 2 ^ 31 - 1, -2 ^ 31
    L[i] = C[i][1] - C[i][2] + C[i][1]
    local wide = L[i] + L[i] B[i] = wide - C[i][2] * C[i][1] * 3
    C[i][3] = C[i][2] + C[i][1] + 1 C[i][4] = C[i][1] - 1 + 1
    A[i][1] = 1 / (C[i][3] - 0) A[i][2] = 1 / -C[i][3] A[i][3] = 1 / (C[i][3] * -1)
  end]=] },
  { "rounded numbers and more as subscripts", [=[for i in parallel(n) do
    local k, l = math.floor(B[i] * 3) + 1, 0
    local c = math.ceil(B[i] * 2)
    local low = 1 + math.floor(B[i] * 4)
    A[i][k], A[i][c + 1] = k, c
    A[i][2 + math.floor(B[i])] = A[i][k] + A[i][low] - c
    A[i][math.floor(B[i]) + 1 + 1] = A[i][math.floor(B[i] * 2) + 1 + 1] + 1
    A[i][math.floor(B[i] * 3 + 4) - 2] = A[i][math.ceil(B[i] * 3 + 3) - 1] * 2
    B[i] = 9
    l = math.floor(B[i] / 4) + 1
    A[i][k], A[i][low] = A[i][l] + k, A[i][c + 1] + low
  end]=] },
  { "a counter and what it was", [=[for i in parallel(n) do
    local at = 1
    local function old() local was = at at = at + 1 return was end
    B[i] = at + old() * at + old() C[i][1], at = at, 7 C[i][2] = at
  end]=] },
}

-- Statements that fail in some iteration, on their line and in the iteration of the Lua engine.
local failing = {
  "B[n + 1] = 1", "B[0] = 1", "local x = B[n + 1]", "local x = A[7][6]", "A[7][0] = 1",
  "A[n + i][1] = 1", "local x = A[{7, 6}]", "A[{7, 0}] = 3", "B[1.5] = 1", "B[0/0] = 1",
  "B[1/0] = 1", "local w = A[7] w[6] = 1", "local w = A[n + i] local x = w[1]",
  "C[i][1] = 0.5", "C[i][1] = 0/0", "C[i][1] = 2^31", "L[i] = 0.5", "L[i] = 2^60",
  "for k = 1, 6 do A[i][k] = k end", "for k = 5, 0, -1 do A[i][k] = 1 end",
  "for k = 1, n do A[i][k] = k end", "local k = i * 2 B[k] = 1", "B[17 - i * 2] = 1",
  "B[i * i] = 1", "B[-i] = 1", "A[i][math.floor(B[i] * 20)] = 1",
  "for k = 1, m do for l = k, k + 2 do A[i][l] = l end end",
  "for k = 1, i do A[i][k] = k end", "for k = math.floor(B[i] * 3), 6 do A[i][k] = 1 end",
  "local x if i < 7 then x = 1 end\n B[i] = x + 1", "C[i][1] = i * B[i]",
  "if i == 7 then\n B[i] = B[i + n] end", "local x if i < 7 then x = 1 end\n B[i] = x",
  "local x = i < 7 and 1 if x < 5 then B[i] = 1 end", "local x = i < 7 and 1 B[i] = x",
  "local x if i < 7 then x = 1 end\n if 5 >= x then B[i] = 1 end",
  "local x if i < 7 then x = 1 end\n if 5 < x then B[i] = 1 end",
  "local x if i < 7 then x = 1 end\n for k = 1, x do B[i] = k end",
  "local x if i < 7 then x = 1 end\n for k = x, 3 do B[i] = k end",
  "local x if i < 7 then x = 1 end\n B[i] = -x", "local x = i < 7 and i B[i] = x * 2",
  "C[i][1] = 2^31 - 8 + i C[i][2] = C[i][1] + 1", "C[i][1] = -2^31 + 7 - i",
  "C[i][1] = -2^31 + 7 - i C[i][2] = C[i][1] - 1", "C[i][1] = i - 7 local x = A[1][C[i][1] + 7]",
  "local j = C[i][1] + i - 7 B[j + 7] = 1 if i > 6 then A[C[1][5]][1] = 1 end",
  "B[math.floor(1 / (i - 7)) + 1] = 1", "B[math.floor((i - 7) / (i - 7))] = 1",
  "B[math.floor(B[i]) + 3 / 2] = 1", "B[math.ceil(i * 2 - 7 * B[1])] = 1",
  "B[-math.ceil(2^63)] = 1",
  "local k = math.floor(B[i] * 20) + 1 B[k] = 1", "local k = math.floor(-B[i]) B[k + 1] = 1",
  "local k = 2 + math.ceil((i - 7) / (i - 7)) B[k] = 1", "B[math.floor(B[i]) + 1.5] = 1",
  "B[math.ceil(1 / (7 - i)) + 3] = 1", "local k = math.floor(-2^64 * (i - 6)) + 1 B[k] = 1",
  "local k = math.floor(B[i] * 20) B[k - 7] = 1", "B[math.floor(2^64) - 2^64 + 1 - i % 7] = 1",
  "local k = 1 while k < i do k = k + 1 end A[1][k] = 1", "L[i] = i - 7 local x = B[L[i] + i]",
}

local function over(body)
  return body.space and function() return body.space end or bodies.over_rows
end

local function world()
  local env = bodies.world()
  env.yes, env.minmax = true, function(a, b) if a < b then return a, b end return b, a end
  return env
end

local function options_of(body)
  return { ordered = body.ordered, pieces = body.pieces }
end

-- A loop that fails in some iteration.
local function failing_loop(statement)
  return "for i in parallel(n) do\n B[i] = B[i] + 1\n" .. statement .. "\nend"
end

-- Compiles what follows in one go: most of a small kernel's time is what it begins with.
local function compile_all()
  local texts = {}
  local function add(text, space_of, options)
    local env = world()
    texts[#texts + 1] = native.emit(text, env, space_of(env), options)
  end
  for _, list in ipairs { bodies.list, more } do
    for _, body in ipairs(list) do add(body[2], over(body), options_of(body)) end
  end
  for _, statement in ipairs(failing) do add(failing_loop(statement), bodies.over_rows, {}) end
  native.load_all(texts, false, native.usual)
end

describe("a body in C", function()
  setup(compile_all)
  teardown(native.finish)

  for _, list in ipairs { bodies.list, more } do
    for _, body in ipairs(list) do
      it("agrees with the Lua engine: " .. body[1], function()
        local options = options_of(body)
        local found = native.compare(body[2], world, over(body), options)
        local reason = on_lua[body[1]]
        if not reason then
          assert.is_nil(found)
        else
          assert.matches("^refused: %d+: ", tostring(found))
          assert.truthy(found:find(reason, 1, true), found)
        end
      end)
    end
  end

  for _, statement in ipairs(failing) do
    it("stops where the Lua engine does: " .. statement, function()
      local text, env = failing_loop(statement), world()
      local ok, fault = native.kernel(text, env, bodies.over_rows(), {})
      assert.is_false(ok, "it ran or was refused: " .. tostring(fault and fault.message))
      assert.is_nil(native.compare(text, world, bodies.over_rows, {}))
    end)
  end

  it("runs over the entries of arrays", function()
    local entries = { coords = { { 1, 2, 2, 12, 7 }, { 5, 1, 5, 3, 3 } },
      values = { 1.5, 2.5, -1, 4, 0.125 } }
    local function sparse() return { ranges = { { 1, 12 }, { 1, 5 } }, entries = entries } end
    local function dense(env) return { ranges = { { 1, 12 }, { 1, 5 } }, array = env.A } end
    local function turned(env)
      return { ranges = { { 1, 5 }, { 1, 12 } }, array = dofile("spec/kernel/run.lua")
        .transposed(env.A) }
    end
    for _, kind in ipairs { "double", "float", "int32", "int64" } do
      entries.type, entries.values = kind, { 1, 2, -3, 4, 5 }
      assert.is_nil(native.compare("for i, j, r in parallel(ratings) do\nlocal w, f = A[i], F[j]\n"
        .. "for k = 1, m do w[k] = w[k] + r * f[k] end sum = sum + r end", world, sparse))
    end
    assert.is_nil(native.compare("for i, j, v, more in parallel(ratings) do B[i] = more == nil " ..
      "and v or 0 end", world, sparse))
    assert.is_nil(native.compare("for i, j, v in parallel(A) do F[i][j] = v * 2 end", world,
      dense))
    assert.is_nil(native.compare("for i, j, v in parallel(A) do A[i][j] = v * 2 end", world,
      dense))
    assert.is_nil(native.compare("for i, j, v in parallel(A) do F[j][i] = v * 2 end", world,
      turned))
  end)

  it("runs over several ranges, up and down", function()
    local text = "for i, j in parallel(x) do A[i][j] = i * 10 + j sum = sum + 1 last = i * j end"
    for _, ranges in ipairs {
      { { 1, 12 }, { 1, 5 } }, { { 12, 1, -1 }, { 1, 5, 2 } }, { { 2, 2 }, { 5, 1, -4 } },
    } do
      for _, ordered in ipairs { true, false } do
        assert.is_nil(native.compare(text, world, function() return { ranges = ranges } end,
          { ordered = ordered }))
      end
    end
  end)

  it("runs collapsed loops", function()
    local text = "for i in parallel(x) do for j = i, 5 do for k = j, 1, -1 do " ..
      "T[i][k][j] = i + j * k sum = sum + 1 end end end"
    assert.is_nil(native.compare(text, world, function() return { ranges = { { 1, 3 } } } end,
      { collapse = 2 }))
  end)

  it("ends an iteration of the closure form at return", function()
    local text = "each(n, function(i)\n if i % 2 == 0 then return B[i] end\n B[i] = i\nend)"
    assert.is_nil(native.compare(text, world, bodies.over_rows, { closure = true }))
  end)

  it("stays near the strict result in fast mode", function()
    local text = [[for i in parallel(n) do
      local w, f = A[i], F[i]
      local e = w:dot(f) - f:sum() * lr + f:norm()
      for k = 1, m do f[k] = f[k] + lr * (e - f[k]) w[k] = w[k] - lr * w[k] * f[k] end
      sum = sum + e
    end]]
    local strict, fast = world(), world()
    assert.is_true(native.kernel(text, strict, bodies.over_rows(), {}))
    assert.is_true(native.kernel(text, fast, bodies.over_rows(), { fast = true }))
    assert.near(strict.sum, fast.sum, 1e-5)
    for e = 0, 59 do
      assert.near(strict.A:data()[e], fast.A:data()[e], 1e-5)
      assert.near(strict.F:data()[e], fast.F:data()[e], 1e-5)
    end
  end)

  it("keeps names and places out of the way", function()
    local env = { int = array.rand({ 12 }), ["return_"] = 2, ms_value = 3 }
    local text = "for double in parallel(12) do local goto_, float = double, ms_value " ..
      "int[double] = goto_ * float + return_ end"
    local function space() return { ranges = { { 1, 12 } } } end
    local function make() return { int = array.rand({ 12 }, { seed = 1 }), return_ = 2,
      ms_value = 3 } end
    assert.is_nil(native.compare(text, make, space,
      { name = '@a"b\\c??/\n#error x */ d.lua', flags = "-O0 -Wno-trigraphs" }))
    assert.is_truthy(env)
  end)

  it("has the same text whatever the captured numbers are", function()
    local text = "for i in parallel(n) do for k = low, m do A[i][k] = lr * k end end"
    local one, other = world(), world()
    other.lr, other.low, other.m = 5, 1, 3
    local first = native.emit(text, one, bodies.over_rows())
    assert.is_string(first)
    assert.equal(first, (native.emit(text, other, { ranges = { { 2, 11 } } })))
  end)

  -- Whether a kernel asks for whole captured numbers before it runs its quick text, and whether
  -- that checks subscripts.
  local function asks_and_checks(body)
    local text = native.emit("for i in parallel(n) do " .. body .. " end", world(),
                             bodies.over_rows())
    local from = assert(text:find("ms_quick(", 1, true))
    local quick = text:sub(from, (text:find("ms_careful(", from, true)))
    return text:find("ms_is_whole(c", from, true) ~= nil,
      quick:find("ms_is_subscript(", 1, true) ~= nil
  end

  it("takes a captured number in a local for an integer where one is asked for", function()
    assert.is_false((asks_and_checks "local rate = lr B[i] = rate * B[i]"))
    assert.is_false((asks_and_checks "local rate = lr * 2 local r = rate B[i] = r * B[i] + rate"))
    local asks, checks = asks_and_checks "local at = i - low local k = at * 1 B[k] = i"
    assert.same({true, false}, {asks, checks})
  end)

  it("agrees for random bodies (MEISSA_TEST_SEED=" .. seed .. ")", function()
    local space = { ranges = { { 1, 9 } } }
    for number = 1, count do
      local text = random.generate(seed * 1000 + number, true)
      local ok, difference = pcall(native.compare, text, random.world,
        function() return space end, { pieces = 2, flags = "-O0" })
      if not ok or difference then
        error(("body %d of seed %d: %s\n%s"):format(number, seed, tostring(difference), text), 0)
      end
    end
  end)

  it("agrees for random nests, wrong subscripts included", function()
    for number = 1, count do
      local text = nests.generate(seed * 1000 + number)
      local ok, difference = pcall(native.compare, text, function() return nests.world(array) end,
        nests.space, { pieces = 2, flags = "-O0" })
      if not ok or difference then
        error(("nest %d of seed %d: %s\n%s"):format(number, seed, tostring(difference), text), 0)
      end
    end
  end)
end)
