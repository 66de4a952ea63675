-- SPDX-License-Identifier: MIT
-- The text that native kernels begin with, compiled: its arithmetic against the Lua engine's and
-- LuaJIT's own, its row operations against the core's. All compilers that there are.
local ffi = require "ffi"
local c_core = require "meissa.base.c_core"
local helpers = require "meissa.kernel.helpers"
local prelude_draws = require "spec.kernel.prelude_draws"
local row = require "meissa.kernel.row"
local row_methods = require "spec.support.row_methods"
local strict = require "meissa.base.strict"
local bit = strict.bit

-- By name of the function in the prelude: its arguments and what it must equal.
local unary, binary = {}, { mod = function(a, b) return a % b end }
for name in ([[abs acos asin atan ceil cos cosh deg exp floor log log10 rad sin sinh sqrt tan
  tanh]]):gmatch "%a%w*" do
  unary["math_" .. name] = strict.math[name]
end
for name in ("atan2 fmod ldexp max min pow"):gmatch "%a%w*" do
  binary["math_" .. name] = strict.math[name]
end
binary.math_log_base = math.log
for name in ("tobit bnot bswap"):gmatch "%a+" do unary["bit_" .. name] = bit[name] end
for name in ("band bor bxor lshift rshift arshift rol ror"):gmatch "%a+" do
  binary["bit_" .. name] = bit[name]
end
-- The second results of functions that have two.
local function second_of(name)
  return function(x) return (select(2, math[name](x))) end
end

local row_types = { "float", "double" }

-- For all methods on a row of type y: fn(entry, types of the rows).
local function for_each_row_method(y, fn)
  for _, list in ipairs { row_methods.reading, row_methods.changing } do
    for _, entry in ipairs(list) do
      for _, x in ipairs(row_methods.takes_other(entry) and row_types or { false }) do
        fn(entry, { y, x or nil })
      end
    end
  end
end

