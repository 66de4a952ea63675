/* SPDX-License-Identifier: MIT
 *
 * Strided: a strided piece of an array, seen as the row-major sequence of its elements.
 *
 * Arrays that travel by value are cut into boxes (all of the array, or the rows lo..hi of one of
 * its dimensions), and boxes into runs of consecutive elements that fit a message. Both ends
 * number elements alike whatever their strides. Pure functions on caller's memory. */
#ifndef MS_JOB_STRIDED_H
#define MS_JOB_STRIDED_H

#include <stddef.h>
#include <stdint.h>

#include "array/array.h"
#include "base/api.h"

typedef struct ms_strided {
  unsigned char *data; /* of the first element of the box */
  size_t element;      /* bytes */
  uint32_t dim_count;
  int64_t dims[MS_ARRAY_DIMS];
  int64_t strides[MS_ARRAY_DIMS]; /* in elements */
} ms_strided;

/* Elements that follow each other at equal distances. */
typedef struct ms_strided_run {
  unsigned char *data;
  int64_t stride, count; /* elements from one to the next, and how many */
} ms_strided_run;

/* Number of elements, or -1 when it overflows or a dimension is negative. */
int64_t ms_strided_count(const ms_strided *box);

/* Narrows to rows lo (included) to hi (excluded) of dimension `dim`; bounds are clamped. */
ms_strided ms_strided_rows(const ms_strided *box, uint32_t dim, int64_t lo, int64_t hi);

/* The run that begins with element `first` of the sequence. */
ms_strided_run ms_strided_run_at(const ms_strided *box, int64_t first);

/* Mixes the fingerprint (fingerprint.h) of elements that begin at `data` into `print`. */
MS_API void ms_strided_fingerprint(const void *data, size_t element, uint32_t dim_count,
                                   const int64_t *dims, const int64_t *strides, uint64_t print[2]);

/* Copies elements first .. first + count of the sequence to `out`, one after the other. */
void ms_strided_gather(const ms_strided *box, int64_t first, int64_t count, void *out);

/* The same past the caches, for much that is not read soon. */
void ms_strided_stream(const ms_strided *box, int64_t first, int64_t count, void *out);

/* Copies `count` elements at `in` to the places first .. first + count of the sequence. */
void ms_strided_scatter(const ms_strided *box, int64_t first, int64_t count, const void *in);

#endif
