-- SPDX-License-Identifier: MIT
-- Bugs for native kernels: each changes the C text of kernels, prelude included, in a way that the
-- differential test must notice. `concerns` says whether a kernel, of which it gets the text behind
-- the prelude, can show it.

local function using(pattern)
  return function(text) return text:find(pattern) ~= nil end
end

local function plainly(text)
  return (text:gsub("%p", "%%%0"))
end

-- Replaces a text that must be there.
local function replace(old, new)
  return function(text)
    return (text:gsub(plainly(old), (new:gsub("%%", "%%%%"))))
  end
end

return {
  { name = "% cuts towards zero", concerns = using "ms_mod",
    change = replace("return x - __builtin_floor(x / y) * y;",
      "return x - __builtin_trunc(x / y) * y;") },
  { name = "max prefers the first of equals", concerns = using "ms_math_max",
    change = replace("return x > y ? x : y;", "return x >= y ? x : y;") },
  { name = "min is not for nan", concerns = using "ms_math_min%([^\n]-undefined",
    change = replace("return x < y ? x : y;", "return x >= y ? y : x;") },
  { name = "the compiler contracts products and sums",
    concerns = using "%* [^;]- %+ ",
    change = function(text)
      return '#pragma GCC optimize("O2", "fp-contract=fast")\n' .. text
    end },
  { name = "x ^ y is exp(y * log(x))", concerns = using "ms_math_pow",
    change = replace("return y == 2.0 ? x * x : ms_libm_pow(x, y);",
      "return ms_libm_exp(y * ms_libm_log(x));") },
  { name = "bits are unsigned", concerns = using "ms_bit_",
    change = replace("return (double)(bits < 0x80000000u ?",
      "return (double)bits + 0 * (double)(1 ?") },
  { name = "numbers are cut to bits, not rounded", concerns = using "ms_bit_",
    change = replace("double sum = x + 6755399441055744.0;",
      "double sum = __builtin_trunc(x) + 6755399441055744.0;") },
  { name = "rows are summed in plain order", concerns = using "ms_row_dot_double_double",
    change = replace("s[r] += ms_doubles_from(x + i + (r)*MS_DOUBLES) * "
      .. "ms_doubles_from(y + i + (r)*MS_DOUBLES);", "") },
  { name = "sums begin with 0", concerns = using "m%d+_sum",
    change = replace("_sum = -0.0;", "_sum = 1.0;") },
  { name = "inner loops miss their last iteration", concerns = using "for %(int64_t .- <= ",
    change = function(text)
      return (text:gsub("(for %(int64_t v[%w_]+ = [^;]-; [^;]-) <= ", "%1 < "))
    end },
  { name = "fractional subscripts are cut",
    concerns = function(text, loop) return loop.errors and using("ms_is_subscript")(text) end,
    change = replace("ms_is_whole_subscript(key, extent) && (double)ms_whole_of(key) == key",
      "ms_is_whole_subscript(key, extent)") },
  { name = "errors have the wrong line",
    concerns = function(_, loop) return loop.errors end,
    change = replace("fault->line = line;", "fault->line = line + 1;") },
  { name = "errors name the wrong iteration",
    concerns = function(_, loop) return loop.errors end,
    change = replace("fault->index[0] = (double)x1;", "fault->index[0] = (double)x1 + 1;") },
  { name = "float rows are computed in float", concerns = using "ms_row_axpy_float_float",
    change = replace("#define MS_ADDED(old, other)      (double)(old) + a *(double)(other)",
      "#define MS_ADDED(old, other) (float)(old) + (float)a *(float)(other)") },
  { name = "a sign of zero is lost", concerns = using "%(%-[vc]%d",
    change = function(text) return (text:gsub("%(%-([vc]%d)", "(0.0 - %1")) end },
}
