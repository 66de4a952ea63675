/* SPDX-License-Identifier: MIT
 *
 * Going through the marks of a vector (touched.h), which are taken off. No state. */
#ifndef MS_ARRAY_TOUCHED_WALK_H
#define MS_ARRAY_TOUCHED_WALK_H

#include <stdbool.h>
#include <string.h>

#include "array/touched.h"

/* From so many marks of a word on all that it stands for is looked at. */
#define MS_TOUCHED_MANY 4

/* Takes marks off: which elements, from `first` on, they stand for; false when none is left. `word`
 * is where to look, in bytes, 0 in the beginning. */
static inline bool ms_touched_walk_next(int64_t count, uint8_t *touched, int64_t *word,
                                        int64_t *first, int64_t *size) {
  uint64_t marks = 0;
  for (;; *word += (int64_t)sizeof marks) {
    if (*word == MS_TOUCHED_BYTES(count)) return false;
    memcpy(&marks, touched + *word, sizeof marks);
    if (marks != 0) break;
  }
  bool many = __builtin_popcountll(marks) >= MS_TOUCHED_MANY;
  *first = (*word + (many ? 0 : __builtin_ctzll(marks) / 8)) * MS_TOUCHED_UNIT;
  *size = (many ? (int64_t)sizeof marks : 1) * MS_TOUCHED_UNIT;
  marks = many ? 0 : marks & (marks - 1);
  memcpy(touched + *word, &marks, sizeof marks);
  if (*first > count) *first = count; /* a row's last mark may be behind */
  if (*size > count - *first) *size = count - *first;
  return true;
}

#endif
