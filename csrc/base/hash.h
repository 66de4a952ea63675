/* SPDX-License-Identifier: MIT
 *
 * Hash: of words and texts, for tables in memory (FNV-1a, Fowler, Noll and Vo). Names that are kept
 * are digests (digest.h). No state. */
#ifndef MS_BASE_HASH_H
#define MS_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define MS_HASH_EMPTY UINT64_C(14695981039346656037)

/* The hash of some words, of which all but the last have the hash `before`. */
static inline uint64_t ms_hash_word(uint64_t before, uint64_t word) {
  return (before ^ word) * UINT64_C(1099511628211);
}

/* The hash of a text behind what has the hash `before`: each byte is a word. */
static inline uint64_t ms_hash_text(uint64_t before, const char *text, size_t length) {
  for (size_t i = 0; i < length; i++) before = ms_hash_word(before, (unsigned char)text[i]);
  return before;
}

/* 32 bits of a hash, of which any may be taken. */
static inline uint32_t ms_hash_fold(uint64_t hash) {
  return (uint32_t)(hash ^ hash >> 32);
}

#endif