-- The C text of a library that exports the prelude as functions of plain numbers, and what FFI must
-- know of it.
local function library_text(prelude)
  local text, declarations = { prelude }, {}
  local function export(declaration, body)
    text[#text + 1] = declaration .. " { " .. body .. " }"
    declarations[#declarations + 1] = declaration .. ";"
  end
  for name in pairs(unary) do
    export(("double spec_%s(double x)"):format(name), ("return ms_%s(x);"):format(name))
  end
  for name in pairs(binary) do
    export(("double spec_%s(double x, double y)"):format(name),
      ("return ms_%s(x, y);"):format(name))
  end
  for _, name in ipairs { "modf", "frexp" } do
    export(("double spec_%s_1(double x)"):format(name),
      ("double y; return ms_math_%s(x, &y);"):format(name))
    export(("double spec_%s_2(double x)"):format(name),
      ("double y; ms_math_%s(x, &y); return y;"):format(name))
  end
  export("bool spec_subscript(double key, int64_t extent)", "return ms_is_subscript(key, extent);")
  export("bool spec_whole(double key, int64_t extent)",
    "return ms_is_whole_subscript(key, extent) && key == __builtin_trunc(key);")
  export("bool spec_int32(double value)", "return ms_fits_int32(value);")
  export("bool spec_int64(double value)", "return ms_fits_int64(value);")
  export("bool spec_exact(int64_t value)", "return ms_is_exact(value);")
  text[#text + 1] = prelude_draws.declared
  prelude_draws.export(export)
  -- Roundings to float that a compiler might leave out.
  export("void spec_scale(float *row)",
    "for (int k = 1; k <= 6; k++) ms_row_scal_float(row, 1, 4, (double)k * 1.1);")
  -- What a compiler might compute by itself.
  export("double spec_constant(int at)", [[switch (at) {
    case 0: return ms_math_pow(2.1, 0.5); case 1: return ms_math_sin(1.1);
    case 2: return ms_math_exp(0.7); case 3: return ms_math_log_base(10, 3);
    default: return ms_math_pow(1.0000001, 1e7); }]])
  local function export_row(result, method, types, extra)
    local declared, passed = {}, {}
    for n, kind in ipairs(types) do
      declared[n] = ("%s *r%d, int64_t s%d"):format(kind, n, n)
      passed[n] = ("r%d, s%d"):format(n, n)
    end
    local name = method .. "_" .. table.concat(types, "_")
    export(("%s spec_%s(%s, int64_t count%s)"):format(result, name, table.concat(declared, ", "),
      extra and ", double a" or ""),
      ("%sms_row_%s(%s, count%s);"):format(result == "double" and "return " or "", name,
        table.concat(passed, ", "), extra and ", a" or ""))
  end
  for _, y in ipairs(row_types) do
    for_each_row_method(y, function(entry, types)
      export_row(entry.effect == "read" and "double" or "void", entry.name, types,
        row_methods.takes_number(entry))
    end)
  end
  return table.concat(text, "\n") .. "\n", table.concat(declarations, "\n")
end

local function compile(compiler, flags, text)
  local base = os.tmpname()
  local file = assert(io.open(base .. ".c", "w"))
  file:write(text)
  file:close()
  local command = ("%s -std=gnu11 -Wall -Wextra -Wno-unused-function -Werror -shared -fPIC %s "
    .. "-o %s.so %s.c -lm 2>&1"):format(compiler, flags, base, base)
  local pipe = io.popen(command)
  local words = pipe:read("*a")
  pipe:close()
  local loaded, library = pcall(ffi.load, base .. ".so")
  os.remove(base)
  os.remove(base .. ".c")
  os.remove(base .. ".so")
  assert.is_true(loaded, words)
  return library
end

-- Equal bits, or both nan.
local function same(a, b)
  return a == b and (a ~= 0 or 1 / a == 1 / b) or a ~= a and b ~= b
end

local edges = { 0, -0, 1, -1, 0.5, -0.5, 0.9, -0.9, 1.5, 2, -2, 2.5, 3, -3, 7, 31, 32, 33, 1e-300,
  5e-324, -5e-324, 2.2e-308, 1e300, -1e300, 2 ^ 31, -2 ^ 31, 2 ^ 31 - 1, 2 ^ 32 + 5, 2 ^ 51 + 0.5,
  2 ^ 53, 2 ^ 53 + 2, -2 ^ 53, math.pi, 1 / 0, -1 / 0, 0 / 0, 1074, -1074, 10000.7 }

local function arguments(seed)
  local list = {}
  for n, x in ipairs(edges) do list[n] = x end
  math.randomseed(seed)
  for _ = 1, 60 do
    list[#list + 1] = (math.random() - 0.5) * 10 ^ math.random(-3, 10)
    list[#list + 1] = math.random(-40, 40)
  end
  return list
end

-- What LuaJIT's interpreter makes of it: the Lua engine's compiled code is compared elsewhere.
local function interpreted(check)
  jit.off(check)
  return check
end

local check_unary = interpreted(function(got, want, name, list)
  for _, x in ipairs(list) do
    if not same(tonumber(got(x)), want(x)) then
      error(("%s(%.17g) is %.17g, not %.17g"):format(name, x, got(x), want(x)))
    end
  end
end)

local check_binary = interpreted(function(got, want, name, list)
  for _, x in ipairs(list) do
    for _, y in ipairs(list) do
      if not same(got(x, y), want(x, y)) then
        error(("%s(%.17g, %.17g) is %.17g, not %.17g"):format(name, x, y, got(x, y), want(x, y)))
      end
    end
  end
end)

local function fits(check, value)
  return (pcall(check, value, 1))
end

-- Random contents for a row of a type.
local function draw_row(kind, room)
  local elements = ffi.new(kind .. "[?]", room)
  for k = 0, room - 1 do
    elements[k] = math.random(20) == 1 and edges[math.random(20)] or (math.random() - 0.5) * 8
  end
  return elements
end

-- One call of a row operation, by the library and by the core.
local function check_row(library, entry, types, count)
  local name = entry.name .. "_" .. table.concat(types, "_")
  local a, room = (math.random() - 0.5) * 4, 4 * count + 8
  local got, want = {}, {}
  local strides = {}
  for n, kind in ipairs(types) do
    strides[n] = math.random(2) == 1 and 1 or math.random(4)
    local elements = draw_row(kind, room)
    local copy = ffi.new(kind .. "[?]", room)
    ffi.copy(copy, elements, ffi.sizeof(elements))
    got[n], want[n] = elements, copy
  end
  local call, helper = library["spec_" .. name], row[name]
  local ours, cores = { got[1], strides[1] }, { want[1], 0, strides[1] }
  if row_methods.takes_number(entry) then cores[4] = a end
  if types[2] then
    ours[3], ours[4] = got[2], strides[2]
    for _, given in ipairs { want[2], 0, strides[2] } do cores[#cores + 1] = given end
  end
  ours[#ours + 1], cores[#cores + 1] = count, count
  if row_methods.takes_number(entry) then ours[#ours + 1] = a end
  local own, other = call(unpack(ours)), helper(unpack(cores))
  if entry.effect == "read" then
    assert.is_true(same(tonumber(own), tonumber(other)), name .. " of " .. count)
  end
  for k = 0, room - 1 do
    if not same(tonumber(got[1][k]), tonumber(want[1][k])) then
      error(("%s of %d elements: element %d is %.17g, not %.17g"):format(name, count, k, got[1][k],
        want[1][k]))
    end
  end
end

local compilers = {}
for _, compiler in ipairs { "gcc", "clang" } do
  if os.execute("command -v " .. compiler .. " >/dev/null 2>&1") == 0 then
    compilers[#compilers + 1] = compiler
  end
end

local STRICT = "-ffp-contract=off -fno-tree-slp-vectorize "
local flags = { "-O3 -march=native -fno-math-errno -fno-trapping-math", "-O2", "-O1 -mavx2" }
local strict_text, declarations = library_text(ffi.string(c_core.lib.ms_native_prelude(false)))
c_core.cdef("prelude_spec_library", declarations)

for _, compiler in ipairs(compilers) do
  for _, choice in ipairs(flags) do
    describe(("The prelude by %s %s"):format(compiler, choice), function()
      local library
      setup(function()
        library = compile(compiler, STRICT .. choice, strict_text)
      end)

      it("computes what the Lua engine computes", function()
        local list = arguments(1)
        for name, want in pairs(unary) do
          check_unary(library["spec_" .. name], want, name, list)
        end
        for name, want in pairs(binary) do
          check_binary(library["spec_" .. name], want, name, list)
        end
        for _, name in ipairs { "modf", "frexp" } do
          check_unary(library["spec_" .. name .. "_1"], math[name], name, list)
          check_unary(library["spec_" .. name .. "_2"], second_of(name), name, list)
        end
      end)

      it("asks the C library, not the compiler, for constants", function()
        assert.are.equal(strict.pow(2.1, 0.5), library.spec_constant(0))
        assert.are.equal(math.sin(1.1), library.spec_constant(1))
        assert.are.equal(math.exp(0.7), library.spec_constant(2))
        assert.are.equal(math.log(10, 3), library.spec_constant(3))
        assert.are.equal(strict.pow(1.0000001, 1e7), library.spec_constant(4))
      end)

      it("rounds to float as often as it is written", function()
        local elements, want = ffi.new("float[4]", 0.1, -2.3, 7.7, 1e-3), {}
        for n = 0, 3 do
          local value = ffi.new("float[1]", elements[n])
          for k = 1, 6 do value[0] = value[0] * (k * 1.1) end
          want[n] = value[0]
        end
        library.spec_scale(elements)
        for n = 0, 3 do assert.are.equal(want[n], elements[n]) end
      end)

      it("checks as the Lua engine checks", function()
        local list = arguments(2)
        helpers.enter(function() error("refused") end)
        for _, x in ipairs(list) do
          for _, extent in ipairs { 0, 1, 7, 2 ^ 31 } do
            assert.are.equal((pcall(helpers.check, x, extent, 1, 1)),
              library.spec_subscript(x, extent))
            local whole = math.floor(x)
            assert.are.equal(library.spec_subscript(whole, extent),
              library.spec_whole(whole, extent))
          end
          assert.are.equal(fits(helpers.int32, x), library.spec_int32(x))
          assert.are.equal(fits(helpers.int64, x), library.spec_int64(x))
        end
        for _, x in ipairs { 0LL, 2LL ^ 53, 2LL ^ 53 + 1, -2LL ^ 53, -2LL ^ 53 - 1, 2LL ^ 62 } do
          assert.are.equal(fits(helpers.wide, x), library.spec_exact(x))
        end
      end)

      for name, check in pairs(prelude_draws.checks) do
        it(name, function() check(library) end)
      end

      it("has the core's row operations", function()
        math.randomseed(3)
        for _, count in ipairs { 0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 100, 4200 } do
          for _, y in ipairs(row_types) do
            for_each_row_method(y, function(entry, types)
              if count > 0 or not entry.filled then check_row(library, entry, types, count) end
            end)
          end
        end
      end)
    end)
  end
end

describe("The prelude in fast mode", function()
  it("stays near the strict results", function()
    local fast = library_text(ffi.string(c_core.lib.ms_native_prelude(true)))
    local library = compile(compilers[1], "-O3 -march=native -fassociative-math -fno-signed-zeros "
      .. "-fno-trapping-math -fno-math-errno -ffp-contract=fast", fast)
    local x, y = ffi.new("float[1000]"), ffi.new("float[1000]")
    for k = 0, 999 do x[k], y[k] = math.sin(k), math.cos(3 * k) + 0.5 end
    for count = 0, 1000, 37 do
      local exact, size = 0, 0
      for k = 0, count - 1 do
        exact = exact + x[k] * y[k]
        size = size + math.abs(x[k] * y[k])
      end
      local got = library.spec_dot_float_float(x, 1, y, 1, count)
      assert.is_true(math.abs(got - exact) <= 1e-5 * size)
    end
    assert.is_true(math.abs(library.spec_math_pow(2.1, 0.5) - 2.1 ^ 0.5) < 1e-15)
    prelude_draws.checks["draws the same for many iterations"](library)
  end)
end)
