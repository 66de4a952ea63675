/* SPDX-License-Identifier: MIT
 *
 * Touched: marks of the elements of a vector that may have been stored into.
 *
 * One byte, 0 or 1, stands for MS_TOUCHED_UNIT elements that follow each other: a mark is one
 * store, which waits for no other. Who stores marks before; a mark without a store does no harm.
 * This text also stands in front of every native kernel (kernel/native/prelude.h). No state. */
#ifndef MS_ARRAY_TOUCHED_H
#define MS_ARRAY_TOUCHED_H

#include <stdint.h>

#define MS_TOUCHED_UNIT 64

/* Bytes that the marks of so many elements take: whole words, with room for a unit behind. */
#define MS_TOUCHED_BYTES(count) (((count) / MS_TOUCHED_UNIT / 8 + 2) * 8)

/* The longest row that is marked as a whole where a name of its own is given to it, in elements.
 * What is stored into there needs no more marks. */
#define MS_TOUCHED_ROW 4096

/* Marks element `at`, from 0. */
static inline void ms_touch(uint8_t *touched, int64_t at) {
  touched[(uint64_t)at / MS_TOUCHED_UNIT] = 1;
}

/* Marks `count` elements from element `at` on, and maybe a unit more: for a row of known length
 * that takes a few stores. */
static inline void ms_touch_row(uint8_t *touched, int64_t at, int64_t count) {
  uint64_t units = (uint64_t)(count + MS_TOUCHED_UNIT - 2) / MS_TOUCHED_UNIT + 1;
  if (count > 0) __builtin_memset(touched + (uint64_t)at / MS_TOUCHED_UNIT, 1, units);
}

#endif
