/* SPDX-License-Identifier: MIT
 *
 * Philox4x32-10: random words as a pure function of a key and a counter.
 *
 * J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
 * Nothing is kept between calls, so it does not matter which process asks, when or how often. */
#ifndef MS_BASE_PHILOX_H
#define MS_BASE_PHILOX_H

#include <stdint.h>

typedef struct ms_philox {
  uint32_t word[4];
} ms_philox;

/* The four words for a 64-bit key and a 128-bit counter (both little end first, as in the paper's
 * reference: counter words 0 and 1 are `low`, key word 0 is the low half of `key`). */
ms_philox ms_philox_at(uint64_t key, uint64_t low, uint64_t high);

/* The `half`-th (0 or 1) 64-bit number of a block. */
static inline uint64_t ms_philox_half(const ms_philox *block, uint32_t half) {
  return (uint64_t)block->word[2 * half + 1] << 32 | block->word[2 * half];
}

/* A number in [0, 1) with all 53 bits from a 64-bit one. */
static inline double ms_philox_unit(uint64_t bits) {
  return (double)(bits >> 11) * 0x1p-53;
}

#endif
