/* SPDX-License-Identifier: MIT
 *
 * Lua's arithmetic and math.* on single numbers.
 *
 * This text is compiled twice: as part of the core, and in front of every native kernel
 * (kernel/native/prelude.h). Everything gives the bits of the Lua engine
 * (lua/meissa/base/strict.lua, LuaJIT's own math); only which nan comes out is left open. In strict
 * mode the C library is called under names that the compiler knows nothing about: it would replace
 * pow(2, 0.5) by a constant of its own, rounded better than the library does. Pure functions. */
#ifndef MS_BASE_LUA_MATH_H
#define MS_BASE_LUA_MATH_H

#ifdef MS_FAST
#define ms_libm_acos  __builtin_acos
#define ms_libm_asin  __builtin_asin
#define ms_libm_atan  __builtin_atan
#define ms_libm_atan2 __builtin_atan2
#define ms_libm_cos   __builtin_cos
#define ms_libm_cosh  __builtin_cosh
#define ms_libm_exp   __builtin_exp
#define ms_libm_fmod  __builtin_fmod
#define ms_libm_frexp __builtin_frexp
#define ms_libm_ldexp __builtin_ldexp
#define ms_libm_log   __builtin_log
#define ms_libm_log10 __builtin_log10
#define ms_libm_log2  __builtin_log2
#define ms_libm_modf  __builtin_modf
#define ms_libm_pow   __builtin_pow
#define ms_libm_sin   __builtin_sin
#define ms_libm_sinh  __builtin_sinh
#define ms_libm_tan   __builtin_tan
#define ms_libm_tanh  __builtin_tanh
#else
double ms_libm_acos(double x) __asm__("acos");
double ms_libm_asin(double x) __asm__("asin");
double ms_libm_atan(double x) __asm__("atan");
double ms_libm_atan2(double y, double x) __asm__("atan2");
double ms_libm_cos(double x) __asm__("cos");
double ms_libm_cosh(double x) __asm__("cosh");
double ms_libm_exp(double x) __asm__("exp");
double ms_libm_fmod(double x, double y) __asm__("fmod");
double ms_libm_frexp(double x, int *exponent) __asm__("frexp");
double ms_libm_ldexp(double x, int exponent) __asm__("ldexp");
double ms_libm_log(double x) __asm__("log");
double ms_libm_log10(double x) __asm__("log10");
double ms_libm_log2(double x) __asm__("log2");
double ms_libm_modf(double x, double *whole) __asm__("modf");
double ms_libm_pow(double x, double y) __asm__("pow");
double ms_libm_sin(double x) __asm__("sin");
double ms_libm_sinh(double x) __asm__("sinh");
double ms_libm_tan(double x) __asm__("tan");
double ms_libm_tanh(double x) __asm__("tanh");
#endif

/* x % y */
static inline double ms_mod(double x, double y) {
  return x - __builtin_floor(x / y) * y;
}

/* math.*, under Lua's names. Of max and min with more arguments the result so far is the first
 * argument of the next. */
static inline double ms_math_abs(double x) {
  return __builtin_fabs(x);
}

static inline double ms_math_floor(double x) {
  return __builtin_floor(x);
}

static inline double ms_math_ceil(double x) {
  return -__builtin_floor(-x);
}

static inline double ms_math_sqrt(double x) {
  return __builtin_sqrt(x);
}

static inline double ms_math_max(double x, double y) {
  return x > y ? x : y;
}

static inline double ms_math_min(double x, double y) {
  return x < y ? x : y;
}

/* Also x ^ y. */
static inline double ms_math_pow(double x, double y) {
  return y == 2.0 ? x * x : ms_libm_pow(x, y);
}

static inline double ms_math_acos(double x) {
  return ms_libm_acos(x);
}

static inline double ms_math_asin(double x) {
  return ms_libm_asin(x);
}

static inline double ms_math_atan(double x) {
  return ms_libm_atan(x);
}

static inline double ms_math_atan2(double y, double x) {
  return ms_libm_atan2(y, x);
}

static inline double ms_math_cos(double x) {
  return ms_libm_cos(x);
}

static inline double ms_math_cosh(double x) {
  return ms_libm_cosh(x);
}

static inline double ms_math_deg(double x) {
  return x * 57.29577951308232;
}

static inline double ms_math_exp(double x) {
  return ms_libm_exp(x);
}

static inline double ms_math_fmod(double x, double y) {
  return ms_libm_fmod(x, y);
}

/* The second result goes to `exponent`. */
static inline double ms_math_frexp(double x, double *exponent) {
  int whole = 0;
  double fraction = ms_libm_frexp(x, &whole);
  *exponent = __builtin_isfinite(x) ? whole : 0;
  return fraction;
}

/* LuaJIT scales as the processor's fscale does: any exponent is cut to a whole number. */
static inline double ms_math_ldexp(double x, double exponent) {
  if (exponent != exponent) return exponent;
  if (exponent - exponent != 0) return exponent > 0 ? x * exponent : x * 0;
  if (exponent > 10000) exponent = 10000;
  if (exponent < -10000) exponent = -10000;
  return ms_libm_ldexp(x, (int)exponent);
}

static inline double ms_math_log(double x) {
  return ms_libm_log(x);
}

/* math.log with two arguments. */
static inline double ms_math_log_base(double x, double base) {
  return ms_libm_log2(x) * (1.0 / ms_libm_log2(base));
}

static inline double ms_math_log10(double x) {
  return ms_libm_log10(x);
}

/* The second result goes to `fraction`. */
static inline double ms_math_modf(double x, double *fraction) {
  double whole;
  *fraction = ms_libm_modf(x, &whole);
  return whole;
}

static inline double ms_math_rad(double x) {
  return x * 0.017453292519943295;
}

static inline double ms_math_sin(double x) {
  return ms_libm_sin(x);
}

static inline double ms_math_sinh(double x) {
  return ms_libm_sinh(x);
}

static inline double ms_math_tan(double x) {
  return ms_libm_tan(x);
}

static inline double ms_math_tanh(double x) {
  return ms_libm_tanh(x);
}

#endif
