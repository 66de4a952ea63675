/* SPDX-License-Identifier: MIT
 *
 * Hash: of words, for tables in memory (FNV-1a, Fowler, Noll and Vo, a word at a time). Names that
 * are kept are digests (digest.h). No state. */
#ifndef MS_BASE_HASH_H
#define MS_BASE_HASH_H

#include <stdint.h>

#define MS_HASH_EMPTY UINT64_C(14695981039346656037)

/* The hash of some words, of which all but the last have the hash `before`. */
static inline uint64_t ms_hash_word(uint64_t before, uint64_t word) {
  return (before ^ word) * UINT64_C(1099511628211);
}

#endif
