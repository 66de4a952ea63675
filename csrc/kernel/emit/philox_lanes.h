/* SPDX-License-Identifier: MIT
 *
 * Philox for many counters at once, several in a register.
 *
 * The first 64 bits of a block, as ms_philox_at has them, for counters that go on by steps. This
 * text stands in front of every native kernel (kernel/native/prelude.h). Pure functions. */
#ifndef MS_KERNEL_EMIT_PHILOX_LANES_H
#define MS_KERNEL_EMIT_PHILOX_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/philox.h"

/* Counters in a register, and registers for each of a counter's four words: of AVX2's sixteen three
 * times four, as there are four more that all counters have in common. */
#ifdef __AVX512F__
#define MS_LANES           8
#define MS_LANES_REGISTERS 4
#else
#define MS_LANES           4
#define MS_LANES_REGISTERS 3
#endif
/* Counters that go through the rounds together. */
#define MS_LANES_COUNTERS (MS_LANES * MS_LANES_REGISTERS)

#ifdef __AVX2__
typedef uint64_t ms_lanes __attribute__((vector_size(8 * MS_LANES)));
typedef double ms_double_lanes __attribute__((vector_size(8 * MS_LANES)));

/* Products of the low halves. */
static inline ms_lanes ms_lanes_times(ms_lanes a, ms_lanes b) {
#ifdef __clang__
  return (a & 0xFFFFFFFFu) * (b & 0xFFFFFFFFu);
#else
  typedef int ms_halves __attribute__((vector_size(8 * MS_LANES)));
#ifdef __AVX512F__
  typedef long long ms_longs __attribute__((vector_size(8 * MS_LANES)));
  return (ms_lanes)__builtin_ia32_pmuludq512_mask((ms_halves)a, (ms_halves)b, (ms_longs)a, -1);
#else
  return (ms_lanes)__builtin_ia32_pmuludq256((ms_halves)a, (ms_halves)b);
#endif
#endif
}

/* The four words of counters; the high halves of what holds a word are anything. */
typedef struct ms_lanes_words {
  ms_lanes c0[MS_LANES_REGISTERS], c1[MS_LANES_REGISTERS], c2[MS_LANES_REGISTERS],
      c3[MS_LANES_REGISTERS];
} ms_lanes_words;

/* The counters low + k * low_step, high + k * high_step, for k from 0 on. */
static inline void ms_lanes_count(ms_lanes_words *words, uint64_t low, uint64_t low_step,
                                  uint64_t high, uint64_t high_step) {
  ms_lanes lane;
  for (uint64_t k = 0; k < MS_LANES; k++) lane[k] = k;
  const ms_lanes lows = lane * low_step, highs = lane * high_step;
  for (uint64_t r = 0; r < MS_LANES_REGISTERS; r++) {
    words->c0[r] = lows + (low + MS_LANES * r * low_step);
    words->c2[r] = highs + (high + MS_LANES * r * high_step);
    words->c1[r] = words->c0[r] >> 32;
    words->c3[r] = words->c2[r] >> 32;
  }
}

static inline void ms_lanes_round(ms_lanes_words *words, ms_lanes w0, ms_lanes w1) {
  const ms_lanes m0 = (ms_lanes){0} + MS_PHILOX_MULTIPLIER_0;
  const ms_lanes m1 = (ms_lanes){0} + MS_PHILOX_MULTIPLIER_1;
#pragma GCC unroll 4
  for (int r = 0; r < MS_LANES_REGISTERS; r++) {
    ms_lanes p0 = ms_lanes_times(m0, words->c0[r]), p1 = ms_lanes_times(m1, words->c2[r]);
    words->c0[r] = p1 >> 32 ^ words->c1[r] ^ w0;
    words->c1[r] = p1;
    words->c2[r] = p0 >> 32 ^ words->c3[r] ^ w1;
    words->c3[r] = p0;
  }
}

