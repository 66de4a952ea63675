/* SPDX-License-Identifier: MIT
 *
 * Philox4x32-10: random words as a pure function of a key and a counter.
 *
 * J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
 * The constants are those of the paper's table 2. Nothing is kept between calls, so it does not
 * matter which process asks, when or how often. This text is compiled twice: as part of the core,
 * and in front of every native kernel (kernel/native/prelude.h). */
#ifndef MS_BASE_PHILOX_H
#define MS_BASE_PHILOX_H

#include <stdint.h>

#define MS_PHILOX_ROUNDS       10
#define MS_PHILOX_MULTIPLIER_0 0xD2511F53u
#define MS_PHILOX_MULTIPLIER_1 0xCD9E8D57u
#define MS_PHILOX_WEYL_0       0x9E3779B9u
#define MS_PHILOX_WEYL_1       0xBB67AE85u

typedef struct ms_philox {
  uint32_t word[4];
} ms_philox;

/* The four words for a 64-bit key and a 128-bit counter (both little end first, as in the paper's
 * reference: counter words 0 and 1 are `low`, key word 0 is the low half of `key`). */
static inline ms_philox ms_philox_at(uint64_t key, uint64_t low, uint64_t high) {
  uint32_t c0 = (uint32_t)low, c1 = (uint32_t)(low >> 32);
  uint32_t c2 = (uint32_t)high, c3 = (uint32_t)(high >> 32);
  uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
  for (int round = 0; round < MS_PHILOX_ROUNDS; round++) {
    uint64_t p0 = (uint64_t)MS_PHILOX_MULTIPLIER_0 * c0, p1 = (uint64_t)MS_PHILOX_MULTIPLIER_1 * c2;
    c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
    c1 = (uint32_t)p1;
    c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
    c3 = (uint32_t)p0;
    k0 += MS_PHILOX_WEYL_0;
    k1 += MS_PHILOX_WEYL_1;
  }
  return (ms_philox){{c0, c1, c2, c3}};
}

/* The `half`-th (0 or 1) 64-bit number of a block. */
static inline uint64_t ms_philox_half(const ms_philox *block, uint32_t half) {
  return (uint64_t)block->word[2 * half + 1] << 32 | block->word[2 * half];
}

/* A number in [0, 1) with all 53 bits from a 64-bit one. */
static inline double ms_philox_unit(uint64_t bits) {
  return (double)(bits >> 11) * 0x1p-53;
}

#endif
