/* SPDX-License-Identifier: MIT
 *
 * Going through the marks of a vector (touched.h), which are taken off. No state. */
#ifndef MS_ARRAY_TOUCHED_WALK_H
#define MS_ARRAY_TOUCHED_WALK_H

#include <stdbool.h>

#include "array/touched.h"

/* From so many marks of a word on all that it stands for is looked at. */
#define MS_TOUCHED_MANY 24

/* Takes marks off: which elements, from `first` on, they stand for; false when none is left. `word`
 * is where to look, 0 in the beginning. */
static inline bool ms_touched_next(int64_t count, uint64_t *touched, int64_t *word, int64_t *first,
                                   int64_t *size) {
  while (*word < MS_TOUCHED_WORDS(count) && touched[*word] == 0) ++*word;
  if (*word == MS_TOUCHED_WORDS(count)) return false;
  uint64_t *marks = &touched[*word];
  bool many = __builtin_popcountll(*marks) >= MS_TOUCHED_MANY;
  *first = (*word * 64 + (many ? 0 : __builtin_ctzll(*marks))) * MS_TOUCHED_UNIT;
  *size = many ? 64 * MS_TOUCHED_UNIT : MS_TOUCHED_UNIT;
  if (*size > count - *first) *size = count - *first;
  *marks = many ? 0 : *marks & (*marks - 1);
  return true;
}

#endif