/* The 64 bits of MS_LANES_COUNTERS counters. */
static inline void ms_lanes_philox(uint64_t key, uint64_t low, uint64_t low_step, uint64_t high,
                                   uint64_t high_step, uint64_t *bits) {
  ms_lanes_words words;
  ms_lanes_count(&words, low, low_step, high, high_step);
  uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
#pragma GCC unroll 1
  for (int round = 0; round < MS_PHILOX_ROUNDS; round++) {
    ms_lanes_round(&words, (ms_lanes){0} + k0, (ms_lanes){0} + k1);
    k0 += MS_PHILOX_WEYL_0;
    k1 += MS_PHILOX_WEYL_1;
  }
  for (int r = 0; r < MS_LANES_REGISTERS; r++) {
    ms_lanes half = words.c1[r] << 32 | (words.c0[r] & 0xFFFFFFFFu);
    __builtin_memcpy(bits + MS_LANES * r, &half, sizeof half);
  }
}

/* ms_philox_unit of the bits whose halves are the low words of these: the high word counts 2^-32s,
 * 21 bits of the low one 2^-53s, each as the last bits of a double of which the rest is taken away.
 * Nothing is rounded, and fast mode must not do this in another order. */
static inline ms_double_lanes ms_lanes_unit(ms_lanes low, ms_lanes high) {
  ms_double_lanes less = (ms_double_lanes)((high & 0xFFFFFFFFu) | 0x4130000000000000u);
  ms_double_lanes least = (ms_double_lanes)(low << 32 >> 43 | 0x3FE0000000000000u);
  less -= 0x1p20 + 0.5;
  __asm__("" : "+x"(less));
  return less + least;
}

/* The bits for the counters low + k * step, high, for k from 0 to count - 1, or the numbers in
 * [0, 1) that are made of them: up to the next whole MS_LANES_COUNTERS. */
static __attribute__((noinline, unused)) void ms_lanes_draw(uint64_t key, uint64_t low,
                                                            uint64_t step, uint64_t high,
                                                            int64_t count, bool units, void *out) {
  ms_lanes w0[MS_PHILOX_ROUNDS], w1[MS_PHILOX_ROUNDS];
  for (uint32_t round = 0; round < MS_PHILOX_ROUNDS; round++) {
    w0[round] = (ms_lanes){0} + (uint32_t)((uint32_t)key + round * MS_PHILOX_WEYL_0);
    w1[round] = (ms_lanes){0} + (uint32_t)((uint32_t)(key >> 32) + round * MS_PHILOX_WEYL_1);
  }
  char *to = out;
  for (int64_t k = 0; k < count; k += MS_LANES_COUNTERS, low += MS_LANES_COUNTERS * step) {
    ms_lanes_words words;
    ms_lanes_count(&words, low, step, high, 0);
#pragma GCC unroll 10
    for (int round = 0; round < MS_PHILOX_ROUNDS; round++)
      ms_lanes_round(&words, w0[round], w1[round]);
#pragma GCC unroll 4
    for (int r = 0; r < MS_LANES_REGISTERS; r++, to += sizeof(ms_lanes)) {
      ms_lanes bits = words.c1[r] << 32 | (words.c0[r] & 0xFFFFFFFFu);
      if (units) bits = (ms_lanes)ms_lanes_unit(words.c0[r], words.c1[r]);
      __builtin_memcpy(to, &bits, sizeof bits);
    }
  }
}
#else
static inline void ms_lanes_philox(uint64_t key, uint64_t low, uint64_t low_step, uint64_t high,
                                   uint64_t high_step, uint64_t *bits) {
  for (uint64_t k = 0; k < MS_LANES_COUNTERS; k++) {
    ms_philox words = ms_philox_at(key, low + k * low_step, high + k * high_step);
    bits[k] = ms_philox_half(&words, 0);
  }
}

static __attribute__((noinline, unused)) void ms_lanes_draw(uint64_t key, uint64_t low,
                                                            uint64_t step, uint64_t high,
                                                            int64_t count, bool units, void *out) {
  char *to = out;
  for (int64_t k = 0; k < count; k++, low += step, to += sizeof(uint64_t)) {
    ms_philox words = ms_philox_at(key, low, high);
    uint64_t bits = ms_philox_half(&words, 0);
    double unit = ms_philox_unit(bits);
    __builtin_memcpy(to, units ? (void *)&unit : (void *)&bits, sizeof bits);
  }
}
#endif

#endif
