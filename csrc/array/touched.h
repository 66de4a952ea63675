/* SPDX-License-Identifier: MIT
 *
 * Touched: marks of the elements of a vector that may have been stored into.
 *
 * One bit stands for MS_TOUCHED_UNIT elements that follow each other, 64 bits to a word, the lowest
 * first. Who stores marks before; a mark without a store does no harm. This text also stands in
 * front of every native kernel (kernel/native/prelude.h). No state. */
#ifndef MS_ARRAY_TOUCHED_H
#define MS_ARRAY_TOUCHED_H

#include <stdint.h>

#define MS_TOUCHED_UNIT 64

/* Words that the marks of so many elements take. */
#define MS_TOUCHED_WORDS(count) (((count) / MS_TOUCHED_UNIT + 64) / 64)

/* Marks element `at`, from 0. */
static inline void ms_touch(uint64_t *touched, int64_t at) {
  uint64_t unit = (uint64_t)at / MS_TOUCHED_UNIT;
  touched[unit / 64] |= (uint64_t)1 << unit % 64;
}

/* Marks `count` elements from element `at` on. */
static inline void ms_touch_row(uint64_t *touched, int64_t at, int64_t count) {
  for (int64_t end = at + count; at < end; at += MS_TOUCHED_UNIT - at % MS_TOUCHED_UNIT)
    ms_touch(touched, at);
}

#endif
