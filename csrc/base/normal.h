/* SPDX-License-Identifier: MIT
 *
 * The inverse of the normal distribution: a normal number from 64 random bits.
 *
 * The bits k are the uniform number (k + 1/2) / 2^64, in (0, 1), of which this gives the quantile:
 * greater bits give greater numbers, from -9.1 to 9.1. Let q be the smaller of that number and its
 * complement to 1. Each power of two [2^-b-2, 2^-b-1] of q down to 2^-8 is cut into 16 pieces, with
 * a polynomial of degree 7 for each; below, sqrt(-ln q) is cut into pieces of width 1/2, with
 * polynomials of degree 10. tools/normal_pieces.c has made the polynomials. The relative error is
 * below 1.5e-15; nothing but +, -, *, / and sqrt is used, so that all machines have the same bits.
 *
 * This text is compiled twice: as part of the core, and in front of every native kernel
 * (kernel/native/prelude.h), which gets the polynomials as a pointer. Pure functions. */
#ifndef MS_BASE_NORMAL_H
#define MS_BASE_NORMAL_H

#include <stdint.h>

#define MS_NORMAL_BINADES     7
#define MS_NORMAL_PIECES      16 /* of a power of two */
#define MS_NORMAL_DEGREE      7
#define MS_NORMAL_TAIL        9 /* pieces */
#define MS_NORMAL_TAIL_DEGREE 10
#define MS_NORMAL_TAIL_FROM   2.25 /* where the first of these begins */

typedef struct ms_normal {
  /* In t from -1 to 1 along the piece: of the first power of two z / (1/2 - q), else 8 z. */
  double piece[MS_NORMAL_BINADES * MS_NORMAL_PIECES][MS_NORMAL_DEGREE + 1];
  double tail[MS_NORMAL_TAIL][MS_NORMAL_TAIL_DEGREE + 1];
} ms_normal;

/* The natural logarithm of a whole number of 64 bits, from 1 on: the series of the inverse
 * hyperbolic tangent. */
static inline double ms_normal_log(uint64_t whole) {
  double number = (double)whole, mantissa;
  uint64_t bits;
  __builtin_memcpy(&bits, &number, sizeof bits);
  int64_t exponent = (int64_t)(bits >> 52) - 1023;
  bits = (bits & 0xFFFFFFFFFFFFFu) | (uint64_t)1023 << 52;
  __builtin_memcpy(&mantissa, &bits, sizeof mantissa);
  if (mantissa > 1.4142135623730951) {
    mantissa = mantissa * 0.5;
    exponent++;
  }
  double s = (mantissa - 1) / (mantissa + 1), square = s * s, sum = 0;
  for (int k = 21; k >= 1; k -= 2) sum = sum * square + 2.0 / k;
  return (double)exponent * 0.69314718055994531 + sum * s;
}

/* Of q = v / 2^65 up to 2^-8. */
static __attribute__((noinline, unused)) double ms_normal_tail(const ms_normal *table, uint64_t v) {
  double r = __builtin_sqrt(65 * 0.69314718055994531 - ms_normal_log(v));
  double place = (r - MS_NORMAL_TAIL_FROM) * 2;
  int piece = (int)place;
  double t = (place - piece) * 2 - 1, z = 0;
  for (int k = MS_NORMAL_TAIL_DEGREE; k >= 0; k--) z = z * t + table->tail[piece][k];
  return z;
}

static inline double ms_normal_of(const ms_normal *table, uint64_t bits) {
  uint64_t below = (uint64_t)((int64_t)bits >> 63); /* all ones from 1/2 on */
  uint64_t v = (bits ^ below) << 1 | 1;
  int binade = __builtin_clzll(v);
  double z;
  if (__builtin_expect(binade >= MS_NORMAL_BINADES, 0)) {
    z = ms_normal_tail(table, v);
  } else {
    uint64_t scaled = v << binade;
    const double *c = table->piece[(uint32_t)binade * MS_NORMAL_PIECES + (scaled >> 59 & 15)];
    double t = (double)((int64_t)(scaled & 0x7FFFFFFFFFFFFFF) - ((int64_t)1 << 58)) * 0x1p-58;
    double square = t * t;
    double low = (c[0] + c[1] * t) + (c[2] + c[3] * t) * square;
    double high = (c[4] + c[5] * t) + (c[6] + c[7] * t) * square;
    z = low + high * (square * square);
    /* 1/2 - q, or 1/8: without a branch, of which every second one would be mispredicted. */
    uint64_t first = (uint64_t)((int64_t)v >> 63);
    z = z * ((double)(int64_t)(((0 - v) & first) | ((uint64_t)1 << 62 & ~first)) * 0x1p-65);
  }
  uint64_t signed_z;
  __builtin_memcpy(&signed_z, &z, sizeof z);
  signed_z ^= ~below & (uint64_t)1 << 63;
  __builtin_memcpy(&z, &signed_z, sizeof z);
  return z;
}

#endif
