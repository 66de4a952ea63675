/* SPDX-License-Identifier: MIT
 *
 * Lua's bit.* on single numbers, and the checks on the way to an element; base/lua_math.h has
 * arithmetic.
 *
 * This text is compiled twice: as part of the core, and in front of every native kernel
 * (prelude.h). Everything gives the bits of LuaJIT's own bit. Pure functions. */
#ifndef MS_KERNEL_EMIT_LUA_BIT_H
#define MS_KERNEL_EMIT_LUA_BIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/lua_math.h"

/* A number as 32 bits: added to 2^52 + 2^51 its low bits are the sum's, as in LuaJIT. */
static inline uint32_t ms_bits(double x) {
  double sum = x + 6755399441055744.0;
  uint64_t bits;
  __builtin_memcpy(&bits, &sum, sizeof bits);
  return (uint32_t)bits;
}

static inline double ms_number_of_bits(uint32_t bits) {
  return (double)(bits < 0x80000000u ? (int32_t)bits : (int32_t)(bits - 0x80000000u) + INT32_MIN);
}

/* bit.*, under Lua's names. band, bor and bxor take more arguments two at a time. */
static inline double ms_bit_tobit(double x) {
  return ms_number_of_bits(ms_bits(x));
}

static inline double ms_bit_bnot(double x) {
  return ms_number_of_bits(~ms_bits(x));
}

static inline double ms_bit_band(double x, double y) {
  return ms_number_of_bits(ms_bits(x) & ms_bits(y));
}

static inline double ms_bit_bor(double x, double y) {
  return ms_number_of_bits(ms_bits(x) | ms_bits(y));
}

static inline double ms_bit_bxor(double x, double y) {
  return ms_number_of_bits(ms_bits(x) ^ ms_bits(y));
}

static inline double ms_bit_lshift(double x, double by) {
  return ms_number_of_bits(ms_bits(x) << (ms_bits(by) & 31));
}

static inline double ms_bit_rshift(double x, double by) {
  return ms_number_of_bits(ms_bits(x) >> (ms_bits(by) & 31));
}

static inline double ms_bit_arshift(double x, double by) {
  uint32_t bits = ms_bits(x), n = ms_bits(by) & 31;
  uint32_t sign = bits & 0x80000000u ? ~(0xffffffffu >> n) : 0;
  return ms_number_of_bits(bits >> n | sign);
}

static inline double ms_bit_rol(double x, double by) {
  uint32_t bits = ms_bits(x), n = ms_bits(by) & 31;
  return ms_number_of_bits(bits << n | bits >> (-n & 31));
}

static inline double ms_bit_ror(double x, double by) {
  uint32_t bits = ms_bits(x), n = ms_bits(by) & 31;
  return ms_number_of_bits(bits >> n | bits << (-n & 31));
}

static inline double ms_bit_bswap(double x) {
  return ms_number_of_bits(__builtin_bswap32(ms_bits(x)));
}

/* A number cut to a whole one; beyond int64_t, and of nan, what no array has as a subscript: C
 * leaves open what conversions of such numbers give, the instruction does not. */
static inline int64_t ms_whole_of(double x) {
  typedef double two __attribute__((vector_size(16)));
  return __builtin_ia32_cvttsd2si64((two){x, 0});
}

/* Whether a key that is whole, infinite or nan is in 1..extent. Then ms_whole_of(key) is it. */
static inline bool ms_is_whole_subscript(double key, int64_t extent) {
  return (uint64_t)ms_whole_of(key) - 1 < (uint64_t)extent;
}

/* Whether a number is a whole one in 1..extent. Then ms_whole_of(key) is it. */
static inline bool ms_is_subscript(double key, int64_t extent) {
  return ms_is_whole_subscript(key, extent) && (double)ms_whole_of(key) == key;
}

/* Whether an int32 (int64) array can store a number. Then (int32_t)value ((int64_t)value) is it. */
static inline bool ms_fits_int32(double value) {
  return value >= -2147483648.0 && value <= 2147483647.0 && (double)(int32_t)value == value;
}

static inline bool ms_fits_int64(double value) {
  return value >= -0x1p53 && value <= 0x1p53 && (double)(int64_t)value == value;
}

/* Whether an element of an int64 array is a Lua number: (double)value is exact. */
static inline bool ms_is_exact(int64_t value) {
  return value >= -9007199254740992 && value <= 9007199254740992;
}

#endif
